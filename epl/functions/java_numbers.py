"""Static methods and constants of ``java.lang.Integer``, Long, Short, Byte, Double, Float, Boolean, Character."""
from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from functools import partial
from typing import Any

from epl.functions.java_values import throw
from epl.functions.overloads import Overload, add_constants, add_statics, overload
from epl.functions.registry import FunctionRegistry
from epl.java import BITS, double_text, float_text, to_float, wrap
from epl.java_hash import double_hash, float_hash, long_hash

CLASS_OF = {"byte": "Byte", "short": "Short", "int": "Integer", "long": "Long", "float": "Float", "double": "Double"}
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_WHOLE = re.compile(r"[+-]?[0-9a-zA-Z]+")
_DECIMAL_FLOAT = re.compile(r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)")
_HEX_FLOAT = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d+[fFdD]?")
JAVA_SPACE = "".join(map(chr, range(33)))
"""What ``String.trim`` takes away: everything up to the blank."""


def parse_whole(text: str, kind: str, radix: int = 10) -> int:
    """Implement ``Integer.parseInt`` and so on: no blanks, no underscores, a sign, digits of the radix, within the type's range.

    >>> parse_whole("+5", "int"), parse_whole("-80", "byte", 16)
    (5, -128)
    """
    if not _WHOLE.fullmatch(text) or not text.isascii():
        raise throw("NumberFormatException", f'For input string: "{text}"')
    try:
        value = int(text, radix)
    except ValueError:
        raise throw("NumberFormatException", f'For input string: "{text}"') from None
    if wrap(value, kind) != value:
        raise throw("NumberFormatException", f'For input string: "{text}"')
    return value


def parse_floating(text: str, kind: str = "double") -> float:
    """Implement ``Double.parseDouble`` / ``Float.parseFloat``: blanks around it are taken off; ``1d``, ``.5f``, ``0x1p3``, NaN, Infinity
    are numbers."""
    stripped = text.strip(JAVA_SPACE)
    if _HEX_FLOAT.fullmatch(stripped):
        value = float.fromhex(stripped.rstrip("fFdD"))
    elif _DECIMAL_FLOAT.fullmatch(stripped):
        value = float(stripped if stripped[-1] in "yN" else stripped.rstrip("fFdD"))
    elif not stripped:
        raise throw("NumberFormatException", "empty String")
    else:
        raise throw("NumberFormatException", f'For input string: "{text}"')
    return to_float(value) if kind == "float" else value


def radix_text(value: int, radix: int) -> str:
    """Implement ``Integer.toString(value, radix)``."""
    if not 2 <= radix <= 36:
        radix = 10
    digits, rest = [], abs(value)
    while rest:
        rest, digit = divmod(rest, radix)
        digits.append(_DIGITS[digit])
    return ("-" if value < 0 else "") + ("".join(reversed(digits)) or "0")


def compare(left: Any, right: Any) -> int:
    """Return -1, 0, 1."""
    return int(left > right) - int(left < right)


def compare_floating(left: float, right: float) -> int:
    """Implement ``Double.compare``: -0.0 before 0.0, NaN after all others and equal to itself."""
    if left < right:
        return -1
    if left > right:
        return 1
    return compare(_order(left), _order(right))


def _order(value: float) -> tuple[bool, float]:
    return (value != value, 0.0 if value != value else math.copysign(1.0, value) if value == 0.0 else 0.0)


Table = dict[str, tuple[str, list[Overload]]]


def _whole_number_class(kind: str) -> Table:
    bits, class_name = BITS[kind], CLASS_OF[kind]
    parse = partial(parse_whole, kind=kind)
    parsers = [overload("String", kind, parse), overload("String, int", kind, lambda t, radix: parse_whole(t, kind, radix))]
    difference = compare if bits >= 32 else lambda a, b: a - b
    return {
        "parse" + (class_name if kind != "int" else "Int"): (f"The {kind} that a string represents; null if it represents none.", parsers),
        "valueOf": (f"The {class_name} of a string or {kind}.", [
            *(Overload(o.parameters, o.result, o.call) for o in parsers), overload(kind, kind, lambda v: v)]),
        "toString": ("The number as text, in a radix where one is given.", [
            overload(kind, "String", str), *([overload(f"{kind}, int", "String", radix_text)] if bits >= 32 else [])]),
        "compare": ("Negative, 0 or positive, as the first number is less, equal or greater.",
            [overload(f"{kind}, {kind}", "int", difference)]),
        "hashCode": ("The hash code.", [overload(kind, "int", long_hash if bits == 64 else lambda v: v)]),
        **(_wide_class(kind, bits) if bits >= 32 else {}),
    }


