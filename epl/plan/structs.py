"""``new {…}`` where an event of a declared type is expected."""
from __future__ import annotations

import attrs

from epl.plan.expressions import TypedExpression


@attrs.frozen(kw_only=True)
class StructAs(TypedExpression):
    """The struct ``operand`` as an event of ``type``: an EventOf, or an array of them where the operand is an array of structs.

    Properties go by name; what the struct lacks is null (a primitive: its default), what the type lacks is dropped, numbers widen.
    """

    operand: TypedExpression
