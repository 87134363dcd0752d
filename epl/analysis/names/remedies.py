"""Hints for names that a statement written for Esper uses and that cannot be resolved here: Java classes and their methods."""
from __future__ import annotations

from epl.foreign_words import FUNCTIONS, TYPES, word_hint

CLOCKS = {"System.currentTimeMillis", "System.nanoTime", "Instant.now", "Clock.systemUTC"}
"""Java's clocks. Esper reads the wall clock there, so that a replay differs from the first run; engine time does not."""


def class_as_event_type(name: str) -> str | None:
    """Return the error for an event type or property type with dots in its name; None where it has none."""
    if "." not in name:
        return None
    simple = name.rsplit(".", 1)[-1]
    return (
        f"Java classes are not available: declare the properties with create schema {simple}(name type, …), here or in a module that is "
        f"deployed first (epl check --with FILE), and write {simple}"
    )


def unknown_type(name: str) -> str:
    """Return the error for an event type that no one has declared."""
    return class_as_event_type(name) or "declare it with create schema, here or in a module that is deployed first, or Runtime.register"


def method_call(names: list[str]) -> str:
    """Return the error for ``Class.method(…)`` or ``package.Class.method(…)``; ``names``: the names between the dots."""
    if ".".join(names[-2:]) in CLOCKS:
        return "current_timestamp() is the engine's time in ms; the wall clock is not read, so that a replay gives what the first run gave"
    owner, method = ".".join(names[:-1]), names[-1]
    root = names[0]
    return (
        f"Java classes are not available: call a Python function as {method}(…) after Runtime.register_function('{method}', …), or, where "
        f"'{owner}' is a Python module or class, Settings(python_imports=('{root}',)) and import {owner}"
    )


def function_call(name: str) -> str:
    """Return the error for a function that no one has registered."""
    return word_hint(FUNCTIONS, name) or (
        f"Runtime.register_function('{name}', …) makes a Python function callable, register_aggregation a class that aggregates "
        "(on the command line, in a module of --setup)"
    )


def property_type(name: str) -> str | None:
    """Return the hint for a column's type that is no type of EPL; None where nothing is known."""
    return word_hint(TYPES, name) or class_as_event_type(name)


__all__ = ["class_as_event_type", "function_call", "method_call", "property_type", "unknown_type"]
