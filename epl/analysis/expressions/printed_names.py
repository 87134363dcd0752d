"""What the names in an expression stand for in a scope: how Esper prints them, in columns without alias and in refusals."""

from __future__ import annotations

from decimal import Decimal

import attrs

from epl.analysis.expressions import chains
from epl.analysis.expressions.binding import bind
from epl.analysis.expressions.declared import find_declaration
from epl.analysis.expressions.properties import property_read
from epl.analysis.expressions.scope import Scope
from epl.errors import EplError
from epl.java import decimal_text, double_text, float_text
from epl.plan.expressions import Constant, TypedExpression
from epl.syntax import Call, Chain, Index, Literal, Name
from epl.unparse import ExpressionNames
from epl.value_types import FLOAT


class ScopeNames(ExpressionNames):
    """A chain that does not bind prints as it reads: refusals quote such chains."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def is_property(self, node: Chain) -> bool:
        reads_so = super().is_property(node)
        last = node.links[-1]
        if not isinstance(last, Call) or len(last.arguments) != 1 or not isinstance(last.arguments[0], Literal):
            return reads_so
        if not all(isinstance(link, (Name, Index)) for link in node.links[:-1]):
            return reads_so
        if len(node.links) == 1 and self.is_function(last.name):
            return False
        bound = self._bind(node)
        return reads_so if bound is None else property_read(bound) is not None

    def is_function(self, name: str) -> bool:
        catalog = self._scope.catalog
        return name in catalog.functions.single_row or self.is_aggregation(name) or find_declaration(name, self._scope) is not None

    def constant(self, node: Chain) -> str | None:
        if len(node.links) < 2 or node.root is not None or not all(isinstance(link, Name) for link in node.links):
            return None
        try:
            member = chains.class_member(node, self._scope)
        except EplError:
            return None
        if not isinstance(member, Constant) or not isinstance(self._bind(node), Constant):
            return None
        return _value_text(member)

    def is_declared(self, name: str) -> bool:
        declaration = find_declaration(name, self._scope)
        if declaration is None or declaration.parameters or declaration.alias or name in self._scope.catalog.variables:
            return False
        return all(local.name != name for local in self._scope.locals)

    def is_aggregation(self, name: str) -> bool:
        return super().is_aggregation(name) or name.lower() in self._scope.catalog.aggregations

    def _bind(self, node: Chain) -> TypedExpression | None:
        try:
            return bind(node, attrs.evolve(self._scope, aggregations=None))
        except EplError:
            return None


def _value_text(constant: Constant) -> str:
    value = constant.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value) if constant.type == FLOAT else double_text(value)
    return decimal_text(value) if isinstance(value, Decimal) else str(value)


__all__ = ["ScopeNames"]
