"""Scalar functions of all dialects by their names."""
from __future__ import annotations

from epl.dialects.functions.arrays import ARRAYS
from epl.dialects.functions.numbers import NUMBERS
from epl.dialects.functions.scalar import ScalarFunction
from epl.dialects.functions.texts import TEXTS
from epl.dialects.functions.times import OF_FLINK, TIMES

SCALARS: dict[str, ScalarFunction] = {**TEXTS, **NUMBERS, **ARRAYS, **TIMES}
"""Functions by their names in lower case."""


def find_scalar(name: str, dialect: str) -> ScalarFunction | None:
    """Return the function of a name in a dialect."""
    own = OF_FLINK.get(name) if dialect in ("flink", "alibaba") else None
    return own or SCALARS.get(name)


__all__ = ["SCALARS", "find_scalar"]
