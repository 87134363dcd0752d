"""The letters of Java's date patterns: how each is printed and read."""
from __future__ import annotations

import calendar
import datetime
from collections.abc import Callable, Mapping
from typing import Any

from epl.errors import EplUnsupportedError
from epl.functions.far_dates import UTC, FarMoment, gregorian_day
from epl.functions.java_values import zone_name

MONTHS = tuple(calendar.month_name)[1:]
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SHORT_MONTHS, SHORT_DAYS = tuple(m[:3] for m in MONTHS), tuple(d[:3] for d in DAYS)
ZONE_NAMES = {"PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4, "CET": 1, "CEST": 2, "BST": 1,
    "EET": 2, "EEST": 3}

Printer = Callable[[Any], str]
PrinterOfWidth = Callable[[int], Printer]


_LONG_ZONES = {
    "UTC": "Coordinated Universal Time", "GMT": "Greenwich Mean Time", "CET": "Central European Standard Time",
        "CEST": "Central European Summer Time",
    "EST": "Eastern Standard Time", "EDT": "Eastern Daylight Time", "PST": "Pacific Standard Time", "PDT": "Pacific Daylight Time",
}

# ------------------------------------------------------------------ weeks


def us_week_start(year: int) -> datetime.date:
    """Return the Sunday that begins week 1 of a year in the US: the one at or before January 1."""
    first = datetime.date(year, 1, 1)
    return first - datetime.timedelta(days=first.isoweekday() % 7)


def us_week(moment: Any) -> tuple[int, int]:
    """Return week year and week of ``java.util.Calendar`` in the US (weeks begin on Sunday, week 1 holds January 1) of a moment or date."""
    if isinstance(moment, FarMoment) or moment.year in (1, 9999):
        return (moment if isinstance(moment, FarMoment) else _far(moment)).us_week()
    day = _date(moment)
    year = day.year + 1 if day >= us_week_start(day.year + 1) else day.year
    start = us_week_start(year)
    return year, (day - start).days // 7 + 1


def week_of_month(moment: Any) -> int:
    if isinstance(moment, FarMoment):
        return moment.week_of_month()
    day = _date(moment)
    first = day.replace(day=1)
    return (day.day - 1 + first.isoweekday() % 7) // 7 + 1


def day_of_year(moment: Any) -> int:
    """Return the day of the year, from 1."""
    return moment.day_of_year if isinstance(moment, FarMoment) else moment.timetuple().tm_yday


def era(moment: Any) -> int:
    """Return 1 after Christ, 0 before."""
    return moment.era if isinstance(moment, FarMoment) else 1


def _far(date: datetime.date) -> FarMoment:
    return FarMoment.at(gregorian_day(date.year, date.month, date.day), 0, UTC)


def _date(value: Any) -> datetime.date:
    return value.date() if isinstance(value, datetime.datetime) else value


# ------------------------------------------------------------------ printing


def _pad(number: Callable[[Any], int]) -> PrinterOfWidth:
    return lambda width: lambda value: f"{number(value):0{width}d}"


def _name(index: Callable[[Any], int], long: tuple[str, ...], short: tuple[str, ...], numeric_below: int, narrow: bool) -> PrinterOfWidth:
    """Month and day names: short up to 3 letters, long from 4, narrow at 5 where ``narrow``; a number below ``numeric_below``."""

    def of_width(width: int) -> Printer:
        if width < numeric_below:
            return lambda value: f"{index(value) + 1:0{width}d}"
        if narrow and width == 5:
            return lambda value: long[index(value)][0]
        names = long if width >= 4 else short
        return lambda value: names[index(value)]

    return of_width


def _year(number: Callable[[Any], int]) -> PrinterOfWidth:
    """Two letters give two digits, else the whole year."""
    return lambda width: (lambda value: f"{number(value) % 100:02d}") if width == 2 else (lambda value: f"{number(value):0{width}d}")


def _fraction(width: int) -> Printer:
    """DateTimeFormatter's S: the first digits of the second's fraction."""
    return lambda value: f"{value.microsecond:06d}000"[:width]


