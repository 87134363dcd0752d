"""What a define's expression is evaluated over: only the rows that it reads, renumbered, rows looked back at by prev among them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from epl.analysis.expressions.binding import StatementRefusal
from epl.analysis.expressions.rewriting import rewrite
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventType
from epl.plan.expressions import Constant, Element, Previous, Prior, PropertyOf, StreamEvent, StreamEvents, StreamProperty, TypedExpression
from epl.plan.patterns.match_recognize import Condition, Operand

LARGEST_LOOKBACK = 10_000
"""How many rows before the current one a define may look at: each partition holds so many."""

NO_PROPERTY = "Match-Recognize Previous expression requires an property identifier as the first parameter"


def row_condition(bound: TypedExpression, number: int, single: Sequence[int], groups_type: EventType | None) -> Condition:
    """Return ``bound`` over streams ``single`` (variables, ``number`` the one being defined) and, after them, the groups: as a condition.

    ``prev(V.x, n)`` is x of the row n before the current one, whatever the variable: the row is an operand of its own.
    """
    operands: list[Operand] = []

    def place(operand: Operand) -> int:
        if operand not in operands:
            operands.append(operand)
        return operands.index(operand)

    def row_operand(stream: int) -> Operand:
        if stream == len(single):
            return Operand("groups", event_type=groups_type)
        return Operand("current") if single[stream] == number else Operand("variable", single[stream])

    def replace(node: TypedExpression) -> TypedExpression | None:
        if isinstance(node, Previous):
            row = _previous_row(node)
            return _move_read(node.value, place(row), row.kind == "previous")
        if isinstance(node, Prior):
            raise EplValidationError("Prior function cannot be used in this context")
        if isinstance(node, (StreamProperty, StreamEvent, StreamEvents)):
            return attrs.evolve(node, stream=place(row_operand(node.stream)))
        return None

    expression = rewrite(bound, replace)
    return _current_first(Condition(expression, tuple(operands)))


def _current_first(condition: Condition) -> Condition:
    """Return the current row as stream 0 where it is read at all: the usual case is then the same for every plan."""
    current = Operand("current")
    operands = condition.operands
    if current not in operands or operands[0] == current:
        return condition
    order = (current, *(o for o in operands if o != current))
    numbers = {operands.index(o): order.index(o) for o in operands}
    return Condition(_renumber(condition.expression, numbers), order)


def _renumber(expression: TypedExpression, numbers: Mapping[int, int]) -> TypedExpression:
    def replace(node: TypedExpression) -> TypedExpression | None:
        return attrs.evolve(node, stream=numbers[node.stream]) if isinstance(node, (StreamProperty, StreamEvent, StreamEvents)) else None

    return rewrite(expression, replace)


def _previous_row(node: Previous) -> Operand:
    """Return the row that prev looks at."""
    if node.kind != "previous":
        raise EplUnsupportedError("prevtail, prevcount and prevwindow are not supported in a define of match_recognize")
    if not isinstance(node.index, Constant):
        raise StatementRefusal("PREV operator requires a constant index")
    if not _is_property(node.value):
        raise EplValidationError(NO_PROPERTY)
    if node.index.value < 0:
        raise EplUnsupportedError("prev with a negative offset is not supported in a define of match_recognize")
    if node.index.value > LARGEST_LOOKBACK:
        raise EplUnsupportedError(f"prev of more than {LARGEST_LOOKBACK} rows in a define of match_recognize is not supported")
    return Operand("previous", node.index.value) if node.index.value else Operand("current")


def _is_property(value: TypedExpression | None) -> bool:
    while isinstance(value, (PropertyOf, Element)):
        value = value.operand
    return isinstance(value, StreamProperty)


def _move_read(value: TypedExpression | None, stream: int, optional: bool) -> TypedExpression:
    """Return the value read from another row, which may not be there."""
    assert value is not None

    def replace(node: TypedExpression) -> TypedExpression | None:
        if isinstance(node, StreamProperty):
            return attrs.evolve(node, stream=stream, optional=optional, type=node.type.boxed if optional else node.type)
        return None

    return rewrite(value, replace)