def _wide_class(kind: str, bits: int) -> Table:
    mask = (1 << bits) - 1
    pair = f"{kind}, {kind}"
    return {
        "max": ("The larger number.", [overload(pair, kind, max)]),
        "min": ("The smaller number.", [overload(pair, kind, min)]),
        "sum": ("The sum, which wraps.", [overload(pair, kind, lambda a, b: wrap(a + b, kind))]),
        "signum": ("-1, 0 or 1.", [overload(kind, "int", lambda v: compare(v, 0))]),
        "bitCount": ("The number of one-bits.", [overload(kind, "int", lambda v: bin(v & mask).count("1"))]),
        "reverse": ("The bits in reverse order.", [overload(kind, kind, lambda v: wrap(int(f"{v & mask:0{bits}b}"[::-1], 2), kind))]),
        "highestOneBit": ("The highest one-bit alone.", [
            overload(kind, kind, lambda v: wrap(1 << (v & mask).bit_length() - 1, kind) if v else 0)]),
        "lowestOneBit": ("The lowest one-bit alone.", [overload(kind, kind, lambda v: wrap(v & -v, kind))]),
        "numberOfLeadingZeros": ("The number of zero bits above the highest one.",
            [overload(kind, "int", lambda v: bits - (v & mask).bit_length())]),
        "numberOfTrailingZeros": ("The number of zero bits below the lowest one.", [
            overload(kind, "int", lambda v: (v & -v).bit_length() - 1 if v else bits)]),
        "toHexString": ("Unsigned, to base 16.", [overload(kind, "String", lambda v: f"{v & mask:x}")]),
        "toOctalString": ("Unsigned, to base 8.", [overload(kind, "String", lambda v: f"{v & mask:o}")]),
        "toBinaryString": ("Unsigned, to base 2.", [overload(kind, "String", lambda v: f"{v & mask:b}")]),
    }


def _floating_class(kind: str) -> Table:
    class_name, text = CLASS_OF[kind], double_text if kind == "double" else float_text
    parse = partial(parse_floating, kind=kind)
    return {
        f"parse{class_name}": (f"The {kind} that a string represents; null if it represents none.", [overload("String", kind, parse)]),
        "valueOf": (f"The {class_name} of a string or {kind}.", [overload("String", kind, parse), overload(kind, kind, lambda v: v)]),
        "toString": ("The number as text.", [overload(kind, "String", text)]),
        "compare": ("-1, 0 or 1; NaN is greater than all, -0.0 less than 0.0.", [overload(f"{kind}, {kind}", "int", compare_floating)]),
        "isNaN": ("Whether it is not a number.", [overload(kind, "boolean", math.isnan)]),
        "isInfinite": ("Whether it is an infinity.", [overload(kind, "boolean", math.isinf)]),
        "isFinite": ("Whether it is neither NaN nor an infinity.", [overload(kind, "boolean", math.isfinite)]),
        "max": ("The larger number.", [overload(f"{kind}, {kind}", kind, lambda a, b: a if compare_floating(a, b) > 0 or a != a else b)]),
        "min": ("The smaller number.", [overload(f"{kind}, {kind}", kind,
            lambda a, b: b if b != b or (compare_floating(a, b) > 0 and a == a) else a)]),
        "sum": ("The sum.", [overload(f"{kind}, {kind}", kind,
            (lambda a, b: a + b) if kind == "double" else (lambda a, b: to_float(a + b)))]),
        "hashCode": ("The hash code.", [overload(kind, "int", double_hash if kind == "double" else float_hash)]),
    }


_BOOLEAN: Table = {
    "parseBoolean": ("Whether the text is true, in any case; null is false.", [
        overload("String", "boolean", lambda t: t is not None and t.lower() == "true", nulls=True)]),
    "valueOf": ("The Boolean of a string or boolean.", [
        overload("String", "Boolean", lambda t: t is not None and t.lower() == "true", nulls=True),
            overload("boolean", "Boolean", lambda v: v)]),
    "toString": ("true or false.", [overload("boolean", "String", lambda v: "true" if v else "false")]),
    "compare": ("-1, 0 or 1: false is less than true.", [overload("boolean, boolean", "int", compare)]),
    "logicalAnd": ("Both.", [overload("boolean, boolean", "boolean", lambda a, b: a and b)]),
    "logicalOr": ("Either.", [overload("boolean, boolean", "boolean", lambda a, b: a or b)]),
    "logicalXor": ("One of both.", [overload("boolean, boolean", "boolean", lambda a, b: a != b)]),
    "hashCode": ("1231 for true, 1237 for false.", [overload("boolean", "int", lambda v: 1231 if v else 1237)]),
}


