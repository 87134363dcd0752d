"""EPL patterns as frozen data: a tree of nodes with every decision taken; ``dump`` prints it.

The events of a match have places, one for each tag, in the order in which tags are declared. In expressions tag number n is stream n + 1;
stream 0 is the event that a filter looks at.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

import attrs

from epl.event_types import EventType
from epl.plan.contained import ContainedPlan
from epl.plan.crontab import CrontabPlan
from epl.plan.expression_text import PropertyText, expression_text, of, plain
from epl.plan.expressions import TypedExpression
from epl.plan.filter_specifications import FilterSpecification
from epl.plan.streams import SourcePlan, StreamPlan


@attrs.frozen
class PatternTag:
    """What a tag stands for in the row of a match: an event, or where it is within a repetition (``repeated``) the array of them."""

    name: str
    event_type: EventType
    repeated: bool = False


@attrs.frozen(kw_only=True)
class PatternNode:
    """One operator: a closed family, of which runtime.pattern has a class for each."""

    children: ClassVar[tuple[str, ...]] = ()
    """The fields that hold nodes, or tuples of them."""

    def inner(self) -> Iterator[PatternNode]:
        """Yield the nodes directly below this one."""
        for name in self.children:
            value = getattr(self, name)
            yield from value if isinstance(value, tuple) else () if value is None else (value,)

    def title(self, text: Text) -> str:
        """Return the line that describes the node."""
        raise NotImplementedError

    def places(self) -> tuple[int, ...]:
        """Return the places of a match that the node or one below it fills, ascending."""
        return tuple(sorted({place for node in self.nodes() if isinstance(node, FilterNode) and (place := node.place) is not None}))

    def nodes(self) -> Iterator[PatternNode]:
        yield self
        for node in self.inner():
            yield from node.nodes()


Text = Callable[[TypedExpression], str]


@attrs.frozen(kw_only=True)
class FilterNode(PatternNode):
    """An atom. ``place``: that of its tag, None without one. ``consume``: its level, 0 where none is written. ``conditions``: all of them,
    for a person to read; ``filter`` says what is looked up."""

    filter: FilterSpecification
    conditions: tuple[TypedExpression, ...] = ()
    place: int | None = None
    tag: str | None = None
    contained: ContainedPlan | None = None
    consume: int = 0

    def title(self, text: Text) -> str:
        conditions = " and ".join(map(text, self.conditions))
        looked_up = self._lookup_text()
        return "".join([
            f"{self.tag}=" if self.tag else "", self.filter.event_type.name, f" where {conditions}" if conditions else "",
            f", found by {looked_up}" if looked_up else "", f", consumes at level {self.consume}" if self.consume else ""])

    def _lookup_text(self) -> str:
        specification = self.filter
        lookups = [*specification.equal, *(each for each in (specification.listed, specification.range) if each is not None)]
        return ", ".join(expression_text(each.expression, [plain]) for each in lookups)


@attrs.frozen(kw_only=True)
class EveryNode(PatternNode):
    children = ("item",)
    item: PatternNode

    def title(self, text: Text) -> str:
        return "every"


@attrs.frozen(kw_only=True)
class EveryDistinctNode(PatternNode):
    """``expiry``: how long a key counts; None: for ever."""

    children = ("item",)
    item: PatternNode
    keys: tuple[TypedExpression, ...]
    expiry: TypedExpression | None = None

    def title(self, text: Text) -> str:
        return f"every-distinct {', '.join(map(text, self.keys))}" + (f" for {text(self.expiry)}" if self.expiry is not None else "")


@attrs.frozen(kw_only=True)
class FollowedByNode(PatternNode):
    """``limits``: for each arrow the most instances of what follows it that may wait at once, None where there is no limit."""

    children = ("items",)
    items: tuple[PatternNode, ...]
    limits: tuple[TypedExpression | None, ...]

    def title(self, text: Text) -> str:
        limits = [f"at most {text(limit)} of number {number}" for number, limit in enumerate(self.limits, 1) if limit is not None]
        return ", ".join(["followed by", *limits])


@attrs.frozen(kw_only=True)
class AndNode(PatternNode):
    children = ("items",)
    items: tuple[PatternNode, ...]

    def title(self, text: Text) -> str:
        return "and"


@attrs.frozen(kw_only=True)
class OrNode(PatternNode):
    children = ("items",)
    items: tuple[PatternNode, ...]

    def title(self, text: Text) -> str:
        return "or"


@attrs.frozen(kw_only=True)
class NotNode(PatternNode):
    children = ("item",)
    item: PatternNode

    def title(self, text: Text) -> str:
        return "not"


@attrs.frozen(kw_only=True)
class UntilNode(PatternNode):
    """``[low:high] item until until``. ``exact``: ``[n]``, which has ``low`` alone."""

    children = ("item", "until")
    item: PatternNode
    until: PatternNode | None = None
    low: TypedExpression | None = None
    high: TypedExpression | None = None
    exact: bool = False

    def title(self, text: Text) -> str:
        low, high = ("" if bound is None else text(bound) for bound in (self.low, self.high))
        bounds = f"[{low}] " if self.exact else f"[{low}:{high}] " if low or high else ""
        return f"repeat {bounds}".rstrip() + (" until" if self.until is not None else "")


@attrs.frozen(kw_only=True)
class WithinNode(PatternNode):
    """``item where timer:within(period)``; ``most``: of ``timer:withinmax``, the number of matches that pass."""

    children = ("item",)
    item: PatternNode
    period: TypedExpression
    most: TypedExpression | None = None

    def title(self, text: Text) -> str:
        return f"within {text(self.period)}" + (f", at most {text(self.most)}" if self.most is not None else "")


@attrs.frozen(kw_only=True)
class WhileNode(PatternNode):
    children = ("item",)
    item: PatternNode
    condition: TypedExpression

    def title(self, text: Text) -> str:
        return f"while {text(self.condition)}"


@attrs.frozen(kw_only=True)
class IntervalNode(PatternNode):
    period: TypedExpression

    def title(self, text: Text) -> str:
        return f"timer interval {text(self.period)}"


@attrs.frozen(kw_only=True)
class CrontabNode(PatternNode):
    """``text``: the observer as written, for refusals."""

    crontab: CrontabPlan
    text: str = ""

    def title(self, text: Text) -> str:
        return "timer at " + ", ".join(field.kind if field.value is None else text(field.value) for field in self.crontab.fields)


@attrs.frozen(kw_only=True)
class ScheduleNode(PatternNode):
    """``timer:schedule``: from ``date`` on, ``repetitions`` times (-1: for ever), every ``period``; ``iso``: all of them in one text."""

    iso: TypedExpression | None = None
    date: TypedExpression | None = None
    repetitions: TypedExpression | None = None
    period: TypedExpression | None = None

    def title(self, text: Text) -> str:
        parts = [("iso", self.iso), ("from", self.date), ("times", self.repetitions), ("every", self.period)]
        return "timer schedule " + ", ".join(f"{name} {text(part)}" for name, part in parts if part is not None)


@attrs.frozen(kw_only=True)
class PatternPlan(SourcePlan):
    """A stream of matches: events of ``row_type``, which has a property for each tag, those of single events first.

    ``row``: the places of a match in the order of the type's properties. ``suppress``: of matches that share an event only the first is
    emitted; ``discard``: partial matches with an event of a match end.
    """

    title: ClassVar[str] = "a pattern"
    row_type: EventType
    tags: tuple[PatternTag, ...]
    row: tuple[int, ...]
    root: PatternNode
    suppress: bool = False
    discard: bool = False

    def dump(self) -> str:
        """Return the tree, an operator a line."""
        marks = [mark for mark, is_set in (("suppresses overlapping matches", self.suppress),
                                           ("discards partial matches on a match", self.discard)) if is_set]
        return "\n".join([*marks, *_lines(self.root, self._text, "")])

    def node_title(self, node: PatternNode) -> str:
        """Return the line that describes a node of the tree."""
        return node.title(self._text)

    def _text(self, expression: TypedExpression) -> str:
        streams: Sequence[PropertyText] = [plain, *(of(tag.name) for tag in self.tags)]
        return expression_text(expression, streams)


def _lines(node: PatternNode, text: Text, indent: str) -> Iterator[str]:
    yield indent + node.title(text)
    for inner in node.inner():
        yield from _lines(inner, text, indent + "  ")


def stream_pattern(stream: StreamPlan) -> PatternPlan | None:
    """Return the plan of a stream over a pattern; None for any other."""
    return stream.source if isinstance(stream.source, PatternPlan) else None


__all__ = [
    "AndNode", "CrontabNode", "EveryDistinctNode", "EveryNode", "FilterNode", "FollowedByNode", "IntervalNode", "NotNode", "OrNode",
    "PatternNode", "PatternPlan", "PatternTag", "ScheduleNode", "UntilNode", "WhileNode", "WithinNode", "stream_pattern",
]
