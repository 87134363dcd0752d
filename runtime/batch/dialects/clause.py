"""A clause over the columns of a table: conditions as bytes, matches, measures as columns."""
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from epl.dialects import typed as y
from epl.dialects import types as k
from epl.dialects.plans import RecognitionPlan
from epl.dialects.syntax import tree as t
from epl.dialects.types import SqlType
from runtime.batch.dialects import vectors as x
from runtime.batch.dialects.conditions import vector
from runtime.batch.dialects.matching import Matches, matches_of
from runtime.batch.dialects.partitions import Layout, laid_out
from runtime.batch.dialects.vectors import Array, NotColumnar, Vector
from runtime.dialects.program import Program, compile_pattern
from runtime.dialects.tables import SIMPLE, arrow_type, type_of


class ClauseColumns:
    """Runs one clause of SQL:2016. Raises NotColumnar where something is to be done row by row."""

    def __init__(self, plan: RecognitionPlan, table: pa.Table) -> None:
        if plan.dialect != "sql" or plan.computed or plan.empties == "unmatched" or plan.timeouts:
            raise NotColumnar("a clause of this kind")
        self.plan = plan
        self.table = table
        self.labels = list(plan.labels)
        self.program: Program = compile_pattern(plan.pattern, self.labels)
        self._columns: dict[int, Vector] = {}
        self._sorted: dict[int, Vector] = {}

    def result(self) -> pa.Table:
        """Return the output columns."""
        plan, count = self.plan, self.table.num_rows
        if plan.all_rows and _may_be_empty(plan.pattern):
            raise NotColumnar("empty matches with all rows shown")
        self.layout: Layout = laid_out(plan, self.column, count)
        holds = self._holds()
        times = None
        if plan.within is not None:
            assert plan.time is not None
            first = self.sorted(plan.time)
            if first.nulls is not None:
                raise NotColumnar("a time that is null")
            times = first.values // 1000
        matches = matches_of(self.program, holds, count, self.layout.bounds, times, plan.within, plan.skip)
        return self._all_rows(matches) if plan.all_rows else self._one_row(matches)

    # columns

    def column(self, place: int) -> Vector:
        """Return a column of the table."""
        known = self._columns.get(place)
        if known is None:
            column = self.table.column(place)
            known = self._columns[place] = x.vector_of(column, type_of(column.type))
        return known

    def sorted(self, place: int) -> Vector:
        """Return a column, its rows in partitions."""
        known = self._sorted.get(place)
        if known is None:
            column, order = self.column(place), self.layout.order
            nulls = None if column.nulls is None else column.nulls[order]
            known = self._sorted[place] = Vector(column.kind, column.values[order], nulls, column.words)
        return known

    # conditions

    def _holds(self) -> Array:
        """Return for each variable a byte a row: whether the row may be of the variable."""
        count = self.layout.count
        taken = np.ones((max(1, len(self.labels)), count), np.uint8)
        offsets = _fixed_offsets(self.plan.pattern)
        for number, label in enumerate(self.labels):
            condition = self.plan.defines.get(label)
            if condition is None:
                continue
            values, nulls = x.filled_up(vector(condition, partial(self._tested, label=label, offsets=offsets)), count)
            taken[number] = values.astype(bool) if nulls is None else values.astype(bool) & ~nulls
        return taken.reshape(-1)

    def _tested(self, typed: y.Typed, *, label: str, offsets: dict[str, int] | None) -> Vector:
        """Return a column of the row that is tested, or of one at a distance that is always the same."""
        if not isinstance(typed, y.Navigated) or typed.column is None:
            raise NotColumnar("a condition that depends on the rows before")
        n = typed.navigation
        is_own = n.labels is None or n.labels == {label}
        if is_own and not n.first and not n.offset:
            return self._shifted(typed.column, n.shift)
        if offsets is None:
            raise NotColumnar("a condition that depends on the rows before")
        here = offsets[label]
        rows = sorted(offsets[each] for each in (n.labels or offsets) if offsets[each] <= here)
        place = n.offset if n.first else len(rows) - 1 - n.offset
        if not 0 <= place < len(rows):
            return x.constant(typed.type, None)
        return self._shifted(typed.column, rows[place] - here + n.shift)

    def _shifted(self, place: int, shift: int) -> Vector:
        column, count = self.sorted(place), self.layout.count
        if not shift:
            return column
        values, nulls = np.empty_like(column.values), np.zeros(count, bool)
        if abs(shift) >= count:
            return Vector(column.kind, np.zeros_like(column.values), np.ones(count, bool), column.words)
        here, there = (slice(-shift, None), slice(None, shift)) if shift < 0 else (slice(None, -shift), slice(shift, None))
        values[here] = column.values[there]
        edge = slice(None, -shift) if shift < 0 else slice(count - shift, None)
        values[edge] = 0
        if column.nulls is not None:
            nulls[here] = column.nulls[there]
        for step in range(abs(shift)):
            edges = self.layout.bounds[:-1] + step if shift < 0 else self.layout.bounds[1:] - 1 - step
            inside = (edges < self.layout.bounds[1:]) if shift < 0 else (edges >= self.layout.bounds[:-1])
            nulls[edges[inside]] = True
        return Vector(column.kind, values, nulls, column.words)

    # rows

    def _one_row(self, matches: Matches) -> pa.Table:
        measured = Measured(self, matches, None)
        first = self.layout.order[matches.starts]
        columns = [self.table.column(place).take(x.places(first)) for place in self.plan.partition]
        return self._table([*columns, *(measured.column(each) for each in self.plan.measures)])

    def _all_rows(self, matches: Matches) -> pa.Table:
        shown = ~np.array(self.program.excluded, bool)[matches.steps] if len(matches.steps) else np.zeros(0, bool)
        measured = Measured(self, matches, np.flatnonzero(shown))
        source = x.places(self.layout.order[measured.rows])
        plan = self.plan
        before = [*plan.partition, *((place for place, _, _ in plan.order) if plan.shows_order else ())]
        columns = [self.table.column(place).take(source) for place in before]
        columns += [measured.column(each) for each in plan.measures]
        return self._table([*columns, *(self.table.column(place).take(source) for place in plan.shown)])

    def _table(self, columns: list[Any]) -> pa.Table:
        names = [column.name if column.name is not None else f"_col{place}" for place, column in enumerate(self.plan.columns)]
        return pa.Table.from_arrays(columns, names=names)


