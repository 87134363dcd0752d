"""Python functions as sources of rows: what they return, how they are typed, what is refused and what fails."""
from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, NamedTuple, TypedDict

import attrs
import pandas as pd
import pyarrow as pa
import pydantic
import pytest

from epl.value_types import BOXED_INT, INT
from runtime import EplDeploymentError, EplRuntimeError, EplUnsupportedError, EplValidationError, LruCache, Runtime


@dataclasses.dataclass
class Data:
    k: str
    v: int


@attrs.define
class Attrs:
    k: str
    v: int


class Model(pydantic.BaseModel):
    k: str
    v: int


class Dict(TypedDict):
    k: str
    v: int


class Tuple(NamedTuple):
    k: str
    v: int


ROWS = [{"k": "a", "v": 1}, {"k": "b", "v": 2}]
SCHEMA = {"k": str, "v": int}


def asked(source: Any, row: Any = None, **options: Any) -> list[dict[str, Any]]:
    """What a statement over the method alone gives."""
    with Runtime() as runtime:
        runtime.register_method("m", source, row=row, **options)
        return [dict(r) for r in runtime.deploy("select k, v from method:m()")[0]]


# ------------------------------------------------------------------ what is returned


def generated() -> Generator[Data, None, None]:
    yield Data("a", 1)
    yield Data("b", 2)


