"""Methods, databases and static tables of jobs: registered wherever an engine runs."""
from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import attrs
import pyarrow as pa

from epl.errors import EplRuntimeError
from runtime.api.runtime import Runtime
from runtime.conversion.python_types import Known
from runtime.historical.static_table import StaticTable, static_table
from runtime.spark.sources import to_arrow_table

Register = Callable[[Runtime], object]


@attrs.frozen
class TableSource:
    """A static table that travels with a task, which Spark broadcasts where it is large. ``token`` names it in a worker, which indexes it
    once."""

    name: str
    frame: pa.Table = attrs.field(eq=False, repr=False)
    keys: tuple[str, ...]
    token: str

    def __hash__(self) -> int:
        return hash((self.name, self.token))


@lru_cache(maxsize=64)
def _build_table(source: TableSource, units_per_second: int) -> StaticTable:
    return static_table(source.name, source.frame, source.keys, Known(), units_per_second)


@attrs.frozen
class HistoricalRegistration:
    """What a job's statements ask beside their events. ``register(runtime)`` is the caller's own function, None where there is none."""

    tables: tuple[TableSource, ...] = ()
    register: Register | None = None

    @classmethod
    def of(cls, tables: Mapping[str, Any] | None, register: Register | None) -> HistoricalRegistration:
        """``tables``: by name a frame, or (frame, keys); Spark frames are collected here. Raise EplRuntimeError for anything else."""
        if register is not None and not callable(register):
            raise EplRuntimeError("register is a function that takes a Runtime", hint="def register(runtime): runtime.register_method(…)")
        return cls(tuple(_table(name, table) for name, table in (tables or {}).items()), register)

    def __call__(self, runtime: Runtime) -> None:
        """Register all of them with a runtime."""
        for table in self.tables:
            runtime.register_table(table.name, _build_table(table, runtime.settings.units_per_second))
        if self.register is not None:
            self.register(runtime)


def _table(name: str, table: Any) -> TableSource:
    frame, keys = table if isinstance(table, tuple) else (table, ())
    names: Iterable[str] = (keys,) if isinstance(keys, str) else keys
    return TableSource(name, to_arrow_table(frame, name), tuple(names), uuid.uuid4().hex)


NOTHING = HistoricalRegistration()

__all__ = ["NOTHING", "HistoricalRegistration", "Register"]
