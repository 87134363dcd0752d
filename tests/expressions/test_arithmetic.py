"""Arithmetic: types, wrapping, division, null. Expected values are Esper 9.0.0's."""
from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from expression_bench import Bench, binary, literal, name
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.errors import EplRuntimeError, EplValidationError
from epl.settings import Settings
from epl.syntax import expressions as syntax

ints = st.integers(-(2**31), 2**31 - 1)
longs = st.integers(-(2**63), 2**63 - 1)


def wrapped(value: int, bits: int) -> int:
    value %= 2**bits
    return value - 2**bits if value >= 2 ** (bits - 1) else value


@settings(deadline=None, max_examples=60)
@given(i=ints, j=ints, l=longs, m=longs, first=st.sampled_from("+-*"), second=st.sampled_from("+-*"))
def test_chains_of_integers_wrap_as_java_does(i: int, j: int, l: int, m: int, first: str, second: str) -> None:
    bench = Bench()
    inner = eval(f"i {first} j")
    expected = eval(f"({wrapped(inner, 32)}) {second} (i)")
    assert bench.run(binary(binary("i", first, "j"), second, "i"), i=i, j=j) == wrapped(expected, 32)
    assert bench.run(binary("l", first, "m"), l=l, m=m) == wrapped(eval(f"l {first} m"), 64)
    mixed = eval(f"({wrapped(inner, 32)}) {second} l")
    assert bench.run(binary(binary("i", first, "j"), second, "l"), i=i, j=j, l=l) == wrapped(mixed, 64)


@settings(deadline=None, max_examples=60)
@given(left=ints, right=ints.filter(bool))
def test_remainder_and_integer_division_have_javas_signs(left: int, right: int) -> None:
    remainder = Bench().run(binary("i", "%", "j"), i=left, j=right)
    assert remainder == int(math.fmod(left, right))
    quotient = Bench(settings=Settings(integer_division=True)).run(binary("i", "/", "j"), i=left, j=right)
    assert quotient == wrapped(int(Decimal(left) / Decimal(right)), 32)


@pytest.mark.parametrize(("left", "right", "expected"), [
    ("i", "j", "int"), ("i", "bi", "Integer"), ("i", "l", "long"), ("f", "f", "float"), ("f", "i", "double"), ("f", "d", "double"),
    ("big", "i", "BigInteger"), ("big", "d", "BigDecimal"), ("dec", "i", "BigDecimal"), ("dec", "f", "BigDecimal"), ("volume", 1, "Long"),
])
def test_types_of_sums(bench: Bench, left: Any, right: Any, expected: str) -> None:
    assert bench.type(binary(left, "+", right)) == expected


@pytest.mark.parametrize(("left", "right", "expected"), [
    ("i", "j", "double"), ("big", "big", "Double"), ("dec", "i", "BigDecimal"), ("f", "f", "double"),
])
def test_types_of_quotients(bench: Bench, left: Any, right: Any, expected: str) -> None:
    assert bench.type(binary(left, "/", right)) == expected


def test_null_in_any_operand_is_null(bench: Bench) -> None:
    for operator in "+-*/%":
        assert bench.run(binary("i", operator, "bi"), i=1) is None
        assert bench.run(binary("bi", operator, "i"), i=1) is None
        assert bench.run(binary("dec", "+", "i"), i=1) is None
    assert bench.run(binary(binary("i", "+", "bi"), "*", "j"), i=1, j=2, bi=3) == 8


def test_division(bench: Bench) -> None:
    assert bench.run(binary("i", "/", "j"), i=5, j=2) == 2.5
    assert bench.run(binary("i", "/", "j"), i=1) == math.inf
    assert bench.run(binary("i", "/", 0), i=-1) == -math.inf
    assert math.isnan(bench.run(binary("d", "/", "e")))
    assert bench.run(binary("big", "/", 2), big=5) == 2.5
    assert bench.run(binary("dec", "/", 2), dec=Decimal("5.50")) == Decimal("2.75")
    with pytest.raises(EplRuntimeError, match="Non-terminating decimal expansion"):
        bench.run(binary("dec", "/", 3), dec=Decimal("5.50"))


