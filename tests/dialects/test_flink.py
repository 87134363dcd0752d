"""The dialects of Flink and Alibaba: the examples of their manuals, and what else they are known to do."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest

from epl.errors import EplError, EplRuntimeError, EplValidationError
from runtime import Runtime

START = datetime(2018, 9, 17, 10)
FIRST_PRICES = [12, 17, 19, 21, 25, 12, 15, 20, 24, 25, 19]
QUANTIFIED, TOPPED, SUMMED = [10, 11, 12, 13, 14, 16], [10, 12, 13, 11], [7, 9, 10, 17, 14]


def ticker(prices: list[int]) -> pa.Table:
    times = [START.replace(second=place + 1) for place in range(len(prices))]
    rowtime = pa.array(times, pa.timestamp("ms"))
    return pa.table({"symbol": ["XYZ"] * len(prices), "price": pa.array(prices, pa.int32()), "rowtime": rowtime})


def letters(events: str) -> pa.Table:
    """``a1 b1@60``: an event of type a at second 0, one of type b at second 60."""
    rows = [event.partition("@") for event in events.split()]
    seconds = [int(second) if second else place for place, (_, _, second) in enumerate(rows)]
    times = pa.array([1000 * second for second in seconds], pa.timestamp("ms"))
    return pa.table({"id": [name for name, _, _ in rows], "type": [name[0] for name, _, _ in rows], "rowtime": times})


def run(clause: str, table: pa.Table, dialect: str = "flink") -> list[tuple[Any, ...]]:
    result = Runtime.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause}) AS m", {"t": table}, dialect=dialect)
    return list(zip(*[column.to_pylist() for column in result.columns]))


V_SHAPE = """
    PARTITION BY symbol ORDER BY rowtime
    MEASURES STRT_ROW.rowtime AS start_tstamp, LAST(PRICE_DOWN.rowtime) AS bottom_tstamp, LAST(PRICE_UP.rowtime) AS end_tstamp
    ONE ROW PER MATCH AFTER MATCH SKIP TO LAST PRICE_UP
    PATTERN (STRT_ROW PRICE_DOWN+ PRICE_UP+{last})
    DEFINE
        PRICE_DOWN AS PRICE_DOWN.price < LAST(PRICE_DOWN.price, 1)
            OR (LAST(PRICE_DOWN.price, 1) IS NULL AND PRICE_DOWN.price < STRT_ROW.price),
        PRICE_UP AS PRICE_UP.price > LAST(PRICE_UP.price, 1) OR LAST(PRICE_UP.price, 1) IS NULL
"""


def test_first_example_needs_one_more_variable() -> None:
    """The manual of 1.7 ends the pattern in ``PRICE_UP+``, which no Flink runs."""
    with pytest.raises(EplValidationError, match="Greedy quantifiers are not allowed as the last element of a Pattern yet"):
        run(V_SHAPE.format(last=""), ticker(FIRST_PRICES))
    seconds = [tuple(value.second for value in row[1:]) for row in run(V_SHAPE.format(last=" X"), ticker(FIRST_PRICES))]
    assert seconds == [(5, 6, 10)]


@pytest.mark.parametrize(
    ("quantifier", "last"),
    [("*", [16]), ("+", [16]), ("*?", [13, 16]), ("+?", [13]), ("?", [13, 16]), ("{1,2}", [16]), ("{1,2}?", [13])],
)
def test_quantifiers_take_all_they_can(quantifier: str, last: list[int]) -> None:
    """Greed gives nothing back; of ``B*?`` the manual prints the first match only."""
    clause = f"""PARTITION BY symbol ORDER BY rowtime MEASURES C.price AS lastPrice AFTER MATCH SKIP PAST LAST ROW
        PATTERN (A B{quantifier} C) DEFINE A AS A.price > 10, B AS B.price < 15, C AS C.price > 12"""
    assert [row[1] for row in run(clause, ticker(QUANTIFIED))] == last


def test_functions_are_those_of_flink() -> None:
    """A double is cut off when it is cast to a whole number; DATE_FORMAT has Java's letters; times are not subtracted."""
    table = pa.table({"d": [1.5, -2.5], "rowtime": [START, START.replace(second=7)]})
    measures = "CAST(A.d AS INT) AS i, DATE_FORMAT(A.rowtime, 'yyyy/MM/dd HH:mm:ss') AS f"
    clause = f"ORDER BY rowtime MEASURES {measures} PATTERN (A) DEFINE A AS true"
    assert [row[0] for row in run(clause, table)] == [1, -2]
    assert run(clause, table)[1][1].endswith(":07")
    for measure, words in (("B.rowtime - A.rowtime", "Cannot apply '-' to arguments of type"), ("COUNT(B.*)", "Unknown field")):
        with pytest.raises(EplValidationError, match=words):
            run(f"ORDER BY rowtime MEASURES {measure} AS x PATTERN (A B) DEFINE A AS true", table)


