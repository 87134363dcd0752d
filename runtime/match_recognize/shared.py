"""The operator where partial matches share their rows: conditions that look at rows alone, whatever a match took before."""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from epl.attribute_text import name_attributes
from epl.event_types import EventType
from epl.plan.patterns.match_recognize import RowRecognitionPlan
from runtime.expressions.generated_steps import GeneratedSteps, PlacePrinter
from runtime.match_recognize.generated import StepSource, StepWriter
from runtime.match_recognize.interval import KeyedMatches
from runtime.match_recognize.lattice import Lattice
from runtime.match_recognize.machine import History, Machine
from runtime.match_recognize.partitions import FEW_LAYERS, LayeredPartition, Partition, States
from runtime.match_recognize.ranking import Match
from runtime.match_recognize.row_recognition import RowRecognition
from runtime.match_recognize.state import PathReaders, PathWriter, check_layers
from windows.event import NO_EVENTS, Event


class SharedRowRecognition(RowRecognition):
    """A row costs work by the steps of the program, whatever the number of partial matches; see ``lattice``."""

    __slots__ = (
        "lattice", "since", "_emits_one", "_measure_values", "_measures_of_rows", "_plan", "_source", "_step", "_take", "_variable_count",
        "_variables",
    )

    def __init__(
        self, plan: RowRecognitionPlan, machine: Machine, key: Callable[[Event], Any] | None, measures: Callable[[Match], Event],
        states: States, source: StepSource, measures_of_rows: Callable[[list[list[Event]]], Event],
        measure_values: Callable[[list[list[Event]]], tuple[Any, ...]], lattice: Lattice,
    ) -> None:
        super().__init__(plan, machine, key, measures, states)
        self.lattice = lattice
        self._plan = plan
        self._measures_of_rows, self._measure_values = measures_of_rows, measure_values
        self._variables, self._variable_count = machine.variables, machine.variable_count
        self._emits_one = self.lattice.follows_links and not plan.all_matches and plan.interval is None
        """Whether a row ends one match at most that is emitted, which its rows are read off for at once."""
        self.since = 0
        self._source = source
        self._bind()

    def _bind(self) -> None:
        """Generated code names the operator's dictionaries: after every exchange of one."""
        self._take, self._step = self._source.functions(self._scope())

    def _scope(self) -> dict[str, Any]:
        return {
            "operator": self, "partitions": self._partitions, "numbers": self._numbers, "histories": self._histories,
            "Partition": LayeredPartition, "no_history": self._no_history, "key_of": self._key, "commit": self._commit, "trim": self._trim,
            "states": self._states, "partition_pages": self._pages, "taken_rows": self._taken,
        }

    # ------------------------------------------------------------------ continuous

    def receive(self, event: Event) -> None:
        """Do ``update`` with one row that comes in."""
        self.since = self.row
        if self.interval is not None:
            self._forget_times()
            self.interval.begins(self.row + 1)
        partition = self._take(event)
        if partition is not None:
            self._emit_ended(partition)

    @property
    def can_be_written(self) -> bool:
        """Whether ``written`` gives all that ``receive`` does."""
        return self.interval is None and not self._has_window and not self.iterate_only

    @property
    def output_type(self) -> EventType:
        return self._plan.output_type

    @property
    def emits_one(self) -> bool:
        """Whether a row ends one match at most that is emitted."""
        return self._emits_one

    def written(self, printer: PlacePrinter, on_match: list[str]) -> GeneratedSteps:
        """Return ``receive`` as text. ``on_match``: lines for where a match ends, the one that is emitted, over its ``values``; without, it
        goes to ``child``."""
        on_match = ["values = measure_values(rows_of_one(partition))", *on_match] if on_match else ["emit_ended(partition)"]
        own = {"emit_ended": self._emit_ended, "rows_of_one": self._rows_of_one, "measure_values": self._measure_values}
        operator, steps = name_attributes("operator", self), StepWriter(self._plan, printer).enter_lines(on_match)
        return GeneratedSteps([], [f"{operator.since} = {operator.row}", *steps], {**self._scope(), **own})

    def _emit_ended(self, partition: LayeredPartition) -> None:
        """Emit the matches that end with the row that has come in."""
        if self._emits_one:
            self.child.update((self._measures_of_rows(self._rows_of_one(partition)),), NO_EVENTS)
            return
        if self._all or self.interval is not None:
            candidates: KeyedMatches = []
            ended: list[LayeredPartition] = []
            self._ends(partition, candidates, ended)
            self._deliver_ended(candidates, ended)
            return
        matches: Sequence[Match] = self.lattice.choose_matches(partition.layers, self.since, partition.horizon)
        if len(matches) > 1:
            matches = self._ranking.choose(matches)
        if self._prunes:
            horizon = self._ranking.horizon(matches)
            if horizon >= 0:
                self._discard_rows(partition, horizon)
        measures = self._measures
        self.child.update([measures(match) for match in matches], NO_EVENTS)
        if partition.latest is None:
            partition.layers.clear()
            self._keep(partition)

    def _rows_of_one(self, partition: LayeredPartition) -> list[list[Event]]:
        """Return the rows of the match that ends with the row, by variable; it discards all others of its partition."""
        rows = self.lattice.rows_at_the_end(partition.layers, partition.horizon, self._variables, self._variable_count)
        partition.horizon = self.row
        self._nothing(partition)
        self._keep(partition)
        return rows

    def _take_all(self, new: Sequence[Event]) -> Exception | None:
        self._forget_times()
        failure: Exception | None = None
        self.since = self.row
        matches: KeyedMatches = []
        ended: list[LayeredPartition] = []
        for event in new:
            if self.interval is not None:
                self.interval.begins(self.row + 1)
            try:
                partition = self._take(event)
                if partition is not None:
                    self._ends(partition, matches, ended)
            except Exception as error:  # noqa: BLE001 - raised by update
                failure = failure or error
        if ended:
            try:
                self._deliver_ended(matches, ended)
            except Exception as error:  # noqa: BLE001 - raised by update
                failure = failure or error
        return failure

    def _ends(self, partition: LayeredPartition, matches: KeyedMatches, ended: list[LayeredPartition]) -> None:
        """Note that matches end with the partition's last row."""
        if self._all:
            matches += [(partition.key, match) for match in self.lattice.all_at_the_end(partition.layers, partition.horizon)]
        if not partition.ended:
            partition.ended = True
            ended.append(partition)

    def _deliver_ended(self, matches: KeyedMatches, ended: Sequence[LayeredPartition]) -> None:
        if not self._all:
            for partition in ended:
                matches += [(partition.key, match) for match in self._choose_matches(partition, self.since)]
        for partition in ended:
            partition.ended = False
            partition.broken = []
        self._deliver(matches, ())
        for partition in ended:
            if partition.latest is None:
                partition.layers.clear()
                self._keep(partition)

    def _choose_matches(self, partition: LayeredPartition, since: int) -> Iterator[Match]:
        for layers in (*partition.broken, partition.layers):
            if layers:
                yield from self.lattice.choose_matches(layers, since, partition.horizon)

    def _commit(self, partition: LayeredPartition, event: Event, row: int, taken: int, latest: tuple[int, ...]) -> bool:
        """Return what a row has done to its partition; whether a match ends with it."""
        lattice = self.lattice
        alive = taken & lattice.goes_on
        held = alive.bit_count()
        if held != partition.held:
            self._states.count += held - partition.held
            partition.held = held
        if partition.latest is None and partition.layers:
            self._break(partition)
        partition.latest = latest if alive else None
        if not taken:
            self._break(partition)
            self._keep(partition)
            return False
        layers = partition.layers
        layers.append((event, row, taken))
        if len(layers) > partition.most:
            self._trim(partition, alive)
        if self._has_window:
            self._taken[row] = None
        self._partitions[partition.key] = partition
        self._pages.touch(partition.key)
        return bool(taken & lattice.accepts)

    def _trim(self, partition: LayeredPartition, alive: int) -> None:
        """Drop the layers that no partial match needs, nor one that has ended in this delivery."""
        layers = partition.layers
        needed = self.lattice.layers_needed(layers, alive, self.since)
        while len(layers) > needed:
            layers.popleft()
        partition.most = 2 * needed + FEW_LAYERS

    def _break(self, partition: LayeredPartition) -> None:
        """Note that no match continues from the layers to the next row."""
        if partition.ended:
            partition.broken.append(partition.layers)
            partition.layers = deque()
        else:
            partition.layers.clear()

    # ------------------------------------------------------------------ partitions

    def _find_partition(self, key: Any) -> Partition:
        return self._partitions.get(key) or LayeredPartition(key, self._no_history)

    def _has_partial_matches(self, partition: Partition) -> bool:
        assert isinstance(partition, LayeredPartition)
        return partition.latest is not None

    def _live_begins(self) -> Iterable[int]:
        starts = self.lattice.starts
        return {row for p in self._partitions.values() for _, row, taken in p.layers if taken & starts}  # type: ignore[attr-defined]

    def _discard_begun(self, key: Any, horizon: int) -> None:
        partition = self._partitions.get(key)
        if partition is not None and horizon >= 0:
            self._discard_rows(partition, horizon)

    def _discard_rows(self, partition: Partition, horizon: int) -> None:
        """Matches that began at a row or before are discarded."""
        assert isinstance(partition, LayeredPartition)
        partition.horizon = max(partition.horizon, horizon)
        if partition.latest is not None and max(partition.latest) <= horizon:
            self._nothing(partition)
        layers = partition.layers
        while layers and layers[0][1] <= horizon:
            layers.popleft()
        self._keep(partition)

    def _nothing(self, partition: LayeredPartition) -> None:
        self._states.count -= partition.held
        partition.held = 0
        partition.latest = None
        partition.layers.clear()

    def _forget_first(self, partition: Partition, row: int) -> None:
        self._discard_rows(partition, row)

    def _forget_all(self) -> None:
        self._second.clear()
        for partition in list(self._partitions.values()):
            assert isinstance(partition, LayeredPartition)
            partition.horizon = 0
            self._nothing(partition)
            self._keep(partition)
        self.since = self.row

    def _take_again(self, event: Event, row: int) -> None:
        self._step(self._partition(event), event, row, self._event_history(event))

    # ------------------------------------------------------------------ on demand

    def contents_matches(self, contents: Iterable[Event], histories: dict[Event, History]) -> list[list[Match]]:
        """Return all matches over another operator's contents, partition by partition."""
        self.parent_contents, self._histories = lambda: contents, histories
        return self._on_demand()

    def _on_demand(self) -> list[list[Match]]:
        """Matched in partitions of their own, by the same steps."""
        states, kept, has_window, since = self._states.count, self._partitions, self._has_window, self.since
        noted, self._pages.touched = self._pages.touched, None
        partitions: dict[Any, Partition] = {}
        self._partitions, self._has_window, self.since = partitions, False, -1
        by_partition: dict[Any, list[Match]] = {}
        order: dict[Any, LayeredPartition] = {}
        try:
            for row, event in enumerate(self.parent_contents()):
                self._on_demand_row(row, event, by_partition, order)
            if not self._all:
                by_partition = {key: list(self._choose_matches(partition, -1)) for key, partition in order.items()}
        finally:
            self._states.count, self._partitions, self._has_window, self.since = states, kept, has_window, since
            self._pages.touched = noted
        return list(by_partition.values())

    def _on_demand_row(self, row: int, event: Event, by_partition: dict[Any, list[Match]], order: dict[Any, LayeredPartition]) -> None:
        key = self._key(event) if self._key is not None else None
        partition: Any = order.get(key) or self._partitions.get(key)
        if partition is None:
            partition = LayeredPartition(key, self._no_history)
        if self._step(partition, event, row + 1, self._event_history(event)):
            partition.ended = not self._all
            order[key] = partition
            if self._all:
                by_partition.setdefault(key, []).extend(self.lattice.all_at_the_end(partition.layers, 0))

    # ------------------------------------------------------------------ state

    def _write(self, partition: Partition, writer: PathWriter) -> Any:
        assert isinstance(partition, LayeredPartition)
        if partition.latest is None:
            return [partition.horizon, None, []]
        return [partition.horizon, list(partition.latest), [list(layer) for layer in partition.layers]]

    def _read(self, partition: Partition, written: Any, readers: PathReaders, nodes: Any) -> None:
        assert isinstance(partition, LayeredPartition)
        check_layers(written, len(self._machine.variables))
        partition.horizon = written[0]
        partition.latest = None if written[1] is None else tuple(written[1])
        partition.layers = deque((event, row, taken) for event, row, taken in written[2])
        if partition.latest is not None and partition.layers:
            partition.held = (partition.layers[-1][2] & self.lattice.goes_on).bit_count()
            self._states.count += partition.held

    def restore(self, state: Any) -> None:
        super().restore(state)
        self._bind()

    def close(self) -> None:
        self._states.count -= sum(p.held for p in self._partitions.values())  # type: ignore[attr-defined]
        self._partitions = {}
        self._pages.forget_all()
        if self.interval is not None:
            self.interval.close()
