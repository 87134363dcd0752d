"""A match_recognize statement's plan → kernel source.

The kernel is the row tier's operator as arrays: rows that matches took are nodes of a pool, each with the node before it; a partition is a
slot of the group arrays. Two machines: where conditions read rows alone, all partial matches share layers (``pattern_layers``); where
they look at the rows of a match, each partial match has its own record (``partial_matches``). Row number n is the row with the id n - 1.
"""
from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from itertools import count

import numpy as np

from epl.plan.expressions import StreamProperty, TypedExpression
from epl.plan.patterns.match_recognize import Condition
from epl.plan.statements import SelectPlan
from epl.plan.streams import only_stream, stream_filter
from epl.value_types import Scalar
from runtime.batch.match_recognize.held_matches import REGISTERS as INTERVAL_REGISTERS
from runtime.batch.match_recognize.held_matches import pattern_interval
from runtime.batch.match_recognize.interval import HoldPrinter, IntervalPrinter
from runtime.batch.match_recognize.layout import AXES, DONE, NO_ROW, NODE, OUTPUT_FULL, PROGRAM, REGISTERS, RING_FULL, SCRATCH, MatchKernel
from runtime.batch.match_recognize.measures import MatchPrinter, MatchWriter, PatternColumn
from runtime.batch.match_recognize.partition_keys import KeyPrinter
from runtime.batch.match_recognize.windows import pattern_window
from runtime.batch.printing.expressions import ScalarPrinter, ScalarText, column_kind, element_text
from runtime.batch.printing.parameters import Parameters
from runtime.batch.printing.source_code import Code
from runtime.batch.runs.filter_conditions import filter_conditions
from runtime.batch.storage.arrays import GROUP, ArrayField
from runtime.batch.storage.kinds import DTYPES, TEXTS
from runtime.batch.storage.records import Records, pack, record_words


