"""Measures that have no operation over whole columns, by the functions of a row at a time: over the rows of matches alone."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import pyarrow as pa

from epl.dialects import typed as y
from epl.errors import EplError
from runtime.batch.dialects import vectors as x
from runtime.batch.dialects.clause_rows import ClauseRows
from runtime.batch.dialects.matching import TableMatches
from runtime.batch.dialects.vectors import NotColumnar
from runtime.dialects.frames import FrameCompiler
from runtime.dialects.recognition import RowWriter
from runtime.dialects.row_limit import RowLimit, array_places
from runtime.dialects.tables import read_rows, write_table

Row = tuple[Any, ...]


def measured_rows(clause: ClauseRows, matches: TableMatches, numbers: Sequence[int]) -> list[Any]:
    """Return the measures of these numbers as Arrow columns. Raise NotColumnar for one that fails, or that runs a query."""
    measures = tuple(clause.plan.measures[number] for number in numbers)
    if any(isinstance(node, (y.QueryValue, y.Outer)) for measure in measures for node in y.walk(measure)):
        raise NotColumnar("a query in a measure")
    plan = attrs.evolve(clause.plan, measures=measures, partition=(), order=(), shows_order=False, shown=())
    limit = RowLimit(clause.limits)
    limit.read(clause.table.num_rows)
    output: list[Row] = []
    try:
        writer = RowWriter(plan, clause.program, FrameCompiler(None, clause.labels))  # type: ignore[arg-type]  # it runs no query
        limit.extend(output, _rows(clause, matches, writer), array_places(plan, 0))
        first = len(clause.plan.columns) - len(clause.plan.shown) - len(clause.plan.measures)
        return write_table([clause.plan.columns[first + number] for number in numbers], output).columns
    except (ArithmeticError, ValueError, TypeError, LookupError, EplError) as error:
        raise NotColumnar("a measure that fails") from error


def _rows(clause: ClauseRows, matches: TableMatches, writer: RowWriter) -> Iterator[Row]:
    """Yield the rows of all matches."""
    bounds, rows = clause.layout.bounds.tolist(), read_rows(_read(clause, writer.plan.measures).take(x.places(clause.layout.order)))
    starts, ends, steps = matches.starts.tolist(), matches.offsets.tolist(), matches.steps.tolist()
    partition, here = -1, rows
    for match, number in enumerate(matches.numbers.tolist()):
        if matches.partitions[match] != partition:
            partition = int(matches.partitions[match])
            here = rows[bounds[partition] : bounds[partition + 1]]
        taken = steps[ends[match] : ends[match + 1]]
        frame = writer.frame(here, starts[match] - bounds[partition], number, taken)
        if taken:
            yield from writer.match_rows(frame, taken)
        else:
            yield writer.empty(frame)


def _read(clause: ClauseRows, measures: Sequence[y.Typed]) -> pa.Table:
    """Return the table with nulls in columns that the measures do not read."""
    nodes = [node for measure in measures for node in y.walk(measure)]
    read = {node.column for node in nodes if isinstance(node, (y.Navigated, y.MatchTime))} | {
        node.index for node in nodes if isinstance(node, y.ColumnValue)
    }
    columns = [column if place in read else pa.nulls(len(column)) for place, column in enumerate(clause.table.columns)]
    return pa.Table.from_arrays(columns, names=[str(place) for place in range(len(columns))])


__all__ = ["measured_rows"]
