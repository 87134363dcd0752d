"""set clauses: on … set of variables, update istream of an event's properties."""
from __future__ import annotations

from typing import Literal as Choice

import attrs

from epl.plan.expressions import TypedExpression, VariableValue


@attrs.frozen
class VariableAssignment:
    """One step of ``on … set``, in the order written; each sees what those before it have set.

    ``kind``: value (``v = x``), property (``v.property = x``, the variable gets a changed copy of its event), element (``v[index] = x``,
    it gets a changed copy of its array), call (an expression evaluated for what it does; no variable). ``value`` is of the type assigned
    to.
    """

    kind: Choice["value", "property", "element", "call"]
    value: TypedExpression
    variable: VariableValue | None = None
    property: str | None = None
    index: TypedExpression | None = None


@attrs.frozen
class PropertyAssignment:
    """One step of update istream and of on-statements. ``kind``: value, element (``p[index] = x``), key (``p('k') = x``), call, reset (the
    aggregations ``places`` of a table's row begin again). ``lenient``: an element that the array does not have is not set; else it is an
    error.
    """

    kind: Choice["value", "element", "key", "call", "reset"]
    value: TypedExpression
    property: str = ""
    index: TypedExpression | None = None
    lenient: bool = False
    places: tuple[int, ...] = ()
