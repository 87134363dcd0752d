"""The script of the EPL Online try-out page: "Time And Event Sequence" in, its way of printing output.

One instruction a line (a semicolon at its end is tolerated, ``//`` starts a comment)::

    t = "2001-01-01 08:00:00.000"                  absolute time
    t = t.plus(10 minutes 5 seconds)               relative time; t = t + 1000 adds milliseconds
    StockTick = {symbol = 'YHOO', price = 100}     an event; values nest: {tags = {'a', 'b'}, inner = {x = 1}}
    Login = {source.ip = '10.0.0.1', `on site` = true}     names with dots, also source\\.ip, and in backticks
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from epl.errors import EplSyntaxError
from epl.java import java_text
from epl.spans import Span
from runtime.conversion.rows import Row, to_row
from windows.event import Event

DEFAULT_START = "2001-01-01 08:00:00.000"
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
UNITS_MS = {
    "day": 86_400_000,
    "days": 86_400_000,
    "week": 604_800_000,
    "weeks": 604_800_000,
    "hour": 3_600_000,
    "hours": 3_600_000,
    "minute": 60_000,
    "minutes": 60_000,
    "min": 60_000,
    "second": 1000,
    "seconds": 1000,
    "sec": 1000,
    "millisecond": 1,
    "milliseconds": 1,
    "msec": 1,
}


@attrs.frozen
class At:
    """Time moves to ``ms`` (since 1970)."""

    ms: int


@attrs.frozen
class Later:
    """Time moves on by ``ms``."""

    ms: int


@attrs.frozen
class Send:
    """An event. ``values``: property → value; nested objects are dicts, arrays lists."""

    type: str
    values: dict[str, Any]


Instruction = At | Later | Send

DEEPEST = 100
"""How many braces may be within one another, as in values that are sent."""
LONGEST_TIME = 1 << 61
"""So many ms no time is away from another."""

TOKEN = re.compile(
    r"""\s+|(?P<text>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")|(?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?P<suffix>[lLfFdD]?)(?![\w.])"""
    r"""|(?P<word>[A-Za-z_$][\w$]*(?:\\?\.[A-Za-z_$][\w$]*)*|`[^`]+`)|(?P<sign>[={},()+;])|(?P<comment>//.*)"""
)


def parse_script(text: str) -> Iterator[tuple[int, Instruction]]:
    """Yield (line number from 1, instruction) in order. Raise EplSyntaxError with line and column."""
    start = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        instruction = _Line(text, start, line.rstrip("\r\n")).instruction()
        if instruction is not None:
            yield number, instruction
        start += len(line)


def looks_like_script(text: str) -> bool:
    """Return whether the first instruction of a text is one of a script: ``t = …`` or ``Type = {…``."""
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("//"):
            return bool(re.match(r"\s*(t\s*=|[A-Za-z_$][\w$.]*\s*=\s*\{)", line))
    return False


def parse_time(text: str) -> int:
    """Parse ``yyyy-MM-dd HH:mm:ss.SSS`` (UTC; shorter forms too) → ms since 1970.

    >>> parse_time("1970-01-01 00:00:01.500")
    1500
    """
    moment = datetime.datetime.fromisoformat(text.strip())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.timezone.utc)
    return (moment - EPOCH) // datetime.timedelta(milliseconds=1)


def format_time(ms: int) -> str:
    """Return the time as ``parse_time`` reads it; beyond the years 1 to 9999 the number alone.

    >>> format_time(1500), format_time(1 << 60)
    ('1970-01-01 00:00:01.500', '1152921504606846976')
    """
    try:
        moment = EPOCH + datetime.timedelta(milliseconds=ms)
    except OverflowError:
        return str(ms)
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{ms % 1000:03}"


