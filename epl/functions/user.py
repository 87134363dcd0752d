"""Python functions that EPL calls: ``rate(price)`` after ``Runtime.register_function("rate", rate)``, static functions of Python modules
and classes.

Type hints give the types: int is long, float is double, Optional and ``X | None`` are taken off; what has no hint is Object. A value type
(``epl.value_types.INT``) may occur as a hint too. Arguments are handed over as Python values (``epl.value_types``), nulls as None.
"""
from __future__ import annotations

import datetime
import decimal
import importlib
import importlib.util
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from epl.event_types import EventOf
from epl.functions.registry import Bound, FunctionRegistry, FunctionSpec
from epl.value_types import (
    BIG_DECIMAL,
    BOXED_BOOLEAN,
    BOXED_DOUBLE,
    BOXED_LONG,
    LOCAL_DATE,
    LOCAL_TIME,
    OBJECT,
    STRING,
    ZONED_DATE_TIME,
    ArrayType,
    CollectionType,
    EnumType,
    MapType,
    Scalar,
    ValueType,
    is_null,
    is_numeric,
)

PLAIN: Mapping[Any, ValueType] = {
    str: STRING, int: BOXED_LONG, float: BOXED_DOUBLE, bool: BOXED_BOOLEAN, decimal.Decimal: BIG_DECIMAL, object: OBJECT, Any: OBJECT,
    datetime.datetime: ZONED_DATE_TIME, datetime.date: LOCAL_DATE, datetime.time: LOCAL_TIME,
    list: CollectionType(OBJECT, "List"), tuple: CollectionType(OBJECT, "List"), dict: MapType(OBJECT, OBJECT), type(None): OBJECT,
}
MOMENTS = ("Date", "Calendar", "LocalDateTime", "ZonedDateTime", "OffsetDateTime")


def hint_type(hint: Any) -> ValueType:
    """Return the value type of a type hint; Object for what says nothing to EPL."""
    if isinstance(hint, ValueType):
        return hint.boxed
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in arguments if a is not type(None)]
        return hint_type(inner[0]) if len(inner) == 1 else OBJECT
    if origin is typing.Annotated:
        return hint_type(arguments[0])
    if origin in (list, tuple, set, frozenset, Sequence):
        return CollectionType(hint_type(arguments[0]) if arguments else OBJECT, "List")
    if origin in (dict, Mapping):
        return MapType(hint_type(arguments[0]), hint_type(arguments[1]))
    try:
        return PLAIN.get(hint, OBJECT)
    except TypeError:
        return OBJECT


def accepts(parameter: ValueType, argument: ValueType) -> bool:
    """Return whether an argument of a type may be handed to a parameter of a hint's type."""
    if OBJECT in (parameter, argument) or is_null(argument) or parameter == argument.boxed:
        return True
    if is_numeric(parameter) and is_numeric(argument):
        return _widens(parameter, argument)
    if isinstance(parameter, Scalar) and isinstance(argument, Scalar):
        if parameter.kind in MOMENTS and argument.kind in MOMENTS:
            return True
        return parameter == STRING and argument.kind == "char"
    if parameter == STRING:
        return isinstance(argument, EnumType)
    if isinstance(parameter, (ArrayType, CollectionType)):
        return isinstance(argument, (ArrayType, CollectionType))
    return isinstance(parameter, MapType) and isinstance(argument, (MapType, EventOf))


def _widens(parameter: ValueType, argument: ValueType) -> bool:
    order = ("byte", "short", "int", "long", "BigInteger", "float", "double", "BigDecimal")
    assert isinstance(parameter, Scalar) and isinstance(argument, Scalar)
    if "Number" in (parameter.kind, argument.kind):
        return parameter.kind == "Number"
    return order.index(argument.kind) <= order.index(parameter.kind)


# ------------------------------------------------------------------ functions


def function_spec(name: str, function: Callable[..., Any], *, key: str | None = None) -> FunctionSpec:
    """Return the specification of a Python function under an EPL name. What it raises is the statement's error."""
    signature, hints = _signature(function), _hints(function)
    parameters = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.KEYWORD_ONLY] if signature else []
    result = hint_type(hints.get("return", object))
    return FunctionSpec(
        key=key or f"user.{name}", bind=partial(_bind, signature, parameters, hints, result), make=partial(convert_call, function),
        signature=f"{name}{signature}" if signature else f"{name}(…)", summary=(inspect.getdoc(function) or "").split("\n")[0],
    )


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    target = function if not isinstance(function, type) else function.__init__  # type: ignore[misc]
    try:
        return typing.get_type_hints(target)
    except (NameError, TypeError, AttributeError):
        return {}


