"""``cast(text, date, dateformat: 'yyyy-MM-dd')`` and its like: text to long, Date, Calendar, LocalDate, LocalTime, LocalDateTime,
ZonedDateTime.

The format is a Java date pattern or ``iso``. Date, Calendar and long read as SimpleDateFormat does (lenient: fields carry over, what is
left of the text is
ignored); java.time reads as DateTimeFormatter does. What cannot be read is an error; null gives null.
"""
from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from epl.functions.calendars import NEAR_YEARS, TimeSettings, epoch_units, in_utc, near, resolve
from epl.functions.far_dates import DAY, MICROSECOND, UTC, FarMoment, beyond, gregorian_day
from epl.functions.formats import field_date, field_hour, parse_zone, parser
from epl.functions.java_values import JavaException
from epl.functions.registry import NOT_CONSTANT, Bound, FunctionRegistry, FunctionSpec
from epl.value_types import STRING, Scalar, ValueType, is_null

SIMPLE_KINDS = ("long", "Date", "Calendar")
TARGETS = (*SIMPLE_KINDS, "LocalDateTime", "LocalDate", "LocalTime", "ZonedDateTime")
_DATE, _LENIENT_DATE = r"([+-]\d{4,9}|\d{4})-(\d{2})-(\d{2})", r"(-?\d{4,9})-(\d{2})-(\d{2})"
_TIME = r"(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?"
_ZONE = r"(Z|[+-]\d{2}:?\d{2}(?::?\d{2})?)(?:\[([^\]]+)\])?"
_ISO_DATE, _ISO_TIME = re.compile(_DATE), re.compile(_TIME)
_ISO_LOCAL, _ISO_ZONED = re.compile(f"{_DATE}T{_TIME}(?:{_ZONE})?"), re.compile(f"{_DATE}T{_TIME}{_ZONE}")
_ISO_LENIENT = re.compile(f"{_LENIENT_DATE}(?:[T ]{_TIME}(?:{_ZONE})?)?")


def unreadable(text: str, pattern: str) -> JavaException:
    return JavaException(f"Exception parsing date '{text}' format '{pattern}': Unparseable date: \"{text}\"")


# ------------------------------------------------------------------ from fields to values


def _lenient_moment(fields: dict[str, Any], zone: datetime.tzinfo) -> Any:
    """Parse as SimpleDateFormat does: fields beyond their range carry over."""
    year, month, day = field_date(fields)
    hour, minute, second, millisecond = field_hour(fields), fields.get("minute", 0), fields.get("second", 0), fields.get("millisecond", 0)
    own_zone = parse_zone(fields["zone"]) if "zone" in fields else zone
    years, month0 = divmod(month - 1, 12)
    if year in NEAR_YEARS and year + years in NEAR_YEARS:
        clock = datetime.timedelta(days=day - 1, hours=hour, minutes=minute, seconds=second, milliseconds=millisecond)
        try:
            moment = resolve(datetime.datetime(year + years, month0 + 1, 1) + clock, own_zone, later=True).astimezone(zone)
            if moment.year in NEAR_YEARS:
                return moment
        except OverflowError:
            pass  # a far moment
    return FarMoment(0, own_zone).lenient(year, month - 1, day, hour, minute, second, millisecond).astimezone(zone)


def _smart_date(fields: dict[str, Any]) -> datetime.date:
    """Parse as DateTimeFormatter does: a day up to 31 is cut to the month's last."""
    if "year" not in fields or not ({"month", "day"} <= fields.keys() or "day_of_year" in fields):
        raise ValueError("no date")
    year, month, day = field_date(fields)
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        raise ValueError("no date")
    if not 1 <= year <= 9999:
        raise beyond()
    return datetime.date(year, month, min(day, calendar.monthrange(year, month)[1]))


def _smart_time(fields: dict[str, Any]) -> datetime.time:
    if "hour" not in fields and not {"half_hour", "pm"} <= fields.keys():
        raise ValueError("no time")
    return datetime.time(field_hour(fields), fields.get("minute", 0), fields.get("second", 0), fields.get("microsecond", 0))


