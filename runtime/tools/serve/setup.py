"""Registering with a runtime what the one who started the server allows."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from runtime.api.runtime import Runtime


class SetupFault(Exception):
    """A module of ``--allow setup:`` that cannot be used."""


def registering(modules: tuple[str, ...]) -> Callable[[Runtime], None]:
    """Return the function that calls ``register(runtime)`` of each module; raise SetupFault where one has none."""
    functions = []
    for name in modules:
        try:
            function = getattr(import_module(name), "register", None)
        except ImportError as error:
            raise SetupFault(f"--allow setup:{name}: {error}") from error
        if not callable(function):
            raise SetupFault(f"--allow setup:{name}: the module has no function register(runtime)")
        functions.append(function)

    def register(runtime: Runtime) -> None:
        for function in functions:
            function(runtime)

    return register


__all__ = ["SetupFault", "registering"]
