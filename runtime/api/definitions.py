"""What users have made known to a runtime, as statements are compiled against it."""
from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from epl.aggregations.functions import AGGREGATIONS
from epl.analysis.names.suggestions import did_you_mean
from epl.catalog import Catalog
from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.functions.library import builtin_functions
from epl.plan.declared import Declared
from epl.plan.windows import WindowConfig
from epl.settings import Settings
from epl.value_types import EnumType
from runtime.conversion.python_types import Known
from runtime.expressions.environment import HistoricalSources
from runtime.stores.by_partition import PartitionedVariable
from runtime.stores.variables import VariableCell, VariableCells
from windows.registry import WINDOWS


class Definitions:
    """Holds what was registered; ``Registry`` has the methods that register it. Read and changed under ``lock``, which is the runtime's."""

    def __init__(self, settings: Settings) -> None:
        self.lock = threading.RLock()
        self.settings = settings
        self.functions = builtin_functions(settings)
        self.user_functions: dict[str, Callable[..., Any]] = {}
        """The functions that were registered, by name."""
        self.aggregations: dict[str, Any] = dict(AGGREGATIONS)
        self.types: dict[str, EventType] = {}
        self.variables = VariableCells()
        self.enums: dict[str, tuple[str, ...]] = {}
        self.enum_types: dict[str, EnumType] = {}
        self.classes: dict[type, EventType] = {}
        """Event types of the Python classes that were registered."""
        self.windows: Mapping[str, type[WindowConfig]] = WINDOWS
        self.historical = HistoricalSources()
        self.is_closed = False

    def check_open(self) -> bool:
        """Return True; raise EplRuntimeError after ``Runtime.close``."""
        if self.is_closed:
            raise EplRuntimeError("The runtime is closed", hint="make another Runtime; close() ended this one")
        return True

    @property
    def own_windows(self) -> Mapping[str, type[WindowConfig]]:
        """The data windows that were registered, by each of their names."""
        return {name: config for name, config in self.windows.items() if name not in WINDOWS}

    @property
    def python_types(self) -> Known:
        """The types that a Python type in a schema or a type hint may refer to."""
        return Known(self.types, self.enum_types, self.classes)

    def find_bases(self, schema: Any) -> list[EventType]:
        """Return the event types of a class's nearest base classes that are registered."""
        bases = schema.__mro__[1:] if isinstance(schema, type) else ()
        known = [base for base in bases if base in self.classes]
        return [self.classes[base] for base in known if not any(base is not other and issubclass(other, base) for other in known)]

    def variable(self, name: str, partition: int | None = None) -> VariableCell:
        """Return what holds a variable, of one context partition where they have it each; raise EplRuntimeError."""
        cell = self.variables.get(name)
        if cell is None:
            raise EplRuntimeError(f"Variable by name '{name}' has not been declared{did_you_mean(str(name), self.variables)}")
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

    def catalog(self, declared: Sequence[Declared]) -> Catalog:
        """Return all that names can mean: what was registered, and what deployments have declared."""
        variables = {n: c.variable for n, c in self.variables.items() if c.deployment is None}
        registered = Catalog(
            dict(self.types), self.functions, self.windows, variables, aggregations=self.aggregations, settings=self.settings,
            imports=tuple(self.settings.imports), enums=self.enum_types,
            methods={name: method.declared for name, method in self.historical.methods.items()},
            databases=dict(self.historical.databases),
            static_tables={name: table.row_type for name, table in self.historical.tables.items()},
        )
        return registered.with_declared(declared)


__all__ = ["Definitions"]
