"""Rule sets: many statements without windows that differ in constants only, run as one pass over the batch.

One kernel writes the pairs of statement and row that match, in order of the rows; a counting sort brings each statement's rows together;
the output columns are made once for all pairs, and each statement gets a slice of them. Cost: rows + matches, not rows × statements,
where the filter has a key or a bound; see runtime.batch.rule_sets.routes.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import pyarrow as pa

from epl.plan.expressions import Constant, Parameter, TypedExpression
from epl.plan.statements import BodyPlan
from runtime.batch.printing.parameters import Presence
from runtime.batch.refusals import NotCompilable
from runtime.batch.rule_sets.kernel import REGISTERS, SharedRule, rule
from runtime.batch.runs.inputs import function_tables
from runtime.batch.runs.run import NOTHING, BatchOutput, BatchRun, Causes, RunContext, decoded
from runtime.batch.select_statement.run import SelectRun
from runtime.batch.storage.arrays import Array, ArrayField, read_only
from runtime.batch.storage.computed import build_column
from runtime.batch.storage.fetched import fetch_rows
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.kinds import DTYPES
from runtime.expressions import compile_expression

NO_RANKS = np.zeros(0, np.int32)

SORT = """\
def kernel(rules, rows, begins, sorted_rules, sorted_rows, order):
    for p in range(len(rules)):
        begins[rules[p] + 1] += 1
    for s in range(len(begins) - 1):
        begins[s + 1] += begins[s]
    for p in range(len(rules)):
        s = rules[p]
        q = begins[s]
        begins[s] = q + 1
        sorted_rules[q] = s
        sorted_rows[q] = rows[p]
        order[q] = p
    for s in range(len(begins) - 1, 0, -1):
        begins[s] = begins[s - 1]
    begins[0] = 0
    return 0
