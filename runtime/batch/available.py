"""Whether there is a batch tier."""
from __future__ import annotations

import importlib.util
import sys
from functools import lru_cache


def is_available() -> bool:
    """Return whether numba is installed; without it everything runs in the row tier. Cheap to ask: it is not imported."""
    if "numba" in sys.modules:
        return sys.modules["numba"] is not None
    return importlib.util.find_spec("numba") is not None


@lru_cache(maxsize=1)
def missing() -> str | None:
    """Return why there is no batch tier; None if there is one. Imports numba, which refuses a numpy that is newer than it knows."""
    if not is_available():
        return "numba is not installed"
    try:
        import numba  # noqa: F401
    except (ImportError, OSError) as error:
        return f"numba cannot be imported: {error}"
    return None


__all__ = ["is_available", "missing"]
