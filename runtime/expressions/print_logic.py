"""Printing comparisons, membership, text matching and three-valued logic, each as a value and as a test."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from epl.functions.like import like_pattern
from epl.functions.patterns import java_pattern
from epl.generated_code import literal
from epl.plan.exact import exact_operand
from epl.plan.expressions import (
    Conditional,
    Constant,
    Equality,
    LikeMatch,
    Logic,
    Membership,
    Not,
    Order,
    Quantified,
    Range,
    RegexpMatch,
    SameEvent,
    TypedExpression,
)
from epl.value_types import NUMBER, OBJECT, ArrayType, CollectionType, MapType, ValueType, is_null, is_numeric
from runtime.expressions.casts import text_function
from runtime.expressions.printer import TESTS, Printer, may_be_null, prints, scalar_kind

FLOATING = ("double", "float")

# ------------------------------------------------------------------ equality, order


def _same(printer: Printer, node: Equality, left: str, right: str) -> str:
    """Java's ``equals`` of two non-null values, negated where the node is."""
    kind = scalar_kind(node.left)
    negation = "not " if node.negated else ""
    sign = "!=" if node.negated else "=="
    if kind in FLOATING and scalar_kind(node.right) in FLOATING and not _plain_constant(node):
        return f"({negation}same_double({left}, {right}))"
    if kind == "BigDecimal":
        return f"({negation}same_decimal({left}, {right}))"
    if (not kind or kind == "Object" or scalar_kind(node.right) == "Object") and not node.arrays:
        return f"({negation}same_object({left}, {right}))"
    return f"({left} {sign} {right})"


def _plain_constant(node: Equality) -> bool:
    """Return a double's constant that is neither zero nor NaN: there ``==`` is ``equals``."""
    return any(isinstance(side, Constant) and side.value and side.value == side.value for side in (node.left, node.right))


@prints(Equality)
def print_equality(printer: Printer, node: Equality) -> str:
    if node.null_safe:
        return _null_safe(printer, node)
    if is_null(node.left.type) or is_null(node.right.type):
        return "None"
    kept: list[str] = []
    left, right = _sides(printer, node, kept)
    return printer.guard(kept, _same(printer, node, left, right))


@prints(Equality, TESTS)
def test_equality(printer: Printer, node: Equality) -> str:
    if node.null_safe:
        return _null_safe(printer, node)
    if is_null(node.left.type) or is_null(node.right.type):
        return "False"
    if not node.negated and _python_equal(node) and not (may_be_null(node.left) and may_be_null(node.right)):
        return f"({printer.value(exact_operand(node.left))} == {printer.value(exact_operand(node.right))})"
    kept: list[str] = []
    left, right = _sides(printer, node, kept)
    return printer.guard_test(kept, _same(printer, node, left, right))


def _sides(printer: Printer, node: Equality, kept: list[str]) -> tuple[str, str]:
    left, right = (exact_operand(node.left), exact_operand(node.right)) if _python_equal(node) else (node.left, node.right)
    return printer.once(left, kept), printer.once(right, kept)


def _python_equal(node: Equality) -> bool:
    """Return whether Python's ``==`` is Java's ``equals`` for values of these types."""
    kind = scalar_kind(node.left)
    if kind in FLOATING:
        return _plain_constant(node)
    return kind in ("boolean", "byte", "short", "int", "long", "BigInteger", "char", "String") and scalar_kind(node.right) == kind


def _null_safe(printer: Printer, node: Equality) -> str:
    """Print ``is`` / ``is not``: null equals null."""
    for side, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(other, Constant) and other.value is None:
            return printer.null_test(side, negated=node.negated)
    if _python_equal(node) and (scalar_kind(node.left) not in FLOATING):
        return f"({printer.value(exact_operand(node.left))} {'!=' if node.negated else '=='} {printer.value(exact_operand(node.right))})"
    kept: list[str] = []
    left, right = printer.operand(node.left, kept), printer.operand(node.right, kept)
    if not kept:
        return _same(printer, node, left, right)
    if len(kept) == 1:
        return f"({node.negated} if {kept[0]} is None else {_same(printer, node, left, right)})"
    both = " & ".join(f"({k} is not None)" for k in kept)
    return f"({_same(printer, node, left, right)} if {both} else {left} is {'not ' if node.negated else ''}{right})"


@prints(Order)
def print_order(printer: Printer, node: Order) -> str:
    kept: list[str] = []
    body = f"({printer.once(exact_operand(node.left), kept)} {node.operator} {printer.once(exact_operand(node.right), kept)})"
    return printer.guard(kept, body)


@prints(Order, TESTS)
def test_order(printer: Printer, node: Order) -> str:
    kept: list[str] = []
    left, right = printer.once(exact_operand(node.left), kept), printer.once(exact_operand(node.right), kept)
    return printer.guard_test(kept, f"{left} {node.operator} {right}")


@prints(SameEvent)
def print_same_event(printer: Printer, node: SameEvent) -> str:
    return f"same_event({printer.value(node.left)}, {printer.value(node.right)})"


