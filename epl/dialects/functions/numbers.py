"""Functions of numbers."""
from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Any

from epl.dialects import types as k
from epl.dialects import values as v
from epl.dialects.functions.scalar import Kinds, Rule, ScalarFunction, first_of_one, is_kind, same, takes, wrong_argument
from epl.dialects.types import SqlType

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def _round(value: Any, digits: int = 0) -> Any:
    digits = max(-LONGEST_DOUBLE, min(digits, LONGEST_DOUBLE))
    if isinstance(value, int):
        return value if digits >= 0 else int(Decimal(value).scaleb(digits).to_integral_value(ROUND_HALF_UP).scaleb(-digits))
    if isinstance(value, Decimal):
        return _to_digits(value, digits, ROUND_HALF_UP)
    if math.isnan(value) or math.isinf(value):
        return value
    return float(Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, WIDE))


LONGEST_DOUBLE = 400
"""More digits than any double has on either side of its point."""
WIDE = Context(prec=3 * LONGEST_DOUBLE)


def _to_digits(value: Decimal, digits: int, rounding: str) -> Decimal:
    """Return the decimal cut to so many digits behind the point, with the scale that it had."""
    return value.quantize(Decimal(1).scaleb(-digits), rounding, WIDE).quantize(value, rounding, WIDE)


def _truncate(value: Any, digits: int = 0) -> Any:
    if isinstance(value, int):
        return value
    if isinstance(value, Decimal):
        return _to_digits(value, max(-LONGEST_DOUBLE, min(digits, LONGEST_DOUBLE)), ROUND_DOWN)
    return value if math.isnan(value) or math.isinf(value) else float(math.trunc(value))


def _whole(pick: Callable[[Any], int]) -> Callable[[Any], Any]:
    def compute(value: Any) -> Any:
        if isinstance(value, float):
            return value if math.isnan(value) or math.isinf(value) else float(pick(value))
        return Decimal(pick(value)) if isinstance(value, Decimal) else value

    return compute


def _mod_rule(kinds: Kinds) -> SqlType | None:
    return v.arithmetic_type("%", kinds[0], kinds[1], "sql") if len(kinds) == 2 else None