def _bind(
    signature: inspect.Signature | None, parameters: Sequence[inspect.Parameter], hints: Mapping[str, Any], result: ValueType,
    arguments: Sequence[ValueType], _constants: Sequence[Any],
) -> Bound | None:
    expected: list[ValueType] = [OBJECT] * len(arguments)
    if signature is not None:
        try:
            signature.bind(*arguments)
        except TypeError:
            return None
        expected = [hint_type(hints.get(p.name, object)) for p in _positions(parameters, len(arguments))]
    if not all(accepts(e, a) for e, a in zip(expected, arguments)):
        return None
    steps = tuple(_step(e, a) for e, a in zip(expected, arguments))
    return Bound(result, (steps if any(steps) else (), result_step(result)))


def _positions(parameters: Sequence[inspect.Parameter], count: int) -> list[inspect.Parameter]:
    """Return the parameter at each position; the last one repeats where it is ``*rest``."""
    return [parameters[min(i, len(parameters) - 1)] for i in range(count)]


def _step(expected: ValueType, argument: ValueType) -> str:
    if isinstance(expected, Scalar) and isinstance(argument, Scalar) and expected.kind != argument.kind:
        return {"double": "float", "BigDecimal": "Decimal"}.get(expected.kind, "")
    return ""


def result_step(result: ValueType) -> str:
    """Return what ``convert_call`` does to a result of that type."""
    return {"double": "float", "BigDecimal": "Decimal"}.get(result.kind, "") if isinstance(result, Scalar) else ""


def _to_decimal(value: Any) -> Any:
    return decimal.Decimal(str(value)) if isinstance(value, float) else decimal.Decimal(value)


_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {"float": float, "Decimal": _to_decimal}


def with_arguments(function: Callable[..., Any], steps: Sequence[str]) -> Callable[..., Any]:
    """Return the function with its arguments converted, each by its step; the function itself where there are no steps."""
    if not steps:
        return function
    converts = [_CONVERSIONS.get(s) for s in steps]
    return lambda *arguments: function(*[a if c is None or a is None else c(a) for c, a in zip(converts, arguments)])


def convert_call(function: Callable[..., Any], steps: tuple[str, ...], result: str) -> Callable[..., Any]:
    """Convert numbers to what the hints say, going in and coming out; tuples and sets come out as lists."""
    function = with_arguments(function, steps)
    finish = _CONVERSIONS.get(result)

    def call(*arguments: Any) -> Any:
        value = function(*arguments)
        if value is not None and finish is not None:
            return finish(value)
        return list(value) if isinstance(value, (tuple, set, frozenset)) else value

    return call


# ------------------------------------------------------------------ modules and classes


def add_class(registry: FunctionRegistry, name: str, source: Any) -> None:
    """Make the public functions of a Python module, or the static and class methods of a class, callable as ``name.function(…)``.

    Enum-like and plain constants (text, numbers, booleans) become ``name.CONSTANT``. With a dotted ``name`` the last part alone names it
    too.
    """
    names = dict.fromkeys((name, name.rpartition(".")[2]))
    for member, value in vars(source).items():
        if member.startswith("_"):
            continue
        attribute = getattr(source, member)
        if isinstance(value, (bool, int, float, str, decimal.Decimal)):
            for each in names:
                registry.constants[f"{each}.{member}"] = (PLAIN.get(type(value), OBJECT), value)
        elif callable(attribute) and _is_static(source, value):
            spec = function_spec(member, attribute, key=f"python.{name}.{member}")
            for each in names:
                registry.add_static(each, member, spec)


def _is_static(source: Any, value: Any) -> bool:
    if isinstance(source, types.ModuleType):
        return inspect.isroutine(value)
    return isinstance(value, (staticmethod, classmethod))


def import_python(registry: FunctionRegistry, dotted: str) -> bool:
    """Make a Python module or class callable by its dotted name; return False if there is none of that name.

    Importing runs the module's code: only for names that the engine's configuration lists, never for names taken from EPL text alone.
    """
    source = _find(dotted)
    if source is None:
        return False
    add_class(registry, dotted, source)
    return True


def _find(dotted: str) -> Any:
    if importlib.util.find_spec(dotted.partition(".")[0]) is None:
        return None
    try:
        return importlib.import_module(dotted)
    except ModuleNotFoundError:
        module, _, member = dotted.rpartition(".")
        return getattr(_find(module), member, None) if module else None
