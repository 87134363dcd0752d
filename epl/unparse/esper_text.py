"""Expressions as Esper prints them: the names of columns without alias, and what its refusals quote.

The text is not meant to be parsed again: brackets occur only where an operand binds looser than its operator (``1-(2-a)`` prints as
``1-2-a``),
lambdas print as nothing, strings are in double quotes without escapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from epl import syntax as S
from epl.java import double_text, float_text, to_float

LOOSEST, CASE, OR, AND, BITWISE, NOT, EQUALITY, RELATION, CONCATENATION, SUM, PRODUCT, PRIMARY = range(12)
_BINARY = {"&": BITWISE, "|": BITWISE, "^": BITWISE, "||": CONCATENATION, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT}
_EQUALITY = frozenset({"=", "!=", "is", "is not"})


_AGGREGATIONS = {
    **{name: name for name in (
        "avg", "avedev", "count", "countever", "first", "firstever", "last", "lastever", "leaving", "max", "maxby", "maxbyever", "median",
        "min", "minby", "minbyever", "nth", "rate", "sorted", "stddev", "sum", "window")},
    "fmax": "max", "fmaxever": "max", "maxever": "max", "fmin": "min", "fminever": "min", "minever": "min",
}  # fmt: skip
_SINGLE_ROW = (
    "coalesce", "event_identity_equals", "grouping", "grouping_id", "istream", "prev", "prevcount", "prevtail", "prevwindow", "prior",
)  # fmt: skip
_PRINTED_NAMES = {**_AGGREGATIONS, **{name: name for name in _SINGLE_ROW}}
"""Functions that EPL knows without regard to case, in lower case: as Esper prints them."""


class ExpressionNames:
    """What the names in an expression stand for, as far as the syntax tree says; the analysis, which knows the types, says more."""

    def is_property(self, node: S.Chain) -> bool:
        """Return whether the chain is a property path: Esper prints the key of one as written, but a method's text in double quotes."""
        return _reads_as_property(node)

    def constant(self, node: S.Chain) -> str | None:
        """Return the text of the value where the whole chain is a constant of a class."""
        return None

    def is_declared(self, name: str) -> bool:
        """Return whether the name alone calls a declared expression without parameters."""
        return False

    def is_aggregation(self, name: str) -> bool:
        return name.lower() in _AGGREGATIONS


def esper_text(expression: S.Expression, names: ExpressionNames | None = None) -> str:
    """Return the text of the expression."""
    return _Printer(names or ExpressionNames()).text(expression)


def precedence(node: S.Expression) -> int:
    """Return how tight the node binds, from CASE to PRIMARY."""
    if isinstance(node, S.Binary):
        return _BINARY[node.operator]
    if isinstance(node, S.Logical):
        return OR if node.operator == "or" else AND
    if isinstance(node, (S.Comparison, S.QuantifiedComparison)):
        return EQUALITY if node.operator in _EQUALITY else RELATION
    return _LEVELS.get(type(node), PRIMARY)


_LEVELS: dict[type, int] = {
    S.Case: CASE, S.Unary: NOT, S.Between: RELATION, S.In: RELATION, S.InRange: RELATION, S.Like: RELATION, S.Regexp: RELATION,
}  # fmt: skip


