"""The base of window configs: frozen data in the plan; ``windows/`` has one a file."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from epl.errors import EplValidationError
from epl.event_types import EventType
from epl.plan.expressions import TypedExpression

if TYPE_CHECKING:
    from epl.syntax import Expression
    from epl.value_types import ValueType


class WindowRefused(EplValidationError):
    """Parameters that a window cannot take.

    ``message`` follows ``Error in view 'name', ``; where Esper says its refusal without that, ``whole_message`` is it. Either way
    the caller puts ``Failed to validate data window declaration: `` before.
    """

    def __init__(self, message: str, *, whole: bool = False, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.whole_message = message if whole else None


@attrs.frozen
class WindowArgument:
    """A window's parameter, bound: ``written`` as in the text, ``typed`` over the stream's events; ``descending`` for sort keys;
    wildcard has typed None.

    ``text``: the expression in Esper's words, the name of an extra property of a derived-value window.
    """

    written: Expression
    typed: TypedExpression | None
    descending: bool | None = None
    is_period: bool = False
    text: str = ""

    @property
    def is_constant(self) -> bool:
        """Whether the value is the same for every event (constants, variables, arithmetic of them)."""
        return self.typed is not None and not self.typed.streams


@attrs.frozen
class Locality:
    """An event's coming to and going from a window depends on itself, on the clock, and on events with equal values of ``keys`` alone (no
    keys: on no other event).
    """

    keys: tuple[TypedExpression, ...] = ()


@attrs.frozen
class WindowConfig:
    """A data window or derived-value window in a plan.

    A subclass names itself (``names``: ``("length",)``; the namespace of the old syntax in ``namespace``: ``win``), makes itself from bound
    arguments or refuses in Esper's words (``from_arguments``), and builds its view (``build(context) -> windows.protocol.View``).

    ``title``: how Esper's refusals call it. ``named_refusals``: whether refusals of its parameters' expressions begin
    with ``Error in view 'name'``. ``retains``: what comes out leaves by the remove stream as
    the same event (not so with derived-value windows, whose old rows are rows of their own). ``is_batch``: releases its events in
    batches. ``is_selective``: does not let every event in. ``answers_previous``: prev, prevtail, prevcount and
    prevwindow may be asked of it when it is the stream's only data window. ``withholds``: a condition is asked once an event is in, which
    may raise (``BuildContext.withhold``). ``groups`` / ``merges``: groupwin and merge. ``is_unique``: it holds one row of each of its
    ``keys``. ``leaves_in_order``: events leave in the order in which they came. ``has_first_row``: a join has a row of it before any
    event. ``evicts_by_arrival``: what an event evicts, or that it does not enter, is known once it has come. ``reads_whole_events``:
    whether its view reads properties that its parameters do not name: what no statement reads is null in its events.
    ``passes_nothing``: an event that contains no events counts for what follows, as in Esper.
    ``keeps_replaced``: a row of a derived-value view in front stays when the next one comes, as in Esper.
    """

    names: ClassVar[tuple[str, ...]] = ()
    namespace: ClassVar[str] = "win"
    title: ClassVar[str] = ""
    named_refusals: ClassVar[bool] = False
    is_data_window: ClassVar[bool] = True
    retains: ClassVar[bool] = True
    is_batch: ClassVar[bool] = False
    is_selective: ClassVar[bool] = False
    answers_previous: ClassVar[bool] = False
    withholds: ClassVar[bool] = False
    groups: ClassVar[bool] = False
    merges: ClassVar[bool] = False
    is_unique: ClassVar[bool] = False
    leaves_in_order: ClassVar[bool] = False
    has_first_row: ClassVar[bool] = False
    evicts_by_arrival: ClassVar[bool] = True
    reads_whole_events: ClassVar[bool] = True
    passes_nothing: ClassVar[bool] = False
    keeps_replaced: ClassVar[bool] = False

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> WindowConfig:
        """Check the parameters; raises WindowRefused (EplValidationError)."""
        raise NotImplementedError

    @classmethod
    def builtins(cls, event_type: EventType) -> Mapping[str, ValueType]:
        """Return names that the first argument may use beside the event's properties (the expr windows: ``current_count`` …).

        They are bound as ``Local`` nodes; aggregation functions over the stream's events may occur in that argument too.
        """
        return {}

    def with_hints(self, hints: Mapping[str, str]) -> WindowConfig:
        """Return this config with the statement's hints taken in (``@Hint('reclaim_group_aged=30')``); most windows know none."""
        return self

    @property
    def locality(self) -> Locality | None:
        """Which other events bear on an event of the window; None: any of them may."""
        return None

    def merge(self, event_type: EventType) -> WindowConfig:
        """Return, for a groupwin, the merge that ends it, after rows of this type."""
        raise NotImplementedError

    def output_type(self, event_type: EventType) -> EventType:
        """Return what the child sees: the same type for data windows, a type of its own for derived-value windows."""
        return event_type

    def build(self, context: Any) -> Any:
        """Return a fresh view: ``context`` is a windows.protocol.BuildContext, the result a windows.protocol.View."""
        raise NotImplementedError


