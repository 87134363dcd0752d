"""``java.lang.Math``: Java's types, overflow and NaN rules."""
from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import partial
from typing import Any

from epl.functions.java_values import throw
from epl.functions.overloads import Overload, add_constants, add_statics, overload
from epl.functions.registry import FunctionRegistry
from epl.java import to_integral, wrap

_KINDS = ("int", "long")


def _by_kind(call_of: Callable[[str], Callable[..., Any]], arity: int = 1) -> list[Overload]:
    """Return the int and long overloads of a method whose result wraps."""
    return [overload(", ".join([k] * arity), k, call_of(k)) for k in _KINDS]


def _same_kind(call: Callable[..., Any], arity: int, floating: Callable[..., Any] | None = None) -> list[Overload]:
    """int, long, float, double overloads, each with its own type as the result."""
    return [
        overload(", ".join([k] * arity), k, floating or call if k in ("float", "double") else call) for k in ("int", "long", "float",
            "double")
    ]


def _absolute(kind: str) -> Callable[[int], int]:
    return lambda value: wrap(abs(value), kind)


def _maximum(left: float, right: float) -> float:
    if left != left or right != right:
        return math.nan
    if left == right == 0.0:
        return left if math.copysign(1.0, left) > 0 else right
    return left if left >= right else right


def _minimum(left: float, right: float) -> float:
    if left != left or right != right:
        return math.nan
    if left == right == 0.0:
        return left if math.copysign(1.0, left) < 0 else right
    return left if left <= right else right


def round_half_up(value: float, kind: str) -> int:
    """Implement ``Math.round``: halves go up, the result is held at the type's ends."""
    if not math.isfinite(value):
        return to_integral(value, kind)
    whole = math.floor(value)
    return to_integral(float(whole if value - whole < 0.5 else whole + 1), kind)


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    def call(value: float) -> float:
        if not math.isfinite(value):
            return value
        result = float(function(value))
        return math.copysign(0.0, value) if result == 0.0 else result

    return call


def _guard(function: Callable[..., float]) -> Callable[..., float]:
    """Java's elementary functions do not throw: out of the domain is NaN, too large is an infinity."""

    def call(*arguments: float) -> float:
        try:
            return function(*arguments)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return call


def _logarithm(function: Callable[[float], float], pole: float = 0.0) -> Callable[[float], float]:
    def call(value: float) -> float:
        if value == pole:
            return -math.inf
        return function(value) if value > pole else math.nan

    return call


def _power(base: float, exponent: float) -> float:
    if exponent != exponent or (abs(base) == 1.0 and math.isinf(exponent)):
        return math.nan
    if base != base:
        return 1.0 if exponent == 0.0 else math.nan
    try:
        return math.pow(base, exponent)
    except ValueError:
        if base != 0.0:
            return math.nan
        return math.copysign(math.inf, base) if exponent % 2.0 == 1.0 else math.inf
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2.0 == 1.0 else math.inf


def _sign(value: float) -> float:
    return value if value != value or value == 0.0 else math.copysign(1.0, value)


def _cube_root(value: float) -> float:
    if not math.isfinite(value) or value == 0.0:
        return value
    root = math.copysign(abs(value) ** (1.0 / 3.0), value)
    nearest = float(round(root))
    return nearest if nearest**3 == value else root


