"""Python functions that ``method:name(…)`` calls: what their type hints say of arguments and rows, and the call."""
from __future__ import annotations

import collections.abc
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from epl.errors import EplDeploymentError, EplRuntimeError
from epl.event_types import EventType
from epl.functions.user import function_spec, hint_type, with_arguments
from epl.historical_sources import Method
from epl.value_types import ValueType
from runtime.conversion.python_types import Known, class_fields, describe_event_type
from runtime.historical.cache import CacheConfig
from runtime.historical.result_rows import MAX_ROWS, ResultRows
from windows.event import Event

SEVERAL = {
    list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Iterator, collections.abc.Generator,
    collections.abc.Collection,
}
NO_ROWS = (str, bytes, int, float, bool, complex, type(None))


@attrs.frozen(kw_only=True)
class RegisteredMethod:
    """A registered function. ``declared``: what analysis sees of it."""

    declared: Method
    function: Callable[..., Any]
    cache: CacheConfig | None = None
    max_rows: int = MAX_ROWS

    def caller(self, row_type: EventType, steps: Sequence[str], units_per_second: int) -> Callable[[Sequence[Any]], tuple[Event, ...]]:
        """Return what calls the function with arguments and returns its rows; it raises EplRuntimeError naming the function."""
        call = with_arguments(self.function, steps)
        rows = ResultRows(row_type, units_per_second, self.max_rows)
        class_name, _, name = self.declared.name.rpartition(".")
        of_class = f" of class '{class_name}'" if class_name else ""

        def look_up(arguments: Sequence[Any]) -> tuple[Event, ...]:
            try:
                return rows.of(call(*arguments))
            except EplRuntimeError as error:
                raise EplRuntimeError(f"Method '{name}'{of_class} returned {error.message}", hint=error.hint) from error
            except Exception as error:
                raise EplRuntimeError(
                    f"Method '{name}'{of_class} reported an exception: {type(error).__name__}: {error}"
                ) from error

        return look_up


def read_methods(
    name: str, source: Any, *, row: Any, cache: CacheConfig | None, max_rows: int, known: Known
) -> Iterator[RegisteredMethod]:
    """Yield what ``register_method`` registers: the function ``name``, or each public function of a class, module or object as
    ``name.function``. Raises EplDeploymentError where there is none.
    """
    row_type = None if row is None else _row_type(name, row, known)
    if isinstance(source, (type, types.ModuleType)) or not callable(source):
        functions = {f"{name}.{member}": function for member, function in _public(source)}
        if not functions:
            raise EplDeploymentError(f"'{name}' has no public static methods", hint="give a function, a class, a module or an object")
    else:
        functions = {name: source}
    for full_name, function in functions.items():
        yield RegisteredMethod(declared=_declare_method(full_name, function, row_type, known), function=function, cache=cache,
            max_rows=max_rows)


def _public(source: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions that are called as they are: static and class methods of a class, functions of a module, methods of an object."""
    for member in dir(source):
        if member.startswith("_"):
            continue
        if isinstance(source, type):
            if isinstance(inspect.getattr_static(source, member), (staticmethod, classmethod)):
                yield member, getattr(source, member)
        elif inspect.isroutine(getattr(source, member)):
            yield member, getattr(source, member)


def _declare_method(name: str, function: Callable[..., Any], row_type: EventType | None, known: Known) -> Method:
    spec, hints = function_spec(name, function), _hints(function)
    returned = hints.get("return")
    returns_rows = row_type is not None or not _is_no_rows(returned)
    if row_type is None and returns_rows:
        row_class = _row_class(returned)
        row_type = None if row_class is None else _row_type(name, row_class, known)

    def bind(arguments: Sequence[ValueType]) -> tuple[str, ...] | None:
        bound = spec.bind(arguments, ())
        return None if bound is None else tuple(bound.constants[0])

    return Method(name=name, parameters=_parameters(function, hints), bind=bind, row_type=row_type, returns_rows=returns_rows)


def _hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        return typing.get_type_hints(target)
    except (NameError, TypeError, AttributeError):  # a hint that names what is not there says nothing
        return {}


def _parameters(function: Callable[..., Any], hints: Mapping[str, Any]) -> tuple[ValueType, ...]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function of C without a signature
        return ()
    return tuple(hint_type(hints.get(p.name, object)) for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY)


def _row_class(hint: Any) -> Any:
    """Return the class of the rows that a return hint names: ``list[Row]``, ``Iterator[Row]``, ``Row | None``; None where it names none."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in arguments if a is not type(None)]
        return _row_class(inner[0]) if len(inner) == 1 else None
    if origin is typing.Annotated or origin in SEVERAL:
        return _row_class(arguments[0]) if arguments else None
    return hint if class_fields(hint) is not None else None


def _is_no_rows(hint: Any) -> bool:
    """Return whether the hint names values that are not rows: a string, a number, nothing at all."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return all(_is_no_rows(a) for a in arguments)
    if origin in SEVERAL and arguments:
        return _is_no_rows(arguments[0])
    return hint in NO_ROWS


def _row_type(name: str, row: Any, known: Known) -> EventType:
    """Return the event type of rows: a registered one by its name or class, else one of their own."""
    if isinstance(row, str):
        if row not in known.event_types:
            raise EplDeploymentError(f"'{name}' returns event type '{row}' and the event type cannot be found")
        return known.event_types[row]
    if isinstance(row, type) and row in known.classes:
        return known.classes[row]
    return describe_event_type(row.__name__ if isinstance(row, type) else name, row, known)


__all__ = ["RegisteredMethod", "read_methods"]
