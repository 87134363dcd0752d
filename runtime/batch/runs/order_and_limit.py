"""order by, limit and distinct of a kernel's output rows: of each call's insert and remove stream by itself.

The kernel puts the order keys out as columns after those of the select clause, and says which rows go out in one call; this sorts and
drops rows of the arrays, for all calls of a batch at once. Keys compare as ``runtime.result_set.projection`` compares them.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from epl.collation import collation_key
from epl.plan.expressions import TypedExpression
from epl.plan.result_set import LimitPlan, OrderKey, ResultSetPlan
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.arrays import Array
from runtime.batch.storage.kinds import TEXTS

FLAG, ROW, CAUSE, TIMER, TIME, DELTA, FIRST_COLUMN = range(7)
"""The output arrays: stream flags, row numbers, four for causes, then values and mask of each computed column."""


@attrs.frozen
class FinishPlan:
    """What is done with the rows of a call; ``emits_nothing``: listeners are called for it even if no row remains."""

    order_by: tuple[OrderKey, ...] = ()
    limit: LimitPlan | None = None
    distinct: bool = False
    emits_nothing: bool = False

    @property
    def keys(self) -> tuple[TypedExpression, ...]:
        return tuple(key.expression for key in self.order_by)


def plan_finish(rows: ResultSetPlan) -> FinishPlan | None:
    """Return the plan of order and limit; None where rows go out as they come. One row for all events is in order, whatever the order; a
    limit says something of several."""
    output = rows.output
    waits = output is not None and output.selector != "first"
    emits_nothing = waits and output is not None and (output.unit == "time" or output.condition is not None)
    if rows.shape == "fully aggregated":
        if output is None or output.selector == "snapshot":
            return None
        finish = FinishPlan((), rows.limit, rows.distinct, emits_nothing)
    else:
        finish = FinishPlan(rows.order_by, rows.limit, rows.distinct, emits_nothing)
    return finish if finish.order_by or finish.limit is not None or finish.distinct else None


class OutputOrder:
    """``kinds``: those of the computed columns in order, of which the last are the order keys."""

    def __init__(self, plan: FinishPlan, kinds: Sequence[str], surroundings: RunContext) -> None:
        self.plan, self._kinds, self._surroundings = plan, tuple(kinds), surroundings
        self._keys_from = len(self._kinds) - len(plan.order_by)
        self._collated = surroundings.environment.settings.sort_using_collator

    def __call__(self, outputs: list[Array], numbered_calls: bool) -> list[Array]:
        """The arrays with the rows that go out, in order. ``numbered_calls``: listeners get calls without a row, by rows with a delta
        below 0."""
        deltas = outputs[DELTA]
        rows = np.flatnonzero(deltas > 0)
        kept = self._rows_within_limit(outputs, rows)
        nothing = np.flatnonzero(deltas < 0) if numbered_calls else rows[:0]
        if numbered_calls and self.plan.emits_nothing and len(kept) < len(rows):
            gone = rows[~np.isin(deltas[rows], deltas[kept])]
            gone = gone[np.unique(deltas[gone], return_index=True)[1]]
            deltas = outputs[DELTA] = deltas.copy()
            deltas[gone] = -deltas[gone]
            nothing = np.concatenate((nothing, gone))
        if len(nothing):
            kept = np.concatenate((kept, nothing))
            kept = kept[np.argsort(np.abs(deltas[kept]), kind="stable")]
        return [a[kept] if len(a) else a for a in outputs]

    def _rows_within_limit(self, outputs: list[Array], rows: Array) -> Array:
        """Return the rows that go out, by call and stream, in order."""
        deltas = outputs[DELTA]
        streams = outputs[FLAG] if len(outputs[FLAG]) else np.zeros(len(deltas), np.bool_)
        keys = [] if len(rows) < 2 else self._sort_keys(outputs, rows)
        rows = rows[np.lexsort((*reversed(keys), streams[rows], deltas[rows]))]
        if self.plan.limit is not None:
            rows = self._limit_rows(rows, np.flatnonzero(_changes(deltas[rows], streams[rows])))
        if self.plan.distinct and len(rows) > 1:
            words = np.stack([deltas[rows], streams[rows], *self._words(outputs, rows)])
            rows = rows[np.sort(np.unique(words, axis=1, return_index=True)[1])]
        return rows

    def _sort_keys(self, outputs: list[Array], rows: Array) -> list[Array]:
        """Return by key whether it is null, a value or NaN, and the value; as numbers that ascend."""
        keys: list[Array] = []
        for number, key in enumerate(self.plan.order_by, self._keys_from):
            values, there = _column(outputs, number, rows, self._kinds[number])
            if self._kinds[number] in TEXTS:
                values = _ranks(values, self._surroundings.pool.values, collation_key if self._collated else None)
            place = np.where(there, 1, 0)
            if values.dtype.kind == "f":
                place[there & np.isnan(values)] = 2
                values = _in_order(values.astype(np.float64))
            else:
                values = values.astype(np.int64)
            values = np.where(place == 1, values, 0)
            if key.descending:
                place, values = 2 - place, ~values
            keys += [place, values]
        return keys

    def _limit_rows(self, rows: Array, begins: Array) -> Array:
        limit = self.plan.limit
        assert limit is not None
        value = self._surroundings.value
        count = value(limit.rows)
        start = max(0, (value(limit.offset) or 0) if limit.offset is not None else 0)
        sizes = np.diff([*begins, len(rows)])
        places = np.arange(len(rows)) - np.repeat(begins, sizes)
        chosen = places >= start
        if count is not None and count >= 0:
            chosen &= places < start + count
        kept: Array = rows[chosen]
        return kept

    def _words(self, outputs: list[Array], rows: Array) -> list[Array]:
        """Integers that are equal where the values of the select clause are."""
        words: list[Array] = []
        for number, kind in enumerate(self._kinds[: self._keys_from]):
            values, there = _column(outputs, number, rows, kind)
            if values.dtype.kind == "f":
                values = np.where(np.isnan(values), np.nan, values.astype(np.float64)).view(np.int64)
            words += [np.where(there, values.astype(np.int64), 0), there]
        return words


def _column(outputs: list[Array], number: int, rows: Array, kind: str) -> tuple[Array, Array]:
    """Return a computed column's values at the rows, and whether they are there."""
    values, valid = outputs[FIRST_COLUMN + 2 * number], outputs[FIRST_COLUMN + 2 * number + 1]
    values = values[rows]
    there = valid[rows] if len(valid) else np.ones(len(rows), np.bool_)
    return values, there & (values >= 0) if kind in TEXTS else there


def _in_order(values: Array) -> Array:
    """Integers in the order of the doubles; -0.0 is less than 0.0."""
    words: Array = values.view(np.int64)
    return np.where(words < 0, words ^ np.int64(0x7FFFFFFFFFFFFFFF), words)


def _ranks(codes: Array, values: Sequence[str], key: Callable[[str], Any] | None) -> Array:
    """Places in the order of the strings, or of their keys, of those that there are."""
    known, places = np.unique(codes, return_inverse=True)
    keys: dict[int, Any] = {code: values[code] if key is None else key(values[code]) for code in known.tolist() if code >= 0}
    places_of = {value: place for place, value in enumerate(sorted(set(keys.values())))}
    ranks = {code: places_of[value] for code, value in keys.items()}
    ranked: Array = np.array([ranks.get(code, -1) for code in known.tolist()], np.int64)[places.reshape(-1)]
    return ranked


def _changes(*columns: Array) -> Any:
    """Return where one of the columns has another value than before; at the first row."""
    changed = np.ones(len(columns[0]), np.bool_)
    changed[1:] = False
    for column in columns:
        changed[1:] |= column[1:] != column[:-1]
    return changed


__all__ = ["FinishPlan", "OutputOrder", "plan_finish"]
