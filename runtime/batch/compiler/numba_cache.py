"""Functions whose compiled code numba keeps in a folder, and that run all the same where it cannot be kept or what is kept is damaged.

What numba keeps are pickles, which run code when they are read: none are read from a folder that others may write to.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

from runtime.batch.compiler.private_files import others_may_write, warn_once


class DurableCache:
    """numba's cache of a function, of which a file may be cut off (a crash, a full disk): what cannot be read has not been kept, nor has
    what others may have written."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what has been kept for the signature; None if nothing."""
        if not self._is_private():
            return None
        try:
            return self._cache.load_overload(sig, target_context)
        except Exception as error:  # noqa: BLE001  whatever reading a damaged pickle raises
            self._warn("read", error)
        try:
            self._cache.flush()
        except OSError as error:
            self._warn("written", error)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep it."""
        if not self._is_private():
            return
        try:
            self._cache.save_overload(sig, data)
        except OSError as error:
            self._warn("written", error)

    def _is_private(self) -> bool:
        folder = Path(self._cache.cache_path)
        try:
            shared = others_may_write(folder) if folder.exists() else False
        except OSError as error:
            warn_once(folder, str(error))
            return False
        if shared:
            warn_once(folder, "others may write to it, or to a folder that it is in")
        return not shared

    def _warn(self, what: str, error: Exception) -> None:
        message = f"compiled code in {self._cache.cache_path} cannot be {what}, so that it is compiled again: {error!r}"
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def cache_kernel(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator: the function compiled at its first call, or loaded if it has been kept; compiled in each process where numba
    finds no folder that it may write to."""
    def decorate(function: Any) -> Any:
        try:
            dispatcher = njit(cache=True, **options)(function)
        except RuntimeError:
            return njit(**options)(function)
        dispatcher._cache = DurableCache(dispatcher._cache)
        return dispatcher

    return decorate


__all__ = ["DurableCache", "cache_kernel"]