"""
"""A counting sort of pairs by statement; rows stay in order, ``order`` gives where each pair was. Statement ``s`` has those at
``begins[s]`` … ``begins[s + 1]``."""


def rule_sets(statements: Sequence[tuple[BodyPlan, RunContext]]) -> list[RuleSet]:
    """Return the statements that one kernel can run together, by what they share; those that are in no set of two and more are omitted.

    Linear in the number of statements.
    """
    by_shape: dict[Any, list[tuple[int, SharedRule]]] = {}
    for number, (plan, surroundings) in enumerate(statements):
        try:
            printed = rule(plan, surroundings)
        except NotCompilable:
            continue
        by_shape.setdefault((printed.shape, id(surroundings.pool), surroundings.compile), []).append((number, printed))
    return [RuleSet(tuple(n for n, _ in each), tuple(r for _, r in each)) for each in by_shape.values() if len(each) > 1]


@attrs.frozen
class RuleSet:
    """``numbers``: places of the statements among those given to ``rule_sets``, ascending; ``rules``: the same statements."""

    numbers: tuple[int, ...]
    rules: tuple[SharedRule, ...]

    def run(self, runs: Sequence[BatchRun] = ()) -> RuleSetRun:
        """Return a run of the set. ``runs``: those of the same statements, which keep the state; needed where the statements have any."""
        return RuleSetRun(self.rules, runs)


@attrs.frozen
class RuleMatches:
    """Pairs of statement and row, by statement, then row; those of statement ``s`` are at ``begins[s]`` … ``begins[s + 1]``.
    ``computed``: values and valid of the columns that were computed on the way. ``ascending``: the rows in their order;
    ``order``: the place of each pair among those."""

    rules: Array
    rows: Array
    begins: Array
    computed: tuple[Array, ...]
    ascending: Array
    order: Array

    def spans(self) -> Iterator[tuple[int, int, int]]:
        """Return (statement, begin, end) of those that have any."""
        numbers = np.flatnonzero(np.diff(self.begins))
        return zip(numbers.tolist(), self.begins[numbers].tolist(), self.begins[numbers + 1].tolist())


class RuleSetRun:
    """One kernel with the constants of all its statements. Like runtime.batch.runs.run.Run, but ``feed`` gives an output a statement.

    What statements keep (aggregations) is in one array for all of them. Each run's own array becomes a view of its place there, so that
    the run may be asked for its state, or process rows by itself again, at any time.
    """

    def __init__(self, rules: Sequence[SharedRule], runs: Sequence[BatchRun] = ()) -> None:
        self.rules, self.shape = tuple(rules), rules[0].shape
        surroundings = rules[0].surroundings
        self.pool = surroundings.pool
        self._matches, self._sort = surroundings.compile(self.shape.matches), surroundings.compile(SORT)
        self._computes = None if self.shape.computes is None else surroundings.compile(self.shape.computes)
        self._tables = function_tables(self.shape.tables, surroundings)
        self._route = self.shape.route.build([tuple(r.constant_value(n) for n in r.route.constants()) for r in rules], self.pool)
        self._dtypes = [d for c in self.shape.columns if c.through is None for d in (DTYPES[c.kind], np.bool_)]
        self._changing: list[tuple[Array, int, list[int], Callable[[], Any], bool]] = []
        self._integers = self._fill([r.integers for r in rules], np.int64)
        self._floats = self._fill([r.floats for r in rules], np.float64)
        self._kept = tuple(self._common_array(field, runs) for field in self.shape.fields)
        self._capacity = 1024
        self._delta = 0

    @staticmethod
    def _common_array(field: ArrayField, runs: Sequence[BatchRun]) -> Array:
        shared = np.full(len(runs), field.fill, field.dtype)
        for place, run in enumerate(runs):
            assert isinstance(run, SelectRun)
            own = run.arrays.arrays
            shared[place] = own[field.name][0]
            own[field.name] = shared[place : place + 1]
        return shared

    # ------------------------------------------------------------------ parameters

    def _fill(self, nodes: list[tuple[TypedExpression, ...]], dtype: Any) -> Array:
        """``array[place, statement]``: what is constant now, what may change before each batch."""
        constants = np.zeros((max(1, len(nodes[0])), len(nodes)), dtype)
        changing: dict[tuple[int, str, int], tuple[Callable[[], Any], list[int]]] = {}
        for number, (each, mine) in enumerate(zip(nodes, self.rules)):
            for place, node in enumerate(each):
                asked = node.node if isinstance(node, Presence) else node
                if isinstance(asked, (Constant, Parameter)):
                    constants[place, number] = self._number(mine.constant_value(asked), isinstance(node, Presence))
                    continue
                environment = mine.surroundings.environment
                key = (place, repr(asked), id(environment.variables))
                if key not in changing:
                    changing[key] = (compile_expression(asked, environment, 0), [])
                changing[key][1].append(number)
        for (place, _, _), (function, numbers) in changing.items():
            self._changing.append((constants, place, numbers, function, isinstance(nodes[0][place], Presence)))
        return constants

    def _number(self, value: Any, presence: bool) -> Any:
        if presence:
            return value is not None
        if isinstance(value, str):
            return self.pool.code(value)
        return 0 if value is None else value

    # ------------------------------------------------------------------ a batch

    def prepare(self, intake: BatchIntake) -> None:
        """Convert, as in Run, what ``feed`` reads; raise Declined."""
        for name, kind in self.shape.inputs:
            intake.column(name, kind, self.pool)
        for column in self.shape.columns:
            if column.through is not None:
                intake.arrow(column.through)
        for array, place, numbers, function, presence in self._changing:
            array[place, numbers] = self._number(function(), presence)
        for table in self._tables:
            table.update(self.pool)

    def feed(self, intake: BatchIntake, times: Array, until: int, *, jump: bool = False, causes: bool = False) -> list[BatchOutput]:
        """Return, as in Run, the outputs of all statements, in their order."""
        self.prepare(intake)
        columns, others = self._kernel_arguments(intake)
        outputs = [NOTHING] * len(self.rules)
        times = read_only(times)
        matches = self._sort_matches(intake.rows, times, columns, others)
        if matches is None:
            return outputs
        batch = self._batch(intake, times, columns, others, matches)
        plain = not intake.has_dictionaries
        batch = decoded(batch) if plain else batch
        row_causes = self._causes(times, matches.rows) if causes else None
        for number, low, high in matches.spans():
            some = None if row_causes is None else row_causes.select(slice(low, high))
            outputs[number] = BatchOutput(batch.slice(low, high - low), None, some, plain=plain)
        return outputs

    def rows(self, intake: BatchIntake, times: Array) -> RuleMatches | None:
        """Return which rows each statement reads, None where no statement reads any."""
        self.prepare(intake)
        return self._sort_matches(intake.rows, read_only(times), *self._kernel_arguments(intake))

    def _kernel_arguments(self, intake: BatchIntake) -> tuple[tuple[Array, ...], tuple[Any, ...]]:
        """Return what kernels take: columns; parameters."""
        columns = tuple(a for name, kind in self.shape.inputs for a in intake.column(name, kind, self.pool))
        tables = tuple(a for table in self._tables for a in (table.values, table.valid))
        return columns, (self._integers, self._floats, tables, self.pool.ranks() if self.shape.ranked else NO_RANKS)

    def _sort_matches(self, count: int, times: Array, columns: tuple[Array, ...], others: tuple[Any, ...]) -> RuleMatches | None:
        rules, rows, *computed = self._pairs(count, times, columns, others)
        if len(rules) == 0:
            return None
        begins, order = np.zeros(len(self.rules) + 1, np.int64), np.empty_like(rows)
        sorted_rules, sorted_rows = np.empty_like(rules), np.empty_like(rows)
        self._sort(rules, rows, begins, sorted_rules, sorted_rows, order)
        return RuleMatches(sorted_rules, sorted_rows, begins, tuple(each[order] for each in computed), rows, order)

    def _pairs(self, count: int, times: Array, columns: tuple[Array, ...], others: tuple[Any, ...]) -> list[Array]:
        """Statements and rows that match, and what statements that aggregate compute, in order of the rows."""
        registers = np.zeros(len(REGISTERS), np.int64)
        capacity = max(self._capacity, len(self.rules))
        dtypes = (np.int32, np.int32, *(self._dtypes if self._kept else ()))
        parts: list[list[Array]] = []
        while True:
            outputs = tuple(np.empty(capacity, dtype) for dtype in dtypes)
            self._matches(registers, count, len(self.rules), times, columns, self._route, self._kept, outputs, *others)
            parts.append([each[: registers[REGISTERS["out"]]] for each in outputs])
            if registers[REGISTERS["i"]] >= count:
                break
            capacity *= 2
        self._capacity = max(1024, sum(len(part[0]) for part in parts) * 5 // 4 + len(self.rules))
        return parts[0] if len(parts) == 1 else [np.concatenate(each) for each in zip(*parts)]

    def _causes(self, times: Array, rows: Array) -> Causes:
        deltas = np.arange(self._delta, self._delta + len(rows))
        self._delta += len(rows)
        return Causes(rows.astype(np.int64), np.zeros(len(rows), np.bool_), times[rows], deltas)

    def _batch(self, intake: BatchIntake, times: Array, columns: tuple[Array, ...], others: tuple[Any, ...],
        matches: RuleMatches) -> pa.RecordBatch:
        """Return the output columns of all pairs."""
        computed_arrays = matches.computed
        if self._computes is not None:
            computed_arrays = tuple(np.empty(len(matches.rows), dtype) for dtype in self._dtypes)
            self._computes(matches.rules, matches.rows, times, columns, computed_arrays, *others)
        computed = iter(computed_arrays)
        arrays: list[pa.Array[Any]] = []
        for column, field in zip(self.shape.columns, self.shape.schema):
            if column.through is None:
                array = build_column(column.kind, next(computed), next(computed), field.type, self.pool)
            else:
                read = fetch_rows(intake.arrow(column.through), matches.ascending)  # the batch's memory is read in its order
                array = fetch_rows(read, matches.order)
            arrays.append(array if pa.types.is_dictionary(array.type) else array.cast(field.type))
        fields = [pa.field(f.name, a.type) for f, a in zip(self.shape.schema, arrays)]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    # ------------------------------------------------------------------ as Run

    def next_due(self) -> int | None:
        """Return None: nothing here waits for time."""
        return None

    def memory(self) -> int:
        """Return bytes that the constants, the look-up and the statements' state hold."""
        return sum(a.nbytes for a in (self._integers, self._floats, *self._route, *self._kept))


__all__ = ["RuleMatches", "RuleSet", "RuleSetRun", "rule_sets"]
