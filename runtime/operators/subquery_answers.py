"""What a sub-query gives for the current row of its statement, as functions over its rows or its running aggregations.

Rules are Esper 9.0.0's: of rows without aggregations the value, in, any and all also count those for which the where clause is null; exists
and enumeration methods do not (docs/design/subqueries.md).
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs

from epl.event_types import EventOf
from epl.plan.join.lookups import LookupPlan
from epl.plan.join.subqueries import SubqueryPlan, comparison_type
from runtime.aggregation.factory import Readers
from runtime.aggregation.grouped import Aggregator, KeyedAggregator, key_function
from runtime.aggregation.groups import GroupFactory, evaluate_rows
from runtime.expressions import Environment
from runtime.expressions.compiled import compile_predicate, compile_row, compile_scalar
from runtime.expressions.operations import COMPARE
from runtime.result_set.hash_order import ordering
from runtime.stores.indexes import IndexedRows
from runtime.stores.lookup import compile_lookup
from windows.event import Event, event_class
from windows.keys import values_of_key

Answer = Callable[..., Any]
Outer = tuple[Any, ...]
Values = Callable[[Outer], Iterable[Any]]
"""(the statement's events) → the value of each row that counts."""


def build_answer(plan: SubqueryPlan, rows: IndexedRows, aggregator: Aggregator | None, environment: Environment) -> Answer:
    """Return the function that gives what is asked of the sub-query. ``aggregator``: of running aggregations."""
    if not plan.aggregated:
        source: _Source = _PlainRows(plan, rows, environment)
    elif plan.group_by:
        source = _Groups(plan, rows, aggregator, environment)
    else:
        source = _AllRows(plan, rows, aggregator, environment)
    return ANSWERS[plan.use](source, plan)


class _Source:
    """``values``: of each row that counts for a comparison; ``only``: the value of the only row; ``present``: whether there are rows;
    ``list_values``: all rows for an enumeration method, None where there are none.
    """

    def values(self, outer: Outer) -> Iterable[Any]:
        raise NotImplementedError

    def only(self, outer: Outer) -> Any:
        """Return the value of the only row; None of none or of several."""
        value = None
        for place, each in enumerate(self.values(outer)):
            if place:
                return None
            value = each
        return value

    def present(self, outer: Outer) -> bool:
        raise NotImplementedError

    def list_values(self, outer: Outer) -> list[Any] | None:
        raise NotImplementedError


def _comparison_answer(source: _Source, plan: SubqueryPlan) -> Answer:
    """Return the comparison of a value with each row: null of null, and where a null among the rows could decide. Relational any passes
    over nulls, but is null where there is nothing else. A null in no groups is null too, unlike in no rows.
    """
    every, compare = plan.use == "all", COMPARE[plan.operator]
    passes_nulls = not every and plan.operator[0] in "<>"
    null_in_nothing = plan.use == "in" and bool(plan.group_by)

    def answer(value: Any, *outer: Any) -> bool | None:
        if value is None and null_in_nothing:
            return None
        null = compared = False
        for candidate in source.values(outer):
            if value is None:
                return None
            if candidate is None:
                null = True
                continue
            compared = True
            if compare(value, candidate) is not every:
                return not every
        return every if not null or (compared and passes_nulls) else None

    return answer


def _containment_answer(source: _Source, plan: SubqueryPlan) -> Answer:
    """Return the comparison for equality, by an index where there is one."""
    if plan.membership is None or not isinstance(source, _PlainRows):
        return _comparison_answer(source, plan)
    every, columns_equal_to = plan.use == "all", source.equal_columns
    hold = event_class(comparison_type(plan.columns[0].type.boxed))

    def answer(value: Any, *outer: Any) -> bool | None:
        if value is None:
            return every if all(False for _ in source.values(outer)) else None
        if value in columns_equal_to(hold(value), outer):
            return not every
        return None if any(column is None for column in columns_equal_to(hold(None), outer)) else every

    return answer


ANSWERS: dict[str, Callable[[_Source, SubqueryPlan], Answer]] = {
    "value": lambda source, plan: lambda *outer: source.only(outer),
    "rows": lambda source, plan: lambda *outer: source.list_values(outer),
    "exists": lambda source, plan: lambda *outer: source.present(outer),
    "in": _containment_answer,
    "any": _containment_answer,
    "all": _containment_answer,
}


def _maker(plan: SubqueryPlan, environment: Environment, arity: int, keys: int = 0) -> Callable[..., Any]:
    """Compile make(row, *outer, insert stream?, readers, *keys) → the value of one row."""
    row_type = plan.row_type
    if row_type is None:
        return compile_scalar(plan.columns[0], environment, arity, keys)
    make_event, values = event_class(row_type), compile_row(plan.columns, environment, arity, keys)
    return lambda *arguments: make_event(*values(*arguments))


def _row_finder(
    plan: LookupPlan | None, arity: int, rows: IndexedRows, environment: Environment
) -> Callable[[Outer], Iterable[Event]]:
    """Return what gives the rows that a look-up finds."""
    assert plan is not None
    if plan.index is None and not plan.conditions:
        return lambda outer: rows
    lookup = compile_lookup(plan, rows, environment, arity)
    return lambda outer: lookup((None, *outer))


def _index_alone(plan: LookupPlan, environment: Environment) -> LookupPlan:
    """Return the look-up without conditions."""
    return environment.printed("index alone", (plan,), lambda: attrs.evolve(plan, conditions=()))


def _none_is_empty(plan: LookupPlan, arity: int, rows: IndexedRows, environment: Environment) -> Callable[[Outer], bool]:
    """Return whether what a look-up does not find is an empty collection, not null: as in Esper where the key of a range is there and no
    end is null, and where an end of a range without keys is null.
    """
    index = plan.index
    if index is None or not index.ranges:
        return lambda outer: False
    ends = compile_row(
        tuple(end for each in plan.bounds for end in (each.low, each.high) if end is not None), environment, arity)
    if not index.hash:
        return lambda outer: None in ends(None, *outer, True, ())
    of_key = _row_finder(
        environment.printed("keys alone", (plan,), lambda: attrs.evolve(
            plan, index=attrs.evolve(index, ranges=()), bounds=(), conditions=())), arity, rows, environment)
    return lambda outer: None not in ends(None, *outer, True, ()) and any(True for _ in of_key(outer))


# ------------------------------------------------------------------ rows without aggregations


class _PlainRows(_Source):
    """Rows as they are; having has become a part of where."""

    def __init__(self, plan: SubqueryPlan, rows: IndexedRows, environment: Environment) -> None:
        assert plan.lookup is not None
        arity = plan.arity
        self._rows = _row_finder(plan.lookup, arity, rows, environment)
        self._members = None if plan.membership is None else _row_finder(plan.membership, arity + 1, rows, environment)
        self._make = _maker(plan, environment, arity)
        if plan.use == "rows":
            self._candidates = _row_finder(_index_alone(plan.lookup, environment), arity, rows, environment)
            self._none_is_empty = _none_is_empty(plan.lookup, arity, rows, environment)
            self._test = None if plan.where is None else compile_predicate(plan.where, environment, arity)
            self._lists_rows = plan.where is None or not plan.has_several_columns
            self._of_values = plan.row_type is None and not isinstance(plan.columns[0].type, EventOf)

    def values(self, outer: Outer) -> Iterable[Any]:
        make = self._make
        return (make(row, *outer, True, ()) for row in self._rows(outer))

    def equal_columns(self, holder: Event, outer: Outer) -> Iterable[Any]:
        """Return the columns of rows that count, of those at least that equal the value that ``holder`` holds."""
        assert self._members is not None
        make = self._make
        return (make(row, *outer, True, ()) for row in self._members((*outer, holder)))

    def present(self, outer: Outer) -> bool:
        return any(True for _ in self._rows(outer))

    def list_values(self, outer: Outer) -> list[Any] | None:
        if not self._lists_rows:
            return None  # so does Esper
        make, test = self._make, self._test
        candidates = list(self._candidates(outer))
        values = [make(row, *outer, True, ()) for row in candidates if test is None or test(row, *outer)]
        if values:
            return values
        return [] if (self._of_values if candidates else self._none_is_empty(outer)) else None


# ------------------------------------------------------------------ aggregations of all rows


class _AllRows(_Source):
    """One row, of the aggregations of all rows. Having that is null lets it pass."""

    def __init__(self, plan: SubqueryPlan, rows: IndexedRows, aggregator: Aggregator | None, environment: Environment) -> None:
        self._readers = self._compute(plan, rows, environment) if aggregator is None else lambda outer: aggregator.readers(None)
        self._having = None if plan.having is None else compile_scalar(plan.having, environment, plan.arity)
        self._make = _maker(plan, environment, plan.arity)

    @staticmethod
    def _compute(plan: SubqueryPlan, rows: IndexedRows, environment: Environment) -> Callable[[Outer], Readers]:
        factory, find = GroupFactory(plan.aggregations, environment, 1), _row_finder(plan.lookup, plan.arity, rows, environment)
        return lambda outer: evaluate_rows(factory, list(find(outer)))

    def only(self, outer: Outer) -> Any:
        readers = self._readers(outer)
        if self._having is not None and self._having(None, *outer, True, readers) is False:
            return None
        return self._make(None, *outer, True, readers)

    def values(self, outer: Outer) -> Iterable[Any]:
        return (self.only(outer),)

    def present(self, outer: Outer) -> bool:
        return self._having is None or self._having(None, *outer, True, self._readers(outer)) is True

    def list_values(self, outer: Outer) -> list[Any] | None:
        return [self.only(outer)] if self._having is None else None  # so does Esper


# ------------------------------------------------------------------ groups


class _Groups(_Source):
    """A row for each group, in the order of output."""

    def __init__(self, plan: SubqueryPlan, rows: IndexedRows, aggregator: Aggregator | None, environment: Environment) -> None:
        self._groups = self._compute(plan, rows, environment) if aggregator is None else self._group_finder(aggregator)
        keys = self._parts = len(plan.group_by)
        self._order = ordering([key.type for key in plan.group_by])
        self._having = None if plan.having is None else compile_scalar(plan.having, environment, plan.arity, keys)
        self._make = _maker(plan, environment, plan.arity, keys)
        self._lists_rows = plan.has_several_columns

    @staticmethod
    def _group_finder(aggregator: Aggregator) -> Callable[[Outer], Sequence[tuple[Any, Readers]]]:
        assert isinstance(aggregator, KeyedAggregator)

        def groups(outer: Outer) -> Sequence[tuple[Any, Readers]]:
            aggregator.drop_empty()
            return [(key, group.readers) for key, group in aggregator.groups.items()]

        return groups

    @staticmethod
    def _compute(
        plan: SubqueryPlan, rows: IndexedRows, environment: Environment
    ) -> Callable[[Outer], Sequence[tuple[Any, Readers]]]:
        factory, find = GroupFactory(plan.aggregations, environment, 1), _row_finder(plan.lookup, plan.arity, rows, environment)
        key_of = key_function(plan.group_by, environment, 1)

        def groups(outer: Outer) -> Sequence[tuple[Any, Readers]]:
            members: dict[Any, list[Event]] = {}
            for row in find(outer):
                members.setdefault(key_of(row), []).append(row)
            return [(key, evaluate_rows(factory, each)) for key, each in members.items()]

        return groups

    def values(self, outer: Outer) -> Iterable[Any]:
        return self._values(self._groups(outer), outer)

    def _values(self, groups: Sequence[tuple[Any, Readers]], outer: Outer) -> Iterator[Any]:
        if self._order is not None and len(groups) > 1:
            groups = [groups[place] for place in self._order([key for key, _ in groups])]
        having, make, parts = self._having, self._make, self._parts
        for key, readers in groups:
            keys = values_of_key(key, parts)
            if having is None or having(None, *outer, True, readers, *keys) is True:
                yield make(None, *outer, True, readers, *keys)

    def present(self, outer: Outer) -> bool:
        return any(True for _ in self.values(outer))

    def list_values(self, outer: Outer) -> list[Any] | None:
        groups = self._groups(outer) if self._lists_rows else ()  # so does Esper
        return list(self._values(groups, outer)) if groups else None


__all__ = ["Answer", "build_answer"]
