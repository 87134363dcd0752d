"""The tables of recorded cases: declared columns, computed columns, watermarks."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from epl.dialects import types as k
from epl.dialects import values as v
from epl.dialects.expression_types import Typing
from epl.dialects.scopes import SqlColumn, SqlScope
from epl.dialects.syntax.lexis import FLINK
from epl.dialects.syntax.read_queries import QueryReader
from epl.dialects.syntax.reader import Reader
from epl.dialects.types import SqlType
from runtime.dialects.execution import Execution
from runtime.dialects.sql import Row

TYPE = re.compile(r"\s*([\w ]+?)\s*(?:\((\d+)(?:,\s*(\d+))?\))?\s*(NOT NULL|\?)?\s*", re.IGNORECASE)
COMPUTED = re.compile(r"\s*[`\"]?([^`\"\s]+)[`\"]?\s+as\s+(.*)", re.IGNORECASE | re.DOTALL)
WATERMARK = re.compile(r"\s*WATERMARK\s+FOR\s+[`\"]?([^`\"\s]+)[`\"]?\s+AS\s+(.*)", re.IGNORECASE | re.DOTALL)
DECLARED = re.compile(r"\s*[`\"]?([^`\"\s]+)[`\"]?\s+(.*)", re.DOTALL)
ARRIVAL = datetime.datetime(2000, 1, 1)
"""The processing time of the first row; each further row comes a millisecond later."""
Table = tuple[tuple[SqlColumn, ...], Sequence[Row]]


class TableBuilder:
    """Builds one table; ``streams``: rows that come after the watermark are dropped."""

    def __init__(self, table: Mapping[str, Any], watermarks: Sequence[int | None] | None, *, streams: bool) -> None:
        self.table = table
        self.streams = streams
        self.watermarks = watermarks
        self.columns: list[SqlColumn] = []
        self.rows: list[list[Any]] = [list(row) for row in table["rows"]]
        self.late: list[tuple[str, str]] = []

    def build(self) -> Table:
        """Return columns and rows."""
        if "schema" in self.table:
            self._schema(self.table["schema"])
        else:
            self._declared()
        for name, text in self.table.get("computed") or ():
            self._compute(name, text)
        self.late += [(name, text) for name, text in self.table.get("watermark") or ()]
        for name, _ in self.late:
            self._mark(name)
        if self.streams:
            self._drop_late()
        return tuple(self.columns), [tuple(row) for row in self.rows]

    # columns

    def _schema(self, lines: Sequence[str]) -> None:
        kinds: list[tuple[str, SqlType]] = []
        later: list[tuple[str, str]] = []
        for line in lines:
            watermark, computed = WATERMARK.fullmatch(line), COMPUTED.fullmatch(line)
            if watermark is not None:
                self.late.append((watermark[1], watermark[2]))
            elif computed is not None:
                later.append((computed[1], computed[2]))
            else:
                declared = DECLARED.fullmatch(line)
                assert declared is not None
                kinds.append((declared[1], type_of(declared[2])))
        for place, (name, kind) in enumerate(kinds):
            self._column(name, kind, place)
        for name, text in later:
            self._compute(name, text)

    def _declared(self) -> None:
        types = self.table.get("types")
        place = 0
        for index, written in enumerate(self.table["columns"]):
            name, _, mark = written.strip('"`').partition(".")
            if mark == "proctime" or (types and types[index].lower() == "proctime"):
                self._arrival(name)
                continue
            kind = k.TIMESTAMP if mark == "rowtime" else type_of(types[index]) if types else self._guessed(place)
            self._column(name, kind, place, is_time=mark == "rowtime")
            place += 1

    def _guessed(self, place: int) -> SqlType:
        values = [row[place] for row in self.rows if row[place] is not None]
        if values and all(isinstance(value, bool) for value in values):
            return k.BOOLEAN
        if values and all(isinstance(value, int) for value in values):
            return k.INTEGER if all(abs(value) < 1 << 31 for value in values) else k.BIGINT
        if values and all(isinstance(value, (int, float)) for value in values):
            return k.DOUBLE
        return k.VARCHAR if values else k.ANY

    def _column(self, name: str, kind: SqlType, place: int, *, is_time: bool = False) -> None:
        self.columns.append(SqlColumn(name, kind, None, is_time))
        for row in self.rows:
            row[place] = _value(row[place], kind)

    def _arrival(self, name: str) -> None:
        self.columns.append(SqlColumn(name, k.TIMESTAMP, None, is_time=True))
        for place, row in enumerate(self.rows):
            row.insert(len(self.columns) - 1, ARRIVAL + datetime.timedelta(milliseconds=place))

    def _compute(self, name: str, text: str) -> None:
        if text.strip().upper() == "PROCTIME()":
            self._arrival(name)
            return
        kind, function = self._function(text)
        values = [function(tuple(row)) for row in self.rows]
        self.columns.append(SqlColumn(name, kind))
        for row, value in zip(self.rows, values):
            row.append(value)

    def _function(self, text: str) -> tuple[SqlType, Callable[[Any], Any]]:
        node = QueryReader(Reader(text, FLINK)).expression()
        typed = Typing(SqlScope(tuple(self.columns), FLINK), _no_query).typed(node)
        return typed.type, Execution({}).compiler.compile_expression(typed)

    def _mark(self, name: str) -> None:
        for place, column in enumerate(self.columns):
            if column.name == name:
                self.columns[place] = SqlColumn(name, column.type, None, is_time=True)

    # watermarks

    def _drop_late(self) -> None:
        """Drop the rows that are not later than the watermark when they come. A watermark follows every row, or stands in the list."""
        if self.watermarks is not None:
            self._drop_by(next(place for place, column in enumerate(self.columns) if column.is_time))
            return
        for name, text in self.late:
            place = next(place for place, column in enumerate(self.columns) if column.name == name)
            _, function = self._function(text)
            kept, watermark = [], None
            for row in self.rows:
                if watermark is None or row[place] is None or row[place] > watermark:
                    kept.append(row)
                reached = function(tuple(row))
                watermark = reached if watermark is None or (reached is not None and reached > watermark) else watermark
            self.rows = kept

    def _drop_by(self, place: int) -> None:
        rows, kept, watermark = iter(self.rows), [], None
        for mark in self.watermarks or ():
            if mark is not None:
                watermark = v.EPOCH + datetime.timedelta(milliseconds=mark)
                continue
            row = next(rows, None)
            if row is not None and (watermark is None or row[place] > watermark):
                kept.append(row)
        self.rows = [*kept, *rows]


def _no_query(query: Any, boundary: Any) -> Any:
    raise TypeError("a computed column has no query")


def type_of(written: str) -> SqlType:
    """Return the type that a case names."""
    matched = TYPE.fullmatch(written)
    if matched is None:
        return k.ANY
    numbers = tuple(int(number) for number in (matched[2], matched[3]) if number is not None)
    return k.of_name(matched[1], numbers) or k.ANY


def _value(value: Any, kind: SqlType) -> Any:
    if value is None:
        return None
    if kind.name == "timestamp" and isinstance(value, int):
        return v.EPOCH + datetime.timedelta(milliseconds=value)
    if kind.name in ("timestamp", "date", "decimal", "double", "real"):
        convert = v.cast(k.VARCHAR, kind)
        return value if convert is None else convert(value)
    return value


__all__ = ["Table", "TableBuilder", "type_of"]
