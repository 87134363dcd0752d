"""Patterns by RE2 and by Python's engine give the same; what could take long is never given to Python's engine."""
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.errors import EplError, EplRuntimeError, EplUnsupportedError
from epl.functions import java_strings, patterns
from epl.functions.java_regex import DEEPEST, LONGEST_PATTERN, UnsupportedPattern, translate
from epl.functions.java_values import JavaException
from epl.functions.linear_regex import NotLinear, linear
from epl.functions.patterns import MOST_STEPS, QUICK_STEPS, JavaPattern, find_successive, java_pattern
from runtime import Runtime

ATOMS = st.sampled_from([
    "a", "b", "k", "S", "é", ".", "[ab]", "[^a]", "[^k]", "[a-k]", "[^\\s]", "\\d", "\\w", "\\W", "\\s", "\\S", "\\h", "\\v", "\\R",
    "\\p{L}",
    "\\P{Lu}", "\\p{Punct}", "[\\p{Alpha}é]",
    "\\x61", "\\u0062", "\\t", "\\.", "\\n", "\\Qa.\\E", "\\b", "\\B", "^", "$", "\\A", "\\z", "\\Z", "(?i)",
    "]", "}", "-", " ", "\\-",
    "[\\]\\[^-]", "[a\\-b]", "[&~|]", "\\x{1F600}", "[^\\x{1F600}]",
])
QUANTIFIERS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,1}", "{2,}", "*?", "+?", "??", "{1,2}?"])
PATTERNS = st.recursive(
    st.tuples(ATOMS, QUANTIFIERS).map(lambda p: p[0] + p[1] if p[0] not in ("(?i)", "^", "$", "\\A", "\\z", "\\Z") else p[0]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join).map(lambda p: f"({p})"),
        st.tuples(st.sampled_from(["({})", "(?:{})", "(?<n>{})", "(?i:{})", "(?s:{})", "(?s-i:{})"]), inner, QUANTIFIERS).map(
            lambda p: p[0].format(p[1]) + p[2])),
    max_leaves=8)
TEXTS = st.text(alphabet="aAbBkKsS.- \n\r\t\x85\u2028é\u212a\u017f1_]}\U0001F600\ud800", max_size=7)


def shown(matches: Any) -> list[tuple[int, int, tuple[Any, ...]]]:
    return [(m.start(), m.end(), m.groups()) for m in matches]


@settings(max_examples=400)
@given(PATTERNS, st.lists(TEXTS, min_size=1, max_size=6))
def test_both_engines_say_the_same(pattern: str, texts: list[str]) -> None:
    try:
        python, _ = translate(pattern)
        by_re2 = linear(pattern)
    except (NotLinear, EplUnsupportedError, JavaException):
        return
    for text in texts:
        if by_re2.takes(text):
            assert by_re2.matches(text) == (python.fullmatch(text) is not None), (pattern, text)
            if by_re2.finds_alike:
                assert shown(by_re2.finditer(text)) == shown(find_successive(python, text)), (pattern, text)


# ------------------------------------------------------------------ steps


HOSTILE = [
    ("(a+)+$", "a" * 5000 + "!"), ("(a|a)*b", "a" * 5000), ("(a|aa)+$", "a" * 5000 + "!"), ("(.*a){20}", "a" * 19 + "b" * 3000),
    ("(x+x+)+y", "x" * 5000), ("([a-zA-Z]+)*\\d", "a" * 5000), ("(?i)(k+)+$", "kK" * 3000 + "é!"), (".*.*.*=.*", "x" * 5000),
    ("(\\w+\\s?)*:", "word " * 1000), ("(a?){50}a{50}", "a" * 49), ("((a*)*)*b", "a" * 3000), ("(\\R|\\s)*x", "\r\n" * 2000),
]
WITHOUT_RE2 = [
    ("(?=x)(a+)+$", "x" + "a" * 60), ("(a+)+(?!b)c", "a" * 60), ("((a+)b?\\2)*c", "a" * 60), ("(?x) (a +) + c", "a" * 60),
    ("(?>a*)(b+)+c", "b" * 60), ("([a-z&&[^x]]+)+!", "a" * 60), (".*.*.*.*.*.*(?=x)y", "a" * 200), ("(?m)(a+)+$c", "a" * 60),
]


