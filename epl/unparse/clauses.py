"""Syntax of clauses and of the two kinds of patterns → text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epl import syntax as S
from epl.syntax import patterns as P
from epl.unparse.expressions import Text, list_text
from epl.unparse.words import name, property_name, quote_type_name, string


def join_parts(*parts: str) -> str:
    """Return the parts that are not empty, with a space between."""
    return " ".join(part for part in parts if part)


def alias(text: str | None) -> str:
    return "" if text is None else f"as {name(text)}"


# ------------------------------------------------------------------ select, from


def select_item(node: S.SelectItem, text: Text) -> str:
    mark = "" if node.annotation is None else f"@{name(node.annotation)}"
    return join_parts(text(node.expression), mark, "" if node.alias is None else f"as {property_name(node.alias)}")


def insert_clause(node: S.InsertInto, text: Text) -> str:
    columns = f"({', '.join(map(name, node.columns))})" if node.columns else ""
    precedence = "" if node.precedence is None else f"event-precedence({text(node.precedence)})"
    return join_parts("insert", node.stream or "", "into", quote_type_name(node.target) + columns, precedence)


def view(node: S.View, text: Text) -> str:
    namespace = "" if node.namespace is None else f"{name(node.namespace)}:"
    return f"{namespace}{name(node.name)}({list_text(node.arguments, text)})"


def views(nodes: tuple[S.View, ...], text: Text) -> str:
    """Return ``#a(1)#ns:b(2)``: reads back as what ``.ns:b(2)`` does."""
    return "".join(f"#{text(node)}" for node in nodes)


def unfold(node: S.Contained, text: Text) -> str:
    select = f"select {list_text(node.items, text)} from" if node.items else ""
    mark = "" if node.type_name is None else f"@type({quote_type_name(node.type_name)})"
    where = "" if node.where is None else f"where {condition_text(node.where, text)}"
    return f"[{join_parts(select, text(node.expression), mark, alias(node.alias), where)}]"


def type_filter(node: S.TypeFilter, text: Text) -> str:
    filters = f"({list_text(node.filters, text)})" if node.filters else ""
    return f"{quote_type_name(node.type_name) if node.type_name else ''}{filters}{''.join(map(text, node.contained))}"


def pattern_source(node: S.PatternSource, text: Text) -> str:
    return join_parts("pattern", *map(text, node.annotations), f"[{text(node.pattern)}]")


def recognition_source(node: S.RecognitionSource, text: Text) -> str:
    return f"{text(node.input)} match_recognize {node.text}"


def method_source(node: S.MethodSource, text: Text) -> str:
    return join_parts(f"method:{quote_type_name(node.name)}({list_text(node.arguments, text)})", *map(text, node.annotations))


def sql_source(node: S.SqlSource, text: Text) -> str:
    metadata = "" if node.metadata_query is None else f" metadatasql {string(node.metadata_query)}"
    return join_parts(f"sql:{name(node.database)} [{string(node.query)}{metadata}]", *map(text, node.annotations))


def stream(node: S.Stream, text: Text) -> str:
    retain = "" if node.retain is None else f"retain-{node.retain}"
    return join_parts(text(node.source) + views(node.views, text), alias(node.alias), "unidirectional" if node.unidirectional else "",
        retain)


def from_(node: S.From, text: Text) -> str:
    first, *others = node.streams
    parts = [text(first)]
    for join, joined_stream in zip(node.joins, others, strict=True):
        word = {"comma": ",", "inner": " inner join"}.get(join.kind, f" {join.kind} outer join")
        on = " and ".join(f"{text(left)} = {text(right)}" for left, right in join.on)
        parts.append(f"{word} {text(joined_stream)}{f' on {on}' if on else ''}")
    return "".join(parts)


def select(node: S.Select, text: Text) -> str:
    return join_parts(
        "" if node.into_table is None else f"into table {name(node.into_table)}",
        "" if node.insert_into is None else text(node.insert_into),
        "select",
        node.stream or "",
        select_rest(node, text),
    )


def condition_text(node: S.Expression, text: Text) -> str:
    """Return the text of a condition: a ``case`` stands in brackets there, as Esper asks."""
    return f"({text(node)})" if isinstance(node, S.Case) else text(node)


