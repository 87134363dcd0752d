"""Values of SQL: casts, arithmetic, comparisons. Null is None; no function here is called with it."""
from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation, localcontext
from typing import Any

from epl.dialects import types as k
from epl.dialects.errors import QueryFailed
from epl.dialects.types import SqlType

Cast = Callable[[Any], Any]
Two = Callable[[Any, Any], Any]
EXACT = Context(prec=80, rounding=ROUND_HALF_UP)
WORDS = {"+": "addition", "-": "subtraction", "*": "multiplication"}
INSTANT_FORMATS = ("%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S")
EPOCH = datetime.datetime(1970, 1, 1)
DAY = datetime.timedelta(days=1)


class Months(int):
    """An interval of years and months."""


def out_of_range(message: str) -> QueryFailed:
    """Return the error of a number that has no place in its type."""
    return QueryFailed("NUMERIC_VALUE_OUT_OF_RANGE", message)


def division_by_zero(message: str = "Division by zero") -> QueryFailed:
    """Return the error of a division by zero."""
    return QueryFailed("DIVISION_BY_ZERO", message)


def bad_cast(value: Any, kind: SqlType) -> QueryFailed:
    """Return the error of a value that cannot be cast."""
    name = "INT" if kind.name == "integer" else str(kind).upper().replace(",", ", ")
    if isinstance(value, Decimal) and kind.name == "decimal":
        digits = value.as_tuple()
        scale = -int(digits.exponent)
        return QueryFailed("INVALID_CAST_ARGUMENT", f"Cannot cast DECIMAL({max(len(digits.digits), scale)}, {scale}) '{value}' to {name}")
    return QueryFailed("INVALID_CAST_ARGUMENT", f"Cannot cast '{value}' to {name}")


# casts


def cast(source: SqlType, target: SqlType, dialect: str = "sql") -> Cast | None:
    """Return the function that casts values of one type to another; None where there is no such cast."""
    name = target.name
    if source == target or name == "any":
        return _same
    if source.name == "unknown":
        return _same
    if dialect == "sql" and source.name in ("varbinary", "HyperLogLog"):
        return None
    if name in k.INTEGERS:
        return _to_integer(source, target)
    if name in ("double", "real"):
        return lambda value: _to_double(value, target)
    if name == "decimal":
        return lambda value: _to_decimal(value, target)
    if name in ("varchar", "char"):
        return None if dialect == "sql" and source.name in WITHOUT_TEXT else _to_text(source, target, dialect)
    if name == "boolean":
        return lambda value: _to_boolean(value, target)
    if name == "timestamp":
        return _timestamp_cast(target)
    if name == "date":
        return to_date
    if name == "row" and source.name == "row":
        return _to_row(source, target, dialect)
    if name == "array" and source.name in ("array", "any"):
        return _to_array(source, target, dialect)
    return None


WITHOUT_TEXT = ("array", "map", "row", "varbinary", "HyperLogLog")
"""Types that SQL:2016 does not cast to text."""


def has_cast(source: SqlType, target: SqlType) -> bool:
    """Return whether SQL:2016 casts values of one type to another: times and intervals are no numbers and no booleans."""
    numbers = (*k.INTEGERS, "double", "real", "decimal", "boolean")
    times, spans = ("date", "timestamp"), ("interval day to second", "interval year to month")
    pair = (source.name, target.name)
    return not any(
        (one in numbers and other in (*times, *spans)) or (one in times and other in spans) for one, other in (pair, pair[::-1])
    )


def _same(value: Any) -> Any:
    return value


def _to_array(source: SqlType, target: SqlType, dialect: str) -> Cast | None:
    before, after = source.arguments[0] if source.arguments else k.ANY, target.arguments[0]
    assert isinstance(before, SqlType) and isinstance(after, SqlType)
    element = cast(before, after, dialect)
    if element is None:
        return None
    return lambda value: [None if each is None else element(each) for each in value]


def _to_row(source: SqlType, target: SqlType, dialect: str) -> Cast | None:
    if len(source.arguments) != len(target.arguments):
        return None
    fields: list[Cast] = []
    for before, after in zip(source.arguments, target.arguments):
        assert isinstance(before, SqlType) and isinstance(after, SqlType)
        convert = cast(before, after, dialect)
        if convert is None:
            return None
        fields.append(convert)
    return lambda value: tuple([None if each is None else convert(each) for each, convert in zip(value, fields)])


def _timestamp_cast(target: SqlType) -> Cast:
    digits = target.arguments[0] if target.arguments else 3
    assert isinstance(digits, int)
    if digits >= 6:
        return _to_timestamp
    unit = 10 ** (6 - digits)

    def convert(value: Any) -> datetime.datetime:
        moment = _to_timestamp(value)
        rest = moment.microsecond % unit
        if not rest:
            return moment
        return moment - datetime.timedelta(microseconds=rest) + datetime.timedelta(microseconds=unit if 2 * rest >= unit else 0)

    return convert