def check_chain(configs: Sequence[WindowConfig], retain: str | None = None) -> None:
    """Refuse what Esper refuses of a stream's windows taken together; ``retain`` is ``union``, ``intersection`` or None."""
    grouping = [i for i, c in enumerate(configs) if c.groups]
    if grouping and grouping[-1] == len(configs) - 1:
        raise WindowRefused(
            "Invalid use of the 'groupwin' view, the view requires one or more child views to group, or consider using the group-by clause",
            whole=True,
        )
    if len(grouping) > 1:
        raise WindowRefused("Multiple groupwin-declarations are not supported", whole=True)
    if grouping and grouping[0] > 0:
        raise WindowRefused("The 'groupwin' declaration must occur in the first position", whole=True)
    _check_merge(configs)
    if grouping and len(_runs_of_data_windows(configs[1:])) > 1:
        raise WindowRefused("The 'merge' declaration cannot be used in conjunction with multiple data windows", whole=True)
    if retain != "union" and sum(c.is_batch for c in configs) > 1:
        raise WindowRefused("Cannot combined multiple batch data windows into an intersection", whole=True)


def _check_merge(configs: Sequence[WindowConfig]) -> None:
    merging = next((c for c in configs if c.merges), None)
    if merging is None:
        return
    if not configs[0].groups:
        raise WindowRefused("The 'merge' declaration cannot be used in without a 'group' declaration", whole=True)
    if getattr(merging, "keys", None) != getattr(configs[0], "keys", None):
        raise WindowRefused("Mismatching parameters between 'group' and 'merge'", whole=True)


def merge_groups(configs: Sequence[WindowConfig], event_type: EventType) -> tuple[tuple[WindowConfig, ...], EventType]:
    """Return the configs with the merge that ends a groupwin put in where it is not written, and the type of what comes out.

    Only rows of derived-value windows need one: they get the group's keys as properties. ``event_type``: of what the last config emits.
    """
    if not configs or not configs[0].groups or configs[-1].retains or any(c.merges for c in configs):
        return tuple(configs), event_type
    merge = configs[0].merge(event_type)
    return (*configs, merge), merge.output_type(event_type)


def unique_key(configs: Sequence[WindowConfig]) -> tuple[TypedExpression, ...]:
    """Return the expressions of which the windows hold one row for each combination of values; none where several rows may have equal
    ones.
    """
    grouped = tuple(key for c in configs[:1] if c.groups for key in getattr(c, "keys", ()))
    return next(((*grouped, *getattr(c, "keys", ())) for c in configs if c.is_unique), ())


NOT_RETAINED = "Required data window not found for the 'prev' function, specify a data window for which previous events are retained"
NOT_SINGLE = "Previous function requires a single data window view onto the stream"


def previous_refusal(configs: Sequence[WindowConfig], *, followed: bool = False) -> str | None:
    """Return why prev and its relatives cannot be asked of a stream with these windows, in Esper's words; None where they can.

    A window of its own must answer them (an intersection or union does not), and it has to be the only one; within a groupwin
    derived-value windows may. ``followed``: match_recognize takes the windows' events.
    """
    grouped = bool(configs) and configs[0].groups
    if grouped:
        configs = configs[1 : next((i for i, c in enumerate(configs) if c.merges), len(configs))]
    runs = _runs_of_data_windows(configs)
    others = sum(not c.is_data_window for c in configs) + followed
    if not grouped and len(runs) + others > 1:
        return NOT_SINGLE
    return None if any(len(run) == 1 and run[0].answers_previous for run in runs) else NOT_RETAINED


def _runs_of_data_windows(configs: Sequence[WindowConfig]) -> list[list[WindowConfig]]:
    """Data windows side by side, which become one intersection or union, in a list each."""
    return [list(run) for data, run in groupby(configs, key=lambda c: c.is_data_window) if data]
