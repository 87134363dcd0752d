"""Expressions as Trino writes them in its messages."""
from __future__ import annotations

from epl.dialects.syntax import tree as t


def written(node: t.Node) -> str:
    """Return the expression as text."""
    match node:
        case t.Name():
            return f'"{node.written}"' if node.quoted else node.written
        case t.Path():
            return f"{written(node.base)}.{written(node.field)}"
        case t.Literal():
            return f"'{node.written}'" if node.kind == "text" else node.written
        case t.Binary():
            return f"({written(node.left)} {node.sign} {written(node.right)})"
        case t.Logical():
            return "(" + f" {node.sign} ".join(written(each) for each in node.operands) + ")"
        case t.Unary():
            return f"(NOT {written(node.operand)})" if node.sign == "NOT" else f"{node.sign}{written(node.operand)}"
        case t.IsNull():
            return f"({written(node.value)} IS {'NOT ' if node.negated else ''}NULL)"
        case t.Call():
            return _call(node)
        case t.OverMeasure():
            return f"{written(node.name)} OVER {_window(node.over)}"
        case _:
            return type(node).__name__


def _call(node: t.Call) -> str:
    arguments = "*" if node.star else ", ".join(written(each) for each in node.arguments)
    name = ".".join(name.written if not name.quoted else written(name) for name in node.names)
    mode = f"{node.mode} " if node.mode else ""
    over = f" OVER {_window(node.over)}" if node.over is not None else ""
    return f"{mode}{name}({'DISTINCT ' if node.distinct else ''}{arguments}){over}"


def _window(window: t.WindowSpec) -> str:
    if window.name is not None:
        return written(window.name)
    parts = []
    if window.partition_by:
        parts.append("PARTITION BY " + ", ".join(written(each) for each in window.partition_by))
    if window.order_by:
        parts.append("ORDER BY " + ", ".join(written(item.key) for item in window.order_by))
    if window.frame is not None:
        parts.append(_frame(window.frame))
    return "(" + " ".join(parts) + ")"


def _frame(frame: t.Frame) -> str:
    parts = []
    if frame.measures:
        parts.append("MEASURES " + ", ".join(f"{written(each.expression)} AS {written(each.name)}" for each in frame.measures))
    both = [frame.start] if frame.end is None else [frame.start, frame.end]
    bounds = [f"{written(value)} {word}" if value is not None else word for word, value in both]
    parts.append(f"{frame.kind} BETWEEN {bounds[0]} AND {bounds[1]}" if len(bounds) > 1 else f"{frame.kind} {bounds[0]}")
    if frame.pattern is not None:
        parts.append(f"PATTERN({_pattern(frame.pattern)})")
    if frame.defines:
        parts.append("DEFINE " + ", ".join(f"{written(each.name)} AS {written(each.condition)}" for each in frame.defines))
    return " ".join(parts)


def _pattern(node: t.Pattern) -> str:
    match node:
        case t.Variable():
            return written(node.name)
        case t.Quantified():
            return f"({_pattern(node.pattern)}{node.written})"
        case t.Sequence():
            return "(" + " ".join(_pattern(each) for each in node.parts) + ")"
        case t.Alternation():
            return "(" + " | ".join(_pattern(each) for each in node.choices) + ")"
        case t.Group():
            return _pattern(node.pattern)
        case _:
            return type(node).__name__


__all__ = ["written"]
