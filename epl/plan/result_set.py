"""What a select clause computes: columns, groups, aggregations, order and limit, as frozen data."""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Literal as Choice

import attrs

from epl.event_types import EventType
from epl.plan.aggregations import AggregationPlan
from epl.plan.checks import check
from epl.plan.crontab import CrontabPlan
from epl.plan.expressions import Constant, TypedExpression
from epl.plan.stores.tables import IntoTable

if TYPE_CHECKING:
    from epl.plan.assignments import VariableAssignment

Shape = Choice["un-aggregated", "fully aggregated", "aggregated", "grouped fully aggregated", "grouped aggregated", "rollup"]
"""How many rows a delta gives (Esper reference, appendix A):

==========================  ========================================================================
un-aggregated               one an event
fully aggregated            one a delta: every selected property is inside an aggregation
aggregated                  one an event, with the aggregations of all events
grouped fully aggregated    one a group touched: every other property is a group key
grouped aggregated          one an event, with the aggregations of its group
rollup                      one a group touched, for each grouping level
==========================  ========================================================================
"""

StreamSelector = Choice["istream", "rstream", "irstream"]


@attrs.frozen
class OrderKey:
    expression: TypedExpression
    descending: bool = False


@attrs.frozen
class LimitPlan:
    """``limit rows offset offset``: constants or variables; a null or negative number of rows is no limit."""

    rows: TypedExpression
    offset: TypedExpression | None = None

    def may_leave_none(self) -> bool:
        """Return whether of one row or more none may be left: an offset, no row, or a number that a variable gives."""
        return self.offset is not None or not isinstance(self.rows, Constant) or self.rows.value == 0


@attrs.frozen
class GroupLevel:
    """One grouping of rollup, cube or grouping sets: ``keys`` are positions in ``group_by``.

    Columns, having and order keys are those of this level: keys that it omits are null in them, and ``grouping()`` is constant.
    """

    keys: tuple[int, ...]
    columns: tuple[TypedExpression, ...]
    having: TypedExpression | None
    order_by: tuple[OrderKey, ...]


@attrs.frozen
class ReclaimGroups:
    """``@Hint('reclaim_group_aged=n,reclaim_group_freq=m')``: groups idle for ``age`` are dropped, looked for every ``frequency`` (both in
    engine time units;
    a variable's name stands for its value in seconds). ``never``: ``@Hint('disable_reclaim_group')``, groups stay when all their rows have
    left."""

    age: int | str
    frequency: int | str
    never: bool = False


@attrs.frozen(kw_only=True)
class TerminatedOutput:
    """``when terminated``: what is held is emitted when the context partition ends, if ``condition`` is true (None: always). Then
    ``assignments`` are made, whatever the condition; both may read the Local values that OUTPUT_NAMES lists.
    """

    condition: TypedExpression | None = None
    assignments: tuple[VariableAssignment, ...] = ()


@attrs.frozen(kw_only=True)
class OutputPlan:
    """Output rate limiting: what is emitted (``selector``; ``default`` everything), and when.

    ``every``: a number of events (``unit`` events) or a time period (``unit`` time); None: only ``after`` is written.
    ``after``: nothing is emitted before that many events or that time. ``optimized``: False with order by or
    ``@Hint('disable_outputlimit_opt')``, which change what ``all`` emits for groups that rows have only left.
    ``crontab``: at these times. ``condition``: whenever it is true, and then ``assignments`` are made; both may read the Local values that
    OUTPUT_NAMES lists. ``terminated``: when the context partition ends, beside the other times or (no other is set) at no other.
    """

    selector: Choice["default", "all", "first", "last", "snapshot"] = "default"
    every: TypedExpression | None = None
    unit: Choice["events", "time"] | None = None
    after: TypedExpression | None = None
    after_unit: Choice["events", "time"] | None = None
    optimized: bool = True
    crontab: CrontabPlan | None = None
    condition: TypedExpression | None = None
    assignments: tuple[VariableAssignment, ...] = ()
    terminated: TerminatedOutput | None = None

    @property
    def only_terminated(self) -> bool:
        """Whether rows are emitted at no time but the end of the context partition."""
        return self.terminated is not None and self.every is None and self.crontab is None and self.condition is None

    @property
    def has_rate(self) -> bool:
        """Whether anything but ``after`` says when rows are emitted."""
        return self.terminated is not None or self.every is not None or self.crontab is not None or self.condition is not None

    @property
    def only_after(self) -> bool:
        """Whether every delta is emitted once output has begun."""
        return not self.has_rate

    def __attrs_post_init__(self) -> None:
        check((self.every is None) == (self.unit is None), "an output rate without its unit, or a unit without a rate")
        check((self.after is None) == (self.after_unit is None), "output after without its unit, or a unit without it")
        times = (self.every, self.crontab, self.condition)
        check(sum(each is not None for each in times) <= 1, "output at more than one kind of time")
        check(self.condition is not None or not self.assignments, "assignments without the condition of output when")


