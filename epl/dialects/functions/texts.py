"""Functions of texts."""
from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from typing import Any

from epl.dialects import types as k
from epl.dialects.functions import patterns
from epl.dialects.functions.scalar import Kinds, ScalarFunction, element, is_kind, takes, wrong_argument
from epl.dialects.functions.sizes import check_count, check_length, join_texts
from epl.dialects.types import SqlType

MOST_DISTANCE = 1_000_000
"""Steps of a distance between two texts."""


def _character(code: int) -> str:
    if not 0 <= code <= sys.maxunicode:
        raise wrong_argument(f"Not a valid Unicode code point: {code}")
    return chr(code)


def concat_rule(kinds: Kinds) -> SqlType | None:
    """Texts are joined, bytes too; arrays with arrays or with elements."""
    if len(kinds) >= 2 and all(is_kind(kind, "text") for kind in kinds):
        return k.VARCHAR
    if len(kinds) >= 2 and all(is_kind(kind, "varbinary") for kind in kinds):
        return SqlType("varbinary")
    listed = [kind if kind.name == "array" else k.array(kind) for kind in kinds]
    if not any(kind.name == "array" for kind in kinds):
        return None
    shared: SqlType | None = listed[0]
    for kind in listed[1:]:
        shared = None if shared is None else k.common(shared, kind)
    return shared


def concat(*parts: Any) -> Any:
    """Join texts, bytes or arrays."""
    if isinstance(parts[0], bytes):
        return b"".join(parts)
    if not any(isinstance(part, list) for part in parts):
        return join_texts("", parts)
    check_count(sum(len(part) if isinstance(part, list) else 1 for part in parts))
    return [each for part in parts for each in (part if isinstance(part, list) else [part])]


def _concat_ws(between: Any, *parts: Any) -> Any:
    if between is None:
        return None
    listed = [each for part in parts for each in (part if isinstance(part, list) else [part])]
    return join_texts(between, [each for each in listed if each is not None])


def _concat_ws_rule(kinds: Kinds) -> SqlType | None:
    taken = len(kinds) >= 2 and is_kind(kinds[0], "text")
    return k.VARCHAR if taken and all(is_kind(kind, "text") or is_kind(element(kind), "text") for kind in kinds[1:]) else None


def _substring(text: Any, start: int, length: int | None = None) -> Any:
    if start == 0 or (start < 0 and -start > len(text)):
        return text[:0]
    begin = start - 1 if start > 0 else len(text) + start
    return text[begin:] if length is None else text[begin : begin + max(0, length)]


def _position(text: str, part: str, instance: int = 1) -> int:
    if instance == 0:
        raise wrong_argument("'instance' must be a positive or negative number.")
    place = -1 if instance > 0 else len(text) + 1
    for _ in range(abs(instance)):
        place = text.find(part, place + 1) if instance > 0 else text.rfind(part, 0, max(0, place - 1) + len(part) - 1 if part else place)
        if place < 0:
            return 0
    return place + 1


def _split(text: str, between: str, limit: int | None = None) -> list[str]:
    if limit is not None and limit <= 0:
        raise wrong_argument("Limit must be positive")
    check_count(text.count(between))
    return text.split(between) if limit is None else text.split(between, limit - 1)


def _split_part(text: str, between: str, index: int) -> str | None:
    if index <= 0:
        raise wrong_argument("Index must be greater than zero")
    parts = text.split(between) if between else list(text)
    return parts[index - 1] if index <= len(parts) else None


