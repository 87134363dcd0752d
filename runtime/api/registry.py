"""What users make known to a runtime: event types, functions, aggregations, enums, variables, historical sources."""
from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from epl.aggregations.functions import AGGREGATIONS
from epl.aggregations.user import aggregation_spec
from epl.catalog import Variable
from epl.errors import EplDeploymentError, EplRuntimeError
from epl.event_types import EventType
from epl.functions.user import function_spec
from epl.plan.windows import WindowConfig
from epl.value_types import EnumType
from runtime.api.engine import RuntimeEngine
from runtime.arguments import check_methods
from runtime.conversion.python_types import describe_event_type, enum_type, find_enums
from runtime.conversion.python_types import value_type as resolve
from runtime.historical.cache import CacheConfig
from runtime.historical.database import RegisteredDatabase
from runtime.historical.method_source import read_methods
from runtime.historical.result_rows import MAX_ROWS
from runtime.historical.static_table import StaticTable, static_table
from runtime.stores.variables import VariableCell
from windows.registry import WINDOWS, by_name

LAYOUT = ("properties", "kind", "supertypes", "start_timestamp", "end_timestamp")
"""What makes an event type the same as another of its name."""


@check_methods(but=("register_window",))
class Registry:
    """Definitions that users make known to a runtime: what statements are compiled against, beside what deployments declare."""

    _engine: RuntimeEngine

    def register(
        self, name: str, schema: Any, *, supertypes: Iterable[str] = (), start_timestamp: str | None = None,
        end_timestamp: str | None = None, replace: bool = False
    ) -> EventType:
        """Declare an event type and return it.

        Args:
            name: The type's name in EPL.
            schema: A dict of Python or EPL types, a dataclass, an attrs or pydantic class, a TypedDict, a NamedTuple, or a pyarrow or Spark
                schema. Python enums among its types become known to EPL (``Name.CONSTANT``).
            supertypes: Names of event types whose properties it has too. Registered base classes are supertypes without being named.
            start_timestamp: The property with the beginning of the event, for date-time methods.
            end_timestamp: The property with its end.
            replace: Take the place of a type of the same name with other properties, unless a deployment uses it.

        Raises:
            EplDeploymentError: The name is taken.
            EplError: A property has a type that EPL does not have.

        Examples:
            >>> from dataclasses import dataclass
            >>> from runtime import Runtime
            >>> @dataclass
            ... class Reading:
            ...     sensor: str
            ...     temp: float
            >>> runtime = Runtime()
            >>> {name: str(p.type) for name, p in runtime.register("Reading", Reading).properties.items()}
            {'sensor': 'String', 'temp': 'Double'}
        """
        with self._engine.hold_open() as engine:
            mine = engine.definitions
            for enumeration in find_enums(schema):
                self.register_enum(enumeration)
            event_type = describe_event_type(name, schema, mine.python_types)
            parents = (*(self._engine.event_type(s) for s in supertypes), *mine.find_bases(schema))
            if parents or start_timestamp or end_timestamp:
                inherited = {n: p for t in parents for n, p in t.properties.items()}
                event_type = EventType(
                    event_type.name, event_type.kind, {**inherited, **event_type.properties}, tuple(dict.fromkeys(parents)),
                    start_timestamp, end_timestamp, open=event_type.open
                )
            registered = self.register_type(event_type, replace=replace)
            if isinstance(schema, type):
                mine.classes[schema] = registered
            return registered

    def register_type(self, event_type: EventType, *, replace: bool = False) -> EventType:
        """Declare an event type that exists already, such as that of another runtime. The same properties under the same name are the same
        type.

        Args:
            event_type: The type.
            replace: As for ``register``.

        Raises:
            EplDeploymentError: The name is taken by another type.

        Examples:
            >>> from runtime import Runtime
            >>> first, second = Runtime(), Runtime()
            >>> second.register_type(first.register("A", {"x": int})).name
            'A'
        """
        with self._engine.hold_open() as engine:
            mine = engine.definitions
            if event_type.name in mine.historical.tables:
                raise EplDeploymentError(
                    f"Event type named '{event_type.name}' has already been declared", hint="a static table has the name"
                )
            known = mine.types.get(event_type.name)
            if known is not None:
                if all(getattr(known, part) == getattr(event_type, part) for part in LAYOUT):
                    return known
                if not replace:
                    raise EplDeploymentError(
                        f"Event type named '{event_type.name}' has already been declared",
                        hint="register(…, replace=True) takes the place of a type that no deployment uses"
                    )
                self._engine.forget_type(known)
            if event_type.kind == "bean" and event_type.property_resolution == "case_sensitive":
                event_type.complete(property_resolution=mine.settings.property_resolution)
            mine.types[event_type.name] = event_type
            return event_type

    def event_type(self, name: str) -> EventType:
        """Return a type by name.

        Args:
            name: Of a registered or declared type.

        Raises:
            EplRuntimeError: There is none.
        """
        return self._engine.event_type(name)

    def register_function(self, name: str, function: Callable[..., Any]) -> None:
        """Make a Python function callable from EPL.

        Args:
            name: Its name in EPL.
            function: Type hints give the types of arguments and result. A null argument is None. What it raises goes to the error handler.

        Raises:
            EplError: The type hints have no equivalent in EPL.

        Examples:
            >>> from runtime import Runtime
            >>> def grade(price: float) -> str:
            ...     return "high" if price > 10 else "low"
            >>> runtime = Runtime()
            >>> event_type = runtime.register("Trade", {"price": float})
            >>> runtime.register_function("grade", grade)
            >>> grades = runtime.deploy("select grade(price) as grade from Trade#lastevent")[0]
            >>> runtime.send("Trade", {"price": 12.0})
            >>> list(grades)
            [{'grade': 'high'}]
        """
        with self._engine.hold_open() as engine:
            mine = engine.definitions
            mine.functions.add_single_row(name, function_spec(name, function))
            mine.user_functions[name] = function

    def register_aggregation(self, name: str, factory: Callable[[], Any]) -> None:
        """Make a Python class callable from EPL as an aggregation function.

        Args:
            name: Its name in EPL.
            factory: The class, or a function that returns an instance for each group. Its methods are ``enter(…)``, ``leave(…)``,
                ``value()``, ``clear()``, ``state()`` and ``restore(state)``, typed by their hints.

        Raises:
            TypeError: Methods are missing; the message names them.
            ValueError: EPL has an aggregation function of that name.

        Examples:
            >>> from runtime import Runtime
            >>> class Product:
            ...     def __init__(self) -> None:
            ...         self.values: list[float] = []
            ...     def enter(self, value: float) -> None:
            ...         self.values.append(value)
            ...     def leave(self, value: float) -> None:
            ...         self.values.remove(value)
            ...     def value(self) -> float:
            ...         product = 1.0
            ...         for value in self.values:
            ...             product *= value
            ...         return product
            ...     def clear(self) -> None:
            ...         self.values = []
            ...     def state(self) -> list[float]:
            ...         return list(self.values)
            ...     def restore(self, state: list[float]) -> None:
            ...         self.values = list(state)
            >>> runtime = Runtime()
            >>> event_type = runtime.register("A", {"x": float})
            >>> runtime.register_aggregation("product", Product)
            >>> products = runtime.deploy("select product(x) as p from A#length(2)")[0]
            >>> for x in (2.0, 3.0, 5.0):
            ...     runtime.send("A", {"x": x})
            >>> list(products)
            [{'p': 15.0}]
        """
        with self._engine.hold_open() as engine:
            mine = engine.definitions
            if name.lower() in AGGREGATIONS:
                raise ValueError(f"'{name}' is an aggregation of EPL")
            mine.aggregations[name.lower()] = aggregation_spec(name, factory)
            mine.functions.aggregations[name.lower()] = factory

    def register_window(self, config: type[WindowConfig]) -> None:
        """Make a data window of the application known to EPL, by each of its ``names``: ``from Type#name(…)``.

        Args:
            config: A frozen attrs subclass of ``epl.plan.windows.WindowConfig`` (CONTRIBUTING.md, "Add a data window").

        Raises:
            TypeError: ``config`` is no such class.
            EplDeploymentError: EPL has a data window of that name.

        Examples:
            >>> import attrs
            >>> from runtime import Runtime
            >>> from windows.length import Length
            >>> @attrs.frozen
            ... class Last(Length):
            ...     names = ("last_few",)
            >>> runtime = Runtime()
            >>> event_type = runtime.register("A", {"x": int})
            >>> runtime.register_window(Last)
            >>> few = runtime.deploy("select x from A#last_few(2)")[0]
            >>> for x in (1, 2, 3):
            ...     runtime.send("A", {"x": x})
            >>> list(few)
            [{'x': 2}, {'x': 3}]
        """
        with self._engine.hold_open() as engine:
            mine = engine.definitions
            if not (isinstance(config, type) and issubclass(config, WindowConfig) and config.names):
                raise TypeError(f"register_window takes a class on epl.plan.windows.WindowConfig with names, not {config!r}")
            taken = sorted(WINDOWS.keys() & by_name(config).keys())
            if taken:
                raise EplDeploymentError(f"EPL has a data window named '{taken[0]}'")
            mine.windows = {**mine.windows, **by_name(config)}

    # ------------------------------------------------------------------ historical sources

    def register_method(
        self, name: str, source: Any, *, row: Any = None, cache: CacheConfig | None = None, max_rows: int = MAX_ROWS
    ) -> None:
        """Make a Python function a source of rows: ``from Trade as t, method:name(t.symbol) as m``.

        The function returns None, one row, an iterable of rows, or a pyarrow or pandas table; a row is a mapping, a tuple or an object. A
        deployed statement keeps the function that it was deployed with.

        Args:
            name: Its name in EPL.
            source: A function; or a class, a module or an object, whose public functions become ``method:name.function(…)`` (of a class,
                its static and class methods). Type hints give the arguments and the rows: ``-> list[Row]``, where Row is a dataclass, an
                attrs or pydantic class, a TypedDict or a NamedTuple.
            row: The rows where hints do not give them: such a class, a schema as for ``register``, or the name of an event type.
                ``method:name(…) @type(T)`` gives it in EPL.
            cache: ``LruCache`` or ``ExpiryCache``, one for each stream that names the method.
            max_rows: The most rows that one call may return.

        Raises:
            EplDeploymentError: The rows or arguments have no types.

        Examples:
            >>> from typing import NamedTuple
            >>> from runtime import LruCache, Runtime
            >>> class Company(NamedTuple):
            ...     name: str
            >>> def company(symbol: str) -> list[Company]:
            ...     return [Company({"A": "Acme"}.get(symbol, "?"))]
            >>> runtime = Runtime()
            >>> event_type = runtime.register("Trade", {"symbol": str})
            >>> runtime.register_method("company", company, cache=LruCache(100))
            >>> named = runtime.deploy("select c.name as name from Trade#lastevent as t, method:company(t.symbol) as c")[0]
            >>> runtime.send("Trade", {"symbol": "A"})
            >>> list(named)
            [{'name': 'Acme'}]
        """
        with self._engine.hold_open() as engine:
            mine = engine.definitions
            for method in read_methods(name, source, row=row, cache=cache, max_rows=max_rows, known=mine.python_types):
                mine.historical.methods[method.declared.name] = method

    def register_database(
        self, name: str, connect: Callable[[], Any], *, paramstyle: str | None = None, timeout: float | None = None,
        cache: CacheConfig | None = None, max_rows: int = MAX_ROWS
    ) -> None:
        '''Make a database known to EPL: ``from Trade as t, sql:name ["select … where k = ${t.symbol}"] as m``.

        Args:
            name: Its name in EPL.
            connect: Opens a DB-API connection (PEP 249), in autocommit mode where there is a choice. All calls of it come from one thread.
            paramstyle: That of the driver, if its module does not say it.
            timeout: Seconds that one look-up may take; None for no limit.
            cache: As for ``register_method``.
            max_rows: As for ``register_method``.

        Raises:
            EplDeploymentError: An option has no meaning.

        Examples:
            >>> import sqlite3
            >>> from runtime import Runtime
            >>> def connect() -> sqlite3.Connection:
            ...     connection = sqlite3.connect(":memory:")
            ...     connection.executescript("create table company(symbol text, name text); insert into company values ('A', 'Acme')")
            ...     return connection
            >>> runtime = Runtime()
            >>> event_type = runtime.register("Trade", {"symbol": str})
            >>> runtime.register_database("db", connect)
            >>> deployment = runtime.deploy("""
            ...     create schema Company(name string);
            ...     @name('named') select c.name as name from Trade#lastevent as t,
            ...         sql:db ["select name from company where symbol = ${t.symbol}"] @type(Company) as c""")
            >>> runtime.send("Trade", {"symbol": "A"})
            >>> list(deployment["named"])
            [{'name': 'Acme'}]
            >>> runtime.close()
        '''
        database = RegisteredDatabase(name, connect, paramstyle=paramstyle, timeout=timeout, cache=cache, max_rows=max_rows)
        with self._engine.hold_open() as engine:
            mine = engine.definitions
            mine.historical.databases[name] = database

    def register_table(self, name: str, frame: Any, *, keys: str | Iterable[str] = ()) -> EventType:
        """Make a frame a source of rows and return their type: ``from Trade as t, name as d where t.k = d.k``. Its rows are indexed once
        for all statements.

        Args:
            name: Its name in EPL.
            frame: A pyarrow table or batch, a pandas, Polars or Spark frame (which is collected).
            keys: Columns whose values differ from row to row; a key that occurs twice is refused.

        Raises:
            EplDeploymentError: A key occurs twice, a column has no EPL type, or the name is taken.

        Examples:
            >>> import pyarrow as pa
            >>> from runtime import Runtime
            >>> runtime = Runtime()
            >>> event_type = runtime.register("Trade", {"symbol": str})
            >>> rows = runtime.register_table("Company", pa.table({"symbol": ["A"], "name": ["Acme"]}), keys="symbol")
            >>> named = runtime.deploy("select c.name as name from Trade#lastevent as t, Company as c where t.symbol = c.symbol")[0]
            >>> runtime.send("Trade", {"symbol": "A"})
            >>> list(named)
            [{'name': 'Acme'}]
            >>> runtime.refresh_table("Company", pa.table({"symbol": ["A"], "name": ["Ajax"]}))
            >>> list(named)
            [{'name': 'Ajax'}]
        """
        mine = self._engine.definitions
        if isinstance(frame, StaticTable):
            table = attrs.evolve(frame)
        else:
            table = static_table(name, frame, keys, mine.python_types, mine.settings.units_per_second)
        with mine.lock:
            mine.check_open()
            if name in mine.historical.tables:
                raise EplDeploymentError(f"Static table '{name}' has already been registered", hint="refresh_table replaces its rows")
            if name in mine.types or self._engine.is_declared(name):
                raise EplDeploymentError(f"Event type named '{name}' has already been declared", hint="give the static table another name")
            mine.historical.tables[name] = table
        return table.row_type

    def refresh_table(self, name: str, frame: Any) -> None:
        """Replace the rows of a static table for all statements at once: between two events, never within one.

        Args:
            name: Of ``register_table``.
            frame: A frame with the columns of the first one.

        Raises:
            EplRuntimeError: There is no such table, or the columns differ; its rows stay.
        """
        mine = self._engine.definitions
        table = mine.historical.tables.get(name)
        if table is None:
            raise EplRuntimeError(f"Static table '{name}' has not been registered", hint="Runtime.register_table registers it")
        rows = table.refresh(frame, mine.settings.units_per_second)  # read and indexed while statements go on
        with mine.lock:
            mine.check_open()
            table.rows = rows

    def share_sources(self, other: Registry) -> None:
        """Give another runtime the methods, databases and static tables of this one, as ``Runtime.restore(…,
        register=runtime.share_sources)`` does.

        Args:
            other: The runtime that gets them.

        Examples:
            >>> import pyarrow as pa
            >>> from runtime import Runtime
            >>> runtime = Runtime()
            >>> rows = runtime.register_table("Company", pa.table({"symbol": ["A"]}))
            >>> restored = Runtime.restore(runtime.snapshot(), register=runtime.share_sources)
            >>> restored.query("select * from Company")
            [{'symbol': 'A'}]
        """
        mine = self._engine.definitions
        with mine.lock:
            theirs = other._engine.definitions.historical
            for ours, others in zip(attrs.astuple(mine.historical, recurse=False), attrs.astuple(theirs, recurse=False)):
                others.update(ours)

    def register_enum(self, name: str | type[enum.Enum], constants: Iterable[str] = ()) -> EnumType:
        """Make an enum known to EPL and return its type. EPL writes its constants as ``Name.CONSTANT``; a column's type is its name.

        Args:
            name: A Python enum, or a name (also a full class name).
            constants: The constants' names, with a name. Values are these names; ``send`` takes the members of a Python enum too.

        Examples:
            >>> import enum
            >>> from runtime import Runtime
            >>> class Side(enum.Enum):
            ...     BUY = 1
            ...     SELL = 2
            >>> runtime = Runtime()
            >>> enum_type = runtime.register_enum(Side)
            >>> event_type = runtime.register("Offer", {"side": Side})
            >>> buys = runtime.deploy("select side from Offer(side = Side.BUY)#keepall")[0]
            >>> runtime.send("Offer", {"side": Side.BUY})
            >>> list(buys)
            [{'side': 'BUY'}]
        """
        with self._engine.hold_open() as engine:
            mine = engine.definitions
            declared = enum_type(name) if isinstance(name, type) else EnumType(name.replace("$", ".").rsplit(".", 1)[-1], tuple(constants))
            written = name.__name__ if isinstance(name, type) else name
            mine.enums[written] = declared.constants
            mine.enum_types = {**mine.enum_types, declared.name: declared, written: declared}
            mine.functions.constants.update({f"{written}.{constant}": (declared, constant) for constant in declared.constants})
            return declared

    def declare_variable(self, name: str, value_type: Any, value: Any = None, *, constant: bool = False) -> None:
        """Declare a variable that statements see, as ``create variable`` does.

        Args:
            name: Its name.
            value_type: A Python type, the name of an EPL type, or a ValueType.
            value: Its first value.
            constant: Whether it stays so.

        Raises:
            EplError: The value does not fit the type.

        Examples:
            >>> from runtime import Runtime
            >>> runtime = Runtime()
            >>> runtime.declare_variable("threshold", float, 10.0)
            >>> runtime.set_variable("threshold", 20.0)
            >>> runtime.get_variable("threshold")
            20.0
            >>> runtime.set_variables({"threshold": 30.0})
        """
        with self._engine.hold_open() as engine:
            mine = engine.definitions
            variable = Variable(name, resolve(value_type, name, mine.python_types), constant, value)
            mine.variables[name] = VariableCell(variable, value)

    def get_variable(self, name: str, partition: int | None = None) -> Any:
        """Return the current value of a variable.

        Args:
            name: Its name.
            partition: The id of a context partition that has a variable of its own.

        Raises:
            EplRuntimeError: It is not declared; or it belongs to partitions and none is given, or the other way round.
        """
        mine = self._engine.definitions
        with mine.lock:
            return mine.variable(name, partition).value

    def set_variable(self, name: str, value: Any, partition: int | None = None) -> None:
        """Assign a variable.

        Args:
            name: Its name.
            value: Checked against the declared type.
            partition: As for ``get_variable``.

        Raises:
            EplRuntimeError: It is a constant or not declared, or the value does not fit.
        """
        with self._engine.hold_open() as engine:
            mine = engine.definitions
            mine.variable(name, partition).assign(value)
            self._engine.settle()

    def set_variables(self, values: Mapping[str, Any], partition: int | None = None) -> None:
        """Assign several variables: all or none.

        Args:
            values: Values by name.
            partition: As for ``get_variable``, for all of them.

        Raises:
            EplRuntimeError: As for ``set_variable``; none has changed.
        """
        with self._engine.hold_open() as engine:
            mine = engine.definitions
            cells = [(mine.variable(n, partition), v) for n, v in values.items()]
            for cell, value in cells:
                cell.checked(value)
            for cell, value in cells:
                cell.assign(value)
            self._engine.settle()

__all__ = ["Registry"]
