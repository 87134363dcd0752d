"""By which key statements may be split: a table of modules with the key, or the operator that stands in the way."""
from __future__ import annotations

import pathlib

import attrs
import pytest

from epl.analysis.partitioning import AnySplit, SplitBy, Whole, analyse_partitioning
from epl.analysis.partitioning.facts import Demand, Facts, RowFeed
from epl.analysis.partitioning.paths import Carrying
from epl.analysis.partitioning.solve import StreamGraph, dimensions
from epl.analysis.partitioning.statements import FACTS, PURE
from epl.errors import EplValidationError
from epl.event_types import EventType
from epl.plan.expressions import ContextValue, Prior, TypedExpression
from epl.plan.reads import Reads
from epl.plan.statements import BodyPlan, SelectRowPlan, StatementPlan
from epl.plan.stores.tables import TableKeys, TableValue
from epl.plan.windows import Locality, WindowConfig
from epl.settings import Settings
from runtime import Runtime
from runtime.build import BUILDERS
from runtime.cli import main
from tests.partitioning.catalogue import IN_ANY_WAY, PATTERN, SCHEMA, SPLIT, WHOLE
from windows.registry import WINDOWS

Found = SplitBy | AnySplit | Whole


def verdict(text: str, *names: str, settings: Settings | None = None) -> Found:
    """Of the statements of those names, or of the last one."""
    plan = Runtime(settings=settings).compile(SCHEMA + text)
    return analyse_partitioning(plan.statements, *(names or (plan.statements[-1],)), settings=settings)


def keys(found: Found) -> dict[str, str]:
    assert isinstance(found, SplitBy), found.describe()
    return {name: " ".join(".".join(p) for p in paths) for name, paths in found.keys.items()}


@pytest.mark.parametrize(("text", "expected"), SPLIT)
def test_split(text: str, expected: dict[str, str]) -> None:
    assert keys(verdict(text)) == expected


@pytest.mark.parametrize(("text", "stateless"), IN_ANY_WAY)
def test_anyhow(text: str, stateless: bool) -> None:
    found = verdict(text)
    assert isinstance(found, AnySplit), found.describe()
    assert found.stateless == stateless


@pytest.mark.parametrize(("text", "operator"), WHOLE)
def test_whole(text: str, operator: str) -> None:
    found = verdict(text)
    assert isinstance(found, Whole), found.describe()
    assert found.operator == operator and found.reason
    assert found.statement in found.statements


# ------------------------------------------------------------------ several statements, several types

TWO = (
    "@name('byk') select k, sum(x) as s from T group by k; @name('byg') select g, sum(x) as s from T group by g;"
    "@name('both') select k, g, sum(x) as s from T group by k, g; @name('free') select * from T;"
)


def test_several_statements_share_one_split() -> None:
    assert keys(verdict(TWO, "byk", "both", "free")) == {"T": "k"}
    assert keys(verdict(TWO, "byg", "both")) == {"T": "g"}
    found = verdict(TWO, "byk", "byg")
    assert isinstance(found, Whole)
    assert (found.statement, found.operator) == ("byg", "group by")
    assert found.reason == "it needs a split by g of T, but group by of statement 'byk' allows a split by k"


def test_types_that_do_not_meet_have_keys_of_their_own() -> None:
    found = verdict(
        "@name('t') select k, g, sum(x) as s from T group by k, g; @name('u') select u, sum(y) as s from U group by u;"
        "@name('v') select * from V;", "t", "u", "v",
    )
    assert keys(found) == {"T": "k g", "U": "u", "V": ""}
    assert found.describe() == "T by k, g and U by u and V any"


def test_only_what_rows_come_through_counts() -> None:
    found = verdict(
        "@name('total') select sum(x) as s from T; @name('in') insert into A select k, x from T;"
        "@name('out') insert into B select k, sum(x) as s from A group by k; @name('beyond') select sum(s) as t from B", "out",
    )
    assert found.statements == ("in", "out")
    assert keys(found) == {"T": "k"}