def test_division_settings() -> None:
    null = Bench(settings=Settings(integer_division=True, division_by_zero_returns_null=True))
    assert null.run(binary("i", "/", "bi"), i=100, bi=3) == 33
    assert null.run(binary("i", "/", "bi"), i=100, bi=0) is None
    assert null.run(binary("d", "/", "e"), d=10.0) is None
    assert null.type(binary("i", "/", "j")) == "Integer"
    context = Bench(settings=Settings(math_context=(4, "HALF_UP")))
    assert context.run(binary("dec", "/", 3), dec=Decimal(10)) == Decimal("3.333")


def test_remainder_by_zero_is_an_error(bench: Bench) -> None:
    with pytest.raises(EplRuntimeError, match="/ by zero"):
        bench.run(binary("i", "%", "j"), i=5)
    assert math.isnan(bench.run(binary("d", "%", "e"), d=5.5))
    assert bench.run(binary(literal(-5.5), "%", 3)) == -2.5


def test_float_is_rounded_to_32_bits(bench: Bench) -> None:
    tenth = 0.10000000149011612
    assert bench.run(binary("f", "+", "f"), f=tenth) == pytest.approx(0.2) and bench.type(binary("f", "+", "f")) == "float"
    assert bench.run(binary("f", "+", 0.1), f=tenth) == tenth + 0.1
    assert bench.run(syntax.Literal(value=0.1, kind="float")) == tenth


def test_unary_minus_multiplies_by_minus_one(bench: Bench) -> None:
    minus = syntax.Unary(operator="-", operand=name("i"))
    assert bench.run(minus, i=-(2**31)) == -(2**31)
    assert bench.type(syntax.Unary(operator="-", operand=name("f"))) == "double"
    assert bench.run(syntax.Unary(operator="-", operand=literal(5))) == -5


def test_big_numbers(bench: Bench) -> None:
    assert bench.run(binary("big", "*", "l"), big=10**30, l=10**10) == 10**40
    assert bench.run(binary("dec", "+", 1.1), dec=Decimal("5.50")) == Decimal("6.600000000000000088817841970012523233890533447265625")
    assert bench.run(binary("dec", "*", "dec"), dec=Decimal("5.50")) == Decimal("30.25")


@pytest.mark.parametrize(("left", "right", "message"), [
    ("symbol", 1, "Implicit conversion from datatype 'String' to numeric is not allowed"),
    (1, "flag", "Implicit conversion from datatype 'Boolean' to numeric is not allowed"),
    ("c", 1, "Implicit conversion from datatype 'Character' to numeric is not allowed"),
    (1, None, "Implicit conversion from datatype 'null' to numeric is not allowed"),
])
def test_refusals(bench: Bench, left: Any, right: Any, message: str) -> None:
    with pytest.raises(EplValidationError) as refusal:
        bench.bind(binary(left, "+", right))
    assert refusal.value.message == message


def test_bitwise(bench: Bench) -> None:
    assert bench.run(binary("i", "&", "j"), i=6, j=3) == 2
    assert bench.run(binary("i", "|", "bi"), i=6) is None
    assert bench.run(binary("flag", "^", True), flag=True) is False
    for left, right, message in [
        ("i", "l", "Bitwise expressions must be of the same type for bitwise & operator"),
        ("d", "d", "Invalid type for bitwise & operator"), ("symbol", "i", "Invalid datatype for binary operator, String is not allowed"),
    ]:
        with pytest.raises(EplValidationError) as refusal:
            bench.bind(binary(left, "&", right))
        assert refusal.value.message == message


def test_concatenation(bench: Bench) -> None:
    both = binary(binary("symbol", "||", ("-",)), "||", "symbol")
    assert bench.run(both, symbol="A") == "A-A"
    assert bench.run(both) is None
    with pytest.raises(EplValidationError, match="Implicit conversion from datatype 'Integer' to string is not allowed"):
        bench.bind(binary("symbol", "||", "i"))
