"""Data windows in a kernel: how the positions of the ring move, and which of them a delta brings in and lets go.

Each prints the choice of the next delta into the kernel's loop: new events at the positions ``na`` … ``nb``, old ones at ``oa`` … ``ob``,
engine time ``now``, ``timer`` whether a timer brought it; ``continue`` where the row brings none, ``break`` at the end of the batch.
"""
from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

from epl.plan.expressions import TimeSpan, TypedExpression, VariableValue
from epl.plan.windows import WindowConfig
from runtime.batch.arrays import ONE, RING, Arrays, Field
from runtime.batch.code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.run import Surroundings
from windows.keepall import KeepAll
from windows.length import Length
from windows.time_sliding import Time


@attrs.define
class Window:
    """``take``: prints the row at ``i`` into the ring at position ``tail``, after its filter (``continue`` if it fails)."""

    config: WindowConfig

    def fields(self) -> list[Field]:
        return []

    def start(self, state: Arrays, surroundings: Surroundings) -> None:
        """Put the window's parameters into a fresh state."""

    def advance(self, code: Code, take: Callable[[Code], None]) -> None:
        raise NotImplementedError

    @property
    def timed(self) -> bool:
        return False


def _room(code: Code) -> None:
    """Stop, with nothing changed, where the ring is full."""
    with code.block("if tail - head > mask"):
        code.add("status = 2", "break")


class LengthWindow(Window):
    config: Length

    def fields(self) -> list[Field]:
        return [Field("size", np.int64, ONE)]

    def start(self, state: Arrays, surroundings: Surroundings) -> None:
        state["size"][0] = surroundings.value(self.config.size)

    def advance(self, code: Code, take: Callable[[Code], None]) -> None:
        with code.block("if i >= n"):
            code.add("break")
        _room(code)
        take(code)
        code.add("oa = head")
        with code.block("if tail - head > size[0]"):
            code.add("head += 1")
        code.add("ob = head")


class KeepAllWindow(Window):
    def advance(self, code: Code, take: Callable[[Code], None]) -> None:
        with code.block("if i >= n"):
            code.add("break")
        _room(code)
        take(code)


class TimeWindow(Window):
    config: Time

    def fields(self) -> list[Field]:
        return [Field("size", np.int64, ONE), Field("w_time", np.int64, RING)]

    def start(self, state: Arrays, surroundings: Surroundings) -> None:
        state["size"][0] = surroundings.period(self.config.period)

    @property
    def timed(self) -> bool:
        return True

    def advance(self, code: Code, take: Callable[[Code], None]) -> None:
        code.add("reach = times[i] if i < n else until")
        with code.block("if head < tail and w_time[head & mask] + size[0] <= reach"):
            code.add("now = reach if jump else w_time[head & mask] + size[0]", "timer = True", "oa = head")
            with code.block("while head < tail and w_time[head & mask] + size[0] <= now"):
                code.add("head += 1")
            code.add("ob = head", "na = tail", "nb = tail")
        with code.block("else"):
            with code.block("if i >= n"):
                code.add("break")
            _room(code)
            code.add("now = reach", "timer = False")
            take(code)
            code.add("w_time[na & mask] = now")


def window_of(config: WindowConfig) -> Window:
    """The printer of a window; raises NotCompilable."""
    kind = KINDS.get(type(config))
    if kind is None:
        raise NotCompilable(f"the window {config.names[0]} is not computed in columns")
    parameters = [e for e in (getattr(config, "size", None), getattr(config, "period", None)) if e is not None]
    if any(isinstance(node, VariableValue) for e in parameters for node in e.walk()):
        raise NotCompilable("a window whose size is a variable")
    if any(is_calendar(e) for e in parameters):
        raise NotCompilable("a window of months or years")
    return kind(config)


def is_calendar(period: TypedExpression) -> bool:
    return isinstance(period, TimeSpan) and any(name.startswith(("month", "year")) for name, _ in period.parts)


KINDS: dict[type[WindowConfig], type[Window]] = {Length: LengthWindow, KeepAll: KeepAllWindow, Time: TimeWindow}
