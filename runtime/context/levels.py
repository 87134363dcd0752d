"""Levels of a context: how branches are found and begun by keys, hash numbers, categories and lifetimes."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from epl.java_hash import hash_of_keys, in_hash_order
from epl.plan.context import contexts as plan
from epl.plan.context.contexts import CATEGORY, HASH, ContextLevel, HashItem, KeyedItem
from runtime.context.branches import AFTER, BEFORE, Branch, Moment, Tree
from runtime.context.conditions import Occurrence, RunningCondition, check_properties, condition
from runtime.event_loop.prepared_filters import ActiveFilter, Unless
from runtime.expressions.print_keys import is_plain_key
from runtime.operators.operator_context import OperatorContext
from windows.event import Event
from windows.keys import freeze, key_evaluator, key_of_values, values_of_key
from windows.protocol import Damaged, State

Key = Any


def path_hash(branch: Branch | None) -> int:
    """Return the hash of the places of a branch and those around it, outermost first."""
    return 0 if branch is None else 31 * path_hash(branch.level.outer) + branch.place


class LevelBase:
    """What all kinds have in common.

    ``tree``: the context; ``depth``: 0 outermost; ``outer``: the branch around; ``begun``: how many of the branches have begun;
    ``hash_of``: the hash of a branch among those of the level, None where they are in no hash map, or by identities.
    """

    plan: ContextLevel

    def __init__(self, tree: Tree, depth: int, outer: Branch | None) -> None:
        self.tree = tree
        self.depth = depth
        self.outer = outer
        self.branches: dict[Key, Branch] = {}
        self.begun = 0
        self.hash_of: Callable[[Branch], int] | None = attrgetter("place")
        self._context: OperatorContext | None = None

    @property
    def context(self) -> OperatorContext:
        """What conditions of the level are built with: they read the properties of the levels around."""
        if self._context is None:
            self._context = self.tree.operator_context(self.outer)
        return self._context

    def _own_properties(self, branch: Branch) -> dict[str, Any]:
        """Return the branch's own properties by name."""
        prefix = "".join(f"{name}." for name in self.plan.prefix)
        around: Mapping[str, Any] = {} if self.outer is None else self.outer.properties
        return {name[len(prefix):]: value for name, value in branch.properties.items() if name not in around and name not in ("id", "name")}

    # ------------------------------------------------------------------ the level

    def start(self) -> None:
        raise NotImplementedError

    def resume(self) -> None:
        for branch in self.branches.values():
            if branch.end is not None:
                branch.end.start()
            if branch.inner is not None:
                branch.inner.resume()

    def stop(self) -> None:
        if self._context is not None:
            self._context.close()
            self._context = None

    def ending_condition(self, branch: Branch) -> RunningCondition | None:
        return None

    def end_branch(self, branch: Branch, occurrence: Occurrence) -> None:
        """End a branch whose condition has come true."""
        self.tree.close(branch, occurrence.properties)

    # ------------------------------------------------------------------ order

    def next_place(self, key: Key) -> int:
        self.begun += 1
        return self.begun - 1

    def in_order(self) -> list[Branch]:
        """Return the branches in the order in which they end with the one around: that of the hash map in which Esper has all branches of
        this depth, by 31 times the hash of the one around plus that of their own key. It never shrinks."""
        around, branches, hash_of = 31 * path_hash(self.outer), list(self.branches.values()), self.hash_of
        if hash_of is None:
            return branches
        return [branches[place] for place in in_hash_order([around + hash_of(each) for each in branches], self.tree.most_at[self.depth])]

    # ------------------------------------------------------------------ state

    def state(self) -> State:
        return [self.beginning_state(), [
            [self.key_state(branch), branch.number, self._own_properties(branch), branch.partition,
             None if branch.end is None else branch.end.state(), None if branch.inner is None else branch.inner.state(),
             self.tree.place_of_statement(branch.since), branch.place]
            for branch in self.branches.values()
        ], self.begun]

    def restore(self, state: State) -> None:
        """Take a state; older versions had no ``place`` and no ``since`` of branches and no ``begun``."""
        if not isinstance(state, (list, tuple)) or len(state) not in (2, 3) or not isinstance(state[1], (list, tuple)):
            raise Damaged("a level of a context")
        beginning, branches, *begun = state
        self.restore_beginning(beginning)
        for each in branches:
            if not isinstance(each, (list, tuple)) or len(each) not in (6, 7, 8):
                raise Damaged("a context partition")
            state_of_key, number, own, partition, end, inner, *rest = each
            since: Any = rest[0] if rest else 0
            place: Any = rest[1] if len(rest) == 2 else None
            key = self.key_of_state(state_of_key, own)
            branch = self.tree.restore_branch(self, key, number, check_properties(own), partition, end, inner, since)
            branch.place = self.next_place(key) if place is None else place
        self.begun = begun[0] if begun else self.begun
        if type(self.begun) is not int or not all(type(branch.place) is int for branch in self.branches.values()):
            raise Damaged("the places of context partitions")

    def key_state(self, branch: Branch) -> State:
        return branch.key

    def key_of_state(self, key: State, own: Mapping[str, Any]) -> Key:
        if type(key) is not int:
            raise Damaged("a key of a context partition is not a number")
        return key

    def beginning_state(self) -> State:
        return None

    def restore_beginning(self, state: State) -> None:
        if state is not None:
            raise Damaged("what begins partitions has no state")


