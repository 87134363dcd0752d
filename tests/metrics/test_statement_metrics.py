"""Counts of each statement: Runtime.measure(), Runtime.metrics, epl_statement_… in Prometheus, epl top."""
from __future__ import annotations

import inspect
import io
import json
from pathlib import Path
from typing import Any

import prometheus_client
import pytest
from rich.console import Console

import runtime as package
from epl.errors import EplRuntimeError
from runtime import Runtime, StatementMetrics
from runtime.api.runtime import internal_engine
from runtime.api.statement import internal_output
from runtime.cli import main
from runtime.event_loop.loop import EventLoop
from runtime.live.dashboard import dashboard, reading
from runtime.tools.metrics import RuntimeMetrics

MODULE = """
@public @buseventtype create schema A(k string, x int);
@name('w') create window W#length(2) as A;
@name('in') insert into W select * from A(x > 0);
@name('of') select irstream x from W;
@name('sum') select k, sum(x) as total from A#time(3 sec) group by k;
@name('tick') select count(*) as n from A output every 2 seconds;
@name('pat') select a.x as x from pattern [every a=A(k = 'a') -> timer:interval(1 sec)];
@name('mr') select * from A match_recognize (measures P.x as p, Q.x as q pattern (P Q) define Q as Q.x > P.x);
@name('bad') select cast(k, int) as n from A(k = 'c');
@name('join') select l.x as x from A(k = 'a')#lastevent as l, A(k = 'b')#lastevent as r;
create context C partition by k from A;
@name('ctx') context C select count(*) as n from A;
@name('own') context C select l.x as x from A#lastevent as l, A#lastevent as r;
"""
EVENTS = [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", -1), ("a", 5)]


def run(*, measured: bool, listen: bool = True) -> tuple[Runtime, list[Any]]:
    seen: list[Any] = []

    def listener(new: Any, old: Any, statement: Any, runtime: Any) -> None:
        seen.append((statement.name, [row.to_dict() for row in new], [row.to_dict() for row in old], runtime.now))

    runtime = Runtime(tier="row", on_error=lambda error, statement, event: seen.append((statement, type(error).__name__)))
    if measured:
        runtime.measure()
    deployment = runtime.deploy(MODULE)
    for statement in deployment if listen else ():
        if statement.plan.body.output_type is not None and statement.name != "w":
            statement.add_listener(listener)
    for number, (k, x) in enumerate(EVENTS):
        runtime.send("A", {"k": k, "x": x})
        runtime.advance_time_span(1000 * (number + 1))
    return runtime, seen


def by_name(runtime: Runtime) -> dict[str, StatementMetrics]:
    return {each.statement: each for each in runtime.metrics}


def test_measuring_changes_nothing_that_is_emitted() -> None:
    plain, measured = run(measured=False)[1], run(measured=True)[1]
    assert measured == plain and len(plain) > 30
    assert ("bad", "NumberFormatException") in [tuple(each[:2]) for each in plain] or any(each[0] == "bad" for each in plain)


def test_counts_are_those_of_the_calls() -> None:
    runtime, seen = run(measured=True)
    metrics = by_name(runtime)
    for name in ("of", "sum", "tick", "pat", "mr", "join", "ctx"):
        calls = [each for each in seen if each[0] == name]
        assert metrics[name].new_rows == sum(len(new) for _, new, _, _ in calls), name
        assert metrics[name].old_rows == sum(len(old) for _, _, old, _ in calls), name
        assert metrics[name].new_rows > 0
    events = {name: metrics[name].events for name in ("sum", "tick", "mr", "in", "bad", "ctx", "pat", "join", "own")}
    assert events == {"sum": 6, "tick": 6, "mr": 6, "in": 5, "bad": 1, "ctx": 6, "pat": 3, "join": 5, "own": 12}
    assert metrics["of"].events == 5 + 3, "rows that entered and left the named window"
    assert metrics["tick"].timers == 3 and metrics["pat"].timers == 3 and metrics["sum"].timers >= 3
    assert (metrics["w"].window_rows, metrics["sum"].window_rows, metrics["join"].window_rows) == (2, 2, 2)
    assert all(each.seconds > 0 for each in metrics.values() if each.events)


def test_rows_are_counted_without_listeners_and_after_they_are_removed() -> None:
    expected = {name: each.new_rows for name, each in by_name(run(measured=True)[0]).items()}
    runtime, _ = run(measured=True, listen=False)
    assert {name: each.new_rows for name, each in by_name(runtime).items()} == expected
    runtime.statement("sum").remove_all_listeners()
    runtime.send("A", {"k": "a", "x": 1})
    assert by_name(runtime)["sum"].new_rows == expected["sum"] + 1


def test_it_begins_and_ends_with_statements() -> None:
    runtime, _ = run(measured=False)
    assert runtime.metrics == []
    runtime.measure()
    runtime.measure()
    assert by_name(runtime)["sum"].events == 0
    runtime.send("A", {"k": "a", "x": 1})
    assert by_name(runtime)["sum"].events == 1 and by_name(runtime)["ctx"].new_rows == 1
    runtime.undeploy_all()
    assert runtime.metrics == [
        ] and internal_engine(runtime).core.measured is not None and internal_engine(runtime).core.measured.counts == {}  # type: ignore[attr-defined]


def test_a_recording_leaves_it_as_it_was() -> None:
    runtime, _ = run(measured=True)
    with runtime.record("sum"):
        runtime.send("A", {"k": "a", "x": 1})
    runtime.send("A", {"k": "a", "x": 1})
    assert by_name(runtime)["sum"].events == 8


def test_restored_runtimes_are_measured_too() -> None:
    restored = Runtime.restore(run(measured=True)[0].snapshot(), tier="row")
    assert restored.metrics == []
    restored.measure()
    restored.send("A", {"k": "a", "x": 1})
    assert by_name(restored)["sum"].events == 1


def test_batches_are_rows_and_the_batch_tier_is_refused() -> None:
    import pyarrow as pa

    runtime = Runtime()
    runtime.measure()
    runtime.deploy("@public @buseventtype create schema A(x int); @name('s') select x from A(x > 1)")
    runtime.send_batch("A", pa.table({"x": [1, 2, 3]}))
    assert (by_name(runtime)["s"].events, by_name(runtime)["s"].new_rows) == (2, 2)
    with pytest.raises(EplRuntimeError, match="statements in the batch tier are not measured"):
        Runtime(tier="batch").measure()


def test_an_event_loop_that_is_not_measured_has_no_part_in_it() -> None:
    """Its methods are those of its class, and the code that is generated for it names nothing of this."""
    runtime, _ = run(measured=False)
    replaced = {"make_intake", "_process_one", "deliver", "run_due", "_run_all"}
    assert not replaced & vars(internal_engine(runtime).core).keys() and "deliver" not in vars(internal_engine(runtime).core.store_deltas)
    measured, _ = run(measured=True)
    assert replaced <= vars(internal_engine(measured).core).keys()
    assert "measured" not in inspect.getsource(EventLoop.deliver) + inspect.getsource(EventLoop.process)


def test_prometheus_and_top_show_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runtime, _ = run(measured=True)
    registry = prometheus_client.CollectorRegistry()
    registry.register(RuntimeMetrics(runtime))
    metrics = by_name(runtime)["sum"]
    labels = {"deployment": "d0", "statement": "sum"}
    assert registry.get_sample_value("epl_statement_events_total", labels) == metrics.events == 6
    assert registry.get_sample_value("epl_statement_rows_total", {**labels, "stream": "new"}) == metrics.new_rows
    assert registry.get_sample_value("epl_window_rows", labels) == 2
    text = prometheus_client.generate_latest(registry)
    (tmp_path / "metrics.txt").write_bytes(text)
    assert main(["top", str(tmp_path / "metrics.txt"), "--once"]) == 0
    shown = capsys.readouterr().out
    row = next(line.split() for line in shown.splitlines() if line.split()[:1] == ["sum"])
    assert row[1:6] == ["d0", "6", str(metrics.new_rows), "0", str(metrics.timers)] and row[-1] == "2", shown
    assert "statement_events" not in shown and "ctx" in shown
    plain = prometheus_client.CollectorRegistry()
    plain.register(RuntimeMetrics(run(measured=False)[0]))
    assert b"epl_statement_" not in prometheus_client.generate_latest(plain)


def test_they_are_plain_values() -> None:
    import attrs

    assert json.loads(json.dumps([attrs.asdict(each) for each in run(measured=True)[0].metrics]))[1]["statement"] == "w"
    assert package.StatementMetrics is StatementMetrics


def test_top_sorts_statements_by_the_time_that_they_take() -> None:
    runtime, _ = run(measured=True)
    registry = prometheus_client.CollectorRegistry()
    registry.register(RuntimeMetrics(runtime))
    before = reading(prometheus_client.generate_latest(registry).decode())
    runtime.send("A", {"k": "a", "x": 1})
    internal_engine(runtime).core.measured.of(internal_output(runtime.statement("mr")).number).nanoseconds += 500_000_000  # type: ignore[attr-defined]
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(dashboard(reading(prometheus_client.generate_latest(registry).decode()), before, 1.0))
    lines = [line.split() for line in console.export_text().splitlines()]
    start = next(number for number, line in enumerate(lines) if line[:2] == ["statement", "deployment"])
    first = lines[start + 2]
    assert first[0] == "mr" and first[3] == "1" and 50 <= float(first[-2].rstrip("%")) < 60, first
