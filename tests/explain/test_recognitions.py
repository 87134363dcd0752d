"""Row patterns of the SQL dialects as pictures: the program that runs, and the clause's words as they are written."""

from __future__ import annotations

import pytest

from runtime import Runtime
from runtime.explain import Graph

SCHEMA = "create schema Tick(symbol string, price double, ts long);"
CLAUSE = """@Dialect('{}') @name('s') select * from Tick match_recognize (
    partition by symbol order by ts measures first(A.price) as p {}) as m"""


def graph_of(text: str) -> Graph:
    with Runtime(tier="row") as runtime:
        return runtime.deploy(SCHEMA + text)["s"].graph()


def transitions(graph: Graph, group: str = "g0") -> set[tuple[str, str, str]]:
    nodes, edges = graph.within(group)
    first = {node.id: node.lines[0] for node in nodes}
    return {(first[edge.source], edge.label, first[edge.target]) for edge in edges}


def accepting(graph: Graph) -> list[str]:
    return [node.lines[0] for node in graph.nodes if node.kind == "accept"]


@pytest.mark.parametrize("dialect", ["sql", "ydb"])
def test_the_program_of_a_pattern(dialect: str) -> None:
    graph = graph_of(CLAUSE.format(dialect, "pattern (A B* C) define B as B.price > 1.0"))
    assert transitions(graph) == {
        ("start", "A", "A"), ("A", "B (1)", "B"), ("A", "C (2)", "C"), ("B", "B (1)", "B"), ("B", "C (2)", "C")}  # fmt: skip
    assert accepting(graph) == ["C"]


def test_anchors_exclusions_and_permutations() -> None:
    graph = graph_of(CLAUSE.format("sql", "all rows per match pattern (^ A {- B -} PERMUTE(C, D) $) define B as B.price > 1"))
    assert transitions(graph) == {
        ("start", "^ A", "A"), ("A", "{- B -}", "{- B -}"), ("{- B -}", "C (1)", "C"), ("{- B -}", "D (2)", "D"),
        ("C", "D", "D $"), ("D", "C", "C $")}  # fmt: skip
    assert sorted(accepting(graph)) == ["C $", "D $"]


def test_greedy_flink_takes_rows_from_what_follows() -> None:
    graph = graph_of(CLAUSE.format("flink", "after match skip past last row pattern (A B+ C) within interval '10' second "
                                            "define B as B.price > 3, C as C.price > 1"))  # fmt: skip
    assert transitions(graph) == {
        ("start", "", "A"), ("A", "A", "B"), ("B", "B", "B"), ("B", "go on", "C"), ("C", "C and not B", "match")}  # fmt: skip
    note = next(node for node in graph.nodes if node.kind == "note")
    assert note.lines == ("B: B.price > 3", "C: C.price > 1", "after a match: skip past last", "rows per match: one", "within 10000 ms")


def test_alibaba_skips_rows_and_stops() -> None:
    graph = graph_of(CLAUSE.format("alibaba", "after match skip past last row pattern (A {- X* -} B [^D]) define D as D.price > 100"))
    assert ("B", "skip a row", "B") in transitions(graph)
    assert {("·", "stop if D", "no match"), ("·", "go on if not D", "match")} <= transitions(graph)


def test_words_are_shown_as_written_whatever_strings_hold() -> None:
    graph = graph_of(CLAUSE.format("sql", "pattern (A B) define A as A.symbol in ('define (', 'x)'), B as (B.price > 1 and true)"))
    match = next(node for node in graph.nodes if node.kind == "match")
    assert match.lines == ("match_recognize (sql)", "pattern (A B)", "partition by symbol", "order by ts")
    note = next(node for node in graph.nodes if node.kind == "note")
    assert note.lines[:2] == ("A: A.symbol in ('define (', 'x)')", "B: (B.price > 1 and true)")


def test_a_clause_over_a_clause_has_two_automata() -> None:
    graph = graph_of("""@Dialect('sql') @name('s') select * from Tick(price > 0)
        match_recognize (partition by symbol order by ts measures last(B.ts) as t pattern (A B) define B as B.price > A.price)
        match_recognize (order by t measures count(*) as n pattern (X Y) define Y as true) as m""")
    assert [group.title for group in graph.groups] == ["row pattern A B", "row pattern X Y"]
    first = {node.id: node.lines[0] for node in graph.nodes}
    flow = [(first[e.source], first[e.target]) for e in graph.edges if e.kind == "flow" and e not in graph.within("g0")[1]]
    assert {("Tick", "price > 0.0"), ("price > 0.0", "match_recognize (sql)"), ("match_recognize (sql)", "match_recognize (sql)"),
            ("match_recognize (sql)", "select *")} <= set(flow)  # fmt: skip


def test_the_module_shows_what_the_clause_reads() -> None:
    with Runtime(tier="row") as runtime:
        deployment = runtime.deploy(SCHEMA + CLAUSE.format("sql", "pattern (A B) define B as B.price > A.price"))
        nodes = {node.id: node.lines[0] for node in deployment.graph().nodes}
        assert {(nodes[edge.source], nodes[edge.target]) for edge in deployment.graph().edges} == {("Tick", "s")}


def test_a_large_pattern_is_not_drawn() -> None:
    graph = graph_of(CLAUSE.format("sql", "pattern (A{200} B) define B as B.price > A.price"))
    assert any(node.lines == ("201 states: too many to draw",) for node in graph.nodes)
    assert len(graph.nodes) < 10