# ------------------------------------------------------------------ and, or, not


@prints(Logic)
def print_logic(printer: Printer, node: Logic) -> str:
    texts: list[str] = []
    nullable: list[str] = []
    for operand in node.operands:
        text = printer.value(operand)
        if may_be_null(operand):
            name = printer.temporary()
            nullable.append(name)
            text = f"({name} := {text})"
            text = f"{text} is False" if node.operator == "and" else text
        elif node.operator == "and":
            text = f"not {text}"
        texts.append(text)
    if not nullable:
        return f"({f' {node.operator} '.join(printer.value(o) for o in node.operands)})"
    decided = " or ".join(texts)
    undecided = " or ".join(f"{n} is None" for n in nullable)
    if node.operator == "and":
        return f"(False if {decided} else None if {undecided} else True)"
    return f"(True if {decided} else None if {undecided} else False)"


@prints(Logic, TESTS)
def test_logic(printer: Printer, node: Logic) -> str:
    return f"({f' {node.operator} '.join(printer.test(o) for o in node.operands)})"


@prints(Not)
def print_not(printer: Printer, node: Not) -> str:
    return printer.unary(node.operand, lambda text: f"(not {text})")


@prints(Not, TESTS)
def test_not(printer: Printer, node: Not) -> str:
    if may_be_null(node.operand):
        return f"({printer.value(node.operand)} is False)"
    return f"(not {printer.test(node.operand)})"


# ------------------------------------------------------------------ ranges, membership


@prints(Range)
def print_range(printer: Printer, node: Range) -> str:
    """Print a range: false, negated or not, if the value is null; false if an end is null, and true if negated."""
    kept: list[str] = []
    ends: list[str] = []
    if _is_null(node.value):
        return "False"
    value = printer.operand(exact_operand(node.value), kept)
    if _is_null(node.low) or _is_null(node.high):
        return printer.guard_test(kept, "True") if node.negated else "False"
    low, high = (printer.operand(exact_operand(e), ends) for e in (node.low, node.high))
    forward = _between(node, low, value, high)
    if isinstance(node.low, Constant) and isinstance(node.high, Constant):
        body = forward if not node.swap or node.low.value <= node.high.value else _between(node, high, value, low)
    else:
        body = f"({forward} if {low} <= {high} else {_between(node, high, value, low)})" if node.swap else forward
    if not node.negated:
        return printer.guard_test([*kept, *ends], body)
    return printer.guard_test(kept, f"(not {printer.guard_test(ends, body)})")


def _is_null(node: TypedExpression) -> bool:
    return isinstance(node, Constant) and node.value is None


def _between(node: Range, low: str, value: str, high: str) -> str:
    return f"({low} {'<=' if node.include_low else '<'} {value} {'<=' if node.include_high else '<'} {high})"


@prints(Membership)
def print_membership(printer: Printer, node: Membership) -> str:
    constants = _constant_set(node)
    if constants is not None:
        null = any(isinstance(i, Constant) and i.value is None for i in node.items)
        body = f"{{}} {'not ' if node.negated else ''}in {printer.bind(constants)}"
        if null:
            result = "False" if node.negated else "True"
            return printer.unary(node.value, lambda text: f"({result} if {text} in {printer.bind(constants)} else None)")
        return printer.unary(node.value, lambda text: f"({body.format(text)})")
    name = printer.temporary()
    body = _member_call(printer, node)
    return f"(None if ({name} := {body}) is None else not {name})" if node.negated else body


@prints(Membership, TESTS)
def test_membership(printer: Printer, node: Membership) -> str:
    constants = _constant_set(node)
    if constants is None:
        body = _member_call(printer, node)
        return f"({body} is False)" if node.negated else body
    if node.negated:
        if any(isinstance(i, Constant) and i.value is None for i in node.items):
            return "False"
        kept: list[str] = []
        value = printer.once(node.value, kept)
        return printer.guard_test(kept, f"{value} not in {printer.bind(constants)}")
    return f"({printer.value(node.value)} in {printer.bind(constants)})"


def _constant_set(node: Membership) -> frozenset[Any] | None:
    """Return the non-null constants of a list that holds nothing else."""
    if any(node.spread) or not all(isinstance(i, Constant) for i in node.items) or scalar_kind(node.value) in ("", "Object", "BigDecimal"):
        return None
    constants = [i.value for i in node.items if isinstance(i, Constant) and i.value is not None]
    if scalar_kind(node.value) in FLOATING and not all(value and value == value for value in constants):
        return None  # a set takes one zero for the other
    return frozenset(constants)


def _member_call(printer: Printer, node: Membership) -> str:
    groups: tuple[list[str], list[str], list[str]] = ([], [], [])
    for item, spreads in zip(node.items, node.spread):
        group = 0 if not spreads else 1 if isinstance(item.type, ArrayType) else 2
        if group == 2 and _other_number(node.sought, item):
            continue
        groups[group].append(printer.value(item))
    arguments = ", ".join(f"({''.join(f'{t}, ' for t in group)})" for group in groups)
    return f"{'member_object' if _by_object(node) else 'member'}({printer.value(node.value)}, {arguments})"


