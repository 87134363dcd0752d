"""``epl test``: cases beside modules, differences, --update, coverage, the pytest plugin."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.cli import main
from runtime.tools.rule_tests.comparing import differences, same

RULES = Path(__file__).resolve().parents[2] / "examples" / "rules"
MODULE = (RULES / "jumps.epl").read_text()


def event(temp: Any, sensor: str = "s1", **more: Any) -> dict[str, Any]:
    return {"op": "event", "type": "Reading", "props": {"sensor": sensor, "temp": temp}, **more}


def written(folder: Path, cases: Any, name: str = "jumps.test.json") -> Path:
    (folder / "jumps.epl").write_text(MODULE)
    path = folder / name
    path.write_text(cases if isinstance(cases, str) else json.dumps(cases))
    return path


def test_the_example_passes_and_reaches_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(RULES), "--coverage", "-v"]) == 0
    out = capsys.readouterr().out
    assert "3 passed" in out and "statements that emitted rows: 2 of 2 (100 %)" in out
    assert "jumps: transitions of its row pattern: 3 of 3 (100 %)" in out and "::a jump up" in out


def test_misspelt_properties_are_warned_of_once_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {"op": "event", "type": "Reading", "props": {"sensor": "s1", "tempp": 1}}
    path = written(tmp_path, [{"name": "one", "steps": [wrong, wrong, event(50)]}])
    assert main(["test", str(path), "--update"]) == 0
    warned = f"{path}::one: warning: Reading has no property 'tempp' (did you mean 'temp'?)\n"
    assert capsys.readouterr().err == warned
    assert main(["test", str(path), "--unknown", "ignore"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["test", str(path), "--unknown", "refuse"]) == 1
    assert "Event type 'Reading' has no property 'tempp'" in capsys.readouterr().out


def test_a_difference_is_shown_row_by_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = [{"statement": "mean", "new": [{"sensor": "s1", "mean": 51.0}]}]
    path = written(tmp_path, [{"name": "one", "steps": [event(50, out=expected), event(70)]}])
    assert main(["test", str(path)]) == 1
    assert capsys.readouterr().out == f"""\
FAILED {path}::one
    step 1 (event Reading):
      mean insert stream:
        - {{"sensor": "s1", "mean": 51.0}}
        + {{"sensor": "s1", "mean": 50.0}}
    step 2 (event Reading):
      jumps: 0 listener calls expected, 1 made
      jumps insert stream:
        + {{"sensor": "s1", "before": 50.0, "up": 70.0, "down": null}}
      mean: 0 listener calls expected, 1 made
      mean insert stream:
        + {{"sensor": "s1", "mean": 60.0}}
