"""``epl run`` with sinks, a state, a recorder, a pace."""
from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runtime.cli import main

MODULE = """
@public @buseventtype create schema T(symbol string, price double, ts long);
@name('avg') select symbol, avg(price) as mean from T#time(3 sec) group by symbol;
@name('every') select count(*) as n from T output every 2 seconds;
"""
ROWS = "symbol,price,ts\nA,1.5,1000\nB,2.5,2000\nA,3.5,6000\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "r.epl").write_text(MODULE)
    (tmp_path / "t.csv").write_text(ROWS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> int:
    return main(["run", "r.epl", "--events", "t.csv", *arguments])


def printed(capsys: pytest.CaptureFixture[str]) -> list[tuple[int, str, float | None]]:
    calls = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [(call["time"], row["symbol"], row["mean"]) for call in calls for row in call["new"]]


@pytest.mark.parametrize("name", ["r.test.json", "r.test.yaml", "r.test.txt"])
def test_a_recording_is_a_test_that_passes_and_fails_with_other_rules(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    times = ("--rate", "0.5") if name.endswith(".txt") else ("--time", "ts")
    assert run(*times, "--record", name) == 0
    assert main(["test", name]) == 0
    expected = (folder / "r.test.out").read_text() if name.endswith(".txt") else (folder / name).read_text()
    assert "2.5" in expected and "every" in expected
    (folder / "r.epl").write_text(MODULE.replace("avg(price)", "max(price) + 1"))
    capsys.readouterr()
    assert main(["test", name]) == 1
    assert "2.5" in capsys.readouterr().out


def test_values_are_recorded_as_they_are(folder: Path) -> None:
    (folder / "r.epl").write_text(
        "@public @buseventtype create schema T(s string, d java.util.Date, b BigDecimal, l int[], m java.util.Map);"
        "@name('s') select * from T")
    events = [{"s": "O'K \\ \"", "d": "2024-01-01T00:00:00Z", "b": 1.25, "l": [1, 2], "m": {"k": [True, None]}}, {}]
    (folder / "t.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    for name in ("a.test.json", "r.test.txt"):
        assert main(["run", "r.epl", "--events", "t.jsonl", "--record", name, "--missing", "null"]) == 0
        assert main(["test", name]) == 0
    assert "O\\'K \\\\" in (folder / "r.test.txt").read_text()


@pytest.mark.parametrize(("arguments", "message"), [
    (("--record", "r.json"), "a test is called NAME.test.json"),
    (("--record", "x.test.txt"), "is a test of x.epl alone"),
    (("--record", "r.test.txt", "--start", "0"), "the time of a script begins at"),
    (("--rate", "1", "--time", "ts"), "not together with --time"),
    (("--rate", "0"), "greater than 0"),
    (("--metrics", "x"), "a port or host:port is expected, not 'x'"),
    (("--speed", "fast"), "a speed is a multiple of the wall clock's"),
    (("--loop", "-1"), "at least 1"),
    (("--speed", "1x", "--spark"), "not together with --spark"),
    (("--rate", "1", "--to", "avg=-", "--state", "s"), "--rate, --loop: not together with --state"),
    (("--spark", "--to", "avg=-"), "--spark: not together with --to"),
    (("--state", "s"), "where do rows go"),
    (("--to", "x.csv"), "of which statement"),
    (("--to", "nope=x.csv"), "no statement named 'nope'"),
    (("--events", "-", "--state", "s", "--to", "avg=-"), "standard input cannot be read again"),
])
def test_wrong_use_is_said(folder: Path, arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == 2
    assert message in capsys.readouterr().err


def test_rows_happen_at_a_rate_and_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--rate", "0.5", "--start", "10000", "--statement", "avg", "--format", "json") == 0
    assert printed(capsys) == [(10000, "A", 1.5), (12000, "B", 2.5), (13000, "A", None), (14000, "A", 3.5)]
    assert run("--rate", "4", "--loop", "2", "--statement", "avg", "--format", "json") == 0
    assert [at for at, _, _ in printed(capsys)] == [0, 250, 500, 750, 1000, 1250]


def test_times_go_on_in_a_further_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def arrivals() -> list[int]:
        return [at for at, _, mean in printed(capsys) if mean is not None]

    assert run("--time", "ts", "--loop", "2", "--statement", "avg", "--format", "json") == 0
    assert arrivals() == [1000, 2000, 6000, 6000, 7000, 11000], "the file lasts from its first row to its last"
    assert run("--time", "ts", "--loop", "2", "--start", "0", "--statement", "avg", "--format", "json") == 0
    assert [at for at in arrivals() if at != 9000] == [1000, 2000, 6000, 7000, 8000, 12000], "and from --start where that is given"


def test_speed_is_that_of_the_wall_clock(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = time.monotonic()
    assert run("--time", "ts", "--speed", "10x", "--statement", "avg") == 0
    paced = time.monotonic() - before
    plain = capsys.readouterr().out
    assert run("--time", "ts", "--statement", "avg") == 0
    assert paced >= 0.5, "five seconds of engine time"
    assert capsys.readouterr().out == plain, "what is emitted is the same"


def test_rows_go_to_files_and_databases(folder: Path) -> None:
    with sqlite3.connect("a.db") as database:
        database.execute("create table means(symbol text primary key, mean real)")
    assert run("--time", "ts", "--to", "avg=avg.csv", "--to", "avg=sqlite:///a.db?table=means&key=symbol", "--to", "every=n.jsonl") == 0
    assert (folder / "avg.csv").read_text() == "symbol,mean\nA,1.5\nB,2.5\nA,\nB,\nA,3.5\n"
    assert (folder / "n.jsonl").read_text() == '{"n": 1}\n{"n": 2}\n{"n": 2}\n'
    assert database.execute("select * from means order by symbol").fetchall() == [("A", 3.5), ("B", None)]


def test_a_state_goes_on_and_is_of_one_module(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--time", "ts", "--to", "every=parts", "--state", "state")
    assert run(*arguments) == 0
    with (folder / "t.csv").open("a") as file:
        file.write("B,1,9000\n")
    assert run(*arguments) == 0
    rows = [line for part in sorted(folder.glob("parts/part-*")) for line in part.read_text().splitlines()]
    assert run("--time", "ts", "--to", "every=whole.jsonl") == 0
    assert rows == (folder / "whole.jsonl").read_text().splitlines() and len(rows) == 5
    (folder / "r.epl").write_text(MODULE + " ")
    assert run(*arguments) == 1
    assert "the state in state is of 'r.epl" in capsys.readouterr().err


def test_a_failing_sink_and_source_are_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--to", "avg=sqlite:///a.db?table=means") == 1
    assert "sink 'sqlite:///a.db?table=means' of statement 'avg': OperationalError: no such table" in capsys.readouterr().err
    assert main(["run", "r.epl", "--from", "kafka://h:1/t?x=1", "--to", "avg=-"]) == 1
    assert "there is no parameter 'x'" in capsys.readouterr().err
    assert main(["run", "r.epl", "--from", "kafka://user:secret@h:1/t", "--to", "avg=-"]) == 1
    assert "holds no password" in (err := capsys.readouterr().err) and "secret" not in err


def test_lines_of_a_stream_are_processed_as_they_come(folder: Path) -> None:
    command = [sys.executable, "-m", "runtime.cli", "run", "r.epl", "--from", "-", "--input", "jsonl", "--missing", "null", "--to", "avg=-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        for n in (1, 2):
            process.stdin.write(f'{{"symbol": "{n}", "price": {n}}}\n')
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == {"symbol": str(n), "mean": float(n)}
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, "Ctrl-C stops it, although its input is open"


def test_several_sources_go_together_and_are_recorded(folder: Path) -> None:
    (folder / "u.jsonl").write_text('{"symbol": "C", "price": 9, "ts": 0}\n')
    assert run("--from", "u.jsonl", "--to", "avg=a.jsonl", "--record", "both.test.json") == 0
    assert [json.loads(line)["symbol"] for line in (folder / "a.jsonl").read_text().splitlines()] == ["A", "B", "A", "C"]
    assert main(["test", "both.test.json"]) == 0


def test_pipelines_have_rate_speed_and_loops_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--rate", "20", "--loop", "2", "--statement", "avg", "--format", "json")
    assert run(*options) == 0
    plain = capsys.readouterr().out
    before = time.monotonic()
    assert run(*options, "--speed", "1x", "--to", "avg=a.jsonl", "--record", "p.test.json") == 0
    assert time.monotonic() - before >= 0.25
    rows = [row for line in plain.splitlines() for row in json.loads(line)["new"]]
    assert [json.loads(line) for line in (folder / "a.jsonl").read_text().splitlines()] == rows and len(rows) == 6
    recorded = json.loads((folder / "p.test.json").read_text())["cases"][0]["steps"]
    assert [step["ms"] for step in recorded if step["op"] == "time_span"] == [50, 100, 150, 200, 250]
    assert run("--time", "ts", "--loop", "2", "--to", "avg=b.jsonl") == 0
    assert len((folder / "b.jsonl").read_text().splitlines()) == 10


@pytest.mark.parametrize("more", [(), ("--to", "avg=out.jsonl")])
def test_metrics_are_served_while_it_runs(
    folder: Path, more: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "runtime.cli", "run", "r.epl", "--events", "t.csv", "--rate", "10", "--speed", "1x", "--loop",
               "--metrics", str(port), *more]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + 60
            while "in windows" not in (shown := top(port, capsys)) or "avg" not in shown:
                assert process.poll() is None and time.monotonic() < until, shown
                time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == (0 if more else 130)
        finally:
            process.kill()


def top(port: int, capsys: pytest.CaptureFixture[str]) -> str:
    main(["top", f"127.0.0.1:{port}", "--once"])
    return capsys.readouterr().out


def test_a_recording_has_what_the_command_had(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "c.xml").write_text(
        "<esper-configuration><common><event-type name='T'><java-util-map><map-property name='symbol' class='string'/>"
        "<map-property name='price' class='double'/><map-property name='ts' class='long'/></java-util-map></event-type>"
        "<variable name='least' type='double' initialization-value='2'/></common>"
        "<compiler><expression integer-division='true'/></compiler></esper-configuration>")
    (folder / "r.epl").write_text("@name('s') select symbol, 3 / 2 as n from T(price > least)")
    (folder / "w.epl").write_text("create variable int unused = 1;")
    assert run("--config", "c.xml", "--with", "w.epl", "--time", "ts", "--record", "r.test.json") == 0
    assert json.loads((folder / "r.test.json").read_text())["config"] == "c.xml"
    assert main(["test", "r.test.json"]) == 0
    (folder / "c.xml").write_text((folder / "c.xml").read_text().replace("'2'", "'3'"))
    assert main(["test", "r.test.json"]) == 1
    (folder / "c.xml").write_text("<esper-configuration>")
    capsys.readouterr()
    assert main(["test", "r.test.json"]) == 1
    assert "c.xml:1:" in capsys.readouterr().err
    assert run("--config", "c.xml") == 2


# ------------------------------------------------------------------ full disks


def limited(bytes_of_a_file: int, *arguments: str, out: str = os.devnull) -> subprocess.CompletedProcess[str]:
    """Run the command where no file may be longer: a write beyond that fails as on a full disk."""
    code = ("import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2); "
            "from runtime.cli import main; sys.exit(main(sys.argv[2:]))")
    with open(out, "w") as file:
        return subprocess.run(
            [sys.executable, "-c", code, str(bytes_of_a_file), *arguments], stdout=file, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}, timeout=120, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_state_that_finds_no_room_is_an_error_by_name_and_goes_on(folder: Path) -> None:
    (folder / "r.epl").write_text(
        "@public @buseventtype create schema T(symbol string, price double, ts long); @name('all') select symbol from T#keepall")
    (folder / "t.csv").write_text("symbol,price,ts\n" + "".join(f"{n:0500},1,{n}\n" for n in range(200)))
    command = ("run", "r.epl", "--events", "t.csv", "--time", "ts", "--to", "all=out", "--state", "state")
    done = limited(20_000, *command)
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert re.search(r"epl: error: the state in state cannot be written: File too large", done.stderr)
    assert not list((folder / "state").glob("*.partial"))
    done = limited(1 << 30, *command)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line)["symbol"] for path in sorted((folder / "out").glob("*.jsonl")) for line in path.read_text().splitlines()]
    assert rows == [f"{n:0500}" for n in range(200)]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("rows", [3, 5000])
@pytest.mark.parametrize("arguments", [("run", "r.epl", "--events", "t.csv"), ("run", "r.epl", "--events", "t.csv", "--to", "-")])
def test_output_that_is_full_is_an_error_by_name(folder: Path, arguments: tuple[str, ...], rows: int) -> None:
    (folder / "r.epl").write_text("create schema T(symbol string, price double, ts long); @name('all') select symbol from T")
    (folder / "t.csv").write_text("symbol,price,ts\n" + "A,1,1\n" * rows)
    done = limited(1 << 30, *arguments, out="/dev/full")
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert "No space left on device" in done.stderr and len(done.stderr.splitlines()) <= 2
