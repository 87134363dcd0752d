"""Filters that come and go with events: prepared once a statement, active any number of times, each time with values of its own.

    prepared = core.filters.prepare(specification, environment, name, order)      # when the statement is built
    active = prepared.activate(prepared.values_of(a, b), target)                  # target.receive(event) from the next event on
    active.deactivate()                                                           # at once, also for the event that is under way
    prepared.close()                                                              # when the statement ends

Nothing is generated when a filter starts or stops: entries are data in the tables of runtime.event_loop.filter_tables, found by what the
analysis has chosen to look up; one compiled test, for all entries of a prepared filter, gets the event and the entry's values.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import Any, Protocol

import attrs

from epl.generated_code import local_name
from epl.java_hash import hash_function
from epl.plan.exact import exact_operand
from epl.plan.expression_text import expression_text
from epl.plan.expressions import Constant, Logic, TypedExpression
from epl.plan.filter_specifications import EqualLookup, FilterSpecification, RangeLookup, WalkLookup
from epl.value_types import BOXED_BOOLEAN, NULL
from runtime.event_loop.filter_tables import EntryList, FilterTable, HashedRanges, HashTable, MakeRanges, RangeTable, UnknownKeys
from runtime.event_loop.range_tables import OneEndedRanges, TwoEndedRanges
from runtime.event_loop.receiver_order import Placed, Places
from runtime.event_loop.walked_entries import HashedEntries, WalkedEntries
from runtime.expressions import Environment
from runtime.expressions.compiled import define_function
from runtime.expressions.print_keys import key_part
from runtime.expressions.printer import Printer
from windows.event import Event


class Target(Protocol):
    """What an active filter's events go to."""

    def receive(self, event: Event) -> None: ...


class LoneTarget(Target):
    """Calls the listeners for an event that no other receiver gets."""

    def receive_alone(self, event: Event) -> None:
        """Take the event and call the listeners, unless others are to be called before."""


class Nowhere:
    """The place of an entry that can match no event."""


NOWHERE = Nowhere()
NOTHING = Constant(type=NULL, value=None)
"""What is looked up in a table that gives all of its entries."""


class ActiveFilter:
    """One entry: a receiver (runtime.event_loop.filter_index.Receiver) until it is deactivated. ``partition``: the number of the instance
    whose state it changes, where that is known; ``turn``: of an entry that a context has started (runtime.event_loop.receiver_order)."""

    __slots__ = ("partition", "prepared", "values", "target", "place", "turn")
    write = None

    def __init__(self, prepared: PreparedFilter, values: Sequence[Any], target: Target) -> None:
        self.prepared = prepared
        self.values = values
        self.target: Target | None = target
        self.place: Any = NOWHERE
        self.partition: int | None = None
        self.turn = 0

    @property
    def name(self) -> str:
        return self.prepared.name

    @property
    def carries(self) -> int:
        """How many events an event is for the statement's counts: 0 where another receiver has it too."""
        return getattr(self.target, "carries", 1)

    @property
    def order(self) -> Places:
        return self.prepared.entry_places(self.turn)

    @property
    def drop(self) -> bool:
        return self.prepared.drop

    def receive(self, event: Event) -> None:
        """Hand the event on, unless the entry was deactivated since the event was matched."""
        target = self.target
        if target is not None:
            target.receive(event)

    def deactivate(self) -> None:
        """Stop; an event that has been matched and not delivered is discarded. Nothing happens the second time."""
        if self.target is not None:
            self.target = None
            place = self.place
            if place is not NOWHERE:
                self.prepared.leave(place, self)


class ListedFilter(ActiveFilter):
    """An entry under several values, some of which are equal: it gets the event once for each value that equals the event's.

    Every time after the first it is an event of its own, a copy: windows hold an event once.
    """

    __slots__ = ("times",)

    def __init__(self, prepared: PreparedFilter, values: Sequence[Any], target: Target, times: dict[Any, int]) -> None:
        super().__init__(prepared, values, target)
        self.times = times

    def receive(self, event: Event) -> None:
        for n in range(self.times[self.prepared.listed_value(event)]):
            super().receive(copy(event) if n else event)


