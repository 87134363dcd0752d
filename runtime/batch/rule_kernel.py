"""Statements that differ in constants only → one kernel for all of them, with their constants in arrays."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import attrs
import pyarrow as pa

from epl.event_types import EventType
from epl.plan.expressions import Constant, IsInsertStream, StreamProperty, TypedExpression
from epl.plan.statements import BodyPlan, FilterPlan, SelectPlan
from epl.value_types import Scalar
from runtime.arrow import arrow_schema
from runtime.batch.code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.rule_routes import Route, route_of
from runtime.batch.run import Surroundings
from runtime.batch.scalars import TEXTS, Parameters, ScalarPrinter, Text, kind_of, stored
from runtime.batch.select_kernel import OutputColumn


class RuleParameters(Parameters):
    """A parameter has one value a statement: ``PI[place, s]``."""

    def integer(self, node: TypedExpression) -> str:
        return f"{super().integer(node)[:-1]}, s]"

    def floating(self, node: TypedExpression) -> str:
        return f"{super().floating(node)[:-1]}, s]"


@attrs.frozen
class RuleShape:
    """What statements of one rule set have in common.

    ``matches`` (kernel source): pairs of statement and row, in order of the rows. ``computes``: the computed columns of such pairs, None
    without any. ``inputs``: property → kind of the columns read; ``tables``: functions of one string, the same for all statements.
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


@attrs.frozen(eq=False)
class Rule:
    """One statement: its shape, and the constants and variables that are its own."""

    shape: RuleShape
    route: Route
    integers: tuple[TypedExpression, ...]
    floats: tuple[TypedExpression, ...]
    surroundings: Surroundings

    def fixed(self, node: TypedExpression) -> Any:
        """The value of a constant or a substitution parameter."""
        return node.value if isinstance(node, Constant) else self.surroundings.value(node)


def rule(plan: BodyPlan, surroundings: Surroundings) -> Rule:
    """A statement as a member of rule sets; raises NotCompilable saying why it is none."""
    if not isinstance(plan, SelectPlan):
        raise NotCompilable(f"{type(plan).__name__.removesuffix('Plan')} is no rule")
    _check(plan)
    rows, stream = plan.result_set, plan.streams[0]
    assert rows is not None and plan.output_type is not None
    conditions = (*stream.filter.conditions, *(c for c in (plan.where, rows.having) if c is not None))
    outputs: list[tuple[str, TypedExpression]]
    if rows.forward is not None:
        properties = stream.event_type.properties.values()
        outputs = [(p.name, StreamProperty(stream=0, name=p.name, type=p.type)) for p in properties]
    else:
        outputs = list(zip(rows.output_type.names, rows.columns, strict=True))
    return _RulePrinter(stream.filter, conditions, outputs).rule(surroundings, arrow_schema(plan.output_type))


def key_rule(plan: BodyPlan, surroundings: Surroundings) -> Rule | None:
    """What the key of a statement's filter alone lets through, None without a key."""
    if not isinstance(plan, SelectPlan) or len(plan.streams) != 1 or plan.streams[0].filter.key is None:
        return None
    return _RulePrinter(plan.streams[0].filter, (), ()).rule(surroundings, NO_COLUMNS)


NO_COLUMNS = pa.schema([])


