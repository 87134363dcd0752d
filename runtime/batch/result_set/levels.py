"""Several groupings of the same events in one kernel: the levels of a rollup, and aggregations with groups of their own (``group_by:``).

Each level has groups and accumulators of its own. What they print names arrays and registers as if there were one level; ``Level.text``
puts the level's number after these names, and ``LevelArrays`` finds the arrays again for the host.
"""
from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Protocol, TypeVar

import attrs

from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import Constant, TypedExpression
from epl.plan.result_set import ResultSetPlan
from runtime.batch.accumulators import AccumulatorPrinter, accumulator
from runtime.batch.printing.expressions import ScalarText
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.result_set.groups import REGISTERS, GroupKeys
from runtime.batch.runs.order_and_limit import FinishPlan, plan_finish
from runtime.batch.runs.ring import Ring
from runtime.batch.storage.arrays import CODES, ONE, RING, Array, ArrayField, Arrays
from runtime.batch.storage.registers import Registers
from runtime.batch.windows import Window

SHARED = (RING, CODES, ONE, "registers")
"""Axes that the arrays of all levels have in common."""
MADE = ("nt", "g_at")
VARIABLES = (*REGISTERS.names, *MADE)


class LevelEvents(Protocol):
    """What select kernels read of events (runtime.batch.result_set.events), as far as a level differs from its statement."""

    leaves: bool
    rows: ResultSetPlan
    groups: GroupKeys | None
    accumulators: list[AccumulatorPrinter]
    finish: FinishPlan | None


EventsT = TypeVar("EventsT", bound=LevelEvents)


@attrs.frozen
class GroupingLevel:
    """``groups`` and ``accumulators`` of one grouping, which may be all events together (None); ``number`` distinguishes it from the
    others; ``slots``: the numbers of the aggregations among those of the statement."""

    number: int
    groups: GroupKeys | None
    accumulators: tuple[AccumulatorPrinter, ...]
    slots: tuple[int, ...] = ()

    @property
    def own(self) -> tuple[ArrayField, ...]:
        """The fields under the names that the parts give them."""
        groups = () if self.groups is None else self.groups.fields()
        return (*groups, *(field for each in self.accumulators for field in each.fields()))

    @property
    def names(self) -> dict[str, str]:
        """Name as the parts print it → name in the kernel."""
        return {name: f"{name}_{self.number}" for name in (*(field.name for field in self.own), *VARIABLES)}

    def axis(self, axis: str) -> str:
        return axis if axis in SHARED else f"{axis} {self.number}"

    def fields(self) -> list[ArrayField]:
        return [attrs.evolve(field, name=f"{field.name}_{self.number}", axis=self.axis(field.axis)) for field in self.own]

    def registers(self) -> tuple[str, Registers]:
        return f"g_registers_{self.number}", REGISTERS.rename(f"_{self.number}")

    def value(self, slot: int) -> ScalarText:
        """Return the value of one of the statement's aggregations for the group in ``g_at``."""
        value = self.accumulators[self.slots.index(slot)].value("0" if self.groups is None else "g_at")
        return ScalarText(self.text(value.value), None if value.valid is None else self.text(value.valid))

    def text(self, text: str) -> str:
        """Return what the parts have printed, as the kernel has it."""
        names = self.names
        return re.sub(rf"\b({'|'.join(map(re.escape, names))})\b", lambda match: names[match.group(1)], text)

    def print(self, code: Code, part: Callable[[Code], None]) -> None:
        """Add what the part prints."""
        inner = Code()
        part(inner)
        code.add(*self.text("\n".join(inner.lines)).split("\n") if inner.lines else ())

    def arrays(self, arrays: Arrays) -> LevelArrays:
        return LevelArrays(arrays, self)

    def ring(self, ring: Ring) -> Ring:
        """Return the ring as this level has it: with the groups that its events are in here."""
        own = attrs.evolve(ring, arrays=self.arrays(ring.arrays), once={})
        own.slots = None
        if ring.store is not None and self.groups is not None and self.groups.windowed:
            own.slots = lambda positions: own.at("w_g", positions)
        return own


