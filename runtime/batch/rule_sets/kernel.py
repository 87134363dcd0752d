"""Statements that differ in constants only → one kernel for all of them, with their constants in arrays."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import attrs
import pyarrow as pa

from epl.event_types import EventType
from epl.plan.expressions import Aggregated, Constant, IsInsertStream, StreamProperty, TypedExpression
from epl.plan.statements import BodyPlan, SelectPlan
from epl.plan.streams import FilterPlan, only_stream, stream_filter
from epl.value_types import Scalar
from runtime.batch import contracts
from runtime.batch.accumulators import AccumulatorPrinter, accumulator
from runtime.batch.printing.expressions import ScalarPrinter, ScalarText, column_kind, element_text
from runtime.batch.printing.parameters import MOST_CONSTANTS, Parameters, Presence
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import NotCompilable, not_in_rule_set
from runtime.batch.result_set.shapes import OutputColumn
from runtime.batch.rule_sets.routes import Route, choose_route
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.arrays import GROUP, ArrayField
from runtime.batch.storage.kinds import TEXTS
from runtime.batch.storage.registers import Registers
from runtime.conversion.arrow import arrow_schema

REGISTERS = Registers("i", "out")
"""The next row of the batch, and how many matches are in the output."""


class RuleParameters(Parameters):
    """A parameter has one value a statement: ``PI[place, s]``. Equal constants have a place each: in the next statement they differ."""

    def integer(self, node: TypedExpression) -> str:
        return f"PI[{_place(self.integers, node)}, s]"

    def floating(self, node: TypedExpression) -> str:
        return f"PF[{_place(self.floats, node)}, s]"


def _place(known: list[TypedExpression], node: TypedExpression) -> int:
    """Return the node's place, at the end if it is new; ``Presence`` is made again each time."""
    for place, other in enumerate(known):
        if other is node or (isinstance(node, Presence) and isinstance(other, Presence) and other.node is node.node):
            return place
    if len(known) == MOST_CONSTANTS:
        raise NotCompilable(f"more than {MOST_CONSTANTS} constants")
    known.append(node)
    return len(known) - 1


@attrs.frozen
class RuleShape:
    """What statements of one rule set have in common.

    ``matches`` (kernel source): pairs of statement and row, in order of the rows. ``computes``: the computed columns of such pairs, None
    without any and where ``matches`` gives them. ``inputs``: property → kind of the columns read; ``tables``: functions of one string, the
    same for all statements. ``fields``: what statements that aggregate keep, with the statement as the group: those give the computed
    columns as they go.
    """

    event_type: EventType
    matches: str
    computes: str | None
    inputs: tuple[tuple[str, str], ...]
    columns: tuple[OutputColumn, ...]
    schema: pa.Schema
    tables: tuple[tuple[TypedExpression, str], ...] = attrs.field(eq=repr)
    ranked: bool
    route: Route
    fields: tuple[ArrayField, ...] = ()


@attrs.frozen(eq=False)
class SharedRule:
    """One statement: its shape, and the constants and variables that are its own."""

    shape: RuleShape
    route: Route
    integers: tuple[TypedExpression, ...]
    floats: tuple[TypedExpression, ...]
    surroundings: RunContext

    def constant_value(self, node: TypedExpression) -> Any:
        """Return the value of a constant or a substitution parameter."""
        return node.value if isinstance(node, Constant) else self.surroundings.value(node)


def rule(plan: BodyPlan, surroundings: RunContext) -> SharedRule:
    """Return a statement as a member of rule sets; raise NotCompilable saying why it is none."""
    if not isinstance(plan, SelectPlan):
        raise NotCompilable(f"{type(plan).__name__.removesuffix('Plan')} is not a rule")
    _check(plan)
    rows, stream = plan.result_set, only_stream(plan.streams)
    filter_plan = stream_filter(stream)
    assert plan.output_type is not None
    kept = [accumulator(p, n, None) for n, p in enumerate(rows.aggregations)]
    for field in (f for each in kept for f in each.fields()):
        if field.axis != GROUP or field.words:
            raise NotCompilable("an aggregation that keeps more than a number is not in a rule set")
    outputs: list[tuple[str, TypedExpression]]
    if rows.forward is not None:
        properties = stream.event_type.properties.values()
        outputs = [(p.name, StreamProperty(stream=0, name=p.name, type=p.type)) for p in properties]
    else:
        outputs = list(zip(rows.output_type.names, rows.columns, strict=True))
    printer = _RulePrinter(filter_plan, filter_plan.conditions, outputs, rows.having, kept)
    return printer.rule(surroundings, arrow_schema(plan.output_type))


