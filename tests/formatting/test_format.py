"""``epl.formatting``: meaning and comments stay, formatting twice changes nothing, the style."""

from __future__ import annotations

import json
import pathlib
import random
import re
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import epl.formatting
from epl import syntax as S
from epl.errors import EplError
from epl.formatting import format_module
from epl.formatting.pieces import COMMENT
from epl.grammar.lexis import Tokens
from epl.parse import parse_module
from epl.unparse import unparse
from tests.grammar.test_unparse import atoms, expressions, grow_pattern, grow_rows, reluctant, variables

TESTS = pathlib.Path(__file__).resolve().parents[1]
STYLE = (pathlib.Path(__file__).parent / "style.epl").read_text(encoding="utf-8")


def case_texts() -> list[str]:
    """The statements of all cases, each once."""
    texts: dict[str, None] = {}
    for path in sorted((TESTS / "cases").rglob("*.json")):
        cases = json.loads(path.read_text(encoding="utf-8"))
        for case in cases if isinstance(cases, list) else []:
            for step in case["steps"]:
                for text in re.split(r";\s*\n", step.get("epl", "")):
                    texts[text] = None
    for path in sorted((TESTS / "grammar" / "texts").glob("*.epl")):
        texts.update(dict.fromkeys(path.read_text(encoding="utf-8").split("\n\n")))
    return list(texts)


def words(text: str) -> list[str]:
    return [token.text.lower() for token in Tokens(text).all if token.key != ";"]


def comments(text: str) -> list[str]:
    """All comments, in order but for those that pass a comma or semicolon."""
    tokens = Tokens(text).all
    gaps = [text[: tokens[0].start], *(text[a.end : b.start] for a, b in pairwise(tokens))]
    return sorted(comment.rstrip() for gap in gaps for comment in COMMENT.findall(gap))


def formatted(text: str) -> str:
    """Format, and check what holds of every text."""
    result = format_module(text)
    assert parse_module(result) == parse_module(text)
    assert comments(result) == comments(text)
    assert format_module(result) == result
    return result


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(expressions)
def test_expressions_keep_their_meaning(tree: S.Expression) -> None:
    formatted(unparse(S.Select((S.SelectItem(tree, "x"),), S.From((S.Stream(S.TypeFilter("T")),)))))


@settings(max_examples=60, deadline=None)
@given(st.recursive(atoms, grow_pattern, max_leaves=12))
def test_patterns_keep_their_meaning(tree: S.Pattern) -> None:
    formatted(unparse(S.Select((S.SelectItem(S.Wildcard()),), S.From((S.Stream(S.PatternSource(tree)),)))))


@settings(max_examples=60, deadline=None)
@given(st.recursive(variables | reluctant, grow_rows, max_leaves=8))
def test_row_patterns_keep_their_meaning(tree: S.RowPattern) -> None:
    measures = (S.SelectItem(S.Chain((S.Name("A"),)), "a"),)
    source = S.From((S.Stream(S.TypeFilter("T")),))
    formatted(unparse(S.Select((S.SelectItem(S.Wildcard()),), source, match_recognize=S.MatchRecognize(measures, tree))))


@pytest.mark.slow
def test_texts_of_the_cases_keep_words_and_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    """`format_module` itself compares trees, and keeps a statement as it is if they differ; it must never come to that. The slice is one
    in sixteen: all of them take a minute."""
    as_written = []
    choices = epl.formatting.keyword_choices()
    monkeypatch.setattr(epl.formatting, "keyword_choices", lambda: (*choices, None))
    monkeypatch.setattr(epl.formatting, "lower_keywords", lambda pieces,
        keywords: pieces if keywords is not None else as_written.append(pieces))
    count = 0
    for text in case_texts()[::16]:
        try:
            parse_module(text)
        except EplError:
            continue
        result = format_module(text)
        assert words(result) == words(text)
        count += 1
    assert count > 200
    assert as_written == []