def _to_integer(source: SqlType, target: SqlType) -> Cast:
    limit = 1 << (k.BITS[target.name] - 1)

    def convert(value: Any) -> int:
        try:
            if isinstance(value, str):
                number = int(value)
            elif isinstance(value, Decimal):
                number = int(value.to_integral_value(ROUND_HALF_UP))
            elif isinstance(value, float):
                number = math.floor(value + 0.5) if value >= 0 else -math.floor(-value + 0.5)
            else:
                number = int(value)
        except (ValueError, OverflowError, InvalidOperation):
            raise bad_cast(value, target) from None
        if not -limit <= number < limit:
            raise out_of_range(f"Out of range for {target.name}: {value}")
        return number

    return convert


def _to_double(value: Any, target: SqlType) -> float:
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise bad_cast(value, target) from None


def _to_decimal(value: Any, target: SqlType) -> Decimal:
    precision, scale = k.precision_and_scale(target)
    try:
        with localcontext(EXACT):
            exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
            number = exact.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
    except (InvalidOperation, ValueError):
        raise bad_cast(value, target) from None
    if abs(number) >= Decimal(10) ** (precision - scale):
        raise bad_cast(value, target)
    return number


def _to_text(source: SqlType, target: SqlType, dialect: str) -> Cast:
    longest = target.arguments[0] if target.arguments else None
    assert longest is None or isinstance(longest, int)

    def convert(value: Any) -> str:
        text = varchar_text(value, source, dialect)
        if longest is None or len(text) <= longest:
            return text
        if k.is_text(source) or source.name == "any":
            return text[:longest]
        if source.name.startswith("interval"):
            raise QueryFailed("INVALID_CAST_ARGUMENT", f"Cannot cast '{text}' to {target}")
        raise QueryFailed("INVALID_CAST_ARGUMENT", f"Value {text} cannot be represented as {target}")

    return convert


