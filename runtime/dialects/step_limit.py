"""How many steps a query may need: what joins, sub-queries and row patterns go through grows with products of its rows."""
from __future__ import annotations

from epl.dialects.errors import QueryFailed
from runtime.dialects.limits import QueryLimits

STEPS_EACH = 200
"""Steps that each row of the query's tables adds."""
STEPS_OF_A_STATE = 8
"""What a state that a search for a match visits counts as; a pair of rows that a join tests is one step."""


class StepLimit:
    """The steps of one query, and how many there may be."""

    def __init__(self, limits: QueryLimits) -> None:
        self.most = limits.steps
        self.variables_and_rows = 0

    def read(self, rows: int) -> None:
        """Note that the query reads a table of so many rows."""
        self.most += STEPS_EACH * rows

    def take(self, steps: int) -> None:
        """Count steps; raise QueryFailed where they are too many."""
        self.variables_and_rows += steps
        if self.variables_and_rows > self.most:
            raise too_many_steps(self.most)


def too_many_steps(most: int) -> QueryFailed:
    """Return the error of a query that needs more steps."""
    return QueryFailed(
        "EXCEEDED_CPU_LIMIT", f"the query needs more than {most} steps: it goes through the rows of its tables again and again",
        hint="equal columns in the condition of a join, and conditions of a row pattern on its rows alone, need few steps; "
        "max_steps=… of the call allows more",
    )  # fmt: skip


__all__ = ["STEPS_EACH", "STEPS_OF_A_STATE", "StepLimit", "too_many_steps"]
