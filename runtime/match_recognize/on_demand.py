"""Matching the contents of a window as a whole, for the iterator."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from runtime.match_recognize.machine import History, Machine, PartialMatch
from runtime.match_recognize.partitions import States
from runtime.match_recognize.ranking import Match
from windows.event import Event


def list_matches(
    contents: Iterable[Event], machine: Machine, key: Callable[[Event], Any] | None, history_of: Callable[[Event], History],
    states: States,
) -> list[list[Match]]:
    """Return all matches, partition by partition in the order of their first matches' last rows; rows are numbered as they are in the
    contents.

    ``states`` (a MatchStates): its limit bounds the partial matches of this one pass; what goes beyond is not begun.
    """
    held = 0

    def may_start() -> bool:
        nonlocal held
        if states.limit is not None and held >= states.limit and states.prevent_start:
            return False
        held += 1
        return True

    by_partition: dict[Any, list[Match]] = {}
    partial_matches: dict[Any, list[PartialMatch]] = {}
    for row, event in enumerate(contents):
        partition = key(event) if key is not None else None
        matches: list[Match] = []
        history = history_of(event)
        truth = machine.nothing_known()
        before = partial_matches.get(partition, ())
        after = machine.advance(before, event, row, history, truth, matches)
        held += len(after) - len(before)
        machine.begin(event, row, history, truth, after, matches, may_start)
        partial_matches[partition] = after
        if matches:
            by_partition.setdefault(partition, []).extend(matches)
    return list(by_partition.values())
