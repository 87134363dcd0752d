"""Starts a job again and again, sees it die, and compares what it left with what an undisturbed engine emits."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from tests.spark.kill.job import COMMIT, QUERY
from tests.spark.kill.processes import kill, launch, python_workers, wait_until_gone
from tests.spark.kill.workload import Events, put

POINTS = tuple(f"{what}.{when}" for what in ("log", "sink", "snapshot") for when in ("before", "during", "rename", "after"))
IDENTITY = tuple(f"identity.{when}" for when in ("before", "during", "rename", "after"))
STARTING, RUNNING = "random starting", "random running"
WORKER = "a Python worker"
"""With how many are killed behind it: ``f"{WORKER}:3"``."""


class Came(threading.Thread):
    """Files that come one by one, as many as are allowed by now."""

    def __init__(self, folder: Path, events: Events, pace: float) -> None:
        super().__init__(daemon=True)
        self.folder, self.pace = folder, pace
        self.pieces = events.pieces()
        self.allowed = 0
        self.put = 0
        self.over = threading.Event()
        (folder / "in").mkdir(parents=True)

    def run(self) -> None:
        while self.put < len(self.pieces) and not self.over.is_set():
            if self.put < self.allowed:
                put(self.folder / "in", self.put, self.pieces[self.put])
                self.put += 1
            time.sleep(self.pace)
        if self.put == len(self.pieces):
            (self.folder / "complete").touch()


@attrs.frozen
class Death:
    """``point``: where it died; ``at``: when; ``again``: whether a micro-batch was begun that Spark had not committed."""

    point: str
    at: float
    again: bool


@attrs.define
class Run:
    """``deaths`` in order; ``back``: for each start behind a death that got so far, the seconds from its process to its first new step;
    ``restore``: those that ``start`` took; ``workers`` killed, ``failed``: queries that ended because of that."""

    folder: Path
    deaths: list[Death] = attrs.field(factory=list)
    starts: int = 0
    workers: int = 0
    failed: int = 0
    back: dict[str, list[float]] = attrs.field(factory=dict)
    restore: list[float] = attrs.field(factory=list)
    seconds: float = 0.0


class Harness:
    """``arguments``: for the job; ``patience``: seconds after which a job that neither died nor ended is a fault."""

    def __init__(
        self, folder: Path, events: Events, arguments: Sequence[str], *, pace: float, patience: float = 600, seed: int = 7
    ) -> None:
        self.run = Run(folder)
        self.folder, self.events, self.arguments, self.patience = folder, events, list(arguments), patience
        self.came = Came(folder, events, pace)
        self._start_takes = 10.0
        self.chance = random.Random(seed)

    def through(self, kills: Sequence[str]) -> Run:
        """One start a kill (``log.rename:2``, ``commit``, RUNNING, …), then starts until one comes to the end. While the n-th of them is
        due, no more than the n-th share of the files comes, so that none finds the input used up."""
        began = time.monotonic()
        self.came.start()
        try:
            for number, point in enumerate(kills):
                share = (number + 1) * len(self.came.pieces) // (len(kills) + 1)
                self.came.allowed = max(self.came.allowed, share)
                self._life(point)
            self.came.allowed = len(self.came.pieces)
            for _ in range(3):
                if self._log()[-1]["what"] == "finished":
                    break
                self._life("")
        finally:
            self.came.over.set()
        self.run.seconds = time.monotonic() - began
        return self.run

    # ------------------------------------------------------------------ one process

    def _life(self, point: str) -> None:
        """Start, until it dies at the point, or ends."""
        asked = point if point.partition(":")[0] in (*POINTS, *IDENTITY, COMMIT, QUERY) else ""
        known = len(self._log())
        dying = ["--kill", asked] if asked else []
        process = launch(["-m", "tests.spark.kill.job", str(self.folder), *self.arguments, *dying], self.folder / "log.txt")
        self.run.starts += 1
        try:
            if point in (STARTING, RUNNING):
                self._wait(process, known, "spawned" if point == STARTING else "started")
                time.sleep(self.chance.uniform(0.0, self._start_takes))
                kill(process.pid)
            elif point.startswith(WORKER):
                self._workers(process, known, int(point.partition(":")[2]))
            code = self._ended(process, point)
        finally:
            kill(process.pid)
            wait_until_gone(process.pid)
            process.wait()
        if code == -signal.SIGKILL:
            self.run.deaths.append(Death(point.partition(":")[0], time.time(), self._uncommitted()))
        elif point.startswith(WORKER) and code != 0:
            self.run.failed += 1  # the query: a task may fail four times
        elif code != 0 or (point and not point.startswith(WORKER)):
            raise AssertionError(f"exit {code}, expected to die at {point or 'no point'}: see {self.folder}/log.txt")
        self._note(known)

    def _ended(self, process: subprocess.Popen[bytes], point: str) -> int:
        """Its exit code. One that finds nothing more to do before its point gets more files."""
        until = time.monotonic() + self.patience
        while process.poll() is None:
            if time.monotonic() > until:
                raise TimeoutError(f"the job still runs after {self.patience} s, asked to die at {point or 'no point'}")
            time.sleep(0.2)
            if point and self.came.put >= self.came.allowed and self._consumed():
                self.came.allowed += 1
        return process.returncode

    def _workers(self, process: subprocess.Popen[bytes], known: int, kills: int) -> None:
        """Kill Python workers at random moments of micro-batches, while files go on coming."""
        self._wait(process, known, "started")
        until = time.monotonic() + self.patience
        for _ in range(kills):
            time.sleep(self.chance.uniform(0.5, 3.0))
            while process.poll() is None and time.monotonic() < until:
                if self.came.put >= self.came.allowed:
                    self.came.allowed += 1
                found = python_workers(process.pid) if self._uncommitted() else []
                if found:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(self.chance.choice(found), signal.SIGKILL)
                        self.run.workers += 1
                    break
                time.sleep(0.01)
        self.came.allowed = len(self.came.pieces)

    # ------------------------------------------------------------------ what is seen from outside

    def _wait(self, process: subprocess.Popen[bytes], known: int, what: str) -> None:
        until = time.monotonic() + self.patience
        while process.poll() is None and not any(each["what"] == what for each in self._log()[known:]):
            if time.monotonic() > until:
                raise TimeoutError(f"the job has not {what} after {self.patience} s")
            time.sleep(0.02)

    def _log(self) -> list[dict[str, Any]]:
        path = self.folder / "log.jsonl"
        if not path.exists():
            return []
        # The last line may be half written.
        return [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def _numbers(self, what: str) -> set[int]:
        folder = self.folder / self._spark / what
        return {int(each.name) for each in folder.iterdir() if each.name.isdigit()} if folder.exists() else set()

    @property
    def _spark(self) -> str:
        return "job" if "spread" in self.arguments else "job/spark"

    def _uncommitted(self) -> bool:
        return bool(self._numbers("offsets") - self._numbers("commits"))

    def _consumed(self) -> bool:
        """Whether Spark has committed all files that are there."""
        return not self._uncommitted() and self._listed() >= self.came.put

    def _listed(self) -> int:
        """Files that Spark has taken into micro-batches."""
        folder = self.folder / self._spark / "sources" / "0"
        found: set[str] = set()
        for each in folder.iterdir() if folder.exists() else ():
            if not each.name.startswith("."):
                with contextlib.suppress(FileNotFoundError):  # Spark has put it together with others since
                    found.update(json.loads(line)["path"] for line in each.read_text().splitlines()[1:])
        return len(found)

    def _note(self, known: int) -> None:
        """How long this start took to be back, after the last death."""
        at = {each["what"]: each for each in self._log()[known:]}
        before = [death for death in self.run.deaths if death.at < at.get("spawned", {"at": 0})["at"]]
        if "started" in at:
            self._start_takes = at["started"]["at"] - at["spawned"]["at"]
        if not before or "started" not in at:
            return
        if at["started"].get("seconds"):
            self.run.restore.append(at["started"]["seconds"])
        if "first step" in at:
            self.run.back.setdefault(before[-1].point, []).append(at["first step"]["at"] - at["spawned"]["at"])


def plan(random_kills: int, chance: random.Random) -> list[str]:
    """Every point once, three commits, two queries and so many random ones, in random order; first the identity, which is written first."""
    # Steps that a restart feeds from the log write their output again, some ten steps of four files: later visits are of new steps.
    visits = {"log": (1, 4), "sink": (70, 140), "snapshot": (1, 2)}
    rest = [f"{point}:{chance.randint(*visits[point.partition('.')[0]])}" for point in POINTS]
    rest += [f"{COMMIT}:{visit}" for visit in (1, 2, 3)] + [f"{QUERY}:{visit}" for visit in (1, 3)]
    rest += [(RUNNING, RUNNING, STARTING)[each % 3] for each in range(random_kills)]
    chance.shuffle(rest)
    return [chance.choice(IDENTITY), *rest]


def lines(run: Run) -> Iterator[str]:
    """A table of the kills."""
    yield "| killed at | kills | Spark had not committed | to the first new step, s |"
    yield "|---|---|---|---|"
    for point in dict.fromkeys(sorted(death.point for death in run.deaths)):
        deaths = [death for death in run.deaths if death.point == point]
        back = run.back.get(point, [])
        took = ", ".join(f"{seconds:.1f}" for seconds in back) or "–"
        yield f"| {point} | {len(deaths)} | {sum(death.again for death in deaths)} | {took} |"