def test_default_skip_is_to_the_next_row() -> None:
    """The manual prints the first row alone, which is what SKIP PAST LAST ROW gives."""
    clause = """PARTITION BY symbol ORDER BY rowtime
        MEASURES FIRST(A.price) AS startPrice, LAST(A.price) AS topPrice, B.price AS lastPrice {skip}
        PATTERN (A+ B) DEFINE A AS A.price > LAST(A.price, 1) OR LAST(A.price, 1) IS NULL, B AS B.price < LAST(A.price)"""
    assert run(clause.format(skip=""), ticker(TOPPED)) == [("XYZ", 10, 13, 11), ("XYZ", 12, 13, 11), ("XYZ", 13, 13, 11)]
    assert run(clause.format(skip="AFTER MATCH SKIP PAST LAST ROW"), ticker(TOPPED)) == [("XYZ", 10, 13, 11)]


@pytest.mark.parametrize(
    ("skip", "sums"),
    [("PAST LAST ROW", [26]), ("TO NEXT ROW", [26, 19, 27, 17]), ("TO LAST C", [26, 17]), ("TO C", [26, 17]), ("TO LAST A", [26, 27])],
)
def test_where_matching_goes_on(skip: str, sums: list[int]) -> None:
    """The manual prints one row more for PAST LAST ROW, which begins with the last row of the match before; for TO LAST A, too: there the
    match from row 3 has one A, so that the next one would begin where it begins."""
    clause = f"""PARTITION BY symbol ORDER BY rowtime MEASURES SUM(A.price) AS sumPrice AFTER MATCH SKIP {skip}
        PATTERN (A+ C) DEFINE A AS SUM(A.price) < 30"""
    if skip == "TO LAST A":
        with pytest.raises(EplRuntimeError, match="Could not skip to first element of a match"):
            run(clause, ticker(SUMMED))
    else:
        assert [row[1] for row in run(clause, ticker(SUMMED))] == sums


def test_sums_of_a_variable_and_of_all() -> None:
    clause = """ORDER BY rowtime MEASURES SUM(B.price) AS sb, SUM(price) AS s, AVG(price) AS a, MATCH_ROWTIME() AS mt
        AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C)
        DEFINE A AS A.price >= 10, B AS B.price > A.price AND SUM(price) < 100 AND SUM(B.price) < 80"""
    assert run(clause, ticker([10, 15, 20, 31, 35])) == [(66, 111, 22, START.replace(second=5))]


