"""The public face: ``Runtime``."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from epl.event_types import EventType
from epl.plan.queries import QueryPlan
from epl.plan.statements import ModulePlan
from epl.plan.windows import WindowConfig
from epl.settings import Settings
from runtime.api.contexts import Contexts
from runtime.api.deployment import Deployment
from runtime.api.engine import Engine
from runtime.api.error_reports import reporting, without_engine_frames
from runtime.api.plan_cache import parsed
from runtime.api.queried_partitions import Selectors
from runtime.api.queries import Parameters, PreparedQuery, QueryRows, planned_query
from runtime.api.restore import Provided
from runtime.api.restore import restore as restored
from runtime.clock.instants import Instant, shown
from runtime.clock.schedule import MAX_STOPS, Late, TimeMode
from runtime.event_loop.cause import Cause
from runtime.event_loop.delivery import ConditionHandler
from runtime.event_loop.loop import ErrorHandler, log_error
from runtime.state.changed_pages import ChangedPages, Pages
from runtime.state.snapshot import snapshot as snapshot_of
from runtime.statements.running import EVERY_PARTITION
from runtime.statements.statement import Statement
from runtime.statements.statement_output import Listener, check_listener
from windows.event import Event
from windows.registry import by_name

if TYPE_CHECKING:
    import pyarrow as pa



class Runtime(Engine):
    """One EPL engine: statements in, events and time in, changes out.

    Time is external unless ``clock="system"``: it begins at ``start_time`` (ms since 1970, µs where settings say so, or a datetime) and
    moves by ``advance_time``, ``advance_time_span`` and ``send_batch(time=…)``. All calls exclude one another (one re-entrant lock); calls
    from listeners run at once.
    ``on_error(error, statement name, event)`` hears of exceptions in expressions and listeners; the default logs them.
    """

    def __init__(
        self, *, clock: str = "external", start_time: Instant = 0, tier: str = "auto", settings: Settings | None = None,
        on_error: ErrorHandler = log_error,
    ) -> None:
        if clock not in ("external", "system"):
            raise ValueError("clock is 'external' or 'system'")
        if tier not in ("auto", "row", "batch"):
            raise ValueError("tier is 'auto', 'row' or 'batch'")
        check_listener(on_error, "on_error", "(error, statement name, event)")
        super().__init__(tier, start_time, settings or Settings(), on_error)
        self._system_clock: Any = None
        if clock == "system":
            from runtime.api.system_clock import SystemClock

            self._system_clock = SystemClock(self.lock, self._follow, self.settings.units_per_second)
            self.advance_time(self._system_clock.now())
            self._system_clock.start()

    # ------------------------------------------------------------------ compile and deploy

    @without_engine_frames
    def compile(self, text: str) -> ModulePlan:
        """Check and plan a module: deploy the result as often as you like. Raises EplError with position and hint."""
        with self.lock:
            self._check_open()
            return self._deployer.analysed(parsed(text))

    @without_engine_frames
    def deploy(
        self, module: str | ModulePlan, *, name: str | None = None, listeners: Mapping[str, Listener] | None = None,
        parameters: Mapping[str | int, Any] | None = None, replace: bool = False,
    ) -> Deployment:
        """Deploy a module: all of its statements or none.

        ``name``: the deployment's id (default d0, d1, …). ``listeners``: by statement name, called from the first event on. ``parameters``:
        values of ``?`` by position in the statement (from 1) or name, for all statements or, by statement name, for one each: ``{"s0": {1:
        5}}``. ``replace``: first undeploy deployments that hold a statement of one of the names (for notebooks).
        """
        with self.lock:
            self._check_open()
            for listener in (listeners or {}).values():
                check_listener(listener)
            replaced = self._deployer.namesakes(module) if replace else []
            plan = self._deployer.analysed(parsed(module), replaced) if isinstance(module, str) else module
            for deployment in replaced:
                self._undeploy(deployment)
            deployment = self._deployer.deploy(plan, name, dict(listeners or {}), dict(parameters or {}))
            self._settle_tiers(deployment)
            return deployment

    def undeploy(self, deployment_id: str) -> None:
        """Stop and forget a deployment; refuses while another one uses what it declares."""
        with self.lock:
            self._undeploy(self._deployer.unused(deployment_id))

    def undeploy_all(self) -> None:
        """Stop and forget all deployments, newest first."""
        with self.lock:
            for deployment in reversed(list(self._deployer.deployments.values())):
                self._undeploy(deployment)

    @property
    def deployments(self) -> dict[str, Deployment]:
        """Deployments by id, in order of deployment."""
        return dict(self._deployer.deployments)

    def statement(self, name: str) -> Statement:
        """Return the newest statement of that name; raise KeyError."""
        for deployment in reversed(list(self._deployer.deployments.values())):
            for statement in deployment:
                if statement.name == name:
                    return statement
        raise KeyError(f"no statement named {name!r}")

    # ------------------------------------------------------------------ events and time

    def send(self, event_type: str | EventType, event: Any) -> None:
        """Send one event: a mapping, a tuple in property order, an object of the class, JSON text for json types.

        Values are checked first: a wrong one raises EplRuntimeError and nothing has been done.
        """
        self._acquire()  # twice as fast as the with statement
        try:
            if event.__class__ is not dict:
                self._core.process(self._incoming(event_type, event))
            else:
                try:
                    take = self._intakes[event_type]
                except (KeyError, TypeError):  # not yet made; a list is no key at all
                    made_for = self.bus_type(event_type)
                    take = self._core.make_intake(event_type, made_for)
                take(event)
            if self._batches or self._batch_tier is not None:
                self._deliver_batches()
        finally:
            self._release()

    def route(self, event_type: str | EventType, event: Any) -> None:
        """Send an event; from a listener, it is processed when the current one is done. Elsewhere the same as ``send``."""
        with self.lock:
            self._check_open()
            incoming = self._incoming(event_type, event)
            self._core.route(incoming, incoming.type)
            if not self._core.busy:
                self._core.work()

    def event_of(self, event_type: str | EventType, event: Any) -> Event:
        """Return the event that ``send`` would process, checked; it is not processed."""
        with self.lock:
            return self._incoming(event_type, event)

    def send_batch(
        self, target: str | EventType | Mapping[str, Any], table: Any = None, *, time: str | Mapping[str, str] | None = None,
        sequence: str | Mapping[str, str] | None = None, late: Late = "refuse",
        time_mode: TimeMode = "span", max_stops: int = MAX_STOPS,
    ) -> None:
        """Process each row of ``table`` as an event of the type ``target``, as one ``send`` a row would; or, where ``target`` is ``{type:
        table}``, the rows of several types, merged in order of time and sequence.

        A table is a pyarrow Table or RecordBatch, a pandas or Polars DataFrame, or anything else with ``__arrow_c_stream__``, with a
        column for each declared property. ``time``: the column of each row's time (whole numbers are engine units, timestamps are
        converted), one name or one a type; the clock moves to it before the row is processed. None: no clock moves. ``sequence``: the
        column that orders rows of equal time. ``late="refuse"``: a row without a time or before the clock refuses the batch; ``"keep"``:
        such rows are processed first, at the current time. ``time_mode="jump"``: a timer that is due several times between two rows runs
        once, as with ``advance_time``. ``max_stops``: how many timers may be due between two rows.

        Raise EplRuntimeError naming type, column, row (from 0) and value where a table does not fit; no row has been processed then.
        """
        from runtime.api.send_batch import send_batch
        from runtime.conversion.batch_order import Options  # imports Arrow, which a runtime without batches need not load

        with self.lock:
            self._check_open()
            try:
                send_batch(self._core, self.bus_type, self.columnar(), target, table, Options(time, sequence, late, time_mode, max_stops))
            finally:  # what came out before a gap that is refused
                self._deliver_batches()

    @property
    def now(self) -> int:
        """Engine time (ms since 1970, or µs by configuration)."""
        return self._core.clock.now

    def advance_time(self, now: Instant) -> None:
        """Jump to ``now`` (engine units since 1970, or a datetime): each timer that is due runs once, at the new time. Going back only sets
        the clock.
        """
        self._acquire()
        try:
            core = self._core
            core.clock.now = now = now if now.__class__ is int and not now >> 61 else self._instant(now)
            heap = core.schedule.heap
            if heap and heap[0][0] <= now:  # as EventLoop.advance has it: most often nothing is due
                core.run_due(now)
            if self._batch_tier is not None:
                self._batch_tier.advance(now, jump=True)
            if self._batches or self._batch_tier is not None:
                self._deliver_batches()
        finally:
            self._release()

    def advance_time_span(self, now: Instant, resolution: int | None = None, *, max_stops: int | None = None) -> None:
        """Walk to ``now``, stopping at every time at which something is due (or at steps of ``resolution``). ``max_stops``: as for
        ``send_batch``; the clock is at the last stop where there are more."""
        with self.lock:
            self._check_open()
            now, tier = self._instant(now), self._batch_tier
            try:
                if tier is not None and max_stops is not None and not resolution and tier.may_stop(None, now, max_stops, beside=False):
                    with tier.in_rows():
                        self._core.advance_span(now, None, max_stops)
                else:
                    if tier is not None:
                        tier.advance_span(self.now, now, resolution)
                    self._core.advance_span(now, resolution, max_stops)
            finally:
                self._deliver_batches()

    @property
    def next_scheduled_time(self) -> int | None:
        """When the next timer is due, None where none is."""
        with self.lock:
            nearest = self._core.schedule.nearest()
            due = None if self._batch_tier is None else self._batch_tier.next_due()
            return min((t for t in (nearest, due) if t is not None), default=None)

    @property
    def matches_in_progress(self) -> int:
        """How many states ``match_recognize`` holds, in all statements."""
        with self.lock:
            held = self._core.match_states.count
            return held if self._batch_tier is None else held + self._batch_tier.matches_in_progress()

    @property
    def stored_rows(self) -> dict[str, int]:
        """How many rows each named window and table holds, by name. Reading it costs the same however many there are."""
        with self.lock:
            return self._deployer.stored_rows()

    @property
    def context_partitions(self) -> dict[str, int]:
        """How many partitions each context has, by name; of those of one name together."""
        counts: dict[str, int] = {}
        with self.lock:
            for tree in self._core.contexts.values():
                counts[tree.context.name] = counts.get(tree.context.name, 0) + len(tree.partitions)
        return counts

    @property
    def contexts(self) -> Contexts:
        """The contexts that are deployed, by name: their partitions and statements."""
        return Contexts(self._core, self.lock, self._check_open)

    @property
    def subexpressions_in_progress(self) -> int:
        """How many sub-expressions of patterns wait after a ``->``, in all statements: what ``max_subexpressions`` limits."""
        with self.lock:
            return self._core.subexpressions.count

    @property
    def subexpressions_by_statement(self) -> dict[str, int]:
        """How many of them each statement has, by name."""
        with self.lock:
            return self._core.subexpressions.by_statement()

    @property
    def on_condition(self) -> ConditionHandler:
        """Called with a ``Condition`` when a limit is reached: ``max_subexpressions``, ``max_statement_subexpressions``, ``-[n]>``,
        ``max_states``; while events are processed. What it raises goes to the error handler. The default logs all but ``-[n]>``."""
        return self._on_condition

    @on_condition.setter
    def on_condition(self, handler: ConditionHandler) -> None:
        check_listener(handler, "on_condition", "(condition)")
        with self.lock:
            self._on_condition = handler
            report = reporting(handler, self._on_error)
            for states in (self._core.subexpressions, self._core.match_states):
                states.on_condition = report

    @property
    def cause(self) -> Cause:
        """What is being processed, for listeners and error handlers: the row of the batch, or the timer, that causes their call."""
        return self._core.position.cause(self._core.clock.now)

    # ------------------------------------------------------------------ queries, state

    @without_engine_frames
    def compile_query(self, text: str) -> QueryPlan:
        """Check and plan a fire-and-forget query. Raises EplError with position and hint."""
        with self.lock:
            self._check_open()
            return planned_query(text, self._deployer.catalog())

    @without_engine_frames
    def query(
        self, query: str | QueryPlan, parameters: Parameters = (), *, partitions: Selectors = EVERY_PARTITION
    ) -> QueryRows:
        """Run a fire-and-forget query and return its rows: select, insert into, update or delete on named windows and tables; select also
        on databases and static tables, or without from clause.

        ``parameters``: values of ``?`` by name or position (from 1), or in order. What a query changes has reached consumers and listeners
        when it returns; the result is the rows that it has inserted into a window, changed or deleted there. Raises EplError; nothing has
        changed then. ``partitions``: those of a context that a PartitionSelector selects.
        """
        with self.lock:
            return self._prepared(query, prepared=False).execute(parameters, partitions=partitions)

    @without_engine_frames
    def prepare_query(self, query: str | QueryPlan) -> PreparedQuery:
        """Analyse and compile a query once, to be run often: ``prepared.execute({"symbol": "A"})``. What it looks up by equality is indexed
        from now on. Raises EplError with position and hint."""
        return self._prepared(query, prepared=True)

    @staticmethod
    @without_engine_frames
    def sql(text: str, tables: Mapping[str, Any], *, dialect: str = "sql") -> pa.Table:
        """Run a query in a SQL dialect over Arrow tables, pandas or Polars frames, by name, and return an Arrow table (docs/sql.md). It is
        independent of statements and engine time."""
        from runtime.dialects.sql import run_query  # not needed by statements

        return run_query(text, tables, dialect)

    @without_engine_frames
    def fill(self, name: str, frame: Any) -> int:
        """Insert the rows of a frame into a named window or table, all of them at once, as an insert query does; return how many.

        ``frame``: a pyarrow table or batch, a pandas, Polars or Spark frame (which is collected), with a column for each property but
        aggregations. Raise EplRuntimeError naming column, row and value where it does not fit; nothing has been inserted then.
        """
        with self.lock:
            self._check_open()
            rows = self._deployer.fill(name, frame)
            self._deliver_batches()
            return rows

    def snapshot(self, *, snapshot_key: bytes | None = None) -> bytes:
        """Return everything: modules, parameters, variables, clock, state; no code. ``Runtime.restore`` goes on exactly here.

        ``snapshot_key``: seals it, so that only what was written with the same key is restored: for stores that others can write to.
        From a listener: EplRuntimeError where routed events (insert into, ``route``) still wait, since they would be lost.
        """
        with self.lock:
            self._check_open()
            self._check_nothing_waits()
            return snapshot_of(self.state(), snapshot_key)

    def pages(self, since: str | None = None, *, snapshot_key: bytes | None = None) -> Pages:
        """Return what ``snapshot`` holds as pages: all of them, or with ``since`` (the mark of an earlier answer) those that have changed
        since.

        ``pages().apply_to({})`` is a store that ``restore`` takes, ``pages(since=mark).apply_to(store)`` brings it up to date. From the
        first call on the runtime notes what changes. The last marks are known, up to the last call without ``since``; others raise
        EplRuntimeError. ``snapshot_key``: as for ``snapshot``, the same in each call.
        """
        with self.lock:
            self._check_open()
            self._check_nothing_waits()
            if self._marks is None:
                self._marks = ChangedPages()
            return self._marks.since(self.state(), since, snapshot_key)

    @classmethod
    def restore(
        cls, blob: bytes | Mapping[str, bytes], *, functions: Mapping[str, Callable[..., Any]] | None = None,
        on_error: ErrorHandler = log_error, aggregations: Mapping[str, Callable[[], Any]] | None = None, tier: str = "auto",
        python_imports: Collection[str] = (), snapshot_key: bytes | None = None, windows: Collection[type[WindowConfig]] = (),
        register: Callable[[Runtime], object] | None = None,
    ) -> Runtime:
        """Return the runtime that ``snapshot()`` or ``pages()`` saw, whatever tiers its statements ran in. User functions and aggregations
        are given again by name, data windows of the application's own (``windows``) as for ``register_window``; listeners are attached
        again by the caller. ``register(runtime)`` is called before the modules are deployed: it registers the methods, databases and static
        tables that they use; what their look-ups returned is not part of a snapshot.

        ``python_imports``: as in ``Settings``, and never taken from the snapshot, since importing runs code. ``snapshot_key``: the one that
        it was written with. Raises EplDeploymentError, before anything runs, for functions, aggregations, windows and imports that are not
        given;
        EplRuntimeError for a snapshot that is damaged, of another version, or sealed with another key.
        """
        provided = Provided(dict(functions or {}), dict(aggregations or {}), tuple(python_imports), by_name(*windows), register)
        return restored(cls, blob, provided, on_error, tier, snapshot_key)

    # ------------------------------------------------------------------ manners

    def close(self) -> None:
        """Undeploy everything; a system clock stops. What would change a closed runtime raises EplRuntimeError."""
        if self._system_clock is not None:
            self._system_clock.stop()
        with self.lock:
            self.undeploy_all()
            for database in self._historical.databases.values():
                database.close()
            self.is_closed = True
            self._acquire = self._check_open

    def _follow(self, wall: int) -> None:
        """Move time to the wall clock, which may have been set back."""
        self.advance_time_span(max(wall, self.now))

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        statements = sum(len(d) for d in self._deployer.deployments.values())
        return f"Runtime(now={shown(self.now, self.settings.units_per_second)}, {statements} statements)"

    def _repr_html_(self) -> str:
        cells = [(d.id, s.name, s.plan.kind) for d in self._deployer.deployments.values() for s in d]
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        now = shown(self.now, self.settings.units_per_second)
        return f"<b>Runtime</b> at {now}<table><tr><th>deployment</th><th>statement</th><th>kind</th></tr>{rows}</table>"


__all__ = ["Runtime"]
