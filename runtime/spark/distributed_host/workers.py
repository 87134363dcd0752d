"""What a Python worker of Spark's does at each task although nothing asks for it, and how it is spared.

Before a task it may call ``importlib.invalidate_caches``, upon which Python reads the directories of all archives on its path again,
Spark's own jar among them, in a loop over thousands of entries: 0.15 to 0.2 s of CPU. After every task it calls ``gc.collect``, which
looks at each of the 100,000 to 200,000 objects of modules: 0.05 to 0.1 s of CPU, and the next task waits for it.
"""
from __future__ import annotations

import gc
import os
import sys
from itertools import count
from zipimport import zipimporter

from pyspark import TaskContext

LOOK_AGAIN = 64
"""The collector sees everything once in so many tasks."""

_tasks = count()


class SteadyArchive(zipimporter):
    """An archive on the path, of which the directory is read again if the file has changed, and not otherwise."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._seen = self._stamp()

    def invalidate_caches(self) -> None:
        """Forget what is cached, as importlib asks for; the next import finds what the file holds."""
        now = self._stamp()
        if now != self._seen:
            super().invalidate_caches()
            self._seen = now

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self.archive)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino


def settle() -> None:
    """Do what every task of ours begins with. No effect beyond a few microseconds, and none outside of Spark's workers but on archives.

    What is there now has been looked at after the task before, and is alive: the collector skips it from here on. What dies of it in
    cycles all the same waits until everything is looked at again (``LOOK_AGAIN``, or ``look_again``).
    """
    steady_archives()
    if TaskContext.get() is None:
        return
    if next(_tasks) % LOOK_AGAIN == LOOK_AGAIN - 1:
        gc.unfreeze()
    else:
        gc.freeze()


def look_again() -> None:
    """Note that something large was dropped: let the collector see everything after this task."""
    gc.unfreeze()


def steady_archives() -> None:
    """Let the archives that this process imports from be steady ones. A few microseconds where they are already."""
    for path, finder in tuple(sys.path_importer_cache.items()):
        if type(finder) is zipimporter:
            sys.path_importer_cache[path] = SteadyArchive(path)


__all__ = ["SteadyArchive", "look_again", "settle", "steady_archives"]
