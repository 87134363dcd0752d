"""Java's number rules, the one place for them: widening, wrap-around, division, rounding, text of numbers, parsing, casts.

Sources: Java Language Specification (JLS) 4.2 (types), 5.1 (conversions), 5.6.2 (binary promotion), 15.17 / 15.18 (operators), javadoc of
``Double.toString``, ``BigDecimal``; which rule Esper applies where is learnt from Esper 9.0.0 itself.
"""
from __future__ import annotations

import decimal
import math
import re
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from epl.errors import EplRuntimeError

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1

BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}

MAX_DIGITS = 100_000
"""Digits of what is computed with BigDecimal and BigInteger. Java's limit is some 646 million, in minutes and gigabytes."""
MAX_BITS = math.ceil(MAX_DIGITS * math.log2(10))

MAX_TEXT = 10_000_000
"""Characters of what is computed with texts. Java's limit is 2 billion."""
MAX_ARRAY = 10_000_000
"""Elements of a new array, those of arrays within it counted."""

EXACT = decimal.Context(prec=MAX_DIGITS, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.InvalidOperation])
"""Context in which BigDecimals of up to ``MAX_DIGITS`` digits are exact, as Java's are."""
_CHECKED = decimal.Context(
    prec=MAX_DIGITS, Emax=INT_MAX + MAX_DIGITS, Emin=-INT_MAX - MAX_DIGITS,
    traps=[decimal.InvalidOperation, decimal.Inexact, decimal.Overflow])
"""As ``EXACT``, where a result that needs more digits, or an exponent that Java has not, is an error."""


# ------------------------------------------------------------------ integers


def wrap(value: int, kind: str) -> int:
    """Return ``value`` kept to the bits of byte, short, int or long (two's complement, JLS 5.1.3); BigInteger as it is.

    >>> wrap(2**31, "int"), wrap(200, "byte")
    (-2147483648, -56)
    """
    bits = BITS.get(kind)
    if bits is None:
        return value
    half = 1 << (bits - 1)
    return ((value + half) & ((1 << bits) - 1)) - half


def wrap_int(value: int) -> int:
    return ((value + 0x80000000) & 0xFFFFFFFF) - 0x80000000


def wrap_long(value: int) -> int:
    return ((value + 0x8000000000000000) & 0xFFFFFFFFFFFFFFFF) - 0x8000000000000000


def integer_divide(left: int, right: int) -> int:
    """Divide, truncating towards zero; the caller has excluded a divisor of zero. Not wrapped (MIN / -1 is the one case).

    >>> integer_divide(-7, 2)
    -3
    """
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def integer_remainder(left: int, right: int) -> int:
    """Return the remainder with the sign of the dividend (JLS 15.17.3); a divisor of zero is an error, as in Java.

    >>> integer_remainder(-7, 2), integer_remainder(7, -2)
    (-1, 1)
    """
    if right == 0:
        raise EplRuntimeError("/ by zero")
    result = abs(left) % abs(right)
    return -result if left < 0 else result


def negate(value: Any, kind: str) -> Any:
    """Return ``-value`` in a number's kind; null of null."""
    return None if value is None else wrap(-value, kind) if kind in BITS else -value


# ------------------------------------------------------------------ float, double


_FLOAT = struct.Struct("f")


def to_float(value: float) -> float:
    """Return a double rounded to 32 bits, nearest even; beyond the range Infinity.

    >>> to_float(0.1)
    0.10000000149011612
    """
    try:
        rounded: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
        return rounded
    except OverflowError:
        return math.copysign(math.inf, value)


