"""Columns, their names, and what Esper refuses of a select clause, in its words."""
from __future__ import annotations

from typing import Any

import pytest

from epl.errors import EplUnsupportedError, EplValidationError

REFUSED = {
    "sum(v) as m, count(*) as m from T": "Column name 'm' appears more then once in select clause",
    "*, v as k from T": "Property 'k' occurs in both the underlying event and in the additional properties",
    "x.* from T": "Stream selector 'x.*' does not match any stream name in the from clause",
    "a.*, b.* from T#keepall as a, T#keepall as b":
        "A column name must be supplied for all but one stream if multiple streams are selected via the stream.* notation",
    "k, sum(v) from T group by sum(v)": "Group-by expressions cannot contain aggregate functions",
    "k, sum(v) from T group by 1": "Group-by expressions must refer to property names",
    "k, sum(v) from T group by k having d > 1": "Non-aggregated property 'd' in the HAVING clause must occur in the group-by clause",
    "k from T#keepall order by sum(v)": "Aggregate functions in the order-by clause must also occur in the select expression",
    "k, v, sum(v) from T group by rollup(k)":
        "Group-by with rollup requires a fully-aggregated query, the query is not full-aggregated because of property 'v'",
    "k, sum(v) from T group by rollup(k, k)": "Failed to validate the group-by clause, found duplicate specification of expressions (k)",
    "k, grouping(g) from T group by rollup(k)": "Failed to find expression 'g' among group-by expressions",
    "k, grouping_id(k, k) from T group by rollup(k)": "Duplicate expression 'k' among grouping function parameters",
    "k, sum(v, group_by: k) from T group by rollup(k)": "Roll-up and group-by parameters cannot be combined",
    "* from T limit n": "Limit clause variable by name 'n' has not been declared",
}

REFUSED_CALLS = {
    "sum(k)": "Implicit conversion from datatype 'String' to numeric is not allowed for aggregation function 'sum'",
    "median(b)": "Implicit conversion from datatype 'Boolean' to numeric is not allowed for aggregation function 'median'",
    "count(distinct *)": "Invalid use of the 'distinct' keyword with count and wildcard",
    "countever(distinct v)": "Aggregation function 'countever' does now allow distinct",
    "sum(v, k)": "Invalid filter expression parameter to the aggregation function 'sum' is expected to return a boolean value "
                 "but returns String",
    "sum(v, filter: v)": "Filter named parameter requires a single expression returning a boolean-typed value",
    "sum(v, b, filter: b)": "Only a single filter expression can be provided",
    "sum(v, xxx: k)": "Invalid named parameter 'xxx' (did you mean 'group_by' or 'filter'?)",
    "window(v)": "The 'window' aggregation function requires that the aggregated events provide a remove stream; Please define a data "
                 "window onto the stream or use 'firstever', 'lastever' or 'nth' instead",
    "sorted(v)": "The 'sorted' aggregation function requires that a data window is declared for the stream",
    "last(v, k)": "The 'last' aggregation function requires an index expression that returns an integer value",
    "first(1)": "The 'first' aggregation function requires that any child expressions evaluate properties of the same stream; "
                "Use 'firstever' or 'lastever' or 'nth' instead",
    "window(x.*)": "Stream by name 'x' could not be found among all streams",
    "leaving(1)": "The 'leaving' function expects no parameters",
    "minby()": "Missing the sort criteria expression",
    "nth(v)": "The nth aggregation function requires two parameters, an expression returning aggregation values and a numeric index "
              "constant",
    "rate(l)": "The rate aggregation function in the timestamp-property notation requires data windows",
    "fmin(v)": "MIN-filtered aggregation function must have a filter expression as a second parameter",
    "grouping(v)": "The grouping function requires the group-by clause to specify rollup, cube or grouping sets, and may only be used in "
                   "the select-clause, having-clause or order-by-clause",
}


@pytest.mark.parametrize("select", REFUSED)
def test_refused_clauses(select: str, clause: Any) -> None:
    with pytest.raises(EplValidationError) as refusal:
        clause(f"select {select}")
    assert refusal.value.message == REFUSED[select]


@pytest.mark.parametrize("call", REFUSED_CALLS)
def test_refused_calls(call: str, clause: Any) -> None:
    with pytest.raises(EplValidationError) as refusal:
        clause(f"select {call} from T")
    prefix, _, rest = refusal.value.message.partition(": ")
    assert prefix.startswith("Failed to validate select-clause expression")
    assert rest == REFUSED_CALLS[call]
    assert refusal.value.span is not None


COLUMNS = {
    "k, v + 1, sum(v), count(*), max(d) as m from T": {
        "k": "String", "v+1": "Integer", "sum(v)": "Integer", "count(*)": "Long", "m": "Double"
    },
    "avg(l), sum(l), min(k), leaving(), window(v), window(*), first(*) from T#keepall": {
        "avg(l)": "Double", "sum(l)": "Long", "min(k)": "String", "leaving(*)": "Boolean", "window(v)": "Integer[]", "window(*)": "T[]",
        "first(*)": "T"},
    "* from T#keepall as a, T#keepall as b": {"a": "T", "b": "T"},
    "* from T#keepall, T#keepall": {"stream_0": "T", "stream_1": "T"},
    "p.* as x, q.v from T#keepall as p, T#keepall as q": {"x": "T", "q.v": "Integer"},
    "*, v + 1 as w from T": {"k": "String", "g": "Integer", "v": "Integer", "d": "Double", "l": "Long", "b": "Boolean", "w": "Integer"},
}


@pytest.mark.parametrize("select", COLUMNS)
def test_columns(select: str, clause: Any) -> None:
    properties = clause(f"select {select}").plan.output_type.properties.values()
    assert {p.name: str(p.type) for p in properties} == COLUMNS[select]


def test_wildcard_alone_hands_on_the_same_event(clause: Any) -> None:
    statement = clause("select * from T")
    event = statement.event(k="a")
    assert statement.plan.forward == 0 and statement.plan.output_type.name == "T"
    statement.result_set.update([event], [])
    assert statement.emitted[0][0][0] is event


def test_order_by_a_column_name_means_its_expression(clause: Any) -> None:
    statement = clause("select v * -1 as minus from T#keepall order by minus")
    assert statement.delta([statement.event(v=v) for v in (1, 3, 2)])[0] == [(-3,), (-2,), (-1,)]


def test_equal_aggregations_share_a_slot(clause: Any) -> None:
    plan = clause("select sum(v), sum(v) + 1 as w, sum(distinct v) as x from T having sum(v) > 0").plan
    assert [(a.function, a.distinct) for a in plan.aggregations] == [("sum", False), ("sum", True)]


def test_raw_where_insert_into_wants_another_stream(clause: Any) -> None:
    assert not clause("insert into X select k from T#keepall").plan.raw
    assert clause("insert rstream into X select k from T#keepall").plan.raw
    assert clause("insert into X select rstream k from T#keepall").plan.raw
    assert not clause("insert irstream into X select irstream k from T#keepall").plan.raw


def test_index_by_event_is_refused_as_unsupported(clause: Any) -> None:
    with pytest.raises(EplUnsupportedError):
        clause("select first(v, g) from T#keepall")
