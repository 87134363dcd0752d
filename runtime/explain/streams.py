"""Streams in pictures: event type → filter → contained events → windows."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.expression_text import expression_text, of, plain
from epl.plan.expressions import TypedExpression
from epl.plan.join.historical import HistoricalPlan, StoredTablePlan
from epl.plan.patterns.pattern import PatternPlan
from epl.plan.patterns.recognition_streams import RecognitionStreamPlan
from epl.plan.streams import FilterPlan, StorePlan, StreamPlan, types_read
from epl.plan.windows import WindowConfig
from runtime.explain.graph import Drawing, NodeKind
from runtime.explain.parts import Streams, draw_pattern, join_conditions


class DrawnSources:
    """What statements read and write, each drawn once: event types, named windows, tables, variables."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self._nodes: dict[tuple[str, str], str] = {}

    def _once(self, kind: NodeKind, name: str, *lines: str) -> str:
        if (kind, name) not in self._nodes:
            self._nodes[kind, name] = self.drawing.node(kind, name, *lines, name=name)
        return self._nodes[kind, name]

    def type(self, event_type: EventType) -> str:
        return self._once("type", event_type.name)

    def store(self, name: str, what: str) -> str:
        return self._once("store", name, what)

    def variable(self, name: str) -> str:
        return self._once("variable", name)


def stream_names(streams: Sequence[StreamPlan]) -> list[str]:
    """Return what streams are called: their alias, else their type."""
    return [stream.alias or stream.event_type.name for stream in streams]


def property_texts(streams: Sequence[StreamPlan]) -> Streams:
    """Return how properties are written: those of a single stream without prefix, those of several after the stream's name."""
    return [plain] if len(streams) < 2 else [of(name) for name in stream_names(streams)]


def draw_stream(sources: DrawnSources, stream: StreamPlan, streams: Streams) -> str:
    """Draw a stream; return the node that its events come out of."""
    drawing = sources.drawing
    here = _source(sources, stream, streams)
    if stream.contained is not None:
        contained = drawing.node("filter", *(f"[{level.text}]" for level in stream.contained.levels))
        drawing.edge(here, contained)
        here = contained
    if stream.retain is None:
        for window in stream.windows:
            here = _after(drawing, here, drawing.node("window", window_text(window), window=window.names[0] if window.names else None))
        return here
    together = drawing.node("window", f"{stream.retain} of windows")
    for window in stream.windows:
        drawing.edge(_after(drawing, here, drawing.node("window", window_text(window), window=window.names[0])), together)
    return together


def _after(drawing: Drawing, before: str, node: str) -> str:
    drawing.edge(before, node)
    return node


def _source(sources: DrawnSources, stream: StreamPlan, streams: Streams) -> str:
    drawing, source = sources.drawing, stream.source
    if isinstance(source, FilterPlan):
        return _draw_filter(drawing, sources.type(source.event_type), _filter_lines(source, streams))
    if isinstance(source, StorePlan):
        conditions = join_conditions(source.conditions, streams[:1])
        return _draw_filter(drawing, sources.store(source.window.name, "named window"), [conditions] if conditions else [])
    if isinstance(source, PatternPlan):
        node = drawing.node("pattern", "pattern", *([stream.alias] if stream.alias else []))
        _, root = draw_pattern(drawing, source)
        drawing.edge(root, node, "part")
        for event_type in dict.fromkeys(types_read(source)):
            drawing.edge(sources.type(event_type), node)
        return node
    if isinstance(source, RecognitionStreamPlan):
        from runtime.explain.recognitions import draw_recognition  # the SQL dialects are loaded where a statement has one

        return draw_recognition(drawing, source, draw_stream(sources, source.input, [plain]))
    if isinstance(source, StoredTablePlan):
        conditions = join_conditions(source.conditions, streams)
        return _draw_filter(drawing, sources.store(source.table.name, "table"), [conditions] if conditions else [])
    text = source.text(streams) if isinstance(source, HistoricalPlan) else ""
    return drawing.node("call", source.title.partition(" ")[2], text)


def _draw_filter(drawing: Drawing, node: str, lines: Sequence[str]) -> str:
    return _after(drawing, node, drawing.node("filter", *lines)) if lines else node


def _filter_lines(plan: FilterPlan, streams: Streams) -> list[str]:
    lines = [expression_text(condition, streams) for condition in plan.conditions]
    if plan.key is not None:
        values = ", ".join(expression_text(value, streams) for value in plan.key.values)
        lines.insert(0, f"{plan.key.property} {f'in ({values})' if len(plan.key.values) > 1 else f'= {values}'}, looked up")
    return lines


def window_text(window: WindowConfig) -> str:
    """Return a window as it is written: ``#length(5)``."""
    name = window.names[0] if window.names else type(window).__name__.lower()
    return f"#{name}({', '.join(_parameters(window))})"


def _parameters(window: WindowConfig) -> Iterator[str]:
    for field in attrs.fields(type(window)):
        value: Any = getattr(window, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, TypedExpression):
                yield expression_text(each)
            elif isinstance(getattr(each, "expression", None), TypedExpression):  # a sort key
                yield expression_text(each.expression) + (" desc" if each.descending else "")


__all__ = ["DrawnSources", "draw_stream", "property_texts", "stream_names", "window_text"]
