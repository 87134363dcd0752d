"""What the parser makes of texts: trees, spans, errors; and that no text brings it down."""

from __future__ import annotations

import subprocess
import sys

import pytest

from epl import syntax as S
from epl.errors import EplSyntaxError, EplValidationError
from epl.parse import parse_expression, parse_module, parse_query, parse_statement, preceding_statements
from tests.calls import calls


def name(text: str) -> S.Chain:
    return S.Chain(tuple(S.Name(part) for part in text.split(".")))


def number(value: int) -> S.Literal:
    return S.Literal(value, "int")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * 2", S.Binary("+", name("a"), S.Binary("*", name("b"), number(2)))),
        ("a - b - 1", S.Binary("-", S.Binary("-", name("a"), name("b")), number(1))),
        ("-1", number(-1)),
        ("-a", S.Unary("-", name("a"))),
        ("not a = 1 and b", S.Logical("and", (S.Unary("not", S.Comparison("=", name("a"), number(1))), name("b")))),
        ("a < 1 = b", S.Comparison("=", S.Comparison("<", name("a"), number(1)), name("b"))),
        ("a <> 1", S.Comparison("!=", name("a"), number(1))),
        ("a is not null", S.Comparison("is not", name("a"), S.Literal(None, "null"))),
        ("a in [1:2)", S.InRange(name("a"), number(1), number(2), include_low=True, include_high=False)),
        ("a not in (1, 2)", S.In(name("a"), (number(1), number(2)), negated=True)),
        ("a = some (1)", S.QuantifiedComparison("=", "any", name("a"), (number(1),))),
        ("m('k')?.x[0]", S.Chain((S.Call("m", (S.Literal("k", "string"),), optional=True), S.Name("x"), S.Index((number(0),))))),
        ("f(x => x, (y, z) => z)", S.Chain((S.Call("f", (S.Lambda(("x",), name("x")), S.Lambda(("y", "z"), name("z")))),))),
        ("f(1 min 2 sec)", S.Chain((S.Call("f", (S.TimePeriod((("minute", number(1)), ("second", number(2)))),)),))),
        ("cast(a as int[primitive])", S.Cast(name("a"), S.TypeName("int", dimensions=1, primitive=True))),
        ("sum(distinct a, filter: b)", S.Chain((S.Call("sum", (name("a"), S.NamedArgument("filter", name("b"))), distinct=True),))),
        ("`order`.a\\.b", S.Chain((S.Name("order"), S.Name("a.b")))),
        ("'a\\'b\\n\\u0041'", S.Literal("a'bnA", "string")),
        ("3000000000", S.Literal(3000000000, "long")),
        ("0x1F", S.Literal(31, "byte")),
        ("1.5f", S.Literal(1.5, "float")),
        ("?:p:int", S.SubstitutionParameter("p", S.TypeName("int"))),
        ("current_timestamp.get('day')", S.Chain((S.Call("get", (S.Literal("day", "string"),)),), S.CurrentTimestamp())),
    ],
)
def test_expressions(text: str, tree: S.Expression) -> None:
    assert parse_expression(text) == tree


def test_module_header_and_statement_texts() -> None:
    text = "module a.b; uses c.d; import e.f.*;\n// first\n@name('x') select * from T;;\n/* second */ select 1 as one from U ;"
    module = parse_module(text)
    assert (module.name, module.uses, module.imports) == ("a.b", ("c.d",), ("e.f.*",))
    assert [statement.text for statement in module.statements] == ["@name('x') select * from T", "select 1 as one from U"]
    assert module.statements[0].name == "x"


def test_spans_point_into_the_module() -> None:
    text = "select a from T;  select  b + 1 as c from U"
    item = parse_module(text).statements[1].body.items[0]  # type: ignore[attr-defined]
    assert item.expression.span is not None
    assert text[item.expression.span.start : item.expression.span.end] == "b + 1"


def test_old_and_new_data_windows_differ_in_namespace_alone() -> None:
    old = parse_statement("select * from T.win:time(10 sec).std:unique(a)").body
    new = parse_statement("select * from T#win:time(10 sec)#std:unique(a)").body
    assert old == new


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("select * form T", "Incorrect syntax near 'form'", (1, 10)),
        (
            "select *\nfrom T where (a",
            "Incorrect syntax near end-of-input expecting a closing parenthesis ')' but found end-of-input",
            (2, 16),
        ),
        ("select order from T", "Incorrect syntax near 'order' (a reserved keyword)", (1, 8)),
        ("create schema S(a int b int)", "Incorrect syntax near 'b'", (1, 23)),
        ("select 'abc from T", "Incorrect syntax near '", (1, 8)),
        ("select a; selct b", "Incorrect syntax near 'selct'", (1, 11)),
    ],
)
def test_mistakes_are_shown_where_they_are(text: str, message: str, position: tuple[int, int]) -> None:
    with pytest.raises(EplSyntaxError) as caught:
        parse_module(text)
    assert caught.value.message.startswith(message)
    assert caught.value.position == position
    assert "^" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("select * form T", "did you mean 'from'?"),
        ("selct a from T", "did you mean 'select'?"),
        ("select * from T wher a = 1", "did you mean 'where'?"),
    ],
)
def test_near_misses_are_guessed(text: str, hint: str) -> None:
    with pytest.raises(EplSyntaxError) as caught:
        parse_module(text)
    assert caught.value.hint == hint


