"""Programs whose events come as batches of columns with a column of times, in place of steps of events and of times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

import pyarrow as pa

from epl.errors import EplError
from runtime.batch.refusals import NotInBatchTier
from runtime.conversion.arrow import to_batch
from tests.drawn.recorded import Program
from tests.replay.columns import SEQUENCE, ColumnFeed
from tests.replay.player import Caused, TracePlayer
from windows.event import Event

Step = Mapping[str, Any]
Done = dict[str, Any]
TIME = "#time"
TIMES = ("time", "time_span")


class AllAtOnce(ColumnFeed):
    """Notes what a batch causes as a whole."""

    def event_at(self, place: int) -> int:
        return 0


class TimedPlayer(TracePlayer):
    """Plays events and times as one batch."""

    def play_timed(self, steps: Sequence[Step]) -> Done:
        """Send the events with the times that they have among the steps, then advance to the time that comes last; return what all that
        caused."""
        rows: list[tuple[Event, int]] = []
        now = self.runtime.now
        for step in steps:
            if step["op"] == "event":
                rows.append((self.runtime.event_of(*self._given(step)), now))
            else:
                now = max(step["ms"], now)
        jumps = any(step["op"] == "time" for step in steps)
        done: Done = {"op": "batch"}
        self.caused, self._feed = [Caused()], AllAtOnce()
        try:
            if rows:
                self.runtime.send_batch(_tables(rows), time=TIME, sequence=SEQUENCE, time_mode="jump" if jumps else "span")
            if steps[-1]["op"] in TIMES:
                (self.runtime.advance_time if jumps else self.runtime.advance_time_span)(now)
        except NotInBatchTier:
            raise
        except EplError as error:
            done["exception"] = error.message
        self._feed = None
        self.caused[0].write(done)
        return done


def _tables(rows: Sequence[tuple[Event, int]]) -> dict[str, pa.RecordBatch]:
    tables = {}
    for each in dict.fromkeys(event.type for event, _ in rows):
        places = [place for place, (event, _) in enumerate(rows) if event.type is each]
        table = to_batch([rows[place][0] for place in places], each).append_column(SEQUENCE, pa.array(places, pa.int64()))
        tables[each.name] = table.append_column(TIME, pa.array([rows[place][1] for place in places], pa.int64()))
    return tables


def with_time_of_each(program: Program, op: str) -> Program:
    """Return the program with a step of time before each event, as a column of times has it, all of them spans or all of them jumps."""
    now = program.get("start_time", 0)
    steps: list[Step] = []
    for step in program["steps"]:
        if step["op"] in TIMES:
            now = max(now, step["ms"])
            step = {"op": op, "ms": now}
        elif step["op"] == "event" and not (steps and steps[-1]["op"] == op):
            steps.append({"op": op, "ms": now})
        steps.append(step)
    return {**program, "steps": steps}


def together(steps: Sequence[Step], seed: int) -> Iterator[list[Step]]:
    """Yield the steps; events and times that come as one batch are together. Cut at random, and between two jumps, of which a batch would
    make one."""
    chance = Random(seed)
    group: list[Step] = []
    for step in steps:
        if group and not _goes_on(group, step, chance):
            yield group
            group = []
        group.append(step)
    if group:
        yield group


def _goes_on(group: Sequence[Step], step: Step, chance: Random) -> bool:
    before, op = group[-1]["op"], step["op"]
    return {before, op} <= {"event", *TIMES} and not before == op == "time" and chance.random() > 0.1


def in_timed_batches(program: Program, seed: int, tier: str) -> list[Done]:
    """Play the program; each group of events and times is one step."""
    player = TimedPlayer(program, tier)
    return [
        player.play_timed(group) if group[0]["op"] in ("event", *TIMES) else player.play(group[0])
        for group in together(program["steps"], seed)
    ]


def joined(steps: Sequence[Step], seed: int) -> list[Done]:
    """Return the steps of a plain run as ``in_timed_batches`` has them."""
    return [_joined(group) if group[0]["op"] in ("event", *TIMES) else dict(group[0]) for group in together(steps, seed)]


def _joined(group: Sequence[Step]) -> Done:
    calls = [call for step in group for call in step.get("out", ())]
    raised = [{"exception": step["exception"]} for step in group if "exception" in step]
    return {"op": "batch", **({"out": calls} if calls else {}), **(raised[0] if raised else {})}
