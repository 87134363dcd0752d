"""Names, chains, functions, constructs: what they mean, and Esper's words where they mean nothing."""
from __future__ import annotations

from typing import Any

import attrs
import pytest
from expression_bench import INNER, TICK, Bench, inner, tick

from epl.analysis.expressions.bind import bind, bind_in_clause
from epl.analysis.expressions.scope import ScopeStream
from epl.errors import EplUnsupportedError, EplValidationError
from epl.functions.library import builtin_functions
from epl.parse import parse_expression
from epl.syntax import Declaration
from runtime.expressions import compile_expression, compile_row


@pytest.fixture
def bench() -> Bench:
    return Bench(functions=builtin_functions(), bound=7)


def run(bench: Bench, text: str, **values: Any) -> Any:
    return bench.run(parse_expression(text), **values)


@pytest.mark.parametrize(("text", "values", "expected"), [
    ("t.i", {"i": 5}, 5), ("Tick.i", {"i": 5}, 5), ("part.id", {"part": inner(id="a")}, "a"), ("part.id", {}, None),
    ("t.part.n + 1", {"part": inner(n=1)}, 2),
    ("parts[0].id", {"parts": [inner(id="b")]}, "b"), ("parts[1].id", {"parts": [inner(id="b")]}, None), ("ints[0]", {"ints": [4]}, 4),
    ("ints[i]", {"ints": [4, 5], "i": 1}, 5), ("ints(0)", {"ints": [4]}, 4), ("ints[9]", {"ints": [4]}, None),
    ("dict('k')", {"dict": {"k": 1}}, 1),
    ("dict('z')", {"dict": {"k": 1}}, None), ("dict('k')", {}, None), ("unknown?", {"unknown": 3}, 3), ("unknown?", {}, None),
    ("i?", {"i": 5}, 5),
    ("obj.x?", {"obj": {"x": 1}}, 1), ("unknown?.x.y", {"unknown": {"x": {"y": 2}}}, 2), ("ints[0]?", {"ints": [4]}, 4),
    ("dict('k')?", {"dict": {"k": 1}}, 1),
    ("exists(unknown?)", {"unknown": None}, True), ("exists(unknown?)", {}, False), ("exists(i)", {}, True), ("exists(part.id)", {}, False),
    ("bound + 1", {}, 8), ("Integer.MAX_VALUE", {}, 2**31 - 1), ("Math.abs(i)", {"i": -5}, 5), ("symbol.length()", {"symbol": "abc"}, 3),
    ("symbol.length()", {}, None), ("symbol.toUpperCase().substring(1)", {"symbol": "abc"}, "BC"), ("(i + 1).toString()", {"i": 1}, "2"),
    ("ints.where(x => x > 1).countOf()", {"ints": [1, 2, 3]}, 2),
    ("parts.firstOf(x => x.n = bi).id", {"parts": [inner(id="q", n=2)], "bi": 2}, "q"),
    ("parts.selectFrom(x => x.id)", {"parts": [inner(id="q")]}, ["q"]), ("parts.anyOf((x, k) => x.n = k)", {"parts": [inner(n=0)]}, True),
    ("parts.aggregate(0, (r, v) => r + v.n)", {"parts": [inner(n=2), inner(n=3)]}, 5),
    ("current_timestamp", {}, 1000),
])
def test_values(bench: Bench, text: str, values: dict[str, Any], expected: object) -> None:
    assert run(bench, text, **values) == expected


