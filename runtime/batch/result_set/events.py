"""What select kernels read of events: columns of the batch, places of the ring, values of groups."""
from __future__ import annotations

from itertools import count

import attrs

from epl.plan.expressions import Aggregated, IsInsertStream, StreamProperty, TypedExpression
from epl.plan.statements import SelectPlan
from epl.plan.streams import only_stream, stream_filter
from epl.value_types import Scalar
from runtime.batch.accumulators import AccumulatorPrinter, accumulator
from runtime.batch.printing.expressions import Leaf, ScalarPrinter, ScalarText, column_kind, element_text
from runtime.batch.printing.parameters import Parameters
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.result_set.groups import GroupKeys
from runtime.batch.result_set.levels import GroupingLevel, local_groups, rollup_levels
from runtime.batch.runs.order_and_limit import plan_finish
from runtime.batch.storage.kinds import TEXTS
from runtime.batch.windows import Window, window_printer
from runtime.batch.windows.held_rows import HeldRowsWindow
from runtime.batch.windows.sliding import KeepAllWindow, LengthWindow, TimeWindow
from windows.keepall import KeepAll

SLIDING = (LengthWindow, KeepAllWindow, TimeWindow)
"""Windows that take one event in a delta, at once."""


class SelectEvents:
    """The plan's parts, and printers of expressions. ``inputs``: the properties that are read, with their kinds; ``retained``: those of
    them that are read of events in the window, or of rows that are held; ``leaves``: whether rows leave; ``where``: the condition after
    the window; ``finish``: order by, limit and distinct; ``levels`` of a rollup, each with
    what its rows read; ``parts``: the groupings of aggregations that have their own."""

    def __init__(self, plan: SelectPlan) -> None:
        rows = plan.result_set
        self.plan, self.rows, self.stream = plan, rows, only_stream(plan.streams)
        self.filter = stream_filter(self.stream)
        self.leaves = bool(self.stream.windows)
        self.window: Window | None = window_printer(self.stream.windows[0]) if self.leaves else None
        if not self.leaves and rows.output is not None and rows.output.selector == "default":
            self.window = HeldRowsWindow(KeepAll())
        self.parameters = Parameters()
        self.inputs: dict[str, str] = {}
        self.retained: dict[str, str] = {}
        self.names = count()
        self.kept_of_groups: dict[str, str] | None = None
        self.needs_new = rows.raw or rows.selector != "rstream"
        self.needs_old = rows.raw or rows.selector != "istream"
        self.swaps = rows.selector == "rstream" and not rows.raw
        self.where = plan.where if self.stream.windows else None
        self.finish = plan_finish(rows)
        self.groups: GroupKeys | None = None
        self.accumulators: list[AccumulatorPrinter] = []
        self.levels: list[tuple[GroupingLevel, SelectEvents]] = []
        self.parts: list[tuple[GroupingLevel, SelectEvents]] = []
        counted = self.window if self.leaves else None
        if rows.shape == "rollup":
            self.levels = rollup_levels(self, rows, counted)
            return
        self.parts = local_groups(self, rows, counted)
        if not self.parts:
            plans = [attrs.evolve(plan, group_by=None) for plan in rows.aggregations]
            self.accumulators += [accumulator(p, n, counted) for n, p in enumerate(plans)]
        if rows.group_by:
            selector = None if rows.output is None else rows.output.selector
            ordered = self.leaves and (
                (selector in (None, "default") and rows.shape == "grouped fully aggregated")
                or (selector == "all" and rows.shape == "grouped aggregated")
            )
            kept, pinned = selector in ("all", "first"), selector == "last"
            at_once = type(self.window) in SLIDING and selector != "default"
            self.groups = GroupKeys(rows.group_by, self.leaves, ordered, kept, pinned, at_once)

    # ------------------------------------------------------------------ expressions

    def _property(self, node: StreamProperty, place: str, ring: bool) -> ScalarText:
        kind = column_kind(node.type)
        if ring:
            self.retained[node.name] = kind
        self.inputs[node.name] = kind
        column = f"{'w' if ring else 'c'}{self.number(node.name)}"
        value = element_text(f"{column}[{place} & mask]" if ring else f"{column}[{place}]", kind)
        if kind in TEXTS:
            return ScalarText(value, f"({value} >= 0)")
        mask = f"{column}v[{place} & mask]" if ring else f"{column}v[{place}]"
        primitive = isinstance(node.type, Scalar) and node.type.primitive
        return ScalarText(value, None if primitive else mask)

    def _last_of_group(self, node: StreamProperty) -> ScalarText:
        """Return a property of the last event of the group ``g``, kept in arrays by group."""
        assert self.kept_of_groups is not None
        kind = column_kind(node.type)
        self.kept_of_groups[node.name] = kind
        self.inputs[node.name] = kind
        number = self.number(node.name)
        value = element_text(f"e{number}[g]", kind)
        if kind in TEXTS:
            return ScalarText(value, f"({value} >= 0)")
        primitive = isinstance(node.type, Scalar) and node.type.primitive
        return ScalarText(value, None if primitive else f"e{number}v[g]")

    def number(self, name: str) -> int:
        """Return the number of a property's column."""
        return list(self.inputs).index(name)

    def key(self, node: TypedExpression, *, of_event: bool = False) -> bool:
        """Return whether an expression's value is read from the group once the event is in it."""
        if self.groups is None or (self.window is None and self.rows.output is None and self.groups.left_out is None):
            return False
        return self.groups.value(node, "g", of_event=of_event) is not None

    def at(
        self, place: str | None, code: Code, *, ring: bool | None = None, new: bool | None = None, values_of: str = "g"
    ) -> ScalarPrinter:
        """Return a printer for the event at a place: a row of the batch, or a position of the ring. Its group is ``g``; with ``ring`` given
        it is in none yet. None: there is no event, but the group's last one where ``kept_of_groups`` is not None. Aggregations are those of
        the group ``values_of``."""
        in_ring = self.window is not None if ring is None else ring

        def leaf(node: TypedExpression) -> ScalarText | None:
            if ring is None and self.key(node, of_event=new is None):
                assert self.groups is not None
                return self.groups.value(node, "g")
            if isinstance(node, StreamProperty):
                if place is None and self.kept_of_groups is not None:
                    return self._last_of_group(node)
                if place is None:
                    raise NotCompilable(f"the property '{node.name}' of an event that has gone by is not kept in columns")
                return self._property(node, place, in_ring)
            if isinstance(node, Aggregated):
                part = next((level for level, _ in self.parts if node.slot in level.slots), None)
                return self.accumulators[node.slot].value(values_of) if part is None else part.value(node.slot)
            if isinstance(node, IsInsertStream):
                return ScalarText(str(bool(new)))
            return None

        return self.printer(leaf, code)

    def printer(self, leaf: Leaf, code: Code) -> ScalarPrinter:
        """Return a printer of expressions whose values come from ``leaf``."""
        return ScalarPrinter(self.parameters, leaf, code, names=self.names)  # type: ignore[arg-type]


__all__ = ["SLIDING", "SelectEvents"]
