"""A query in a dialect over tables: text → rows."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from epl.dialects.errors import QueryFailed
from epl.dialects.queries import compile_query
from epl.dialects.scopes import Column
from epl.dialects.syntax.lexis import DIALECTS, Dialect
from runtime.dialects.execution import Execution
from runtime.dialects.matcher import MOST_VISITS

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[Any, ...]


def dialect_of(name: str) -> Dialect:
    """Return the dialect of a name; raises where there is none."""
    known = DIALECTS.get(name)
    if known is None:
        raise QueryFailed("UNKNOWN_DIALECT", f"there is no dialect '{name}'; there are {', '.join(DIALECTS)}")
    return known


def run_rows(
    text: str, tables: Mapping[str, tuple[tuple[Column, ...], Sequence[Row]]], dialect: str = "sql", *, most_visits: int = MOST_VISITS,
    streaming: bool = False,
) -> tuple[tuple[Column, ...], Sequence[Row]]:
    """Return columns and rows of a query over tables: name → columns, rows. ``streaming``: refuse what the system refuses over streams."""
    rules = attrs.evolve(dialect_of(dialect), streaming=streaming)
    plan = compile_query(text, rules, {name: columns for name, (columns, _) in tables.items()})
    execution = Execution({name: rows for name, (_, rows) in tables.items()}, most_visits=most_visits)
    try:
        return plan.columns, execution.rows(plan)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise QueryFailed("INVALID_FUNCTION_ARGUMENT", f"an expression failed: {error}") from error
    except RecursionError:
        raise QueryFailed("STACK_OVERFLOW", "statement is too large: its expressions are nested too deeply") from None


def run_query(text: str, tables: Mapping[str, Any], dialect: str = "sql", *, most_visits: int = MOST_VISITS) -> pa.Table:
    """Return the result of a query as an Arrow table. ``tables``: Arrow tables, pandas or Polars frames; ``most_visits``: states that one
    attempt at a match may visit, before the pattern is refused as ambiguous."""
    from runtime.dialects import tables as t

    frames = {name: t.arrow_table(frame) for name, frame in tables.items()}
    columns, rows = run_rows(
        text, {name: (t.columns_of(table), t.rows_of(table)) for name, table in frames.items()}, dialect, most_visits=most_visits
    )
    return t.table_of(columns, rows)


__all__ = ["dialect_of", "run_query", "run_rows"]
