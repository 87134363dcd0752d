"""The select clause: columns, their names and types, wildcards."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from epl.analysis.expressions.bind import bind_in_clause, column_name
from epl.analysis.expressions.binding import StatementRefusal
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.catalog import Catalog
from epl.event_types import EventOf, EventType, Property
from epl.plan.expressions import (
    Coalesce,
    Conditional,
    Constant,
    NewStructOf,
    PropertyOf,
    StreamProperty,
    SubqueryValue,
    TypedExpression,
    stream_event,
)
from epl.plan.join.subqueries import as_event, as_rows, is_subquery_value
from epl.syntax import InsertInto, SelectItem, StreamWildcard, Wildcard
from epl.value_types import ArrayType


@attrs.frozen
class Selection:
    """``columns`` of ``output_type`` in order; or ``forward``: the number of the stream whose events are the output themselves.

    ``expressions``: the written ones, without what wildcards stand for. ``whole``: a wildcard of all streams, ``streams``: ``s.*`` is
    written. ``refusal``: that of names that several columns have, which comes after those of the other clauses.
    """

    output_type: EventType
    columns: tuple[TypedExpression, ...] = ()
    forward: int | None = None
    expressions: tuple[TypedExpression, ...] = ()
    whole: bool = False
    streams: bool = False
    refusal: StatementRefusal | None = None

    def accepted(self) -> Selection:
        """Return it, or raise its refusal."""
        if self.refusal is not None:
            raise self.refusal
        return self


@attrs.frozen
class InsertTarget:
    """What the columns of a select clause fill: properties of ``event_type`` (None: of no type that is there yet), by their own names or in
    the order of ``names``. ``inserted``: rows are inserted somewhere; of several columns of one name the last one counts then.
    """

    event_type: EventType | None = None
    names: tuple[str, ...] = ()
    inserted: bool = True

    @classmethod
    def of(cls, clause: InsertInto | None, catalog: Catalog) -> InsertTarget:
        """Return that of an insert into, ``NO_TARGET`` without one."""
        return NO_TARGET if clause is None else cls(catalog.event_types.get(clause.target), clause.columns)


NO_TARGET = InsertTarget(inserted=False)
NEW_TYPE = InsertTarget()
"""A type that the rows declare."""


@attrs.frozen
class TargetColumn:
    name: str
    expression: TypedExpression
    underlying: bool = False


def analyse_selection(items: Sequence[SelectItem], scope: Scope, output_name: str, target: InsertTarget = NO_TARGET) -> Selection:
    """Bind the select clause; ``scope`` collects its aggregations. ``target``: what its columns fill. """
    items = _without_repeats(items, len(scope.streams))
    bound = [_columns(item, scope, target.names[place] if place < len(target.names) else None, target) for place, item in enumerate(items)]
    written = tuple(c.expression for item, columns in zip(items, bound) for c in columns if not _is_wildcard(item))
    whole = any(isinstance(i.expression, Wildcard) for i in items)
    unnamed = [i for i in items if isinstance(i.expression, StreamWildcard) and i.alias is None]
    if len(unnamed) > 1:
        raise StatementRefusal(
            "A column name must be supplied for all but one stream if multiple streams are selected via the stream.* notation",
            span=unnamed[1].span,
        )
    forward = _whole_stream(items, scope.streams)
    if forward is not None:
        return Selection(scope.streams[forward].event_type, forward=forward, whole=whole, streams=not whole)
    columns = _in_order([c for part in bound for c in part], target)
    refusal = _duplicate_name(columns, items, inserted=target.inserted)
    columns = list({c.name: c for c in columns}.values())  # two streams of one name (a join's wildcard): the later one's events
    properties = {c.name: Property(c.name, c.expression.type) for c in columns}
    for column, item_property in _underlying_properties(items, scope).items():
        properties[column] = item_property
    output = EventType(output_name, "row", properties, is_bus=False)
    stream_wildcards = any(isinstance(i.expression, StreamWildcard) for i in items)
    return Selection(output, tuple(c.expression for c in columns), None, written, whole, stream_wildcards, refusal)


def _in_order(columns: list[TargetColumn], target: InsertTarget) -> list[TargetColumn]:
    """Return the columns, by the names of the properties that they fill in order where several have one name."""
    if len({c.name for c in columns}) < len(columns) == len(set(target.names)):
        return [attrs.evolve(column, name=name) for column, name in zip(columns, target.names)]
    return columns


def _without_repeats(items: Sequence[SelectItem], streams: int) -> Sequence[SelectItem]:
    """Drop repeated wildcards: as in Esper, ``*`` counts once however often it occurs; of one stream not at all beside ``s.*``."""
    replaced = streams == 1 and any(isinstance(i.expression, StreamWildcard) and i.alias is None for i in items)
    kept: list[SelectItem] = []
    seen = replaced
    for item in items:
        if isinstance(item.expression, Wildcard) and item.alias is None:
            if seen:
                continue
            seen = True
        kept.append(item)
    return kept


def _is_wildcard(item: SelectItem) -> bool:
    return isinstance(item.expression, (Wildcard, StreamWildcard))


def _whole_stream(items: Sequence[SelectItem], streams: Sequence[ScopeStream]) -> int | None:
    """Return the stream whose events are handed on as they are: ``select *`` of one stream, ``select s.*`` alone."""
    if len(items) != 1 or items[0].alias is not None:
        return None
    if isinstance(items[0].expression, Wildcard):
        return 0 if len(streams) == 1 else None
    if isinstance(items[0].expression, StreamWildcard):
        return _stream_number(items[0].expression.stream, streams)
    return None


def _stream_number(name: str, streams: Sequence[ScopeStream]) -> int | None:
    """Return the stream of that alias; the name of its type does not name a stream here."""
    return next((number for number, stream in enumerate(streams) if name == stream.alias), None)


def _columns(item: SelectItem, scope: Scope, fills: str | None, target: InsertTarget) -> list[TargetColumn]:
    """Return the columns that an element stands for. ``fills``: the property of the target that it fills, None for that of its name."""
    expression = item.expression
    if isinstance(expression, Wildcard):
        if item.alias is not None:
            raise StatementRefusal("The property wildcard syntax must be used without column name", span=item.span)
        if len(scope.streams) == 1:
            return _all_properties(0, scope.streams[0])
        return [TargetColumn(s.alias or f"stream_{n}", stream_event(n, s.event_type), underlying=True) for n, s in enumerate(scope.streams)]
    if isinstance(expression, StreamWildcard):
        return _stream_columns(item, expression, scope)
    bound = bind_in_clause(expression, scope)
    name = column_name(expression, scope) if item.alias is None else item.alias
    if is_subquery_value(bound):
        return [TargetColumn(name, _of_subquery(bound, item, fills or name, target))]
    if isinstance(bound.type, ArrayType) and bound.type.raw and item.annotation is not None and item.annotation.lower() == "eventbean":
        bound = attrs.evolve(bound, type=ArrayType(bound.type.element))
    return [TargetColumn(name, _whole_structure(bound) if isinstance(bound, Conditional) else bound)]


def _of_subquery(value: TypedExpression, item: SelectItem, name: str, target: InsertTarget) -> TypedExpression:
    """Return a column that is a sub-query: its only row, or with ``@eventbean`` and for an array of events all of its rows."""
    assert isinstance(value, SubqueryValue)
    declared = None if target.event_type is None else target.event_type.property_type(name)
    element = declared.element if isinstance(declared, ArrayType) else declared
    if item.annotation is not None and item.annotation.lower() == "eventbean":
        return as_rows(value, array=True)
    if not isinstance(element, EventOf):
        return _whole_structure(value)
    if isinstance(value.type, EventOf) and value.plan.row_type is None and not value.type.event_type.is_a(element.event_type):
        raise StatementRefusal(
            f"Incompatible type detected attempting to insert into column '{name}' type '{element.event_type.name}' compared to selected "
            f"type '{value.type.event_type.name}'", span=item.span
        )
    return as_rows(value, array=True) if isinstance(declared, ArrayType) else as_event(value)


def _whole_structure(expression: TypedExpression) -> TypedExpression:
    """Return the structure that a column is. A case of ``new { … }`` is a structure of nulls, not null, where no condition holds
    (Esper 9.0.0), and so is a row of a sub-query where there is none."""
    structure = expression.type
    if not isinstance(structure, EventOf) or structure.event_type.kind != "struct":
        return expression
    nulls = tuple(Constant(type=p.type.boxed, value=None) for p in structure.event_type.properties.values())
    return Coalesce(type=structure, operands=(expression, NewStructOf(type=structure, event_type=structure.event_type, values=nulls)))


def _stream_columns(item: SelectItem, expression: StreamWildcard, scope: Scope) -> list[TargetColumn]:
    number = _stream_number(expression.stream, scope.streams)
    if number is not None:
        if item.alias is not None:
            return [TargetColumn(item.alias, stream_event(number, scope.streams[number].event_type))]
        return _all_properties(number, scope.streams[number])
    if item.alias is not None and any(s.event_type.property(expression.stream) is not None for s in scope.streams):
        raise StatementRefusal("The property wildcard syntax must be used without column name", span=item.span)
    for number, stream in enumerate(scope.streams):
        inner = stream.event_type.fragment(expression.stream)
        if inner is not None:
            operand = StreamProperty(stream=number, name=expression.stream, type=EventOf(inner), optional=stream.optional)
            if item.alias is not None:
                return [TargetColumn(item.alias, operand)]
            return [
                TargetColumn(p.name, PropertyOf(operand=operand, name=p.name, type=p.type.boxed), underlying=True)
                for p in inner.properties.values()
            ]
    raise StatementRefusal(f"Stream selector '{expression.stream}.*' does not match any stream name in the from clause", span=item.span)


def _all_properties(number: int, stream: ScopeStream) -> list[TargetColumn]:
    """Return the stream's properties as columns; null where it has no event (an outer join)."""
    optional = stream.optional
    columns = []
    for prop in stream.event_type.properties.values():
        value_type = prop.type.boxed if optional else prop.type
        value = StreamProperty(stream=number, name=prop.name, type=value_type, optional=optional)
        columns.append(TargetColumn(prop.name, value, underlying=True))
    return columns


