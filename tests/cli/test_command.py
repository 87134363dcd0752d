"""The ``epl`` command as a user runs it: texts and exit codes."""

from __future__ import annotations

import contextlib
import io
import json
import pathlib
import subprocess
import sys

import pytest

from runtime.cli import main

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULE = """create schema Trade(symbol string, price double);
@name('Out') select symbol, price * 2 as twice from Trade(price > 1);
"""


def epl(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, which has loaded the engine."""
    words = [*map(str, arguments)]
    with contextlib.redirect_stdout(_output()) as out, contextlib.redirect_stderr(_output()) as err:
        try:
            code = main(words)
        except SystemExit as wrong_use:
            code = int(wrong_use.code or 0)
    return subprocess.CompletedProcess(words, code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())


def _output() -> io.TextIOWrapper[io.BytesIO]:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n", write_through=True)


def epl_process(*arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own: what depends on one, and one test of each exit code."""
    command = [sys.executable, "-m", "runtime.cli", *map(str, arguments)]
    return subprocess.run(command, input=stdin, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def module(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "m.epl"
    path.write_text(MODULE)
    return path


# ------------------------------------------------------------------ wrong use


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nothing",),
        ("check",),
        ("run", "x.epl"),
        ("replay",),
        ("check", "/no/such/file.epl"),
        ("replay", "/no/such"),
        ("explain", "/no/such.epl"),
    ],
)
def test_wrong_use_is_2(arguments: tuple[str, ...]) -> None:
    done = epl(*arguments) if arguments else epl_process()
    assert done.returncode == 2
    assert "epl" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_is_0() -> None:
    done = epl("--help")
    assert done.returncode == 0
    for command in ("check", "run", "explain", "replay"):
        assert command in done.stdout


# ------------------------------------------------------------------ check


def test_check_accepts(module: pathlib.Path) -> None:
    done = epl("check", module)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{module}: 1 file, 2 statements, 2 accepted (100%), 0 refused\n"


def test_check_says_where_and_what(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "bad.epl"
    path.write_text(
        "create schema Trade(symbol string, price double);\n\nselect symbol,\n  pric from Trade;\n"
        "select symbol from Trad;\nselect price from Trade"
    )
    done = epl("check", path)
    assert done.returncode == 1
    assert f"{path}:4:3: error: Failed to validate select-clause expression 'pric'" in done.stderr
    assert "      pric from Trade\n      ^^^^\n" in done.stderr
    assert "    hint: did you mean 'Trade'?\n" in done.stderr
    assert f"{path}:5:20: error: Failed to resolve event type" in done.stderr
    assert "4 statements, 2 accepted (50%), 2 refused" in done.stdout


def test_check_of_a_folder_is_a_porting_report(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a_uses.epl").write_text(
        "module alerts; uses base; @name('a') select symbol from Trade; select * from Gone; insert into Later select wrong from Trade;"
    )
    (tmp_path / "z_base.epl").write_text("module base; @public create schema Trade(symbol string); select * from Later; ")
    done = epl("check", tmp_path)
    assert done.returncode == 1
    assert "2 files, 5 statements, 2 accepted (40%), 3 refused" in done.stdout
    assert "     2  validation: Failed to resolve event type, named window or table by name …" in done.stdout


def test_check_counts_what_depends_on_a_refused_statement(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "m.epl"
    path.write_text("create schema T(a int); insert into S select nope from T; select * from S;")
    done = epl("check", path)
    assert "     1  needs what a refused statement declares" in done.stdout


def test_check_reads_standard_input() -> None:
    done = epl_process("check", "-", stdin="select from")
    assert done.returncode == 1
    assert done.stderr.startswith("<stdin>:1:8: error: Incorrect syntax near 'from'")


def test_check_starts_in_a_blink(module: pathlib.Path) -> None:
    code = f"""
import sys
from runtime.cli import main
assert main(["check", {str(module)!r}]) == 0
heavy = [m for m in ("pandas", "pyarrow", "numpy", "numba", "pyspark") if m in sys.modules]
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------ run

SCRIPT = """Trade = {symbol='YHOO', price=100}
t=t.plus(1 seconds)
Trade={symbol='YHOO', price=110.5};
Trade = {symbol = 'low', price = 1}
t = t.plus(1 minute 30 seconds)
Trade={price=2}
"""
ONLINE = """At: 2001-01-01 08:00:00.000
  Statement: Out
    Insert
      Out-output={symbol='YHOO', twice=200.0}
At: 2001-01-01 08:00:01.000
  Statement: Out
    Insert
      Out-output={symbol='YHOO', twice=221.0}
At: 2001-01-01 08:01:31.000
  Statement: Out
    Insert
      Out-output={symbol=(null), twice=4.0}
"""


def test_run_of_a_script_prints_as_epl_online(module: pathlib.Path, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "s.txt"
    script.write_text(SCRIPT)
    done = epl_process("run", module, "--events", script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ONLINE


def test_run_prints_insert_and_remove_of_one_instant_together(tmp_path: pathlib.Path) -> None:
    module = tmp_path / "m.epl"
    module.write_text(
        "create schema T(a int); create schema N(t T); @name('W') select irstream * from T#length(1); @name('N') select t from N;"
    )
    script = tmp_path / "s.txt"
    script.write_text('t = "1970-01-01 00:00:02.000"\nT={a=1}\nT={a=2}\nN={t={a=3}}\n')
    done = epl("run", module, "--events", script, "--start", "0")
    assert done.stdout == (
        "At: 1970-01-01 00:00:02.000\n  Statement: W\n    Insert\n      T={a=1}\n      T={a=2}\n    Remove\n      T={a=1}\n"
        "  Statement: N\n    Insert\n      N-output={t={T={a=3}}}\n"
    )


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


EXPECTED = [
    {"time": 1000, "statement": "Out", "new": [{"symbol": "A", "twice": 20.0}], "old": []},
    {"time": 2000, "statement": "Out", "new": [{"symbol": None, "twice": 5.0}], "old": []},
]


def test_run_of_json_lines(module: pathlib.Path, tmp_path: pathlib.Path) -> None:
    events = tmp_path / "e.jsonl"
    events.write_text('{"symbol": "A", "price": 10, "ts": 1000}\n\n{"price": 2.5, "ts": 2000}\n')
    assert lines(epl("run", module, "--events", events, "--type", "Trade", "--time", "ts", "--format", "json")) == EXPECTED


def test_run_of_json_lines_with_a_type_column(module: pathlib.Path, tmp_path: pathlib.Path) -> None:
    events = tmp_path / "e.json"
    events.write_text('{"type": "Trade", "symbol": "A", "price": 10, "ts": 1000}\n{"type": "Trade", "price": 2.5, "ts": 2000}\n')
    assert lines(epl("run", module, "--events", events, "--time", "ts", "--format", "json")) == EXPECTED


def test_run_of_csv(module: pathlib.Path, tmp_path: pathlib.Path) -> None:
    events = tmp_path / "e.csv"
    events.write_text('ts,symbol,price\n1000,"A",10\n2000,,2.5\n')
    assert lines(epl("run", module, "--events", events, "--time", "ts", "--format", "json")) == EXPECTED


def test_run_of_parquet(module: pathlib.Path, tmp_path: pathlib.Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    events = tmp_path / "e.parquet"
    parquet.write_table(pyarrow.table({"symbol": ["A", None], "price": [10.0, 2.5], "ts": [1000, 2000]}), events)
    assert lines(epl("run", module, "--events", events, "--time", "ts", "--format", "json")) == EXPECTED


def test_run_walks_through_timers_and_on_until(tmp_path: pathlib.Path) -> None:
    module = tmp_path / "m.epl"
    module.write_text("create schema T(a int); @name('W') select rstream a from T#time(2 sec);")
    events = tmp_path / "e.csv"
    events.write_text("ts,a\n0,1\n5000,2\n")
    done = epl("run", module, "--events", events, "--time", "ts", "--format", "json", "--until", "9000")
    assert [(line["time"], line["new"]) for line in lines(done)] == [(2000, [{"a": 1}]), (7000, [{"a": 2}])]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "e.jsonl",
            '{"symbol": "A", "price": 1, "ts": 1}\n{"symbol": "A", "price": "x", "ts": 2}\n',
            ":2: error: Event type 'Trade': property 'price'",
        ),
        ("e.jsonl", "{symbol}\n", ":1: error: not JSON"),
        ("e.csv", "ts,symbol,price\n1,A\n", ":2: error: expected 3 columns, found 2"),
        ("e.csv", "ts,symbol,price\n5,A,1\n4,A,1\n", ":3: error: time goes back from 5 to 4"),
        ("e.csv", "symbol,price\nA,1\n", ":1: error: there is no column 'ts' for --time"),
    ],
)
def test_run_refuses_rows_that_are_no_events(module: pathlib.Path, tmp_path: pathlib.Path, name: str, text: str, said: str) -> None:
    events = tmp_path / name
    events.write_text(text)
    done = epl("run", module, "--events", events, "--time", "ts")
    assert done.returncode == 1
    assert f"{events}{said}" in done.stderr


def test_run_says_where_a_script_is_wrong(module: pathlib.Path, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "s.txt"
    script.write_text("Trade={symbol='A', price=5}\nt = t.plus(1 fortnight)\n")
    done = epl("run", module, "--events", script)
    assert done.returncode == 1
    assert f"{script}:2:14: error: Unknown unit 'fortnight'" in done.stderr


def test_run_refuses_a_module_with_an_error(tmp_path: pathlib.Path) -> None:
    module = tmp_path / "m.epl"
    module.write_text("select a from T")
    events = tmp_path / "e.jsonl"
    events.write_text("{}\n")
    done = epl("run", module, "--events", events)
    assert done.returncode == 1
    assert f"{module}:1:15: error: Failed to resolve event type" in done.stderr


def test_run_shows_progress_when_asked(module: pathlib.Path, tmp_path: pathlib.Path) -> None:
    events = tmp_path / "e.jsonl"
    events.write_text('{"symbol": "A", "price": 1}\n' * 500)
    done = epl("run", module, "--events", events, "--progress")
    assert done.returncode == 0
    assert "100%  500 events" in done.stderr


def test_run_of_one_statement(tmp_path: pathlib.Path) -> None:
    module = tmp_path / "m.epl"
    module.write_text(MODULE + "@name('Other') select symbol from Trade;")
    events = tmp_path / "e.jsonl"
    events.write_text('{"symbol": "A", "price": 3}\n')
    assert {line["statement"] for line in lines(epl("run", module, "--events", events, "--format", "json", "--statement", "Other"))} == {
        "Other"
    }
    done = epl("run", module, "--events", events, "--statement", "None")
    assert (done.returncode, "no statement named 'None'" in done.stderr) == (2, True)


# ------------------------------------------------------------------ explain, replay


def test_explain(module: pathlib.Path) -> None:
    done = epl("explain", module)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Out" in done.stdout and "Trade" in done.stdout


TRACE = {
    "suite": "s", "class": "C", "name": "n", "start_time": 0, "listen": "all",
    "steps": [
        {"op": "deploy", "epl": "create schema T(a int); @name('s0') select a + 1 as b from T", "out": [{"statement": "recorded"}]},
        {"op": "event", "type": "T", "props": {"a": 1}},
        {"op": "compile_error", "epl": "select c from T", "message": "recorded"},
        {"op": "event", "type": "T", "props": {"a": "x"}},
        {"op": "iterate", "statement": "nowhere"},
    ],
}  # fmt: skip


@pytest.mark.parametrize("restart", [False, True])
def test_replay_writes_what_this_engine_does(tmp_path: pathlib.Path, restart: bool) -> None:
    (tmp_path / "in" / "s").mkdir(parents=True)
    (tmp_path / "in" / "s" / "C.json").write_text(json.dumps([TRACE]))
    done = epl("replay", tmp_path / "in", "--out", tmp_path / "out", *(["--restart"] if restart else []))
    assert done.returncode == 0, done.stderr
    (trace,) = json.loads((tmp_path / "out" / "s" / "C.json").read_text())
    deploy, event, refusal, wrong, iterate = trace["steps"]
    assert "out" not in deploy
    assert deploy["tiers"] == {"stmt-0": "row", "s0": "row"}
    assert {"name": "s0", "type": deploy["statements"][1]["type"], "props": {"b": "Integer"}} == deploy["statements"][1]
    assert [(c["statement"], c["new"], c["old"]) for c in event["out"]] == [("s0", [{"b": 2}], None)]
    assert (refusal["refused"], refusal["code"]) == (True, "validation")
    assert refusal["message"].startswith("Failed to validate select-clause expression 'c'")
    assert "property 'a'" in wrong["exception"]
    assert "nowhere" in iterate["exception"]


@pytest.mark.spark
def test_replay_through_spark(tmp_path: pathlib.Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("A.json", "B.json"):
        (tmp_path / "in" / name).write_text(json.dumps([TRACE]))
    done = epl_process("replay", tmp_path / "in", "--out", tmp_path / "out", "--spark", "--restart", "--jobs", 2)
    assert done.returncode == 0, done.stderr
    assert "through Spark: 2 events as rows of micro-batches, 2 refused" in done.stderr
    for name in ("A.json", "B.json"):
        (trace,) = json.loads((tmp_path / "out" / name).read_text())
        _, event, refusal, wrong, _ = trace["steps"]
        assert event["spark"] == "rows"
        assert [c["new"] for c in event["out"]] == [[{"b": 2}]]
        assert "spark" not in refusal
        assert wrong["spark"] == f"refused: {wrong['exception']}"


def test_replay_through_spark_needs_java(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.json").write_text(json.dumps([TRACE]))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    done = epl_process("replay", tmp_path / "t.json", "--spark")
    assert (done.returncode, done.stdout) == (2, "")
    assert "epl: --spark: Spark needs Java 17 or newer" in done.stderr
    assert "Traceback" not in done.stderr


def test_replay_refuses_what_is_no_trace(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"a": 1}')
    done = epl("replay", path)
    assert done.returncode == 1
    assert "a list of traces is expected" in done.stderr