@pytest.mark.parametrize(
    ("clause", "words"),
    [
        ("ORDER BY rowtime MEASURES A.id AS a PATTERN (A | B) DEFINE A AS true", "CEP doesn't support branching patterns"),
        ("ORDER BY rowtime MEASURES A.id AS a PATTERN ((A B)+ C) DEFINE A AS true", "_UTF-16LE'B'. Group patterns are not supported yet"),
        ("ORDER BY rowtime MEASURES A.id AS a PATTERN (PERMUTE(A, B)) DEFINE A AS true", "CEP doesn't support PERMUTE patterns"),
        ("ORDER BY rowtime MEASURES A.id AS a PATTERN (A {- B*? -} C) DEFINE A AS true", "PATTERN_EXCLUDE.PATTERN_Q"),
        ("ORDER BY rowtime MEASURES A.id AS a PATTERN (A B A) DEFINE A AS true", "Pattern variables must be unique"),
        ("ORDER BY rowtime MEASURES A.id AS a PATTERN (A?) DEFINE A AS true", "Patterns that can produce empty matches are not supported"),
        ("ORDER BY rowtime MEASURES A.id AS a PATTERN (A B?? C) DEFINE A AS true", "Reluctant optional variables are not supported yet"),
        ("ORDER BY rowtime MEASURES A.id AS a ALL ROWS PER MATCH PATTERN (A) DEFINE A AS true", "All rows per match mode is not"),
        ("ORDER BY rowtime MEASURES PREV(A.id) AS a PATTERN (A) DEFINE A AS true", "Cannot use PREV/NEXT in MEASURE"),
        ("ORDER BY rowtime MEASURES A.id AS a PATTERN (A) DEFINE A AS PREV(A.id) = 'x'", "Flink does not support physical offsets"),
        ("ORDER BY rowtime MEASURES FIRST(LAST(A.id)) AS a PATTERN (A) DEFINE A AS true", "Cannot nest PREV/NEXT under LAST/FIRST"),
        ("ORDER BY rowtime MEASURES LAST(COUNT(A.id)) AS a PATTERN (A) DEFINE A AS true", "Cannot use aggregation in navigation"),
        ("ORDER BY rowtime MEASURES Z.id AS a PATTERN (A) DEFINE A AS true", "Table 'Z' not found"),
        ("ORDER BY rowtime MEASURES A.id AS a PATTERN (A) SUBSET U = (A) DEFINE A AS U.id = 'x'", "Table 'U' not found"),
        ("ORDER BY rowtime MEASURES A.id AS a PATTERN (A) SUBSET U = (Z) DEFINE A AS true", "Unknown pattern 'Z'"),
        ("ORDER BY rowtime MEASURES NULL AS a PATTERN (A) DEFINE A AS true", "Illegal use of 'NULL'"),
        ("ORDER BY rowtime MEASURES (SELECT 1) AS a PATTERN (A) DEFINE A AS true", "Query expression encountered in illegal context"),
        ("ORDER BY rowtime MEASURES COUNT(DISTINCT A.id) AS a PATTERN (A) DEFINE A AS true", "DISTINCT/ALL not allowed with COUNT"),
        ("ORDER BY id MEASURES A.id AS a PATTERN (A) DEFINE A AS true", "You must specify time point for order by as the first one"),
        ("ORDER BY rowtime DESC MEASURES A.id AS a PATTERN (A) DEFINE A AS true", "must be ascending on time"),
        ("MEASURES A.id AS a PATTERN (A) DEFINE A AS true", "You must specify non-empty order by"),
        ("ORDER BY rowtime MEASURES A.id AS a PATTERN (A) DEFINE A AS A.id", "DEFINE clause must be a condition"),
        ("ORDER BY rowtime MEASURES A.nope AS a PATTERN (A) DEFINE A AS true", "Column 'nope' not found in table 'A'"),
        ("ORDER BY rowtime MEASURES LAST(A.id || B.id) AS b PATTERN (A B) DEFINE A AS true", "Multiple pattern variables"),
        ("ORDER BY rowtime MEASURES A.id AS a AFTER MATCH SKIP TO Z PATTERN (A) DEFINE A AS true", "Unknown pattern 'Z'"),
        ("ORDER BY rowtime MEASURES A.id AS a PATTERN (A [^B]) DEFINE A AS true", 'Encountered "\\[" at line 1, column 81'),
        ("ORDER BY rowtime MEASURES A.id AS a AFTER MATCH NO SKIP PATTERN (A) DEFINE A AS true", 'Encountered "NO" at line'),
        ("PARTITION BY type ORDER BY rowtime MEASURES A.type AS type PATTERN (A) DEFINE A AS true", "Columns ambiguously defined: {type}"),
    ],
)  # fmt: skip
def test_refusals_have_flinks_words(clause: str, words: str) -> None:
    with pytest.raises(EplValidationError, match=words) as caught:
        run(clause, letters("a1 b1"))
    assert caught.value.position is not None


# Alibaba

TIMED = """ORDER BY rowtime MEASURES A.id AS aid, B.id AS bid ONE ROW PER MATCH {timeouts} PATTERN (A B) WITHIN INTERVAL '2' MINUTES
    DEFINE A AS type = 'a', B AS type = 'b'"""


def test_timed_out_matches_are_rows() -> None:
    table = letters("a1@0 b1@60 a2@120 b2@300")
    assert run(TIMED.format(timeouts=""), table, "alibaba") == [("a1", "b1")]
    assert run(TIMED.format(timeouts="SHOW TIMEOUT MATCHES"), table, "alibaba") == [("a1", "b1"), ("a2", None)]


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("A B", ["a1 b1", "a3 b2"]), ("A {- C*? -} B", ["a1 b1", "a2 b2", "a3 b2"]), ("A {- C* -} B", ["a1 b1", "a2 b2", "a3 b2"]),
        ("A [^B]", ["a2"]), ("A {- C*? -} [^B]", []),
    ],
)  # fmt: skip
def test_contiguity_between_variables(pattern: str, matches: list[str]) -> None:
    within = "WITHIN INTERVAL '1' HOUR" if pattern.endswith("*? -} [^B]") else ""
    measures = "A.id AS a" if "[^" in pattern else "A.id AS a, B.id AS b"
    clause = f"ORDER BY rowtime MEASURES {measures} PATTERN ({pattern}) {within} DEFINE A AS type = 'a', B AS type = 'b'"
    assert [" ".join(row) for row in run(clause, letters("a1 b1 a2 a3 b2 b3"), "alibaba")] == matches


def of_loops(pattern: str, events: str, defines: str, skip: str = "SKIP TO NEXT ROW") -> list[str]:
    clause = f"""ORDER BY rowtime MEASURES array_agg(A.id) AS a, C.id AS c AFTER MATCH {skip} PATTERN ({pattern}) DEFINE {defines}"""
    return [" ".join([*row[0], row[1]]) for row in run(clause, letters(events), "alibaba")]


