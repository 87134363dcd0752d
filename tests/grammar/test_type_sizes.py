"""Texts of a few lines that declare types without end are refused at deploy, in both tiers, before anything walks through them."""
from __future__ import annotations

import pytest

from epl.analysis.statements.type_sizes import MOST_LEVELS, MOST_VALUES
from epl.errors import EplValidationError
from runtime import Runtime

TIERS = ["row", "batch"]


def declared(number: int, columns: str) -> str:
    """Types T0 to T<number>, each of the one before."""
    return "create schema T0(a int);" + "".join(f"create schema T{n}({columns.format(n - 1)});" for n in range(1, number + 1))


@pytest.mark.parametrize("tier", TIERS)
def test_types_that_hold_each_other_twice(tier: str) -> None:
    runtime = Runtime(tier=tier)
    with pytest.raises(EplValidationError, match=f"Event type 'T15' holds more than {MOST_VALUES} values, those of the") as caught:
        runtime.deploy(declared(40, "a T{0}, b T{0}"))
    assert caught.value.position is not None
    runtime.deploy(declared(8, "a T{0}, b T{0}") + "@name('s') select * from T8")
    runtime.send("T8", {"a": None, "b": None})


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("columns", ["a T{0}", "a T{0}[]", "inherits"])
def test_types_within_or_above_one_another(tier: str, columns: str) -> None:
    if columns == "inherits":
        text = "create schema T0(a int);" + "".join(f"create schema T{n}(a{n} int) inherits T{n - 1};" for n in range(1, 3 * MOST_LEVELS))
    else:
        text = declared(3 * MOST_LEVELS, columns)
    with pytest.raises(EplValidationError, match=f"Event type 'T{MOST_LEVELS}' is nested too deeply .more than {MOST_LEVELS} levels."):
        Runtime(tier=tier).deploy(text)


def test_types_that_statements_make() -> None:
    """Streams of insert into hold the events of others."""
    text = "create schema S0(a int);" + "".join(f"insert into S{n} select s as a, s as b from S{n - 1} as s;" for n in range(1, 40))
    with pytest.raises(EplValidationError, match=f"holds more than {MOST_VALUES} values"):
        Runtime().deploy(text)


def test_a_wide_type_and_many_statements_are_fine() -> None:
    runtime = Runtime()
    runtime.deploy(f"create schema Wide({', '.join(f'c{n} int' for n in range(2_000))}); @name('s') select * from Wide")
    runtime.send("Wide", {"c1999": 1})
