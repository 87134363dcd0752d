"""create index: the plan."""
from __future__ import annotations

import attrs

from epl.plan.join.lookups import NamedIndex
from epl.plan.statements import BodyPlan


@attrs.frozen(kw_only=True)
class CreateIndexPlan(BodyPlan):
    """The statement keeps the index; without it the index goes."""

    index: NamedIndex


__all__ = ["CreateIndexPlan"]
