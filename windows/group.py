"""``groupwin(keys)`` and ``merge(keys)``: one window a key."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from epl.event_types import EventType, Property
from epl.plan.expressions import Constant, TypedExpression
from epl.plan.windows import Locality, WindowArgument, WindowConfig, WindowRefused
from epl.value_types import DOUBLE, is_null
from windows.event import NO_EVENTS, Event, event_class
from windows.failures import Failures, pair_keys
from windows.group_context import GroupAccess, GroupContext
from windows.keys import Key, key_evaluator, key_of_values, may_change
from windows.paging import Paged
from windows.parameters import Duration, key_arguments
from windows.protocol import BuildContext, RandomAccess, RowReceiver, View
from windows.shape import ANYTHING, DUE, EVENT, TIME, compile_check, optional, takes

__all__ = ["GroupView", "GroupWin", "Merge"]


@attrs.frozen
class GroupWin(WindowConfig):
    """Gives each key windows of its own. Their deltas are emitted as they occur, group by group.

    ``reclaim_aged``, ``reclaim_frequency`` (seconds): groups that saw no event for longer are forgotten, events and all, without a word
    to the child; looked for when an event comes in, no more often than the frequency.

    ::

        groupwin(k)#length(1)   E1(a)   E2(b)   E3(a)   delete E2
        contents                1       1 2     3 2     3
        new                     E1      E2      E3      -
        old                     -       -       E1      E2
    """

    names = ("groupwin",)
    reads_whole_events = False
    namespace = "std"
    title = "Group-By"
    is_data_window = False
    groups = True

    keys: tuple[TypedExpression, ...]
    key_names: tuple[str, ...] = ()
    reclaim_aged: float | None = None
    reclaim_frequency: float | None = None

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> GroupWin:
        message = "Group-By view requires a one or more expressions provinding unique values as parameters"
        keys = key_arguments(arguments, cls.title, message)
        if any(is_null(key.type) for key in keys):
            raise WindowRefused("Group-window received a null-typed criteria expression")
        return cls(keys, tuple(a.text for a in arguments if a.typed is not None))

    @property
    def locality(self) -> Locality | None:
        return None if self.reclaim_aged is not None else Locality(self.keys)

    def merge(self, event_type: EventType) -> Merge:
        return Merge.of(self.keys, self.key_names, event_type)

    def with_hints(self, hints: Mapping[str, str]) -> GroupWin:
        aged = hints.get("reclaim_group_aged")
        if aged is None:
            return self
        frequency = hints.get("reclaim_group_freq", aged)
        return attrs.evolve(self, reclaim_aged=float(aged), reclaim_frequency=float(frequency))


@attrs.frozen
class Merge(WindowConfig):
    """``merge(keys)``: ends a groupwin. Rows of derived-value windows get the group's keys; downstream windows see all groups together.

    Where it is not written it is at the end of the chain. ``row_type``: the type of rows with keys, None where rows are events and have
    them.
    """

    names = ("merge",)
    reads_whole_events = False
    namespace = "std"
    title = "Group-By-Merge"
    is_data_window = False
    merges = True

    keys: tuple[TypedExpression, ...]
    added: tuple[int, ...] = attrs.field(default=(), eq=False)
    row_type: EventType | None = attrs.field(default=None, eq=False)

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> Merge:
        criteria = [(a.typed, a.text) for a in arguments if a.typed is not None]
        keys = tuple(typed for typed, _ in criteria)
        if any(event_type.property(text) is not None for _, text in criteria):
            return cls(keys)
        return cls.of(keys, tuple(text for _, text in criteria), event_type)

    @classmethod
    def of(cls, keys: tuple[TypedExpression, ...], key_names: tuple[str, ...], event_type: EventType) -> Merge:
        """Return the merge for rows. ``event_type``: of the rows that the derived-value windows of a group emit."""
        added = tuple(i for i, name in enumerate(key_names) if event_type.property(name) is None)
        properties = {**event_type.properties, **{key_names[i]: Property(key_names[i], keys[i].type.boxed) for i in added}}
        return cls(keys, added, EventType(event_type.name, event_type.kind, properties, is_bus=False))

    def output_type(self, event_type: EventType) -> EventType:
        return self.row_type or event_type


class KeyAdder:
    """Downstream of one group's windows: puts the group's keys into its rows. A row that leaves is the one that has come: ``widened`` has
    those that are there."""

    def __init__(self, merge: Merge, values: Sequence[Any], owner: GroupView) -> None:
        assert merge.row_type is not None
        self.make = event_class(merge.row_type)
        self.keys = [values[i] for i in merge.added]
        self.owner = owner
        self.widened: dict[Event, Event] = {}

    def widen(self, row: Event) -> Event:
        kept = self.widened.get(row)
        return self.make(*row.values(), *self.keys) if kept is None else kept

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        for row in new:
            self.widened[row] = self.widen(row)
        rows, gone = [self.widened[row] for row in new], [self.widen(row) for row in old]
        for row in old:
            self.widened.pop(row, None)
        self.owner.child.update(rows, gone)

    def state(self) -> Any:
        return [list(pair) for pair in self.widened.items()]

    @takes([(EVENT, EVENT)])
    def restore(self, state: Any) -> None:
        self.widened = dict(state)


class KeyKeeper:
    """Downstream of one group's windows: notes under which key events are held, where it may be another one when they leave."""

    def __init__(self, key: Key, held: dict[Event, Key], child: RowReceiver) -> None:
        self.key = key
        self.held = held
        self.child = child

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        held, key = self.held, self.key
        for event in new:
            held[event] = key
        for event in old:
            held.pop(event, None)
        self.child.update(new, old)


