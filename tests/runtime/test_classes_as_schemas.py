"""create schema X as a registered class."""
from __future__ import annotations

import dataclasses

import pytest

from epl.errors import EplValidationError
from runtime import Runtime


@dataclasses.dataclass
class Order:
    number: int


def test_a_registered_class_takes_no_type_parameters() -> None:
    runtime = Runtime()
    runtime.register("acme.Trade", Order)
    with pytest.raises(EplValidationError, match="has 0 type parameters but specified are 1"):
        runtime.deploy("create schema O as acme.Trade<Integer>")
    runtime.deploy("create schema O as acme.Trade; @name('s0') select number + 1 as n from O")