def _hyperbolic_sine(value: float) -> float:
    try:
        return math.sinh(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _exact(function: Callable[..., int], kind: str) -> Callable[..., int]:
    def call(*arguments: int) -> int:
        result = function(*arguments)
        if wrap(result, kind) != result:
            raise throw("ArithmeticException", "integer overflow" if kind == "int" else "long overflow")
        return result

    return call


def _exact_pair(function: Callable[..., int], arity: int) -> list[Overload]:
    return _by_kind(partial(_exact, function), arity)


def _floor_divide(left: int, right: int) -> int:
    if right == 0:
        raise throw("ArithmeticException", "/ by zero")
    return left // right


def _floor_modulo(left: int, right: int) -> int:
    if right == 0:
        raise throw("ArithmeticException", "/ by zero")
    return left % right


def _doubles(function: Callable[..., float], arity: int = 1) -> list[Overload]:
    return [overload(", ".join(["double"] * arity), "double", function)]


def _unit_in_last_place(value: float) -> float:
    return math.ulp(value)


def _methods() -> dict[str, tuple[str, list[Overload]]]:
    nearest = _whole(round)
    return {
        "abs": ("The absolute value; of the smallest integer it is itself.", [
            *_by_kind(_absolute), overload("float", "float", abs), overload("double", "double", abs)]),
        "max": ("The larger of two numbers.", _same_kind(max, 2, _maximum)),
        "min": ("The smaller of two numbers.", _same_kind(min, 2, _minimum)),
        "round": ("The nearest whole number, halves up: int of a float, long of a double.", [
            overload("float", "int", partial(round_half_up, kind="int")), overload("double", "long", partial(round_half_up, kind="long"))]),
        "floor": ("The largest whole number that is not larger.", _doubles(_whole(math.floor))),
        "ceil": ("The smallest whole number that is not smaller.", _doubles(_whole(math.ceil))),
        "rint": ("The nearest whole number, halves to even.", _doubles(nearest)),
        "sqrt": ("The square root; NaN of a negative number.", _doubles(_guard(math.sqrt))),
        "cbrt": ("The cube root.", _doubles(_cube_root)),
        "pow": ("The first number to the power of the second.", _doubles(_power, 2)),
        "exp": ("e to the power of a number.", _doubles(_guard(math.exp))),
        "expm1": ("exp(x) - 1.", _doubles(_guard(math.expm1))),
        "log": ("The natural logarithm.", _doubles(_logarithm(math.log))),
        "log10": ("The logarithm to base 10.", _doubles(_logarithm(math.log10))),
        "log1p": ("log(1 + x).", _doubles(_logarithm(math.log1p, -1.0))),
        "signum": ("-1, 0 or 1 by the sign.", [overload("float", "float", _sign), overload("double", "double", _sign)]),
        "hypot": ("sqrt(x² + y²).", _doubles(math.hypot, 2)),
        "toRadians": ("Degrees to radians.", _doubles(lambda v: v * (math.pi / 180.0))),
        "toDegrees": ("Radians to degrees.", _doubles(lambda v: v * (180.0 / math.pi))),
        "random": ("A random number from 0 to below 1: a statement that uses it does not repeat.", [overload("", "double", random.random)]),
        "ulp": ("The distance to the next double.", _doubles(_unit_in_last_place)),
        "copySign": ("The first number with the sign of the second.", _doubles(math.copysign, 2)),
        **_trigonometry(), **_integers(),
    }


def _trigonometry() -> dict[str, tuple[str, list[Overload]]]:
    names = ("sin", "cos", "tan", "asin", "acos", "atan", "cosh", "tanh")
    plain = {n: (f"The {n} function, in radians.", _doubles(_guard(getattr(math, n)))) for n in names}
    return {**plain, "sinh": ("The sinh function.", _doubles(_hyperbolic_sine)),
        "atan2": ("The angle of the point (x, y) given as (y, x).", _doubles(math.atan2, 2))}


def _integers() -> dict[str, tuple[str, list[Overload]]]:
    return {
        "addExact": ("The sum; null if it overflows.", _exact_pair(lambda a, b: a + b, 2)),
        "subtractExact": ("The difference; null if it overflows.", _exact_pair(lambda a, b: a - b, 2)),
        "multiplyExact": ("The product; null if it overflows.", _exact_pair(lambda a, b: a * b, 2)),
        "negateExact": ("The negated number; null if it overflows.", _exact_pair(lambda a: -a, 1)),
        "incrementExact": ("One more; null if it overflows.", _exact_pair(lambda a: a + 1, 1)),
        "decrementExact": ("One less; null if it overflows.", _exact_pair(lambda a: a - 1, 1)),
        "toIntExact": ("The same number as int; null if it does not fit.", [overload("long", "int", _exact(lambda a: a, "int"))]),
        "floorDiv": ("The quotient rounded down.", _by_kind(_floor_division, 2)),
        "floorMod": ("The remainder with the divisor's sign.", [
            overload("int, int", "int", _floor_modulo), overload("long, int", "int", _floor_modulo),
                overload("long, long", "long", _floor_modulo)]),
    }


def _floor_division(kind: str) -> Callable[[int, int], int]:
    return lambda left, right: wrap(_floor_divide(left, right), kind)


def add_math(registry: FunctionRegistry) -> None:
    """Add Math.* by its simple and full name, ``Math.PI``, ``Math.E``."""
    methods = _methods()
    add_statics(registry, "java.lang", "Math", methods)
    add_constants(registry, "java.lang", "Math", {"PI": ("double", math.pi), "E": ("double", math.e)})
