"""Conditions of a clause → bytes a row and variable, and what remains to be compared with the first row of a match."""
from __future__ import annotations

import operator
from functools import partial

import attrs
import numpy as np

from epl.dialects import typed as y
from epl.dialects import types as k
from epl.dialects.syntax import tree as t
from runtime.batch.dialects import vectors as x
from runtime.batch.dialects.clause_rows import ClauseRows
from runtime.batch.dialects.conditions import vector
from runtime.batch.dialects.matching import Conditions
from runtime.batch.dialects.vectors import Array, NotColumnar, Vector
from runtime.dialects.program import DONE, JUMP, MATCH, SPLIT, PatternProgram

SIGNS = ("=", "<>", "<", "<=", ">", ">=")
MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
EXACT = 1 << 53
"""Whole numbers below it are doubles."""
AT_START = -1


class ConditionColumns:
    """The conditions of one clause over its sorted columns."""

    def __init__(self, clause: ClauseRows) -> None:
        self.clause = clause
        self.count = clause.layout.count
        self.offsets = _constant_offsets(clause.plan.pattern)
        self.head, self.head_is_one_row = _head(clause.plan.pattern)
        self.before = _before(clause.program)
        self.tests: list[tuple[int, int]] = []
        self.values: list[tuple[Array, Array]] = []

    def conditions(self) -> Conditions:
        """Return what the matcher asks."""
        labels, defines = self.clause.labels, self.clause.plan.defines
        holds = np.ones((max(1, len(labels)), self.count), np.uint8)
        for number, label in enumerate(labels):
            for condition in _conjuncts(defines.get(label)):
                if not self._compare_with_start(number, label, condition):
                    values, nulls = x.broadcast(vector(condition, partial(self._condition_column, label=label)), self.count)
                    holds[number] &= values.astype(bool) if nulls is None else values.astype(bool) & ~nulls
        of_row, of_start = (
            np.concatenate([pair[side] for pair in self.values]) if self.values else np.zeros(1, np.float64) for side in (0, 1)
        )
        tests = np.array([number for test in self.tests for number in test], np.int64)
        return Conditions(holds.reshape(-1), tests, of_row, of_start)

    # what compares with the first row of the match

    def _compare_with_start(self, number: int, label: str, condition: y.Typed) -> bool:
        """Take a comparison of the row with the first row of the match; return whether it is one."""
        if not isinstance(condition, y.Apply) or condition.operation not in SIGNS:
            return False
        if self._total_since_start(number, label, condition):
            return True
        written, condition = condition.operation, self._distance_from_start(condition, label)
        sides = [{self._distance(leaf, label) for leaf in _leaves(each)} for each in condition.arguments]
        if all(None not in side and AT_START not in side for side in sides):
            return False
        if sides[0] == {AT_START} and AT_START not in sides[1]:
            row, start, sign = condition.arguments[1], condition.arguments[0], MIRRORED[written]
        elif sides[1] == {AT_START} and AT_START not in sides[0]:
            row, start, sign = condition.arguments[0], condition.arguments[1], written
        else:
            return False
        of_row = vector(row, partial(self._condition_column, label=label))
        of_start = vector(start, self._of_start)
        self.tests.append((number, SIGNS.index(sign)))
        self.values.append(self._pair(of_row, of_start))
        return True

    def _total_since_start(self, number: int, label: str, condition: y.Apply) -> bool:
        """Take a comparison of what the row has with a running count, or a sum of whole numbers, over all rows of the match: the total to
        the row, without that value, is compared with the total before the first row. Return whether it is one."""
        one, other = condition.arguments
        sign = condition.operation
        assert sign is not None
        if isinstance(other, y.AggregateValue):
            one, other, sign = other, one, MIRRORED[sign]
        if not isinstance(one, y.AggregateValue) or one.final or not (one.labels is None or one.labels >= set(self.clause.labels)):
            return False
        if any(not isinstance(leaf, y.Navigated) or self._distance(leaf, label) != 1 for leaf in _leaves(other)):
            return False
        bound = vector(other, partial(self._condition_column, label=label))
        values, nulls = x.broadcast(bound, self.count)
        if bound.kind.name not in k.INTEGERS:
            raise NotColumnar("a total beside other values")
        totals = np.concatenate([[0], np.cumsum(self._summands(one))])
        of_row = Vector(k.BIGINT, totals[1:] - values, nulls)
        self.tests.append((number, SIGNS.index(sign)))
        self.values.append(self._pair(of_row, Vector(k.BIGINT, totals[:-1])))
        return True

    def _summands(self, typed: y.AggregateValue) -> Array:
        """Return what each row adds to a count, or to a sum of whole numbers."""
        name = typed.aggregate.name
        if name not in ("count", "sum") or len(typed.arguments) > 1 or (name == "sum" and not typed.arguments):
            raise NotColumnar("a condition with an aggregate")
        if not typed.arguments:
            return np.ones(self.count, np.int64)
        argument = vector(typed.arguments[0], self._of_own_row)
        values, nulls = x.broadcast(argument, self.count)
        if name == "count":
            return np.ones(self.count, np.int64) if nulls is None else (~nulls).astype(np.int64)
        if nulls is not None or argument.kind.name not in k.INTEGERS or float(np.abs(values).astype(np.float64).sum()) >= EXACT:
            raise NotColumnar("a sum of such values")
        return values

    def _of_own_row(self, typed: y.Typed) -> Vector:
        if not isinstance(typed, y.ColumnValue):
            raise NotColumnar(type(typed).__name__)
        return self.clause.sort_column(typed.index)

    def _pair(self, of_row: Vector, of_start: Vector) -> tuple[Array, Array]:
        """Return both sides of a comparison as doubles."""
        if (of_row.words is None) != (of_start.words is None):
            raise NotColumnar("texts beside other values")
        if of_row.words is not None:
            of_row, of_start = (attrs.evolve(side, values=places, words=None, kind=k.BIGINT) for side, places in zip(
                (of_row, of_start), x.among_words(of_row, of_start)))
        if "decimal" in (of_row.kind.name, of_start.kind.name):
            raise NotColumnar("decimals beside the first row of a match")
        return self._doubles(of_row, of_start), self._doubles(of_start, of_row)

    def _doubles(self, operand: Vector, other: Vector) -> Array:
        """Return a side of a comparison as doubles, nulls as NaN."""
        if (operand.kind.name in x.INSTANTS) != (other.kind.name in x.INSTANTS):
            raise NotColumnar("times beside other values")
        values, nulls = x.broadcast(operand, self.count)
        if values.dtype != np.float64 and values.size and float(np.max(np.abs(values))) >= EXACT:
            raise NotColumnar("numbers with more digits than a double has")
        doubles = values.astype(np.float64)
        if operand.values.dtype == np.float64 and np.isnan(doubles).any():
            raise NotColumnar("numbers of which one is none")
        if nulls is not None:
            doubles = np.where(nulls, np.nan, doubles)
        return doubles

    def _of_start(self, typed: y.Typed) -> Vector:
        assert isinstance(typed, y.Navigated) and typed.column is not None
        return self.clause.shift_column(typed.column, typed.navigation.shift)

    def _distance_from_start(self, condition: y.Apply, label: str) -> y.Apply:
        """Return ``row - start < constant`` as ``row < start + constant``, of values of which no digit is lost; any other as it is."""
        difference, bound = condition.arguments
        if not isinstance(difference, y.Apply) or difference.operation != "-" or _leaves(bound):
            return condition
        row, start = difference.arguments
        if {row.type.name, start.type.name, bound.type.name} <= set(k.INTEGERS):
            kind = k.BIGINT
        elif row.type.name == start.type.name == "timestamp" and bound.type.name == k.DAY_TIME.name:
            kind = row.type
        else:
            return condition
        if {self._distance(leaf, label) for leaf in _leaves(start)} != {AT_START}:
            return condition
        for each in (vector(row, partial(self._condition_column, label=label)), vector(start, self._of_start)):
            if each.values.size and float(np.max(np.abs(each.values))) >= EXACT:
                raise NotColumnar("a difference that may be out of range")
        return attrs.evolve(condition, arguments=(row, y.Apply(kind, operator.add, (start, bound), operation="+")))

    # which row is meant

    def _distance(self, typed: y.Typed, label: str) -> int | None:
        """Return how far a column's row is from the row that is tested, as a number of rows back plus 1 that is positive; AT_START for the
        first row of the match, None for a row that is not always the same."""
        if not isinstance(typed, y.Navigated) or typed.column is None:
            return None
        n = typed.navigation
        if n.labels is None or n.labels == {self.head}:
            is_first = n.first or (n.labels is not None and self.head_is_one_row and label != self.head)
            if is_first and not n.offset:
                return AT_START
        try:
            self._condition_column(typed, label=label)
        except NotColumnar:
            return None
        return 1

    def _condition_column(self, typed: y.Typed, *, label: str) -> Vector:
        """Return a column of the row that is tested, or of one at a distance that is always the same."""
        if not isinstance(typed, y.Navigated):
            raise NotColumnar("a condition that depends on the rows before")
        n = typed.navigation
        is_own = (n.labels is None or n.labels == {label}) and not n.first and not n.offset
        if typed.column is None:
            if is_own and not n.shift:
                return x.constant(typed.type, label)
            raise NotColumnar("a condition that depends on the variables before")
        if is_own:
            return self.clause.shift_column(typed.column, n.shift)
        if self.offsets is None:
            if n.labels is not None and not n.first and not n.offset and self.before.get(label) == n.labels and label not in n.labels:
                return self.clause.shift_column(typed.column, n.shift - 1)
            if n.labels is None and not n.first and n.offset == 1 and "" not in self.before[label]:
                return self.clause.shift_column(typed.column, n.shift - 1)
            raise NotColumnar("a condition that depends on the rows before")
        here = self.offsets[label]
        rows = sorted(self.offsets[each] for each in (n.labels or self.offsets) if self.offsets[each] <= here)
        place = n.offset if n.first else len(rows) - 1 - n.offset
        if not 0 <= place < len(rows):
            return x.constant(typed.type, None)
        return self.clause.shift_column(typed.column, rows[place] - here + n.shift)