class LevelArrays(Arrays):
    """A kernel's arrays under the names and axes of one level."""

    def __init__(self, arrays: Arrays, level: GroupingLevel) -> None:
        self._arrays, self._level, self._names = arrays, level, level.names

    @property
    def sizes(self) -> Mapping[str, int]:  # type: ignore[override]
        axes = {field.axis for field in self._level.own} | set(SHARED)
        return {axis: self._arrays.sizes[self._level.axis(axis)] for axis in axes if self._level.axis(axis) in self._arrays.sizes}

    @property
    def arrays(self) -> Mapping[str, Array]:  # type: ignore[override]
        arrays = self._arrays.arrays
        return {**arrays, **{name: arrays[own] for name, own in self._names.items() if own in arrays}}

    def __getitem__(self, name: str) -> Array:
        return self._arrays[self._names.get(name, name)]

    def grow(self, axis: str, needed: int, head: int = 0, tail: int = 0) -> None:
        self._arrays.grow(self._level.axis(axis), needed, head, tail)


def build_accumulators(plans: Sequence[AggregationPlan], window: Window | None) -> tuple[AccumulatorPrinter, ...]:
    return tuple(accumulator(plan, number, window) for number, plan in enumerate(plans))


def rollup_levels(of: EventsT, rows: ResultSetPlan, window: Window | None) -> list[tuple[GroupingLevel, EventsT]]:
    """Return the levels of a rollup, each with what its columns read."""
    levels = []
    for number, plan in enumerate(rows.levels):
        keys: tuple[TypedExpression, ...] = tuple(rows.group_by[place] for place in plan.keys)
        left_out = frozenset(range(len(rows.group_by))) - set(plan.keys)
        groups = GroupKeys(rows.group_by, of.leaves, ordered=False, at_once=False, tuples=True, left_out=left_out)
        columns = tuple(_column(whole, own, rows.group_by, left_out) for whole, own in zip(rows.columns, plan.columns, strict=True))
        level = GroupingLevel(number, groups, build_accumulators(rows.aggregations, window))
        events = copy.copy(of)
        events.rows = attrs.evolve(
            rows, shape="grouped fully aggregated", group_by=keys, columns=columns, having=plan.having, order_by=plan.order_by, levels=(),
        )
        events.groups, events.accumulators, events.finish = groups, list(level.accumulators), plan_finish(events.rows)
        levels.append((level, events))
    return levels


def _column(whole: TypedExpression, own: TypedExpression, keys: Sequence[TypedExpression], left_out: Set[int]) -> TypedExpression:
    """Return a column as a level prints it: a property that the level omits as a key is read from the words, where it is null. ``own``: as
    it is computed in the level, over properties that are null."""
    return whole if isinstance(own, Constant) and own.value is None and whole in keys and keys.index(whole) in left_out else own


def local_groups(of: EventsT, rows: ResultSetPlan, window: Window | None) -> list[tuple[GroupingLevel, EventsT]]:
    """Return the groupings of aggregations as ``runtime.aggregation.grouped.build_aggregator`` has them; none where all are those of the
    statement."""
    plans, keys_of = rows.aggregations, rows.group_by
    own = [keys_of if p.group_by is None or set(p.group_by) == set(keys_of) else p.group_by for p in plans]
    if all(keys == keys_of for keys in own):
        return []
    if rows.shape not in ("aggregated", "grouped aggregated", "grouped fully aggregated"):
        raise NotCompilable(f"aggregations with groups of their own in the shape {rows.shape}")
    if rows.output is not None and rows.output.selector != "default":
        raise NotCompilable("aggregations with groups of their own after an output clause")
    levels = []
    for number, keys in enumerate(dict.fromkeys(own)):
        slots = tuple(slot for slot, mine in enumerate(own) if mine == keys)
        groups = GroupKeys(keys, of.leaves, ordered=False) if keys else None
        level = GroupingLevel(number, groups, build_accumulators([attrs.evolve(plans[slot], group_by=None) for slot in slots], window),
            slots)
        events = copy.copy(of)
        events.groups, events.accumulators = groups, list(level.accumulators)
        levels.append((level, events))
    return levels


__all__ = ["GroupingLevel", "LevelArrays", "local_groups", "rollup_levels"]
