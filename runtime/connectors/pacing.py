"""When the rows of a file happen, and when they are processed: at a rate, again and again, by the wall clock or a multiple of it."""
from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Protocol

from epl.errors import EplRuntimeError
from runtime.replay.epl_online import At, Instruction

SPEED = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*x?", re.IGNORECASE)


class MovableClock(Protocol):
    """What moves engine time."""

    @property
    def now(self) -> int: ...

    @property
    def next_due(self) -> int | None:
        """When the next timer is due."""

    def move(self, target: int) -> None: ...


class Timetable:
    """Engine times of rows, in ms. With ``rate``, row k of all passes happens k / rate seconds after ``start``. Without, rows have times of
    their own; in a further pass they are moved by what the file lasts: from ``start`` to its last row where ``start`` is given, else from
    its first row.

    >>> table = Timetable(rate=4, start=1000)
    >>> [list(table.add_times([])) for _ in range(3)]
    [[At(ms=1000)], [At(ms=1250)], [At(ms=1500)]]
    """

    def __init__(self, rate: float | None = None, start: int | None = None) -> None:
        if rate is not None and not 0 < rate <= 1e9:
            raise ValueError(f"a rate is a number of events a second greater than 0, not {rate!r}")
        self._rate = None if rate is None else Fraction(rate)
        self._start = start
        self._rows = 0
        self._shift = 0
        self._first: int | None = None
        self._last = 0

    def begin_pass(self) -> None:
        """Note that the file begins again."""
        if self._first is not None:
            began = self._first if self._start is None else self._start
            self._shift += self._last - began
            self._first = None

    def add_times(self, instructions: Iterable[Instruction]) -> Iterator[Instruction]:
        """Yield the instructions of the next row with their times."""
        if self._rate is not None:
            yield At((self._start or 0) + int(self._rows * 1000 / self._rate))
            self._rows += 1
        for instruction in instructions:
            if isinstance(instruction, At):
                if self._first is None:
                    self._first = instruction.ms
                self._last = instruction.ms
                yield At(instruction.ms + self._shift)
            else:
                yield instruction


class Pace:
    """Moves engine time as the wall clock goes, ``speed`` times as fast; None: without waiting.

    The first time that is moved to is not waited for, unless engine time begins there (``begins``); timers that are due on the way run when
    their time has come.
    """

    def __init__(
        self, speed: float | None, *, begins: bool = False, sleep: Callable[[float], object] = time.sleep,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._speed, self._begins, self._sleep, self._seconds = speed, begins, sleep, seconds
        self._anchor: tuple[int, float] | None = None

    @property
    def waits(self) -> bool:
        """Whether it goes by the wall clock."""
        return self._speed is not None

    def move(self, clock: MovableClock, target: int) -> None:
        """Walk to a time."""
        if self._speed is not None:
            if self._anchor is None:
                self._anchor = (clock.now if self._begins else max(target, clock.now), self._seconds())
            while (due := clock.next_due) is not None and due < target:
                self._wait(due)
                clock.move(due)
            self._wait(target)
        clock.move(target)

    def _wait(self, moment: int) -> None:
        assert self._anchor is not None and self._speed is not None
        begun, at = self._anchor
        rest = at + (moment - begun) / 1000 / self._speed - self._seconds()
        if rest > 0:
            self._sleep(rest)


def parse_speed(text: str) -> float | None:
    """Return a speed, None for ``max``; raise EplRuntimeError for another text.

    >>> parse_speed("10x"), parse_speed("0.5"), parse_speed("max")
    (10.0, 0.5, None)
    """
    match = SPEED.fullmatch(text.strip())
    if text.strip() == "max":
        return None
    if match is None or float(match[1]) == 0:
        raise EplRuntimeError(f"a speed is a multiple of the wall clock's, not {text!r}", hint="such as 10x, 0.5x or max")
    return float(match[1])


__all__ = ["MovableClock", "Pace", "Timetable", "parse_speed"]
