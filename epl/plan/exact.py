"""Conversions of numbers that comparisons do without."""
from __future__ import annotations

from epl.java import BITS
from epl.plan.expressions import Convert, TypedExpression
from epl.value_types import Scalar

EXACT_IN_DOUBLE = ("byte", "short", "int")


def exact_operand(node: TypedExpression) -> TypedExpression:
    """Return the operand of a comparison without its conversion where Python compares exactly: an int that stands for a double, say."""
    if isinstance(node, Convert) and isinstance(node.type, Scalar) and isinstance(node.operand.type, Scalar):
        if node.type.kind in BITS or (node.type.kind == "double" and node.operand.type.kind in EXACT_IN_DOUBLE):
            return node.operand
    return node


__all__ = ["exact_operand"]
