"""Expressions as Trino writes them in its messages."""
from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from epl.dialects.syntax import tree as t

SPECIAL = ("CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "LOCALTIME", "LOCALTIMESTAMP")


def write_expression(node: t.SqlNode) -> str:
    """Return the expression as text."""
    match node:
        case t.Name():
            return f'"{node.written}"' if node.quoted else node.written
        case t.Path():
            return f"{write_expression(node.base)}.{write_expression(node.field)}"
        case t.Literal():
            return _literal(node)
        case t.Binary() if node.sign == "||":
            return f"concat({write_expression(node.left)}, {write_expression(node.right)})"
        case t.Binary():
            return f"({write_expression(node.left)} {node.sign} {write_expression(node.right)})"
        case t.Logical():
            return "(" + f" {node.sign} ".join(write_expression(each) for each in node.operands) + ")"
        case t.Unary():
            return f"(NOT {write_expression(node.operand)})" if node.sign == "NOT" else f"{node.sign}({write_expression(node.operand)})"
        case t.IsNull() | t.IsDistinct() | t.Between() | t.InList() | t.Like():
            return _predicate(node)
        case t.Case():
            return _case(node)
        case t.Cast():
            return f"{'TRY_CAST' if node.safe else 'CAST'}({write_expression(node.value)} AS {_type(node.type_name)})"
        case t.Lambda():
            return f"({', '.join(node.names)}) -> {write_expression(node.body)}"
        case t.ArrayOf():
            return f"ARRAY[{_write_list(node.items)}]"
        case t.Tuple():
            return f"ROW({_write_list(node.items)})"
        case t.Subscript():
            return f"{write_expression(node.base)}[{write_expression(node.index)}]"
        case t.Call():
            return _call(node)
        case t.OverMeasure():
            return f"{write_expression(node.name)} OVER {_window(node.over)}"
        case _:
            return type(node).__name__


def _write_list(nodes: Iterable[t.SqlNode]) -> str:
    return ", ".join(write_expression(each) for each in nodes)


def _literal(node: t.Literal) -> str:
    match node.kind:
        case "integer" | "boolean" | "null":
            return node.written
        case "text":
            return f"'{node.written}'"
        case "double":
            return f"{Decimal(node.written):E}".replace("E+", "E")
        case "interval":
            negative, text, unit, until = node.value
            return f"INTERVAL {'- ' if negative else ''}'{text}' {unit}" + (f" TO {until}" if until else "")
        case "bytes":
            return f"X'{node.written.upper()}'"
        case kind:
            return f"{kind.upper()} '{node.written}'"


def _predicate(node: t.IsNull | t.IsDistinct | t.Between | t.InList | t.Like) -> str:
    is_not, no = ("NOT ", True) if node.negated else ("", False)
    match node:
        case t.IsNull():
            return f"({write_expression(node.value)} IS {is_not}NULL)"
        case t.IsDistinct():
            return f"({write_expression(node.left)} IS {is_not}DISTINCT FROM {write_expression(node.right)})"
        case t.Between():
            inner = f"({write_expression(node.value)} BETWEEN {write_expression(node.low)} AND {write_expression(node.high)})"
        case t.InList():
            inner = f"({write_expression(node.value)} IN ({_write_list(node.items)}))"
        case t.Like():
            escape = "" if node.escape is None else f" ESCAPE {write_expression(node.escape)}"
            inner = f"({write_expression(node.value)} LIKE {write_expression(node.pattern)}{escape})"
    return f"(NOT {inner})" if no else inner


def _case(node: t.Case) -> str:
    operand = "" if node.operand is None else f" {write_expression(node.operand)}"
    whens = "".join(f" WHEN {write_expression(test)} THEN {write_expression(value)}" for test, value in node.whens)
    otherwise = "" if node.otherwise is None else f" ELSE {write_expression(node.otherwise)}"
    return f"(CASE{operand}{whens}{otherwise} END)"


def _type(node: t.SqlTypeName) -> str:
    if not node.arguments:
        return node.name
    return f"{node.name}({', '.join(_type(each) if isinstance(each, t.SqlTypeName) else str(each) for each in node.arguments)})"


def _call(node: t.Call) -> str:
    if len(node.names) == 1 and node.names[0].canonical in SPECIAL and not node.arguments:
        return node.names[0].written
    arguments = "*" if node.star else ", ".join(write_expression(each) for each in node.arguments)
    name = ".".join(name.written if not name.quoted else write_expression(name) for name in node.names)
    mode = f"{node.mode} " if node.mode else ""
    over = f" OVER {_window(node.over)}" if node.over is not None else ""
    return f"{mode}{name}({'DISTINCT ' if node.distinct else ''}{arguments}){over}"


def _window(window: t.WindowSpec) -> str:
    if window.name is not None:
        return write_expression(window.name)
    parts = []
    if window.partition_by:
        parts.append("PARTITION BY " + ", ".join(write_expression(each) for each in window.partition_by))
    if window.order_by:
        parts.append("ORDER BY " + ", ".join(write_expression(item.key) for item in window.order_by))
    if window.frame is not None:
        parts.append(_frame(window.frame))
    return "(" + " ".join(parts) + ")"


def _frame(frame: t.WindowFrame) -> str:
    parts = []
    if frame.measures:
        parts.append("MEASURES " + ", ".join(f"{write_expression(each.expression)} AS {write_expression(each.name)}"
            for each in frame.measures))
    both = [frame.start] if frame.end is None else [frame.start, frame.end]
    bounds = [f"{write_expression(value)} {word}" if value is not None else word for word, value in both]
    parts.append(f"{frame.kind} BETWEEN {bounds[0]} AND {bounds[1]}" if len(bounds) > 1 else f"{frame.kind} {bounds[0]}")
    if frame.pattern is not None:
        parts.append(f"PATTERN({_pattern(frame.pattern)})")
    if frame.defines:
        parts.append("DEFINE " + ", ".join(f"{write_expression(each.name)} AS {write_expression(each.condition)}"
            for each in frame.defines))
    return " ".join(parts)


def _pattern(node: t.SqlPattern) -> str:
    match node:
        case t.PatternVariable():
            return write_expression(node.name)
        case t.QuantifiedPattern():
            return f"({_pattern(node.pattern)}{node.written})"
        case t.Sequence():
            return "(" + " ".join(_pattern(each) for each in node.parts) + ")"
        case t.PatternAlternation():
            return "(" + " | ".join(_pattern(each) for each in node.choices) + ")"
        case t.PatternGroup():
            return _pattern(node.pattern)
        case _:
            return type(node).__name__


__all__ = ["write_expression"]
