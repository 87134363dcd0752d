"""What saved state must look like: shapes that each ``restore`` declares, and kinds of values that the plan knows.

A shape is a check (below), or consists of shapes: ``[shape]`` is a list of any length, ``(one, other)`` a list of exactly these,
``{"name": shape}`` a map that has these keys. A snapshot may come from anywhere, so nothing of a wrong kind may get into an operator, where
it would raise at some later event.

>>> check = compile_check({"size": COUNT, "times": [INTEGER]})
>>> check({"size": 3, "times": [1, 2]})
>>> check({"size": -1, "times": []})
Traceback (most recent call last):
...
windows.protocol.Damaged: -1 where a count is expected
"""
from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from functools import wraps
from typing import Any, TypeVar, cast

from epl.event_types import EventOf, EventType
from epl.generated_code import define_names
from epl.reprs import brief
from epl.value_types import ArrayType, CollectionType, EnumType, MapType, Scalar, ValueType
from windows.event import Event, event_class
from windows.paging import Marked, Paged
from windows.protocol import Damaged

Check = Callable[[Any], None]
"""check(value): raises Damaged where the value is not of the kind."""

Shape = Any
"""A Check, or lists, tuples and maps of shapes."""

Restore = TypeVar("Restore", bound=Callable[..., None])

LONG_MIN, LONG_MAX = -(1 << 63), (1 << 63) - 1


def wrong(value: Any, expected: str) -> Damaged:
    """Return the error for a value of the wrong kind."""
    return Damaged(f"a value of type {type(value).__name__} where {expected} is expected")


# ------------------------------------------------------------------ shapes


def compile_check(shape: Shape) -> Check:
    """Return the shape as one function."""
    if isinstance(shape, list):
        return _each(compile_check(shape[0]))
    if isinstance(shape, tuple):
        return _exactly([compile_check(each) for each in shape])
    if isinstance(shape, Mapping):
        return _map({name: compile_check(each) for name, each in shape.items()})
    check: Check = shape
    return check


def _list(value: Any) -> Sequence[Any]:
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, (Paged, Marked)):  # of an operator that runs: only what is read from pages is checked
        return ()
    raise wrong(value, "a list")


def _each(check: Check) -> Check:
    if check is EVENT:
        return _events

    def check_each(value: Any) -> None:
        for item in _list(value):
            check(item)

    return check_each


def _events(value: Any) -> None:
    for kind in set(map(type, _list(value))):
        if not issubclass(kind, Event):
            raise Damaged(f"a value of type {kind.__name__} where an event is expected")


def _exactly(checks: list[Check]) -> Check:
    def check_exactly(value: Any) -> None:
        if len(_list(value)) != len(checks):
            raise Damaged(f"a list of {len(value)} where a list of {len(checks)} is expected")
        for check, item in zip(checks, value):
            check(item)

    return check_exactly


def _map(checks: Mapping[str, Check]) -> Check:
    def check_map(value: Any) -> None:
        if value.__class__ is not dict:
            raise wrong(value, "a map")
        for name, check in checks.items():
            if name not in value:
                raise Damaged(f"'{name}' is missing")
            check(value[name])

    return check_map


def takes(shape: Shape) -> Callable[[Restore], Restore]:
    """Decorate ``restore`` methods, whose last argument is the state: refuse one that is not of the shape before anything is taken from
    it."""
    check = compile_check(shape)

    def decorate(restore: Restore) -> Restore:
        @wraps(restore)
        def restore_checked(*arguments: Any) -> None:
            check(arguments[-1])
            restore(*arguments)

        return cast(Restore, restore_checked)

    return decorate


# ------------------------------------------------------------------ kinds


def class_check(expected: str, *classes: type) -> Check:
    """Accept a value of one of these classes, not of a subclass: True is not an integer."""
    allowed = frozenset(classes)

    def check(value: Any) -> None:
        if value.__class__ not in allowed:
            raise wrong(value, expected)

    return check


def integer(expected: str, least: int, most: int = LONG_MAX) -> Check:
    """Accept an integer from ``least`` to ``most``."""
    def check(value: Any) -> None:
        if value.__class__ is not int:
            raise wrong(value, expected)
        if not least <= value <= most:
            raise Damaged(f"{brief(value)} where {expected} is expected")

    return check


def _anything(value: Any) -> None:
    """Accept any value."""


def _event(value: Any) -> None:
    """Accept an event of any type."""
    if not isinstance(value, Event):
        raise wrong(value, "an event")


ANYTHING: Check = _anything
EVENT: Check = _event


def optional(shape: Shape) -> Check:
    """Accept None, or what the shape says."""
    check = compile_check(shape)

    def check_optional(value: Any) -> None:
        if value is not None:
            check(value)

    return check_optional


BOOLEAN = class_check("true or false", bool)
NUMBER = class_check("a number", int, float, Decimal)
FLOAT = class_check("a number", int, float)
NOTHING = class_check("nothing", type(None))
INTEGER = integer("an integer", LONG_MIN)
COUNT = integer("a count", 0)
TIME = integer("a time", -(1 << 100), 1 << 100)  # sums of times and periods may be beyond a long
DUE = optional(TIME)


_ROWS: ContextVar[Check | None] = ContextVar("rows", default=None)
"""What rows of the statement that is being restored must be, beyond what all rows are."""


@contextmanager
def rows_are(check: Check) -> Iterator[None]:
    """Let ROW accept what ``check`` does and nothing else."""
    token = _ROWS.set(check)
    try:
        yield
    finally:
        _ROWS.reset(token)