OUTPUT_NAMES = ("count_insert", "count_insert_total", "count_remove", "count_remove_total", "last_output_timestamp")
"""What ``output when`` may read beside variables: rows in and out since the last output and in all, and its time (before the first: when
the statement began).
"""


@attrs.frozen(kw_only=True)
class ResultSetPlan:
    """What becomes of a delta of rows (events, or tuples of events for a join of ``arity`` streams).

    ``columns`` are the values of ``output_type``'s properties in order; empty when ``forward`` hands stream ``forward``'s event on as it
    is.
    ``selector``: which streams listeners get. ``raw``: an insert into needs others (``insert rstream into X select istream …``), so the
    result set
    emits both and the selector is applied after the insert. ``into``: the aggregations are kept in a table.
    """

    shape: Shape
    output_type: EventType
    columns: tuple[TypedExpression, ...]
    arity: int = 1
    forward: int | None = None
    selector: StreamSelector = "istream"
    raw: bool = False
    distinct: bool = False
    group_by: tuple[TypedExpression, ...] = ()
    levels: tuple[GroupLevel, ...] = ()
    having: TypedExpression | None = None
    order_by: tuple[OrderKey, ...] = ()
    limit: LimitPlan | None = None
    aggregations: tuple[AggregationPlan, ...] = ()
    unbound: bool = False
    unidirectional: bool = False
    reclaim: ReclaimGroups | None = None
    iterable_unbound: bool = False
    output: OutputPlan | None = None
    into: IntoTable | None = None

    @property
    def starts_again(self) -> bool:
        """Whether the aggregations count the rows of one delta only: in a unidirectional join, but not where output rate limiting keeps
        aggregations from one output to the next (as recorded).
        """
        if not self.unidirectional or self.output is None:
            return self.unidirectional
        if self.output.selector == "default":
            return self.shape != "rollup" or self.output.only_after
        optimized = self.output.optimized
        kept: dict[Shape, dict[str, bool]] = {
            "fully aggregated": {"last": optimized, "all": optimized},
            "grouped fully aggregated": {"first": True, "last": optimized, "all": optimized},
            "grouped aggregated": {"first": True, "last": True, "all": optimized},
            "rollup": {"first": True, "last": True, "all": True},
        }
        return not kept.get(self.shape, {}).get(self.output.selector, False)

    def __attrs_post_init__(self) -> None:
        if self.forward is None:
            columns = len(self.output_type.properties)
            check(len(self.columns) == columns, f"{len(self.columns)} values for {columns} columns")
        else:
            check(self.columns == (), "values of columns, and whole events too")
            check(0 <= self.forward < self.arity, f"events of stream {self.forward} of {self.arity}")
        check((self.shape == "rollup") == bool(self.levels), f"{len(self.levels)} grouping levels under the shape {self.shape}")
        for level in self.levels:
            check(all(key < len(self.group_by) for key in level.keys), f"a grouping level with keys {level.keys} of {len(self.group_by)}")
