"""Measures of a match as lines: which of its rows they read, what they aggregate, and the columns they become."""
from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import attrs

from epl.event_types import EventOf
from epl.plan.expressions import Constant, Element, Invoke, PropertyOf, StreamProperty, TypedExpression
from epl.plan.patterns.match_recognize import GroupAggregation, RowRecognitionPlan
from epl.plan.statements import SelectPlan
from epl.value_types import Scalar
from runtime.batch.printing.expressions import ScalarPrinter, ScalarText, both, column_kind, sign_of_zero
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.runs.order_and_limit import plan_finish
from runtime.batch.storage.kinds import DTYPES, INTEGERS, TEXTS


@attrs.frozen
class PatternColumn:
    """One column of the output: ``through`` names the property that is fetched by the row's id; else ``kind`` is that of the values."""

    name: str
    kind: str
    through: str | None = None


class MatchWriter(Protocol):
    """Prints what is done with a match; ``node``: the text of row q's node."""

    node: str

    def write(self, code: Code, next_step: Callable[[], None] | None = None) -> None: ...


class Owner(Protocol):
    """What prints the kernel around."""

    plan: SelectPlan
    pattern: RowRecognitionPlan
    def of_node(self, node: StreamProperty, place: str, there: str | None) -> ScalarText: ...

    def printer(self, leaf: object, code: Code) -> ScalarPrinter: ...


