"""Statements of a context: where its partitions are by keys or hash numbers, all that a partition does is local to them.

One level of the context *cuts*: all events of one of its partitions have the same key. Whatever a statement does is then within one key,
provided that the level lists each type that the statement and the levels within read (events of another type go to all partitions), and
that what is in front of the level begins and ends at the same times in each engine.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from epl.analysis.filters.partitions import for_rows
from epl.analysis.partitioning.carried_keys import Insertion, insertions
from epl.analysis.partitioning.facts import Demand, Facts, Meeting, NotPartitionable, RowFeed, Way
from epl.analysis.partitioning.paths import Carrying, expression_path, may_be_key
from epl.analysis.partitioning.verdicts import HashedKey, Key, Path, key_paths
from epl.event_types import EventType
from epl.plan.context.contexts import (
    CategoryLevel,
    Context,
    ContextLevel,
    FilterCondition,
    HashLevel,
    KeyedLevel,
    LifetimeLevel,
    PatternCondition,
    full_path,
)
from epl.plan.expressions import HashNumber, TypedExpression
from epl.plan.statements import BodyPlan, SelectPlan, StatementPlan
from epl.plan.stores.named_windows import CreateWindowPlan
from epl.plan.streams import FilterPlan, types_read
from epl.plan.walk import walk_plan
from epl.plan.windows import WindowConfig
from epl.value_types import Scalar

CutLevel = KeyedLevel | HashLevel


class Cut:
    """The level of a context that cuts. ``operator``: what the context is called in a reason."""

    def __init__(self, context: Context, body: BodyPlan) -> None:
        self.operator = f"the context '{context.name}'"
        place = next((n for n, level in enumerate(context.levels) if isinstance(level, KeyedLevel)), None)
        if place is None:
            place = next((n for n, level in enumerate(context.levels) if isinstance(level, HashLevel)), None)
        if place is None:
            raise NotPartitionable(self.operator, _why_not(context.levels[0]))
        level = context.levels[place]
        assert isinstance(level, (KeyedLevel, HashLevel))
        self.level: CutLevel = level
        self.within = context.levels[place + 1 :]
        for number, outer in enumerate(context.levels[:place]):
            self._check_in_front(outer, context.levels[:number])
        if isinstance(level, HashLevel) and level.preallocate and not _waits_for_events(body):
            raise NotPartitionable(self.operator, "its preallocated partitions emit without events, in every engine")

    def _check_in_front(self, level: ContextLevel, before: Sequence[ContextLevel]) -> None:
        """Check that a level around this one begins and ends its branches alike in all engines, or only by events within them."""
        if not isinstance(level, LifetimeLevel):
            return
        if any(isinstance(condition, (FilterCondition, PatternCondition)) for condition in (level.start, level.end)):
            raise NotPartitionable(self.operator, f"events of all keys begin and end the partitions of '{level.name}', which is around")
        if any(isinstance(outer, HashLevel) and not outer.preallocate for outer in before):
            raise NotPartitionable(self.operator, f"'{level.name}', which is around, begins with events of all keys")

    def types(self) -> Iterator[EventType]:
        """Yield the types of the events that begin and end partitions, of this level and those within."""
        if isinstance(self.level, HashLevel):
            yield from (entry.event_type for entry in self.level.items)
        else:
            yield from (item.event_type for item in (*self.level.items, *self.level.initiated_by))
            for ending in types_read(self.level.terminated_by):
                if self._item_keys(ending) is None:
                    raise NotPartitionable(self.operator, f"{ending.name}, which has no key, ends partitions")
                yield ending
        yield from types_read(self.within)
        yield from (level.event_type for level in self.within if isinstance(level, CategoryLevel))

    def _item_keys(self, event_type: EventType) -> tuple[TypedExpression, ...] | None:
        """Return what events of a type are cut by; None where the level does not list it."""
        if isinstance(self.level, KeyedLevel):
            return next((item.keys for item in self.level.items if event_type.is_a(item.event_type)), None)
        return next(((entry.number,) for entry in self.level.items if event_type.is_a(entry.event_type)), None)

    def event_keys(self, event_type: EventType) -> list[Key | None]:
        """Return the keys of a type's events, by place; None for what rows cannot be split by."""
        if event_type.kind == "variant" or event_type.any_type:
            raise NotPartitionable("the stream", f"rows of several types meet in the variant stream '{event_type.name}'")
        listed = self._item_keys(event_type)
        if listed is None:
            raise NotPartitionable(self.operator, f"it has no key of {event_type.name}, so that all of its partitions get these events")
        return [_key(each) for each in listed]

    def row_keys(self, plan: CreateWindowPlan) -> list[Key | None]:
        """Return the keys of the rows of a named window."""
        window = plan.window
        assert window.source is not None
        level = for_rows((self.level,), window.source, window.event_type)[0]
        assert isinstance(level, (KeyedLevel, HashLevel))
        expressions = level.items[0].keys if isinstance(level, KeyedLevel) else (level.items[0].number,)
        return [_key(each) for each in expressions]

    def key_paths(self) -> list[Path]:
        """Return the properties of the context that are the keys, by place."""
        count = len(self.level.key_types) if isinstance(self.level, KeyedLevel) else 0
        return [full_path(self.level, f"key{number}") for number in range(1, count + 1)]


