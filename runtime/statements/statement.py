"""A deployed statement as users see it: listeners and the on-demand iterator."""
from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from epl.attribute_text import named, once_a_class
from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.plan.statements import CreateSchemaPlan, StatementPlan
from epl.settings import Settings
from epl.syntax import Annotation
from runtime.conversion.computed_rows import computed_row_class
from runtime.conversion.rows import NO_ROWS, EventRow, Row, Rows, pandas_frame, rows_of, table_html
from runtime.event_loop.cause import Cause
from runtime.event_loop.delivery import Delivery
from runtime.event_loop.loop import EventLoop
from runtime.operators.grouped_delivery import Divide
from runtime.statements.historical_select import RunningHistoricalSelect
from runtime.statements.running import EVERY_PARTITION, Declaration, OfPartitions, Prepared, Running, Selector
from windows.event import Event

if TYPE_CHECKING:
    from epl.analysis.partitioning import Partitioning
    from runtime.statements.cause_columns import CauseColumns

log = logging.getLogger("epl")

Listener = Callable[[Rows, Rows, "Statement", Any], object]
"""listener(new, old, statement, runtime): insert and remove stream, each a list of rows, perhaps empty; both only where a window or the
output clause forces an update. ``runtime``: the ``Runtime``."""

BatchListener = Callable[[Any, Any, "Statement", Any], object]
"""listener(new, old, statement, runtime): Arrow record batches, None where empty; once a send, send_batch or advance."""


class StatementHost(Protocol):
    """What a statement asks of the runtime that it is deployed in."""

    settings: Settings

    @property
    def lock(self) -> AbstractContextManager[object]:
        """One for all calls that change or read the runtime."""

    @property
    def cause(self) -> Cause:
        """What is at work."""

    def listener_added(self, statement: Statement) -> None:
        """Note that the statement is about to get a row listener."""

    def pend_batch(self, statement: Statement) -> None:
        """Note that the statement has output for its batch listeners at the end of this call."""

    def tier_of(self, statement: Statement) -> tuple[str, str]:
        """Return (``row`` or ``batch``, why): where the statement runs now."""

    def plans(self) -> list[StatementPlan]:
        """Return the plans of all deployed statements, in order of deployment."""


class ColumnOutput(Protocol):
    """Output of the batch tier: insert and remove stream as record batches, None where empty."""

    new: Any
    old: Any

    def decoded(self) -> ColumnOutput:
        """Return it with plain columns in place of those with a dictionary."""


def with_own_lists(listener: Listener) -> Listener:
    """Return the listener, called with copies of the lists; their rows are the same."""
    def call(new: Rows, old: Rows, statement: Statement, runtime: Any) -> object:
        return listener(Rows(new), Rows(old) if old else old, statement, runtime)

    return call


def check_listener(listener: object, what: str = "a listener", arguments: str = "(new, old, statement, runtime)") -> None:
    """Raise TypeError for what cannot be called."""
    if not callable(listener):
        raise TypeError(f"{what} is called with {arguments}; {listener!r} is not callable")


