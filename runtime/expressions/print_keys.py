"""Values as keys of hash tables: equal where Java's ``equals`` says so."""
from __future__ import annotations

from collections.abc import Sequence

from epl.plan.exact import exact_operand
from epl.plan.expressions import TypedExpression
from runtime.expressions.printer import Printer, scalar_kind

COARSE_KINDS = ("", "Object")
"""Kinds of values whose keys may be equal where the values are not: the comparison itself decides among them."""


def key_part(node: TypedExpression, printer: Printer) -> str:
    """Return the text of one value as a key: Java's ``equals`` distinguishes 0.0 from -0.0 and scales of decimals, and finds NaN."""
    node = exact_operand(node)
    text, kind = printer.value(node), scalar_kind(node)
    if kind in ("double", "float"):
        name = printer.temporary()
        return f"({name} if ({name} := {text}) and {name} == {name} else double_key({name}))"
    if kind == "BigDecimal":
        return f"decimal_key({text})"
    return f"object_key({text})" if kind in COARSE_KINDS else text


def is_plain_key(node: TypedExpression) -> bool:
    """Return whether the value itself is the key."""
    return scalar_kind(exact_operand(node)) not in ("double", "float", "BigDecimal", *COARSE_KINDS)


def key_text(expressions: Sequence[TypedExpression], printer: Printer) -> str:
    """Return the text of a key: of the only value, or of a tuple."""
    parts = [key_part(expression, printer) for expression in expressions]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


__all__ = ["COARSE_KINDS", "is_plain_key", "key_part", "key_text"]
