"""What the error handler is told, where Python's own words would not help."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epl.errors import EplRuntimeError

ErrorHandler = Callable[[BaseException, str, Any], None]


def explained(handler: ErrorHandler) -> ErrorHandler:
    """The handler, told of sends within sends that went too deep as what they are; the RecursionError is the cause."""

    def handle(error: BaseException, statement: str, event: Any) -> None:
        if isinstance(error, RecursionError):
            deep = EplRuntimeError(
                "Listeners send events within listeners, deeper than Python's recursion limit",
                hint="runtime.route queues the event instead, without a limit; sys.setrecursionlimit allows more",
            )
            deep.__cause__ = error
            error = deep
        handler(error, statement, event)

    return handle


__all__ = ["explained"]
