"""Comparison, membership, text matching and three-valued logic.

Expected values are Esper 9.0.0's; a test form must agree with each value (Bench.run).
"""
from __future__ import annotations

import itertools
import math
from decimal import Decimal
from typing import Any

import pytest
from expression_bench import Bench
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.errors import EplValidationError
from epl.parse import parse_expression

THREE = (True, False, None)


def run(bench: Bench, text: str, **values: Any) -> Any:
    return bench.run(parse_expression(text), **values)


def refusal(bench: Bench, text: str) -> str:
    with pytest.raises(EplValidationError) as caught:
        bench.bind(parse_expression(text))
    return caught.value.message


@pytest.mark.parametrize(("left", "right"), list(itertools.product(THREE, THREE)))
def test_truth_tables(bench: Bench, left: bool | None, right: bool | None) -> None:
    values = {"bflag": left, "obj": right}
    other = "cast(obj, boolean)"
    both = False if left is False or right is False else None if left is None or right is None else True
    either = True if left or right else None if left is None or right is None else False
    assert run(bench, f"bflag and {other}", **values) is both
    assert run(bench, f"bflag or {other}", **values) is either
    assert run(bench, "not bflag", **values) is (None if left is None else not left)
    assert run(bench, f"not (bflag and {other})", **values) is (None if both is None else not both)


@pytest.mark.parametrize(("text", "values", "expected"), [
    ("i = 5", {"i": 5}, True), ("bi = 5", {}, None), ("bi != 5", {}, None), ("bi is 5", {}, False), ("bi is not 5", {}, True),
    ("bi is null", {}, True), ("bi is not null", {"bi": 1}, True), ("bi = null", {"bi": 1}, None), ("null is null", {}, True),
    ("null = null", {}, None),
    ("symbol = 'A'", {"symbol": "A"}, True), ("symbol != 'A'", {}, None), ("symbol is bi", {}, None),
    ("i = 1.0", {"i": 1}, True), ("l = 9007199254740992d", {"l": 9007199254740993}, True), ("volume is 5", {"volume": 5}, True),
    ("d = e", {"d": math.nan, "e": math.nan}, True), ("d = e", {"d": 0.0, "e": -0.0}, False), ("d = 0", {"d": 0.0}, True),
    ("d is e", {}, True),
    ("dec = 5.5", {"dec": Decimal("5.50")}, False), ("dec = 5.5", {"dec": Decimal("5.5")}, True), ("big = 5", {"big": 5}, True),
    ("ints = {5, 6}", {"ints": [5, 6]}, True), ("ints = {5, 6}", {}, None), ("obj = 1", {"obj": True}, False),
    ("obj = 'x'", {"obj": "x"}, True),
    ("price > 500", {"price": 600.0}, True), ("price > 500", {}, None), ("d < e", {"d": math.nan}, False),
    ("symbol >= 'B'", {"symbol": "C"}, True),
    ("i > dec", {"i": 6, "dec": Decimal("5.5")}, True), ("dec > 5", {"dec": Decimal("5.5")}, True),
])
def test_comparisons(bench: Bench, text: str, values: dict[str, Any], expected: object) -> None:
    if text == "symbol is bi":
        assert refusal(bench, text) == "Implicit conversion from datatype 'Integer' to 'String' is not allowed"
    else:
        assert run(bench, text, **values) is expected


