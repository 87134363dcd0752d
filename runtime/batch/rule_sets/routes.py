"""Which statements of a rule set a row concerns: a look-up by a key's value or among sorted bounds, or every statement.

A route prints, for the row at ``i``, the choice of ``low`` … ``high``: places in ``members``, the statements' numbers; and it builds the
arrays ``B`` that those lines read.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from epl.plan.expressions import (
    Arithmetic,
    Constant,
    Convert,
    Negation,
    Order,
    Parameter,
    StreamProperty,
    TypedExpression,
    VariableValue,
)
from epl.plan.streams import FilterPlan
from runtime.batch.compiler.hosted import fill_table
from runtime.batch.printing.expressions import ScalarPrinter, both, column_kind
from runtime.batch.printing.source_code import Code
from runtime.batch.storage.arrays import Array
from runtime.batch.storage.kinds import INTEGERS, TEXTS
from runtime.batch.storage.strings import StringPool

Value = Callable[[TypedExpression], Any]
"""The value of an expression that is fixed at deploy, for one statement."""

MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@attrs.frozen
class Route:
    """Every statement. ``arrays``: their names in the printed lines, in the order of ``build``."""

    @property
    def arrays(self) -> tuple[str, ...]:
        return ("hits",)

    @property
    def looks_up(self) -> bool:
        """Whether some statements are chosen. If not, conditions are to be tested for all of them first, into ``hits``."""
        return False

    def choose(self, code: Code, printer: ScalarPrinter) -> None:
        """Print ``low`` and ``high`` for the row at ``i``; ``printer`` reads that row."""
        code.add("low = 0", "high = count")

    @property
    def member(self) -> str:
        """The number of the statement at place ``p``."""
        return "p"

    def build(self, values: Sequence[tuple[Any, ...]], pool: StringPool) -> tuple[Array, ...]:
        """Return the arrays; ``values[s]``: those of statement ``s`` that ``constants`` names."""
        return (np.zeros(-(-len(values) // 8) * 8, np.bool_),)

    def constants(self) -> tuple[TypedExpression, ...]:
        """Return what differs from statement to statement."""
        return ()


@attrs.frozen
class KeyRoute(Route):
    """The property's value equals one of ``keys``. Strings: a table by code; integers and booleans: a hash table."""

    column: StreamProperty
    keys: tuple[TypedExpression, ...] = attrs.field(eq=False)

    @property
    def is_text(self) -> bool:
        return column_kind(self.column.type) in TEXTS

    @property
    def arrays(self) -> tuple[str, ...]:
        return ("begins", "members") if self.is_text else ("begins", "members", "slots", "held")

    @property
    def looks_up(self) -> bool:
        return True

    @property
    def member(self) -> str:
        return "members[p]"

    def constants(self) -> tuple[TypedExpression, ...]:
        return self.keys

    def choose(self, code: Code, printer: ScalarPrinter) -> None:
        text = printer.keep(printer.value(self.column))
        if self.is_text:
            code.add("low = 0", "high = 0")
            with code.block(f"if 0 <= {text.value} < len(begins) - 1"):
                code.add(f"low = begins[{text.value}]", f"high = begins[{text.value} + 1]")
            return
        code.add("low = 0", "high = 0")
        with code.block(f"if {text.valid or 'True'}"):
            code.add(f"key = np.int64({text.value})", "place = mix(key) & (len(slots) - 1)")
            with code.block("while slots[place] >= 0 and held[slots[place]] != key"):
                code.add("place = (place + 1) & (len(slots) - 1)")
            with code.block("if slots[place] >= 0"):
                code.add("low = begins[slots[place]]", "high = begins[slots[place] + 1]")

    def build(self, values: Sequence[tuple[Any, ...]], pool: StringPool) -> tuple[Array, ...]:
        pairs = [(v, s) for s, keys in enumerate(values) for v in dict.fromkeys(keys) if v is not None]
        members = np.array([s for _, s in pairs], np.int32)
        if self.is_text:
            buckets = pool.codes(v for v, _ in pairs).astype(np.int64)
            return _by_bucket(buckets, members, int(buckets.max(initial=-1)) + 1)
        held, buckets = np.unique(np.array([int(v) for v, _ in pairs], np.int64), return_inverse=True)
        size = 16
        while size < 2 * len(held) + 1:
            size *= 2
        slots = np.full(size, -1, np.int32)
        with np.errstate(over="ignore"):
            fill_table(slots, held.reshape(1, -1), np.ones(len(held), np.bool_))
        return (*_by_bucket(buckets, members, len(held)), slots, held)


