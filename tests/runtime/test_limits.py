"""Small texts and single events that ask for much: each ends in a result or an error by name, and nothing large is made on the way."""
from __future__ import annotations

import sys
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epl import java
from epl.analysis.clauses import grouping
from epl.analysis.expressions import declared
from epl.analysis.match_recognize import operands as row_operands
from epl.analysis.match_recognize import pattern as row_pattern
from epl.errors import EplError, EplRuntimeError, EplUnsupportedError, EplValidationError
from epl.functions import java_big, java_strings
from epl.settings import Settings
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.batch.printing import parameters

SCHEMA = "create schema X(a string, b int, i biginteger, d bigdecimal); create schema T(a string, b int);"
FAR = Decimal("1E+999999999")


class Asked:
    """One statement, the values of its column ``z`` and what its error handler is called with."""

    def __init__(self, text: str, tier: str = "row", **settings: Any) -> None:
        self.errors: list[tuple[BaseException, str]] = []
        self.values: list[Any] = []
        self.runtime = Runtime(
            tier=tier, settings=Settings(**settings), on_error=lambda error, statement, event: self.errors.append((error, statement)))
        self.deployment = self.runtime.deploy(SCHEMA + text)
        for statement in self.deployment:
            if statement.name == "s":
                statement.add_listener(lambda new, *_: self.values.extend(row.get("z") for row in new or ()))

    def send(self, **event: Any) -> Asked:
        self.runtime.send("X", event)
        return self

    @property
    def messages(self) -> list[str]:
        assert all(isinstance(error, EplError) for error, _ in self.errors), self.errors
        return [str(error) for error, _ in self.errors]


def computed(expression: str, **event: Any) -> Any:
    """The value, or the text of the error."""
    asked = Asked(f"@name('s') select {expression} as z from X").send(**event)
    return asked.messages[0] if asked.errors else asked.values[0]


# ------------------------------------------------------------------ numbers


@pytest.mark.parametrize(("expression", "answer"), [
    ("cast(d, long)", 0), ("cast(d, int)", 0), ("d.toString()", "1E+999999999"), ("d.pow(3)", "Overflow"), ("d.scale()", -999999999),
    ("d.precision()", 1), ("d.hashCode()", 31 - 999999999), ("d = i", False), ("d > i", True), ("String.valueOf(d)", "1E+999999999"),
    ("d.stripTrailingZeros()", FAR), ("d.signum()", 1), ("d.negate().abs()", FAR), ("d.multiply(d).signum()", 1),
    ("String.format('%.2e', d)", "1.00e+999999999"),
])
def test_a_number_far_away_has_a_result(expression: str, answer: Any) -> None:
    if answer == "Overflow":
        assert computed("d.pow(3)", d=FAR).startswith("java.lang.ArithmeticException: Overflow")
    else:
        assert computed(expression, d=FAR, i=5, a="x", b=1) == answer


@pytest.mark.parametrize("expression", [
    "cast(d, biginteger)", "d.toBigInteger()", "d + 1",
    "d - i", "d.add(d.divide(d))", "d.toPlainString()",
    "d.setScale(2)", "d.setScale(2, RoundingMode.HALF_UP)", "d.remainder(d.divide(d).add(d.divide(d)).add(d.divide(d)))",
    "i.pow(2000000000)",
    "(d.divide(d).add(d.divide(d))).pow(999999999)", "i.pow(100000).multiply(i.pow(100000))", "i.pow(100000) * i.pow(100000)",
    "d.divide(d).divide(d, 2000000000, RoundingMode.UP)", "cast('1E+999999999', bigdecimal) + 1",
])
def test_a_number_of_too_many_digits_is_an_error(expression: str) -> None:
    message = computed(expression, d=FAR, i=7, a="x", b=1)
    assert "ArithmeticException" in message and "more than 100000 digits" in message


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-10**30, max_value=10**30),
       st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-10**30, max_value=10**30), st.integers(0, 40))
def test_within_the_limits_nothing_has_changed(left: Decimal, right: Decimal, exponent: int) -> None:
    assert java.decimal_add(left, right) == java.EXACT.add(left, right)
    assert java.decimal_multiply(left, right) == java.EXACT.multiply(left, right)
    assert java.decimal_integer(left) == int(left) and java.to_integral(left, "int") == java.wrap_int(int(left))
    product = Decimal(1)
    for _ in range(exponent):
        product = java.EXACT.multiply(product, left)
    powered = java_big._power(left, exponent)
    assert powered == product and java.decimal_scale(powered) == java.decimal_scale(product)
    assert java.integer_power(int(right), exponent) == int(right) ** exponent


