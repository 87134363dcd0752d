"""Rows of a match as expressions see them: the partition, the row at hand, and what the match has of each variable so far.

What an expression needs of the rows before is kept as plain tuples (``marks``: positions by variable; ``totals``: aggregates), which are
extended row by row. So a matcher can go back to any earlier row, and two ways through a pattern with equal tuples go on alike.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from epl.dialects import typed as y
from runtime.dialects.expressions import ExpressionCompiler, Function, Queries

Marks = tuple[Any, ...]


class Frame:
    """``rows``: of the partition; ``row``: the one at hand; ``start``: the match's first; ``labels``: the variables of its rows, in order;
    ``number``: of the match. ``final_*``: of the whole match."""

    __slots__ = ("end", "final_marks", "final_totals", "label", "labels", "marks", "number", "row", "rows", "start", "totals")

    def __init__(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self.rows = rows
        self.row = self.start = self.end = 0
        self.labels: list[str] = []
        self.label: str | None = None
        self.marks: Marks = ()
        self.totals: Marks = ()
        self.final_marks: Marks = ()
        self.final_totals: Marks = ()
        self.number = 0


class _RowCompiler(ExpressionCompiler):
    """Arguments of aggregates: over the row that is added."""

    def field(self, typed: y.ColumnValue) -> Function:
        return _at_hand(typed.index)

    def leaf(self, typed: y.Typed) -> Function:
        if isinstance(typed, y.RowLabel):
            return lambda frame: frame.label
        if isinstance(typed, y.MatchNumber):
            return lambda frame: frame.number
        return super().leaf(typed)


class FrameCompiler(ExpressionCompiler):
    """Compiles the conditions, or the measures, of one clause; all before the first row is added."""

    def __init__(self, queries: Queries, labels: Sequence[str], *, contiguous: bool = True) -> None:
        """``contiguous``: the rows of a match follow one another without a gap."""
        super().__init__(queries)
        self.variables = tuple(labels)
        self.contiguous = contiguous
        self.slots: list[tuple[frozenset[str] | None, bool, bool]] = []
        self.kept: list[int] = []
        self.aggregates: list[y.AggregateValue] = []
        self._arguments: list[list[Function]] = []
        self.looks_around = False
        """A variable of a row next to another is needed: the whole way matters."""
        self.looks_back = False
        """Something depends on more than the row that is tested."""
        self._rows = _RowCompiler(queries)
        self._tested: str | None = None
        """The variable whose condition is compiled, where what it says of the row that is tested needs no marks."""

    def compile_condition(self, label: str, typed: y.Typed) -> Function:
        """Return the function of a variable's condition, which reads the row that is tested where it can: the last row of the variable."""
        self._tested = label
        try:
            return self.compile_expression(typed)
        finally:
            self._tested = None

    def leaf(self, typed: y.Typed) -> Function:
        """Return the function of a leaf that is of matches alone."""
        if isinstance(typed, y.MatchNumber):
            self.looks_back = True
            return lambda frame: frame.number
        if isinstance(typed, y.AggregateValue):
            return self._aggregate(typed)
        if isinstance(typed, y.MatchTime):
            column = typed.column
            return lambda frame: frame.rows[frame.end][column] if frame.end >= frame.start else None
        assert isinstance(typed, y.Navigated)
        if self._tested is not None and typed.column is not None and _is_at_hand(typed, self._tested):
            return _at_hand(typed.column)
        position = self._position(typed.navigation, typed.column is None)
        return _column(position, typed.column) if typed.column is not None else _label(position)

    # positions

    def _position(self, navigation: y.Navigation, of_label: bool) -> Callable[[Any], int]:
        """Return the function that gives a row of the partition; -1 where there is none."""
        n = navigation
        if of_label and n.shift:
            self.looks_around = True
        if n.labels is None and self.contiguous:
            if n.first or n.offset or of_label:
                self.looks_back = True
            if of_label:
                self._slot(n, keeps_labels=True)
            return _of_match(n)
        self.looks_back = True
        return _of_slot(self._slot(n, keeps_labels=of_label), n, of_label)

    def _slot(self, n: y.Navigation, *, keeps_labels: bool) -> int:
        key = (n.labels, n.first, keeps_labels)
        if key not in self.slots:
            self.slots.append(key)
            self.kept.append(0)
        slot = self.slots.index(key)
        self.kept[slot] = max(self.kept[slot], n.offset + 1)
        return slot

    def _aggregate(self, typed: y.AggregateValue) -> Function:
        self.looks_back = True
        place = len(self.aggregates)
        self.aggregates.append(typed)
        self._arguments.append([self._rows.compile_expression(each) for each in typed.arguments])
        result = typed.aggregate.result
        if typed.final:
            return lambda frame: result(frame.final_totals[place])
        return lambda frame: result(frame.totals[place])

    # extending

    def start_marks(self) -> Marks:
        """Return the marks of no rows."""
        return tuple(() for _ in self.slots)

    def start_totals(self) -> Marks:
        """Return the totals of no rows."""
        return tuple(each.aggregate.start for each in self.aggregates)

    def extender(self) -> Callable[[Frame, str, Marks], Marks] | None:
        """Return the function that adds the frame's row with a label to the marks; None where there are none."""
        if not self.slots:
            return None
        slots = list(enumerate(zip(self.slots, self.kept)))
        of_all = [(place, first, keeps, kept) for place, ((labels, first, keeps), kept) in slots if labels is None]
        by_label = {
            label: [(place, first, keeps, kept) for place, ((labels, first, keeps), kept) in slots if labels is None or label in labels]
            for label in self.variables
        }

        def extend(frame: Frame, label: str, marks: Marks) -> Marks:
            touched = by_label.get(label, of_all)
            if not touched:
                return marks
            extended = list(marks)
            for place, first, keeps_labels, kept in touched:
                before = marks[place]
                entry = (frame.row, label) if keeps_labels else frame.row
                if not first:
                    extended[place] = (entry, *before)[:kept]
                elif len(before) < kept:
                    extended[place] = (*before, entry)
            return tuple(extended)

        return extend

    def adder(self) -> Callable[[Frame, str, Marks], Marks] | None:
        """Return the function that adds the frame's row with a label to the totals; None where there are none."""
        if not self.aggregates:
            return None
        listed = [(each.labels, each.aggregate, arguments) for each, arguments in zip(self.aggregates, self._arguments)]

        def add(frame: Frame, label: str, totals: Marks) -> Marks:
            frame.label = label
            added = list(totals)
            for place, (labels, aggregate, arguments) in enumerate(listed):
                if labels is not None and label not in labels:
                    continue
                values = tuple([argument(frame) for argument in arguments])
                if aggregate.counts_null or None not in values:
                    added[place] = aggregate.add(totals[place], values)
            return tuple(added)

        return add


