"""for grouped_delivery(keys), for discrete_delivery: into how many calls of the listeners an output is divided."""
from __future__ import annotations

from epl.analysis.expressions.bind import StatementRefusal, bind_in_clause
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.catalog import Catalog
from epl.event_types import EventType
from epl.plan.statements import DeliveryPlan
from epl.syntax import ForDelivery

NO_SUBQUERY = "Subselects not allowed within the for-clause"


def bind_delivery(clause: ForDelivery | None, output_type: EventType, catalog: Catalog) -> DeliveryPlan | None:
    """Return the plan; keys see the output's columns only."""
    if clause is None:
        return None
    kind = clause.kind.lower()
    if kind not in ("grouped_delivery", "discrete_delivery"):
        raise StatementRefusal(
            "Expected any of the [grouped_delivery, discrete_delivery] for-clause keywords after reserved keyword 'for'", span=clause.span
        )
    if kind == "discrete_delivery":
        if clause.keys:
            raise StatementRefusal(
                "The for-clause with the discrete_delivery keyword does not allow grouping expressions", span=clause.span
            )
        return DeliveryPlan(())
    if not clause.keys:
        raise StatementRefusal(
            "The for-clause with the grouped_delivery keyword requires one or more grouping expressions", span=clause.span
        )
    scope = Scope(catalog, (ScopeStream(None, output_type),), clause="for-clause", allow_previous=False, subquery_refusal=NO_SUBQUERY)
    return DeliveryPlan(tuple(bind_in_clause(key, scope) for key in clause.keys))