# ------------------------------------------------------------------ by keys


class ItemEntry:
    """One event type of a level by keys or hash numbers: its events belong to one branch each, which they begin where it is not there."""

    def __init__(self, level: ByKey, item: KeyedItem | HashItem, key: Callable[[Event], Key]) -> None:
        self._level = level
        self._item = item
        self._key = key
        self._alias = item.alias if isinstance(item, KeyedItem) else None
        self._active: ActiveFilter | None = None

    def start(self) -> None:
        level = self._level
        prepared = level.context.prepare(self._item.filter, level.depth, unless=level.current_keys(self._item))
        self._active = prepared.activate(level.context.values(prepared), self)
        self._active.turn = level.context.turn

    def stop(self) -> None:
        if self._active is not None:
            self._active.deactivate()
            self._active = None

    def receive(self, event: Event) -> None:
        level = self._level
        if event is level.ended_by:
            return
        key = self._key(event)
        if key not in level.branches:
            own = level.own(key)
            if self._alias is not None:
                own[self._alias] = event
            level.tree.open(level, key, own, Occurrence({}, (event,), event))


class ByKey(LevelBase):
    """Branches that events begin, found by a key of the event. ``ended_by``: the last event that has ended one, which begins none."""

    ended_by: Event | None = None

    def end_branch(self, branch: Branch, occurrence: Occurrence) -> None:
        self.ended_by = occurrence.event
        super().end_branch(branch, occurrence)

    def entries(self) -> Sequence[ItemEntry]:
        raise NotImplementedError

    def own(self, key: Key) -> dict[str, Any]:
        """Return the properties of the branch of a key."""
        raise NotImplementedError

    def current_keys(self, item: KeyedItem | HashItem) -> Unless | None:
        """Return the keys whose events begin no branch, where the filter index can look them up."""
        return None

    def __init__(self, tree: Tree, depth: int, outer: Branch | None) -> None:
        super().__init__(tree, depth, outer)
        self._entries: Sequence[ItemEntry] = ()

    def start(self) -> None:
        self._entries = self.entries()
        for entry in self._entries:
            entry.start()

    def resume(self) -> None:
        self.start()
        super().resume()

    def stop(self) -> None:
        for entry in self._entries:
            entry.stop()
        super().stop()


class KeyedBranches(ByKey):
    def __init__(self, level: plan.KeyedLevel, tree: Tree, depth: int, outer: Branch | None) -> None:
        super().__init__(tree, depth, outer)
        self.plan: plan.KeyedLevel = level
        self._names = [f"key{n}" for n in range(1, len(level.key_types) + 1)]
        hash_of_key = tree.shared(("hash", level), partial(hash_of_keys, level.key_types))
        self.hash_of = None if hash_of_key is None else lambda branch: hash_of_key(branch.key)

    def entries(self) -> Sequence[ItemEntry]:
        tree = self.tree
        items = self.plan.initiated_by or self.plan.items
        return [ItemEntry(self, item, tree.shared(("key", item), partial(key_evaluator, item.keys, tree.base))) for item in items]

    def start(self) -> None:
        """Begin. An event that begins the branch around does not count as one that alone begins a partition, as in Esper."""
        self.tree.core.filters.run_action(super().start, counts=not self.plan.initiated_by)

    def current_keys(self, item: KeyedItem | HashItem) -> Unless | None:
        """Return the keys of the outermost level: an event that ends a branch begins none."""
        keys = item.keys if isinstance(item, KeyedItem) else ()
        if self.outer is not None or not all(map(is_plain_key, keys)):
            return None
        return Unless(keys, self.branches)

    def own(self, key: Key) -> dict[str, Any]:
        return dict(zip(self._names, values_of_key(key, len(self._names))))

    def ending_condition(self, branch: Branch) -> RunningCondition | None:
        end = self.plan.terminated_by
        if end is None:
            return None
        return condition(end, self.tree.operator_context(branch, AFTER), lambda occurrence: self.end_branch(branch, occurrence),
            depth=self.depth,
                         number=branch.number)

    def key_state(self, branch: Branch) -> State:
        return None

    def key_of_state(self, key: State, own: Mapping[str, Any]) -> Key:
        try:
            return key_of_values([own[name] for name in self._names], self.plan.key_types)
        except (KeyError, TypeError) as error:
            raise Damaged(f"the keys of a context partition: {error}") from error


