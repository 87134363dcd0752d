"""Databases through DB-API connections: a query gives what a join over the same rows in a keepall window gives; parameters are bound, never
part of the text; what fails names database and statement.
"""
from __future__ import annotations

import datetime
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import EplDeploymentError, EplRuntimeError, EplValidationError, LruCache, Runtime
from runtime.historical.database import bind_query

try:
    import duckdb
except ImportError:
    duckdb = None  # type: ignore[assignment]

Row = tuple[Any, ...]
ROWS: list[Row] = [("A", 1, 1.5, "one"), ("B", 2, 2.5, "two"), ("B", 3, None, "three"), (None, 4, 4.5, None), ("O'Hara", 5, 5.5, "5%")]
CREATE = "create table dim(k varchar(20), v integer, p double, label varchar(20))"
DRIVERS: dict[str, Callable[[], Any]] = {"sqlite3": lambda: sqlite3.connect(":memory:")}
if duckdb is not None:
    DRIVERS["duckdb"] = duckdb.connect


def connector(driver: str, rows: list[Row] | None = None) -> Callable[[], Any]:
    def connect() -> Any:
        connection = DRIVERS[driver]()
        connection.execute(CREATE)
        rows_of_table = ROWS if rows is None else rows
        if rows_of_table:
            connection.executemany("insert into dim values (?, ?, ?, ?)", rows_of_table)
        connection.commit()
        return connection

    return connect


@pytest.fixture(params=DRIVERS)
def runtime(request: pytest.FixtureRequest) -> Iterator[Runtime]:
    with Runtime() as made:
        made.register("Trade", {"k": str, "n": int, "p": float})
        made.register_database("db", connector(request.param))
        made.deploy("create schema Dim(k string, v int, p double, label string)")
        yield made


def deltas(runtime: Runtime, epl: str, trades: list[Row]) -> list[Any]:
    """What a statement emits, and its iterator after each event."""
    seen: list[Any] = []
    statement = runtime.deploy(f"@name('s') {epl}")["s"]
    statement.add_listener(lambda new, old, s, r: seen.append(([n.to_dict() for n in new], [o.to_dict() for o in old])))
    for trade in trades:
        runtime.send("Trade", dict(zip(("k", "n", "p"), trade)))
        seen.append([row.to_dict() for row in statement])
    return seen


# ------------------------------------------------------------------ as a join over the same rows

TRADES: list[Row] = [("A", 1, 1.0), ("B", 2, 2.0), ("C", 0, 0.0), ("O'Hara", 5, 9.0), (None, 4, 4.0), ("B", 0, 1.0), ("A", None, None)]
QUERY = "select k, v, p, label from dim where k = ${t.k}"
JOINS = {
    "an inner join": ("{t}, {d} as d where d.k = t.k", QUERY),
    "a left outer join": ("{t} left outer join {d} as d on d.k = t.k", QUERY),
    "a query without parameters": ("{t}, {d} as d where d.k = t.k", "select * from dim"),
    "an outer join without parameters": ("{t} left outer join {d} as d on d.k = t.k", "select * from dim"),
    "a range": ("{t}, {d} as d where d.v <= t.n", "select * from dim where v <= ${t.n}"),
    "an expression": ("{t}, {d} as d where d.v = t.n * 2 + 1", "select * from dim where v = ${t.n * 2 + 1}"),
    "two parameters": ("{t}, {d} as d where d.k = t.k and d.v > t.n", "select * from dim where v > ${t.n} and k = ${ t.k }"),
    "a parameter twice": ("{t}, {d} as d where d.v >= t.n and d.p > t.n", "select * from dim where v >= ${t.n} and p > ${t.n}"),
    "a method of a value": ("{t}, {d} as d where d.k = t.k.toUpperCase()", "select * from dim where k = ${t.k.toUpperCase()}"),
    "the database first": ("{d} as d, {t} where d.k = t.k", QUERY),
}


