"""A stream over ``match_recognize`` of a SQL dialect: the rows of the clause's table."""
from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import attrs

from epl.event_types import EventType
from epl.plan.expression_text import expression_text, plain
from epl.plan.streams import FilterPlan, SourcePlan, StreamPlan
from epl.plan.walk import REFERENCE

if TYPE_CHECKING:
    from epl.dialects.plans import RecognitionPlan


MAX_BUFFERED = 1_000_000
"""How many rows of a clause wait where nothing is said."""


@attrs.frozen(kw_only=True)
class OrderPolicy:
    """How rows come into the order of their times. ``bound``: how much later than the newest row another one may be; None: rows do not
    wait. ``on_late``: rows that are later still are dropped, refused (an error), given to the handler of conditions (side), or, without a
    bound, kept at the newest time. ``ahead``: how far beyond the clock a time may be. ``max_buffered``: how many rows may wait. Times in
    engine units."""

    bound: int | None = None
    on_late: str = "drop"
    ahead: int | None = None
    max_buffered: int = MAX_BUFFERED

    @property
    def depends_on_all_rows(self) -> bool:
        """Whether the rows of one key are processed by what those of others say."""
        return self.bound is not None or self.ahead is not None or self.max_buffered != MAX_BUFFERED

    def dump(self, units: str = "") -> str:
        """Return what is not as it is without a word."""
        said = [
            "" if self.bound is None else f"rows wait {self.bound}{units} for earlier ones",
            "" if self.on_late == "drop" else f"late rows: {self.on_late}",
            "" if self.ahead is None else f"at most {self.ahead}{units} ahead of the clock",
            "" if self.max_buffered == MAX_BUFFERED else f"at most {self.max_buffered} rows wait",
        ]
        return "".join(f", {each}" for each in said if each)


@attrs.frozen(kw_only=True)
class RecognitionStreamPlan(SourcePlan):
    """Events of ``row_type``, one a row of the table. ``input``: the stream that is read; ``properties``: those of its events that are the
    columns of the clause's rows. ``clause``: what is done with the rows. ``text``: the clause as it is written; ``reason``: why it is of
    its dialect. ``order``: how its rows come into order."""

    title: ClassVar[str] = "a match_recognize of a SQL dialect"
    row_type: EventType
    input: StreamPlan
    properties: tuple[str, ...]
    clause: RecognitionPlan = attrs.field(metadata=REFERENCE, eq=False)
    text: str
    reason: str = ""
    order: OrderPolicy = OrderPolicy()

    def dump(self) -> str:
        """Return lines for a person: the dialect and why, what is read, what the clause says."""
        names = [column.name or "" for column in self.clause.input.columns]
        lines = [
            f"dialect: {self.clause.dialect}, because {self.reason}",
            *self._read(),
        ]
        if self.clause.partition:
            lines.append("partition by: " + ", ".join(names[place] if place < len(names) else "an expression"
                                                      for place in self.clause.partition))
        if self.clause.order:
            first, *others = (names[place] + (" desc" if down else "") for place, down, _ in self.clause.order)
            further = f", then {', '.join(others)}: rows of one time wait until a later one" if others else ""
            lines.append(f"order: by time {first}{further}{self.order.dump()}")
        skip = self.clause.skip
        lines += [
            f"rows per match: {'all' if self.clause.all_rows else 'one'}",
            f"after match: skip {skip.kind}{f' {skip.name}' if skip.name else ''}",
            f"clause: {' '.join(self.text.split())}",
        ]
        if self.clause.within is not None:
            lines.insert(-1, f"within: {self.clause.within} ms")
        return "\n".join(lines)

    def _read(self) -> list[str]:
        source = self.input.source
        if isinstance(source, RecognitionStreamPlan):
            return ["rows of: another clause", *_indent(source.dump())]
        assert isinstance(source, FilterPlan)
        tests = " and ".join(expression_text(each, [plain]) for each in source.conditions)
        return [f"rows of: {source.event_type.name}{f' where {tests}' if tests else ''}"]


def _indent(lines: str) -> list[str]:
    return [f"  {line}" for line in lines.split("\n")]


def stream_recognition(stream: StreamPlan) -> RecognitionStreamPlan | None:
    """Return the plan of a stream over a clause of a SQL dialect; None for any other."""
    return stream.source if isinstance(stream.source, RecognitionStreamPlan) else None


__all__ = ["MAX_BUFFERED", "OrderPolicy", "RecognitionStreamPlan", "stream_recognition"]
