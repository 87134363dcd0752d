"""A clause over rows that come one after the other, without a runtime: what is emitted with each row, and at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from epl.dialects.plans import Plan, RecognitionPlan, RenamedPlan, SqlSelectPlan
from epl.dialects.queries import compile_query
from epl.dialects.scopes import SqlColumn
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
        assert isinstance(plan, SqlSelectPlan | RenamedPlan)
        assert plan.input is not None
        plan = plan.input
    return plan


class RowByRow:
    """The clause of a text over one partition. ``times``: read from the column that the rows are ordered by."""

    def __init__(self, text: str, columns: Sequence[SqlColumn], dialect: str = "sql", limit: int | None = None) -> None:
        streaming = attrs.evolve(DIALECTS[dialect], streaming=True)
        self.plan = clause_of(compile_query(text, streaming, {"t": tuple(columns)}))
        self.states = Counted(limit=limit)
        self.machine = MACHINES[dialect](self.plan, self.states, self.plan.within)
        self.partition = self.machine.partition()

    def row(self, row: Row, *, keeps_failures: bool = False) -> list[Row]:
        place = self.plan.time
        time = 0 if place is None else row[place] or 0
        decided = self.clock(time)
        return decided + self._checked(self.machine.process(self.partition, row, time), keeps_failures)

    def clock(self, now: int) -> list[Row]:
        """No row before ``now`` comes any more: what a statement does about it."""
        due = self.machine.deadline(self.partition)
        return [] if due is None or due > now else list(self.machine.advance(self.partition, now))

    def finish(self, *, keeps_failures: bool = False) -> list[Row]:
        return self._checked(self.machine.finish(self.partition), keeps_failures)

    def _checked(self, rows: list[Row], keeps_failures: bool) -> list[Row]:
        failure, self.partition.failure = self.partition.failure, None
        if failure is not None and not keeps_failures:
            raise failure
        return rows

    def restart(self) -> None:
        """Go on in the state of the machine, as a snapshot has it."""
        self.states.count -= self.partition.held
        self.partition = self.machine.restore(self.machine.state(self.partition))
