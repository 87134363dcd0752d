"""Tests for refused crontabs: the message names the line and column of the part that is wrong."""
from __future__ import annotations

import pytest

from epl.errors import EplError
from runtime import Runtime

HEAD = "create schema T(a int);\n@name('s') select * from T#length(3) output last at ("
REFUSED = {
    "60, *, *, *, *": ("60", "Failed to deploy: Invalid value found for schedule unit, value of 60 is not valid for unit MINUTES"),
    "*, 24, *, *, *": ("24", "Failed to deploy: Invalid value found for schedule unit, value of 24 is not valid for unit HOURS"),
    "*, *, 0, *, *": ("0", "Failed to deploy: Invalid value found for schedule unit, value of 0 is not valid for unit DAYS_OF_MONTH"),
    "*, *, *, 13, *": ("13", "Failed to deploy: Invalid value found for schedule unit, value of 13 is not valid for unit MONTHS"),
    "*, *, *, *, *, 60": ("60", "Failed to deploy: Invalid value found for schedule unit, value of 60 is not valid for unit SECONDS"),
    "'x', *, *, *, *": ("'x'", "Failed to deploy: Invalid schedule specification: a crontab's values are whole numbers, not 'x'"),
    "*/0, *, *, *, *": (
        "*/0",
        "Failed to deploy: Failed expression evaluation in crontab timer-at for parameter 0: "
        "Zero or negative value supplied as freqeuncy"
    ),
    "*, *, 9 last, *, *": (
        "9 last", "Failed to deploy: the last day of week 9: days of week are numbers from 0 (Sunday) to 6"
    ),
    "*, *, *, *, 32": ("32", "Failed to deploy: Invalid value found for schedule unit, value of 32 is not valid for unit DAYS_OF_WEEK"),
    "*, *, *, *, 9 last": (
        "9 last", "Failed to deploy: the last day of week 9: days of week are numbers from 0 (Sunday) to 6"
    ),
    "*, *, 1.5 weekday, *, *": (
        "1.5 weekday", "Failed to deploy: Invalid schedule specification: a crontab's values are whole numbers, not 1.5"
    ),
    "*, *, 1, *, 2": (
        "2",
        "Failed to deploy: Invalid schedule specification: Invalid combination between days of week and days of month fields "
        "for timer:at"
    ),
}


@pytest.mark.parametrize("crontab", REFUSED)
def test_a_refusal_names_the_part_that_is_wrong(crontab: str) -> None:
    part, message = REFUSED[crontab]
    runtime = Runtime()
    with pytest.raises(EplError) as caught:
        runtime.deploy(f"{HEAD}{crontab})")
    assert caught.value.message == message
    assert str(caught.value).splitlines()[1].strip() == f"at line 2 column {len(HEAD.splitlines()[1]) + crontab.index(part) + 1}"
    assert not runtime.deployments
