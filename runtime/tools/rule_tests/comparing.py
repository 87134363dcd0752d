"""Expected against actual output of a step, row by row."""
from __future__ import annotations

import difflib
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Step = Mapping[str, Any]


def same(expected: Any, actual: Any) -> bool:
    """Return whether two values of JSON are equal: numbers within 1e-9 of their size, true is not 1, a key that is missing is null.

    >>> same({"mean": 0.1 + 0.2, "note": None}, {"mean": 0.3}), same(1, True)
    (True, False)
    """
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, (int, float)) and isinstance(actual, (int, float)):
        return math.isclose(expected, actual, rel_tol=1e-9, abs_tol=1e-12) or (expected != expected and actual != actual)
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(same(expected.get(key), actual.get(key)) for key in expected.keys() | actual.keys())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    return type(expected) is type(actual) and bool(expected == actual)


def differences(expected: Step, actual: Step) -> list[str]:
    """Return the lines that say how the output of a step differs: none where it does not. ``any_order`` of the expected step: its rows
    may come in any order within a call."""
    if not _is_output(expected):
        return ["what is expected is not output: 'out' is a list of {statement, new, old}; new, old and 'rows' are lists"]
    lines: list[str] = []
    if "exception" in expected or "exception" in actual:
        awaited, got = expected.get("exception"), actual.get("exception")
        if awaited is None or got is None or not str(got).startswith(str(awaited)):
            lines += [f"- exception: {awaited}", f"+ exception: {got}"]
    any_order = bool(expected.get("any_order"))
    expected_calls, actual_calls = _calls(expected), _calls(actual)
    for statement in sorted(expected_calls.keys() | actual_calls.keys()):
        lines += _of_statement(statement, expected_calls[statement], actual_calls[statement], any_order)
    if "rows" in expected or "rows" in actual:
        lines += _of_rows("rows", expected.get("rows") or [], actual.get("rows") or [], any_order)
    if "values" in expected and expected["op"] == "get_variable" and not same(expected["values"], actual.get("values")):
        lines += [f"- values {_show_value(expected['values'])}", f"+ values {_show_value(actual.get('values'))}"]
    return lines


def _is_output(step: Step) -> bool:
    """Return whether what a step expects, which people write, has the shape of output."""
    calls = step.get("out") or []
    return (
        isinstance(calls, list) and all(isinstance(call, dict) and isinstance(call.get("statement"), str) for call in calls)
        and all(isinstance(rows or [], list) for rows in (step.get("rows"), *(call.get(key) for call in calls for key in ("new", "old"))))
    )


def _calls(step: Step) -> dict[str, list[tuple[list[Any], list[Any]]]]:
    calls: dict[str, list[tuple[list[Any], list[Any]]]] = defaultdict(list)
    for call in step.get("out") or ():
        calls[call["statement"]].append((call.get("new") or [], call.get("old") or []))
    return calls


def _of_statement(
    statement: str, awaited: Sequence[tuple[list[Any], list[Any]]], got: Sequence[tuple[list[Any], list[Any]]], any_order: bool
) -> Iterator[str]:
    if len(awaited) != len(got):
        yield f"{statement}: {len(awaited)} listener calls expected, {len(got)} made"
    for number in range(max(len(awaited), len(got))):
        expected = awaited[number] if number < len(awaited) else ([], [])
        actual = got[number] if number < len(got) else ([], [])
        for title, rows, other in zip(("insert stream", "remove stream"), expected, actual):
            yield from _of_rows(f"{statement} {title}", rows, other, any_order)


def _of_rows(title: str, awaited: Sequence[Any], got: Sequence[Any], any_order: bool) -> Iterator[str]:
    if len(awaited) == len(got) and (_same_in_any_order(awaited, got) if any_order else all(map(same, awaited, got))):
        return
    yield f"{title}:"
    for line in difflib.ndiff([_show_value(row) for row in awaited], [_show_value(row) for row in got]):
        if not line.startswith("?"):
            yield f"  {line}"


def _same_in_any_order(awaited: Sequence[Any], got: Sequence[Any]) -> bool:
    rest = list(got)
    for row in awaited:
        place = next((place for place, other in enumerate(rest) if same(row, other)), None)
        if place is None:
            return False
        del rest[place]
    return True


def _show_value(row: Any) -> str:
    return json.dumps(row, ensure_ascii=False, default=str)


__all__ = ["differences", "same"]
