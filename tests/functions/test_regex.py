"""Java's regular expressions, with answers of Java 17 (by way of Esper's String.matches and replaceAll)."""
from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epl.errors import EplUnsupportedError
from epl.functions.java_regex import translate
from epl.functions.java_strings import replace_all
from epl.functions.java_values import JavaException
from epl.functions.patterns import java_pattern
from tests.functions.calls import recorded


@pytest.mark.parametrize(("pattern", "answers"), recorded("patterns"))
def test_pattern(pattern: str, answers: list[list[str]] | None) -> None:
    """``answers``: text and what replaceAll(pattern, "<$0>") makes of it; a text in front with ``=`` matches as a whole. None: Java
    refuses."""
    if answers is None:
        with pytest.raises(JavaException):
            translate(pattern)
        return
    if sys.version_info < (3, 11) and re.search(r"\(\?>|[*+?}]\+", pattern):
        with pytest.raises(EplUnsupportedError, match=r"need Python 3\.11"):
            translate(pattern)
        return
    for text, matches, replaced in answers:
        assert java_pattern(pattern).matches(text) == matches, text
        assert replace_all(text, pattern, "<$0>") == replaced, text


@pytest.mark.parametrize("pattern", [r"\G", r"\X", r"\b{g}", "(?d)a", r"\p{Foo}"])
def test_what_cannot_be_translated_is_refused(pattern: str) -> None:
    with pytest.raises(EplUnsupportedError):
        translate(pattern)


@given(st.text(max_size=20))
def test_quoted_text_matches_itself(text: str) -> None:
    if "\\E" not in text:
        assert java_pattern(f"\\Q{text}\\E").matches(text)


@given(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef")), st.booleans())
def test_intersections_are_those_of_sets(left: set[str], right: set[str], negated: bool) -> None:
    if not left or not right:
        return
    pattern = f"[{'^' if negated else ''}{''.join(sorted(left))}&&[{''.join(sorted(right))}]]"
    matched = {c for c in "abcdef" if java_pattern(pattern).matches(c)}
    assert matched == (set("abcdef") - (left & right) if negated else left & right)


def test_compiled_patterns_are_kept() -> None:
    assert java_pattern("a+") is java_pattern("a+")