class _RulePrinter:
    def __init__(
        self, wanted: FilterPlan, conditions: Sequence[TypedExpression], outputs: Sequence[tuple[str, TypedExpression]],
    ) -> None:
        self.event_type, self.outputs = wanted.event_type, outputs
        self.route, self.conditions = route_of(wanted, conditions)
        self.parameters = RuleParameters()
        self.inputs: dict[str, str] = {}
        self.names = count()

    def rule(self, surroundings: Surroundings, schema: pa.Schema) -> Rule:
        parameters = self.parameters
        matches, (computes, columns) = self._matches(), self._computes()
        heads = self._inputs()
        shape = RuleShape(
            self.event_type, matches.replace("INPUTS", heads), computes and computes.replace("INPUTS", heads), tuple(self.inputs.items()),
            columns, schema, tuple(parameters.tables), parameters.ranked, self.route,
        )
        return Rule(shape, self.route, tuple(parameters.integers), tuple(parameters.floats), surroundings)

    # ------------------------------------------------------------------ expressions

    def _at(self, place: str, code: Code) -> ScalarPrinter:
        """A printer for the row at a place; ``place`` empty: the row's values as names, taken once."""

        def leaf(node: TypedExpression) -> Text | None:
            if isinstance(node, IsInsertStream):
                return Text("True")
            return self._property(node, place) if isinstance(node, StreamProperty) else None

        return ScalarPrinter(self.parameters, leaf, code, names=self.names)  # type: ignore[arg-type]

    def _property(self, node: StreamProperty, place: str) -> Text:
        kind = self.inputs[node.name] = kind_of(node.type)
        number = list(self.inputs).index(node.name)
        value, valid = (stored(f"c{number}[{place}]", kind), f"c{number}v[{place}]") if place else (f"v{number}", f"v{number}v")
        if kind in TEXTS:
            return Text(value, f"({value} >= 0)")
        primitive = isinstance(node.type, Scalar) and node.type.primitive
        return Text(value, None if primitive else valid)

    def _inputs(self) -> str:
        names = [f"c{n}{v}" for n in range(len(self.inputs)) for v in ("", "v")]
        return f"{', '.join(names)}, = C" if names else "pass"

    # ------------------------------------------------------------------ the functions

    def _matches(self) -> str:
        body, inner = Code(2), Code(4)
        with body.block("if out + count > room"):
            body.add("break")
        body.add("now = times[i]")
        self.route.choose(body, self._at("i", body))
        inner.add(f"s = {self.route.member}")
        for condition in self.conditions[:-1]:
            with inner.block(f"if not {self._at('', inner).test(condition)}"):
                inner.add("continue")
        last = self._at("", inner).test(self.conditions[-1]) if self.conditions else "True"
        inner.add("o_rule[out] = s", "o_row[out] = i")
        with inner.block(f"if {last}"):
            inner.add("out += 1")
        with body.block("if low < high"):
            for number, kind in enumerate(self.inputs.values()):
                body.add(f"v{number} = {stored(f'c{number}[i]', kind)}", f"v{number}v = c{number}v[i]")
            body.add("for p in range(low, high):", *(line[12:] for line in inner.lines))
        body.add("i += 1")
        head = Code(1)
        head.add("INPUTS", "o_rule, o_row, = O", "room = len(o_rule)", "i, out = R[0], 0")
        if self.route.arrays:
            head.add(f"{', '.join(self.route.arrays)}, = B")
        head.add("while i < n:")
        tail = Code(1)
        tail.add("R[0] = i", "R[1] = out", "return 0")
        return f"def kernel(R, n, count, times, C, B, O, PI, PF, T, K):\n{head.text()}{body.text()}{tail.text()}"

    def _computes(self) -> tuple[str | None, tuple[OutputColumn, ...]]:
        columns: list[OutputColumn] = []
        body, arrays = Code(2), []
        body.add("s = rules[p]", "r = rows[p]", "now = times[r]")
        for prop, node in self.outputs:
            if isinstance(node, StreamProperty):
                columns.append(OutputColumn(prop, "", node.name))
                continue
            text = self._at("r", body).value(node)
            body.add(f"o{len(columns)}[p] = {text.value}", f"o{len(columns)}v[p] = {text.valid or 'True'}")
            arrays += [f"o{len(columns)}", f"o{len(columns)}v"]
            columns.append(OutputColumn(prop, kind_of(node.type)))
        if not arrays:
            return None, tuple(columns)
        head = Code(1)
        head.add("INPUTS", f"{', '.join(arrays)}, = O", "for p in range(len(rules)):")
        return f"def kernel(rules, rows, times, C, O, PI, PF, T, K):\n{head.text()}{body.text()}    return 0\n", tuple(columns)


def _check(plan: SelectPlan) -> None:
    """Refuse all but filter and projection."""
    rows = plan.result_set
    if rows is None or len(plan.streams) != 1:
        raise NotCompilable("more than one stream is no rule")
    stream = plan.streams[0]
    reasons: list[tuple[object, str]] = [
        (plan.row_recognition is not None, "match_recognize"),
        (plan.insert is not None, "insert into"),
        (plan.delivery is not None, "grouped delivery"),
        (stream.contained is not None, "contained events"),
        (stream.windows or stream.priors or stream.retain, "a window or prior"),
        (stream.filter.event_type.kind == "variant", "a variant stream"),
        (rows.shape != "un-aggregated" or rows.aggregations or rows.group_by, "aggregation"),
        (rows.selector != "istream" or rows.raw, "the remove stream"),
        (rows.distinct or rows.order_by or rows.limit is not None, "distinct, order by or limit"),
        (rows.output is not None, "an output clause"),
        (rows.iterable_unbound or rows.reclaim is not None, "@IterableUnbound or reclaimed groups"),
    ]
    for found, reason in reasons:
        if found:
            raise NotCompilable(f"{reason} is not in a rule set")


__all__ = ["Rule", "RuleShape", "key_rule", "rule"]