def select_rest(node: S.Select, text: Text) -> str:
    """Return everything after ``select [istream]``."""
    return join_parts(
        "distinct" if node.distinct else "",
        list_text(node.items, text),
        "" if node.from_ is None else f"from {text(node.from_)}",
        "" if node.match_recognize is None else text(node.match_recognize),
        "" if node.where is None else f"where {condition_text(node.where, text)}",
        f"group by {list_text(node.group_by, text)}" if node.group_by else "",
        "" if node.having is None else f"having {condition_text(node.having, text)}",
        "" if node.output is None else text(node.output),
        f"order by {list_text(node.order_by, text)}" if node.order_by else "",
        "" if node.limit is None else text(node.limit),
        "" if node.delivery is None else text(node.delivery),
    )


# ------------------------------------------------------------------ group by, output, order by, limit


def group_element(node: S.GroupElement, text: Text) -> str:
    items = list_text(node.items, text)
    return items if node.kind == "expression" else f"{'' if node.kind == 'combination' else node.kind}({items})"


def output(node: S.Output, text: Text) -> str:
    def count(amount: S.Expression | None, unit: str | None) -> str:
        return join_parts(text(amount), "events" if unit == "events" else "")

    def then(assignments: tuple[S.Assignment, ...]) -> str:
        return f"then set {list_text(assignments, text)}" if assignments else ""

    def and_(condition: S.Expression | None) -> str:
        return "" if condition is None else f"and {text(condition)}"

    rates: dict[str, Callable[[], str]] = {
        "every": lambda: f"every {count(node.rate, node.unit)}",
        "at": lambda: f"at ({list_text(node.crontab, text)})",
        "when": lambda: join_parts("when", text(node.condition), then(node.assignments)),
        "terminated": lambda: join_parts("when terminated", and_(node.condition), then(node.assignments)),
        "after": lambda: "",
    }
    ending = (
        join_parts("and when terminated", and_(node.terminated_condition), then(node.terminated_assignments)) if node.and_terminated else ""
    )
    after = "" if node.after is None else f"after {count(node.after, node.after_unit)}"
    return join_parts("output", after, node.selector or "", rates[node.kind](), ending)


def limit(node: S.Limit, text: Text) -> str:
    if node.comma:
        return f"limit {text(node.offset)}, {text(node.rows)}"
    return f"limit {text(node.rows)}" + ("" if node.offset is None else f" offset {text(node.offset)}")


def column(node: S.Column, text: Text) -> str:
    kind = text(node.type_name) if node.type_name is not None else text(node.expression)
    return join_parts(quote_type_name(node.name), kind, "primary key" if node.primary_key else "", *map(text, node.annotations))


def annotation(node: S.Annotation, text: Text) -> str:
    if not node.values:
        return f"@{quote_type_name(node.name)}"
    if len(node.values) == 1 and node.values[0][0] == "value":
        return f"@{quote_type_name(node.name)}({annotation_value(node.values[0][1], text)})"
    values = ", ".join(f"{property_name(attribute)} = {annotation_value(value, text)}" for attribute, value in node.values)
    return f"@{quote_type_name(node.name)}({values})"


def annotation_value(value: object, text: Text) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(annotation_value(item, text) for item in value) + "}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return string(value)
    return repr(value) if isinstance(value, (int, float)) else text(value)


# ------------------------------------------------------------------ match_recognize


def match_recognize(node: S.MatchRecognize, text: Text) -> str:
    defines = ", ".join(f"{name(variable)} as {text(condition)}" for variable, condition in node.defines)
    measures = ", ".join(join_parts(text(item.expression), alias(item.alias)) for item in node.measures)
    inside = join_parts(
        f"partition by {list_text(node.partition_by, text)}" if node.partition_by else "",
        f"measures {measures}",
        "all matches" if node.all_matches else "",
        "" if node.skip is None else f"after match skip {node.skip}",
        f"pattern ({text(node.pattern)})",
        "" if node.interval is None else f"interval {text(node.interval)}",
        "or terminated" if node.or_terminated else "",
        f"define {defines}" if defines else "",
    )
    return f"match_recognize ({inside})"


def repetition(node: S.RowRepetition, text: Text) -> str:
    item = text(node.item) if isinstance(node.item, S.RowVariable) else f"({text(node.item)})"
    if node.exact:
        braces = f"{{{text(node.low)}}}"
    elif node.low is None and node.high is None:
        braces = ""
    else:
        braces = f"{{{'' if node.low is None else text(node.low)},{'' if node.high is None else text(node.high)}}}"
    return f"{item}{node.quantifier}{braces}"


def concatenation(node: S.RowConcatenation, text: Text) -> str:
    """Return the text; one item alone is a group that was written in parentheses."""
    if len(node.items) == 1:
        return f"({text(node.items[0])})"
    return _row_items(node.items, " ", (S.RowConcatenation, S.RowAlternation), text)