def _pad(at_start: bool) -> Callable[[str, int, str], str]:
    def compute(text: str, size: int, filler: str) -> str:
        if not filler:
            raise wrong_argument("Padding string must not be empty")
        if size < 0:
            raise wrong_argument("Target length must be in the range [0..2147483647]")
        check_length(size)
        missing = max(0, size - len(text))
        filling = (filler * (missing // len(filler) + 1))[:missing]
        return (filling + text if at_start else text + filling)[:size]

    return compute


def _strip_function(how: str) -> Callable[..., str]:
    def compute(text: str, signs: str | None = None) -> str:
        method: Callable[..., str] = getattr(text, how)
        return method(" " if signs is None else signs) if signs != "" else text

    return compute


def _replace(text: str, old: str, new: str = "") -> str:
    check_length(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


def _translate(text: str, old: str, new: str) -> str:
    targets: dict[int, str | None] = {}
    for place, sign in enumerate(old):
        targets.setdefault(ord(sign), new[place] if place < len(new) else None)
    return text.translate(targets)


def _distance(left: str, right: str) -> int:
    if len(left) * len(right) > MOST_DISTANCE:
        raise wrong_argument("The combined inputs for Levenshtein distance are too large")
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def _hamming(left: str, right: str) -> int:
    if len(left) != len(right):
        raise wrong_argument("The input strings to hamming_distance function must have the same length")
    return sum(a != b for a, b in zip(left, right))


def _codepoint(text: str) -> int:
    if len(text) != 1:
        raise wrong_argument("Character string must be a single character string")
    return ord(text)


def _reverse_rule(kinds: Kinds) -> SqlType | None:
    return kinds[0] if len(kinds) == 1 and is_kind(kinds[0], "text", "array", "varbinary") else None


def _replacement_type(kinds: Kinds) -> SqlType | None:
    """Return the longest that a replaced text may be."""
    if not 2 <= len(kinds) <= 3 or not all(is_kind(kind, "text") for kind in kinds):
        return None
    sizes = [kind.arguments[0] if kind.arguments else None for kind in kinds]
    if any(not isinstance(size, int) for size in sizes):
        return k.VARCHAR
    longest = sizes[0] if len(sizes) == 2 else sizes[0] + sizes[2] * (sizes[0] + 1)  # type: ignore[operator]
    assert isinstance(longest, int)
    return SqlType("varchar", (longest,))


def _parts_of_first(kinds: Kinds) -> SqlType | None:
    taken = 2 <= len(kinds) <= 3 and is_kind(kinds[0], "text") and is_kind(kinds[1], "text")
    return k.array(kinds[0]) if taken and (len(kinds) == 2 or is_kind(kinds[2], "integer")) else None


_SUBSTRING = ScalarFunction(takes(None, "text|varbinary", "integer", "integer", least=2), _substring)
TEXTS: dict[str, ScalarFunction] = {
    "lower": ScalarFunction(takes(None, "text"), str.lower),
    "upper": ScalarFunction(takes(None, "text"), str.upper),
    "length": ScalarFunction(takes(k.BIGINT, "text|varbinary"), len),
    "char_length": ScalarFunction(takes(k.BIGINT, "text"), len),
    "character_length": ScalarFunction(takes(k.BIGINT, "text"), len),
    "trim": ScalarFunction(takes(None, "text", "text", least=1), _strip_function("strip")),
    "ltrim": ScalarFunction(takes(None, "text", "text", least=1), _strip_function("lstrip")),
    "rtrim": ScalarFunction(takes(None, "text", "text", least=1), _strip_function("rstrip")),
    "reverse": ScalarFunction(_reverse_rule, lambda value: value[::-1]),
    "replace": ScalarFunction(_replacement_type, _replace),
    "substr": _SUBSTRING,
    "substring": _SUBSTRING,
    "strpos": ScalarFunction(takes(k.BIGINT, "text", "text", "integer", least=2), _position),
    "position": ScalarFunction(takes(k.BIGINT, "text", "text"), lambda part, text: _position(text, part)),
    "starts_with": ScalarFunction(takes(k.BOOLEAN, "text", "text"), str.startswith),
    "ends_with": ScalarFunction(takes(k.BOOLEAN, "text", "text"), str.endswith),
    "split": ScalarFunction(_parts_of_first, _split),
    "split_part": ScalarFunction(takes(None, "text", "text", "integer"), _split_part),
    "concat": ScalarFunction(concat_rule, concat),
    "concat_ws": ScalarFunction(_concat_ws_rule, _concat_ws, takes_null=True),
    "lpad": ScalarFunction(takes(k.VARCHAR, "text", "integer", "text"), _pad(True)),
    "rpad": ScalarFunction(takes(k.VARCHAR, "text", "integer", "text"), _pad(False)),
    "chr": ScalarFunction(takes(SqlType("varchar", (1,)), "integer"), _character),
    "codepoint": ScalarFunction(takes(k.INTEGER, "text"), _codepoint),
    "ascii": ScalarFunction(takes(k.INTEGER, "text"), lambda text: ord(text[0]) if text else 0),
    "initcap": ScalarFunction(takes(k.VARCHAR, "text"), str.title),
    "translate": ScalarFunction(takes(k.VARCHAR, "text", "text", "text"), _translate),
    "levenshtein_distance": ScalarFunction(takes(k.BIGINT, "text", "text"), _distance),
    "hamming_distance": ScalarFunction(takes(k.BIGINT, "text", "text"), _hamming),
    "normalize": ScalarFunction(takes(k.VARCHAR, "text"), lambda text: unicodedata.normalize("NFC", text)),
    "regexp_like": ScalarFunction(takes(k.BOOLEAN, "text", "text"), patterns.like),
    "regexp_replace": ScalarFunction(takes(None, "text", "text", "text", least=2), patterns.replace),
    "regexp_extract": ScalarFunction(takes(None, "text", "text", "integer", least=2), patterns.extract),
    "regexp_extract_all": ScalarFunction(_parts_of_first, patterns.extract_all),
    "regexp_split": ScalarFunction(_parts_of_first, patterns.split),
    "regexp_count": ScalarFunction(takes(k.BIGINT, "text", "text"), patterns.count),
    "regexp_position": ScalarFunction(takes(k.INTEGER, "text", "text", "integer", "integer", least=2), patterns.position),
    "to_hex": ScalarFunction(takes(k.VARCHAR, "varbinary"), lambda value: value.hex().upper()),
    "from_hex": ScalarFunction(takes(SqlType("varbinary"), "text"), bytes.fromhex),
    "to_utf8": ScalarFunction(takes(SqlType("varbinary"), "text"), str.encode),
    "from_utf8": ScalarFunction(takes(k.VARCHAR, "varbinary"), lambda value: value.decode("utf-8", "replace")),
}
"""Functions of texts by their names in lower case."""

__all__ = ["TEXTS", "concat", "concat_rule"]
