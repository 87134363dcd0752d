"""Plan nodes: many fields are given by name, and a node that contradicts itself is not made."""
from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from typing import Any

import attrs
import pytest

import epl.plan
from epl.event_types import EventType
from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import Constant
from epl.plan.patterns.match_recognize import RowRecognitionPlan
from epl.plan.result_set import OutputPlan
from epl.plan.statements import InsertPlan, SelectPlan, StatementPlan
from epl.plan.streams import IndexKey, stream_filter
from epl.value_types import BOXED_INT
from runtime import Runtime
from runtime.api.runtime import internal_engine

SCHEMA = "@public @buseventtype create schema T(k string, x int);\n@public create schema U(k string, x int);\n"
NUMBER = Constant(type=BOXED_INT, value=1)


def select(text: str) -> StatementPlan:
    plan = Runtime().compile(f"{SCHEMA}{text}").statements[-1]
    assert isinstance(plan.body, SelectPlan)
    return plan


BODY: Any = select("select k, sum(x) as s from T(k = 'a')#keepall group by rollup(k)").body
FORWARD: Any = select("select * from T").body.result_set  # type: ignore[attr-defined]
INSERT: Any = select("insert into U select k, x from T").body.insert  # type: ignore[attr-defined]
ROWS: Any = select("select * from T match_recognize (measures A.k as k, B.k as l pattern (A B) define B as B.x > A.x)")
MATCH: RowRecognitionPlan = ROWS.body.row_recognition
JOINED: Any = select("select * from T#keepall as a, T#keepall as b").body
SUM = AggregationPlan(function="sorted", arguments=(NUMBER,), type=BOXED_INT, descending=(True,))
RATE = OutputPlan(every=NUMBER, unit="events")
OTHER = EventType("other", "row", {})

CONTRADICTIONS: list[tuple[Any, dict[str, Any], str]] = [
    (INSERT, {"positions": (0,)}, "1 positions for the 2 properties of 'U'"),
    (INSERT, {"converts": ()}, "0 conversions for 2 positions"),
    (INSERT, {"same": True}, "2 positions for the 0 properties of 'U'"),
    (InsertPlan(target=OTHER, stream="istream"), {"nested": 0}, "rows that are events of the target have no nested event"),
    (BODY, {"streams": ()}, "a select without a stream"),
    (BODY, {"streams": BODY.streams * 2}, "a join of 1 streams over 2"),
    (JOINED, {"row_recognition": MATCH}, "match_recognize over a join"),
    (JOINED, {"result_set": FORWARD}, "a result set of 1 streams over 2"),
    (BODY, {"output_type": OTHER}, "which is not the output type"),
    (ROWS, {"parameters": (("a", BOXED_INT), ("a", BOXED_INT))}, "substitution parameters that are listed twice: ['a', 'a']"),
    (stream_filter(BODY.streams[0]), {"key": IndexKey("z", (NUMBER,))}, "a key over the property 'z', which 'T' does not have"),
    (stream_filter(BODY.streams[0]), {"key": IndexKey("k", ())}, "a key over 'k' without values"),
    (MATCH, {"groups": (True,)}, "1 kinds for 2 variables"),
    (MATCH, {"conditions": ()}, "0 conditions for 2 variables"),
    (MATCH, {"measures": (NUMBER,)}, "1 measures for 2 columns"),
    (SUM, {"descending": (True, False)}, "2 directions for 1 sort criteria"),
    (RATE, {"unit": None}, "an output rate without its unit, or a unit without a rate"),
    (RATE, {"after": NUMBER}, "output after without its unit, or a unit without it"),
    (RATE, {"condition": NUMBER}, "output at more than one kind of time"),
    (RATE, {"assignments": (NUMBER,)}, "assignments without the condition of output when"),
    (BODY.result_set, {"columns": (NUMBER,)}, "1 values for 2 columns"),
    (BODY.result_set, {"shape": "un-aggregated"}, "2 grouping levels under the shape un-aggregated"),
    (BODY.result_set, {"group_by": ()}, "a grouping level with keys (0,) of 0"),
    (FORWARD, {"columns": (NUMBER,)}, "values of columns, and whole events too"),
    (FORWARD, {"forward": 1}, "events of stream 1 of 1"),
]


@pytest.mark.parametrize(("node", "changes", "contradiction"), CONTRADICTIONS)
def test_a_plan_that_contradicts_itself_is_not_made(node: Any, changes: dict[str, Any], contradiction: str) -> None:
    with pytest.raises(ValueError) as refused:
        attrs.evolve(node, **changes)
    assert str(refused.value).startswith("the plan contradicts itself: ") and contradiction in str(refused.value)


def test_nodes_of_more_than_six_fields_take_them_by_name() -> None:
    modules = [import_module(f"epl.plan.{m.name}") for m in pkgutil.iter_modules(epl.plan.__path__)]
    nodes = {c for m in modules for c in vars(m).values() if inspect.isclass(c) and c.__module__ == m.__name__ and attrs.has(c)}
    large = [c for c in nodes if len(attrs.fields(c)) > 6]
    assert len(large) >= 8
    assert [c.__name__ for c in large if not all(f.kw_only or f.inherited for f in attrs.fields(c))] == []


def test_a_statement_that_does_not_run_yet_has_no_rows() -> None:
    """Between its making and its first instance: nothing is None."""
    from runtime.api.statement import Statement
    from runtime.statements.statement_output import StatementOutput

    runtime = Runtime()
    plan, engine = runtime.compile(f"{SCHEMA}select k from T").statements[-1], internal_engine(runtime)
    output = StatementOutput(plan, engine, engine.core, "d0", 1)
    assert Statement(output).rows() == [] and output.running.state() is None
