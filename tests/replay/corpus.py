"""Cases of SQL dialects: a text, its tables and what another system gave; ``actual`` is what is given here."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from epl.dialects import types as k
from epl.dialects import values as v
from epl.dialects.errors import DialectError, DialectUnsupported, QueryFailed, locate_message
from epl.dialects.queries import compile_query
from epl.errors import EplError
from runtime.dialects.sql import find_dialect, run_rows
from tests.replay.corpus_letters import replay_letters
from tests.replay.corpus_tables import TableBuilder


def is_case(recorded: Mapping[str, Any]) -> bool:
    """Return whether a recorded object is a case of a dialect, not a trace."""
    return "dialect" in recorded and ("sql" in recorded or "pattern" in recorded)


def replay_case(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the case with ``actual``: columns and rows, or an error."""
    return {**case, "actual": replay_letters(case) if "pattern" in case else _actual(case)}


def _actual(case: Mapping[str, Any]) -> dict[str, Any]:
    expect = case.get("expect", {})
    gives_rows = "error" not in expect and "ok" not in expect
    text = case.get("sql_over_table", case["sql"]) if gives_rows else case["sql"]
    dialect = case["dialect"] if case["dialect"] != "trino" else "sql"
    streams = case.get("mode", "batch") != "batch"
    try:
        tables = {
            name: TableBuilder(table, case.get("watermarks"), streams=streams).build() for name, table in (case.get("tables") or {}).items()
        }
        if not tables and not gives_rows:
            return _compiled(text, dialect)
        columns, rows = run_rows(text, tables, dialect, streaming=streams)
    except (DialectError, DialectUnsupported) as error:
        message = locate_message(error, text) if dialect == "sql" else error.message
        return {"error": {"code": error.sql_code, "message": message}}
    except QueryFailed as error:
        return {"error": {"code": error.sql_code, "message": error.message}}
    except EplError as error:
        return {"error": {"code": error.code, "message": error.message}}
    names = [column.name if column.name is not None else f"_col{place}" for place, column in enumerate(columns)]
    actual = {"columns": names, "rows": [[plain(value) for value in row] for row in rows]}
    if "rows_text" in expect:
        actual["rows_text"] = [",".join(as_java(value) for value in row) for row in rows]
    return actual


def _compiled(text: str, dialect: str) -> dict[str, Any]:
    """Compile a case that has no tables; tables that it names are taken as they are used."""
    plan = compile_query(text, find_dialect(dialect), {}, open_tables=True)
    return {"ok": True, "columns": [column.name for column in plan.columns], "rows": []}


def plain(value: Any) -> Any:
    """Return a value as JSON has it: times as text at milliseconds, decimals as numbers."""
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S") + f".{value.microsecond // 1000:03d}"
    if isinstance(value, (datetime.date, datetime.timedelta)):
        return str(value)
    if isinstance(value, Decimal):
        return float(value) if value != value.to_integral_value() else int(value)
    if isinstance(value, float) and not math.isfinite(value):
        return v.scientific(value)
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    return value


def as_java(value: Any) -> str:
    """Return a value as Java prints it, which is how some recorded rows are written: ``2020-01-01T10:00``, ``null``."""
    if value is None:
        return "null"
    if isinstance(value, datetime.datetime):
        shown = "minutes" if not value.second and not value.microsecond else "seconds" if not value.microsecond else "milliseconds"
        return value.isoformat(timespec=shown)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return v.varchar_text(value, k.DOUBLE)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(as_java(each) for each in value)}]"
    return str(value)


__all__ = ["as_java", "is_case", "plain", "replay_case"]
