"""Attributes of objects in generated source text, written as attributes, so that type checkers see them and a renamed one fails at once.

>>> class Window:
...     def __init__(self) -> None:
...         self.entries = [1, 2]
>>> window = name_attributes("window", Window())
>>> f"{window.entries}.append(e)"
'window.entries.append(e)'
>>> window.events
Traceback (most recent call last):
    ...
AttributeError: 'Window' object has no attribute 'events'
"""
from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

MOST_KEPT = 4_096
"""How many texts of a method are kept: its arguments are names, of which a statement may have any number."""


class _Named:
    """The text of an object: of a variable, or of an attribute of one."""

    __slots__ = ("__text", "__object")

    def __init__(self, text: str, of: object) -> None:
        self.__text = text
        self.__object = of

    def __getattr__(self, name: str) -> _Named:
        return _Named(f"{self.__text}.{name}", getattr(self.__object, name))

    def __str__(self) -> str:
        return self.__text


def name_attributes(name: str, of: T) -> T:
    """Return an object whose attributes are, in an f-string, source text that reads them from the variable ``name``.

    Raise AttributeError for an attribute that ``of``, the object that the variable holds when the text runs, does not have.
    """
    return cast(T, _Named(name, of))


def name_class_attributes(name: str, of: Callable[..., T]) -> T:
    """Do as ``name_attributes`` for a variable whose object is made while the text runs: only the attributes of a class with slots are
    known, and none of theirs."""
    return cast(T, _Named(name, of))


def once_a_class(print_text: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
    """Decorate a method that prints source text: the text is a function of the object's class and of the arguments, and kept for both."""
    texts: dict[Hashable, R] = {}

    @wraps(print_text)
    def text_once(self: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
        key = type(self), *args, *kwargs.values()
        text = texts.get(key)
        if text is None:
            if len(texts) > MOST_KEPT:
                texts.clear()
            text = texts[key] = print_text(self, *args, **kwargs)
        return text

    return text_once


__all__ = ["MOST_KEPT", "name_attributes", "name_class_attributes", "once_a_class"]
