"""Overloaded Java methods as data: which overload a call means, which conversions its arguments need."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from epl.errors import EplRuntimeError
from epl.functions.java_values import JavaException
from epl.functions.registry import Bound, FunctionRegistry, FunctionSpec
from epl.java import to_float
from epl.value_types import NAMED, NUMERIC_KINDS, OBJECT, ArrayType, CollectionType, EnumType, MapType, Scalar, ValueType

Call = Callable[..., Any]

_WIDENING = ("byte", "short", "int", "long", "float", "double")
_EXACT, _BOXING, _OBJECT = 0.0, 0.1, 20.0
ANY_NUMBER = Scalar("Number")
COMPARABLE, CHAR_SEQUENCE = Scalar("Comparable"), Scalar("CharSequence")
ANY_COLLECTION, ANY_MAP = CollectionType(OBJECT), MapType(OBJECT, OBJECT)
ANY_ARRAY = ArrayType(OBJECT)


def distance(parameter: ValueType, argument: ValueType) -> float | None:
    """Return how far a conversion goes from an argument's type to a parameter's; None where Java (as Esper matches it) has none."""
    if parameter == OBJECT:
        return _OBJECT
    if argument == Scalar("null"):
        return None if isinstance(parameter, Scalar) and parameter.primitive else _BOXING
    if isinstance(parameter, Scalar) and isinstance(argument, Scalar):
        return _scalar_distance(parameter, argument)
    if isinstance(parameter, CollectionType) and isinstance(argument, CollectionType):
        return _EXACT
    if isinstance(parameter, MapType) and isinstance(argument, MapType):
        return _EXACT
    if isinstance(parameter, ArrayType) and isinstance(argument, ArrayType):
        return _EXACT if parameter == argument else _BOXING if parameter == ANY_ARRAY else None
    if isinstance(parameter, EnumType) and isinstance(argument, EnumType):
        return _EXACT if parameter.name == argument.name else None
    return None


def _scalar_distance(parameter: Scalar, argument: Scalar) -> float | None:
    if parameter.kind == argument.kind:
        return _EXACT if parameter.primitive == argument.primitive else _BOXING
    if parameter == ANY_NUMBER:
        return 8.0 if argument.kind in NUMERIC_KINDS else None
    if parameter == COMPARABLE:
        return 9.0 if argument != OBJECT else None
    if parameter == CHAR_SEQUENCE:
        return 1.0 if argument.kind == "String" else None
    if not parameter.primitive:
        return None
    if argument.kind in _WIDENING and parameter.kind in _WIDENING:
        steps = _WIDENING.index(parameter.kind) - _WIDENING.index(argument.kind)
        return steps + (_EXACT if argument.primitive else _BOXING) if steps > 0 else None
    if argument.kind == "char" and parameter.kind in _WIDENING[2:]:
        return _WIDENING.index(parameter.kind) - 1.0
    return None


@attrs.frozen
class Overload:
    """One Java signature. ``nulls``: the call takes null for its non-primitive parameters itself. ``varargs``: the last parameter repeats.

    ``result`` may be a function of the argument types (a list's element, a receiver's own type). ``typed``: ``call(*types)`` makes the
    function.
    """

    parameters: tuple[ValueType, ...]
    result: ValueType | Callable[..., ValueType]
    call: Call
    nulls: bool = False
    varargs: bool = False
    typed: bool = False

    def parameter_types(self, count: int) -> tuple[ValueType, ...] | None:
        if not self.varargs:
            return self.parameters if len(self.parameters) == count else None
        fixed = self.parameters[:-1]
        return fixed + self.parameters[-1:] * (count - len(fixed)) if count >= len(fixed) else None

    def cost(self, arguments: Sequence[ValueType]) -> float | None:
        """Return the sum of distances, or None where the call does not fit."""
        parameters = self.parameter_types(len(arguments))
        if parameters is None:
            return None
        total = 50.0 if self.varargs else 0.0
        for parameter, argument in zip(parameters, arguments):
            step = distance(parameter, argument)
            if step is None:
                return None
            total += step
        return total


def overload(parameters: str | Sequence[ValueType], result: str | ValueType | Callable[..., ValueType], call: Call, *, nulls: bool = False,
             varargs: bool = False, typed: bool = False) -> Overload:
    """Return the overload with types in Java's names: ``overload("int, String", "boolean", f)``; ``T...`` at the end for varargs."""
    if isinstance(parameters, str):
        varargs = varargs or parameters.endswith("...")
        names = [n.strip() for n in parameters.removesuffix("...").split(",") if n.strip()]
        parameters = [type_named(n) for n in names]
    return Overload(tuple(parameters), type_named(result) if isinstance(result, str) else result, call, nulls, varargs, typed)