def key_rule(plan: BodyPlan, surroundings: RunContext) -> SharedRule | None:
    """Return what the key of a statement's filter alone lets through, None without a key."""
    if not isinstance(plan, SelectPlan):
        return None
    filter_plan = stream_filter(only_stream(plan.streams, not_in_rule_set), not_in_rule_set)
    return None if filter_plan.key is None else _RulePrinter(filter_plan, (), ()).rule(surroundings, NO_COLUMNS)


NO_COLUMNS = pa.schema([])


class _RulePrinter:
    def __init__(
        self, filter_plan: FilterPlan, conditions: Sequence[TypedExpression], outputs: Sequence[tuple[str, TypedExpression]],
        having: TypedExpression | None = None, accumulators: Sequence[AccumulatorPrinter] = (),
    ) -> None:
        self.event_type, self.outputs, self.having, self.accumulators = filter_plan.event_type, outputs, having, accumulators
        self.route, self.conditions = choose_route(filter_plan, conditions)
        self.fields = tuple(f for each in accumulators for f in each.fields())
        self.parameters = RuleParameters()
        self.inputs: dict[str, str] = {}
        self.names = count()

    def rule(self, surroundings: RunContext, schema: pa.Schema) -> SharedRule:
        parameters = self.parameters
        matches, columns = self._matches()
        computes = None
        if not self.accumulators:
            computes, columns = self._computes()
        heads = self._inputs()
        shape = RuleShape(
            self.event_type, matches.replace("INPUTS", heads), computes and computes.replace("INPUTS", heads), tuple(self.inputs.items()),
            columns, schema, tuple(parameters.tables), parameters.ranked, self.route, self.fields,
        )
        return SharedRule(shape, self.route, tuple(parameters.integers), tuple(parameters.floats), surroundings)

    # ------------------------------------------------------------------ expressions

    def _at(self, place: str, code: Code) -> ScalarPrinter:
        """Return a printer for the row at a place; ``place`` empty: the row's values as names, taken once."""

        def leaf(node: TypedExpression) -> ScalarText | None:
            if isinstance(node, IsInsertStream):
                return ScalarText("True")
            if isinstance(node, Aggregated):
                return self.accumulators[node.slot].value("s")
            return self._property(node, place) if isinstance(node, StreamProperty) else None

        return ScalarPrinter(self.parameters, leaf, code, names=self.names)  # type: ignore[arg-type]

    def _property(self, node: StreamProperty, place: str) -> ScalarText:
        kind = self.inputs[node.name] = column_kind(node.type)
        number = list(self.inputs).index(node.name)
        value, valid = (element_text(f"c{number}[{place}]", kind), f"c{number}v[{place}]") if place else (f"v{number}", f"v{number}v")
        if kind in TEXTS:
            return ScalarText(value, f"({value} >= 0)")
        primitive = isinstance(node.type, Scalar) and node.type.primitive
        return ScalarText(value, None if primitive else valid)

    def _inputs(self) -> str:
        names = [f"c{n}{v}" for n in range(len(self.inputs)) for v in ("", "v")]
        return f"{', '.join(names)}, = C" if names else "pass"

    # ------------------------------------------------------------------ the functions

    def _matches(self) -> tuple[str, tuple[OutputColumn, ...]]:
        body, inner = Code(2), Code(4)
        with body.block("if out + count > out_capacity"):
            body.add("break")
        body.add("now = times[i]")
        columns: tuple[OutputColumn, ...] = ()
        arrays: list[str] = []
        if self.route.looks_up or self.accumulators or not self._tested:
            self.route.choose(body, self._at("i", body))
            inner.add(f"s = {self.route.member}")
            columns, arrays = self._match(inner)
            with body.block("if low < high"):
                self._load(body)
                body.add("for p in range(low, high):", *(line[12:] for line in inner.lines))
        else:
            self._scan(body)
        body.add("i += 1")
        head = Code(1)
        head.add("INPUTS", f"{', '.join(('o_rule', 'o_row', *arrays))}, = O", "out_capacity = len(o_rule)")
        head.add(f"i, out = R[{REGISTERS['i']}], 0")
        for names, argument in ((self.route.arrays, "B"), ([f.name for f in self.fields], "S")):
            if names:
                head.add(f"{', '.join(names)}, = {argument}")
        if not self.route.looks_up:
            head.add("words = hits.view(np.int64)")
        head.add("while i < n:")
        tail = Code(1)
        tail.add(*REGISTERS.write_lines("R"), "return 0")
        source = f"def kernel(R, n, count, times, C, B, S, O, PI, PF, T, K):\n{head.text()}{body.text()}{tail.text()}"
        return source, columns

    @property
    def _tested(self) -> list[TypedExpression]:
        """All conditions; only statements that keep something do so in front of the last one."""
        return [*self.conditions, *(() if self.having is None else (self.having,))]

    def _load(self, code: Code) -> None:
        for number, kind in enumerate(self.inputs.values()):
            code.add(f"v{number} = {element_text(f'c{number}[i]', kind)}", f"v{number}v = c{number}v[i]")

    def _scan(self, code: Code) -> None:
        """Test the row at ``i`` for all statements, in a loop that machines do several of at once; then collect, eight at a time."""
        inner = Code(3)
        tests = [self._at("", inner).test(condition) for condition in self._tested]
        self._load(code)
        code.add("for s in range(count):", *(line[8:] for line in inner.lines), f"    hits[s] = {' and '.join(tests)}")
        code.add(
            "for w in range(len(words)):", "    if words[w] != 0:", "        for s in range(8 * w, 8 * w + 8):", "            if hits[s]:",
            "                o_rule[out] = s", "                o_row[out] = i", "                out += 1",
        )

    def _match(self, code: Code) -> tuple[tuple[OutputColumn, ...], list[str]]:
        """Statement ``s`` and the row at ``i``: a pair, if the conditions let them be one. Gives the columns computed here."""
        conditions = self._tested
        columns: tuple[OutputColumn, ...] = ()
        arrays: list[str] = []
        if self.accumulators:
            self._tests(code, self.conditions)
            code.add("g = s")
            for each in self.accumulators:
                each.enter(code, lambda place, lines: self._at("", lines), "i")
            conditions = conditions[len(self.conditions) :]
        self._tests(code, conditions[:-1])
        last = self._at("", code).test(conditions[-1]) if conditions else "True"
        if self.accumulators:
            columns, arrays = self._columns(code, "", "out")
        code.add("o_rule[out] = s", "o_row[out] = i")
        with code.block(f"if {last}"):
            code.add("out += 1")
        return columns, arrays

    def _tests(self, code: Code, conditions: Sequence[TypedExpression]) -> None:
        for condition in conditions:
            with code.block(f"if not {self._at('', code).test(condition)}"):
                code.add("continue")

    def _computes(self) -> tuple[str | None, tuple[OutputColumn, ...]]:
        body, head = Code(2), Code(1)
        body.add("s = rules[p]", "r = rows[p]", "now = times[r]")
        columns, arrays = self._columns(body, "r", "p")
        if not arrays:
            return None, columns
        head.add("INPUTS", f"{', '.join(arrays)}, = O", "for p in range(len(rules)):")
        return f"def kernel(rules, rows, times, C, O, PI, PF, T, K):\n{head.text()}{body.text()}    return 0\n", columns

    def _columns(self, code: Code, place: str, target: str) -> tuple[tuple[OutputColumn, ...], list[str]]:
        """Compute what is more than a property of the event, into the arrays that it names."""
        columns: list[OutputColumn] = []
        arrays: list[str] = []
        for prop, node in self.outputs:
            if isinstance(node, StreamProperty):
                columns.append(OutputColumn(prop, "", node.name))
                continue
            text = self._at(place, code).value(node)
            pair = [f"o{len(columns)}", f"o{len(columns)}v"]
            code.add(f"{pair[0]}[{target}] = {text.value}", f"{pair[1]}[{target}] = {text.valid or 'True'}")
            arrays += pair
            columns.append(OutputColumn(prop, column_kind(node.type)))
        return tuple(columns), arrays


def _check(plan: SelectPlan) -> None:
    """Refuse all but filter, projection and aggregations of all events."""
    if stream_filter(only_stream(plan.streams, not_in_rule_set), not_in_rule_set).event_type.kind == "variant":
        raise not_in_rule_set("a variant stream")
    contracts.RULE.require(plan, not_in_rule_set)


__all__ = ["RuleShape", "SharedRule", "key_rule", "rule"]
