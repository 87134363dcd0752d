"""Cases whose events are letters: ``a1 b1@60`` is an event of type a, then one of type b at second 60. The pattern is SQL's, a chain of
calls (``A.followedBy(B) within 2s``) or words (``A+ greedy next B (A takes b too)``, ``A+ at the end, reluctant``: behind a first ``S``).

A variable takes the events of its letter, unless the case has ``defines`` {variable: letters}, a remark in the pattern says what it
takes too, or Alibaba's manual states its condition beside the table with these events.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from epl.dialects import types as k
from epl.dialects.scopes import SqlColumn
from epl.dialects.values import EPOCH
from epl.errors import EplError
from runtime.dialects.sql import run_rows

COLUMNS = (SqlColumn("id", k.VARCHAR), SqlColumn("type", k.VARCHAR), SqlColumn("ts", k.TIMESTAMP, None, is_time=True))
CALLS = {
    "next": "{}", "followedBy": "{{- X*? -}} {}", "followedByAny": "{{- X* -}} {}", "notNext": "[^{}]",
    "notFollowedBy": "{{- X*? -}} [^{}]",
}  # fmt: skip
WITHIN = re.compile(r"\s+within\s+(\d+)s$")
CHAIN = re.compile(r"\w+(\.\w+\(\w+\))+")
REMARK = re.compile(r"\s*\(([^()]*\b[a-z]{2,}\b[^()]*)\)$")
TAKES = re.compile(r"(\w+) takes (\w) too")
LOOP_AND_NEXT = re.compile(r"(\w+\+) (greedy|reluctant) next (\w+)")
LOOP_AT_THE_END = re.compile(r"((\w+)\+) at the end, (greedy|reluctant)")
STATED = {
    "a1 b1 a2 a3 c1": {"C": "ac"},
    "a1 d1 a2 b1 a3 c1": {"A": "ab"},
}
"""What Alibaba's manual says of its tables of loops and of stop conditions: ``C AS type = 'a' OR type = 'c'``, ``A AS … 'a' OR … 'b'``."""
MILLISECOND = datetime.timedelta(milliseconds=1)


class Written(NamedTuple):
    """A pattern in SQL, the letters that its variables take, the seconds of its time."""

    pattern: str
    letters: dict[str, str]
    within: int | None


def replay_letters(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows of the case's matches, and of those that the time has ended with that time: variable → events."""
    written = read(case)
    shown, used = _variables(written.pattern)
    defines = ", ".join(f"{name} AS type IN ({_letters(written.letters, name)})" for name in used)
    limit = "" if written.within is None else f"WITHIN INTERVAL '{written.within}' SECOND"
    measures = ", ".join(["FIRST(ts) AS began", *(f"array_agg({name}.id) AS {name}" for name in shown)])
    results: list[list[tuple[datetime.datetime, dict[str, Any]]]] = []
    for mode in ("", "SHOW TIMEOUT MATCHES"):
        text = (
            f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES {measures} ONE ROW PER MATCH {mode} "
            f"AFTER MATCH {case['skip']} PATTERN ({written.pattern}) {limit} DEFINE {defines})"
        )
        try:
            _, rows = run_rows(text, {"t": (COLUMNS, _events(case["events"]))}, "alibaba", streaming=True)
        except EplError as error:
            return {"error": {"code": error.code, "message": error.message}}
        results.append([(began, {name: value for name, value in zip(shown, row) if value}) for began, *row in rows])
    matches, ended = results
    for match in matches:
        ended.remove(match)
    timeouts = [{"rows": row, "at_ms": (began - EPOCH) // MILLISECOND + 1000 * (written.within or 0)} for began, row in ended]
    return {"rows": [{"rows": row} for _, row in matches], "timeouts": timeouts}


def read(case: Mapping[str, Any]) -> Written:
    """Return the pattern of a case in SQL and what its variables take."""
    pattern, within = case["pattern"], None
    limited = WITHIN.search(pattern)
    if limited is not None:
        pattern, within = pattern[: limited.start()], int(limited[1])
    letters = dict(STATED.get(case["events"], {}))
    remark = REMARK.search(pattern)
    if remark is not None:
        pattern = pattern[: remark.start()]
        for name, letter in TAKES.findall(remark[1]):
            letters[name] = letters.get(name, name.lower()) + letter
    ending = LOOP_AT_THE_END.fullmatch(pattern)
    if ending is not None:
        letters["S"] = letters.get(ending[2], ending[2].lower())
    return Written(_sql(pattern), {**letters, **case.get("defines", {})}, within)


def _sql(pattern: str) -> str:
    between, ending = LOOP_AND_NEXT.fullmatch(pattern), LOOP_AT_THE_END.fullmatch(pattern)
    if between is not None:
        return f"{between[1]}{_greed(between[2])} {between[3]}"
    if ending is not None:
        return f"S {ending[1]}{_greed(ending[3])}"
    if CHAIN.fullmatch(pattern) is None:
        return pattern
    first, *calls = pattern.split(".")
    return " ".join([first, *(CALLS[name].format(variable) for name, variable in (call[:-1].split("(") for call in calls))])


def _greed(word: str) -> str:
    return "" if word == "greedy" else "?"


def _variables(pattern: str) -> tuple[list[str], list[str]]:
    """Return the variables that take rows, and all that have a condition."""
    bare = re.sub(r"\{-.*?-\}", "", pattern)
    used = sorted(set(re.findall(r"[A-Za-z]\w*", bare)))
    only_named = set(re.findall(r"\[\^(\w+)\]", bare)) | set(re.findall(r"\{([A-Za-z]\w*)\}", bare))
    return [name for name in used if name not in only_named], used


def _letters(letters: Mapping[str, str], name: str) -> str:
    return ", ".join(f"'{letter}'" for letter in letters.get(name, name.lower()))


def _events(events: str) -> list[tuple[str, str, datetime.datetime]]:
    listed = []
    for place, event in enumerate(events.split()):
        name, _, second = event.partition("@")
        moment = EPOCH + datetime.timedelta(seconds=int(second) if second else place)
        listed.append((name, name[0], moment))
    return listed


__all__ = ["Written", "read", "replay_letters"]
