"""The runtime's state over restarts: one snapshot in a folder, replaced as a whole."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import IO

FILE = "runtime.snapshot"


class StateFault(Exception):
    """The folder cannot be used."""


class StoredState:
    """A folder that one server at a time uses. Raise StateFault where another one does, or it cannot be written to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._saved = -1
        self._lock: IO[bytes] | None = None
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = (folder / "lock").open("ab")
            _lock(self._lock)
        except BlockingIOError as error:
            self.close()
            raise StateFault(f"{folder}: another server uses it") from error
        except OSError as error:
            self.close()
            raise StateFault(f"{folder}: {error.strerror or error}") from error

    def read(self) -> bytes | None:
        """Return the last snapshot."""
        try:
            return (self.folder / FILE).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StateFault(f"{self.folder / FILE}: {error.strerror or error}") from error

    def is_current(self, changes: int) -> bool:
        """Return whether the snapshot of this count of changes is saved."""
        return changes == self._saved

    def write(self, snapshot: bytes, changes: int) -> None:
        """Replace the snapshot: whenever the machine stops, the old one or the new one is there."""
        temporary = self.folder / f"{FILE}.new"
        with open(temporary, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(snapshot)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.folder / FILE)
        with contextlib.suppress(OSError, AttributeError):  # Windows opens no folders
            descriptor = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        self._saved = changes

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()


def _lock(file: IO[bytes]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


__all__ = ["StateFault", "StoredState"]
