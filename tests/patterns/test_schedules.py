"""The next time of a ``timer:schedule`` is the first later one, and is found in few steps however far time has gone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.settings import Settings
from runtime import Runtime
from runtime.clock.instants import LAST
from runtime.clock.periods import add_months
from runtime.pattern import schedules
from runtime.pattern.schedules import Series, next_occurrence
from tests.calls import calls

DAY = 86_400_000
BERLIN = Settings(time_zone="Europe/Berlin")


def by_walking(series: Series, now: int, zone: Settings) -> int | None:
    anchor, months, units, first, last = series
    for number in range(first, 2000 if last == -1 else last + 1):
        due = add_months(anchor, months * number, zone) + units * number
        if due > now:
            return due
    return None


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, 40_000).map(lambda days: days * DAY), st.sampled_from([0, 1, 2, 7, 12, 13]),
    st.sampled_from([0, 1, 1000, DAY, 40 * DAY]),
    st.sampled_from([0, 1]), st.sampled_from([-2, -1, 0, 1, 5, 40]), st.integers(-400, 50_000), st.integers(-1, 1), st.booleans(),
)
def test_as_by_walking(anchor: int, months: int, units: int, first: int, last: int, days: int, beside: int, is_berlin: bool) -> None:
    zone = BERLIN if is_berlin else Settings()
    now = days * DAY + beside
    if (months, units) == (0, 0) or months * 31 * DAY + units < (now - anchor) / 1000:
        now = anchor + (months * 30 * DAY + units) * (days % 100) + beside
    series = anchor, months, units, first, last
    assert next_occurrence(series, now, zone) == by_walking(series, now, zone)


@pytest.mark.parametrize("now", [10**12, 2**50, 2**58, 2**60, LAST - 1])
@pytest.mark.parametrize(("months", "units"), [(1, 0), (1, 1), (12, 0), (0, 1), (7, DAY)])
def test_far_times_take_few_steps(now: int, months: int, units: int, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []
    monkeypatch.setattr(schedules, "add_months", lambda *arguments: steps.append(1) or add_months(*arguments))
    due = next_occurrence((0, months, units, 0, -1), now, Settings())
    assert due is not None and now < due <= now + months * 32 * DAY + units + 1
    assert len(steps) < 100


@pytest.mark.parametrize("text", [f"R{series}" for series in ("/1970-01-01T00:00:00Z/P1M", "/1970-01-01T00:00:00Z/P1Y",
                                                             "/1970-01-01T00:00:00Z/PT1S", "5/1970-01-01T00:00:00Z/P1M")])
def test_a_far_jump_is_one_step(text: str) -> None:
    with Runtime() as runtime:
        seen: list[int] = []
        runtime.deploy(f"@name('s') select 1 as one from pattern [every timer:schedule(iso: '{text}')]",
                       listeners={"s": lambda new, *_: seen.append(runtime.now)})
        with calls(most=10_000):
            runtime.advance_time(2**60)
        assert seen