@given(st.integers(-(10**40), 10**40), st.integers(0, 200))
def test_low_bits_of_a_large_exponent(unscaled: int, exponent: int) -> None:
    assert java.to_integral(Decimal(unscaled).scaleb(exponent, java.EXACT), "long") == java.wrap_long(unscaled * 10**exponent)


@pytest.mark.parametrize("digits", [4_000, 5_000, 100_000])
def test_long_whole_numbers_have_a_text(digits: int) -> None:
    value = 10 ** (digits - 1)
    text = "1" + "0" * (digits - 1)
    assert java.integer_text(value) == text and java.integer_text(-value) == "-" + text and java.parse_integer(text, "BigInteger") == value
    with pytest.raises(EplRuntimeError, match="more than 100000 digits"):
        java.integer_text(value * 10**100_000)


def test_chains_of_products_are_bounded() -> None:
    asked = Asked("create variable biginteger v; on X(b=0) set v = i; on X(b=1) set v = v * v; @name('s') select v.bitLength() as z from X")
    asked.send(b=0, i=3)
    for _ in range(40):
        asked.send(b=1)
    assert max(asked.values) <= java.MAX_BITS and len(asked.errors) >= 20
    assert all("BigInteger would overflow" in message for message in asked.messages)


def test_json_text_of_a_number_far_away() -> None:
    asked = Asked("@name('s') select d as z, i as y from X#keepall")
    asked.send(d=Decimal("1E+999999"), i=7).send(d=Decimal("25E+3"), i=10**5000)
    first, second = list(asked.deployment["s"])
    assert first.to_json() == '{"z": "1E+999999", "y": 7}'
    assert second.to_json() == '{"z": 25000, "y": "1' + "0" * 5000 + '"}'


# ------------------------------------------------------------------ texts and arrays


@pytest.mark.parametrize("expression", [
    "a.repeat(2000000000)", "a.replace('x', a.repeat(10000))", "a.repeat(400).replaceAll('x', a.repeat(400))", "a.concat(a.repeat(100000))",
    "a.repeat(100000) || a", "a || a || a.repeat(99999)", "a.repeat(60000).toUpperCase() || a.repeat(60000)",
])
def test_long_texts_are_an_error(expression: str) -> None:
    message = computed(expression, a="x" * 100, b=1)
    assert "OutOfMemoryError" in message and "is longer than 10000000" in message


def test_long_joins_are_an_error() -> None:
    with pytest.raises(EplRuntimeError, match="a string of 10000003 characters is longer"):
        java_strings._join("x" * 3_333_334, "", "", "", "x")


@pytest.mark.parametrize("pattern", ["%2000000000d", "%99999999999999999999999d", "%02000000000d", "%-2000000000d"])
def test_wide_formats_are_refused(pattern: str) -> None:
    with pytest.raises(EplRuntimeError, match=r"is longer than 10000000"):
        java_format_of(pattern, 5)


@pytest.mark.parametrize(("pattern", "value"), [("%.2000000f", 1.0), ("%.2000000e", 1.0), ("%f", FAR), ("%,f", FAR)])
def test_precise_formats_are_refused(pattern: str, value: Any) -> None:
    with pytest.raises(EplRuntimeError, match="more than 100000 digits"):
        java_format_of(pattern, value)


def java_format_of(pattern: str, value: Any) -> str:
    from epl.functions.java_format import java_format

    return java_format(pattern, [value])


@pytest.mark.parametrize("sizes", ["[2000000000]", "[50000][50000]", "[1][10000001]"])
def test_large_arrays_are_an_error(sizes: str) -> None:
    assert "10000000 elements are the most" in computed(f"new int{sizes}", a="x")


def test_a_doubling_variable_stops() -> None:
    asked = Asked("create variable string v = 'x'; @priority(2) on X set v = v || v; @name('s') select v.length() as z from X")
    for _ in range(40):
        asked.send(a="x")
    assert max(asked.values) <= java.MAX_TEXT
    assert len(asked.errors) >= 16 and "is longer than 10000000" in asked.messages[0]


# ------------------------------------------------------------------ deployment


def refused(text: str, tier: str = "row") -> str:
    with pytest.raises(EplUnsupportedError) as caught:
        Runtime(tier=tier).deploy(SCHEMA + text)
    return caught.value.message


MATCH = "select * from X match_recognize (measures A[0].b as z pattern ({}) define C as C.b < 0)"


