"""A look-up plan over rows → a function that finds them. Its text is printed once a statement; an instance adds its rows and indexes."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

from epl.plan.lookups import Bounds, LookupPlan
from runtime.expressions import Environment
from runtime.expressions.compiled import function_of
from runtime.expressions.print_keys import key_part
from runtime.expressions.printer import Printer, may_be_null
from runtime.stores.indexes import IndexedRows
from windows.event import Event

LookUp = Callable[[Sequence["Event | None"]], Iterable[Event]]
"""look_up(partial row) → the rows sought. The partial row has an event (or None) of each stream; that of the stream sought is not read.
Iterate over the result before the rows change."""

MakeLookUp = Callable[..., LookUp]
"""make(rows, counts, *indexes, *cells of the instance) → the look-up."""


def compile_lookup(plan: LookupPlan, rows: IndexedRows, environment: Environment, arity: int) -> LookUp:
    """Return the function that finds the rows of stream ``plan.sought`` among ``rows``, in a row of ``arity`` streams.

    The rows keep the indexes of the plan until ``release_lookup``.
    """
    counted = rows.counts is not None
    make, cells = environment.printed(("look-up", arity, counted), (plan,), lambda: _printed(plan, environment, arity, counted))
    indexes = [rows.index(index, environment) for index in plan.indexes]
    return make(rows, rows.counts, *indexes, *[read(environment) for read in cells])


def release_lookup(plan: LookupPlan, rows: IndexedRows) -> None:
    """Release the indexes of a look-up that is not used any more."""
    for index in plan.indexes:
        rows.release(index)


def _printed(
    plan: LookupPlan, environment: Environment, arity: int, counted: bool
) -> tuple[MakeLookUp, tuple[Callable[[Environment], Any], ...]]:
    printer = Printer(environment, arity)
    lines = _Lines(plan, printer, counted).lines()
    read = sorted({n for e in (*plan.keys, *_ends(plan.bounds), *plan.conditions) for n in e.streams} - {plan.sought})
    names = [f"i{n}" for n in range(len(plan.indexes))]
    cells = printer.instance_cells
    text = "\n".join([
        f"def evaluate({', '.join(['rows', 'counts', *names, *cells])}):",
        *(["    read, evaluated = counts.read, counts.evaluated"] if counted else []),
        *(f"    find{n} = i{n}.find" for n, index in enumerate(plan.indexes) if index.hash),
        "    def look_up(partial):",
        *(f"        e{n} = partial[{n}]" for n in read),
        *(f"        {line}" for line in lines),
        "    return look_up", "",
    ])
    shared = {name: value for name, value in printer.bindings.items() if name not in cells}
    make = function_of(text, {**shared, "union": _union})
    return make, tuple(cells.values())


def _ends(bounds: Sequence[Bounds]) -> list[Any]:
    return [end for each in bounds for end in (each.low, each.high) if end is not None]


def _union(buckets: Iterable[Iterable[Event] | None]) -> Iterable[Event]:
    """Return the rows of several indexes, each once."""
    return dict.fromkeys(chain.from_iterable(bucket for bucket in buckets if bucket is not None))


class _Lines:
    """Prints the body of one look-up."""

    def __init__(self, plan: LookupPlan, printer: Printer, counted: bool) -> None:
        self._plan = plan
        self._printer = printer
        self._counted = counted
        self._lines: list[str] = []

    def lines(self) -> list[str]:
        rows = self._rows()
        conditions = [self._printer.test(condition) for condition in self._plan.conditions]
        if self._counted:
            rows = f"read({rows})"
            conditions = [f"(evaluated() and {condition})" for condition in conditions]
        if conditions:
            self._lines.append(f"candidates = {rows}")
            event = self._printer.streams[self._plan.sought]
            rows = f"[{event} for {event} in candidates if {' and '.join(conditions)}]"
        return [*self._lines, f"return {rows}"]

    def _rows(self) -> str:
        """Return the text of the rows to evaluate the conditions on."""
        plan = self._plan
        if plan.index is None:
            return "rows"
        if plan.listed:
            return f"i0.find_each(({''.join(f'{key_part(key, self._printer)}, ' for key in plan.keys)}))"
        if not plan.index.hash:
            return self._within("i0", plan.bounds[0])
        key = self._key()
        if plan.others:
            return f"union(({''.join(f'find{n}({key}), ' for n in range(len(plan.indexes)))}))"
        bucket = self._known(f"find0({key})")
        return self._within(bucket, plan.bounds[0]) if plan.bounds else bucket

    def _key(self) -> str:
        """Return the text of the hash key; nothing is found where a part is null that null does not equal."""
        parts = []
        for key, null_safe in zip(self._plan.keys, self._plan.null_safe, strict=True):
            text = key_part(key, self._printer)
            parts.append(self._known(text) if not null_safe and may_be_null(key) else text)
        return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"

    def _known(self, text: str) -> str:
        """Return a name for a value, without which nothing is found."""
        name = self._printer.temporary()
        self._lines += [f"{name} = {text}", f"if {name} is None:", "    return ()"]
        return name

    def _within(self, index: str, bounds: Bounds) -> str:
        names = []
        for end in (bounds.low, bounds.high):
            if end is None:
                names.append("None")
            elif may_be_null(end):
                names.append(self._known(self._printer.value(end)))
            else:
                names.append(self._printer.temporary())
                self._lines.append(f"{names[-1]} = {self._printer.value(end)}")
        if bounds.swap:
            low, high = names
            self._lines += [f"if {low} > {high}:", f"    {low}, {high} = {high}, {low}"]
        method = "outside" if bounds.outside else "between"
        return f"{index}.{method}({', '.join(names)}, {bounds.include_low}, {bounds.include_high})"


__all__ = ["LookUp", "compile_lookup", "release_lookup"]
