"""The bases of ``Runtime``: ``Engine``, what the packages of epl-spark call of a runtime, and ``Counts``, its counters."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from operator import attrgetter
from os import PathLike
from typing import TYPE_CHECKING, Any

import attrs

from epl.analysis.names.suggestions import did_you_mean
from epl.catalog import Catalog
from epl.errors import EplRuntimeError, EplUnsupportedError
from epl.event_types import EventType
from epl.plan.statements import ModulePlan, StatementPlan
from epl.plan.stores.queries import QueryPlan
from epl.reprs import brief
from epl.settings import Settings
from epl.syntax import Module
from epl.texts import text_of
from runtime.api.contexts import Contexts
from runtime.api.deployer import Deployer
from runtime.api.deployment import Deployment
from runtime.api.error_reports import explained, reporting
from runtime.api.queries import PreparedQuery
from runtime.api.registry import Registry
from runtime.arguments import checked, checked_methods
from runtime.batch.available import is_available, missing
from runtime.clock.instants import Instant, instant_of, shown
from runtime.conversion.from_python import to_event
from runtime.event_loop.delivery import ConditionHandler, RowCounts, log_condition
from runtime.event_loop.loop import ErrorHandler, EventLoop
from runtime.event_loop.measured import Measured
from runtime.state.changed_pages import ChangedPages
from runtime.state.runtime_state import RuntimeState
from runtime.statements.callables import check_callable
from runtime.statements.statement import Statement
from runtime.statements.statement_output import StatementOutput
from windows.event import Event
from windows.protocol import State

if TYPE_CHECKING:
    from runtime.api.properties_read import PropertiesRead
    from runtime.batch.tier.tier import BatchTier
    from runtime.event_loop.cause import Cause
    from runtime.pictures.recording import Recording

NUMBER = attrgetter("number")


@attrs.frozen
class StatementMetrics:
    """What one statement has done since ``Runtime.measure()``.

    Attributes:
        statement: Its name.
        deployment: Its deployment.
        events: Events that passed its filters, and rows of named windows that it consumes.
        timers: Timers of it that have run.
        new_rows: Rows of its insert stream.
        old_rows: Rows of its remove stream.
        seconds: How long its operators took by the wall clock, without filters and listeners.
        window_rows: The events that its data windows hold now.

    Examples:
        >>> from runtime import Runtime
        >>> runtime = Runtime()
        >>> runtime.measure()
        >>> deployment = runtime.deploy("@name('tick') select 1 as x from pattern [every timer:interval(1 sec)]")
        >>> runtime.advance_time_span(3000)
        >>> [(s.statement, s.deployment, s.events, s.timers, s.new_rows, s.old_rows) for s in runtime.metrics]
        [('tick', 'd0', 0, 3, 3, 0)]
        >>> runtime.metrics[0].seconds < 1, runtime.metrics[0].window_rows
        (True, 0)
    """

    statement: str
    deployment: str
    events: int
    timers: int
    new_rows: int
    old_rows: int
    seconds: float
    window_rows: int


class Engine(Registry):
    """Internal to epl-spark: what its other packages need of a runtime. It may change in any version; applications use ``Runtime``."""

    def __init__(self, tier: str, start_time: Instant, settings: Settings, on_error: ErrorHandler) -> None:
        super().__init__(settings)
        self.tier = tier
        self._on_error = explained(on_error)
        began = instant_of("start_time", start_time, self.settings.units_per_second)
        self._core = EventLoop(self.settings, began, self._on_expression_error, self._on_error)
        self._on_condition: ConditionHandler = log_condition
        self._on_fault: ErrorHandler | None = None
        self._deployer = Deployer(
            self, self._core, functions=self._functions, types=self._types, variables=self._variables, historical=self._historical,
            catalog_of=self._catalog_of, undeploy=self.undeploy,
        )
        self._acquire: Callable[[], object] = self.lock.acquire
        self._release, self._intakes = self.lock.release, self._core.intakes
        self._batches: dict[StatementOutput, None] = {}
        self._marks: ChangedPages | None = None
        self._batch_tier: BatchTier | None = None
        self._row_only: str | None = None
        """Why there is none, once it has been asked for."""
        if tier == "batch":
            self.columnar(always=True)

    if TYPE_CHECKING:  # Runtime has them

        @property
        def cause(self) -> Cause: ...

        def undeploy(self, deployment_id: str) -> None: ...

    def observe_patterns(
        self, *, rows: Callable[[Any, int | None, int], None] | None = None, events: Callable[[Any, int, bool], None] | None = None
    ) -> None:
        """Report what happens in the patterns that are deployed from now on: to ``rows`` each step (plan, step before or None, step) of a
        row pattern, to ``events`` each outcome (plan, number of the node, true or false) of an EPL pattern's operators."""
        self._deployer.row_pattern_observer, self._deployer.pattern_observer = rows, events

    # ------------------------------------------------------------------ types, modules and deployments

    @checked
    def event_type(self, name: str) -> EventType:
        """Return a type by name: registered, or declared by a deployment; raise EplRuntimeError."""
        declared = None if name in self._types else self._deployer.declared_type(name)
        if declared is None and name not in self._types:
            near = did_you_mean(str(name), self.catalog().event_types)
            raise EplRuntimeError(f"no bus event type named '{name}'{near}", hint="declare it with create schema or Runtime.register")
        return super().event_type(name) if declared is None else declared

    def _forget_type(self, event_type: EventType) -> None:
        self._deployer.check_replaceable(event_type)
        self._core.forget_generated()

    def _is_declared(self, name: str) -> bool:
        return self._deployer.declared_type(name) is not None

    def _settle(self) -> None:
        self._core.flush()
        self._deliver_batches()

    def catalog(self, module: str | None = None) -> Catalog:
        """Return what a module of that name compiled now would see."""
        return self._deployer.catalog(module)

    def bring_in(self, module: Module) -> None:
        """Make what a module imports from Python callable in EPL, as far as ``Settings.python_imports`` allows; EplValidationError where
        there is no such Python module or class.
        """
        self._deployer.bring_in(module)

    def prepare(self, plan: ModulePlan, *, name: str, parameters: Mapping[str | int, Any]) -> Deployment:
        """Add a deployment whose statements do not run until each of them has its state by ``resume``: what restoring does."""
        deployment = self._deployer.prepare(plan, name, dict(parameters))
        self._settle_tiers(deployment)
        return deployment

    def resume(self, statement: Statement, state: State) -> None:
        """Let a statement, where it runs now, go on in the state that a snapshot holds of it."""
        if self._batch_tier is None or not self._batch_tier.resume(statement, state):
            self._deployer.resume(statement, state)

    def _settle_tiers(self, deployment: Deployment) -> None:
        if self._batch_tier is not None:
            try:
                self._batch_tier.changed()
            except EplUnsupportedError:
                self._undeploy(deployment)
                raise

    def _undeploy(self, deployment: Deployment) -> None:
        self._deployer.undeploy(deployment)
        if self._batch_tier is not None:
            self._batch_tier.changed()

    def plans(self) -> list[StatementPlan]:
        """Return the plans of all deployed statements, in order of deployment."""
        return [s.plan for d in self._deployer.deployments.values() for s in d]

    @property
    def properties_read(self) -> PropertiesRead:
        """Which properties of events statements read."""
        return self._deployer.properties_read

    def bus_type(self, event_type: str | EventType) -> EventType:
        """Return a type that takes events from outside, itself or by name; raise EplRuntimeError."""
        resolved = event_type if not isinstance(event_type, str) else self._types.get(event_type) or self.event_type(event_type)
        if not isinstance(resolved, EventType):
            raise EplRuntimeError(f"an event type is given by its name, not by {brief(resolved)}")
        if not resolved.is_bus:
            raise EplRuntimeError(f"no bus event type named '{resolved.name}'", hint="declare it with @public @buseventtype")
        return resolved

    def _incoming(self, event_type: str | EventType, event: Any) -> Event:
        declared = self.bus_type(event_type)
        if isinstance(event, Event):
            return event
        if self._core.check_names is not None:
            self._core.check_names(declared, event)
        return to_event(declared, event)

    def columnar(self, *, always: bool = False) -> BatchTier | None:
        """Return the batch tier, made when it is first asked for; None under ``tier="row"`` and without numba."""
        if self._batch_tier is None and (always or self.tier == "auto"):
            self._row_only = None if always else missing()
            if self._row_only is None:
                from runtime.batch.tier.tier import BatchTier

                self._batch_tier = BatchTier(self._deployer, self._core, always=always)
        return self._batch_tier

    def tier_of(self, statement: Statement) -> tuple[str, str]:
        """Return (``row`` or ``batch``, why): where a statement runs now."""
        if self._batch_tier is None:
            if self.tier == "row":
                return "row", "tier='row'"
            return "row", self._row_only or ("nothing has come in batches" if is_available() else "numba is not installed")
        from runtime.batch.tier.running import BatchRunning

        return "batch" if isinstance(statement.running, BatchRunning) else "row", self._batch_tier.reason(statement)

    def listener_added(self, statement: Statement) -> None:
        """Note that a statement is about to get a row listener."""
        if self._batch_tier is not None:
            self._batch_tier.listener_added(statement)

    @property
    def batches_begun(self) -> int:
        """How many batches have begun to have effects."""
        return self._core.begun

    def _on_expression_error(self, error: BaseException, statement: str, event: Any) -> None:
        """An expression has raised."""
        self._on_error(error, statement, event)
        if self._on_fault is not None:
            self._on_fault(error, statement, event)

    @property
    def on_fault(self) -> ErrorHandler | None:
        """Called in a step of a job with exceptions in expressions, after the error handler; what it raises ends the step
        (runtime.api.faults). There is no sender then to whom what ``update istream`` raises could go."""
        return self._on_fault

    @on_fault.setter
    def on_fault(self, handler: ErrorHandler | None) -> None:
        self._on_fault = handler
        self._core.has_sender = handler is None

    def pend_batch(self, statement: StatementOutput) -> None:
        """Note that the statement has output for its batch listeners at the end of this call."""
        self._batches[statement] = None

    def _deliver_batches(self) -> None:
        if self._batch_tier is not None:
            self._batch_tier.deliver()
        while self._batches:
            pending, self._batches = self._batches, {}
            for statement in sorted(pending, key=NUMBER):
                statement.deliver_batches()

    def _prepared(self, query: str | PathLike[str] | QueryPlan, *, prepared: bool) -> PreparedQuery:
        text = query if isinstance(query, QueryPlan) else text_of(query, others="a plan of compile_query")
        with self.lock:
            self._check_open()
            return PreparedQuery(self._deployer.query(text, prepared=prepared), self.lock, self._check_open, self._deliver_batches)

    def state(self) -> RuntimeState:
        """Return what snapshots consist of: the runtime's own objects, to be read under its lock."""
        return RuntimeState(
            self.settings, self._types, self._user_functions, self._functions.aggregations, self.own_windows, self._enums, self._variables,
            self._deployer.deployments, self._deployer.counts, self._core, self._historical, self._deployer.tables,
        )

    def _check_can_be_stored(self) -> None:
        if self._core.waiting:
            raise EplRuntimeError(
                f"A snapshot cannot be taken while {self._core.waiting} routed events wait to be processed",
                hint="take it between two sends",
            )
        self._deployer.check_restorable()

    def _instant(self, now: Instant) -> int:
        return instant_of("now", now, self.settings.units_per_second)


