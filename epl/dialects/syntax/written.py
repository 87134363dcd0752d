"""Expressions as Trino writes them in its messages."""
from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from epl.dialects.syntax import tree as t

SPECIAL = ("CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "LOCALTIME", "LOCALTIMESTAMP")


def written(node: t.Node) -> str:
    """Return the expression as text."""
    match node:
        case t.Name():
            return f'"{node.written}"' if node.quoted else node.written
        case t.Path():
            return f"{written(node.base)}.{written(node.field)}"
        case t.Literal():
            return _literal(node)
        case t.Binary() if node.sign == "||":
            return f"concat({written(node.left)}, {written(node.right)})"
        case t.Binary():
            return f"({written(node.left)} {node.sign} {written(node.right)})"
        case t.Logical():
            return "(" + f" {node.sign} ".join(written(each) for each in node.operands) + ")"
        case t.Unary():
            return f"(NOT {written(node.operand)})" if node.sign == "NOT" else f"{node.sign}({written(node.operand)})"
        case t.IsNull() | t.IsDistinct() | t.Between() | t.InList() | t.Like():
            return _predicate(node)
        case t.Case():
            return _case(node)
        case t.Cast():
            return f"{'TRY_CAST' if node.safe else 'CAST'}({written(node.value)} AS {_type(node.type_name)})"
        case t.Lambda():
            return f"({', '.join(node.names)}) -> {written(node.body)}"
        case t.ArrayOf():
            return f"ARRAY[{_listed(node.items)}]"
        case t.Tuple():
            return f"ROW({_listed(node.items)})"
        case t.Subscript():
            return f"{written(node.base)}[{written(node.index)}]"
        case t.Call():
            return _call(node)
        case t.OverMeasure():
            return f"{written(node.name)} OVER {_window(node.over)}"
        case _:
            return type(node).__name__


def _listed(nodes: Iterable[t.Node]) -> str:
    return ", ".join(written(each) for each in nodes)


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
            return f"({written(node.value)} IS {is_not}NULL)"
        case t.IsDistinct():
            return f"({written(node.left)} IS {is_not}DISTINCT FROM {written(node.right)})"
        case t.Between():
            inner = f"({written(node.value)} BETWEEN {written(node.low)} AND {written(node.high)})"
        case t.InList():
            inner = f"({written(node.value)} IN ({_listed(node.items)}))"
        case t.Like():
            escape = "" if node.escape is None else f" ESCAPE {written(node.escape)}"
            inner = f"({written(node.value)} LIKE {written(node.pattern)}{escape})"
    return f"(NOT {inner})" if no else inner


def _case(node: t.Case) -> str:
    operand = "" if node.operand is None else f" {written(node.operand)}"
    whens = "".join(f" WHEN {written(test)} THEN {written(value)}" for test, value in node.whens)
    otherwise = "" if node.otherwise is None else f" ELSE {written(node.otherwise)}"
    return f"(CASE{operand}{whens}{otherwise} END)"


def _type(node: t.TypeName) -> str:
    if not node.arguments:
        return node.name
    return f"{node.name}({', '.join(_type(each) if isinstance(each, t.TypeName) else str(each) for each in node.arguments)})"


def _call(node: t.Call) -> str:
    if len(node.names) == 1 and node.names[0].canonical in SPECIAL and not node.arguments:
        return node.names[0].written
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