@pytest.mark.parametrize(("text", "values", "expected", "kind"), [
    ("coalesce(bi, i)", {"i": 3}, 3, "Integer"), ("coalesce(bi, volume, 2)", {}, 2, "Long"), ("coalesce(null, null)", {}, None, "null"),
    ("max(i, j)", {"i": 3, "j": 4}, 4, "int"), ("min(i, bi)", {"i": 3}, None, "Integer"), ("max(1, 2, 3.5)", {}, 3.5, "double"),
    ("case when i > 1 then 'a' when i = 1 then 'b' else 'c' end", {"i": 1}, "b", "String"),
    ("case when i > 1 then 1 end", {}, None, "Integer"),
    ("case bi when null then 1 when 5 then 2 end", {}, 1, "Integer"), ("case i when 5L then 1 else 2.5 end", {"i": 5}, 1.0, "Double"),
    ("cast(d, int)", {"d": 2.9}, 2, "int"), ("cast(bi, long)", {"bi": 3}, 3, "Long"), ("cast(' 12', int)", {}, 12, "Integer"),
    ("cast(1e20, int)", {}, 2**31 - 1, "int"),
    ("cast(300, byte)", {}, 44, "byte"), ("cast('0x0A', byte)", {}, 10, "Byte"), ("cast(d, string)", {"d": 1e10}, "1.0E10", "String"),
    ("cast(flag, string)", {"flag": True}, "true", "String"), ("cast('abc', char)", {}, "a", "Character"),
    ("cast(obj, int)", {"obj": "x"}, None, "Integer"),
    ("instanceof(bi, int)", {"bi": 1}, True, "boolean"), ("instanceof(bi, long)", {"bi": 1}, False, "boolean"),
    ("instanceof(obj, string, int)", {"obj": "x"}, True, "boolean"),
    ("instanceof(i, java.lang.Number)", {}, True, "boolean"), ("typeof(i)", {}, "Integer", "String"),
    ("typeof(part)", {"part": inner()}, "Inner", "String"),
    ("typeof(obj)", {"obj": "x"}, "String", "String"), ("typeof(obj)", {}, None, "String"), ("{1, 2L}", {}, [1, 2], "Long[]"),
    ("{}", {}, [], "Object[]"),
    ("{'a', 1}", {}, ["a", 1], "Object[]"), ("new int[2]", {}, [0, 0], "int[]"), ("new int[2][]", {}, [None, None], "int[][]"),
    ("new double[] {1}", {}, [1.0], "double[]"), ("event_identity_equals(t, t)", {}, True, "Boolean"), ("istream()", {}, True, "boolean"),
])
def test_functions_and_constructs(bench: Bench, text: str, values: dict[str, Any], expected: object, kind: str) -> None:
    assert run(bench, text, **values) == expected
    assert bench.type(parse_expression(text)) == kind


def test_structures(bench: Bench) -> None:
    made = run(bench, "case when i > 1 then new {a = 1, b = 'x'} else new {a = 2, b = null} end", i=1)
    assert made.values() == (2, None)
    typed = bench.bind(parse_expression("case when i > 1 then new {a = 1, b = 'x'} else new {a = 2, b = null} end"))
    assert {p.name: str(p.type) for p in typed.type.event_type.properties.values()} == {"a": "Integer", "b": "String"}  # type: ignore[attr-defined]