def offset_text(value: datetime.datetime, zero: str, colon: bool, minutes: bool = True) -> str:
    offset = value.utcoffset()
    if offset is None:
        raise AttributeError("no offset")
    total = int(offset.total_seconds()) // 60
    if total == 0 and zero:
        return zero
    sign, total = ("-", -total) if total < 0 else ("+", total)
    text = f"{sign}{total // 60:02d}"
    if not minutes and total % 60 == 0:
        return text
    return f"{text}{':' if colon else ''}{total % 60:02d}"


def _iso_offset(zero: str) -> PrinterOfWidth:
    return lambda width: lambda value: offset_text(value, zero, width in (3, 5), minutes=width > 1)


def _rfc_offset(width: int) -> Printer:
    return lambda value: offset_text(value, "", False) if width < 4 else "GMT" + (offset_text(value, " ", True).strip())


def _zone_name(width: int) -> Printer:
    def text(value: datetime.datetime) -> str:
        if value.tzinfo is None:
            raise AttributeError("no zone")
        name = value.tzname() or "UTC"
        if width < 4:
            return name
        if name not in _LONG_ZONES:
            raise EplUnsupportedError(f"the long name of time zone {name} in a date pattern is not supported", hint="use z or VV")
        return _LONG_ZONES[name]

    return text


def _zone_id(width: int) -> Printer:
    def text(value: datetime.datetime) -> str:
        if value.tzinfo is None:
            raise AttributeError("no zone")
        return zone_name(value.tzinfo) or offset_text(value, "Z", True)

    return text


def _half(value: Any) -> str:
    return "AM" if value.hour < 12 else "PM"


_ERAS = {4: ("Before Christ", "Anno Domini"), 5: ("B", "A")}


def _era(width: int) -> Printer:
    return lambda value: _ERAS.get(width, ("BC", "AD"))[era(value)]


def _month(value: Any) -> int:
    return int(value.month) - 1


def _weekday(value: Any) -> int:
    return int(value.weekday())


