"""A select whose streams are all historical: nothing arrives. Tables are emitted as snapshots; the iterator asks for the rows."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from epl.plan.join.historical import HistoricalPlan, StoredTablePlan
from epl.plan.statements import SelectPlan
from epl.plan.streams import only_stream
from runtime import result_set
from runtime.expressions import compile_predicate
from runtime.historical.stream import HistoricalStream
from runtime.operators.insert_into import Inserter
from runtime.operators.operator_context import OperatorContext
from runtime.result_set.output_rate.conditions import OutputCondition
from runtime.result_set.output_rate.stage import build_condition
from runtime.result_set.output_rate.terminated import NoOther, WhenTerminated
from windows.event import NO_EVENTS, Event
from windows.protocol import State
from windows.shape import ANYTHING, optional, takes


class Discard:
    """What a result set emits while the iterator lets it aggregate."""

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        pass


class RunningHistoricalSelect:
    """Each iteration looks up all rows and passes them through a result set of its own. There is no other state than when output is due."""

    def __init__(self, plan: SelectPlan, context: OperatorContext) -> None:
        source = only_stream(plan.streams).source
        assert isinstance(source, HistoricalPlan)
        environment = context.environment
        self._context = context
        self._stream = HistoricalStream(source, environment, 1)
        self._rows = environment.shared("iterated", (plan.result_set,), lambda: attrs.evolve(plan.result_set, output=None))
        tests = source.conditions if isinstance(source, StoredTablePlan) else ()
        self._tests = [compile_predicate(each, environment) for each in (*tests, plan.where) if each is not None]
        output = plan.result_set.output
        self._times: OutputCondition = NoOther()
        if output is not None and output.selector == "snapshot" and output.after is None and isinstance(source, StoredTablePlan):
            self._times = build_condition(output, context, self._emit)
        if output is not None and output.terminated is not None:
            self._times = WhenTerminated(output.terminated, context, self._times, self._emit, force=output.selector == "snapshot")
        self._inserter = None if plan.insert is None else Inserter(plan.insert, plan.result_set, context, Discard())

    def _emit(self, force: bool) -> None:
        if force:  # of a table; all others gather what has come, which is nothing
            self._context.output.update(tuple(self.iterate()), NO_EVENTS)

    def start(self) -> None:
        self._times.add(0, 0)  # times are counted from now on

    def close(self) -> None:
        self._times.close()
        self._stream.close()
        self._context.close()

    def iterate(self) -> Iterable[Event]:
        rows: Iterable[Event] = self._stream.rows((None,))
        for test in self._tests:
            rows = filter(test, rows)
        rows = list(rows)
        results = result_set.build(self._rows, self._context.environment)
        results.child = Discard()
        results.keep(rows, ())
        events = results.iterate(rows)
        return events if self._inserter is None else [self._inserter.convert(event) for event in events]

    def state(self) -> State:
        return None if isinstance(self._times, NoOther) else [self._times.state()]

    @takes(optional((ANYTHING,)))
    def restore(self, state: State) -> None:
        if state is not None:
            self._times.restore(state[0])


__all__ = ["RunningHistoricalSelect"]
