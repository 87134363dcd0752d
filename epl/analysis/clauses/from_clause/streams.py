"""from clause → stream plans: which events, through which windows."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

import attrs

from epl.analysis.clauses.from_clause.contained import analyse_contained
from epl.analysis.clauses.from_clause.historical import analyse_historical, is_historical
from epl.analysis.clauses.from_clause.pattern_streams import analyse_pattern
from epl.analysis.expressions.aggregations import Collector
from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.context_values import ContextRefusal
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.expressions.table_access import refuse_tables
from epl.analysis.filters.lookup import bind_filters, plan_filter
from epl.analysis.names.remedies import unknown_type
from epl.analysis.names.type_names import find_event_type
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventType
from epl.foreign_words import STREAMS, WINDOWS, word_hint
from epl.plan.patterns.pattern import PatternPlan
from epl.plan.streams import SourcePlan, StorePlan, StreamPlan
from epl.plan.windows import WindowArgument, WindowConfig, WindowRefused, check_chain, merge_groups
from epl.syntax import (
    Declaration,
    Expression,
    Ordered,
    PatternSource,
    RecognitionSource,
    Stream,
    TimePeriod,
    TypeFilter,
    View,
    Wildcard,
)
from epl.syntax.nodes import Node
from epl.unparse import expression_text

NO_DATA_WINDOW = "Consuming statements to a named window cannot declare a data window view onto the named window"
NO_SUBQUERY = "Sub-select, previous or prior functions are not supported in this context"


def analyse_stream(
    stream: Stream, catalog: Catalog, declarations: tuple[Declaration, ...] = (), hints: Mapping[str, str] | None = None
) -> tuple[StreamPlan, ScopeStream]:
    """Return one stream of a from clause: its plan, and how expressions of the statement see it. ``hints``: those of the statement."""
    source = stream.source
    if is_historical(source, catalog):
        return analyse_historical(stream, catalog, declarations)
    if isinstance(source, PatternSource):
        return _pattern_stream(stream, source, catalog, declarations, hints or {})
    if isinstance(source, RecognitionSource):
        return _recognition_stream(stream, source, catalog, declarations, hints or {})
    assert isinstance(source, TypeFilter)
    window = catalog.named_windows.get(source.type_name)
    event_type = source_type(source, catalog) if window is None else window.event_type
    inner = ScopeStream(stream.alias, event_type)
    scope = Scope(catalog, (inner,), clause="filter", declarations=declarations, allow_previous=False, in_filter=True)
    conditions = bind_filters(source.filters, scope)
    contained = None
    if source.contained:
        contained = analyse_contained(source.contained, inner, catalog, declarations, f"{event_type.name}_contained")
    comes_in = event_type if contained is None else contained.output_type
    windows, outer = analyse_windows(stream.views, comes_in, catalog, declarations)
    windows = tuple(w.with_hints(hints or {}) for w in windows)
    check_windows(windows, stream)
    planned: SourcePlan
    if window is None:
        planned = plan_filter(event_type, conditions, catalog)
    else:
        planned = StorePlan(window, conditions)
        _check_consumer(windows, stream)
    plan = StreamPlan(planned, outer, windows, stream.retain, stream.alias, contained=contained)
    has_window = window is not None or any(w.is_data_window for w in windows)
    over_window = window is not None and not windows and contained is None
    return plan, ScopeStream(stream.alias, outer, has_window=has_window, over_window=over_window)


def analyse_trigger(
    stream: Stream, catalog: Catalog, declarations: tuple[Declaration, ...] = ()
) -> tuple[StreamPlan, ScopeStream]:
    """Return the stream whose events trigger an on-statement."""
    if isinstance(stream.source, TypeFilter) and stream.source.type_name in catalog.tables:
        raise EplValidationError("Tables cannot be used in an on-action statement triggering stream", span=stream.span)
    plan, scope = analyse_stream(stream, catalog, declarations)
    refuse_pattern_annotations(plan, stream)
    return plan, scope


def refuse_pattern_annotations(plan: StreamPlan, stream: Stream) -> None:
    """Refuse a pattern that looks at several of its matches where they are joined or trigger a statement."""
    if isinstance(plan.source, PatternPlan) and (plan.source.suppress or plan.source.discard):
        raise EplValidationError(
            "Discard-partials and suppress-matches is not supported in a joins, context declaration and on-action", span=stream.span)


def _pattern_stream(
    stream: Stream, source: PatternSource, catalog: Catalog, declarations: tuple[Declaration, ...], hints: Mapping[str, str]
) -> tuple[StreamPlan, ScopeStream]:
    """Return the stream of a pattern's matches: its windows hold them as they hold events."""
    plan = analyse_pattern(source, catalog, declarations, lambda atom: type_named(atom.type_name, atom, catalog))
    windows, outer = analyse_windows(stream.views, plan.row_type, catalog, declarations)
    windows = tuple(window.with_hints(hints) for window in windows)
    check_windows(windows, stream)
    has_window = any(window.is_data_window for window in windows)
    return StreamPlan(plan, outer, windows, stream.retain, stream.alias), ScopeStream(stream.alias, outer, has_window=has_window)


def _recognition_stream(
    stream: Stream, source: RecognitionSource, catalog: Catalog, declarations: tuple[Declaration, ...], hints: Mapping[str, str]
) -> tuple[StreamPlan, ScopeStream]:
    """Return the stream of the rows of a SQL dialect's clause: its windows hold them as they hold events."""
    from epl.analysis.clauses.from_clause.recognition_streams import analyse_recognition  # the dialects are loaded where a text needs them

    read, _ = analyse_stream(Stream(source.input, span=source.input.span), catalog, declarations)
    plan = analyse_recognition(source, read, catalog.settings)
    windows, outer = analyse_windows(stream.views, plan.row_type, catalog, declarations)
    windows = tuple(window.with_hints(hints) for window in windows)
    check_windows(windows, stream)
    has_window = any(window.is_data_window for window in windows)
    return StreamPlan(plan, outer, windows, stream.retain, stream.alias), ScopeStream(stream.alias, outer, has_window=has_window)


