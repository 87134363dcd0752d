"""``String.format``: Java's format strings."""
from __future__ import annotations

import datetime
import math
import re
import sys
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from epl.functions.java_values import JavaException, check_length, java_text
from epl.java import EXACT, MAX_DIGITS, integer_text, too_large
from epl.java_hash import java_hash

_SPECIFIER = re.compile(r"%(?:(\d+)\$)?([-#+ 0,(<]*)(\d+)?(?:\.(\d+))?([bBhHsScCdoxXeEfgGaAn%]|[tT][a-zA-Z])")


def java_format(pattern: str, arguments: Sequence[Any]) -> str:
    """Implement ``String.format`` in the English locale; a JavaException where Java throws an IllegalFormatException.

    >>> java_format("%05d|%-5d|%+d|%,d", [42, 42, 42, 1234567])
    '00042|42   |+42|1,234,567'
    """
    out: list[str] = []
    position, ordinary, last, length = 0, 0, -1, 0
    while (start := pattern.find("%", position)) >= 0:
        match = _SPECIFIER.match(pattern, start)
        if not match:
            raise _illegal("UnknownFormatConversionException", f"Conversion = '{pattern[start + 1:start + 2] or '%'}'")
        out.append(pattern[position:start])
        position = match.end()
        number, flags, width, precision, conversion = match.groups()
        _check_size(width)
        _check_size(precision)
        if conversion in "%n":
            out.append(_pad("%" if conversion == "%" else "\n", flags, width))
            continue
        if "<" in flags:
            index = last
        elif number:
            index = int(number) - 1
        else:
            index, ordinary = ordinary, ordinary + 1
        if not 0 <= index < len(arguments):
            raise _illegal("MissingFormatArgumentException", f"Format specifier '{match[0]}'")
        last = index
        formatted = _one(arguments[index], conversion, flags, width, precision)
        length += len(formatted)
        check_length(length)
        out.append(formatted)
    return "".join(out) + pattern[position:]


def _check_size(written: str | None) -> None:
    if written is not None:
        check_length(int(written) if len(written) < 20 else sys.maxsize)


def _illegal(class_name: str, detail: str) -> JavaException:
    return JavaException(f"java.util.{class_name}: {detail}")


def _pad(text: str, flags: str, width: str | None) -> str:
    if width is None:
        return text
    return text.ljust(int(width)) if "-" in flags else text.rjust(int(width))


def _one(value: Any, conversion: str, flags: str, width: str | None, precision: str | None) -> str:
    text = _convert(value, conversion, flags, width, precision)
    return _pad(text.upper() if conversion[0].isupper() else text, flags, width)


def _convert(value: Any, conversion: str, flags: str, width: str | None, precision: str | None) -> str:
    lower = conversion[0].lower()
    if lower == "b":
        return _cut("false" if value is None else java_text(value) if isinstance(value, bool) else "true", precision)
    if value is None:
        return _cut("null", precision)
    if lower == "s":
        return _cut(java_text(value), precision)
    if lower == "h":
        return _cut(f"{java_hash(value) & 0xFFFFFFFF:x}", precision)
    if lower == "c":
        return _character(value)
    if lower in "dox":
        return _whole(value, lower, flags, width)
    if lower == "t":
        return _time(value, conversion[1])
    if lower == "a":
        return float(value).hex()
    return _floating(value, lower, flags, width, 6 if precision is None else int(precision))


def _cut(text: str, precision: str | None) -> str:
    return text if precision is None else text[: int(precision)]


def _mismatch(conversion: str, value: Any) -> JavaException:
    return _illegal("IllegalFormatConversionException", f"{conversion} != {type(value).__name__}")


def _character(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return chr(value)
    if isinstance(value, str) and len(value) == 1:
        return value
    raise _mismatch("c", value)


def _whole(value: Any, conversion: str, flags: str, width: str | None) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _mismatch(conversion, value)
    if conversion == "d":
        return _sign(f"{Decimal(abs(value)):,f}" if "," in flags else integer_text(abs(value)), value < 0, flags, width)
    bits = 32 if -(2**31) <= value < 2**31 else 64
    text = format(value & ((1 << bits) - 1), conversion)
    text = ({"o": "0", "x": "0x"}[conversion] if "#" in flags else "") + text
    return text.zfill(int(width)) if "0" in flags and width else text


def _sign(digits: str, negative: bool, flags: str, width: str | None) -> str:
    prefix, suffix = "", ""
    if negative:
        prefix, suffix = ("(", ")") if "(" in flags else ("-", "")
    elif "+" in flags:
        prefix = "+"
    elif " " in flags:
        prefix = " "
    if "0" in flags and width:
        digits = digits.zfill(int(width) - len(prefix) - len(suffix))
    return prefix + digits + suffix


def _floating(value: Any, conversion: str, flags: str, width: str | None, precision: int) -> str:
    if isinstance(value, (bool, int)) or not isinstance(value, (float, Decimal)):
        raise _mismatch(conversion, value)
    if isinstance(value, float) and not math.isfinite(value):
        if value != value:
            return "NaN"
        return _sign("Infinity", value < 0, flags.replace("0", ""), None)
    exact = Decimal(repr(value)) if isinstance(value, float) else value
    negative = math.copysign(1.0, value) < 0 if isinstance(value, float) else exact < 0
    return _sign(_digits(exact.copy_abs(), conversion, flags, precision), negative, flags, width)


def _digits(value: Decimal, conversion: str, flags: str, precision: int) -> str:
    if precision > MAX_DIGITS:
        raise too_large()
    with localcontext(EXACT) as context:
        context.rounding = ROUND_HALF_UP
        if conversion == "g":
            precision = precision or 1
            rounded = _to_digits(value, precision)
            if rounded == 0 or Decimal("0.0001") <= rounded < Decimal(10) ** precision:
                return _format_fixed(rounded, precision - (rounded.adjusted() + 1 if rounded else 1), flags)
            return _scientific(rounded, precision - 1)
        return _scientific(value, precision) if conversion == "e" else _format_fixed(value, precision, flags)


def _to_digits(value: Decimal, digits: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(value.adjusted() - digits + 1)) if value else value


def _format_fixed(value: Decimal, places: int, flags: str) -> str:
    if value and value.adjusted() > MAX_DIGITS - max(places, 0):
        raise too_large()
    rounded = value.quantize(Decimal(1).scaleb(-places))
    return f"{rounded:,f}" if "," in flags else f"{rounded:f}"


def _scientific(value: Decimal, places: int) -> str:
    rounded = _to_digits(value, places + 1)
    exponent = rounded.adjusted() if rounded else 0
    mantissa = _format_fixed(rounded.scaleb(-exponent), places, "")
    return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"


_TIME = {
    "Y": "%Y", "y": "%y", "m": "%m", "d": "%d", "H": "%H", "M": "%M", "S": "%S", "B": "%B", "b": "%b", "h": "%b", "A": "%A", "a": "%a",
        "j": "%j",
    "I": "%I", "F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y", "Z": "%Z", "z": "%z", "r": "%I:%M:%S %p",
}


def _time(value: Any, letter: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = datetime.datetime.fromtimestamp(value / 1000, datetime.timezone.utc)
    if not isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        raise _mismatch("t", value)
    if letter == "L" and isinstance(value, (datetime.datetime, datetime.time)):
        return f"{value.microsecond // 1000:03}"
    if letter == "e" and not isinstance(value, datetime.time):
        return str(value.day)
    if letter not in _TIME:
        raise _illegal("UnknownFormatConversionException", f"Conversion = 't{letter}'")
    return value.strftime(_TIME[letter])
