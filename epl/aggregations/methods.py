"""Methods of aggregations: those that keep events, ``window(*).countEvents()``, ``sorted(price).floorEvent(10)``, and sketches.

A method is data; the readers of runtime.aggregation have the Python methods named in ``python``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal as Choice

import attrs


@attrs.frozen
class AggregationMethod:
    """``parameters``: key (a value of the sort criterion's type), flag (a boolean), value (an expression over the event found), counted
    (what a sketch counts). ``result``: event, events, key, map (key → events), value (of the parameter), boolean, int, long, top values."""

    name: str
    python: str
    result: Choice["event", "events", "key", "map", "value", "boolean", "int", "long", "top values"]
    parameters: tuple[Choice["key", "flag", "value", "counted"], ...] = ()
    summary: str = ""


def _by_name(*methods: AggregationMethod) -> Mapping[str, AggregationMethod]:
    return {method.name.lower(): method for method in methods}


def _near(word: str, summary: str) -> tuple[AggregationMethod, ...]:
    """…Event, …Events and …Key of one direction."""
    return (
        AggregationMethod(f"{word}Event", f"{word}_event", "event", ("key",), f"the first event of the {summary}"),
        AggregationMethod(f"{word}Events", f"{word}_events", "events", ("key",), f"the events of the {summary}"),
        AggregationMethod(f"{word}Key", f"{word}_key", "key", ("key",), f"the {summary}"),
    )


Kind = Choice["key", "flag", "value"]
BETWEEN: tuple[Kind, ...] = ("key", "flag", "key", "flag")

WINDOW_METHODS = _by_name(
    AggregationMethod("first", "first_event", "event", summary="the oldest event"),
    AggregationMethod("last", "last_event", "event", summary="the newest event"),
    AggregationMethod("window", "events", "events", summary="all events in order of arrival; null without events"),
    AggregationMethod("countEvents", "count_events", "int", summary="how many events there are"),
    AggregationMethod("listReference", "all_events", "events", summary="all events in order of arrival"),
)
"""Of ``window``, by name in lower case. ``first``, ``last`` and ``window`` also take ``*`` or an expression over the event, ``first`` and
``last`` also ``*`` and a constant index."""

SORTED_METHODS = _by_name(
    *_near("floor", "largest key that is not above the one given"),
    *_near("ceiling", "smallest key that is not below the one given"),
    *_near("lower", "largest key below the one given"),
    *_near("higher", "smallest key above the one given"),
    AggregationMethod("firstEvent", "first_event", "event", summary="the first event of the smallest key"),
    AggregationMethod("firstEvents", "first_events", "events", summary="the events of the smallest key"),
    AggregationMethod("firstKey", "first_key", "key", summary="the smallest key"),
    AggregationMethod("lastEvent", "last_event", "event", summary="the first event of the largest key"),
    AggregationMethod("lastEvents", "last_events", "events", summary="the events of the largest key"),
    AggregationMethod("lastKey", "last_key", "key", summary="the largest key"),
    AggregationMethod("minBy", "first_event", "event", summary="the first event of the smallest key"),
    AggregationMethod("maxBy", "last_event", "event", summary="the first event of the largest key"),
    AggregationMethod("sorted", "all_events", "events", summary="all events in order"),
    AggregationMethod("getEvent", "get_event", "event", ("key",), "the first event of a key"),
    AggregationMethod("getEvents", "get_events", "events", ("key",), "the events of a key"),
    AggregationMethod("containsKey", "contains_key", "boolean", ("key",), "whether a key has events"),
    AggregationMethod("countEvents", "count_events", "int", summary="how many events there are"),
    AggregationMethod("countKeys", "count_keys", "int", summary="how many keys there are"),
    AggregationMethod("eventsBetween", "range_events", "events", BETWEEN, "the events of keys between two; flags include the ends"),
    AggregationMethod("subMap", "sub_map", "map", BETWEEN, "keys between two with their events"),
    AggregationMethod("navigableMapReference", "all_keys", "map", summary="all keys with their events"),
)
"""Of ``sorted``, by name in lower case."""

SKETCH_METHODS = _by_name(
    AggregationMethod("countMinSketchFrequency", "frequency", "long", ("counted",), "how often a value has come, at most"),
    AggregationMethod("countMinSketchTopk", "top_values", "top values", (), "the most frequent values, each with value and frequency"),
)
"""Of ``countMinSketch``, by name in lower case."""

METHODS: Mapping[str, Mapping[str, AggregationMethod]] = {
    "window": WINDOW_METHODS, "sorted": SORTED_METHODS, "countminsketch": SKETCH_METHODS,
}
"""By the aggregation's canonical name."""

__all__ = ["METHODS", "AggregationMethod"]