@pytest.mark.parametrize(
    ("mark", "matches"),
    [
        ("", ["a2 a3 c1", "a3 c1"]), ("?", ["a2 a3", "a3 c1"]), ("??", ["a1 a2 a3 c1", "a2 a3 c1", "a3 c1"]),
        ("???", ["a1 a2 a3", "a2 a3", "a3 c1"]),
    ],
)  # fmt: skip
def test_contiguity_and_greed_of_loops(mark: str, matches: list[str]) -> None:
    assert of_loops(f"A+{mark} C", "a1 b1 a2 a3 c1", "A AS type = 'a', C AS type = 'a' OR type = 'c'") == matches


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("A+ C", ["a2 b1 a3 c1", "b1 a3 c1", "a3 c1"]), ("A+{B} C", ["a3 c1"]), ("A+{B} {- X*? -} C", ["a2 c1", "a3 c1"]),
        ("A+??{B} {- X*? -} C", ["a1 a2 c1", "a2 c1", "a3 c1"]),
    ],
)  # fmt: skip
def test_stop_conditions_of_loops(pattern: str, matches: list[str]) -> None:
    defines = "A AS type = 'a' OR type = 'b', C AS type = 'c'" + (", B AS type = 'b'" if "{B}" in pattern else "")
    assert of_loops(pattern, "a1 d1 a2 b1 a3 c1", defines) == matches


def test_group_patterns_loop_and_their_rows_add_up() -> None:
    defines = "DEFINE A AS type = 'a', B AS type = 'b', C AS type = 'c', D AS type = 'd'"
    clause = f"ORDER BY rowtime MEASURES FIRST(B.id) AS x, FIRST(B.id, 1) AS y, FIRST(B.id, 2) AS z PATTERN (A (B C*)+? D) {defines}"
    assert run(clause, letters("a1 b1 b2 c1 b3 c2 c3 d1"), "alibaba") == [("b1", "b2", "b3")]
    loose = f"ORDER BY rowtime MEASURES A.id AS a PATTERN (A {{- X*? -}} (B C)) {defines}"
    assert run(loose, letters("a1 b1 d1 b2 c1"), "alibaba") == []
    for pattern, words in [
        ("(A B)+ C", "Greedy quantifiers are not supported for group"), ("(A B)+", "Greedy quantifiers are not supported for group"),
        ("A (B? C)+? D", "must not be optional"), ("A (B? C)", "must not be optional"), ("A+{(B C)}", "Encountered"),
        ("A [^(B C)]", "Encountered"), ("A B*? [^C] D", "an optional path to NOT condition"), ("[^A] B", "does not begin with"),
        ("A B+ {- X*? -} C?", "Optional pattern cannot be preceded by greedy pattern"),
    ]:  # fmt: skip
        with pytest.raises(EplError, match=words):
            run(f"ORDER BY rowtime MEASURES A.id AS a PATTERN ({pattern}) {defines}", letters("a1"), "alibaba")


def test_a_row_that_is_not_there_is_not_of_another_variable() -> None:
    """``[^B]`` needs a next row: at the end of the input there is none."""
    clause = "ORDER BY rowtime MEASURES A.id AS a {timeouts} PATTERN (A [^B]) {within} DEFINE A AS type = 'a', B AS type = 'b'"
    table = letters("a1 x1 a2 b1 a3")
    assert run(clause.format(timeouts="", within=""), table, "alibaba") == [("a1",)]
    timed = clause.format(timeouts="ONE ROW PER MATCH SHOW TIMEOUT MATCHES", within="WITHIN INTERVAL '9' SECOND")
    assert run(timed, table, "alibaba") == [("a1",), ("a3",)]


def test_no_skip_keeps_what_has_begun() -> None:
    clause = """ORDER BY rowtime MEASURES B.id AS b {skip} PATTERN (A {{- X* -}} B {{- Y*? -}} C)
        DEFINE A AS type = 'a', B AS type = 'b', C AS type = 'c'"""
    table = letters("a1 b1 b2 b3 c1")
    assert [row[0] for row in run(clause.format(skip=""), table, "alibaba")] == ["b1"]
    assert sorted(row[0] for row in run(clause.format(skip="AFTER MATCH NO SKIP"), table, "alibaba")) == ["b1", "b2", "b3"]


def test_what_is_absent_until_the_time_is_over() -> None:
    clause = """ORDER BY rowtime MEASURES A.id AS a PATTERN (A {- X*? -} [^B]) WITHIN INTERVAL '2' SECOND
        DEFINE A AS type = 'a', B AS type = 'b'"""
    assert [row[0] for row in run(clause, letters("a1 b1 a2 x1 x2 a3 x3 b2"), "alibaba")] == ["a2", "a3"]
