"""What sources hand to a pipeline."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import attrs

from epl.errors import EplRuntimeError
from runtime.connectors.row_reader import RowReader

Position = Any
"""How far a source has been read: plain values that a checkpoint keeps."""


@attrs.frozen
class Input:
    """A row of a source. ``where``: its place, for errors; ``row``: its values by name, or what is wrong with it; ``is_text``: whether
    values are text, to be read by their property's type; ``time``: engine time of the row, None where its values say it or none moves."""

    where: str
    row: Mapping[str, Any] | EplRuntimeError
    is_text: bool = False
    time: int | None = None


class Source(Protocol):
    """A source of rows.

    A pipeline opens it, polls, and closes it, all in one thread. It asks for the next rows when those before have been processed, so that a
    source never runs ahead. What a method raises ends the pipeline with an error that names the source.
    """

    name: str
    """Of which each source of a pipeline has its own: a checkpoint keeps positions by it."""

    def open(self, position: Position | None) -> None:
        """Begin after a position, None: at the beginning."""

    def reader(self, runtime: Any) -> RowReader:
        """Return what turns rows into events; after ``open``."""

    def poll(self, seconds: float) -> Sequence[Input] | None:
        """Return the next rows, none after so many seconds without; None at the end."""

    def position(self) -> Position:
        """Return the position after all rows that ``poll`` has returned."""

    def committed(self) -> None:
        """Note that all that ``poll`` has returned is processed for good."""

    def close(self) -> None:
        """End; a second time does nothing."""


__all__ = ["Input", "Position", "Source"]
