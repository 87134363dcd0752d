"""Patterns against their definition: a matcher that looks for all matches in the whole history, again for each example.

Every atom has an event type of its own, so that no event reaches two parts of a pattern in an order that the definition leaves open.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from runtime import Runtime
from runtime.pattern import operators
from runtime.pattern.atoms import FilterInstance
from runtime.pattern.followed_by import FollowedByInstance
from runtime.pattern.operators import AndInstance, AndOperator, EveryInstance, EveryOperator, NotInstance, OrInstance

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

    def absent() -> tuple[str, Pattern]:
        (text, find), (other_text, other) = drawn_atom(), drawn_atom()
        return f"({text} and not {other_text})", without(find, other)

    def begun_again() -> tuple[str, Pattern]:
        """Below every: what fails, and what matches more than once."""
        kind = draw(st.sampled_from(("-> absent", "absent ->", "or", "and", "-> every", "every or")))
        if kind == "-> every":
            (text, find), (other_text, other) = drawn_atom(), drawn_atom()
            text, find = f"{text} -> every {other_text}", followed_by(find, every(other))
        elif kind == "every or":
            (text, find), (other_text, other) = drawn_atom(), absent()
            text, find = f"every {text} or {other_text}", either(every(find), other)
        elif kind == "absent ->":
            (text, find), (other_text, other) = absent(), drawn_atom()
            text, find = f"{text} -> {other_text}", followed_by(find, other)
        else:
            one = drawn_atom() if kind == "-> absent" else absent()
            other_text, other = absent()
            kind = kind.split()[0]
            text, find = f"{one[0]} {kind} {other_text}", COMBINED[kind](one[1], other)
        if types and draw(st.booleans()):
            last_text, last = drawn_atom()
            return f"every ({text}) -> {last_text}", followed_by(every(find), last)
        return f"every ({text})", every(find)

    return begun_again() if draw(st.booleans()) else drawn(draw(st.integers(2, 3)))


def differs(text: str, find: Pattern, history: History, restored_at: int) -> str | None:
    """Return at which event the pattern, restored before one of them, finds other matches than its definition; None where it does not."""
    expected: list[list[Any]] = [[] for _ in history]
    for place, tags, _ in find(-1, {}, history).matches:
        expected[place].append(sorted(tags.items()))
    rows: list[Any] = []
    schemas = "".join(f"@public @buseventtype create schema {name}(place int, v int);" for name in TYPES)
    runtime = Runtime()
    runtime.deploy(f"{schemas} @name('s') select * from pattern [{text}]", listeners={"s": lambda new, *_: rows.extend(new)})
    for place, (name, value) in enumerate(history):
        if place == restored_at:
            runtime = Runtime.restore(runtime.snapshot())
            runtime.statement("s").add_listener(lambda new, *_: rows.extend(new))
        rows.clear()
        runtime.send(name, {"place": place, "v": value})
        found = [sorted((tag, event["place"]) for tag, event in dict(row).items() if event is not None) for row in rows]
        if sorted(found) != sorted(expected[place]):
            return f"{text} at event {place} of {history}: {found}, and by definition {expected[place]}"
    return None


@st.composite
def examples(draw: st.DrawFn) -> tuple[str, Pattern, History, int]:
    text, find = draw(patterns())
    used = [name for name in TYPES if f"={name}" in text]
    history: History = draw(st.lists(st.tuples(st.sampled_from(used), st.integers(0, 2)), min_size=8, max_size=14))
    return text, find, history, draw(st.integers(0, len(history)))


@settings(max_examples=600, deadline=None)
@given(examples())
def test_finds_what_the_definition_finds(example: tuple[str, Pattern, History, int]) -> None:
    assert differs(*example) is None


# ------------------------------------------------------------------ faults


def _keeps_no_match(self: AndInstance, child: Any, match: Any, ended: bool) -> None:
    self.parent.take_match(self, match, ended)


def _ends_nothing(self: OrInstance, child: Any, match: Any, ended: bool) -> None:
    self.parent.take_match(self, match, ended)


def _begins_once(self: EveryInstance, child: Any, match: Any, ended: bool) -> None:
    if child is not self.starting:
        self.parent.take_match(self, match, False)
    else:
        self.immediate = True


def _never_fails(self: Any, child: Any) -> None:
    pass


def _keeps_its_filter(self: FilterInstance, event: Any) -> None:
    match = self.atom.with_event(self.match, event)
    if match is not None:
        self.parent.take_match(self, match, True)


def _forgets_tags(match: Any, other: Any) -> Any:
    return other


def _is_always_the_last(self: FollowedByInstance, child: Any, match: Any, ended: bool) -> None:
    at = self.children.get(child)
    if at is not None:
        if ended:
            self._forget(child)
        if at == self.followed_by.last:
            self.parent.take_match(self, match, True)
        else:
            self._begin(at + 1, match)


def _restores_nothing_of_and(self: AndOperator, parent: Any, match: Any, state: Any) -> Any:
    instance = _restored_and(self, parent, match, state)
    instance.matches = [[] for _ in self.items]
    return instance


def _restores_the_first(self: EveryOperator, parent: Any, match: Any, state: Any) -> Any:
    return _restored_every(self, parent, match, [state[0][:1]])


_restored_and, _restored_every = AndOperator.restore_instance, EveryOperator.restore_instance

FAULTS: dict[str, tuple[Any, str, Any]] = {
    "and keeps no match": (AndInstance, "take_match", _keeps_no_match),
    "and does not fail": (AndInstance, "take_failure", _never_fails),
    "and forgets the tags of its other item": (operators, "merge_matches", _forgets_tags),
    "or does not end the others": (OrInstance, "take_match", _ends_nothing),
    "or does not fail": (OrInstance, "take_failure", _never_fails),
    "every begins once": (EveryInstance, "take_match", _begins_once),
    "every does not begin again after a failure": (EveryInstance, "take_failure", _never_fails),
    "a filter matches twice": (FilterInstance, "take", _keeps_its_filter),
    "not does not fail": (NotInstance, "take_match", lambda self, child, match, ended: None),
    "followed by ends with its first match": (FollowedByInstance, "take_match", _is_always_the_last),
    "followed by does not fail": (FollowedByInstance, "take_failure", _never_fails),
    "a restart loses the matches of and": (AndOperator, "restore_instance", _restores_nothing_of_and),
    "a restart loses instances of every": (EveryOperator, "restore_instance", _restores_the_first),
}
"""What could be wrong with an operator: the class, its method, and what it does instead."""


class Noticed(Exception):
    """Ends the search at the first example that shows the fault."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_would_be_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the test above says something: with each of these faults it fails."""
    monkeypatch.setattr(*FAULTS[fault])

    @settings(
        max_examples=400, deadline=None, derandomize=True, database=None, phases=[Phase.generate], report_multiple_bugs=False
    )
    @given(examples())
    def look(example: tuple[str, Pattern, History, int]) -> None:
        try:
            why = differs(*example)
        except RecursionError:
            why = "it does not end"
        if why is not None:
            raise Noticed(why)

    with pytest.raises(Noticed):
        look()
