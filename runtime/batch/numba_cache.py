"""Functions whose compiled code numba keeps in a folder, and that run all the same where it cannot be kept or what is kept is damaged."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from numba import njit


class DurableCache:
    """numba's cache of a function, of which a file may be cut off (a crash, a full disk): what cannot be read has not been kept."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What has been kept for the signature; None if nothing."""
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
        try:
            self._cache.save_overload(sig, data)
        except OSError as error:
            self._warn("written", error)

    def _warn(self, what: str, error: Exception) -> None:
        message = f"compiled code in {self._cache.cache_path} cannot be {what}, so that it is compiled anew: {error!r}"
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def kept(**options: Any) -> Callable[[Any], Any]:
    """A decorator: the function compiled at its first call, or loaded if it has been kept; compiled in each process where numba finds no
    folder that it may write to."""
    def decorate(function: Any) -> Any:
        try:
            made = njit(cache=True, **options)(function)
        except RuntimeError:
            return njit(**options)(function)
        made._cache = DurableCache(made._cache)
        return made

    return decorate


__all__ = ["DurableCache", "kept"]