def varchar_text(value: Any, kind: SqlType, dialect: str = "sql") -> str:
    """Return a value as ``cast(value as varchar)`` gives it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        digits = kind.arguments[0] if kind.name == "timestamp" and kind.arguments else 3
        assert isinstance(digits, int)
        fraction = f"{value.microsecond:06d}"[:digits]
        return value.strftime("%Y-%m-%d %H:%M:%S") + (f".{fraction}" if digits else "")
    if isinstance(value, float):
        return _text_of_float(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, Months):
        return _text_of_months(value, dialect)
    if isinstance(value, datetime.timedelta):
        return _text_of_span(value, dialect)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (list, tuple, dict)):
        return _text_of_parts(value, kind, dialect)
    return str(value)


def _text_of_parts(value: Any, kind: SqlType, dialect: str) -> str:
    """Write an array, row or map as Flink does: ``[1, 2]``, ``(1, a)``, ``{a=1}``."""
    kinds = [each if isinstance(each, SqlType) else k.ANY for each in kind.arguments] or [k.ANY]

    def part_text(each: Any, place: int) -> str:
        return "NULL" if each is None else varchar_text(each, kinds[min(place, len(kinds) - 1)], dialect)

    if isinstance(value, dict):
        return "{" + ", ".join(f"{part_text(key, 0)}={part_text(each, 1)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(part_text(each, place) for place, each in enumerate(value)) + ")"
    return "[" + ", ".join(part_text(each, 0) for each in value) + "]"


def _text_of_months(value: Months, dialect: str) -> str:
    """
    >>> _text_of_months(Months(14), "sql"), _text_of_months(Months(-2), "sql"), _text_of_months(Months(14), "flink")
    ('1-2', '-0-2', '+1-02')
    """
    years, months = divmod(abs(value), 12)
    if dialect in SIGNED:
        return f"{'-' if value < 0 else '+'}{years}-{months:02d}"
    return f"{'-' if value < 0 else ''}{years}-{months}"


SIGNED = ("flink", "alibaba")
"""Dialects whose intervals have a sign also where they are positive."""


def _text_of_span(value: datetime.timedelta, dialect: str) -> str:
    """
    >>> _text_of_span(datetime.timedelta(seconds=-90), "sql"), _text_of_span(datetime.timedelta(days=1, milliseconds=5), "flink")
    ('-0 00:01:30.000', '+1 00:00:00.005')
    """
    size = abs(value)
    minutes, seconds = divmod(size.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    sign = "-" if value < datetime.timedelta(0) else "+" if dialect in SIGNED else ""
    return f"{sign}{size.days} {hours:02d}:{minutes:02d}:{seconds:02d}.{size.microseconds // 1000:03d}"


def _text_of_float(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    size = abs(value)
    if size and not 1e-3 <= size < 1e7:
        mantissa, _, exponent = f"{value!r}".partition("e") if "e" in repr(value) else f"{value:.17e}".partition("e")
        short = repr(float(mantissa)) if "." in mantissa or exponent else mantissa
        return f"{short}E{int(exponent)}"
    return repr(value)


def _to_boolean(value: Any, target: SqlType) -> bool:
    if isinstance(value, str):
        lowered = value.lower()
        if lowered in ("true", "t", "1", "false", "f", "0"):
            return lowered in ("true", "t", "1")
        raise bad_cast(value, target)
    return bool(value)


def _to_timestamp(value: Any) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day)
    if isinstance(value, (int, float, Decimal)):
        return EPOCH + datetime.timedelta(seconds=float(value))
    return parse_instant(str(value))


def parse_instant(text: str) -> datetime.datetime:
    """Return the instant that a text says."""
    trimmed = text.strip().removesuffix("Z").removesuffix(" UTC")
    for form in INSTANT_FORMATS:
        try:
            return datetime.datetime.strptime(trimmed, form)
        except ValueError:
            continue
    raise QueryFailed("INVALID_CAST_ARGUMENT", f"Value cannot be cast to timestamp: {text}")


def to_date(value: Any) -> datetime.date:
    """Return a moment, or a text that says one, as a date."""
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    return parse_date(str(value))


def parse_date(text: str) -> datetime.date:
    """Return the date that a text says."""
    try:
        return datetime.datetime.strptime(text.strip(), "%Y-%m-%d").date()
    except ValueError:
        raise QueryFailed("INVALID_CAST_ARGUMENT", f"Value cannot be cast to date: {text}") from None


def scientific(value: float) -> str:
    """Return a double as Trino casts it to text: ``1.5E0``."""
    if math.isnan(value) or math.isinf(value):
        return _text_of_float(value)
    mantissa, _, exponent = f"{Decimal(repr(value)).normalize():E}".partition("E")
    if value == 0:
        mantissa, exponent = "-0" if math.copysign(1, value) < 0 else "0", "0"
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"


# arithmetic


def arithmetic_type(sign: str, left: SqlType, right: SqlType, dialect: str) -> SqlType | None:
    """Return the type of ``left sign right``; None where there is no such operator."""
    if "any" in (left.name, right.name):
        return k.ANY
    if "unknown" in (left.name, right.name):
        other = right if left.name == "unknown" else left
        return k.BIGINT if other.name == "unknown" else other
    moment = _moment_type(sign, left, right)
    if moment is not None:
        return moment
    if not (k.is_number(left) and k.is_number(right)):
        return None
    shared = k.common(left, right)
    if shared is None or shared.name != "decimal":
        return shared
    (p1, s1), (p2, s2) = k.precision_and_scale(left), k.precision_and_scale(right)
    scale, before = max(s1, s2), max(p1 - s1, p2 - s2)
    if sign in "+-":
        return k.decimal(before + scale + 1, min(scale, k.MAX_DIGITS - before) if dialect == "sql" else scale)
    if sign == "*":
        scale, before = s1 + s2, p1 - s1 + p2 - s2
        return k.decimal(p1 + p2, max(min(scale, 6), min(scale, k.MAX_DIGITS - before)) if dialect == "sql" else scale)
    if sign == "/":
        scale = max(6, s1 + p2 + 1)
        digits = p1 - s1 + s2 + scale
        return k.decimal(digits, scale if digits <= 38 else max(6, scale - digits + 38))
    return k.decimal(min(p2 - s2, p1 - s1) + scale, scale)


def _moment_type(sign: str, left: SqlType, right: SqlType) -> SqlType | None:
    spans = (k.DAY_TIME.name, k.YEAR_MONTH.name)
    if left.name in ("date", "timestamp") and right.name in spans and sign in "+-":
        return k.common(left, k.TIMESTAMP) if left.name == "timestamp" and right.name == spans[0] else left
    if right.name in ("date", "timestamp") and left.name in spans and sign == "+":
        return k.common(right, k.TIMESTAMP) if right.name == "timestamp" and left.name == spans[0] else right
    if {left.name, right.name} <= {"timestamp", "date"} and sign == "-":
        return k.DAY_TIME
    if left.name == right.name and left.name in spans and sign in "+-":
        return left
    if left.name in spans and k.is_number(right) and sign in "*/":
        return left
    if right.name in spans and k.is_number(left) and sign == "*":
        return right
    return None


def arithmetic(sign: str, result: SqlType, dialect: str) -> Two:
    """Return the function that computes ``left sign right`` of this type."""
    if result.name in k.INTEGERS:
        return _integer_arithmetic(sign, result.name, dialect)
    if result.name in ("double", "real"):
        return _double_arithmetic(sign)
    if result.name == "decimal":
        return _decimal_arithmetic(sign, result)
    return _moment_arithmetic(sign)


def _integer_arithmetic(sign: str, name: str, dialect: str) -> Two:
    limit = 1 << (k.BITS[name] - 1)
    wraps = dialect != "sql"

    def compute(left: int, right: int) -> int | None:
        if sign == "+":
            value = left + right
        elif sign == "-":
            value = left - right
        elif sign == "*":
            value = left * right
        elif right == 0:
            if dialect == "ydb":
                return None
            raise division_by_zero()
        else:
            quotient = abs(left) // abs(right)
            quotient = quotient if (left < 0) == (right < 0) else -quotient
            value = quotient if sign == "/" else left - right * quotient
        if -limit <= value < limit:
            return value
        if wraps:
            return (value + limit) % (2 * limit) - limit
        raise out_of_range(f"{name} {WORDS.get(sign, 'division')} overflow: {left} {sign} {right}")

    return compute


def _double_arithmetic(sign: str) -> Two:
    def compute(left: Any, right: Any) -> float:
        a, b = float(left), float(right)
        if sign == "+":
            return a + b
        if sign == "-":
            return a - b
        if sign == "*":
            return a * b
        if b == 0:
            return math.nan if a == 0 or math.isnan(a) or sign == "%" else math.copysign(math.inf, a) * math.copysign(1, b)
        return a / b if sign == "/" else math.fmod(a, b)

    return compute


def _decimal_arithmetic(sign: str, result: SqlType) -> Two:
    _, scale = k.precision_and_scale(result)
    unit = Decimal(1).scaleb(-scale)

    def compute(left: Any, right: Any) -> Decimal:
        with localcontext(EXACT):
            a, b = Decimal(left), Decimal(right)
            if sign in "/%" and b == 0:
                raise division_by_zero()
            if sign == "+":
                value = a + b
            elif sign == "-":
                value = a - b
            elif sign == "*":
                value = a * b
            else:
                value = a / b if sign == "/" else a % b
            try:
                return value.quantize(unit, ROUND_HALF_UP)
            except InvalidOperation:
                raise out_of_range("Decimal overflow") from None

    return compute


def _moment_arithmetic(sign: str) -> Two:
    def compute(left: Any, right: Any) -> Any:
        if isinstance(left, (Months, datetime.timedelta)) and isinstance(right, datetime.date):
            left, right = right, left
        if isinstance(right, Months) and isinstance(left, datetime.date):
            return add_months(left, right if sign == "+" else -right)
        if sign in "*/":
            span, factor = (left, right) if isinstance(left, (Months, datetime.timedelta)) else (right, left)
            if isinstance(span, Months):
                return Months(int(span * factor if sign == "*" else span / factor))
            return span * float(factor) if sign == "*" else span / float(factor)
        if isinstance(right, datetime.timedelta) and isinstance(left, datetime.date) and not isinstance(left, datetime.datetime):
            if right % DAY:
                raise QueryFailed("INVALID_FUNCTION_ARGUMENT", "Cannot add hour, minutes or seconds to a date")
        elif isinstance(left, datetime.datetime) != isinstance(right, datetime.datetime) and isinstance(right, datetime.date):
            left, right = _to_timestamp(left), _to_timestamp(right)
        value = left + right if sign == "+" else left - right
        return Months(value) if isinstance(left, Months) else value

    return compute


def add_months(moment: datetime.date, months: int) -> datetime.date:
    """Return the moment some months later, on the last day of a shorter month."""
    whole = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(whole, 12)
    following = datetime.date(year + (month == 11), (month + 1) % 12 + 1, 1)
    last = (following - datetime.timedelta(days=1)).day
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last))


def hashable(value: Any) -> Any:
    """Return a value that is equal to another one's where the values are, and can be a key."""
    if isinstance(value, (list, tuple)):
        return tuple([hashable(each) for each in value])
    if isinstance(value, dict):
        return tuple(sorted((repr(key), hashable(each)) for key, each in value.items()))
    return value


def negate(value: Any) -> Any:
    """Return ``-value``."""
    if isinstance(value, Decimal):
        return EXACT.minus(value)
    return Months(-value) if isinstance(value, Months) else -value


def truncate(value: Decimal) -> int:
    """Return the whole part of a decimal."""
    return int(value.to_integral_value(ROUND_DOWN))


__all__ = [
    "DAY",
    "EPOCH",
    "EXACT",
    "Cast",
    "Months",
    "Two",
    "add_months",
    "arithmetic",
    "arithmetic_type",
    "bad_cast",
    "cast",
    "division_by_zero",
    "hashable",
    "negate",
    "out_of_range",
    "parse_date",
    "parse_instant",
    "scientific",
    "to_date",
    "truncate",
    "varchar_text",
]  # fmt: skip