class MatchPrinter:
    """Prints a row of the output for the match whose steps are in ``q_step``, from 0 to ``m`` - 1, if having lets it through; ``node``: the
    text of row q's node."""

    def __init__(self, owner: Owner) -> None:
        self.owner = owner
        self.pattern = owner.pattern
        self.node = "q_node[q]"
        self.columns: list[PatternColumn] = []
        self.order_keys: list[PatternColumn] = []
        self._rows = rows = owner.plan.result_set
        self.finish = plan_finish(rows)
        self._last: dict[int, None] = {}
        self._first: dict[int, None] = {}
        self._counts: dict[int, None] = {}
        self._places: dict[tuple[int, int], None] = {}
        self._groups: list[GroupValue] = []

    # ------------------------------------------------------------------ printing

    def write(self, code: Code, next_step: Callable[[], None] | None = None) -> None:
        """Write the match's row, if there is space; ``out`` counts it in any case, without space also what having drops. ``next_step``:
        prints the way from ``step`` to that of row q; else the steps are in ``q_step``."""
        values, sums = Code(0), Code(0)
        self._write_columns(values)
        having = self._rows.having
        test = "True" if having is None else self._by_name(values).test(having)
        nodes = self._aggregates(sums)
        code.add(*(f"l{v} = -1" for v in self._last), *(f"f{v} = -1" for v in self._first), *(f"n{v} = 0" for v in self._counts))
        code.add(*(f"e{v}_{k} = -1" for v, k in self._places), *nodes)
        with code.block("if out < out_capacity"):
            later = [g for g in self._groups if g.looks_around]
            with code.block("for q in range(m)"):
                print_step(code, next_step)
                if next_step is not None and later:
                    code.add("q_step[q] = step")
                code.add(f"at = {self.node}")
                self._collect(code)
                self._sum_up(code, [g for g in self._groups if not g.looks_around])
            if later:
                with code.block("for q in range(m)"):
                    code.add(f"at = {self.node}", "step = q_step[q]")
                    self._sum_up(code, later)
            with code.block("if causes"):
                code.add("o_cause[out] = i - 1", "o_time[out] = now", "o_delta[out] = delta")
                if self.pattern.interval is not None:
                    code.add("o_timer[out] = timing != 0")
            code.extend(values.lines)
            with code.block(f"if {test}"):
                code.add("out += 1")
        with code.block("else"):
            code.add("out += 1")

    def _of_variable(self, variable: int) -> str:
        steps = [n for n, s in enumerate(self.pattern.program.steps) if s.variable == variable]
        return " or ".join(f"step == {n}" for n in steps)

    def _collect(self, code: Code) -> None:
        """Collect which node is which: last and first row of a variable, those of an index, how many."""
        places: dict[int, list[int]] = {}
        for variable, place in self._places:
            places.setdefault(variable, []).append(place)
        for variable in sorted({*self._last, *self._first, *self._counts, *places}):
            with code.block(f"if {self._of_variable(variable)}"):
                if variable in self._last:
                    code.add(f"l{variable} = at")
                if variable in self._first:
                    with code.block(f"if f{variable} < 0"):
                        code.add(f"f{variable} = at")
                for place in places.get(variable, ()):
                    with code.block(f"if n{variable} == {place}"):
                        code.add(f"e{variable}_{place} = at")
                if variable in self._counts:
                    code.add(f"n{variable} += 1")

    def _aggregates(self, code: Code) -> list[str]:
        """Print each once, so that all nodes they read are known; the lines that make them empty."""
        lines: list[str] = []
        for group in self._groups:
            lines += group.start()
            group.enter(code, self._row_printer(group.variable, code))
        return lines

    def _sum_up(self, code: Code, groups: list[GroupValue]) -> None:
        for group in groups:
            with code.block(f"if {self._of_variable(group.variable)}"):
                group.enter(code, self._row_printer(group.variable, code))

    def _row_printer(self, variable: int, code: Code) -> ScalarPrinter:
        """Expressions of an aggregation: a stream a variable, ``variable`` is the row at ``at``."""
        def leaf(node: TypedExpression) -> ScalarText | None:
            if not isinstance(node, StreamProperty):
                return None
            if node.stream == variable:
                return self.owner.of_node(node, "at", None)
            self._last[node.stream] = None
            return self.owner.of_node(node, f"l{node.stream}", f"(l{node.stream} >= 0)")

        return self.owner.printer(leaf, code)

    # ------------------------------------------------------------------ columns

    def _write_columns(self, code: Code) -> None:
        printer = self.owner.printer(self._leaf, code)
        self.columns.clear()
        for number, (name, node) in enumerate(self._outputs()):
            source = self._node_property(node)
            if source is not None and not self._is_computed(node):
                place, prop = source
                self.columns.append(PatternColumn(name, "", prop))
                code.add(f"o{number}[out] = p_row[{place}] if {place} >= 0 else {-(2**62)}")
                continue
            self.columns.append(PatternColumn(name, column_kind(node.type)))
            text = printer.value(node)
            self._put(code, number, text, column_kind(node.type))
        self._write_keys(code)

    @staticmethod
    def _put(code: Code, number: int, text: ScalarText, kind: str) -> None:
        """Print a value into the output; the code of no string is -1."""
        value = f"({text.value} if {text.valid} else np.int64(-1))" if kind in TEXTS and text.valid is not None else text.value
        code.add(f"o{number}[out] = {value}", f"o{number}v[out] = {text.valid or 'True'}")

    def _is_computed(self, node: TypedExpression) -> bool:
        """Return whether a property's value is emitted, and not its row, of which it is fetched: strings are where rows are compared."""
        known = isinstance(node.type, Scalar) and node.type.kind in DTYPES
        distinct = self.finish is not None and self.finish.distinct
        if distinct and not known:
            raise NotCompilable(f"distinct rows with values of type {node.type}")
        return known and (distinct or column_kind(node.type) not in TEXTS)

    def _write_keys(self, code: Code) -> None:
        """Print what rows of one call are ordered by, as columns after the others; they read measures by name."""
        self.order_keys.clear()
        for number, node in enumerate(() if self.finish is None else self.finish.keys, len(self.columns)):
            self.order_keys.append(PatternColumn("", column_kind(node.type)))
            text = self._by_name(code).value(node)
            self._put(code, number, text, column_kind(node.type))

    def _by_name(self, code: Code) -> ScalarPrinter:
        """Prints expressions over the row of measures."""
        measures = dict(zip(self.pattern.output_type.names, self.pattern.measures))

        def leaf(node: TypedExpression) -> ScalarText | None:
            if isinstance(node, StreamProperty):
                return self.owner.printer(self._measure_leaf, code).value(measures[node.name])
            return None

        return self.owner.printer(leaf, code)

    def _outputs(self) -> list[tuple[str, TypedExpression]]:
        rows = self.owner.plan.result_set
        names = rows.output_type.names
        if rows.forward is not None:
            return list(zip(names, self.pattern.measures, strict=True))
        return [(n, self._measure(c) or c) for n, c in zip(names, rows.columns, strict=True)]

    def _measure(self, node: TypedExpression) -> TypedExpression | None:
        """Return a column that is a measure as it is."""
        if self.owner.plan.result_set.forward is None and isinstance(node, StreamProperty):
            return dict(zip(self.pattern.output_type.names, self.pattern.measures)).get(node.name)
        return None

    def _leaf(self, node: TypedExpression) -> ScalarText | None:
        measure = self._measure(node)
        if measure is not None:
            return self.owner.printer(self._measure_leaf, Code()).value(measure)
        return self._measure_leaf(node)

    def _measure_leaf(self, node: TypedExpression) -> ScalarText | None:
        source = self._node_property(node)
        if source is not None:
            place, prop = source
            return self.owner.of_node(StreamProperty(stream=0, name=prop, type=node.type), place, f"({place} >= 0)")
        if isinstance(node, StreamProperty):
            return self._print_aggregation(node)
        if isinstance(node, Invoke) and node.function == "enum.countOf" and len(node.arguments) == 1:
            variable = self._group_variable(node.arguments[0])
            if variable is not None:
                self._counts[variable] = None
                return ScalarText(f"np.int64(n{variable})", f"(n{variable} > 0)")
        return None

    def _print_aggregation(self, node: StreamProperty) -> ScalarText:
        """Return an aggregation, which the match has as a property."""
        if node.name in self.pattern.variables:
            raise NotCompilable("whole events of a match are not computed in columns")
        slot = self.pattern.match_type.names.index(node.name) - len(self.pattern.variables)
        known = {g.slot: g for g in self._groups}
        if slot not in known:
            known[slot] = group_value(slot, self.pattern.aggregations[slot])
            self._groups.append(known[slot])
        return known[slot].value()

    def _group_variable(self, node: TypedExpression) -> int | None:
        """Return the group variable whose rows the expression is."""
        if isinstance(node, StreamProperty) and node.name in self.pattern.variables:
            variable = self.pattern.variables.index(node.name)
            return variable if self.pattern.groups[variable] else None
        return None

    def _node_property(self, node: TypedExpression) -> tuple[str, str] | None:
        """(node's name, property) of a property of one of the match's rows."""
        if not isinstance(node, PropertyOf) or not isinstance(node.operand.type, EventOf):
            return None
        of = node.operand
        if isinstance(of, StreamProperty) and of.name in self.pattern.variables:
            variable = self.pattern.variables.index(of.name)
            self._last[variable] = None
            return f"l{variable}", node.name
        if isinstance(of, Element) and isinstance(of.index, Constant) and isinstance(of.index.value, int) and of.index.value >= 0:
            group = self._group_variable(of.operand)
            if group is not None:
                self._counts[group] = self._places[group, of.index.value] = None
                return f"e{group}_{of.index.value}", node.name
        if isinstance(of, Invoke) and of.function in ("enum.lastOf", "enum.firstOf") and len(of.arguments) == 1:
            group = self._group_variable(of.arguments[0])
            if group is not None:
                newest = of.function == "enum.lastOf"
                (self._last if newest else self._first)[group] = None
                return f"{'l' if newest else 'f'}{group}", node.name
        return None


