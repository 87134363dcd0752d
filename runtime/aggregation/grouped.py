"""Which group a row belongs to: one for all rows, one a key, or a key of its own for each aggregation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

import attrs

from epl.attribute_text import name_attributes, name_class_attributes, once_a_class
from epl.generated_code import field_name
from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import StreamProperty, TypedExpression
from epl.plan.result_set import ReclaimGroups
from runtime.aggregation.factory import Readers, Row, row_function
from runtime.aggregation.generated_steps import GroupSteps
from runtime.aggregation.groups import AccumulatorGroup, GroupFactory, each
from runtime.aggregation.keys import key_evaluator, needs_freezing
from runtime.aggregation.state_shapes import key_shape
from runtime.expressions import Environment
from windows.keys import freeze, thaw
from windows.paging import Paged
from windows.shape import ANYTHING, DUE, INTEGER, ROW, TIME, Check, takes

Key = Any


def key_function(expressions: Sequence[TypedExpression], environment: Environment, arity: int) -> Callable[[Row], Key]:
    """Return row → group key: the value for one expression, a tuple for several."""
    environment = environment.restrict(*expressions)

    def make() -> Callable[[Row], Key]:
        if arity == 1 and not any(needs_freezing(e.type) or not isinstance(e, StreamProperty) for e in expressions):
            return attrgetter(*(field_name(e.name) for e in expressions if isinstance(e, StreamProperty)))
        values = row_function(expressions, environment, arity)
        key: Callable[[Row], Key] = key_evaluator([e.type for e in expressions], lambda row: values(row, True, ()))
        return key

    return environment.shared("key", tuple(expressions), make)


class Aggregator:
    """Takes rows in and out of their groups and finds the readers of a row's group."""

    def enter(self, row: Row) -> None:
        raise NotImplementedError

    def leave(self, row: Row) -> None:
        raise NotImplementedError

    def readers(self, row: Row) -> Readers:
        """Return the aggregations of the row's group."""
        raise NotImplementedError

    def countable_rows(self, rows: Sequence[Row]) -> Sequence[Row]:
        """Return the rows without those that are in no group since their key raised."""
        return rows

    def steps(self) -> GroupSteps | None:
        """Return the aggregator's own steps as source lines; None where it has none."""
        return None

    def objects(self) -> dict[str, Any]:
        """Return the aggregator's own objects that its steps name."""
        return {}

    def clear(self) -> None:
        raise NotImplementedError

    def state(self) -> Any:
        raise NotImplementedError

    def restore(self, state: Any) -> None:
        raise NotImplementedError

    def apply(self, new: Iterable[Row], old: Iterable[Row]) -> None:
        """Enter all of ``new``, then leave all of ``old``. A row that fails does not keep the others out; the first failure is raised in
        the end."""
        failure: Exception | None = None
        for step, rows in ((self.enter, new), (self.leave, old)):
            for row in rows:
                try:
                    step(row)
                except Exception as error:  # noqa: BLE001 - raised below, once every row is counted
                    failure = failure or error
        if failure is not None:
            raise failure


class Ungrouped(Aggregator):
    """All rows in one group."""

    def __init__(self, factory: GroupFactory) -> None:
        self.factory = factory
        self.group = factory()

    @cached_property
    def enter(self) -> Callable[[Row], None]:
        return self.group.enter

    @cached_property
    def leave(self) -> Callable[[Row], None]:
        return self.group.leave

    def readers(self, row: Row) -> Readers:
        return self.group.readers

    def clear(self) -> None:
        self.group.clear()

    def steps(self) -> GroupSteps:
        guard = f"{name_attributes('group', self.group).failed}" if self.factory.rows_leave else "False"
        return GroupSteps(guard=guard, blank=self.factory.blank)

    def objects(self) -> dict[str, Any]:
        return {"group": self.group}

    def state(self) -> Any:
        return self.group.state()

    def restore(self, state: Any) -> None:
        self.factory.restore(self.group, state)


