"""Plans as graphs: what they hold, in which formats, and that no name or string of a user becomes syntax of a format."""
from __future__ import annotations

import json
import pathlib
import re
import warnings
import xml.etree.ElementTree as ET
from importlib.util import find_spec

import pytest

from epl.errors import EplError, EplWarning
from runtime import Runtime
from runtime.cli import main
from runtime.explain import Graph, GraphNode, picture
from runtime.explain.svg import svg

CASES = sorted((pathlib.Path(__file__).resolve().parents[1] / "cases").glob("*/*.json"))[::5]
drawn = pytest.mark.skipif(find_spec("fast_sugiyama") is None, reason="the layout library needs Python 3.11")
SCHEMAS = "create schema A(id string, x int); create schema B(id string, y int);"


def graph_of(text: str, name: str = "s") -> Graph:
    with Runtime(tier="row") as runtime:
        return runtime.deploy(SCHEMAS + text)[name].graph()


def labelled(graph: Graph) -> set[tuple[str, str, str]]:
    """(first line of the source, label, first line of the target) of each edge."""
    first = {node.id: node.lines[0] for node in graph.nodes}
    return {(first[edge.source], edge.label, first[edge.target]) for edge in graph.edges}


def of_kind(graph: Graph, kind: str) -> list[GraphNode]:
    return [node for node in graph.nodes if node.kind == kind]


def test_a_select_from_its_source_to_its_output() -> None:
    graph = graph_of("@name('s') select irstream id, sum(x) as total from A(x > 3)#time(5 sec) group by id having sum(x) > 9")
    assert labelled(graph) == {
        ("A", "", "x > 3"), ("x > 3", "", "#time(5 second)"), ("#time(5 second)", "", "select id"), ("select id", "", "s")}
    assert of_kind(graph, "rows")[0].lines == (
        "select id", "total = sum(x)", "group by id", "having sum(x) > 9", "irstream: insert and remove stream")
    assert of_kind(graph, "output")[0].lines == ("s", "id String", "total Integer")


def test_a_row_pattern_is_an_automaton() -> None:
    graph = graph_of("""@name('s') select * from A match_recognize (measures P.id as p pattern (P Q* R)
        define P as P.x > 1, R as R.x > P.x)""")
    nodes, edges = graph.within("g0")
    first = {node.id: node.lines[0] for node in nodes}
    transitions = {(first[e.source], e.label, first[e.target]) for e in edges}
    assert transitions == {
        ("start", "P", "P"), ("P", "R (1)", "R"), ("P", "Q (2)", "Q*"), ("Q*", "Q (1)", "Q*"), ("Q*", "R (2)", "R")}
    assert [node.lines[0] for node in of_kind(graph, "accept")] == ["R"]
    assert of_kind(graph, "note")[0].lines == ("P: x > 1", "Q: any row", "R: x > P.x", "after a match: skip past last row")


def test_a_pattern_is_a_tree() -> None:
    graph = graph_of("@name('s') select * from pattern [every a=A -> (b=B(id = a.id) and not A(x < 0)) where timer:within(10 sec)]")
    nodes, edges = graph.within("g0")
    assert {node.lines[0] for node in nodes} == {
        "followed by", "every", "a=A", "within 10 second", "and", "b=B where id = a.id, found by id", "not", "A where x < 0, found by x"}
    assert len(edges) == len(nodes) - 1
    assert ("every", "1", "followed by") in labelled(graph) and ("within 10 second", "2", "followed by") in labelled(graph)
    assert {("A", "", "pattern"), ("B", "", "pattern"), ("followed by", "", "pattern")} <= labelled(graph)


def test_a_join_shows_its_look_ups() -> None:
    graph = graph_of("@name('s') select a.x as x, b.y as y from A#keepall as a left outer join B#keepall as b on a.id = b.id")
    lookups = [(node.lines, dict(node.attributes)) for node in of_kind(graph, "lookup")]
    assert lookups == [
        (("b or none", "hash (id) by a.id is b.id"), {"stream": "b", "indexes": ("hash (id)",), "optional": True}),
        (("a", "hash (id) by a.id is b.id"), {"stream": "a", "indexes": ("hash (id)",), "optional": False})]
    assert {("#keepall()", "a", "left join"), ("#keepall()", "b", "left join"), ("a arrives or leaves", "", "b or none")} <= labelled(graph)


def test_sub_queries_tables_and_variables_lead_to_their_readers() -> None:
    graph = graph_of("""create variable int least = 1; create table T(id string primary key, n int);
        @name('s') select (select max(y) from B#lastevent) as m, T[id].n as n from A#length(2) where x > least""")
    assert {("#lastevent()", "", "sub-query: value"), ("sub-query: value", "", "select m = (select max(y) from B)"),
            ("least", "", "where x > least"), ("T", "", "select m = (select max(y) from B)")} <= labelled(graph)


