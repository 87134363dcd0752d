"""The aggregation functions: their names, how they type, what they refuse.

A function is an AggregationSpec: ``bind`` makes an AggregationPlan of a call whose arguments are typed, or refuses in Esper's words. The
accumulators of the plans are in runtime.aggregation, under the plan's ``function``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal as Choice

import attrs

from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf, EventType
from epl.functions.sketches import SketchSettings
from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import Constant, CurrentTime, StreamEvent, StreamProperty, TimeSpan, TypedExpression, VariableValue
from epl.value_types import (
    BIG_DECIMAL,
    BOXED_BOOLEAN,
    BOXED_DOUBLE,
    BOXED_INT,
    BOXED_LONG,
    NULL,
    STRING,
    ArrayType,
    Scalar,
    ValueType,
    is_boolean,
    is_null,
    is_numeric,
)


@attrs.frozen
class AggregationCall:
    """A call with its positional arguments typed. ``text`` is as Esper prints it; an argument ``*`` is None.

    ``has_remove_stream``: rows leave (a data window is declared). ``units_per_second``: of engine time. ``windowed``: which of the
    streams have a data window. ``without_window``: which are to this function as without one, although rows leave them. ``rows_leave``:
    also the row of a derived-value view without a data window, which only counts, sums and means let go.
    """

    name: str
    arguments: tuple[TypedExpression | None, ...]
    streams: tuple[EventType, ...]
    distinct: bool = False
    filter: TypedExpression | None = None
    group_by: tuple[TypedExpression, ...] | None = None
    descending: tuple[bool, ...] = ()
    has_remove_stream: bool = True
    units_per_second: int = 1000
    windowed: tuple[bool, ...] = ()
    without_window: tuple[bool, ...] = ()
    rows_leave: bool = True

    def leaves(self, stream: int) -> bool:
        """Return whether events of that stream leave again (in a join each stream answers for itself)."""
        return self.has_remove_stream and (len(self.windowed) < 2 or self.windowed[stream])

    def has_data_window(self, stream: int) -> bool:
        """Return whether events of that stream leave by a data window."""
        return self.leaves(stream) and not (self.without_window and self.without_window[stream])

    def plan(self, function: str, arguments: Sequence[TypedExpression], result: ValueType, **more: object) -> AggregationPlan:
        """Return the plan of this call, with its filter, groups and distinct."""
        plan = AggregationPlan(
            function=function, arguments=tuple(arguments), type=result, distinct=self.distinct, filter=self.filter,
            group_by=self.group_by, ever=not self.has_remove_stream,
        )
        return attrs.evolve(plan, **more)  # type: ignore[arg-type]


@attrs.frozen
class AggregationSpec:
    """An aggregation function: ``bind`` types a call or raises EplValidationError. ``only``: where alone it may occur, for refusals."""

    name: str
    bind: Callable[[AggregationCall], AggregationPlan]
    summary: str = ""
    signature: str = ""
    """As calls are written, `` | `` between the forms."""
    only: Choice["", "in create-table statements", "with into-table"] = ""

    def refuse_elsewhere(self, where: str) -> None:
        """Raise EplValidationError where the function may not occur in ``where``."""
        if self.only not in ("", where):
            written = self.signature.split("(")[0]
            raise EplValidationError(f"Count-min-sketch aggregation function '{written}' can only be used {self.only}")


# ------------------------------------------------------------------ arguments


def _with_filter(call: AggregationCall, position: int) -> AggregationCall:
    """Return the call with the argument at ``position`` taken as its filter, where there is one."""
    if len(call.arguments) <= position:
        return call
    if call.filter is not None:
        raise EplValidationError("Only a single filter expression can be provided")
    condition = call.arguments[position]
    if condition is None or not is_boolean(condition.type):
        condition_type = "com.espertech.esper.common.internal.type.WildcardParameter" if condition is None else condition.type
        raise EplValidationError(
            f"Invalid filter expression parameter to the aggregation function '{call.name}' is expected to return a boolean value "
            f"but returns {condition_type}"
        )
    return attrs.evolve(call, arguments=call.arguments[:position], filter=condition)


def _one_value(call: AggregationCall) -> tuple[AggregationCall, TypedExpression]:
    """Return the only argument; a filter may follow it."""
    if not 1 <= len(call.arguments) <= 2:
        raise EplValidationError(f"The '{call.name}' function expects at least 1 and up to 2 parameters")
    call = _with_filter(call, 1)
    value = call.arguments[0]
    if value is None:
        value = whole_event(call)
    return call, value


def _number(call: AggregationCall, value: TypedExpression) -> TypedExpression:
    if not is_numeric(value.type):
        named = value.type.boxed if isinstance(value.type, Scalar) else value.type
        raise EplValidationError(
            f"Implicit conversion from datatype '{named}' to numeric is not allowed for aggregation function '{call.name}'"
        )
    return value


def whole_event(call: AggregationCall) -> TypedExpression:
    """Return ``*`` as an argument."""
    if len(call.streams) != 1:
        raise EplValidationError(
            f"The '{call.name}' aggregation function requires that in joins or subqueries the stream-wildcard (stream-alias.*) syntax "
            "is used instead"
        )
    return StreamEvent(stream=0, type=EventOf(call.streams[0]))


# ------------------------------------------------------------------ numbers


def _count(call: AggregationCall) -> AggregationPlan:
    if not 1 <= len(call.arguments) <= 2:
        if call.filter is None or call.arguments:
            raise EplValidationError("The 'count' function expects at least 1 and up to 2 parameters")
        return call.plan("count", (), BOXED_LONG, ever=not call.rows_leave)
    call = _with_filter(call, 1)
    value = call.arguments[0]
    if value is None and call.distinct:
        raise EplValidationError("Invalid use of the 'distinct' keyword with count and wildcard")
    return call.plan("count", () if value is None else (value,), BOXED_LONG, ever=not call.rows_leave)


SUM_KINDS = ("long", "float", "double", "BigInteger", "BigDecimal")


def _sum(call: AggregationCall) -> AggregationPlan:
    call, value = _one_value(call)
    kind = _number(call, value).type.kind  # type: ignore[attr-defined]
    return call.plan("sum", (value,), Scalar(kind) if kind in SUM_KINDS else BOXED_INT)


def _average(call: AggregationCall) -> AggregationPlan:
    call, value = _one_value(call)
    kind = _number(call, value).type.kind  # type: ignore[attr-defined]
    return call.plan("avg", (value,), BIG_DECIMAL if kind in ("BigInteger", "BigDecimal") else BOXED_DOUBLE)


def _double_of_number(function: str) -> Callable[[AggregationCall], AggregationPlan]:
    def bind(call: AggregationCall) -> AggregationPlan:
        call, value = _one_value(call)
        return call.plan(function, (_number(call, value),), BOXED_DOUBLE)

    return bind


def _extreme(function: str, *, ever: bool = False, filtered: bool = False) -> Callable[[AggregationCall], AggregationPlan]:
    """min, max and their …ever and f… forms."""

    def bind(call: AggregationCall) -> AggregationPlan:
        word = function.upper()
        if not call.arguments or len(call.arguments) > 2:
            raise EplValidationError(f"{word} node must have either 1 or 2 parameters")
        if filtered and len(call.arguments) == 1 and call.filter is None:
            raise EplValidationError(f"{word}-filtered aggregation function must have a filter expression as a second parameter")
        call, value = _one_value(call)
        if not isinstance(value.type, Scalar):
            raise EplValidationError(f"The '{call.name}' aggregation function requires values that have an order, '{value.type}' has none")
        return call.plan(function, (value,), value.type.boxed, ever=ever or not call.has_remove_stream)

    return bind


# ------------------------------------------------------------------ events kept


def _streams(expression: TypedExpression) -> set[int]:
    """Return the streams whose properties are read; an aggregation of a table's row is of none, as in Esper."""
    computed = {node.stream for node in expression.walk() if isinstance(node, StreamProperty) and node.computed is not None}
    return set(expression.streams) - computed


