"""Tables of filters that come and go with events: what generated code looks entries up in. Adding and removing entries changes data only.

A table belongs to an event type and to expressions over the event; the filters of all statements that look up the same share it.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from epl.plan.exact import exact_operand
from epl.plan.expressions import TypedExpression
from runtime.event_loop.range_tables import OneEndedRanges, TwoEndedRanges
from runtime.event_loop.walked_entries import WalkedEntries
from runtime.expressions import Environment
from runtime.expressions.compiled import define_function
from runtime.expressions.print_keys import key_text
from runtime.expressions.printer import Printer
from windows.buckets import put, take
from windows.event import Event

Ranges = OneEndedRanges | TwoEndedRanges | WalkedEntries
MakeRanges = Callable[[], Ranges]


class FilterTable(Protocol):
    """``enter`` and ``leave`` get the place that an entry's values lead to. ``users``: how many prepared filters have entries here.
    ``parts``: what their conditions consist of, as far as that decides about the order of tables."""

    users: int
    parts: frozenset[Any]

    @property
    def enter(self) -> Callable[[Any, Any], object]: ...

    @property
    def leave(self) -> Callable[[Any, Any], object]: ...

    def text(self, printer: Printer) -> str:
        """Return the look-up, printed over an event: the entries found, or None."""

    def find(self, event: Event) -> Iterable[Any] | None: ...


class _Table:
    """``find`` is compiled from the same text that the dispatch of the event type holds."""

    def __init__(self) -> None:
        self.users = 0
        self.parts: frozenset[Any] = frozenset()
        self._find: Callable[[Event], Iterable[Any] | None] | None = None

    def text(self, printer: Printer) -> str:
        raise NotImplementedError

    def find(self, event: Event) -> Iterable[Any] | None:
        if self._find is None:
            printer = Printer(Environment(), 1)
            self._find = define_function(f"def evaluate(e0):\n    return {self.text(printer)}\n", printer.bindings)
        return self._find(event)


class HashTable(_Table):
    """Entries by the value of an expression, or by a tuple of several."""

    def __init__(self, expressions: Sequence[TypedExpression]) -> None:
        super().__init__()
        self._expressions = tuple(expressions)
        self._buckets: dict[Any, Any] = {}
        self.enter = partial(put, self._buckets)
        self.leave = partial(take, self._buckets)

    def text(self, printer: Printer) -> str:
        return f"{printer.bind(self._buckets.get, 'look_up')}({key_text(self._expressions, printer)})"


class RangeTable(_Table):
    """Entries by the ranges that an expression's value may be in."""

    def __init__(self, expression: TypedExpression, make: MakeRanges) -> None:
        super().__init__()
        self._expression = expression
        self._ranges = make()
        self.enter = self._ranges.enter
        self.leave = self._ranges.leave

    def text(self, printer: Printer) -> str:
        return f"{printer.bind(self._ranges.find, 'find')}({printer.value(exact_operand(self._expression))})"


class HashedRanges(_Table):
    """Entries by the values of expressions, and below each by the ranges that another expression's value may be in."""

    def __init__(self, expressions: Sequence[TypedExpression], expression: TypedExpression, make: MakeRanges) -> None:
        super().__init__()
        self._expressions = tuple(expressions)
        self._expression = expression
        self._make = make
        self._ranges: dict[Any, Ranges] = {}

    def enter(self, place: tuple[Any, Any], entry: Any) -> None:
        key, ends = place
        ranges = self._ranges.get(key)
        if ranges is None:
            ranges = self._ranges[key] = self._make()
        ranges.enter(ends, entry)

    def leave(self, place: tuple[Any, Any], entry: Any) -> None:
        key, ends = place
        ranges = self._ranges[key]
        ranges.leave(ends, entry)
        if not ranges:
            del self._ranges[key]

    def text(self, printer: Printer) -> str:
        ranges, get = printer.temporary(), printer.bind(self._ranges.get, "look_up")
        value = printer.value(exact_operand(self._expression))
        return f"(None if ({ranges} := {get}({key_text(self._expressions, printer)})) is None else {ranges}.find({value}))"


class EntryList(_Table):
    """Entries that nothing is looked up for: each is asked, in the order in which they started."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[Any, None] = {}

    def enter(self, place: None, entry: Any) -> None:
        self._entries[entry] = None

    def leave(self, place: None, entry: Any) -> None:
        del self._entries[entry]

    def text(self, printer: Printer) -> str:
        return f"({printer.bind(self._entries, 'entries')} or None)"


class UnknownKeys(EntryList):
    """Entries for events whose key is not among the ``known`` ones, which come and go."""

    def __init__(self, expressions: Sequence[TypedExpression], known: Mapping[Any, object]) -> None:
        super().__init__()
        self._expressions = tuple(expressions)
        self._known = known

    def text(self, printer: Printer) -> str:
        return f"(None if {key_text(self._expressions, printer)} in {printer.bind(self._known, 'known')} else {super().text(printer)})"


__all__ = ["EntryList", "FilterTable", "HashTable", "HashedRanges", "MakeRanges", "RangeTable", "UnknownKeys"]