# ------------------------------------------------------------------ aggregations


def print_step(code: Code, next_step: Callable[[], None] | None) -> None:
    """Print ``step`` of the row ``q`` of a match: found from row to row, or written down already."""
    if next_step is None:
        code.add("step = q_step[q]")
    else:
        with code.block("if q > 0"):
            next_step()


@attrs.define
class GroupValue:
    """One aggregation over the rows of a variable; its names begin with ``a`` and the slot."""

    slot: int
    aggregation: GroupAggregation

    @property
    def variable(self) -> int:
        return self.aggregation.variable

    @property
    def name(self) -> str:
        return f"a{self.slot}"

    @property
    def kind(self) -> str:
        return column_kind(self.aggregation.plan.arguments[0].type)

    @property
    def looks_around(self) -> bool:
        """Whether it reads the last rows of other variables, which are known after the match only."""
        plan = self.aggregation.plan
        expressions = [*plan.arguments, *([plan.filter] if plan.filter is not None else [])]
        return any(isinstance(n, StreamProperty) and n.stream != self.variable for e in expressions for n in e.walk())

    def zero(self) -> str:
        return {"double": "0.0", "float": "np.float32(0)", "boolean": "False"}.get(self.kind, "np.int64(0)")

    def start(self) -> list[str]:
        return [f"{self.name} = {self.zero()}", f"{self.name}n = 0"]

    def enter(self, code: Code, printer: ScalarPrinter) -> None:
        """Enter the row, if it is not filtered out and its argument is there."""
        plan = self.aggregation.plan
        text = printer.keep(printer.value(plan.arguments[0])) if plan.arguments else ScalarText("0")
        test = None if plan.filter is None else printer.test(plan.filter)
        with code.block(f"if {both(test, text.valid) or 'True'}"):
            self.step(code, text.value)

    def step(self, code: Code, value: str) -> None:
        """Count."""
        code.add(f"{self.name}n += 1")

    def value(self) -> ScalarText:
        return ScalarText(f"np.int64({self.name}n)")


