"""distinct, filter and what is of the moment: around any accumulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windows.keys import freeze, thaw
from windows.protocol import Accumulator
from windows.shape import ANYTHING, COUNT, takes

Row = Any


class Wrapper:
    """Base: changes which rows enter and leave; value and state are those of the accumulator within."""

    __slots__ = ("inner",)

    def __init__(self, inner: Accumulator) -> None:
        self.inner = inner

    def value(self) -> Any:
        return self.inner.value()

    def clear(self) -> None:
        self.inner.clear()

    def state(self) -> Any:
        return self.inner.state()

    def restore(self, state: Any) -> None:
        self.inner.restore(state)


class Filtered(Wrapper):
    """Only rows for which ``condition(row)`` is true."""

    __slots__ = ("condition",)

    def __init__(self, inner: Accumulator, condition: Callable[[Row], Any]) -> None:
        super().__init__(inner)
        self.condition = condition

    def enter(self, row: Row) -> None:
        if self.condition(row):
            self.inner.enter(row)

    def leave(self, row: Row) -> None:
        if self.condition(row):
            self.inner.leave(row)


class EntryMoment:
    """Whether rows enter: what prev and istream() within an aggregation's arguments read."""

    __slots__ = ("entering",)

    def __init__(self) -> None:
        self.entering = True


class OfMoment(Wrapper):
    """For a row that leaves, what is evaluated is of that moment."""

    __slots__ = ("moment",)

    def __init__(self, inner: Accumulator, moment: EntryMoment) -> None:
        super().__init__(inner)
        self.moment = moment

    def enter(self, row: Row) -> None:
        self.inner.enter(row)

    def leave(self, row: Row) -> None:
        self.moment.entering = False
        try:
            self.inner.leave(row)
        finally:
            self.moment.entering = True


class Distinct:
    """Each value of ``evaluate(row)`` counts once: it enters with its first row and leaves with its last. As in Esper a value that leaves
    without having entered, as the first row of a derived-value view does, is taken off all the same."""

    __slots__ = ("inner", "evaluate", "counts")

    def __init__(self, inner: Accumulator, evaluate: Callable[[Row], Any]) -> None:
        self.inner = inner
        self.evaluate = evaluate
        self.counts: dict[Any, int] = {}

    def enter(self, row: Row) -> None:
        value = freeze(self.evaluate(row))
        count = self.counts.get(value, 0)
        self.counts[value] = count + 1
        if not count:
            self.inner.enter(row)

    def leave(self, row: Row) -> None:
        value = freeze(self.evaluate(row))
        count = self.counts.get(value, 0)
        if count > 1:
            self.counts[value] = count - 1
        else:
            self.counts.pop(value, None)
            self.inner.leave(row)

    def value(self) -> Any:
        return self.inner.value()

    def clear(self) -> None:
        self.counts.clear()
        self.inner.clear()

    def state(self) -> Any:
        return [self.inner.state(), [[thaw(value), count] for value, count in self.counts.items()]]

    @takes((ANYTHING, [(ANYTHING, COUNT)]))
    def restore(self, state: Any) -> None:
        inner, pairs = state
        self.inner.restore(inner)
        self.counts = {freeze(value): count for value, count in pairs}
