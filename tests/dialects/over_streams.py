"""A clause over the events of a runtime, with the rows of a table as events: what its listener gets, and at the end of the input."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from epl.errors import EplError
from runtime import Runtime

TYPES = {"int64": "long", "int32": "int", "string": "string", "double": "double", "bool": "boolean"}


def schema_of(table: pa.Table) -> str:
    columns = ", ".join(f"`{field.name}` {TYPES.get(str(field.type), 'LocalDateTime')}" for field in table.schema)
    return f"create schema t({columns})"


def run_stream(clause: str, table: pa.Table, dialect: str = "sql", *, restarts: int = 0, items: str = "*") -> list[tuple[Any, ...]]:
    """Return the rows that a statement over the clause emits. ``restarts``: after so many events the runtime is restored from a snapshot.
    The first error of an expression is raised."""
    failures: list[BaseException] = []

    def failed(error: BaseException, *_: object) -> None:
        failures.append(error)

    runtime = Runtime(on_error=failed)
    runtime.deploy(f"{schema_of(table)}; @name('s') @Dialect('{dialect}') select {items} from t match_recognize ({clause}) as m")
    emitted: list[tuple[Any, ...]] = []

    def listen(one: Runtime) -> None:
        one.statement("s").add_listener(lambda new, *_: emitted.extend(tuple(row.values()) for row in new))

    listen(runtime)
    for number, row in enumerate(table.to_pylist(), 1):
        runtime.send("t", row)
        if restarts and number % restarts == 0:
            runtime = Runtime.restore(runtime.snapshot(), on_error=failed)
            listen(runtime)
    runtime.end_of_input()
    if failures:
        assert isinstance(failures[0], EplError)
        raise failures[0]
    return emitted
