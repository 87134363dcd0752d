"""Statements with match_recognize of a SQL dialect: the front door, what is downstream of the clause, time, state, limits."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from epl.dialects.dialect_names import DIALECT_NAMES
from epl.dialects.syntax.lexis import DIALECTS
from epl.errors import EplError, EplUnsupportedError, EplValidationError
from epl.formatting import format_module
from epl.grammar.modules import Grammar
from epl.parse import parse_module
from epl.plan.patterns.recognition_streams import RecognitionStreamPlan
from epl.plan.walk import walk_plan
from epl.syntax import RecognitionSource, Select
from epl.unparse import unparse
from runtime import Runtime, Settings
from runtime.api.statement import internal_output

SCHEMA = "create schema T(g string, x int, ts long);"
RISES = """(partition by g order by ts measures FIRST(A.x) as low, LAST(B.x) as high, COUNT(*) as n
    pattern (A B+) define B as B.x > PREV(B.x))"""
Rows = list[dict[str, Any]]


def deployed(text: str, **options: Any) -> tuple[Runtime, Rows]:
    """Return a runtime with the statements, and the list of what its statement ``s`` emits."""
    runtime = Runtime(**options)
    runtime.deploy(SCHEMA + text)
    return runtime, listened(runtime)


def listened(runtime: Runtime, name: str = "s") -> Rows:
    emitted: Rows = []

    def listen(new: Any, old: Any, *_: object) -> None:
        assert not old
        emitted.extend(dict(row) for row in new)

    runtime.statement(name).add_listener(listen)
    return emitted


def send(runtime: Runtime, *rows: tuple[Any, ...]) -> None:
    for row in rows:
        runtime.send("T", dict(zip(("g", "x", "ts"), row)))


# the front door


def dialect_of(text: str) -> str | None:
    body = parse_module(text).statements[-1].body
    assert isinstance(body, Select) and body.from_ is not None
    source = body.from_.streams[0].source
    return source.dialect if isinstance(source, RecognitionSource) else None


def test_names_of_dialects_are_those_that_can_be_read() -> None:
    assert tuple(DIALECTS) == DIALECT_NAMES


@pytest.mark.parametrize(
    ("clause", "reason"),
    [
        ("order by x measures A.x as a pattern (A) define A as true", "ORDER BY"),
        ("measures A.x as a one row per match pattern (A) define A as true", "ONE ROW PER MATCH"),
        ("measures A.x as a all rows per match pattern (A) define A as true", "ALL ROWS PER MATCH"),
        ("measures A.x as a after match skip to first A pattern (A) define A as true", "AFTER MATCH SKIP TO a variable"),
        ("measures A.x as a pattern (A) subset U = (A) define A as true", "SUBSET"),
        ("measures A.x as a pattern (A {- B -}) define A as true", "{- -}"),
        ("measures A.x as a pattern (^ A) define A as true", "anchors"),
        ("measures A.x as a pattern (permute(A, B)) define A as true", "PERMUTE"),
        ("measures final last(A.x) as a pattern (A+) define A as true", "FINAL"),
        ("measures A.x as a pattern ((A B)+?) define A as true", "a reluctant quantifier of a group"),
        ("measures A.x as a pattern (A) define A as true) as m where (m.a > 0", "an alias behind the bracket"),
    ],
)  # fmt: skip
def test_what_epl_does_not_have_is_sql_and_says_so(clause: str, reason: str) -> None:
    runtime = Runtime()
    (statement,) = runtime.deploy(f"create schema T(x long); @name('s') select * from T match_recognize ({clause})").statements[1:]
    assert f"dialect: sql, because EPL does not have {reason} in match_recognize" in statement.explain()


def test_what_epl_reads_stays_epl() -> None:
    clause = "(measures A.x as a pattern (A B) define B as B.x > A.x)"
    assert dialect_of(f"select * from T match_recognize {clause}") is None
    assert dialect_of(f"@Dialect('epl') select * from T match_recognize {clause}") is None
    assert dialect_of(f"@Dialect('sql') select * from T match_recognize {clause}") == "sql"
    assert dialect_of(f"@name('a') @dialect(value=\"Flink\") select * from T match_recognize {clause}") == "flink"
    both = f"@Dialect('sql') select * from T match_recognize {clause}; select '@Dialect(\"sql\")' as y from T match_recognize {clause}"
    assert dialect_of(both) is None


def test_texts_of_the_cases_go_no_other_way() -> None:
    """What EPL accepts has the same tree, what it refuses the same refusal."""
    grammar = Grammar()
    seen = 0
    for path in sorted(pathlib.Path("tests/cases").rglob("*.json")):
        for text in texts_in(json.loads(path.read_text(encoding="utf-8"))):
            if "match_recognize" in text.lower():
                seen += 1
                assert outcome(parse_module, text) == outcome(grammar.module, text)
    assert seen > 50


def texts_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["epl"]] if isinstance(value.get("epl"), str) else []
        return own + [text for each in value.values() for text in texts_in(each)]
    return [text for each in value for text in texts_in(each)] if isinstance(value, list) else []


def outcome(parse: Any, text: str) -> Any:
    try:
        return parse(text)
    except EplError as error:
        return str(error)


@pytest.mark.parametrize(
    ("text", "words", "place"),
    [
        ("@Dialect('slq') select * from T match_recognize (pattern (A) define A as true)", "there is no dialect 'slq'", (1, 1)),
        ("@Dialect('mine') select * from T", None, None),
        ("@Dialect('sql') select * from T#length(3) match_recognize (measures 1 as a pattern (A) define A as true)",
         "A data window in front of match_recognize in dialect 'sql' is not supported", (1, 43)),
        ("@Dialect('sql') select * from T match_recognize (measures Z.x as a pattern (A) define A as true)",
         "Column 'z.x' cannot be resolved", (1, 59)),
        ("@Dialect('sql') select * from T match_recognize (order by g measures 1 as a pattern (A) define A as true)",
         "ORDER BY of a stream begins with its time, a timestamp or a whole number of engine units, not varchar", (1, 59)),
        ("@Dialect('sql') select * from T match_recognize (order by ts desc measures 1 as a pattern (A) define A as true)",
         "ORDER BY of a stream begins with its time, ascending", (1, 59)),
        ("@Dialect('sql') select * from T match_recognize (measures 1 as a, 2 as a pattern (A) define A as true)",
         "two output columns with the name 'a' are not supported", None),
        ("@Dialect('sql') select * from T match_recognize (measures (select 1) as a pattern (A) define A as true)",
         "sub-queries in match_recognize over a stream are not supported", None),
        ("@Dialect('sql') select * from T match_recognize (measures now() as a pattern (A) define A as true)",
         "NOW in match_recognize over a stream is not supported", (1, 59)),
        ("@Dialect('sql') select * from T match_recognize (measures A.x as a pattern (A) define A as current_date is not null)",
         "CURRENT_DATE in match_recognize over a stream is not supported", None),
        ("@Dialect('flink') select * from T match_recognize (measures A.x as a pattern (A) define A as true)",
         "You must specify either rowtime or proctime for order by", None),
        ("@Dialect('flink') select * from T match_recognize (order by g measures A.x as a pattern (A) define A as true)",
         "You must specify either rowtime or proctime for order by as the first one", (1, 61)),
        ("@Dialect('sql') select * from T match_recognize (measures A.x as a pattern (A define A as true",
         "mismatched input '<EOF>'", None),
        ("select * from T match_recognize (order by ts measures A.x as a pattern (A) define A as true) as m order order",
         "Incorrect syntax near 'order'", (1, 105)),
        ("select * from pattern [T] match_recognize (order by ts measures A.x as a pattern (A) define A as true)",
         "match_recognize in dialect 'sql' over a pattern is not supported", None),
    ],
)  # fmt: skip
def test_refusals_have_a_place(text: str, words: str | None, place: tuple[int, int] | None) -> None:
    runtime = Runtime(settings=Settings(annotations=("Dialect",)))
    runtime.deploy(SCHEMA)
    if words is None:
        runtime.deploy(text)
        return
    with pytest.raises((EplValidationError, EplUnsupportedError, EplError)) as caught:
        runtime.deploy(text)
    assert words in caught.value.message
    assert caught.value.position is not None
    assert place is None or caught.value.position == place


FLINKS = "select * from T match_recognize (order by ts measures A.x as y pattern (A) define A as A.x > 1)"


@pytest.mark.parametrize("by_settings", [True, False])
def test_a_dialect_may_be_given_beside_the_text(by_settings: bool) -> None:
    runtime = Runtime(settings=Settings(dialect="flink" if by_settings else "epl"))
    options: Any = {} if by_settings else {"dialect": "flink"}
    plan = runtime.compile(f"{SCHEMA} /* one */ {FLINKS};\n@Dialect('sql') {FLINKS}; select * from T", **options)
    clauses = [part.clause.dialect for each in plan.statements for part in walk_plan(each.body) if isinstance(part, RecognitionStreamPlan)]
    assert clauses == ["flink", "sql"]
    runtime.deploy(SCHEMA + f"@name('s') {FLINKS}", **options)
    assert "dialect: flink" in Runtime.restore(runtime.snapshot()).statement("s").explain()
    with pytest.raises(EplError, match="Greedy quantifiers are not allowed") as caught:
        runtime.deploy(f"{FLINKS};\n  {FLINKS.replace('(A)', '(A+)')}", **options)
    assert caught.value.position == (2, 3 + FLINKS.index("(A)") + 2)
    with pytest.raises(EplError, match="there is no dialect 'oracle'"):
        runtime.deploy(FLINKS, dialect="oracle")


def test_formatting_leaves_what_the_brackets_hold() -> None:
    clause = "(ORDER BY ts   -- it's SQL\n MEASURES A.x AS y PATTERN (A   B) DEFINE B AS x>1 )"
    written = format_module(f"@Dialect('sql') SELECT  y FROM T  match_recognize{clause} AS m where y>1")
    assert clause in written and "select y\n" in written and "as m\n" in written
    assert format_module(written) == written


def test_named_windows_are_refused_by_name() -> None:
    runtime = Runtime()
    runtime.deploy(SCHEMA + "create window W#keepall as T")
    with pytest.raises(EplUnsupportedError, match="match_recognize in dialect 'sql' over a named window is not supported"):
        runtime.deploy(f"@Dialect('sql') select * from W match_recognize {RISES}")


def test_trees_are_written_and_read_again() -> None:
    text = f"@Dialect('sql') insert into O select m.low from T(x > 1) match_recognize {RISES}#length(3) as m where m.n > 2"
    module = parse_module(text)
    assert parse_module(unparse(module)) == module


# what is downstream


def test_the_clause_is_a_stream_among_others() -> None:
    text = f"""
        @name('o') insert into O select m.g as g, low, high, n from T(x < 100) match_recognize {RISES} as m where n > 1;
        @name('s') select g, sum(n) as total from O#length(2) group by g having sum(n) > 2;
        @name('w') @Dialect('sql') select * from T match_recognize {RISES}#lastevent;
        @name('j') @Dialect('sql') select m.high as high, t.x as x from T match_recognize {RISES} as m unidirectional, T#lastevent as t;
        @name('q') select x, (select max(high) from O#keepall) as best from T(x = 0)"""
    runtime, totals = deployed(text)
    joined, best = listened(runtime, "j"), listened(runtime, "q")
    send(runtime, *(("a", x, at) for at, x in enumerate([1, 2, 3, 1, 500, 5, 4, 0])))
    assert totals == [{"g": "a", "total": 3}, {"g": "a", "total": 5}]
    assert [dict(row) for row in runtime.statement("w")] == [{"g": "a", "low": 1, "high": 500, "n": 2}]
    assert joined == [{"high": 3, "x": 3}, {"high": 500, "x": 500}] or len(joined) == 2
    assert best == [{"x": 0, "best": 5}]
    assert {name: str(each.type) for name, each in runtime.statement("o").plan.body.output_type.properties.items()} == {  # type: ignore[union-attr]
        "g": "String", "low": "Integer", "high": "Integer", "n": "Long"}


def test_a_sub_query_reads_the_clause() -> None:
    text = f"""@name('s') @Dialect('sql') select x, (select max(high) from T match_recognize {RISES}#keepall) as best,
        exists (select * from T match_recognize {RISES}#lastevent as m where m.high = t.x) as again from T(g = 'q') as t"""
    rows = [("a", 1, 0), ("a", 5, 1), ("a", 2, 2), ("q", 5, 3), ("a", 9, 4), ("a", 1, 5), ("q", 4, 6), ("a", 7, 7)]
    runtime, emitted = deployed(text)
    send(runtime, *rows)
    assert emitted == [{"x": 5, "best": 5, "again": True}, {"x": 4, "best": 9, "again": False}]
    for cut in range(len(rows)):
        before, first = deployed(text)
        send(before, *rows[:cut])
        after = Runtime.restore(before.snapshot())
        rest = listened(after)
        send(after, *rows[cut:])
        assert first + rest == emitted
        assert after.matches_in_progress == runtime.matches_in_progress


def test_the_clause_triggers_on_statements() -> None:
    text = f"""create variable int best = 0; create table Highs(g string primary key, high int);
        @Dialect('sql') on T match_recognize {RISES} as m set best = m.high;
        @name('s') @Dialect('sql') on T match_recognize {RISES} as m merge Highs h where h.g = m.g
            when not matched then insert select m.g as g, m.high as high when matched then update set high = m.high"""
    runtime, _ = deployed(text)
    send(runtime, ("a", 1, 0), ("a", 5, 1))
    runtime = Runtime.restore(runtime.snapshot())
    send(runtime, ("a", 2, 2), ("b", 1, 3), ("b", 3, 4), ("b", 1, 5))
    assert [dict(row) for row in runtime.query("select g, high, best from Highs order by g")] == [
        {"g": "a", "high": 5, "best": 3}, {"g": "b", "high": 3, "best": 3}]


def test_all_rows_and_unmatched_rows() -> None:
    text = """@name('s') select * from T match_recognize (order by ts measures CLASSIFIER() as c, MATCH_NUMBER() as n
        all rows per match with unmatched rows pattern (A B+) define A as x = 1, B as x > PREV(x))"""
    runtime, emitted = deployed(text)
    send(runtime, *(("a", x, at) for at, x in enumerate([0, 1, 2, 1, 1, 3])))
    shown = [(row["ts"], row["c"], row["n"], row["x"]) for row in emitted]
    assert shown == [(0, None, None, 0), (1, "A", 1, 1), (2, "B", 1, 2), (3, None, None, 1)]
    runtime.end_of_input()
    assert [(row["ts"], row["c"]) for row in emitted[4:]] == [(4, "A"), (5, "B")]


def test_of_a_context_each_partition_matches_its_own_rows() -> None:
    text = f"create context C partition by g from T; @name('s') context C select g, high from T match_recognize {RISES} as m"
    runtime, emitted = deployed(text)
    send(runtime, ("a", 1, 0), ("b", 5, 1), ("a", 2, 2), ("b", 1, 3), ("a", 1, 4), ("b", 2, 5))
    runtime.end_of_input()
    assert emitted == [{"g": "a", "high": 2}, {"g": "b", "high": 2}]


# time


def test_rows_of_one_time_wait_for_a_later_one_where_they_are_sorted() -> None:
    runtime, emitted = deployed("""@name('s') select * from T match_recognize (order by ts, x measures array_agg(x) as xs pattern (A{3})
        define A as true)""")
    send(runtime, ("a", 3, 1), ("a", 1, 1), ("a", 2, 2))
    assert emitted == []
    runtime.advance_time(2)
    assert emitted == []
    runtime.advance_time(3)
    assert emitted == [{"xs": [1, 3, 2]}]


def test_late_rows_are_dropped_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    clause = "order by ts measures array_agg(x) as xs pattern (A{3}) define A as true"
    runtime, emitted = deployed(f"@name('s') select * from T match_recognize ({clause})")
    send(runtime, ("a", 1, 10), ("a", 2, 9), ("a", 3, None), ("a", 4, 10), ("a", 5, 11))
    assert emitted == [{"xs": [1, 4, 5]}]
    rest = "dropped, %d so far: match_recognize is in the order of time"
    assert caplog.messages == ["statement 's': a row of time 9 after one of 10 is " + rest % 1]
    send(runtime, *[("a", 1, None)] * 10)
    assert caplog.messages[1:] == ["statement 's': a row without a time is " + rest % 10]
    again = Runtime.restore(runtime.snapshot())
    for _ in range(100):
        again.send("T", {"g": "a", "x": 1, "ts": 3})
    assert caplog.messages[2:] == ["statement 's': a row of time 3 after one of 11 is " + rest % 100]


@pytest.mark.parametrize("by_clock", [True, False])
def test_time_decides_where_within_says_so(by_clock: bool) -> None:
    """``A B*`` waits for one more B until none can be in time."""
    runtime, emitted = deployed("""@name('s') select * from T match_recognize (partition by g order by ts
        measures COUNT(*) as n pattern (A B*) within interval '5' second define B as B.x > 0)""")
    send(runtime, ("a", 1, 1000), ("a", 1, 2000))
    assert runtime.matches_in_progress == 1
    if by_clock:
        runtime.advance_time(5999)
        assert emitted == []
        runtime.advance_time(6000)
    else:
        send(runtime, ("b", 1, 5999))
        assert emitted == []
        send(runtime, ("b", 1, 6000))
    assert emitted == [{"g": "a", "n": 2}]


def test_a_clock_that_is_ahead_of_the_rows_decides_nothing() -> None:
    runtime, emitted = deployed("""@name('s') select * from T match_recognize (order by ts
        measures COUNT(*) as n pattern (A B) within interval '5' second define B as B.x > 0)""", start_time=10**12)
    send(runtime, ("a", 1, 1000))
    runtime.advance_time(10**12 + 10_000)
    send(runtime, ("a", 1, 2000))
    assert emitted == [{"n": 2}]


def test_timeouts_of_alibaba_come_with_the_clock() -> None:
    runtime, emitted = deployed("""@name('s') @Dialect('alibaba') select * from T match_recognize (order by ts
        measures A.x as a, B.x as b one row per match show timeout matches pattern (A B) within interval '2' second
        define A as A.x = 1, B as B.x = 2)""")
    send(runtime, ("a", 1, 1000), ("a", 2, 2000), ("a", 1, 2500))
    assert emitted == [{"a": 1, "b": 2}]
    runtime.advance_time(4500)
    assert emitted[1:] == [{"a": 1, "b": None}]


def test_next_waits_for_the_row_that_it_needs_and_for_no_other() -> None:
    runtime, emitted = deployed("""@name('s') select * from T match_recognize (order by ts measures A.x as a, NEXT(A.x, 2) as b
        after match skip to next row pattern (A) define A as NEXT(A.x) > 3 and A.x > 1)""")
    send(runtime, ("a", 2, 1), ("a", 5, 2))
    assert emitted == []
    send(runtime, ("a", 1, 3))
    assert emitted == [{"a": 2, "b": 1}]
    runtime.end_of_input()
    assert emitted == [{"a": 2, "b": 1}]


# state


def test_a_snapshot_goes_on_anywhere_and_holds_what_is_needed() -> None:
    text = f"@name('s') @Dialect('sql') select * from T match_recognize {RISES} as m"
    rows = [("ab"[at % 2], value, at) for at, value in enumerate([1, 9, 2, 8, 3, 9, 1, 9, 5, 10, 4, 1])]
    runtime, whole = deployed(text)
    send(runtime, *rows)
    runtime.end_of_input()
    for cut in range(len(rows)):
        before, emitted = deployed(text)
        send(before, *rows[:cut])
        after = Runtime.restore(before.snapshot())
        assert after.matches_in_progress == before.matches_in_progress
        rest = listened(after)
        send(after, *rows[cut:])
        after.end_of_input()
        assert emitted + rest == whole
        assert after.matches_in_progress == 0


def test_snapshots_do_not_grow_with_history() -> None:
    runtime, _ = deployed(f"@name('s') @Dialect('sql') select * from T match_recognize {RISES} as m")
    sizes = []
    for begin in (0, 3000):
        send(runtime, *(("abc"[at % 3], at * 7 % 5, at) for at in range(begin, begin + 3000)))
        sizes.append(len(runtime.snapshot()))
    assert abs(sizes[1] - sizes[0]) < 100


def test_damaged_states_are_refused() -> None:
    from runtime.operators.recognition_entry import RecognitionEntry
    from windows.protocol import Damaged

    runtime, _ = deployed(f"@name('s') @Dialect('sql') select * from T match_recognize {RISES} as m")
    entry = internal_output(runtime.statement("s")).running.entry  # type: ignore[attr-defined]
    assert isinstance(entry, RecognitionEntry)
    good = {"partitions": [], "order": [[], None, None, [0, 0, 0]], "due": None, "input": None}
    for bad in ({"partitions": [["a", [1, 2]]]}, {"partitions": [["a", None]]},
                {"order": [[], "x", None, [0, 0, 0]]}, {"order": [3, None, None, [0, 0, 0]]},
                {"order": [[[1, [2]]], None, None, [0, 0, 0]]}):
        with pytest.raises(Damaged):
            entry.restore({**good, **bad})


# limits and failures


def test_an_expression_that_fails_harms_one_match() -> None:
    failures: list[BaseException] = []
    clause = "order by ts measures 10 / A.x as d, COUNT(*) as n pattern (A B) define B as 6 / B.x > 1"
    runtime, emitted = deployed(f"@name('s') select * from T match_recognize ({clause})", on_error=lambda error, *_: failures.append(error))
    send(runtime, *(("a", x, at) for at, x in enumerate([1, 0, 2, 3, 0, 1, 5, 2])))
    assert [row["d"] for row in emitted] == [5, 2]
    assert [getattr(each, "message", "") for each in failures] == ["Division by zero"] * 3


def test_the_limit_on_partial_matches_holds_here_too() -> None:
    runtime, emitted = deployed(
        f"@name('s') @Dialect('sql') select * from T match_recognize {RISES} as m", settings=Settings(max_states=1))
    send(runtime, ("a", 1, 0), ("b", 1, 1), ("b", 2, 2), ("b", 1, 3), ("a", 2, 4), ("a", 1, 5))
    assert runtime.matches_in_progress == 1
    assert [row["g"] for row in emitted] == ["a"]


def test_ambiguous_patterns_end_in_an_error_with_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from runtime.dialects.streaming import sql_partition

    monkeypatch.setattr(sql_partition.SqlRecognizer.__init__, "__defaults__", (2000,))
    failures: list[BaseException] = []
    runtime, _ = deployed("""@name('s') select * from T match_recognize (order by ts measures COUNT(*) as n pattern ((A | B)* C)
        define A as x > 0 and (LAST(B.x, 3) is null or x > 0), B as x > 0 and (LAST(A.x, 3) is null or x > 0), C as x < 0)""",
        on_error=lambda error, *_: failures.append(error))  # fmt: skip
    send(runtime, *(("a", int(at < 40), at) for at in range(41)))
    assert any("the row pattern is ambiguous" in str(failure) for failure in failures)
