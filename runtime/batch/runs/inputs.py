"""What a kernel takes beside its state: the batch's columns, parameters, functions of strings as tables, the order of strings."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from epl.plan.expressions import Constant, TypedExpression
from epl.value_types import Scalar
from runtime.batch.printing.parameters import Parameters, Presence, is_fixed
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.arrays import Array
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.kinds import TEXTS
from runtime.batch.storage.strings import CodeTable

RESULTS = {"boolean": np.bool_, "int": np.int64, "long": np.int64, "double": np.float64}
"""How tables hold what functions of strings give."""

NO_RANKS = np.zeros(0, np.int32)


def function_tables(tables: Iterable[tuple[TypedExpression, str]], surroundings: RunContext) -> list[CodeTable]:
    """Return a table for each function of a string."""
    return [CodeTable(surroundings.function_of_string(node), RESULTS[kind]) for node, kind in tables]


class KernelInputs:
    """``inputs``: the columns that the kernel reads, with their kinds; ``through``: those that it only hands on."""

    def __init__(
        self, inputs: Sequence[tuple[str, str]], through: Iterable[str], parameters: Parameters, surroundings: RunContext
    ) -> None:
        self._inputs, self._through, self._parameters = tuple(inputs), tuple(through), parameters
        self._surroundings, self._pool = surroundings, surroundings.pool
        self._tables = function_tables(parameters.tables, surroundings)
        self._prepared: BatchIntake | None = None
        nodes = (*parameters.integers, *parameters.floats)
        self._fixed = self._values() if all(map(is_fixed, nodes)) else None

    def prepare(self, intake: BatchIntake) -> None:
        """Convert what is read of the batch; raises Declined, nothing has been done then."""
        for name, kind in self._inputs:
            intake.column(name, kind, self._pool)
        for name in self._through:
            intake.arrow(name)
        for table in self._tables:
            table.update(self._pool)
        self._prepared = intake

    def of(self, intake: BatchIntake) -> tuple[Any, ...]:
        """Return the kernel's arguments C, PI, PF, T, K."""
        if self._prepared is not intake:
            self.prepare(intake)
        self._prepared = None
        columns = tuple(a for name, kind in self._inputs for a in intake.column(name, kind, self._pool))
        tables = tuple(a for table in self._tables for a in (table.values, table.valid))
        integers, floats = self._fixed or self._values()
        ranks = self._pool.ranks() if self._parameters.ranked else NO_RANKS  # after the values: a variable's string may be a new one
        return columns, integers, floats, tables, ranks

    def _values(self) -> tuple[Array, Array]:
        integers = np.zeros(max(1, len(self._parameters.integers)), np.int64)
        for place, node in enumerate(self._parameters.integers):
            integers[place] = self._integer(node)
        floats = np.zeros(max(1, len(self._parameters.floats)), np.float64)
        for place, node in enumerate(self._parameters.floats):
            value = self._value(node)
            floats[place] = 0.0 if value is None else value
        return integers, floats

    def _value(self, node: TypedExpression) -> Any:
        return node.value if isinstance(node, Constant) else self._surroundings.value(node)

    def _integer(self, node: TypedExpression) -> int:
        if isinstance(node, Presence):
            return int(self._value(node.node) is not None)
        value = self._value(node)
        if isinstance(node.type, Scalar) and node.type.kind in TEXTS:
            return self._pool.code(value)
        return 0 if value is None else int(value)


__all__ = ["KernelInputs", "function_tables"]