def _only_stream(call: AggregationCall, expressions: Sequence[TypedExpression]) -> int:
    """Return the one stream that the expressions read."""
    streams = set[int]().union(*map(_streams, expressions))
    if len(streams) != 1:
        raise EplValidationError(
            f"The '{call.name}' aggregation function requires that any child expressions evaluate properties of the same stream; "
            "Use 'firstever' or 'lastever' or 'nth' instead"
        )
    return next(iter(streams))


def _linear(function: str) -> Callable[[AggregationCall], AggregationPlan]:
    """first, last, window: of a data window's events in order of arrival. Without a data window first and last are firstever and
    lastever, whatever their index."""

    def bind(call: AggregationCall) -> AggregationPlan:
        if not call.arguments:
            call = attrs.evolve(call, arguments=(None,))  # without a parameter it is of the event, as with a wildcard
        value = call.arguments[0] if call.arguments[0] is not None else whole_event(call)
        stream = _only_stream(call, (value,))
        if function == "window" and not call.has_data_window(stream):
            raise EplValidationError(
                "The 'window' aggregation function requires that the aggregated events provide a remove stream; "
                "Please define a data window onto the stream or use 'firstever', 'lastever' or 'nth' instead"
            )
        index = _index(call, function)
        call = attrs.evolve(call, distinct=False)
        if not call.has_data_window(stream):
            return call.plan(f"{function}ever", (value,), value.type.boxed, stream=stream, ever=True)
        if index is not None and (index.streams or len(call.arguments) > 2):
            raise EplUnsupportedError(f"The '{call.name}' aggregation function takes one index that does not depend on events")
        result = ArrayType(value.type, raw=True) if function == "window" else value.type.boxed
        arguments = (value,) if index is None else (value, index)
        return call.plan(function, arguments, result, stream=stream)

    return bind


