"""Which properties of its events a statement reads: the plan is walked through all its fields, whatever they are called.

Properties are compared by name alone, not by stream. Whole events are read where an expression gives an event that nothing takes a
property of, where a plan passes events on, and by every part of a plan that is not known here: a new kind of plan costs time until it is
added, never a value.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from epl.event_types import EventType
from epl.plan.aggregations import AggregationPlan
from epl.plan.contained import ContainedPlan
from epl.plan.context.contexts import Context, FilterCondition, KeyedItem, PatternCondition
from epl.plan.expressions import Constant, PropertyOf, StreamEvent, SubqueryValue, TypedExpression
from epl.plan.reads import READS_NOTHING, Reads
from epl.plan.result_set import ResultSetPlan
from epl.plan.statements import (
    BodyPlan,
    CreateContextPlan,
    CreateExpressionPlan,
    CreateSchemaPlan,
    CreateTablePlan,
    CreateVariablePlan,
    SelectPlan,
    SelectRowPlan,
)
from epl.plan.stores.indexes import CreateIndexPlan
from epl.plan.stores.on_statements import MergeActionPlan, OnDeletePlan, OnMergePlan, OnSelectPlan, OnSetPlan, OnUpdatePlan
from epl.plan.streams import types_read
from epl.plan.walk import inner_types
from epl.plan.windows import WindowConfig
from epl.value_types import ValueType

BODIES = (
    SelectPlan, SelectRowPlan, CreateContextPlan, CreateVariablePlan, CreateTablePlan, CreateIndexPlan, OnSetPlan, OnDeletePlan,
    OnSelectPlan, OnUpdatePlan, OnMergePlan,
)
"""Statements that read of events what their expressions name. Not so ``create window``, which keeps whole rows, ``update istream`` and
split-stream, which pass whole events on."""

NO_READERS = (CreateSchemaPlan, CreateExpressionPlan)
"""Statements that no event reaches."""


def properties_read(body: BodyPlan, context: Context | None = None) -> Reads:
    """Return what a statement reads. ``context``: of whose partitions it has an instance; its filters ask for the partition's keys."""
    if isinstance(body, NO_READERS):
        return READS_NOTHING
    walk = _Walk()
    walk.everything = not isinstance(body, BODIES)
    walk.visit(body)
    walk.visit(context)
    levels = () if context is None else context.levels
    sources = dict.fromkeys([*types_read(body), *types_read(levels)])
    return Reads(tuple(sources), frozenset(walk.names), _with_inner(walk.whole), walk.everything)


class _Walk:
    """Collects what the parts of a plan read."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.whole: list[EventType] = []
        self.everything = False
        self._visited: dict[int, Any] = {}
        """By id; kept alive, so that nothing else gets the id."""

    def visit(self, value: Any) -> None:
        """Add what a value anywhere in a plan reads."""
        if isinstance(value, str):
            self.names.add(value.lower())
        elif isinstance(value, (tuple, list, set, frozenset)):
            for item in value:
                self.visit(item)
        elif isinstance(value, dict):
            self.visit(tuple(value.items()))
        elif isinstance(value, TypedExpression):
            self._expression(value)
        elif value is None or isinstance(value, (bool, int, float, EventType, ValueType)) or id(value) in self._visited:
            return
        elif hasattr(type(value), "__attrs_attrs__"):
            self._visited[id(value)] = value
            self._plan(value)
        else:
            self.everything = True

    def _plan(self, plan: Any) -> None:
        if isinstance(plan, SelectPlan) and plan.result_set.forward is not None:
            rows = plan.row_recognition
            self.whole.append(plan.streams[plan.result_set.forward].event_type if rows is None else rows.output_type)
            self._visited[id(plan.result_set)] = plan.result_set
            self._fields(plan.result_set)
        elif isinstance(plan, (ResultSetPlan, MergeActionPlan)):
            self.everything |= plan.forward is not None
        elif isinstance(plan, WindowConfig):
            self.everything |= plan.reads_whole_events
        elif isinstance(plan, ContainedPlan):
            self.whole.append(plan.source)
        elif isinstance(plan, AggregationPlan):
            self.whole += inner_types(plan.type)
        elif isinstance(plan, (FilterCondition, PatternCondition)):  # a partition holds its events, for statements that may come later
            self.whole += types_read(plan)
        elif isinstance(plan, KeyedItem) and plan.alias is not None:
            self.whole.append(plan.event_type)
        self._fields(plan)

    def _fields(self, plan: Any, *omitted: str) -> None:
        for field in type(plan).__attrs_attrs__:
            if "reference" not in field.metadata and field.name not in omitted:
                self.visit(getattr(plan, field.name))

    def _expression(self, node: TypedExpression, *, is_taken_apart: bool = False) -> None:
        if not is_taken_apart:
            self.whole += inner_types(node.type)
        if isinstance(node, Constant):
            return
        if isinstance(node, PropertyOf):
            self.names.add(node.name.lower())
            self._expression(node.operand, is_taken_apart=True)
        elif isinstance(node, SubqueryValue):
            self.visit(node.plan)
            self.visit(node.operand)
            self.visit(tuple(each for each in node.outer if not isinstance(each, StreamEvent)))  # its expressions name what they read
        else:
            self._fields(node, "type")


def _with_inner(types: Iterable[EventType]) -> tuple[EventType, ...]:
    """Return the types, with those of the events that their events hold, and the members of variant streams."""
    inner_too: dict[EventType, None] = {}
    waiting = list(types)
    while waiting:
        event_type = waiting.pop()
        if event_type not in inner_too:
            inner_too[event_type] = None
            waiting += [inner for prop in event_type.properties.values() for inner in inner_types(prop.type)]
            waiting += event_type.members
    return tuple(inner_too)


__all__ = ["properties_read"]