@pytest.mark.parametrize(("text", "message"), [
    ("symbl", "Property named 'symbl' is not valid in any stream (did you mean 'symbol'?)"),
    ("qqqqqqqqqqqq", "Property named 'qqqqqqqqqqqq' is not valid in any stream"),
    ("t.symbl", "Property named 'symbl' is not valid in stream 't' (did you mean 'symbol'?)"),
    ("t.qqqqqqqqqqqq", "Failed to resolve property 't.qqqqqqqqqqqq' to a stream or nested property in a stream"),
    ("z.symbol", "Failed to find a stream named 'z' (did you mean 't'?)"),
    ("parts.id",
        "Failed to resolve property 'parts.id' (property 'parts' is an indexed property and requires an index or "
        "enumeration method to access values)"),
    ("dict.k", "Failed to resolve property 'dict.k' (property 'dict' is a mapped property and requires keyed access)"),
    ("ints['a']",
        "Incorrect index expression for array operation, expected an expression returning an integer value but the "
        "expression '\"a\"' "
                  "returns 'String' for property 'ints'"),
    ("Math.foo(1)", "Failed to resolve 'Math.foo' to a property, single-row function, aggregation function, script, stream or class name"),
    ("gogglex(1)", "Unknown single-row function, aggregation function or mapped or indexed property named 'gogglex' could not be resolved"),
    ("gogglex()",
        "Unknown single-row function, expression declaration, script or aggregation function named 'gogglex' could not "
        "be resolved"),
    ("symbol.foo()",
        "Failed to resolve method 'foo': Could not find enumeration method, date-time method, instance method or "
        "property named 'foo' "
                     "in class 'String' taking no parameters"),
    ("ints.where(x => ints.anyOf(x => true))",
        "Failed to validate enumeration method 'where' parameter 0: Failed to validate "
        "declared expression body "
     "expression 'ints.anyOf()': Failed to validate enumeration method 'anyOf', the lambda-parameter name 'x' has already been "
     "declared in this context"),
    ("coalesce(i, symbol)", "Implicit conversion not allowed: Cannot coerce types Integer and String"),
    ("coalesce(flag, 1)", "Implicit conversion not allowed: Cannot coerce to Boolean type Integer"),
    ("case when 3 then 1 end", "Case node 'when' expressions must return a boolean value"),
    ("case when flag then null end", "Null-type return value is not allowed"),
    ("cast(i, xyz)", "Class as listed in cast function by name 'xyz' cannot be found"),
    ("instanceof(i, xyz)", "Class as listed in instanceof function by name 'xyz' cannot be loaded"),
    ("new String[] {1}", "Array element type mismatch: Expecting type String but received type int"),
    ("new int[] {1L}", "Array element type mismatch: Expecting type int but received type long"),
    ("new double['a']", "New-keyword with an array-type result requires an Integer-typed dimension but received type 'String'"),
    ("new {a = 1, a = 2}", "Failed to validate new-keyword property names, property 'a' has already been declared"),
    ("prior(i, symbol)", "Prior function requires a constant-value integer-typed index expression as the first parameter"),
    ("max(symbol, 'a')", "Implicit conversion from datatype 'String' to numeric is not allowed"),
])
def test_refusals(bench: Bench, text: str, message: str) -> None:
    with pytest.raises(EplValidationError) as refusal:
        bench.bind(parse_expression(text))
    assert refusal.value.message == message


def test_refusals_name_their_clause(bench: Bench) -> None:
    with pytest.raises(EplValidationError) as refusal:
        bind_in_clause(parse_expression("symbl = 'A'"), bench.scope)
    assert refusal.value.message == (
        "Failed to validate select-clause expression 'symbl=\"A\"': Property named 'symbl' is not valid in any stream (did you "
        "mean 'symbol'?)")
    assert refusal.value.span is not None and refusal.value.span.start == 0


def test_java_objects_and_subqueries_are_refused_as_unsupported(bench: Bench) -> None:
    for text in ("new Random(1)", "current_evaluation_context()"):
        with pytest.raises(EplUnsupportedError):
            bench.bind(parse_expression(text))


def test_two_streams(bench: Bench) -> None:
    scope = attrs.evolve(bench.scope, streams=(ScopeStream("a", TICK), ScopeStream("b", TICK, optional=True), ScopeStream("c", INNER)))
    with pytest.raises(EplValidationError, match="Property named 'i' is ambiguous as is valid for more then one stream"):
        bind(parse_expression("i"), scope)
    both = compile_expression(bind(parse_expression("a.i + b.i"), scope), bench.environment, 3)
    assert both(tick(i=1), tick(i=2), None) == 3
    assert both(tick(i=1), None, None) is None
    assert compile_expression(bind(parse_expression("id"), scope), bench.environment, 3)(tick(), None, inner(id="x")) == "x"


