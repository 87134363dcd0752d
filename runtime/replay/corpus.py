"""Cases of SQL dialects: a text, its tables and what another system gave; ``actual`` is what is given here."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from epl.dialects import types as k
from epl.dialects import values as v
from epl.dialects.errors import DialectError, DialectUnsupported, QueryFailed, located
from epl.dialects.queries import compile_query
from epl.dialects.scopes import Column
from epl.dialects.types import SqlType
from epl.errors import EplError
from runtime.dialects.sql import Row, dialect_of, run_rows

TYPE = re.compile(r"\s*([\w ]+?)\s*(?:\((\d+)(?:,\s*(\d+))?\))?\s*(NOT NULL|\?)?\s*", re.IGNORECASE)
Table = tuple[tuple[Column, ...], Sequence[Row]]


def is_case(recorded: Mapping[str, Any]) -> bool:
    """Return whether a recorded object is a case of a dialect, not a trace."""
    return "dialect" in recorded and ("sql" in recorded or "pattern" in recorded)


def replay_case(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the case with ``actual``: columns and rows, or an error."""
    return {**case, "actual": _actual(case)}


def _actual(case: Mapping[str, Any]) -> dict[str, Any]:
    expect = case.get("expect", {})
    gives_rows = "error" not in expect and "ok" not in expect
    text = case.get("sql_over_table", case["sql"]) if gives_rows else case["sql"]
    dialect = case["dialect"] if case["dialect"] != "trino" else "sql"
    try:
        tables = {name: _table(table) for name, table in (case.get("tables") or {}).items()}
        if not tables and not gives_rows:
            return _compiled(text, dialect)
        columns, rows = run_rows(text, tables, dialect)
    except (DialectError, DialectUnsupported) as error:
        message = located(error, text) if dialect == "sql" else error.message
        return {"error": {"code": error.sql_code, "message": message}}
    except QueryFailed as error:
        return {"error": {"code": error.sql_code, "message": error.message}}
    except EplError as error:
        return {"error": {"code": error.code, "message": error.message}}
    names = [column.name if column.name is not None else f"_col{place}" for place, column in enumerate(columns)]
    return {"columns": names, "rows": [[plain(value) for value in row] for row in rows]}


def _compiled(text: str, dialect: str) -> dict[str, Any]:
    """A case that has no tables is compiled; tables that it names are taken as they are used."""
    plan = compile_query(text, dialect_of(dialect), {}, open_tables=True)
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
        return str(value)
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    return value


# tables


def _table(table: Mapping[str, Any]) -> Table:
    columns, kinds = _declared(table)
    rows = [tuple([_value(value, kind) for value, kind in zip(row, kinds)]) for row in table["rows"]]
    return tuple(Column(name, kind) for name, kind in zip(columns, kinds)), rows


def _declared(table: Mapping[str, Any]) -> tuple[list[str], list[SqlType]]:
    """Return names and types; without types, those that the values have."""
    names = [name.strip('"`') for name in table["columns"]]
    if table.get("types"):
        return names, [type_of(written) for written in table["types"]]
    return names, [_guessed([row[place] for row in table["rows"] if row[place] is not None]) for place in range(len(names))]


def type_of(written: str) -> SqlType:
    """Return the type that a case names."""
    matched = TYPE.fullmatch(written)
    if matched is None:
        return k.ANY
    numbers = tuple(int(number) for number in (matched[2], matched[3]) if number is not None)
    return k.of_name(matched[1], numbers) or k.ANY


def _guessed(values: Sequence[Any]) -> SqlType:
    if values and all(isinstance(value, bool) for value in values):
        return k.BOOLEAN
    if values and all(isinstance(value, int) for value in values):
        return k.INTEGER if all(abs(value) < 1 << 31 for value in values) else k.BIGINT
    if values and all(isinstance(value, (int, float)) for value in values):
        return k.DOUBLE
    return k.VARCHAR if values else k.ANY


def _value(value: Any, kind: SqlType) -> Any:
    if value is None:
        return None
    if kind.name in ("timestamp", "date", "decimal", "double", "real"):
        convert: Callable[[Any], Any] | None = v.cast(k.VARCHAR, kind)
        if kind.name == "timestamp" and isinstance(value, int):
            return v.EPOCH + datetime.timedelta(milliseconds=value)
        return value if convert is None else convert(value)
    return value


__all__ = ["is_case", "plain", "replay_case", "type_of"]
