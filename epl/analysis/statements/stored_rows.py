"""Which aggregations take the stored rows that a query or an on-select reads as a stream without a data window, as in Esper."""
from __future__ import annotations

from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow

EVER = frozenset(("first", "last"))
"""They are firstever and lastever of a named window's rows: nulls and an index do not count."""


def ever_of(store: NamedWindow | Table | None) -> frozenset[str]:
    """Return the names of the aggregations, for the rows of that store; None where they come from elsewhere."""
    return EVER if isinstance(store, NamedWindow) else frozenset()


__all__ = ["ever_of"]
