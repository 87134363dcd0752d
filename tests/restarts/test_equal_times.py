"""What is due at one time, or has equal keys, keeps its order over a restore: where there is no other order, that in which it came."""
from __future__ import annotations

import random
from typing import Any

import pytest

from runtime import Runtime

SCHEMA = "create schema A(k string, v double, n long); create schema T(k string, v double, n long);"
CLAUSE = ("@Dialect('{dialect}') @name('s') select m.* from A match_recognize (PARTITION BY k ORDER BY n MEASURES FIRST(X.n) AS xn, "
          "FIRST(X.v) AS xv {rows} PATTERN ({pattern}) WITHIN INTERVAL '3' SECOND DEFINE {define}) as m")
STATEMENTS = {
    "alibaba": CLAUSE.format(dialect="alibaba", rows="ONE ROW PER MATCH SHOW TIMEOUT MATCHES", pattern="X Y", define="Y AS Y.v > 6"),
    "flink": CLAUSE.format(dialect="flink", rows="ONE ROW PER MATCH", pattern="X Y* Z", define="Y AS Y.v > 100, Z AS Z.v > 0"),
    "sql": CLAUSE.format(dialect="sql", rows="", pattern="X+", define="X AS v > 0"),
    "ydb": "@Dialect('ydb') @name('s') select m.* from A match_recognize (PARTITION BY k MEASURES FIRST(X.n) AS xn, LAST(X.v) AS xv "
           "ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (X+ Y) DEFINE X AS X.v > 3, Y AS Y.v < 4) as m",
    "late rows": "@RowOrder(late='2 seconds') " + CLAUSE.format(dialect="sql", rows="", pattern="X", define="X AS v > 0"),
    "interval": "@name('s') select * from A match_recognize (partition by k measures X.v as xv, X.k as xk pattern (X Y*) interval 3 sec "
                "define Y as Y.v > X.v)",
    "patterns": "@name('s') select a.k as k, a.v as v from pattern [every a=A -> timer:interval(3 sec)]",
    "time windows": "@name('s') select rstream k, v from A#groupwin(k)#time(3 sec)",
    "sort": "@name('s') select irstream k, v from A#sort(3, v)",
    "rank": "@name('s') select irstream k, v from A#rank(k, 3, v)",
    "time order": "@name('s') select irstream k, v from A#time_order(n, 3 sec)",
    "sorted": "@name('s') select sorted(v).selectFrom(x => x.k) as ks, minby(v).k as mk, maxby(v).k as xk from A#length(4)",
    "ordered output": "@name('s') select k, v from A output every 4 events order by v",
    "unique": "@name('s') select irstream k, v from A#unique(v)",
    "groups": "@name('s') select k, count(*) as c from A#time(3 sec) group by k output all every 2 sec",
    "context": "create context C initiated by A as a terminated after 3 sec; @name('s') context C select context.a.k as k, count(*) as c "
               "from A output snapshot when terminated",
    "keyed context": "create context C partition by k from A terminated after 3 sec; @name('s') context C select context.key1 as k, "
                     "count(*) as c from A output snapshot when terminated",
    "table": "create table W(k string primary key, v double, c count(*)); into table W select count(*) as c from A group by k; "
             "@name('s') on A select W.k as k, W.c as c from W",
    "accumulated": "@name('s') select irstream k, v from A#groupwin(k)#time_accum(3 sec)",
    "distinct": "@name('s') select * from pattern [every-distinct(a.v, 3 sec) a=A]",
}


def _run(statement: str, events: list[tuple[Any, ...]], restored_after: int | None = None, way: str = "snapshot") -> list[Any]:
    """Return what listeners get, call by call."""
    output: list[Any] = []

    def listen(runtime: Runtime) -> None:
        runtime.statement("s").add_listener(
            lambda new, old, *_: output.append(([dict(row) for row in new], [dict(row) for row in old])))

    runtime = Runtime(tier="row")
    runtime.deploy(SCHEMA + statement)
    listen(runtime)
    for place, event in enumerate(events):
        runtime.send("A", dict(zip("kvn", event, strict=True)))
        if place == restored_after:
            runtime = Runtime.restore(runtime.snapshot() if way == "snapshot" else runtime.pages().apply_to({}), tier="row")
            listen(runtime)
        runtime.advance_time_span(event[2] - 7_000)
    runtime.advance_time_span(20_000)
    runtime.end_of_input()
    return output


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_equal_times_and_keys_keep_their_order(statement: str) -> None:
    emitted = 0
    for seed in range(6):
        drawn = random.Random(seed)
        now, events = 7_000, []
        for _ in range(drawn.randrange(6, 10)):
            now += drawn.choice([0, 0, 0, 300, 900])
            events.append((drawn.choice([None, "a", "b", "c", "d"]), float(drawn.randrange(1, 9)), now))
        undisturbed = _run(statement, events)
        emitted += len(undisturbed)
        for place in range(len(events)):
            assert _run(statement, events, place, drawn.choice(["snapshot", "pages"])) == undisturbed, (seed, place, events)
    assert emitted


def test_a_deadline_that_is_set_again_keeps_its_place() -> None:
    """The first key's deadline is set again after the second key's, for the same time."""
    events = [(None, 4.0, 7_300), ("a", 1.0, 8_200), (None, 6.0, 8_200)]
    undisturbed = _run(STATEMENTS["alibaba"].replace("> 6", "> 100"), events)
    assert _run(STATEMENTS["alibaba"].replace("> 6", "> 100"), events, 2) == undisturbed


def test_states_without_places_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots of earlier versions have none."""
    monkeypatch.setattr(
        "runtime.operators.recognition_entry.RecognitionEntry._partition_state", lambda entry, each: entry._recognizer.state(each))
    events = [(key, 4.0, 7_300 + 10 * place) for place, key in enumerate("abcabd")]
    assert _run(STATEMENTS["alibaba"], events, 4) == _run(STATEMENTS["alibaba"], events)