def type_named(name: str) -> ValueType:
    """Return the type named ``int``, ``Integer``, ``String``, ``Object``, ``String[]``, ``Collection``, ``Map``."""
    if name.endswith("[]"):
        return ArrayType(type_named(name[:-2]))
    special = {"Collection": ANY_COLLECTION, "Map": ANY_MAP, "Comparable": COMPARABLE, "CharSequence": CHAR_SEQUENCE}
    if name in special:
        return special[name]
    value_type = NAMED[name.lower()]
    return value_type.boxed if name[0].isupper() else value_type


def choose(overloads: Sequence[Overload], arguments: Sequence[ValueType]) -> int | None:
    """Return the position of the nearest overload."""
    best: tuple[float, int] | None = None
    for position, candidate in enumerate(overloads):
        cost = candidate.cost(arguments)
        if cost is not None and (best is None or cost < best[0]):
            best = cost, position
    return best[1] if best else None


def conversions(chosen: Overload, arguments: Sequence[ValueType]) -> tuple[str, ...]:
    """Return for each argument what Python must do to it: ``float``, ``float32``, ``ord`` or nothing (empty text); () if nothing at all."""
    steps = tuple(_conversion(p, a) for p, a in zip(chosen.parameter_types(len(arguments)) or (), arguments))
    return steps if any(steps) else ()


def _conversion(parameter: ValueType, argument: ValueType) -> str:
    if not (isinstance(parameter, Scalar) and isinstance(argument, Scalar)) or parameter.kind == argument.kind:
        return ""
    if argument.kind == "char" and parameter.kind in _WIDENING:
        return "ord"
    if parameter.kind == "double" and argument.kind != "float":
        return "float"
    return "float32" if parameter.kind == "float" else ""


_CONVERT: Mapping[str, Call] = {"": lambda v: v, "float": float, "ord": ord, "float32": lambda v: to_float(float(v))}


def convert_arguments(call: Call, steps: tuple[str, ...]) -> Call:
    """Return ``call`` with its arguments converted; null passes through."""
    if not steps:
        return call
    functions = [_CONVERT[s] for s in steps]
    if len(functions) == 1:
        only = functions[0]
        return lambda a: call(None if a is None else only(a))
    return lambda *arguments: call(*[a if a is None else f(a) for f, a in zip(functions, arguments)])


# ------------------------------------------------------------------ static methods


def static_method(class_name: str, name: str, *overloads: Overload, summary: str = "") -> FunctionSpec:
    """Return a static method: null for a primitive parameter gives null, and so does what Java would throw, as in Esper."""
    return FunctionSpec(
        key=f"{class_name}.{name}", bind=partial(_bind_static, overloads), make=partial(_make_static, overloads),
        signature=" | ".join(f"{class_name}.{name}({_parameters_text(o)})" for o in overloads), summary=summary,
    )


def _parameters_text(chosen: Overload) -> str:
    return ", ".join(map(str, chosen.parameters)) + ("..." if chosen.varargs else "")


def _bind_static(overloads: Sequence[Overload], types: Sequence[ValueType], _constants: Sequence[Any]) -> Bound | None:
    position = choose(overloads, types)
    if position is None:
        return None
    chosen = overloads[position]
    steps = conversions(chosen, types)
    result = chosen.result if isinstance(chosen.result, ValueType) else chosen.result(*types)
    primitives = [isinstance(p, Scalar) and p.primitive for p in chosen.parameter_types(len(types)) or ()]
    propagates = bool(primitives) and all(primitives)
    return Bound(result.boxed, (position, steps, tuple(types) if chosen.typed else (), tuple(primitives)), null_propagates=propagates)


def _make_static(
    overloads: Sequence[Overload], position: int, steps: tuple[str, ...], types: tuple[ValueType, ...], primitives: tuple[bool, ...],
) -> Call:
    chosen = overloads[position]
    call = convert_arguments(chosen.call(*types) if chosen.typed else chosen.call, steps)
    if primitives and all(primitives):
        return _null_for_errors(call)
    may_be_null = [i for i, p in enumerate(primitives) if p]
    must_be_given = may_be_null if chosen.nulls else range(len(primitives))

    def call_guard(*arguments: Any) -> Any:
        for i in must_be_given:
            if arguments[i] is None:
                return None
        try:
            return call(*arguments)
        except (EplRuntimeError, ArithmeticError, ValueError):
            return None

    return call_guard


