"""What a Python worker of Spark's does better with one change: it starts each task by having Python forget what archives hold.

Before every task Spark's worker calls ``importlib.invalidate_caches``, upon which Python reads the directories of all archives on its path
again, Spark's own jar among them, in a loop over thousands of entries: 0.15 to 0.2 s of CPU a task, whatever the task is.
"""
from __future__ import annotations

import os
import sys
from zipimport import zipimporter


class SteadyArchive(zipimporter):
    """An archive on the path, of which the directory is read again if the file has changed, and not otherwise."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._seen = self._stamp()

    def invalidate_caches(self) -> None:
        """As importlib asks for; the next import finds what the file holds."""
        now = self._stamp()
        if now != self._seen:
            super().invalidate_caches()
            self._seen = now

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self.archive)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def steady_archives() -> None:
    """Let the archives that this process imports from be steady ones. A few microseconds where they are already."""
    for path, finder in tuple(sys.path_importer_cache.items()):
        if type(finder) is zipimporter:
            sys.path_importer_cache[path] = SteadyArchive(path)


__all__ = ["SteadyArchive", "steady_archives"]