@attrs.frozen
class Unless:
    """Entries that are not asked for events whose key is among the ``known`` ones. ``keys``: expressions whose values are keys as they
    are; ``known`` changes while the filter is used."""

    keys: Sequence[TypedExpression]
    known: Mapping[Any, object]


class StartedEntries:
    """The entries that have started since somebody has begun to note them; None while nobody does."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: list[ActiveFilter] | None = None


class PreparedFilter:
    """What the entries of one filter of one statement share. ``order``: of its receivers."""

    __slots__ = (
        "activate", "calls_listeners", "close", "drop", "leave", "listed_value", "name", "specification", "test", "values_of",
        "_enter", "_goes_by_ends", "_leave_one", "_order", "_place", "_started", "_table",
    )

    def __init__(
        self, specification: FilterSpecification, environment: Environment, name: str, order: Places | Placed, *, drop: bool,
        table: FilterTable, close: Callable[[], None], started: StartedEntries,
    ) -> None:
        self._table = table
        self._started = started
        self.specification = specification
        self.name = name
        self._order = order
        self._goes_by_ends = specification.goes_by_ends
        self.drop = drop
        self.calls_listeners = False
        """Whether its targets are LoneTargets."""
        self.close = close
        """End the statement's use of the filter; its entries have been deactivated."""
        self.test = _test(specification, environment)
        """test(event, *values): whether the conditions hold that are not looked up; None: there are none."""
        self.values_of = _compile_values(specification, environment)
        """values_of(event of stream 1, event of stream 2, …): the values that an entry brings. Events that none is read of may be
        given too; None for a stream without an event."""
        self._place = _place_function(specification, environment)
        self._enter = table.enter
        self._leave_one = table.leave
        self.leave: Callable[[Any, ActiveFilter], object] = table.leave
        self.activate: Callable[[Sequence[Any], Target], ActiveFilter] = self._activate
        """activate(values, target): start an entry, ``target`` receives what matches from the next event on."""
        if specification.listed is not None:
            self.activate, self.leave = self._activate_list, self._leave_list
            printer = Printer(environment, 1)
            listed = key_part(specification.listed.expression, printer)
            self.listed_value = define_function(f"def evaluate(e0):\n    return {listed}\n", printer.bindings)

    def entry_places(self, turn: int) -> Places:
        """Return the order of an entry that has started at a turn. Entries with ranges of their own go by the ends of these, as the table
        gives them."""
        order = self._order
        return order.entry_places(0 if self._goes_by_ends else turn) if isinstance(order, Placed) else order

    def _activate(self, values: Sequence[Any], target: Target) -> ActiveFilter:
        entry = ActiveFilter(self, values, target)
        place = entry.place = self._place(values)
        if place is not NOWHERE:
            self._enter(place, entry)
        if self._started.entries is not None:
            self._started.entries.append(entry)
        return entry

    def matching(self, event: Event) -> list[ActiveFilter]:
        """Return the entries of this filter that match an event, as they are now."""
        test = self.test
        entries: Iterable[ActiveFilter] = self._table.find(event) or ()
        return [entry for entry in entries if entry.prepared is self and (test is None or test(event, *entry.values))]

    def matches(self, entry: ActiveFilter, event: Event) -> bool:
        """Return whether one entry matches an event."""
        if entry.target is None or not event.type.is_a(self.specification.event_type):
            return False
        entries = self._table.find(event)
        return entries is not None and entry in entries and (self.test is None or self.test(event, *entry.values))

    def _activate_list(self, values: Sequence[Any], target: Target) -> ActiveFilter:
        places: list[Any] = [place for place in self._place(values) if place is not NOWHERE]
        times: dict[Any, int] = {}
        for place in places:
            times[place] = times.get(place, 0) + 1
        if len(times) == len(places):
            entry = ActiveFilter(self, values, target)
        else:
            ranged = self.specification.range is not None
            entry = ListedFilter(self, values, target, {place[0] if ranged else place: n for place, n in times.items()})
        entry.place = tuple(times)
        for place in entry.place:
            self._enter(place, entry)
        if self._started.entries is not None:
            self._started.entries.append(entry)
        return entry

    def _leave_list(self, places: Iterable[Any], entry: ActiveFilter) -> None:
        for place in places:
            self._leave_one(place, entry)