def _index(call: AggregationCall, function: str) -> TypedExpression | None:
    if len(call.arguments) < 2:
        return None
    if function == "window":
        raise EplValidationError("The 'window' aggregation function does not accept an index expression; Use 'first' or 'last' instead")
    index = call.arguments[1]
    if index is None or not isinstance(index.type, Scalar) or index.type.kind not in ("int", "short", "byte"):
        raise EplValidationError(f"The '{call.name}' aggregation function requires an index expression that returns an integer value")
    return index


def _ever(function: str) -> Callable[[AggregationCall], AggregationPlan]:
    """firstever, lastever."""

    def bind(call: AggregationCall) -> AggregationPlan:
        call, value = _one_value(call)
        if is_null(value.type):
            raise EplValidationError("Null-type is not allowed")
        return call.plan(function, (value,), value.type.boxed, ever=True)

    return bind


def _count_ever(call: AggregationCall) -> AggregationPlan:
    if call.distinct:
        raise EplValidationError("Aggregation function 'countever' does now allow distinct")
    if not 1 <= len(call.arguments) <= 2:
        raise EplValidationError("The 'countever' function expects at least 1 and up to 2 parameters")
    call = _with_filter(call, 1)
    value = call.arguments[0]
    return call.plan("count", () if value is None else (value,), BOXED_LONG, ever=True)


def _nth(call: AggregationCall) -> AggregationPlan:
    message = (
        "The nth aggregation function requires two parameters, an expression returning aggregation values and a numeric index constant"
    )
    if len(call.arguments) != 2:
        raise EplValidationError(message)
    value, index = call.arguments
    if not isinstance(index, Constant) or not isinstance(index.value, int):
        raise EplValidationError(message)
    value = whole_event(call) if value is None else value
    return call.plan("nth", (value,), value.type.boxed, constants=(index.value,))


def _leaving(call: AggregationCall) -> AggregationPlan:
    if call.arguments:
        raise EplValidationError("The 'leaving' function expects no parameters")
    return call.plan("leaving", (), BOXED_BOOLEAN)