def _conjuncts(condition: y.Typed | None) -> list[y.Typed]:
    if condition is None:
        return []
    if isinstance(condition, y.Junction) and condition.is_all:
        return [each for operand in condition.operands for each in _conjuncts(operand)]
    return [condition]


def _leaves(typed: y.Typed) -> list[y.Typed]:
    return [each for each in y.walk(typed) if isinstance(each, (y.Navigated, y.AggregateValue, y.MatchNumber, y.QueryValue))]


def _constant_offsets(pattern: t.SqlPattern) -> dict[str, int] | None:
    """Return the place of each variable in every match: of a pattern that is a sequence of different variables; None for others."""
    while isinstance(pattern, t.PatternGroup):
        pattern = pattern.pattern
    parts = pattern.parts if isinstance(pattern, t.Sequence) else (pattern,)
    names = [part.name.canonical for part in parts if isinstance(part, t.PatternVariable)]
    if len(names) != len(parts) or len(set(names)) != len(names):
        return None
    return {name: place for place, name in enumerate(names)}


def _head(pattern: t.SqlPattern) -> tuple[str | None, bool]:
    """Return the variable that the first row of every match is of, which stands nowhere else in the pattern, and whether no other row is of
    it; None where there is none."""
    names = [node.name.canonical for node in t.descendants(pattern) if isinstance(node, t.PatternVariable)]
    is_one_row = True
    while not isinstance(pattern, t.PatternVariable):
        match pattern:
            case t.PatternGroup():
                pattern = pattern.pattern
            case t.Sequence() if pattern.parts:
                pattern = pattern.parts[0]
            case t.QuantifiedPattern() if pattern.least:
                pattern, is_one_row = pattern.pattern, False
            case _:
                return None, False
    name = pattern.name.canonical
    return (name, is_one_row) if names.count(name) == 1 else (None, False)


def _before(program: PatternProgram) -> dict[str, frozenset[str]]:
    """Return for each variable the variables that the row directly before may be of; "" where it may be the first row of a match."""
    listed: dict[str, set[str]] = {label: set() for label in program.labels}
    for pc in [-1, *(pc for pc, operation in enumerate(program.operations) if operation == MATCH)]:
        label = "" if pc < 0 else program.labels[program.first[pc]]
        stack, seen = [pc + 1], {pc + 1}
        while stack:
            here = stack.pop()
            operation = program.operations[here]
            if operation == MATCH:
                listed[program.labels[program.first[here]]].add(label)
            elif operation != DONE:
                targets = [program.first[here]] if operation == JUMP else [here + 1]
                if operation == SPLIT:
                    targets = [program.first[here], program.second[here]]
                stack += [target for target in targets if target not in seen]
                seen.update(targets)
    return {label: frozenset(each) for label, each in listed.items()}


__all__ = ["ConditionColumns"]