class _Printer:
    def __init__(self, names: ExpressionNames) -> None:
        self.names = names

    def text(self, node: S.Expression) -> str:
        printer = _PRINTERS.get(type(node))
        return type(node).__name__ if printer is None else printer(self, node)

    def within(self, node: S.Expression, level: int) -> str:
        """Return the text, in brackets where the node binds looser than the level."""
        text = self.text(node)
        loose = precedence(node)
        if isinstance(node, S.Unary) and node.operator == "-":
            loose = PRODUCT
        elif isinstance(node, S.Chain) and self._aggregates(node):
            loose = LOOSEST
        return f"({text})" if loose < level else text

    def list_text(self, nodes: tuple[S.Expression, ...], level: int = LOOSEST) -> str:
        return ",".join(self.within(node, level) for node in nodes)

    def _aggregates(self, node: S.Chain) -> bool:
        """Return whether the chain is the call of an aggregation and nothing more; min and max of several values are of one row."""
        call = node.links[0]
        if node.root is not None or len(node.links) != 1 or not isinstance(call, S.Call):
            return False
        if call.is_by_name or not self.names.is_aggregation(call.name):
            return False
        several = len(call.arguments) > 1 and not isinstance(call.arguments[0], S.Wildcard)
        plain = several and not call.distinct and not any(isinstance(a, S.NamedArgument) for a in call.arguments)
        return not (plain and call.name.lower() in ("min", "max"))

    # -------------------------------------------------------------- literals, chains

    def literal(self, node: S.Literal) -> str:
        if node.kind == "string":
            return f'"{node.value}"'
        if node.value is None or isinstance(node.value, bool):
            return {True: "true", False: "false"}.get(node.value, "null") if node.value is not None else "null"
        if node.kind in ("float", "double"):
            return float_text(to_float(float(node.value))) if node.kind == "float" else double_text(float(node.value))
        return str(node.value)

    def chain(self, node: S.Chain) -> str:
        single = len(node.links) == 1 and node.root is None
        if single and isinstance(node.links[0], S.Call) and (special := self._builtin(node.links[0])):
            return special
        constant = self.names.constant(node)
        if constant is not None:
            return constant
        plain = node.root is None and self.names.is_property(node)
        parts = [] if node.root is None else [self.text(node.root)]
        for link in node.links:
            parts.extend(self._link(link, plain, first=not parts))
            if len(parts) == 1 and isinstance(link, S.Name) and self.names.is_declared(link.name):
                parts.append("()")
        return "".join(parts)

    def _link(self, link: S.Link, plain: bool, first: bool) -> Iterator[str]:
        if isinstance(link, S.Index):
            yield f"[{self.list_text(link.arguments)}]"
        else:
            if not first:
                yield "."
            yield self._call(link, plain, first) if isinstance(link, S.Call) else link.name  # type: ignore[attr-defined]
        if link.optional:  # type: ignore[attr-defined]
            yield "?"

    def _call(self, link: S.Call, plain: bool, first: bool) -> str:
        if plain and len(link.arguments) == 1 and isinstance(link.arguments[0], S.Literal) and link.arguments[0].kind == "string":
            quote = '"' if link.arguments[0].double_quotes or "'" in str(link.arguments[0].value) else "'"
            return f"{link.name}({quote}{link.arguments[0].value}{quote})"
        name = _PRINTED_NAMES.get(link.name.lower(), link.name) if first and not link.is_by_name else link.name
        return f"{name}({'distinct ' if link.distinct else ''}{self.list_text(link.arguments)})"

    def _builtin(self, call: S.Call) -> str | None:
        """Return where Esper prints the built-in with other arguments than were written."""
        name, arguments = call.name.lower(), call.arguments
        if call.is_by_name:
            return None
        if name == "leaving" and not arguments:
            return f"{name}(*)"
        if name in ("prev", "prevtail") and len(arguments) == 1:
            return f"{name}({1 if name == 'prev' else 0},{self.text(arguments[0])})"
        if name in ("prev", "prevtail") and len(arguments) == 2 and isinstance(arguments[1], S.Literal):
            return f"{name}({self.text(arguments[1])},{self.text(arguments[0])})"
        return None

    # -------------------------------------------------------------- operators

    def unary(self, node: S.Unary) -> str:
        if node.operator == "-":
            return f"-1*{self.within(node.operand, PRODUCT)}"
        return f"not {self.within(node.operand, NOT)}"

    def binary(self, node: S.Binary) -> str:
        level = _BINARY[node.operator]
        return f"{self.within(node.left, level)}{node.operator}{self.within(node.right, level)}"

    def logical(self, node: S.Logical) -> str:
        level = precedence(node)
        return f" {node.operator} ".join(self.within(operand, level) for operand in node.operands)

    def comparison(self, node: S.Comparison) -> str:
        level = precedence(node)
        operator = f" {node.operator} " if node.operator[0] == "i" else node.operator
        return f"{self.within(node.left, level)}{operator}{self.within(node.right, level)}"

    def comparison_with_quantifier(self, node: S.QuantifiedComparison) -> str:
        if len(node.operands) == 1 and isinstance(node.operands[0], S.Subquery):
            return self.text(node.operands[0])
        operator = {"is": "=", "is not": "!="}.get(node.operator, node.operator)
        return f"{self.within(node.left, precedence(node))}{operator}{node.quantifier}({self.list_text(node.operands)})"

    def between(self, node: S.Between) -> str:
        word = "not between" if node.negated else "between"
        return f"{self.within(node.value, RELATION)} {word} {self.within(node.low, RELATION)} and {self.within(node.high, RELATION)}"

    def in_list(self, node: S.In) -> str:
        if len(node.items) == 1 and isinstance(node.items[0], S.Subquery):
            return self.text(node.items[0])
        return f"{self.within(node.value, RELATION)} {'not in' if node.negated else 'in'} ({self.list_text(node.items, RELATION)})"

    def in_range(self, node: S.InRange) -> str:
        if node.include_low and node.include_high:
            return self.between(S.Between(node.value, node.low, node.high, node.negated))
        low, high = "[" if node.include_low else "(", "]" if node.include_high else ")"
        return f"{self.within(node.value, RELATION)} in {low}{self.within(node.low, RELATION)}:{self.within(node.high, RELATION)}{high}"

    def like(self, node: S.Like) -> str:
        escape = "" if node.escape is None else f" escape {self.within(node.escape, RELATION)}"
        word = "not like" if node.negated else "like"
        return f"{self.within(node.value, RELATION)} {word} {self.within(node.pattern, RELATION)}{escape}"

    def regexp(self, node: S.Regexp) -> str:
        word = "not regexp" if node.negated else "regexp"
        return f"{self.within(node.value, RELATION)} {word} {self.within(node.pattern, RELATION)}"

    def case(self, node: S.Case) -> str:
        parts = ["case"] if node.operand is None else ["case", self.within(node.operand, CASE)]
        parts.extend(f"when {self.within(condition, CASE)} then {self.within(value, CASE)}" for condition, value in node.whens)
        if node.otherwise is not None:
            parts.append(f"else {self.within(node.otherwise, CASE)}")
        return " ".join([*parts, "end"])

    # -------------------------------------------------------------- types, construction, time

    def cast(self, node: S.Cast) -> str:
        return f"cast({','.join([self.text(node.value), type_text(node.type_name), *map(self.text, node.arguments)])})"

    def type_test(self, node: S.InstanceOf) -> str:
        return f"instanceof({','.join([self.text(node.value), *map(type_text, node.type_names)])})"

    def struct(self, node: S.NewStruct) -> str:
        return "new{" + ",".join(name if value is None else f"{name}={self.text(value)}" for name, value in node.columns) + "}"

    def new_array(self, node: S.NewArray) -> str:
        name = type_text(node.type_name)
        if node.initializer is not None:
            return f"new {name}{'[]' * len(node.sizes)} {self.text(node.initializer)}"
        return f"new {name}" + "".join(f"[{self.text(size)}]" for size in node.sizes if size is not None)

    def period(self, node: S.TimePeriod) -> str:
        return " ".join(f"{self.within(value, PRIMARY)} {unit}s" for unit, value in node.parts)

    def cron(self, node: S.CronPart) -> str:
        value = "" if node.value is None else self.text(node.value)
        if node.kind == "any":
            return "*"
        if node.kind == "every":
            return f"*/{value}"
        if node.kind == "range":
            return f"{value}:{'' if node.high is None else self.text(node.high)}"
        if node.kind == "list":
            return f"[{self.list_text(node.items)}]"
        return f"{value} {node.kind}".strip()

    def json(self, node: S.JsonObject) -> str:
        return "{" + ", ".join(f"{name}={_json_value(value)}" for name, value in node.fields) + "}"

    # -------------------------------------------------------------- subqueries

    def subquery(self, node: S.Subquery) -> str:
        """Return the one thing selected, or a number where everything is."""
        assert isinstance(node.select, S.Select)
        first = node.select.items[0]
        if isinstance(first.expression, S.Wildcard):
            return f"subselect_{node.number}"
        return first.alias or self.text(first.expression)


