"""How rows of match_recognize of a SQL dialect come into the order of their times: ``@RowOrder`` of the statement, else the settings."""
from __future__ import annotations

from typing import Any

import attrs

from epl.catalog import Catalog
from epl.durations import duration_units
from epl.errors import EplError, EplValidationError
from epl.plan.patterns.recognition_streams import OrderPolicy
from epl.settings import Settings
from epl.syntax import Annotation, Statement

ATTRIBUTES = ("late", "on_late", "ahead", "max_buffered")
"""Attributes of ``@RowOrder``; the setting of each is ``order_`` and its name."""


def orders_rows(annotation: Annotation) -> bool:
    """Return whether an annotation says how rows are ordered, not something of the application's own."""
    return annotation.name.lower() == "roworder" and any(name.lower() in ATTRIBUTES for name, _ in annotation.values)


def with_order(catalog: Catalog, statement: Statement) -> Catalog:
    """Return the catalog, its settings with what the statement's ``@RowOrder`` says. Raise EplValidationError where that is nothing."""
    annotation = next((each for each in statement.annotations if orders_rows(each)), None)
    if annotation is None:
        return catalog
    span = annotation.span or statement.span
    values: dict[str, Any] = {}
    for name, value in annotation.values:
        if name.lower() not in ATTRIBUTES:
            message = f"@RowOrder does not have an attribute '{name}'; it has {', '.join(ATTRIBUTES)}"
            raise EplValidationError(message, span=span)
        values[f"order_{name.lower()}"] = value
    try:
        settings = attrs.evolve(catalog.settings, **values)
        order_policy(settings)
    except (ValueError, EplError) as error:
        words = error.message if isinstance(error, EplError) else str(error)
        raise EplValidationError(f"@RowOrder: {words}".replace("Settings(order_", "("), span=span) from error
    return attrs.evolve(catalog, settings=settings)


def order_policy(settings: Settings) -> OrderPolicy:
    """Return the policy in engine units. Raise EplError for what is not a length of time, or for a bound that drops nothing."""
    units = settings.units_per_second
    bound, ahead = (
        None if value is None else duration_units(name, value, units)
        for name, value in (("late", settings.order_late), ("ahead", settings.order_ahead))
    )
    if settings.order_on_late == "keep" and bound is not None:
        raise EplValidationError("on_late='keep' is for rows that do not wait: omit the bound, late=")
    return OrderPolicy(bound=bound, on_late=settings.order_on_late, ahead=ahead, max_buffered=settings.order_max_buffered)


__all__ = ["order_policy", "orders_rows", "with_order"]
