"""What a running statement holds at a moment: events in windows, partial matches of row patterns and of patterns."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from epl.plan.patterns.match_recognize import Program, RowRecognitionPlan
from epl.plan.streams import StreamPlan
from runtime.context.partitioned import RunningInContext
from runtime.explain.streams import stream_names, window_text
from runtime.match_recognize.row_recognition import RowRecognition
from runtime.operators.subquery import SubqueryStream
from runtime.pattern.entries import PatternEntry
from runtime.pattern.instances import Instance, match_events
from runtime.pattern.machine import PatternMachine
from runtime.statements.create_window import RunningCreateWindow
from runtime.statements.running import Running
from runtime.statements.select_statement import SelectOperators
from runtime.statements.statement_output import StatementOutput
from runtime.statements.with_subqueries import WithSubqueries
from windows.event import Event

MOST_PATHS = 64
"""Partial matches of one partition that a recording follows; a picture of more would show nothing."""
Taken = tuple[tuple[str, Event], ...]
"""The events of a partial match, each with its variable or tag, in order."""


def running_parts(statement: StatementOutput) -> Iterator[tuple[str, Running]]:
    """Yield what runs for the statement, one for each partition of its context, which is named."""
    running = statement.running
    if isinstance(running, RunningInContext):
        for number, (each, _) in running.instances.items():
            yield f"partition {number}", each
    else:
        yield "", running


def statement_windows(statement: StatementOutput) -> Iterator[tuple[str, Iterable[Event]]]:
    """Yield each window of the statement and the events in it now, those of sub-queries last."""
    for partition, running in running_parts(statement):
        subqueries = []
        if isinstance(running, WithSubqueries):
            subqueries = [each for each in running.subqueries.streams if isinstance(each, SubqueryStream) and each.plan.windows]
            running = running.statement
        if isinstance(running, RunningCreateWindow):
            yield _title(statement.name, "", partition), running.iterate()
        elif isinstance(running, SelectOperators):
            several = len(running.streams) > 1
            names = stream_names([stream.plan for stream in running.streams])
            for name, stream in zip(names, running.streams):
                if stream.plan.windows:
                    yield _title(_windows_text(stream.plan), name if several else "", partition), stream.chain
        for each in subqueries:
            name = f"sub-query {each.plan.alias or each.plan.event_type.name}"
            yield _title(_windows_text(each.plan), name, partition), each.chain


def _windows_text(stream: StreamPlan) -> str:
    return "".join(map(window_text, stream.windows)) + (f" {stream.retain}" if stream.retain else "")


def _title(window: str, stream: str, partition: str) -> str:
    return " ".join(part for part in (stream, window, f"({partition})" if partition else "") if part)


# ---------------------------------------------------------------------- partial matches


def statement_partials(statement: StatementOutput) -> Iterator[Taken]:
    """Yield the partial matches that the statement holds now."""
    for _, running in running_parts(statement):
        if isinstance(running, WithSubqueries):
            running = running.statement
        if not isinstance(running, SelectOperators):
            continue
        for stream in running.streams:
            if isinstance(stream.entry, PatternEntry):
                yield from dict.fromkeys(_of_pattern(stream.entry.machine))
        recognizer = getattr(running, "recognizer", None)
        plan = getattr(running.plan, "row_recognition", None)
        if isinstance(recognizer, RowRecognition) and plan is not None:
            yield from _of_row_pattern(recognizer, plan)


def _of_row_pattern(recognizer: RowRecognition, plan: RowRecognitionPlan) -> Iterator[Taken]:
    """Yield the state says it: rows with the steps that they took (runtime.match_recognize.state)."""
    program = plan.program
    for _, (_, written, nodes) in recognizer.state()["partitions"]:
        paths = _paths_of_nodes(written, nodes) if nodes or not written else _paths_of_layers(program, *written)
        for path in dict.fromkeys(tuple(path) for path in paths):
            yield tuple((plan.variables[program.steps[step].variable], event) for step, event in path)


def _paths_of_nodes(written: Sequence[Any], nodes: Sequence[Any]) -> Iterator[list[tuple[int, Event]]]:
    for _, _, number, _ in written:
        path: list[tuple[int, Event]] = []
        while number >= 0:
            number, event, step = nodes[number]
            path.append((step, event))
        yield path[::-1]


def _paths_of_layers(program: Program, horizon: int, latest: Any, layers: Sequence[Any]) -> list[list[tuple[int, Event]]]:
    """Return the ways through neighbouring rows along the program's links that still lead on."""
    steps = program.steps
    paths: list[list[tuple[int, Event]]] = []
    for event, row, taken in layers if latest is not None else ():
        numbers = [step for step in range(len(steps)) if taken >> step & 1]
        longer = [[*path, (step, event)] for path in paths for step in numbers if step in steps[path[-1][0]].then]
        begun = [[(step, event)] for step in numbers if step in program.start and row > horizon]
        paths = [*longer, *begun][:MOST_PATHS]
    return [path for path in paths if steps[path[-1][0]].then]


def _of_pattern(machine: PatternMachine) -> Iterator[Taken]:
    root = machine.root
    if root is not None:
        tags = [tag.name for tag in machine.plan.tags]
        for events in _of_instance(root, {}):
            yield tuple((tags[place], event) for event, place in events.items())


def _of_instance(instance: Instance, above: dict[Event, int]) -> Iterator[dict[Event, int]]:
    """Yield the events that each instance below holds and their places, those of what is above it too; nothing where that is none."""
    own = {**above, **_place_events(instance.match)}
    for match in _matches_held(instance):
        own |= _place_events(match)
    children = list(_children(instance))
    if not children and own:
        yield own
    for child in children:
        yield from _of_instance(child, own)


def _place_events(match: Sequence[Any]) -> dict[Event, int]:
    return {event: place for place, each in enumerate(match) for event in match_events((each,))}


def _slots(instance: Instance) -> Iterator[Any]:
    for kind in type(instance).__mro__:
        for name in getattr(kind, "__slots__", ()):
            if name not in ("match", "parent"):
                yield getattr(instance, name, None)


def _children(instance: Instance) -> Iterator[Instance]:
    for value in _slots(instance):
        for each in value if isinstance(value, (list, tuple, dict)) else (value,):
            if isinstance(each, Instance):
                yield each


def _matches_held(instance: Instance) -> Iterator[Sequence[Any]]:
    """Matches of items that wait for those of others (and), repetitions so far (until), by place."""
    held = getattr(instance, "matches", None)
    if held is not None:
        yield from (match for of_item in held for match in of_item)
    arrays = getattr(instance, "arrays", None)
    until = getattr(instance, "until_", None)
    if arrays is not None and until is not None:
        match: list[Any] = [None] * len(instance.match)
        for place, events in zip(until.item.places, arrays):
            match[place] = tuple(events)
        yield match


__all__ = ["Taken", "statement_partials", "statement_windows"]