def _is_at_hand(typed: y.Navigated, label: str) -> bool:
    """Return whether what the condition of a variable reads is in the row that is tested: it is the last one of the variable."""
    n = typed.navigation
    return typed.column is not None and not (n.first or n.offset or n.final or n.shift) and (n.labels is None or label in n.labels)


def is_of_row(condition: y.Typed, label: str) -> bool:
    """Return whether the condition of a variable depends on the row that is tested alone, not on the match before it."""
    of_match = (y.MatchNumber, y.MatchTime, y.RowLabel, y.AggregateValue, y.QueryValue)
    return all(
        _is_at_hand(each, label) if isinstance(each, y.Navigated) else not isinstance(each, of_match) for each in y.walk(condition)
    )


def _at_hand(column: int) -> Function:
    return lambda frame: frame.rows[frame.row][column]


def _of_match(n: y.Navigation) -> Callable[[Any], int]:
    """Return a row counted from the first or the last one of the match."""
    first, offset, shift, final = n.first, n.offset, n.shift, n.final

    def position(frame: Frame) -> int:
        last = frame.end if final else frame.row
        place = frame.start + offset if first else last - offset
        if not frame.start <= place <= last:
            return -1
        place += shift
        return place if 0 <= place < len(frame.rows) else -1

    return position


def _of_slot(slot: int, n: y.Navigation, of_label: bool) -> Callable[[Any], int]:
    offset, shift, final = n.offset, n.shift, n.final

    def position(frame: Frame) -> int:
        marks = frame.final_marks[slot] if final else frame.marks[slot]
        if offset >= len(marks):
            return -1
        place = (marks[offset][0] if of_label else marks[offset]) + shift
        return place if 0 <= place < len(frame.rows) else -1

    return position


def _column(position: Callable[[Any], int], column: int) -> Function:
    def read(frame: Frame) -> Any:
        place = position(frame)
        return None if place < 0 else frame.rows[place][column]

    return read


def _label(position: Callable[[Any], int]) -> Function:
    """Return the variable of a row; null outside of the match."""

    def read(frame: Frame) -> str | None:
        place = position(frame) - frame.start
        return frame.labels[place] if 0 <= place < len(frame.labels) else None

    return read


__all__ = ["Frame", "FrameCompiler", "Marks", "is_of_row"]