# ------------------------------------------------------------------ compiled once


def _test(specification: FilterSpecification, environment: Environment) -> Callable[..., bool] | None:
    conditions = specification.conditions
    if not conditions:
        return None
    whole = conditions[0] if len(conditions) == 1 else Logic(operator="and", operands=conditions, type=BOXED_BOOLEAN)
    printer = Printer(environment, 1)
    head, text = ", ".join(["e0", *_locals(specification)]), printer.test(whole)
    return define_function(f"def evaluate({head}):\n    return True if {text} else False\n", printer.bindings)


def _locals(specification: FilterSpecification) -> list[str]:
    return [local_name(specification.first_local + n) for n in range(len(specification.values))]


def _compile_values(specification: FilterSpecification, environment: Environment) -> Callable[..., tuple[Any, ...]]:
    streams = max((stream for value in specification.values for stream in value.streams), default=0)
    printer = Printer(environment, streams + 1)
    values = "".join(f"{printer.value(value)}, " for value in specification.values)
    events = "".join(f"e{n + 1}, " for n in range(streams))
    return define_function(f"def evaluate({events}*others):\n    return ({values})\n", printer.bindings)


def _place_function(specification: FilterSpecification, environment: Environment) -> Callable[[Sequence[Any]], Any]:
    printer = Printer(environment, 0)
    names = _locals(specification)
    unpacked = f"    ({''.join(f'{name}, ' for name in names)}) = values\n" if names else ""
    text = f"def evaluate(values):\n{unpacked}    return {_place(specification, printer)}\n"
    return define_function(text, {**printer.bindings, "NOWHERE": NOWHERE, "ends": _ends, "outside": _outside, "both": _both})


def _place(specification: FilterSpecification, printer: Printer) -> str:
    """Return the text of the place in the table; for an in-list of the places."""
    ranged = None
    if specification.range is not None:
        ranged = _ends_text(specification.range, printer)
    elif specification.walked is not None:
        ranged = _walk_text(specification.walked, printer)
    if specification.listed is not None:
        keys = [_not_null(key_part(operand, printer), printer) for operand in specification.listed.operands]
        if ranged is None:
            return f"({''.join(f'{key}, ' for key in keys)})"
        ends = printer.temporary()
        return f"(({''.join(f'both({key}, {ends}), ' for key in keys)}) if ({ends} := {ranged}) is not NOWHERE else ())"
    key = _key(specification, printer)
    if key is None:
        return "None" if ranged is None else ranged
    return key if ranged is None else f"both({key}, {ranged})"


def _key(specification: FilterSpecification, printer: Printer) -> str | None:
    if not specification.equal:
        return None
    parts, checks = [], []
    for lookup in in_order(specification):
        text = key_part(lookup.operand, printer)
        if not lookup.null_matches:
            name = printer.temporary()
            checks.append(f"({name} := {text}) is None")
            text = name
        parts.append(text)
    whole = parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
    return f"(NOWHERE if {' or '.join(checks)} else {whole})" if checks else whole


def _not_null(text: str, printer: Printer) -> str:
    name = printer.temporary()
    return f"(NOWHERE if ({name} := {text}) is None else {name})"


def _walk_text(lookup: WalkLookup, printer: Printer) -> str:
    low = printer.value(lookup.low)
    if lookup.high is not None:
        return f"outside({low}, {printer.value(lookup.high)})"
    return low if lookup.null_matches else _not_null(low, printer)