@pytest.mark.parametrize("window", ["#length(2)", "#keepall", "#unique(k)", "#length_batch(2)"])
@pytest.mark.parametrize("name", JOINS)
def test_a_query_equals_a_join_over_the_same_rows(runtime: Runtime, name: str, window: str) -> None:
    join, query = JOINS[name]
    trades = [trade for trade in TRADES if trade[0] is not None or "outer" not in name]
    """Without null in outer joins: there null equals null between windows."""
    for row in ROWS:
        runtime.send("Dim", dict(zip(("k", "v", "p", "label"), row)))
    select, trade = "select irstream t.k as k, t.n as n, d.v as v, d.p as p, d.label as label from ", f"Trade{window} as t"
    with Runtime() as other:
        other.register("Trade", {"k": str, "n": int, "p": float})
        deployment = other.deploy(
            "@public @buseventtype create schema Dim(k string, v int, p double, label string); "
            f"@name('s') {select}{join.format(t=trade, d='Dim#keepall')}")
        for row in ROWS:
            other.send("Dim", dict(zip(("k", "v", "p", "label"), row)))
        expected: list[Any] = []
        deployment["s"].add_listener(lambda new, old, s, r: expected.append(([n.to_dict() for n in new], [o.to_dict() for o in old])))
        for each in trades:
            other.send("Trade", dict(zip(("k", "n", "p"), each)))
    asked = deltas(runtime, select + join.format(t=trade, d=f'sql:db ["{query}"] @type(Dim)'), trades)
    assert [_sorted(each) for each in asked if type(each) is tuple] == [_sorted(each) for each in expected if each != ([], [])]


def _sorted(delta: Any) -> Any:
    return [sorted(rows, key=repr) for rows in delta]


keys = st.sampled_from(["A", "B", "C", None])
numbers = st.one_of(st.none(), st.integers(-3, 3))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(keys, numbers, numbers.map(lambda n: None if n is None else n / 2), keys), max_size=8),
       st.lists(st.tuples(keys, numbers), min_size=1, max_size=6), st.booleans(), st.booleans())
def test_random_rows_equal_nested_loops(rows: list[Row], trades: list[Row], outer: bool, cached: bool) -> None:
    with Runtime() as runtime:
        runtime.register("Trade", {"k": str, "n": int})
        runtime.register_database("db", connector("sqlite3", rows), cache=LruCache(3) if cached else None)
        runtime.deploy("create schema Dim(k string, v int, p double, label string)")
        source = 'sql:db ["select * from dim where k = ${t.k}"] @type(Dim) as d'
        joined = f"left outer join {source} on d.v = t.n" if outer else f", {source} where d.v = t.n"
        received: list[Any] = []
        runtime.deploy(f"@name('s') select t.k as k, d.label as label from Trade as t {joined}", listeners={
            "s": lambda new, old, s, r: received.extend((row["k"], row["label"]) for row in new)})
        expected: list[Any] = []
        for k, n in trades:
            runtime.send("Trade", {"k": k, "n": n})
            matches = [row[3] for row in rows if k is not None and row[0] == k and n is not None and row[1] == n]
            expected += [(k, label) for label in matches or ([None] if outer else [])]
    assert received == expected


# ------------------------------------------------------------------ parameters


HOSTILE = ["x' or '1'='1", '"; drop table dim; --', "${t.k}", "?", ":p1", "%s", "\\", "'", "\0", "é✓"]


@pytest.mark.parametrize("value", HOSTILE)
def test_values_never_become_text(runtime: Runtime, value: str) -> None:
    epl = f"select d.label as label from Trade as t, sql:db [\"{QUERY}\"] @type(Dim) as d"
    assert deltas(runtime, epl, [(value, 1, 1.0), ("A", 1, 1.0)]) == [[], ([{"label": "one"}], []), []]


@pytest.mark.parametrize(
    ("style", "text", "parameters"),
    [
        ("qmark", "a ? b% ? c", [1, 2]), ("numeric", "a :1 b% :2 c", [1, 2]), ("named", "a :p1 b% :p2 c", {"p1": 1, "p2": 2}),
        ("format", "a %s b%% %s c", [1, 2]), ("pyformat", "a %(p1)s b%% %(p2)s c", {"p1": 1, "p2": 2}),
    ],
)
def test_parameters_in_each_style(style: str, text: str, parameters: Any) -> None:
    assert bind_query(("a ", " b% ", " c"), [1, 2], style) == (text, parameters)