@checked_methods()
class Counts(Engine):
    """What a runtime holds and counts: the part of ``Runtime`` that only reads."""

    @property
    def deployments(self) -> dict[str, Deployment]:
        """Deployments by id, in order of deployment."""
        return dict(self._deployer.deployments)

    def statement(self, name: str) -> Statement:
        """Return the newest statement of a name.

        Args:
            name: Of ``@name('…')``, or stmt-0, stmt-1, ….

        Raises:
            KeyError: There is none.
        """
        for deployment in reversed(list(self._deployer.deployments.values())):
            for statement in deployment:
                if statement.name == name:
                    return statement
        raise KeyError(f"no statement named {name!r}")

    def record(self, *statements: str | Statement) -> Recording:
        """Record what the windows of statements hold, their partial matches and rows, event by event, in a ``with`` block; then
        ``recording.plot()`` or ``recording.save("s.svg")`` draws it (docs/pictures.md).

        Each event looks at all that the statements hold: record small examples.

        Args:
            statements: Names, or statements themselves; none: all selects and named windows.

        Raises:
            KeyError: for a name that no statement has.
            EplRuntimeError: at the beginning of the block, for a statement that ``tier="batch"`` holds in the batch tier.

        Examples:
            >>> from runtime import Runtime
            >>> runtime = Runtime()
            >>> _ = runtime.deploy("create schema T(a int); @name('s') select a from T#length(1)")
            >>> with runtime.record("s") as recording:
            ...     runtime.send("T", {"a": 5})
            ...     runtime.send("T", {"a": 6})
            >>> [(held.label, held.enters, held.leaves) for held in recording.tracks[0].held]
            [('1', 0, 1), ('2', 1, None)]
        """
        from runtime.pictures.record import record

        return record(self, self._incoming, self._core, statements)

    def measure(self) -> None:
        """Count from now on what each statement does, for ``metrics``; a second time does nothing.

        An event then takes some microseconds more: its statement is not inlined into the intake of its type, and its rows are made for the
        count. Batches are processed row by row.

        Raises:
            EplRuntimeError: Events have come in batches, and statements run in the batch tier.
        """
        with self.lock:
            self._check_open()
            if self._core.measured is not None:
                return
            if self._batch_tier is not None:
                raise EplRuntimeError("statements in the batch tier are not measured", hint="call measure() before the first send_batch")
            self.tier = "row"
            Measured(self._core, self._incoming)
            for deployment in self._deployer.deployments.values():
                for statement in deployment:
                    statement.count_rows()

    @property
    def metrics(self) -> list[StatementMetrics]:
        """What each statement has done since ``measure`` was called, in order of deployment; empty without it.

        Examples:
            >>> from runtime import Runtime
            >>> runtime = Runtime()
            >>> runtime.measure()
            >>> deployment = runtime.deploy("create schema A(x int); @name('s') select irstream x from A(x > 1)#length(1)")
            >>> for x in (1, 2, 3):
            ...     runtime.send("A", {"x": x})
            >>> s = runtime.metrics[-1]
            >>> s.statement, s.events, s.new_rows, s.old_rows, s.window_rows, s.seconds > 0
            ('s', 2, 2, 1, 1, True)
        """
        from runtime.pictures.contents import windows_of

        with self.lock:
            measured = self._core.measured
            if measured is None:
                return []
            return [
                StatementMetrics(
                    statement.name, deployment.id, counts.events, counts.timers, counts.new_rows, counts.old_rows,
                    counts.nanoseconds / 1e9, sum(sum(1 for _ in events) for _, events in windows_of(statement)))
                for deployment in self._deployer.deployments.values()
                for statement in deployment
                for counts in [measured.of(statement.number)]
            ]

    @property
    def now(self) -> int:
        """Engine time: ms since 1970, or µs by configuration."""
        return self._core.clock.now

    @property
    def next_scheduled_time(self) -> int | None:
        """When the next timer is due, in engine units; None if none is."""
        with self.lock:
            nearest = self._core.schedule.nearest()
            due = None if self._batch_tier is None else self._batch_tier.next_due()
            return min((t for t in (nearest, due) if t is not None), default=None)

    @property
    def matches_in_progress(self) -> int:
        """The number of partial matches (states) that ``match_recognize`` holds, in all statements."""
        with self.lock:
            held = self._core.match_states.count
            return held if self._batch_tier is None else held + self._batch_tier.matches_in_progress()

    @property
    def ordered_rows(self) -> dict[str, RowCounts]:
        """Of each statement with ``match_recognize`` of a SQL dialect: how many rows wait for earlier ones, and how many were late, too far
        ahead of the clock, or processed early since too many waited; by the name of the statement."""
        with self.lock:
            counts: dict[str, RowCounts] = {}
            for entry, (_, name, _) in self._core.at_end_of_input.items():
                counts[name] = counts.get(name, RowCounts()) + entry.counts()
            return counts

    @property
    def stored_rows(self) -> dict[str, int]:
        """The number of rows of each named window and table, by name. Reading it costs the same however many there are."""
        with self.lock:
            return self._deployer.stored_rows()

    @property
    def context_partitions(self) -> dict[str, int]:
        """The number of partitions of each context, by name; contexts of one name are counted together."""
        counts: dict[str, int] = {}
        with self.lock:
            for tree in self._core.contexts.values():
                counts[tree.context.name] = counts.get(tree.context.name, 0) + len(tree.partitions)
        return counts

    @property
    def contexts(self) -> Contexts:
        """The deployed contexts by name, each a ``ContextAccess``: their partitions and statements. ``contexts.add_listener(f)`` calls
        ``f`` with a ``ContextChange`` when a context is created or destroyed.
        """
        return Contexts(self._core, self.lock, self._check_open)

    @property
    def on_condition(self) -> ConditionHandler:
        """Called with a ``Condition`` when a limit is reached while events are processed: ``max_subexpressions``,
        ``max_statement_subexpressions``, ``-[n]>``, ``max_states``. What it raises goes to the error handler. The default logs all but
        ``-[n]>``.
        """
        return self._on_condition

    @on_condition.setter
    def on_condition(self, handler: ConditionHandler) -> None:
        check_callable(handler, "on_condition", "(condition)")
        with self.lock:
            self._on_condition = handler
            report = reporting(handler, self._on_error)
            for states in (self._core.subexpressions, self._core.match_states):
                states.on_condition = report

    @property
    def subexpressions_in_progress(self) -> int:
        """The number of sub-expressions of patterns that wait after a ``->``, in all statements: what ``max_subexpressions`` limits."""
        with self.lock:
            return self._core.subexpressions.count

    @property
    def subexpressions_by_statement(self) -> dict[str, int]:
        """``subexpressions_in_progress`` of each statement, by name."""
        with self.lock:
            return self._core.subexpressions.by_statement()

    def __dir__(self) -> list[str]:
        """Offer to completion what users call: not what jobs, the batch tier and restore ask of an engine."""
        return sorted(set(super().__dir__()) - (vars(Engine).keys() - {"event_type"}) - {"own_windows", "share_sources", "user_functions"})

    def __repr__(self) -> str:
        statements = sum(len(d) for d in self._deployer.deployments.values())
        return f"Runtime(now={shown(self.now, self.settings.units_per_second)}, {statements} statements)"

    def _repr_html_(self) -> str:
        cells = [(d.id, s.name, s.plan.kind) for d in self._deployer.deployments.values() for s in d]
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        now = shown(self.now, self.settings.units_per_second)
        return f"<b>Runtime</b> at {now}<table><tr><th>deployment</th><th>statement</th><th>kind</th></tr>{rows}</table>"


def check_options(tier: str, on_error: ErrorHandler) -> None:
    """Raise ValueError for an unknown tier, TypeError for a handler that cannot be called as one."""
    if tier not in ("auto", "row", "batch"):
        raise ValueError("tier is 'auto', 'row' or 'batch'")
    check_callable(on_error, "on_error", "(error, statement name, event)")


__all__ = ["Counts", "Engine", "check_options"]
