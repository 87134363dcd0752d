"""The event types of programs over the whole language, and the values that events have."""

from __future__ import annotations

from typing import Any

import attrs

from tests.drawn.drawing import Column, Draw, Stream

SCHEMA = (
    "create schema Item(sku string, qty int, price double)",
    "create schema Trade(sym string, side string, qty int, price double, vol long, ok boolean, n long, ts long)",
    "create schema Quote(sym string, bid double, ask double, lvl int, n long, ts long)",
    "create schema Basket(sym string, qty int, tags string[], nums int[], top Item, items Item[], n long, ts long)",
    "create schema Rush(extra int) inherits Trade",
    "create schema Tick(sym string, level int, f float, sh short, amount BigDecimal, big BigInteger, n long, ts long)",
    "create schema Alarm(code string, lvl int, n long)",
)
TYPES: dict[str, tuple[Column, ...]] = {
    name: tuple(Column(*pair.split(":")) for pair in text.split())
    for name, text in {
        "Item": "sku:text qty:int price:double",
        "Trade": "sym:text side:text qty:int price:double vol:long ok:flag n:serial ts:time",
        "Quote": "sym:text bid:double ask:double lvl:int n:serial ts:time",
        "Basket": "sym:text qty:int tags:texts nums:ints top:item items:items n:serial ts:time",
        "Rush": "sym:text side:text qty:int price:double vol:long ok:flag n:serial ts:time extra:int",
        "Tick": "sym:text level:int f:float sh:short amount:decimal big:integer n:serial ts:time",
        "Alarm": "code:text lvl:int n:serial",
    }.items()
}
EVENTS = ("Trade", "Trade", "Trade", "Quote", "Quote", "Basket", "Rush", "Alarm", "Tick")
"""What is read, the frequent ones more than once."""

SIMPLE_ROLES = ("text", "int", "long", "double", "flag", "serial")
"""Roles of columns with one value."""
NUMBERS = ("int", "long", "double", "float", "short", "decimal", "integer")


@attrs.frozen
class Scope:
    """What an expression may name: streams in order. ``aliased``: with their alias in front."""

    streams: tuple[Stream, ...]
    aliased: bool = True

    def of(self, *roles: str) -> list[str]:
        """Names of the columns with these roles."""
        return [
            f"{stream.alias}.{column.name}" if self.aliased else column.name
            for stream in self.streams
            for column in stream.columns
            if column.role in roles
        ]

    def roles(self) -> dict[str, str]:
        """Name → role of every column."""
        return {
            f"{stream.alias}.{column.name}" if self.aliased else column.name: column.role
            for stream in self.streams
            for column in stream.columns
        }


def values(draw: Draw, source: str, serial: int, now: int) -> dict[str, Any]:
    """An event's properties: few keys, ties, nulls, times that are late or equal."""
    made = {column.name: _value(draw, column.role, serial, now) for column in TYPES[source]}
    for column in TYPES[source]:
        if column.role not in ("serial", "time") and draw.chance(0.05):
            made[column.name] = None
    return made


def _value(draw: Draw, role: str, serial: int, now: int) -> Any:
    choose = draw.random.choice
    match role:
        case "text":
            return choose(draw.words[:3]) if draw.chance(0.9) else draw.words[3]
        case "int" | "long" | "short" | "integer":
            return choose([0, 1, 1, 2, 3, 5])
        case "float" | "decimal":
            return choose([0.5, 1.0, 1.5, 2.5, 3.25])
        case "double":
            return choose([0.0, 1.0, 1.5, 2.0, 2.5, 4.0])
        case "flag":
            return choose([True, False])
        case "serial":
            return serial
        case "time":
            return now + choose([0, 0, 0, -500, 700])
        case "texts":
            return [choose(draw.words) for _ in range(draw.number(0, 3))]
        case "ints":
            return [choose([0, 1, 2, 3, 5]) for _ in range(draw.number(0, 3))]
        case "item":
            return values(draw, "Item", serial, now)
        case "items":
            return [values(draw, "Item", serial, now) for _ in range(draw.number(0, 3))]
    raise ValueError(f"no role {role}")