_COMMON: dict[str, PrinterOfWidth] = {
    "G": _era, "y": _year(lambda v: v.year), "Y": _year(lambda v: us_week(v)[0]), "w": _pad(lambda v: us_week(v)[1]),
    "W": _pad(lambda v: week_of_month(v)), "D": _pad(lambda v: day_of_year(v)), "d": _pad(lambda v: v.day),
    "F": _pad(lambda v: (v.day - 1) // 7 + 1), "a": lambda _width: _half,
    "H": _pad(lambda v: v.hour), "k": _pad(lambda v: v.hour or 24), "K": _pad(lambda v: v.hour % 12),
    "h": _pad(lambda v: v.hour % 12 or 12), "m": _pad(lambda v: v.minute), "s": _pad(lambda v: v.second), "z": _zone_name,
    "Z": _rfc_offset, "X": _iso_offset("Z"),
}
SIMPLE: Mapping[str, PrinterOfWidth] = {
    **_COMMON, "M": _name(_month, MONTHS, SHORT_MONTHS, 3, False), "L": _name(_month, MONTHS, SHORT_MONTHS, 3, False),
    "E": _name(_weekday, DAYS, SHORT_DAYS, 0, False), "u": _pad(lambda v: v.isoweekday()),
    "S": _pad(lambda v: v.microsecond // 1000),
    "Z": lambda _width: lambda value: offset_text(value, "", False),
}


def _quarter(width: int) -> Printer:
    if width < 3:
        return lambda value: f"{(value.month + 2) // 3:0{width}d}"
    suffix = {3: "Q{}", 4: "{} quarter"}.get(width, "{}")
    ordinals = ("1st", "2nd", "3rd", "4th")
    return lambda value: suffix.format(ordinals[(value.month - 1) // 3] if width == 4 else (value.month + 2) // 3)


def _day_millis(value: Any) -> int:
    return int(((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000)


FORMATTER: Mapping[str, PrinterOfWidth] = {
    **_COMMON, "u": _year(lambda v: v.year), "M": _name(_month, MONTHS, SHORT_MONTHS, 3, True),
        "L": _name(_month, MONTHS, SHORT_MONTHS, 3, True),
    "E": _name(_weekday, DAYS, SHORT_DAYS, 0, True), "S": _fraction, "x": _iso_offset(""), "Q": _quarter, "q": _quarter, "V": _zone_id,
    "F": _pad(lambda v: (v.day - 1) % 7 + 1), "A": _pad(_day_millis), "n": _pad(lambda v: v.microsecond * 1000),
    "N": _pad(lambda v: _day_millis(v) * 1_000_000 + v.microsecond % 1000 * 1000), "v": _zone_name, "O": _rfc_offset,
        "B": lambda _w: _half,
    "e": _name(lambda v: v.isoweekday() % 7, ("Sunday", *DAYS[:6]), ("Sun", *SHORT_DAYS[:6]), 3, True),
    "c": _name(lambda v: v.isoweekday() % 7, ("Sunday", *DAYS[:6]), ("Sun", *SHORT_DAYS[:6]), 3, True),
}


# ------------------------------------------------------------------ reading

Reader = tuple[str, str, Callable[[str], Any]]
_NUMBERS = {
    "d": "day", "D": "day_of_year", "H": "hour", "m": "minute", "s": "second",
}


def is_number(letter: str, width: int, simple: bool) -> bool:
    return (letter in "yuYDdHkKhmsSwWFn" and not (simple and letter == "u")) or (letter in "ML" and width < 3)


def reader(letter: str, width: int, simple: bool, adjacent: bool) -> Reader | None:
    """Return the expression that a field's text matches, its name, and how the text is read; None where the field is not read."""
    digits = rf"\d{{{width}}}" if adjacent else r"\d+" if simple else rf"\d{{{width}}}" if width > 1 else r"\d{1,2}"
    sign = r" *-?" if simple and not adjacent else ""
    if letter in _NUMBERS:
        return sign + digits, _NUMBERS[letter], int
    if letter in "yu":
        return _year_reader(width, simple, adjacent)
    if letter in "ML":
        return (sign + digits, "month", int) if width < 3 else _names(MONTHS, SHORT_MONTHS, "month", simple, width)
    if letter == "E":
        return _names(DAYS, SHORT_DAYS, "weekday", simple, width)
    if letter == "k":
        return digits, "hour", lambda text: int(text) % 24
    if letter in "Kh":
        return digits, "half_hour", int
    if letter == "a":
        return "[AaPp][Mm]" if simple else "AM|PM", "pm", lambda text: text.upper() == "PM"
    if letter == "S":
        if simple:
            return sign + digits, "millisecond", int
        return rf"\d{{{width}}}", "microsecond", lambda text: int(f"{text:0<6}"[:6])
    if letter == "n":
        return digits, "microsecond", lambda text: int(text) // 1000
    if letter == "G":
        return "AD|BC", "era", str.upper
    return _zone_reader(letter, simple)


def _year_reader(width: int, simple: bool, adjacent: bool) -> Reader:
    if adjacent:
        text = rf"\d{{{width}}}"
    else:
        text = r" *-?\d+" if simple else r"\d{2}" if width == 2 else rf"[+-]?\d{{{max(width, 1)},9}}"

    def read(digits: str) -> int:
        year = int(digits)
        if width <= 2 and len(digits.strip()) == 2 and (simple or width == 2):
            return _near(year) if simple else 2000 + year
        return year

    return text, "year", read


def _near(year: int) -> int:
    """SimpleDateFormat's two digits: within 80 years before and 20 after now; the century is that of 2000 below 45, held constant so that
    runs repeat."""
    return 2000 + year if year < 45 else 1900 + year


def _names(long: tuple[str, ...], short: tuple[str, ...], name: str, simple: bool, width: int) -> Reader:
    known = {n.lower(): i + 1 for i, n in enumerate(long)} | {n.lower(): i + 1 for i, n in enumerate(short)}
    choices = (*long, *short) if simple else long if width >= 4 else short
    return "|".join(choices), name, lambda text: known[text.lower()]


def _zone_reader(letter: str, simple: bool) -> Reader | None:
    offset = r"[+-]\d{2}(?::?\d{2})?(?::?\d{2})?"
    if letter == "X":
        return f"Z|{offset}", "zone", str
    if letter in "xZ":
        return f"Z|{offset}" if not simple else r"(?:GMT)?[+-]\d{1,2}:?\d{2}|[A-Za-z][A-Za-z/_]*", "zone", str
    if letter in "zVvO":
        return rf"(?:GMT|UTC)?{offset}|[A-Za-z][A-Za-z/_]*(?: [A-Z][a-z]+)*", "zone", str
    return None
