"""Typed expressions as EPL text, for explain() and for what is said of plans."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from epl.plan import expressions as typed
from epl.plan.stores.tables import TableKeys, TableValue

PropertyText = Callable[[str], str]
"""How a property of a stream is written, by its name."""


def plain(name: str) -> str:
    return name


def of(stream: str) -> PropertyText:
    """Return the texts for properties of a stream that has a name."""
    return lambda name: f"{stream}.{name}" if name else stream


def expression_text(node: typed.TypedExpression, streams: Sequence[PropertyText] = ()) -> str:
    """Return an expression as EPL; what has no form of its own in EPL is a call of its name. ``streams``: how properties of each stream are
    written; without it those of the first stream have no prefix, the others have ``s1`` and so on."""
    text = Writer(streams)(node)
    return text[1:-1] if isinstance(node, INFIX) and not isinstance(node, typed.Concatenation) else text


class Writer:
    """Writes expressions over streams; infix ones are in parentheses."""

    def __init__(self, streams: Sequence[PropertyText]) -> None:
        self.streams = streams

    def __call__(self, node: typed.TypedExpression) -> str:
        write = TEXTS.get(type(node))
        return write(node, self) if write is not None else f"{type(node).__name__.lower()}({self.list(tuple(node.children()))})"

    def list(self, nodes: Sequence[typed.TypedExpression]) -> str:
        return ", ".join(map(self, nodes))

    def property(self, stream: int, name: str) -> str:
        if stream < len(self.streams):
            return self.streams[stream](name)
        return (of(f"s{stream}") if stream else plain)(name)


def constant_text(value: Any) -> str:
    """
    >>> constant_text(None), constant_text(True), constant_text("it's"), constant_text(1.5)
    ('null', 'true', "'it\\\\'s'", '1.5')
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return repr(value) if isinstance(value, (int, float)) else str(value)


INFIX = (typed.Arithmetic, typed.Bitwise, typed.Order, typed.Equality, typed.Logic, typed.Range, typed.Membership, typed.LikeMatch,
         typed.RegexpMatch, typed.Concatenation)  # fmt: skip
EQUALITIES = {(False, False): "=", (False, True): "!=", (True, False): "is", (True, True): "is not"}
"""Operators by (null-safe, negated)."""


def _infix(node: Any, text: Writer) -> str:
    return f"({text(node.left)} {node.operator} {text(node.right)})"


def _not(negated: bool, word: str) -> str:
    return f"not {word}" if negated else word


def _range(node: typed.Range, text: Writer) -> str:
    low, high = ("[" if node.include_low else "("), ("]" if node.include_high else ")")
    if node.swap and node.include_low and node.include_high:
        return f"({text(node.value)} {_not(node.negated, 'between')} {text(node.low)} and {text(node.high)})"
    return f"({text(node.value)} {_not(node.negated, 'in')} {low}{text(node.low)}:{text(node.high)}{high})"


def _like(node: typed.LikeMatch, text: Writer) -> str:
    escape = "" if node.escape is None else f" escape {text(node.escape)}"
    return f"({text(node.value)} {_not(node.negated, 'like')} {text(node.pattern)}{escape})"


def _case(node: typed.Conditional, text: Writer) -> str:
    pairs = " ".join(f"when {text(condition)} then {text(value)}" for condition, value in node.pairs)
    otherwise = "" if node.otherwise is None else f" else {text(node.otherwise)}"
    return f"case {pairs}{otherwise} end"


def _dynamic(node: Any, text: Writer) -> str:
    operand = text.property(node.operand.stream, "") if isinstance(node.operand, typed.StreamEvent) else text(node.operand)
    index = f"[{node.index}]" if node.index is not None else f"({constant_text(node.key)})" if node.key is not None else ""
    return f"{operand + '.' if operand else ''}{node.name}{index}?"


def _struct(node: typed.NewStructOf, text: Writer) -> str:
    pairs = (f"{name} = {text(value)}" for name, value in zip(node.event_type.properties, node.values))
    return f"new {{{', '.join(pairs)}}}"


PREVIOUS = {"previous": "prev", "tail": "prevtail", "count": "prevcount", "window": "prevwindow"}


def _previous(node: typed.Previous, text: Writer) -> str:
    value = text.property(node.stream, node.counted) or "*" if node.value is None else text(node.value)
    return f"{PREVIOUS[node.kind]}({'' if node.index is None else text(node.index) + ', '}{value})"


def _aggregation_text(node: typed.Aggregated, text: Writer) -> str:
    plan = node.plan
    if plan is None:
        return f"aggregation {node.slot}"
    arguments = text.list(plan.arguments) or ("*" if plan.function == "count" else "")
    return f"{plan.function}({'distinct ' if plan.distinct else ''}{arguments})"