def test_group_variables(bench: Bench) -> None:
    scope = attrs.evolve(bench.scope, streams=(ScopeStream("A", TICK, group=True), ScopeStream("B", TICK, optional=True)),
                         unqualified=False)

    def evaluate(text: str, *events: Any) -> Any:
        return compile_expression(bind(parse_expression(text), scope), bench.environment, 2)(*events)

    assert evaluate("A[1].i", [tick(i=1), tick(i=2)], None) == 2
    assert evaluate("A[5].i", [tick(i=1)], None) is None
    assert evaluate("A.countOf(x => x.i > 1)", [tick(i=1), tick(i=2)], None) == 1
    assert evaluate("A.lastOf().i", [], None) is None
    assert evaluate("B.i", [], None) is None
    with pytest.raises(EplValidationError, match=r"Failed to resolve property 'A.i' \(property 'A' is an indexed property"):
        evaluate("A.i")
    with pytest.raises(EplValidationError, match="Property named 'i' is not valid in any stream"):
        evaluate("i")


def test_declared_expressions(bench: Bench) -> None:
    twice = Declaration(name="twice", parameters=("x",), body=parse_expression("x * 2"))
    first = Declaration(name="first_id", parameters=("s",), body=parse_expression("s.part.id"))
    short = Declaration(name="short", alias=True, body=parse_expression("i + 1"))
    bare = Declaration(name="bare", body=parse_expression("i"))
    scope = attrs.evolve(bench.scope, declarations=(twice, first, short, bare))

    def evaluate(text: str, **values: Any) -> Any:
        return compile_expression(bind(parse_expression(text), scope), bench.environment, 1)(tick(**values))

    assert evaluate("twice(i + 1)", i=3) == 8
    assert evaluate("twice(twice(i))", i=3) == 12
    assert evaluate("first_id(t)", part=inner(id="z")) == "z"
    assert evaluate("first_id(*)", part=inner(id="z")) == "z"
    assert evaluate("short * 2", i=3) == 8
    with pytest.raises(EplValidationError) as refusal:
        evaluate("bare()")
    assert refusal.value.message == (
        "Failed to validate expression declaration 'bare': Failed to validate declared expression body expression 'i': "
        "Property named 'i' is not valid in any stream")
    with pytest.raises(EplValidationError, match=
        "Parameter count mismatches for declared expression 'twice', expected 1 "
        "parameters but received 0 parameters"):
        evaluate("twice()")


class Window:
    """Random access over a list of events, newest last."""

    def __init__(self, *events: Any) -> None:
        self.events = list(events)

    def previous(self, event: Any, index: int) -> Any:
        at = self.events.index(event) - index
        return self.events[at] if at >= 0 else None

    def prior(self, event: Any, index: int, insert_stream: bool) -> Any:
        return self.previous(event, index)

    def from_tail(self, event: Any, index: int) -> Any:
        return self.events[index] if index < len(self.events) else None

    def count(self, event: Any, insert_stream: bool) -> int | None:
        return len(self.events) if insert_stream else None

    def window(self, event: Any) -> list[Any]:
        return self.events[::-1]


def test_previous_and_prior(bench: Bench) -> None:
    events = [tick(i=1, symbol="a"), tick(i=2, symbol="b"), tick(i=3, symbol="c")]
    bench.environment.random_access[0] = Window(*events)
    bench.environment.prior[0] = Window(*events)

    def evaluate(text: str, insert: bool = True) -> Any:
        return compile_row([bench.bind(parse_expression(text))], bench.environment, 1)(events[2], insert, None)[0]

    assert evaluate("prev(1, symbol)") == "b" and evaluate("prev(symbol, 2)") == "a"
    assert evaluate("prev(symbol)") == "b" and evaluate("prev(5, symbol)") is None
    assert evaluate("prev(1, t)") is events[1] and evaluate("prev(1, i) + i") == 5
    assert evaluate("prevtail(symbol)") == "a" and evaluate("prevtail(1, symbol)") == "b"
    assert evaluate("prevcount(symbol)") == 3 and evaluate("prevwindow(i)") == [3, 2, 1]
    assert evaluate("prior(1, i)") == 2 and evaluate("prior(0, i)") == 3
    assert evaluate("prev(1, symbol)", insert=False) is None and evaluate("prior(1, i)", insert=False) == 2


def test_the_generated_text_can_be_seen(bench: Bench) -> None:
    assert "e0.f_price" in bench.function(parse_expression("price > 500 and symbol = 'A'")).source  # type: ignore[attr-defined]
