"""What users make known to a runtime: event types, functions, aggregations, enums, variables, historical sources."""
from __future__ import annotations

import enum
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from epl.catalog import Catalog, Variable
from epl.errors import EplDeploymentError, EplRuntimeError
from epl.event_types import EventType
from epl.functions.aggregations import AGGREGATIONS
from epl.functions.library import builtin_functions
from epl.functions.user import function_spec
from epl.functions.user_aggregations import aggregation_spec
from epl.plan.declared import Declared
from epl.plan.windows import WindowConfig
from epl.settings import Settings
from epl.value_types import EnumType
from runtime.conversion.python_types import Known, enum_type, enums_in, event_type_of
from runtime.conversion.python_types import value_type as resolve
from runtime.expressions.environment import HistoricalSources
from runtime.historical.cache import CacheConfig
from runtime.historical.database import Database
from runtime.historical.method_source import methods_of
from runtime.historical.result_rows import MAX_ROWS
from runtime.historical.static_table import StaticTable, static_table
from runtime.stores.by_partition import PartitionedVariable
from runtime.stores.variables import VariableCell
from windows.registry import WINDOWS, by_name

LAYOUT = ("properties", "kind", "supertypes", "start_timestamp", "end_timestamp")
"""What makes an event type the same as another of its name."""


