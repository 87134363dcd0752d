"""Syntax of expressions → text that reads back as the same tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epl import syntax as S
from epl.grammar.lexis import UNITS
from epl.unparse.words import call_name, literal, property_name, type_name

Text = Callable[[Any], str]
"""The text of any node; handed to every writer, so that the files need not know one another."""

CASE, OR, AND, BITWISE, NOT, EQUALITY, RELATION, CONCATENATION, SUM, PRODUCT, SIGN, PRIMARY = range(12)
_BINARY = {"&": BITWISE, "|": BITWISE, "^": BITWISE, "||": CONCATENATION, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT}
_LEVELS: dict[type, int] = {
    S.Case: CASE, S.Between: RELATION, S.In: RELATION, S.InRange: RELATION, S.Like: RELATION, S.Regexp: RELATION, S.Lambda: CASE,
    S.Ordered: CASE,
}  # fmt: skip
_EQUALITY = frozenset({"=", "!=", "is", "is not"})
_BARE_ROOTS = (S.Subquery, S.ArrayLiteral, S.CurrentTimestamp, S.NewInstance)


def level(node: S.Expression) -> int:
    """Return how tight the node binds."""
    if isinstance(node, S.Binary):
        return _BINARY[node.operator]
    if isinstance(node, S.Logical):
        return OR if node.operator == "or" else AND
    if isinstance(node, (S.Comparison, S.QuantifiedComparison)):
        return EQUALITY if node.operator in _EQUALITY else RELATION
    if isinstance(node, S.Unary):
        return NOT if node.operator == "not" else SIGN
    return _LEVELS.get(type(node), PRIMARY)


def operand(node: S.Expression, least: int, text: Text) -> str:
    """Return the text, in parentheses where the node binds looser than ``least``."""
    written = text(node)
    return f"({written})" if level(node) < least else written


def list_text(nodes: tuple[Any, ...], text: Text) -> str:
    return ", ".join(map(text, nodes))


# ------------------------------------------------------------------ chains


def chain(node: S.Chain, text: Text) -> str:
    parts: list[str] = []
    if node.root is not None:
        root = text(node.root)
        bare = isinstance(node.root, _BARE_ROOTS) and not (isinstance(node.root, S.Subquery) and node.root.exists)
        parts.append(root if bare else f"({root})")
    for link in node.links:
        if parts and not isinstance(link, S.Index):
            parts.append(".")
        parts.append(text(link))
    return "".join(parts)


def call(node: S.Call, text: Text) -> str:
    name = f"`{node.name}`" if node.is_by_name else call_name(node.name)
    return f"{name}({'distinct ' if node.distinct else ''}{list_text(node.arguments, text)}){_mark(node)}"


def _mark(node: Any) -> str:
    return "?" if node.optional else ""


def substitution(node: S.SubstitutionParameter, text: Text) -> str:
    if node.type_name is None:
        return "?" if node.name is None else f"?:{property_name(node.name)}"
    return f"?:{'' if node.name is None else property_name(node.name)}:{type_name(node.type_name)}"


def lambda_(node: S.Lambda, text: Text) -> str:
    names = ", ".join(map(property_name, node.parameters))
    return f"{names if len(node.parameters) == 1 else f'({names})'} => {text(node.body)}"


# ------------------------------------------------------------------ operators


def unary(node: S.Unary, text: Text) -> str:
    if node.operator == "-":
        return f"-{operand(node.operand, PRIMARY, text)}"
    return f"not {operand(node.operand, EQUALITY, text)}"


def binary(node: S.Binary, text: Text) -> str:
    """Return the text, left-associative, except that bitwise operators do not chain."""
    own = _BINARY[node.operator]
    least = NOT if own == BITWISE else own
    return f"{operand(node.left, least, text)} {node.operator} {operand(node.right, NOT if own == BITWISE else own + 1, text)}"


def logical(node: S.Logical, text: Text) -> str:
    least = level(node) + 1
    return f" {node.operator} ".join(operand(item, least, text) for item in node.operands)


def comparison(node: S.Comparison, text: Text) -> str:
    least = level(node) + 1
    return f"{operand(node.left, least, text)} {node.operator} {operand(node.right, least, text)}"


def comparison_with_quantifier(node: S.QuantifiedComparison, text: Text) -> str:
    return f"{operand(node.left, level(node) + 1, text)} {node.operator} {node.quantifier} {_items(node.operands, text)}"


def _items(items: tuple[S.Expression, ...], text: Text) -> str:
    """``(a, b)``; one subquery has its own parentheses, and two pairs where it stands for one value."""
    written = list_text(items, text)
    return written if len(items) == 1 and isinstance(items[0], S.Subquery) and not items[0].exists else f"({written})"


def _negation(node: Any) -> str:
    return "not " if node.negated else ""


def between(node: S.Between, text: Text) -> str:
    value, low, high = (operand(item, CONCATENATION, text) for item in (node.value, node.low, node.high))
    return f"{value} {_negation(node)}between {low} and {high}"


def in_list(node: S.In, text: Text) -> str:
    return f"{operand(node.value, CONCATENATION, text)} {_negation(node)}in {_items(node.items, text)}"


def in_range(node: S.InRange, text: Text) -> str:
    low, high = "[" if node.include_low else "(", "]" if node.include_high else ")"
    return f"{operand(node.value, CONCATENATION, text)} {_negation(node)}in {low}{text(node.low)} : {text(node.high)}{high}"


def like(node: S.Like, text: Text) -> str:
    escape = "" if node.escape is None else f" escape {text(node.escape)}"
    return f"{operand(node.value, CONCATENATION, text)} {_negation(node)}like {operand(node.pattern, CONCATENATION, text)}{escape}"


def regexp(node: S.Regexp, text: Text) -> str:
    return f"{operand(node.value, CONCATENATION, text)} {_negation(node)}regexp {operand(node.pattern, CONCATENATION, text)}"


def case(node: S.Case, text: Text) -> str:
    parts = ["case"] if node.operand is None else ["case", text(node.operand)]
    parts.extend(f"when {text(condition)} then {text(value)}" for condition, value in node.whens)
    if node.otherwise is not None:
        parts.append(f"else {text(node.otherwise)}")
    return " ".join([*parts, "end"])


# ------------------------------------------------------------------ types, construction, time


def cast(node: S.Cast, text: Text) -> str:
    return f"cast({', '.join([text(node.value), type_name(node.type_name), *map(text, node.arguments)])})"


def type_test(node: S.InstanceOf, text: Text) -> str:
    return f"instanceof({', '.join([text(node.value), *map(type_name, node.type_names)])})"


def struct(node: S.NewStruct, text: Text) -> str:
    """Return the text; a column named ``a.b`` was written as the property ``a.b``."""
    columns = ((".".join(map(property_name, column.split("."))), value) for column, value in node.columns)
    return "new {" + ", ".join(column if value is None else f"{column} = {text(value)}" for column, value in columns) + "}"


def new_array(node: S.NewArray, text: Text) -> str:
    sizes = "".join("[]" if size is None else f"[{text(size)}]" for size in node.sizes)
    return f"new {type_name(node.type_name)}{sizes}" + ("" if node.initializer is None else f" {text(node.initializer)}")


def json_object(node: S.JsonObject, text: Text) -> str:
    return "{" + ", ".join(f"{property_name(field)}: {_json(value, text)}" for field, value in node.fields) + "}"


def _json(value: S.Expression, text: Text) -> str:
    if isinstance(value, S.ArrayLiteral):
        return f"[{', '.join(_json(item, text) for item in value.items)}]"
    return text(value)


def period(node: S.TimePeriod, text: Text) -> str:
    plural = {unit: word for word, unit in UNITS.items() if word.endswith("s")}
    return " ".join(f"{operand(value, SIGN, text)} {plural[unit]}" for unit, value in node.parts)


def cron(node: S.CronPart, text: Text) -> str:
    value = "" if node.value is None else text(node.value)
    if node.kind == "list":
        return f"[{list_text(node.items, text)}]"
    if node.kind == "range":
        return f"{value}:{text(node.high)}"
    return {"any": "*", "every": f"*/{value}"}.get(node.kind, f"{value} {node.kind}".strip())


WRITERS: dict[type, Callable[[Any, Text], str]] = {
    S.Literal: lambda node, text: literal(node),
    S.Name: lambda node, text: property_name(node.name) + _mark(node),
    S.Call: call,
    S.Index: lambda node, text: f"[{list_text(node.arguments, text)}]{_mark(node)}",
    S.Chain: chain,
    S.Wildcard: lambda node, text: "*",
    S.StreamWildcard: lambda node, text: f"{property_name(node.stream)}.*",
    S.NamedArgument: lambda node, text: f"{node.name}: {text(node.value)}",
    S.Ordered: lambda node, text: f"{text(node.value)} {'desc' if node.descending else 'asc'}",
    S.Row: lambda node, text: f"({list_text(node.items, text)})",
    S.Lambda: lambda_,
    S.SubstitutionParameter: substitution,
    S.Unary: unary,
    S.Binary: binary,
    S.Logical: logical,
    S.Comparison: comparison,
    S.QuantifiedComparison: comparison_with_quantifier,
    S.Between: between,
    S.In: in_list,
    S.InRange: in_range,
    S.Like: like,
    S.Regexp: regexp,
    S.Case: case,
    S.TypeName: lambda node, text: type_name(node),
    S.Cast: cast,
    S.InstanceOf: type_test,
    S.TypeOf: lambda node, text: f"typeof({text(node.value)})",
    S.Exists: lambda node, text: f"exists({text(node.value)})",
    S.ArrayLiteral: lambda node, text: "{" + list_text(node.items, text) + "}",
    S.JsonObject: json_object,
    S.NewStruct: struct,
    S.NewInstance: lambda node, text: f"new {type_name(node.type_name)}({list_text(node.arguments, text)})",
    S.NewArray: new_array,
    S.TimePeriod: period,
    S.CurrentTimestamp: lambda node, text: "current_timestamp",
    S.CronPart: cron,
    S.Subquery: lambda node, text: f"{'exists ' if node.exists else ''}({text(node.select)})",
}
