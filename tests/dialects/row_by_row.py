"""A clause over rows that come one after the other, without a runtime: what is emitted with each row, and at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from epl.dialects.plans import Plan, RecognitionPlan, RenamedPlan, SelectPlan
from epl.dialects.queries import compile_query
from epl.dialects.scopes import Column
from epl.dialects.syntax.lexis import DIALECTS
from runtime.dialects.streaming.flink_partition import FlinkRecognizer
from runtime.dialects.streaming.sql_partition import SqlRecognizer
from runtime.dialects.streaming.ydb_partition import YdbRecognizer

Row = tuple[Any, ...]
MACHINES: dict[str, Any] = {"sql": SqlRecognizer, "flink": FlinkRecognizer, "alibaba": FlinkRecognizer, "ydb": YdbRecognizer}


@attrs.define
class Counted:
    """Partial matches of a test."""

    count: int = 0
    limit: int | None = None

    def try_increase(self) -> bool:
        if self.limit is not None and self.count >= self.limit:
            return False
        self.count += 1
        return True


def clause_of(plan: Plan) -> RecognitionPlan:
    """Return the only clause of a query ``SELECT * FROM t MATCH_RECOGNIZE (…)``."""
    while not isinstance(plan, RecognitionPlan):
        assert isinstance(plan, SelectPlan | RenamedPlan)
        assert plan.input is not None
        plan = plan.input
    return plan


class RowByRow:
    """The clause of a text over one partition. ``times``: read from the column that the rows are ordered by."""

    def __init__(self, text: str, columns: Sequence[Column], dialect: str = "sql", limit: int | None = None) -> None:
        self.plan = clause_of(compile_query(text, DIALECTS[dialect], {"t": tuple(columns)}))
        self.states = Counted(limit=limit)
        self.machine = MACHINES[dialect](self.plan, self.states, self.plan.within)
        self.partition = self.machine.partition()

    def row(self, row: Row) -> list[Row]:
        time = self.plan.time
        rows = self.machine.process(self.partition, row, 0 if time is None else row[time] or 0)
        return self._checked(rows)

    def finish(self) -> list[Row]:
        return self._checked(self.machine.finish(self.partition))

    def _checked(self, rows: list[Row]) -> list[Row]:
        if self.partition.failure is not None:
            failure, self.partition.failure = self.partition.failure, None
            raise failure
        return rows

    def restart(self) -> None:
        """Go on in the state of the machine, as a snapshot has it."""
        self.states.count -= self.partition.held
        self.partition = self.machine.restore(self.machine.state(self.partition))
