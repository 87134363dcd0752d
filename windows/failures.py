"""Expressions that raise while a delta is taken: everything else is done first, then the first failure is raised.

What a window does with an event whose expression raises:

* A key, a sort key or a timestamp is not known (unique, firstunique, sort, rank, groupwin, ext_timed, ext_timed_batch, time_order,
  timetolive): the event does not enter the window, nor any other window of the stream, nor what follows them.
* A condition asked once the event is in (expr, expr_batch): the event stays, downstream operators take it in, and nothing is
  emitted (``BuildContext.withhold``). See windows.expr for an oldest event that would block the window.
* A value of a derived window (uni, …): the event does not count there, neither coming nor going.

A delta's other events are taken as ever.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

__all__ = ["Failures", "pair_keys"]


Row = TypeVar("Row")
"""An event, or a row of several."""


class Failures:
    """Of several steps, the first failure."""

    __slots__ = ("first",)

    def __init__(self) -> None:
        self.first: Exception | None = None

    def note(self, error: Exception) -> None:
        self.first = self.first or error

    def attempt(self, step: Callable[..., Any], *arguments: Any) -> bool:
        """Do a step; whether it went well."""
        try:
            step(*arguments)
        except Exception as error:  # noqa: BLE001 - raised by settle
            self.note(error)
            return False
        return True

    def settle(self) -> None:
        """Raise what was noted first."""
        if self.first is not None:
            raise self.first


def pair_keys(events: Iterable[Row], key: Callable[[Row], Any], failures: Failures) -> list[tuple[Row, Any]]:
    """Return the events with their keys, without those for which ``key`` raises."""
    pairs = []
    for event in events:
        try:
            pairs.append((event, key(event)))
        except Exception as error:  # noqa: BLE001 - raised by settle
            failures.note(error)
    return pairs