def row_check(event_types: Sequence[EventType], optional_streams: Collection[int]) -> Check:
    """Accept an event of each type, or null of the streams that a row may lack."""
    checks = [optional(of_event(each)) if n in optional_streams else of_event(each) for n, each in enumerate(event_types)]
    exactly = _exactly(checks)

    def check_row(value: Any) -> None:
        exactly(value)
        if not any(value):
            raise Damaged("a joined row without an event")

    return check_row


def _row(value: Any) -> None:
    check = _ROWS.get()
    if check is not None:
        check(value)
    elif value.__class__ is list or value.__class__ is tuple:
        if len(value) < 2:
            raise wrong(value, "a row")
        for each in value:
            if each is not None:
                _event(each)
    else:
        _event(value)


ROW: Check = _row
"""An event, or the events of a joined row."""


# ------------------------------------------------------------------ values of the types that a plan knows


CLASSES: Mapping[str, tuple[type, ...]] = {
    "boolean": (bool,), "byte": (int,), "short": (int,), "int": (int,), "long": (int,), "BigInteger": (int,),
    "float": (float, int), "double": (float, int), "BigDecimal": (Decimal, int), "Number": (int, float, Decimal),
    "char": (str,), "String": (str,), "Date": (datetime.datetime,), "Calendar": (datetime.datetime,),
    "LocalDateTime": (datetime.datetime,), "ZonedDateTime": (datetime.datetime,), "OffsetDateTime": (datetime.datetime,),
    "LocalDate": (datetime.date,), "LocalTime": (datetime.time,),
}
"""Of the values of a scalar type; every other kind holds any value."""

WIDTHS: Mapping[str, int] = {"byte": 8, "short": 16, "int": 32, "long": 64}
LISTS = (list, tuple, set, frozenset, bytes)


def of_type(value_type: ValueType) -> Check:
    """Accept a value of the type, or null."""
    if isinstance(value_type, Scalar) and value_type.kind in CLASSES:
        return _scalar(value_type)
    if isinstance(value_type, EnumType):
        return class_check("a constant of an enum", str, type(None))
    if isinstance(value_type, EventOf):
        return optional(of_event(value_type.event_type))
    if isinstance(value_type, MapType):
        return class_check("a map", dict, type(None))
    if isinstance(value_type, (ArrayType, CollectionType)):
        return _collection(value_type)
    return ANYTHING


def _scalar(value_type: Scalar) -> Check:
    check = class_check(f"a value of type {value_type}", *CLASSES[value_type.kind], type(None))
    bits = WIDTHS.get(value_type.kind)
    if bits is None:
        return check
    least, most = -(1 << bits - 1), (1 << bits - 1) - 1

    def check_integer(value: Any) -> None:
        check(value)
        if value is not None and not least <= value <= most:
            raise Damaged(f"{brief(value)} where a value of type {value_type} is expected")

    return check_integer


def _collection(value_type: ArrayType | CollectionType) -> Check:
    whole, element = class_check(f"a value of type {value_type}", *LISTS, type(None)), of_type(value_type.element)
    if element is ANYTHING:
        return whole

    def check_collection(value: Any) -> None:
        whole(value)
        for item in value or ():
            element(item)

    return check_collection


def scalars_fit(types: Sequence[ValueType]) -> Callable[[Sequence[Any]], bool]:
    """Return whether as many values are what ``of_type`` says of those types that are scalar: one generated function, for many events of a
    type.

    >>> from epl.value_types import LONG, STRING
    >>> scalars_fit((LONG, STRING))([7, None]), scalars_fit((LONG, STRING))([7, 7])
    (True, False)
    """
    tests = [_scalar_test(f"v{n}", each) for n, each in enumerate(types) if isinstance(each, Scalar) and each.kind in CLASSES]
    lines = ["def fit(values):", f"    {''.join(f'v{n}, ' for n in range(len(types)))} = values", f"    return {' and '.join(tests)}", ""]
    if not tests:
        return lambda values: True
    classes = {each.__name__: each for several in CLASSES.values() for each in several}
    fit: Callable[[Sequence[Any]], bool] = define_names("\n".join(lines), classes)["fit"]
    return fit


def _scalar_test(name: str, value_type: Scalar) -> str:
    bits = WIDTHS.get(value_type.kind)
    limits = "" if bits is None else f" and {-(1 << bits - 1)} <= {name} <= {(1 << bits - 1) - 1}"
    classes = [f"{name}.__class__ is {each.__name__}{limits}" for each in CLASSES[value_type.kind]]
    return f"({name} is None or {' or '.join(classes)})"


def of_event(event_type: EventType) -> Check:
    """Accept an event that has all properties of the type: of the type itself, of a sub-type, or of one like it."""
    known: set[type] = set()

    def check_event(value: Any) -> None:
        if value.__class__ not in known:
            EVENT(value)
            missing = [name for name, field in zip(event_type.names, event_class(event_type).fields) if not hasattr(value, field)]
            if missing:
                raise Damaged(f"an event of type '{value.type.name}' where one of type '{event_type.name}' is expected")
            known.add(value.__class__)

    return check_event


__all__ = [
    "ANYTHING",
    "BOOLEAN",
    "COUNT",
    "DUE",
    "EVENT",
    "FLOAT",
    "INTEGER",
    "NOTHING",
    "NUMBER",
    "ROW",
    "TIME",
    "Check",
    "Shape",
    "class_check",
    "compile_check",
    "integer",
    "of_event",
    "of_type",
    "optional",
    "row_check",
    "rows_are",
    "scalars_fit",
    "takes",
]