def _subquery(node: typed.SubqueryValue, text: Writer) -> str:
    plan = node.plan
    words = {"value": "", "rows": "", "exists": "exists ", "in": "in ", "any": f"{plan.operator} any ", "all": f"{plan.operator} all "}
    value = "" if node.operand is None else f"{text(node.operand)} "
    columns = ", ".join(plan.names)
    return f"{value}{words[plan.use]}(select {columns} from {plan.stream.alias or plan.stream.event_type.name})"


def _table_value(node: TableValue, text: Writer) -> str:
    keys = f"[{text.list(node.keys)}]" if node.keys else ""
    return f"{node.table.name}{keys}" + ("" if node.column is None else f".{node.table.columns[node.column].name}")


TEXTS: dict[type, Callable[[Any, Writer], str]] = {
    typed.Constant: lambda n, text: constant_text(n.value),
    typed.Parameter: lambda n, text: f"?:{n.key}" if isinstance(n.key, str) else f"?{n.key}",
    typed.StreamProperty: lambda n, text: text.property(n.stream, n.name),
    typed.StreamEvent: lambda n, text: text.property(n.stream, "") or "*",
    typed.StreamEvents: lambda n, text: f"window({text.property(n.stream, '') or '*'})",
    typed.PropertyOf: lambda n, text: f"{text(n.operand)}.{n.name}",
    typed.DynamicProperty: _dynamic,
    typed.DynamicExists: lambda n, text: f"exists({_dynamic(n, text)})",
    typed.Element: lambda n, text: f"{text(n.operand)}[{text(n.index)}]",
    typed.MapValue: lambda n, text: f"{text(n.operand)}({text(n.key)})",
    typed.VariableValue: lambda n, text: str(n.name),
    typed.Convert: lambda n, text: text(n.operand),
    typed.Cast: lambda n, text: f"cast({text(n.operand)}, {n.type})",
    typed.Arithmetic: _infix,
    typed.Bitwise: _infix,
    typed.Order: _infix,
    typed.Negation: lambda n, text: f"-{text(n.operand)}",
    typed.Equality: lambda n, text: f"({text(n.left)} {EQUALITIES[n.null_safe, n.negated]} {text(n.right)})",
    typed.Logic: lambda n, text: "(" + f" {n.operator} ".join(map(text, n.operands)) + ")",
    typed.Not: lambda n, text: f"not {text(n.operand)}",
    typed.Range: _range,
    typed.Membership: lambda n, text: f"({text(n.value)} {_not(n.negated, 'in')} ({text.list(n.items)}))",
    typed.LikeMatch: _like,
    typed.RegexpMatch: lambda n, text: f"({text(n.value)} {_not(n.negated, 'regexp')} {text(n.pattern)})",
    typed.Quantified: lambda n, text: f"({text(n.value)} {n.operator} {n.quantifier} ({text.list(n.items)}))",
    typed.Concatenation: lambda n, text: " || ".join(map(text, n.parts)),
    typed.Conditional: _case,
    typed.Extreme: lambda n, text: f"{n.function}({text.list(n.operands)})",
    typed.ItemsOf: lambda n, text: text(n.operand),
    typed.NewArrayOf: lambda n, text: f"{{{text.list(n.items)}}}",
    typed.NewStructOf: _struct,
    typed.TypeNameOf: lambda n, text: f"typeof({text(n.operand)})",
    typed.IsInsertStream: lambda n, text: "istream()",
    typed.Function: lambda n, text: f"({', '.join(f'p{p}' for p in n.parameters)}) => {text(n.body)}",
    typed.Applied: lambda n, text: f"({text(n.function)})({text.list(n.arguments)})",
    typed.Invoke: lambda n, text: f"{n.function}({text.list(n.arguments)})",
    typed.Previous: _previous,
    typed.Prior: lambda n, text: f"prior({n.index}, {text(n.value)})",
    typed.Aggregated: _aggregation_text,
    typed.AggregationMethodCall: lambda n, text: f"{text(n.operand)}.{n.method}({text.list(n.arguments)})",
    typed.CurrentTime: lambda n, text: "current_timestamp()",
    typed.Local: lambda n, text: str(n.name) or f"value {n.number}",
    typed.ContextValue: lambda n, text: "context." + ".".join(n.path),
    typed.HashNumber: lambda n, text: f"{n.function}({text.list(n.arguments)}) % {n.granularity}",
    typed.SubqueryValue: _subquery,
    TableValue: _table_value,
    TableKeys: lambda n, text: f"{n.table.name}.keys()",
    typed.TimeSpan: lambda n, text: " ".join(f"{text(e)} {u}" for u, e in n.parts),
}

__all__ = ["PropertyText", "constant_text", "expression_text", "of", "plain"]