class KeyedAggregator(Aggregator):
    """A group a key.

    A group whose last row has left can still be read until the next row enters anywhere; then it is gone, unless groups are kept
    (``keeps``). Without a remove stream (``countable_rows`` False) groups stay, unless they are reclaimed by age.

    A row whose key raises is in no group: ``failed`` remembers it until it leaves.
    """

    def __init__(
        self, factory: GroupFactory, key: Callable[[Row], Key], counted: bool, reclaim: GroupReclaim | None = None, *,
        check_key: Check, keeps: bool = False,
    ) -> None:
        self.key = key
        self._check_key = check_key
        self.factory = factory
        self._counted = counted
        self._keeps = keeps
        self.reclaim = reclaim
        self.blank = factory.blank
        self.groups: dict[Key, AccumulatorGroup] = {}
        self.pages = Paged("groups", lambda: self.groups, key_to_state, lambda key, group: [group.rows, group.state()])
        self.empty: list[Key] = []
        self.failed: dict[Row, None] = {}

    def enter(self, row: Row) -> None:
        try:
            key = self.key(row)
        except Exception:
            if self._counted:
                self.failed[row] = None
            raise
        self.enter_key(key, row)

    def leave(self, row: Row) -> None:
        if self.failed and row in self.failed:
            del self.failed[row]
            return
        self.leave_key(self.key(row), row)

    def countable_rows(self, rows: Sequence[Row]) -> Sequence[Row]:
        failed = self.failed
        return [row for row in rows if row not in failed] if failed else rows

    def enter_key(self, key: Key, row: Row) -> None:
        if self.empty:
            self.drop_empty()
        if self.reclaim is not None:
            for old in self.reclaim.touched(key):
                self.pages.forget(old)
                self.groups.pop(old, None)
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = self.factory()
        if self._counted:
            group.rows += 1
        if self.pages.touched is not None:
            self.pages.touched[key] = None
        group.enter(row)

    def leave_key(self, key: Key, row: Row) -> None:
        group = self.groups.get(key)
        if group is None:
            return
        if self.pages.touched is not None:
            self.pages.touched[key] = None
        if self._counted:
            group.rows -= 1
            if group.rows <= 0 and not self._keeps:
                self.empty.append(key)
        if self.reclaim is not None:
            self.reclaim.leave(key)
        group.leave(row)

    def drop_empty(self) -> None:
        for key in self.empty:
            group = self.groups.get(key)
            if group is not None and group.rows <= 0:
                self.pages.forget(key)
                del self.groups[key]
        self.empty.clear()

    def readers(self, row: Row) -> Readers:
        return self.group_readers(self.key(row))

    def group_readers(self, key: Key) -> Readers:
        """Return the aggregations of a key; those of an empty group where there is none."""
        group = self.groups.get(key)
        return self.blank if group is None else group.readers

    def clear(self) -> None:
        self.pages.forget_all()
        self.groups.clear()
        self.empty.clear()
        self.failed.clear()

    def steps(self) -> GroupSteps | None:
        """Return the steps; None where a hint says when groups are dropped."""
        hinted = self._keeps or self.reclaim is not None
        return None if hinted else attrs.evolve(self._steps_text(self._counted), blank=self.blank)

    def objects(self) -> dict[str, Any]:
        return {
            "keyed": self, "groups": self.groups, "group_of": self.groups.get, "make_group": self.factory, "empty": self.empty,
            "drop_empty": self.drop_empty, "pages": self.pages, "key_of": self.key, "blank": self.blank,
        }

    @once_a_class
    def _steps_text(self, counted: bool) -> GroupSteps:
        """Return the text of its steps, without its objects."""
        keyed, pages, g, gl = name_attributes("keyed", self), name_attributes("pages", self.pages), name_class_attributes("g",
            AccumulatorGroup), name_class_attributes("gl", AccumulatorGroup)
        return GroupSteps(
            guard=f"{keyed.failed}", blank=(), keyed=True, find=lambda key, group: f"{group} = group_of({key})",
            uncounted={"g": f"g is not None and {g.failed}", "gl": f"gl is None or {gl.failed}"},
            enter=(
                "if empty:", "    drop_empty()", "    g = group_of(k)", "if g is None: g = groups[k] = make_group()",
                *([f"{g.rows} += 1"] if counted else []), f"if {pages.touched} is not None: {pages.touched}[k] = None",
            ),
            leave=(
                f"if {pages.touched} is not None: {pages.touched}[kl] = None", f"{gl.rows} -= 1", f"if {gl.rows} <= 0: empty.append(kl)",
            ),
            entered=f"{g.readers}", left=f"{gl.readers}", known=f"(blank if g is None else {g.readers})",
        )

    def __len__(self) -> int:
        return len(self.groups)

    def __contains__(self, key: Key) -> bool:
        return key in self.groups

    def state(self) -> Any:
        empty = [key_to_state(key) for key in self.empty]
        return [self.pages, empty, None if self.reclaim is None else self.reclaim.state(), list(self.failed)]

    @takes(([(ANYTHING, (INTEGER, ANYTHING))], [ANYTHING], ANYTHING, [ROW]))
    def restore(self, state: Any) -> None:
        groups, empty, reclaim, failed = state
        self.clear()
        for saved, (count, inner) in groups:
            self._check_key(saved)
            key = key_from_state(saved)
            self.groups[key] = group = self.factory()
            self.factory.restore(group, inner)
            if self._counted:
                group.rows = count
        for saved in empty:
            self._check_key(saved)
            self.empty.append(key_from_state(saved))
        self.failed = {tuple(row) if isinstance(row, list) else row: None for row in failed}
        if self.reclaim is not None:
            self.reclaim.restore(reclaim)


def key_to_state(key: Key) -> Any:
    """Return a key as plain data: whether it has several parts, and the parts."""
    if type(key) is tuple:
        return [True, *[thaw(part) for part in key]]
    return [False, thaw(key)]


def key_from_state(saved: Any) -> Key:
    several, *parts = saved
    return tuple([freeze(part) for part in parts]) if several else freeze(parts[0])


