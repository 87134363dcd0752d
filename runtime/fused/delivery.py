"""Calling a statement's listeners from within its fused function, as text: what ``Statement.deliver`` does with rows just made.

That is for functions that nothing else can be told of before the listeners are: no other statement wants the event, no other timer is due.
"""
from __future__ import annotations

from typing import Any

from epl.event_types import EventType
from runtime.conversion.computed_rows import computed_row_class
from runtime.conversion.rows import NO_ROWS, EventRow, Rows
from runtime.operators.operator_context import OperatorContext


def delivery_scope(context: OperatorContext, output_type: EventType | None) -> dict[str, Any]:
    """What the lines name. ``output_type``: of rows that are made of values; None where events come out as they are."""
    core, name, statement = context.core, context.name, context.output

    def failed(error: Exception) -> None:
        core.on_listener_error(error, name, None)

    made = {} if output_type is None else {"ComputedRow": computed_row_class(output_type)}
    scope = {"out": statement, "at": core.position, "failed": failed, "EventRow": EventRow, "Rows": Rows, "NO_ROWS": NO_ROWS, **made}
    return {**scope, "runtime": statement.runtime}  # type: ignore[attr-defined]


def delivered(*rows: str) -> list[str]:
    """Lines that call the listeners with the rows in these variables."""
    return [
        "listeners = out.listeners", "if listeners:", "    at.calls += 1",
        "    rows = Rows()", *(f"    rows.append({row})" for row in rows),
        "    for listener in listeners:", "        try:", "            listener(rows, NO_ROWS, out, runtime)",
        "        except Exception as error:", "            failed(error)",
    ]


__all__ = ["delivered", "delivery_scope"]