def _rate(call: AggregationCall) -> AggregationPlan:
    """``rate(seconds)``: events of the last seconds by engine time; ``rate(timestamp[, amount])``: by the window's own timestamps.

    Further arguments are ignored, as by Esper: a filter is ``filter: …``.
    """
    if not call.arguments or call.arguments[0] is None:
        raise EplValidationError("The rate aggregation function minimally requires a numeric constant or expression as a parameter.")
    first = call.arguments[0]
    if isinstance(first, (Constant, TimeSpan, VariableValue)) and not first.streams:
        if isinstance(first, Constant) and not is_numeric(first.type):
            raise EplValidationError(
                "The rate aggregation function requires a numeric constant or time period as the first parameter in the constant-value "
                "notation"
            )
        return call.plan("rate", (), BOXED_DOUBLE, ever=True, constants=(first,))
    if isinstance(first, CurrentTime):
        raise EplValidationError("The rate aggregation function does not allow the current runtime timestamp as a parameter")
    if not isinstance(first.type, Scalar) or first.type.kind != "long":
        raise EplValidationError(
            "The rate aggregation function requires a property or expression returning a non-constant long-type value as the first "
            "parameter in the timestamp-property notation"
        )
    if not call.has_remove_stream or not all(call.leaves(stream) for stream in first.streams):
        raise EplValidationError("The rate aggregation function in the timestamp-property notation requires data windows")
    arguments = [first]
    if len(call.arguments) > 1:
        amount = call.arguments[1]
        if amount is None or not is_numeric(amount.type):
            raise EplValidationError(
                "The rate aggregation function accepts an expression returning a numeric value to accumulate as an optional second "
                "parameter"
            )
        arguments.append(amount)
    return call.plan("rate by timestamp", arguments, BOXED_DOUBLE, constants=(call.units_per_second,))


def _by_criteria(function: str, *, ever: bool = False) -> Callable[[AggregationCall], AggregationPlan]:
    """sorted, minby, maxby and their …ever forms: events by sort criteria."""

    def bind(call: AggregationCall) -> AggregationPlan:
        criteria = call.arguments
        if not criteria:
            raise EplValidationError("Missing the sort criteria expression")
        if any(c is None for c in criteria):
            raise EplValidationError(f"The '{call.name}' aggregation function requires sort criteria expressions, not a wildcard")
        keys = [c for c in criteria if c is not None]
        if any(len(_streams(k)) != 1 for k in keys):
            raise EplValidationError(
                f"The '{call.name}' aggregation function requires that any parameter expressions evaluate properties of the same stream"
            )
        stream = next(iter(_streams(keys[0])))
        if function == "sorted" and not call.has_data_window(stream):
            raise EplValidationError("The 'sorted' aggregation function requires that a data window is declared for the stream")
        event = EventOf(call.streams[stream])
        result = ArrayType(event, raw=True) if function == "sorted" else event
        more = {"stream": stream, "descending": call.descending or (False,) * len(keys)}
        return attrs.evolve(call, distinct=False).plan(
            f"{function}ever" if ever else function, keys, result, ever=ever or not call.has_remove_stream, **more
        )

    return bind


def _grouping(call: AggregationCall) -> AggregationPlan:
    raise EplUnsupportedError(f"'{call.name}' is bound by the analysis of the group-by clause alone")


def _count_min_sketch(call: AggregationCall) -> AggregationPlan:
    """Plan the sketch of a table's column; its one argument, if any, is the Constant of its SketchSettings."""
    _refuse_distinct(call, "countMinSketch")
    settings = call.arguments[0] if len(call.arguments) == 1 else None
    if call.arguments and not (isinstance(settings, Constant) and isinstance(settings.value, SketchSettings)):
        raise EplValidationError(
            "Count-min-sketch aggregation function 'countMinSketch'  expects either no parameter or a single json parameter object"
        )
    chosen = settings.value if isinstance(settings, Constant) else SketchSettings()
    text = StreamProperty(type=STRING, stream=0, name="value")
    return AggregationPlan(function="countminsketch", arguments=(text,), type=NULL, constants=(chosen,), ever=True)


def _count_min_sketch_add(call: AggregationCall) -> AggregationPlan:
    _refuse_distinct(call, "countMinSketchAdd")
    if len(call.arguments) != 1:
        raise EplValidationError("Count-min-sketch aggregation function 'countMinSketchAdd' requires a single parameter expression")
    value = whole_event(call) if call.arguments[0] is None else call.arguments[0]
    if is_null(value.type):
        raise EplValidationError("Invalid null-type parameter")
    return call.plan("countminsketch", (value,), NULL, ever=True)


def _refuse_distinct(call: AggregationCall, name: str) -> None:
    if call.distinct:
        raise EplValidationError(f"Count-min-sketch aggregation function '{name}' is not supported with distinct")


