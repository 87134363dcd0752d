"""A user's aggregation as an accumulator: rows become its arguments, its answer becomes a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from epl.functions.user import convert_call

Row = Any


class UserAccumulator:
    """``aggregation`` has enter, leave, value, clear, state and restore (epl.aggregations.user)."""

    __slots__ = ("_values", "_enter", "_leave", "value", "clear", "state", "restore")

    def __init__(self, aggregation: Any, values: Callable[[Row], Sequence[Any]], steps: tuple[str, ...], result: str) -> None:
        self._values = values
        self._enter = convert_call(aggregation.enter, steps, "")
        self._leave = convert_call(aggregation.leave, steps, "")
        self.value = convert_call(aggregation.value, (), result)
        self.clear = aggregation.clear
        self.state = aggregation.state
        self.restore = aggregation.restore

    def enter(self, row: Row) -> None:
        self._enter(*self._values(row))

    def leave(self, row: Row) -> None:
        self._leave(*self._values(row))


__all__ = ["UserAccumulator"]