def _underlying_properties(items: Sequence[SelectItem], scope: Scope) -> dict[str, Property]:
    """Properties taken over as they are declared (indexed, mapped)."""
    properties: dict[str, Property] = {}
    for item in items:
        if item.alias is None and isinstance(item.expression, Wildcard) and len(scope.streams) == 1:
            properties.update(scope.streams[0].event_type.properties)
        elif item.alias is None and isinstance(item.expression, StreamWildcard):
            number = _stream_number(item.expression.stream, scope.streams)
            properties.update(scope.streams[number].event_type.properties if number is not None else {})
    return properties


def _duplicate_name(columns: Sequence[TargetColumn], items: Sequence[SelectItem], *, inserted: bool) -> StatementRefusal | None:
    """Return the refusal of a name that a column has beside a wildcard's or, unless rows are inserted somewhere, beside another one."""
    underlying = {c.name for c in columns if c.underlying}
    seen: set[str] = set()
    for column in columns:
        if column.underlying:
            continue
        if column.name in underlying:
            return StatementRefusal(
                f"Property '{column.name}' occurs in both the underlying event and in the additional properties", span=items[0].span,
                hint=f"* has it already: leave {column.name} out, or write {column.name} as another name"
            )
        if column.name in seen and not inserted:
            return StatementRefusal(f"Column name '{column.name}' appears more then once in select clause", span=items[0].span)
        seen.add(column.name)
    return None