class Measured:
    """Measures of matches: of each one (``steps`` None), or of each of the steps that are shown."""

    def __init__(self, clause: ClauseColumns, matches: Matches, steps: Array | None) -> None:
        self.clause = clause
        self.matches = matches
        self.labels = np.array(clause.program.first, np.int32)[matches.steps]
        if steps is None:
            self.match = np.arange(len(matches.starts))
            self.last = matches.offsets[1:]
        else:
            self.match = np.searchsorted(matches.offsets, steps, "right") - 1
            self.last = steps + 1
        self.begin, self.end = matches.offsets[self.match], matches.offsets[self.match + 1]
        self.rows = matches.starts[self.match] + self.last - 1 - self.begin
        """Places of the rows that are shown, or of the last ones of matches."""
        self._places: dict[frozenset[str], tuple[Array, Array]] = {}

    def column(self, typed: y.Typed) -> Any:
        """Return a measure as an Arrow column."""
        if isinstance(typed, y.Navigated) and typed.column is not None:
            rows, inside = self._rows_of(typed.navigation)
            return self.clause.table.column(typed.column).take(x.places(self.clause.layout.order[rows], ~inside))
        if isinstance(typed, y.Navigated):
            return self._classifier(typed.navigation)
        vectors = vector(typed, self._leaf)
        return x.arrow_of(vectors, typed.type, len(self.match))

    def _leaf(self, typed: y.Typed) -> Vector:
        if isinstance(typed, y.MatchNumber):
            return Vector(k.BIGINT, self.matches.numbers[self.match])
        if isinstance(typed, y.Aggregated):
            return self._aggregated(typed)
        if not isinstance(typed, y.Navigated) or typed.column is None:
            raise NotColumnar("the name of a variable among other values")
        rows, inside = self._rows_of(typed.navigation)
        source = self.clause.sorted(typed.column)
        nulls = ~inside if source.nulls is None else ~inside | source.nulls[rows]
        return Vector(source.kind, source.values[rows], nulls if nulls.any() else None, source.words)

    # rows of navigation

    def _labelled(self, labels: frozenset[str] | None) -> tuple[Array, Array]:
        """Return the steps of matches that are of one of the variables, and how many of them are before each step."""
        key = frozenset(self.clause.labels) if labels is None else labels
        known = self._places.get(key)
        if known is None:
            chosen = np.array([label in key for label in self.clause.labels] or [False])[self.labels]
            before = np.zeros(len(chosen) + 1, np.int64)
            np.cumsum(chosen, out=before[1:])
            known = self._places[key] = np.flatnonzero(chosen), before
        return known

    def _steps_of(self, n: y.Navigation) -> tuple[Array, Array]:
        """Return the step that is meant, and whether there is one."""
        places, before = self._labelled(n.labels)
        end = self.end if n.final else self.last
        index = before[self.begin] + n.offset if n.first else before[end] - 1 - n.offset
        inside = (index >= 0) & (index < len(places))
        if not len(places):
            return np.zeros(len(index), np.int64), np.zeros(len(index), bool)
        steps = places[np.where(inside, index, 0)]
        return steps, inside & (steps >= self.begin) & (steps < end)

    def _rows_of(self, n: y.Navigation) -> tuple[Array, Array]:
        """Return the place of the row that is meant, and whether there is one."""
        steps, inside = self._steps_of(n)
        rows = np.where(inside, self.matches.starts[self.match] + steps - self.begin, 0)
        if n.shift:
            shifted = rows + n.shift
            inside = inside & self.clause.layout.within(rows, shifted)
            rows = np.where(inside, shifted, 0)
        return rows, inside

    def _classifier(self, n: y.Navigation) -> Any:
        steps, inside = self._steps_of(n)
        if n.shift:
            steps = steps + n.shift
            inside = inside & (steps >= self.begin) & (steps < self.end)
            steps = np.where(inside, steps, 0)
        names = pa.array(self.clause.labels, pa.string())
        codes = self.labels[steps] if len(self.labels) else steps
        return names.take(x.places(codes, ~inside))

    # aggregates

    def _aggregated(self, typed: y.Aggregated) -> Vector:
        """Count, and sums and averages of whole numbers: differences of running totals."""
        name = typed.aggregate.name
        if name not in ("count", "sum", "avg") or len(typed.arguments) > 1:
            raise NotColumnar("an aggregate")
        places, _ = self._labelled(typed.labels)
        rows = self._rows_at(places)
        values = np.ones(len(places), np.int64)
        if typed.arguments:
            argument = vector(typed.arguments[0], lambda each: self._argument(each, rows))
            numbers, nulls = x.filled_up(argument, len(places))
            if name == "count":
                values = values if nulls is None else (~nulls).astype(np.int64)
            elif argument.kind.name not in k.INTEGERS:
                raise NotColumnar("a sum of doubles")
            else:
                values = numbers if nulls is None else np.where(nulls, 0, numbers)
                counted = values * 0 + 1 if nulls is None else (~nulls).astype(np.int64)
                return self._summed(typed, values, counted)
        elif name != "count":
            raise NotColumnar("an aggregate")
        return Vector(k.BIGINT, self._difference(typed, values))

    def _summed(self, typed: y.Aggregated, values: Array, counted: Array) -> Vector:
        if values.size and float(np.abs(values).astype(np.float64).sum()) >= 2**62:
            raise NotColumnar("a sum that may be out of range")
        total, many = self._difference(typed, values), self._difference(typed, counted)
        nulls = many == 0
        if typed.aggregate.name == "sum":
            return Vector(typed.type, total, nulls if nulls.any() else None)
        if typed.type.name != "double":
            raise NotColumnar("an average of whole numbers that is one")
        return Vector(typed.type, total.astype(np.float64) / np.where(nulls, 1, many), nulls if nulls.any() else None)

    def _difference(self, typed: y.Aggregated, values: Array) -> Array:
        totals = np.zeros(len(values) + 1, np.int64)
        np.cumsum(values, out=totals[1:])
        _, before = self._labelled(typed.labels)
        difference: Array = totals[before[self.end if typed.final else self.last]] - totals[before[self.begin]]
        return difference

    def _rows_at(self, steps: Array) -> Array:
        match = np.searchsorted(self.matches.offsets, steps, "right") - 1
        rows: Array = self.matches.starts[match] + steps - self.matches.offsets[match]
        return rows

    def _argument(self, typed: y.Typed, rows: Array) -> Vector:
        """Return a column of the rows that an aggregate counts."""
        if not isinstance(typed, y.Field):
            raise NotColumnar(type(typed).__name__)
        source = self.clause.sorted(typed.index)
        return Vector(source.kind, source.values[rows], None if source.nulls is None else source.nulls[rows], source.words)


