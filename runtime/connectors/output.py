"""Rows on their way to sinks."""
from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import attrs

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from runtime.conversion.rows import jsonable

log = logging.getLogger("epl")

STREAMS = ("new", "old", "both")


@attrs.frozen
class OutputRow:
    """A row that a statement emitted. ``time``: engine time; ``is_new``: of the insert stream, else of the remove stream."""

    statement: str
    time: int
    is_new: bool
    values: Mapping[str, Any]

    def json(self) -> str:
        """Return the values as JSON text, as ``Row.to_json`` does."""
        return json.dumps(jsonable(dict(self.values)), ensure_ascii=False)


class Sink(Protocol):
    """A target for the rows of one statement.

    A pipeline opens it, delivers rows in order, and closes it, all in one thread. What a method raises ends the pipeline with an error that
    names the sink; with a state, the rows that were not delivered are delivered after the next start.

    A sink that keeps the state's identity with its rows may have an attribute ``holds``, set by ``open``: the identity of another state
    whose rows it has, ``""`` where it does not know which; None where there are none. The pipeline then refuses to begin, unless it
    appends.
    """

    name: str
    stream: str
    """``new``, ``old`` or ``both``: which rows it gets."""

    def open(self, event_type: EventType, state: str | None) -> int | None:
        """Begin. ``state``: what identifies the pipeline's state, whose checkpoints are numbered; None without one. Return the number of
        the last checkpoint of it whose rows are known to be delivered, else None."""

    def deliver(self, rows: Sequence[OutputRow], checkpoint: int | None) -> None:
        """Write rows; they are durable when this returns. ``checkpoint``: its number, from 1; its rows come again after a failure, the same
        in the same order. None: without a state."""

    def close(self) -> None:
        """End; a second time does nothing."""


def check_stream(stream: str) -> str:
    """Return the stream; raise ValueError."""
    if stream not in STREAMS:
        raise ValueError(f"stream: one of {', '.join(STREAMS)} is expected, not {stream!r}")
    return stream


def close_all(closers: Sequence[Callable[[], object]]) -> None:
    """Call all of them, then raise what the first that failed raised; the others are logged."""
    errors = []
    for close in closers:
        try:
            close()
        except Exception as error:  # noqa: BLE001 - raised or logged below, once the others are closed
            errors.append(error)
    for other in errors[1:]:
        log.error("while a pipeline was closed: %s", other)
    if errors:
        raise errors[0]


def connector_error(what: str, error: BaseException, hint: str | None = None) -> EplRuntimeError:
    """Return the error of a source or sink, with its cause."""
    if isinstance(error, EplRuntimeError):
        return EplRuntimeError(f"{what}: {error.message}", hint=error.hint or hint)
    return EplRuntimeError(f"{what}: {type(error).__name__}: {error}", hint=hint)


__all__ = ["OutputRow", "Sink", "check_stream", "close_all", "connector_error"]
