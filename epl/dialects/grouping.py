"""Expressions of a grouped select: over its keys and aggregates."""
from __future__ import annotations

from typing import Any

import attrs

from epl.dialects import scopes
from epl.dialects import typed as y
from epl.dialects import types as k
from epl.dialects.aggregates import distinct, find_aggregate, is_aggregate
from epl.dialects.errors import DialectError
from epl.dialects.expression_types import PlanQuery, Typing
from epl.dialects.functions.signatures import describe_signatures
from epl.dialects.plans import AggregateCall, SqlOrderKey
from epl.dialects.syntax import tree as t
from epl.dialects.syntax.written import write_expression

GROUP_WINDOWS = {"tumble_start": 0, "tumble_end": 1, "tumble_rowtime": 2}
"""Functions of a group's window of time, and which instant of it they give."""


def shape(node: Any) -> Any:
    """Return what two expressions have in common where they are the same but for their places in the text."""
    if isinstance(node, t.Name):
        return ("name", node.canonical)
    if isinstance(node, t.SqlNode):
        fields = [field.name for field in attrs.fields(type(node)) if field.name not in ("at", "mode_at", "written")]
        return (type(node).__name__, *(shape(getattr(node, name)) for name in fields))
    if isinstance(node, tuple):
        return tuple(shape(each) for each in node)
    return node