def _ends_text(lookup: RangeLookup, printer: Printer) -> str:
    low, high = (None if end is None else printer.value(exact_operand(end)) for end in (lookup.low, lookup.high))
    if low is not None and high is not None:
        return f"ends({low}, {high})"
    name = printer.temporary()
    return f"({name} if ({name} := {low or high}) is not None and {name} == {name} else NOWHERE)"


def _ends(low: Any, high: Any) -> Any:
    """Two ends, in order."""
    if low is None or high is None:
        return NOWHERE
    return (low, high) if low <= high else (high, low) if high <= low else NOWHERE


def _outside(low: Any, high: Any) -> Any:
    """Two ends, in order; none where one of them is null, which excludes nothing."""
    return () if low is None or high is None else (low, high) if low <= high else (high, low)


def _both(key: Any, ends: Any) -> Any:
    return NOWHERE if key is NOWHERE or ends is NOWHERE else (key, ends)


# ------------------------------------------------------------------ which table


def in_order(specification: FilterSpecification) -> Sequence[EqualLookup]:
    """Return the equal lookups, always in the same order, whichever way the conditions were written."""
    return sorted(specification.equal, key=lambda lookup: _key_text(lookup.expression)[0])


def _key_text(expression: TypedExpression) -> tuple[str, tuple[Any, ...]]:
    printer = Printer(Environment(), 1)
    return key_part(expression, printer), tuple(printer.bindings.values())


def table_key(specification: FilterSpecification, unless: Unless | None = None) -> tuple[Any, ...]:
    """Return a key that is equal for specifications whose entries are in one table. ``unless``: of one that looks nothing up."""
    if unless is not None:
        return "unless", id(unless.known), tuple(map(_key_text, unless.keys))
    return _parts(specification)


def _parts(specification: FilterSpecification) -> tuple[Any, ...]:
    """Return what is looked up, else whether there are conditions."""
    looked_up: list[Any] = [_key_text(expression) for expression in _expressions(specification)]
    between, walk = specification.range, specification.walked
    if between is not None:
        looked_up.append((
            _key_text(between.expression), between.low is not None, between.high is not None, between.include_low, between.include_high))
    elif walk is not None:
        looked_up.append((expression_text(walk.condition),))
    return tuple(looked_up) or (("conditions",) if specification.conditions else ())


def make_table(specification: FilterSpecification, unless: Unless | None = None) -> FilterTable:
    """Return an empty table for entries of the specification."""
    table = _empty_table(specification, unless)
    if unless is None:
        table.parts = frozenset(_parts(specification))
    return table


def _empty_table(specification: FilterSpecification, unless: Unless | None) -> FilterTable:
    if unless is not None:
        return UnknownKeys(unless.keys, unless.known)
    expressions, between = _expressions(specification), specification.range
    make: MakeRanges
    if specification.walked is not None:
        value: TypedExpression = NOTHING
        make = WalkedEntries if specification.walked.ascending else partial(HashedEntries, hash_function(specification.walked.low.type))
    elif between is None:
        return HashTable(expressions) if expressions else EntryList()
    elif between.low is not None and between.high is not None:
        include_low, include_high = between.include_low, between.include_high
        value = between.expression

        def make() -> TwoEndedRanges:
            return TwoEndedRanges(include_low=include_low, include_high=include_high)
    else:
        above = between.low is not None
        inclusive = between.include_low if above else between.include_high
        value = between.expression

        def make() -> OneEndedRanges:
            return OneEndedRanges(above=above, inclusive=inclusive)
    return HashedRanges(expressions, value, make) if expressions else RangeTable(value, make)


def _expressions(specification: FilterSpecification) -> list[TypedExpression]:
    if specification.listed is not None:
        return [specification.listed.expression]
    return [lookup.expression for lookup in in_order(specification)]


__all__ = ["ActiveFilter", "LoneTarget", "PreparedFilter", "StartedEntries", "Target", "Unless", "make_table", "table_key"]
