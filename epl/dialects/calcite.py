"""Expressions, patterns and types as Calcite, Flink's parser and planner, writes them in its messages."""
from __future__ import annotations

from epl.dialects import types as k
from epl.dialects.syntax import tree as t
from epl.dialects.types import SqlType

OFFSETS = {"first": 0, "last": 0, "prev": 1, "next": 1}
"""The offsets of navigation that are not written."""
ADVICE = " \nIf you think this function should be supported, you can create an issue and start a discussion for it."


def calcite(node: t.SqlNode) -> str:
    """Return an expression as Calcite writes it."""
    match node:
        case t.Name():
            return f"`{node.written}`"
        case t.Path():
            return f"{calcite(node.base)}.{calcite(node.field)}"
        case t.Binary():
            return f"{calcite(node.left)} {node.sign} {calcite(node.right)}"
        case t.Call():
            arguments = "*" if node.star else ", ".join(calcite(each) for each in node.arguments)
            implied = OFFSETS.get(node.name) if len(node.arguments) == 1 else None
            mode = f"{node.mode} " if node.mode else ""
            return f"{mode}{node.name.upper()}({arguments}{'' if implied is None else f', {implied}'})"
        case t.Literal():
            return f"'{node.written}'" if node.kind == "text" else node.written
        case _:
            return type(node).__name__.upper()


def pattern_text(node: t.SqlPattern) -> str:
    """Return a pattern as Calcite's plan writes it."""
    match node:
        case t.PatternVariable():
            return f"_UTF-16LE'{node.name.written}'"
        case t.PatternGroup():
            return pattern_text(node.pattern)
        case t.Sequence() if node.parts:
            written = pattern_text(node.parts[0])
            for part in node.parts[1:]:
                written = f"({written}, {pattern_text(part)})"
            return written
        case t.PatternAlternation():
            written = pattern_text(node.choices[0])
            for choice in node.choices[1:]:
                written = f"|({written}, {pattern_text(choice)})"
            return written
        case t.QuantifiedPattern():
            most = -1 if node.most is None else node.most
            reluctant = "true" if node.marks else "false"
            return f"PATTERN_QUANTIFIER({pattern_text(node.pattern)}, {node.least}, {most}, {reluctant})"
        case t.Exclusion():
            return f"PATTERN_EXCLUDE({pattern_text(node.pattern)})"
        case t.Permutation():
            return f"PATTERN_PERMUTE({', '.join(pattern_text(part) for part in node.parts)})"
        case _:
            return type(node).__name__


def family(kind: SqlType) -> str:
    """Return the family of a type, as signatures of functions have it."""
    if k.is_number(kind):
        return "<NUMERIC>"
    return "<CHARACTER>" if k.is_text(kind) else f"<{kind.name.upper()}>"


def type_name(kind: SqlType) -> str:
    """Return a type as Flink writes it."""
    if k.is_text(kind):
        return "STRING"
    return {"integer": "INT", "timestamp": "TIMESTAMP(3)"}.get(kind.name, str(kind).upper())


__all__ = ["ADVICE", "calcite", "family", "pattern_text", "type_name"]
