"""How much one query may need, as its caller says."""
from __future__ import annotations

from typing import Any

import attrs

MOST_ROWS = 10_000_000
"""Rows of one join, union or clause, beyond those of the query's tables; elements of arrays in the rows of a clause."""
MOST_STEPS = 20_000_000
"""Steps of a query over small tables."""
UNLIMITED = 1 << 60


def _check(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise ValueError(f"{field.name}={value!r}: expected a whole number of at least 1, or None for no limit")


@attrs.frozen
class QueryLimits:
    """The limits of a query; each grows with the tables that it reads. None: no limit. Raises ValueError for another value."""

    max_rows: int | None = attrs.field(default=MOST_ROWS, validator=_check)
    max_steps: int | None = attrs.field(default=MOST_STEPS, validator=_check)

    @property
    def rows(self) -> int:
        return UNLIMITED if self.max_rows is None else self.max_rows

    @property
    def steps(self) -> int:
        return UNLIMITED if self.max_steps is None else self.max_steps


USUAL = QueryLimits()

__all__ = ["MOST_ROWS", "MOST_STEPS", "UNLIMITED", "USUAL", "QueryLimits"]
