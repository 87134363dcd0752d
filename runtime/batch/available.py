"""Whether there is a batch tier: cheap to ask."""
from __future__ import annotations

import importlib.util
import sys


def is_available() -> bool:
    """Whether numba is there; without it everything runs in the row tier."""
    if "numba" in sys.modules:
        return sys.modules["numba"] is not None
    return importlib.util.find_spec("numba") is not None


__all__ = ["is_available"]
