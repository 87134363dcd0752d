"""Columns, having and order keys of a select clause, compiled; ordering, limit and distinct of what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from epl.plan.expressions import TypedExpression
from epl.plan.result_set import LimitPlan, OrderKey, ResultSetPlan
from runtime.aggregation.criteria import key_maker
from runtime.aggregation.factory import Readers, Row, row_function, scalar_function
from runtime.expressions import Environment, compile_event, compile_expression
from windows.event import Event, event_class
from windows.keys import freeze
from windows.shape import ANYTHING, EVENT, compile_check

Pair = tuple[Row, Readers]


BATCH = compile_check(([EVENT], [[ANYTHING]]))


class OutputRows:
    """The rows of one stream of one delta, with their order keys where there is an order."""

    __slots__ = ("events", "keys")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.keys: list[Any] = []

    def add(self, other: OutputRows) -> None:
        self.events += other.events
        self.keys += other.keys

    def keep_last(self) -> None:
        """Forget all rows but the last."""
        del self.events[:-1], self.keys[:-1]

    def state(self) -> Any:
        return [list(self.events), [list(values) for values in self.keys]]

    @classmethod
    def of(cls, state: Any) -> OutputRows:
        """Return the batch whose ``state()`` it is."""
        BATCH(state)
        rows = cls()
        rows.events, rows.keys = list(state[0]), [tuple(values) for values in state[1]]
        return rows


class Projection:
    """``make(row, insert stream?, readers)`` → output event; ``passes`` is having (None: all pass); ``key`` the order key (None: no
    order)."""

    def __init__(
        self,
        plan: ResultSetPlan,
        columns: Sequence[TypedExpression],
        having: TypedExpression | None,
        order_by: Sequence[OrderKey],
        environment: Environment,
    ) -> None:
        self.make = _maker(plan, columns, environment)
        self.passes = None if having is None else scalar_function(having, environment, plan.arity)
        self.key = _order_key(order_by, environment, plan.arity) if order_by else None
        self.only_makes = self.passes is None and self.key is None
        """Whether each row gives an event, in the same order."""

    @classmethod
    def of(cls, plan: ResultSetPlan, environment: Environment) -> Projection:
        """Return the projection of a plan's own rows."""
        environment = environment.restrict(plan.columns, plan.having, plan.order_by)
        return environment.shared("projection", (plan,), lambda: cls(plan, plan.columns, plan.having, plan.order_by, environment))

    def collect(self, pairs: Iterable[Pair], insert_stream: bool, batch: OutputRows) -> None:
        """Add the rows of ``pairs`` that pass to the batch."""
        make, passes, key = self.make, self.passes, self.key
        if passes is None and key is None:
            batch.events += [make(row, insert_stream, readers) for row, readers in pairs]
            return
        for row, readers in pairs:
            if passes is not None and not passes(row, insert_stream, readers):
                continue
            event = make(row, insert_stream, readers)
            if key is not None:
                batch.keys.append(key(row, insert_stream, readers))
            batch.events.append(event)


def _maker(plan: ResultSetPlan, columns: Sequence[TypedExpression], environment: Environment) -> Callable[[Row, bool, Readers], Event]:
    if plan.forward is not None:
        if plan.output_type.kind == "table":
            return _row_as_event(plan)
        if plan.arity == 1:
            return lambda row, insert_stream, readers: row
        forward = plan.forward
        missing = event_class(plan.output_type)(*[None] * len(plan.output_type.properties))
        return lambda row, insert_stream, readers: row[forward] or missing
    return compile_event(columns, event_class(plan.output_type), environment, plan.arity)


def _row_as_event(plan: ResultSetPlan) -> Callable[[Any, bool, Readers], Event]:
    """Return a maker of the table's row as it is now."""
    forward, missing = plan.forward, event_class(plan.output_type)(*[None] * len(plan.output_type.properties))
    if plan.arity == 1:
        return lambda row, insert_stream, readers: row.as_event()
    return lambda row, insert_stream, readers: missing if row[forward] is None else row[forward].as_event()


def _order_key(order_by: Sequence[OrderKey], environment: Environment, arity: int) -> Callable[[Row, bool, Readers], Any]:
    return row_function([k.expression for k in order_by], environment, arity)


class Finish:
    """order by → limit → distinct, of each batch by itself."""

    def __init__(self, plan: ResultSetPlan, environment: Environment) -> None:
        types, directions = [k.expression.type for k in plan.order_by], [k.descending for k in plan.order_by]
        self._key = key_maker(types, directions, environment.settings.sort_using_collator) if plan.order_by else None
        self._distinct = plan.distinct
        self._limit = None if plan.limit is None else _limiter(plan.limit, environment)
        self.changes = bool(plan.order_by or plan.limit or plan.distinct)
        """Whether it gives other rows than it gets, or in another order."""

    def __call__(self, batch: OutputRows) -> list[Event]:
        events = batch.events
        if self._key is not None and len(events) > 1:
            keys = [self._key(values) for values in batch.keys]
            events = [event for _, event in sorted(zip(keys, events), key=itemgetter(0))]
        if self._limit is not None and events:
            events = self._limit(events)
        if self._distinct and len(events) > 1:
            events = distinct(events)
        return events


def _limiter(plan: LimitPlan, environment: Environment) -> Callable[[list[Event]], list[Event]]:
    rows = compile_expression(plan.rows, environment, 0)
    offset = None if plan.offset is None else compile_expression(plan.offset, environment, 0)

    def limit(events: list[Event]) -> list[Event]:
        count, skip = rows(), offset() if offset is not None else 0
        start = max(0, skip or 0)
        return events[start:] if count is None or count < 0 else events[start : start + count]

    return limit


def distinct(events: Iterable[Event]) -> list[Event]:
    """Return the first of all rows with equal values, in order."""
    by_values: dict[Any, Event] = {}
    for event in events:
        by_values.setdefault(tuple([freeze(value) for value in event.values()]), event)
    return list(by_values.values())
