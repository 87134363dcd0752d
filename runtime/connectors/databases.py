"""Databases as sinks, through any DB-API connection (PEP 249)."""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from runtime.arguments import check_arguments
from runtime.connectors.output import OutputRow, check_stream
from runtime.historical.database import PARAMSTYLES, bind_query, parameter_style

PLACE = re.compile(r"\$\{\s*([^{}]+?)\s*\}")
MARKERS = "epl_checkpoints"
"""The table of the last checkpoints, by sink."""


class DatabaseSink:
    """Executes a statement of the database for each row, those of one delivery in one transaction. Values are bound by the driver; none
    becomes a part of a statement's text.

    With a state, the number of the checkpoint is kept in the table ``epl_checkpoints`` by the same transaction (it is made where it is not
    there): each row is written **exactly once**. Without, at least once, which statements that write a row by its key do not show.

    Args:
        connect: Opens a connection, such as ``lambda: sqlite3.connect("alerts.db")``. It must not commit each statement by itself.
        insert: A statement with ``${column}`` for values of the row: ``"insert into alerts values (${symbol}, ${n})"``.
        table: In place of ``insert``: a table with all columns of the rows.
        key: With ``table``: the columns that identify a row, which is updated where it is there.
        update: Executed first; ``insert`` follows where it has changed no row: an upsert by key that every database knows.
        paramstyle: How the driver writes parameters, where its module does not say it.
        stream: Which rows: ``"new"``, ``"old"`` or ``"both"``.
        name: Names the sink in checkpoints and errors.

    Raises:
        ValueError: A statement has no text or an unknown paramstyle.
        EplRuntimeError: From a pipeline: a statement names a column that the rows do not have, or the database refuses it.

    Examples:
        >>> import sqlite3
        >>> from runtime import Runtime
        >>> from runtime.connectors import DatabaseSink, Pipeline, RowSource
        >>> database = sqlite3.connect(":memory:")
        >>> _ = database.execute("create table totals(k text primary key, total int)")
        >>> sink = DatabaseSink(
        ...     lambda: database, "insert into totals values (${k}, ${total})", update="update totals set total = ${total} where k = ${k}",
        ...     close=False)
        >>> runtime = Runtime()
        >>> deployment = runtime.deploy("create schema A(k string, x int); @name('s') select k, sum(x) as total from A group by k")
        >>> rows = [{"k": "a", "x": 1}, {"k": "b", "x": 5}, {"k": "a", "x": 2}]
        >>> Pipeline(runtime, [RowSource(rows)], {"s": sink}).run()
        >>> database.execute("select * from totals order by k").fetchall()
        [('a', 3), ('b', 5)]
    """

    @check_arguments
    def __init__(
        self, connect: Callable[[], Any], insert: str | None = None, *, table: str | None = None, key: str | Sequence[str] = (),
        update: str | None = None, paramstyle: str | None = None, stream: str = "new", name: str = "database",
        close: bool = True,
    ) -> None:
        if paramstyle is not None and paramstyle not in PARAMSTYLES:
            raise ValueError(f"paramstyle is one of {', '.join(PARAMSTYLES)}, not {paramstyle!r}")
        self.name, self.stream = name, check_stream(stream)
        self._connect, self._paramstyle, self._closes = connect, paramstyle, close
        if (insert is None) is (table is None) or (key and table is None):
            raise ValueError("insert, or table with a key perhaps, is expected")
        self._table, self._key = table, [key] if isinstance(key, str) else list(key)
        self._insert: tuple[tuple[str, ...], list[str]] = ((), []) if insert is None else _split(insert)
        self._update = None if update is None else _split(update)
        self._connection: Any = None
        self._state: str | None = None
        self._style = "qmark"
        self.holds: str | None = None
        """See Sink."""

    def open(self, event_type: EventType, state: str | None) -> int | None:
        """See Sink."""
        if self._table is not None:
            self._write_statements(self._table, list(event_type.properties))
        for _, names in filter(None, (self._insert, self._update)):
            for name in names:
                if event_type.property(name) is None:
                    raise EplRuntimeError(f"${{{name}}}: there is no such column", hint=f"there are {', '.join(event_type.properties)}")
        self._connection, self._state = self._connect(), state
        style = self._paramstyle or parameter_style(self._connection)
        if style is None:
            raise EplRuntimeError(
                f"the paramstyle of {type(self._connection).__module__} is not known", hint="DatabaseSink(…, paramstyle='qmark')"
            )
        self._style = style
        return None if state is None else self._last_delivery()

    def _write_statements(self, table: str, columns: list[str]) -> None:
        missing = [name for name in self._key if name not in columns]
        if missing:
            raise EplRuntimeError(f"key: there is no column '{missing[0]}'", hint=f"there are {', '.join(columns)}")
        into = ".".join(_quote(part) for part in table.split("."))
        names = ", ".join(map(_quote, columns))
        self._insert = (f"insert into {into} ({names}) values (", *[", "] * (len(columns) - 1), ")"), columns
        changed = [name for name in columns if name not in self._key]
        if self._key:
            sets = [f"{_quote(name)} = " for name in changed or self._key]
            tests = [f"{_quote(name)} = " for name in self._key]
            begin = [f"update {into} set {sets[0]}", *[f", {each}" for each in sets[1:]], f" where {tests[0]}"]
            self._update = (*begin, *[f" and {each}" for each in tests[1:]], ""), [*(changed or self._key), *self._key]

    def _last_delivery(self) -> int | None:
        self._begin()
        cursor = self._connection.cursor()
        columns = "sink varchar(200) primary key, state varchar(64) not null, checkpoint bigint not null"
        cursor.execute(f"create table if not exists {MARKERS}({columns})")
        self._execute(cursor, (f"select state, checkpoint from {MARKERS} where sink = ", ""), [self.name])
        row = cursor.fetchone()
        cursor.close()
        self._connection.commit()
        self.holds = None if row is None or row[0] == self._state else str(row[0])
        return int(row[1]) if row is not None and self.holds is None else None

    def deliver(self, rows: Sequence[OutputRow], checkpoint: int | None) -> None:
        """See Sink."""
        self._begin()
        try:
            cursor = self._connection.cursor()
            if self._update is None:
                self._insert_all(cursor, rows)
            else:
                for row in rows:
                    self._upsert(cursor, row, self._update)
            if checkpoint is not None:
                self._mark(cursor, checkpoint)
            cursor.close()
            self._connection.commit()
        except Exception:
            self._connection.rollback()
            raise

    def _begin(self) -> None:
        """Begin a transaction where the driver does not do it by itself (DuckDB)."""
        if hasattr(self._connection, "begin"):
            self._connection.begin()

    def _insert_all(self, cursor: Any, rows: Sequence[OutputRow]) -> None:
        parts, names = self._insert
        if not names:
            for _ in rows:
                cursor.execute(parts[0])
            return
        calls = [bind_query(parts, [row.values.get(name) for name in names], self._style) for row in rows]
        cursor.executemany(calls[0][0], [parameters for _, parameters in calls])

    def _upsert(self, cursor: Any, row: OutputRow, update: tuple[tuple[str, ...], list[str]]) -> None:
        for parts, names in (update, self._insert):
            self._execute(cursor, parts, [row.values.get(name) for name in names])
            if _has_changed_row(cursor):
                return

    def _mark(self, cursor: Any, checkpoint: int) -> None:
        self._execute(cursor, (f"delete from {MARKERS} where sink = ", ""), [self.name])
        self._execute(cursor, (f"insert into {MARKERS} values (", ", ", ", ", ")"), [self.name, self._state, checkpoint])

    def _execute(self, cursor: Any, parts: tuple[str, ...], arguments: list[Any]) -> None:
        if arguments:
            cursor.execute(*bind_query(parts, arguments, self._style))
        else:
            cursor.execute(parts[0])

    def close(self) -> None:
        """See Sink."""
        connection, self._connection = self._connection, None
        if connection is not None and self._closes:
            connection.close()


def _has_changed_row(cursor: Any) -> bool:
    """Return whether the statement before changed a row. DuckDB gives the count as a row, others as ``rowcount``."""
    if cursor.rowcount < 0 and cursor.description:
        row = cursor.fetchone()
        return bool(row and row[0])
    return bool(cursor.rowcount > 0)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _split(statement: str) -> tuple[tuple[str, ...], list[str]]:
    """
    >>> _split("insert into T values (${a}, ${ b })")
    (('insert into T values (', ', ', ')'), ['a', 'b'])
    """
    if not isinstance(statement, str) or not statement.strip():
        raise ValueError("a statement of the database is expected, such as 'insert into alerts values (${symbol})'")
    parts = PLACE.split(statement)
    return tuple(parts[::2]), parts[1::2]


__all__ = ["DatabaseSink"]
