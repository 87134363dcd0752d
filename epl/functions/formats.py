"""Java's date patterns, both ways: ``SimpleDateFormat`` (lenient, for Date, Calendar, long) and ``DateTimeFormatter`` (smart, for
java.time).

A pattern becomes a tuple of fields and literals once; formatting and parsing walk it. Texts are English.
"""
from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import attrs

from epl.functions import format_fields as fields
from epl.functions.java_values import OFFSET_ZERO, JavaException
from epl.zones import zone_named

Moment = datetime.datetime | datetime.date | datetime.time
_SIMPLE_LETTERS = "GyYMLwWDdFEuaHkKhmsSzZX"
_FORMATTER_LETTERS = "GuyDMLdQqYwWEecFaBhKkHmsSAnNVvzOXxZ"


@attrs.frozen
class FormatField:
    """``letter`` repeated ``width`` times."""

    letter: str
    width: int


Token = FormatField | str


@lru_cache(maxsize=512)
def tokens(pattern: str, simple: bool) -> tuple[Token, ...]:
    """Return the parts of a pattern; ValueError with Java's words for letters that mean nothing."""
    letters = _SIMPLE_LETTERS if simple else _FORMATTER_LETTERS
    out: list[Token] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "'":
            literal, position = _quotation(pattern, position)
            out.append(literal)
        elif character.isascii() and character.isalpha():
            if character not in letters:
                raise ValueError(f"Illegal pattern character '{character}'" if simple else f"Unknown pattern letter: {character}")
            end = position
            while end < len(pattern) and pattern[end] == character:
                end += 1
            out.append(FormatField(character, end - position))
            position = end
        elif not simple and character in "[]{}#":
            raise ValueError(f"Optional sections and reserved characters of DateTimeFormatter are not supported: '{character}'")
        else:
            out.append(character)
            position += 1
    return tuple(out)


def _quotation(pattern: str, start: int) -> tuple[str, int]:
    position, text = start + 1, ""
    while position < len(pattern):
        if pattern[position] == "'":
            if pattern[position + 1:position + 2] != "'":
                return text or "'", position + 1
            position += 1
        text += pattern[position]
        position += 1
    raise ValueError(f"Unterminated quote in pattern: {pattern}")


# ------------------------------------------------------------------ formatting


@lru_cache(maxsize=512)
def formatter(pattern: str, simple: bool) -> Callable[[Moment], str]:
    """Return the function that formats a moment.

    >>> formatter("yyyy.MM.dd G 'at' HH:mm:ss", True)(datetime.datetime(2002, 5, 30, 9))
    '2002.05.30 AD at 09:00:00'
    """
    table = fields.SIMPLE if simple else fields.FORMATTER
    parts: list[Callable[[Any], str]] = []
    for token in tokens(pattern, simple):
        parts.append(_literal(token) if isinstance(token, str) else table[token.letter](token.width))

    def call(value: Moment) -> str:
        try:
            return "".join([part(value) for part in parts])
        except AttributeError as error:
            raise JavaException("java.time.temporal.UnsupportedTemporalTypeException: the value has no such field") from error

    return call


def _literal(text: str) -> Callable[[Any], str]:
    return lambda _: text


def default_simple_format(value: datetime.datetime) -> str:
    """Return ``new SimpleDateFormat()`` in the US: ``2/29/24, 10:11 AM``."""
    return formatter("M/d/yy, h:mm a", True)(value)


def iso_date_time(value: datetime.datetime) -> str:
    """Return ``DateTimeFormatter.ISO_DATE_TIME``."""
    fraction = f".{value.microsecond:06}".rstrip("0") if value.microsecond else ""
    text = f"{value:%Y-%m-%dT%H:%M:%S}{fraction}"
    if value.tzinfo is None:
        return text
    key = getattr(value.tzinfo, "key", None)
    return text + fields.offset_text(value, "Z", True) + (f"[{key}]" if key else "")


# ------------------------------------------------------------------ parsing


@lru_cache(maxsize=512)
def parser(pattern: str, simple: bool) -> Callable[[str], dict[str, Any]]:
    """Return the function that reads a text's fields: year, month, day, hour, … zone; ValueError where the text does not fit.

    SimpleDateFormat takes numbers of any length (unless digits follow at once) and ignores what is left; DateTimeFormatter takes what it
    would print.
    """
    expression, readers = _expression(tokens(pattern, simple), simple)
    compiled = re.compile(expression, re.IGNORECASE if simple else 0)

    def read(text: str) -> dict[str, Any]:
        match = compiled.match(text) if simple else compiled.fullmatch(text)
        if match is None:
            raise ValueError(text)
        values: dict[str, Any] = {}
        for number, (name, reader) in enumerate(readers, 1):
            value = reader(match[number])
            if value is not None:
                values[name] = value
        return values

    return read


def _expression(parts: tuple[Token, ...], simple: bool) -> tuple[str, list[tuple[str, Callable[[str], Any]]]]:
    out: list[str] = []
    readers: list[tuple[str, Callable[[str], Any]]] = []
    for position, token in enumerate(parts):
        if isinstance(token, str):
            out.append(re.escape(token))
            continue
        follows = parts[position + 1] if position + 1 < len(parts) else None
        adjacent = isinstance(follows, FormatField) and fields.is_number(follows.letter, follows.width, simple)
        field = fields.reader(token.letter, token.width, simple, adjacent)
        if field is None:
            raise ValueError(f"Pattern letter '{token.letter}' is not supported for parsing")
        text, name, reader = field
        out.append(f"({text})")
        readers.append((name, reader))
    return "".join(out), readers


# ------------------------------------------------------------------ from fields to values


def field_date(fields: dict[str, Any]) -> tuple[int, int, int]:
    """Return year, month from 1, day: what is missing is 1970, January, 1."""
    year = fields.get("year", 1970)
    if fields.get("era") == "BC":
        year = 1 - year
    if "day_of_year" in fields and "month" not in fields:
        day = datetime.date(year, 1, 1) + datetime.timedelta(days=fields["day_of_year"] - 1)
        return day.year, day.month, day.day
    return year, fields.get("month", 1), fields.get("day", 1)


def field_hour(fields: dict[str, Any]) -> int:
    """Return the hour from 0 to 23, also from a half-day's."""
    if "hour" in fields:
        return int(fields["hour"])
    if "half_hour" in fields:
        return int(fields["half_hour"]) % 12 + (12 if fields.get("pm") else 0)
    return 0


def parse_zone(text: str) -> datetime.tzinfo:
    """Return the zone of ``Europe/Berlin``, ``UTC``, ``GMT``, ``Z``, ``+02:00``, ``-0500``, ``PST``."""
    offset = re.fullmatch(r"(?:GMT|UTC)?([+-])(\d{1,2}):?(\d{2})?(?::?(\d{2}))?", text)
    if offset:
        total = datetime.timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0), seconds=int(offset[4] or 0))
        return datetime.timezone(-total if offset[1] == "-" else total) if total else OFFSET_ZERO
    if text == "Z":
        return OFFSET_ZERO
    if text in ("UTC", "UT", "Coordinated Universal Time", "Greenwich Mean Time"):
        return datetime.timezone.utc
    known = fields.ZONE_NAMES.get(text.upper())
    if known is not None:
        return datetime.timezone(datetime.timedelta(hours=known))
    zone = zone_named(text)
    if zone is None:
        raise ValueError(text)
    return zone