def test_sub_types_go_by_the_key_of_their_super_types() -> None:
    plan = Runtime().compile(SCHEMA + "select k, count(*) as c from Base group by k")
    types = {d.name: d.value for d in plan.declared}
    found = analyse_partitioning(plan.statements, plan.statements[-1])
    assert isinstance(found, SplitBy)
    assert found.key_of(types["Base"]) == found.key_of(types["Sub"]) == (("k",),)
    with pytest.raises(EplValidationError, match="not read from outside"):
        found.key_of(types["T"])


def test_a_type_and_its_sub_type_agree() -> None:
    both = "@name('base') select k, count(*) as c from Base group by k; @name('sub') select k, c, count(*) as n from Sub group by k, c;"
    assert keys(verdict(both, "base", "sub")) == {"Base": "k", "Sub": "k"}
    assert keys(verdict(both, "sub")) == {"Sub": "k c"}
    assert isinstance(verdict(both + "@name('c') select c, count(*) as n from Sub group by c", "base", "c"), Whole)


def test_a_sub_type_of_types_with_different_keys_has_none() -> None:
    plan = Runtime().compile(
        "create schema A(a string); create schema B(b string); create schema AB() inherits A, B;"
        "@name('x') select a, count(*) as c from A group by a; @name('y') select b, count(*) as c from B group by b"
    )
    found = analyse_partitioning(plan.statements, "x", "y")
    assert isinstance(found, SplitBy)
    with pytest.raises(EplValidationError, match="different keys"):
        found.key_of(next(d.value for d in plan.declared if d.name == "AB"))


def test_a_stream_of_a_sub_type_feeds_its_super_type() -> None:
    text = "insert into Sub select k, n as b, n as c from T; select k, count(*) as c from Base group by k"
    assert keys(verdict(text)) == {"T": "k", "Base": "k"}


def test_drop_and_update_of_other_statements_are_taken_in() -> None:
    text = "@name('less') @Drop select * from T(n > 2); @name('more') update istream T set g = 1; @name('s') select g, k, sum(x) as s " \
           "from T group by g, k"
    found = verdict(text, "s")
    assert found.statements == ("less", "more", "s")
    assert keys(found) == {"T": "k"}


def test_a_stream_that_feeds_itself_has_to_carry_its_key() -> None:
    text = "insert into X select x, k as j from T; insert into X select x, {} as j from X(x < 1); select j, count(*) as c from X group by j"
    assert keys(verdict(text.format("j"))) == {"T": "k"}
    assert isinstance(verdict(text.format("j || 'a'")), Whole)


def test_paths_that_grow_in_a_circle_come_to_an_end() -> None:
    """Events of M hold events of M, and are taken apart into others; N is filled from M."""
    m, n = EventType("M", "bean", {}), EventType("N", "bean", {})
    apart = RowFeed(m, (Carrying({"k": ("m", "k"), "m": ("m", "m")}),))
    demand = Demand("s", "group by", (("k",),))
    graph = StreamGraph([Facts("apart", m, feeds=(apart,)), Facts("fill", m, feeds=(RowFeed(n, (Carrying(),)),)), Facts("s", n, (demand,))])
    assert dimensions(graph, graph.demands()) == [[]]


# ------------------------------------------------------------------ keys, names, settings


def test_keys_are_values_that_hosts_can_hash() -> None:
    schema = "create schema O(o Object, a int[], d double, r BigDecimal);"
    assert keys(verdict(schema + "select d, r, count(*) as c from O group by d, r")) == {"O": "d r"}
    for name in ("o", "a"):
        assert isinstance(verdict(schema + f"select {name}, count(*) as c from O group by {name}"), Whole)


