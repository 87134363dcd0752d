"""Databases that ``sql:name ["…"]`` asks, through any DB-API connection (PEP 249).

All calls of a connection are made by one thread of its own, which also opens it: drivers such as sqlite3 take a connection only in the
thread that opened it, and a look-up that takes too long is abandoned with its connection. Parameters are bound by the driver, in its
``paramstyle``; no value becomes part of a query's text.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from contextlib import suppress
from threading import Lock
from typing import Any, TypeVar

from epl.errors import EplRuntimeError, EplValidationError
from epl.event_types import EventType, Property
from epl.plan.join.historical import SqlPlan
from epl.value_types import OBJECT
from runtime.historical.cache import CacheConfig
from runtime.historical.column_types import infer_type, type_from_code
from runtime.historical.result_rows import MAX_ROWS, ResultRows
from windows.event import Event

Connect = Callable[[], Any]
PARAMSTYLES = ("qmark", "numeric", "named", "format", "pyformat")
LOST = {"OperationalError", "InterfaceError"}
"""Errors (PEP 249) after which a look-up is tried once more with a new connection: the old one may have been closed by the server."""
SAMPLED = 100
"""So many rows of a metadata query are read for the types of columns that the driver does not describe."""

T = TypeVar("T")


class RegisteredDatabase:
    """A registered database. ``connect()`` opens a connection; ``timeout``: seconds that one look-up may take, None for no limit."""

    def __init__(
        self, name: str, connect: Connect, *, paramstyle: str | None = None, timeout: float | None = None,
        cache: CacheConfig | None = None, max_rows: int = MAX_ROWS
    ) -> None:
        if paramstyle is not None and paramstyle not in PARAMSTYLES:
            raise ValueError(f"paramstyle is one of {', '.join(PARAMSTYLES)}, not {paramstyle!r}")
        if timeout is not None and not timeout > 0:
            raise ValueError(f"timeout is a number of seconds greater than 0, not {timeout!r}")
        self.name, self.cache, self.max_rows = name, cache, max_rows
        self._connect, self._paramstyle, self._timeout = connect, paramstyle, timeout
        self._session: _Session | None = None
        self._lock = Lock()

    # ------------------------------------------------------------------ for analysis

    def row_type(self, query: tuple[str, ...], metadata_query: str | None) -> EventType:
        """See epl.historical_sources.Database. Without ``metadata_query`` the query itself is executed, every parameter null, and no row is
        read."""
        shown = metadata_query or "?".join(query)
        try:
            columns = self._do(lambda session: self._columns(session, query, metadata_query))
        except EplRuntimeError as error:
            raise EplValidationError(f"Error connecting to database '{self.name}', reason: {error.message}", hint=error.hint) from error
        except Exception as error:
            raise EplValidationError(f"Error preparing statement '{shown}', reason: {error}") from error
        if columns is None:
            raise EplValidationError(
                f"Error in statement '{shown}', failed to obtain result metadata, consider turning off metadata interrogation via "
                "configuration, please check the statement, reason: it returns no rows",
                hint="a query of a from clause is a select"
            )
        return EventType(f"{self.name} query", "map", {name: Property(name, kind) for name, kind in columns})

    def _columns(self, session: _Session, query: tuple[str, ...], metadata_query: str | None) -> list[tuple[str, Any]] | None:
        cursor = session.open_connection().cursor()
        try:
            if metadata_query is not None:
                cursor.execute(metadata_query)
            else:
                self._execute(session, cursor, query, [None] * (len(query) - 1))
            if not cursor.description:  # no select: what it may have changed is taken back where the connection has transactions
                with suppress(Exception):
                    session.open_connection().rollback()
                return None
            types = [type_from_code(column[1]) for column in cursor.description]
            if metadata_query is not None and OBJECT in types:
                sample = cursor.fetchmany(SAMPLED)
                types = [infer_type([row[n] for row in sample]) if kind == OBJECT else kind for n, kind in enumerate(types)]
            return list(zip([str(column[0]) for column in cursor.description], types, strict=True))
        finally:
            cursor.close()
            session.end_transaction()

    # ------------------------------------------------------------------ look-ups

    def caller(self, plan: SqlPlan, units_per_second: int) -> Callable[[Sequence[Any]], tuple[Event, ...]]:
        """Return what executes the query with arguments; it raises EplRuntimeError naming the database and the query."""
        rows = ResultRows(plan.row_type, units_per_second, self.max_rows)
        shown = "?".join(plan.query)

        def look_up(arguments: Sequence[Any]) -> tuple[Event, ...]:
            try:
                return self._do(lambda session: self._fetch(session, plan, list(arguments), rows))
            except EplRuntimeError as error:
                raise EplRuntimeError(f"Database '{self.name}', query '{shown}': {error.message}", hint=error.hint) from error
            except Exception as error:
                raise EplRuntimeError(
                    f"Database '{self.name}', query '{shown}' reported an exception: {type(error).__name__}: {error}"
                ) from error

        return look_up

    def _fetch(self, session: _Session, plan: SqlPlan, arguments: list[Any], rows: ResultRows) -> tuple[Event, ...]:
        try:
            return self._ask(session, plan, arguments, rows)
        except Exception as error:
            if session.abandoned or not _is_lost(error):  # one that is interrupted is not asked again: no one waits for it
                raise
        session.disconnect()
        return self._ask(session, plan, arguments, rows)

    def _ask(self, session: _Session, plan: SqlPlan, arguments: list[Any], rows: ResultRows) -> tuple[Event, ...]:
        cursor = session.open_connection().cursor()
        try:
            self._execute(session, cursor, plan.query, arguments)
            order = _order([str(column[0]) for column in cursor.description or ()], plan.row_type)
            fetched = cursor.fetchmany(rows.max_rows + 1)
            return rows.of_tuples(fetched if order is None else ([row[n] for n in order] for row in fetched))
        finally:
            cursor.close()
            session.end_transaction()

    def _execute(self, session: _Session, cursor: Any, query: tuple[str, ...], arguments: list[Any]) -> None:
        if not arguments:
            cursor.execute(query[0])
            return
        style = self._paramstyle or parameter_style(session.connection)
        if style is None:
            raise EplRuntimeError(
                f"the paramstyle of {type(session.connection).__module__} is not known",
                hint=f"register_database('{self.name}', …, paramstyle='qmark')"
            )
        cursor.execute(*bind_query(query, arguments, style))

    # ------------------------------------------------------------------ the connection

    def _do(self, work: Callable[[_Session], T]) -> T:
        """Run in the connection's thread; raise EplRuntimeError where it takes longer than the time-out, counted from when it begins."""
        while True:
            session = self._current_session()
            with session.turn:  # iterators call without the runtime's lock
                future = self._submit(session, work)
                if future is None:
                    continue
                try:
                    return future.result(self._timeout)
                except NotInTime as error:
                    if future.done() and future.exception() is error:  # what the work itself raised
                        raise
                    self._abandon(session)
                    raise EplRuntimeError(f"the look-up took more than {self._timeout} seconds") from None

    def _current_session(self) -> _Session:
        with self._lock:
            if self._session is None:
                self._session = _Session(self._connect, self.name)
            return self._session

    def _submit(self, session: _Session, work: Callable[[_Session], T]) -> Future[T] | None:
        """Begin the work; None where the session was closed or abandoned while its caller waited for the turn."""
        with self._lock:
            return session.submit(work) if self._session is session else None

    def _abandon(self, session: _Session) -> None:
        """Give up the thread and its connection; the next look-up opens others."""
        with self._lock:
            current = self._session is session  # not where the database was closed meanwhile, which closes the session
            if current:
                self._session = None
        session.interrupt()
        if current:
            session.close()

    def close(self) -> None:
        """Close the connection; the next look-up opens another one."""
        with self._lock:
            session, self._session = self._session, None
        if session is not None:
            session.close()


