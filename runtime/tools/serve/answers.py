"""Errors, rows and times as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from epl.errors import EplDeploymentError, EplError
from epl.spans import Span
from runtime.api.statement import Statement
from runtime.clock.instants import show_instant
from runtime.conversion.rows import Row

LONGEST = 2000
"""Characters of a message: it may hold a value of any length."""


def error_json(error: EplError, text: str | None = None) -> dict[str, Any]:
    """Return an error with its position, lines and columns from 1, the end after the last character. ``text``: what it is an error of,
    where the error does not know."""
    if text is not None:
        error.within(text)
    return {"code": error.code, "message": short(error.message), "hint": error.hint, **place_json(error.span, error.text)}


def place_json(span: Span | None, text: str | None) -> dict[str, Any]:
    """Return where something is in a text, with the line and a caret line."""
    if span is None or text is None:
        return {"line": None, "column": None, "end_line": None, "end_column": None, "excerpt": []}
    line, column = span.line_column(text)
    end_line, end_column = Span(span.end, span.end).line_column(text)
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column, "excerpt": span.caret(text).splitlines()}


def fault_json(code: str, message: str, hint: str | None = None) -> dict[str, Any]:
    """Return an error without a position, in the form of ``error_json``."""
    return {"code": code, "message": short(message), "hint": hint, **place_json(None, None)}


def short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def http_status(error: EplError) -> int:
    """Return the HTTP status: 409 where the text is right but what is deployed is in its way."""
    return 409 if isinstance(error, EplDeploymentError) else 422


def statement_json(statement: Statement) -> dict[str, Any]:
    return {
        "name": statement.name, "deployment": statement.deployment_id, "kind": statement.plan.kind,
        "properties": [{"name": name, "type": kind} for name, kind in statement.properties.items()],
    }


def rows_json(rows: Iterable[Row]) -> str:
    """Return rows as the text of a JSON array."""
    return f"[{','.join(row.to_json() for row in rows)}]"


def time_text(now: int, units_per_second: int) -> str | None:
    """Return engine time as ISO 8601; None outside of the years 1 to 9999."""
    return show_instant(now, units_per_second).partition(" (")[2].rstrip(")") or None


def encode_json(value: Any) -> bytes:
    """Return a value as JSON."""
    return as_utf8(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def as_utf8(text: str) -> bytes:
    """Return JSON text as UTF-8; half of a surrogate pair, which UTF-8 has not, as JSON's escape."""
    return text.encode("utf-8", "backslashreplace")


__all__ = [
    "as_utf8",
    "encode_json",
    "error_json",
    "fault_json",
    "http_status",
    "place_json",
    "rows_json",
    "short",
    "statement_json",
    "time_text",
]  # fmt: skip
