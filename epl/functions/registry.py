"""What an expression may call. Built-ins register here the way a user's functions do.

A function is data: how it types (``bind``: argument types → result type, or a refusal) and what it does (``make``: bound constants →
Python callable
over evaluated arguments). Plans hold names and constants only; the callable is made again wherever the plan is built.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from epl.event_types import EventType
from epl.value_types import Scalar, ValueType


@attrs.frozen
class Bound:
    """What ``bind`` gives: the result type, constants for ``make``, and whether a null argument makes the result null without a call."""

    type: ValueType
    constants: tuple[Any, ...] = ()
    null_propagates: bool = False


@attrs.frozen
class FunctionSpec:
    """A callable of the language.

    ``key`` is unique and stable (``Math.abs``, ``String.substring``, ``enum.where``, ``user.myfunc``). ``bind(types, constants)``:
    argument types, and for
    each argument its constant value or ``NOT_CONSTANT``; for methods the receiver is argument 0. It raises ``ValueError(message)`` to
    refuse
    (the analysis adds position and context) and returns None for "no such overload".
    ``make(*constants)`` gives the Python callable.
    """

    key: str
    bind: Callable[[Sequence[ValueType], Sequence[Any]], Bound | None]
    make: Callable[..., Callable[..., Any]]
    signature: str = ""
    summary: str = ""


class NotConstant:
    def __repr__(self) -> str:
        return "NOT_CONSTANT"


NOT_CONSTANT = NotConstant()


FIRST_ARGUMENT = Scalar("type of the first argument")
"""In a LambdaShape: the boxed type of argument 0, which is not a lambda (the state of ``aggregate`` has its seed's type)."""


TIME_PERIOD = Scalar("TimePeriod")
"""The type of a time period as an argument of a function (``x.plus(1 month)``); its value is a tuple: unit, number, unit, number, …"""


@attrs.frozen
class LambdaShape:
    """What a lambda argument of an enumeration method receives: a type for each of 1..n parameters (element, index, size; or state,
    element, …)."""

    parameters: tuple[ValueType, ...]


@attrs.frozen
class EnumerationSpec:
    """An enumeration method (``where``, ``sumOf``, …) over a collection of elements.

    ``arguments(element, argument_count)``: for each argument a LambdaShape (a lambda is taken; one with fewer parameters too), or None (a
    plain
    expression). Ask ``mismatch`` first. ``bind(collection, argument_types)``: the result type, given the collection's type and, for each
    argument, its
    value type (a lambda's body type); it raises ValueError with Esper's words to refuse.
    ``make(counts, *constants)``: callable(list of elements or None, *arguments), where a lambda argument is a Python callable of exactly
    the parameters
    it was written with; ``counts`` is the tuple of those numbers (0 for plain arguments), which the caller puts in front of the bound
    constants.
    Null collections give null.
    """

    name: str
    arguments: Callable[[ValueType, int], Sequence[LambdaShape | None]]
    bind: Callable[[ValueType, Sequence[ValueType]], Bound | None]
    make: Callable[..., Callable[..., Any]]
    signature: str = ""
    summary: str = ""
    mismatch: Callable[[Sequence[int | None]], str | None] = lambda _written: None
    """Given, for each argument written, its number of lambda parameters (None: a plain expression): why the method does not take them, in
    Esper's words."""


@attrs.define
class FunctionRegistry:
    """All functions that a runtime knows; a runtime copies the built-ins and adds its user's."""

    single_row: dict[str, FunctionSpec] = attrs.field(factory=dict)
    """By name: ``myfunc(x)``."""
    static: dict[tuple[str, str], FunctionSpec] = attrs.field(factory=dict)
    """By class and method: ``Math.abs(x)``; full class names too."""
    methods: dict[str, list[FunctionSpec]] = attrs.field(factory=dict)
    """By method name, tried in order: ``x.substring(1)``. Date-time methods too, also under their names in lower case: Esper takes them in
    any case."""
    enumeration: dict[str, EnumerationSpec] = attrs.field(factory=dict)
    """By method name in lower case."""
    constants: dict[str, tuple[ValueType, Any]] = attrs.field(factory=dict)
    """``Integer.MAX_VALUE`` and enum constants, by dotted name."""
    by_key: dict[str, FunctionSpec | EnumerationSpec] = attrs.field(factory=dict)
    aggregations: dict[str, Callable[[], Any]] = attrs.field(factory=dict)
    """What makes a user's aggregation for one group, by name in lower case (epl.aggregations.user)."""

    def copy(self) -> FunctionRegistry:
        return FunctionRegistry(
            dict(self.single_row), dict(self.static), {k: list(v) for k, v in self.methods.items()}, dict(self.enumeration),
            dict(self.constants), dict(self.by_key), dict(self.aggregations),
        )

    def add_single_row(self, name: str, spec: FunctionSpec) -> None:
        self.single_row[name] = spec
        self.by_key[spec.key] = spec

    def add_static(self, class_name: str, method: str, spec: FunctionSpec) -> None:
        self.static[class_name, method] = spec
        self.by_key[spec.key] = spec

    def add_method(self, method: str, spec: FunctionSpec) -> None:
        self.methods.setdefault(method, []).append(spec)
        self.by_key[spec.key] = spec

    def add_enumeration(self, spec: EnumerationSpec) -> None:
        self.enumeration[spec.name.lower()] = spec
        self.by_key[f"enum.{spec.name}"] = spec

    def find_callable(self, key: str, constants: tuple[Any, ...]) -> Callable[..., Any]:
        """Return the Python callable of an Invoke node; KeyError names a function that is not registered here."""
        return self.by_key[key].make(*constants)


Classes = Mapping[str, EventType]