class Recorded:
    """A DB-API connection that records what it is asked; its cursors give the rows of ``result``."""

    def __init__(self, result: Any = ((1,),), columns: tuple[Any, ...] = (("v", int),), **attributes: Any) -> None:
        self.executed: list[Any] = []
        self.threads: set[int] = set()
        self.events: list[str] = []
        self.result, self.columns, self.fails = result, columns, 0
        self.__dict__.update(attributes)

    def cursor(self) -> Recorded:
        return self

    def execute(self, *call: Any) -> None:
        self.threads.add(threading.get_ident())
        self.executed.append(call)
        if self.fails:
            self.fails -= 1
            raise sqlite3.OperationalError("server has gone away")

    @property
    def description(self) -> Any:
        return self.columns

    def fetchmany(self, count: int) -> list[Any]:
        return list(self.result() if callable(self.result) else self.result)[:count]

    def close(self) -> None:
        self.events.append("close")

    def rollback(self) -> None:
        self.events.append("rollback")


def recorded(connection: Any, epl: str = "sql:db ['select v from T where k = ${t.k}'] as d", **options: Any) -> list[Any]:
    """The values of v for the trades A and B, and errors."""
    seen: list[Any] = []
    with Runtime(on_error=lambda error, *_: seen.append(str(error))) as runtime:
        runtime.register("Trade", {"k": str})
        runtime.register_database("db", lambda: connection, **{"paramstyle": "qmark", **options})
        statement = runtime.deploy(f"select d.v as v from Trade as t, {epl}")[0]
        statement.add_listener(lambda new, old, s, r: seen.extend(row["v"] for row in new))
        for k in "AB":
            runtime.send("Trade", {"k": k})
    return seen


@pytest.mark.parametrize(
    ("style", "call"),
    [("qmark", ("select v from T where k = ?", ["A"])), ("pyformat", ("select v from T where k = %(p1)s", {"p1": "A"}))],
)
def test_the_driver_gets_text_and_parameters_apart(style: str, call: Any) -> None:
    connection = Recorded()
    assert recorded(connection, paramstyle=style) == [1, 1]
    assert connection.executed[1] == call and len(connection.executed) == 3
    assert len(connection.threads) == 1 and threading.get_ident() not in connection.threads


def test_no_parameters_no_second_argument() -> None:
    connection = Recorded()
    assert recorded(connection, "sql:db [\"select v from T where p like '5%'\"] as d", paramstyle="format") == [1, 1]
    assert connection.executed[0] == ("select v from T where p like '5%'",)


def test_an_unknown_paramstyle_is_asked_for() -> None:
    with pytest.raises(EplValidationError, match=r"the paramstyle of .*test_databases is not known") as caught:
        recorded(Recorded(), paramstyle=None)
    assert "paramstyle='qmark'" in str(caught.value)


# ------------------------------------------------------------------ types of columns


def test_a_declared_type(runtime: Runtime) -> None:
    source = "sql:db ['select * from dim where v < 3'] @type(Dim)"
    statement = runtime.deploy(f"select v + 1 as w, p / 2 as q, label || '!' as l from {source}")[0]
    assert statement.properties == {"w": "Integer", "q": "Double", "l": "String"}
    assert [row.to_dict() for row in statement] == [{"w": 2, "q": 0.75, "l": "one!"}, {"w": 3, "q": 1.25, "l": "two!"}]


def test_a_declared_type_finds_columns_by_name(runtime: Runtime) -> None:
    statement = runtime.deploy("select * from sql:db ['select label, p as P, 0 as more, v, k from dim where v = 1'] @type(Dim)")[0]
    assert [row.to_dict() for row in statement] == [{"k": "A", "v": 1, "p": 1.5, "label": "one"}]


def test_a_metadata_query(runtime: Runtime) -> None:
    statement = runtime.deploy("""select v + 1 as w, p * 2 as q, label || k as l
      from sql:db ["select * from dim where k = ${'A'}" metadatasql "select * from dim"]""")[0]
    assert [row.to_dict() for row in statement] == [{"w": 2, "q": 3.0, "l": "oneA"}]


