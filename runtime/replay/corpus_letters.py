"""Cases whose events are letters: ``a1 b1@60`` is an event of type a, then one of type b at second 60; a variable takes the events of its
letter, unless the case has ``defines`` {variable: letters}. The pattern is SQL's, or a chain of calls (``A.followedBy(B) within 2s``)."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Any

from epl.dialects import types as k
from epl.dialects.scopes import Column
from epl.dialects.values import EPOCH
from epl.errors import EplError
from runtime.dialects.sql import run_rows

COLUMNS = (Column("id", k.VARCHAR), Column("type", k.VARCHAR), Column("ts", k.TIMESTAMP, None, is_time=True))
CALLS = {
    "next": "{}", "followedBy": "{{- X*? -}} {}", "followedByAny": "{{- X* -}} {}", "notNext": "[^{}]",
    "notFollowedBy": "{{- X*? -}} [^{}]",
}  # fmt: skip
WITHIN = re.compile(r"\s+within\s+(\d+)s$")
CHAIN = re.compile(r"\w+(\.\w+\(\w+\))+")


def replay_letters(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows of the case's matches, and of those that the time has ended: variable → events."""
    written, within = case["pattern"], WITHIN.search(case["pattern"])
    pattern = _sql(written if within is None else written[: within.start()])
    shown, used = _variables(pattern)
    defines = ", ".join(f"{name} AS type IN ({_letters(case, name)})" for name in used)
    limit = "" if within is None else f"WITHIN INTERVAL '{within[1]}' SECOND"
    results = []
    for timeouts in ("", "SHOW TIMEOUT MATCHES"):
        text = (
            f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES {', '.join(f'array_agg({name}.id) AS {name}' for name in shown)} "
            f"ONE ROW PER MATCH {timeouts} AFTER MATCH {case['skip']} PATTERN ({pattern}) {limit} DEFINE {defines})"
        )
        try:
            _, rows = run_rows(text, {"t": (COLUMNS, _events(case["events"]))}, "alibaba", streaming=True)
        except EplError as error:
            return {"error": {"code": error.code, "message": error.message}}
        results.append([{"rows": {name: value for name, value in zip(shown, row) if value}} for row in rows])
    matches, both = results
    ended = list(both)
    for match in matches:
        ended.remove(match)
    return {"rows": matches, "timeouts": ended}


def _sql(pattern: str) -> str:
    if CHAIN.fullmatch(pattern) is None:
        return pattern
    first, *calls = pattern.split(".")
    return " ".join([first, *(CALLS[name].format(variable) for name, variable in (call[:-1].split("(") for call in calls))])


def _variables(pattern: str) -> tuple[list[str], list[str]]:
    """Return the variables that take rows, and all that have a condition."""
    bare = re.sub(r"\{-.*?-\}", "", pattern)
    used = sorted(set(re.findall(r"[A-Za-z]\w*", bare)))
    only_named = set(re.findall(r"\[\^(\w+)\]", bare)) | set(re.findall(r"\{([A-Za-z]\w*)\}", bare))
    return [name for name in used if name not in only_named], used


def _letters(case: Mapping[str, Any], name: str) -> str:
    letters = case.get("defines", {}).get(name, name.lower())
    return ", ".join(f"'{letter}'" for letter in letters)


def _events(events: str) -> list[tuple[str, str, datetime.datetime]]:
    listed = []
    for place, event in enumerate(events.split()):
        name, _, second = event.partition("@")
        moment = EPOCH + datetime.timedelta(seconds=int(second) if second else place)
        listed.append((name, name[0], moment))
    return listed


__all__ = ["replay_letters"]