RESULTS: dict[str, tuple[Callable[[], Any], Any]] = {
    "mappings": (lambda: ROWS, SCHEMA),
    "a tuple of mappings": (lambda: tuple(ROWS), SCHEMA),
    "tuples in order": (lambda: [("a", 1), ("b", 2)], SCHEMA),
    "lists in order": (lambda: [["a", 1], ["b", 2]], SCHEMA),
    "objects": (lambda: [types.SimpleNamespace(k="a", v=1), types.SimpleNamespace(k="b", v=2)], SCHEMA),
    "nulls between": (lambda: [None, *ROWS, None], SCHEMA),
    "an iterator": (lambda: iter(ROWS), SCHEMA),
    "a generator": (generated, None),
    "a dict's values": (lambda: dict(enumerate(ROWS)).values(), SCHEMA),
    "mappings with more keys": (lambda: [{**row, "more": 1} for row in ROWS], SCHEMA),
    "an Arrow table": (lambda: pa.table({"v": [1, 2], "k": ["a", "b"], "more": [0, 0]}), SCHEMA),
    "an Arrow batch": (lambda: pa.record_batch({"k": ["a", "b"], "v": [1, 2]}), pa.schema({"k": pa.string(), "v": pa.int64()})),
    "a pandas frame": (lambda: pd.DataFrame({"k": ["a", "b"], "v": [1, 2]}), SCHEMA),
    "dataclasses": (lambda: [Data("a", 1), Data("b", 2)], Data),
    "attrs classes": (lambda: [Attrs("a", 1), Attrs("b", 2)], Attrs),
    "pydantic classes": (lambda: [Model(k="a", v=1), Model(k="b", v=2)], Model),
    "typed dicts": (lambda: [Dict(k="a", v=1), Dict(k="b", v=2)], Dict),
    "named tuples": (lambda: [Tuple("a", 1), Tuple("b", 2)], Tuple),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_rows_of_each_kind(kind: str) -> None:
    assert asked(*RESULTS[kind]) == ROWS


@pytest.mark.parametrize("result", [ROWS[0], Data("a", 1), Attrs("a", 1), Model(k="a", v=1), Tuple("a", 1)], ids=lambda r: type(r).__name__)
def test_one_row(result: Any) -> None:
    assert asked(lambda: result, SCHEMA) == ROWS[:1]


@pytest.mark.parametrize("result", [None, [], (), iter(()), pa.table({"k": pa.array([], pa.string()), "v": pa.array([], pa.int64())})])
def test_no_rows(result: Any) -> None:
    assert asked(lambda: result, SCHEMA) == []


def test_missing_keys_are_null_and_numbers_widen() -> None:
    assert asked(lambda: [{"k": "a"}, {"v": 2}], SCHEMA) == [{"k": "a", "v": None}, {"k": None, "v": 2}]
    assert asked(lambda: [{"k": "a", "v": 1}], {"k": str, "v": float}) == [{"k": "a", "v": 1.0}]


# ------------------------------------------------------------------ types from hints


def as_list() -> list[Data]:
    return [Data("a", 1), Data("b", 2)]


def as_iterator() -> Iterator[Data]:
    return iter(as_list())


def as_optional() -> list[Data] | None:
    return as_list()


def as_iterable_of_dicts() -> Iterable[Dict]:
    return [Dict(k="a", v=1), Dict(k="b", v=2)]


def as_annotated() -> typing.Annotated[list[Tuple], "rows"]:
    return [Tuple("a", 1), Tuple("b", 2)]


def as_tuple() -> tuple[Attrs, ...]:
    return (Attrs("a", 1), Attrs("b", 2))


class Callables:
    def __call__(self) -> list[Data]:
        return as_list()


@pytest.mark.parametrize("source", [as_list, as_iterator, as_optional, as_iterable_of_dicts, as_annotated, as_tuple, Callables()])
def test_the_return_hint_types_the_rows(source: Any) -> None:
    assert asked(source) == ROWS


def test_a_registered_class_is_its_event_type() -> None:
    with Runtime() as runtime:
        registered = runtime.register("Named", Data)
        runtime.register_method("m", as_list)
        runtime.register_method("n", lambda: ROWS, row="Named")
        for name in "mn":
            statement = runtime.deploy(f"select d, typeof(d) as t from method:{name}() as d")[0]
            assert [row["t"] for row in statement] == ["Named", "Named"]
        assert runtime.deploy("select * from method:m()")[0].event_type is registered


def test_a_type_declared_in_epl() -> None:
    with Runtime() as runtime:
        runtime.register_method("m", lambda: ROWS)
        runtime.deploy("create schema Dim(k string, v int)")
        statement = runtime.deploy("select k, v + 1 as w from method:m() @type(Dim)")[0]
        assert [row["w"] for row in statement] == [2, 3] and statement.properties == {"k": "String", "w": "Integer"}
        assert [row["k"] for row in runtime.deploy("select k from method:m() @type('Dim')")[0]] == ["a", "b"]


def test_functions_of_classes_modules_and_objects() -> None:
    class Statics:
        @staticmethod
        def one() -> list[Data]:
            return as_list()[:1]

        @classmethod
        def all(cls) -> list[Data]:
            return as_list()

        def own(self) -> list[Data]:
            return []

    class Holding:
        def __init__(self, rows: list[Data]) -> None:
            self.rows = rows

        def held(self) -> list[Data]:
            return self.rows

    module = types.ModuleType("lookups")
    module.rows = as_list  # type: ignore[attr-defined]
    module._hidden = as_list  # type: ignore[attr-defined]
    with Runtime() as runtime:
        runtime.register_method("Statics", Statics)
        runtime.register_method("Holding", Holding([Data("z", 9)]))
        runtime.register_method("lookups", module)
        for text, keys in {
            "Statics.one()": ["a"], "Statics.`all`()": ["a", "b"], "Holding.held()": ["z"], "lookups.rows()": ["a", "b"],
        }.items():
            assert [row["k"] for row in runtime.deploy(f"select k from method:{text}")[0]] == keys
        for text in ("Statics.own()", "lookups._hidden()"):
            with pytest.raises(EplValidationError, match="Could not find public static method named"):
                runtime.deploy(f"select k from method:{text}")


# ------------------------------------------------------------------ arguments


def test_arguments_are_converted_for_their_hints() -> None:
    received: list[Any] = []

    def take(a: float, b: int, *more: str) -> list[Data]:
        received.append((a, b, *more))
        return []

    with Runtime() as runtime:
        runtime.register("T", {"i": "int", "s": str})
        runtime.register_method("take", take)
        runtime.deploy("select * from T as t, method:take(t.i, t.i, t.s, 'x') as m")
        runtime.send("T", {"i": 3, "s": "y"})
        runtime.send("T", {"i": None, "s": None})
    assert received == [(3.0, 3, "y", "x"), (None, None, None, "x")] and isinstance(received[0][0], float)


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [("'x'", "'String'"), ("1, 2.0", "'Integer, Double'"), ("1, 2, 3", "'Integer, Integer, Integer'"), ("true", "'Boolean'")],
)
def test_arguments_that_do_not_fit(arguments: str, typed: str) -> None:
    def take(a: int, b: int = 0) -> list[Data]:
        return []

    with Runtime() as runtime:
        runtime.register_method("C.take", take)
        message = (
            "Method footprint does not match the number or type of expression parameters, expecting a method where parameters are typed "
            f"{typed}: Could not find static method named 'take' in class 'C' with matching parameter number and expected parameter "
            f"type(s) {typed} (nearest match found was 'take' taking type(s) 'Long, Long')"
        )
        with pytest.raises(EplValidationError) as caught:
            runtime.deploy(f"select * from method:C.take({arguments})")
        assert caught.value.message == message and caught.value.position == (1, 15)
        runtime.deploy("select * from method:C.take(1)")
        runtime.deploy("select * from method:C.take(1, 2)")


