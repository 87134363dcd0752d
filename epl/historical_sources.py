"""What historical streams of a statement may name: methods, databases and static tables, as analysis sees them."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import attrs

from epl.event_types import EventType
from epl.value_types import ValueType


@attrs.frozen(kw_only=True)
class Method:
    """A function that ``method:name(…)`` calls.

    ``parameters``: their types, for refusals. ``bind(argument types)`` returns how each argument is converted, None where the function
    does not take them. ``row_type``: of the rows that it returns; None where only ``@type`` says it.
    ``returns_rows``: False where its type hint names something else.
    """

    name: str
    parameters: tuple[ValueType, ...]
    bind: Callable[[Sequence[ValueType]], tuple[str, ...] | None]
    row_type: EventType | None
    returns_rows: bool = True


class Database(Protocol):
    """A database that ``sql:name ["…"]`` asks."""

    def row_type(self, query: tuple[str, ...], metadata_query: str | None) -> EventType:
        """Return the type of a query's rows, from ``metadata_query`` where there is one; raise EplValidationError where the database
        refuses the query. ``query``: the text around its parameters.
        """


__all__ = ["Database", "Method"]