@pytest.mark.parametrize(("text", "edges"), [
    ("create context s start A end after 5 seconds",
     {("with A", "begins", "non-overlapping"), ("after 5 second", "ends", "non-overlapping")}),
    ("create context s initiated by A as a terminated by pattern [B(id = a.id)]",
     {("with A as a", "begins", "overlapping"), ("pattern", "ends", "overlapping")}),
    ("create context s context P partition by id from A, context C group x < 0 as low, group x >= 0 as high from A",
     {("A", "", "P: keyed"), ("P: keyed", "in each partition", "C: category"), ("C: category", "", "s")}),
    ("create context s coalesce by consistent_hash_crc32(id) from A granularity 4", {("A", "", "hash"), ("hash", "", "s")}),
])
def test_contexts(text: str, edges: set[tuple[str, str, str]]) -> None:
    assert edges <= labelled(graph_of(f"@name('s') {text}"))


def test_a_module_is_the_flow_between_its_statements() -> None:
    with Runtime(tier="row") as runtime:
        deployment = runtime.deploy(SCHEMAS + """create context P partition by id from A; create variable int v = 0;
            create window W#keepall as A;
            @name('in') insert into W select * from A; @name('set') on B set v = y; @name('del') on B delete from W where W.id = B.id;
            @name('derive') insert into D select id from W; @name('use') select id, v from D;
            @name('each') context P select count(*) from A""")
        graph = deployment.graph()
    assert labelled(graph) == {
        ("A", "", "P"), ("A", "", "in"), ("in", "insert into", "W"), ("B", "", "set"), ("set", "sets", "v"), ("B", "", "del"),
        ("W", "", "del"), ("del", "", "W"), ("W", "", "derive"), ("derive", "insert into", "D"), ("D", "", "use"), ("v", "", "use"),
        ("A", "", "each"), ("P", "", "each")}
    assert [node.lines[0] for node in of_kind(graph, "statement")] == ["in", "set", "del", "derive", "use", "each"]


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_every_plan_has_a_graph_and_nothing_of_python_shows(path: pathlib.Path) -> None:
    texts = [s["epl"] for trace in json.loads(path.read_text(encoding="utf-8"))[::8] for s in trace["steps"] if s["op"] == "deploy"]
    for text in texts[:6]:
        with Runtime(tier="row") as runtime, warnings.catch_warnings():
            warnings.simplefilter("ignore", EplWarning)
            try:
                deployment = runtime.deploy(text)
            except EplError:
                continue
            for graph in (deployment.graph(), *(statement.graph() for statement in deployment)):
                ids = {node.id for node in graph.nodes}
                assert all(edge.source in ids and edge.target in ids for edge in graph.edges)
                assert {node.group for node in graph.nodes} <= {None, *(group.id for group in graph.groups)}
                if graph.kind == "statement":
                    lines = re.sub(r"'(?:[^'\\]|\\.)*'", "''", "\n".join(line for node in graph.nodes for line in node.lines))
                    assert not re.search(r"<\w+[ .]|object at 0x|\b[A-Z]\w*Plan\b|\w+\(\w+=\w+\(", lines), lines
            json.loads(deployment.explain("json"))


# ---------------------------------------------------------------------- hostile texts

HOSTILE = ['"]; click n0 call alert()', "%%{init: {'securityLevel': 'loose'}}%%", "<img src=x onerror=alert(1)>", "`**b**`",
           "</script><script>", "\\N\\\\\" [URL=\"x\"]", "a\u202eb\u0000c\u2028d",
           "#quot;&lt;&#60;", "end", "1. list", "$$x^2$$", "subgraph x", "\ud800"]


@drawn
@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_of_a_user_is_syntax(hostile: str) -> None:
    node = GraphNode(id="n0", kind="filter", lines=(hostile, "second"))
    graph = Graph(kind="statement", title=hostile, nodes=(node,), edges=())
    with Runtime(tier="row"):
        from runtime.explain.dot import dot
        from runtime.explain.mermaid import mermaid

        label = re.fullmatch(r'flowchart LR\n    n0\[/"(.*)<br>second"/\]:::filter_node\n    classDef [^\n]*\n', mermaid(graph))
        assert label and not re.search(r'["<>`%{}\[\]\n\\&]|#(?!\d+;)', label[1])
        drawn = dot(graph)
        assert drawn.count("\n") == 6
        text = re.search(r'    n0 \[label="((?:[^"\\]|\\.)*)", fillcolor=', drawn)
        assert text and "\\N\\" not in text[1].replace("\\\\", "")
        root = ET.fromstring(svg(graph))
        assert {element.tag.partition("}")[2] for element in root.iter()} <= {
            "svg", "title", "defs", "marker", "path", "g", "rect", "text"}
        assert not any(name.startswith("on") or name == "href" for element in root.iter() for name in element.attrib)


def test_strings_of_epl_stay_strings() -> None:
    with Runtime(tier="row") as runtime:
        statement = runtime.deploy(SCHEMAS + """@name('<b>"]') select '</pre><script>' as c from A(id = '"]<br>')""")[2]
        html = statement._repr_html_()
        assert "<script>" not in html and "<b>\"]" not in html and "&lt;script&gt;" in html
        assert "<script>" not in statement.explain("json")


