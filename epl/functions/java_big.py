"""``java.math.BigDecimal`` and ``BigInteger``: exact decimals with a scale, integers without limits."""
from __future__ import annotations

import decimal
import math
from decimal import Decimal
from typing import Any

from epl.errors import EplRuntimeError
from epl.functions.java_numbers import compare, radix_text
from epl.functions.java_values import throw
from epl.functions.overloads import Overload, add_constants, add_methods, add_statics, kind_is, overload
from epl.functions.registry import FunctionRegistry
from epl.java import (
    EXACT,
    INT_MAX,
    MAX_DIGITS,
    ROUNDINGS,
    decimal_add,
    decimal_divide,
    decimal_integer,
    decimal_multiply,
    decimal_remainder,
    decimal_scale,
    decimal_subtract,
    decimal_text,
    digits_without_point,
    integer_multiply,
    integer_power,
    integer_text,
    rescale,
    to_decimal,
    too_large,
)
from epl.java_hash import big_integer_hash, decimal_hash
from epl.value_types import BIG_DECIMAL, INT, EnumType

ROUNDING_MODE = EnumType("RoundingMode", (*ROUNDINGS, "UNNECESSARY"))
_BIG, _WHOLE = "BigDecimal", "BigInteger"
Table = dict[str, tuple[str, list[Overload]]]


def set_scale(value: Decimal, scale: int, rounding: str = "UNNECESSARY") -> Decimal:
    """Implement ``setScale``: without a rounding mode digits must not get lost."""
    if rounding != "UNNECESSARY":
        return rescale(value, scale, rounding)
    result = rescale(value, scale, "DOWN")
    if result != value:
        raise throw("ArithmeticException", "Rounding necessary")
    return result


