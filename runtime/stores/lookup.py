"""A look-up plan over rows → a function that finds them. Its text is printed once a statement; an instance adds its rows and indexes."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from epl.plan.join.lookups import Bounds, LookupPlan
from runtime.expressions import Environment
from runtime.expressions.compiled import define_function
from runtime.expressions.print_keys import key_part
from runtime.expressions.printer import Printer, may_be_null
from runtime.stores.indexes import IndexedRows
from windows.event import Event

LookUp = Callable[[Sequence["Event | None"]], Iterable[Event]]
"""look_up(partial row) → the rows sought. The partial row has an event (or None) of each stream; that of the stream sought is not read.
Iterate over the result before the rows change."""

MakeLookUp = Callable[..., LookUp]
"""make(counts, rows, *indexes, *cells of the instance) → the look-up."""


def compile_lookup(plan: LookupPlan, rows: IndexedRows, environment: Environment, arity: int) -> LookUp:
    """Return the function that finds the rows of stream ``plan.sought`` among ``rows``, in a row of ``arity`` streams.

    The rows keep the indexes of the plan until they are released.
    """
    counted = rows.counts is not None
    make, cells = environment.printed(("look-up", arity, counted), (plan,), lambda: _print_lookup(plan, environment, arity, counted))
    indexes = [rows.index(index, environment) for index in plan.indexes]
    return make(rows.counts, rows, *indexes, *[read(environment) for read in cells])


def _print_lookup(
    plan: LookupPlan, environment: Environment, arity: int, counted: bool
) -> tuple[MakeLookUp, tuple[Callable[[Environment], Any], ...]]:
    printer = Printer(environment, arity)
    lookup = PrintedLookup(plan, printer, 0, "return ()", counted)
    rows, tests = lookup.rows(), lookup.tests()
    read = sorted({n for e in (*plan.keys, *_ends(plan.bounds), *plan.conditions) for n in e.streams} - {plan.sought})
    body = [f"e{n} = partial[{n}]" for n in read] + lookup.lines
    if tests:
        event = printer.streams[plan.sought]
        body += [f"candidates = {rows}", f"return [{event} for {event} in candidates if {' and '.join(tests)}]"]
    else:
        body.append(f"return {rows}")
    text = ["def look_up(partial):", *(f"    {line}" for line in body), "return look_up"]
    return print_maker(text, ["rows", *lookup.names], [lookup], printer, counted)


def print_maker(
    text: Sequence[str], names: Sequence[str], lookups: Sequence[PrintedLookup], printer: Printer, counted: bool
) -> tuple[Callable[..., Any], tuple[Callable[[Environment], Any], ...]]:
    """Return make(counts, *the objects called ``names``, *cells of the instance), which runs the text, and what reads the cells."""
    cells = printer.instance_cells
    lines = [
        f"def evaluate({', '.join(['counts', *names, *cells])}):",
        *(["    read, evaluated = counts.read, counts.count_evaluation"] if counted else []),
        *(f"    {line}" for lookup in lookups for line in lookup.prepared),
        *(f"    {line}" for line in text), "",
    ]
    shared = {name: value for name, value in printer.bindings.items() if name not in cells}
    make = define_function("\n".join(lines), shared)
    return make, tuple(cells.values())


def _ends(bounds: Sequence[Bounds]) -> list[Any]:
    return [end for each in bounds for end in (each.low, each.high) if end is not None]


def _union(buckets: Iterable[Iterable[Event] | None]) -> Iterable[Event]:
    """Return the rows of several indexes, each once."""
    return dict.fromkeys(chain.from_iterable(bucket for bucket in buckets if bucket is not None))


class PrintedLookup:
    """The source of one look-up, over events that are called as the printer calls them.

    ``names``: the indexes; ``prepared``: lines that come before, once; ``lines``: those that come before the rows are read, of which some
    ``leave`` where nothing is found. ``first``: number of the first index.
    """

    def __init__(self, plan: LookupPlan, printer: Printer, first: int, leave: str, counted: bool) -> None:
        self._plan = plan
        self._printer = printer
        self._leave = leave
        self._counted = counted
        numbers = range(first, first + len(plan.indexes))
        self.names = [f"i{n}" for n in numbers]
        self._finds = [f"find{n}" for n in numbers]
        self.prepared = [
            f"{find} = {name}.find" for find, name, index in zip(self._finds, self.names, plan.indexes)
            if (index.hash or index.space) and not plan.listed]
        self.lines: list[str] = []

    def tests(self) -> list[str]:
        """Return the texts of what is evaluated on each row."""
        tests = [self._printer.test(condition) for condition in self._plan.conditions]
        return [f"(evaluated() and {test})" for test in tests] if self._counted else tests

    def rows(self, scanned: str = "rows") -> str:
        """Return the text of the rows that the index gives; ``scanned``: of all rows."""
        rows = self._rows(scanned)
        if self._plan.in_order:
            rows = f"{scanned}.in_order({rows})"
        return f"read({rows})" if self._counted else rows

    def _rows(self, scanned: str) -> str:
        plan = self._plan
        if plan.index is None:
            return scanned
        if plan.index.space:
            values = [self._printer.value(key) for key in plan.keys]
            return f"{self._finds[0]}({', '.join(values)})"
        if plan.listed:
            keys = "".join(f"{key_part(key, self._printer)}, " for key in plan.keys)
            return f"{self.names[0]}.find_each(({keys}), {all(plan.null_safe)})"
        if not plan.index.hash:
            return self._within(self.names[0], plan.bounds[0])
        key = self._key()
        if plan.others:
            return f"{self._printer.bind(_union, 'union')}(({''.join(f'{find}({key}), ' for find in self._finds)}))"
        bucket = self._value_name(f"{self._finds[0]}({key})")
        return self._within(bucket, plan.bounds[0]) if plan.bounds else bucket

    def _key(self) -> str:
        """Return the text of the hash key; nothing is found where a part is null that null does not equal."""
        parts = []
        for key, null_safe in zip(self._plan.keys, self._plan.null_safe, strict=True):
            text = key_part(key, self._printer)
            parts.append(self._value_name(text) if not null_safe and may_be_null(key) else text)
        return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"

    def _value_name(self, text: str) -> str:
        """Return a name for a value, without which nothing is found."""
        name = self._printer.temporary()
        self.lines += [f"{name} = {text}", f"if {name} is None:", f"    {self._leave}"]
        return name

    def _within(self, index: str, bounds: Bounds) -> str:
        names = []
        for end in (bounds.low, bounds.high):
            if end is None:
                names.append("None")
            elif may_be_null(end):
                names.append(self._value_name(self._printer.value(end)))
            else:
                names.append(self._printer.temporary())
                self.lines.append(f"{names[-1]} = {self._printer.value(end)}")
        if bounds.swap:
            low, high = names
            self.lines += [f"if {low} > {high}:", f"    {low}, {high} = {high}, {low}"]
        method = "outside" if bounds.outside else "between"
        return f"{index}.{method}({', '.join(names)}, {bounds.include_low}, {bounds.include_high})"


__all__ = ["LookUp", "PrintedLookup", "compile_lookup", "print_maker"]