0 passed, 1 failed
"""


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["s1", "s2"]), st.integers(0, 60)), max_size=8), st.sampled_from([".test.json", ".test.yaml"]))
def test_what_update_writes_passes(tmp_path: Path, readings: list[tuple[str, int]], suffix: str) -> None:
    steps = [event(temp, sensor) for sensor, temp in readings]
    cases = [{"name": "drawn", "steps": [*steps, {"op": "iterate", "statement": "mean"}, event("warm")]}]
    for old in tmp_path.iterdir():
        old.unlink()
    path = written(tmp_path, {"cases": cases, "start_time": 5}, f"jumps{suffix}")
    assert main(["test", str(path), "--update"]) == 0
    once = path.read_text()
    assert main(["test", str(path)]) == 0
    assert main(["test", str(path), "--update"]) == 0 and path.read_text() == once
    assert ("exception" in once and '"rows"' in once) or "rows:" in once


def test_update_keeps_comments_of_yaml(tmp_path: Path) -> None:
    text = "# about jumps\ncases:\n  - name: up  # by twenty\n    steps:\n"
    text += "      - {op: event, type: Reading, props: {sensor: s1, temp: 50}}\n"
    path = written(tmp_path, text, "jumps.test.yaml")
    assert main(["test", str(path), "--update"]) == 0
    assert path.read_text() == text.replace("temp: 50}}", "temp: 50}, out: [{statement: mean, new: [{sensor: s1, mean: 50.0}]}]}")


def test_a_script_compares_what_epl_online_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, (RULES / "jumps.test.txt").read_text(), "jumps.test.txt")
    assert main(["test", str(path)]) == 1
    assert "no expected output yet" in capsys.readouterr().out
    assert main(["test", str(path), "--update"]) == 0
    assert (tmp_path / "jumps.test.out").read_text().startswith("At: 2001-01-01 08:00:00.000\n  Statement: mean\n    Insert\n")
    assert main(["test", str(path)]) == 0
    path.write_text(path.read_text().replace("temp=40", "temp=41"))
    capsys.readouterr()
    assert main(["test", str(path)]) == 1
    out = capsys.readouterr().out
    assert "-      jumps-output={sensor='s1', before=70.0, up=(null), down=40.0}" in out
    assert "+      jumps-output={sensor='s1', before=70.0, up=(null), down=41.0}" in out


def test_several_modules_in_order_and_transitions_that_no_row_took(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "types.epl").write_text("@public @buseventtype create schema Tick(k string, n int)")
    (tmp_path / "rule.epl").write_text(
        "@name('s') select * from Tick match_recognize (measures A.n as a, last(B.n) as b pattern (A B* C) "
        "define A as A.n = 1, B as B.n = 2, C as C.n = 3); @name('quiet') select * from Tick(n = 99)")
    tick = [{"op": "event", "type": "Tick", "props": {"k": "x", "n": n}} for n in (1, 2, 3)]
    tick[2]["out"] = [{"statement": "s", "new": [{"a": 1, "b": 2}]}]
    written(tmp_path, {"module": ["types.epl", "rule.epl"], "cases": [{"name": "once", "steps": tick}]}, "any.test.json")
    assert main(["test", str(tmp_path), "--coverage"]) == 0
    out = capsys.readouterr().out
    assert "statements that emitted rows: 1 of 2 (50 %)\n    quiet: emitted nothing" in out
    assert "transitions of its row pattern: 3 of 5 (60 %)" in out
    assert "never taken: A (0) → C (2)" in out and "never taken: B* (1) → B* (1)" in out


def test_k_chooses_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(RULES), "-k", "apart", "-v"]) == 0
    assert capsys.readouterr().out.endswith("::sensors are apart\n1 passed\n")


@pytest.mark.parametrize(("name", "text", "message"), [
    ("jumps.test.json", "[{", "jumps.test.json:1:3: Expecting property name enclosed in double quotes"),
    ("jumps.test.json", "[" * 100_000, "jumps.test.json: nested too deeply"),
    ("jumps.test.json", '{"case": []}', "unknown entry 'case'; there are cases, config, imports, module, start_time"),
    ("jumps.test.json", '{"cases": [], "start_time": "now"}', "start_time: ms expected, not 'now'"),
    ("jumps.test.json", '{"cases": {}}', "a list of cases is expected"),
    ("jumps.test.json", '{"cases": [], "module": [1]}', "module: a text or a list of texts is expected"),
    ("jumps.test.json", '[{"name": "a"}]', "case 1: an object with name and steps is expected"),
    ("jumps.test.json", '[{"name": "a", "steps": []}, {"name": "a", "steps": []}]', "case 2: another case is called 'a'"),
    ("jumps.test.json", '[{"name": "a", "steps": [{"op": "sent"}]}]', "case 1 (a), step 1: no such op: 'sent'; there are deploy, event"),
    ("jumps.test.json", '[{"name": "a", "steps": [{"op": "event", "type": "R"}]}]', "case 1 (a), step 1: event needs 'props'"),
    ("jumps.test.json", '{"cases": [], "module": "gone.epl"}', "gone.epl: No such file or directory"),
    ("jumps.test.yaml", "cases: [", "jumps.test.yaml:1:9: expected the node content"),
    ("jumps.test.yaml", "a: &x [1]\ncases: *x", "jumps.test.yaml:2: aliases (*x) are not read; write the value out"),
    ("jumps.test.yaml", "cases: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
    ("jumps.test.txt", "Reading = {temp 1}", "jumps.test.txt:1:"),
])
def test_what_cannot_be_read_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, message: str) -> None:
    path = written(tmp_path, text, name)
    assert main(["test", str(path)]) == 1
    captured = capsys.readouterr()
    assert message in captured.err and "Traceback" not in captured.err
    assert captured.out == "0 passed, 1 file could not be run\n"


def test_a_module_that_is_refused_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, [{"name": "a", "steps": []}])
    (tmp_path / "jumps.epl").write_text("select *\nfrom Nope")
    assert main(["test", str(path)]) == 1
    assert f"{tmp_path / 'jumps.epl'}:2:6: " in capsys.readouterr().err


def test_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", str(tmp_path)]) == 2 and "no tests (*.test.json, " in capsys.readouterr().err
    assert main(["test", str(tmp_path / "gone")]) == 2 and "no such file or folder" in capsys.readouterr().err
    (tmp_path / "a.json").write_text("[]")
    assert main(["test", str(tmp_path / "a.json")]) == 2 and "tests are called NAME.test.json" in capsys.readouterr().err


def test_pytest_collects_cases(tmp_path: Path) -> None:
    shutil.copytree(RULES, tmp_path / "rules")
    broken = written(tmp_path, [{"name": "wrong", "steps": [event(50)]}], "jumps.test.json")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:epl_rules", "-p", "epl_spark_pytest", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(RULES.parents[1])})
    assert "1 failed, 3 passed" in done.stdout, done.stdout
    assert '+ {"sensor": "s1", "mean": 50.0}' in done.stdout and broken.name in done.stdout


def test_rows_in_any_order() -> None:
    step = {"op": "iterate", "rows": [{"a": 1}, {"a": 2}]}
    assert differences(step, {"op": "iterate", "rows": [{"a": 2}, {"a": 1}]})
    assert not differences({**step, "any_order": True}, {"op": "iterate", "rows": [{"a": 2}, {"a": 1}]})
    assert not same([1, 2], [1]) and not same("1", 1) and same({"a": None}, {})


PATTERNS = """
@public @buseventtype create schema A(id int);
@public @buseventtype create schema B(id int);
@public @buseventtype create schema C(id int);
@name('seq') select a.id as id from pattern [every a=A -> (b=B(id = a.id) and not C(id = a.id)) where timer:within(10 sec)];
@DiscardPartialsOnMatch @name('rep') select * from pattern [every ([2:] A until C)];
create context Run initiated by pattern [every-distinct(a.id) a=A while (a.id < 5)] terminated after 1 min;
@name('in') context Run select * from pattern [timer:interval(5 sec) or C(id = 9)]#length(1) as p, pattern [every B]#length(1) as q;
"""


@pytest.mark.parametrize(("steps", "unreached"), [
    ([], {"seq": 9, "rep": 5, "context Run": 4, "in, pattern 1": 3, "in, pattern 2": 2}),
    ([("A", 1)], {"seq": 7, "rep": 4, "context Run": 1, "in, pattern 1": 3, "in, pattern 2": 2}),
    ([("A", 1), ("B", 1)], {"seq": 3, "rep": 4, "context Run": 1, "in, pattern 1": 3, "in, pattern 2": 0}),  # within, not, C
    ([("A", 1), ("B", 1), 10_000], {"seq": 3, "rep": 4, "context Run": 1, "in, pattern 1": 1, "in, pattern 2": 0}),  # the guard has ended
    ([("A", 1), 10_000], {"seq": 6, "rep": 4, "context Run": 1, "in, pattern 1": 1, "in, pattern 2": 2}),
    ([("A", 1), ("C", 1)], {"seq": 5, "rep": 2, "context Run": 1, "in, pattern 1": 3, "in, pattern 2": 2}),  # a failure from below
    ([("A", 7)], {"seq": 7, "rep": 4, "context Run": 2, "in, pattern 1": 3, "in, pattern 2": 2}),
])
def test_outcomes_of_pattern_operators(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], steps: list[Any], unreached: dict[str, int]
) -> None:
    (tmp_path / "p.epl").write_text(PATTERNS)
    played = [{"op": "time_span", "ms": step} if isinstance(step, int) else {"op": "event", "type": step[0], "props": {"id": step[1]}}
              for step in steps]
    path = written(tmp_path, [{"name": "one", "steps": played}], "p.test.json")
    assert main(["test", str(path), "--update", "--coverage"]) == 0
    heads = [line.strip() for line in capsys.readouterr().out.splitlines() if "operators" in line]
    counts = {line.partition(":")[0]: line.split(": ")[-1].split() for line in heads}
    assert {name: int(words[2]) - int(words[0]) for name, words in counts.items()} == unreached


def test_update_changes_the_lines_of_rows_that_differ_alone(tmp_path: Path) -> None:
    source = Path(__file__).resolve().parents[2] / "examples/rules"
    for name in ("jumps.epl", "jumps.test.yaml"):
        (tmp_path / name).write_text((source / name).read_text())
    changed = (source / "jumps.test.yaml").read_text().replace("temp: 70}", "temp: 71}")
    (tmp_path / "jumps.test.yaml").write_text(changed)
    assert main(["test", "--update", str(tmp_path)]) == 0
    updated = (tmp_path / "jumps.test.yaml").read_text()
    assert updated == changed.replace("up: 70.0", "up: 71.0").replace("mean: 60.0", "mean: 60.5").replace("mean: 70.0", "mean: 71.0")
