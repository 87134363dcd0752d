"""``java.lang.String``: instance methods and static ones.

Texts are Python's; positions count characters, which are Java's but for those beyond the basic plane (two in Java).
"""
from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

from epl.functions.java_format import java_format
from epl.functions.java_numbers import JAVA_SPACE
from epl.functions.java_values import check_length, java_text, text_function, throw
from epl.functions.overloads import ANY_COLLECTION, Overload, add_methods, add_statics, kind_is, overload
from epl.functions.patterns import java_pattern
from epl.functions.registry import FunctionRegistry
from epl.java import concatenate
from epl.java_hash import string_hash
from epl.value_types import CHAR, OBJECT, STRING, ArrayType, Scalar, ValueType

_WHITE = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u2028\u2029\u205f\u3000"
"""``Character.isWhitespace``."""


def _out_of_bounds(begin: int, end: int, text: str) -> Exception:
    return throw("StringIndexOutOfBoundsException", f"begin {begin}, end {end}, length {len(text)}")


def _substring(text: str, begin: int, end: int | None = None) -> str:
    stop = len(text) if end is None else end
    if begin < 0 or begin > stop or stop > len(text):
        raise _out_of_bounds(begin, stop, text)
    return text[begin:stop]


def _char_at(text: str, index: int) -> str:
    if not 0 <= index < len(text):
        raise throw("StringIndexOutOfBoundsException", f"String index out of range: {index}")
    return text[index]


def _code_point_at(text: str, index: int) -> int:
    return ord(_char_at(text, index))


def _index_of(text: str, part: str, start: int = 0) -> int:
    start = max(start, 0)
    return text.find(part, start) if start <= len(text) else (len(text) if not part else -1)


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    return text.rfind(part, 0, start + len(part)) if start >= 0 else -1


def _by_code(function: Callable[..., int]) -> Callable[..., int]:
    return lambda text, code, *start: function(text, chr(code), *start)


def _starts_with(text: str, prefix: str, offset: int = 0) -> bool:
    return 0 <= offset <= len(text) and text.startswith(prefix, offset)


def _compare(left: str, right: str) -> int:
    for a, b in zip(left, right):
        if a != b:
            return ord(a) - ord(b)
    return len(left) - len(right)


def _fold_case(text: str) -> str:
    return "".join(c.upper().lower() if len(c.upper()) == 1 else c for c in text)


def _equals(left: str, right: Any) -> bool:
    return isinstance(right, str) and left == right


def _equals_ignore_case(left: str, right: str | None) -> bool:
    return right is not None and len(left) == len(right) and _fold_case(left) == _fold_case(right)


def _replacement(text: str) -> Callable[[re.Match[str]], str]:
    """Java's replacement: ``$1``, ``${name}``, backslash escapes."""
    parts: list[str | int] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\":
            if position + 1 == len(text):
                raise throw("IllegalArgumentException", "character to be escaped is missing")
            parts.append(text[position + 1])
            position += 2
        elif character == "$":
            group = re.compile(r"\$(?:(\d)|\{([a-zA-Z][a-zA-Z0-9]*)\})").match(text, position)
            if not group:
                raise throw("IllegalArgumentException", "Illegal group reference")
            parts.append(int(group[1]) if group[1] else "\0" + group[2])
            position = group.end()
        else:
            parts.append(character)
            position += 1
    return lambda match: "".join(_part(match, p) for p in parts)


def _part(match: re.Match[str], part: str | int) -> str:
    if isinstance(part, int):
        if part > (match.re.groups or 0):
            raise throw("IndexOutOfBoundsException", f"No group {part}")
        return match[part] or ""
    if part[0] != "\0" or len(part) == 1:
        return part
    if part[1:] not in match.re.groupindex:
        raise throw("IllegalArgumentException", f"No group with name {{{part[1:]}}}")
    return match[part[1:]] or ""


def replace_all(text: str, pattern: str, replacement: str) -> str:
    return _replace_text(text, pattern, replacement, len(text) + 1)


def _replace_first(text: str, pattern: str, replacement: str) -> str:
    return _replace_text(text, pattern, replacement, 1)


