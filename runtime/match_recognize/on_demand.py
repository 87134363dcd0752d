"""Matching the contents of a window as a whole, for the iterator."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from runtime.match_recognize.machine import History, Machine, Strand
from runtime.match_recognize.ranking import Match
from windows.event import Event


def matches_in(
    contents: Iterable[Event], machine: Machine, key: Callable[[Event], Any] | None, history_of: Callable[[Event], History]
) -> list[list[Match]]:
    """All matches, partition by partition in the order of their first matches' last rows; rows are numbered as they stand in the
    contents.
    """
    found: dict[Any, list[Match]] = {}
    strands: dict[Any, list[Strand]] = {}
    for row, event in enumerate(contents):
        partition = key(event) if key is not None else None
        matches: list[Match] = []
        history = history_of(event)
        truth = machine.nothing_known()
        after = machine.advance(strands.get(partition, ()), event, row, history, truth, matches)
        machine.begin(event, row, history, truth, after, matches)
        strands[partition] = after
        if matches:
            found.setdefault(partition, []).extend(matches)
    return list(found.values())