def _divide(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise throw("ArithmeticException", "Division by zero" if left else "Division undefined")
    return decimal_divide(left, right)


def _divide_to_scale(left: Decimal, right: Decimal, scale: int, rounding: str) -> Decimal:
    if not right:
        raise throw("ArithmeticException", "/ by zero")
    digits = max(left.adjusted() - right.adjusted() + scale + 3, 1) + len(left.as_tuple().digits) + len(right.as_tuple().digits)
    if digits > 3 * MAX_DIGITS:
        raise too_large()
    quotient = decimal.Context(prec=digits, rounding=decimal.ROUND_DOWN, Emax=EXACT.Emax, Emin=EXACT.Emin).divide(left, right)
    if decimal_multiply(quotient, right) != left and not quotient % Decimal((0, (1,), -scale - 1)):
        quotient = decimal_add(quotient, Decimal((quotient.is_signed(), (1,), -scale - 2)))
    return set_scale(quotient, scale, rounding)


def _strip_zeros(value: Decimal) -> Decimal:
    return value.normalize(EXACT) if value else Decimal(0)


def _plain(value: Decimal) -> str:
    if max(value.adjusted(), decimal_scale(value), -decimal_scale(value)) > MAX_DIGITS:
        raise too_large()
    return f"{value:f}"


def _power(value: Decimal, exponent: int) -> Decimal:
    if not 0 <= exponent <= 999_999_999:
        raise throw("ArithmeticException", "Invalid operation")
    scale = decimal_scale(value) * exponent
    if abs(scale) > INT_MAX:
        raise throw("ArithmeticException", "Underflow" if scale > 0 else "Overflow")
    try:
        return Decimal(integer_power(digits_without_point(value), exponent)).scaleb(-scale, EXACT)
    except EplRuntimeError:
        raise too_large() from None


def _equal(left: Decimal, right: Any) -> bool:
    return isinstance(right, Decimal) and left.as_tuple() == right.as_tuple()


_DECIMAL: Table = {
    "add": ("The sum.", [overload(_BIG, _BIG, decimal_add)]),
    "subtract": ("The difference.", [overload(_BIG, _BIG, decimal_subtract)]),
    "multiply": ("The product.", [overload(_BIG, _BIG, decimal_multiply)]),
    "divide": ("The quotient, exactly, or to a scale with a rounding mode.", [
        overload(_BIG, _BIG, _divide),
        overload([BIG_DECIMAL, ROUNDING_MODE], _BIG, lambda a, b, r: _divide_to_scale(a, b, decimal_scale(a), r)),
        overload([BIG_DECIMAL, INT, ROUNDING_MODE], _BIG, _divide_to_scale)]),
    "remainder": ("The remainder, with the sign of the dividend.", [overload(_BIG, _BIG, decimal_remainder)]),
    "negate": ("The negated number.", [overload("", _BIG, lambda v: v.copy_negate() if v else v)]),
    "abs": ("The absolute value.", [overload("", _BIG, lambda v: v.copy_abs())]),
    "pow": ("A power with a whole exponent.", [overload("int", _BIG, _power)]),
    "max": ("The larger number.", [overload(_BIG, _BIG, lambda a, b: a if a >= b else b)]),
    "min": ("The smaller number.", [overload(_BIG, _BIG, lambda a, b: a if a <= b else b)]),
    "setScale": ("The number with another scale.", [overload("int", _BIG, set_scale), overload([INT, ROUNDING_MODE], _BIG, set_scale)]),
    "scale": ("The number of digits after the decimal point.", [overload("", "int", decimal_scale)]),
    "precision": ("The number of digits.", [overload("", "int", lambda v: len(v.as_tuple().digits))]),
    "unscaledValue": ("The digits as a whole number.", [overload("", _WHOLE, digits_without_point)]),
    "signum": ("-1, 0 or 1.", [overload("", "int", lambda v: compare(v, 0))]),
    "stripTrailingZeros": ("Without zeros at the end.", [overload("", _BIG, _strip_zeros)]),
    "toPlainString": ("The text without an exponent.", [overload("", "String", _plain)]),
    "toBigInteger": ("The whole part.", [overload("", _WHOLE, decimal_integer)]),
    "compareTo": ("-1, 0 or 1 by value; the scale does not count.", [overload(_BIG, "int", compare)]),
    "equals": ("Whether value and scale are the same.", [overload("Object", "boolean", _equal, nulls=True)]),
    "toString": ("The text, with an exponent where one is needed.", [overload("", "String", decimal_text)]),
    "hashCode": ("The hash code.", [overload("", "int", decimal_hash)]),
}


def _whole_quotient(left: int, right: int) -> int:
    if right == 0:
        raise throw("ArithmeticException", "BigInteger divide by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _modulo(left: int, right: int) -> int:
    if right <= 0:
        raise throw("ArithmeticException", "BigInteger: modulus not positive")
    return left % right


def _whole_power(value: int, exponent: int) -> int:
    if exponent < 0:
        raise throw("ArithmeticException", "Negative exponent")
    return integer_power(value, exponent)


_INTEGER: Table = {
    "add": ("The sum.", [overload(_WHOLE, _WHOLE, lambda a, b: a + b)]),
    "subtract": ("The difference.", [overload(_WHOLE, _WHOLE, lambda a, b: a - b)]),
    "multiply": ("The product.", [overload(_WHOLE, _WHOLE, integer_multiply)]),
    "divide": ("The quotient, cut off.", [overload(_WHOLE, _WHOLE, _whole_quotient)]),
    "remainder": ("The remainder, with the sign of the dividend.", [overload(_WHOLE, _WHOLE, lambda a, b: a - b * _whole_quotient(a, b))]),
    "mod": ("The remainder, never negative.", [overload(_WHOLE, _WHOLE, _modulo)]),
    "pow": ("A power.", [overload("int", _WHOLE, _whole_power)]),
    "gcd": ("The greatest common divisor.", [overload(_WHOLE, _WHOLE, math.gcd)]),
    "negate": ("The negated number.", [overload("", _WHOLE, lambda v: -v)]),
    "abs": ("The absolute value.", [overload("", _WHOLE, abs)]),
    "max": ("The larger number.", [overload(_WHOLE, _WHOLE, max)]),
    "min": ("The smaller number.", [overload(_WHOLE, _WHOLE, min)]),
    "signum": ("-1, 0 or 1.", [overload("", "int", lambda v: compare(v, 0))]),
    "bitLength": ("The number of bits without the sign.", [overload("", "int", lambda v: v.bit_length() if v >= 0 else (~v).bit_length())]),
    "compareTo": ("-1, 0 or 1.", [overload(_WHOLE, "int", compare)]),
    "toString": ("The text, in a radix where one is given.", [overload("", "String", integer_text), overload("int", "String", radix_text)]),
    "hashCode": ("The hash code.", [overload("", "int", big_integer_hash)]),
}

_DECIMAL_STATIC: Table = {
    "valueOf": ("The BigDecimal of a double's text, or of a whole number with a scale.", [
        overload("double", _BIG, to_decimal), overload("long", _BIG, Decimal),
        overload("long, int", _BIG, lambda v, scale: Decimal(v).scaleb(-scale, EXACT))]),
}
_INTEGER_STATIC: Table = {"valueOf": ("The BigInteger of a whole number.", [overload("long", _WHOLE, lambda v: v)])}


def add_big_numbers(registry: FunctionRegistry) -> None:
    """Add instance methods, ``valueOf``, ZERO / ONE / TWO / TEN and ``java.math.RoundingMode``."""
    add_methods(registry, _BIG, kind_is(_BIG), _DECIMAL)
    add_methods(registry, _WHOLE, kind_is(_WHOLE), _INTEGER)
    add_statics(registry, "java.math", _BIG, _DECIMAL_STATIC)
    add_statics(registry, "java.math", _WHOLE, _INTEGER_STATIC)
    for name, value in (("ZERO", 0), ("ONE", 1), ("TWO", 2), ("TEN", 10)):
        add_constants(registry, "java.math", _BIG, {name: (_BIG, Decimal(value))})
        add_constants(registry, "java.math", _WHOLE, {name: (_WHOLE, value)})
    for mode in ROUNDING_MODE.constants:
        registry.constants[f"java.math.RoundingMode.{mode}"] = registry.constants[f"RoundingMode.{mode}"] = (ROUNDING_MODE, mode)