def test_values_of_the_metadata_query_type_the_columns() -> None:
    day = datetime.date(2020, 1, 1)
    moment = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.timezone.utc)
    rows = [(None, 1, "x", True, Decimal("1.5"), day, moment, 1, b"x", None), (1.5, 2, None, False, None, None, None, "x", b"y", None)]
    connection = Recorded(rows, tuple((name, None) for name in "abcdefghij"))
    with Runtime() as runtime:
        runtime.register_database("db", lambda: connection)
        statement = runtime.deploy("select * from sql:db ['select' metadatasql 'sample']")[0]
        assert statement.properties == {
            "a": "Double", "b": "Long", "c": "String", "d": "Boolean", "e": "BigDecimal", "f": "LocalDate", "g": "ZonedDateTime",
            "h": "Object", "i": "Object", "j": "Object",
        }
        assert connection.executed == [("sample",)] and len(list(statement)) == 2


def test_without_a_description_columns_are_objects() -> None:
    with Runtime() as runtime:
        runtime.register_database("db", connector("sqlite3"))
        statement = runtime.deploy("select k, v from sql:db ['select k, v from dim where v = 1']")[0]
        assert statement.properties == {"k": "Object", "v": "Object"} and [row.to_dict() for row in statement] == [{"k": "A", "v": 1}]


@pytest.mark.skipif(duckdb is None, reason="duckdb is not installed")
def test_duckdb_describes_its_columns() -> None:
    with Runtime() as runtime:
        runtime.register_database("db", connector("duckdb"))
        statement = runtime.deploy("""select * from sql:db ["select v, p, label, v > 1 as b, 1.50::decimal(9, 2) as d,
          date '2020-01-01' as day, timestamp '2020-01-01 12:00:00' as at, 5::hugeint as h from dim where k = ${'A'}"]""")[0]
        assert statement.properties == {
            "v": "Long", "p": "Double", "label": "String", "b": "Boolean", "d": "BigDecimal", "day": "LocalDate", "at": "LocalDateTime",
            "h": "BigInteger",
        }
        assert [row.to_dict() for row in statement] == [{
            "v": 1, "p": 1.5, "label": "one", "b": False, "d": Decimal("1.50"), "day": datetime.date(2020, 1, 1),
            "at": datetime.datetime(2020, 1, 1, 12), "h": 5,
        }]


def test_expressions_are_columns(runtime: Runtime) -> None:
    statement = runtime.deploy("select `count(*)` as c from sql:db ['select count(*) as \"count(*)\" from dim']")[0]
    assert [row["c"] for row in statement] == [5]


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("sql:nodb ['select 1']", "Error connecting to database 'nodb', reason: Cannot locate configuration information for database "
         "'nodb'"),
        ("sql:db ['select * from nope where k = ${t.k}']", "Error preparing statement 'select * from nope where k = ?', reason: "),
        ("sql:db ['select * frm dim']", "Error preparing statement 'select * frm dim', reason: "),
        ("sql:db ['select 1' metadatasql 'select nope']", "Error preparing statement 'select nope', reason: "),
        ("sql:db ['select * from dim where k = ${t.k']", "Error parsing SQL, reason: Syntax error in property or variable: '${t.k'"),
        ("sql:db ['select * from dim where k = ${}']", "Missing expression within ${...} in SQL statement"),
        ("sql:db ['select * from dim where k = ${ }']", "Missing expression within ${...} in SQL statement"),
        ("sql:db ['select * from dim where k = ${t.k +}']", "Error parsing SQL, reason: "),
        ("sql:db ['select * from dim where k = ${t.zz}'] @type(Dim)", "Failed to validate from-clause database-access parameter expression "
         "'t.zz': Property named 'zz' is not valid in stream 't' (did you mean 'k'?)"),
        ("sql:db ['select * from dim where k = ${x.k}'] @type(Dim)", "Failed to validate from-clause database-access parameter expression "
         "'x.k': Failed to find a stream named 'x' (did you mean 't'?)"),
        ("sql:db ['select * from dim where k = ${k}'] @type(Dim)", "Failed to validate from-clause database-access parameter expression "
         "'k': Property named 'k' is ambiguous as is valid for more then one stream"),
        ("sql:db ['select * from dim where k = ${d.k}'] @type(Dim)", "Invalid expression 'd.k' resolves to the historical data itself"),
        ("sql:db ['select * from dim'] @type(Nope)", "Database 'db' returns event type 'Nope' and the event type cannot be found"),
        ("sql:db ['select * from dim'] @xyz(Dim)", "Invalid annotation for property selection, expected 'type' but found 'xyz' in text"),
        ("sql:db ['select * from dim']#keepall", "Historical data joins do not allow views onto the data, view 'keepall' is not "
         "valid in this context"),
    ],
)
def test_refusals(runtime: Runtime, source: str, message: str) -> None:
    with pytest.raises(EplValidationError) as caught:
        runtime.deploy(f"select * from Trade as t, {source} as d")
    assert caught.value.message.startswith(message) and caught.value.position is not None