class Untouched:
    """In place of a compiled pattern that must not be tried."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("Python's engine was asked")


def hidden(pattern: str) -> JavaPattern:
    found = JavaPattern(pattern)
    found._python = Untouched()  # type: ignore[assignment]
    return found


@pytest.mark.parametrize(("pattern", "text"), HOSTILE, ids=[p for p, _ in HOSTILE])
def test_long_ways_are_gone_by_re2(pattern: str, text: str) -> None:
    assert not hidden(pattern).matches(text)
    if linear(pattern).finds_alike:
        assert len(list(hidden(pattern).finditer(text))) <= len(text)


@pytest.mark.parametrize(("pattern", "text"), WITHOUT_RE2, ids=[p for p, _ in WITHOUT_RE2])
def test_what_re2_has_not_has_a_longest_text(pattern: str, text: str) -> None:
    message = f"over a string of {len(text)} characters may take more than {MOST_STEPS} steps"
    with pytest.raises(EplRuntimeError, match=message):
        hidden(pattern).matches(text)
    with pytest.raises(EplRuntimeError, match=message):
        hidden(pattern).finditer(text)
    assert not JavaPattern(pattern).matches(text[:3])


@pytest.mark.parametrize(("pattern", "text", "answer"), [
    ("^(?=.*[A-Z])(?=.*\\d).{8,}$", "Passw0rd" * 5, True), ("(\\w)\\1", "aa", True), ("(?<!x)a(?!b)", "a", True),
    ("a*+b", "a" * 900 + "b", True),
    ("(?i).*(one|two|three|four|five|six|seven|eight|nine|ten).*", "Müller says SEVEN " + "é" * 500, True),
    ("(?m)^b$", "b", True),
    ("[a-z&&[^aeiou]]+", "xyz" * 300, True)])
def test_what_people_write_runs(pattern: str, text: str, answer: bool) -> None:
    assert java_pattern(pattern).matches(text) == answer


Node = Any
NODES = st.recursive(
    st.sampled_from(["a", "b"]), lambda inner: st.one_of(
        st.tuples(st.just("cat"), st.lists(inner, min_size=1, max_size=3)),
        st.tuples(st.just("alt"), st.lists(inner, min_size=2, max_size=3)),
        st.tuples(st.just("star"), inner)), max_leaves=6)


def written(node: Node) -> str:
    if isinstance(node, str):
        return node
    kind, inside = node
    return f"({written(inside)})*" if kind == "star" else f"({('|' if kind == 'alt' else '').join(map(written, inside))})"


class TooMany(Exception):
    pass


def steps_of(node: Node, text: str, most: float) -> int:
    """Characters compared by a backtracking engine that tries every way."""
    count = 0

    def run(node: Node, place: int, then: Any) -> None:
        nonlocal count
        if isinstance(node, str):
            count += 1
            if count > most:
                raise TooMany
            if text[place:place + 1] == node:
                then(place + 1)
        elif node[0] == "cat":
            parts = node[1]
            run(parts[0], place, then if len(parts) == 1 else lambda p: run(("cat", parts[1:]), p, then))
        elif node[0] == "alt":
            for part in node[1]:
                run(part, place, then)
        else:
            run(node[1], place, lambda p: run(node, p, then) if p > place else None)
            then(place)

    run(node, 0, lambda _: None)
    return count


@settings(max_examples=300)
@given(NODES, st.text(alphabet="ab", max_size=8))
def test_the_cost_bounds_the_steps(node: Node, text: str) -> None:
    pattern = written(node)
    most = translate(pattern)[1].whole(len(text)) * len(pattern)
    assert steps_of(node, text, min(most, 100_000)) <= most


def test_the_longest_quick_text() -> None:
    for pattern in ("a", "a+b", "a+b+", "(a+)+", "(a|b)+c*"):
        cost = translate(pattern)[1]
        found = patterns.longest(cost.whole, QUICK_STEPS)
        assert cost.whole(found) <= QUICK_STEPS < cost.whole(found + 1)


@pytest.mark.parametrize("pattern", [
    "(" * (DEEPEST + 1) + "a" + ")" * (DEEPEST + 1), "[a" * 3000 + "]" * 3000, "(?i)a" + "(?s)" * 3000, "a" * (LONGEST_PATTERN + 1),
    "\\p{L}" * 3000])
def test_large_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedPattern):
        java_pattern(pattern)


# ------------------------------------------------------------------ where patterns come from


def test_methods_of_texts() -> None:
    text, pattern = "a" * 5000 + "!", "(a+)+$"
    assert java_strings.replace_all(text, pattern, "x") == text and java_strings._replace_first(text, pattern, "x") == text
    assert java_strings._split(text, pattern) == [text]
    assert java_strings.replace_all("ab" * 3000, "(a+)+(b)", "$2$1") == "ba" * 3000
    assert java_strings.replace_all("aab", "a*?", "<$0>") == "<>a<>a<>b<>"  # as Java has it
    assert java_strings.replace_all("abab", "(?<x>a)|b", "[${x}]") == "[a][][a][]"


@pytest.mark.parametrize(("tier", "expression", "answer"), [
    ("row", "a regexp '(a+)+$'", False), ("batch", "a regexp '(a+)+$'", False), ("row", "a regexp p", False),
    ("row", "a.matches(p)", False), ("batch", "a.matches('(a+)+$')", False), ("row", "a.replaceAll(p, 'x').length()", 501),
    ("row", "a.split(p).size()", 1)])
def test_statements(tier: str, expression: str, answer: Any) -> None:
    runtime = Runtime(tier=tier)
    runtime.deploy(f"create schema X(a string, p string); @name('s') select {expression} as r from X")
    found: list[Any] = []
    runtime.statement("s").add_listener(lambda new, *_: found.extend(row["r"] for row in new))
    runtime.send("X", {"a": "a" * 500 + "!", "p": "(a+)+$"})
    assert found == [answer]


def test_an_event_with_a_hostile_pattern_harms_nothing() -> None:
    errors: list[BaseException] = []
    runtime = Runtime(on_error=lambda error, *_: errors.append(error))
    runtime.deploy("create schema X(a string, p string); @name('s') select a from X(a regexp p); @name('n') select count(*) as n from X")
    for pattern in ("(?=a)(a+)+$", "(" * 3000 + ")" * 3000, "(", "a*+a|.*!"):
        runtime.send("X", {"a": "a" * 500 + "!", "p": pattern})
    assert len(errors) == 3 and all(isinstance(e, EplError) for e in errors)
    assert next(iter(runtime.statement("n")))["n"] == 4
