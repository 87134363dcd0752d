"""What an exception in a statement's expression is reported as, where it ends the work: statement, place in the EPL text, event, engine
time.

All of it is found on the way of the error; events that raise nothing pay nothing.
"""
from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import TYPE_CHECKING, Any

import attrs

from epl import java
from epl.errors import EplError, EplRuntimeError
from epl.spans import Span
from epl.syntax import Binary, Call, Node
from runtime.api.plan_cache import parse_text
from runtime.api.runtime import Runtime, internal_engine

if TYPE_CHECKING:
    from runtime.api.statement import Statement

LONGEST = 300
"""The number of characters of an event that are shown."""

OPERATORS = {
    java.integer_divide.__code__: "/", java.float_divide.__code__: "/", java.decimal_divide.__code__: "/",
    java.integer_remainder.__code__: "%", java.float_remainder.__code__: "%", java.decimal_remainder.__code__: "%",
}
"""Errors of Java's arithmetic, and how it is written."""


class StatementFault(EplRuntimeError):
    """An exception in an expression; its cause is the exception. ``statement``: the name; ``event``: that was processed, None for a
    timer; ``time``: engine time then."""

    def __init__(self, message: str, statement: str, event: Any, time: int, **place: Any) -> None:
        super().__init__(message, **place)
        self.statement = statement
        self.event = event
        self.time = time


def build_fault(runtime: Runtime, error: BaseException, statement: str, event: Any) -> StatementFault:
    """Return the error as one that says where it happened. Called where the error is handled, while the clock is at the event."""
    text = None
    spans: list[Span] = []
    failed = _statement(runtime, statement)
    where = f"statement '{statement}'"
    if failed is not None:
        text = runtime.deployments[failed.deployment_id].plan.text
        whole = _whole(runtime, failed)
        spans = _own(error) or list(_expressions(whole, _find_culprit(runtime, error))) or [s for s in (_body(whole),) if s is not None]
        if spans:
            places = " or ".join(_place(each, text) for each in spans)
            where += f" ({places}, {_short(text[spans[0].start : spans[0].end], 60)})"
    at_work = "a timer" if event is None else show_event(event)
    fault = StatementFault(
        f"{where}: {in_words(error)}; while processing {at_work} at engine time {runtime.now}", statement, event, runtime.now,
        span=spans[0] if len(spans) == 1 else None, text=text,
        hint=error.hint if isinstance(error, EplError) else None,
    )
    fault.__cause__ = error
    return fault


def in_words(error: BaseException) -> str:
    """Return an error in one line."""
    return error.message if isinstance(error, EplError) else f"{type(error).__name__}: {error}"


def show_event(event: Any) -> str:
    """Return an event, or the values of a row, for people: cut off where it is long."""
    return _short(str(event), LONGEST)


def _short(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most]}…"


def _place(span: Span, text: str) -> str:
    line, column = span.line_column(text)
    return f"line {line} column {column}"


def _statement(runtime: Runtime, name: str) -> Statement | None:
    """Return the one statement of that name; None where several deployments have it."""
    statements = [s for d in runtime.deployments.values() for s in d if s.name == name]
    return statements[0] if len(statements) == 1 else None


def _whole(runtime: Runtime, statement: Statement) -> Node:
    """Return the statement as it was written."""
    deployment = runtime.deployments[statement.deployment_id]
    return parse_text(deployment.plan.text).statements[deployment.statements.index(statement)]


def _own(error: BaseException) -> list[Span]:
    """Return the position that an error has in the module: expressions in a SQL dialect know theirs."""
    return [error.span] if isinstance(error, EplError) and error.span is not None and error.text is None else []


def _body(whole: Node) -> Span | None:
    body = getattr(whole, "body", None)
    return body.span if isinstance(body, Node) and body.span is not None else whole.span


def _find_culprit(runtime: Runtime, error: BaseException) -> tuple[str | None, str | None]:
    """Return what was at work when it was raised: (name of a user's function, operator), None where it was neither."""
    functions = {code: name for name, f in internal_engine(runtime).definitions.user_functions.items() if (code := _code(f)) is not None}
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code in functions:
            return functions[code], None
        if code in OPERATORS:
            return None, OPERATORS[code]
        traceback = traceback.tb_next
    return None, None


def _code(function: Any) -> CodeType | None:
    """Return the code of a function, method or callable object; None if it is not written in Python."""
    code = getattr(function, "__code__", None) or getattr(getattr(function, "__call__", None), "__code__", None)  # noqa: B004
    return code if isinstance(code, CodeType) else None


def _expressions(node: Any, names: tuple[str | None, str | None]) -> Iterator[Span]:
    """Yield where in a statement the function is called, or the operator is."""
    if isinstance(node, (tuple, list)):
        for each in node:
            yield from _expressions(each, names)
    elif isinstance(node, Node):
        name, operator = names
        hit = (isinstance(node, Call) and node.name == name) or (isinstance(node, Binary) and node.operator == operator)
        if hit and node.span is not None:
            yield node.span
        for field in attrs.fields(type(node)):
            yield from _expressions(getattr(node, field.name), names)


__all__ = ["StatementFault", "build_fault", "in_words", "show_event"]
