"""What a runtime holds and counts, for ``Runtime``."""
from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import attrs

from epl.errors import EplRuntimeError
from runtime.api.contexts import DeployedContexts
from runtime.api.deployment import Deployment
from runtime.api.engine import RuntimeEngine
from runtime.api.error_reports import reporting
from runtime.api.statement import Statement, internal_output
from runtime.arguments import check_methods
from runtime.clock.instants import show_instant
from runtime.event_loop.delivery import ConditionHandler, RowCounts
from runtime.event_loop.measured import Measured
from runtime.statements.callables import check_callable

if TYPE_CHECKING:
    from runtime.pictures.recording import Recording


@attrs.frozen
class StatementMetrics:
    """The work of a statement since ``Runtime.measure()``.

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


@check_methods()
class RuntimeCounts:
    """The contents and counts of a runtime: the part of ``Runtime`` that only reads."""

    _engine: RuntimeEngine

    @property
    def deployments(self) -> dict[str, Deployment]:
        """Deployments by id, in order of deployment."""
        return {each.id: each.public for each in self._engine.deployer.deployments.values()}

    def statement(self, name: str) -> Statement:
        """Return the newest statement of a name.

        Args:
            name: Of ``@name('…')``, or stmt-0, stmt-1, ….

        Raises:
            KeyError: There is none.
        """
        for deployment in reversed(self.deployments.values()):
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

        engine = self._engine
        chosen = [internal_output(self.statement(each) if isinstance(each, str) else each) for each in statements]
        return record(chosen, engine.deployer.statements(), engine.incoming, engine.core)

    def measure(self) -> None:
        """Count from now on what each statement does, for ``metrics``; a second time does nothing.

        An event then takes some microseconds more: its statement is not inlined into the intake of its type, and its rows are made for the
        count. Batches are processed row by row.

        Raises:
            EplRuntimeError: Events have come in batches, and statements run in the batch tier.
        """
        with self._engine.hold_open() as engine:
            if engine.core.measured is not None:
                return
            if engine.batch_tier is not None:
                raise EplRuntimeError("statements in the batch tier are not measured", hint="call measure() before the first send_batch")
            engine.tier = "row"
            Measured(engine.core, engine.incoming)
            for deployment in engine.deployer.deployments.values():
                for statement in deployment:
                    statement.count_rows()

    @property
    def metrics(self) -> list[StatementMetrics]:
        """The work of each statement since ``measure`` was called, in order of deployment; empty without it.

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
        from runtime.pictures.contents import statement_windows

        with self._engine.lock:
            measured = self._engine.core.measured
            if measured is None:
                return []
            return [
                StatementMetrics(
                    statement.name, deployment.id, counts.events, counts.timers, counts.new_rows, counts.old_rows,
                    counts.nanoseconds / 1e9, sum(sum(1 for _ in events) for _, events in statement_windows(statement)))
                for deployment in self._engine.deployer.deployments.values()
                for statement in deployment
                for counts in [measured.of(statement.number)]
            ]

    @property
    def now(self) -> int:
        """Engine time: ms since 1970, or µs by configuration."""
        return self._engine.core.clock.now

    @property
    def next_scheduled_time(self) -> int | None:
        """When the next timer is due, in engine units; None if none is."""
        with self._engine.lock:
            nearest = self._engine.core.schedule.nearest()
            due = None if self._engine.batch_tier is None else self._engine.batch_tier.next_due()
            return min((t for t in (nearest, due) if t is not None), default=None)

    @property
    def matches_in_progress(self) -> int:
        """The number of partial matches (states) that ``match_recognize`` holds, in all statements."""
        with self._engine.lock:
            held = self._engine.core.match_states.count
            return held if self._engine.batch_tier is None else held + self._engine.batch_tier.matches_in_progress()

    @property
    def ordered_rows(self) -> dict[str, RowCounts]:
        """Of each statement with ``match_recognize`` of a SQL dialect: how many rows wait for earlier ones, and how many were late, too far
        ahead of the clock, or processed early since too many waited; by the name of the statement."""
        with self._engine.lock:
            counts: dict[str, RowCounts] = {}
            for entry, (_, name, _) in self._engine.core.at_end_of_input.items():
                counts[name] = counts.get(name, RowCounts()) + entry.counts()
            return counts

    @property
    def stored_rows(self) -> dict[str, int]:
        """The number of rows of each named window and table, by name. Reading it costs the same however many there are."""
        with self._engine.lock:
            return self._engine.deployer.row_counts()

    @property
    def context_partitions(self) -> dict[str, int]:
        """The number of partitions of each context, by name; contexts of one name are counted together."""
        counts: dict[str, int] = {}
        with self._engine.lock:
            for tree in self._engine.core.contexts.values():
                counts[tree.context.name] = counts.get(tree.context.name, 0) + len(tree.partitions)
        return counts

    @property
    def contexts(self) -> DeployedContexts:
        """The deployed contexts by name, each a ``ContextAccess``: their partitions and statements. ``contexts.add_listener(f)`` calls
        ``f`` with a ``ContextChange`` when a context is created or destroyed.
        """
        return DeployedContexts(self._engine.core, self._engine.lock, self._engine.definitions.check_open)

    @property
    def on_condition(self) -> ConditionHandler:
        """Called with a ``Condition`` when a limit is reached while events are processed: ``max_subexpressions``,
        ``max_statement_subexpressions``, ``-[n]>``, ``max_states``. What it raises goes to the error handler. The default logs all but
        ``-[n]>``.
        """
        return self._engine.condition_handler

    @on_condition.setter
    def on_condition(self, handler: ConditionHandler) -> None:
        check_callable(handler, "on_condition", "(condition)")
        with self._engine.lock:
            self._engine.condition_handler = handler
            report = reporting(handler, self._engine.on_error)
            for states in (self._engine.core.subexpressions, self._engine.core.match_states):
                states.on_condition = report

    @property
    def subexpressions_in_progress(self) -> int:
        """The number of sub-expressions of patterns that wait after a ``->``, in all statements: what ``max_subexpressions`` limits."""
        with self._engine.lock:
            return self._engine.core.subexpressions.count

    @property
    def subexpressions_by_statement(self) -> dict[str, int]:
        """``subexpressions_in_progress`` of each statement, by name."""
        with self._engine.lock:
            return self._engine.core.subexpressions.by_statement()

    def __repr__(self) -> str:
        statements = sum(len(d) for d in self._engine.deployer.deployments.values())
        return f"Runtime(now={show_instant(self.now, self._engine.settings.units_per_second)}, {statements} statements)"

    def _repr_html_(self) -> str:
        cells = [(d.id, s.name, s.plan.kind) for d in self._engine.deployer.deployments.values() for s in d]
        rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in cells)
        now = show_instant(self.now, self._engine.settings.units_per_second)
        return f"<b>Runtime</b> at {now}<table><tr><th>deployment</th><th>statement</th><th>kind</th></tr>{rows}</table>"


__all__ = ["RuntimeCounts", "StatementMetrics"]