COMMENTS = ("/* c */", "// line\n", "\n// own line\n", "\n/* own line */\n", "\n\n/* two\n lines */ ", "\n/* lead */ ", "/* a */ /* b */")
"""What is put between the words of a text."""


@pytest.mark.slow
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**6))
def test_comments_stay_wherever_they_are(seed: int) -> None:
    rng = random.Random(seed)
    statements = STYLE.split(";\n")[3:]
    text = ";\n".join(rng.choice(statements) for _ in range(rng.choice((1, 2))))
    parts = []
    after = 0
    for token in Tokens(text).all:
        parts.append(text[after : token.start])
        parts += [f" {rng.choice(COMMENTS)} " for _ in range(rng.choice((1, 1, 2)) if rng.random() < 0.15 else 0)]
        parts.append(token.text)
        after = token.end
    formatted("".join(parts))


def test_the_style() -> None:
    """The file shows every clause; written on one line each, its statements come out as they are in it."""
    assert formatted(STYLE) == STYLE
    lines = [" ".join(token.text for token in Tokens(text).all[:-1]) + ";" for text in STYLE.split(";\n") if text.strip()]
    for line, statement in zip(lines, STYLE.split(";\n"), strict=False):
        if not statement.startswith(("uses", "import")) and not any(sign in statement for sign in ("//", "js:", "/*")):
            assert format_module(line).strip() == f"{statement.strip()};"


def test_keywords_become_lower_case_and_names_stay() -> None:
    text = "@NAME('x') SELECT COUNT(*) AS N, First(Price) FROM Trade AS T WHERE T.SELECTED AND Z BETWEEN 1 AND 2 OUTPUT LAST EVERY 2 EVENTS"
    assert formatted(text) == (
        "@NAME('x')\nselect COUNT(*) as N, First(Price)\nfrom Trade as T\nwhere T.SELECTED and Z between 1 and 2\n"
        "output last every 2 events\n"
    )


def test_comments_after_a_comma_or_semicolon_stay_with_the_item() -> None:
    text = "select a // first\n, b, // second\n c /* third */\nfrom T // source\n; // end\n\n\n/* last */"
    assert formatted(text) == (
        "select\n    a,  // first\n    b,  // second\n    c /* third */\nfrom T;  // source\n// end\n\n/* last */\n"
    )


@pytest.mark.parametrize("text", ["", "  \n", ";", " ; ;\n"])
def test_nothing_stays_nothing(text: str) -> None:
    assert format_module(text) == ""


def test_only_comments() -> None:
    assert formatted("// a\r\n\r\n\r\n/* b */  ") == "// a\n\n/* b */\n"


def test_what_is_kept_as_text_stays_as_it_is() -> None:
    text = "create dataflow D\n  Source -> s { a:  1 } // x\n  Sink(s) {};\nexpression js:f(a) [ a  * 2; // y\n] select f(b) from T;\n"
    result = formatted(text)
    assert "Source -> s { a:  1 } // x\n  Sink(s) {};" in result
    assert "[ a  * 2; // y\n]" in result


def test_text_that_is_not_epl_is_refused() -> None:
    with pytest.raises(EplError, match="Incorrect syntax near 'x'"):
        format_module("select 1 fro x")
    with pytest.raises(EplError):
        format_module("select " + "(" * 5000)


def test_deep_and_long_texts() -> None:
    deep = "select " + "(" * 90 + "1" + ")" * 90 + " from T"
    assert len(formatted(deep).splitlines()) > 1
    cases = "select " + "case when a then " * 30 + "1" + " end" * 30 + " as x from T"
    assert parse_module(format_module(cases)).statements[0].name is None
    formatted("select " + " + ".join(["a"] * 200) + " as x, " + " || ".join(["b"] * 200) + " as y from T")
    long = "select " + ", ".join(f"a{i} + b as c{i}" for i in range(150)) + " from T where " + " and ".join(f"a != {i}" for i in range(150))
    assert len(formatted(long).splitlines()) > 300
