"""``epl check``: over many files, with all faults of each, for people and for machines."""

from __future__ import annotations

import json
import pathlib
import sys

import pytest

from runtime.api.runtime import Runtime
from runtime.cli import main


@pytest.fixture
def rules(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A folder ``rules`` that paths are relative to."""
    (tmp_path / "rules").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "rules"


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["check", *arguments])
    done = capsys.readouterr()
    return code, done.out, done.err


def findings(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[str, int, int, str, str | None]]:
    code, out, err = check(capsys, *arguments, "--json")
    assert (code in (0, 1), err) == (True, "")
    return [(d["file"], d["line"], d["column"], d["message"], d["hint"]) for d in json.loads(out)["diagnostics"]]


def test_no_file_and_no_path_ends_the_run(rules: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "a.epl").write_bytes(b"create schema A(id string);\nselect \xe9 from A")
    (rules / "b.epl").write_bytes("select id from A // é\n".encode("utf-16"))
    (rules / "c.epl").write_bytes(b"\xef\xbb\xbfcreate schema C(id string);\r\nselect id from C")
    (rules / "d.epl").write_bytes(b"select \x00 from C")
    (rules / "gone.epl").symlink_to("nowhere")
    code, out, err = check(capsys, "rules", "nope", "gone/too", "empty")
    assert code == 2
    for name in ("nope", "gone/too", "empty"):
        assert f"epl: cannot read {name}: no such file or folder\n" in err
    assert "rules/a.epl:2:8: error: not UTF-8: byte 0xe9 at offset 35 [encoding]" in err
    assert "hint: convert it: iconv -f ISO-8859-1 -t UTF-8 FILE" in err
    assert "rules/b.epl:1:1: error: not UTF-8: byte 0xff at offset 0 [encoding]" in err
    assert "iconv -f UTF-16" in err
    assert "rules/gone.epl:1:1: error: cannot read the file: No such file or directory [unreadable]" in err
    assert "rules/d.epl:1:8: error: Failed to parse" in err
    assert "Traceback" not in err
    assert out.startswith("rules, nope, gone/too, empty: 2 files, 3 statements, 2 accepted (67%), 1 refused, 3 files unreadable\n")
    assert check(capsys, "rules")[0] == 1
    assert check(capsys, "rules/c.epl")[0] == 0


def test_files_are_modules_of_their_own_or_share_one_namespace(rules: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "01.epl").write_text("create schema A(id string);\nselect id from A")
    (rules / "02.epl").write_text("create schema A(ts long);\nselect ts from A;\ncreate variable int v = 1")
    (rules / "03.epl").write_text("select v, nothing(1) from A")
    assert findings(capsys, "rules") == [
        (
            "rules/03.epl", 1, 27, "Failed to resolve event type, named window or table by name 'A'",
            "declared in rules/01.epl:1:1: check the files --together, or give that one by --with",
        )
    ]  # fmt: skip
    together = findings(capsys, "rules", "--together")
    assert together[0] == ("rules/02.epl", 1, 1, "Event type named 'A' has already been declared", "declared in rules/01.epl:1:1")
    assert [line for file, line, *_ in together if file == "rules/02.epl"] == [1, 2]
    assert [d[:3] for d in together if d[0] == "rules/03.epl"] == [("rules/03.epl", 1, 11)]
    shared = findings(capsys, "rules", "--with", "rules/02.epl")
    assert [d[:3] for d in shared] == [("rules/01.epl", 1, 1), ("rules/01.epl", 2, 8), ("rules/03.epl", 1, 11)]


def test_a_module_sees_those_that_it_uses(rules: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "a.epl").write_text("uses m.b; uses lost; select k, w from C")
    (rules / "b.epl").write_text("module m.b; uses m.c; create variable int w = 1; uses x")
    (rules / "c.epl").write_text("module m.c; uses m.b; create schema C(k int)")
    assert findings(capsys, "rules") == []
    (rules / "a.epl").write_text("select k from C")
    assert [d[0] for d in findings(capsys, "rules")] == ["rules/a.epl"]


FAULTS = {
    "select a, no1, b, no2 from T where no3 = 1": [36, 11, 19],
    "select no1 from T": [8],
    "select a from T(no1 = 1, no2 = 2, a = 1)": [17, 26],
    "select a from T group by a having no1 > 1 order by no2, a, no3": [35, 52, 60],
    "@name(5) @Priority @Tag(name='x') select no1 from T": [1, 10, 20, 42],
    "create schema S(a int, b nothing, c com.acme.X, d string)": [26, 37],
    "select no1, sum(a) as total from T group by a having total > 1 order by no1": [8],
    "insert into S select no1 as x, a as y from T": [22],
    "select * from T match_recognize (measures A.a as x pattern (A B C) define A as A.no1 > 1, B as B.no2 > 2, C as C.a > 1)": [80, 96],
    "select * from Nothing where x = 1": [15],
    "select a from T#nothing(5) where no1 = 1": [17],
}


@pytest.mark.parametrize("text", FAULTS)
def test_all_faults_of_a_statement(rules: pathlib.Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (rules / "t.epl").write_text(f"create schema T(a int, b int);\n{text};\nselect no9 from T")
    found = findings(capsys, "rules")
    assert [column for _, line, column, *_ in found if line == 2] == FAULTS[text]
    assert [column for _, line, column, *_ in found if line == 3] == [8]
    assert "rules: 1 file, 3 statements, 1 accepted (33%), 2 refused\n" in check(capsys, "rules")[1]


def test_statements_without_a_semicolon_between_are_each_checked(rules: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "t.epl").write_text("create schema A(id string)\nselect id from A\n@name('x') select no from A\nselect * from A")
    found = findings(capsys, "rules")
    assert [(line, column) for _, line, column, *_ in found] == [(2, 1), (3, 1), (4, 1), (3, 19)]
    assert {hint for *_, hint in found[:3]} == {
        f"'{word}' begins another statement: write a semicolon between the two" for word in ("select", "@")
    }
    code, out, _ = check(capsys, "rules")
    assert (code, out.splitlines()[0]) == (1, "rules: 1 file, 4 statements, 1 accepted (25%), 3 refused")


def test_unknown_annotations_are_warnings(rules: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "r.epl").write_text("create schema A(id string);\n@RSAAlert(oneInSeconds=5) select id from A;\n@RSAAlert select no from A")
    code, out, err = check(capsys, "rules")
    assert code == 1
    warning = "Annotation '@RSAAlert' is not one of Esper's: it is kept as metadata and has no effect [annotation]"
    assert f"rules/r.epl:2:1: warning: {warning}\n" in err
    assert "    @RSAAlert(oneInSeconds=5) select id from A\n    ^^^^^^^^^^^^^^^^^^^^^^^^^\n" in err
    assert "rules/r.epl:3:18: error: Failed to validate select-clause expression 'no'" in err
    assert out.startswith("rules: 1 file, 3 statements, 2 accepted (67%), 1 refused, 2 warnings\n")
    assert [d[1:3] for d in findings(capsys, "rules", "--import", "com.rsa.RSAAlert")] == [(3, 18)]


def test_every_refusal_has_line_column_and_caret(rules: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["select id from A group by id having v > avg(id)", "select prev(1, *) from A", "on A select *", "select from", "'", "$"]
    (rules / "a.epl").write_text("create schema A(id string, v int);\n" + ";\n".join(texts))
    _, _, err = check(capsys, "rules")
    shown = err.splitlines()
    errors = [n for n, line in enumerate(shown) if ": error: " in line]
    assert len(errors) >= len(texts) - 1
    for number in errors:
        assert shown[number].split(":")[1].isdigit() and shown[number].split(":")[2].isdigit()
        assert set(shown[number + 2].strip()) == {"^"}


def test_json_has_the_documented_shape(rules: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "a.epl").write_text("create schema A(id string);\nselect\n  idd from A")
    code, out, err = check(capsys, "rules", "--json")
    assert (code, err) == (1, "")
    found = json.loads(out)
    assert found.pop("tool_version")
    message = "Failed to validate select-clause expression 'idd': Property named 'idd' is not valid in any stream (did you mean 'id'?)"
    assert found == {
        "version": 1, "tool": "epl-spark", "files": 1, "unreadable": 0, "statements": 2, "accepted": 1, "refused": 1, "warnings": 0,
        "diagnostics": [
            {
                "file": "rules/a.epl", "line": 3, "column": 3, "end_line": 3, "end_column": 6, "severity": "error", "code": "validation",
                "message": message, "hint": None,
            }
        ],
        "causes": [
            {
                "cause": "validation: Failed to validate select-clause expression …: Property named … is not valid in any stream "
                "(did you mean …?)",
                "count": 1,
            }
        ],
        "undeclared": [],
    }  # fmt: skip


def test_sarif_is_what_code_scanning_takes(rules: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "a b.epl").write_text("create schema A(id string);\n@Own select\n  id from A;\nselect == from A")
    (rules / "c.epl").write_bytes(b"\xff")
    code, out, err = check(capsys, "rules", str(rules / "a b.epl"), "--sarif")
    assert (code, err) == (1, "")
    sarif = json.loads(out)
    assert (sarif["version"], sarif["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
    (run,) = sarif["runs"]
    rules_of = run["tool"]["driver"]["rules"]
    assert (run["tool"]["driver"]["name"], run["columnKind"]) == ("epl check", "unicodeCodePoints")
    uris = set()
    for result in run["results"]:
        assert rules_of[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning") and result["message"]["text"]
        (location,) = result["locations"]
        region = location["physicalLocation"]["region"]
        assert all(isinstance(region[k], int) and region[k] >= 1 for k in ("startLine", "startColumn", "endLine", "endColumn"))
        assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])
        uris.add(location["physicalLocation"]["artifactLocation"]["uri"])
    assert uris == {"rules/a%20b.epl", "rules/c.epl", (rules / "a b.epl").as_uri()}
    assert {r["ruleId"] for r in run["results"]} == {"annotation", "syntax", "encoding"}


def test_a_fault_of_the_engine_is_reported_and_the_rest_is_checked(
    rules: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (rules / "a.epl").write_text("create schema A(id string);\n select id from A;\nselect no from A")
    deploy = Runtime.deploy

    def fails(self: Runtime, module: str, **options: object) -> object:
        if "select id" in module:
            raise ZeroDivisionError("oops")
        return deploy(self, module, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Runtime, "deploy", fails)
    code, out, err = check(capsys, "rules")
    assert code == 1
    assert "rules/a.epl:2:2: error: internal error: ZeroDivisionError: oops [internal]" in err
    assert "rules/a.epl:3:8: error:" in err
    assert "3 statements, 1 accepted (33%), 2 refused" in out


def test_commands_for_github_actions(rules: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "a,b.epl").write_text("create schema A(id string);\nselect idd, '100%' as x\n from A;\n-- note\nselect id from A\n")
    code, out, err = check(capsys, "rules", "--format", "github")
    lines = out.splitlines()
    assert (code, err, len(lines)) == (1, "", 3)
    assert lines[0].startswith("::error file=rules/a%2Cb.epl,line=2,endLine=2,col=8,endColumn=11,title=epl validation::Failed to validate")
    assert "%0Ahint: " in lines[1]
    assert lines[1].startswith("::error file=rules/a%2Cb.epl,line=4,")
    assert lines[2] == "epl check: 1 file, 3 statements, 1 accepted (33%), 2 refused"


def test_what_a_refused_statement_leads_to_is_one_line(rules: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "a.epl").write_text(
        "create schema Tick(s string, n int);\ncreate context Ten start @now end after ten sec;\n"
        "insert into Totals select s, summ(n) as total from Tick;\nselect total from Totals where total > 5;\n"
        "context Ten select s from Tick;\nselect * from pattern [every a=Totals -> b=Totals(s=a.s)]"
    )
    code, out, err = check(capsys, "rules")
    assert code == 1 and [line for line in err.splitlines() if "[dependent]" in line] == [
        "rules/a.epl:4:19: error: needs 'Totals': rules/a.epl:3:1 is refused [dependent]",
        "rules/a.epl:5:13: error: needs 'Ten': rules/a.epl:2:1 is refused [dependent]",
        "rules/a.epl:6:30: error: needs 'Totals': rules/a.epl:3:1 is refused [dependent]",
    ]
    assert "     3  needs what a refused statement declares\n" in out and err.count("    hint:") <= 2


def test_a_context_of_another_file_is_named(rules: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "a.epl").write_text("create context Ten start @now end after 10 sec;")
    (rules / "b.epl").write_text("create schema A(n int);\ncontext Ten select n from A")
    assert findings(capsys, "rules")[0][4] == "declared in rules/a.epl:1:1: check the files --together, or give that one by --with"
    assert check(capsys, "rules", "--together")[0] == 0


def test_undeclared_types_are_listed_once_with_what_is_read_of_them(rules: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rules / "a.epl").write_text(
        "@Rule(x=1) select price, upper(symbol) as u from Trade(volume > 3)#time(5) where side = 'b' group by price;\n"
        "@Rule(x=2) select t.venue from Trade#keepall as t, Quote#keepall as q where q.bid = t.ask;\n"
        "@Rule(x=3) select * from pattern [every a=Trade -> b=Quote(lot > a.lots)]"
    )
    code, out, err = check(capsys, "rules")
    assert code == 1 and err.count("Failed to resolve event type") == 1 and err.count("@Rule' is not one of Esper's") == 1
    assert out.endswith(
        "     3  warning: Annotation '@Rule' is not one of Esper's: it is kept as metadata and has no effect\n"
        "event types that are declared nowhere, with the properties that statements read:\n"
        "        create schema Trade(ask …, lots …, price …, side …, symbol …, venue …, volume …)\n"
    )
    assert json.loads(check(capsys, "rules", "--json")[1])["undeclared"][0]["type"] == "Trade"


CONFIG = (
    "<esper-configuration><compiler><plugin-singlerow-function name='norm' function-class='X' function-method='y'/>"
    "<plugin-aggregation-function name='topK' factory-class='Z'/></compiler></esper-configuration>"
)
SETUP = '''
class Top:
    def __init__(self) -> None:
        self.values: list[int] = []
    def enter(self, k: int, value: int) -> None:
        self.values.append(value)
    def leave(self, k: int, value: int) -> None:
        self.values.remove(value)
    def value(self) -> int:
        return max(self.values)
    def clear(self) -> None:
        self.values = []
    def state(self) -> list[int]:
        return self.values
    def restore(self, state: list[int]) -> None:
        self.values = list(state)
def norm(text: str) -> int:
    return len(text)
def register(runtime):
    runtime.register_function("norm", norm)
    runtime.register_aggregation("topK", Top)
'''
MODULE = (
    "create schema A(s string, n int);\n@name('a') select norm(s) as u, topK(5, n) as t from A#length(4);\n"
    "@name('b') select norm(s) + 1 as u from A"
)


def test_functions_of_java_are_known_and_registered_by_setup(
    rules: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (rules / "a.epl").write_text(MODULE)
    pathlib.Path("c.xml").write_text(CONFIG)
    pathlib.Path("acme_rules.py").write_text(SETUP)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "acme_rules", None)  # so that the end of the test takes what was imported out
    del sys.modules["acme_rules"]
    assert len(findings(capsys, "rules")) == 3
    assert [(line, hint) for _, line, _, _, hint in findings_beside_warnings(capsys, "rules", "--config", "c.xml")] == [
        (3, "'norm' is Java's, its type is unknown here: a module of --setup registers one with types")]
    assert check(capsys, "rules", "--config", "c.xml", "--setup", "acme_rules")[0] == 0
    assert main(["explain", "rules/a.epl", "--setup", "acme_rules"]) == 0
    pathlib.Path("e.jsonl").write_text('{"s": "abc", "n": 3}\n')
    assert main(["run", "rules/a.epl", "--events", "e.jsonl", "--type", "A", "--setup", "acme_rules", "--format", "json"]) == 0
    assert [json.loads(line)["new"] for line in capsys.readouterr().out.splitlines() if line.startswith("{")] == [
        [{"u": 3, "t": 3}], [{"u": 4}]]
    case = {"cases": [{"name": "one", "steps": [
        {"op": "event", "type": "A", "props": {"s": "abc", "n": 3}, "out": [
            {"statement": "a", "new": [{"u": 3, "t": 3}]}, {"statement": "b", "new": [{"u": 4}]}]}]}]}
    (rules / "a.test.json").write_text(json.dumps(case))
    assert main(["test", "rules/a.test.json", "--setup", "acme_rules"]) == 0
    assert main(["test", "rules/a.test.json"]) == 1
    assert main(["check", "rules", "--setup", "no_such_module"]) == 2
    assert "epl: --setup no_such_module: No module named 'no_such_module'" in capsys.readouterr().err


def findings_beside_warnings(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[tuple[str, int, int, str, str | None]]:
    """As ``findings``, where the configuration has remarks."""
    _, out, _ = check(capsys, *arguments, "--json")
    return [(d["file"], d["line"], d["column"], d["message"], d["hint"]) for d in json.loads(out)["diagnostics"]]
