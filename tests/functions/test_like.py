"""``like``: the same answers as a table over all prefixes, without trying a place twice."""
from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epl.errors import EplRuntimeError, EplValidationError
from epl.functions import like
from epl.functions.like import MAX_LENGTH, like_pattern
from runtime import Runtime

TEXTS = st.text(alphabet="ab\n%_!\\", max_size=14)


def by_table(pattern: str, escape: str | None, text: str) -> bool:
    """Whether each prefix of the text is like the pattern so far, a character of the pattern at a time."""
    reached = [True] + [False] * len(text)
    position = 0
    while position < len(pattern):
        character = pattern[position]
        taken = character == escape and position + 1 < len(pattern)
        if taken:
            position += 1
            character = pattern[position]
        position += 1
        if character == "%" and not taken:
            first = reached.index(True) if True in reached else len(reached)
            reached = [place >= first for place in range(len(reached))]
        else:
            wild = character == "_" and not taken
            reached = [False] + [reached[i] and (wild or text[i] == character) for i in range(len(text))]
    return reached[-1]


@given(TEXTS, st.sampled_from(["\\", "!", "%", "_", "a", None, ""]), TEXTS)
def test_like_is_the_table(pattern: str, escape: str | None, text: str) -> None:
    expected = by_table(pattern, escape, text)
    assert like_pattern(pattern, escape)(text) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(like, "QUICK_STEPS", 0)  # only the empty text is taken at once
        assert like._like_pattern.__wrapped__(pattern, escape)(text) == expected


@given(st.lists(st.sampled_from(["a", "_", "%", "ab", "a_"]), max_size=30).map("".join), st.text(alphabet="ab", max_size=60))
def test_long_patterns_are_the_table(pattern: str, text: str) -> None:
    assert like_pattern(pattern)(text) == by_table(pattern, "\\", text)


@pytest.mark.parametrize("one", ["%a", "%_a", "%a_a"])
def test_each_run_is_looked_for_once(one: str, monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[int] = []
    find = like._Run.find

    def counted(run: like._Run, text: str, place: int, end: int) -> int:
        places.append(place)
        return find(run, text, place, end)

    monkeypatch.setattr(like._Run, "find", counted)
    monkeypatch.setattr(like, "QUICK_STEPS", 0)
    assert not like_pattern(one * 200 + "%b%")("a" * 2001)
    assert len(places) <= 201
    assert places == sorted(places)


def test_long_patterns_are_not_kept() -> None:
    before = like._like_pattern.cache_info().currsize
    assert like_pattern("a" * 20_000 + "%")("a" * 20_001)
    assert like._like_pattern.cache_info().currsize == before


def test_limits_have_an_error() -> None:
    with pytest.raises(EplRuntimeError, match=r"more than 1000000000 steps"):
        like_pattern("%" + "_" * 10_000 + "a%")("b" * 200_000)
    with pytest.raises(EplRuntimeError, match=f"has {MAX_LENGTH + 2} characters; {MAX_LENGTH} are the most"):
        like_pattern("_" * (MAX_LENGTH + 1) + "a")
    runtime = Runtime()
    with pytest.raises(EplValidationError, match=f"{MAX_LENGTH} are the most") as refused:
        runtime.deploy(f"create schema X(a string); select a from X(a like '{'_' * (MAX_LENGTH + 1)}')")
    assert refused.value.position is not None


TABLE = pa.table({"a": pa.array(["a" * 90, "a" * 90 + "b", "", None], pa.string()), "p": ["%a" * 30 + "b", "%_a_b", "%", "%"]})


@pytest.mark.parametrize(("tier", "pattern", "answers"), [
    ("row", f"'{'%a' * 30}%b'", [False, True, False, None]), ("batch", f"'{'%a' * 30}%b'", [False, True, False, None]),
    ("row", "p", [False, True, True, None])])
def test_patterns_of_text_and_of_events(tier: str, pattern: str, answers: list[bool | None]) -> None:
    runtime = Runtime(tier=tier)
    runtime.deploy(f"create schema X(a string, p string); @name('s') select a like {pattern} as r from X")
    rows: list[bool | None] = []
    runtime.statement("s").add_listener(lambda new, *_: rows.extend(row["r"] for row in new))
    runtime.send_batch("X", TABLE)
    assert rows == answers