def test_a_statement_that_is_no_select_is_taken_back() -> None:
    with Runtime() as runtime:
        runtime.register_database("db", connector("sqlite3"))
        with pytest.raises(EplValidationError, match="Error in statement 'delete from dim', failed to obtain result metadata"):
            runtime.deploy("select * from sql:db ['delete from dim']")
        assert [row["c"] for row in runtime.deploy("select c from sql:db ['select count(*) as c from dim']")[0]] == [5]


def test_a_circle_of_queries(runtime: Runtime) -> None:
    with pytest.raises(EplValidationError, match="Circular dependency detected between historical streams"):
        runtime.deploy("""select * from sql:db ["select * from dim where v = ${b.v}"] @type(Dim) as a,
          sql:db ["select * from dim where k = ${a.k}"] @type(Dim) as b""")


def test_a_database_that_cannot_be_opened() -> None:
    def connect() -> Any:
        raise OSError("no route to host")

    with Runtime() as runtime:
        runtime.register_database("db", connect)
        with pytest.raises(EplValidationError, match="Error preparing statement 'select 1', reason: no route to host"):
            runtime.deploy("select * from sql:db ['select 1']")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"connect": "prices.db"}, TypeError, r"register_database\(connect='prices.db'\): expected a function without"),
        ({"connect": object, "paramstyle": "dollar"}, ValueError,
         "paramstyle is one of qmark, numeric, named, format, pyformat, not 'dollar'"),
        ({"connect": object, "timeout": 0}, ValueError, "timeout is a number of seconds greater than 0, not 0"),
    ],
)
def test_registrations_that_are_refused(options: Any, error: type[Exception], message: str) -> None:
    with Runtime() as runtime, pytest.raises(error, match=message):
        runtime.register_database("db", **options)


# ------------------------------------------------------------------ what fails


def test_an_error_names_database_and_query() -> None:
    connection = Recorded()

    def fail() -> Any:
        if len(connection.executed) == 2:
            raise ValueError("bad page")
        return [(7,)]

    connection.result = fail
    assert recorded(connection) == ["Database 'db', query 'select v from T where k = ?' reported an exception: ValueError: bad page", 7]


def test_a_lost_connection_is_opened_again_once() -> None:
    connection = Recorded()
    with Runtime(on_error=lambda error, *_: seen.append(str(error))) as runtime:
        seen: list[Any] = []
        runtime.register("Trade", {"k": str})
        opened: list[int] = []
        runtime.register_database("db", lambda: opened.append(1) or connection, paramstyle="qmark")
        statement = runtime.deploy("select d.v as v from Trade as t, sql:db ['select v from T where k = ${t.k}'] as d")[0]
        statement.add_listener(lambda new, old, s, r: seen.extend(row["v"] for row in new))
        for fails in (0, 1, 2, 0):
            connection.fails = fails
            runtime.send("Trade", {"k": "A"})
    error = "Database 'db', query 'select v from T where k = ?' reported an exception: OperationalError: server has gone away"
    assert seen == [1, 1, error, 1] and len(opened) == 3 and connection.events.count("close") >= 2


