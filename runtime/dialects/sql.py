"""A query in a dialect over tables: text → rows."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs

from epl.dialects.columns_read import columns_read
from epl.dialects.errors import QueryFailed, query_failure
from epl.dialects.plans import Plan
from epl.dialects.queries import compile_query
from epl.dialects.scopes import SqlColumn
from epl.dialects.syntax.lexis import DIALECTS, Dialect
from epl.errors import EplError
from epl.texts import hinting_at_files
from runtime.dialects.execution import ByColumns, Execution
from runtime.dialects.limits import USUAL, QueryLimits
from runtime.dialects.matcher import MOST_VISITS

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[Any, ...]


def find_dialect(name: str) -> Dialect:
    """Return the dialect of a name; raises where there is none."""
    known = DIALECTS.get(name)
    if known is None:
        raise QueryFailed("UNKNOWN_DIALECT", f"there is no dialect '{name}'; there are {', '.join(DIALECTS)}")
    return known


def run_rows(
    text: str, tables: Mapping[str, tuple[tuple[SqlColumn, ...], Sequence[Row]]], dialect: str = "sql", *, most_visits: int = MOST_VISITS,
    streaming: bool = False,
) -> tuple[tuple[SqlColumn, ...], Sequence[Row]]:
    """Return columns and rows of a query over tables: name → columns, rows. ``streaming``: refuse what the system refuses over streams."""
    rules = attrs.evolve(find_dialect(dialect), streaming=streaming)
    plan = compile_query(text, rules, {name: columns for name, (columns, _) in tables.items()})
    execution = Execution(
        {name: rows for name, (_, rows) in tables.items()}, sizes={name: len(rows) for name, (_, rows) in tables.items()},
        most_visits=most_visits)
    with _failing(text):
        return plan.columns, execution.rows(plan)


@contextmanager
def _failing(text: str) -> Iterator[None]:
    """Raise what fails in an expression as an error of the query, with its position in the text."""
    try:
        yield
    except QueryFailed as error:
        raise error.within(text)  # noqa: B904 - the same error
    except (ArithmeticError, ValueError, TypeError) as error:
        raise query_failure(error) from error
    except MemoryError:
        raise QueryFailed("EXCEEDED_LOCAL_MEMORY_LIMIT", "the query needs more memory than there is") from None
    except RecursionError:
        raise QueryFailed("STACK_OVERFLOW", "statement is too large: its expressions are nested too deeply") from None


def run_query(
    text: str, tables: Mapping[str, Any], dialect: str = "sql", *, most_visits: int = MOST_VISITS,
    by_columns: Callable[[Mapping[str, pa.Table]], ByColumns] | None = None, limits: QueryLimits = USUAL,
) -> pa.Table:
    """Return the result of a query as an Arrow table. ``tables``: Arrow tables, pandas or Polars frames; ``most_visits``: states that one
    attempt at a match may visit, before the pattern is refused as ambiguous; ``by_columns``: runs what it can over whole columns."""
    from runtime.dialects import tables as t

    frames = t.arrow_tables(tables)
    with t.index_hints(tables):
        plan = plan_query(text, frames, dialect)
    return run_plan(plan, frames, text=text, most_visits=most_visits, by_columns=by_columns, limits=limits)


def plan_query(text: str, tables: Mapping[str, pa.Table], dialect: str = "sql") -> Plan:
    """Return the plan of a query over tables, of which the types of the columns matter alone."""
    from runtime.dialects import tables as t

    try:
        with hinting_at_files(text):
            return compile_query(text, find_dialect(dialect), {name: t.table_columns(table) for name, table in tables.items()})
    except EplError:
        t.check_named(text, tables)  # what is wrong may be but a type that SQL has not
        raise


def run_plan(
    plan: Plan, frames: Mapping[str, pa.Table], *, text: str, most_visits: int = MOST_VISITS,
    by_columns: Callable[[Mapping[str, pa.Table]], ByColumns] | None = None, limits: QueryLimits = USUAL,
) -> pa.Table:
    """Return the result of a plan over Arrow tables; ``text``: the query that it is of."""
    import pyarrow as pa

    from runtime.dialects import tables as t

    frames = t.only_read(frames, columns_read(plan))
    columns = None if by_columns is None else by_columns(frames)
    with _failing(text), t.naming_unreadable(frames):
        table = None if columns is None else columns.table(plan, limits)
        if isinstance(table, pa.Table):
            return table
        sizes = {name: table.num_rows for name, table in frames.items()}
        execution = Execution(t.RowsOfTables(frames), sizes=sizes, most_visits=most_visits, by_columns=columns, limits=limits)
        return t.write_table(plan.columns, execution.rows(plan))


__all__ = ["find_dialect", "plan_query", "run_plan", "run_query", "run_rows"]