class MatchKernelPrinter:
    """Prints what both machines have in common: rows in, filter, window, key, history, matches out."""

    def __init__(self, plan: SelectPlan) -> None:
        assert plan.row_recognition is not None
        self.plan, self.pattern, self.stream = plan, plan.row_recognition, only_stream(plan.streams)
        self.filter = stream_filter(self.stream)
        self.steps = self.pattern.program.steps
        whole = not filter_conditions(self.filter)
        self.window = pattern_window(self.stream.windows[0], whole=whole) if self.stream.windows else None
        interval = pattern_interval(self.pattern)
        self.interval = None if interval is None else IntervalPrinter(interval, self)
        self.parameters = Parameters()
        self.inputs: dict[str, str] = {}
        self.retained: dict[str, None] = {}
        self.previous: dict[str, None] = {}
        self.names = count()
        self.key = KeyPrinter(self.pattern.partition_by, self.full)

    # ------------------------------------------------------------------ values

    def input(self, name: str, kind: str) -> int:
        self.inputs[name] = kind
        return list(self.inputs).index(name)

    def _text(self, node: StreamProperty, array: str, place: str, there: str | None) -> ScalarText:
        """Return the value at a place of an array and its mask; ``there``: whether there is such a row."""
        kind = column_kind(node.type)
        value = element_text(f"{array}[{place}]", kind)
        if kind in TEXTS:
            return ScalarText(value, f"({value} >= 0)" if there is None else f"({there} and {value} >= 0)")
        primitive = isinstance(node.type, Scalar) and node.type.primitive and self.is_primitive(node.name)
        mask = None if primitive else f"{array}v[{place}]"
        valid = mask if there is None else there if mask is None else f"({there} and {mask})"
        return ScalarText(value, valid)

    def is_primitive(self, name: str) -> bool:
        declared = self.stream.event_type.properties[name].type
        return isinstance(declared, Scalar) and declared.primitive

    def of_row(self, node: StreamProperty) -> ScalarText:
        return self._text(node, f"c{self.input(node.name, column_kind(node.type))}", "ru", None)

    def of_previous(self, node: StreamProperty, back: int) -> ScalarText:
        self.previous[node.name] = None
        kind = column_kind(node.type)
        array = f"h{back}_{self.input(node.name, kind)}"
        value = element_text(f"{array}[gu]", kind)
        return ScalarText(value, f"({value} >= 0)" if kind in TEXTS else f"{array}v[gu]")

    def of_node(self, node: StreamProperty, place: str, there: str | None) -> ScalarText:
        """Return the text of a row that a match took; ``there`` is None where the place is one for certain."""
        self.retained[node.name] = None
        return self._text(node, f"p{self.input(node.name, column_kind(node.type))}", place, there)

    def printer(self, leaf: object, code: Code) -> ScalarPrinter:
        return ScalarPrinter(self.parameters, leaf, code, names=self.names)  # type: ignore[arg-type]

    def row_leaf(self, node: TypedExpression) -> ScalarText | None:
        return self.of_row(node) if isinstance(node, StreamProperty) else None

    def condition_leaf(self, condition: Condition, node: TypedExpression) -> ScalarText | None:
        """Return the text of a condition that reads rows alone."""
        if not isinstance(node, StreamProperty):
            return None
        operand = condition.operands[node.stream]
        return self.of_row(node) if operand.kind == "current" else self.of_previous(node, operand.number)

    # ------------------------------------------------------------------ the function

    def kernel(self) -> MatchKernel:
        body = Code(2)
        matches = MatchPrinter(self)
        if self.interval is None:
            self._emit_at_once(body, matches)
        else:
            self._emit_later(body, matches, self.interval)
        self.retain(body)
        fields = self._all_fields()
        start, tail = Code(1), Code(1)
        if self.window is not None:
            start.add("mask = len(w_time) - 1", "length = size[0]")
        if self.interval is not None:
            self.interval.begin(start)
        start.add("out_capacity = len(o_cause)", "start = 0", "row = 0", "r = 0", "ru = np.uint64(0)", f"status = {DONE}", "while True:")
        words = record_words(fields, AXES)
        body_text = pack(f"{start.text()}{body.text()}", words)
        head = Code(1)
        self._unpack(head, tail, fields, [*matches.columns, *matches.order_keys], body_text)
        tail.add("return status")
        text = f"{head.text()}{body_text}{tail.text()}"
        source = f"def kernel(R, n, first, until, jump, causes, times, C, S, O, PI, PF, T, K):\n{text}"
        return MatchKernel(
            source, self.pattern, self.filter.event_type, tuple(self.inputs.items()), tuple(self.retained), tuple(self.previous),
            self.key.keys, tuple(fields), tuple(matches.columns), self.parameters, self.window,
            None if self.interval is None else self.interval.interval, self.has_partial_matches, self.slots,
            tuple(matches.order_keys), matches.finish,
        )

    def _emit_at_once(self, code: Code, matches: MatchPrinter) -> None:
        with code.block("if pending == 0"):
            self._next_row(code)
        code.add("gu = np.uint64(g)")
        self.emit(code, matches)
        self._check_capacity(code)
        self.discard_begun(code)

    @staticmethod
    def _check_capacity(code: Code) -> None:
        """Stop where the output has no space."""
        with code.block("if out > out_capacity"):
            code.add("wanted = out", "out = start", "pending = 1", f"status = {OUTPUT_FULL}", "break")
        code.add("pending = 0")
        with code.block("if out > start"):
            code.add("delta += 1")

    def _emit_later(self, code: Code, matches: MatchPrinter, interval: IntervalPrinter) -> None:
        with code.block("if pending == 0"):
            interval.fire(code, self._next_row)
        with code.block("if pending == 2"):
            code.add("gu = np.uint64(g)", "seen = 0", "stuck = 0")
            self.emit(code, HoldPrinter(interval))
            with code.block("if stuck != 0"):
                code.add("status = stuck", "break")
            code.add("kept = 0")
            self.discard_begun(code)
            interval.print_release(code, self.release)
            with code.block("if emitting == 0"):
                code.add("pending = 0", "continue")
            code.add("pending = 1")
        matches.node = interval.node
        interval.emit(code, matches)
        self._check_capacity(code)
        interval.release_emitted(code, self.release)

    has_partial_matches = False
    slots: tuple[int, ...] = ()

    def _unpack(self, head: Code, tail: Code, fields: Sequence[ArrayField], columns: Sequence[PatternColumn], body: str) -> None:
        """Names for what the body mentions, and no others: each costs time to compile. Registers are put back at the end."""
        used = set(re.findall(r"[A-Za-z_]\w*", body))

        def name(of: str, names: Sequence[str], *, back: bool = False) -> None:
            for place, each in enumerate(names):
                if each in used:
                    head.add(f"{each} = {of}[{place}]")
                    if back:
                        tail.add(f"{of}[{place}] = {each}")

        outputs = ["o_cause", "o_time", "o_delta", "o_timer"]
        for number, column in enumerate(columns):
            outputs += [f"o{number}"] if column.through is not None else [f"o{number}", f"o{number}v"]
        name("C", [f"c{n}{v}" for n in range(len(self.inputs)) for v in ("", "v")])
        name("S", Records.names(fields, AXES))
        name("O", outputs)
        name("R", REGISTERS.names, back=True)
        if self.interval is not None:
            head.add(f"i_registers = S[{Records.names(fields, AXES).index('i_registers')}]")
            name("i_registers", INTERVAL_REGISTERS.names, back=True)

    def _all_fields(self) -> list[ArrayField]:
        fields = [
            ArrayField("p_mark", np.int64, NODE), ArrayField("p_row", np.int64, NODE), ArrayField("then", np.int64, PROGRAM),
            ArrayField("q_step", np.int64, SCRATCH), *self.fields(),
        ]
        for name in self.retained:
            number, dtype = self._storage(name)
            fields += [ArrayField(f"p{number}", dtype, NODE), ArrayField(f"p{number}v", np.bool_, NODE)]
        for back in range(1, self.pattern.lookback + 1):
            fields.append(ArrayField(f"h{back}_row", np.int64, GROUP, NO_ROW))
            for name in self.previous:
                number, dtype = self._storage(name)
                fields += [ArrayField(f"h{back}_{number}", dtype, GROUP, -1), ArrayField(f"h{back}_{number}v", np.bool_, GROUP)]
        if self.window is not None:
            fields += self.window.fields(self.pattern.lookback)
        fields += self.key.fields()
        fields += self.interval.fields() if self.interval is not None else []
        return fields

    def _storage(self, name: str) -> tuple[int, object]:
        return list(self.inputs).index(name), DTYPES[self.inputs[name]]

    # ------------------------------------------------------------------ rows in

    def _next_row(self, code: Code) -> None:
        """Take the next row up to what matches end with it; ``continue`` where none does."""
        with code.block("if i >= n"):
            if self.window is not None:
                self.window.expire(code, "until")
            code.add("break")
        code.add("r = i", "ru = np.uint64(i)", "i += 1", "now = times[ru]")
        if self.window is not None:
            self.window.expire(code, "now")
        for condition in filter_conditions(self.filter):
            with code.block(f"if not {self.printer(self.row_leaf, code).test(condition)}"):
                code.add("continue")
        code.add("row = first + r")
        if self.window is not None:
            self.full(code, "tail - head > mask", RING_FULL)
        self.key.find(code, self.printer(self.row_leaf, code))
        code.add("gu = np.uint64(g)")
        self.reserve(code)
        if self.interval is not None:
            self.interval.reserve(code)
        if self.window is not None:
            self.window.take(code, self.printer(self.row_leaf, code), self.pattern.lookback)
        self.advance(code)

    def full(self, code: Code, test: str, status: int) -> None:
        """Stop in front of the row where there is no space."""
        with code.block(f"if {test}"):
            code.add("i = r", f"status = {status}", "break")

    def remember(self, code: Code) -> None:
        """Make the row the one before the next."""
        for back in range(self.pattern.lookback, 0, -1):
            for name in self.previous:
                number = list(self.inputs).index(name)
                for v in ("", "v"):
                    source = f"c{number}{v}[ru]" if back == 1 else f"h{back - 1}_{number}{v}[gu]"
                    code.add(f"h{back}_{number}{v}[gu] = {source}")
            code.add(f"h{back}_row[gu] = {'row' if back == 1 else f'h{back - 1}_row[gu]'}")

    def retain(self, code: Code) -> None:
        """Fill in, once all is printed, the lines that put values into nodes."""
        lines = []
        for name in self.retained:
            number = list(self.inputs).index(name)
            lines += [f"p{number}[node] = c{number}[ru]", f"p{number}v[node] = c{number}v[ru]"]
        self.replace(code, "RETAIN", lines)
        kept = [f"p{list(self.inputs).index(name)}{v}" for name in self.retained for v in ("", "v")]
        self.replace(code, "KEEP", [f"{name}[to] = {name}[at]" for name in kept])

    @staticmethod
    def replace(code: Code, word: str, lines: list[str]) -> None:
        """Put lines in the place of each line that is the word."""
        replaced: list[str] = []
        for line in code.lines:
            indent = line[: len(line) - len(line.lstrip())]
            replaced += [f"{indent}{each}" for each in lines] if line.strip() == word else [line]
        code.lines[:] = replaced

    # ------------------------------------------------------------------ what a machine prints

    @abstractmethod
    def fields(self) -> list[ArrayField]:
        """Return its arrays."""

    @abstractmethod
    def reserve(self, code: Code) -> None:
        """Stop in front of the row where there is no space for what it may add."""

    @abstractmethod
    def advance(self, code: Code) -> None:
        """Offer the row to the partial matches of the partition ``g``; ``continue`` where none ends."""

    @abstractmethod
    def emit(self, code: Code, matches: MatchWriter) -> None:
        """Emit the matches that end with the row, from ``out`` (and ``start``) on; changes nothing else, so that it may run again."""

    @abstractmethod
    def release(self, code: Code, node: str) -> None:
        """Release a path that was held."""

    @abstractmethod
    def discard_begun(self, code: Code) -> None:
        """Do what the skip clause says of the partial matches."""


__all__ = ["MatchKernelPrinter"]