@attrs.frozen
class BoundRoute(Route):
    """``value operator bound``, where only the bound differs: the bounds are sorted, so that those that a value fulfils are together."""

    value: TypedExpression
    operator: str
    bound: TypedExpression = attrs.field(eq=False)

    @property
    def arrays(self) -> tuple[str, ...]:
        return ("bounds", "members")

    @property
    def looks_up(self) -> bool:
        return True

    @property
    def member(self) -> str:
        return "members[p]"

    def constants(self) -> tuple[TypedExpression, ...]:
        return (self.bound,)

    def choose(self, code: Code, printer: ScalarPrinter) -> None:
        text = printer.keep(printer.value(self.value))
        real = None if column_kind(self.value.type) in INTEGERS else f"{text.value} == {text.value}"
        code.add("low = 0", "high = 0")
        with code.block(f"if {both(text.valid, real) or 'True'}"):
            code.add("below = 0", "above = len(bounds)")
            with code.block("while below < above"):
                code.add("middle = (below + above) >> 1")
                with code.block(f"if bounds[middle] {'<' if self.operator in ('>', '<=') else '<='} {text.value}"):
                    code.add("below = middle + 1")
                with code.block("else"):
                    code.add("above = middle")
            code.add("high = below" if self.operator in (">", ">=") else "low = below")
            if self.operator in ("<", "<="):
                code.add("high = len(bounds)")

    def build(self, values: Sequence[tuple[Any, ...]], pool: StringPool) -> tuple[Array, ...]:
        kind = column_kind(self.value.type)
        there = np.array([s for s, (v,) in enumerate(values) if v is not None], np.int32)
        constants = np.array([v for (v,) in values if v is not None], np.int64 if kind in INTEGERS else np.float64)
        if kind == "float":
            constants = constants.astype(np.float32).astype(np.float64)
        there, constants = there[~np.isnan(constants)], constants[~np.isnan(constants)]  # NaN fulfils nothing
        order = np.argsort(constants, kind="stable")
        return constants[order], there[order]


def choose_route(plan: FilterPlan, conditions: Sequence[TypedExpression]) -> tuple[Route, tuple[TypedExpression, ...]]:
    """Return the route, and which conditions are still to be tested; ``conditions`` are all but the filter's key."""
    if plan.key is not None:
        prop = plan.event_type.properties[plan.key.property]
        return KeyRoute(StreamProperty(stream=0, name=prop.name, type=prop.type), plan.key.values), tuple(conditions)
    for number, condition in enumerate(conditions):
        route = _range_route(condition)
        if route is not None:
            return route, (*conditions[:number], *conditions[number + 1 :])
    return Route(), tuple(conditions)


def _range_route(condition: TypedExpression) -> BoundRoute | None:
    if not isinstance(condition, Order):
        return None
    for value, bound, operator in (
        (condition.left, condition.right, condition.operator), (condition.right, condition.left, MIRRORED[condition.operator]),
    ):
        if _is_fixed(bound) and not any(isinstance(n, (Constant, Parameter, VariableValue)) for n in value.walk()):
            if column_kind(value.type) in (*INTEGERS, "float", "double") and column_kind(bound.type) == column_kind(value.type):
                return BoundRoute(value, operator, bound)
    return None


def _is_fixed(node: TypedExpression) -> bool:
    """Known at deploy, and nothing that may raise."""
    if isinstance(node, (Constant, Parameter)):
        return True
    if isinstance(node, Arithmetic) and node.operator in ("/", "%"):
        return False
    return isinstance(node, (Arithmetic, Convert, Negation)) and all(_is_fixed(each) for each in node.children())


def _by_bucket(buckets: Array, members: Array, count: int) -> tuple[Array, Array]:
    """(begins, members): those of bucket ``b`` are at ``begins[b]`` … ``begins[b + 1]``, in their order."""
    begins = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(buckets, minlength=count), out=begins[1:])
    return begins, np.ascontiguousarray(members[np.argsort(buckets, kind="stable")])


__all__ = ["BoundRoute", "KeyRoute", "Route", "choose_route"]
