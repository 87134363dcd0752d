"""What stands around match_recognize of a SQL dialect over streams: windows, joins, sub-queries, other clauses, other statements."""

from __future__ import annotations

from typing import Any

import pytest

from epl.errors import EplError, EplUnsupportedError
from epl.formatting import format_module
from epl.parse import parse_module
from epl.syntax import RecognitionSource, Select
from epl.unparse import unparse
from runtime import Runtime

SCHEMA = "create schema T(g string, x int, ts long); create schema Q(g string, y int);"
RISES = ("T match_recognize (partition by g order by ts measures A.x as low, B.x as high pattern (A B) define B as B.x > A.x)")
ROWS = [("a", 1), ("a", 3), ("b", 2), ("a", 2), ("a", 7), ("b", 1), ("b", 9), ("a", 1), ("a", 2)]


class Run:
    """A runtime with statements, and what its statement ``s`` emits; ``restart`` goes on from a snapshot."""

    def __init__(self, text: str) -> None:
        self.emitted: list[tuple[list[Any], list[Any]]] = []
        self.errors: list[str] = []
        self.runtime = Runtime(on_error=self._failed)
        self.runtime.deploy(SCHEMA + text)
        self._listen()
        self.time = 0

    def _failed(self, error: BaseException, *_: object) -> None:
        self.errors.append(str(error))

    def _listen(self) -> None:
        def listen(new: Any, old: Any, *_: object) -> None:
            self.emitted.append(([tuple(row.values()) for row in new or ()], [tuple(row.values()) for row in old or ()]))

        self.runtime.statement("s").add_listener(listen)

    def restart(self) -> None:
        self.runtime = Runtime.restore(self.runtime.snapshot(), on_error=self._failed)
        self._listen()

    def feed(self, rows: list[tuple[str, int]], *, restarts: bool = False) -> None:
        for g, x in rows:
            self.time += 1
            self.runtime.advance_time(self.time)
            self.runtime.send("T", {"g": g, "x": x, "ts": self.time})
            self.runtime.send("Q", {"g": g, "y": x})
            if restarts and self.time % 4 == 2:
                self.restart()

    def new(self) -> list[Any]:
        return [row for new, _ in self.emitted for row in new]


WORKS = {
    "a window, which rows leave": (f"select irstream low from {RISES}#length(2) as m", [(1,), (2,), (1,), (1,)]),
    "a window of time": (f"select irstream low from {RISES}#time(3) as m", [(1,), (2,), (1,), (1,)]),
    "a window by key": (f"select g, prev(1, high) as p from {RISES}#groupwin(g)#length(2) as m",
                        [("a", None), ("a", 3), ("b", None), ("a", 7)]),
    "groups": (f"select g, sum(high) as t from {RISES}#keepall as m group by g having sum(high) > 3", [("a", 10), ("b", 9), ("a", 12)]),
    "a join": (f"select m.high, q.y from {RISES}#lastevent as m, Q#lastevent as q where m.high = q.y", [(3, 3), (7, 7), (9, 9), (2, 2)]),
    "an unidirectional join": (f"select m.high, q.y from {RISES} as m unidirectional, Q#keepall as q where m.low = q.y",
                               [(3, 1), (7, 2), (7, 2), (9, 1), (9, 1), (2, 1), (2, 1), (2, 1)]),
    "two clauses in a join": (f"select m.high as a, n.high as b from {RISES}#lastevent as m, {RISES}#lastevent as n "
                              "where m.g = n.g and m.low = n.low",
                              [(3, 3), (7, 7), (9, 9), (2, 2)]),
    "a sub-query": (f"select y, (select max(high) from {RISES}#keepall as m where m.g = q.g) as h from Q(y > 2) as q",
                    [(3, 3), (7, 7), (9, 9)]),
    "exists": (f"select y from Q as q where exists (select * from {RISES}#keepall as m where m.high = q.y)", [(3,), (7,), (9,), (2,)]),
    "a named window": (f"create_window; insert into W select g, low, high from {RISES} as m;", [(3,), (7,), (9,), (2,)]),
    "a context": (f"a context; context P select context.key1 as k, m.high from {RISES} as m", [("a", 3), ("a", 7), ("b", 9), ("a", 2)]),
    "an on-statement": (f"on {RISES} as m select y from W where W.y = m.high", [(2,)]),
    "a clause over a clause": (
        f"select * from {RISES} match_recognize (measures A.high as a, B.high as b pattern (A B) define B as B.high > A.high) as m",
        [(3, 7)]),
    "a clause of a dialect and one of EPL": (
        f"insert into R select high from {RISES} as m; select * from R match_recognize (measures A.high as a pattern (A) define A as true)",
        [(3,), (7,), (9,), (2,)]),
}  # fmt: skip


def text_of(name: str, text: str) -> str:
    *before, last = [part for part in text.split(";") if part.strip()]
    if name == "a named window":
        return f"create window W#keepall as (g string, low int, high int); {last}; @name('s') select high from W"
    if name == "a context":
        return f"create context P partition by g from T; @name('s') {last}"
    if name == "an on-statement":
        return f"create window W#keepall as Q; insert into W select * from Q(g = 'a' or y > 8); @name('s') @Priority(1) {last}"
    return "; ".join([*before, f"@name('s') {last}"])


