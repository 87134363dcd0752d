"""A running statement together with its sub-queries."""
from __future__ import annotations

from collections.abc import Iterable

from runtime.operators.subquery import Subqueries
from runtime.statements.running import Running
from windows.event import Event
from windows.protocol import State
from windows.shape import ANYTHING, takes


class WithSubqueries:
    """The statement's operators, which ask its sub-queries through the environment of their expressions."""

    def __init__(self, statement: Running, subqueries: Subqueries) -> None:
        self._statement = statement
        self._subqueries = subqueries

    def start(self) -> None:
        self._subqueries.start()
        self._statement.start()

    def close(self) -> None:
        self._subqueries.close()
        self._statement.close()

    def iterate(self) -> Iterable[Event]:
        return self._statement.iterate()

    def state(self) -> State:
        return {"statement": self._statement.state(), "subqueries": self._subqueries.state()}

    @takes({"statement": ANYTHING, "subqueries": ANYTHING})
    def restore(self, state: State) -> None:
        self._subqueries.restore(state["subqueries"])
        self._statement.restore(state["statement"])


__all__ = ["WithSubqueries"]
