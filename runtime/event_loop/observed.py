"""Look at a runtime after each event and each time: for recordings. An event loop that nothing observes pays nothing for it."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from epl.event_types import EventType
from runtime.event_loop.loop import EventLoop
from windows.event import Event


class LoopObserver(Protocol):
    """Called under the runtime's lock, when all statements have had the event and their listeners were called."""

    def note_processed(self, event: Event, stream_type: EventType) -> None:
        """Note an event from outside, or a routed one."""

    def timers_ran(self) -> None:
        """Note that the timers that were due have run, or that the windows that an event changed have notified their consumers."""


_OBSERVERS: WeakKeyDictionary[EventLoop, list[LoopObserver]] = WeakKeyDictionary()
REPLACED = ("_process_one", "_deliver_deltas", "run_due", "make_intake")
"""Methods that call the observers while there are any: as attributes of the one event loop, so that all others stay as they are."""


@contextmanager
def observing(core: EventLoop, observer: LoopObserver, event_of: Callable[[str | EventType, Any], Event]) -> Iterator[None]:
    """Call the observer while the block runs. ``event_of``: makes the event of what is sent, since intakes that are generated for a type
    may do without one."""
    observers = _OBSERVERS.setdefault(core, [])
    observers.append(observer)
    before = {name: vars(core)[name] for name in REPLACED if name in vars(core)}
    """Of an event loop that is measured, what counts."""
    if len(observers) == 1:
        _replace(core, observers, event_of)
    core.is_observed = True
    core.forget_generated()
    try:
        yield
    finally:
        observers.remove(observer)
        if not observers:
            for name in REPLACED:
                delattr(core, name)
            vars(core).update(before)
            core.is_observed = False
        core.forget_generated()


def _replace(core: EventLoop, observers: list[LoopObserver], event_of: Callable[[str | EventType, Any], Event]) -> None:
    process_one, deliver_deltas, run_due = core._process_one, core._deliver_deltas, core.run_due

    def observe_process(event: Event, stream_type: EventType) -> None:
        process_one(event, stream_type)
        for each in tuple(observers):
            each.note_processed(event, stream_type)

    def observe_deltas() -> None:
        deliver_deltas()
        for each in tuple(observers):
            each.timers_ran()

    def observe_timers(now: int) -> None:
        run_due(now)
        for each in tuple(observers):
            each.timers_ran()

    def observe_intake(sent_as: str | EventType, event_type: EventType) -> Callable[[dict[str, Any]], None]:
        def take(values: dict[str, Any]) -> None:
            core.process(event_of(sent_as, values))

        core.intakes[sent_as] = take
        return take

    for name, method in zip(REPLACED, (observe_process, observe_deltas, observe_timers, observe_intake), strict=True):
        setattr(core, name, method)


__all__ = ["LoopObserver", "observing"]
