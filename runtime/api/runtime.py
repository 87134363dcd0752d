"""The public face: ``Runtime``."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from epl.event_types import EventType
from epl.plan.statements import ModulePlan
from epl.plan.stores.queries import QueryPlan
from epl.plan.windows import WindowConfig
from epl.settings import Settings
from epl.texts import load_text
from runtime.api.counts import RuntimeCounts
from runtime.api.deployment import Deployment
from runtime.api.engine import RuntimeEngine, check_options
from runtime.api.error_reports import without_engine_frames
from runtime.api.plan_cache import in_dialect
from runtime.api.queried_partitions import Selectors
from runtime.api.queries import Parameters, PreparedQuery, QueryRows, plan_query
from runtime.api.registry import Registry
from runtime.api.restore import Provided
from runtime.api.restore import restore as restored
from runtime.arguments import check_methods
from runtime.clock.instants import Instant
from runtime.clock.schedule import MAX_STOPS, Late, TimeMode
from runtime.dialects.limits import MOST_ROWS, MOST_STEPS, QueryLimits
from runtime.event_loop.cause import Cause
from runtime.event_loop.loop import ErrorHandler, log_error
from runtime.state.changed_pages import ChangedPages, Pages
from runtime.state.snapshot import snapshot as snapshot_of
from runtime.statements.callables import check_listeners
from runtime.statements.running import EVERY_PARTITION
from runtime.statements.statement_output import Listener
from windows.event import Event
from windows.registry import by_name

if TYPE_CHECKING:
    import pyarrow as pa


@check_methods(but=("send", "send_batch", "route", "event_of", "advance_time"))
class Runtime(Registry, RuntimeCounts):
    """An EPL engine: statements, events and time go in, rows come out.

    Time is external unless ``clock="system"``: it begins at ``start_time`` and moves by ``advance_time``, ``advance_time_span`` and
    ``send_batch(time=…)``. Every method may be called from any thread and from listeners; one call runs at a time (a re-entrant lock).
    A runtime is a context manager, which closes it.

    Args:
        clock: ``"external"``, or ``"system"`` to follow the wall clock in a thread of its own.
        start_time: The time at the beginning: ms since 1970 (µs with ``Settings(time_unit="microseconds")``), a datetime or ISO text.
        tier: ``"auto"``: statements over large batches run in compiled loops where that is supported; ``"row"``: never; ``"batch"``:
            always, and other statements are refused.
        settings: See ``Settings``.
        on_error: Called as ``(error, statement name, event)`` with exceptions in expressions and listeners. The default logs them. What it
            raises ends the call at once, as in Esper: statements after the one that failed do not see the event, and what waits to be
            delivered or processed comes with the next call.

    Raises:
        ValueError: An unknown ``clock`` or ``tier``.
        TypeError: ``on_error`` cannot be called so.

    Examples:
        >>> with Runtime() as runtime:
        ...     event_type = runtime.register("Trade", {"symbol": str, "price": float})
        ...     total = runtime.deploy("@name('total') select sum(price) as total from Trade#time(10 sec)")["total"]
        ...     runtime.send("Trade", {"symbol": "A", "price": 5.0})
        ...     runtime.advance_time(2_000)
        ...     runtime.send("Trade", {"symbol": "B", "price": 7.0})
        ...     print(runtime, list(total))
        Runtime(now=2000 (1970-01-01T00:00:02Z), 1 statements) [{'total': 12.0}]
        >>> runtime.is_closed, runtime.tier
        (True, 'auto')
    """

    def __init__(
        self, *, clock: str = "external", start_time: Instant = 0, tier: str = "auto", settings: Settings | None = None,
        on_error: ErrorHandler = log_error,
    ) -> None:
        if clock not in ("external", "system"):
            raise ValueError("clock is 'external' or 'system'")
        check_options(tier, on_error)
        self._engine = RuntimeEngine(self, tier, start_time, settings or Settings(), on_error)
        self.lock, self.settings = self._engine.lock, self._engine.settings
        self._system_clock: Any = None
        if clock == "system":
            from runtime.api.system_clock import SystemClock

            follow = lambda wall: self.advance_time_span(max(wall, self.now))  # noqa: E731 - the wall clock may have been set back
            self._system_clock = SystemClock(self.lock, follow, self.settings.units_per_second)
            self.advance_time(self._system_clock.now())
            self._system_clock.start()

    @property
    def tier(self) -> str:
        """As it was made: ``auto``, ``row`` or ``batch``; ``row`` after ``measure``."""
        return self._engine.tier

    @property
    def is_closed(self) -> bool:
        """Whether ``close`` has ended it."""
        return self._engine.definitions.is_closed

    # ------------------------------------------------------------------ compile and deploy

    @without_engine_frames
    def compile(self, text: str | PathLike[str], *, dialect: str | None = None) -> ModulePlan:
        """Check and plan a module without deploying it. The plan is frozen: deploy it as often as you like.

        Args:
            text: EPL, statements separated by semicolons; or the path of its file (UTF-8).
            dialect: As for ``deploy``.

        Raises:
            EplError: The text is refused; the error has position and hint.
            TypeError: ``text`` is neither; OSError where its file cannot be read.
        """
        text = load_text(text)
        with self._engine.hold_open() as engine, in_dialect(text, dialect, self.settings) as written:
            return engine.deployer.compile_module(written)

    @without_engine_frames
    def deploy(
        self, module: str | PathLike[str] | ModulePlan, *, name: str | None = None, listeners: Mapping[str, Listener] | None = None,
        parameters: Mapping[str | int, Any] | None = None, replace: bool = False, dialect: str | None = None,
    ) -> Deployment:
        """Deploy a module: all of its statements or none.

        Args:
            module: EPL text, the path of its file (``pathlib.Path``; UTF-8), or a plan of ``compile``.
            name: The deployment's id (default: d0, d1, …).
            listeners: Listeners by statement name; they are called from the first event on.
            parameters: Values of ``?`` by position in the statement (from 1) or by name, for all statements; or by statement name for one
                each, ``{"s0": {1: 5}}``.
            replace: First undeploy the deployments that hold a statement of one of the names (for notebooks).
            dialect: Of which dialect ``match_recognize`` is in statements without ``@Dialect``: ``"sql"``, ``"flink"``, ``"alibaba"``,
                ``"ydb"`` or ``"epl"`` (default: what the settings say).

        Raises:
            EplError: The module is refused, an id or a declaration is taken, or a parameter is missing. Nothing of it is deployed.
            TypeError: ``module`` is something else, or a listener cannot be called with ``(new, old, statement, runtime)``; OSError where
                the file cannot be read.

        Examples:
            >>> runtime = Runtime()
            >>> event_type = runtime.register("A", {"x": int})
            >>> deployment = runtime.deploy("@name('big') select x from A(x > ?::int)", parameters={1: 5},
            ...                             listeners={"big": lambda new, old, statement, runtime: print(new)})
            >>> runtime.send("A", {"x": 7})
            [{'x': 7}]
            >>> deployment.id, deployment["big"]
            ('d0', Statement('big'))
        """
        check_listeners(listeners)
        source = module if isinstance(module, ModulePlan) else load_text(module, others="a plan of compile")
        with self._engine.hold_open() as engine, in_dialect(source if isinstance(source, str) else "", dialect, self.settings) as written:
            text = written if isinstance(source, str) else source
            replaced = engine.deployer.namesakes(text) if replace else []
            plan = engine.deployer.compile_module(text, replaced) if isinstance(text, str) else text
            for deployment in replaced:
                engine.undeploy(deployment)
            deployment = engine.deployer.deploy(plan, name, dict(listeners or {}), dict(parameters or {}))
            engine.settle_tiers(deployment)
            return deployment.public

    def undeploy(self, deployment_id: str) -> None:
        """Stop and forget a deployment.

        Args:
            deployment_id: The id of ``Deployment.id``.

        Raises:
            EplDeploymentError: No deployment has the id, or another one uses what it declares.
        """
        self._engine.undeploy_unused(deployment_id)

    def undeploy_all(self) -> None:
        """Stop and forget all deployments, newest first."""
        engine = self._engine
        with engine.lock:
            for deployment in reversed(list(engine.deployer.deployments.values())):
                engine.undeploy(deployment)

    # ------------------------------------------------------------------ events and time

    def send(self, event_type: str | EventType, event: Any) -> None:
        """Process one event: all statements have seen it, and listeners have been called, when this returns.

        Args:
            event_type: The type, or its name.
            event: A mapping, a tuple in the order of the properties, an object of the registered class, or JSON text for json types.
                Missing properties are null; ``Settings(unknown_properties="refuse")`` refuses undeclared ones.

        Raises:
            EplRuntimeError: The type is unknown or a value does not fit; the event had no effect.

        Examples:
            >>> runtime = Runtime()
            >>> event_type = runtime.register("A", {"x": int, "y": str})
            >>> last = runtime.deploy("select * from A#lastevent")[0]
            >>> runtime.send("A", {"x": 1})
            >>> list(last)
            [{'x': 1, 'y': None}]
            >>> runtime.send("A", (2, "b"))
            >>> list(last)
            [{'x': 2, 'y': 'b'}]
        """
        engine = self._engine
        engine.acquire()  # twice as fast as the with statement
        try:
            if event.__class__ is not dict:
                engine.core.process(engine.incoming(event_type, event))
            else:
                try:
                    take = engine.intakes[event_type]
                except (KeyError, TypeError):  # not yet made; a list is not a key at all
                    made_for = engine.bus_type(event_type)
                    take = engine.core.make_intake(event_type, made_for)
                take(event)
            if engine.batches or engine.batch_tier is not None:
                engine.deliver_batches()
        finally:
            engine.release()

    def route(self, event_type: str | EventType, event: Any) -> None:
        """Process an event after the current one, from a listener; elsewhere the same as ``send``.

        Args:
            event_type: The type, or its name.
            event: As for ``send``.

        Raises:
            EplRuntimeError: As for ``send``.
        """
        with self._engine.hold_open() as engine:
            incoming = engine.incoming(event_type, event)
            engine.core.route(incoming, incoming.type)
            if not engine.core.busy:
                engine.core.work()

    def event_of(self, event_type: str | EventType, event: Any) -> Event:
        """Return the event that ``send`` would process, checked; it is not processed.

        Args:
            event_type: The type, or its name.
            event: As for ``send``.

        Raises:
            EplRuntimeError: As for ``send``.
        """
        with self._engine.lock:
            return self._engine.incoming(event_type, event)

    def send_batch(
        self, target: str | EventType | Mapping[str, Any], table: Any = None, *, time: str | Mapping[str, str] | None = None,
        sequence: str | Mapping[str, str] | None = None, late: Late = "refuse",
        time_mode: TimeMode = "span", max_stops: int = MAX_STOPS,
    ) -> None:
        """Process each row of a table as one event, with the same output as a ``send`` per row; or the rows of several tables, merged by
        time.

        Args:
            target: The event type or its name; or ``{type: table}``, without ``table``: rows are merged in order of time and sequence.
            table: A pyarrow Table or RecordBatch, a pandas or Polars DataFrame, or anything else with ``__arrow_c_stream__``, with a column
                for each declared property; those that no statement reads are not looked at.
            time: The column of each row's time, one name or one per type: integers in engine units (ms), or timestamps. The clock moves to
                it before the row is processed. None: no clock moves.
            sequence: The column that orders rows of equal time, one name or one per type.
            late: ``"refuse"``: a row without a time, or before the clock, refuses the batch; ``"keep"``: such rows are processed first, at
                the current time.
            time_mode: ``"span"``: each timer that is due between two rows runs at its time; ``"jump"``: one that is due several times runs
                once, as with ``advance_time``.
            max_stops: The most times at which timers may be due between two rows.

        Raises:
            EplRuntimeError: A table does not fit: the message names type, column, row (from 0) and value. No row has been processed then.

        Examples:
            >>> import pyarrow as pa
            >>> runtime = Runtime()
            >>> event_type = runtime.register("Trade", {"price": float})
            >>> total = runtime.deploy("select sum(price) as total from Trade#time(10 sec)")[0]
            >>> runtime.send_batch("Trade", pa.table({"price": [5.0, 7.0], "ts": [0, 12_000]}), time="ts")
            >>> runtime.now, list(total)
            (12000, [{'total': 7.0}])
        """
        from runtime.api.send_batch import send_batch
        from runtime.conversion.batch_order import BatchOptions  # imports Arrow, which a runtime without batches need not load

        with self._engine.hold_open() as engine:
            try:
                chosen = BatchOptions(time, sequence, late, time_mode, max_stops)
                send_batch(engine.core, engine.bus_type, engine.columnar(), target, table, chosen, engine.properties_read)
            finally:  # what came out before a gap that is refused
                engine.deliver_batches()

    def advance_time(self, now: Instant) -> None:
        """Jump to a time: each timer that is due runs once, at the new time.

        Args:
            now: Engine units (ms) since 1970, a datetime or ISO text. A time before the current one only sets the clock.

        Raises:
            EplRuntimeError: The time is out of range.
        """
        engine = self._engine
        engine.acquire()
        try:
            core = engine.core
            core.clock.now = now = now if now.__class__ is int and not now >> 61 else engine.instant(now)
            heap = core.schedule.heap
            if heap and heap[0][0] <= now:  # as EventLoop.advance has it: most often nothing is due
                core.run_due(now)
            if engine.batch_tier is not None:
                engine.batch_tier.advance(now, jump=True)
            if engine.batches or engine.batch_tier is not None:
                engine.deliver_batches()
        finally:
            engine.release()

    def advance_time_span(self, now: Instant, resolution: int | None = None, *, max_stops: int | None = None) -> None:
        """Walk to a time, stopping at every time on the way at which a timer is due.

        Args:
            now: Engine units (ms) since 1970, a datetime or ISO text.
            resolution: Stop at multiples of this many units instead.
            max_stops: The most stops; if more are due, the clock stays at the last one.

        Raises:
            EplRuntimeError: The time is out of range or before the clock, or ``max_stops`` is exceeded.

        Examples:
            >>> runtime = Runtime()
            >>> ticks = runtime.deploy("select current_timestamp() as t from pattern [every timer:interval(1 sec)]")[0]
            >>> _ = ticks.add_listener(lambda new, old, statement, runtime: print(new))
            >>> runtime.advance_time_span(2_500)
            [{'t': 1000}]
            [{'t': 2000}]
        """
        with self._engine.hold_open() as engine:
            now, tier = engine.instant(now), engine.batch_tier
            try:
                if tier is not None and max_stops is not None and not resolution and tier.may_stop(None, now, max_stops, beside=False):
                    with tier.in_rows():
                        engine.core.advance_span(now, None, max_stops)
                else:
                    if tier is not None:
                        tier.advance_span(self.now, now, resolution)
                    engine.core.advance_span(now, resolution, max_stops)
            finally:
                engine.deliver_batches()

    def end_of_input(self) -> None:
        """Note that no event follows: ``match_recognize`` of a SQL dialect emits what waits for a row or a time (docs/sql.md). The clock
        stays. Events may be sent all the same: they begin another input.

        Examples:
            >>> from runtime import Runtime
            >>> runtime = Runtime()
            >>> event_type = runtime.register("A", {"x": int})
            >>> deployment = runtime.deploy(
            ...     "@name('s') select n from A match_recognize (order by x measures COUNT(*) as n pattern (B+) define B as x > 0)",
            ...     listeners={"s": lambda new, old, statement, runtime: print(new)})
            >>> runtime.send("A", {"x": 1})
            >>> runtime.end_of_input()
            [{'n': 1}]
        """
        with self._engine.hold_open() as engine:
            engine.core.end_input()
            engine.deliver_batches()

    @property
    def cause(self) -> Cause:
        """The cause of what is being processed, for listeners and error handlers: the row of the batch, or the timer, that causes their
        call."""
        return self._engine.cause

    # ------------------------------------------------------------------ queries, state

    @without_engine_frames
    def compile_query(self, text: str | PathLike[str], *, module: str | None = None) -> QueryPlan:
        """Check and plan a fire-and-forget query, for ``query`` and ``prepare_query``.

        Args:
            text: One select, insert, update or delete; or the path of its file.
            module: The query sees what a module of that name sees, protected named windows and tables of such modules among them.

        Raises:
            EplError: The text is refused; the error has position and hint.
            TypeError: ``text`` is neither.
        """
        text = load_text(text)
        with self._engine.hold_open() as engine:
            return plan_query(text, engine.deployer.catalog(module))

    @without_engine_frames
    def query(
        self, query: str | PathLike[str] | QueryPlan, parameters: Parameters = (), *, partitions: Selectors = EVERY_PARTITION
    ) -> QueryRows:
        """Run a fire-and-forget query and return its rows: select, insert into, update or delete on named windows and tables; select also
        on databases and static tables, or without a from clause.

        What a query changes has reached consumers and listeners when this returns; the result is then the rows that it inserted into a
        window, changed or deleted there.

        Args:
            query: EPL text, the path of its file, or a plan of ``compile_query``.
            parameters: Values of ``?`` by name or position (from 1), or in order.
            partitions: A ``PartitionSelector``: only those partitions of the context.

        Raises:
            EplError: The query is refused or fails; nothing has changed.
            TypeError: ``query`` is something else.

        Examples:
            >>> runtime = Runtime()
            >>> deployment = runtime.deploy("create table T(k string primary key, n int)")
            >>> _ = runtime.query("insert into T(k, n) values ('a', 1)")
            >>> runtime.query("select n + ?::int as m from T where k = 'a'", [10])
            [{'m': 11}]
        """
        with self._engine.lock:
            return self._engine.build_query(query, prepared=False).execute(parameters, partitions=partitions)

    @without_engine_frames
    def prepare_query(self, query: str | PathLike[str] | QueryPlan) -> PreparedQuery:
        """Analyse and compile a query once, to run it often by ``execute(parameters)``. What it looks up by equality is indexed from now
        on.

        Args:
            query: EPL text, the path of its file, or a plan of ``compile_query``.

        Raises:
            EplError: The query is refused; the error has position and hint.
            TypeError: ``query`` is something else.
        """
        return self._engine.build_query(query, prepared=True)

    @staticmethod
    @without_engine_frames
    def sql(
        text: str | PathLike[str], tables: Mapping[str, Any], *, dialect: str = "sql", max_rows: int | None = MOST_ROWS,
        max_steps: int | None = MOST_STEPS,
    ) -> pa.Table:  # fmt: skip
        '''Run a query in a SQL dialect over tables. It is independent of statements and engine time (docs/sql.md).

        Args:
            text: The query, or the path of its file; its ``match_recognize`` has the rules of the dialect.
            tables: Arrow tables, pandas or Polars frames by name.
            dialect: ``"sql"`` (SQL:2016 as Trino runs it), ``"flink"``, ``"alibaba"`` or ``"ydb"``.
            max_rows: The most rows of one join, union or clause beyond those of the tables. None: no limit (docs/settings.md#limits).
            max_steps: The most steps beyond 200 for each row of the tables; a million take about a second. None: no limit.

        Returns:
            A pyarrow Table.

        Raises:
            EplError: The query is refused, in the words of the system named, or a column does not fit, or a limit is reached.
            TypeError: An argument is of another kind; ValueError where a limit is less than 1.

        Examples:
            >>> import pyarrow as pa
            >>> prices = pa.table({"day": [1, 2, 3], "price": [5, 9, 7]})
            >>> rises = Runtime.sql("""
            ...     select * from prices match_recognize (
            ...       order by day measures A.day as first_day, B.price as price
            ...       pattern (A B) define B as B.price > A.price)""", {"prices": prices})
            >>> rises.to_pylist()
            [{'first_day': 1, 'price': 9}]
        '''
        from runtime.batch.dialects.queries import ColumnQueries  # not needed by statements
        from runtime.dialects.sql import run_query

        return run_query(load_text(text, "SQL text"), tables, dialect, by_columns=ColumnQueries, limits=QueryLimits(max_rows, max_steps))

    @without_engine_frames
    def fill(self, name: str, frame: Any) -> int:
        """Insert the rows of a frame into a named window or table, all of them at once, as an insert query does.

        Args:
            name: The named window or table.
            frame: A pyarrow table or batch, a pandas, Polars or Spark frame (which is collected), with a column for each property except
                aggregations.

        Returns:
            The number of rows.

        Raises:
            EplRuntimeError: A row does not fit: the message names column, row and value. Nothing has been inserted.
        """
        with self._engine.hold_open() as engine:
            rows = engine.deployer.fill(name, frame)
            engine.deliver_batches()
            return rows

    def snapshot(self, *, snapshot_key: bytes | None = None) -> bytes:
        """Return the whole state as bytes: modules, parameters, variables, clock, contents; no code. ``Runtime.restore`` continues exactly
        here.

        Args:
            snapshot_key: Seals the snapshot, so that it can only be restored with the same key: for stores that others can write to.

        Raises:
            EplRuntimeError: In a listener, while routed events (``insert into``, ``route``) wait; if no restore is possible.

        Examples:
            >>> runtime = Runtime()
            >>> total = runtime.deploy("create schema A(x int); @name('total') select sum(x) as total from A")["total"]
            >>> runtime.send("A", {"x": 1})
            >>> restored = Runtime.restore(runtime.snapshot())
            >>> restored.send("A", {"x": 2})
            >>> list(restored.statement("total")), list(total)
            ([{'total': 3}], [{'total': 1}])
        """
        with self._engine.hold_open() as engine:
            engine.check_can_be_stored()
            return snapshot_of(engine.state(), snapshot_key)

    def pages(self, since: str | None = None, *, snapshot_key: bytes | None = None) -> Pages:
        """Return what ``snapshot`` holds as pages: all of them, or those that changed since an earlier call.

        ``pages().apply_to({})`` is a store that ``restore`` takes; ``pages(since=mark).apply_to(store)`` brings it up to date. From the
        first call on, the runtime records what changes.

        Args:
            since: The ``mark`` of an earlier result. Marks are known back to the last call without ``since``.
            snapshot_key: As for ``snapshot``, the same in each call.

        Raises:
            EplRuntimeError: The mark is not known; or as for ``snapshot``.

        Examples:
            >>> runtime = Runtime()
            >>> deployment = runtime.deploy("create schema A(x int); @name('total') select sum(x) as total from A")
            >>> first = runtime.pages()
            >>> store = first.apply_to({})
            >>> runtime.send("A", {"x": 5})
            >>> store = runtime.pages(since=first.mark).apply_to(store)
            >>> list(Runtime.restore(store).statement("total"))
            [{'total': 5}]
        """
        with self._engine.hold_open() as engine:
            engine.check_can_be_stored()
            if engine.marks is None:
                engine.marks = ChangedPages()
            return engine.marks.since(engine.state(), since, snapshot_key)

    @classmethod
    def restore(
        cls, blob: bytes | Mapping[str, bytes], *, functions: Mapping[str, Callable[..., Any]] | None = None,
        on_error: ErrorHandler = log_error, aggregations: Mapping[str, Callable[[], Any]] | None = None, tier: str = "auto",
        python_imports: Collection[str] = (), snapshot_key: bytes | None = None, windows: Collection[type[WindowConfig]] = (),
        register: Callable[[Runtime], object] | None = None,
    ) -> Runtime:
        """Return the runtime that ``snapshot()`` or ``pages()`` saw, whichever tiers its statements ran in.

        Listeners are not part of a snapshot: add them again. Functions, aggregations and data windows of the application are given again by
        name.

        Args:
            blob: A snapshot, or a store of pages by key.
            functions: What was registered by ``register_function``, by name.
            on_error: As for ``Runtime``.
            aggregations: What was registered by ``register_aggregation``, by name.
            tier: As for ``Runtime``.
            python_imports: As in ``Settings``. They are never taken from the snapshot, since importing runs code.
            snapshot_key: The key that it was sealed with.
            windows: What was registered by ``register_window``.
            register: Called with the runtime before the modules are deployed, to register the methods, databases and static tables that
                they use. What their look-ups returned is not part of a snapshot.

        Raises:
            EplDeploymentError: Functions, aggregations, windows or imports are missing; nothing has run.
            EplRuntimeError: The snapshot is damaged, of another version, or sealed with another key.

        Examples:
            >>> runtime = Runtime()
            >>> runtime.register_function("twice", lambda x: x * 2)
            >>> deployment = runtime.deploy("create schema A(x int); @name('t') select twice(x) from A")
            >>> Runtime.restore(runtime.snapshot(), functions={"twice": lambda x: x * 2})
            Runtime(now=0 (1970-01-01T00:00:00Z), 2 statements)
        """
        check_options(tier, on_error)
        provided = Provided(dict(functions or {}), dict(aggregations or {}), tuple(python_imports), by_name(*windows), register)
        return restored(cls, blob, provided, on_error, tier, snapshot_key)

    def close(self) -> None:
        """Undeploy everything and stop a system clock. Afterwards, what would change the runtime raises EplRuntimeError."""
        if self._system_clock is not None:
            self._system_clock.stop()
        engine = self._engine
        with engine.lock:
            self.undeploy_all()
            engine.close()

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def internal_engine(runtime: Runtime) -> RuntimeEngine:
    """Return what is behind a runtime, for the packages of epl-spark: applications have no use for it."""
    return runtime._engine


sql = Runtime.sql
"""``Runtime.sql``, which needs no runtime."""

__all__ = ["Runtime", "internal_engine", "sql"]
