"""A crontab as frozen data: ``output at``, ``timer:at`` and contexts read it the same way."""

from __future__ import annotations

from typing import Literal as Choice

import attrs

from epl.plan.expressions import TypedExpression
from epl.spans import Span


@attrs.frozen
class CronField:
    """One element: any ``*``; value ``5``; every ``*/n`` (value); range ``a:b`` (value, high); last ``last`` or ``n last``; weekday
    ``n weekday``; lastweekday; list ``[a, b, …]`` (items). Expressions read no event: they are evaluated once, at deploy. ``span``: where
    it is written, for refusals."""

    kind: Choice["any", "value", "every", "range", "last", "weekday", "lastweekday", "list"]
    value: TypedExpression | None = None
    high: TypedExpression | None = None
    items: tuple[CronField, ...] = ()
    span: Span | None = attrs.field(default=None, kw_only=True, eq=False, repr=False)


@attrs.frozen
class CrontabPlan:
    """Minutes, hours, days of month, months, days of week; then perhaps seconds, time zone, milliseconds, microseconds."""

    fields: tuple[CronField, ...]


__all__ = ["CronField", "CrontabPlan"]
