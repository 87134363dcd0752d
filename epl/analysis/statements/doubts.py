"""What a statement says that is accepted and probably not meant: what `epl check` and editors warn of beside what is refused."""
from __future__ import annotations

from collections.abc import Iterator

import attrs

from epl.analysis.expressions.rewriting import syntax_nodes
from epl.catalog import Catalog
from epl.spans import Span
from epl.syntax import (
    Call,
    Chain,
    Comparison,
    CreateTable,
    From,
    GroupElement,
    Literal,
    Node,
    OnSelect,
    OrderItem,
    Output,
    PatternSource,
    Select,
    SelectItem,
    Statement,
    TypeFilter,
    Wildcard,
)

LEAVES_FROM_THE_MIDDLE = ("sort", "unique")
NULL_POINTER = "a NullPointerException"
ONCE_A_MATCH = ("SuppressOverlappingMatches", "DiscardPartialsOnMatch")


@attrs.frozen
class Doubt:
    """One warning. ``code``: ``null``, ``quotes``, ``constant``, or ``esper`` for what Esper 9.0.0 itself fails at and epl-spark does
    not."""

    code: str
    message: str
    hint: str
    span: Span | None


def find_doubts(statement: Statement, catalog: Catalog) -> Iterator[Doubt]:
    """Yield what is doubtful in an accepted statement, in the order of its text for each code."""
    nodes = list(syntax_nodes(statement.body))
    yield from _null_comparisons(nodes)
    yield from _names_in_quotes(nodes, catalog)
    yield from _constant_order_keys(nodes)
    for node in nodes:
        if isinstance(node, Select):
            yield from _faults_of_select(node, catalog)
    yield from _faults_of_stores(statement, catalog)


def _null_comparisons(nodes: list[Node]) -> Iterator[Doubt]:
    for node in nodes:
        if isinstance(node, Comparison) and node.operator not in ("is", "is not") and (_is_null(node.left) or _is_null(node.right)):
            cure = "is not null" if node.operator == "!=" else "is null"
            yield Doubt("null", f"'{node.operator} null' is null for every value, never true", f"write {cure}", node.span)


def _constant_order_keys(nodes: list[Node]) -> Iterator[Doubt]:
    for node in nodes:
        if isinstance(node, OrderItem) and isinstance(node.expression, Literal) and isinstance(node.expression.value, int):
            message = f"'order by {node.expression.value}' sorts by a constant"
            yield Doubt("constant", message, "write the column: it has no place", node.span)


def _is_null(node: Node) -> bool:
    return isinstance(node, Literal) and node.value is None


def _names_in_quotes(nodes: list[Node], catalog: Catalog) -> Iterator[Doubt]:
    """Texts in double quotes where SQL would have a column: EPL has a text in either kind of quotes."""
    known = {name for node in nodes if isinstance(node, From) for name in _clause_properties(node, catalog)}
    for node in nodes:
        for text in _where_columns_stand(node):
            if isinstance(text, Literal) and text.double_quotes and text.value in known:
                message = f'"{text.value}" is a text, not the property {text.value}'
                yield Doubt("quotes", message, f"write {text.value} without quotes", text.span)


def _clause_properties(clause: From, catalog: Catalog) -> Iterator[str]:
    for stream in clause.streams:
        event_type = catalog.event_types.get(stream.source.type_name) if isinstance(stream.source, TypeFilter) else None
        if event_type is not None:
            yield from event_type.properties


def _where_columns_stand(node: Node) -> tuple[Node, ...]:
    if isinstance(node, (SelectItem, OrderItem)):
        return (node.expression,)
    if isinstance(node, GroupElement):
        return node.items
    if isinstance(node, Comparison) and isinstance(node.left, Literal) and isinstance(node.right, Literal):
        return node.left, node.right
    return ()


# ---------------------------------------------------------------------- where Esper fails


def _faults_of_select(select: Select, catalog: Catalog) -> Iterator[Doubt]:
    streams = () if select.from_ is None else select.from_.streams
    if select.output is not None:
        yield from _faults_of_output(select, select.output, catalog)
    if select.match_recognize is not None and select.match_recognize.interval is not None:
        for view in (view for stream in streams for view in stream.views if view.name in LEAVES_FROM_THE_MIDDLE):
            yield _fault(f"match_recognize with interval over #{view.name}, whose rows leave from the middle", NULL_POINTER, view.span)
    for stream in streams:
        if isinstance(stream.source, PatternSource) and stream.views:
            for annotation in stream.source.annotations:
                if annotation.name in ONCE_A_MATCH:
                    yield _fault(f"a pattern with @{annotation.name}, once its matches leave a data window", NULL_POINTER, annotation.span)


def _faults_of_output(select: Select, output: Output, catalog: Catalog) -> Iterator[Doubt]:
    aggregated = [_aggregates(item.expression, catalog) for item in select.items]
    unordered = select.limit is not None and not select.order_by
    if unordered and (output.selector == "all" or (output.selector == "last" and any(aggregated))):
        yield _fault(f"output {output.selector} with limit and without order by", "an UnsupportedOperationException", output.span)
    if select.order_by and not select.group_by and all(aggregated) and output.selector not in ("last", "snapshot"):
        for item in select.order_by:
            if not _aggregates(item.expression, catalog) and any(isinstance(node, Chain) for node in syntax_nodes(item.expression)):
                yield _fault("order by a property of rows that are only aggregations, with an output clause", NULL_POINTER, item.span)


def _aggregates(expression: Node, catalog: Catalog) -> bool:
    return any(isinstance(node, Call) and node.name.lower() in catalog.aggregations for node in syntax_nodes(expression))


def _faults_of_stores(statement: Statement, catalog: Catalog) -> Iterator[Doubt]:
    body = statement.body
    if isinstance(body, OnSelect) and body.delete and body.select.from_ is not None:
        source = body.select.from_.streams[0].source
        if isinstance(source, TypeFilter) and source.type_name in catalog.tables:
            yield _fault("on-select-and-delete of a table that has no such row", NULL_POINTER, source.span)
    if isinstance(body, CreateTable):
        for node in syntax_nodes(body):
            if isinstance(node, Call) and node.name == "count" and len(node.arguments) > 1 and isinstance(node.arguments[0], Wildcard):
                yield _fault("a table's column count(*, boolean)", "a ClassCastException", node.span)


def _fault(what: str, error: str, span: Span | None) -> Doubt:
    return Doubt("esper", f"{what}: Esper 9.0.0 fails with {error}, epl-spark does not", "see docs/compatibility.md", span)


__all__ = ["Doubt", "find_doubts"]