def _why_not(level: ContextLevel) -> str:
    if isinstance(level, CategoryLevel):
        return "its categories have events of all keys; only a context by keys or hash numbers is local to them"
    return "it begins and ends partitions whatever their keys; only a context by keys or hash numbers is local to them"


HASHED = {"boolean", "byte", "short", "int", "long", "float", "double", "String"}
"""Kinds of values whose hash numbers can be computed outside of an engine."""


def _key(expression: TypedExpression) -> Key | None:
    if isinstance(expression, HashNumber):
        paths = [expression_path(each) if isinstance(each.type,
            Scalar) and each.type.kind in HASHED else None for each in expression.arguments]
        if expression.function == "number" or None in paths:
            return None
        known = tuple(path for path in paths if path is not None)
        return HashedKey(expression.function, known, tuple(each.type for each in expression.arguments), expression.granularity)
    return expression_path(expression) if may_be_key(expression.type) else None


def _waits_for_events(body: BodyPlan) -> bool:
    """Return whether a partition emits nothing before it has an event."""
    if not isinstance(body, SelectPlan) or body.result_set.output is not None:
        return False
    if any(not isinstance(stream.source, FilterPlan) for stream in body.streams):
        return False
    return not any(isinstance(part, WindowConfig) and part.is_batch for part in walk_plan(body))


# ------------------------------------------------------------------ facts


def context_facts(statement: StatementPlan, context: Context) -> list[Facts]:
    """Return the facts of a statement of a context: events of equal keys have to meet, nothing else. Raise NotPartitionable where the
    context is not local to keys."""
    body = statement.body
    cut = Cut(context, body)
    keys: dict[int, tuple[EventType, list[Key | None]]] = {}
    for event_type in (*cut.types(), *_own_types(body, context)):
        if id(event_type) not in keys:
            keys[id(event_type)] = (event_type, cut.event_keys(event_type))
    stored = body.window.event_type if isinstance(body, CreateWindowPlan) else None
    if isinstance(body, CreateWindowPlan):
        keys[id(stored)] = (body.window.event_type, cut.row_keys(body))
    reads = tuple(event_type for event_type, _ in keys.values())
    ways = tuple(way for way in _ways([each for _, each in keys.values()]))
    if not ways:
        raise NotPartitionable(cut.operator, f"no key of it is a property of each of {', '.join(each.name for each in reads)}")
    inserted = list(insertions(body, cut.key_paths()))
    facts = []
    for number, read in enumerate(reads):
        demand = Demand(statement.name, cut.operator, tuple(dict.fromkeys(way[number] for way in ways)))
        feeds = tuple(_feed(each, number, reads, ways) for each in inserted)
        meetings = (Meeting(statement.name, cut.operator, reads, ways),) if number == 0 and len(reads) > 1 else ()
        facts.append(Facts(statement.name, read, (demand,), feeds, stateful=True, meetings=meetings, stored=read is stored))
    return facts


def _own_types(body: BodyPlan, context: Context) -> Iterator[EventType]:
    """Return the types of the events that a statement reads: rows of named windows of the context are those of its partition already."""
    return iter(()) if isinstance(body, CreateWindowPlan) else types_read(body)


def _ways(keys: Sequence[Sequence[Key | None]]) -> Iterator[Way]:
    """Yield, by position of the keys, those of all types, if each type has it."""
    for place in zip(*keys):
        way = tuple(key for key in place if key is not None)
        if len(way) == len(place):
            yield way


def _feed(inserted: Insertion, number: int, reads: Sequence[EventType], ways: Sequence[Way]) -> RowFeed:
    """Return what of the inserted rows is the key of events of type ``number``."""
    names: dict[str, Path] = {}
    for name, place in inserted.keys.items():
        own = ways[place][number] if place < len(ways) else None
        if isinstance(own, tuple):
            names[name] = own
    for name, (event_type, path) in inserted.properties.items():
        source = next((n for n, read in enumerate(reads) if read is event_type), None)
        here = None if source is None else path if source == number else _corresponding(path, source, number, ways)
        if here is not None:
            names[name] = here
    return RowFeed(inserted.target, (Carrying(names),))


def _corresponding(path: Path, source: int, number: int, ways: Sequence[Way]) -> Path | None:
    """Return the property of one type that is the same key as that of another one."""
    for way in ways:
        one, other = key_paths(way[source]), key_paths(way[number])
        alike = isinstance(way[source], tuple) or len(one) == len(other)
        if path in one and alike:
            return other[one.index(path)]
    return None


__all__ = ["Cut", "context_facts"]