class SumValue(GroupValue):
    def step(self, code: Code, value: str) -> None:
        total = f"long_add({self.name}, {value})" if self.kind == "long" else f"{self.name} + {value}"
        if self.kind == "float":
            total = f"np.float32({total})"
        code.add(f"{self.name} = {f'wrap_int({total})' if self.kind in ('byte', 'short', 'int') else total}", f"{self.name}n += 1")

    def value(self) -> ScalarText:
        return ScalarText(self.name, f"({self.name}n > 0)")


class AverageValue(SumValue):
    def value(self) -> ScalarText:
        return ScalarText(f"(np.float64({self.name}) / np.float64({self.name}n))", f"({self.name}n > 0)")


class ExtremeValue(GroupValue):
    """NaN is greater than every number, -0.0 less than 0.0."""

    def step(self, code: Code, value: str) -> None:
        name, largest = self.name, self.aggregation.plan.function in ("max", "maxever")
        test = f"{value} {'>' if largest else '<'} {name}"
        if self.kind in ("float", "double"):
            nan = f"{value} != {value}" if largest else f"{name} != {name}"
            test = f"({test} or {nan} or {sign_of_zero(self.kind, value, name, '>' if largest else '<')})"
        with code.block(f"if {name}n == 0 or {test}"):
            code.add(f"{name} = {value}", f"{name}n = 1")

    def value(self) -> ScalarText:
        return ScalarText(self.name, f"({self.name}n > 0)")


class FirstValue(ExtremeValue):
    """The first value that is not null."""

    def step(self, code: Code, value: str) -> None:
        with code.block(f"if {self.name}n == 0"):
            code.add(f"{self.name} = {value}", f"{self.name}n = 1")


class LastValue(ExtremeValue):
    """The last value that is not null."""

    def step(self, code: Code, value: str) -> None:
        code.add(f"{self.name} = {value}", f"{self.name}n = 1")


NUMERIC: dict[str, type[GroupValue]] = {
    "sum": SumValue, "avg": AverageValue, "min": ExtremeValue, "max": ExtremeValue, "minever": ExtremeValue, "maxever": ExtremeValue,
}
ANY: dict[str, type[GroupValue]] = {"count": GroupValue, "firstever": FirstValue, "lastever": LastValue}


def group_value(slot: int, aggregation: GroupAggregation) -> GroupValue:
    """Return the lines of one aggregation; raise NotCompilable."""
    plan = aggregation.plan
    if plan.distinct or plan.group_by is not None or plan.constants:
        raise NotCompilable(f"{plan.function} with distinct, group_by or parameters")
    if plan.function in ANY:
        return ANY[plan.function](slot, aggregation)
    if plan.function not in NUMERIC:
        raise NotCompilable(f"the aggregation {plan.function} is not computed in columns")
    value = NUMERIC[plan.function](slot, aggregation)
    if value.kind not in (*INTEGERS, "float", "double"):
        raise NotCompilable(f"{plan.function} of {value.kind}")
    return value


__all__ = ["GroupValue", "MatchPrinter", "MatchWriter", "PatternColumn", "print_step"]
