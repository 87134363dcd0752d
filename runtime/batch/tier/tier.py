"""Which components of a runtime run in the batch tier; moves them between the tiers, and runs those that are there.

Under ``auto`` a component starts in the row tier. It moves here when enough rows have come for it in batches, every statement of it has a
kernel, and none has a row listener; it goes back when a row listener is added, when several events in a row are sent one by one, when a
batch has columns that no kernel can take, and when it is joined by a statement that is not here. Under ``batch`` everything runs here.
"""
from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import attrs
import numpy as np

from epl.errors import EplUnsupportedError
from epl.event_types import EventType
from epl.plan.statements import InsertPlan, SelectPlan
from epl.plan.streams import only_stream, stream_filter, types_read
from epl.plan.walk import walk_plan
from runtime.batch.available import missing
from runtime.batch.compiler.kernels import Kernel, Warming
from runtime.batch.match_recognize.run import MatchRun
from runtime.batch.refusals import Declined, NotCompilable, NotInBatchTier, not_in_columns
from runtime.batch.rule_sets.shared_runs import RuleSetMember
from runtime.batch.runs.run import RunContext
from runtime.batch.runs.timer_bounds import Gaps
from runtime.batch.storage.arrays import Array
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.strings import StringPool
from runtime.batch.tier.build import build_run
from runtime.batch.tier.chain import GroupPipeline, PipelineNode, StreamInput, check_insert
from runtime.batch.tier.listener_calls import ListenerCall, RowOrigin, in_order
from runtime.batch.tier.running import BatchRunning
from runtime.batch.tier.statement_groups import is_apart, statement_groups
from runtime.event_loop.cause import RowOf
from runtime.event_loop.filter_index import FilterEntry
from runtime.event_loop.loop import EventLoop
from runtime.event_loop.receiver_order import Path
from runtime.expressions.generated_steps import EmitSteps
from runtime.extras import install
from runtime.statements.running import Declaration
from windows.event import Event
from windows.protocol import State

if TYPE_CHECKING:
    from runtime.statements.running import Running
    from runtime.statements.statement_output import StatementOutput

ROWS_BEFORE = 10_000
"""How many rows have to come in batches before a component moves here: compiling its kernels takes as long as some 100,000 rows."""

NO_TIMES = np.zeros(0, np.int64)

CODES_BEFORE, BYTES_A_CODE = 65_536, 32
"""When strings are looked through for those that are not held any more: how many codes there are, and how much state for each may well hold
one."""

SENDS_BEFORE = 16
"""How many events sent one by one, without a batch in between, move a component back."""


class StatementGroup:
    """Statements that belong together. ``chain``: their runs while they are in the batch tier. ``reason``: why they cannot be there."""

    def __init__(self, statements: tuple[StatementOutput, ...]) -> None:
        self.statements = statements
        self.chain: GroupPipeline | None = None
        self.reason: str | None = None
        self.examined = False
        self.declined: str | None = None
        self.declines = 0
        """Why a batch was not taken, and how many were not: each doubles how many rows have to come before the next try."""
        self.rows = 0
        self.sends = 0
        self.entries: list[tuple[EventType, FilterEntry]] = []
        self.is_apart = False
        """Whether it has the events of a batch beside a component in columns that reads them, too."""

    def has_row_listeners(self) -> bool:
        return any(s.listeners for s in self.statements)


class _Receiver:
    """Where events that are sent one by one reach a component."""

    __slots__ = ("name", "order", "paths", "drop", "write", "_tier", "_component")

    def __init__(self, tier: BatchTier, component: StatementGroup) -> None:
        self.name = component.statements[0].name
        self.order = (0, 0, component.statements[0].number, 0)
        self.paths: Sequence[Path] = ()
        self.drop = False
        self.write: EmitSteps | None = None
        self._tier = tier
        self._component = component

    def receive(self, event: Event) -> None:
        if event not in self._tier.take_rows:
            self._tier.one(self._component, event)


class TierHost(Protocol):
    """What the batch tier asks of what deploys statements."""

    @property
    def deployments(self) -> Mapping[str, Iterable[StatementOutput]]:
        """By id, as they are at any time."""


