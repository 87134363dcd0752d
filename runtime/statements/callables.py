"""Checks of what a caller hands over to be called later, at the door: whether it can be called, and so."""
from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import FunctionType, MethodType
from typing import Any


def check_callable(function: object, what: str = "a listener", arguments: str = "(new, old, statement, runtime)") -> None:
    """Raise TypeError for what cannot be called with these arguments. What does not show its parameters passes.

    Examples:
        >>> check_callable(print)
        >>> check_callable(lambda new, old: None)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
          ...
        TypeError: a listener is called with (new, old, statement, runtime); <function <lambda> at ...> takes (new, old)
    """
    if not callable(function):
        raise TypeError(f"{what} is called with {arguments}; {function!r} is not callable")
    if _takes(function, arguments.count(",") + (arguments != "()")):
        return
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of some built-in functions
        return
    try:
        signature.bind(*filter(None, arguments[1:-1].split(",")))
    except TypeError:
        raise TypeError(f"{what} is called with {arguments}; {function!r} takes {_show_parameters(signature)}") from None


def _takes(function: object, count: int) -> bool:
    """Return whether it is a plain function or method that takes so many arguments: seen at once, where a signature is built and bound."""
    is_method = isinstance(function, MethodType)
    plain = function.__func__ if isinstance(function, MethodType) else function
    if not isinstance(plain, FunctionType) or plain.__dict__ or plain.__code__.co_kwonlyargcount:
        return False
    most = plain.__code__.co_argcount - is_method
    return most - len(plain.__defaults__ or ()) <= count <= most


def _show_parameters(signature: inspect.Signature) -> str:
    """Return the parameters without their types."""
    bare = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


def check_listeners(listeners: Mapping[str, Any] | None) -> None:
    """Raise TypeError for what are no listeners."""
    for name, listener in (listeners or {}).items():
        check_callable(listener, f"the listener of '{name}'")


__all__ = ["check_callable", "check_listeners"]
