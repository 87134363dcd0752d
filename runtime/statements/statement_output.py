"""A statement as the engine has it: what runs, and how its output reaches its listeners."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from epl.attribute_text import name_attributes, once_a_class
from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.plan.statements import StatementPlan
from epl.settings import Settings
from runtime.conversion.computed_rows import build_row_class
from runtime.conversion.rows import NO_ROWS, EventRow, Rows, to_rows
from runtime.event_loop.cause import Cause
from runtime.event_loop.delivery import Delivery
from runtime.event_loop.loop import EventLoop
from runtime.operators.grouped_delivery import Divide
from runtime.statements.running import Declaration, Prepared, Running
from windows.event import Event

if TYPE_CHECKING:
    from runtime.statements.cause_columns import CauseColumns

Listener = Callable[[Rows, Rows, Any, Any], object]
"""listener(new, old, statement, runtime): insert and remove stream, each a list of rows, perhaps empty; both only where a window or the
output clause forces an update. ``statement``: the ``Statement``; ``runtime``: the ``Runtime``."""

BatchListener = Callable[[Any, Any, Any, Any], object]
"""listener(new, old, statement, runtime): Arrow record batches, None where empty; once a send, send_batch or advance."""


class StatementHost(Protocol):
    """What a statement asks of the engine that it is deployed in. ``runtime``: the ``Runtime``, which listeners get."""

    settings: Settings
    runtime: Any

    @property
    def lock(self) -> AbstractContextManager[object]:
        """One for all calls that change or read the runtime."""

    @property
    def now(self) -> int:
        """Engine time."""

    @property
    def cause(self) -> Cause:
        """What is at work."""

    def listener_added(self, statement: StatementOutput) -> None:
        """Note that the statement is about to get a row listener."""

    def pend_batch(self, statement: StatementOutput) -> None:
        """Note that the statement has output for its batch listeners at the end of this call."""

    def statement_tier(self, statement: StatementOutput) -> tuple[str, str]:
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
    def call(new: Rows, old: Rows, statement: Any, runtime: Any) -> object:
        return listener(Rows(new), Rows(old) if old else old, statement, runtime)

    return call


class StatementOutput(Delivery):
    """Internal to epl-spark: what operators, generated code and the batch tier call of a statement; ``Statement`` is what users see of it.
    It may change in any version."""

    def __init__(self, plan: StatementPlan, host: StatementHost, core: EventLoop, deployment_id: str, number: int) -> None:
        self.plan = plan
        self.name = plan.name
        self.number = number
        """Its place in the order in which the runtime has built statements, from 1."""
        self.host, self.runtime = host, host.runtime
        self.statement: Any = None
        """The ``Statement``, which listeners get."""
        self.deployment_id = deployment_id
        self.added: list[Listener] = []
        """The row listeners as users have added them."""
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
        self.at_end: list[Callable[[], object]] = []
        """Called when the statement has been undeployed."""
        self._counting: Sequence[Listener] = ()
        """What counts rows, called before the listeners that were added; it holds none of them."""
        if core.measured is not None:
            self.count_rows()

    @property
    def event_type(self) -> EventType:
        """The type of the rows; LookupError where there are none."""
        output = self.plan.body.output_type
        if output is None:
            raise LookupError(f"statement {self.name!r} has no output")
        return output

    @property
    def tier(self) -> str:
        """``"row"`` or ``"batch"``: where the statement runs now."""
        return self.host.statement_tier(self)[0]

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Take what the last operator emits: kept until all statements have had the event."""
        if self.listeners or self.batch_listeners:
            self.waiting_new += new
            if old:
                self.waiting_old += old
            elif not new:
                self._forced = True
            self._core.pending[self] = None

    def is_read(self) -> bool:
        """Return whether there are listeners."""
        return bool(self.listeners or self.batch_listeners)

    def deliver(self) -> None:
        """Call the listeners with what has come together; a listener's exception harms no other listener."""
        new, old = self.waiting_new, self.waiting_old
        if new:
            self.waiting_new = []
            if self.divide is None and not self.batch_listeners:  # most often so: nothing but calls of listeners
                self._forced = False
                self._position.calls += 1
                rows = Rows()
                gone: Rows = NO_ROWS
                for event in new:  # rows_of, without a call
                    row = EventRow()
                    row._event = event
                    rows.append(row)
                if old:
                    self.waiting_old, gone = [], Rows()
                    for event in old:
                        row = EventRow()
                        row._event = event
                        gone.append(row)
                for listener in self.listeners:
                    try:
                        listener(rows, gone, self.statement, self.runtime)
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
            self.host.pend_batch(self)
        if self.divide is None:
            self.call(new, old)
        else:
            for part in self.divide(new, old):
                self.call(*part)

    def call(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Call the row listeners with one delta."""
        self._position.calls += 1
        if self._causes is not None:
            self._causes.note(self.host.cause, len(new), len(old))
        listeners = self.listeners
        if not listeners:
            return
        new_rows, old_rows = to_rows(new), to_rows(old)
        for listener in listeners:
            try:
                listener(new_rows, old_rows, self.statement, self.runtime)
            except Exception as error:  # noqa: BLE001 - law 6
                self._core.on_listener_error(error, self.name, None)

    def delivery_scope(self, output_type: EventType | None) -> dict[str, Any]:
        """Return what ``delivery_lines`` and the lines of rows name. ``output_type``: of rows of values; None where events come out."""
        core, name = self._core, self.name

        def failed(error: Exception) -> None:
            core.on_listener_error(error, name, None)

        row_class = {} if output_type is None else {"ComputedRow": build_row_class(output_type)}
        scope = {"out": self, "at": self._position, "failed": failed, "EventRow": EventRow, "Rows": Rows, "NO_ROWS": NO_ROWS, **row_class}
        return {**scope, "statement": self.statement, "runtime": self.runtime}

    @once_a_class
    def delivery_guard(self) -> str:
        """Return the condition, as source text, under which ``deliver`` itself has to be called."""
        return f"{name_attributes('out', self).batch_listeners}"

    @once_a_class
    def delivery_lines(self, *rows: str) -> Sequence[str]:
        """Return source lines that do what ``deliver`` does with the rows in these variables.

        For functions before whose end no other listener is to be called: no other statement wants the event, no other timer is due.
        """
        return (
            f"listeners = {name_attributes('out', self).listeners}", "if listeners:",
            f"    {name_attributes('at', self._position).calls} += 1",
            "    rows = Rows()", *(f"    rows.append({row})" for row in rows),
            "    for listener in listeners:", "        try:", "            listener(rows, NO_ROWS, statement, runtime)",
            "        except Exception as error:", "            failed(error)",
        )

    @once_a_class
    def update_lines(self, *rows: str) -> Sequence[str]:
        """Return source lines that do what ``update`` does with rows of the insert stream, the events in these variables."""
        out = name_attributes("out", self)
        added = [f"    {out.waiting_new}.append({row})" for row in rows]
        return f"if {out.listeners} or {out.batch_listeners}:", *added, "    pending[out] = None"

    def take_batches(self, output: ColumnOutput, *, plain: bool) -> None:
        """Take output of the batch tier, for the batch listeners. ``plain``: string columns without dictionaries, as the input's are."""
        if self.batch_listeners and (output.new is not None or output.old is not None):
            self._outputs.append(output.decoded() if plain else output)
            self.host.pend_batch(self)

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
                listener(*(with_causes if listener in self._caused else (new, old)), self.statement, self.runtime)
            except Exception as error:  # noqa: BLE001 - law 6
                self._core.on_listener_error(error, self.name, None)

    def _take_waiting(self) -> tuple[Any, Any]:
        """Return what waits for the batch listeners, as Arrow; raises EplRuntimeError for what Arrow does not hold."""
        outputs, self._outputs = self._outputs, []
        if len(outputs) == 1 and not self._batch_new and not self._batch_old:
            return outputs[0].new, outputs[0].old
        from runtime.conversion.arrow import together

        new, self._batch_new = self._batch_new, []
        old, self._batch_old = self._batch_old, []
        return together([o.new for o in outputs], new, self.event_type), together([o.old for o in outputs], old, self.event_type)

    def listen(self, listener: Listener) -> None:
        """Call a row listener from now on, of a statement that takes part already."""
        with self.host.lock:
            self.host.listener_added(self)
            self.attach(listener)

    def attach(self, listener: Listener) -> None:
        """Call a row listener from now on."""
        self._listen([*self.added, listener])

    def detach(self, listener: Listener) -> None:
        """Call a row listener no more; ValueError where it was not added."""
        kept = list(self.added)
        kept.remove(listener)
        self._listen(kept)

    def attach_batch(self, listener: BatchListener, *, causes: bool) -> None:
        """Call a batch listener from now on. ``causes``: with the columns of ``CauseColumns``."""
        self.batch_listeners = [*self.batch_listeners, listener]
        if causes:
            from runtime.statements.cause_columns import CauseColumns  # brings Arrow

            self._caused.append(listener)
            self._causes = self._causes or CauseColumns()
            self._core.records_causes = True

    def detach_batch(self, listener: BatchListener) -> None:
        """Call a batch listener no more; ValueError where it was not added."""
        kept = list(self.batch_listeners)
        kept.remove(listener)
        self.batch_listeners = kept
        self._caused = [each for each in self._caused if each in kept]

    def detach_all(self) -> None:
        """Call no listener any more."""
        self._listen([])
        self.batch_listeners, self._caused = [], []

    @property
    def listener_count(self) -> int:
        """How many listeners have been added."""
        return len(self.added) + len(self.batch_listeners)

    def _listen(self, listeners: list[Listener]) -> None:
        """Call listeners, which may change their lists: all but the last get copies, so that a single listener costs none."""
        self.added = listeners
        self.listeners = [*self._counting, *map(with_own_lists, listeners[:-1]), *listeners[-1:]]

    def count_rows(self) -> None:
        """Count the rows that the statement emits from now on, whether there are listeners or not."""
        measured = self._core.measured
        assert measured is not None
        self._counting = (measured.of(self.number).listener,)
        self.at_end.append(lambda: measured.forget(self.number))
        self._listen(self.added)


__all__ = ["BatchListener", "ColumnOutput", "Listener", "StatementHost", "StatementOutput"]
