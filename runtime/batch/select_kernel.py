"""A select statement's plan → kernel source, and the description of what the kernel takes, keeps and gives."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count

import attrs
import numpy as np

from epl.event_types import EventType
from epl.plan.expressions import Aggregated, Equality, IsInsertStream, Logic, StreamProperty, TypedExpression
from epl.plan.result_set import Shape
from epl.plan.statements import FilterPlan, SelectPlan
from epl.value_types import BOXED_BOOLEAN, Scalar
from runtime.batch.accumulators import Accumulator, accumulator
from runtime.batch.arrays import RING, Field
from runtime.batch.code import Code
from runtime.batch.groups import REGISTERS, GroupKeys
from runtime.batch.refusals import NotCompilable
from runtime.batch.scalars import DTYPES, TEXTS, Parameters, ScalarPrinter, Text, kind_of, stored
from runtime.batch.windows import Window, window_of

SHAPES = ("un-aggregated", "fully aggregated", "aggregated", "grouped fully aggregated", "grouped aggregated")


@attrs.frozen
class OutputColumn:
    """One column: ``through`` names the event's property that is fetched by row; else ``kind`` is that of the computed values, with a
    mask of its own if ``nullable`` (strings have their code)."""

    name: str
    kind: str
    through: str | None = None
    nullable: bool = False


@attrs.frozen
class SelectKernel:
    """What the host needs to know: the source; ``inputs`` property → kind of the columns it reads; ``fields`` of its state;
    ``columns`` of its output; ``streams``: whether it gives insert and remove stream, the first where it gives one; ``parameters``;
    ``window``; ``accumulators``; ``event_type`` of the stream; ``shape`` of the result set; ``groups``, None for a single one."""

    source: str
    inputs: tuple[tuple[str, str], ...]
    fields: tuple[Field, ...]
    columns: tuple[OutputColumn, ...]
    streams: tuple[bool, ...]
    parameters: Parameters
    window: Window | None
    accumulators: tuple[Accumulator, ...]
    event_type: EventType
    shape: Shape
    groups: GroupKeys | None = None


def select_kernel(plan: SelectPlan) -> SelectKernel:
    """The kernel of a statement; raises NotCompilable saying why there is none."""
    return _SelectPrinter(plan).kernel()


def filter_conditions(plan: FilterPlan) -> tuple[TypedExpression, ...]:
    """All conditions, the indexed one written out again."""
    if plan.key is None:
        return plan.conditions
    prop = plan.event_type.properties[plan.key.property]
    column = StreamProperty(stream=0, name=prop.name, type=prop.type)
    tests: tuple[TypedExpression, ...] = tuple(Equality(left=column, right=v, type=BOXED_BOOLEAN) for v in plan.key.values)
    keyed = tests[0] if len(tests) == 1 else Logic(operator="or", operands=tests, type=BOXED_BOOLEAN)
    return (keyed, *plan.conditions)


class _SelectPrinter:
    def __init__(self, plan: SelectPlan) -> None:
        _check(plan)
        rows = plan.result_set
        assert rows is not None
        self.plan, self.rows, self.stream = plan, rows, plan.streams[0]
        self.window: Window | None = window_of(self.stream.windows[0]) if self.stream.windows else None
        self.parameters = Parameters()
        self.inputs: dict[str, str] = {}
        self.retained: dict[str, str] = {}
        self.names = count()
        self.wants_new = rows.raw or rows.selector != "rstream"
        self.wants_old = rows.raw or rows.selector != "istream"
        self.swaps = rows.selector == "rstream" and not rows.raw
        self.accumulators = [accumulator(p, n, self.window) for n, p in enumerate(rows.aggregations)]
        self.columns: list[OutputColumn] = []
        self.groups = self._groups()

    def _groups(self) -> GroupKeys | None:
        if not self.rows.group_by:
            return None
        by_group = self.rows.shape == "grouped fully aggregated"
        return GroupKeys(self.rows.group_by, self.window is not None, by_group and self.window is not None)

    # ------------------------------------------------------------------ expressions

    def _property(self, node: StreamProperty, place: str, ring: bool) -> Text:
        kind = kind_of(node.type)
        if ring:
            self.retained[node.name] = kind
        self.inputs[node.name] = kind
        column = f"{'w' if ring else 'c'}{_number(self.inputs, node.name)}"
        value = stored(f"{column}[{place} & mask]" if ring else f"{column}[{place}]", kind)
        if kind in TEXTS:
            return Text(value, f"({value} >= 0)")
        mask = f"{column}v[{place} & mask]" if ring else f"{column}v[{place}]"
        primitive = isinstance(node.type, Scalar) and node.type.primitive
        return Text(value, None if primitive else mask)

    def at(self, place: str, code: Code, *, ring: bool | None = None, group: str = "g", new: bool | None = None) -> ScalarPrinter:
        """A printer for the event at a place: a row of the batch, or a position of the ring."""
        in_ring = self.window is not None if ring is None else ring

        def leaf(node: TypedExpression) -> Text | None:
            if in_ring and self.groups is not None:
                key = self.groups.value(node, group)
                if key is not None:
                    return key
            if isinstance(node, StreamProperty):
                return self._property(node, place, in_ring)
            if isinstance(node, Aggregated):
                return self.accumulators[node.slot].value(group)
            if isinstance(node, IsInsertStream):
                return Text(str(bool(new)))
            return None

        return ScalarPrinter(self.parameters, leaf, code, names=self.names)  # type: ignore[arg-type]

    # ------------------------------------------------------------------ the function

    def kernel(self) -> SelectKernel:
        body = Code(2)
        with body.block("if pending == 0"):
            body.add("na = 0", "nb = 0", "oa = 0", "ob = 0")
            if self.window is None:
                self._next_row(body)
            else:
                self.window.advance(body, self._take, partial(self.at, "r", ring=False))
        body.add("need = out + 2 * (nb - na + ob - oa) + 2")
        with body.block("if need > room"):
            body.add("pending = 1", "status = 1", "break")
        if self.groups is not None and self.window is None:
            with body.block(f"if {self.groups.full()}"):
                body.add("pending = 1", "status = 3", "break")
        body.add("pending = 0", "delta += 1")
        self._deliver(body)
        fields = self._fields()
        head, tail = Code(1), Code(1)
        self._unpack(head, fields)
        registers = ("i", "out", "pending", "na", "nb", "oa", "ob", "head", "tail", "now", "timer", "delta", "room", "need")
        head.add(*(f"{name} = R[{n}]{' != 0' if name == 'timer' else ''}" for n, name in enumerate(registers)), "status = 0")
        head.add("while True:")
        tail.add(*(f"R[{n}] = {name}" for n, name in enumerate(registers)))
        if self.groups is not None:
            tail.add(*(f"g_registers[{n}] = {name}" for n, name in enumerate(REGISTERS)))
        tail.add("return status")
        source = f"def kernel(R, n, first, until, jump, causes, times, C, S, O, PI, PF, T, K):\n{head.text()}{body.text()}{tail.text()}"
        return SelectKernel(
            source, tuple(self.inputs.items()), tuple(fields), tuple(self.columns), self._streams(), self.parameters, self.window,
            tuple(self.accumulators), self.stream.filter.event_type, self.rows.shape, self.groups,
        )

    def _unpack(self, code: Code, fields: list[Field]) -> None:
        names = [f"c{n}{v}" for n in range(len(self.inputs)) for v in ("", "v")]
        if names:
            code.add(f"{', '.join(names)}, = C")
        if fields:
            code.add(f"{', '.join(f.name for f in fields)}, = S")
        if self.window is not None:
            code.add("mask = len(w_row) - 1")
        if self.groups is not None:
            code.add(*(f"{name} = g_registers[{n}]" for n, name in enumerate(REGISTERS)))
        outputs = ["o_flag", "o_row", "o_cause", "o_timer", "o_time", "o_delta"]
        for number, column in enumerate(self.columns):
            if column.through is None:
                outputs += [f"o{number}", f"o{number}v"]
        code.add(f"{', '.join(outputs)}, = O")

    def _streams(self) -> tuple[bool, ...]:
        old = self.wants_old and (self.window is not None or self.rows.shape in ("fully aggregated", "grouped fully aggregated"))
        return (*((True is not self.swaps,) if self.wants_new else ()), *((False is not self.swaps,) if old else ()))

    def _fields(self) -> list[Field]:
        fields = [] if self.window is None else [Field("w_row", np.int64, RING), *self.window.fields()]
        for name, kind in self.retained.items():
            number = _number(self.inputs, name)
            fields += [Field(f"w{number}", DTYPES[kind], RING), Field(f"w{number}v", np.bool_, RING)]
        for each in self.accumulators:
            fields += each.fields()
        return fields if self.groups is None else [*fields, *self.groups.fields()]

    # ------------------------------------------------------------------ rows in

    def _passes(self, code: Code) -> None:
        """The row at ``i`` goes no further if a condition is not true."""
        conditions = filter_conditions(self.stream.filter)
        if self.window is None and self.plan.where is not None:
            conditions = (*conditions, self.plan.where)
        code.add("r = i", "i += 1")
        for condition in conditions:
            with code.block(f"if not {self.at('r', code, ring=False).test(condition)}"):
                code.add("continue")

    def _next_row(self, code: Code) -> None:
        with code.block("if i >= n"):
            code.add("break")
        code.add("now = times[i]")
        self._passes(code)
        code.add("na = r", "nb = r + 1")

    def _take(self, code: Code) -> None:
        if self.groups is not None:
            with code.block(f"if {self.groups.full()}"):
                code.add("status = 3", "break")
        self._passes(code)
        if self.groups is not None:
            self.groups.take(code, self.at("r", code, ring=False))
        code.add("na = tail", "nb = tail + 1", "tail += 1", "w_row[na & mask] = first + r", "oa = head", "ob = head", "RETAIN")

    # ------------------------------------------------------------------ deltas out

    def _deliver(self, code: Code) -> None:
        if self.groups is None:
            if self.accumulators:
                code.add("g = 0")
        elif self.window is None:
            self.groups.find(code, self.at("na", code, ring=False))
        if self.rows.shape == "fully aggregated":
            self._row_per_delta(code)
        elif self.rows.shape == "grouped fully aggregated":
            self._row_per_group(code)
        else:
            self._row_per_event(code)
        self._retain(code)

    def _row_per_delta(self, code: Code) -> None:
        if self.wants_old:
            self._emit(code, None, False)
        self._apply(code)
        if self.wants_new:
            self._emit(code, None, True)

    def _row_per_event(self, code: Code) -> None:
        self._apply(code)
        for wanted, low, high, new in ((self.wants_old, "oa", "ob", False), (self.wants_new, "na", "nb", True)):
            if wanted and (new or self.window is not None):
                with self._events(code, low, high):
                    self._emit(code, "q", new)

    def _row_per_group(self, code: Code) -> None:
        assert self.groups is not None
        if self.window is not None:
            self.groups.touched(code, pairwise=not self.wants_old)
        if self.wants_old:
            with self._touched(code):
                self._emit(code, "q", False)
        self._apply(code)
        if self.wants_new:
            with self._touched(code):
                self._emit(code, "q", True)

    @contextmanager
    def _events(self, code: Code, low: str, high: str) -> Iterator[None]:
        """For each event of the delta: ``q`` its place, ``g`` its group's slot. Without a window there is the one at ``na``."""
        if self.window is None:
            code.add("q = na")
            yield
            return
        with code.block(f"for q in range({low}, {high})"):
            if self.groups is not None:
                code.add("g = np.int64(w_g[q & mask])")
            yield

    @contextmanager
    def _touched(self, code: Code) -> Iterator[None]:
        """For each group that the delta touches: ``g`` its slot, ``q`` the place of its event."""
        if self.window is None:
            code.add("q = na")
            yield
            return
        with code.block("for t in range(nt)"):
            code.add("g = g_touched[t]", "q = g_last[g]")
            yield

    def _apply(self, code: Code) -> None:
        if self.groups is not None and self.window is not None:
            self.groups.drop_empty(code, self.accumulators)
        for low, high, step in (("na", "nb", "enter"), ("oa", "ob", "leave")):
            if not (self.accumulators or self.groups) or (step == "leave" and self.window is None):
                continue
            with self._events(code, low, high):
                if self.groups is not None:
                    (self.groups.entered if step == "enter" else self.groups.left)(code)
                for each in self.accumulators:
                    getattr(each, step)(code, self.at, "q")

    def _emit(self, code: Code, place: str | None, new: bool) -> None:
        """A row of the insert (``new``) or remove stream, if having lets it."""
        printer = self.at(place or "0", code, new=new)
        if self.rows.having is not None:
            with code.block(f"if {printer.test(self.rows.having)}"):
                self._row(code, printer, place, new)
        else:
            self._row(code, printer, place, new)

    def _row(self, code: Code, printer: ScalarPrinter, place: str | None, new: bool) -> None:
        row = "-1" if place is None else f"w_row[{place} & mask]" if self.window is not None else f"first + {place}"
        if len(self._streams()) > 1:
            code.add(f"o_flag[out] = {new is not self.swaps}")
        with code.block("if causes"):
            code.add("o_cause[out] = i - 1", "o_timer[out] = timer", "o_time[out] = now", "o_delta[out] = delta")
        columns: list[OutputColumn] = []
        for number, (prop, node) in enumerate(self._outputs()):
            key = self.groups is not None and self.window is not None and self.groups.value(node, "g") is not None
            through = node.name if isinstance(node, StreamProperty) and not key else None
            kind = "" if through is not None else kind_of(node.type)
            if through is not None:
                columns.append(OutputColumn(prop, kind, through))
                continue
            text = printer.value(node)
            nullable = text.valid is not None and kind not in TEXTS
            columns.append(OutputColumn(prop, kind, None, nullable))
            code.add(f"o{number}[out] = {text.value}")
            if nullable:
                code.add(f"o{number}v[out] = {text.valid}")
        if any(column.through for column in columns):
            code.add(f"o_row[out] = {row}")
        self.columns = columns
        code.add("out += 1")

    def _outputs(self) -> list[tuple[str, TypedExpression]]:
        if self.rows.forward is not None:
            properties = self.stream.event_type.properties.values()
            return [(p.name, StreamProperty(stream=0, name=p.name, type=p.type)) for p in properties]
        return list(zip(self.rows.output_type.names, self.rows.columns, strict=True))

    def _retain(self, code: Code) -> None:
        """What later deltas read of the event is known only now: put it where the event is taken in."""
        lines = []
        for name in self.retained:
            number = _number(self.inputs, name)
            lines += [f"w{number}[na & mask] = c{number}[r]", f"w{number}v[na & mask] = c{number}v[r]"]
        found: list[str] = []
        for line in code.lines:
            indent = line[: len(line) - len(line.lstrip())]
            found += [f"{indent}{each}" for each in lines] if line.strip() == "RETAIN" else [line]
        code.lines[:] = found


