"""prev, prevtail, prevcount, prevwindow: what the stream's windows must be, and where they may not occur."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import attrs

from epl.analysis.expressions.binding import StatementRefusal
from epl.errors import EplUnsupportedError
from epl.plan.expressions import Previous, TypedExpression
from epl.plan.result_set import ResultSetPlan
from epl.plan.streams import StreamPlan
from epl.plan.walk import plan_expressions
from epl.plan.windows import previous_refusal
from epl.spans import Span
from epl.syntax import Call, Select
from epl.syntax.nodes import Node

NAMES = {"previous": "prev", "tail": "prevtail", "count": "prevcount", "window": "prevwindow"}


def check_previous(
    select: Select, streams: Sequence[StreamPlan], where: TypedExpression | None, rows: ResultSetPlan, *, recognized: bool
) -> None:
    """Refuse in Esper's words what no window answers. ``recognized``: match_recognize is between the windows and the expressions."""
    if rows.aggregations:
        for asked in _previous_values((where, rows.having)):
            raise StatementRefusal(
                f"The '{NAMES[asked.kind]}' function may not occur in the where-clause or having-clause of a statement with aggregations "
                "as 'previous' does not provide remove stream data; Use the 'first','last','window' or 'count' aggregation functions "
                "instead",
                span=_place(select),
            )
    for asked in _previous_values((where, rows)):
        windows = streams[asked.stream].windows
        refusal = previous_refusal(windows, followed=recognized)
        if refusal is not None:
            raise StatementRefusal(refusal, span=_place(select))
        if asked.value is not None and not all(w.retains for w in windows):
            raise EplUnsupportedError(
                f"{NAMES[asked.kind]} over the rows of a derived-value window is not supported", span=_place(select),
                hint="its rows are not kept; prevcount counts the group's events",
            )


def _previous_values(plans: object) -> Iterator[Previous]:
    return (node for e in plan_expressions(plans) for node in e.walk() if isinstance(node, Previous))


def _place(select: Select) -> Span | None:
    """Return where prev is written; the statement where a declared expression has it."""
    return next((c.span for c in _calls(select) if c.name.lower() in NAMES.values()), select.span)


def _calls(node: object) -> Iterable[Call]:
    if isinstance(node, tuple):
        for item in node:
            yield from _calls(item)
    elif isinstance(node, Node):
        if isinstance(node, Call):
            yield node
        for field in attrs.fields(type(node)):
            yield from _calls(getattr(node, field.name))


__all__ = ["check_previous"]
