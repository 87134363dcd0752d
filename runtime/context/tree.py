"""A context at run time: the tree of its branches, the partitions, and the statements that have an instance for each."""
from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from epl.errors import EplRuntimeError
from epl.java_hash import in_hash_order
from epl.plan.context.contexts import Context, HashLevel, KeyedLevel
from epl.plan.expressions import TypedExpression
from runtime.context.branches import WITHIN, Branch, Level, Moment
from runtime.context.changes import ContextChange, ContextChangeKind, ContextListener
from runtime.context.conditions import Occurrence
from runtime.context.levels import build_level
from runtime.context.selectors import describe_partition
from runtime.event_loop.prepared_filters import ActiveFilter
from runtime.event_loop.receiver_order import compute_turn
from runtime.operators.operator_context import LAST, OperatorContext, StatementContext
from windows.event import Event
from windows.protocol import Damaged, State

T = TypeVar("T")


class InContext(Protocol):
    """A statement of the context."""

    name: str

    @property
    def number(self) -> int: ...

    @property
    def computes_last(self) -> bool:
        """Whether the rows of an event are computed once all streams of the statement have it, those of its sub-queries too."""

    def begin(self, number: int, properties: Mapping[str, Any]) -> None: ...

    def end(self, number: int) -> None: ...


class ContextTree:
    """Lives from the first of its statements to the last; ids are counted from 0 each time.

    ``partitions``: by ``context.id``, in the order in which they began. ``most``: how many there have been at once; ``most_at``: of
    branches, by depth. ``base``: what is compiled of the context reads no branch. ``starting``: the event that is given to what it has
    started. ``tested``: the last one whose distinct values were looked at.
    """

    def __init__(self, context: Context, statement: StatementContext) -> None:
        self.context = context
        self.statement = statement
        self.core = statement.core
        self.base = OperatorContext(statement, late=context.is_nested)
        self.partitions: dict[int, Branch] = {}
        self.most = 0
        self._size_at = [0] * len(context.levels)
        self.most_at = [0] * len(context.levels)
        self.statements: dict[InContext, None] = {}
        self._computing_last: set[int] = set()
        """The numbers of those that compute rows last."""
        self.listeners: Sequence[ContextListener] = ()
        self._beginning_again: list[ActiveFilter] = []
        """What has started to begin partitions since ``_ending`` ended some: it gets that event only if statements of one of them match
        it, too."""
        self._ending: Event | None = None
        self.starting: Event | None = None
        self.tested: Event | None = None
        self._shared: dict[tuple[str, int], Any] = {}
        self._next_id = self._next_number = 0
        self._root: Level | None = None
        self._is_restored = False
        self._added = 0
        """The number of the statement that is being added; 0 at other times."""

    # ------------------------------------------------------------------ statements

    def add(self, statement: InContext) -> None:
        """Let a statement have an instance for each partition from now on."""
        first = not self.statements
        self.statements[statement] = None
        if statement.computes_last:
            self._computing_last.add(statement.number)
        self._tell("statement_added", statement=statement.name)
        self._added = statement.number
        try:
            self._add(statement, first=first)
        finally:
            self._added = 0

    def _add(self, statement: InContext, *, first: bool) -> None:
        if self._root is not None:
            for number, branch in tuple(self.partitions.items()):
                statement.begin(number, branch.properties)
        if first:
            self._activate()
            self._tell("activated")

    def _activate(self) -> None:
        """Begin, the first statement having come: go on where a state was restored."""
        self.base.turn = compute_turn(self._added)
        if self._is_restored:
            self._is_restored = False
            if self._root is not None:
                self._root.resume()
                return
        if self._root is None:
            self._next_id = self._next_number = self.most = 0
            self.most_at = [0] * len(self.context.levels)
            self._root = build_level(self.context.levels[0], self, 0, None)
            self._root.start()

    def remove(self, statement: InContext) -> None:
        """Forget a statement, which has ended its instances; after the last one all partitions end."""
        if statement not in self.statements:
            return
        del self.statements[statement]
        self._computing_last.discard(statement.number)
        self._tell("statement_removed", statement=statement.name)
        if not self.statements and self._root is not None:
            root, self._root = self._root, None
            self._drop(root)
            self.partitions.clear()
            self._tell("deactivated")

    def _drop(self, level: Level) -> None:
        """End a level and all within it."""
        level.stop()
        for branch in tuple(level.branches.values()):
            self.close(branch, {})

    # ------------------------------------------------------------------ branches

    def in_order(self) -> dict[int, Branch]:
        """Return the partitions in the order of iterators and queries, which is that of Esper's hash map of their ids. It never shrinks."""
        numbers = list(self.partitions)
        return {numbers[place]: self.partitions[numbers[place]] for place in in_hash_order(numbers, self.most)}

    def next_number(self) -> int:
        self._next_number = number = self._next_number + 1
        return number - 1

    def branch_properties(self, level: Level, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the properties of a branch with these of its own: those of the levels around it too."""
        prefix = "".join(f"{name}." for name in level.plan.prefix)
        around: Mapping[str, Any] = {"name": self.context.name} if level.outer is None else level.outer.properties
        named = {f"{prefix}name": level.plan.name} if prefix else {}
        return {**around, **named, **{f"{prefix}{name}": value for name, value in own.items()}}

    def open(self, level: Level, key: Any, own: Mapping[str, Any], occurrence: Occurrence | None) -> Branch | None:
        """Begin a branch, and give its statements and levels the events that count for them. None where there are as many partitions as
        there may be: that is an error, and the handler is called. Without an ``occurrence`` it gets none of the events that have begun
        the branch around it."""
        limit = self.core.settings.max_partitions
        if limit is not None and len(self.partitions) >= limit:
            event = occurrence.events[-1] if occurrence is not None and occurrence.events else None
            self.core.on_error(EplRuntimeError(
                f"Context '{self.context.name}' has reached its limit of {limit} partitions: none begins", hint="Settings(max_partitions=…)"
            ), self.statement.plan.name, event)
            return None
        self._note()
        number = self.next_number() if isinstance(level.plan, (KeyedLevel, HashLevel)) else key
        branch = Branch(level, key, number, self.branch_properties(level, own))
        branch.since = self._added or self.core.statements[-1]
        branch.place = level.next_place(key)
        level.branches[key] = branch
        self._note_size(level, 1)
        self.core.filters.run_action(lambda: self._start_end(branch), counts=False)  # what begins a partition does not end it
        started = self.core.filters.run_action(lambda: self._begin(branch), counts=occurrence is not None)
        if occurrence is not None:
            if occurrence.event is None:  # a match: its events are for statements, they begin nothing in inner levels
                started = [each for each in started if each.order[2] != self.statement.number]
            self.deliver(started, occurrence.events)
        return branch

    def _note_size(self, level: Level, change: int) -> None:
        """Note that a branch has begun, or has ended."""
        size = self._size_at[level.depth] = self._size_at[level.depth] + change
        self.most_at[level.depth] = max(self.most_at[level.depth], size)

    def _start_end(self, branch: Branch) -> None:
        end = branch.end = branch.level.ending_condition(branch)
        if end is not None:
            end.start()
            if end.due is not None:
                name = ".".join((*branch.level.plan.prefix, "endTime"))
                if name in branch.properties:
                    branch.properties[name] = end.due

    def _begin(self, branch: Branch) -> None:
        depth = branch.level.depth + 1
        if depth < len(self.context.levels):
            branch.inner = build_level(self.context.levels[depth], self, depth, branch)
            branch.inner.start()
            return
        number = branch.partition = branch.properties["id"] = self._next_id
        self._next_id += 1
        self.partitions[number] = branch
        self.most = max(self.most, len(self.partitions))
        self._tell("partition_started", branch)
        for statement in tuple(self.statements):
            statement.begin(number, branch.properties)

    def close(self, branch: Branch, ending: Mapping[str, Any]) -> None:
        """End a branch with all within it; nothing happens the second time."""
        level = branch.level
        if level.branches.get(branch.key) is not branch:
            return
        self._note()
        del level.branches[branch.key]
        self._note_size(level, -1)
        if ending:
            prefix = "".join(f"{name}." for name in level.plan.prefix)
            branch.properties.update((f"{prefix}{name}", value) for name, value in ending.items())
        if branch.end is not None:
            branch.end.stop()
        if branch.inner is not None:
            branch.inner.stop()
            for inner in branch.inner.in_order():
                self.close(inner, {})
        number = branch.partition
        if number is not None and self.partitions.pop(number, None) is not None:
            for statement in reversed(tuple(self.statements)):  # as Esper does
                statement.end(number)
            if self._root is not None or self.context.is_nested:  # as Esper: else that the context is deactivated says it
                self._tell("partition_ended", branch)

    def is_gone(self, level: Level) -> bool:
        """Return whether a level has ended, so that nothing begins in it any more."""
        while level.outer is not None:
            outer = level.outer
            if outer.level.branches.get(outer.key) is not outer or outer.inner is not level:
                return True
            level = outer.level
        return level is not self._root

    def _tell(self, kind: ContextChangeKind, branch: Branch | None = None, statement: str | None = None) -> None:
        """Call the listeners of the context."""
        if self.listeners:
            partition = None if branch is None or branch.partition is None else describe_partition(branch)
            self.call(self.listeners, ContextChange(kind, self.context.name, statement, partition))

    def notify_listeners(self, kind: ContextChangeKind) -> None:
        """Call the runtime's listeners: the context has been created or destroyed."""
        self.call(self.core.context_listeners, ContextChange(kind, self.context.name))

    def call(self, listeners: Sequence[ContextListener], change: ContextChange) -> None:
        """Call listeners; what they raise goes to the error handler of listeners."""
        for listener in listeners:
            try:
                listener(change)
            except Exception as error:  # noqa: BLE001 - law 6
                self.core.on_listener_error(error, self.statement.plan.name, None)

    def _note(self) -> None:
        """Note that the state of the create context statement changes."""
        if self.core.changed_statements is not None:
            self.core.changed_statements.add(self.statement.number)

    # ------------------------------------------------------------------ events

    def deliver(self, started: Sequence[ActiveFilter], events: Sequence[Event]) -> None:
        """Give events that are under way, or have been, to those of the entries that match them. What starts with one of the events gets
        those after it."""
        entries = [*started]
        for event in events:
            entries += self.core.filters.run_action(partial(self._deliver_one, entries, event))

    def _deliver_one(self, entries: Sequence[ActiveFilter], event: Event) -> None:
        ranks: set[int] = set()  # of entries that let an event go no further
        for entry in sorted([each for each in entries if self._matches(each, event)], key=self._turn):
            if ranks and entry.order[0] not in ranks:
                break
            if entry.drop:
                ranks.add(entry.order[0])
            self.core.note_receivers((entry,))
            outer, self.starting = self.starting, event
            try:
                self.core.deliver_one(entry, event)
            finally:
                self.starting = outer

    def _turn(self, entry: ActiveFilter) -> tuple[int, int, int, int]:
        """Return when an entry gets the event that has started it: sub-queries, which otherwise come first, after their statement, as in
        Esper, unless that computes its rows afterwards."""
        rank, place, statement, stream = entry.order
        return rank, LAST if stream < 0 and statement not in self._computing_last else place, statement, stream

    def begins_again(self, entries: Sequence[ActiveFilter], event: Event | None) -> None:
        """Note what has started to begin branches since one ended with this event."""
        if event is None or event is not self._ending:
            self._beginning_again = []
        self._ending = event
        self._beginning_again += entries

    def begin_again(self, event: Event) -> None:
        """Give an event that has ended a partition, and that a statement of it matches, to what begins partitions."""
        entries, self._beginning_again = self._beginning_again, []
        self.deliver(entries, (event,))

    def _matches(self, entry: ActiveFilter, event: Event) -> bool:
        try:
            return entry.prepared.matches(entry, event)
        except Exception as error:  # noqa: BLE001 - law 6
            self.core.on_error(error, entry.name, event)
            return False

    # ------------------------------------------------------------------ what levels are built from

    def operator_context(self, branch: Branch | None, part: int = WITHIN) -> OperatorContext:
        """Return what the conditions of a branch are built with. ``part``: when they start, among what starts with the branch."""
        if branch is None:
            return self.base
        context = OperatorContext(self.statement, branch.number, branch.properties, late=self.context.is_nested)
        partition = self._next_id if branch.partition is None else branch.partition
        context.turn = compute_turn(branch.since, partition, part)
        return context

    def moment(self) -> Moment:
        return self._added or self.core.statements[-1], self._next_id, self.next_number()

    def filter_turn(self, moment: Moment) -> int:
        statement, partition, number = moment
        return compute_turn(statement, partition, WITHIN, number)

    def turn(self, statement: int, partition: int) -> int:
        """Return when the filters of a statement in a partition started."""
        return compute_turn(max(statement, self.partitions[partition].since), partition, WITHIN)

    def place_of_statement(self, number: int) -> int:
        """Return how many of the statements that there are had been deployed with the one of a number."""
        return bisect_right(self.core.statements, number)

    def statement_number(self, place: int) -> int:
        statements = self.core.statements
        return statements[min(place, len(statements)) - 1] if place > 0 else 0

    def shared(self, key: tuple[str, object], make: Callable[[], T]) -> T:
        """Return what is compiled once for all branches of a level."""
        known = self._shared.get((key[0], id(key[1])))
        if known is None:
            known = self._shared[key[0], id(key[1])] = make()
        shared: T = known
        return shared

    def compile_values(self, expressions: Sequence[TypedExpression]) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
        """Return values(properties) of expressions over the properties of a branch."""
        assert self.statement.filters is not None
        return self.statement.filters.evaluator(expressions)

    # ------------------------------------------------------------------ state

    def state(self) -> State:
        return None if self._root is None else [self._next_id, self._next_number, self._root.state(), self.most, [*self.most_at]]

    def restore(self, state: State) -> None:
        self._is_restored = True
        if state is None:
            return
        if not isinstance(state, (list, tuple)) or len(state) not in (3, 4, 5):
            raise Damaged("the state of a context")
        self._next_id, self._next_number, root, *rest = state
        self.most = rest[0] if rest else 0  # older versions had no numbers of the most at once
        most_at = rest[1] if len(rest) == 2 else self.most_at
        if not isinstance(most_at, (list, tuple)) or len(most_at) != len(self.most_at):
            raise Damaged("the state of a context")
        if not all(type(each) is int for each in (self._next_id, self._next_number, self.most, *most_at)):
            raise Damaged("the state of a context")
        self.most_at = [*most_at]
        self._root = build_level(self.context.levels[0], self, 0, None)
        self._root.restore(root)
        self.partitions = dict(sorted(self.partitions.items()))
        self.most = max(len(self.partitions), self.most)

    def restore_branch(
        self, level: Level, key: Any, number: Any, own: dict[str, Any], partition: Any, end: State, inner: State, since: Any
    ) -> Branch:
        """Take a branch of a state."""
        depth = level.depth + 1
        is_inner = depth < len(self.context.levels)
        if type(number) is not int or type(since) is not int or (partition is None) != is_inner or not (is_inner or type(partition) is int):
            raise Damaged("the numbers of a context partition")
        branch = Branch(level, key, number, self.branch_properties(level, own))
        if level.branches.setdefault(key, branch) is not branch or partition in self.partitions:
            raise Damaged("a context partition that is there twice")
        self._note_size(level, 1)
        branch.partition = partition
        branch.since = self.statement_number(since)
        branch.end = level.ending_condition(branch)
        if branch.end is not None:
            branch.end.restore(end)
        if is_inner:
            branch.inner = build_level(self.context.levels[depth], self, depth, branch)
            branch.inner.restore(inner)
        else:
            branch.properties["id"] = partition
            self.partitions[partition] = branch
        return branch


__all__ = ["ContextTree", "InContext"]