def test_widening_keeps_a_key_where_values_stay_apart() -> None:
    text = "create schema W(v {0}); insert into W select {1} as v from T; select v, count(*) as c from W group by v"
    assert keys(verdict(text.format("long", "n"))) == {"T": "n"}
    assert keys(verdict(text.format("double", "n"))) == {"T": "n"}
    assert isinstance(verdict(text.format("double", "ts")), Whole)


def test_a_column_of_objects_carries_no_key() -> None:
    """Hosts cannot tell objects apart as the language does, whatever the stream that they go to says they are."""
    text = "create schema O(o Object); create schema W(v Object); insert into W select o as v from O;"
    assert isinstance(verdict(text + "select v, count(*) as c from W group by v"), Whole)


def test_unknown_names_are_told() -> None:
    with pytest.raises(KeyError, match="no statement named 'z'"):
        verdict(TWO, "z")


def test_a_limit_on_matches_is_one_for_all_partitions() -> None:
    text = f"select * from T match_recognize (partition by k measures A.n as a, B.n as b {PATTERN})"
    found = verdict(text, settings=Settings(max_states=10))
    assert isinstance(found, Whole) and "max_states" in found.reason
    assert isinstance(verdict("select k, sum(x) as s from T group by k", settings=Settings(max_states=10)), SplitBy)


def test_statements_without_rows_are_split_anyhow() -> None:
    assert verdict("create variable int v = 1") == AnySplit(("stmt-8",), stateless=True)
    assert isinstance(verdict("@name('s') select 1 as one"), Whole)


# ------------------------------------------------------------------ what is not known is refused


@attrs.frozen
class NewPlan(BodyPlan):
    """A kind of statement that nobody has thought about."""


def test_unknown_statements_are_refused() -> None:
    found = analyse_partitioning([StatementPlan(name="s", body=NewPlan(None), text="", reads=Reads())], "s")
    assert isinstance(found, Whole) and found.describe() == (
        "not at all: new of statement 's': this kind of statement is not known to be local to a key"
    )


def test_every_statement_that_runs_is_known_but_selects_without_from() -> None:
    assert BUILDERS.keys() - FACTS.keys() == {SelectRowPlan}


def test_every_expression_of_the_language_has_been_thought_about() -> None:
    def below(cls: type[TypedExpression]) -> set[type[TypedExpression]]:
        return {cls}.union(*(below(c) for c in cls.__subclasses__()))

    ours = {c for c in below(TypedExpression) if c.__module__.startswith("epl.")}
    assert ours - PURE == {TypedExpression, ContextValue, Prior, TableKeys, TableValue}


def test_windows_are_shared_unless_they_say_otherwise() -> None:
    assert WindowConfig().locality is None
    own = {n for n, c in WINDOWS.items() if ":" not in n and c.locality is not WindowConfig.locality}
    assert own == {"time", "time_batch", "keepall", "time_order", "timetolive", "firsttime", "unique", "firstunique", "groupwin"}
    assert Locality().keys == ()


# ------------------------------------------------------------------ explain


def test_explain_tells() -> None:
    runtime = Runtime()
    runtime.deploy(SCHEMA + "insert into A select k, x from T;")
    runtime.deploy(
        "@name('by') select k, sum(x) as s from A group by k; @name('all') select sum(x) as s from A; @name('any') select * from A"
    )
    assert "  partitioning: T by k\n" in runtime.statement("by").explain()
    assert "  partitioning: not at all: the aggregation of statement 'all': it goes over all rows" in runtime.statement("all").explain()
    assert "  partitioning: any (stateless)\n" in runtime.statement("any").explain()
    assert isinstance(runtime.statement("by").partitioning, SplitBy)
    assert "partitioning:" not in runtime.deployments["d0"][0].explain()


def test_the_command_tells(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = tmp_path / "m.epl"
    module.write_text(SCHEMA + "select k, sum(x) as s from T group by k; select * from T#lastevent;")
    assert main(["explain", str(module)]) == 0
    output = capsys.readouterr().out
    assert "  partitioning: T by k\n" in output and "  partitioning: not at all: the window #lastevent" in output
