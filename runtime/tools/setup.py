"""Registering with a runtime what a Python module of the user's gives: functions, aggregations, methods, databases."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from importlib import import_module

from runtime.api.runtime import Runtime


class SetupFault(Exception):
    """A module that cannot register: it cannot be imported, or has no function ``register``."""


def registering(modules: Iterable[str]) -> Callable[[Runtime], None]:
    """Import the modules, also from the current folder, and return a function that calls ``register(runtime)`` of each.

    Raise SetupFault, which names the module, where one cannot be imported or has no such function.
    """
    functions = []
    for name in modules:
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())  # as python -m has it, but behind everything that is installed
        try:
            function = getattr(import_module(name), "register", None)
        except ImportError as error:
            raise SetupFault(f"{name}: {error}") from error
        if not callable(function):
            raise SetupFault(f"{name}: the module has no function register(runtime)")
        functions.append(function)

    def register(runtime: Runtime) -> None:
        for function in functions:
            function(runtime)

    return register


__all__ = ["SetupFault", "registering"]