def _json_value(node: S.Expression) -> str:
    if isinstance(node, S.ArrayLiteral):
        return f"[{', '.join(map(_json_value, node.items))}]"
    if isinstance(node, S.Literal) and node.kind == "string":
        return str(node.value)
    return esper_text(node)


_METHODS = frozenset(
    {
        "concat",
        "contains",
        "startsWith",
        "endsWith",
        "equals",
        "equalsIgnoreCase",
        "indexOf",
        "lastIndexOf",
        "matches",
        "split",
        "compareTo",
        "format",
    }
)
"""Methods of one text that are never taken for a mapped property; Esper, which knows the types, prints a property's key as written and a
method's in double quotes."""


def _reads_as_property(node: S.Chain) -> bool:
    """Return whether the chain reads as a property path: names, ``[number]`` and at its end one ``name('key')``, all before any method
    call."""
    for place, link in enumerate(node.links):
        if isinstance(link, S.Call):
            keyed = (
                link.name not in _METHODS
                and len(link.arguments) == 1
                and isinstance(link.arguments[0], S.Literal)
                and link.arguments[0].kind == "string"
                and not link.distinct
            )
            if not keyed or (place and not _may_be_key(node.links[:place])):
                return False
    return True


def _may_be_key(before: tuple[S.Link, ...]) -> bool:
    return not any(isinstance(link, S.Name) and link.name[:1].isupper() for link in before)


