"""The Pygments lexer and the TextMate grammar."""

from __future__ import annotations

import json
import pathlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments import highlight, lex
from pygments.formatters import HtmlFormatter
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String

from epl.parse import keywords
from epl_spark_pygments import EplLexer
from runtime.tools import lexer, textmate
from runtime.tools.colours import rules
from runtime.tools.vocabulary import vocabulary

ROOT = pathlib.Path(__file__).resolve().parents[2]
STYLE = (ROOT / "tests" / "formatting" / "style.epl").read_text(encoding="utf-8")


def coloured(text: str) -> dict[str, object]:
    return {value: kind for kind, value in lex(text, EplLexer()) if value.strip()}


def test_kinds_of_words() -> None:
    text = (
        "@Name('x') /* c */ select sum(price) as p, t.count, t.f(1), true from Trade#time(10 sec).win:length(2) as t "
        "where a is not null and `order` = 1.5e3 // end"
    )
    assert coloured(text) == coloured(text) | {
        "@Name": Name.Decorator, "'x'": String, "/* c */": Comment.Multiline, "select": Keyword, "sum": Name.Builtin, "price": Name,
        "count": Name.Attribute, "f": Name.Function, "true": Keyword.Constant, "Trade": Name, "time": Name.Builtin, "10": Number,
        "sec": Keyword, "win": Name.Namespace, "length": Name.Builtin, "is": Operator.Word, "`order`": Name, "1.5e3": Number,
        "// end": Comment.Single,
    }  # fmt: skip
    assert coloured("SELECT Sum(x)")["SELECT"] is Keyword
    assert coloured("create schema A(id string, key int)")["string"] is Keyword.Type


def test_the_words_are_those_of_the_grammar() -> None:
    words = vocabulary()
    assert {*words.keywords, *words.operators, *words.constants} == keywords()
    assert {"match_recognize", "inherits", "define", "event-precedence", "msec"} <= keywords()
    assert {rule.kind for rule in rules()} == lexer.TOKENS.keys() == textmate.SCOPES.keys()


@pytest.mark.parametrize("path", [*sorted((ROOT / "tests" / "grammar" / "texts").glob("*.epl")), None])
def test_text_stays_and_has_no_errors(path: pathlib.Path | None) -> None:
    text = STYLE if path is None else path.read_text(encoding="utf-8")
    tokens = list(EplLexer(stripnl=False, ensurenl=False).get_tokens(text))
    assert "".join(value for _, value in tokens) == text
    assert [value for kind, value in tokens if kind is Error] == []


@given(st.text(alphabet="ab1 .'\"`/*@#:\n()é<>&", max_size=60))
def test_any_text_is_coloured_and_escaped(text: str) -> None:
    tokens = EplLexer(stripnl=False, ensurenl=False).get_tokens(text)
    assert "".join(value for _, value in tokens) == text
    assert re.sub(r"</?(div|pre|span)[^<>]*>", "", highlight(text, EplLexer(), HtmlFormatter())).count("<") == 0


def test_the_file_for_editors_is_current() -> None:
    """``python -m runtime.tools.textmate > editors/epl.tmLanguage.json`` writes it."""
    assert (ROOT / "editors" / "epl.tmLanguage.json").read_text(encoding="utf-8") == textmate.text()
    for rule in rules():
        re.compile(rule.pattern)
    extension = json.loads((ROOT / "editors" / "package.json").read_text(encoding="utf-8"))["contributes"]
    assert (ROOT / "editors" / extension["grammars"][0]["path"]).exists()
    assert (ROOT / "editors" / extension["languages"][0]["configuration"]).exists()


def test_the_module_for_pygments_is_current() -> None:
    """``python -m runtime.tools.lexer > epl_spark_pygments.py`` writes it."""
    assert (ROOT / "epl_spark_pygments.py").read_text(encoding="utf-8") == lexer.text()
