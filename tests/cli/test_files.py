"""The ``epl`` command over files that are not as they should be, and over readers that have had enough: a line each, no traceback."""

from __future__ import annotations

import gzip
import json
import pathlib
import re
import subprocess
import sys
from configparser import ConfigParser

import pytest

import runtime
from runtime.api.version import version
from runtime.cli import main, parser
from runtime.cli.diagnostics import RULES

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACE = {
    "suite": "s", "class": "C", "name": "n", "start_time": 0, "listen": "all",
    "steps": [
        {"op": "deploy", "epl": "create schema T(a int); @name('s0') select a + 1 as b from T"},
        {"op": "event", "type": "T", "props": {"a": 1}},
    ],
}  # fmt: skip


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    setup = ConfigParser(interpolation=None)
    setup.read(ROOT / "setup.cfg")
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"epl-spark {setup['metadata']['version']}\n"
    assert runtime.__version__ == version() == setup["metadata"]["version"]
    with pytest.raises(AttributeError):
        runtime.__no_such__  # noqa: B018


DAMAGED = {
    "cut.json": b'[{"steps": [',
    "bytes.json": b"\x00\xff",
    "deep.json": b"[" * 100_000,
    "other.json": b'{"a": 1}',
    "cut.json.gz": gzip.compress(b"[]" * 5000)[:20],
    "none.json.gz": b"no gzip at all",
    "number.json": b"5",
}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_replay_reports_damaged_files_and_goes_on(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], jobs: str) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for name, content in DAMAGED.items():
        (folder / name).write_bytes(content)
    (folder / "nowhere.json").symlink_to(tmp_path / "gone")
    (folder / "z.json").write_text(json.dumps([TRACE]))
    assert main(["replay", str(folder), "--out", str(out), "--jobs", jobs]) == 1
    said = capsys.readouterr().err
    for name in (*DAMAGED, "nowhere.json"):
        assert f"epl replay: {folder / name}: " in said
    assert "deep.json: nested too deeply" in said
    assert "other.json: a list of traces is expected" in said
    assert f"1 traces of {len(DAMAGED) + 2} files replayed" in said
    (trace,) = json.loads((out / "z.json").read_text())
    assert trace["steps"][1]["out"][0]["new"] == [{"b": 2}]


@pytest.mark.parametrize("out", ["in", "in/a.json", "in/a.json/b"])
def test_replay_never_writes_over_what_it_reads(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], out: str) -> None:
    (tmp_path / "in").mkdir()
    source = tmp_path / "in" / "a.json"
    source.write_text(json.dumps([TRACE]))
    for path in (source, source.parent):
        assert main(["replay", str(path), "--out", str(tmp_path / out)]) == 2
        assert capsys.readouterr().err.startswith("epl: --out: ")
    assert json.loads(source.read_text()) == [TRACE]


@pytest.mark.parametrize("form", ["online", "json"])
def test_a_reader_that_has_had_enough_ends_the_run_quietly(tmp_path: pathlib.Path, form: str) -> None:
    (tmp_path / "m.epl").write_text("create schema T(a int); @name('x') select * from T;")
    (tmp_path / "e.csv").write_text("a\n" + "1\n" * 50_000)
    command = [sys.executable, "-m", "runtime.cli", "run", str(tmp_path / "m.epl"), "--events", str(tmp_path / "e.csv"), "--format", form]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        assert started.stdout is not None and started.stderr is not None
        assert started.stdout.readline()
        started.stdout.close()
        assert started.stderr.read() == b""
        assert started.wait(60) == 141


def test_the_page_names_options_that_exist() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    commands = next(a for a in parser()._actions if isinstance(a.choices, dict)).choices
    known = {option for command in (parser(), *commands.values()) for action in command._actions for option in action.option_strings}
    named = set(re.findall(r"--[a-z][a-z-]+", page))
    assert len(named) > 15
    assert named <= known
    for code in RULES:
        assert f"`{code}`" in page


def test_half_a_surrogate_pair_is_printed(tmp_path: pathlib.Path) -> None:
    (tmp_path / "m.epl").write_text("create schema T(a string); @name('x') select a, 'é' as b from T;")
    (tmp_path / "e.jsonl").write_text('{"a": "\\ud800"}\n')
    files = [str(tmp_path / "m.epl"), "--events", str(tmp_path / "e.jsonl")]
    command = [sys.executable, "-m", "runtime.cli", "run", *files, "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["new"] == [{"a": "\ud800", "b": "é"}]