def _replace_text(text: str, pattern: str, replacement: str, times: int) -> str:
    replace = _replacement(replacement)
    parts: list[str] = []
    length, end = len(text), 0
    for match in islice(java_pattern(pattern).finditer(text), times):
        inserted = replace(match)
        parts += text[end:match.start()], inserted
        length += len(inserted)
        check_length(length)
        end = match.end()
    return "".join(parts) + text[end:]


def _bytes(text: str) -> list[int]:
    return [byte - 256 if byte > 127 else byte for byte in text.encode("utf-8", "replace")]


def _split(text: str, pattern: str, limit: int = 0) -> list[str]:
    """``split``: empty texts at the end are omitted unless a limit is given; no empty text in front for a match of width zero."""
    parts: list[str] = []
    start = 0
    for match in java_pattern(pattern).finditer(text):
        if match.end() == 0:
            continue
        if limit > 0 and len(parts) == limit - 1:
            break
        if match.start() == match.end() == len(text):
            continue
        parts.append(text[start:match.start()])
        start = match.end()
    if not parts and start == 0:
        return [text]
    parts.append(text[start:])
    while limit == 0 and parts and not parts[-1]:
        parts.pop()
    return parts


def _repeat(text: str, count: int) -> str:
    if count < 0:
        raise throw("IllegalArgumentException", f"count is negative: {count}")
    check_length(len(text) * count)
    return text * count


def _replace(text: str, part: str, other: str) -> str:
    if len(other) > len(part):
        check_length(len(text) + text.count(part) * (len(other) - len(part)))
    return text.replace(part, other)


def _region_matches(text: str, offset: int, other: str, start: int, length: int) -> bool:
    if offset < 0 or start < 0 or offset + length > len(text) or start + length > len(other):
        return False
    return text[offset:offset + length] == other[start:start + length]


def _upper(text: str) -> str:
    return text.upper()


def _lower(text: str) -> str:
    return text.lower()


def _pieces(method: Callable[..., int]) -> list[Overload]:
    """indexOf and lastIndexOf: a text or a character's code, and where to begin."""
    by_code = _by_code(method)
    return [overload("String", "int", method), overload("String, int", "int", method), overload("int", "int", by_code),
        overload("int, int", "int", by_code)]


Table = dict[str, tuple[str, list[Overload]]]

_SEARCHING: Table = {
    "length": ("The number of characters.", [overload("", "int", len)]),
    "isEmpty": ("Whether it has no character.", [overload("", "boolean", lambda t: not t)]),
    "isBlank": ("Whether it is empty or white space only.", [overload("", "boolean", lambda t: not t.strip(_WHITE))]),
    "charAt": ("The character at a position from 0.", [overload("int", "char", _char_at)]),
    "codePointAt": ("The code of the character at a position.", [overload("int", "int", _code_point_at)]),
    "indexOf": ("The first position of a string or character, from a start; -1 if there is none.", _pieces(_index_of)),
    "lastIndexOf": ("The last position of a string or character, at most at a start; -1 if there is none.", _pieces(_last_index_of)),
    "contains": ("Whether it contains a string.", [overload("CharSequence", "boolean", str.__contains__)]),
    "startsWith": ("Whether it begins with a string, at an offset.", [
        overload("String", "boolean", str.startswith), overload("String, int", "boolean", _starts_with)]),
    "endsWith": ("Whether it ends with a string.", [overload("String", "boolean", str.endswith)]),
    "matches": ("Whether the whole text matches a regular expression.", [
        overload("String", "boolean", lambda t, p: java_pattern(p).matches(t))]),
    "regionMatches": ("Whether two regions are equal.", [overload("int, String, int, int", "boolean", _region_matches)]),
}

