"""ISO 8601 schedules as ``timer:schedule`` takes them: ``R3/2012-10-01T05:52:00Z/PT2S``, a date, a period, or repetitions of a period."""
from __future__ import annotations

import datetime
import re

import attrs

_PERIOD = re.compile(r"P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_DATE = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)(Z|[+-]\d\d:\d\d)?)?")
SECONDS = (604_800, 86_400, 3_600, 60, 1)


class IsoError(ValueError):
    """The text is not a schedule; the message is Esper's."""


@attrs.frozen
class IsoSchedule:
    """``repetitions``: None where none are written, -1 for ever. ``months`` and ``seconds``: the period; ``date``: aware, None where none
    is written."""

    repetitions: int | None = None
    date: datetime.datetime | None = None
    months: int | None = None
    seconds: int = 0


def parse_schedule(text: str) -> IsoSchedule:
    """Return what the text says.

    >>> parse_schedule("R2/PT2S")
    IsoSchedule(repetitions=2, date=None, months=0, seconds=2)
    """
    if not text.strip():
        raise IsoError("Received an empty string")
    parts = text.strip().split("/")
    if not parts[0]:
        raise IsoError(f"Failed to parse '{text}': Expected either a recurrence or a date but received an empty string")
    try:
        return _schedule(parts)
    except IsoError as error:
        raise IsoError(f"Failed to parse '{text}': {error}") from error


def _schedule(parts: list[str]) -> IsoSchedule:
    if parts[0].startswith("R"):
        repetitions = _repetitions(parts[0])
        rest = parts[1:]
        if not rest:  # as in Esper: repetitions of nothing are looked at as a date
            parse_date(parts[0])
        date = parse_date(rest[0]) if len(rest) > 1 else None
        months, seconds = _period(rest[-1])
        return IsoSchedule(repetitions, date, months, seconds)
    if parts[0].startswith("P") and len(parts) == 1:
        return IsoSchedule(None, None, *_period(parts[0]))
    date = parse_date(parts[0])
    return IsoSchedule(None, date, *_period(parts[1])) if len(parts) > 1 else IsoSchedule(None, date)


def _repetitions(text: str) -> int:
    if text == "R":
        return -1
    try:
        if text[1:] != text[1:].strip():
            raise ValueError
        return int(text[1:])
    except ValueError:
        raise IsoError(f"Invalid repeat '{text}', expecting an long-typed value but received '{text[1:]}'") from None


def _period(text: str) -> tuple[int, int]:
    """Months and seconds."""
    match = _PERIOD.fullmatch(text)
    if match is None:
        raise IsoError(f"Invalid period '{text}'")
    years, months, *rest = (int(part or 0) for part in match.groups())
    if not (years or months or any(rest)):
        raise IsoError(f"Invalid period '{text}'")
    return 12 * years + months, sum(number * unit for number, unit in zip(rest, SECONDS, strict=True))


def parse_date(text: str) -> datetime.datetime:
    """Return the moment; one without an offset is in UTC. Raise IsoError for another text."""
    match = _DATE.fullmatch(text)
    refused = IsoError(f"Exception parsing date '{text}', the date is not a supported ISO 8601 date")
    if match is None:
        raise refused
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    fraction, zone = match[7], match[8]
    try:
        return datetime.datetime(
            year, month, day, hour, minute, second, int((fraction or "0")[:6].ljust(6, "0")), tzinfo=_zone(zone))
    except ValueError:
        raise refused from None


def _zone(text: str | None) -> datetime.timezone:
    if text is None or text == "Z":
        return datetime.timezone.utc
    hours, minutes = int(text[1:3]), int(text[3:].lstrip(":") or 0)
    offset = datetime.timedelta(hours=hours, minutes=minutes)
    return datetime.timezone(-offset if text[0] == "-" else offset)


__all__ = ["IsoError", "IsoSchedule", "parse_date", "parse_schedule"]