_OF_GROUP = compile_check((TIME, ANYTHING))


class Group:
    """One group: its windows, what answers prev, the values of its keys, when it last changed."""

    __slots__ = ("access", "adder", "touched", "values", "view")

    def __init__(self, view: View, access: RandomAccess | None, values: list[Any], adder: KeyAdder | None) -> None:
        self.view = view
        self.access = access
        self.values = values
        self.adder = adder
        self.touched = 0

    def state(self) -> Any:
        return [self.touched, self.view.state(), *([] if self.adder is None else [self.adder.state()])]

    @takes([ANYTHING])
    def restore(self, state: Any) -> None:
        _OF_GROUP(state[:2])
        self.touched, kept, *rows = state
        self.view.restore(kept)
        if self.adder is not None and rows:  # a former version did not keep them
            self.adder.restore(rows[0])


class GroupView(View):
    """See GroupWin. ``make`` builds a group's windows in a context and connects nothing; ``batches``: whether one of them is a batch."""

    def __init__(
        self, config: GroupWin, merge: Merge | None, make: Callable[[GroupContext], View], context: BuildContext, *, batches: bool = False
    ) -> None:
        self.merge = merge if merge is not None and merge.row_type is not None else None
        self.key = key_evaluator(config.keys, context)
        self.key_types = [k.type for k in config.keys]
        self.key_values = [context.evaluator(k) for k in config.keys]
        self.make = make
        self.access = GroupAccess(self._event_group if batches else None)
        self.groups: dict[Key, Group] = {}
        self._held: dict[Event, Key] | None = {} if may_change(config.keys) and self.merge is None else None
        self.context = GroupContext(context, self.access, self.groups)
        self.pages = Paged(
            "groupwin", lambda: self.groups, lambda key: self.groups[key].values, lambda key, group: group.state())
        self.context.touch = self.pages.touch
        self.now = context.now
        self.reclaim = None if config.reclaim_aged is None else Reclaim(config.reclaim_aged, config.reclaim_frequency, context)
        context.publish_random_access(self.access)

    def __iter__(self) -> Iterator[Event]:
        for group in self.groups.values():
            yield from group.view if group.adder is None else map(group.adder.widen, group.view)

    def _make_group(self, key: Key, values: list[Any]) -> Group:
        """Return the group's windows, made when its first event comes."""
        self.context.published = None
        self.context.key = key
        view = self.make(self.context)
        adder = None if self.merge is None else KeyAdder(self.merge, values, self)
        view.child = adder or (self.child if self._held is None else KeyKeeper(key, self._held, self.child))
        group = self.groups[key] = Group(view, self.context.published, values, adder)
        return group

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        if len(new) == 1 and not old:
            self._update_group(self.key(new[0]), new, NO_EVENTS)
            return
        failures = Failures()
        deltas: dict[Key, tuple[list[Event], list[Event]]] = {}
        for event, key in pair_keys(new, self.key, failures):
            deltas.setdefault(key, ([], []))[0].append(event)
        for event in old:
            for key in self._keys_held(event):
                deltas.setdefault(key, ([], []))[1].append(event)
        for key, delta in deltas.items():
            failures.attempt(self._update_group, key, *delta)
        failures.settle()

    def end_partition(self) -> None:
        for group in self.groups.values():
            group.view.end_partition()

    def _keys_held(self, event: Event) -> Sequence[Key]:
        """Return the key of the group that may hold an event that leaves; searched for where it cannot be computed any more."""
        if self._held is not None and event in self._held:
            return (self._held[event],)
        try:
            return (self.key(event),)
        except Exception:  # noqa: BLE001 - reported when the event came; it may be held all the same
            return [key for key, group in self.groups.items() if any(held is event for held in group.view)]

    def _event_group(self, event: Event | None) -> Group | None:
        """Return the group that holds the event; None is that of a row of an outer join without one."""
        return None if event is None else next((self.groups[key] for key in self._keys_held(event) if key in self.groups), None)

    def _update_group(self, key: Key, new: Sequence[Event], old: Sequence[Event]) -> None:
        if self.reclaim is not None:
            self._reclaim()
        group = self.groups.get(key)
        if group is None:
            event = new[0] if new else old[0]
            group = self._make_group(key, [value(event) for value in self.key_values])
        if self.reclaim is not None:
            group.touched = self.now()
        if self.pages.touched is not None:
            self.pages.touched[key] = None
        self.access.current = group
        group.view.update(new, old)

    def _reclaim(self) -> None:
        assert self.reclaim is not None
        limit = self.reclaim.limit(self.now())
        if limit is None:
            return
        for key in [k for k, g in self.groups.items() if g.touched < limit]:
            self.pages.forget(key)
            view = self.groups.pop(key).view
            if self._held is not None:
                for event in view:
                    self._held.pop(event, None)
            view.close()

    def state(self) -> Any:
        current = self.access.current
        return {
            "groups": self.pages, "next_look": None if self.reclaim is None else self.reclaim.next_look,
            "current": None if current is None else current.values,
        }

    @takes({"groups": [(ANYTHING, [ANYTHING])], "next_look": DUE, "current": optional([ANYTHING])})
    def restore(self, state: Any) -> None:
        for values, saved in state["groups"]:
            group = self._make_group(key_of_values(values, self.key_types), list(values))
            group.restore(saved)
            if self._held is not None:
                self._held.update(dict.fromkeys(group.view, key_of_values(values, self.key_types)))
        if self.reclaim is not None:
            self.reclaim.next_look = state["next_look"]
        current = state["current"]
        self.access.current = None if current is None else self.groups.get(key_of_values(current, self.key_types))

    def close(self) -> None:
        for group in self.groups.values():
            group.view.close()


class Reclaim:
    """When to look for groups to forget, and which: ``next_look`` is set by the first event."""

    def __init__(self, aged: float, frequency: float | None, context: BuildContext) -> None:
        self.aged = Duration(context, Constant(type=DOUBLE, value=aged))
        self.frequency = Duration(context, Constant(type=DOUBLE, value=aged if frequency is None else frequency))
        self.next_look: int | None = None

    def limit(self, now: int) -> int | None:
        """Discard groups that have not changed since this time; None where it is not time to look."""
        if self.next_look is None:
            self.next_look = self.frequency.after(now)
            return None
        if now < self.next_look:
            return None
        self.next_look = self.frequency.after(now)
        return self.aged.before(now)