def to_double(value: Any) -> float:
    """Return any number as a double; beyond the range Infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def float_divide(left: float, right: float) -> float:
    """Divide by IEEE 754: by zero Infinity, -Infinity or NaN.

    >>> float_divide(1.0, 0.0), float_divide(-1.0, 0.0), float_divide(0.0, 0.0)
    (inf, -inf, nan)
    """
    if right != 0:
        try:
            return left / right
        except OverflowError:
            return math.copysign(math.inf, left) * math.copysign(1.0, right)
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def float_remainder(left: float, right: float) -> float:
    """Return the remainder with the sign of the dividend; NaN for a divisor of zero or an infinite dividend (JLS 15.17.3)."""
    if right == 0 or math.isinf(left):
        return math.nan
    return math.fmod(left, right)


# ------------------------------------------------------------------ BigDecimal


def to_decimal(value: Any) -> Decimal:
    """Return BigDecimal of a number, exactly: 0.1 has 55 digits, as ``new BigDecimal(0.1)``."""
    if isinstance(value, Decimal):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise EplRuntimeError("Infinite or NaN")
    return Decimal(value)


def too_large(kind: str = "BigDecimal") -> EplRuntimeError:
    """Return the error for a number of more digits than are computed with."""
    return EplRuntimeError(
        f"java.lang.ArithmeticException: {kind} would overflow supported range: more than {MAX_DIGITS} digits",
        hint="docs/settings.md lists the limits")


def decimal_add(left: Decimal, right: Decimal) -> Decimal:
    try:
        return _CHECKED.add(left, right)
    except decimal.DecimalException:
        raise too_large() from None


def decimal_subtract(left: Decimal, right: Decimal) -> Decimal:
    try:
        return _CHECKED.subtract(left, right)
    except decimal.DecimalException:
        raise too_large() from None


def decimal_multiply(left: Decimal, right: Decimal) -> Decimal:
    try:
        return _CHECKED.multiply(left, right)
    except decimal.DecimalException:
        raise too_large() from None


def integer_multiply(left: int, right: int) -> int:
    """Implement ``BigInteger.multiply``."""
    if left.bit_length() + right.bit_length() > MAX_BITS + 1:
        raise too_large("BigInteger")
    return left * right


def integer_power(value: int, exponent: int) -> int:
    """Implement ``BigInteger.pow``; the caller has excluded exponents below zero."""
    if abs(value) > 1 and (abs(value).bit_length() - 1) * exponent > MAX_BITS:
        raise too_large("BigInteger")
    result: int = value**exponent if abs(value) > 1 or not exponent else value * (value if exponent % 2 == 0 else 1)
    return result


def digits_without_point(value: Decimal) -> int:
    """Implement ``unscaledValue``: the digits as a whole number."""
    return int(Decimal((value.as_tuple().sign, value.as_tuple().digits, 0)))


ROUNDINGS = {
    "UP": decimal.ROUND_UP, "DOWN": decimal.ROUND_DOWN, "CEILING": decimal.ROUND_CEILING, "FLOOR": decimal.ROUND_FLOOR,
    "HALF_UP": decimal.ROUND_HALF_UP, "HALF_DOWN": decimal.ROUND_HALF_DOWN, "HALF_EVEN": decimal.ROUND_HALF_EVEN,
}


def math_context(precision: int, rounding: str) -> decimal.Context:
    """Return Java's MathContext; precision 0 is unlimited."""
    return decimal.Context(prec=precision or EXACT.prec, rounding=ROUNDINGS.get(rounding, decimal.ROUND_HALF_UP),
                           Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.InvalidOperation])


def decimal_scale(value: Decimal) -> int:
    """Number of digits after the point; below zero for trailing zeros in front of it."""
    return -int(value.as_tuple().exponent)


def decimal_divide(left: Decimal, right: Decimal, context: decimal.Context | None = None) -> Decimal:
    """Implement ``BigDecimal.divide``: exact with the preferred scale (dividend's less divisor's); endless expansions are an error without
    a context, and so is a divisor of zero.
    """
    if right == 0:
        raise EplRuntimeError("Infinite or NaN")
    if context is not None:
        return context.divide(left, right)
    preferred = decimal_scale(left) - decimal_scale(right)
    if not left:
        return Decimal((0, (0,), -max(min(preferred, 2**31 - 1), -(2**31))))
    limit = min(len(left.as_tuple().digits) + math.ceil(10.0 * len(right.as_tuple().digits) / 3.0), 2**31 - 1)
    exact = decimal.Context(
        prec=max(limit, 1), Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.Inexact, decimal.InvalidOperation])
    try:
        quotient = exact.divide(left, right)
    except decimal.Inexact:
        raise EplRuntimeError("Non-terminating decimal expansion; no exact representable decimal result.") from None
    return rescale(quotient, preferred, "DOWN") if decimal_scale(quotient) < preferred else quotient


def rescale(value: Decimal, scale: int, rounding: str) -> Decimal:
    """Implement ``setScale`` with a rounding mode."""
    try:
        return value.quantize(Decimal((0, (1,), -scale)), rounding=ROUNDINGS[rounding], context=EXACT)
    except decimal.InvalidOperation:
        raise too_large() from None


def decimal_remainder(left: Decimal, right: Decimal) -> Decimal:
    if right == 0:
        raise EplRuntimeError("Division by zero" if left else "Division undefined")
    try:
        return EXACT.remainder(left, right)
    except decimal.InvalidOperation:
        raise too_large() from None


def integer_text(value: int) -> str:
    """Implement ``toString`` of any whole number: Python itself refuses more than 4,300 digits."""
    if -(1 << 4096) < value < 1 << 4096:
        return str(value)
    if value.bit_length() > MAX_BITS + 1:
        raise too_large("BigInteger")
    return str(Decimal(value))


def decimal_text(value: Decimal) -> str:
    """Implement ``BigDecimal.toString``: plain while the exponent is at least -6 and the scale is not negative, else scientific
    ``1.23E+5``."""
    return str(value)


# ------------------------------------------------------------------ numbers as text


def double_text(value: float) -> str:
    """Implement ``Double.toString``.

    >>> [double_text(x) for x in (1.0, 1e10, 1.5e-5, 9999999.0, 0.001, float("nan"))]
    ['1.0', '1.0E10', '1.5E-5', '9999999.0', '0.001', 'NaN']
    """
    return _java_text(value, repr)


def float_text(value: float) -> str:
    """Implement ``Float.toString`` of a value rounded to 32 bits.

    >>> float_text(to_float(0.1)), float_text(to_float(16777216.0))
    ('0.1', '1.6777216E7')
    """
    return _java_text(value, _shortest_float)