def _check_consumer(windows: tuple[WindowConfig, ...], stream: Stream) -> None:
    """Check what a stream over a named window declares of its own: only views that compute derived values."""
    if any(window.is_data_window for window in windows):
        raise EplValidationError(NO_DATA_WINDOW, span=stream.span)


def check_windows(windows: tuple[WindowConfig, ...], stream: Stream) -> None:
    """Raise EplValidationError for data windows that do not go together."""
    try:
        check_chain(windows, stream.retain)
    except WindowRefused as error:
        raise EplValidationError(
            f"Failed to validate data window declaration: {error.message}", span=stream.views[0].span if stream.views else stream.span
        ) from error


def source_type(source: TypeFilter, catalog: Catalog) -> EventType:
    """Return the event type that a from clause names."""
    return type_named(source.type_name, source, catalog)


def type_named(name: str, node: Node, catalog: Catalog) -> EventType:
    """Return the event type of that name; refuse a table, and a name that there is not."""
    if name in catalog.tables:
        raise EplValidationError("Tables cannot be used in this context", span=node.span)
    event_type = catalog.event_types.get(name) or find_event_type(name, catalog.event_types)
    if event_type is None:
        raise EplValidationError(
            f"Failed to resolve event type, named window or table by name '{name}'", span=node.span, hint=_close(name, catalog)
        )
    return event_type


def _close(name: str, catalog: Catalog) -> str | None:
    foreign = word_hint(STREAMS, name.rpartition(".")[2])
    if foreign is not None:
        return foreign
    close = get_close_matches(name, catalog.event_types, 1)
    return f"did you mean '{close[0]}'?" if close else unknown_type(name)


def analyse_windows(
    views: Sequence[View], event_type: EventType, catalog: Catalog, declarations: tuple[Declaration, ...] = ()
) -> tuple[tuple[WindowConfig, ...], EventType]:
    """Return the windows' configs, and the event type after the last of them."""
    configs: list[WindowConfig] = []
    source = event_type
    for view in views:
        config = _window(view, event_type, source, catalog, declarations)
        configs.append(config)
        event_type = config.output_type(event_type)
    return merge_groups(configs, event_type)


def _window(view: View, event_type: EventType, source: EventType, catalog: Catalog, declarations: tuple[Declaration, ...]) -> WindowConfig:
    """Return one config. Its parameters are bound over what comes in; those of merge, like groupwin's, over the stream's own events
    (``source``)."""
    name = f"{view.namespace}:{view.name}" if view.namespace else view.name
    config_class = catalog.window_configs.get(name.lower())
    if config_class is None:
        raise EplValidationError(
            f"Failed to validate data window declaration: View name '{name}' is not a known view name", span=view.span,
            hint=_close_window(view.name, catalog)
        )
    try:
        seen = source if config_class.merges else event_type
        return config_class.from_arguments(_arguments(view, config_class, seen, catalog, declarations), event_type)
    except ContextRefusal:
        raise
    except EplValidationError as error:
        message = getattr(error, "whole_message", None) or f"Error in view '{view.name}', {error.message}"
        raise EplValidationError(
            f"Failed to validate data window declaration: {message}", span=error.span or view.span, hint=error.hint
        ) from error


def _close_window(name: str, catalog: Catalog) -> str | None:
    foreign = word_hint(WINDOWS, name)
    if foreign is not None:
        return foreign
    close = get_close_matches(name, [n for n in catalog.window_configs if ":" not in n], 1)
    return f"did you mean #{close[0]}?" if close else None


def _arguments(
    view: View, config: type[WindowConfig], event_type: EventType, catalog: Catalog, declarations: tuple[Declaration, ...]
) -> list[WindowArgument]:
    """Return the parameters, bound over the stream; the first one of an expr window also sees the window's own names and aggregations."""
    stream = (ScopeStream(None, event_type, has_window=True),)
    plain = Scope(catalog, stream, clause="view parameter", declarations=declarations, allow_previous=False,
                  subquery_refusal=NO_SUBQUERY)
    builtins = config.builtins(event_type)
    if not builtins:
        return [_argument(a, plain, i, config) for i, a in enumerate(view.arguments)]
    own = attrs.evolve(
        plain.with_locals(*builtins.items()), builtin_names=frozenset(builtins), aggregations=Collector(has_remove_stream=True)
    )
    return [_argument(a, own if i == 0 else plain, i, config) for i, a in enumerate(view.arguments)]


def _argument(written: Expression, scope: Scope, index: int, config: type[WindowConfig]) -> WindowArgument:
    if isinstance(written, Wildcard):
        return WindowArgument(written, None)
    value = written.value if isinstance(written, Ordered) else written
    descending = written.descending if isinstance(written, Ordered) else None
    try:
        typed = bind_in_clause(value, scope)
        refuse_tables(typed, value, "view parameter")
    except ContextRefusal:
        raise
    except EplValidationError as error:
        if error.message == NO_SUBQUERY and scope.builtin_names:
            raise WindowRefused(f"Invalid expiry expression: {NO_SUBQUERY}", whole=True) from error
        message = f"Invalid parameter expression {index} for {config.title} view: {error.message}"
        refused = WindowRefused(message, whole=not config.named_refusals, hint=error.hint)
        refused.span = error.span
        raise refused from error
    return WindowArgument(written, typed, descending, isinstance(value, TimePeriod), expression_text(value))