def test_a_substitution_parameter_is_an_argument() -> None:
    with Runtime() as runtime:
        runtime.register_method("m", lambda n: [{"v": n}], row={"v": int})
        deployment = runtime.deploy("select v from method:m(?::int)", parameters={1: 5})
        assert [row["v"] for row in deployment[0]] == [5]


def test_a_declared_expression_is_an_argument() -> None:
    with Runtime() as runtime:
        runtime.register_method("m", lambda n: [{"v": n}], row={"v": int})
        assert [r["v"] for r in runtime.deploy("expression twice { x => x * 2 } select v from method:m(twice(4))")[0]] == [8]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select * from T as t, method:m(sum(t.n)) as m", "Aggregation functions are not supported in the arguments of a "),
        ("select * from T as t, method:m((select n from T#lastevent)) as m", "Sub-queries in the arguments of a historical stream are not"),
    ],
)
def test_arguments_that_cannot_run_yet(text: str, message: str) -> None:
    with Runtime() as runtime:
        runtime.register("T", {"n": int})
        runtime.register_method("m", lambda n: [], row={"v": int})
        with pytest.raises(EplUnsupportedError, match=message):
            runtime.deploy(text)


def test_a_class_of_java_is_not_supported() -> None:
    with Runtime() as runtime, pytest.raises(EplUnsupportedError, match=r"Could not load class by name 'com\.acme\.Lookup', please check"):
        runtime.deploy("select * from method:com.acme.Lookup.rows()")


@pytest.mark.parametrize("text", [
    "method:m(c.v) as a, method:m(a.v) as b, method:m(b.v) as c", "T#keepall as t, method:m(b.v) as a, method:m(a.v) as b",
])
def test_methods_that_read_one_another_in_a_circle(text: str) -> None:
    with Runtime() as runtime:
        runtime.register("T", {"n": int})
        runtime.register_method("m", lambda n: [], row={"v": int})
        with pytest.raises(EplValidationError, match=r"^Circular dependency detected between historical streams"):
            runtime.deploy(f"select 1 as x from {text}")


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("select prior(1, m.v) as p from T#keepall as t, method:m(t.n) as m", "Prior function cannot be used on a historical stream"),
        ("select * from method:m(1) match_recognize (measures A.v as v pattern (A))", "match_recognize over a historical stream is not"),
        ("select * from method:m(1) @type(Nope)", "Method 'm' returns event type 'Nope' and the event type cannot be found"),
    ],
)
def test_what_no_historical_stream_takes(select: str, message: str) -> None:
    with Runtime() as runtime:
        runtime.register("T", {"n": int})
        runtime.register_method("m", lambda n: [], row=None if "@type" in select else {"v": int})
        with pytest.raises(EplValidationError, match=message):
            runtime.deploy(select)


