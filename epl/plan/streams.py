"""Streams of a from clause or a trigger: where their events come from, and their windows."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar
from typing import Literal as Choice

import attrs

from epl.errors import EplUnsupportedError
from epl.event_types import EventType
from epl.plan.checks import check
from epl.plan.contained import ContainedPlan
from epl.plan.expressions import StreamProperty, TypedExpression
from epl.plan.filter_specifications import FilterSpecification
from epl.plan.walk import REFERENCE, walk_plan
from epl.plan.windows import WindowConfig, unique_key

Refusal = Callable[[str], Exception]
"""refusal("a pattern"): the error of a caller that does not support what it is called with."""


@attrs.frozen
class IndexKey:
    """A condition of a filter that an index can serve: the property's value equals one of ``values`` (constants or variables of the
    property's type).
    """

    property: str
    values: tuple[TypedExpression, ...]


@attrs.frozen
class EqualConstants:
    """A condition ``value in (constants)`` of a filter that may list the same constant several times: the event is delivered once for each.

    ``spread``: where an item is an array whose elements count.
    """

    value: TypedExpression
    items: tuple[TypedExpression, ...]
    spread: tuple[bool, ...]


@attrs.frozen
class SourcePlan:
    """Where the events of a stream come from: a closed family, one frozen class a kind of source.

    A filter is one; patterns, stores, methods and historical data are added with their features. Nothing reads ``StreamPlan.source`` but
    ``stream_filter`` and what supports every kind, so that a new kind is refused by its ``title`` wherever it is not supported yet.
    """

    title: ClassVar[str] = "a source"
    """What it is called in a refusal, with its article."""
    retains: ClassVar[bool] = False
    """Whether its events stay until they leave by the remove stream."""


@attrs.frozen
class FilterPlan(SourcePlan):
    """All events of a type (and its sub-types) that satisfy ``conditions``.

    ``key`` is one of them that is looked up instead of evaluated; it is not in ``conditions`` again. ``repeats``: those of them
    that may deliver an event more than once; the counts multiply. ``partitioned``: in a statement of a context the same filter, of which
    each partition has an entry, with the conditions that the context adds; None without a context.
    """

    title: ClassVar[str] = "a filter"
    event_type: EventType
    conditions: tuple[TypedExpression, ...] = ()
    key: IndexKey | None = None
    repeats: tuple[EqualConstants, ...] = ()
    partitioned: FilterSpecification | None = attrs.field(default=None, metadata=REFERENCE)

    def __attrs_post_init__(self) -> None:
        if self.key is not None:
            known = self.key.property in self.event_type.properties
            check(known, f"a key over the property '{self.key.property}', which '{self.event_type.name}' does not have")
            check(self.key.values != (), f"a key over '{self.key.property}' without values")


@attrs.frozen(eq=False)
class NamedWindow:
    """What a catalog knows of a named window; equal only to itself, as its event type is. ``shares_indexes``: sub-queries read its rows by
    its own indexes (``enable_window_subquery_indexshare``). ``context``: the Context of which each partition has such a window.
    ``source``: the type whose events its rows are declared as, None where it has columns of its own. ``unique``: the properties of which
    it holds one row for each combination of values.
    """

    name: str
    event_type: EventType
    shares_indexes: bool = False
    context: object | None = attrs.field(default=None, metadata=REFERENCE)
    source: EventType | None = attrs.field(default=None, metadata=REFERENCE)
    unique: frozenset[str] = frozenset()


@attrs.frozen
class StorePlan(SourcePlan):
    """The rows of a named window that satisfy ``conditions``: what enters and leaves it. It begins with those that are there.

    ``shared``: the rows are read as they are in the window at that moment; nothing enters.
    """

    title: ClassVar[str] = "a named window"
    retains: ClassVar[bool] = True
    window: NamedWindow
    conditions: tuple[TypedExpression, ...] = ()
    shared: bool = False


@attrs.frozen
class StreamPlan:
    """One stream: source, contained-event selection, windows.

    ``event_type`` is that of the events downstream of the windows (derived-value windows change it).
    """

    source: SourcePlan
    event_type: EventType
    windows: tuple[WindowConfig, ...] = ()
    retain: Choice["union", "intersection"] | None = None
    alias: str | None = None
    contained: ContainedPlan | None = None

    @property
    def retains(self) -> bool:
        """Whether events stay, in windows of its own or in those of its source, until they leave by the remove stream."""
        return bool(self.windows) or self.source.retains

    @property
    def has_data_window(self) -> bool:
        """Whether there is a data window among its own or in its source: the rows of a derived-value view alone never leave for
        aggregations."""
        return any(window.is_data_window for window in self.windows) or self.source.retains


def _stream_refusal(what: str) -> EplUnsupportedError:
    return EplUnsupportedError(f"{what[0].upper()}{what[1:]} is not supported here")


def stream_filter(stream: StreamPlan, refusal: Refusal = _stream_refusal) -> FilterPlan:
    """Return the filter that the stream's events pass; raise ``refusal(title)`` for a stream over any other source."""
    if isinstance(stream.source, FilterPlan):
        return stream.source
    raise refusal(stream.source.title)


def stream_store_plan(stream: StreamPlan) -> StorePlan | None:
    """Return the plan of a stream over a named window; None for any other."""
    return stream.source if isinstance(stream.source, StorePlan) else None


def unique_properties(stream: StreamPlan) -> frozenset[str]:
    """Return the properties of which the stream has one row for each combination of values; none where several rows may have equal ones,
    or where the key is computed."""
    store = stream_store_plan(stream)
    if store is not None and not stream.windows:
        return store.window.unique
    key = unique_key(stream.windows) if stream.retain != "union" else ()
    names = frozenset(part.name for part in key if isinstance(part, StreamProperty))
    return names if len(names) == len(key) else frozenset()


def only_stream(streams: Sequence[StreamPlan], refusal: Refusal = _stream_refusal) -> StreamPlan:
    """Return the stream of a statement that has one; raise ``refusal("more than one stream")`` for a join."""
    if len(streams) == 1:
        return streams[0]
    raise refusal("more than one stream")


def types_read(plan: Any) -> Iterator[EventType]:
    """Yield the event types that filters anywhere in a plan read, those of patterns among them."""
    return (part.event_type for part in walk_plan(plan) if isinstance(part, (FilterPlan, FilterSpecification)))


__all__ = [
    "EqualConstants",
    "FilterPlan",
    "IndexKey",
    "NamedWindow",
    "Refusal",
    "SourcePlan",
    "StorePlan",
    "StreamPlan",
    "only_stream",
    "stream_filter",
    "stream_store_plan",
    "types_read",
    "unique_properties",
]
