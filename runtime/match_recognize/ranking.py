"""Which of the matches found are emitted: preferment and the skip clause.

Learnt from Esper 9.0.0, whose preferment differs from the manual's: of the matches that begin at one row, those that end last come first;
then one after the other
takes the lead if any of its counted steps (greedy ``*`` and ``?`` of a single variable) took more rows than that step of the match
leading so far.
This is not a total order, hence a scan and not a sort.
"""
from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from epl.plan.patterns.match_recognize import Program
from windows.event import Event

PathNode = tuple[Any, Event, int]
"""(the node before or None, the row, the step that took it): the rows of a match, last first. Partial matches share what they have in
common.
"""


class Match(NamedTuple):
    """Rows ``begin`` to ``end`` of a partition, by their numbers in order of arrival."""

    begin: int
    end: int
    path: PathNode


class Ranking:
    """Chooses among matches of one partition."""

    def __init__(self, program: Program, *, all_matches: bool, skip: str) -> None:
        self._counted = tuple(n for n, step in enumerate(program.steps) if step.counted)
        self._all = all_matches
        self._past_last = skip == "past last row"
        self._to_next = skip == "to next row"

    def choose(self, matches: Sequence[Match]) -> Sequence[Match]:
        """Return what a delivery emits of the matches it found, which are given in the order in which they were found: with ``all matches``
        all of them.
        """
        if self._all or len(matches) == 1:
            return matches
        return self._by_begin(matches)

    def on_demand(self, matches: Sequence[Match]) -> Sequence[Match]:
        """Return what the iterator gives: with ``all matches`` all that begin at a row that the skip clause leaves."""
        if not self._all:
            return self._by_begin(matches)
        begins = _group_matches(matches)
        if len(begins) == 1:
            return matches
        chosen: list[Match] = []
        last_end = -1
        for begin in sorted(begins):
            if begin <= last_end:
                continue
            ordered = _latest_first(begins[begin])
            chosen += ordered
            if self._past_last:
                last_end = self._best(ordered).end
        return chosen

    def best(self, matches: Sequence[Match]) -> Match:
        """Return the preferred of matches that begin at the same row, given in the order in which they were found."""
        return self._best(_latest_first(list(matches)))

    def horizon(self, chosen: Sequence[Match]) -> int:
        """Return the row up to which the partial matches that began are discarded; -1 if none are."""
        if self._past_last:
            return max(m.end for m in chosen) if chosen else -1
        if self._to_next:
            return max(m.begin for m in chosen) if chosen else -1
        return -1

    def _by_begin(self, matches: Sequence[Match]) -> Sequence[Match]:
        begins = _group_matches(matches)
        chosen: list[Match] = []
        last_end = -1
        for begin in sorted(begins):
            if begin > last_end:
                best = self._best(_latest_first(begins[begin]))
                chosen.append(best)
                if self._past_last:
                    last_end = best.end
        return chosen

    def _best(self, matches: Sequence[Match]) -> Match:
        best = matches[0]
        if len(matches) == 1 or not self._counted:
            return best
        lead = self._counts(best)
        for match in matches[1:]:
            counts = self._counts(match)
            if any(c > b for c, b in zip(counts, lead)):
                best, lead = match, counts
        return best

    def _counts(self, match: Match) -> list[int]:
        """Rows taken by each counted step."""
        counts = dict.fromkeys(self._counted, 0)
        node: PathNode | None = match.path
        while node is not None:
            if node[2] in counts:
                counts[node[2]] += 1
            node = node[0]
        return list(counts.values())


def _group_matches(matches: Sequence[Match]) -> dict[int, list[Match]]:
    begins: dict[int, list[Match]] = {}
    for match in matches:
        begins.setdefault(match.begin, []).append(match)
    return begins


def _latest_first(matches: list[Match]) -> list[Match]:
    return sorted(matches, key=itemgetter(1), reverse=True)