# ------------------------------------------------------------------ registration


@pytest.mark.parametrize(
    ("source", "row", "error", "message"),
    [
        (type("Empty", (), {}), None, EplDeploymentError, "'m' has no public static methods"),
        (5, int, EplDeploymentError, "Event type 'm' cannot be built from <class 'int'>|'m' has no public static methods|int"),
        (list, "Nope", EplDeploymentError, "'m' returns event type 'Nope' and the event type cannot be found"),
        (list, 5, EplDeploymentError, "Event type 'm' cannot be built from 5"),
    ],
)
def test_what_cannot_be_registered(source: Any, row: Any, error: type[Exception], message: str) -> None:
    with Runtime() as runtime, pytest.raises(error, match=message):
        runtime.register_method("m", source, row=row)


def test_a_statement_keeps_the_function_that_it_was_deployed_with() -> None:
    with Runtime() as runtime:
        runtime.register_method("m", lambda: [{"v": 1}], row={"v": int})
        first = runtime.deploy("select v from method:m()")[0]
        runtime.register_method("m", lambda: [{"v": 2}], row={"v": int})
        second = runtime.deploy("select v from method:m()")[0]
        assert [row["v"] for row in first] == [1] and [row["v"] for row in second] == [2]


def test_hints_name_what_is_close() -> None:
    with Runtime() as runtime:
        runtime.register_method("Prices.latest", as_list)
        with pytest.raises(EplValidationError, match=r"did you mean 'Prices\.latest'\?"):
            runtime.deploy("select * from method:Prices.lates()")
        with pytest.raises(EplValidationError, match=r"make it known with Runtime.register_method\('other', …\)"):
            runtime.deploy("select * from method:other()")


# ------------------------------------------------------------------ what fails


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ([{"v": "x"}], "Method 'm' of class 'C' returned Event type 'C.m': property 'v' is declared Long and cannot hold 'x' \\(str\\)"),
        ([(1, 2)], "Method 'm' of class 'C' returned Event type 'C.m' has 1 properties, the event has 2"),
        ("text", "Method 'm' of class 'C' returned Event type 'C.m' cannot be built from 'text'"),
        (5, "Method 'm' of class 'C' returned Event type 'C.m' cannot be built from 5"),
        ([5], "Method 'm' of class 'C' returned Event type 'C.m' cannot be built from 5"),
        (pa.table({"w": [1]}), "Method 'm' of class 'C' returned Event type 'C.m': the table has no column 'v'"),
        (pa.table({"v": ["x"]}), "Method 'm' of class 'C' returned Event type 'C.m': property 'v' is declared Long and cannot hold 'x'"),
        (({"v": n} for n in range(4)), "Method 'm' of class 'C' returned more than 3 rows"),
        (pa.table({"v": [1, 2, 3, 4]}), "Method 'm' of class 'C' returned more than 3 rows"),
    ],
)
def test_rows_that_do_not_fit(result: Any, message: str) -> None:
    with Runtime() as runtime:
        runtime.register_method("C.m", lambda: result, row={"v": int}, max_rows=3)
        statement = runtime.deploy("select v from method:C.m()")[0]
        with pytest.raises(EplRuntimeError, match=message):
            list(statement)


def test_an_endless_generator_ends() -> None:
    def forever() -> Iterator[Dict]:
        while True:
            yield Dict(k="a", v=1)

    with Runtime() as runtime:
        runtime.register_method("m", forever, max_rows=100)
        with pytest.raises(EplRuntimeError, match="more than 100 rows"):
            list(runtime.deploy("select * from method:m()")[0])