def test_a_look_up_that_takes_too_long() -> None:
    interrupted = threading.Event()

    class Slow(Recorded):
        def fetchmany(self, count: int) -> list[Any]:
            if len(self.executed) == 2:
                interrupted.wait(10)
            return [(len(self.executed),)]

        def interrupt(self) -> None:
            interrupted.set()

    opened: list[Slow] = []
    seen: list[Any] = []
    with Runtime(on_error=lambda error, *_: seen.append(str(error))) as runtime:
        runtime.register("Trade", {"k": str})
        runtime.register_database("db", lambda: opened.append(Slow()) or opened[-1], paramstyle="qmark", timeout=0.2)
        statement = runtime.deploy("select d.v as v from Trade as t, sql:db ['select v from T where k = ${t.k}'] as d")[0]
        statement.add_listener(lambda new, old, s, r: seen.extend(row["v"] for row in new))
        for k in "AB":
            runtime.send("Trade", {"k": k})
    assert seen == ["Database 'db', query 'select v from T where k = ?': the look-up took more than 0.2 seconds", 1]
    assert interrupted.is_set() and len(opened) == 2


def test_too_many_rows() -> None:
    seen = recorded(Recorded([(n,) for n in range(9)]), max_rows=3)
    assert len(seen) == 2 and all("Database 'db', query 'select v from T where k = ?': more than 3 rows" in each for each in seen)


def test_a_declared_type_without_its_column(runtime: Runtime) -> None:
    statement = runtime.deploy("select * from sql:db ['select k, v from dim'] @type(Dim)")[0]
    with pytest.raises(EplRuntimeError, match="Database 'db', query 'select k, v from dim': there is no column 'p'"):
        list(statement)


def test_a_value_that_does_not_fit(runtime: Runtime) -> None:
    statement = runtime.deploy("select * from sql:db ['select label as v, k, p, label from dim'] @type(Dim)")[0]
    with pytest.raises(EplRuntimeError, match="property 'v' is declared Integer and cannot hold 'one'"):
        list(statement)


# ------------------------------------------------------------------ connections


def test_each_look_up_sees_what_others_have_committed(tmp_path: Any) -> None:
    path = tmp_path / "dim.db"
    with Runtime() as runtime, sqlite3.connect(path) as writer:
        writer.execute(CREATE)
        runtime.register_database("db", lambda: sqlite3.connect(path))
        statement = runtime.deploy("select v from sql:db ['select v from dim']")[0]
        for n in range(3):
            assert [row["v"] for row in statement] == list(range(n))
            writer.execute("insert into dim(v) values (?)", (n,))
            writer.commit()


def test_transactions_end_with_each_look_up() -> None:
    connection = Recorded(autocommit=False)
    assert recorded(connection) == [1, 1]
    assert connection.events.count("rollback") == 3


def test_the_connection_is_closed_with_the_runtime() -> None:
    connection = Recorded()
    recorded(connection)
    for _ in range(500):  # its own thread closes it
        if connection.events.count("close") > len(connection.executed):
            break
        time.sleep(0.01)
    assert connection.events.count("close") == len(connection.executed) + 1, "each cursor, and the connection"


def test_one_connection_serves_all_statements() -> None:
    opened: list[int] = []
    with Runtime() as runtime:
        runtime.register_database("db", lambda: opened.append(1) or Recorded(), paramstyle="qmark")
        for _ in range(3):
            list(runtime.deploy("select v from sql:db ['select v from T']")[0])
    assert len(opened) == 1


def test_statements_go_on_while_another_ones_iterator_asks() -> None:
    asking, answer = threading.Event(), threading.Event()

    class Waiting(Recorded):
        def fetchmany(self, count: int) -> list[Any]:
            asking.set()
            assert answer.wait(10)
            return [(1,)]

    with Runtime() as runtime:
        runtime.register("Trade", {"k": str})
        runtime.register_database("db", Waiting)
        statement = runtime.deploy("select v from sql:db ['select v from T']")[0]
        received: list[Any] = []
        runtime.deploy("@name('s') select k from Trade", listeners={"s": lambda new, old, s, r: received.extend(new)})
        rows: list[Any] = []
        thread = threading.Thread(target=lambda: rows.extend(statement))
        thread.start()
        assert asking.wait(10)
        runtime.send("Trade", {"k": "A"})
        assert len(received) == 1 and rows == []
        answer.set()
        thread.join()
        assert [row["v"] for row in rows] == [1]


