"""What becomes of a delta in a kernel: the aggregations take it, and its rows are emitted, by the shape of the select clause."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Protocol

import attrs

from epl.plan.expressions import StreamProperty, TypedExpression
from runtime.batch.printing.expressions import ScalarPrinter, column_kind
from runtime.batch.printing.parts import Subroutines
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import not_in_columns
from runtime.batch.result_set.events import SLIDING, SelectEvents
from runtime.batch.result_set.groups import REGISTERS
from runtime.batch.result_set.levels import GroupingLevel
from runtime.batch.storage.arrays import ArrayField
from runtime.batch.storage.kinds import TEXTS
from runtime.batch.storage.registers import Registers

KEPT = "w_keep[q & mask]"
"""Whether the where clause lets the event at ``q`` through."""


@attrs.frozen
class OutputColumn:
    """One column: ``through`` names the event's property that is fetched by row; else ``kind`` is that of the computed values, with a
    mask of its own if ``nullable`` (strings have their code)."""

    name: str
    kind: str
    through: str | None = None
    nullable: bool = False


class NestedRows(Protocol):
    """One grouping beside that of the statement: a level of a rollup, or the groups of aggregations that have their own."""

    level: GroupingLevel
    columns: list[OutputColumn]
    order_keys: list[OutputColumn]

    def lists_full(self) -> str | None:
        """See ``ResultSetPrinter``, as for ``admit`` and ``find``."""

    def admit(self, code: Code) -> None: ...

    def find(self, code: Code, ring: bool) -> None: ...

    def look(self, code: Code) -> None:
        """Print the group of the event at ``q``."""

    def touch(self, code: Code) -> None:
        """Print the groups that the delta touches."""

    def print_counting(self, code: Code) -> None:
        """Print that the accumulators take the delta."""

    def put(self, code: Code, new: bool) -> None:
        """Print the rows of the insert (``new``) or remove stream."""


class ResultSetPrinter:
    """Prints for the delta ``na`` … ``nb``, ``oa`` … ``ob``; the rows go to the output arrays from ``out`` on.

    ``delayed``: rows may be emitted after their events have gone by, so that no column is fetched by row. ``order_keys``: what
    rows are ordered by, emitted after the ``columns``.
    """

    masked = False
    """Whether every column has a mask of its own."""

    def __init__(self, of: SelectEvents) -> None:
        self.of = of
        self.functions = Subroutines()
        self.levels: Sequence[NestedRows] = ()
        self.local: Sequence[NestedRows] = ()
        self.delayed = False
        self.columns: list[OutputColumn] = []
        self.order_keys: list[OutputColumn] = []

    def fields(self) -> list[ArrayField]:
        """Return arrays of its own."""
        of_levels = [field for each in self._nested for field in each.level.fields()]
        return of_levels if self.of.groups is None else [*self.of.groups.fields(), *of_levels]

    def registers(self) -> list[tuple[str, Registers]]:
        """Return (array, names) of numbers that are in variables while the kernel runs."""
        of_levels = [each.level.registers() for each in self._nested if each.level.groups is not None]
        return of_levels if self.of.groups is None else [("g_registers", REGISTERS), *of_levels]

    def advance(self, code: Code, choose: Callable[[Code], None]) -> None:
        """Print the next delta, which ``choose`` prints."""
        choose(code)

    def capacity(self) -> str:
        """Return how many rows a delta may give at most."""
        return f"{2 * self.breadth} * (nb - na + ob - oa + 1)"

    @property
    def breadth(self) -> int:
        """How many groups an event is in."""
        return max(1, len(self.levels))

    def streams(self) -> tuple[bool, ...]:
        old = self.of.needs_old and (self.of.leaves or self.of.rows.shape in ("fully aggregated", "grouped fully aggregated", "rollup"))
        return (*((True is not self.of.swaps,) if self.of.needs_new else ()), *((False is not self.of.swaps,) if old else ()))

    def full(self) -> str | None:
        """Return a text, true where a delta may find no slot for its groups; None where there are none."""
        conditions = [] if self.of.groups is None else [f"({self.of.groups.full(self.arrivals())})"]
        for each in self._nested:
            if each.level.groups is not None:
                conditions.append(f"({each.level.text(each.level.groups.full(self.arrivals()))})")
        return " or ".join(conditions) or None

    @property
    def _nested(self) -> list[NestedRows]:
        """Groupings that are next to that of the statement."""
        return [*self.levels, *self.local]

    def arrivals(self) -> str:
        """Return a text: how many events of an unbound stream a delta may bring."""
        return "1"

    def lists_full(self) -> str | None:
        """Return a text, true where accumulators have no space for what a delta brings."""
        conditions = [text for each in self.of.accumulators if (text := each.full()) is not None]
        conditions += [each.level.text(text) for each in self._nested if (text := each.lists_full()) is not None]
        return " or ".join(conditions) or None

    def admit(self, code: Code) -> None:
        """Print that the event at ``tail`` comes into the window: its groups are held."""
        if self.of.groups is not None:
            self.of.groups.take(code, self.of.at("r", code, ring=False))
        for each in self._nested:
            each.admit(code)

    def deliver(self, code: Code) -> None:
        """Print the delta."""
        self.count(code)
        self.begin(code)
        self.print_delta(code)

    def count(self, code: Code) -> None:
        """Print ``news``, ``olds``: how many events of the delta the where clause lets through; without any the delta ends here."""
        if self.of.where is None:
            return
        code.add("news = 0", "olds = 0")
        for (low, high), name in zip(self.parts(), ("news", "olds")):
            with self._each(code, low, high), code.block(f"if {KEPT}"):
                code.add(f"{name} += 1")
        with code.block("if news + olds == 0"):
            code.add("continue")

    @property
    def news(self) -> str:
        """A text: how many new events there are."""
        return "nb - na" if self.of.where is None else "news"

    @property
    def olds(self) -> str:
        """A text: how many old events there are."""
        return "ob - oa" if self.of.where is None else "olds"

    def begin(self, code: Code) -> None:
        """Print ``g``: the group of the only event, or of all."""
        if not self.of.leaves:
            self.find(code, False)
        if self.of.groups is None and self.of.accumulators:
            code.add("g = 0")

    def find(self, code: Code, ring: bool) -> None:
        """Print ``g``: the group of the event at ``na``, of the ring or of the batch."""
        for each in self._nested:
            each.find(code, ring)
        if self.of.groups is not None:
            self.of.groups.find(code, self.of.at("na", code, ring=ring))
            if self.local:
                code.add("g_own = g")

    def print_delta(self, code: Code) -> None:
        """Print the delta as the shape has it."""
        if self.levels:
            self.rows_per_level(code)
        elif self.of.rows.shape == "fully aggregated":
            self.row_per_delta(code)
        elif self.of.rows.shape == "grouped fully aggregated":
            self.row_per_group(code)
        else:
            self.row_per_event(code)

    def row_per_delta(self, code: Code) -> None:
        if self.of.needs_old:
            self.emit(code, None, False)
        self.apply(code)
        if self.of.needs_new:
            self.emit(code, None, True)

    def row_per_event(self, code: Code) -> None:
        self.apply(code)
        for needed, low, high, new in ((self.of.needs_old, "oa", "ob", False), (self.of.needs_new, "na", "nb", True)):
            if needed and (new or self.of.leaves):
                with self.events(code, low, high):
                    self.emit(code, "q", new)

    def rows_per_level(self, code: Code) -> None:
        for each in self.levels:
            each.touch(code)
        for needed, new in ((self.of.needs_old, False), (True, None), (self.of.needs_new, True)):
            for each in self.levels if needed else ():
                if new is None:
                    each.print_counting(code)
                else:
                    each.put(code, new)
        self.columns, self.order_keys = self.levels[0].columns, self.levels[0].order_keys

    def touch_groups(self, code: Code) -> None:
        """Print which groups the delta touches."""
        assert self.of.groups is not None
        rows = Code()
        self.emit(rows, "q", True)
        kept = None if self.of.where is None else KEPT
        self.of.groups.touched(code, pairwise=self._pairwise, places=self._reads_place(rows), kept=kept)

    @property
    def _pairwise(self) -> bool:
        """Whether of one event in and one out Esper emits the group of the one that came in first."""
        rows = self.of.rows
        return rows.shape == "grouped fully aggregated" and self.of.leaves and not self.of.needs_old and rows.output is None

    def _reads_place(self, rows: Code) -> bool:
        return bool(self.local) or re.search(r"\bq\b", rows.text()) is not None

    def row_per_group(self, code: Code) -> None:
        if self.of.leaves:
            self.touch_groups(code)
        if self.of.needs_old:
            with self.touched(code):
                self.emit(code, "q", False)
        self.apply(code)
        if self.of.needs_new:
            with self.touched(code):
                self.emit(code, "q", True)

    def parts(self) -> tuple[tuple[str, str], ...]:
        """Return the places of a delta's new events, and of the old ones if there may be any."""
        return (("na", "nb"),) if not self.of.leaves else (("na", "nb"), ("oa", "ob"))

    @contextmanager
    def events(self, code: Code, low: str, high: str) -> Iterator[None]:
        """Print, for each event of the delta: ``q`` its place, ``g`` its group's slot. Without a window there is the one at ``na``."""
        if not self.of.leaves:
            code.add("q = na")
            yield
            return
        with self._each(code, low, high), self.one(code):
            yield

    @contextmanager
    def one(self, code: Code) -> Iterator[None]:
        """Print, for the event at ``q``, if the where clause lets it through."""
        with code.block(f"if {KEPT}") if self.of.where is not None else nullcontext():
            if self.of.groups is not None:
                code.add("g = np.int64(w_g[q & mask])")
            for each in self.local:
                each.look(code)
            yield

    @contextmanager
    def _each(self, code: Code, low: str, high: str) -> Iterator[None]:
        if low == "na" and type(self.of.window) in SLIDING:
            with code.block("if nb > na"):
                code.add("q = na")
                yield
        else:
            with code.block(f"for q in range({low}, {high})"):
                yield

    @contextmanager
    def touched(self, code: Code) -> Iterator[None]:
        """Print, for each group that the delta touches: ``g`` its slot, ``q`` the place of its event."""
        if not self.of.leaves:
            code.add("q = na")
            yield
            return
        with code.block("for t in range(nt)"):
            code.add("g = np.int64(g_touched[t])", "q = g_last[g]")
            for each in self.local:
                each.look(code)
            yield

    def apply(self, code: Code) -> None:
        if self.of.groups is not None and self.of.leaves:
            self.of.groups.drop_empty(code, self.of.accumulators, self.news)
        for low, high, step in (("na", "nb", "enter"), ("oa", "ob", "leave")):
            if not (self.of.accumulators or self.of.groups) or (step == "leave" and not self.of.leaves):
                continue
            with self.events(code, low, high):
                if self.of.groups is not None:
                    (self.of.groups.print_entering if step == "enter" else self.of.groups.print_leaving)(code)
                for each in self.of.accumulators:
                    getattr(each, step)(code, self.of.at, "q")
        for part in self.local:
            part.print_counting(code)
        if self.local and self.of.groups is not None and not self.of.leaves:
            code.add("g = g_own")

    def emit(self, code: Code, place: str | None, new: bool) -> None:
        """Print a row of the insert (``new``) or remove stream, if having lets it."""
        printer = self.of.at(place, code, new=new)
        if self.of.rows.having is not None:
            with code.block(f"if {printer.test(self.of.rows.having)}"):
                self.row(code, printer, place, new)
        else:
            self.row(code, printer, place, new)

    def place(self, code: Code, new: bool) -> None:
        """Print ``o``: where the row goes."""
        code.add("o = np.int64(np.uint32(out))", "out += 1")

    def cause(self, code: Code) -> None:
        with code.block("if causes"):
            self.write_cause(code)

    def write_cause(self, code: Code) -> None:
        code.add("o_cause[o] = i - 1", "o_timer[o] = timer", "o_time[o] = now", "o_delta[o] = delta")

    def row(self, code: Code, printer: ScalarPrinter, place: str | None, new: bool) -> None:
        self.place(code, new)
        row = "-1" if place is None else f"w_row[{place} & mask]" if self.of.window is not None else f"first + {place}"
        if len(self.streams()) > 1:
            code.add(f"o_flag[o] = {new is not self.of.swaps}")
        self.cause(code)
        columns: list[OutputColumn] = []
        for number, (prop, node) in enumerate(self.outputs()):
            if isinstance(node, StreamProperty) and place is not None and not self.computed and not self.of.key(node):
                columns.append(OutputColumn(prop, "", node.name))
            else:
                columns.append(self._compute(code, printer, number, prop, node))
        if any(column.through for column in columns):
            code.add(f"o_row[o] = {row}")
        finish = self.of.finish
        keys = () if finish is None else finish.keys
        self.columns = columns
        if keys and self._pairwise:  # Esper computes both keys with the aggregations of the event that came in
            if self.of.parts:
                raise not_in_columns("an order by of groups beside aggregations with groups of their own")
            assert self.of.groups is not None
            code.add(f"gk = np.int64(g_touched[0]) if nt == 2 and {self.of.groups.in_and_out(self.of.where is not None)} else g")
            printer = self.of.at(place, code, new=new, values_of="gk")
        self.order_keys = [self._compute(code, printer, number, "", node) for number, node in enumerate(keys, len(columns))]

    @property
    def computed(self) -> bool:
        """Whether no column is fetched by row."""
        return self.delayed or (self.of.finish is not None and self.of.finish.distinct)

    def _compute(self, code: Code, printer: ScalarPrinter, number: int, name: str, node: TypedExpression) -> OutputColumn:
        """Put the value of an expression out."""
        kind = column_kind(node.type)
        text = printer.value(node)
        nullable = (text.valid is not None or self.masked) and kind not in TEXTS
        value = text.value
        if kind in TEXTS and text.valid not in (None, f"({value} >= 0)"):
            value = f"({value} if {text.valid} else np.int64(-1))"
        code.add(f"o{number}[o] = {value}")
        if nullable:
            code.add(f"o{number}v[o] = {text.valid or 'True'}")
        return OutputColumn(name, kind, None, nullable)

    def outputs(self) -> list[tuple[str, TypedExpression]]:
        if self.of.rows.forward is not None:
            properties = self.of.stream.event_type.properties.values()
            return [(p.name, StreamProperty(stream=0, name=p.name, type=p.type)) for p in properties]
        return list(zip(self.of.rows.output_type.names, self.of.rows.columns, strict=True))


__all__ = ["OutputColumn", "ResultSetPrinter"]
