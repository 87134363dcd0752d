"""Work counted in function calls, which are the same on any machine: a test asserts them, never a time."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Calls:
    """How many functions, of Python and of C, were called in this thread."""

    count = 0


@contextmanager
def calls(most: int | None = None) -> Iterator[Calls]:
    """Count the calls of a block. Beyond ``most`` the block fails at once, also where it would never end.

    The collector rests meanwhile: it calls back for what other tests have left.
    """
    counted = Calls()

    def count(frame: Any, event: str, argument: Any) -> None:
        if event in ("call", "c_call"):
            counted.count += 1
            assert most is None or counted.count <= most, f"more than {most} calls"

    collects = gc.isenabled()
    gc.disable()
    sys.setprofile(count)
    try:
        yield counted
    finally:
        sys.setprofile(None)
        if collects:
            gc.enable()
    assert most is None or counted.count <= most, f"more than {most} calls"  # also where the block caught the first failure


def calls_of(work: Callable[[], Any]) -> int:
    """Return how many calls the work takes."""
    with calls() as counted:
        work()
    return counted.count