class Hashed(ByKey):
    def __init__(self, level: plan.HashLevel, tree: Tree, depth: int, outer: Branch | None) -> None:
        super().__init__(tree, depth, outer)
        self.plan: plan.HashLevel = level
        if level.preallocate:
            self.hash_of = None

    def entries(self) -> Sequence[ItemEntry]:
        if self.plan.preallocate:
            return ()
        tree = self.tree
        return [ItemEntry(self, item, tree.shared(("number", item), partial(tree.base.evaluator, item.number))) for item in self.plan.items]

    def own(self, key: Key) -> dict[str, Any]:
        return {HASH: key}

    def next_place(self, key: Key) -> int:
        return int(key)

    def start(self) -> None:
        if self.plan.preallocate:
            for number in range(self.plan.granularity):
                self.tree.open(self, number, self.own(number), Occurrence())
        super().start()

    def resume(self) -> None:
        ByKey.start(self)
        LevelBase.resume(self)


# ------------------------------------------------------------------ categories


class Categories(LevelBase):
    def __init__(self, level: plan.CategoryLevel, tree: Tree, depth: int, outer: Branch | None) -> None:
        super().__init__(tree, depth, outer)
        self.plan: plan.CategoryLevel = level
        self.hash_of = None

    def start(self) -> None:
        """Begin. As in Esper they do not see the event that begins the branch around them."""
        for place, label in enumerate(self.plan.labels):
            self.tree.open(self, place, {CATEGORY: place, "label": label}, None)


# ------------------------------------------------------------------ lifetimes