class _Line:
    """The tokens of one line, and where they are in the script."""

    def __init__(self, text: str, offset: int, line: str) -> None:
        self.script = text
        self.offset = offset
        self.line = line
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        self._scan()

    def _scan(self) -> None:
        position = 0
        while position < len(self.line):
            match = TOKEN.match(self.line, position)
            if match is None:
                raise self._error(f"Incorrect syntax near '{self.line[position]}'", position)
            kind = next((k for k in ("text", "number", "word", "sign") if match.group(k) is not None), None)
            if kind is not None:
                token = match.group(kind)
                self.tokens.append((kind, token.strip("`").replace("\\.", ".") if kind == "word" else token, position))
            position = match.end()

    def _error(self, message: str, position: int) -> EplSyntaxError:
        begin = self.offset + position
        return EplSyntaxError(
            message, span=Span(begin, begin + 1), text=self.script, hint='write t = t.plus(1 seconds), t = "…" or Type = {name = value, …}'
        )

    def _next(self, expected: str | None = None) -> tuple[str, str]:
        if self.at >= len(self.tokens):
            raise self._error("Unexpected end-of-line" + (f", expecting '{expected}'" if expected else ""), len(self.line))
        kind, token, position = self.tokens[self.at]
        if expected is not None and token != expected:
            raise self._error(f"Incorrect syntax near '{token}' expecting '{expected}'", position)
        self.at += 1
        return kind, token

    def _sees(self, token: str) -> bool:
        return self.at < len(self.tokens) and self.tokens[self.at][1] == token

    def instruction(self) -> Instruction | None:
        if not self.tokens or all(t == ";" for _, t, _ in self.tokens):
            return None
        kind, name = self._next()
        if kind != "word":
            raise self._error(f"Incorrect syntax near '{name}' expecting an event type or t", self.tokens[0][2])
        self._next("=")
        instruction: Instruction = self._time() if name == "t" and not self._sees("{") else Send(name, self._object())
        while self._sees(";"):
            self.at += 1
        if self.at < len(self.tokens):
            _, token, position = self.tokens[self.at]
            raise self._error(f"Incorrect syntax near '{token}'", position)
        return instruction

    def _time(self) -> Instruction:
        kind, token = self._next()
        position = self.tokens[self.at - 1][2]
        if kind == "text":
            try:
                return At(parse_time(token[1:-1]))
            except ValueError:
                raise self._error(f"Incorrect time {token}, expecting yyyy-MM-dd HH:mm:ss.SSS", position) from None
        if token == "t" and self._sees("+"):
            self._next("+")
            return self._later(self._number(), position)
        if token != "t.plus":
            raise self._error(f"Incorrect syntax near '{token}'", position)
        self._next("(")
        total = 0.0
        while not self._sees(")"):
            amount = self._number()
            _, unit = self._next()
            if unit not in UNITS_MS:
                raise self._error(f"Unknown unit '{unit}'", self.tokens[self.at - 1][2])
            total += amount * UNITS_MS[unit]
        self._next(")")
        return self._later(total, position)

    def _later(self, ms: float, position: int) -> Later:
        if not abs(ms) < LONGEST_TIME:
            raise self._error("Incorrect time: it is beyond the range of engine time", position)
        return Later(round(ms))

    def _number(self) -> float:
        kind, token = self._next()
        if kind != "number":
            raise self._error(f"Incorrect syntax near '{token}' expecting a number", self.tokens[self.at - 1][2])
        return float(token)

    def _object(self) -> dict[str, Any]:
        value = self._braces(1)
        if isinstance(value, list):
            if value:
                raise self._error("An event has properties with names, {name = value, …}", self.tokens[0][2])
            return {}
        return value

    def _braces(self, depth: int) -> dict[str, Any] | list[Any]:
        """``{a = 1, b = 2}`` → dict; ``{1, 2}`` and ``{}`` → list."""
        self._next("{")
        if depth > DEEPEST:
            raise self._error(f"More than {DEEPEST} braces are within one another", self.tokens[self.at - 1][2])
        named: dict[str, Any] = {}
        plain: list[Any] = []
        while not self._sees("}"):
            if self.at + 1 < len(self.tokens) and self.tokens[self.at + 1][1] == "=":
                _, name = self._next()
                self._next("=")
                named[name] = self._value(depth)
            else:
                plain.append(self._value(depth))
            if not self._sees("}"):
                self._next(",")
        self._next("}")
        if named and plain:
            raise self._error("Values with and without names in the same braces", self.tokens[self.at - 1][2])
        return named or plain

    def _value(self, depth: int) -> Any:
        if self._sees("{"):
            return self._braces(depth + 1)
        kind, token = self._next()
        if kind == "text":
            return re.sub(r"\\(.)", r"\1", token[1:-1])
        if kind == "number":
            return self._whole(token) if re.fullmatch(r"[+-]?\d+", token) else float(token)
        words = {"null": None, "true": True, "false": False}
        if token.lower() in words:
            return words[token.lower()]
        raise self._error(f"Incorrect syntax near '{token}' expecting a value", self.tokens[self.at - 1][2])


    def _whole(self, token: str) -> int:
        try:
            return int(token)
        except ValueError:
            raise self._error(f"A number has too many digits ({len(token):,})", self.tokens[self.at - 1][2]) from None


# ------------------------------------------------------------------ output


def output_text(at_ms: int, calls: Iterable[tuple[str, Sequence[Row], Sequence[Row]]]) -> str:
    """Return what came out at one instant, as EPL Online prints it: rows of one statement together, statements in order of their first
    output.

    ``calls``: (statement name, insert stream, remove stream) a listener call.
    """
    streams: dict[str, tuple[list[Row], list[Row]]] = {}
    for name, new, old in calls:
        insert, remove = streams.setdefault(name, ([], []))
        insert.extend(new)
        remove.extend(old)
    lines = [f"At: {format_time(at_ms)}"]
    for name, both in streams.items():
        lines.append(f"  Statement: {name}")
        for title, rows in zip(("Insert", "Remove"), both):
            if rows:
                lines.append(f"    {title}")
                lines.extend(f"      {row_text(row, name)}" for row in rows)
    return "\n".join(lines)


def row_text(row: Row, statement: str) -> str:
    """Return ``Out-output={a=1, b='x'}``; rows of a declared type carry its name."""
    event_type = row.event.type
    name = f"{statement}-output" if event_type.kind == "row" else event_type.name
    return f"{name}={{{_pairs(row.items())}}}"


def _pairs(items: Iterable[tuple[str, Any]]) -> str:
    return ", ".join(f"{name}={value_text(value)}" for name, value in items)


def value_text(value: Any) -> str:
    """Return null as ``(null)``, text in quotes, numbers as Java prints them, nested events with their type's name.

    >>> value_text(None), value_text("A"), value_text(1.5e10), value_text([1, True])
    ('(null)', "'A'", '1.5E10', '[1, true]')
    """
    if value is None:
        return "(null)"
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, Event):
        value = to_row(value)
    if isinstance(value, Row):
        return f"{{{value.event.type.name}={{{_pairs(value.items())}}}}}"
    if isinstance(value, Mapping):
        return f"{{{_pairs((str(k), v) for k, v in value.items())}}}"
    if isinstance(value, (list, tuple, set, frozenset)):
        return f"[{', '.join(map(value_text, value))}]"
    return java_text(value)