@pytest.mark.parametrize("pattern", [
    "(A{1,2000} B?){1,2000} C", "((((A{10}){10}){10}){10}){10} C", "A{10000} B{10000} A{10000} B{10000} A{10000} C{10000}",
    "match_recognize_permute(A{1,9},B,C,D,E,F,G)", "match_recognize_permute(match_recognize_permute(A,B,C,D,E),F,G,H,I,J)",
])
def test_nested_repetitions_are_counted(pattern: str) -> None:
    assert refused(MATCH.format(pattern)).startswith("a row pattern of more than 50000 variables")


@pytest.mark.parametrize("pattern", ["(A{1,20} B?){1,20} C", "match_recognize_permute(A,B,C,D,E)", "A{2,} C{,3} B{5}", "(A | B{7}){3} C"])
def test_the_count_is_what_is_written_out(pattern: str) -> None:
    from epl.analysis.match_recognize.pattern import normalise, variable_names
    from epl.parse import parse_module

    written = parse_module(SCHEMA + MATCH.format(pattern)).statements[2].body.match_recognize.pattern
    names = variable_names(written)

    def leaves(node: Any) -> int:
        items = getattr(node, "items", None)
        return sum(map(leaves, items)) if items is not None else leaves(node.item) if hasattr(node, "item") else 1

    assert row_pattern._size(written) == leaves(normalise(written, {n: i for i, n in enumerate(names)}))


def test_a_define_looks_back_so_far() -> None:
    far = row_operands.LARGEST_LOOKBACK + 1
    text = "select * from X match_recognize (measures A.b as z pattern (A) define A as prev(A.b, {}) is null)"
    assert refused(text.format(far)) == "prev of more than 10000 rows in a define of match_recognize is not supported"
    Runtime().deploy(SCHEMA + text.format(far - 1))


def test_expressions_that_double_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[str] = []
    expanding = declared._expanding
    monkeypatch.setattr(declared, "_expanding", lambda d, scope: bound.append(d.name) or expanding(d, scope))
    chain = "".join(f"create expression e{n} {{ x => e{n - 1}(x) + e{n - 1}(x) }};" for n in range(1, 40))
    message = refused("create expression e0 { x => x.b + 1 };" + chain + "select e39(x) as z from X x")
    assert message.startswith("more than 10000 calls of declared expressions in one clause")
    assert len(bound) == declared.LARGEST_EXPANSION + 1


@pytest.mark.parametrize("clause", [
    "cube({20})", "cube({11})", "cube({6}), cube({5})", "rollup({40}), rollup({40})", "grouping sets(cube({10}), rollup({5}))",
    "cube({20}), b"])
def test_levels_of_a_rollup_are_counted(clause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "_element_levels", lambda *_: pytest.fail("levels were made"))
    number, made = iter(range(100)), clause
    while "{" in made:
        head, rest = made.split("{", 1)
        size, tail = rest.split("}", 1)
        made = head + ", ".join(f"b+{next(number)}" for _ in range(int(size))) + tail
    assert refused(f"select count(*) as z from X group by {made}").startswith("group by of more than 1024 levels")


def test_the_largest_rollup_runs() -> None:
    columns = ", ".join(f"b+{n}" for n in range(6))
    asked = Asked(f"@name('s') select count(*) as z from X group by cube({columns})").send(a="x", b=1)
    assert asked.values == [1] * 64


@pytest.mark.parametrize("digits", [20, 5_000, 100_000])
def test_integer_literals_of_many_digits_are_refused(digits: int) -> None:
    with pytest.raises(EplValidationError, match="For input string"):
        Runtime().deploy(f"{SCHEMA} select {'9' * digits} as z from X")


@pytest.mark.parametrize(("condition", "message"), [
    (f"b in ({','.join(map(str, range(1_100)))})", "more than 1000 constants"),
    (f"(case {' '.join(f'when b={n} then {n}' for n in range(60))} end) > 5", "case with more than 50 branches"),
    (" and ".join(["b>0"] * 1_000), "more than 500 operations"),
], ids=["in", "case", "and"])
def test_large_kernels_are_left_to_the_row_tier(condition: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameters, "MOST_OPERATIONS", 500 if " and " in condition else 20_000)
    assert message in refused(f"select b as z from X where {condition}", tier="batch")


# ------------------------------------------------------------------ insert into


