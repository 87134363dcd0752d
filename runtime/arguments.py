"""The check of arguments at every public door: a parameter takes what its type hint says.

``check_arguments`` stands above a function, ``check_methods`` above a class, whose public methods it checks. Three kinds of arguments have
a check of their own, with better words: EPL (``epl.texts``), times and lengths of time (``runtime.clock.instants``, ``epl.durations``), and
functions that are called with arguments (``runtime.statements.callables``). What is called once per event is not checked here.
"""
from __future__ import annotations

import builtins
import datetime
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import wraps
from inspect import Parameter, signature, unwrap
from numbers import Real
from os import PathLike
from types import FunctionType, NoneType, SimpleNamespace, UnionType
from typing import IO, Any, Literal, ParamSpec, Protocol, SupportsIndex, TypeVar, Union, get_args, get_origin, get_type_hints

import attrs

from epl.reprs import safe_repr
from runtime.statements.callables import check_callable

P = ParamSpec("P")
T = TypeVar("T")
Kind = TypeVar("Kind", bound=type)

SHOWN = (bool, int, float, str, bytes, NoneType)
MOST_SHOWN = 60
ELSEWHERE = (PathLike, datetime.datetime, datetime.timedelta)
"""A hint with one of these has a check of its own."""


@attrs.frozen
class Takes:
    """What one parameter takes: ``fits`` says whether a value is of it, ``expected`` is its name in errors."""

    fits: Callable[[Any], bool]
    expected: str


def check_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function; an argument that its type hints do not allow raises TypeError, which names parameter, kind and value.

    Examples:
        >>> @check_arguments
        ... def stop(name: str, after: int | None = None) -> None: ...
        >>> stop("s", after=2.5)
        Traceback (most recent call last):
          ...
        TypeError: stop(after=2.5): expected int or None
    """
    names, checks = list(signature(function).parameters), _Checks(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        takes = checks.by_name
        for name, value in zip(names, args):
            if name in takes and not takes[name].fits(value):
                checks.refuse(name, value)
        for name, value in kwargs.items():
            if name in takes and not takes[name].fits(value):
                checks.refuse(name, value)
        return function(*args, **kwargs)

    return call


def parameter_checks(function: Callable[..., Any]) -> Mapping[str, Takes]:
    """Return what the parameters of a function take, of those that do not take everything."""
    return _Checks(unwrap(function)).by_name


def check_methods(*, but: Collection[str] = ()) -> Callable[[Kind], Kind]:
    """Return a class decorator that checks the public methods which the class itself has, and its ``__init__``. ``but``: those that run
    once per event."""

    def decorate(kind: Kind) -> Kind:
        for name, member in list(vars(kind).items()):
            if name in but or (name[0] == "_" and name != "__init__"):
                continue
            function = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
            if isinstance(function, FunctionType) and not hasattr(function, "__wrapped__"):  # what wraps it checks it, too
                setattr(kind, name, check_arguments(function) if member is function else type(member)(check_arguments(function)))
        return kind

    return decorate


class _Checks:
    """The checks of a function's parameters, which are read from its hints when it is first called: all of its module is there then."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._read: dict[str, Takes] | None = None

    @property
    def by_name(self) -> dict[str, Takes]:
        """What parameters take, of those that do not take everything."""
        if self._read is None:
            self._read = dict(self._checks())
        return self._read

    def _checks(self) -> Iterator[tuple[str, Takes]]:
        scope = _Scope(vars(sys.modules[unwrap(self._function).__module__]))
        for name, parameter in signature(self._function).parameters.items():
            if parameter.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD) and parameter.annotation is not Parameter.empty:
                takes = _takes(_hint(parameter.annotation, scope))
                if takes is not None:
                    yield name, _or_default(takes, parameter.default)

    def refuse(self, name: str, value: object) -> None:
        """Raise TypeError for the value of a parameter."""
        door = self._function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
        takes = self.by_name[name]
        raise TypeError(f"{door}({name}={_show_value(value)}): expected {takes.expected}{_remedy(takes.expected, value)}")


def _remedy(expected: str, value: object) -> str:
    """Return what to write where one value stands for a collection of one, or a frame for frames by name."""
    if isinstance(value, str) and expected.startswith("a collection"):
        return f": write [{value!r}]"
    return f": write {{name: {_show_value(value)}}}" if expected.startswith("a mapping") and hasattr(value, "columns") else ""