def _mod(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        if right == 0:
            raise v.division_by_zero("/ by zero")
        return v.arithmetic("%", k.BIGINT, "sql")(left, right)
    if isinstance(left, float) or isinstance(right, float):
        return v.arithmetic("%", k.DOUBLE, "sql")(left, right)
    if right == 0:
        raise v.division_by_zero("Division by zero")
    return v.EXACT.remainder(Decimal(left), Decimal(right))


def _power(base: float, power: float) -> float:
    """
    >>> _power(2.0, 10.0), _power(0.0, -1.0), _power(-2.0, 1025.0)
    (1024.0, inf, -inf)
    """
    odd = power % 2 == 1
    try:
        return math.pow(base, power)
    except OverflowError:
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:
        if base:
            raise
        return -math.inf if odd and math.copysign(1, base) < 0 else math.inf


def _sqrt(value: Any) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _absolute(value: Any) -> Any:
    return v.EXACT.abs(value) if isinstance(value, Decimal) else abs(value)


def _sign(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return value
    return type(value)((value > 0) - (value < 0))


def double(compute: Callable[..., float]) -> Callable[..., float]:
    """Outside of a function's domain it is NaN; beyond the doubles it is infinite."""

    def evaluate(*values: Any) -> float:
        try:
            return compute(*map(float, values))
        except (ValueError, ZeroDivisionError):
            return -math.inf if values == (0,) else math.nan
        except OverflowError:
            return math.inf

    return evaluate


def _decimal_rule(change: Callable[[int, int], SqlType]) -> Rule:
    """Return a function that changes the digits of decimals, and no other number's type."""

    def rule(kinds: Kinds) -> SqlType | None:
        if not kinds or not is_kind(kinds[0], "number") or (len(kinds) > 1 and not is_kind(kinds[1], "integer")):
            return None
        return change(*k.precision_and_scale(kinds[0])) if kinds[0].name == "decimal" else kinds[0]

    return rule


def _rounding_rule(one: Callable[[int, int], SqlType], two: Callable[[int, int], SqlType]) -> Rule:
    """Return a rule for a number alone, and one for a number and its digits."""
    alone, both = _decimal_rule(one), _decimal_rule(two)
    return lambda kinds: None if len(kinds) > 2 else alone(kinds) if len(kinds) == 1 else both(kinds)


def _whole_digits(precision: int, scale: int) -> SqlType:
    return k.decimal(precision - scale + min(scale, 1), 0)


def _to_base(value: int, base: int) -> str:
    _check_base(base)
    digits, rest = "", abs(value)
    while rest:
        rest, digit = divmod(rest, base)
        digits = DIGITS[digit] + digits
    return ("-" if value < 0 else "") + (digits or "0")


def _from_base(text: str, base: int) -> int:
    _check_base(base)
    try:
        return int(text, base)
    except ValueError:
        raise wrong_argument(f"Not a valid base-{base} number: {text}") from None


def _check_base(base: int) -> None:
    if not 2 <= base <= 36:
        raise wrong_argument("Radix must be between 2 and 36")


def _width_bucket(value: Any, low: Any, high: Any, count: int) -> int:
    if count <= 0:
        raise wrong_argument("bucketCount must be greater than 0")
    if any(isinstance(each, float) and math.isnan(each) for each in (value, low, high)):
        raise wrong_argument("operand must not be NaN")
    if low == high:
        raise wrong_argument("bounds cannot equal each other")
    upward = low < high
    start, end = (low, high) if upward else (high, low)
    if value < start:
        return 0 if upward else count + 1
    if value >= end:
        return count + 1 if upward else 0
    place = int(count * (float(value) - float(start)) / (float(end) - float(start)))
    return place + 1 if upward else count - place


def _extreme(pick: Callable[..., Any]) -> ScalarFunction:
    return ScalarFunction(same, lambda *listed: pick(listed))


def _left_shift(value: int, by: int) -> int:
    shifted = value << _shift(by)
    return (shifted + (1 << 63)) % (1 << 64) - (1 << 63)


def _right_shift(value: int, by: int) -> int:
    return value >> _shift(by)


def _shift(by: int) -> int:
    if by < 0:
        raise wrong_argument("shift must not be negative")
    return min(by, 64)


def _bit_count(value: int, bits: int) -> int:
    if not 2 <= bits <= 64:
        raise wrong_argument(f"Bits specified in bit_count must be between 2 and 64, got {bits}")
    return (value & ((1 << bits) - 1)).bit_count()


def _bits(compute: Callable[..., int]) -> ScalarFunction:
    return ScalarFunction(takes(k.BIGINT, "integer", "integer"), compute)


_POWER = ScalarFunction(takes(k.DOUBLE, "number", "number"), double(_power))
_FLOOR, _CEILING = (ScalarFunction(first_of_one(_decimal_rule(_whole_digits)), _whole(pick)) for pick in (math.floor, math.ceil))
_ONE_DOUBLE: dict[str, Callable[[float], float]] = {
    "sqrt": _sqrt, "exp": math.exp, "ln": math.log, "log10": math.log10, "log2": math.log2, "sin": math.sin, "cos": math.cos,
    "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan, "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh,
    "degrees": math.degrees, "radians": math.radians, "cbrt": lambda value: math.copysign(_cube_root(abs(value)), value),
}  # fmt: skip


def _cube_root(value: float) -> float:
    root = value ** (1 / 3)
    return float(round(root)) if round(root) ** 3 == value else root


NUMBERS: dict[str, ScalarFunction] = {
    "abs": ScalarFunction(takes(None, "number"), _absolute),
    "sign": ScalarFunction(first_of_one(_decimal_rule(lambda precision, scale: k.decimal(1, 0))), _sign),
    "mod": ScalarFunction(_mod_rule, _mod),
    "round": ScalarFunction(
        _rounding_rule(lambda p, s: k.decimal(min(38, p - s + min(1, s)), 0), lambda p, s: k.decimal(p + 1, s)), _round
    ),
    "truncate": ScalarFunction(_rounding_rule(lambda p, s: k.decimal(max(1, p - s), 0), k.decimal), _truncate),
    "floor": _FLOOR, "ceil": _CEILING, "ceiling": _CEILING, "power": _POWER, "pow": _POWER,
    "greatest": _extreme(max), "least": _extreme(min),
    "log": ScalarFunction(takes(k.DOUBLE, "number", "number"), double(lambda base, value: math.log(value) / math.log(base))),
    "atan2": ScalarFunction(takes(k.DOUBLE, "number", "number"), double(math.atan2)),
    "pi": ScalarFunction(takes(k.DOUBLE), lambda: math.pi, takes_null=True),
    "e": ScalarFunction(takes(k.DOUBLE), lambda: math.e, takes_null=True),
    "nan": ScalarFunction(takes(k.DOUBLE), lambda: math.nan, takes_null=True),
    "infinity": ScalarFunction(takes(k.DOUBLE), lambda: math.inf, takes_null=True),
    "is_nan": ScalarFunction(takes(k.BOOLEAN, "number"), lambda value: math.isnan(value)),
    "is_finite": ScalarFunction(takes(k.BOOLEAN, "number"), lambda value: math.isfinite(value)),
    "is_infinite": ScalarFunction(takes(k.BOOLEAN, "number"), lambda value: math.isinf(value)),
    "bitwise_and": _bits(lambda a, b: a & b), "bitwise_or": _bits(lambda a, b: a | b), "bitwise_xor": _bits(lambda a, b: a ^ b),
    "bitwise_not": ScalarFunction(takes(k.BIGINT, "integer"), lambda value: ~value),
    "bitwise_left_shift": ScalarFunction(takes(None, "integer", "integer"), _left_shift),
    "bitwise_right_shift": ScalarFunction(takes(None, "integer", "integer"), _right_shift),
    "bit_count": ScalarFunction(takes(k.BIGINT, "integer", "integer"), _bit_count),
    "width_bucket": ScalarFunction(takes(k.BIGINT, "number", "number", "number", "integer"), _width_bucket),
    "to_base": ScalarFunction(takes(SqlType("varchar", (64,)), "integer", "integer"), _to_base),
    "from_base": ScalarFunction(takes(k.BIGINT, "text", "integer"), _from_base),
    **{name: ScalarFunction(takes(k.DOUBLE, "number"), double(compute)) for name, compute in _ONE_DOUBLE.items()},
}  # fmt: skip
"""Functions of numbers by their names in lower case."""

__all__ = ["NUMBERS"]