@pytest.mark.parametrize("text", ["a = b = c", "a < b < c", "a & b & c", "1_000", "0xFF"])
def test_what_esper_reads_and_cannot_mean_is_no_syntax_error(text: str) -> None:
    with pytest.raises(EplValidationError):
        parse_expression(text)


def test_queries_and_statements_are_told_apart() -> None:
    assert isinstance(parse_query("insert into W(a) values (1), (2)").body, S.InsertValues)
    assert isinstance(parse_query("update W set a = 1 where b").body, S.FafUpdate)
    assert isinstance(parse_query("delete from W as w").body, S.FafDelete)
    with pytest.raises(EplValidationError, match="continuous query"):
        parse_query("create window W#keepall as T")
    with pytest.raises(EplValidationError, match="on-demand query"):
        parse_module("delete from W")


def nested(depth: int, opening: str, inner: str, closing: str) -> str:
    return opening * depth + inner + closing * depth


@pytest.mark.parametrize(
    "text",
    [
        "select " + nested(2000, "(", "1", ")") + " from T",
        "select " + nested(2000, "f(", "1", ")") + " from T",
        "select " + nested(2000, "{", "", "}") + " from T",
        "select " + "(" * 2000,
        "select " + nested(90, "cast(", "a", ", int)") + " from T",
        "select " + nested(90, "f(x => ", "1", ")") + " from T",
        "select " + nested(90, "(select a from ", "T", ")") + " from T",
        "select " + nested(400, "case when true then ", "1", " end") + " from T",
        "select " + "not " * 3000 + "a from T",
        "select " + "a + " * 30000 + "b from T",
        "select " + "a and " * 20000 + "b from T",
        "select " + "a." * 50000 + "b from T",
        "select " + "a, " * 30000 + "b from T",
        "select * from pattern [" + nested(90, "(", "A", ")") + "]",
        "select * from pattern [" + "every " * 10000 + "A]",
        "select * from pattern [" + "A -> " * 20000 + "A]",
        "select * from T match_recognize (measures A.a as a pattern (" + nested(90, "(", "A", ")*") + "))",
        "select a from T;" * 6000,
        "@a" * 30000,
        "'" + "x" * 100000,
    ],
    ids=lambda text: f"{text[:24]}…{len(text)}",
)
def test_no_text_brings_the_parser_down(text: str) -> None:
    with calls(most=400 * len(text)):
        try:
            parse_module(text)
        except (EplSyntaxError, EplValidationError) as error:
            assert error.span is not None


def test_semicolons_within_a_string_end_no_statement() -> None:
    text = "create schema A(x int); select '" + ";" * 100_000 + "' as x frm A"
    with calls(most=200_000):
        before = preceding_statements(text, text.index("frm"))
    assert before is not None and len(before.statements) == 1
    assert preceding_statements("select ';' as x frm A", 16) is None


def test_deep_nesting_is_refused_by_name() -> None:
    with pytest.raises(EplSyntaxError, match="nested too deeply"):
        parse_expression(nested(2000, "(", "1", ")"))
    assert parse_expression(nested(50, "(", "1", ")")) == number(1)


def test_pyparsings_cache_of_another_package_changes_no_error() -> None:
    """matplotlib turns it on for the whole process; a failure in the cache would be noted nowhere."""
    script = """
from pyparsing import ParserElement
from epl.errors import EplSyntaxError
from epl.parse import parse_module

def words(text):
    try:
        return repr(parse_module(text).statements[-1].body)[:200]
    except EplSyntaxError as error:
        return str(error)

texts = ["select a from T where ( a > ", "select a from T match_recognize (measures A.x as a pattern (A define",
         "select n from A match_recognize (order by x measures COUNT(*) as n pattern (B+) define B as x > 0)"]
before = [words(text) for text in texts]
ParserElement.enable_packrat()
for _ in range(3):
    assert [words(text) for text in texts] == before, [words(text) for text in texts]
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