def test_an_exception_is_the_events_error_and_the_next_event_works() -> None:
    errors: list[tuple[str, str, Any]] = []

    def rows(n: int) -> list[Data]:
        return [Data("a", 10 // n)]

    with Runtime(on_error=lambda error, statement, event: errors.append((str(error), statement, event))) as runtime:
        runtime.register("T", {"n": int})
        runtime.register_method("rows", rows, cache=LruCache(5))
        received: list[int] = []
        runtime.deploy("@name('s0') select m.v as v from T as t, method:rows(t.n) as m", listeners={
            "s0": lambda new, old, s, r: received.extend(row["v"] for row in new)})
        for n in (5, 0, 2):
            runtime.send("T", {"n": n})
    assert received == [2, 5]
    (message, statement, event), = errors
    assert message.startswith("Method 'rows' reported an exception: ZeroDivisionError: ") and statement == "s0"
    assert event is None or event.get("n") == 0


def test_other_statements_see_the_event_of_a_failed_call() -> None:
    with Runtime(on_error=lambda *_: None) as runtime:
        runtime.register("T", {"n": int})
        runtime.register_method("rows", lambda n: math.sqrt(n), row={"v": float})
        deployment = runtime.deploy(
            "@name('a') select * from T#keepall as t, method:rows(t.n) as m; @name('b') select count(*) as c from T#keepall")
        runtime.send("T", {"n": -1})
        assert [row["c"] for row in deployment["b"]] == [1]


# ------------------------------------------------------------------ with everything beside it


def test_the_batch_tier_leaves_them_to_rows() -> None:
    with Runtime() as runtime:
        runtime.register("T", {"n": int, "ts": int})
        runtime.register_method("m", lambda n: [{"v": n}, {"v": -n}], row={"v": int})
        received: list[int] = []
        statement = runtime.deploy("select m.v as v from T as t, method:m(t.n) as m")[0]
        statement.add_listener(lambda new, old, s, r: received.extend(row["v"] for row in new))
        runtime.send_batch("T", pa.table({"n": range(3), "ts": range(3)}), time="ts")
        assert received == [0, 0, 1, -1, 2, -2] and statement.tier == "row"


def test_a_statement_is_partitioned_by_any_key_if_it_keeps_nothing() -> None:
    with Runtime() as runtime:
        runtime.register("T", {"n": int})
        runtime.register_method("m", lambda n: [], row={"v": int})
        explained = runtime.deploy("select * from T as t, method:m(t.n) as m where m.v = t.n")[0].explain()
        assert "partitioning: any" in explained and "method invocation: m(t.n)" in explained and "hash (v) by m.v = t.n" in explained
        explained = runtime.deploy("select * from T#keepall as t, method:m(t.n) as m")[0].explain()
        assert "partitioning: not at all: the join" in explained


def test_a_snapshot_names_what_is_missing() -> None:
    with Runtime() as runtime:
        runtime.register_method("m", as_list)
        runtime.register_table("Dims", pa.table({"k": ["a"]}))
        runtime.deploy("select * from method:m()")
        blob = runtime.snapshot()
    with pytest.raises(EplDeploymentError, match="the snapshot uses methods that are not given: m"):
        Runtime.restore(blob)
    with pytest.raises(EplDeploymentError, match="the snapshot uses tables that are not given: Dims"):
        Runtime.restore(blob, register=lambda r: r.register_method("m", as_list))


def test_rows_of_another_type_are_another_statement() -> None:
    with Runtime() as runtime:
        runtime.register_method("m", as_list)
        runtime.deploy("@name('s') select * from method:m()")
        blob = runtime.snapshot()
    with pytest.raises(EplRuntimeError, match="statement 's' of deployment 'd0' is not the one in the snapshot"):
        Runtime.restore(blob, register=lambda r: r.register_method("m", lambda: [{}], row={"other": int}))


def test_value_types_may_be_hints() -> None:
    def exact(n: INT) -> list[Data]:  # type: ignore[valid-type]
        return []

    with Runtime() as runtime:
        runtime.register_method("exact", exact)
        runtime.deploy("select * from method:exact(5)")
        with pytest.raises(EplValidationError, match="nearest match found was 'exact' taking type\\(s\\) 'Integer'"):
            runtime.deploy("select * from method:exact(5L)")
    assert INT.boxed == BOXED_INT
