"""Streams of a from clause or a trigger: their filters and their windows."""
from __future__ import annotations

from typing import Literal as Choice

import attrs

from epl.event_types import EventType
from epl.plan.contained import ContainedPlan
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowConfig


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
class FilterPlan:
    """Which events of a type (and its sub-types) match a stream: all that satisfy ``conditions``.

    ``key`` is one of them that is looked up instead of evaluated; it does not occur in ``conditions`` again. ``repeats``: those of them
    that may deliver an event more than once; the counts multiply.
    """

    event_type: EventType
    conditions: tuple[TypedExpression, ...] = ()
    key: IndexKey | None = None
    repeats: tuple[EqualConstants, ...] = ()


@attrs.frozen
class StreamPlan:
    """One stream: filter, then windows. ``event_type`` is what comes out after the windows (derived-value windows change it)."""

    filter: FilterPlan
    event_type: EventType
    windows: tuple[WindowConfig, ...] = ()
    retain: Choice["union", "intersection"] | None = None
    alias: str | None = None
    priors: tuple[TypedExpression, ...] = ()
    contained: ContainedPlan | None = None