@pytest.mark.parametrize(("text", "values", "expected"), [
    ("bi in (1, 2)", {"bi": 2}, True), ("bi in (1, 2)", {}, None), ("bi in (1, null)", {"bi": 5}, None),
    ("bi in (5, null)", {"bi": 5}, True),
    ("bi not in (1, null)", {"bi": 5}, None), ("bi not in (1, 2)", {"bi": 5}, True), ("bi not in (1, 2)", {}, None),
    ("i in (d)", {"i": 5, "d": 5.0}, True),
    ("bi in (ints)", {"bi": 1, "ints": [1]}, True), ("bi in (ints)", {"bi": 7, "ints": [1, None]}, None),
    ("bi in (ints)", {"bi": 7}, False),
    ("bi in (ints)", {}, False), ("bi in (ints)", {"ints": [1]}, None), ("bi not in (ints)", {"bi": 7, "ints": [1]}, True),
    ("bi in (1, ints)", {"bi": 5, "ints": [5]}, True), ("symbol in (words)", {"symbol": "a", "words": ["a", None]}, True),
    ("symbol in (words)", {"symbol": "b", "words": ["a", None]}, False), ("symbol in (dict)", {"symbol": "k", "dict": {"k": 1}}, True),
    ("dec in (5)", {"dec": Decimal("5")}, True),
    ("i between 1 and 10", {"i": 5}, True), ("i between 10 and 1", {"i": 5}, True), ("bi between 1 and 10", {}, False),
    ("bi not between 1 and 10", {}, False), ("i not between 1 and 2", {"i": 5}, True), ("i between null and 5", {"i": 1}, False),
    ("i in [1:5]", {"i": 5}, True), ("i in [1:5)", {"i": 5}, False), ("i in (5:10]", {"i": 5}, False), ("i not in [1:3]", {"i": 5}, True),
    ("i between 1 and 5.5", {"i": 5}, True), ("symbol between 'a' and 'c'", {"symbol": "b"}, True),
    ("i between j and bi", {"i": 2, "j": 3, "bi": 1}, True),
])
def test_membership_and_ranges(bench: Bench, text: str, values: dict[str, Any], expected: object) -> None:
    assert run(bench, text, **values) is expected


@pytest.mark.parametrize(("text", "values", "expected"), [
    ("bi = any (1, 2)", {"bi": 2}, True), ("bi = any (4, null)", {"bi": 5}, None), ("bi = all (5, 5)", {"bi": 5}, True),
    ("bi = any (1)", {}, None),
    ("bi != all (5, 6)", {"bi": 1}, True), ("bi > any (4, null)", {"bi": 5}, True), ("bi > any (6, null)", {"bi": 5}, False),
    ("bi > all (4, null)", {"bi": 5}, None), ("bi > all ()", {"bi": 5}, True), ("bi > any (ints)", {"bi": 5}, None),
    ("bi = any (ints)", {"bi": 5, "ints": [5]}, True),
    ("bi > all (ints)", {"bi": 0, "ints": [1, None]}, False), ("bi > all (1, ints)", {"bi": 7, "ints": [1, None]}, None),
    ("bi is any (5)", {"bi": 5}, True),
])
def test_quantified(bench: Bench, text: str, values: dict[str, Any], expected: object) -> None:
    assert run(bench, text, **values) is expected


@pytest.mark.parametrize(("text", "values", "expected"), [
    ("symbol like 'a%'", {"symbol": "abc"}, True), ("symbol like '%c'", {"symbol": "abc"}, True),
    ("symbol like '%b%'", {"symbol": "abc"}, True),
    ("symbol like 'abc'", {"symbol": "abc"}, True), ("symbol like 'a_c'", {"symbol": "abc"}, True),
    ("symbol like 'a.c'", {"symbol": "abc"}, False),
    ("symbol like 'a%'", {}, None), ("symbol not like 'a%'", {"symbol": "b"}, True), ("symbol not like 'a%'", {}, None),
    ("i like '5%'", {"i": 55}, True),
    ("symbol like 'a!%' escape '!'", {"symbol": "a%"}, True), ("symbol like 'a!%' escape '!'", {"symbol": "ab"}, False),
    ("'a%' like symbol", {"symbol": "a%"}, True), ("d like '1.0E10'", {"d": 1e10}, True),
    ("symbol regexp 'a.*'", {"symbol": "abc"}, True), ("symbol regexp 'b'", {"symbol": "abc"}, False),
    ("i regexp '[0-9]+'", {"i": 5}, True),
    ("symbol not regexp 'a.*'", {}, None),
])
def test_text_matching(bench: Bench, text: str, values: dict[str, Any], expected: object) -> None:
    assert run(bench, text, **values) is expected