def _number(known: dict[str, str], name: str) -> int:
    return list(known).index(name)


def _check(plan: SelectPlan) -> None:
    """Refuse what no part of the kernel looks at."""
    rows, stream = plan.result_set, plan.streams[0]
    reasons: list[tuple[bool, str]] = [
        (rows is None or len(plan.streams) != 1, "more than one stream"),
        (plan.row_recognition is not None, "match_recognize"),
        (plan.insert is not None, "insert into"),
        (plan.delivery is not None, "grouped delivery"),
        (stream.contained is not None, "contained events"),
        (bool(stream.priors), "prior"),
        (len(stream.windows) > 1 or stream.retain is not None, "several windows"),
        (plan.where is not None and bool(stream.windows), "where behind a window"),
        (stream.filter.event_type.kind == "variant", "a variant stream"),
    ]
    if rows is not None:
        reasons += [
            (rows.shape not in SHAPES, f"the shape {rows.shape}"),
            (rows.distinct or bool(rows.order_by) or rows.limit is not None, "distinct, order by or limit"),
            (rows.output is not None, "an output clause"),
            (rows.iterable_unbound or rows.reclaim is not None, "@IterableUnbound or reclaimed groups"),
        ]
    for found, reason in reasons:
        if found:
            raise NotCompilable(f"{reason} is not computed in columns")


__all__ = ["OutputColumn", "SelectKernel", "filter_conditions", "select_kernel"]
