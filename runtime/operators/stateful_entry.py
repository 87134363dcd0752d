"""Entries of streams that keep a state of their own: of a pattern, or of match_recognize of a SQL dialect."""
from __future__ import annotations

from typing import ClassVar

from windows.protocol import State


class StatefulEntry:
    """``kept_as``: the name of its state in that of the stream."""

    kept_as: ClassVar[str]

    def repeat(self) -> None:
        """Do nothing: entries of in-lists that hold a value twice see to it themselves."""

    def start(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def state(self) -> State:
        raise NotImplementedError

    def restore(self, state: State) -> None:
        raise NotImplementedError


__all__ = ["StatefulEntry"]