AGGREGATIONS: Mapping[str, AggregationSpec] = {
    spec.name: spec
    for spec in (
        AggregationSpec("count", _count, "rows, or values that are not null", "count(*[, filter]) | count([distinct] value[, filter])"),
        AggregationSpec("sum", _sum, "sum of the values; null without values", "sum([distinct] value[, filter])"),
        AggregationSpec("avg", _average, "mean of the values; null without values", "avg([distinct] value[, filter])"),
        AggregationSpec("min", _extreme("min"), "smallest value", "min([distinct] value[, filter])"),
        AggregationSpec("max", _extreme("max"), "largest value", "max([distinct] value[, filter])"),
        AggregationSpec("fmin", _extreme("min", filtered=True), "smallest value of filtered rows", "fmin([distinct] value, filter)"),
        AggregationSpec("fmax", _extreme("max", filtered=True), "largest value of filtered rows", "fmax([distinct] value, filter)"),
        AggregationSpec("minever", _extreme("min", ever=True), "smallest value ever seen", "minever(value[, filter])"),
        AggregationSpec("maxever", _extreme("max", ever=True), "largest value ever seen", "maxever(value[, filter])"),
        AggregationSpec("fminever", _extreme("min", ever=True, filtered=True), "smallest value ever seen of filtered rows",
            "fminever([distinct] value, filter)"),
        AggregationSpec("fmaxever", _extreme("max", ever=True, filtered=True), "largest value ever seen of filtered rows",
            "fmaxever([distinct] value, filter)"),
        AggregationSpec("median", _double_of_number("median"), "middle value; mean of the two middle values",
            "median([distinct] value[, filter])"),
        AggregationSpec("stddev", _double_of_number("stddev"), "sample standard deviation", "stddev([distinct] value[, filter])"),
        AggregationSpec("avedev", _double_of_number("avedev"), "mean distance from the mean", "avedev([distinct] value[, filter])"),
        AggregationSpec("first", _linear("first"), "value of the oldest event, or of the one at an index",
            "first(*) | first(value[, index])"),
        AggregationSpec("last", _linear("last"), "value of the newest event, or of the one at an index from the newest",
            "last(*) | last(value[, index])"),
        AggregationSpec("window", _linear("window"), "values of all events in order of arrival", "window(*) | window(value)"),
        AggregationSpec("firstever", _ever("firstever"), "first value ever seen", "firstever(value[, filter])"),
        AggregationSpec("lastever", _ever("lastever"), "last value ever seen", "lastever(value[, filter])"),
        AggregationSpec("countever", _count_ever, "rows ever seen", "countever(*[, filter]) | countever(value[, filter])"),
        AggregationSpec("nth", _nth, "the value n values ago", "nth(value, n)"),
        AggregationSpec("rate", _rate, "events or amounts a second", "rate(seconds) | rate(timestamp[, amount])"),
        AggregationSpec("leaving", _leaving, "whether any row has left", "leaving()"),
        AggregationSpec("minby", _by_criteria("minby"), "event with the smallest criteria", "minby(criterion [asc|desc], …)"),
        AggregationSpec("maxby", _by_criteria("maxby"), "event with the largest criteria", "maxby(criterion [asc|desc], …)"),
        AggregationSpec("minbyever", _by_criteria("minby", ever=True), "event with the smallest criteria ever seen",
            "minbyever(criterion [asc|desc], …)"),
        AggregationSpec("maxbyever", _by_criteria("maxby", ever=True), "event with the largest criteria ever seen",
            "maxbyever(criterion [asc|desc], …)"),
        AggregationSpec("sorted", _by_criteria("sorted"), "events in order of criteria", "sorted(criterion [asc|desc], …)"),
        AggregationSpec("grouping", _grouping, "1 if the rollup level lacks the key, else 0", "grouping(key)"),
        AggregationSpec("grouping_id", _grouping, "grouping() of several keys as the bits of a number", "grouping_id(key, key, …)"),
        AggregationSpec("countminsketch", _count_min_sketch, "approximate counts of strings; a table's column",
            "countMinSketch([{settings}])", only="in create-table statements"),
        AggregationSpec("countminsketchadd", _count_min_sketch_add, "counts a string in a countMinSketch",
            "countMinSketchAdd(value[, filter: condition])", only="with into-table"),
    )
}
"""By lower-case name."""