def _row_items(items: tuple[S.RowPattern, ...], separator: str, grouped: tuple[type, ...], text: Text) -> str:
    return separator.join(f"({text(item)})" if isinstance(item, grouped) else text(item) for item in items)


# ------------------------------------------------------------------ event patterns

_LEVELS: dict[type, int] = {P.FollowedBy: 0, P.Or: 1, P.And: 2, P.MatchUntil: 3, P.Every: 4, P.Not: 4, P.EveryDistinct: 4, P.Guard: 5}


def pattern(node: P.Pattern, least: int, text: Text) -> str:
    """Return the text, in parentheses where the pattern binds looser than ``least``."""
    return f"({text(node)})" if _LEVELS.get(type(node), 6) < least else text(node)


def filter_atom(node: P.FilterAtom, text: Text) -> str:
    tag = "" if node.tag is None else f"{name(node.tag)}="
    filters = f"({list_text(node.filters, text)})" if node.filters else ""
    return join_parts(f"{tag}{quote_type_name(node.type_name)}{filters}{''.join(map(text, node.contained))}", *map(text, node.annotations))


def sequence(node: P.FollowedBy, text: Text) -> str:
    parts = [pattern(node.items[0], 1, text)]
    for bound, item in zip(node.limits, node.items[1:], strict=True):
        parts.append("->" if bound is None else f"-[{text(bound)}]>")
        parts.append(pattern(item, 1, text))
    return " ".join(parts)


def repeat_until(node: P.MatchUntil, text: Text) -> str:
    low, high = ("" if bound is None else text(bound) for bound in (node.low, node.high))
    bounds = {"none": "", "exact": f"[{low}]", "low": f"[{low}:]", "high": f"[:{high}]", "both": f"[{low}:{high}]"}[node.bounds]
    return join_parts(bounds, pattern(node.item, 4, text), "" if node.until is None else f"until {pattern(node.until, 4, text)}")


def guard(node: P.Guard, text: Text) -> str:
    item = pattern(node.item, 6, text)
    if node.namespace is None:
        return f"{item} while ({list_text(node.arguments, text)})"
    return f"{item} where {name(node.namespace)}:{name(node.name)}({list_text(node.arguments, text)})"


def observer(node: P.Observer, text: Text) -> str:
    observed = node.name if node.name.lower() == "at" else name(node.name)
    return f"{name(node.namespace)}:{observed}({list_text(node.arguments, text)})"


WRITERS: dict[type, Callable[[Any, Text], str]] = {
    S.SelectItem: select_item,
    S.InsertInto: insert_clause,
    S.View: view,
    S.Contained: unfold,
    S.TypeFilter: type_filter,
    S.PatternSource: pattern_source,
    S.RecognitionSource: recognition_source,
    S.MethodSource: method_source,
    S.SqlSource: sql_source,
    S.Stream: stream,
    S.From: from_,
    S.Select: select,
    S.GroupElement: group_element,
    S.Output: output,
    S.OrderItem: lambda node, text: text(node.expression) + (" desc" if node.descending else ""),
    S.Limit: limit,
    S.ForDelivery: lambda node, text: f"for {name(node.kind)}" + (f"({list_text(node.keys, text)})" if node.keys else ""),
    S.Assignment: lambda node, text: text(node.target) if node.value is None else f"{text(node.target)} = {text(node.value)}",
    S.Column: column,
    S.Annotation: annotation,
    S.EnumConstant: lambda node, text: quote_type_name(node.name),
    S.MatchRecognize: match_recognize,
    S.RowVariable: lambda node, text: name(node.name),
    S.RowConcatenation: concatenation,
    S.RowAlternation: lambda node, text: _row_items(node.items, " | ", (S.RowAlternation,), text),
    S.RowPermutation: lambda node, text: f"match_recognize_permute({list_text(node.items, text)})",
    S.RowRepetition: repetition,
    P.FilterAtom: filter_atom,
    P.Observer: observer,
    P.Every: lambda node, text: f"every {pattern(node.item, 5, text)}",
    P.EveryDistinct: lambda node, text: f"every-distinct({list_text(node.arguments, text)}) {pattern(node.item, 5, text)}",
    P.Not: lambda node, text: f"not {pattern(node.item, 5, text)}",
    P.And: lambda node, text: " and ".join(pattern(item, 3, text) for item in node.items),
    P.Or: lambda node, text: " or ".join(pattern(item, 2, text) for item in node.items),
    P.FollowedBy: sequence,
    P.MatchUntil: repeat_until,
    P.Guard: guard,
}