def _smart_moment(fields: dict[str, Any]) -> datetime.datetime:
    return datetime.datetime.combine(_smart_date(fields), _smart_time(fields))


def _smart_zoned(fields: dict[str, Any]) -> datetime.datetime:
    return resolve(_smart_moment(fields), parse_zone(fields["zone"]))


_FROM_FIELDS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "LocalDate": _smart_date, "LocalTime": _smart_time, "LocalDateTime": _smart_moment, "ZonedDateTime": _smart_zoned,
}


# ------------------------------------------------------------------ ISO


def _clock(text: str, groups: Sequence[str | None]) -> datetime.time:
    hour, minute, second, fraction = groups
    try:
        return datetime.time(int(hour or 0), int(minute or 0), int(second or 0), int(f"{fraction or '0':0<6}"[:6]))
    except ValueError:
        raise unreadable(text, "iso") from None


def _match(expression: re.Pattern[str], text: str) -> re.Match[str]:
    match = expression.fullmatch(text.strip())
    if match is None:
        raise unreadable(text, "iso")
    return match


def _iso_day(text: str, groups: Sequence[str | None]) -> datetime.date:
    year, month, day = (int(group or 0) for group in groups)
    if not 1 <= year <= 9999:
        raise beyond()
    try:
        return datetime.date(year, month, day)
    except ValueError:
        raise unreadable(text, "iso") from None


def iso_local_date(text: str) -> datetime.date:
    """Implement ``LocalDate.parse``."""
    return _iso_day(text, _match(_ISO_DATE, text).groups())


def iso_local_time(text: str) -> datetime.time:
    """Implement ``LocalTime.parse``."""
    return _clock(text, _match(_ISO_TIME, text).groups())


def iso_local_date_time(text: str) -> datetime.datetime:
    """Implement ``LocalDateTime.parse``; a zone is ignored."""
    groups = _match(_ISO_LOCAL, text).groups()
    return datetime.datetime.combine(_iso_day(text, groups[:3]), _clock(text, groups[3:7]))


def iso_zoned_date_time(text: str) -> datetime.datetime:
    """Implement ``ZonedDateTime.parse``: offset and, in brackets, a zone."""
    groups = _match(_ISO_ZONED, text).groups()
    naive = datetime.datetime.combine(_iso_day(text, groups[:3]), _clock(text, groups[3:7]))
    try:
        offset = naive.replace(tzinfo=parse_zone(groups[7]))
        return offset.astimezone(parse_zone(groups[8])) if groups[8] else offset
    except OverflowError:
        raise beyond() from None


def _iso_moment(zone: datetime.tzinfo, text: str) -> Any:
    """Return a date, date and time, or date, time and zone; without a zone in the engine's. The year -1 is 1 BC."""
    groups = _match(_ISO_LENIENT, text).groups()
    year, clock = int(groups[0]), _clock(text, groups[3:7])
    own_zone = parse_zone(groups[7]) if groups[7] else zone
    if year in NEAR_YEARS:
        return resolve(datetime.datetime.combine(_iso_day(text, groups[:3]), clock), own_zone).astimezone(zone)
    month, day, last = int(groups[1]), int(groups[2]), 2000 + year % 400
    if year == 0 or not 1 <= month <= 12 or not 1 <= day <= calendar.monthrange(last, month)[1]:
        raise unreadable(text, "iso")
    since = (datetime.datetime.combine(datetime.date(1, 1, 1), clock) - datetime.datetime(1, 1, 1)) // MICROSECOND
    return FarMoment.at(gregorian_day(year + (year < 0), month, day), since % DAY, own_zone).astimezone(zone)


def _iso_reader(kind: str, zone: datetime.tzinfo) -> Callable[[str], Any]:
    readers: dict[str, Callable[[str], Any]] = {
        "LocalDate": iso_local_date, "LocalTime": iso_local_time, "LocalDateTime": iso_local_date_time,
            "ZonedDateTime": iso_zoned_date_time,
    }
    return readers.get(kind) or partial(_iso_moment, zone)


