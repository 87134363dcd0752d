"""Measures of matches as columns."""
from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from epl.dialects import typed as y
from epl.dialects import types as k
from runtime.batch.dialects import vectors as x
from runtime.batch.dialects.clause_rows import ClauseRows
from runtime.batch.dialects.conditions import vector
from runtime.batch.dialects.matching import TableMatches
from runtime.batch.dialects.running import GREATEST, LEAST, SUM, running
from runtime.batch.dialects.vectors import Array, NotColumnar, Vector

COUNTS = frozenset({"count", "count_if"})
TOTALS = {"sum": SUM, "avg": SUM, "min": LEAST, "max": GREATEST}


class MeasureColumns:
    """Measures of matches: of each one (``steps`` None), or of each of the steps that are shown."""

    def __init__(self, clause: ClauseRows, matches: TableMatches, steps: Array | None) -> None:
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
            rows, inside = self._navigation_rows(typed.navigation)
            return self.clause.table.column(typed.column).take(x.places(self.clause.layout.order[rows], ~inside))
        if isinstance(typed, y.Navigated):
            return self._classifier(typed.navigation)
        vectors = vector(typed, self._leaf)
        return x.write_arrow(vectors, typed.type, len(self.match))

    def _leaf(self, typed: y.Typed) -> Vector:
        if isinstance(typed, y.MatchNumber):
            return Vector(k.BIGINT, self.matches.numbers[self.match])
        if isinstance(typed, y.AggregateValue):
            return self._aggregate(typed)
        if not isinstance(typed, y.Navigated) or typed.column is None:
            raise NotColumnar("the name of a variable among other values")
        rows, inside = self._navigation_rows(typed.navigation)
        source = self.clause.sort_column(typed.column)
        nulls = ~inside if source.nulls is None else ~inside | source.nulls[rows]
        return Vector(source.kind, source.values[rows], nulls if nulls.any() else None, source.words)

    # rows of navigation

    def _label_steps(self, labels: frozenset[str] | None) -> tuple[Array, Array]:
        """Return the steps of matches that are of one of the variables, and how many of them are before each step."""
        key = frozenset(self.clause.labels) if labels is None else labels
        known = self._places.get(key)
        if known is None:
            chosen = np.array([label in key for label in self.clause.labels] or [False])[self.labels]
            before = np.zeros(len(chosen) + 1, np.int64)
            np.cumsum(chosen, out=before[1:])
            known = self._places[key] = np.flatnonzero(chosen), before
        return known

    def _navigation_steps(self, n: y.Navigation) -> tuple[Array, Array]:
        """Return the step that is meant, and whether there is one."""
        places, before = self._label_steps(n.labels)
        end = self.end if n.final else self.last
        index = before[self.begin] + n.offset if n.first else before[end] - 1 - n.offset
        inside = (index >= 0) & (index < len(places))
        if not len(places):
            return np.zeros(len(index), np.int64), np.zeros(len(index), bool)
        steps = places[np.where(inside, index, 0)]
        return steps, inside & (steps >= self.begin) & (steps < end)

    def _navigation_rows(self, n: y.Navigation) -> tuple[Array, Array]:
        """Return the place of the row that is meant, and whether there is one."""
        steps, inside = self._navigation_steps(n)
        rows = np.where(inside, self.matches.starts[self.match] + steps - self.begin, 0)
        if n.shift:
            shifted = rows + n.shift
            inside = inside & self.clause.layout.within(rows, shifted)
            rows = np.where(inside, shifted, 0)
        return rows, inside

    def _classifier(self, n: y.Navigation) -> Any:
        steps, inside = self._navigation_steps(n)
        if n.shift:
            steps = steps + n.shift
            inside = inside & (steps >= self.begin) & (steps < self.end)
            steps = np.where(inside, steps, 0)
        names = pa.array(self.clause.labels, pa.string())
        codes = self.labels[steps] if len(self.labels) else steps
        return names.take(x.places(codes, ~inside))

    # aggregates

    def _aggregate(self, typed: y.AggregateValue) -> Vector:
        """Return counts as differences of running counts, totals and extremes as of the last row that counts."""
        name = typed.aggregate.name
        if (name not in COUNTS and name not in TOTALS) or len(typed.arguments) > 1:
            raise NotColumnar("an aggregate")
        places, before = self._label_steps(typed.labels)
        if not typed.arguments:
            return Vector(k.BIGINT, self._difference(typed, np.ones(len(places), np.int64)))
        rows = self._step_rows(places)
        argument = vector(typed.arguments[0], lambda each: self._argument(each, rows))
        values, nulls = x.broadcast(argument, len(places))
        if name == "count":
            return Vector(k.BIGINT, self._difference(typed, np.ones(len(places), np.int64) if nulls is None else (~nulls).astype(np.int64)))
        if name == "count_if":
            holds = values.astype(bool) if nulls is None else values.astype(bool) & ~nulls
            return Vector(k.BIGINT, self._difference(typed, holds.astype(np.int64)))
        begins = np.zeros(len(places), np.uint8)
        starts = before[self.matches.offsets[:-1]]
        begins[starts[starts < len(places)]] = 1
        totals, counts = running(TOTALS[name], self._summands(name, typed, argument, values), nulls, begins)
        end = before[self.end if typed.final else self.last]
        is_there = end > before[self.begin]
        last = np.where(is_there, end - 1, 0)
        many = np.where(is_there, counts[last], 0) if len(counts) else np.zeros(len(last), np.int64)
        nothing = many == 0
        total = totals[last] if len(totals) else np.zeros(len(last), values.dtype)
        if name == "avg":
            total = total.astype(np.float64) / np.where(nothing, 1, many)
        kind = argument.kind if TOTALS[name] != SUM else typed.type
        return Vector(kind, total, nothing if nothing.any() else None, argument.words)

    def _summands(self, name: str, typed: y.AggregateValue, argument: Vector, values: Array) -> Array:
        """Return the values that are added up or compared; raise NotColumnar for a sum that may be out of range."""
        if TOTALS[name] != SUM:
            return values.astype(np.int64) if values.dtype == bool else values
        kind = argument.kind.name
        if kind in ("double", "real"):
            return values + 0.0 if name == "avg" else values
        exact = kind in k.INTEGERS or (
            kind == "decimal" and name == "sum" and k.precision_and_scale(argument.kind)[1] == k.precision_and_scale(typed.type)[1])
        if not exact or (name == "avg" and typed.type.name != "double"):
            raise NotColumnar("a sum of such values")
        if values.size and float(np.abs(values).astype(np.float64).sum()) >= 2**62:
            raise NotColumnar("a sum that may be out of range")
        return values

    def _difference(self, typed: y.AggregateValue, values: Array) -> Array:
        totals = np.zeros(len(values) + 1, np.int64)
        np.cumsum(values, out=totals[1:])
        _, before = self._label_steps(typed.labels)
        difference: Array = totals[before[self.end if typed.final else self.last]] - totals[before[self.begin]]
        return difference

    def _step_rows(self, steps: Array) -> Array:
        match = np.searchsorted(self.matches.offsets, steps, "right") - 1
        rows: Array = self.matches.starts[match] + steps - self.matches.offsets[match]
        return rows

    def _argument(self, typed: y.Typed, rows: Array) -> Vector:
        """Return a column of the rows that an aggregate counts."""
        if not isinstance(typed, y.ColumnValue):
            raise NotColumnar(type(typed).__name__)
        source = self.clause.sort_column(typed.index)
        return Vector(source.kind, source.values[rows], None if source.nulls is None else source.nulls[rows], source.words)


__all__ = ["MeasureColumns"]
