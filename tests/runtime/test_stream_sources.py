"""A stream over another source than a filter, and a second stream: refused by name wherever they are not supported, kept apart where
they are.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import pytest

from epl.analysis.partitioning import Whole, analyse_partitioning
from epl.errors import EplUnsupportedError
from epl.event_types import EventOf
from epl.plan.explain import explain
from epl.plan.expressions import Prior, StreamEvent
from epl.plan.statements import SelectPlan, StatementPlan
from epl.plan.streams import FilterPlan, SourcePlan, only_stream, stream_filter, types_read
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.batch.refusals import NotCompilable
from runtime.batch.rule_sets.kernel import key_rule, rule
from runtime.batch.select_statement.kernel import select_kernel
from runtime.batch.tier.build import build_run
from runtime.expressions import Environment
from runtime.operators.operator_context import OperatorContext, StatementContext
from runtime.statements.select_statement import RunningStream
from windows.event import event_class

SCHEMA = "@public @buseventtype create schema T(k string, x int);\n"


@attrs.frozen
class TimerSource(SourcePlan):
    """A source that is not a filter; reads T all the same, somewhere inside."""

    title: ClassVar[str] = "a timer"
    inner: FilterPlan


def statement(text: str = "select k from T") -> StatementPlan:
    plan = Runtime().compile(f"{SCHEMA}@name('s') {text}").statements[-1]
    assert isinstance(plan.body, SelectPlan)
    return plan


def over_timer(plan: StatementPlan) -> StatementPlan:
    """The statement, its streams over another source."""
    streams = tuple(attrs.evolve(s, source=TimerSource(stream_filter(s))) for s in plan.body.streams)  # type: ignore[attr-defined]
    return attrs.evolve(plan, body=attrs.evolve(plan.body, streams=streams))


def joined(columns: str = "a.k") -> StatementPlan:
    """A join of T with itself."""
    return statement(f"select {columns} from T#keepall as a, T#keepall as b")


def context_of(runtime: Runtime, plan: StatementPlan) -> OperatorContext:
    core: Any = internal_engine(runtime).core
    return OperatorContext(StatementContext(core, plan, 7, Environment(clock=core.clock), None))  # type: ignore[arg-type]


class Kept(list[Any]):
    """Notes the deltas that it gets."""

    def update(self, new: Any, old: Any) -> None:
        self.append((list(new), list(old)))


BATCH: list[tuple[Callable[[SelectPlan], object], str]] = [
    (lambda body: build_run(body, None), "is not computed in columns"),  # type: ignore[arg-type]
    (select_kernel, "is not computed in columns"),
    (lambda body: rule(body, None), "is not in a rule set"),  # type: ignore[arg-type]
    (lambda body: key_rule(body, None), "is not in a rule set"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("compiled", "words"), BATCH)
def test_the_batch_tier_refuses_other_sources_and_joins_by_name(compiled: Callable[[SelectPlan], object], words: str) -> None:
    body: Any = over_timer(statement()).body
    with pytest.raises(NotCompilable, match=f"^a timer {words}$"):
        compiled(body)
    body = joined().body
    with pytest.raises(NotCompilable, match=f"^more than one stream {words}$"):
        compiled(body)


def test_partitioning_refuses_other_sources_and_joins_by_name() -> None:
    unrelated = "no condition says that a property of one stream equals one of each other stream"
    reasons = (
        (over_timer(statement()), "the stream over a timer", "it is not known to be local to a key"), (joined(), "the join", unrelated),
    )
    for plan, operator, reason in reasons:
        found = analyse_partitioning([plan], "s")
        assert isinstance(found, Whole)
        assert found.describe() == f"not at all: {operator} of statement 's': {reason}"


def test_the_row_tier_refuses_other_sources_by_name() -> None:
    runtime = Runtime()
    plan = over_timer(statement())
    with pytest.raises(EplUnsupportedError, match=r"^A timer is not supported here$"):
        RunningStream(plan.body, 0, context_of(runtime, plan))  # type: ignore[arg-type]


def test_spark_does_not_filter_for_other_sources() -> None:
    pushdown = pytest.importorskip("runtime.spark.pushdown")
    types = pytest.importorskip("pyspark.sql.types")
    plan = statement("select k from T(k = 'a')")
    event_type = stream_filter(plan.body.streams[0]).event_type  # type: ignore[attr-defined]
    predicate = pushdown.SparkPredicate(0, types.StructType())
    assert pushdown._wanted((over_timer(plan),), event_type, predicate) is None


def test_explain_shows_other_sources_by_their_own_name() -> None:
    assert re.search(r"^    filter: T$", explain(statement()), re.MULTILINE)
    assert re.search(r"^    timer:\n      filter: T$", explain(over_timer(statement())), re.MULTILINE)


def test_what_a_statement_reads_is_found_inside_any_source() -> None:
    plan = over_timer(statement())
    assert [each.name for each in types_read(plan.body)] == ["T"]


def test_the_only_stream_is_asked_for_by_name() -> None:
    streams = joined().body.streams  # type: ignore[attr-defined]
    assert only_stream(streams[:1]) is streams[0]
    with pytest.raises(LookupError, match="more than one stream"):
        only_stream(streams, LookupError)


# ------------------------------------------------------------------ several streams


def test_streams_of_one_statement_receive_an_event_in_their_order() -> None:
    plan = joined()
    context = context_of(Runtime(), plan)
    streams = [RunningStream(plan.body, number, context) for number in (0, 1)]  # type: ignore[arg-type]
    orders = [stream.entry.receiver.order for stream in streams]
    assert orders == sorted(orders) and [order[-1] for order in orders] == [0, 1]


def test_prior_and_prev_look_back_in_their_own_stream() -> None:
    """Each stream has a buffer as long as its own prior asks for, and windows of its own that prev reads."""
    plan = joined("prior(1, a.k), prev(1, a.k), prev(1, b.k)")
    body: Any = plan.body
    event_type = body.streams[0].event_type
    event = StreamEvent(stream=1, type=EventOf(event_type))
    columns = (*body.result_set.columns[:2], Prior(stream=1, index=3, value=event, type=EventOf(event_type)))
    body = attrs.evolve(body, result_set=attrs.evolve(body.result_set, columns=columns))
    context = context_of(Runtime(), attrs.evolve(plan, body=body))
    streams = [RunningStream(body, number, context) for number in (0, 1)]
    for stream in streams:
        stream.chain.child = stream.through_prior(Kept())
    assert [stream.prior.largest for stream in streams if stream.prior is not None] == [1, 3]
    a, b, c = [event_class(event_type)(k, 1) for k in "abc"]
    streams[0].chain.update((a,), ())
    streams[1].chain.update((b,), ())
    streams[0].chain.update((c,), ())
    prior, access = context.environment.prior, context.environment.random_access
    assert (prior[0].prior(c, 1), prior[1].prior(c, 1), prior[1].prior(b, 1)) == (a, None, None)
    assert (access[0].previous(c, 1), access[1].previous(b, 1)) == (a, None)
