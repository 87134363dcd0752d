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
        self.statement = statement
        self.subqueries = subqueries

    def start(self) -> None:
        self.subqueries.start()
        self.statement.start()

    def close(self) -> None:
        self.subqueries.close()
        self.statement.close()

    def iterate(self) -> Iterable[Event]:
        return self.statement.iterate()

    def state(self) -> State:
        return {"statement": self.statement.state(), "subqueries": self.subqueries.state()}

    @takes({"statement": ANYTHING, "subqueries": ANYTHING})
    def restore(self, state: State) -> None:
        self.subqueries.restore(state["subqueries"])
        self.statement.restore(state["statement"])


__all__ = ["WithSubqueries"]
