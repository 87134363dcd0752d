"""The engine behind a ``Runtime``: what the packages of epl-spark call of it."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from os import PathLike
from typing import TYPE_CHECKING, Any

from epl.analysis.names.suggestions import did_you_mean
from epl.catalog import Catalog
from epl.errors import EplRuntimeError, EplUnsupportedError
from epl.event_types import EventType
from epl.plan.statements import ModulePlan, StatementPlan
from epl.plan.stores.queries import QueryPlan
from epl.reprs import brief
from epl.settings import Settings
from epl.syntax import Module
from epl.texts import load_text
from runtime.api.definitions import Definitions
from runtime.api.deployer import Deployer
from runtime.api.deployment import DeployedModule
from runtime.api.error_reports import wrap_handler
from runtime.api.queries import PreparedQuery
from runtime.batch.available import is_available, missing
from runtime.clock.instants import Instant, to_instant
from runtime.conversion.from_python import to_event
from runtime.event_loop.delivery import ConditionHandler, log_condition
from runtime.event_loop.loop import ErrorHandler, EventLoop
from runtime.state.changed_pages import ChangedPages
from runtime.state.runtime_state import RuntimeState
from runtime.statements.callables import check_callable
from runtime.statements.statement_output import StatementOutput
from windows.event import Event
from windows.protocol import State

if TYPE_CHECKING:
    from runtime.api.properties_read import PropertiesRead
    from runtime.batch.tier.tier import BatchTier
    from runtime.event_loop.cause import Cause

NUMBER = attrgetter("number")


class RuntimeEngine:
    """Internal to epl-spark: event loop, deployments and tiers of one runtime. It may change in any version; applications use ``Runtime``.

    ``runtime``: the one that it is behind, which listeners get.
    """

    def __init__(self, runtime: Any, tier: str, start_time: Instant, settings: Settings, on_error: ErrorHandler) -> None:
        self.runtime, self.tier, self.settings = runtime, tier, settings
        self.definitions = Definitions(settings)
        self.lock = self.definitions.lock
        self.on_error = wrap_handler(on_error)
        began = to_instant("start_time", start_time, self.settings.units_per_second)
        self.core = EventLoop(self.settings, began, self._on_expression_error, self.on_error)
        self.condition_handler: ConditionHandler = log_condition
        self._on_fault: ErrorHandler | None = None
        self.deployer = Deployer(self, self.core, self.definitions, self.undeploy_unused)
        self.acquire: Callable[[], object] = self.lock.acquire
        self.release, self.intakes = self.lock.release, self.core.intakes
        self.batches: dict[StatementOutput, None] = {}
        self.marks: ChangedPages | None = None
        self.batch_tier: BatchTier | None = None
        self._row_only: str | None = None
        """Why there is none, once it has been asked for."""
        if tier == "batch":
            self.columnar(always=True)

    def observe_patterns(
        self, *, rows: Callable[[Any, int | None, int], None] | None = None, events: Callable[[Any, int, bool], None] | None = None
    ) -> None:
        """Report what happens in the patterns that are deployed from now on: to ``rows`` each step (plan, step before or None, step) of a
        row pattern, to ``events`` each outcome (plan, number of the node, true or false) of an EPL pattern's operators."""
        self.deployer.row_pattern_observer, self.deployer.pattern_observer = rows, events

    @contextmanager
    def hold_open(self) -> Iterator[RuntimeEngine]:
        """Hold the lock of a runtime that is not closed; raise EplRuntimeError where it is."""
        with self.lock:
            self.definitions.check_open()
            yield self

    def close(self) -> None:
        """Close databases, and refuse events from now on."""
        for database in self.definitions.historical.databases.values():
            database.close()
        self.definitions.is_closed = True
        self.acquire = self.definitions.check_open

    # ------------------------------------------------------------------ types, modules and deployments

    def event_type(self, name: str) -> EventType:
        """Return a type by name: registered, or declared by a deployment; raise EplRuntimeError."""
        known = self.definitions.types.get(name) or self.deployer.newest_type(name)
        if known is None:
            near = did_you_mean(str(name), self.catalog().event_types)
            raise EplRuntimeError(f"no bus event type named '{name}'{near}", hint="declare it with create schema or Runtime.register")
        return known

    def forget_type(self, event_type: EventType) -> None:
        """Make space for another type of the name; raise EplDeploymentError while a deployment uses the type."""
        self.deployer.check_replaceable(event_type)
        self.core.forget_generated()

    def is_declared(self, name: str) -> bool:
        """Return whether a deployment declares an event type of that name."""
        return self.deployer.newest_type(name) is not None

    def settle(self) -> None:
        """Deliver what follows from another value of a variable."""
        self.core.flush()
        self.deliver_batches()

    def catalog(self, module: str | None = None) -> Catalog:
        """Return what a module of that name compiled now would see."""
        return self.deployer.catalog(module)

    def import_names(self, module: Module) -> None:
        """Make what a module imports from Python callable in EPL, as far as ``Settings.python_imports`` allows; EplValidationError where
        there is no such Python module or class.
        """
        self.deployer.import_names(module)

    def prepare(self, plan: ModulePlan, *, name: str, parameters: Mapping[str | int, Any]) -> DeployedModule:
        """Add a deployment whose statements do not run until each of them has its state by ``resume``: what restoring does."""
        deployment = self.deployer.prepare(plan, name, dict(parameters))
        self.settle_tiers(deployment)
        return deployment

    def resume(self, statement: StatementOutput, state: State) -> None:
        """Let a statement, where it runs now, go on in the state that a snapshot holds of it."""
        if self.batch_tier is None or not self.batch_tier.resume(statement, state):
            self.deployer.resume(statement, state)

    def settle_tiers(self, deployment: DeployedModule) -> None:
        """Let the batch tier see a new deployment; undeploy it and raise EplUnsupportedError where ``tier="batch"`` refuses it."""
        if self.batch_tier is not None:
            try:
                self.batch_tier.changed()
            except EplUnsupportedError:
                self.undeploy(deployment)
                raise

    def undeploy(self, deployment: DeployedModule) -> None:
        """Stop and forget a deployment, even if others use what it declares."""
        self.deployer.undeploy(deployment)
        if self.batch_tier is not None:
            self.batch_tier.changed()

    def undeploy_unused(self, deployment_id: str) -> None:
        """Stop and forget the deployment of that id; raise EplDeploymentError where there is none, or others use what it declares."""
        with self.lock:
            self.undeploy(self.deployer.check_unused(deployment_id))

    def plans(self) -> list[StatementPlan]:
        """Return the plans of all deployed statements, in order of deployment."""
        return [statement.plan for statement in self.deployer.statements()]

    @property
    def properties_read(self) -> PropertiesRead:
        """The properties of events that statements read."""
        return self.deployer.properties_read

    def bus_type(self, event_type: str | EventType) -> EventType:
        """Return a type that takes events from outside, itself or by name; raise EplRuntimeError."""
        resolved = event_type if not isinstance(event_type, str) else self.definitions.types.get(event_type) or self.event_type(event_type)
        if not isinstance(resolved, EventType):
            raise EplRuntimeError(f"an event type is given by its name, not by {brief(resolved)}")
        if not resolved.is_bus:
            raise EplRuntimeError(f"no bus event type named '{resolved.name}'", hint="declare it with @public @buseventtype")
        return resolved

    def incoming(self, event_type: str | EventType, event: Any) -> Event:
        """Return what was sent as an event of the type; raise EplRuntimeError."""
        declared = self.bus_type(event_type)
        if isinstance(event, Event):
            return event
        if self.core.check_names is not None:
            self.core.check_names(declared, event)
        return to_event(declared, event)

    def columnar(self, *, always: bool = False) -> BatchTier | None:
        """Return the batch tier, made when it is first asked for; None under ``tier="row"`` and without numba."""
        if self.batch_tier is None and (always or self.tier == "auto"):
            self._row_only = None if always else missing()
            if self._row_only is None:
                from runtime.batch.tier.tier import BatchTier

                self.batch_tier = BatchTier(self.deployer, self.core, always=always)
        return self.batch_tier

    def statement_tier(self, statement: StatementOutput) -> tuple[str, str]:
        """Return (``row`` or ``batch``, why): where a statement runs now."""
        if self.batch_tier is None:
            if self.tier == "row":
                return "row", "tier='row'"
            return "row", self._row_only or ("nothing has come in batches" if is_available() else "numba is not installed")
        from runtime.batch.tier.running import BatchRunning

        return "batch" if isinstance(statement.running, BatchRunning) else "row", self.batch_tier.reason(statement)

    def listener_added(self, statement: StatementOutput) -> None:
        """Note that a statement is about to get a row listener."""
        if self.batch_tier is not None:
            self.batch_tier.listener_added(statement)

    @property
    def cause(self) -> Cause:
        """The cause of what is being processed: the row of the batch, or the timer."""
        return self.core.position.cause(self.core.clock.now)

    @property
    def now(self) -> int:
        """Engine time."""
        return self.core.clock.now

    @property
    def batches_begun(self) -> int:
        """The number of batches that have begun to have effects."""
        return self.core.begun

    def _on_expression_error(self, error: BaseException, statement: str, event: Any) -> None:
        """Handle an expression's error."""
        self.on_error(error, statement, event)
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
        self.core.has_sender = handler is None

    def pend_batch(self, statement: StatementOutput) -> None:
        """Note that the statement has output for its batch listeners at the end of this call."""
        self.batches[statement] = None

    def deliver_batches(self) -> None:
        """Call the batch listeners with what has come together in this call."""
        if self.batch_tier is not None:
            self.batch_tier.deliver()
        while self.batches:
            pending, self.batches = self.batches, {}
            for statement in sorted(pending, key=NUMBER):
                statement.deliver_batches()

    def build_query(self, query: str | PathLike[str] | QueryPlan, *, prepared: bool) -> PreparedQuery:
        text = query if isinstance(query, QueryPlan) else load_text(query, others="a plan of compile_query")
        with self.hold_open():
            return PreparedQuery(self.deployer.query(text, prepared=prepared), self.lock, self.definitions.check_open, self.deliver_batches)

    def state(self) -> RuntimeState:
        """Return what snapshots consist of: the runtime's own objects, to be read under its lock."""
        known, deployer = self.definitions, self.deployer
        return RuntimeState(
            self.settings, known.types, known.user_functions, known.functions.aggregations, known.own_windows, known.enums, known.variables,
            deployer.deployments, deployer.counts, self.core, known.historical, deployer.tables,
        )

    def check_can_be_stored(self) -> None:
        """Raise EplRuntimeError where no snapshot can be taken now, or could be restored."""
        if self.core.waiting:
            raise EplRuntimeError(
                f"A snapshot cannot be taken while {self.core.waiting} routed events wait to be processed",
                hint="take it between two sends",
            )
        self.deployer.check_restorable()

    def instant(self, now: Instant) -> int:
        """Return a time in engine units; raise EplRuntimeError."""
        return to_instant("now", now, self.settings.units_per_second)


def check_options(tier: str, on_error: ErrorHandler) -> None:
    """Raise ValueError for an unknown tier, TypeError for a handler that cannot be called as one."""
    if tier not in ("auto", "row", "batch"):
        raise ValueError("tier is 'auto', 'row' or 'batch'")
    check_callable(on_error, "on_error", "(error, statement name, event)")


__all__ = ["RuntimeEngine", "check_options"]
