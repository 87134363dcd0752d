"""Scripts and files of tests that nobody would write: errors by name and place, in time that grows with the text alone."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epl.errors import EplSyntaxError
from runtime.cli import main
from runtime.replay.epl_online import looks_like_script, parse_script
from runtime.tools.rule_tests.files import BadCaseFile, read_cases
from tests.calls import calls

DIGITS = "9" * 5000
SCRIPTS = [
    "{" * 2000, "T={a=" * 2000, "T={a=" + "{a=" * 2000, "T={a=" + "{" * 99999, "T={a=" + "{" * 2000 + "}" * 2000 + "}", f"T={{a={DIGITS}}}",
    f"T={{a=-{DIGITS}}}", "T={a=1" + "e9" * 500 + "}", f"t=t.plus({DIGITS} seconds)", "t=t.plus(1e308 seconds)", "t=t.plus(-1e308 weeks)",
    "t=t.plus(1e999 msec)", "t=t+" + DIGITS, "t=t+1e400", "t=t+1e18", 't="9999999-01-01 00:00:00"', 't="0001-01-01T00:00:00+23:59"',
    "T=" + "[" * 3000,
    f"T={{a={DIGITS}x}}", "T={a=" + "9" * 100_000 + "x}", "T={a='" + "\\" * 99_999, "t=t.plus(" + "1 second " * 5000 + ")",
    "T={" + "a=1,," * 3000,
    "T={a=" + "1." * 5000 + "}", "\ud800={}", "t=\"\x00\"", "T={a=1}" + ";" * 50_000, "t.plus" + ".a" * 50_000, "a." * 50_000,
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda each: each[:16].encode("unicode_escape").decode())
def test_scripts(script: str) -> None:
    with calls(most=100_000 + 20 * len(script)):
        looks_like_script(script)
        try:
            list(parse_script(script))
        except EplSyntaxError as error:
            assert error.within(script).position == (1, error.within(script).position[1])


WORDS = ["T", "=", "{", "}", "a", "t", "t.plus(", ")", "1", DIGITS, "1e308", "1e999", "seconds", "'x'", '"', "'", ",", ";", "\\", "+",
"-", "\n", "//", "null",
         '"2001-01-01 08:00:00.000"', "\x00", "9" * 300, "\u0663"]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=30).map("".join))
def test_drawn_scripts(script: str) -> None:
    looks_like_script(script)
    try:
        for _ in parse_script(script):
            pass
    except EplSyntaxError:
        pass


def growth(read: Callable[[int], object], size: int) -> float:
    """How many times as long a text of eight times the size takes, of three tries in turns."""
    seconds: dict[int, list[float]] = {size: [], 8 * size: []}
    for _ in range(3):
        for each, of in seconds.items():
            begun = time.thread_time()
            read(each)
            of.append(time.thread_time() - begun)
    return min(seconds[8 * size]) / max(min(seconds[size]), 0.02)


def refused(read: Callable[[], object], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        read()


@pytest.mark.parametrize("tail", ["x", "}", ".", "e", "..", "1.2.3"])
def test_digits_take_time_that_grows_with_their_number(tail: str) -> None:
    assert growth(lambda n: refused(lambda: list(parse_script("T={a=" + "9" * n + tail)), EplSyntaxError), 20_000) < 30


def test_brackets_of_yaml_take_time_that_grows_with_their_number(tmp_path: Path) -> None:
    def read(count: int) -> None:
        path = tmp_path / "x.test.yaml"
        path.write_text("[" * count)
        refused(lambda: read_cases(path), BadCaseFile)

    pytest.importorskip("ruamel.yaml")
    assert growth(read, 4000) < 30


FILES = {
    ".test.json": [
        f'{{"start_time": {DIGITS}, "cases": []}}', "[" * 100_000, '{"a":' * 100_000, "\x07", "nul", '"\\ud800"',
        '{"cases": [{"name": "\\ud800", "steps": []}]}',
        '{"start_time": 1e400, "cases": []}', '{"start_time": true, "cases": []}', "\x00",
    ],
    ".test.yaml": [
        "a: " * 3000, "[" * 30_000, "- " * 30_000, "{" * 3000, "? " * 3000, "!" * 3000, "start_time: 2024-13-45\ncases: []",
        "x: !!timestamp 2024-13-45",
        "cases: []\n\x07", "\x00", "\ufffe", f"start_time: {DIGITS}\ncases: []", f"x: !!int {DIGITS}", "x: !!int z", "x: !!float z",
        "x: !!binary é",
        "x: !!python/object/apply:os.system [ls]", "x: !!omap 3", "x: !!set 3", "x: !!bool 3", "&a [*a]", "%YAML 9.9\n---\n",
        "%TAG ! !\n--- !x", "a: 1\na: 2",
        "? [1]\n: 2", "--- 1\n--- 2", "x: 0o9", "x: 1:99:99", "x: !!int 0b", "\t- 1", "x: 'a", "x: \"\\ud800\"", "x: \"\\U99999999\"",
        "|" * 3000, "cases:\n  - {name: 1}",
    ],
    ".test.txt": SCRIPTS[:8],
}


@pytest.mark.parametrize(("suffix", "text"), [(suffix, text) for suffix, texts in FILES.items() for text in texts],
                         ids=lambda each: each[:20].encode("unicode_escape").decode())
def test_files_of_tests(suffix: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if suffix == ".test.yaml":
        pytest.importorskip("ruamel.yaml")
    path = tmp_path / f"x{suffix}"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    (tmp_path / "x.epl").write_text("create schema T(a int); @name('s') select * from T")
    with calls(most=40_000_000):
        try:
            read_cases(path)
        except BadCaseFile as fault:
            assert str(path) in str(fault)
        assert main(["test", str(path)]) in (0, 1, 2)
    assert "Traceback" not in capsys.readouterr().err


LEAVES = st.sampled_from([None, True, 0, -1, 2**62, 2**70, int("9" * 400), 1e308, float("nan"), "", "x", "2024-13-45", "\x00", [], {}])
STEPS = st.sampled_from(["deploy", "event", "time", "time_span", "iterate", "faf", "set_variable", "get_variable", "undeploy", "nothing"])
KEYS = st.sampled_from(["epl", "type", "props", "ms", "statement", "values", "out", "rows", "exception", "listen"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(start=LEAVES, steps=st.lists(st.dictionaries(KEYS, LEAVES, max_size=4).flatmap(lambda step: STEPS.map(lambda op: {"op": op,
**step})), max_size=4))
def test_drawn_steps(start: object, steps: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.test.json"
    path.write_text(json.dumps({"start_time": start, "cases": [{"name": "drawn", "steps": steps}]}))
    (tmp_path / "x.epl").write_text("create schema T(a int); @name('s') select * from T")
    assert main(["test", str(path)]) in (0, 1, 2)
    assert "Traceback" not in capsys.readouterr().err
