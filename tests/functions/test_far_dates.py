"""Moments beyond the years that ``datetime`` carries, against what ``java.util.GregorianCalendar`` (US) answered on the JDK 17."""
from __future__ import annotations

import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epl.errors import EplError
from epl.functions import calendars
from epl.functions.far_dates import NEAR_BEGIN, NEAR_END, UTC, FarMoment
from epl.functions.formats import formatter
from runtime import Runtime, Settings
from tests.functions.calls import recorded

PATTERN = "y yy yyyy G M MMM d D w W E a H"
ZONES: dict[str, datetime.tzinfo] = {"UTC": UTC, **{name: ZoneInfo(name) for name in ("Europe/Berlin", "America/New_York", "Asia/Kolkata")}}
TIMES = calendars.TimeSettings()


def _milliseconds(moment: Any) -> int:
    return calendars.epoch_units(moment, TIMES)


@pytest.mark.parametrize("row", recorded("gregorian_calendar"), ids=lambda row: f"{row[0]} {row[1]}")
def test_moments_as_java_counts_them(row: Any) -> None:
    zone, milliseconds, fields, amount, added, changed, largest, text = row
    m = FarMoment(milliseconds * 1000, ZONES[zone])
    read = [m.era, m.year, m.month - 1, m.us_week()[1], m.week_of_month(), m.day, m.day_of_year, m.isoweekday() % 7 + 1, m.hour, m.minute,
        m.second, m.microsecond // 1000]
    assert read == fields
    assert [_milliseconds(each) for each in (
        m.add_months(12 * amount), m.add_months(amount), m.add_days(7 * amount), m.add_days(amount), m.elapse(amount * 3_600_000_000),
    )] == added
    assert [_milliseconds(each) for each in (
        m.lenient(year=amount), m.lenient(month=amount), m.set_week(amount), m.lenient(day=amount), m.lenient(hour=amount),
    )] == changed
    assert [m.last_year(), m.weeks_in_year(), m.days_in_month()] == largest
    assert formatter(PATTERN, True)(m) == text


CHANGES = [
    *(calendars.setter(field, False) for field in ("year", "month", "week", "day", "hour", "minute", "second", "millisecond")),
    lambda m, n: calendars.add_months(m, n),
    lambda m, n: calendars.add_period(m, ["week", n, "day", 1, "hour", n], 1),
    *((lambda m, n, f=f, g=g: g(m, f)) for f in ("day", "hour", "year") for g in (calendars.floor, calendars.ceiling, calendars.half)),
]


@given(st.integers(NEAR_BEGIN // 1000, NEAR_END // 1000 - 1), st.integers(-3000, 12000), st.sampled_from(CHANGES),
    st.sampled_from(list(ZONES)))
def test_near_and_far_moments_agree(milliseconds: int, number: int, change: Any, zone: str) -> None:
    near = calendars.engine_moment(milliseconds, calendars.TimeSettings(ZONES[zone]))
    far = FarMoment(milliseconds * 1000, ZONES[zone])
    assert formatter(PATTERN + " Z z", True)(near) == formatter(PATTERN + " Z z", True)(far)
    assert _milliseconds(calendars.extend_years(change, "long")(near, number)) == _milliseconds(change(far, number))


FAR = datetime.datetime(9999, 12, 31, 23, tzinfo=UTC)


@pytest.mark.parametrize(("call", "error"), [
    ("l.toDate()", "beyond the years 1 to 9999, which only long values can be"), ("l.toCalendar()", "beyond the years 1 to 9999"),
    ("d.plus(1 day)", "beyond the years"), ("d.set('year', 30000)", "beyond the years"), ("d.roundCeiling('hour')", "beyond the years"),
    ("n.plus(1 day)", "beyond the years"), ("n.plus(1 year)", "beyond the years"), ("n.set('year', 30000)", "Invalid value"),
    ("n.roundCeiling('hour')", "beyond the years"), ("n.plusDays(1)", "beyond the years"), ("n.plusHours(1)", "beyond the years"),
    ("n.plusYears(1)", "beyond the years"), ("z.plus(1 month)", "beyond the years"), ("z.plus(99999999999999999L)", "beyond the years"),
    ("cast(s, date, dateformat: 'yyyy-MM-dd')", "beyond the years"), ("cast(s, calendar, dateformat: 'iso')", "beyond the years"),
    ("cast('+' || s, localdate, dateformat: 'yyyy-MM-dd')", "beyond the years"),
    ("cast('+' || s, localdate, dateformat: 'iso')", "beyond the years"),
    ("cast('+' || s, long, dateformat: 'yyyy-MM-dd')", "Unparseable date"), ("cast('0000-01-01', long, dateformat: 'iso')", "Unparseable"),
    ("cast('2019-02-29', date, dateformat: 'iso')", "Unparseable"), ("cast('2020-13-01', localdate, dateformat: 'iso')", "Unparseable"),
    ("cast('2020-01-01T25:00:00', localdatetime, dateformat: 'iso')", "Unparseable"),
    ("m.roundFloor('day')", "Calendar value too large for accurate calculations"),
])
def test_what_a_date_cannot_hold_is_an_error_of_that_event(call: str, error: str) -> None:
    heard: list[BaseException] = []
    runtime = Runtime(on_error=lambda each, *_: heard.append(each))
    runtime.deploy("create schema E(l long, m long, d java.util.Date, n java.time.LocalDateTime, z java.time.ZonedDateTime, s string)")
    runtime.deploy(f"select {call} as c from E")
    runtime.send("E", {"l": 9 * 10 ** 15, "m": (1 << 63) - 1, "d": FAR, "n": FAR.replace(tzinfo=None), "z": FAR, "s": "12345-01-01"})
    assert [type(each).__name__ for each in heard] == ["JavaException"] and error in str(heard[0])


EDGES = [datetime.datetime.min, datetime.datetime(1, 1, 1, 20), datetime.datetime.max, datetime.datetime(9999, 12, 31, 3),
    datetime.datetime(1900, 1, 1), datetime.datetime(1582, 10, 10)]
CALLS = [
    "get('week')", "getDayOfYear()", "set('year', -5)", "set('month', 40)", "set('week', -100)", "set('day', -400)",
    "withDate(9999, 12, 31)", "withTime(30, 99, 99, 9999)", "withMin('year')", "withMax('week')",
    "plus(1 day)", "minus(1 day)", "plus(1 month)", "minus(2 years)",
    "minus(1 week)", "plus(9999999999999999L)", "minus(30 hours)", "roundFloor('year')", "roundCeiling('month')", "roundHalf('day')",
    "format()", "format('yyyy-MM-dd G w W Y D E z Z')", "toDate()", "toCalendar()", "toMillisec()", "between(0L, u)", "after(u, 1 month)",
    "before(u, 1 year, 2 years)", "coincides(u, 1 month)", "getTime()", "plusDays(1)", "minusDays(1)", "plusHours(30)", "minusYears(1)",
]
KINDS = ["java.util.Date", "java.util.Calendar", "java.time.LocalDateTime", "java.time.ZonedDateTime"]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_date_at_the_edges_raises_an_error_of_python(kind: str, zone: str) -> None:
    heard: list[BaseException] = []
    runtime = Runtime(settings=Settings(time_zone=zone), on_error=lambda each, *_: heard.append(each))
    runtime.deploy(f"create schema E(t {kind}, u long)")
    for call in CALLS:
        try:
            runtime.deploy(f"@name('s0') select t.{call} as c from E", listeners={"s0": lambda *_: None})
        except EplError:
            continue  # a method of other kinds
    zones = [None] if kind.endswith("LocalDateTime") else [UTC] if kind.endswith("Date") else [UTC, ZoneInfo(zone)]
    for moment in EDGES:
        for each in zones:
            runtime.send("E", {"t": moment.replace(tzinfo=each), "u": 0})
    assert heard and [each for each in heard if not isinstance(each, EplError)] == []


def test_dates_before_1582_are_of_the_julian_calendar() -> None:
    rows: list[Any] = []
    runtime = Runtime()
    runtime.deploy("create schema E(d java.util.Date)")
    runtime.deploy(
        "@name('s0') select d.get('day') as dom, d.plus(1 month) as plus, d.roundFloor('month') as floor, d.getDayOfYear() as doy from E",
        listeners={"s0": lambda new, *_: rows.extend(new)})
    runtime.send("E", {"d": datetime.datetime(1582, 10, 14, tzinfo=UTC)})
    assert dict(rows[0]) == {
        "dom": 4, "plus": datetime.datetime(1582, 11, 4, tzinfo=UTC), "floor": datetime.datetime(1582, 10, 11, tzinfo=UTC), "doy": 277}


@pytest.mark.parametrize("unit", ["milliseconds", "microseconds"])
def test_microseconds_stay(unit: str) -> None:
    factor = 1000 if unit == "microseconds" else 1
    rows: list[Any] = []
    runtime = Runtime(settings=Settings(time_unit=unit))
    runtime.deploy("create schema E(l long)")
    runtime.deploy("@name('s0') select l.plus(1 day) as p, l.roundFloor('day') as f, l.get('year') as y from E",
        listeners={"s0": lambda new, *_: rows.extend(new)})
    runtime.send("E", {"l": 300_000_000_000_000 * factor + factor - 1})
    assert dict(rows[0]) == {"p": 300_000_086_400_000 * factor + factor - 1, "f": 299_999_980_800_000 * factor + factor - 1, "y": 11476}