# ------------------------------------------------------------------ the readers


def reader(kind: str, pattern: str, zone: datetime.tzinfo) -> Callable[[str], Any]:
    """Return the function that reads texts of a pattern as dates of a kind (long and Date as aware moments); ValueError for a pattern that
    is none."""
    if pattern.lower() == "iso":
        return _iso_reader(kind, zone)
    simple = kind in SIMPLE_KINDS
    fields = parser(pattern, simple)
    make = partial(_lenient_moment, zone=zone) if simple else _FROM_FIELDS[kind]

    def read(text: str) -> Any:
        try:
            return make(fields(text))
        except (ValueError, KeyError, OverflowError):
            raise unreadable(text, pattern) from None

    return read


def _encoder(kind: str, settings: TimeSettings) -> Callable[[Any], Any]:
    if kind == "long":
        return lambda moment: epoch_units(moment, settings)
    if kind == "Date":
        return in_utc
    return near if kind == "Calendar" else lambda moment: moment


def parse_moment(kind: str, zone: datetime.tzinfo) -> Callable[[str, str], Any]:
    """Implement ``DateTime.toDate(text, pattern)`` and its like: long in milliseconds."""
    encode = _encoder(kind, TimeSettings(zone))
    return lambda text, pattern: encode(reader(kind, pattern, zone)(text))


def _bind(kind: str, types: Sequence[ValueType], constants: Sequence[Any]) -> Bound | None:
    if types[0] != STRING and not is_null(types[0]):
        raise ValueError("Use of the 'dateformat' named parameter requires a string-type input")
    if types[1] != STRING:
        raise ValueError(
            "Failed to validate named parameter 'dateformat', expected a single expression returning any of the following types: "
            "string,DateFormat,DateTimeFormatter")
    pattern = constants[1] if constants[1] is not NOT_CONSTANT else None
    if pattern is not None:
        try:
            reader(kind, pattern, UTC)
        except ValueError as error:
            made_by = "new SimpleDateFormat" if kind in SIMPLE_KINDS else "DateTimeFormatter.ofPattern"
            raise ValueError(f"Invalid date format '{pattern}' (as obtained from {made_by}): {error}") from None
    return Bound(Scalar(kind), (kind, pattern), null_propagates=True)


def _make(settings: TimeSettings, kind: str, pattern: str | None) -> Callable[[Any, Any], Any]:
    encode = _encoder(kind, settings)
    if pattern is not None:
        read = reader(kind, pattern, settings.zone)
        return lambda text, _pattern: None if text is None else encode(read(text))
    return lambda text, written: None if text is None or written is None else encode(_dynamic(kind, written, settings.zone)(text))


def _dynamic(kind: str, pattern: str, zone: datetime.tzinfo) -> Callable[[str], Any]:
    try:
        return reader(kind, pattern, zone)
    except ValueError as error:
        raise JavaException(f"Invalid date format '{pattern}': {error}") from None


def date_cast_key(target: ValueType) -> str:
    """Return the name under which the registry's ``single_row`` holds the cast to a type; ValueError in Esper's words for other types."""
    if not isinstance(target, Scalar) or target.kind not in TARGETS:
        raise ValueError(
            "Use of the 'dateformat' named parameter requires a target type of calendar, date, long, "
            "localdatetime, localdate, localtime or zoneddatetime")
    return f"cast:{target.kind}"


def add_casts(registry: FunctionRegistry, settings: TimeSettings) -> None:
    """Add ``cast:Date(text, format)`` and so on; the names cannot be written in EPL, the analysis calls them for ``cast``."""
    for kind in TARGETS:
        registry.add_single_row(f"cast:{kind}", FunctionSpec(
            key=f"cast:{kind}", bind=partial(_bind, kind), make=partial(_make, settings),
                signature=f"cast(text, {kind.lower()}, dateformat: pattern)",
            summary=f"The {kind} that a string represents by a Java date pattern or iso."))