def _show_value(value: object) -> str:
    """Return a value for an error: a short one itself, of others the class; a frame is never written out."""
    text = safe_repr(value) if isinstance(value, SHOWN) else ""
    return text if text and len(text) <= MOST_SHOWN else f"<{type(value).__name__}>"


def _or_default(takes: Takes, default: object) -> Takes:
    """Return the same, and the default, which may be of a kind that callers do not write."""
    if default is Parameter.empty or takes.fits(default):
        return takes
    return Takes(lambda value: value is default or takes.fits(value), takes.expected)


class _Scope(dict[str, Any]):
    """The names of a module; Any for those that only type checkers know."""

    def __missing__(self, name: str) -> Any:
        return vars(builtins).get(name, Any)


def _hint(annotation: Any, scope: _Scope) -> Any:
    """Return the type that an annotation says."""
    return get_type_hints(SimpleNamespace(__annotations__={"hint": annotation}), {}, scope)["hint"]


def _takes(hint: Any) -> Takes | None:
    """Return what a hint allows, None for everything and for what is checked elsewhere."""
    if get_origin(hint) in (Union, UnionType):
        return _either(get_args(hint))
    if get_origin(hint) is Literal:
        return _either(tuple(dict.fromkeys(map(type, get_args(hint)))))
    if get_origin(hint) is Callable:
        return _function(get_args(hint))
    if hint is None or hint is NoneType:
        return Takes(lambda value: value is None, "None")
    origin = get_origin(hint) or hint
    if hint is Any or not isinstance(origin, type) or origin in (object, *ELSEWHERE):
        return None
    if origin in NUMBERS:
        return NUMBERS[origin]
    if origin is not Mapping and issubclass(origin, Iterable) and origin.__module__ == "collections.abc":
        return _collection(origin, get_args(hint))
    if issubclass(origin, IO):  # files are of other classes than the one that annotates them
        return Takes(lambda value: hasattr(value, "read") or hasattr(value, "write"), "an open file")
    if getattr(origin, "_is_protocol", False):
        return _protocol(origin)
    return Takes(lambda value: isinstance(value, origin), "a mapping" if origin is Mapping else origin.__name__)


def _number(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind) and not isinstance(value, bool)


NUMBERS = {int: Takes(_number(SupportsIndex), "int"), float: Takes(_number(Real), "a number")}


def _either(hints: tuple[Any, ...]) -> Takes | None:
    each = [_takes(hint) for hint in hints]
    kinds = [takes for takes in each if takes is not None]
    if len(kinds) < len(each):
        return None
    texts = [takes.expected for takes in kinds]
    expected = ", ".join(texts[:-1]) + f" or {texts[-1]}" if len(texts) > 1 else texts[0]
    return Takes(lambda value: any(takes.fits(value) for takes in kinds), expected)


def _function(hints: tuple[Any, ...]) -> Takes | None:
    """Return the check of a function that is called without arguments, or as its caller's text says."""
    if not hints or hints[0] is Ellipsis:
        return Takes(callable, "a function")
    return Takes(_is_called_bare, "a function without arguments") if not hints[0] else None


def _is_called_bare(value: object) -> bool:
    try:
        check_callable(value, arguments="()")
    except TypeError:
        return False
    return True


def _collection(kind: type, hints: tuple[Any, ...]) -> Takes:
    """Return the check of a collection, and of its members where it can be iterated twice. A string is none."""
    member = _takes(hints[0]) if hints else None
    expected = "a collection" if member is None else f"a collection of {member.expected}"

    def fits(value: Any) -> bool:
        if not isinstance(value, kind) or isinstance(value, (str, bytes, Mapping)):
            return False
        return member is None or not isinstance(value, Collection) or all(map(member.fits, value))

    return Takes(fits, expected)


def _protocol(kind: type) -> Takes:
    names = [name for base in kind.__mro__ if base not in (object, Protocol) for name, each in vars(base).items()
             if name[0] != "_" and callable(each)]
    return Takes(lambda value: all(callable(getattr(value, name, None)) for name in names), f"{kind.__name__} ({', '.join(names)})")


__all__ = ["check_arguments", "check_methods", "parameter_checks"]