@pytest.mark.parametrize("name", list(WORKS))
def test_the_table_of_a_clause_is_a_stream_like_any_other(name: str) -> None:
    text, expected = WORKS[name]
    once, again = Run(text_of(name, text)), Run(text_of(name, text))
    once.feed(ROWS)
    again.feed(ROWS, restarts=True)
    assert once.new() == expected
    assert again.emitted == once.emitted
    assert not once.errors and not again.errors


def test_rows_leave_by_the_window_behind_the_clause() -> None:
    run = Run(f"@name('s') select irstream low, high from {RISES}#time(3) as m")
    run.feed(ROWS[:2])
    run.runtime.advance_time(3_002)
    assert run.emitted == [([(1, 3)], []), ([], [(1, 3)])]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"select m.low from {RISES} as m, Q#keepall as q", "Joins require that at least one view is specified for each stream"),
        (f"select (select high from {RISES} as m) from Q", "Subqueries require one or more views to limit the stream"),
        ("@Dialect('sql') select * from pattern [every a=T] match_recognize (measures 1 as a pattern (A) define A as true)",
         "match_recognize in dialect 'sql' over a pattern is not supported"),
        ("create window W#keepall as T; @Dialect('sql') select * from W match_recognize (measures 1 as a pattern (A) define A as true)",
         "match_recognize in dialect 'sql' over a named window is not supported"),
        ("create table W(g string primary key, x int); "
         "select * from W match_recognize (order by x measures 1 as a pattern (A) define A as true)",
         "match_recognize in dialect 'sql' over a table is not supported"),
        (f"select * from T as t {RISES[2:]}", "An alias in front of match_recognize in dialect 'sql' is not supported"),
        (f"select (select max(high) from T as t {RISES[2:]}) from Q",
         "An alias in front of match_recognize in dialect 'sql' is not supported"),
        (f"create table H(h int primary key); on T t {RISES[2:]} merge H where h = t.x when matched then delete",
         "An alias in front of match_recognize in dialect 'sql' is not supported"),
        (f"select * from {RISES}#length(2) match_recognize (order by low measures 1 as a pattern (A) define A as true)",
         "A data window in front of match_recognize in dialect 'sql' is not supported"),
        (f"select * from {RISES} match_recognize (measures A.x as a pattern (A) order by high define A as true) as m",
         "Incorrect syntax near 'order'"),
    ],
)
def test_what_cannot_stand_there_is_refused_by_name(text: str, words: str) -> None:
    with pytest.raises(EplError) as raised:
        Runtime().deploy(SCHEMA + text)
    assert words in raised.value.message and raised.value.position is not None


def test_a_window_says_why_it_is_not_read_and_a_query_what_reads_it() -> None:
    runtime = Runtime()
    runtime.deploy(SCHEMA + "create window W#keepall as T")
    with pytest.raises(EplError) as raised:
        runtime.deploy(f"select * from {RISES.replace('T', 'W', 1)} as m")
    assert raised.value.hint is not None and "a match that was emitted cannot be taken back" in raised.value.hint
    for text in (f"select * from {RISES.replace('T', 'W', 1)}", f"@Dialect('flink') select * from {RISES.replace('T', 'W', 1)} as m"):
        with pytest.raises(EplUnsupportedError, match="Match_recognize is not supported in fire-and-forget queries") as refused:
            runtime.query(text)
        assert refused.value.position == (1, 1 + text.index("(partition"))
        assert refused.value.hint is not None and "Runtime.sql" in refused.value.hint
    runtime.query("insert into W(g, x, ts) values ('a', 1, 0L)")
    runtime.query("insert into W(g, x, ts) values ('a', 5, 1L)")
    rows = runtime.query("select * from W").to_arrow()
    assert Runtime.sql(f"select low, high from {RISES.replace('T', 'W', 1)}", {"W": rows}).to_pylist() == [{"low": 1, "high": 5}]


NESTED = f"@name('s') select * from {RISES} match_recognize (measures A.high as a, COUNT(*) as n pattern (A B?) define B as true) as m"


def test_a_clause_over_a_clause_is_written_and_explained() -> None:
    body = parse_module("@Dialect('sql') " + NESTED).statements[0].body
    assert isinstance(body, Select) and body.from_ is not None
    source = body.from_.streams[0].source
    assert isinstance(source, RecognitionSource) and isinstance(source.input, RecognitionSource)
    again = parse_module("@Dialect('sql') " + unparse(body)).statements[0].body
    assert unparse(again) == unparse(body)
    assert parse_module(format_module("@Dialect('sql') " + NESTED)).statements[0].body == body
    run = Run("@Dialect('sql') " + NESTED)
    explained = run.runtime.statement("s").explain()
    assert "rows of: another clause" in explained and "rows of: T" in explained


def test_the_end_of_the_input_goes_through_both_clauses() -> None:
    for restarts in (False, True):
        run = Run("@Dialect('sql') " + NESTED)
        run.feed(ROWS[:7], restarts=restarts)
        assert run.new() == [(3, 2)]
        run.runtime.end_of_input()
        assert run.new() == [(3, 2), (9, 1)]


def test_a_late_bound_holds_for_each_clause() -> None:
    nested = (f"{RISES.replace('A.x as low', 'A.ts as t, A.x as low')} match_recognize (order by t measures A.low as a, B.low as b"
              " pattern (A B) define B as true)")
    run = Run(f"@RowOrder(late=2) @Dialect('sql') @name('s') select * from {nested} as m")
    run.feed(ROWS)
    run.runtime.end_of_input()
    assert run.new() == [(1, 2), (1, 1)]
    assert run.runtime.ordered_rows["s"].late == 0