def _null_for_errors(call: Call) -> Call:
    """Return null in place of errors, for arguments that the caller has checked not to be null."""

    def call_check(*arguments: Any) -> Any:
        try:
            return call(*arguments)
        except (EplRuntimeError, ArithmeticError, ValueError):
            return None

    return call_check


# ------------------------------------------------------------------ instance methods

Receiver = Callable[[ValueType], bool]


def instance_method(class_name: str, receiver: Receiver, name: str, *overloads: Overload, summary: str = "") -> FunctionSpec:
    """Return a method of receivers that ``receiver`` accepts. Null receivers give null; a null argument is a NullPointerException unless
    ``nulls``."""
    return FunctionSpec(
        key=f"{class_name}#{name}", bind=partial(_bind_method, receiver, overloads), make=partial(_make_method, overloads),
        signature=" | ".join(f"{class_name.lower()}.{name}({_parameters_text(o)})" for o in overloads), summary=summary,
    )


def _bind_method(receiver: Receiver, overloads: Sequence[Overload], types: Sequence[ValueType], _constants: Sequence[Any]) -> Bound | None:
    if not receiver(types[0]):
        return None
    position = choose(overloads, types[1:])
    if position is None:
        return None
    chosen = overloads[position]
    result = chosen.result if isinstance(chosen.result, ValueType) else chosen.result(*types)
    steps = conversions(chosen, types[1:])
    return Bound(result.boxed, (position, steps, tuple(types) if chosen.typed else ()), null_propagates=len(types) == 1)


def _make_method(overloads: Sequence[Overload], position: int, steps: tuple[str, ...], types: tuple[ValueType, ...]) -> Call:
    chosen = overloads[position]
    call = convert_arguments(chosen.call(*types) if chosen.typed else chosen.call, ("", *steps) if steps else ())
    if not chosen.parameters:
        return lambda receiver: None if receiver is None else call(receiver)
    return _one_argument(call, chosen.nulls) if len(chosen.parameters) == 1 and not chosen.varargs else _any_arguments(call, chosen.nulls)


def _null_argument() -> JavaException:
    return JavaException("java.lang.NullPointerException: a parameter of the method is null")


def _one_argument(call: Call, nulls: bool) -> Call:
    def call_guard(receiver: Any, argument: Any) -> Any:
        if receiver is None:
            return None
        if argument is None and not nulls:
            raise _null_argument()
        return call(receiver, argument)

    return call_guard


def _any_arguments(call: Call, nulls: bool) -> Call:
    def call_guard(receiver: Any, *arguments: Any) -> Any:
        if receiver is None:
            return None
        if not nulls and any(a is None for a in arguments):
            raise _null_argument()
        return call(receiver, *arguments)

    return call_guard


def kind_is(*kinds: str) -> Receiver:
    """Accept receivers that are scalars of one of the kinds, and events or collections of none."""
    return lambda t: isinstance(t, Scalar) and t.kind in kinds


Methods = Mapping[str, Iterable[Overload]]


def add_statics(
    registry: FunctionRegistry, package: str, class_name: str, methods: Mapping[str, tuple[str, Sequence[Overload]]],
        full_name_only: bool = False,
) -> None:
    """Register ``{name: (summary, overloads)}`` under the class's simple and full name."""
    for name, (summary, overloads) in methods.items():
        spec = static_method(class_name, name, *overloads, summary=summary)
        if not full_name_only:
            registry.add_static(class_name, name, spec)
        registry.add_static(f"{package}.{class_name}", name, spec)


def add_methods(
    registry: FunctionRegistry, class_name: str, receiver: Receiver, methods: Mapping[str, tuple[str, Sequence[Overload]]],
) -> None:
    """Register ``{name: (summary, overloads)}`` as instance methods."""
    for name, (summary, overloads) in methods.items():
        registry.add_method(name, instance_method(class_name, receiver, name, *overloads, summary=summary))


def add_constants(registry: FunctionRegistry, package: str, class_name: str, constants: Mapping[str, tuple[str, Any]]) -> None:
    for name, (type_name, value) in constants.items():
        registry.constants[f"{class_name}.{name}"] = registry.constants[f"{package}.{class_name}.{name}"] = (type_named(type_name), value)