# ---------------------------------------------------------------------- who shows them


@drawn
def test_what_notebooks_show() -> None:
    with Runtime(tier="row") as runtime:
        deployment = runtime.deploy(SCHEMAS + "@name('s') select * from A#length(3); @name('u') select * from A unidirectional, B#keepall")
        shown = deployment._repr_html_()
        assert shown.startswith("<b>Deployment d0</b>") and "<svg" in shown and "4 statements" in shown
        shown = deployment["s"]._repr_html_()
        assert "select * from A#length(3)" in shown and "row tier" in shown and "<svg" in shown and "no rows" in shown
        assert "Iteration over a unidirectional join is not supported" in deployment["u"]._repr_html_()
        assert "<svg" in picture(runtime.compile("select * from A"))._repr_html_()


def test_without_the_library_the_rest_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fast_sugiyama", None)
    with Runtime(tier="row") as runtime:
        shown = runtime.deploy(SCHEMAS)._repr_html_()
        assert "need fast-sugiyama: pip install" in shown and "<svg" not in shown


@drawn
def test_pictures_are_the_same_each_time() -> None:
    text = SCHEMAS + "@name('s') select * from pattern [every a=A -> b=B]#length(2) as p, A#keepall as q where p.a.id = q.id"
    with Runtime(tier="row") as one, Runtime(tier="row") as two:
        assert svg(one.deploy(text)["s"].graph()) == svg(two.deploy(text)["s"].graph())


def test_formats(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = tmp_path / "m.epl"
    module.write_text(SCHEMAS + "@name('s') select * from A", encoding="utf-8")
    with Runtime(tier="row") as runtime:
        deployment = runtime.deploy(module.read_text(encoding="utf-8"))
        assert deployment.explain() == "\n\n".join(statement.explain() for statement in deployment)
        with pytest.raises(ValueError, match="format is one of 'text', 'json', 'mermaid', 'dot', not 'svg'"):
            deployment.explain("svg")  # type: ignore[arg-type]
        flow = json.loads(deployment.explain("json"))
        assert flow["kind"] == "module" and [s["title"] for s in flow["statements"]][-1] == "s"
    for form, begin in {"mermaid": "flowchart LR", "dot": "digraph plan {", "json": "{", "text": "s: select"}.items():
        assert main(["explain", str(module), "--format", form, "--statement", "s"]) == 0
        assert capsys.readouterr().out.startswith(begin)
    assert main(["explain", str(module), "--statement", "t"]) == 2


def test_plans_show_themselves_in_notebooks() -> None:
    with Runtime() as runtime:
        module = runtime.compile("create schema T(a int); create window W#keepall as T; @name('<s>') select a from T where a < 5")
        html = module._repr_html_()
        assert "&lt;s&gt;: select → a Integer" in html and "<s>" not in html and "tier" not in html
        assert ("<svg" in html) == (find_spec("fast_sugiyama") is not None)
        assert "&lt;s&gt;: select" in module.statements[2]._repr_html_() and "create schema" not in module.statements[2]._repr_html_()
        runtime.deploy(module)
        query = runtime.compile_query("select * from W where a < 5")._repr_html_()
        assert "a &lt; 5" in query and ("<svg" in query) == (find_spec("fast_sugiyama") is not None)


@pytest.mark.parametrize(("query", "edges"), [
    ("select id, count(*) as n from W where id = 'a' group by id", {
        ("W", "", "hash (id) by id = 'a'"), ("hash (id) by id = 'a'", "", "select id"), ("select id", "", "query")}),
    ("select 1 as one", {("one row", "", "select one = 1"), ("select one = 1", "", "query")}),
    ("delete from W where id = 'a'", {("W", "", "delete"), ("delete", "", "W"), ("delete", "", "query")}),
    ("update W set x = x + 1 where id = 'a'", {("W", "", "update"), ("update", "", "W"), ("update", "", "query")}),
    ("insert into W values ('a', 1), ('b', 2)", {("insert 2 rows", "", "W"), ("insert 2 rows", "", "query")}),
])  # fmt: skip
def test_queries_on_demand(query: str, edges: set[tuple[str, str, str]]) -> None:
    with Runtime(tier="row") as runtime:
        runtime.deploy(SCHEMAS + "create window W#keepall as A; create window V#keepall as B")
        assert labelled(picture(runtime.compile_query(query)).graph) == edges


def test_a_query_that_joins_shows_its_look_ups() -> None:
    with Runtime(tier="row") as runtime:
        runtime.deploy(SCHEMAS + "create window W#keepall as A; create window V#keepall as B")
        graph = picture(runtime.compile_query("select w.x as x, v.y as y from W as w, V as v where w.id = v.id and w.id = 'a'")).graph
        assert {("W", "w", "join"), ("V", "v", "join"), ("rows of w", "", "join")} <= labelled(graph)
        assert any(node.lines[0].endswith("has a row") for node in of_kind(graph, "start"))