def _by_object(node: Membership | Quantified) -> bool:
    """Return whether values of unknown types are compared: Java's ``equals`` distinguishes a boolean and a double from an integer."""
    return scalar_kind(node.value) != "String" and any(_comparison_type(v.type) in (OBJECT, NUMBER) for v in (node.value, *node.items))


def _comparison_type(value_type: ValueType) -> ValueType:
    if isinstance(value_type, MapType):
        return value_type.key
    return value_type.element if isinstance(value_type, (ArrayType, CollectionType)) else value_type


def _other_number(sought: ValueType, item: TypedExpression) -> bool:
    """Return whether a collection or map holds numbers of another kind: Java's ``contains`` never finds an Integer among Longs."""
    element = _comparison_type(item.type)
    return is_numeric(element) and is_numeric(sought) and element.boxed != sought.boxed


@prints(Quantified)
def print_quantified(printer: Printer, node: Quantified) -> str:
    if node.quantifier == "all" and node.operator[0] in "<>" and any(isinstance(i, Constant) and i.value is None for i in node.items):
        return "None"  # so says Esper, whatever the other items
    items = "".join(f"{printer.value(i)}, " for i in node.items)
    rest = f"{literal(node.spread)}, {node.quantifier == 'all'}, {_by_object(node)}"
    return f"quantified({literal(node.operator)}, {printer.value(node.value)}, ({items}), {rest})"


# ------------------------------------------------------------------ like, regexp


@prints(LikeMatch)
def print_like(printer: Printer, node: LikeMatch) -> str:
    kept: list[str] = []
    body = _like_body(printer, node, kept)
    return printer.guard(kept, body)


@prints(LikeMatch, TESTS)
def test_like(printer: Printer, node: LikeMatch) -> str:
    kept: list[str] = []
    body = _like_body(printer, node, kept)
    return printer.guard_test(kept, body)


def _like_body(printer: Printer, node: LikeMatch, kept: list[str]) -> str:
    text = _text(printer, node.value, kept)
    escape = node.escape.value if isinstance(node.escape, Constant) else None
    if isinstance(node.pattern, Constant) and (node.escape is None or isinstance(node.escape, Constant)):
        body = _fast_like(node.pattern.value, text) if escape is None else None
        if body is None:
            match = printer.bind(like_pattern(node.pattern.value, escape[0] if escape else "\\"), "like")
            body = f"{match}({text})"
    else:
        pattern = printer.once(node.pattern, kept)
        escape_text = printer.value(node.escape) if node.escape is not None else literal("\\")
        body = f"like_pattern({pattern}, {escape_text})({text})"
    return f"(not {body})" if node.negated else body


def _fast_like(pattern: str, text: str) -> str | None:
    """``x%``, ``%x``, ``%x%`` and plain text without a regular expression."""
    match = re.fullmatch(r"(%?)([^%_\\]*)(%?)", pattern)
    if match is None:
        return None
    front, inner, back = match.groups()
    if front and back:
        return f"({literal(inner)} in {text})"
    if back:
        return f"{text}.startswith({literal(inner)})"
    return f"{text}.endswith({literal(inner)})" if front else f"({text} == {literal(inner)})"


@prints(RegexpMatch)
def print_regexp(printer: Printer, node: RegexpMatch) -> str:
    kept: list[str] = []
    body = _regexp_body(printer, node, kept)
    return printer.guard(kept, body)


@prints(RegexpMatch, TESTS)
def test_regexp(printer: Printer, node: RegexpMatch) -> str:
    kept: list[str] = []
    body = _regexp_body(printer, node, kept)
    return printer.guard_test(kept, body)


def _regexp_body(printer: Printer, node: RegexpMatch, kept: list[str]) -> str:
    text = _text(printer, node.value, kept)
    if isinstance(node.pattern, Constant):
        match = printer.bind(java_pattern(node.pattern.value).matches, "regexp")
        body = f"{match}({text})"
    else:
        body = f"java_pattern({printer.once(node.pattern, kept)}).matches({text})"
    return f"(not {body})" if node.negated else body


def _text(printer: Printer, node: TypedExpression, kept: list[str]) -> str:
    text = printer.once(node, kept)
    if scalar_kind(node) == "String":
        return text
    return f"{printer.bind(text_function(node.type), 'text')}({text})"


# ------------------------------------------------------------------ case


@prints(Conditional)
def print_conditional(printer: Printer, node: Conditional) -> str:
    return _cases(printer, node, printer.value)


@prints(Conditional, TESTS)
def test_conditional(printer: Printer, node: Conditional) -> str:
    return _cases(printer, node, printer.test)


def _cases(printer: Printer, node: Conditional, show: Any) -> str:
    parts: Sequence[str] = [f"{show(value)} if {printer.test(condition)} else " for condition, value in node.pairs]
    last = show(node.otherwise) if node.otherwise is not None else "None"
    return f"({''.join(parts)}{last})"