def _shortest_float(value: float) -> str:
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if to_float(float(text)) == value:
            return text
    return repr(value)


def _java_text(value: float, shortest: Callable[[float], str]) -> str:
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    sign, digits, exponent = Decimal(shortest(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + int(exponent)
    minus = "-" if sign else ""
    if value == 0:
        return minus + "0.0"
    if -3 < point <= 7:
        whole = text[:point].ljust(point, "0") if point > 0 else "0"
        fraction = text[point:] if point > 0 else "0" * -point + text
        return f"{minus}{whole}.{fraction or '0'}"
    return f"{minus}{text[0]}.{text[1:] or '0'}E{point - 1}"


def key_text(values: Sequence[Any]) -> str:
    """Return the values of a key as Esper's messages show them.

    >>> key_text(["a"]), key_text(["a", None])
    ('a', 'MultiKey[a,null]')
    """
    texts = list(map(java_text, values))
    return texts[0] if len(texts) == 1 else f"MultiKey[{','.join(texts)}]"


def java_text(value: Any) -> str:
    """Implement ``String.valueOf`` where the static type is not known; floats are taken for doubles.

    >>> java_text(True), java_text(1.0), java_text(None), java_text([1, None])
    ('true', '1.0', 'null', '[1, null]')
    """
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(java_text, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{java_text(k)}={java_text(v)}" for k, v in value.items()) + "}"
    return integer_text(value) if isinstance(value, int) else str(value)


def concatenate(*parts: str) -> str:
    """Return the parts as one text; more than ``MAX_TEXT`` characters are an error."""
    length = sum(map(len, parts))
    if length > MAX_TEXT:
        raise EplRuntimeError(f"java.lang.OutOfMemoryError: a string of {length} characters is longer than {MAX_TEXT}")
    return "".join(parts)


# ------------------------------------------------------------------ text as numbers

_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOATING = re.compile(r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)")


def parse_integer(text: str, kind: str) -> int:
    """Implement ``Integer.parseInt`` and friends; BigInteger without limits."""
    if not _INTEGER.fullmatch(text):
        raise EplRuntimeError(f'For input string: "{text}"')
    if len(text) > MAX_DIGITS:
        raise too_large("BigInteger")
    value = int(text) if len(text) < 1000 else int(Decimal(text))
    if kind in BITS and wrap(value, kind) != value:
        raise EplRuntimeError(f'For input string: "{text}"')
    return value


def parse_double(text: str) -> float:
    """Implement ``Double.parseDouble``: spaces around are taken off, a type suffix is taken."""
    stripped = text.strip()
    if not _FLOATING.fullmatch(stripped):
        raise EplRuntimeError(f'For input string: "{text}"' if stripped else "empty String")
    return float(stripped.rstrip("fFdD") if "Infinity" not in stripped else stripped.replace("Infinity", "inf"))


def parse_decimal(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except decimal.InvalidOperation:
        value = None
    if value is None or not value.is_finite() or abs(decimal_scale(value)) > INT_MAX:
        raise EplRuntimeError(f'For input string: "{text}"')
    return value


# ------------------------------------------------------------------ narrowing


def to_integral(value: Any, kind: str) -> int:
    """Return a number cast to byte, short, int, long or BigInteger (JLS 5.1.3): fractions are cut off.

    From double to int or long the ends of the range are kept to (NaN is 0), then byte and short take the lowest bits.

    >>> to_integral(1e20, "int"), to_integral(-1.9, "long"), to_integral(300, "byte")
    (2147483647, -1, 44)
    """
    if isinstance(value, float):
        if value != value:
            return 0
        low, high = (LONG_MIN, LONG_MAX) if kind in ("long", "BigInteger") else (INT_MIN, INT_MAX)
        whole = (high if value > 0 else low) if math.isinf(value) else min(max(int(value), low), high)
        return wrap(whole, kind)
    return wrap(decimal_integer(value, BITS.get(kind)) if isinstance(value, Decimal) else int(value), kind)


def decimal_integer(value: Decimal, bits: int | None = None) -> int:
    """Implement ``BigDecimal.toBigInteger``; with ``bits`` a number that is equal in its low bits is enough.

    >>> decimal_integer(Decimal("-1.9")), decimal_integer(Decimal("1E+999999999"), 64)
    (-1, 0)
    """
    exponent = -decimal_scale(value)
    if bits is not None and exponent >= bits:
        return 0  # a multiple of 2 ** bits
    if value and value.adjusted() > MAX_DIGITS:
        raise too_large("BigInteger")
    return int(value) if exponent >= 0 or value.adjusted() >= 0 else 0


def converter(source: str, target: str) -> Callable[[Any], Any]:
    """Return the function that casts a non-null number of kind ``source`` (or Number / Object: any) to kind ``target``."""
    if target in BITS or target == "BigInteger":
        return lambda value: to_integral(value, target)
    if target == "float":
        return lambda value: to_float(to_double(value))
    if target == "double":
        return to_double
    if target == "BigDecimal":
        return to_decimal
    raise ValueError(f"no number kind: {target}")