class Abandoned(Exception):
    """The session was given up before the connection was open."""


class _Session:
    """A connection and the one thread that opens and uses it. Nothing of a session that was abandoned reaches the one after it.

    A caller holds ``turn`` until its work ends or is given up, so that an interrupted connection never runs the work of another caller.
    """

    def __init__(self, connect: Connect, name: str) -> None:
        self._connect = connect
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"epl-database-{name}")
        self.turn = Lock()
        self.connection: Any = None
        self.abandoned = False

    def submit(self, work: Callable[[_Session], T]) -> Future[T]:
        return self._thread.submit(work, self)

    def open_connection(self) -> Any:
        if self.connection is None:
            self.connection = self._connect()
            if self.abandoned:
                raise Abandoned
        return self.connection

    def end_transaction(self) -> None:
        """Let the next look-up see what others have committed since."""
        if getattr(self.connection, "autocommit", None) is False:
            self.connection.rollback()

    def disconnect(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(Exception):  # it may be broken already
                connection.close()

    def interrupt(self) -> None:
        """Interrupt the connection where the driver can do that; nothing begins on it any more."""
        self.abandoned = True
        connection = self.connection
        if hasattr(connection, "interrupt"):
            with suppress(Exception):
                connection.interrupt()

    def close(self) -> None:
        """Close the connection once its call returns."""
        self._thread.submit(self.disconnect)
        self._thread.shutdown(wait=False)


def bind_query(query: tuple[str, ...], arguments: list[Any], style: str) -> tuple[str, Any]:
    """Return the text and the parameters that ``cursor.execute`` takes.

    >>> bind_query(("select * from T where k = ", " and p like '5%'"), ["x"], "format")
    ("select * from T where k = %s and p like '5%%'", ['x'])
    >>> bind_query(("select ", ""), ["x"], "named")
    ('select :p1', {'p1': 'x'})
    """
    numbers = range(1, len(query))
    if style in ("format", "pyformat"):
        query = tuple(part.replace("%", "%%") for part in query)
    marks = {
        "qmark": "?", "numeric": ":{}", "named": ":p{}", "format": "%s", "pyformat": "%(p{})s",
    }[style]
    text = query[0] + "".join(marks.format(n) + part for n, part in zip(numbers, query[1:], strict=True))
    if style in ("named", "pyformat"):
        return text, {f"p{n}": argument for n, argument in zip(numbers, arguments, strict=True)}
    return text, arguments


def parameter_style(connection: Any) -> str | None:
    """Return the ``paramstyle`` of the module that a connection's class is from."""
    package = type(connection).__module__.split(".")[0].lstrip("_")
    style = getattr(sys.modules.get(package), "paramstyle", None)
    return style if style in PARAMSTYLES else None


def _order(names: list[str], row_type: EventType) -> list[int] | None:
    """Return where each property's column is in a row; None where the columns are the properties in order. A declared type's columns are
    found by name, whatever their case."""
    properties = list(row_type.properties)
    if names == properties:
        return None
    by_name = {name.lower(): n for n, name in enumerate(names)} | {name: n for n, name in enumerate(names)}
    missing = next((name for name in properties if name not in by_name and name.lower() not in by_name), None)
    if missing is not None:
        raise EplRuntimeError(f"there is no column '{missing}'", hint=f"the columns are {', '.join(names)}")
    return [by_name.get(name, by_name.get(name.lower(), 0)) for name in properties]


def _is_lost(error: BaseException) -> bool:
    return any(kind.__name__ in LOST for kind in type(error).__mro__)


__all__ = ["Connect", "RegisteredDatabase", "bind_query", "parameter_style"]