@pytest.mark.parametrize(("text", "message"), [
    ("symbol > 1", "Implicit conversion from datatype 'String' to numeric is not allowed"),
    ("flag > true", "Implicit conversion from datatype 'Boolean' to numeric is not allowed"),
    ("i < null", "Null-type value is not allow for relational operator"),
    ("symbol = 1", "Implicit conversion from datatype 'Integer' to 'String' is not allowed"),
    ("c = 'x'", "Implicit conversion from datatype 'String' to 'Character' is not allowed"),
    ("i = part", "Implicit conversion from datatype 'java.util.Map<String,Object>' to 'Integer' is not allowed"),
    ("not i", "Incorrect use of NOT clause, sub-expressions do not return boolean"),
    ("flag and null", "Incorrect use of AND clause, sub-expressions do not return boolean"),
    ("i in ('a')", "Implicit conversion not allowed: Cannot coerce types Integer and String"),
    ("symbol = any ('a', 1)", "Implicit conversion not allowed: Cannot coerce to String type int"),
    ("ints in (1)", "Collection or array comparison and null-type values are not allowed for the IN, ANY, SOME or ALL keywords"),
    ("i between 'a' and 'b'", "Implicit conversion from datatype 'String' to numeric is not allowed"),
    ("null between 1 and 2", "Null value not allowed in between-clause"),
    ("flag like 'a'", "The 'like' operator requires a String or numeric type left-hand expression"),
    ("symbol like 5", "The 'like' operator requires a String-type pattern expression"),
    ("symbol regexp '['", "Failed to compile regex pattern '[': Unclosed character class near index 0\n["),
])
def test_refusals(bench: Bench, text: str, message: str) -> None:
    assert refusal(bench, text) == message


@settings(deadline=None, max_examples=80)
@given(value=st.one_of(st.none(), st.integers(-3, 3)), items=st.lists(st.one_of(st.none(), st.integers(-3, 3)), min_size=1, max_size=4))
def test_in_and_any_agree_with_three_valued_logic(value: int | None, items: list[int | None]) -> None:
    listed = ", ".join("null" if i is None else str(i) for i in items)
    known = [i for i in items if i is not None]
    expected = None if value is None else True if value in known else None if None in items else False
    bench = Bench()
    assert run(bench, f"bi in ({listed})", bi=value) is expected
    assert run(bench, f"bi = any ({listed})", bi=value) is expected
    assert run(bench, f"bi not in ({listed})", bi=value) is (None if expected is None else not expected)


# ------------------------------------------------------------------ Java's equals in lists (Esper 9.0.0 was asked)


@pytest.mark.parametrize(("expression", "values", "expected"), [
    ("d in (0.0, 5)", {"d": -0.0}, False), ("d in (e, 5)", {"d": -0.0, "e": 0.0}, False), ("d in (e)", {"d": -0.0, "e": -0.0}, True),
    ("d in (e, 7)", {"d": float("nan"), "e": float("nan")}, True), ("d in (5, 7)", {"d": float("nan")}, False),
    ("d not in (e)", {"d": -0.0, "e": 0.0}, True), ("d in ({0.0, 7.0})", {"d": -0.0}, False), ("d in (0, 5)", {"d": -0.0}, False),
    ("d = any(e, 5)", {"d": -0.0, "e": 0.0}, False), ("d != all (e, 5)", {"d": -0.0, "e": 0.0}, True), ("d in (0.0, 5)", {"d": 0.0}, True),
    ("dec in (dec2)", {"dec": Decimal("1.0"), "dec2": Decimal("1.00")}, False), ("dec in (1, 2)", {"dec": Decimal("2")}, True),
    ("dec = any(dec2, 5)", {"dec": Decimal("1.0"), "dec2": Decimal("1.00")}, False),
])
def test_lists_compare_as_equals_does(bench: Bench, expression: str, values: dict[str, Any], expected: bool) -> None:
    assert bench.run(parse_expression(expression), **values) is expected
