"""Steps of a trace, replayed and held against what Esper 9.0.0 did."""

from __future__ import annotations

import collections
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from epl.errors import EplError
from tests.replay.player import replay_trace

WORDS = 3
"""So many first words of a refusal must be Esper's, where a case does not say how many (``words``)."""


def same(expected: Any, actual: Any) -> bool:
    """Equal values: numbers within 1e-9, true is not 1, 0.0 is not -0.0, a key that is missing is null."""
    if expected is None or actual is None:
        return expected is actual
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, (int, float)) and isinstance(actual, (int, float)):
        if expected == 0 == actual:
            return math.copysign(1, expected) == math.copysign(1, actual)
        return math.isclose(expected, actual, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(same(expected.get(k), actual.get(k)) for k in expected.keys() | actual.keys())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    return type(expected) is type(actual) and bool(expected == actual)


def same_rows(expected: list[Any], actual: list[Any], any_order: bool = False) -> bool:
    """Equal rows, in the same order or in any."""
    if not any_order:
        return same(expected, actual)
    rest = list(actual)
    for row in expected:
        place = next((place for place, other in enumerate(rest) if same(row, other)), None)
        if place is None:
            return False
        del rest[place]
    return not rest


def calls(step: Mapping[str, Any]) -> dict[str, list[list[Any]]]:
    """Statement → its listener calls in order, each [new, old]."""
    by_statement: dict[str, list[list[Any]]] = collections.defaultdict(list)
    for call in step.get("out", ()):
        by_statement[call["statement"]].append([call.get("new") or [], call.get("old") or []])
    return by_statement


def step_difference(expected: Mapping[str, Any], actual: Mapping[str, Any], words: int = WORDS) -> str | None:
    """Why the steps differ, or None. ``any_order`` of the expected step: its rows compare in any order within a call."""
    return next((why for _, why in step_differences(expected, actual, words)), None)


def step_differences(expected: Mapping[str, Any], actual: Mapping[str, Any], words: int = WORDS) -> Iterator[tuple[str, str]]:
    """Yield each part of the steps that differs, and why: a statement whose listener calls do, ``rows`` (of an iterator or a query),
    ``exception``, ``refusal``."""
    if expected["op"] == "compile_error":
        why = refusal_difference(expected, actual, words)
        if why is not None:
            yield "refusal", why
        return
    if bool(expected.get("exception")) != bool(actual.get("exception")):
        yield "exception", f"exception: expected {expected.get('exception')}, got {actual.get('exception')}"
    elif expected["op"] == "faf" and "exception" in expected:
        words, ours = expected["exception"], actual["exception"]
        if words.split()[:WORDS] != ours.split()[:WORDS]:
            yield "exception", f"other words: expected {words}, got {ours}"
        return
    loose = expected.get("any_order", False)
    want, got = calls(expected), calls(actual)
    for statement in sorted(want.keys() | got.keys()):
        if len(want[statement]) != len(got[statement]) or not all(
            same_rows(rows, other, loose) for call, twin in zip(want[statement], got[statement]) for rows, other in zip(call, twin)
        ):
            yield statement, f"{statement}: expected {json.dumps(want[statement])}, got {json.dumps(got[statement])}"
    if "rows" in expected and not same_rows(expected["rows"], actual.get("rows") or [], loose):
        yield "rows", f"rows: expected {json.dumps(expected['rows'])}, got {json.dumps(actual.get('rows'))}"


def refusal_difference(expected: Mapping[str, Any], actual: Mapping[str, Any], words: int = WORDS) -> str | None:
    if not actual.get("refused"):
        return f"accepted or failed ({actual.get('message')}), Esper says: {expected['message']}"
    if actual["code"] == "unsupported":
        return f"not supported ({actual['message']}), Esper says: {expected['message']}"
    ours = actual["message"].split()[:words]  # the statement's text follows in Esper's
    if len(ours) < WORDS or expected["message"].split()[: len(ours)] != ours:
        return f"other words: expected {expected['message']}, got {actual['message']}"
    return None


def difference(trace: Mapping[str, Any], *, restart: bool = False) -> str | None:
    """The first difference of a replay, or None. ``restart``: with a restore between every two steps; one that fails is a difference."""
    try:
        actual = replay_trace(trace, restart=restart)["steps"]
    except EplError as error:
        if not restart:
            raise
        return f"restart: {error}"
    for number, (want, got) in enumerate(zip(trace["steps"], actual, strict=True)):
        why = step_difference(want, got, trace.get("words", WORDS))
        if why is not None:
            return f"step {number} ({want['op']}): {why}"
    return None