class GroupTyping(Typing):
    """Types expressions over the row of keys and aggregates. ``aggregates`` grows with the calls that are typed."""

    def __init__(self, scope: scopes.SqlScope, plan_query: PlanQuery, keys: list[tuple[t.SqlExpression, y.Typed]]) -> None:
        super().__init__(scope, plan_query)
        self.keys = keys
        self.shapes = {shape(key): place for place, (key, _) in enumerate(keys)}
        self.aggregates: list[AggregateCall] = []
        self._calls: dict[Any, int] = {}
        self.marker: int | None = None
        """The place of the number of the grouping set among the keys; None without sets."""
        self.sets: tuple[tuple[int, ...], ...] = ()

    def typed(self, node: t.SqlExpression) -> y.Typed:
        """Return the typed expression; a key stands for itself."""
        place = self.shapes.get(shape(node))
        if place is None and isinstance(node, t.Name | t.Path) and scopes.is_path(node) and self.scope.has(node):
            place = self._same_column(node)
        if place is not None:
            return y.ColumnValue(self.keys[place][1].type, place)
        return super().typed(node)

    def _same_column(self, node: t.Name | t.Path) -> int | None:
        """``t.a`` and ``a`` are one column."""
        column = self.scope.place(node)
        for place, (_, typed) in enumerate(self.keys):
            if isinstance(typed, y.ColumnValue) and typed.index == column:
                return place
        return None

    def boundary(self) -> scopes.Boundary:
        """Return what a query inside an expression sees outside: the keys that are columns."""
        columns = [
            self.scope.columns[typed.index] if isinstance(typed, y.ColumnValue) else scopes.SqlColumn(None, typed.type) for _,
            typed in self.keys
        ]
        return scopes.Boundary(scopes.SqlScope(tuple(columns), self.scope.dialect, self.scope.is_open, self.scope.outer))

    def _name(self, node: t.Name) -> y.Typed:
        if self.scope.fold(node.written) in self.parameters or (self.scope.outer is not None and not self.scope.has(node)):
            return super()._name(node)
        if self.scope.place(node) is None:
            return y.ConstantValue(k.ANY, None)
        raise self._not_grouped(node)

    def _path(self, node: t.Path) -> y.Typed:
        if not scopes.is_path(node) or self._is_field(node) or (self.scope.outer is not None and not self.scope.has(node)):
            return super()._path(node)
        if self.scope.place(node) is None:
            return y.ConstantValue(k.ANY, None)
        raise self._not_grouped(node)

    def star_column(self, column: scopes.SqlColumn, at: int) -> y.Typed:
        """Return the column that ``*`` stands for, which has to be a key."""
        name = column.name or ""
        try:
            return self.typed(t.Name(at, name, True, name))
        except DialectError as error:
            if self.dialect != "sql" or error.sql_code != "EXPRESSION_NOT_AGGREGATE":
                raise
            shown = name if column.relation is None else f"{column.relation}.{name}"
            raise DialectError(error.sql_code, f"Column '{shown}' not in GROUP BY clause", at) from None

    def _not_grouped(self, node: t.SqlExpression) -> DialectError:
        if self.dialect in ("flink", "alibaba"):
            message = f"SqlValidatorException: Expression '{write_expression(node)}' is not being grouped"
            return DialectError("EXPRESSION_NOT_AGGREGATE", message, node.at)
        message = f"'{write_expression(node)}' must be an aggregate expression or appear in GROUP BY clause"
        return DialectError("EXPRESSION_NOT_AGGREGATE", message, node.at)

    def scalar_call(self, node: t.Call) -> y.Typed:
        """Return the typed call; functions of a group's window of time are functions of its key."""
        instant = GROUP_WINDOWS.get(node.name)
        if instant is None or self.dialect not in ("flink", "alibaba"):
            return super().scalar_call(node)
        window = t.Call(node.at, (t.Name(node.at, "tumble", False, "tumble"),), node.arguments)
        for place, (key, typed) in enumerate(self.keys):
            if isinstance(key, t.Call) and key.name == "tumble" and shape(key.arguments) == shape(window.arguments):
                pick = (lambda value: value[0], lambda value: value[1], lambda value: value[2])[instant]
                return y.Apply(k.TIMESTAMP, pick, (y.ColumnValue(typed.type, place),))
        message = (
            f"SqlValidatorException: Call to auxiliary group function '{node.name.upper()}' must have matching call to "
            "group function 'TUMBLE' in GROUP BY clause"
        )
        raise DialectError("EXPRESSION_NOT_AGGREGATE", message, node.at)

    def aggregate_call(self, node: t.Call) -> y.Typed:
        """Return the place of the aggregate in the row."""
        known = self._calls.get(shape(node))
        if known is None:
            self.aggregates.append(self._aggregate(node))
            known = len(self.aggregates) - 1
            self._calls[shape(node)] = known
        return y.ColumnValue(self.aggregates[known].aggregate.result_type, len(self.keys) + known)

    def _aggregate(self, node: t.Call) -> AggregateCall:
        for argument in node.arguments:
            for each in t.descendants(argument):
                if isinstance(each, t.Call) and is_aggregate(each.name, self.dialect):
                    message = f"Cannot nest aggregations inside aggregation '{node.name}': [{write_expression(each)}]"
                    raise DialectError("NESTED_AGGREGATION", message, node.at)
        rows = Typing(self.scope, self.plan_query)
        order = tuple(SqlOrderKey(None, rows.typed(item.key), item.descending, bool(item.nulls_first)) for item in node.order_by)
        arguments = tuple(rows.typed(each) for each in node.arguments)
        aggregate = find_aggregate(node.name, [argument.type for argument in arguments], self.dialect)
        if aggregate is None:
            kinds = ", ".join(str(argument.type) for argument in arguments)
            message = f"Unexpected parameters ({kinds}) for function {node.name}{describe_signatures(node.name, self.dialect)}"
            raise DialectError("FUNCTION_NOT_FOUND", message, node.at)
        condition = None if node.filter is None else rows.condition(node.filter, "FILTER clause must evaluate to a boolean (actual: %s)")
        return AggregateCall(distinct(aggregate) if node.distinct else aggregate, arguments, condition, order)

    def _call_grouping(self, node: t.Call) -> y.Typed:
        """Return which of the columns are not among the keys of the row's grouping set, as bits."""
        places = [self.shapes.get(shape(each)) for each in node.arguments]
        if None in places:
            message = "The arguments to GROUPING() must be expressions referenced by the GROUP BY at the associated query level"
            raise DialectError("INVALID_ARGUMENTS", message, node.at)
        if self.marker is None:
            return y.ConstantValue(k.INTEGER, 0)
        bits = [sum((place not in chosen) << (len(places) - 1 - bit) for bit, place in enumerate(places)) for chosen in self.sets]
        return y.Apply(k.INTEGER, lambda number: bits[number], (y.ColumnValue(k.INTEGER, self.marker),))


__all__ = ["GroupTyping", "shape"]
