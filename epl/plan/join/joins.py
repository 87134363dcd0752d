"""How the rows of a join are found: for each stream whose events drive it, which streams are looked up next, and how."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal as Choice

import attrs

from epl.plan.checks import check
from epl.plan.expression_text import PropertyText, expression_text
from epl.plan.expressions import StreamProperty, TypedExpression
from epl.plan.join.lookups import IndexPlan, LookupPlan

JoinKind = Choice["comma", "inner", "left", "right", "full"]


@attrs.frozen(kw_only=True)
class JoinStep:
    """Each row so far is continued with each event that ``lookup`` finds for it; one for which nothing is found is dropped.

    ``order``: the index that Esper has for the step in an outer join, for the where clause too, by which nothing is looked up here.
    ``optional``: it stays, without an event of the stream. ``then``: the steps that follow. Several are taken each by itself, and then
    combined: the one that finds fewer rows is the outer loop, of equal ones the later.
    """

    lookup: LookupPlan
    order: IndexPlan | None = None
    optional: bool = False
    then: tuple[JoinStep, ...] = ()

    @property
    def streams(self) -> Iterator[int]:
        """Yield the streams that the step and those within it look up."""
        yield self.lookup.sought
        for step in self.then:
            yield from step.streams


@attrs.frozen(kw_only=True)
class DrivePlan:
    """How rows are found for an event that enters or leaves ``stream``. ``conditions``: of the event, without which there are none.
    ``across``: of whole rows, for they relate several branches.
    """

    stream: int
    steps: tuple[JoinStep, ...]
    conditions: tuple[TypedExpression, ...] = ()
    across: tuple[TypedExpression, ...] = ()

    @property
    def streams(self) -> Iterator[int]:
        """Yield all streams, in the order in which they are known."""
        yield self.stream
        for step in self.steps:
            yield from step.streams


@attrs.frozen(kw_only=True)
class JoinPlan:
    """The join of a select. ``kinds``: of streams 1, 2, … to those before them. ``drives``: one for each stream whose events make rows,
    all of them but where some are ``unidirectional``. ``required``: streams of which every row has an event, whatever was optional.
    ``in_turn``: several steps that follow one are taken one after the other, since a historical stream may need the events of those before.
    """

    kinds: tuple[JoinKind, ...]
    drives: tuple[DrivePlan, ...]
    unidirectional: tuple[int, ...] = ()
    required: tuple[int, ...] = ()
    in_turn: bool = False

    def __attrs_post_init__(self) -> None:
        streams = list(range(len(self.kinds) + 1))
        check(self.drives != (), "a join that no stream drives")
        for drive in self.drives:
            check(sorted(drive.streams) == streams, f"steps from stream {drive.stream} that do not look up each other stream once")

    @property
    def outer(self) -> bool:
        """Whether a row may lack an event of some stream."""
        return any(kind in ("left", "right", "full") for kind in self.kinds)

    @property
    def iterated(self) -> tuple[DrivePlan, ...]:
        """Return the drives that find all rows of what the streams hold: one where each finds the same. From the stream of a value between
        ends of another only those rows are found whose ends are in order; from that of a value in a list with properties of another, those
        whose properties are equal.
        """
        return self.drives if self.outer or any(map(_finds_more, self.drives)) else self.drives[:1]

    @property
    def optional(self) -> frozenset[int]:
        """Return the streams of which a row may lack an event."""
        lacking = (each for drive in self.drives for step in drive.steps for each in _optional(step, within=False))
        return frozenset(lacking).difference(self.required)

    def iteration_index(self, stream: int) -> IndexPlan | None:
        """Return the index in whose order an iterator reads a stream; None where there is none."""
        return next((each for drive in self.drives for each in _orders(drive.steps, stream) if each is not None), None)

    def lines(self, streams: Sequence[PropertyText]) -> Iterator[str]:
        """Yield what explain() prints."""
        for drive in self.drives:
            yield f"from {_name(drive.stream, streams)}{_where(drive.conditions, streams)}:"
            yield from _steps(drive.steps, streams, "  ")
            if drive.across:
                yield f" {_where(drive.across, streams)}"
        if self.required:
            yield f"rows have an event of {', '.join(_name(stream, streams) for stream in self.required)}"


def _finds_more(part: DrivePlan | JoinStep) -> bool:
    """Return whether a look-up on the way finds rows that one from the other stream does not: between two ends, or outside of them, that
    may come in either order; of a list with more than properties. """
    steps = part.steps if isinstance(part, DrivePlan) else part.then
    if isinstance(part, JoinStep):
        lookup = part.lookup
        if any(bounds.swap or bounds.outside for bounds in lookup.bounds):
            return True
        if lookup.listed and not all(isinstance(key, StreamProperty) for key in lookup.keys):
            return True
    return any(map(_finds_more, steps))


def _optional(step: JoinStep, *, within: bool) -> Iterator[int]:
    """Yield the streams of the step and of those after it that are found or not. ``within``: so is one that the step follows."""
    within = within or step.optional
    if within:
        yield step.lookup.sought
    for each in step.then:
        yield from _optional(each, within=within)


def _orders(steps: Iterable[JoinStep], stream: int) -> Iterator[IndexPlan | None]:
    """Yield the indexes that Esper has of the stream for the steps."""
    for step in steps:
        if step.lookup.sought == stream:
            yield step.order or step.lookup.index
        yield from _orders(step.then, stream)


def _name(stream: int, streams: Sequence[PropertyText]) -> str:
    return streams[stream]("") if stream < len(streams) else f"s{stream}"


def _where(conditions: Sequence[TypedExpression], streams: Sequence[PropertyText]) -> str:
    return f" where {' and '.join(expression_text(c, streams) for c in conditions)}" if conditions else ""


def _steps(steps: Sequence[JoinStep], streams: Sequence[PropertyText], indent: str) -> Iterator[str]:
    for step in steps:
        word = "or none: " if step.optional else ""
        yield f"{indent}{_name(step.lookup.sought, streams)}: {word}{step.lookup.text(streams)}"
        yield from _steps(step.then, streams, indent + "  ")


__all__ = ["DrivePlan", "JoinKind", "JoinPlan", "JoinStep"]
