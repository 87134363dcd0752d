"""Crontabs against a search through every minute, in several time zones."""

from __future__ import annotations

import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.errors import EplDeploymentError
from epl.plan.crontab import CronField, CrontabPlan
from epl.plan.expressions import Constant, TypedExpression
from epl.settings import Settings
from epl.value_types import INT, STRING
from runtime.clock.crontab import Crontab

ANY = CronField("any")
ZONES = ("UTC", "Asia/Kolkata", "America/New_York")
START = int(datetime.datetime(2024, 2, 27, 21, 59, tzinfo=datetime.timezone.utc).timestamp()) * 1000


def number(value: int) -> CronField:
    return CronField("value", Constant(value=value, type=INT))


def constant(expression: TypedExpression) -> object:
    assert isinstance(expression, Constant)
    return expression.value


def crontab(*fields: CronField, per_second: int = 1000, zone: str = "UTC") -> Crontab:
    unit = "microseconds" if per_second == 1_000_000 else "milliseconds"
    return Crontab(CrontabPlan(fields), constant, Settings(time_zone=zone, time_unit=unit))


def values(low: int, high: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(low, high), min_size=1, max_size=3)


def listed(found: list[int]) -> CronField:
    return CronField("list", items=tuple(map(number, found)))


@settings(max_examples=60, deadline=None)
@given(values(0, 59), values(0, 23), st.none() | values(0, 6), st.sampled_from(ZONES), st.integers(0, 2_000))
def test_equals_a_search_through_all_minutes(
    minutes: list[int], hours: list[int], weekdays: list[int] | None, zone: str, shift: int
) -> None:
    now = START + shift * 60_000 + 17
    found = crontab(listed(minutes), listed(hours), ANY, ANY, ANY if weekdays is None else listed(weekdays), zone=zone).next_due(now)
    at = now // 60_000 * 60_000 + 60_000
    while True:
        local = datetime.datetime.fromtimestamp(at / 1000, ZoneInfo(zone))
        day = (local.weekday() + 1) % 7
        if local.minute in minutes and local.hour in hours and (weekdays is None or day in weekdays):
            break
        at += 60_000
    assert found == at + 17  # as much later than a full second as the time that it is computed from


def test_never() -> None:
    assert crontab(number(0), number(0), number(30), number(2), ANY).next_due(START) is None


def test_microseconds() -> None:
    now = START * 1000
    zone = CronField("value", Constant(value="UTC", type=STRING))
    found = crontab(ANY, ANY, ANY, ANY, ANY, ANY, zone, number(5), number(7), per_second=1_000_000)
    assert found.next_due(now) == now + 5_007
    assert found.next_due(now + 5_007) == now + 1_005_007


def test_days_of_month_and_week_exclude_each_other() -> None:
    with pytest.raises(EplDeploymentError, match="Invalid combination between days of week and days of month"):
        crontab(number(0), number(0), number(1), ANY, number(1))