class Lifetimes(LevelBase):
    """Branches that a condition begins, each until its own end comes true: one after the other, or overlapping."""

    def __init__(self, level: plan.LifetimeLevel, tree: Tree, depth: int, outer: Branch | None) -> None:
        super().__init__(tree, depth, outer)
        self.plan: plan.LifetimeLevel = level
        self._beginning: RunningCondition | None = None
        self._since: Moment | None = None
        """When ``_beginning`` has started; None where that is when the context has."""
        self._distinct: dict[Key, int] = {}
        """The values that begin no branch, and the number of the branch that has them."""
        self._distinct_of: dict[int, Key] = {}
        """Of each branch that lives, by its number."""

    def _new_beginning(self, since: Moment | None, *, at_once: bool = False) -> RunningCondition:
        self._since = since
        if since is not None:
            self.context.turn = self.tree.filter_turn(since)
        return condition(self.plan.start, self.context, self._begin_branch, depth=self.depth, number=-1 if self.outer is None else
                         self.outer.number, overlapping=self.plan.overlapping, at_once=at_once)

    def start(self) -> None:
        """Begin. As in Esper a pattern does not see the event that begins the branch around; it may be true from the beginning, the first
        time."""
        if self.plan.start is not None:
            self._beginning = self._new_beginning(None if self.outer is None else self.tree.moment(), at_once=True)
            self.tree.core.filters.run_action(self._beginning.start, counts=not isinstance(self.plan.start, plan.PatternCondition))
        if self.plan.now or self._is_open():
            self._begin_branch(Occurrence())

    def resume(self) -> None:
        if self._beginning is not None:
            if self._since is not None:
                self.context.turn = self.tree.filter_turn(self._since)
            self._beginning.start()
        super().resume()

    def stop(self) -> None:
        self._stop_beginning()
        super().stop()

    def _stop_beginning(self) -> None:
        if self._beginning is not None:
            self._beginning.stop()
            self._beginning = None

    def _is_open(self) -> bool:
        """Return whether a time of day has begun already: the end does not come after the next start, or the start is now."""
        start, end = self.plan.start, self.plan.end
        if self.plan.overlapping or self._beginning is None or self._beginning.due is None:
            return False
        if isinstance(start, plan.AfterCondition):
            return self._beginning.due <= self.context.now()
        if not isinstance(start, plan.CrontabCondition) or not isinstance(end, plan.CrontabCondition):
            return False
        next_end = condition(end, self.context, self._begin_branch, depth=self.depth, number=0).next_time()
        return next_end is not None and next_end <= self._beginning.due

    def _begin_branch(self, occurrence: Occurrence) -> None:
        if self.tree.is_gone(self):  # a timer that was due when the branch around ended
            return
        if self.plan.overlapping:
            self._open(occurrence)
            return
        self._stop_beginning()
        if not self._open(occurrence) and self.plan.start is not None:
            self._begin_again()  # a limit has prevented it

    def _begin_again(self) -> None:
        self._beginning = self._new_beginning(self.tree.moment())
        self._beginning.start()

    def _open(self, occurrence: Occurrence) -> bool:
        """Begin a branch, unless a limit or one with equal distinct values prevents it; return whether it has begun. As in Esper the values
        of the event that begins the branch around are not remembered."""
        own = {**occurrence.properties, "startTime": self.context.now(), "endTime": None}
        distinct = None
        if self.plan.distinct:
            self.tree.tested = occurrence.event
            distinct = self._distinct_key(own)
            if distinct in self._distinct:
                return False
        branch = self.tree.open(self, self.tree.next_number(), own, occurrence)
        if branch is None:
            return False
        if self.plan.distinct:
            if occurrence.event is None or occurrence.event is not self.tree.starting:
                self._distinct[distinct] = branch.number
            self._distinct_of[branch.number] = distinct
        return True

    def _distinct_key(self, own: Mapping[str, Any]) -> Key:
        values: Callable[[Mapping[str, Any]], Sequence[Any]] = self.tree.shared(
            ("distinct", self.plan), lambda: self.tree.compile_values(self.plan.distinct))
        return tuple(freeze(value) for value in values(self.tree.branch_properties(self, own)))

    def ending_condition(self, branch: Branch) -> RunningCondition | None:
        context = self.tree.operator_context(branch, BEFORE)
        return condition(self.plan.end, context, lambda occurrence: self.end_branch(branch, occurrence), depth=self.depth,
            number=branch.number)

    def end_branch(self, branch: Branch, occurrence: Occurrence) -> None:
        super().end_branch(branch, occurrence)
        if self.plan.distinct and branch.number in self._distinct_of:
            self._distinct.pop(self._distinct_of.pop(branch.number), None)
        if self.plan.overlapping or self.tree.is_gone(self):
            return
        if self.plan.start is None:
            self._open(Occurrence())
            return
        self.tree.begins_again(self.tree.core.filters.run_action(self._begin_again), occurrence.event)

    # ------------------------------------------------------------------ state

    def beginning_state(self) -> State:
        if self._beginning is None:
            return None
        since = None if self._since is None else [self.tree.place_of_statement(self._since[0]), *self._since[1:]]
        return [self._beginning.state(), [*self._distinct.values()] if self.plan.distinct else None, since]

    def restore_beginning(self, state: State) -> None:
        """Take a state; older versions had no ``since``, and the distinct values only where the level has them."""
        if state is not None:
            if not isinstance(state, (list, tuple)) or len(state) not in (1, 2, 3):
                raise Damaged("the state of what begins partitions")
            since = state[2] if len(state) == 3 else None
            self._beginning = self._new_beginning(None if since is None else self._read_moment(since))
            self._beginning.restore(state[0])

    def _read_moment(self, state: State) -> Moment:
        if not isinstance(state, (list, tuple)) or len(state) != 3 or not all(type(each) is int for each in state):
            raise Damaged("when a context's condition has started")
        return self.tree.statement_number(state[0]), state[1], state[2]

    def restore(self, state: State) -> None:
        super().restore(state)
        if self.plan.distinct:
            self._distinct_of = {branch.number: self._distinct_key(self._own_properties(branch)) for branch in self.branches.values()}
            beginning: Any = state[0]  # a list, as the level has found
            remembered = [*self._distinct_of] if beginning is None or len(beginning) < 2 else beginning[1]  # of older versions: all
            if not isinstance(remembered, (list, tuple)) or not all(type(each) is int and each in self._distinct_of for each in remembered):
                raise Damaged("the distinct values of context partitions")
            self._distinct = {self._distinct_of[number]: number for number in remembered}


KINDS: Mapping[type[ContextLevel], Callable[..., LevelBase]] = {
    plan.KeyedLevel: KeyedBranches, plan.HashLevel: Hashed, plan.CategoryLevel: Categories, plan.LifetimeLevel: Lifetimes,
}


def build_level(level: ContextLevel, tree: Tree, depth: int, outer: Branch | None) -> LevelBase:
    """Return what runs for a level within a branch of the one around it."""
    return KINDS[type(level)](level, tree, depth, outer)


__all__ = ["LevelBase", "build_level"]
