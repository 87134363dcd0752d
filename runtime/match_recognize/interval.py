"""``interval t [or terminated]``: matches are held back until t after their first row, so that longer ones can take their place."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from epl.plan.row_recognition import RowRecognitionPlan
from runtime.match_recognize.ranking import Match
from runtime.match_recognize.state import PathReader, PathWriter
from windows.event import Event
from windows.protocol import BuildContext, State

if TYPE_CHECKING:
    from runtime.match_recognize.operator import Partition

Found = list[tuple[Any, Match]]
"""(key of the partition, match), in the order in which they were found."""


class Interval:
    """Matches waiting to be told, by the time of their first row.

    ::

        A B*, 5 s   A1@1000  B2@2000  B3@4000          @6000           B4@7000
        held back   A1       A1 B2    A1 B2 B3         -               -
        told        -        -        -                A1 B2 B3        A1 B2 B3 B4

    A match that goes on after its time is told at once. ``or terminated``: a match behind which the pattern has nothing more is told at once, and so are those
    held back with the same first row when some way on from it has come to an end. What is told drops the matches held back that begin among its rows as
    far as the skip clause says so; matches in progress are left alone (Esper 9.0.0).
    """

    def __init__(self, plan: RowRecognitionPlan, context: BuildContext, tell: Callable[[Found], None]) -> None:
        assert plan.interval is not None
        self._period = plan.interval
        self._context = context
        self._tell = tell
        self._or_terminated = plan.or_terminated
        self._past_last = plan.skip == "past last row"
        self._final = tuple(not step.then for step in plan.program.steps)
        self._waiting: dict[int, Found] = {}
        self._timer = context.timer(self._fire)

    def held_back(self, partition: Partition, ended: Sequence[Match], died: Iterable[int]) -> list[Match]:
        """After a row: what of the matches that ended with it is to be told now. ``died``: first rows of matches in progress that did not take the row."""
        now = self._context.now()
        times, key = partition.times, partition.key
        now_told: list[Match] = []
        for match in ended:
            began = times.get(match.begin, now)
            if (self._or_terminated and self._final[match.path[2]]) or self._due(began) <= now:
                now_told.append(match)
            else:
                self._wait(began, key, match)
        if self._or_terminated:
            for row in dict.fromkeys(died):
                now_told += self._released(times[row], key, row)
        partition.times = {s[1]: times.get(s[1], now) for s in partition.strands}
        return now_told

    def skip(self, key: Any, told: Sequence[Match]) -> None:
        """Drop what is held back and begins among the rows of a match told."""
        if self._past_last:
            for match in told:
                self._drop(key, lambda m, match=match: match.begin < m.begin <= match.end)  # type: ignore[misc]

    def forget(self, key: Any, rows: set[int]) -> None:
        """Drop what is held back and holds one of the rows."""
        self._drop(key, lambda m: any(m.begin <= row <= m.end for row in rows))

    def _due(self, began: int) -> int:
        return self._context.add_time(began, self._period)

    def _wait(self, began: int, key: Any, match: Match) -> None:
        self._waiting.setdefault(began, []).append((key, match))
        due = self._due(began)
        if self._timer.due is None or due < self._timer.due:
            self._timer.set(due)

    def _released(self, began: int, key: Any, row: int) -> list[Match]:
        waiting = self._waiting.get(began, [])
        released = [m for k, m in waiting if k == key and m.begin == row]
        if released:
            self._put(began, [(k, m) for k, m in waiting if not (k == key and m.begin == row)])
        return released

    def _drop(self, key: Any, unwanted: Callable[[Match], bool]) -> None:
        for began, waiting in list(self._waiting.items()):
            left = [(k, m) for k, m in waiting if not (k == key and unwanted(m))]
            if len(left) < len(waiting):
                self._put(began, left)

    def _put(self, began: int, waiting: Found) -> None:
        if waiting:
            self._waiting[began] = waiting
        else:
            self._waiting.pop(began, None)

    def _fire(self) -> None:
        if not self._waiting:
            return
        now = self._context.now()
        due = [began for began in sorted(self._waiting) if self._due(began) <= now]
        found = [item for began in due for item in self._waiting.pop(began)]
        if self._waiting:
            self._timer.set(self._due(min(self._waiting)))
        self._tell(found)

    # ------------------------------------------------------------------ state

    def state(self, writer: PathWriter) -> State:
        """The matches held back, and when the timer is due; a match's partition is known by its last row."""
        waiting = [[began, [[m.begin, m.end, writer.number(m.path)] for _, m in found]] for began, found in self._waiting.items()]
        return {"waiting": waiting, "due": self._timer.due}

    def restore(self, state: State, reader: PathReader, key_of: Callable[[Event], Any]) -> None:
        self._waiting = {}
        for began, found in state["waiting"]:
            matches = [Match(begin, end, reader.path(number)) for begin, end, number in found]
            self._waiting[began] = [(key_of(m.path[1]), m) for m in matches]
        if state["due"] is not None:
            self._timer.set(state["due"])

    def close(self) -> None:
        self._timer.cancel()
        self._waiting = {}
