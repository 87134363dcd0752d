"""What every operator of a statement keeps to: views push deltas to their child, timers come from the context, state is plain values.

The flow of one statement: filter → view → view → … → match_recognize or result set. Each operator gets ``update(new, old)`` and passes
its child the same way. ``new`` is the insert stream, ``old`` the remove stream; both may be empty, never both for nothing.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from epl.errors import EplRuntimeError
from epl.plan.expressions import TypedExpression
from windows.event import NO_EVENTS, Event
from windows.generated_steps import WindowSteps

State = Any
"""Plain values: None, bool, int, float, str, bytes, Decimal, dates, list, tuple, dict (keys plain), and Event (stored once however often
it is held). Where it grows with keys or events: ``windows.paging`` (``Paged`` is read when it is written).
"""

Evaluate = Callable[..., Any]
"""A compiled expression over one stream: evaluate(event) → value."""


class Damaged(EplRuntimeError):
    """A state, or another part of what was stored, that is not as its writer leaves it; ``runtime.state.seal.reading`` names the part."""


class RowReceiver(Protocol):
    """Whatever takes a delta."""

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None: ...


class View:
    """Base of data windows and other operators in a chain.

    Subclasses define ``update`` and ``__iter__`` (the current contents in the order in which Esper iterates them), ``state`` and
    ``restore``.
    """

    child: RowReceiver
    may_refuse = False
    """Whether an event does not enter where its key, sort key or timestamp raises."""

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Take a delta from the parent; pass one to ``self.child``."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Event]:
        raise NotImplementedError

    def state(self) -> State:
        """Return what must be kept so that ``restore`` on a freshly built view goes on exactly here."""
        raise NotImplementedError

    def restore(self, state: State) -> None:
        """Take over ``state()`` of another instance of the same config; sets its timers; emits nothing."""
        raise NotImplementedError

    def steps(self) -> WindowSteps | None:
        """Return the view's own steps as source lines, for a function that is generated for the whole statement; None where it has none."""
        return None

    def objects(self) -> dict[str, Any]:
        """Return the view's own objects that its steps name."""
        return {}

    def end_partition(self) -> None:
        """Let a row that was computed from events leave, since the partition of a context ends: in views of derived values."""

    def close(self) -> None:
        """Undeploy: cancel timers."""


class Timer(Protocol):
    """One call-back of one operator; at most one due time at once. Timers due at the same time run in the order of their making.

    ``due`` is None while the call-back runs, unless the call-back sets it again. A due time that is not later than the clock is taken at
    the next step of the clock, not in the step that sets it.
    """

    due: int | None

    def set(self, due: int) -> None:
        """Run the call-back once when the clock reaches ``due`` (engine time units); replaces an earlier due time."""

    def cancel(self) -> None: ...


class RandomAccess(Protocol):
    """What prev, prevtail, prevcount and prevwindow ask of a data window. ``event`` is the event of the row.

    Asked for rows of the insert stream and of iterators only: in a row of the remove stream all are null, but for the count of a batch
    window. A batch window answers for the events of the batch released last by their places in it, and gives None for all others.
    """

    def previous(self, event: Event, index: int) -> Event | None:
        """Return the event at ``index`` in the order of the window (0: the newest, or the first by sort order); in a batch: the one
        ``index`` before ``event``.
        """

    def from_tail(self, event: Event, index: int) -> Event | None:
        """Return the ``index``-th event from the window's other end (0: the oldest)."""

    def count(self, event: Event, insert_stream: bool) -> int | None: ...

    def window(self, event: Event) -> Iterable[Event] | None:
        """Return all events, newest (or first by sort order) first; None where there are none."""


class Accumulator(Protocol):
    """One aggregation's running value (runtime.aggregation has them; windows get them from the context)."""

    def enter(self, event: Event) -> None: ...

    def leave(self, event: Event) -> None: ...

    def value(self) -> Any: ...

    def clear(self) -> None: ...

    def state(self) -> State: ...

    def restore(self, state: State) -> None: ...


class BuildContext(Protocol):
    """What a window may ask of its statement while it is built. Implemented by runtime.context.

    ``restoring``: the window gets a state next, which brings its size and length; the variables that gave them when it was deployed may
    hold anything by now. ``text_key``: what texts are sorted by, where it is not the text itself.
    """

    @property
    def restoring(self) -> bool: ...

    @property
    def text_key(self) -> Callable[[str], Any] | None: ...

    def now(self) -> int:
        """Return engine time, in engine time units (ms, or µs by configuration); valid at any later time too."""

    def timer(self, callback: Callable[[], None], *, of_group: bool = False) -> Timer:
        """Return a new timer. The call-back runs under the statement's lock; what it emits is delivered when it returns.

        ``of_group``: of a window of a group, which runs after the statement's output where both are due at once, as in Esper.
        """

    def evaluator(self, expression: TypedExpression) -> Evaluate:
        """Return evaluate(event) for an expression over this stream alone. It may read variables and the time."""

    def constant(self, expression: TypedExpression) -> Any:
        """Return the value, now, of an expression without events (a window parameter: constant, variable, arithmetic)."""

    def add_time(self, start: int, period: TypedExpression, times: int = 1) -> int:
        """Return ``start`` plus ``times`` periods (-1: one back); a period is a time period (months and years by the calendar) or a number
        of seconds.
        """

    def accumulators(self, expression: TypedExpression, names: Sequence[str] = ()) -> tuple[Sequence[Accumulator], Evaluate]:
        """Return, for the expr windows: the expression's aggregations, fresh ones, and evaluate(event, *values) that reads them.

        ``names``: the built-in names of ``WindowConfig.builtins``, ``Local`` nodes in the expression; ``values`` come in their order.
        """

    def on_variable_change(self, expression: TypedExpression, callback: Callable[[], None]) -> None:
        """Call back whenever a variable that ``expression`` reads was set; nothing to do where it reads none."""

    def withhold(self, sink: RowReceiver, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Pass ``sink`` a delta so that everything downstream takes it in and the statement emits nothing: for an event that is in
        although a condition raised. Only for configs with ``withholds``.
        """

    def publish_random_access(self, access: RandomAccess) -> None:
        """Publish random access; called at build by the view that answers prev and friends of this stream (the last data window in the
        chain)."""


__all__ = [
    "NO_EVENTS", "Accumulator", "BuildContext", "Damaged", "Evaluate", "Event", "RandomAccess", "RowReceiver", "State", "Timer", "View",
]