class Statement(Delivery):
    """One running statement.

    Iterating gives the current rows (the statement's data window through its select clause); ``add_listener`` delivers changes.
    """

    def __init__(self, plan: StatementPlan, runtime: StatementHost, core: EventLoop, deployment_id: str, number: int) -> None:
        self.plan = plan
        self.name = plan.name
        self.number = number
        """Its place in the order in which the runtime has built statements, from 1."""
        self.runtime = runtime
        self.deployment_id = deployment_id
        self._added: list[Listener] = []
        self.listeners: Sequence[Listener] = ()
        """What is called, in the order in which listeners were added: all but the last one with lists of their own."""
        """Replaced when it changes, so that a call under way goes on over those it has begun with."""
        self.batch_listeners: list[BatchListener] = []
        """Likewise."""
        self._core = core
        self._position = core.position
        self.waiting_new: list[Event] = []
        self.waiting_old: list[Event] = []
        self._forced = False
        self._batch_new: list[Event] = []
        self._batch_old: list[Event] = []
        self._caused: list[BatchListener] = []
        """The batch listeners that get causes."""
        self._causes: CauseColumns | None = None
        self._outputs: list[ColumnOutput] = []
        """What the batch tier has emitted, to be delivered at the end of the call."""
        self.prepared: Prepared
        self.running: Running = Declaration()
        self.divide: Divide | None = None

    # ------------------------------------------------------------------ output

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Take what the last operator emits: kept until all statements have had the event."""
        if self.listeners or self.batch_listeners:
            self.waiting_new += new
            if old:
                self.waiting_old += old
            elif not new:
                self._forced = True
            self._core.pending[self] = None

    def deliver(self) -> None:
        """Call the listeners with what has come together; a listener's exception harms no other listener."""
        new, old = self.waiting_new, self.waiting_old
        if new:
            self.waiting_new = []
            if not old and self.divide is None and not self.batch_listeners:  # most often so: nothing but calls of listeners
                self._forced = False
                self._position.calls += 1
                rows = Rows()
                for event in new:  # rows_of, without a call
                    row = EventRow()
                    row._event = event
                    rows.append(row)
                for listener in self.listeners:
                    try:
                        listener(rows, NO_ROWS, self, self.runtime)
                    except Exception as error:  # noqa: BLE001 - law 6
                        self._core.on_listener_error(error, self.name, None)
                return
        if old:
            self.waiting_old = []
        elif not new and not self._forced:
            return
        self._forced = False
        if self.batch_listeners and (new or old):
            self._batch_new.extend(new)
            self._batch_old.extend(old)
            self.runtime.pend_batch(self)
        if self.divide is None:
            self.call(new, old)
        else:
            for part in self.divide(new, old):
                self.call(*part)

    def call(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Call the row listeners with one delta."""
        self._position.calls += 1
        if self._causes is not None:
            self._causes.note(self.runtime.cause, len(new), len(old))
        listeners = self.listeners
        if not listeners:
            return
        new_rows, old_rows = rows_of(new), rows_of(old)
        for listener in listeners:
            try:
                listener(new_rows, old_rows, self, self.runtime)
            except Exception as error:  # noqa: BLE001 - law 6
                self._core.on_listener_error(error, self.name, None)

    def delivery_scope(self, output_type: EventType | None) -> dict[str, Any]:
        """Return what ``delivery_lines`` and the lines of rows name. ``output_type``: of rows of values; None where events come out."""
        core, name = self._core, self.name

        def failed(error: Exception) -> None:
            core.on_listener_error(error, name, None)

        row_class = {} if output_type is None else {"ComputedRow": computed_row_class(output_type)}
        scope = {"out": self, "at": self._position, "failed": failed, "EventRow": EventRow, "Rows": Rows, "NO_ROWS": NO_ROWS, **row_class}
        return {**scope, "runtime": self.runtime}

    @once_a_class
    def delivery_guard(self) -> str:
        """Return the condition, as source text, under which ``deliver`` itself has to be called."""
        return f"{named('out', self).batch_listeners}"

    @once_a_class
    def delivery_lines(self, *rows: str) -> Sequence[str]:
        """Return source lines that do what ``deliver`` does with the rows in these variables.

        For functions before whose end no other listener is to be called: no other statement wants the event, no other timer is due.
        """
        return (
            f"listeners = {named('out', self).listeners}", "if listeners:", f"    {named('at', self._position).calls} += 1",
            "    rows = Rows()", *(f"    rows.append({row})" for row in rows),
            "    for listener in listeners:", "        try:", "            listener(rows, NO_ROWS, out, runtime)",
            "        except Exception as error:", "            failed(error)",
        )

    @once_a_class
    def update_lines(self, *rows: str) -> Sequence[str]:
        """Return source lines that do what ``update`` does with rows of the insert stream, the events in these variables."""
        out = named("out", self)
        added = [f"    {out.waiting_new}.append({row})" for row in rows]
        return f"if {out.listeners} or {out.batch_listeners}:", *added, "    pending[out] = None"

    def take_batches(self, output: ColumnOutput, *, plain: bool) -> None:
        """Take output of the batch tier, for the batch listeners. ``plain``: string columns without dictionaries, as the input's are."""
        if self.batch_listeners and (output.new is not None or output.old is not None):
            self._outputs.append(output.decoded() if plain else output)
            self.runtime.pend_batch(self)

    def deliver_batches(self) -> None:
        """Call the batch listeners with everything since the last call, as Arrow; exceptions go to the error handler."""
        try:
            new, old = self._take_waiting()
        except EplRuntimeError as error:
            self._core.on_error(error, self.name, None)
            return
        with_causes = (new, old) if self._causes is None else self._causes.beside(new, old)
        for listener in self.batch_listeners:
            try:
                listener(*(with_causes if listener in self._caused else (new, old)), self, self.runtime)
            except Exception as error:  # noqa: BLE001 - law 6
                self._core.on_listener_error(error, self.name, None)

    def _take_waiting(self) -> tuple[Any, Any]:
        """What waits for the batch listeners, as Arrow; raises EplRuntimeError for what Arrow does not hold."""
        outputs, self._outputs = self._outputs, []
        if len(outputs) == 1 and not self._batch_new and not self._batch_old:
            return outputs[0].new, outputs[0].old
        from runtime.conversion.arrow import together

        new, self._batch_new = self._batch_new, []
        old, self._batch_old = self._batch_old, []
        return together([o.new for o in outputs], new, self.event_type), together([o.old for o in outputs], old, self.event_type)

    # ------------------------------------------------------------------ what users call

    @property
    def event_type(self) -> EventType:
        """The type of the rows; raises LookupError for a statement without output."""
        output = self.plan.body.output_type
        if output is None:
            raise LookupError(f"statement {self.name!r} has no output")
        return output

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """The statement's annotations as written, Esper's and the application's own: each has a ``name``, ``attributes`` and ``get``."""
        return self.plan.annotations

    @property
    def properties(self) -> dict[str, str]:
        """Output columns: name → type, in order."""
        output = self.plan.body.output_type
        return {} if output is None else {p.name: str(p.type) for p in output.properties.values()}

    def add_listener(self, listener: Listener) -> Listener:
        """Call ``listener(new, old, statement, runtime)`` at every change from now on; return the listener (usable as a
        decorator).
        """
        check_listener(listener)
        with self.runtime.lock:
            self.runtime.listener_added(self)
            self.attach(listener)
        return listener

    def remove_listener(self, listener: Listener) -> None:
        with self.runtime.lock:
            kept = list(self._added)
            kept.remove(listener)
            self._listen(kept)

    def remove_all_listeners(self) -> None:
        """Take away the row listeners and the batch listeners."""
        with self.runtime.lock:
            self._listen([])
            self.batch_listeners, self._caused = [], []

    def attach(self, listener: Listener) -> None:
        """Do as ``add_listener`` for a statement that does not take part yet."""
        self._listen([*self._added, listener])

    def _listen(self, listeners: list[Listener]) -> None:
        """A listener may do with its lists what it likes: each but the last gets copies, so that one listener alone costs none."""
        self._added = listeners
        self.listeners = [*map(with_own_lists, listeners[:-1]), *listeners[-1:]]

    def add_batch_listener(self, listener: BatchListener, *, causes: bool = False) -> BatchListener:
        """Call the listener with Arrow record batches of insert and remove stream (None where empty), once a send, send_batch or advance.

        ``causes``: the statement's own columns are followed by ``cause.call``, ``cause.time``, ``cause.type`` and ``cause.row``: the
        number of the call that a row listener would get, engine time, and the input row that caused it (runtime.statements.cause_columns).
        """
        check_listener(listener)
        with self.runtime.lock:
            self.batch_listeners = [*self.batch_listeners, listener]
            if causes:
                from runtime.statements.cause_columns import CauseColumns  # brings Arrow

                self._caused.append(listener)
                self._causes = self._causes or CauseColumns()
                self._core.records_causes = True
        return listener

    def __iter__(self) -> Iterator[Row]:
        """The current rows: a snapshot taken at the call."""
        return iter(self.rows())

    def rows(self, partitions: Selector | None = EVERY_PARTITION) -> Rows:
        """Return the current rows; ``partitions``: those of the partitions of its context that a PartitionSelector selects. Raise
        EplRuntimeError for a selector of another kind of context, or a statement without one."""
        with self._iterating():
            if partitions is EVERY_PARTITION:
                return rows_of(self.running.iterate())
            if not isinstance(self.running, OfPartitions):
                raise EplRuntimeError("Iterator with context selector is only supported for statements under context")
            return rows_of(self.running.select(partitions))

    def _iterating(self) -> AbstractContextManager[object]:
        """What is held during an iteration: the runtime's lock, but not while rows are only looked up: others go on meanwhile."""
        return nullcontext() if isinstance(self.running, RunningHistoricalSelect) else self.runtime.lock

    def to_pandas(self) -> Any:
        """Return the current rows as a pandas DataFrame; whole numbers and booleans among nulls as pandas' Int64 and boolean."""
        return pandas_frame(self.rows(), list(self.properties))

    def to_arrow(self) -> Any:
        """Return the current rows as a pyarrow Table."""
        import pyarrow

        from runtime.conversion.arrow import to_batch

        with self._iterating():
            return pyarrow.Table.from_batches([to_batch(list(self.running.iterate()), self.event_type)])

    def explain(self) -> str:
        """Return the plan, readable; by which key its rows may be split over engines, or what prevents it; in which tier the statement runs
        now, and why.
        """
        from epl.plan.explain import explain

        with self.runtime.lock:
            puts_out = self.plan.body.output_type is not None and not isinstance(self.plan.body, CreateSchemaPlan)
            return explain(self.plan, *self.runtime.tier_of(self), self.partitioning.describe() if puts_out else "")

    @property
    def partitioning(self) -> Partitioning:
        """How the rows of the event types that the statement reads, itself or through others, may be split over several engines."""
        from epl.analysis.partitioning import partitioning_of

        with self.runtime.lock:
            plans = self.runtime.plans()
            return partitioning_of(plans if any(p is self.plan for p in plans) else [*plans, self.plan], self.plan,
                                   settings=self.runtime.settings)

    @property
    def tier(self) -> str:
        """``row`` or ``batch``: where the statement runs now."""
        with self.runtime.lock:
            return self.runtime.tier_of(self)[0]

    def __repr__(self) -> str:
        return f"Statement({self.name!r})"

    def _repr_html_(self) -> str:
        return f"<b>{escape(self.name)}</b>{table_html(self.rows())}"
