"""Patterns against their definition: a matcher that looks for all matches in the whole history, again for each example.

Every atom has an event type of its own, so that no event reaches two parts of a pattern in an order that the definition leaves open.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import Runtime

INF = 1 << 60
TYPES = "ABCDE"
Env = dict[str, int]
Found = list[tuple[int, Env, bool]]
"""(place of the event that completes the match, places of the tags, whether it is the last one)."""
History = list[tuple[str, int]]
"""(type, value) of each event."""


@attrs.frozen
class Outcome:
    """All matches of an instance, and the place of the event at which it fails."""

    matches: Found
    fails: int = INF

    @property
    def ends(self) -> int:
        return min(self.fails, min((place for place, _, last in self.matches if last), default=INF))


Pattern = Callable[[int, Env, History], Outcome]
"""What an instance finds that begins after the event at a place, with tags."""


def atom(name: str, test: str, earlier: str | None) -> Pattern:
    def find(start: int, env: Env, history: History) -> Outcome:
        for place in range(start + 1, len(history)):
            kind, value = history[place]
            if kind == name and (earlier is None or (earlier in env and compare(test, value, history[env[earlier]][1]))):
                return Outcome([(place, {**env, name.lower(): place}, True)])
        return Outcome([])

    return find


def compare(test: str, one: int, other: int) -> bool:
    return one == other if test == "=" else one > other


def every(item: Pattern) -> Pattern:
    def find(start: int, env: Env, history: History) -> Outcome:
        found: Found = []
        begins = [start]
        while begins:
            outcome = item(begins.pop(0), env, history)
            for place, tags, _ in outcome.matches:
                found.append((place, tags, False))
                begins.append(place)
            if outcome.fails < INF:
                begins.append(outcome.fails)
        return Outcome(found)

    return find


def followed_by(one: Pattern, other: Pattern) -> Pattern:
    def find(start: int, env: Env, history: History) -> Outcome:
        first = one(start, env, history)
        rest = [other(place, tags, history) for place, tags, _ in first.matches]
        ends = [first.ends, *(each.ends for each in rest)]
        over = max(ends)
        found = sorted(((place, tags) for each in rest for place, tags, _ in each.matches), key=lambda match: match[0])
        lasts = [place for each in rest for place, _, last in each.matches if last]
        by_match = over in lasts
        matches = [(place, tags, by_match and place == over and at == len(found) - 1) for at, (place, tags) in enumerate(found)]
        return Outcome(matches, INF if by_match else over)

    return find


def either(one: Pattern, other: Pattern) -> Pattern:
    def find(start: int, env: Env, history: History) -> Outcome:
        outcomes = [one(start, env, history), other(start, env, history)]
        over = min((place for each in outcomes for place, _, last in each.matches if last), default=INF)
        found = [match for each in outcomes for match in each.matches if match[0] <= over]
        return Outcome(found, max(each.fails for each in outcomes) if over == INF else INF)

    return find


def both(one: Pattern, other: Pattern) -> Pattern:
    def find(start: int, env: Env, history: History) -> Outcome:
        first, second = one(start, env, history), other(start, env, history)
        fails = min(first.fails, second.fails)
        found = []
        for place, tags, last in first.matches:
            for place_2, tags_2, last_2 in second.matches:
                at = max(place, place_2)
                if at < fails:
                    found.append((at, {**tags, **tags_2}, last and last_2))
        if any(last for _, _, last in found):
            fails = INF
        return Outcome(found, fails)

    return find


def without(one: Pattern, other: Pattern) -> Pattern:
    def find(start: int, env: Env, history: History) -> Outcome:
        first = one(start, env, history)
        comes = min((place for place, _, last in other(start, env, history).matches if last), default=INF)
        fails = min(first.fails, comes)
        if first.ends < min(comes, first.fails):
            fails = INF
        return Outcome([match for match in first.matches if match[0] < comes], fails)

    return find


# ------------------------------------------------------------------ drawing

COMBINED = {"->": followed_by, "or": either, "and": both, "and not": without}


@st.composite
def patterns(draw: st.DrawFn) -> tuple[str, Pattern]:
    types = list(draw(st.permutations(TYPES)))
    tags: list[str] = []

    def drawn(depth: int) -> tuple[str, Pattern]:
        if depth == 0 or len(types) == 1:
            return drawn_atom()
        kind = draw(st.sampled_from(("every", *COMBINED)))
        text, find = drawn(depth - 1)
        if kind == "every" or not types:
            return (text, find) if "every" in text else (f"every ({text})", every(find))
        other_text, other = drawn(draw(st.integers(0, depth - 1)))
        if kind == "and not" and "every" in other_text:
            return f"({text}) -> ({other_text})", followed_by(find, other)
        return f"({text}) {kind} ({other_text})", COMBINED[kind](find, other)

    def drawn_atom() -> tuple[str, Pattern]:
        name = types.pop()
        earlier = draw(st.sampled_from([None, None, *tags])) if tags else None
        test = draw(st.sampled_from("=>"))
        tags.append(name.lower())
        condition = "" if earlier is None else f"(v {test} {earlier}.v)"
        return f"{name.lower()}={name}{condition}", atom(name, test, earlier)

    return drawn(draw(st.integers(2, 3)))


@settings(max_examples=600, deadline=None)
@given(patterns(), st.data())
def test_finds_what_the_definition_finds(pattern: tuple[str, Pattern], data: st.DataObject) -> None:
    text, find = pattern
    used = [name for name in TYPES if f"={name}" in text]
    history: History = data.draw(st.lists(st.tuples(st.sampled_from(used), st.integers(0, 2)), min_size=5, max_size=14))
    expected: list[list[Any]] = [[] for _ in history]
    for place, tags, _ in find(-1, {}, history).matches:
        expected[place].append(sorted(tags.items()))
    rows: list[Any] = []
    schemas = "".join(f"@public @buseventtype create schema {name}(place int, v int);" for name in TYPES)
    runtime = Runtime()
    runtime.deploy(f"{schemas} @name('s') select * from pattern [{text}]", listeners={"s": lambda new, *_: rows.extend(new)})
    restored_at = data.draw(st.integers(0, len(history)))
    for place, (name, value) in enumerate(history):
        if place == restored_at:
            runtime = Runtime.restore(runtime.snapshot())
            runtime.statement("s").add_listener(lambda new, *_: rows.extend(new))
        rows.clear()
        runtime.send(name, {"place": place, "v": value})
        found = [sorted((tag, event["place"]) for tag, event in dict(row).items() if event is not None) for row in rows]
        assert sorted(found) == sorted(expected[place]), text
