"""How errors reach people: in words that help, without the frames of the engine."""
from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from epl.errors import EplError, EplRuntimeError
from runtime.arguments import check_arguments
from runtime.event_loop.delivery import Condition, ConditionHandler

ErrorHandler = Callable[[BaseException, str, Any], None]
RAISED = "_raised_by_error_handler"
"""Marks an exception that the application's error handler has raised."""
P = ParamSpec("P")
T = TypeVar("T")


def without_engine_frames(method: Callable[P, T]) -> Callable[P, T]:
    """Return the method, its arguments checked; an EplError that it raises shows the caller's frames and this one, since it names position,
    cause and hint itself. Other exceptions keep all of their frames.
    """
    door = check_arguments(method)

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return door(*args, **kwargs)
        except EplError as error:
            raise error.with_traceback(None)  # noqa: B904 - its cause and context stay as they are

    return call


def wrap_handler(handler: ErrorHandler) -> ErrorHandler:
    """Return the handler, called with an error for sends within sends that went too deep; the RecursionError is its cause. What the
    handler raises ends the call, and is not handed to it again on its way."""

    def handle(error: BaseException, statement: str, event: Any) -> None:
        if getattr(error, RAISED, False):
            raise error
        if isinstance(error, RecursionError):
            deep = EplRuntimeError(
                "Listeners send events within listeners, deeper than Python's recursion limit",
                hint="runtime.route queues the event instead, without a limit; sys.setrecursionlimit allows more",
            )
            deep.__cause__ = error
            error = deep
        try:
            handler(error, statement, event)
        except Exception as own:
            setattr(own, RAISED, True)
            raise

    return handle


def reporting(handler: ConditionHandler, on_error: ErrorHandler) -> ConditionHandler:
    """Return the handler of conditions; what it raises goes to the error handler."""

    def report(condition: Condition) -> None:
        try:
            handler(condition)
        except Exception as error:  # noqa: BLE001 - the application's, beside which the engine goes on
            on_error(error, condition.statement or "", None)

    return report


__all__ = ["reporting", "without_engine_frames", "wrap_handler"]