def type_text(node: S.TypeName) -> str:
    """Return ``int[primitive]``, ``java.util.List<String>``."""
    parameters = f"<{','.join(map(type_text, node.parameters))}>" if node.parameters else ""
    dimensions = ("[primitive]" if node.primitive else "[]") + "[]" * (node.dimensions - 1) if node.dimensions else ""
    return f"{node.name.replace('`', '')}{parameters}{dimensions}"


_PRINTERS: dict[type, Callable[[_Printer, Any], str]] = {
    S.Literal: _Printer.literal,
    S.Chain: _Printer.chain,
    S.Wildcard: lambda printer, node: "*",
    S.StreamWildcard: lambda printer, node: f"{node.stream}.*",
    S.NamedArgument: lambda printer, node: f"{node.name}:{printer.text(node.value)}",
    S.Ordered: lambda printer, node: printer.text(node.value) + (" desc" if node.descending else ""),
    S.Row: lambda printer, node: f"({printer.list_text(node.items)})" if node.items else "",
    S.Lambda: lambda printer, node: "",
    S.SubstitutionParameter: lambda printer, node: "?",
    S.Unary: _Printer.unary,
    S.Binary: _Printer.binary,
    S.Logical: _Printer.logical,
    S.Comparison: _Printer.comparison,
    S.QuantifiedComparison: _Printer.comparison_with_quantifier,
    S.Between: _Printer.between,
    S.In: _Printer.in_list,
    S.InRange: _Printer.in_range,
    S.Like: _Printer.like,
    S.Regexp: _Printer.regexp,
    S.Case: _Printer.case,
    S.Cast: _Printer.cast,
    S.InstanceOf: _Printer.type_test,
    S.TypeOf: lambda printer, node: f"typeof({printer.text(node.value)})",
    S.Exists: lambda printer, node: f"exists({printer.text(node.value)})",
    S.ArrayLiteral: lambda printer, node: "{" + printer.list_text(node.items) + "}",
    S.JsonObject: _Printer.json,
    S.NewStruct: _Printer.struct,
    S.NewInstance: lambda printer, node: f"new {type_text(node.type_name)}({printer.list_text(node.arguments)})",
    S.NewArray: _Printer.new_array,
    S.TimePeriod: _Printer.period,
    S.CurrentTimestamp: lambda printer, node: "current_timestamp()",
    S.CronPart: _Printer.cron,
    S.Subquery: _Printer.subquery,
}