def as_declared(column: Any, kind: SqlType) -> Any:
    """Return a column of the type that the rows' values would have: times without a zone, in UTC."""
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        column = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False).cast(pa.timestamp("us"))
    target = arrow_type(kind, ()) if kind.name in SIMPLE or kind.name in ("timestamp", "decimal") else column.type
    return column if column.type == target else column.cast(target, safe=kind.name != "timestamp")


def _fixed_offsets(pattern: t.Pattern) -> dict[str, int] | None:
    """Return the place of each variable in every match: of a pattern that is a sequence of different variables; None for others."""
    while isinstance(pattern, t.Group):
        pattern = pattern.pattern
    parts = pattern.parts if isinstance(pattern, t.Sequence) else (pattern,)
    names = [part.name.canonical for part in parts if isinstance(part, t.Variable)]
    if len(names) != len(parts) or len(set(names)) != len(names):
        return None
    return {name: place for place, name in enumerate(names)}


def _may_be_empty(pattern: t.Pattern) -> bool:
    """Return whether a pattern may take no row."""
    match pattern:
        case t.Variable():
            return False
        case t.Group() | t.Exclusion():
            return _may_be_empty(pattern.pattern)
        case t.Sequence():
            return all(_may_be_empty(part) for part in pattern.parts)
        case t.Permutation():
            return all(_may_be_empty(part) for part in pattern.parts)
        case t.Alternation():
            return any(_may_be_empty(part) for part in pattern.choices)
        case t.Quantified():
            return pattern.least == 0 or _may_be_empty(pattern.pattern)
        case _:
            return True


__all__ = ["ClauseColumns", "as_declared"]
