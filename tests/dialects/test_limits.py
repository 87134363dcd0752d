"""Texts and values of queries in a SQL dialect that ask for more than there is: a result or an error by name, soon."""

from __future__ import annotations

import pyarrow as pa
import pytest

from epl.dialects.functions import sizes
from epl.errors import EplError
from epl.parse import parse_module
from runtime import Runtime
from tests.calls import calls

TABLE = pa.table({"v": [1, 2, 3], "s": ["a" * 60 + "!", "b", None]})
MOST_CALLS = 30_000_000
"""Of a reader: one whose work does not grow with the text alone needs billions. What computes without a bound does not end at all."""


def value(expression: str) -> object:
    return Runtime.sql(f"select {expression} as z from t", {"t": TABLE})["z"][0].as_py()


@pytest.mark.parametrize(("expression", "expected"), [
    ("regexp_like(s, '(a+)+$')", False), ("regexp_like(s, '(a|a)*$')", True), ("regexp_replace(s, '(a+)+$', 'x')", "a" * 60 + "!"),
    ("regexp_extract(s, '^(a+)+$')", None), ("regexp_count(s, '(a+)+$')", 0), ("regexp_split('a1b', '(a+)+$|(\\d)')", ["a", "b"]),
    ("regexp_position(s, '(a+)+$')", -1), ("regexp_position('xaxa', 'a', 3)", 4), ("regexp_position('xaxa', '^a', 2)", -1),
    ("regexp_position('xaxa', 'a', 1, 9223372036854775807)", -1), ("regexp_extract_all('a1b2', '([a-z])(\\d)', 2)", ["1", "2"]),
    ("bitwise_left_shift(1, 9223372036854775807)", 0), ("bitwise_right_shift(8, 9223372036854775807)", 0),
    ("array_distinct(array[2, null, 1, 2, null])", [2, None, 1]), ("array_except(array[1, 2, 2], array[1])", [2]),
    ("array_intersect(array[array[1], array[2]], array[array[2]])", [[2]]), ("arrays_overlap(array[1, null], array[2])", None),
    ("cardinality(array_distinct(sequence(1, 10000)))", 10_000),
])  # fmt: skip
def test_values_are_bounded_or_computed(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(("expression", "message"), [
    ("rpad('x', 2147483647, 'y')", "a text of 2147483647 characters is longer than 10000000"),
    ("lpad('x', 2147483647, 'y')", "a text of 2147483647 characters is longer than 10000000"),
    ("replace(rpad('x', 10000, 'x'), 'x', rpad('y', 10000, 'y'))", "a text of 100000000 characters"),
    ("array_join(repeat(rpad('x', 10000, 'y'), 10000), ',')", "a text of 100009999 characters"),
    ("reduce(sequence(1, 100), 'ab', (s, x) -> s || s, s -> length(s))", "a text of 16777216 characters"),
    ("reduce(sequence(1, 60), array[1], (s, x) -> s || s, s -> cardinality(s))", "an array of 16777216 elements"),
    ("cardinality(flatten(repeat(repeat(1, 10000), 10000)))", "an array of 100010000 elements"),
    ("cardinality(transform(sequence(1, 10000), x -> repeat(x, 10000)))", "an array of 1000"),
    ("reduce(sequence(1, 10000), 0, (s, x) -> s + reduce(sequence(1, 10000), 0, (q, y) -> q + y, q -> q), s -> s)",
     f"an expression needs more than {sizes.MOST_CALLS} calls of its lambdas"),
    ("levenshtein_distance(rpad('x', 100000, 'y'), rpad('z', 100000, 'w'))", "The combined inputs for Levenshtein distance are too large"),
    ("regexp_replace(s, 'a', '$9')", "No group 9"), ("regexp_replace(s, 'a', '${x}')", "No group with name {x}"),
    ("regexp_like(s, '(')", "PatternSyntaxException"), ("bit_count(1, 9223372036854775807)", "must be between 2 and 64"),
    ("bitwise_left_shift(1, -1)", "shift must not be negative"), ("1" + "0" * 5000, "Invalid numeric literal: 1000"),
    ("0x" + "f" * 10_000, "Invalid numeric literal: 0xfff"), ("interval '99999999999' day", "is not a valid INTERVAL literal"),
    ("from_base(rpad('1', 10000, '1'), 10)", "Not a valid base-10 number"), ("/* " * 100_000 + "v", "mismatched input '/'"),
])  # fmt: skip
def test_what_is_too_large_is_an_error(expression: str, message: str) -> None:
    with pytest.raises(EplError) as caught:
        value(expression)
    assert message in caught.value.message and len(caught.value.message) < 1_100


def test_lambdas_may_be_called_for_each_row_anew() -> None:
    table = pa.table({"v": list(range(300))})
    text = "select cardinality(transform(sequence(1, 10000), x -> x + v)) as z from t"
    assert Runtime.sql(text, {"t": table})["z"].to_pylist() == [10_000] * 300


@pytest.mark.parametrize("keys", [f"cube({', '.join(['v'] * 40)})", ", ".join(["cube(v, s)"] * 6)])
def test_grouping_sets_have_a_most(keys: str) -> None:
    with pytest.raises(EplError, match="grouping sets but can contain at most 2048"):
        Runtime.sql(f"select count(*) as z from t group by {keys}", {"t": TABLE})


@pytest.mark.parametrize("dialect", ["flink", "alibaba"])
@pytest.mark.parametrize("pattern", ["^* A", "(())*", "{- A* -}* B", "(^)"])
def test_patterns_that_are_not_of_variables_are_refused(pattern: str, dialect: str) -> None:
    table = pa.table({"v": [1], "ts": pa.array([0], pa.timestamp("ms"))})
    text = f"select * from t match_recognize (order by ts measures last(A.v) as z pattern ({pattern}) define A as A.v > 0)"
    with pytest.raises(EplError):
        Runtime.sql(text, {"t": table}, dialect=dialect)


def test_reading_many_statements_of_sql_takes_time_by_their_number() -> None:
    """Each is seen to be of SQL by an attempt to read it as EPL; once, not once for each of the others."""
    clause = "all rows per match pattern (A) define A as A.x > 0"
    statement = f"select * from E match_recognize (measures last(A.x) as z, classifier() as c {clause}) as m;"
    mixed = "select x from E;\nselect * from E match_recognize (measures A.x as z pattern (A) define A as A.x > 0);\n"
    with calls(MOST_CALLS):
        module = parse_module((statement + "\n" + mixed) * 60)
    assert sum("RecognitionSource" in repr(each) for each in module.statements) == 60


@pytest.mark.parametrize("text", ["select * from E match_recognize (" * 10_000, "select * from E " + "match_recognize (" * 10_000])
def test_clauses_without_an_end_are_refused_in_time(text: str) -> None:
    with calls(MOST_CALLS), pytest.raises(EplError):
        parse_module(text)


def test_comments_without_an_end_are_refused_in_time() -> None:
    with calls(MOST_CALLS):
        with pytest.raises(EplError, match="the comment has no end"):
            parse_module("/* " * 300_000)
        with pytest.raises(EplError):
            parse_module("@Dialect('sql') select * from E match_recognize (pattern (A)) " + "/* " * 300_000)
