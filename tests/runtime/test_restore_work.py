"""What a restore of much state must not do: collect garbage again and again; and the check of events' values, which is generated code."""

from __future__ import annotations

import datetime
import gc
from decimal import Decimal
from typing import Any

import pytest

from epl.value_types import Scalar
from runtime import EplRuntimeError, Runtime
from windows.protocol import Damaged
from windows.shape import CLASSES, of_type, scalars_fit

NOW = datetime.datetime(2026, 1, 2, 3, 4, 5)
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 127, 128, -129, 2**15, 2**31 - 1, 2**31, -(2**31) - 1, 2**63 - 1, 2**63, 2**70, 1.5, Decimal("1.5"), "x", b"x", [],
    {},
    NOW, NOW.date(), NOW.time(),
)


def stored() -> bytes:
    runtime = Runtime(tier="row")
    runtime.deploy("create schema E(k int); @name('s') select k, count(*) as c from E#unique(k) group by k")
    for k in range(5_000):
        runtime.send("E", {"k": k})
    return runtime.snapshot()


@pytest.mark.parametrize("enabled", [True, False])
def test_no_garbage_is_collected_while_state_is_restored(enabled: bool) -> None:
    blob, found = stored(), []
    Runtime.restore(blob)  # what is compiled at first may be collected
    gc.collect()
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        gc.callbacks.append(note := lambda phase, info: found.append(info["generation"]))
        Runtime.restore(blob)
        gc.callbacks.remove(note)
        assert gc.isenabled() is enabled
        assert len(found) <= 20  # 212 where the collector runs
        with pytest.raises(EplRuntimeError):
            Runtime.restore(blob[:-1])
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("kind", CLASSES)
def test_one_check_of_all_values_says_what_the_check_of_each_says(kind: str) -> None:
    scalar = Scalar(kind)
    one, two = scalars_fit([scalar]), scalars_fit([scalar, scalar])
    for value in VALUES:
        try:
            of_type(scalar)(value)
            expected = True
        except Damaged:
            expected = False
        assert one([value]) is two([None, value]) is two([value, None]) is expected
    assert scalars_fit([])([])
