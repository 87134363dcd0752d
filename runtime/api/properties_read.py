"""Which properties of the events of a type the statements of a runtime read: columns of others are not converted."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from epl.event_types import EventType
from epl.plan.statements import StatementPlan

Added = Callable[[Iterable[StatementPlan]], None]


class PropertiesRead:
    """``plans``: of the statements that are deployed, at any time; ``reads_all``: whether something else looks at whole events now."""

    def __init__(self, plans: Callable[[], Iterable[StatementPlan]], reads_all: Callable[[], bool]) -> None:
        self._plans, self._reads_all = plans, reads_all
        self._known: dict[EventType, frozenset[str]] = {}
        self._whole: dict[EventType, frozenset[str]] = {}
        self._watching: list[Added] = []

    def of(self, event_type: EventType) -> frozenset[str]:
        """Return the properties that are read of events of the type that are sent now; the same object until statements come or go."""
        if self._reads_all():
            return self._whole.get(event_type) or self._whole.setdefault(event_type, frozenset(event_type.properties))
        read = self._known.get(event_type)
        if read is None:
            read = self._known[event_type] = frozenset(name for plan in self._plans() for name in plan.reads.of(event_type))
        return read

    def add(self, plans: Iterable[StatementPlan]) -> None:
        """Note that these statements are about to be deployed. What watches may refuse them: EplRuntimeError."""
        for added in self._watching:
            added(plans)
        self.forget()

    def forget(self) -> None:
        """Note that statements came or went."""
        self._known.clear()
        self._whole.clear()

    def read_all(self) -> None:
        """Take all properties as read from now on: events are written down as they came."""
        self._reads_all = lambda: True

    @contextmanager
    def watch(self, added: Added) -> Iterator[None]:
        """Call ``added`` before statements are deployed while the block runs: events that it has made lack what only these read."""
        self._watching.append(added)
        try:
            yield
        finally:
            self._watching.remove(added)


__all__ = ["PropertiesRead"]