_COMPARING: Table = {
    "equals": ("Whether the other is the same text.", [overload("Object", "boolean", _equals, nulls=True)]),
    "equalsIgnoreCase": ("Whether the other is the same text but for case; false for null.", [
        overload("String", "boolean", _equals_ignore_case, nulls=True)]),
    "contentEquals": ("Whether the other has the same characters.", [overload("CharSequence", "boolean", str.__eq__)]),
    "compareTo": ("The difference of the first characters that differ, or of the lengths.", [overload("String", "int", _compare)]),
    "compareToIgnoreCase": ("compareTo without regard to case.",
        [overload("String", "int", lambda a, b: _compare(_fold_case(a), _fold_case(b)))]),
    "hashCode": ("Java's hash code of the text.", [overload("", "int", string_hash)]),
}

_CHANGING: Table = {
    "substring": ("The text from begin to before end.",
        [overload("int", "String", _substring), overload("int, int", "String", _substring)]),
    "subSequence": ("The text from begin to before end.", [overload("int, int", "String", _substring)]),
    "toLowerCase": ("In lower case.", [overload("", "String", _lower)]),
    "toUpperCase": ("In upper case.", [overload("", "String", _upper)]),
    "trim": ("Without control characters and blanks around it.", [overload("", "String", lambda t: t.strip(JAVA_SPACE))]),
    "strip": ("Without white space around it.", [overload("", "String", lambda t: t.strip(_WHITE))]),
    "stripLeading": ("Without white space in front.", [overload("", "String", lambda t: t.lstrip(_WHITE))]),
    "stripTrailing": ("Without trailing white space.", [overload("", "String", lambda t: t.rstrip(_WHITE))]),
    "replace": ("Every occurrence of a string or character replaced.", [
        overload("CharSequence, CharSequence", "String", _replace), overload("char, char", "String", str.replace)]),
    "replaceAll": ("Every match of a regular expression replaced; $1 is a group.",
        [overload("String, String", "String", replace_all)]),
    "replaceFirst": ("The first match of a regular expression replaced.", [overload("String, String", "String", _replace_first)]),
    "concat": ("The string followed by the other one.", [overload("String", "String", concatenate)]),
    "repeat": ("The text a number of times.", [overload("int", "String", _repeat)]),
    "split": ("The parts between matches of a regular expression, at most limit.", [
        overload("String", ArrayType(STRING), _split), overload("String, int", ArrayType(STRING), _split)]),
    "getBytes": ("The bytes of the text in UTF-8, -128 to 127.", [overload("", ArrayType(Scalar("byte", primitive=True)), _bytes)]),
    "toCharArray": ("The characters.", [overload("", ArrayType(CHAR), list)]),
    "toString": ("The text itself.", [overload("", "String", lambda t: t)]),
    "intern": ("The text itself.", [overload("", "String", lambda t: t)]),
}


def _value_of(value_type: ValueType) -> Callable[[Any], str]:
    return text_function(value_type)


def _join(separator: str, *parts: Any) -> str:
    texts = list(map(java_text, parts))
    check_length(sum(map(len, texts)) + len(separator) * max(len(texts) - 1, 0))
    return separator.join(texts)


def _format(pattern: str, *arguments: Any) -> str:
    return java_format(pattern, arguments)


_STATIC: Table = {
    "valueOf": ("The text of any value; null gives the text null.", [overload([OBJECT], "String", _value_of, nulls=True, typed=True)]),
    "format": ("Java's format string with arguments put in; null where they do not fit.", [
        overload([STRING, OBJECT], "String", _format, nulls=True, varargs=True)]),
    "join": ("Strings with a separator between them.", [
        overload([STRING, ANY_COLLECTION], "String", lambda s, parts: _join(s, *parts)),
        overload([STRING, ArrayType(STRING)], "String", lambda s, parts: _join(s, *parts)),
        overload([STRING, STRING], "String", _join, nulls=True, varargs=True)]),
    "copyValueOf": ("The text of characters.", [overload([ArrayType(CHAR)], "String", "".join)]),
}


def add_strings(registry: FunctionRegistry) -> None:
    """Add String's instance and static methods."""
    receiver = kind_is("String", "CharSequence")
    for table in (_SEARCHING, _COMPARING, _CHANGING):
        add_methods(registry, "String", receiver, table)
    add_statics(registry, "java.lang", "String", _STATIC)
