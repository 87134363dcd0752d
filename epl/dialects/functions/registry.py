"""Scalar functions of all dialects by their names."""
from __future__ import annotations

from epl.dialects.functions.arrays import ARRAYS
from epl.dialects.functions.numbers import NUMBERS
from epl.dialects.functions.scalar import Scalar
from epl.dialects.functions.texts import TEXTS
from epl.dialects.functions.times import TIMES

SCALARS: dict[str, Scalar] = {**TEXTS, **NUMBERS, **ARRAYS, **TIMES}
"""Functions by their names in lower case."""

__all__ = ["SCALARS"]