class Registry:
    """The part of ``Runtime`` that statements are compiled against, beside what deployments declare."""

    def __init__(self, settings: Settings) -> None:
        self.lock = threading.RLock()
        self.settings = settings
        self._functions = builtin_functions(settings)
        self._user_functions: dict[str, Callable[..., Any]] = {}
        self._aggregations: dict[str, Any] = dict(AGGREGATIONS)
        self._types: dict[str, EventType] = {}
        self._variables: dict[str, VariableCell] = {}
        self._enums: dict[str, tuple[str, ...]] = {}
        self._enum_types: dict[str, EnumType] = {}
        self._classes: dict[type, EventType] = {}
        """Event types of the Python classes that were registered."""
        self._windows: Mapping[str, type[WindowConfig]] = WINDOWS
        self._historical = HistoricalSources()
        self.is_closed = False

    def _check_open(self) -> bool:
        if self.is_closed:
            raise EplRuntimeError("The runtime is closed", hint="make another Runtime; close() ended this one")
        return True

    def register(
        self, name: str, schema: Any, *, supertypes: Iterable[str] = (), start_timestamp: str | None = None,
        end_timestamp: str | None = None, replace: bool = False
    ) -> EventType:
        """Declare an event type and return it.

        ``schema``: a dict of Python or EPL types, a dataclass, an attrs or pydantic class, a TypedDict, a NamedTuple, a pyarrow or Spark
        schema. Python enums among its types become known to EPL (``Name.CONSTANT``). ``supertypes``: names of event types whose properties
        it has too; base classes that are registered are supertypes without being named. ``start_timestamp``, ``end_timestamp``: the
        properties that hold the event's own time, for date-time methods. ``replace``: take the place of a type of the same name with
        another layout, unless a deployment uses it. Raises EplDeploymentError.
        """
        with self.lock:
            self._check_open()
            for enumeration in enums_in(schema):
                self.register_enum(enumeration)
            event_type = event_type_of(name, schema, Known(self._types, self._enum_types, self._classes))
            parents = (*(self.event_type(s) for s in supertypes), *self._registered_bases(schema))
            if parents or start_timestamp or end_timestamp:
                inherited = {n: p for t in parents for n, p in t.properties.items()}
                event_type = EventType(
                    event_type.name, event_type.kind, {**inherited, **event_type.properties}, tuple(dict.fromkeys(parents)),
                    start_timestamp, end_timestamp, open=event_type.open
                )
            registered = self.register_type(event_type, replace=replace)
            if isinstance(schema, type):
                self._classes[schema] = registered
            return registered

    def _registered_bases(self, schema: Any) -> list[EventType]:
        """The event types of the nearest base classes that are registered."""
        bases = schema.__mro__[1:] if isinstance(schema, type) else ()
        known = [base for base in bases if base in self._classes]
        return [self._classes[base] for base in known if not any(base is not other and issubclass(other, base) for other in known)]

    def register_type(self, event_type: EventType, *, replace: bool = False) -> EventType:
        """Declare an event type made elsewhere. The same layout under the same name again is the same type."""
        with self.lock:
            self._check_open()
            if event_type.name in self._historical.tables:
                raise EplDeploymentError(
                    f"Event type named '{event_type.name}' has already been declared", hint="a static table has the name"
                )
            known = self._types.get(event_type.name)
            if known is not None:
                if all(getattr(known, part) == getattr(event_type, part) for part in LAYOUT):
                    return known
                if not replace:
                    raise EplDeploymentError(
                        f"Event type named '{event_type.name}' has already been declared",
                        hint="register(…, replace=True) takes the place of a type that no deployment uses"
                    )
                self._forget_type(known)
            if event_type.kind == "bean" and event_type.property_resolution == "case_sensitive":
                event_type.complete(property_resolution=self.settings.property_resolution)
            self._types[event_type.name] = event_type
            return event_type

    def _forget_type(self, event_type: EventType) -> None:
        """Make space for another type of the name; raises EplDeploymentError while a deployment uses the type."""
        raise NotImplementedError

    def event_type(self, name: str) -> EventType:
        """Return a type by name; raise EplRuntimeError."""
        event_type = self._types.get(name)
        if event_type is None:
            raise EplRuntimeError(f"no bus event type named '{name}'", hint="declare it with create schema or Runtime.register")
        return event_type

    def register_function(self, name: str, function: Callable[..., Any]) -> None:
        """Make a Python function callable from EPL as ``name(…)``; type hints give its types."""
        with self.lock:
            self._check_open()
            self._functions.add_single_row(name, function_spec(name, function))
            self._user_functions[name] = function

    def register_aggregation(self, name: str, factory: Callable[[], Any]) -> None:
        """Make a Python class callable from EPL as an aggregation: enter, leave, value, clear, state, restore, typed by their hints.

        ``factory()`` makes one for each group. Raises TypeError naming the methods that are missing.
        """
        with self.lock:
            self._check_open()
            if name.lower() in AGGREGATIONS:
                raise ValueError(f"'{name}' is an aggregation of EPL")
            self._aggregations[name.lower()] = aggregation_spec(name, factory)
            self._functions.aggregations[name.lower()] = factory

    def register_window(self, config: type[WindowConfig]) -> None:
        """Make a data window of the application's own known to EPL, by each of ``config.names``: ``from Type#name(…)``.

        ``config``: a frozen attrs subclass of ``epl.plan.windows.WindowConfig`` (CONTRIBUTING.md, "Add a data window"). Raises
        EplDeploymentError if EPL has a data window of that name.
        """
        with self.lock:
            self._check_open()
            if not (isinstance(config, type) and issubclass(config, WindowConfig) and config.names):
                raise TypeError(f"register_window takes a class on epl.plan.windows.WindowConfig with names, not {config!r}")
            taken = sorted(WINDOWS.keys() & by_name(config).keys())
            if taken:
                raise EplDeploymentError(f"EPL has a data window named '{taken[0]}'")
            self._windows = {**self._windows, **by_name(config)}

    # ------------------------------------------------------------------ historical sources

    def register_method(
        self, name: str, source: Any, *, row: Any = None, cache: CacheConfig | None = None, max_rows: int = MAX_ROWS
    ) -> None:
        """Make a Python function a source of rows: ``from Trade as t, method:name(t.symbol) as m``.

        ``source``: a function, or a class, a module or an object whose public functions become ``method:name.function(…)`` (of a class its
        static and class methods). Type hints give the arguments and the rows: ``-> list[Row]``, where Row is a dataclass, an attrs or
        pydantic class, a TypedDict or a NamedTuple; ``row`` gives what they do not say: such a class, a schema as for ``register``, or the
        name of an event type. ``method:name(…) @type(T)`` says it in EPL.

        A function returns None, one row, an iterable of rows, or a pyarrow or pandas table; a row is a mapping, a tuple or an object.
        ``cache``: LruCache or ExpiryCache, one for each stream that names it. ``max_rows``: the most that one call may return. A function
        that a deployed statement calls goes on as it is. Raises EplDeploymentError.
        """
        with self.lock:
            self._check_open()
            known = Known(self._types, self._enum_types, self._classes)
            for method in methods_of(name, source, row=row, cache=cache, max_rows=max_rows, known=known):
                self._historical.methods[method.declared.name] = method

    def register_database(
        self, name: str, connect: Callable[[], Any], *, paramstyle: str | None = None, timeout: float | None = None,
        cache: CacheConfig | None = None, max_rows: int = MAX_ROWS
    ) -> None:
        """Make a database known to EPL: ``from Trade as t, sql:name ["select … where k = ${t.symbol}"] as m``.

        ``connect()`` opens a DB-API connection (PEP 249), in autocommit mode where there is a choice; all calls of it come from one thread.
        ``paramstyle``: that of the driver where its module does not say it. ``timeout``: seconds that one look-up may take, None for no
        limit. ``cache``, ``max_rows``: as for ``register_method``. Raises EplDeploymentError.
        """
        database = Database(name, connect, paramstyle=paramstyle, timeout=timeout, cache=cache, max_rows=max_rows)
        with self.lock:
            self._check_open()
            self._historical.databases[name] = database

    def register_table(self, name: str, frame: Any, *, keys: str | Iterable[str] = ()) -> EventType:
        """Make a frame a source of rows and return their type: ``from Trade as t, name as d where t.k = d.k``.

        ``frame``: a pyarrow table or batch, a pandas, Polars or Spark frame (which is collected). Its rows are indexed once for all
        statements. ``keys``: columns whose values differ from row to row; a key that occurs twice is refused. Raises EplDeploymentError,
        also where an event type has the name.
        """
        if isinstance(frame, StaticTable):
            table = attrs.evolve(frame)
        else:
            known = Known(self._types, self._enum_types, self._classes)
            table = static_table(name, frame, keys, known, self.settings.units_per_second)
        with self.lock:
            self._check_open()
            if name in self._historical.tables:
                raise EplDeploymentError(f"Static table '{name}' has already been registered", hint="refresh_table replaces its rows")
            if name in self._types or self._is_declared(name):
                raise EplDeploymentError(f"Event type named '{name}' has already been declared", hint="give the static table another name")
            self._historical.tables[name] = table
        return table.row_type

    def refresh_table(self, name: str, frame: Any) -> None:
        """Replace the rows of a static table, for all statements at once: between two events, never within one. ``frame`` has the columns
        of the first one. Raises EplRuntimeError; the rows stay then.
        """
        table = self._historical.tables.get(name)
        if table is None:
            raise EplRuntimeError(f"Static table '{name}' has not been registered", hint="Runtime.register_table registers it")
        rows = table.refreshed(frame, self.settings.units_per_second)  # read and indexed while statements go on
        with self.lock:
            self._check_open()
            table.rows = rows

    def share_sources(self, other: Registry) -> None:
        """Let another runtime have the methods, databases and static tables of this one: ``Runtime.restore(…, register=r.share_sources)``.
        """
        with self.lock:
            for mine, theirs in zip(attrs.astuple(self._historical, recurse=False), attrs.astuple(other._historical, recurse=False)):
                theirs.update(mine)

    def _is_declared(self, name: str) -> bool:
        """Whether a deployment declares an event type of that name."""
        raise NotImplementedError

    def _catalog_of(self, declared: Sequence[Declared]) -> Catalog:
        """All that names can mean: what was registered, and what deployments have declared."""
        variables = {n: c.variable for n, c in self._variables.items() if c.deployment is None}
        registered = Catalog(
            dict(self._types), self._functions, self._windows, variables, aggregations=self._aggregations, settings=self.settings,
            imports=tuple(self.settings.imports), enums=self._enum_types,
            methods={name: method.declared for name, method in self._historical.methods.items()},
            databases=dict(self._historical.databases),
            static_tables={name: table.row_type for name, table in self._historical.tables.items()},
        )
        return registered.with_declared(declared)

    @property
    def own_windows(self) -> Mapping[str, type[WindowConfig]]:
        """The data windows that were registered, by each of their names."""
        return {name: config for name, config in self._windows.items() if name not in WINDOWS}

    def register_enum(self, name: str | type[enum.Enum], constants: Iterable[str] = ()) -> EnumType:
        """Make an enum known to EPL and return its type: a Python enum, or a name (a full class name is taken as well) with constants.

        Its constants are written ``Name.CONSTANT``, a column's type is its name. Values are the constants' names; ``send`` takes the
        members of a Python enum too.
        """
        with self.lock:
            self._check_open()
            declared = enum_type(name) if isinstance(name, type) else EnumType(name.replace("$", ".").rsplit(".", 1)[-1], tuple(constants))
            written = name.__name__ if isinstance(name, type) else name
            self._enums[written] = declared.constants
            self._enum_types = {**self._enum_types, declared.name: declared, written: declared}
            self._functions.constants.update({f"{written}.{constant}": (declared, constant) for constant in declared.constants})
            return declared

    def declare_variable(self, name: str, value_type: Any, value: Any = None, *, constant: bool = False) -> None:
        """Declare from Python a variable that statements see: a Python type, an EPL type name or a ValueType."""
        with self.lock:
            self._check_open()
            variable = Variable(name, resolve(value_type, name, Known(self._types, self._enum_types, self._classes)), constant, value)
            self._variables[name] = VariableCell(variable, value)

    def get_variable(self, name: str, partition: int | None = None) -> Any:
        """Return the current value of a variable. ``partition``: the id of a context partition that has one of its own.

        Raise EplRuntimeError for a variable that is not declared, or is of partitions and none is given, or the other way round.
        """
        with self.lock:
            return self._variable(name, partition).value

    def set_variable(self, name: str, value: Any, partition: int | None = None) -> None:
        """Assign a variable; constants refuse, values are checked against the declared type. ``partition``: as of ``get_variable``."""
        with self.lock:
            self._check_open()
            self._variable(name, partition).assign(value)
            self._settle()

    def set_variables(self, values: Mapping[str, Any], partition: int | None = None) -> None:
        """Assign several variables: all or none. ``partition``: as of ``get_variable``, for all of them."""
        with self.lock:
            self._check_open()
            cells = [(self._variable(n, partition), v) for n, v in values.items()]
            for cell, value in cells:
                cell.checked(value)
            for cell, value in cells:
                cell.assign(value)
            self._settle()

    def _variable(self, name: str, partition: int | None = None) -> VariableCell:
        cell = self._variables.get(name)
        if cell is None:
            raise EplRuntimeError(f"Variable by name '{name}' has not been declared")
        if not isinstance(cell, PartitionedVariable):
            if partition is not None:
                raise EplRuntimeError(f"Variable by name '{name}' is a global variable and not context-partitioned")
            return cell
        if partition is None:
            raise EplRuntimeError(
                f"Variable by name '{name}' has been declared for context '{cell.variable.context}' and cannot be read without context "
                "partition selector", hint="give the partition's id: partition=0")
        if partition not in cell.partitions:
            raise EplRuntimeError(f"The context '{cell.variable.context}' has no partition {partition}")
        return cell.partitions[partition]

    def _settle(self) -> None:
        """Deliver what follows from another value of a variable."""
        raise NotImplementedError

    @property
    def user_functions(self) -> Mapping[str, Callable[..., Any]]:
        """The functions that were registered, by name."""
        return self._user_functions


__all__ = ["Registry"]