def _numeric_value(character: str) -> int:
    if character.isascii() and character.isalnum():
        return _DIGITS.index(character.lower())
    value = unicodedata.numeric(character, -1.0)
    return int(value) if value >= 0 and value == int(value) else -1 if value < 0 else -2


def _one(function: Callable[[str], Any], result: str = "boolean") -> list[Overload]:
    return [overload("char", result, function)]


def _single(text: str, character: str) -> str:
    return text if len(text) == 1 else character


_CHARACTER: Table = {
    "isDigit": ("Whether it is a decimal digit.", _one(str.isdecimal)),
    "isLetter": ("Whether it is a letter.", _one(str.isalpha)),
    "isLetterOrDigit": ("Whether it is a letter or a decimal digit.", _one(lambda c: c.isalpha() or c.isdecimal())),
    "isAlphabetic": ("Whether it is alphabetic.", [overload("int", "boolean", lambda c: chr(c).isalpha())]),
    "isUpperCase": ("Whether it is an upper-case letter.", _one(str.isupper)),
    "isLowerCase": ("Whether it is a lower-case letter.", _one(str.islower)),
    "isWhitespace": ("Whether it is white space (no-break spaces are not).",
        _one(lambda c: c.isspace() and c not in "\x85\xa0\u2007\u202f")),
    "isSpaceChar": ("Whether it is a Unicode space.", _one(lambda c: unicodedata.category(c)[0] == "Z")),
    "toUpperCase": ("The upper-case character.", _one(lambda c: _single(c.upper(), c), "char")),
    "toLowerCase": ("The lower-case character.", _one(lambda c: _single(c.lower(), c), "char")),
    "getNumericValue": ("0 to 9 of digits, 10 to 35 of letters, -1 of what has no value.", _one(_numeric_value, "int")),
    "valueOf": ("The Character.", _one(lambda c: c, "char")),
    "toString": ("The text of one character.", _one(lambda c: c, "String")),
    "compare": ("The difference of two characters.", [overload("char, char", "int", lambda a, b: ord(a) - ord(b))]),
    "hashCode": ("The character's code.", _one(ord, "int")),
}


def _add_constants(registry: FunctionRegistry) -> None:
    for kind, bits in BITS.items():
        ends = {"MAX_VALUE": (kind, (1 << bits - 1) - 1), "MIN_VALUE": (kind, -(1 << bits - 1)), "SIZE": ("int", bits),
            "BYTES": ("int", bits // 8)}
        add_constants(registry, "java.lang", CLASS_OF[kind], ends)
    for kind, largest, smallest, normal in (("double", 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308),
                                            ("float", to_float(3.4028235e38), to_float(1.4e-45), to_float(1.17549435e-38))):
        add_constants(registry, "java.lang", CLASS_OF[kind], {
            "MAX_VALUE": (kind, largest), "MIN_VALUE": (kind, smallest), "MIN_NORMAL": (kind, normal), "NaN": (kind, math.nan),
            "POSITIVE_INFINITY": (kind, math.inf), "NEGATIVE_INFINITY": (kind, -math.inf)})
    add_constants(registry, "java.lang", "Character", {"MAX_VALUE": ("char", "\uffff"), "MIN_VALUE": ("char", "\x00")})
    add_constants(registry, "java.lang", "Boolean", {"TRUE": ("Boolean", True), "FALSE": ("Boolean", False)})


def add_number_classes(registry: FunctionRegistry) -> None:
    """Add static methods and constants of the boxes of ``java.lang``."""
    for kind in BITS:
        add_statics(registry, "java.lang", CLASS_OF[kind], _whole_number_class(kind))
    for kind in ("float", "double"):
        add_statics(registry, "java.lang", CLASS_OF[kind], _floating_class(kind))
    add_statics(registry, "java.lang", "Boolean", _BOOLEAN)
    add_statics(registry, "java.lang", "Character", _CHARACTER)
    _add_constants(registry)
