"""``interval t [or terminated]``: matches are held back until t after their first row, so that longer ones can take their place."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from epl.plan.patterns.match_recognize import RowRecognitionPlan
from runtime.match_recognize.ranking import Match, PathNode
from runtime.match_recognize.state import INTERVAL, PartitionKeys, PathReaders, PathWriter
from windows.event import Event
from windows.paging import Long, Paged
from windows.protocol import BuildContext, State

KeyedMatches = list[tuple[Any, Match]]
"""(key of the partition, match), in the order in which they were found."""

Death = tuple[Any, int, PathNode]
"""(key of the partition, first row, path) of a partial match that did not take a row with which a match could have ended."""


Waiting = list[tuple[int, Match]]
"""(sequence number, match) of one partition: the number gives the order among the matches of all partitions. State that the batch tier
wrote has one number for matches of a partition that were found with one row; the list has them in order."""


class MatchInterval:
    """Matches waiting to be emitted, by the time of their first row.

    ::

        A B*, 5 s   A1@1000  B2@2000  B3@4000          @6000           B4@7000
        held back   A1       A1 B2    A1 B2 B3         -               -
        emitted     -        -        -                A1 B2 B3        A1 B2 B3 B4

    Of what a delivery finds, the ranking first chooses as without an interval; partial matches are left alone by the skip clause.
    What is chosen is held
    back until its time, and then ranked again among all that is due. A match that goes on after its time is emitted at once, and so, as in
    Esper 9.0.0, is
    one that is the first of its first row's time and took half of the interval or longer.

    Rows that leave a data window do not take matches with them that are held back.

    ``or terminated``: a match after which the pattern has nothing more is emitted at once, and so are those held back when
    a partial match that could have ended with one more row has come to an end: those that began with the same row, have the same rows for
    variables that hold one, and for those of several rows the same first one or none.
    """

    def __init__(self, plan: RowRecognitionPlan, context: BuildContext, emit: Callable[[KeyedMatches], None]) -> None:
        assert plan.interval is not None
        self.or_terminated = plan.or_terminated
        self._period = plan.interval
        self._context = context
        self._emit = emit
        self._final = tuple(not step.then for step in plan.program.steps)
        self._variables = tuple(step.variable for step in plan.program.steps)
        self._groups = frozenset(number for number, group in enumerate(plan.groups) if group)
        self._began: dict[int, int] = {}
        self._keys = PartitionKeys([each.type for each in plan.partition_by])
        self._waiting: dict[tuple[int, Any], Waiting] = {}
        """What is held back, by the time of the first row and the partition's key."""
        self._times: dict[int, dict[Any, None]] = {}
        """The keys of ``_waiting``, by time."""
        self._found = 0
        self._pages = Paged("held matches", lambda: self._waiting, lambda key: [key[0], self._keys.values(key[1])], self._write)
        self._timer = context.timer(self._fire)
        self._most_times = 100

    def begins(self, row: int) -> None:
        """Note that a match may begin with this row."""
        self._began[row] = self._context.now()

    def hold_back(self, matches: KeyedMatches, died: Iterable[Death]) -> KeyedMatches:
        """Return what of a delivery's matches is to be emitted now."""
        now = self._context.now()
        due: KeyedMatches = []
        for key, match in matches:
            began = self._began[match.begin]
            if self.or_terminated and self._final[match.path[2]]:
                due.append((key, match))
            elif began in self._times or self._due(began) - now > now - began:
                self._wait(began, key, match)
            else:
                due.append((key, match))
        for key, row, path in died:
            due += self._release(key, row, path)
        return due

    def keep_times(self, live: Callable[[], Iterable[int]]) -> None:
        """Keep, now and then, only the times of the rows ``live``. Not within a delivery, whose matches are still to be held back."""
        if len(self._began) > self._most_times:
            began = self._began
            self._began = {row: began[row] for row in live() if row in began}
            self._most_times = 2 * len(self._began) + 100

    def _due(self, began: int) -> int:
        return self._context.add_time(began, self._period)

    def _wait(self, began: int, key: Any, match: Match) -> None:
        if not self._waiting:  # as in Esper 9.0.0 a match that is due before what is held already waits for the timer of that
            self._timer.set(self._due(began))
        self._found += 1
        self._hold(began, key, self._found, match)

    def _hold(self, began: int, key: Any, number: int, match: Match) -> None:
        self._pages.touch((began, key))
        self._times.setdefault(began, {})[key] = None
        self._waiting.setdefault((began, key), []).append((number, match))

    def _release(self, key: Any, row: int, path: PathNode) -> KeyedMatches:
        """Return what is held back and is about the same rows as a path that has come to an end."""
        began = self._began[row]
        waiting = self._waiting.get((began, key))
        if not waiting:
            return []
        first = self._first_rows(path)
        released: KeyedMatches = []
        held: Waiting = []
        for number, match in waiting:
            if match.begin == row and self._has_same_rows(self._first_rows(match.path), first):
                released.append((key, match))
            else:
                held.append((number, match))
        if released:
            self._put(began, key, held)
        return released

    def _has_same_rows(self, match: dict[int, Event], path: dict[int, Event]) -> bool:
        """Return whether both have the same rows for variables that hold one, and the path has what the match has for the others."""
        return match.items() <= path.items() and path.keys() - match.keys() <= self._groups

    def _first_rows(self, path: PathNode | None) -> dict[int, Event]:
        """Return by variable the first row taken for it."""
        rows: dict[int, Event] = {}
        while path is not None:
            rows[self._variables[path[2]]] = path[1]
            path = path[0]
        return rows

    def _put(self, began: int, key: Any, waiting: Waiting) -> None:
        if waiting:
            self._pages.touch((began, key))
            self._waiting[began, key] = waiting
            return
        self._pages.forget((began, key))
        del self._waiting[began, key], self._times[began][key]
        if not self._times[began]:
            del self._times[began]

    def _take(self, began: int) -> KeyedMatches:
        """Return what is held back of the matches that began then; it is held back no longer."""
        taken: list[tuple[int, Any, Match]] = []
        for key in self._times.pop(began):
            self._pages.forget((began, key))
            taken += [(number, key, match) for number, match in self._waiting.pop((began, key))]
        taken.sort(key=lambda item: item[0])
        return [(key, match) for _, key, match in taken]

    def _fire(self) -> None:
        if not self._waiting:
            return
        now = self._context.now()
        due = [began for began in sorted(self._times) if self._due(began) <= now]
        matches = [item for began in due for item in self._take(began)]
        if self._times:
            self._timer.set(self._due(min(self._times)))
        self._emit(matches)

    # ------------------------------------------------------------------ state

    def state(self) -> State:
        """Return the matches held back, when the timer is due, and when first rows came."""
        return {"waiting": self._pages, "due": self._timer.due, "began": Long(map(list, sorted(self._began.items())))}

    def _write(self, key: Any, waiting: Waiting) -> Any:
        writer = PathWriter()
        return [[[number, m.begin, m.end, writer.number(m.path)] for number, m in waiting], writer.nodes]

    def restore(self, state: State, readers: PathReaders) -> None:
        INTERVAL(state)
        self._began = dict(state["began"])
        waiting = [
            (began, self._keys.key(values), number, Match(begin, end, readers.of(nodes).path(path)))
            for (began, values), (matches, nodes) in state["waiting"] for number, begin, end, path in matches
        ]
        for began, key, number, match in sorted(waiting, key=lambda item: item[2]):
            self._hold(began, key, number, match)
            self._found = number
        if state["due"] is not None:
            self._timer.set(state["due"])

    def close(self) -> None:
        self._timer.cancel()
        self._pages.forget_all()
        self._waiting, self._times = {}, {}
        self._began = {}
