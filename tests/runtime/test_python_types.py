"""Event types of what Python has to describe data: enums, TypedDict, NamedTuple, pydantic models, base classes; missing values."""
from __future__ import annotations

import dataclasses
import enum
import re
from typing import Any, NamedTuple, TypedDict

import pandas
import pyarrow as pa
import pydantic
import pytest

from runtime import EplRuntimeError, EplValidationError, Runtime


class Side(enum.Enum):
    BUY = 1
    SELL = 2


class Trade(TypedDict, total=False):
    symbol: str
    side: Side


class Point(NamedTuple):
    x: int
    y: float


@dataclasses.dataclass
class Base:
    id: str


@dataclasses.dataclass
class Middle(Base):
    size: int


@dataclasses.dataclass
class Leaf(Middle):
    side: Side | None = None
    sides: list[Side] = dataclasses.field(default_factory=list)


def rows_of(rt: Runtime, epl: str) -> list[Any]:
    rows: list[Any] = []
    rt.deploy(f"@name('s') {epl}")["s"].add_listener(lambda new, *_: rows.extend(row.to_dict() for row in new))
    return rows


def test_a_python_enum_is_an_enum_of_epl() -> None:
    with Runtime() as rt:
        rt.register("Trade", Trade)
        rows = rows_of(rt, "select symbol, side, side = Side.BUY as buys from Trade")
        rt.send("Trade", {"symbol": "A", "side": Side.BUY})
        rt.send("Trade", {"symbol": "B", "side": "SELL"})
        rt.send("Trade", {"symbol": "C"})
        with pytest.raises(EplRuntimeError, match=re.escape("property 'side' is declared Side and cannot hold 'Z' (str)")):
            rt.send("Trade", {"side": "Z"})
        with pytest.raises(EplRuntimeError, match="cannot hold 1"):
            rt.send("Trade", {"side": 1})
        with pytest.raises(EplValidationError):
            rt.deploy("select * from Trade(side = Side.HOLD)")
        assert rows == [
            {"symbol": "A", "side": "BUY", "buys": True}, {"symbol": "B", "side": "SELL", "buys": False},
            {"symbol": "C", "side": None, "buys": None},
        ]
        again = Runtime.restore(rt.snapshot())
        with pytest.raises(EplRuntimeError, match="cannot hold 'Z'"):
            again.send("Trade", {"side": "Z"})


def test_the_name_of_an_enum_is_a_type() -> None:
    with Runtime() as rt:
        rt.register_enum(Side)
        rt.deploy("create schema T(side Side, more Side[]); create variable Side latest = Side.SELL")
        assert str(rt.event_type("T").property_type("side")) == "Side"
        rt.register("U", {"side": "Side"})
        rows = rows_of(rt, "select side, latest from U(side != Side.SELL)")
        for side in Side:
            rt.send("U", {"side": side})
        assert rows == [{"side": "BUY", "latest": "SELL"}]
        rt.send("T", {"side": Side.BUY, "more": [Side.BUY, "SELL"]})
        again = Runtime.restore(rt.snapshot())
        again.deploy("create schema V(side Side)")


def test_typed_dict_and_named_tuple() -> None:
    with Runtime() as rt:
        rt.register("Point", Point)
        rows = rows_of(rt, "select x, y from Point")
        rt.send("Point", Point(1, 2.5))
        rt.send("Point", (3, 4.0))
        rt.send("Point", {"y": 1.0})
        assert rows == [{"x": 1, "y": 2.5}, {"x": 3, "y": 4.0}, {"x": None, "y": 1.0}]


def test_base_classes_that_are_registered_are_supertypes() -> None:
    with Runtime() as rt:
        rt.register("Base", Base)
        rt.register("Leaf", Leaf)
        rt.register("Middle", Middle)
        rt.register("OtherLeaf", Leaf, supertypes=["Middle"])
        assert [t.name for t in rt.event_type("Leaf").supertypes] == ["Base"]
        assert [t.name for t in rt.event_type("Middle").supertypes] == ["Base"]
        rows = rows_of(rt, "select id from Base")
        rt.send("Leaf", Leaf("a", 1, Side.BUY, [Side.SELL]))
        rt.send("Middle", Middle("b", 1))
        rt.send("OtherLeaf", Leaf("c", 1))
        assert rows == [{"id": "a"}, {"id": "b"}, {"id": "c"}]


def test_pydantic_models() -> None:
    model = pydantic.create_model("Model", symbol=(str, ...), side=(Side | None, None))
    with Runtime() as rt:
        rt.register("Model", model)
        rows = rows_of(rt, "select symbol, side from Model")
        rt.send("Model", model(symbol="A", side=Side.SELL))
        assert rows == [{"symbol": "A", "side": "SELL"}]


@pytest.mark.parametrize("kind", ["int", "double", "string", "boolean", "BigDecimal", "java.util.Date", "Side"])
@pytest.mark.parametrize("missing", [pandas.NA, pandas.NaT])
def test_what_pandas_calls_missing_is_null(kind: str, missing: Any) -> None:
    with Runtime() as rt:
        rt.register_enum(Side)
        rt.deploy(f"create schema A(x {kind})")
        rows = rows_of(rt, "select x from A")
        rt.send("A", {"x": missing})
        assert rows == [{"x": None}]


@pytest.mark.parametrize("tier", ["row", "batch"])
def test_columns_hold_constants_of_their_enum_alone(tier: str) -> None:
    with Runtime(tier=tier) as rt:
        rt.register("Trade", Trade)
        rows = rows_of(rt, "select symbol, side from Trade")
        rt.send_batch("Trade", pa.table({"symbol": ["A", "B"], "side": ["BUY", None]}))
        with pytest.raises(EplRuntimeError, match="'Z'"):
            rt.send_batch("Trade", pa.table({"symbol": ["A", "B"], "side": ["BUY", "Z"]}))
        assert rows == [{"symbol": "A", "side": "BUY"}, {"symbol": "B", "side": None}]