LOOPS = {
    "itself": "insert into X select a, b from X;",
    "another": "create schema Y(a string, b int); insert into Y select a, b from X; insert into X select a, b from Y;",
    "doubling": "insert into X select a, b+1 as b from X(b<25); insert into X select a, b+1 as b from X(b<25);",
    "a window": "insert into X select a, b from X#length_batch(3);",
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_loops_of_insert_into_end(loop: str) -> None:
    others = "@name('n') select count(*) as z from X; create schema W(a string); @name('s') select a as z from W;"
    asked = Asked(others + loop, max_routed=1000)
    for n in range(3):
        asked.send(a="x", b=n)
        asked.runtime.send("W", {"a": str(n)})
    assert asked.values == ["0", "1", "2"]
    seen = next(iter(asked.deployment["n"]))["z"]
    assert 1000 < seen <= 3 * (1000 + 4 * 100 + 1)
    for message in asked.messages:
        assert message.startswith(("Insert into 'X':", "Insert into 'Y':")) and "one event led to more than 1000 others" in message
    assert 1 <= len(asked.errors) <= 6 and not internal_engine(asked.runtime).core.queue
    if loop != LOOPS["a window"]:
        assert len({statement for _, statement in asked.errors}) >= 1


def test_a_window_that_releases_many_is_no_loop() -> None:
    asked = Asked(
        "create schema Y(b int); create schema Z(b int); insert into Y select b from X#length_batch(500); insert into Z select b from Y;"
        "@name('s') select count(*) as z from Z", max_routed=10)
    for n in range(500):
        asked.send(a="x", b=n)
    assert asked.values[-1] == 500 and not asked.errors


def test_no_limit_is_a_choice() -> None:
    asked = Asked("insert into X select a, b+1 as b from X(b < 5000); @name('s') select b as z from X", max_routed=None).send(a="x", b=0)
    assert asked.values[-1] == 5000 and not asked.errors


def test_listeners_that_route_get_the_error() -> None:
    asked = Asked("@name('s') select b as z from X", max_routed=50)
    caught: list[EplRuntimeError] = []

    def again(new: Any, *_: Any) -> None:
        try:
            asked.runtime.route("X", {"a": "x", "b": new[0]["z"] + 1})
        except EplRuntimeError as error:
            caught.append(error)

    asked.runtime.statement("s").add_listener(again)
    asked.send(a="x", b=0)
    assert len(caught) == 1 and caught[0].message.startswith("Insert into 'X': 1 event is not processed")
    assert 50 < len(asked.values) <= 50 + 200


# ------------------------------------------------------------------ time


def table_of(times: list[int]) -> pa.Table:
    """Rows of type T at these times."""
    return pa.table({"a": ["x"] * len(times), "b": pa.array(range(len(times)), pa.int32()), "t": times})


@pytest.mark.parametrize("tier", ["row", "batch"])
@pytest.mark.parametrize("statement", [
    "select irstream b as z from T#time(1 sec)", "select b as z from T output every 1 sec", "select b as z from T#time(1e300 sec)",
    "select b as z from T#time_batch(9000000000000000000 sec)", "select b as z from T output every 9000000000000000000 sec",
    "select * from T match_recognize (measures A.b as z pattern (A B) interval 2 sec)",
])
def test_time_has_ends(tier: str, statement: str) -> None:
    asked = Asked(f"@name('s') {statement}", tier=tier)
    for now in (5_000, 2**61 - 1, -(2**61), 10**18, 0):
        asked.runtime.advance_time(now)
        asked.runtime.send("T", {"a": "x", "b": 1})
    for now in (2**61, 2**63 - 1, 2**63, 2**70, -(2**63)):
        with pytest.raises(EplRuntimeError, match=rf"now: {now} is beyond the range of engine time \(62 bits\)"):
            asked.runtime.advance_time(now)
    with pytest.raises(EplRuntimeError, match="the time of row 1, column 't', is 9223372036854775807, beyond the range of engine time"):
        asked.runtime.send_batch("T", table_of([5, sys.maxsize]), time="t")
    assert asked.runtime.now == 0
    Runtime.restore(asked.runtime.snapshot(), tier=tier).advance_time(2**61 - 1)


@pytest.mark.parametrize("tier", ["row", "batch"])
def test_a_jump_over_many_stops_is_refused(tier: str) -> None:
    asked = Asked("@name('s') select b as z from T output every 1 msec", tier=tier)
    asked.runtime.send("T", {"a": "x", "b": 1})
    with pytest.raises(EplRuntimeError, match="more than 1000 timers are due on the way"):
        asked.runtime.advance_time_span(10**12, max_stops=1000)
    table = table_of([10**12])
    with pytest.raises(EplRuntimeError, match="more than 1000 timers are due on the way"):
        asked.runtime.send_batch("T", table, time="t", max_stops=1000)
