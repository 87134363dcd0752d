"""What users make known to a runtime: event types, functions, aggregations, enums, variables."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from epl.catalog import Settings, Variable
from epl.errors import EplDeploymentError, EplRuntimeError
from epl.event_types import EventType
from epl.functions.aggregations import AGGREGATIONS
from epl.functions.library import builtin_functions
from epl.functions.user import function_spec
from epl.functions.user_aggregations import aggregation_spec
from epl.value_types import EnumType
from runtime.python_types import event_type_of
from runtime.python_types import value_type as resolve
from runtime.variables import VariableCell


class Registered:
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

    def register(
        self, name: str, schema: Any, *, supertypes: Iterable[str] = (), start_timestamp: str | None = None,
        end_timestamp: str | None = None
    ) -> EventType:
        """Declare an event type: a dict of Python or EPL types, a dataclass, an attrs class, a pyarrow or Spark schema."""
        with self.lock:
            event_type = event_type_of(name, schema, self._types)
            parents = tuple(self.event_type(s) for s in supertypes)
            if parents or start_timestamp or end_timestamp:
                inherited = {n: p for t in parents for n, p in t.properties.items()}
                event_type = EventType(
                    event_type.name, event_type.kind, {**inherited, **event_type.properties}, parents, start_timestamp, end_timestamp,
                    open=event_type.open
                )
            return self.register_type(event_type)

    def register_type(self, event_type: EventType) -> EventType:
        """Declare an event type made elsewhere. The same layout under the same name again is the same type."""
        with self.lock:
            known = self._types.get(event_type.name)
            if known is not None:
                if known.properties == event_type.properties and known.kind == event_type.kind:
                    return known
                raise EplDeploymentError(f"Event type named '{event_type.name}' has already been declared")
            if event_type.kind == "bean" and event_type.property_resolution == "case_sensitive":
                event_type.property_resolution = self.settings.property_resolution
            self._types[event_type.name] = event_type
            return event_type

    def event_type(self, name: str) -> EventType:
        """A type by name; raises EplRuntimeError."""
        found = self._types.get(name)
        if found is None:
            raise EplRuntimeError(f"no bus event type named '{name}'", hint="declare it with create schema or Runtime.register")
        return found

    def register_function(self, name: str, function: Callable[..., Any]) -> None:
        """Make a Python function callable from EPL as ``name(…)``; type hints give its types."""
        with self.lock:
            self._functions.add_single_row(name, function_spec(name, function))
            self._user_functions[name] = function

    def register_aggregation(self, name: str, factory: Callable[[], Any]) -> None:
        """Make a Python class callable from EPL as an aggregation: enter, leave, value, clear, state, restore, typed by their hints.

        ``factory()`` makes one for each group. Raises TypeError naming the methods that are missing.
        """
        with self.lock:
            if name.lower() in AGGREGATIONS:
                raise ValueError(f"'{name}' is an aggregation of EPL")
            self._aggregations[name.lower()] = aggregation_spec(name, factory)
            self._functions.aggregations[name.lower()] = factory

    def register_enum(self, name: str, constants: Iterable[str]) -> EnumType:
        """The constants of an enum, written ``Name.CONSTANT`` in EPL; values are the constants' names. A full class name is taken as well.
        """
        with self.lock:
            made = EnumType(name.replace("$", ".").rsplit(".", 1)[-1], tuple(constants))
            self._enums[name] = made.constants
            self._functions.constants.update({f"{name}.{constant}": (made, constant) for constant in made.constants})
            return made

    def declare_variable(self, name: str, value_type: Any, value: Any = None, *, constant: bool = False) -> None:
        """A variable that statements see, declared from Python: a Python type, an EPL type name or a ValueType."""
        with self.lock:
            variable = Variable(name, resolve(value_type, name, self._types), constant, value)
            self._variables[name] = VariableCell(variable, value)

    def get_variable(self, name: str) -> Any:
        """The current value of a variable."""
        with self.lock:
            return self._variable(name).value

    def set_variable(self, name: str, value: Any) -> None:
        """Assign a variable; constants refuse, values are checked against the declared type."""
        with self.lock:
            self._variable(name).assign(value)
            self._settle()

    def set_variables(self, values: Mapping[str, Any]) -> None:
        """Assign several variables: all or none."""
        with self.lock:
            cells = [(self._variable(n), v) for n, v in values.items()]
            for cell, value in cells:
                cell.checked(value)
            for cell, value in cells:
                cell.assign(value)
            self._settle()

    def _variable(self, name: str) -> VariableCell:
        try:
            return self._variables[name]
        except KeyError:
            raise EplRuntimeError(f"Variable by name '{name}' has not been declared") from None

    def _settle(self) -> None:
        """Deliver what follows from another value of a variable."""
        raise NotImplementedError

    @property
    def user_functions(self) -> Mapping[str, Callable[..., Any]]:
        """The functions that were registered, by name."""
        return self._user_functions


__all__ = ["Registered"]