def test_a_cache_spares_queries() -> None:
    connection = Recorded()
    with Runtime() as runtime:
        runtime.register("Trade", {"k": str})
        runtime.register_database("db", lambda: connection, paramstyle="qmark", cache=LruCache(2))
        runtime.deploy("select d.v as v from Trade as t, sql:db ['select v from T where k = ${t.k}'] as d")
        for k in "ABABCA":
            runtime.send("Trade", {"k": k})
    assert [call[1] for call in connection.executed[1:]] == [["A"], ["B"], ["C"], ["A"]]


def test_a_restored_runtime_opens_its_own_connection() -> None:
    with Runtime() as runtime:
        runtime.register("Trade", {"k": str})
        runtime.register_database("db", connector("sqlite3"))
        epl = "select d.label as l from Trade#keepall as t, sql:db ['select label from dim where k = ${t.k}'] as d"
        runtime.deploy(f"@name('s') {epl}")
        runtime.send("Trade", {"k": "A"})
        blob = runtime.snapshot()
    with Runtime.restore(blob, register=lambda r: r.register_database("db", connector("sqlite3"))) as restored:
        restored.send("Trade", {"k": "B"})
        assert [row["l"] for row in restored.statement("s")] == ["one", "two", "three"]
    with pytest.raises(EplDeploymentError, match="the snapshot uses databases that are not given: db"):
        Runtime.restore(blob)


def test_a_statement_has_the_module_type_of_its_driver() -> None:
    """The paramstyle is read where the driver's module has it."""
    module = ModuleType("some_driver")
    module.paramstyle = "named"  # type: ignore[attr-defined]
    connection = type("Connection", (Recorded,), {"__module__": "some_driver.connections"})()
    import sys

    sys.modules["some_driver"] = module
    try:
        assert recorded(connection, paramstyle=None) == [1, 1]
    finally:
        del sys.modules["some_driver"]
    assert connection.executed[1] == ("select v from T where k = :p1", {"p1": "A"})


ENDLESS = "with recursive c(x) as (select 1 union all select x + 1 from c where x < ${t.n}) select count(*) as v from c"


def test_sqlite_answers_again_after_a_look_up_that_took_too_long() -> None:
    """An interrupted look-up raises what a lost connection does: its thread must not open the connection of the next one."""
    seen: list[Any] = []
    opened: list[int] = []

    def connect() -> Any:
        opened.append(threading.get_ident())
        return sqlite3.connect(":memory:")

    with Runtime(on_error=lambda error, *_: seen.append("error" if "took more than 0.2 seconds" in str(error) else str(error))) as runtime:
        runtime.register("Trade", {"n": "long"})
        runtime.register_database("db", connect, timeout=0.2)
        runtime.deploy("create schema V(v long)")
        statement = runtime.deploy(f"select d.v as v from Trade as t, sql:db ['{ENDLESS}'] @type(V) as d")[0]
        statement.add_listener(lambda new, old, s, r: seen.extend(row["v"] for row in new))
        for n in (1, 10**12, 2, 3, 10**12, 4):
            runtime.send("Trade", {"n": n})
            time.sleep(0.05)
    assert seen == [1, "error", 2, 3, "error", 4] and len(opened) == 3


def test_several_threads_may_iterate_while_look_ups_time_out() -> None:
    """Iterators of historical streams alone hold no lock; one that is given up neither counts for those that
    wait for the connection nor interrupts them."""
    seen: list[Any] = []
    with Runtime() as runtime:
        runtime.deploy("create schema V(v long)")
        runtime.register_database("db", lambda: sqlite3.connect(":memory:"), timeout=1)
        texts = [ENDLESS.replace("${t.n}", n) for n in ("5", "1000000000000")]
        quick, slow = (runtime.deploy(f"select v from sql:db ['{text}'] @type(V)")[0] for text in texts)

        def iterate(statement: Any) -> None:
            try:
                seen.extend(row["v"] for row in statement)
            except EplRuntimeError as error:
                seen.append(error.message.rpartition('than ')[2])

        threads = [threading.Thread(target=iterate, args=(each,)) for each in (quick, slow, quick, slow, quick)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert sorted(seen, key=str) == ["1 seconds", "1 seconds", 5, 5, 5]
        iterate(quick)
    assert seen[-1] == 5

