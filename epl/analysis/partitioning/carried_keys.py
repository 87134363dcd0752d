"""What statements of a context insert: which properties of the rows are keys of the partition, or properties of its events."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from epl.analysis.partitioning.meetings import optional_streams
from epl.analysis.partitioning.operators import insertion
from epl.analysis.partitioning.paths import expression_path
from epl.analysis.partitioning.row_patterns import measure_path
from epl.analysis.partitioning.stores import insert_target
from epl.analysis.partitioning.verdicts import Path
from epl.event_types import EventType
from epl.plan.expressions import ContextValue, StreamProperty, TypedExpression
from epl.plan.patterns.pattern import (
    AndNode,
    FilterNode,
    FollowedByNode,
    NotNode,
    OrNode,
    PatternNode,
    PatternPlan,
    UntilNode,
    stream_pattern,
)
from epl.plan.statements import BodyPlan, InsertPlan, SelectPlan
from epl.plan.stores.on_statements import OnSelectPlan
from epl.plan.stores.splitting import OnSplitPlan
from epl.plan.streams import FilterPlan, StreamPlan, stream_store_plan
from epl.plan.walk import walk_plan

Source = tuple[EventType, Path]
"""A property of the events of a type that the partition has."""


@attrs.frozen
class Insertion:
    """Rows that become events of ``target``. ``keys``: by name, those of its properties that are the partition's key of a place;
    ``properties``: those that are a property of an event of the partition."""

    target: EventType
    keys: Mapping[str, int]
    properties: Mapping[str, Source]


@attrs.frozen
class _Rows:
    """What columns read: ``types`` of the events by stream, None where there may be none; ``tags``: of a pattern's matches."""

    types: Sequence[EventType | None]
    tags: Mapping[str, EventType] = attrs.field(factory=dict)

    def source(self, column: TypedExpression) -> Source | None:
        for number, event_type in enumerate(self.types):
            path = expression_path(column, number)
            if path is not None and event_type is not None:
                return event_type, path
        path = expression_path(column)
        if path is not None and len(path) > 1 and path[0] in self.tags:
            return self.tags[path[0]], path[1:]
        return None


def insertions(body: BodyPlan, key_paths: Sequence[Path]) -> Iterator[Insertion]:
    """Yield what a statement inserts. ``key_paths``: the properties of the context that are its keys. Of merges nothing is known."""
    if isinstance(body, SelectPlan):
        if body.insert is not None:
            rows = body.result_set
            yield _add_measures(body, _plan_insertion(body.insert, rows.output_type, rows.columns, rows.forward, _rows(body), key_paths),
                key_paths)
    elif isinstance(body, OnSplitPlan):
        for branch in body.branches:
            of_event = _Rows([_event_type(body.stream) if branch.contained is None else None])
            columns, forward = ((), 0) if branch.columns is None else (branch.columns, None)
            yield _plan_insertion(branch.insert, branch.row_type, columns, forward, of_event, key_paths)
    elif isinstance(body, OnSelectPlan):
        if body.insert is not None:
            rows = body.result_set
            read = _Rows([body.match.store.event_type, _event_type(body.trigger)])
            yield _plan_insertion(body.insert, rows.output_type, rows.columns, rows.forward, read, key_paths)
    else:
        yield from (Insertion(insert_target(part), {}, {}) for part in walk_plan(body) if isinstance(part, InsertPlan))


def _plan_insertion(
    insert: InsertPlan, row_type: EventType, columns: Sequence[TypedExpression], forward: int | None, read: _Rows, key_paths: Sequence[Path]
) -> Insertion:
    if forward is not None:
        event_type = read.types[forward]
        keys: dict[str, int] = {}
        sources: dict[str, Source] = {}
        if event_type is not None:
            sources = {name: (event_type, (name,)) for name in event_type.names}
    else:
        named = dict(zip(row_type.names, columns))
        keys = {name: place for name, column in named.items() if (place := key_place(column, key_paths)) is not None}
        sources = {name: source for name, column in named.items() if (source := read.source(column)) is not None}
    names = {name: insertion(insert, row_type).back((name,)) for name in insert.target.names}
    return Insertion(
        insert_target(insert),
        {name: keys[row[0]] for name, row in names.items() if row is not None and row[0] in keys},
        {name: sources[row[0]] for name, row in names.items() if row is not None and row[0] in sources})


def key_place(column: TypedExpression, key_paths: Sequence[Path]) -> int | None:
    """Return which key of the partition a column is."""
    return key_paths.index(column.path) if isinstance(column, ContextValue) and column.path in key_paths else None


def _rows(plan: SelectPlan) -> _Rows:
    pattern = stream_pattern(plan.streams[0]) if len(plan.streams) == 1 else None
    if pattern is not None:
        return _Rows([None], _tags(pattern))
    missing = optional_streams(plan.join) if plan.join is not None else set()
    return _Rows([None if number in missing or plan.row_recognition is not None else _event_type(stream)
                  for number, stream in enumerate(plan.streams)])  # fmt: skip


def _event_type(stream: StreamPlan) -> EventType | None:
    """Return the type of a stream's events, if they are those that come in."""
    store = stream_store_plan(stream)
    source = store.window.event_type if store is not None else stream.source.event_type if isinstance(stream.source, FilterPlan) else None
    return source if stream.contained is None and stream.event_type is source else None


def _tags(plan: PatternPlan) -> dict[str, EventType]:
    """Return the tags that every match has an event of."""
    lasting = {node.place for node in _lasting(plan.root)}
    return {tag.name: tag.event_type for place, tag in enumerate(plan.tags) if place in lasting and not tag.repeated}


def _lasting(node: PatternNode) -> Iterator[FilterNode]:
    if isinstance(node, FilterNode):
        if node.contained is None:
            yield node
    elif isinstance(node, (AndNode, FollowedByNode)) or not isinstance(node, (NotNode, OrNode, UntilNode)):
        for inner in node.inner():
            yield from _lasting(inner)


def _add_measures(plan: SelectPlan, inserted: Insertion, key_paths: Sequence[Path]) -> Insertion:
    """Add what of a row pattern's measures is a key."""
    recognition, event_type = plan.row_recognition, _event_type(plan.streams[0])
    if recognition is None or event_type is None or plan.insert is None or not key_paths:
        return inserted
    measures = dict(zip(recognition.output_type.names, recognition.measures))
    keys, properties = dict(inserted.keys), dict(inserted.properties)
    for name in plan.insert.target.names:
        row = insertion(plan.insert, plan.result_set.output_type).back((name,))
        column = None if row is None else dict(zip(plan.result_set.output_type.names, plan.result_set.columns)).get(row[0])
        measure = measures.get(column.name) if isinstance(column, StreamProperty) else None
        if measure is None:
            continue
        place, path = key_place(measure, key_paths), measure_path(measure, recognition)
        if place is not None:
            keys[name] = place
        elif path:
            properties[name] = (event_type, path)
    return Insertion(inserted.target, keys, properties)


__all__ = ["Insertion", "insertions", "key_place"]
