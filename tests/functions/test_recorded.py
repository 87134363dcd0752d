"""Calls of functions and methods against what Esper 9.0.0 said of the same calls."""
from __future__ import annotations

import datetime
import json
import pathlib
import re
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from epl.errors import EplError
from epl.functions.casts import date_cast_key
from epl.functions.intervals import RELATIONS
from epl.value_types import BOXED_LONG, CALENDAR, DATE, LOCAL_DATE_TIME, STRING, ZONED_DATE_TIME, ValueType, find_type
from tests.functions.calls import MOMENT, REGISTRY, UTC, VALUES, Refused, evaluate, recorded, shown

JULY = datetime.datetime(2024, 7, 15, 22, 40, 31, 600000)
AT_LEAP_DAY = {**VALUES, "l": (BOXED_LONG, 1709201472345)}
IN_BERLIN = {
    **AT_LEAP_DAY, "dt": (DATE, JULY.replace(tzinfo=UTC)),
        "cal": (CALENDAR, datetime.datetime(2024, 12, 30, 22, 40, 31, 600000, tzinfo=UTC)),
    "ldt": (LOCAL_DATE_TIME, JULY), "zdt": (ZONED_DATE_TIME, JULY.replace(tzinfo=ZoneInfo("Europe/Berlin"))),
}


def _check(call: str, expected_type: str, expected: Any, values: dict[str, tuple[ValueType, Any]]) -> None:
    if expected_type == "refused":
        with pytest.raises((ValueError, Refused)):
            evaluate(call, values)
    elif expected_type == "error":
        with pytest.raises(EplError):
            evaluate(call, values)
    else:
        value_type, value = evaluate(call, values)
        assert (str(value_type).split("<")[0], shown(value_type, value)) == (expected_type.split("<")[0], expected)


@pytest.mark.parametrize(("call", "expected_type", "expected"), recorded("methods"))
def test_method(call: str, expected_type: str, expected: Any) -> None:
    _check(call, expected_type, expected, VALUES)


@pytest.mark.parametrize(("call", "expected_type", "expected"), recorded("dates"))
def test_date_method(call: str, expected_type: str, expected: Any) -> None:
    _check(call, expected_type, expected, AT_LEAP_DAY)


@pytest.mark.parametrize(("call", "expected_type", "expected"), recorded("dates_berlin"))
def test_date_method_of_another_moment(call: str, expected_type: str, expected: Any) -> None:
    _check(call, expected_type, expected, IN_BERLIN)


@pytest.mark.parametrize(("cast", "expected_type", "expected"), recorded("casts"))
def test_dated_cast(cast: str, expected_type: str, expected: Any) -> None:
    found = re.fullmatch(r"cast\((?:'(.*?)'|s2), ([\w.]+), dateformat: ?(?:['\"](.*)['\"]|(\w))\)", cast)
    if found is None:
        pytest.skip("no text to cast")
    text, pattern = found[1], found[3] if found[3] is not None else VALUES["s"][1]
    target = find_type(found[2])
    assert target is not None
    spec = REGISTRY.single_row[date_cast_key(target)]

    def run() -> tuple[ValueType, Any]:
        bound = spec.bind([STRING, STRING], [text, pattern])
        assert bound is not None
        return bound.type, spec.make(*bound.constants)(text, pattern)

    if expected_type in ("refused", "error"):
        with pytest.raises((ValueError, EplError)):
            run()
    else:
        value_type, value = run()
        assert (str(value_type.boxed), shown(value_type, value)) == (expected_type, expected)


def test_interval_algebra() -> None:
    asked = json.loads((pathlib.Path(__file__).parent / "recorded" / "intervals.json").read_text(encoding="utf-8"))
    questions = [(q, *re.fullmatch(r"(\w+)\(b(.*)\)", q).groups()) for q in asked["questions"]]  # type: ignore[union-attr]
    for (start, end, other_start, other_end), expected in asked["answers"]:
        holding = []
        for question, name, written in questions:
            limits = tuple(lambda _, n=int(w): n for w in written.split(",") if w.strip())
            if RELATIONS[name](start, end, other_start, other_end, limits):
                holding.append(question)
        assert holding == expected, (start, end, other_start, other_end)


def test_moments_are_those_of_the_recording() -> None:
    assert shown(DATE, MOMENT.replace(tzinfo=UTC)) == 1709201472345