class GroupReclaim:
    """Which groups have been idle for longer than ``age``; looked for every ``frequency`` at most (engine time units). ``forgetting``: what
    is called with the key of each."""

    def __init__(self, plan: ReclaimGroups, environment: Environment) -> None:
        assert environment.clock is not None
        self._clock = environment.clock
        self._age = _units(plan.age, environment)
        self._frequency = _units(plan.frequency, environment)
        self._touched: dict[Key, int] = {}
        self._pages = Paged("reclaim", lambda: self._touched, key_to_state, lambda key, at: at)
        self._next: int | None = None
        self.forgetting: list[Callable[[Key], None]] = []

    def touched(self, key: Key) -> list[Key]:
        """Return the keys to drop first where a row enters ``key``."""
        now = self._clock.now
        idle: list[Key] = []
        if self._next is None:
            self._next = now + self._frequency()
        elif self._next <= now:
            self._next = now + self._frequency()
            age = self._age()
            idle = [k for k, at in self._touched.items() if now - at > age]
            for k in idle:
                self._pages.forget(k)
                del self._touched[k]
                for forget in self.forgetting:
                    forget(k)
        self._pages.touch(key)
        self._touched[key] = now
        return idle

    def leave(self, key: Key) -> None:
        self._pages.touch(key)
        self._touched[key] = self._clock.now

    def state(self) -> Any:
        return [self._pages, self._next]

    @takes(([(ANYTHING, TIME)], DUE))
    def restore(self, state: Any) -> None:
        pairs, self._next = state
        self._touched = {key_from_state(key): at for key, at in pairs}


def _units(value: int | str, environment: Environment) -> Callable[[], int]:
    """Return a fixed number of engine time units, or a variable that holds seconds."""
    if isinstance(value, int):
        return lambda: value
    cell, per_second = environment.variables[value], environment.settings.units_per_second
    return lambda: round(cell.value * per_second)


class Separate(Aggregator):
    """Aggregations with groups of their own (``group_by:``) beside those of the statement: each slot is read from its part."""

    def __init__(self, parts: Sequence[tuple[Aggregator, Sequence[int]]]) -> None:
        self._parts = tuple(parts)
        self._size = sum(len(slots) for _, slots in parts)

    def enter(self, row: Row) -> None:
        each([aggregator.enter for aggregator, _ in self._parts], row)

    def leave(self, row: Row) -> None:
        each([aggregator.leave for aggregator, _ in self._parts], row)

    def countable_rows(self, rows: Sequence[Row]) -> Sequence[Row]:
        for aggregator, _ in self._parts:
            rows = aggregator.countable_rows(rows)
        return rows

    def readers(self, row: Row) -> Readers:
        by_slot: list[Any] = [None] * self._size
        for aggregator, slots in self._parts:
            readers = aggregator.readers(row)
            for place, slot in enumerate(slots):
                by_slot[slot] = readers[place]
        return by_slot

    def clear(self) -> None:
        for aggregator, _ in self._parts:
            aggregator.clear()

    def state(self) -> Any:
        return [aggregator.state() for aggregator, _ in self._parts]

    @takes([ANYTHING])
    def restore(self, state: Any) -> None:
        for (aggregator, _), saved in zip(self._parts, state, strict=True):
            aggregator.restore(saved)


def build_aggregator(
    plans: Sequence[AggregationPlan],
    group_by: Sequence[TypedExpression],
    environment: Environment,
    arity: int,
    *,
    unbound: bool,
    reclaim: ReclaimGroups | None = None,
) -> Aggregator:
    """Return the aggregator of a statement's rows; ``group_by`` are the statement's keys (none: one group).

    ``reclaim`` has no effect, as in Esper, where an aggregation has a ``group_by:`` of other keys.
    """
    environment = environment.restrict(plans, group_by)

    def prepare_factories() -> list[tuple[GroupFactory, tuple[TypedExpression, ...], list[int]]]:
        own = [tuple(group_by) if p.group_by is None or set(p.group_by) == set(group_by) else p.group_by for p in plans]
        levels = list(dict.fromkeys(own)) or [tuple(group_by)]
        slots = [[slot for slot, mine in enumerate(own) if mine == keys] for keys in levels]
        separate = [[attrs.evolve(plans[slot], group_by=None) for slot in each] for each in slots]
        factories = [GroupFactory(each, environment, arity, rows_leave=not unbound) for each in separate]
        return list(zip(factories, levels, slots))

    parts = environment.shared("groups", (plans, group_by), prepare_factories)
    if any(keys != tuple(group_by) for _, keys, _ in parts):
        reclaim = None
    built = [(_one(factory, keys, environment, arity, unbound, reclaim), slots) for factory, keys, slots in parts]
    return built[0][0] if len(built) == 1 else Separate(built)


def _one(
    factory: GroupFactory,
    keys: Sequence[TypedExpression],
    environment: Environment,
    arity: int,
    unbound: bool,
    reclaim: ReclaimGroups | None,
) -> Aggregator:
    if not keys:
        return Ungrouped(factory)
    keeps = reclaim is not None and reclaim.never
    return KeyedAggregator(
        factory, key_function(keys, environment, arity), not unbound,
        None if reclaim is None or keeps else GroupReclaim(reclaim, environment), keeps=keeps,
        check_key=environment.printed("key shape", tuple(keys), lambda: key_shape([key.type for key in keys])),
    )
