"""The match_recognize operator: a view that turns a stream's deltas into rows of matches."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from epl.plan.patterns.match_recognize import RowRecognitionPlan
from runtime.match_recognize.interval import Death, KeyedMatches, MatchInterval
from runtime.match_recognize.machine import History, Machine, PartialMatch
from runtime.match_recognize.on_demand import list_matches
from runtime.match_recognize.partitions import Partition, States
from runtime.match_recognize.ranking import Match, PathNode, Ranking
from runtime.match_recognize.state import PartitionKeys, PathReaders, PathWriter, check_histories, check_row, current
from windows.event import NO_EVENTS, Event
from windows.failures import Failures
from windows.paging import Long, Paged
from windows.protocol import Damaged, State, View


class RowRecognition(View):
    """See docs/design/row_recognition.md.

    A delivery (one ``update``) offers its rows one by one to the machine, then ranks what was found over the whole delivery, partition by
    partition. Rows that
    leave a data window take the partial matches with them. A partition without partial match (and without prev) costs nothing.
    Where an
    expression fails, the row is as if it had not come, but for prev and the iterator; the delivery's other rows are taken, and the first
    failure is raised at its end.

    ``parent_contents``: set by the builder; the window's contents, for the iterator. ``iterating``: set by the builder where another
    operator matches for the iterator.
    """

    __slots__ = (
        "interval", "iterate_only", "row",
        "_all", "_can_begin", "_counts_only", "_earliest_only", "_has_window", "_histories", "_key", "_keys",
        "_lookback", "_machine", "_may_start", "_measures", "_no_history", "_numbers", "_pages", "_partitions", "_prunes", "_ranking",
        "_second", "_states", "_taken", "_terminates",
    )

    parent_contents: Callable[[], Iterable[Event]]
    iterating: Callable[[Iterable[Event], dict[Event, History]], list[list[Match]]] | None = None

    def __init__(
        self, plan: RowRecognitionPlan, machine: Machine, key: Callable[[Event], Any] | None, measures: Callable[[Match], Event],
        states: States,
    ) -> None:
        self.parent_contents = tuple
        self._machine = machine
        self._key = key
        self._measures = measures
        self._ranking = Ranking(plan.program, all_matches=plan.all_matches, skip=plan.skip)
        self._states = states
        self._may_start = states.try_increase if states.limit is not None else None
        self._has_window = plan.has_window
        self.iterate_only = plan.iterate_only
        self._lookback = plan.lookback
        self._all = plan.all_matches
        self._terminates = plan.interval is not None and plan.or_terminated
        self._prunes = plan.skip != "to current row" and plan.interval is None
        one_row_a_delivery = not plan.has_window and plan.interval is None
        self._earliest_only = (
            one_row_a_delivery and not plan.all_matches and plan.skip == "past last row" and not machine.looks_back and states.limit is None
        )
        self._no_history: History = (None,) * plan.lookback
        self._counts_only = (
            not plan.lookback and plan.interval is None and self._may_start is None and not self._earliest_only
        )
        """Whether a row needs no more than the machine and the number of partial matches."""
        self._can_begin = None if plan.lookback or plan.iterate_only else machine.can_begin()
        self._partitions: dict[Any, Partition] = {}
        self._keys = PartitionKeys([each.type for each in plan.partition_by])
        self._pages = Paged("partitions", lambda: self._partitions, self._keys.values, self._partition_state)
        self.row = 0
        self._numbers: dict[Event, int] = {}
        self._taken: OrderedDict[int, None] = OrderedDict()
        """With a data window: the rows in it that a match has taken, in the order in which they were taken first. The first one leaves at
        no cost."""
        self._second: dict[int, int] = {}
        """The second number of a row that was offered twice: with all rows of the window, and then as the new one."""
        self._histories: dict[Event, History] = {}
        self.interval: MatchInterval | None = None

    # ------------------------------------------------------------------ continuous

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        failure = self._leave(old) if old and self._has_window else None
        if self.iterate_only:
            failed = self._remember_all(new)
        elif self._has_window and new and not self._numbers.keys().isdisjoint(new):
            failed = self._take_twice(new)
        else:
            failed = self._take_all(new)
        failure = failure or failed
        if failure is not None:
            raise failure

    def receive(self, event: Event) -> None:
        """Do ``update`` with one row that comes in; not where it is for the iterator alone."""
        if not self._counts_only:
            self._forget_times()
            matches: KeyedMatches = []
            died: list[Death] = []
            self._enter(event, matches, died)
            if matches or died:
                self._deliver(matches, died)
            return
        key = self._key(event) if self._key is not None else None
        partitions = self._partitions
        partition = partitions.get(key)
        self.row = row = self.row + 1
        if self._has_window:
            self._numbers[event] = row
        if partition is None:
            if self._can_begin is not None and not self._can_begin(event, ()):
                return
            partition = Partition(key, ())
        before = partition.partial_matches
        ended: list[Match] = []
        after = self._machine.move(before, event, row, ended)
        self._states.count += len(after) - len(before)
        partition.partial_matches = after
        if self._has_window and (after or ended):
            self._taken[row] = None
        if after:
            partitions[key] = partition
            if self._pages.touched is not None:
                self._pages.touched[key] = None
        else:
            self._drop(key)
        if ended:
            self._deliver([(key, match) for match in ended], ())

    def leave(self, event: Event) -> None:
        """Do ``update`` with one row that leaves the window."""
        if self._goes(event):
            self._rematch()

    def _goes(self, event: Event) -> bool:
        """Take a row that leaves the window away; return whether everything is to be matched again.

        The first row that was taken for a match takes the partial matches with it that it is in: those of its partition that began with it
        or before. Where a later one leaves, everything is matched again from what the window holds: rows around the gap become neighbours,
        rows of matches emitted before may come up again, and rows that come at the same time are offered twice. Rows that are taken for
        the first time as everything is matched again do not count as taken (Esper 9.0.0).
        """
        if self._lookback:
            self._histories.pop(event, None)
        row = self._numbers.pop(event, None)
        if row is None or row not in self._taken:
            return False
        is_first = next(iter(self._taken)) == row
        del self._taken[row]
        if not is_first:
            return True
        partition = self._partitions.get(self._key(event) if self._key is not None else None)
        second = self._second.pop(row, None)
        if partition is not None:
            self._forget_first(partition, row)
            if second is not None:
                self._forget_first(partition, second)
        return False

    def _take_twice(self, new: Sequence[Event]) -> Exception | None:
        """Take rows of a delivery of which some were offered with all rows of the window already: they keep that number, and the place."""
        numbers, taken = self._numbers, self._taken
        first = {event: numbers[event] for event in new if event in numbers}
        failure = self._take_all(new)
        for event, row in first.items():
            second, numbers[event] = numbers[event], row
            if second in taken:
                del taken[second]
                taken[row] = None
                self._second[row] = second
        return failure

    def _take_all(self, new: Sequence[Event]) -> Exception | None:
        """Take the rows of a delivery and emit its matches; return the first failure."""
        self._forget_times()
        failure: Exception | None = None
        matches: KeyedMatches = []
        died: list[Death] = []
        for event in new:
            try:
                self._enter(event, matches, died)
            except Exception as error:  # noqa: BLE001 - raised by update
                failure = failure or error
        if matches or died:
            try:
                self._deliver(matches, died)
            except Exception as error:  # noqa: BLE001 - raised by update
                failure = failure or error
        return failure

    def _enter(self, event: Event, matches: KeyedMatches, died: list[Death]) -> None:
        """Offer a row to its partition's partial matches. ``died`` is filled where an interval asks for it."""
        key = self._key(event) if self._key is not None else None
        partition = self._partitions.get(key)
        self.row = row = self.row + 1
        if self._has_window:
            self._numbers[event] = row
        if self.interval is not None:
            self.interval.begins(row)
        if partition is None:
            if self._can_begin is not None and not self._can_begin(event, self._no_history):
                return
            partition = Partition(key, self._no_history)
        history = partition.history
        if self._lookback:
            self._remember(event, partition)
        ended: list[Match] = []
        ends: list[tuple[int, PathNode]] | None = [] if self._terminates else None
        after = self._advance(partition.partial_matches, event, history, ended, ends)
        if self._earliest_only and len(after) > 1:
            self._states.count -= len(after)
            after = self._machine.earliest(after)
            self._states.count += len(after)
        partition.partial_matches = after
        if self._has_window and (after or ended):
            self._taken[row] = None
        self._keep(partition)
        if ends:
            died += [(key, first, path) for first, path in ends]
        if ended:
            matches += [(key, match) for match in ended]

    def _advance(
        self, before: list[PartialMatch], event: Event, history: History, ended: list[Match], ends: list[tuple[int, PathNode]] | None
    ) -> list[PartialMatch]:
        """Return the partial matches after the current row, counted; where a condition raises, the count is what it was."""
        machine, states, row = self._machine, self._states, self.row
        truth = machine.nothing_known()
        counted = states.count
        try:
            after = machine.advance(before, event, row, history, truth, ended, ends) if before else []
            states.count += len(after) - len(before)
            gone_on = len(after)
            machine.begin(event, row, history, truth, after, ended, self._may_start)
        except Exception:
            states.count = counted
            raise
        if self._may_start is None:
            states.count += len(after) - gone_on
        return after

    def _deliver(self, ended: KeyedMatches, died: Sequence[Death]) -> None:
        """Emit what is chosen of a delivery's matches, and discard what the skip clause discards."""
        chosen = self._choose(ended)
        if self.interval is not None:
            held = self.interval.hold_back(chosen, died)
            if held:
                self.emit_due(held)
            return
        if self._prunes:
            for key, matches in by_key(chosen):
                self._discard_begun(key, self._ranking.horizon(matches))
        self._emit(chosen)

    def _choose(self, matches: KeyedMatches) -> KeyedMatches:
        """Return the ranking's choice, partition by partition."""
        if len(matches) == 1 or self._all:
            return matches
        return [(key, match) for key, of_key in by_key(matches) for match in self._ranking.choose(of_key)]

    def emit_due(self, matches: KeyedMatches) -> None:
        """Emit what an interval held back and releases: its choice, even if there is nothing left of it."""
        self._emit(self._choose(matches))

    def _emit(self, chosen: KeyedMatches) -> None:
        measures = self._measures
        self.child.update([measures(match) for _, match in chosen], NO_EVENTS)

    def _forget_times(self) -> None:
        """Between two deliveries: an interval needs the times of rows that matches begin with, or may when everything is matched again."""
        if self.interval is not None:
            self.interval.keep_times(self._all_numbers if self._has_window else self._live_begins)

    def _all_numbers(self) -> Iterable[int]:
        """Numbers of the window's rows, of some two."""
        return (*self._numbers.values(), *self._second.values())

    def _live_begins(self) -> Iterable[int]:
        """First rows of partial matches."""
        return {s[1] for p in self._partitions.values() for s in p.partial_matches}

    def _discard_begun(self, key: Any, horizon: int) -> None:
        """Partial matches that began at row ``horizon`` or before."""
        partition = self._partitions.get(key)
        if partition is not None and partition.partial_matches and horizon >= 0:
            self._replace(partition, [s for s in partition.partial_matches if s[1] > horizon])

    # ------------------------------------------------------------------ partitions

    def _partition(self, event: Event) -> Partition:
        return self._find_partition(self._key(event) if self._key is not None else None)

    def _find_partition(self, key: Any) -> Partition:
        return self._partitions.get(key) or Partition(key, self._no_history)

    def _remember_all(self, new: Sequence[Event]) -> Exception | None:
        """Rows for the iterator alone; the first failure."""
        failure: Exception | None = None
        for event in new:
            try:
                self._remember(event, self._partition(event))
            except Exception as error:  # noqa: BLE001 - raised by update
                failure = failure or error
        return failure

    def _remember(self, event: Event, partition: Partition) -> None:
        """Remember the row as the one before the next."""
        if self._lookback:
            if self._has_window:
                self._histories[event] = partition.history
            partition.history = (event, *partition.history[:-1])
            self._partitions[partition.key] = partition
            self._pages.touch(partition.key)

    def _replace(self, partition: Partition, partial_matches: list[PartialMatch]) -> None:
        self._states.count += len(partial_matches) - len(partition.partial_matches)
        partition.partial_matches = partial_matches
        self._keep(partition)

    def _has_partial_matches(self, partition: Partition) -> bool:
        return bool(partition.partial_matches)

    def _keep(self, partition: Partition) -> None:
        """Keep only partitions with something to remember."""
        if self._lookback or self._has_partial_matches(partition):
            self._partitions[partition.key] = partition
            self._pages.touch(partition.key)
        else:
            self._drop(partition.key)

    def _drop(self, key: Any) -> None:
        self._partitions.pop(key, None)
        self._pages.forget(key)

    # ------------------------------------------------------------------ rows that leave the window

    def _leave(self, old: Sequence[Event]) -> Exception | None:
        """Rows leave the window; the first failure of a condition that is asked again."""
        failure: Exception | None = None
        again = False
        for event in old:
            try:
                again |= self._goes(event)
            except Exception as error:  # noqa: BLE001 - raised by update
                failure = failure or error
        if again:
            try:
                self._rematch()
            except Exception as error:  # noqa: BLE001 - raised by update
                failure = failure or error
        return failure

    def _forget_first(self, partition: Partition, row: int) -> None:
        """Discard partial matches that began with the partition's first row taken, which has left, or before it."""
        before = partition.partial_matches
        if before:
            partition.partial_matches = after = [s for s in before if s[1] > row]
            self._states.count += len(after) - len(before)
        self._keep(partition)

    def _rematch(self) -> None:
        """Over the window's rows, which are numbered again; the first failure is raised when all are taken."""
        self._forget_all()
        failures = Failures()
        numbers, taken = self._numbers, list(self._taken)
        renumbered: dict[int, int] = {}
        self._taken.clear()
        for event in self.parent_contents():
            before = numbers.get(event)
            if before is not None and self.interval is not None:  # which keeps times by number
                row = before
            else:
                self.row = row = numbers[event] = self.row + 1
            if before is not None:
                renumbered[before] = row
            elif self.interval is not None:
                self.interval.begins(row)
            failures.attempt(self._take_again, event, row)
        self._taken.clear()
        self._taken.update((renumbered.get(row, row), None) for row in taken)  # each keeps its place
        failures.settle()

    def _forget_all(self) -> None:
        self._second.clear()
        for partition in list(self._partitions.values()):
            self._replace(partition, [])

    def _take_again(self, event: Event, row: int) -> None:
        machine = self._machine
        partition = self._partition(event)
        history = self._histories.get(event, self._no_history)
        truth = machine.nothing_known()
        ended: list[Match] = []
        after = machine.advance(partition.partial_matches, event, row, history, truth, ended)
        machine.begin(event, row, history, truth, after, ended)
        if after or ended:
            self._taken[row] = None
        self._replace(partition, after)

    # ------------------------------------------------------------------ on demand

    def __iter__(self) -> Iterator[Event]:
        """The matches over the window's contents as they are, partition by partition."""
        if not self._has_window:
            return
        for matches in self._on_demand():
            for match in self._ranking.on_demand(matches):
                yield self._measures(match)

    def _on_demand(self) -> list[list[Match]]:
        """Partition by partition."""
        if self.iterating is not None:
            return self.iterating(self.parent_contents(), self._histories)
        return list_matches(self.parent_contents(), self._machine, self._key, self._event_history, self._states)

    def _event_history(self, event: Event) -> History:
        return self._histories.get(event, self._no_history)

    # ------------------------------------------------------------------ state

    def state(self) -> State:
        """Return the state; partitions are paged by key; the rows of a data window are long lists, as they are in the window's own
        state."""
        return {
            "row": self.row, "partitions": self._pages, "numbers": Long([event, row] for event, row in self._numbers.items()),
            "taken": Long(self._taken), "twice": [list(pair) for pair in self._second.items()],
            "histories": Long([event, list(history)] for event, history in self._histories.items()),
            "interval": None if self.interval is None else self.interval.state(),
        }

    def _partition_state(self, key: Any, partition: Partition) -> list[Any]:
        writer = PathWriter()
        return [list(partition.history), self._write(partition, writer), writer.nodes]

    def _write(self, partition: Partition, writer: PathWriter) -> Any:
        return writer.partial_matches(partition.partial_matches)

    def _read(self, partition: Partition, written: Any, readers: PathReaders, nodes: Any) -> None:
        partition.partial_matches = readers.of(nodes).partial_matches(written, len(self._machine.nothing))
        self._states.count += len(partition.partial_matches)

    def restore(self, state: State) -> None:
        """Raise Damaged for what is not a state of this operator."""
        state = current(state, lambda event: self._keys.values(self._key(event) if self._key is not None else None))
        check_histories(state, len(self._no_history))
        readers = PathReaders(len(self._machine.variables))
        self.close()
        check_row(state["row"])
        self.row = state["row"]
        for values, (history, written, nodes) in state["partitions"]:
            partition = self._find_partition(self._keys.key(values))
            if partition.key in self._partitions:
                raise Damaged("two partitions have one key")
            partition.history = tuple(history)
            self._partitions[partition.key] = partition
            self._pages.touch(partition.key)
            self._read(partition, written, readers, nodes)
        self._numbers = dict(state["numbers"])
        rows = set(self._numbers.values())
        self._taken.clear()
        self._taken.update((row, None) for row in state["taken"] if row in rows)
        self._second = dict(state["twice"])
        self._histories = {event: tuple(history) for event, history in state["histories"]}
        if self.interval is not None:
            self.interval.restore(state["interval"], readers)

    def close(self) -> None:
        """Give back the states held; cancel the interval's timer."""
        self._states.count -= sum(len(p.partial_matches) for p in self._partitions.values())
        self._partitions = {}
        self._pages.forget_all()
        if self.interval is not None:
            self.interval.close()


def by_key(matches: KeyedMatches) -> Iterable[tuple[Any, list[Match]]]:
    """Return the matches grouped by partition, in order of first appearance."""
    groups: dict[Any, list[Match]] = {}
    for key, match in matches:
        groups.setdefault(key, []).append(match)
    return groups.items()