class BatchTier:
    """The batch tier of one runtime; used under its lock. ``host``: its deployer."""

    def __init__(self, host: TierHost, core: EventLoop, *, always: bool) -> None:
        reason = missing()
        if reason is not None:
            raise EplUnsupportedError(f"The batch tier needs numba: {reason}", hint=f"{install('fast')}, or tier='row'")
        self._host = host
        self._core = core
        self._always = always
        self._pool = StringPool()
        self._codes_kept = 0
        """How many codes there were when the pool was last compacted."""
        self._components: dict[int, StatementGroup] = {}
        """By number of the statement."""
        self._owners: dict[EventType, StatementGroup | None] = {}
        self._read_apart: dict[EventType, bool] = {}
        self._stale = True
        self._calls: list[ListenerCall] = []
        self.compile: Callable[[str], Kernel] = lru_cache(maxsize=4096)(Warming)
        """Statements of one shape share a kernel, and their rows count together until it is compiled."""
        self.take_rows: Container[Event] = ()
        """The events of the batch under way that components here have had by columns."""
        self.row_of: RowOf | None = None
        """Which row is at a place of the batch that calls wait for."""

    # ------------------------------------------------------------------ which statement is where

    def changed(self) -> None:
        """Note that statements came or went. Raise EplUnsupportedError where all of them have to be here and cannot."""
        self._stale = True
        if self._always or self._active():
            self._refresh()

    def _active(self) -> list[StatementGroup]:
        return [c for c in dict.fromkeys(self._components.values()) if c.chain is not None]

    def _refresh(self) -> None:
        if not self._stale:
            return
        self._stale = False
        before, self._components, self._owners, self._read_apart = self._components, {}, {}, {}
        kept = {c.statements: c for c in before.values()}
        statements = [s for d in self._host.deployments.values() for s in d]
        groups = [kept.get(group) or StatementGroup(group) for group in statement_groups(statements)]
        filled = [part.target for s in statements for part in walk_plan(s.plan.body) if isinstance(part, InsertPlan)]
        for component in groups:
            component.is_apart = len(component.statements) == 1 and is_apart(component.statements[0], filled)
            self._components.update((s.number, component) for s in component.statements)
        for old in dict.fromkeys(before.values()):
            if old.chain is not None and old not in groups:
                self._leave_filters(old)
                old.chain = None
        for component in groups:
            if component.chain is None:
                self._settle(component)

    def _settle(self, component: StatementGroup) -> None:
        """Settle a component that is new: here as a whole or not at all."""
        here = [isinstance(s.running, BatchRunning) for s in component.statements]
        if self._always or all(here):
            self.promote(component)
        if component.chain is None and any(here):
            self._to_rows(component)

    def find_component(self, event_type: EventType, rows: int) -> StatementGroup | None:
        """Return the component that reads events of the type, if it is in the batch tier, or goes there now that ``rows`` more have
        come."""
        self._refresh()
        if event_type not in self._owners:
            readers = [c for c in dict.fromkeys(self._components.values()) if self._reads(c, event_type)]
            self._owners[event_type] = next((c for c in readers if not c.is_apart), None)
            self._read_apart[event_type] = any(c.is_apart for c in readers)
        owner = self._owners[event_type]
        if owner is None:
            return None
        if owner.chain is None and owner.reason is None:
            owner.rows += rows
            if owner.rows >= ROWS_BEFORE << owner.declines and not owner.has_row_listeners():
                self.promote(owner)
        owner.sends = 0
        return owner if owner.chain is not None else None

    def is_read_apart(self, event_type: EventType) -> bool:
        """Return whether the row tier needs events of the type, too, when they have been taken by columns."""
        return self._read_apart.get(event_type, False)

    @staticmethod
    def _reads(component: StatementGroup, event_type: EventType) -> bool:
        return any(
            isinstance(s.plan.body, SelectPlan) and event_type.is_a(each)
            for s in component.statements for each in types_read(s.plan.body)
        )

    # ------------------------------------------------------------------ moving

    def promote(self, component: StatementGroup) -> None:
        """Move the component here, with its state; where that cannot be, ``reason`` says why (EplUnsupportedError under ``batch``)."""
        try:
            nodes = [self._node(s) for s in component.statements]
            chain = GroupPipeline(nodes)
        except NotCompilable as error:
            component.reason = str(error)
            if self._always:
                raise NotInBatchTier(f"Not in the batch tier: {error}", hint="use tier='auto'") from error
            return
        for node in nodes:
            running = node.statement.running
            if not isinstance(running, BatchRunning):
                running.close()
                node.statement.running = BatchRunning(node, self.forget, self.row_running)
        component.chain, component.sends = chain, 0
        for event_type in _roots([n.reads for n in nodes]):
            entry = FilterEntry(_Receiver(self, component), None, None, (), (), component.statements[0].prepared.environment)
            component.entries.append((event_type, entry))
            self._core.filters.add(event_type, entry)

    def resume(self, statement: StatementOutput, state: State) -> bool:
        """Give a statement that is here the state, which may come from anywhere; return whether it is here."""
        running = statement.running
        if isinstance(running, BatchRunning):
            running.restore(state)
            return True
        return False

    def _node(self, statement: StatementOutput) -> PipelineNode:
        running = statement.running
        if isinstance(running, BatchRunning):
            return running.node
        try:
            node = self._fresh(statement)
            if not isinstance(running, Declaration):  # else it has no instance yet, and gets its state here
                node.run.restore(running.state())
        except (NotCompilable, Declined) as error:
            raise NotCompilable(f"statement '{statement.name}': {error}") from error
        return node

    def _fresh(self, statement: StatementOutput) -> PipelineNode:
        plan = statement.plan.body
        if not isinstance(plan, SelectPlan):
            raise not_in_columns(statement.plan.kind)
        if statement.plan.context is not None:
            raise not_in_columns("a statement of a context")
        if plan.subqueries:
            raise not_in_columns("a sub-query")
        read = stream_filter(only_stream(plan.streams, not_in_columns), not_in_columns).event_type
        if statement.plan.drop or (statement.plan.priority and self._core.settings.prioritized):
            raise NotCompilable("priorities are not kept in columns")
        check_insert(plan)
        surroundings = RunContext(self._pool, statement.prepared.environment, self.compile)
        bare = _without_insert(plan)
        member = RuleSetMember(bare, build_run(bare, surroundings), surroundings)
        return PipelineNode(statement, member, read, plan.insert)

    def demote(self, component: StatementGroup) -> None:
        """Move the component to the row tier, with its state."""
        self._leave_filters(component)
        component.chain = None
        component.rows = 0
        self._to_rows(component)

    def _to_rows(self, component: StatementGroup) -> None:
        for statement in component.statements:
            if isinstance(statement.running, BatchRunning):
                running = self.row_running(statement, statement.running.state())
                statement.running = running
                running.start()

    def row_running(self, statement: StatementOutput, state: State) -> Running:
        """Return the row tier's operators of a statement, in a state; they have not started."""
        return statement.prepared.instantiate(state=state)

    def _leave_filters(self, component: StatementGroup) -> None:
        for event_type, entry in component.entries:
            self._core.filters.remove(event_type, entry)
        component.entries.clear()

    @contextmanager
    def in_rows(self) -> Iterator[None]:
        """Move all that is here to the row tier, and back."""
        moved = self._active()
        for component in moved:
            self.demote(component)
        try:
            yield
        finally:
            self._refresh()
            for component in moved:
                stays = all(self._components.get(s.number) is component for s in component.statements)
                if stays and component.chain is None and (self._always or not component.has_row_listeners()):
                    self.promote(component)

    @property
    def is_used(self) -> bool:
        """Whether any component is here."""
        return bool(self._active())

    def may_stop(self, times: Array | None, until: int, limit: int, *, beside: bool) -> bool:
        """Return whether time could stop more than ``limit`` times between two rows on the way ``until`` then, and timers here be among
        those that stop it. ``times``: of the rows; ``beside``: whether the row tier has rows too, which may set timers there."""
        gaps = Gaps(self._core.clock.now, NO_TIMES if times is None else times, until, limit)
        if not gaps.widest:
            return False
        stops = sum(c.chain.stops(gaps) for c in self._active() if c.chain is not None)
        return stops > limit or (stops > 0 and (beside or self._core.schedule.nearest() is not None))

    def forget(self, statement: StatementOutput) -> None:
        """Note that the statement is undeployed."""
        self._stale = True

    def listener_added(self, statement: StatementOutput) -> None:
        """Note a row listener, which gets each call as it comes: under ``auto`` only the row tier makes it."""
        component = self._components.get(statement.number)
        if component is not None and component.chain is not None and not self._always:
            self.demote(component)

    def reason(self, statement: StatementOutput) -> str:
        """Return why the statement is where it is, for explain()."""
        self._refresh()
        component = self._components.get(statement.number)
        if component is None:
            return "no events reach it"
        if component.chain is not None:
            others = len(component.statements) - 1
            return f"with {others} statements that share its streams" if others else "compiled"
        if component.reason is None and not component.examined:
            self._examine(component)
        if component.reason is not None:
            return component.reason
        if component.has_row_listeners():
            return "it, or a statement that shares its streams, has a row listener"
        fewer = f"fewer than {ROWS_BEFORE << component.declines} rows have come in batches"
        return fewer if component.declined is None else f"{fewer} since one was not taken: {component.declined}"

    def _examine(self, component: StatementGroup) -> None:
        """Examine whether the component could come here."""
        component.examined = True
        try:
            GroupPipeline([self._fresh(s) for s in component.statements])
        except NotCompilable as error:
            component.reason = str(error)

    def compact(self) -> None:
        """Forget the codes of strings that no state holds any more, when there may be more of them than of the others: all runs are made
        again over a fresh pool. Cost: that of moving the components, each time the pool has doubled."""
        count = len(self._pool)
        if count < max(CODES_BEFORE, 2 * self._codes_kept):
            return
        statement_groups = self._active()
        nodes = {c: [s.running.node for s in c.statements if isinstance(s.running, BatchRunning)] for c in statement_groups}
        if count * BYTES_A_CODE < sum(node.run.memory() for each in nodes.values() for node in each):
            return
        self._pool = StringPool()
        for component, old in nodes.items():
            renewed = [self._fresh(node.statement) for node in old]
            for before, node in zip(old, renewed):
                node.run.restore(before.run.state())
                node.statement.running = BatchRunning(node, self.forget, self.row_running)
            component.chain = GroupPipeline(renewed)
        self._codes_kept = len(self._pool)

    def matches_in_progress(self) -> int:
        """Return how many states the row patterns that run here hold."""
        runs = (s.running.run for d in self._host.deployments.values() for s in d if isinstance(s.running, BatchRunning))
        return sum(run.matches_in_progress() for run in runs if isinstance(run, MatchRun))

    # ------------------------------------------------------------------ events and time

    def take(self, component: StatementGroup, inputs: Sequence[StreamInput]) -> bool:
        """Return whether the component's kernels can take the rows; else it has moved to the row tier (under ``batch``: NotInBatchTier)."""
        assert component.chain is not None
        try:
            component.chain.prepare(inputs)
        except Declined as error:
            self._decline(component, error)
            return False
        return True

    def _decline(self, component: StatementGroup, error: Declined) -> None:
        if self._always:
            raise NotInBatchTier(f"Not in the batch tier: {error}", hint="use tier='auto'") from error
        component.declined, component.declines = str(error), min(component.declines + 1, 20)
        self.demote(component)

    def feed(self, component: StatementGroup, inputs: Sequence[StreamInput], times: Array, until: int, *, jump: bool = False) -> None:
        """Process the rows, then time up to ``until``; ``jump``: timers that are due between two rows run once, at the later one's time."""
        chain = component.chain
        assert chain is not None
        if self._core.changed_statements is not None:
            self._core.changed_statements.update(s.number for s in component.statements)
        if any(chain.is_made(i.event_type) for i in inputs) or (jump and len(times) and (inputs or chain.next_due() is not None)):
            self._feed_one_by_one(chain, inputs, times, jump)
            inputs = ()
        self._calls += chain.feed(inputs, times, until, jump=jump, numbered=self._core.records_causes)

    def _feed_one_by_one(self, chain: GroupPipeline, inputs: Sequence[StreamInput], times: Array, jump: bool) -> None:
        """Row by row: where time jumps, each row of the batch moves all timers; where rows come from outside and from statements, each has
        to come in its turn."""
        rows = {int(place): (each, row) for each in inputs for row, place in enumerate(each.places())}
        for place, now in enumerate(times.tolist()):
            if jump:
                self._calls += chain.feed((), times, now, jump=True, numbered=self._core.records_causes)
            if place in rows:
                each, row = rows[place]
                self._calls += chain.feed((each.only(row),), times, now, jump=jump, numbered=self._core.records_causes)

    def advance(self, now: int, *, jump: bool, but: Sequence[StatementGroup] = (), times: Array = NO_TIMES) -> None:
        """Advance time for all components here, except those that have advanced to it already. ``times``: of the rows on the way."""
        for component in self._active():
            assert component.chain is not None
            due = component.chain.next_due()
            if component not in but and due is not None and due <= now:
                self.feed(component, (), times, now, jump=jump)

    def advance_span(self, start: int, now: int, resolution: int | None) -> None:
        """Advance time as ``runtime.event_loop.loop.EventLoop.advance_span``: to each due time on the way, or to the next multiples of
        ``resolution``.
        """
        if resolution is None or resolution <= 0:
            self.advance(now, jump=False)
            return
        while (due := self.next_due()) is not None and due <= now and start < now:
            steps = max(1, -(-(due - start) // resolution))
            start = min(start + steps * resolution, now)
            self.advance(start, jump=True)

    def next_due(self) -> int | None:
        return min((d for c in self._active() if c.chain is not None and (d := c.chain.next_due()) is not None), default=None)

    def one(self, component: StatementGroup, event: Event) -> None:
        """Process an event that was sent by itself: a batch of one."""
        component.sends += 1
        if not self._always and component.sends > SENDS_BEFORE:
            self.demote(component)
        else:
            try:
                if event.extra:
                    raise Declined(f"the property '{next(iter(event.extra))}' is not declared")
                intake = BatchIntake.of(event.type, [event], self._core.settings.units_per_second)
                now = self._core.clock.now
                inputs = (StreamInput(intake, np.array([now]), RowOrigin(np.zeros(1, np.int64))),)
                if self.take(component, inputs):
                    self.feed(component, inputs, np.array([now]), now)
                    return
            except Declined as error:
                self._decline(component, error)
        self._core.deliver_to_statements(event, {s.number for s in component.statements})

    def deliver(self) -> None:
        """Make the row listeners' calls: the runtime is seen as at the end of the batch."""
        row_of_batch, self.row_of = self.row_of, None
        while self._calls:
            calls, self._calls = in_order(self._calls, self._core.handles), []
            at = self._core.position
            place, time, row_of = at.place, at.time, at.row_of
            at.row_of = row_of_batch
            try:
                for call in calls:
                    at.place, at.time = None if call.moment.timer else call.moment.place, call.moment.time
                    call.statement.call(call.new, call.old)
            finally:
                at.place, at.time, at.row_of = place, time, row_of


def _roots(types: Sequence[EventType]) -> list[EventType]:
    """Return the types of which none of the others is a super-type: an event is of one of them only."""
    return [t for t in dict.fromkeys(types) if not any(t is not other and t.is_a(other) for other in types)]


def _without_insert(plan: SelectPlan) -> SelectPlan:
    """Return the plan up to where rows are inserted."""
    if plan.insert is None:
        return plan
    return attrs.evolve(plan, insert=None, output_type=plan.result_set.output_type)


__all__ = ["BatchTier", "StatementGroup", "TierHost"]
