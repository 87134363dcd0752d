"""Printing arithmetic: chains of + - * on integers wrap once, at their end; mixed integers need no conversion where Python's own is
Java's.
"""
from __future__ import annotations

from epl import java
from epl.generated_code import literal
from epl.plan.expressions import Arithmetic, Bitwise, Constant, Convert, Extreme, Negation, TypedExpression
from runtime.expressions.printer import Printer, prints, scalar_kind

WRAPPERS = {"int": ("-2147483648", "2147483647", "wrap_int"), "long": ("-9223372036854775808", "9223372036854775807", "wrap_long")}
WRAPPED = ("+", "-", "*")


@prints(Arithmetic)
def print_arithmetic(printer: Printer, node: Arithmetic) -> str:
    kept: list[str] = []
    body = numeric_text(printer, node, kept)
    return printer.guard(kept, body)


def numeric_text(printer: Printer, node: Arithmetic, kept: list[str]) -> str:
    """Return the value of an arithmetic node whose operands' nulls are checked before (``kept``)."""
    kind = scalar_kind(node)
    if kind in WRAPPERS and node.operator in WRAPPED:
        low, high, wrapper = WRAPPERS[kind]
        name = printer.temporary()
        return f"({name} if {low} <= ({name} := {print_unwrapped(printer, node, kept)}) <= {high} else {wrapper}({name}))"
    if node.operator in WRAPPED:
        return _fraction_or_big(printer, node, kind, kept)
    left, right = printer.operand(node.left, kept), printer.operand(node.right, kept)
    return division(printer, node, kind, left, right) if node.operator == "/" else remainder(kind, left, right)


def print_unwrapped(printer: Printer, node: TypedExpression, kept: list[str], kind: str | None = None) -> str:
    """Return + - * of integers before wrapping: equal to Java's result in its low bits, however deep."""
    kind = kind or scalar_kind(node)
    if isinstance(node, Arithmetic) and node.operator in WRAPPED and scalar_kind(node) == kind:
        return f"({print_unwrapped(printer, node.left, kept, kind)} {node.operator} {print_unwrapped(printer, node.right, kept, kind)})"
    if isinstance(node, Convert) and scalar_kind(node.operand) in java.BITS:
        return printer.once(node.operand, kept)
    return printer.once(node, kept)


def _fraction_or_big(printer: Printer, node: Arithmetic, kind: str, kept: list[str]) -> str:
    """+ - * of double, float, BigInteger, BigDecimal."""
    if kind == "BigDecimal":
        function = {"+": "decimal_add", "-": "decimal_subtract", "*": "decimal_multiply"}[node.operator]
        return f"{function}({printer.once(node.left, kept)}, {printer.once(node.right, kept)})"
    left, right = node.left, node.right
    if kind == "BigInteger" and node.operator == "*":
        return f"integer_multiply({printer.once(left, kept)}, {printer.once(right, kept)})"
    if kind == "double" and not (_from_integer(left) and _from_integer(right)):
        left, right = _strip_widening(left), _strip_widening(right)
    text = f"({_inner(printer, left, kind, kept)} {node.operator} {_inner(printer, right, kind, kept)})"
    return f"to_float({text})" if kind == "float" else text


def _inner(printer: Printer, node: TypedExpression, kind: str, kept: list[str]) -> str:
    """Return an operand; sums and products of the same kind share the null checks."""
    if isinstance(node, Arithmetic) and node.operator in WRAPPED and scalar_kind(node) == kind:
        return _fraction_or_big(printer, node, kind, kept)
    return printer.once(node, kept)


def _from_integer(node: TypedExpression) -> bool:
    return isinstance(node, Convert) and scalar_kind(node.operand) in java.BITS


def _strip_widening(node: TypedExpression) -> TypedExpression:
    """Python turns an integer beside a float into the nearest double, as Java does."""
    return node.operand if isinstance(node, Convert) and scalar_kind(node.operand) in java.BITS else node


def division(printer: Printer, node: Arithmetic, kind: str, left: str, right: str) -> str:
    if kind == "BigDecimal":
        context = "None" if node.math_context is None else printer.bind(java.math_context(*node.math_context))
        body = f"decimal_divide({left}, {right}, {context})"
        return f"({body} if {right} else None)" if node.zero_division_null else body
    if kind in ("double", "float"):
        by_zero = "None" if node.zero_division_null else f"float_divide({left}, {right})"
        if isinstance(node.right, Constant) and node.right.value:
            body = f"({left} / {right})"
        else:
            body = f"({left} / {right} if {right} else {by_zero})"
        return f"to_float({body})" if kind == "float" else body
    quotient = f"integer_divide({left}, {right})"
    if kind in WRAPPERS:
        quotient = f"{WRAPPERS[kind][2]}({quotient})"
    return quotient if isinstance(node.right, Constant) and node.right.value else f"({quotient} if {right} else None)"


def remainder(kind: str, left: str, right: str) -> str:
    if kind in ("double", "float"):
        return f"float_remainder({left}, {right})"
    if kind == "BigDecimal":
        return f"decimal_remainder({left}, {right})"
    return f"({left} % {right} if {left} >= 0 and {right} > 0 else integer_remainder({left}, {right}))"


@prints(Negation)
def print_negation(printer: Printer, node: Negation) -> str:
    return printer.unary(node.operand, lambda text: f"negate({text}, {literal(scalar_kind(node))})")


@prints(Convert)
def print_convert(printer: Printer, node: Convert) -> str:
    source, target = scalar_kind(node.operand), scalar_kind(node)
    integral = ("byte", "short", "int", "long", "BigInteger")
    if (source in integral and target in integral) or (source == "float" and target == "double"):
        return printer.value(node.operand)
    if target == "double" and source in java.BITS:
        return printer.unary(node.operand, lambda text: f"({text} + 0.0)")
    function = printer.bind(java.converter(source, target), "convert")
    return printer.unary(node.operand, lambda text: f"{function}({text})")


@prints(Bitwise)
def print_bitwise(printer: Printer, node: Bitwise) -> str:
    kept: list[str] = []
    body = f"({printer.once(node.left, kept)} {node.operator} {printer.once(node.right, kept)})"
    return printer.guard(kept, body)


@prints(Extreme)
def print_extreme(printer: Printer, node: Extreme) -> str:
    kept: list[str] = []
    texts = [printer.operand(o, kept) for o in node.operands]
    sign = "<" if node.function == "min" else ">"
    extreme = f"({texts[0]} if {texts[0]} {sign} {texts[1]} else {texts[1]})"
    for text in texts[2:]:
        before = printer.temporary()
        extreme = f"({before} if ({before} := {extreme}) {sign} {text} else {text})"
    return printer.guard(kept, extreme)
