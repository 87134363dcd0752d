"""Windows that release events in batches: the batch released last at the positions ``head`` … ``w_mid``, the one that grows from there
to ``tail``."""
from __future__ import annotations

from typing import ClassVar

import numpy as np

from epl.plan.expressions import TypedExpression
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.runs.ring import Ring
from runtime.batch.runs.run import RunContext
from runtime.batch.runs.timer_bounds import Timers
from runtime.batch.storage.arrays import ONE, Array, ArrayField, Arrays
from runtime.batch.windows.base import NEVER, RowPrinter, Take, Window, read_duration
from windows.length_batch import LengthBatch
from windows.paging import Long
from windows.protocol import State
from windows.shape import COUNT, DUE, EVENT, INTEGER, takes
from windows.time_batch import TimeBatch
from windows.time_length_batch import TimeLengthBatch


class BatchWindow(Window):
    """What they share. ``timed``: ``w_due`` is when the timer is due, at the earliest a period (``period_name``) after the one before."""

    lets_all_go = True
    timed: ClassVar[bool] = False
    period_name: ClassVar[str] = "size"

    @property
    def due(self) -> str | None:
        return "w_due[0]" if self.timed else None

    @property
    def released(self) -> str:
        return "w_mid[0]"

    @property
    def contents(self) -> tuple[str, str]:
        return "w_mid[0]", "tail"

    def fields(self) -> list[ArrayField]:
        return [ArrayField("w_mid", np.int64, ONE), *([ArrayField("w_due", np.int64, ONE, NEVER)] if self.timed else [])]

    def release(self, code: Code) -> None:
        """Print that the batch is new, the one before old."""
        code.add("oa = head", "ob = w_mid[0]", "na = w_mid[0]", "nb = tail", "head = w_mid[0]", "w_mid[0] = tail")

    def expire(self, code: Code) -> None:
        with code.block("if head == tail"):
            code.add(f"w_due[0] = {NEVER}", "continue")
        self.schedule(code)
        self.release(code)

    def schedule(self, code: Code) -> None:
        """Set the timer, at ``now``."""
        raise NotImplementedError

    def next_due(self, ring: Ring) -> int | None:
        due = int(ring.arrays["w_due"][0]) if self.timed else NEVER
        return None if due == NEVER else due

    def timers(self, ring: Ring) -> Timers | None:
        return Timers("while", int(ring.arrays[self.period_name][0])) if self.timed else None

    def counted(self, ring: Ring) -> Array:
        return np.arange(ring.head, self.end(ring))

    def end(self, ring: Ring) -> int:
        return int(ring.arrays["w_mid"][0])

    def batches(self, ring: Ring) -> dict[str, State]:
        mid = self.end(ring)
        return {"current": Long(ring.events(np.arange(mid, ring.tail))), "last": Long(ring.events(np.arange(ring.head, mid)))}

    @takes({"current": [EVENT], "last": [EVENT]})
    def restore(self, ring: Ring, state: State) -> None:
        last = list(state["last"])
        ring.hold([*last, *state["current"]])
        ring.arrays["w_mid"][0] = ring.head + len(last)
        if self.timed:
            ring.arrays["w_due"][0] = NEVER if state["due"] is None else state["due"]


class LengthBatchWindow(BatchWindow):
    config: LengthBatch

    def fields(self) -> list[ArrayField]:
        return [*super().fields(), ArrayField("size", np.int64, ONE)]

    def start(self, state: Arrays, surroundings: RunContext) -> None:
        state["size"][0] = surroundings.value(self.config.size)

    def row(self, code: Code, take: Take, printer: RowPrinter) -> None:
        take(code)
        with code.block("if tail - w_mid[0] < size[0]"):
            code.add("continue")
        self.release(code)

    def state(self, ring: Ring) -> State:
        return {**self.batches(ring), "size": int(ring.arrays["size"][0])}

    @takes({"size": COUNT})
    def restore(self, ring: Ring, state: State) -> None:
        super().restore(ring, state)
        ring.arrays["size"][0] = state["size"]


class TimeBatchWindow(BatchWindow):
    """``w_reference``: what boundaries are counted from, once ``w_known``."""

    config: TimeBatch
    timed = True

    def fields(self) -> list[ArrayField]:
        own = [ArrayField("size", np.int64, ONE), ArrayField("w_reference", np.int64, ONE), ArrayField("w_known", np.bool_, ONE)]
        return [*super().fields(), *own]

    def start(self, state: Arrays, surroundings: RunContext) -> None:
        state["size"][0] = period_length(self.config.period, surroundings)
        if self.config.reference is not None:
            self._know(state, surroundings.value(self.config.reference))

    def _know(self, state: Arrays, reference: int | None) -> None:
        state["w_known"][0] = reference is not None
        state["w_reference"][0] = reference or 0

    def schedule(self, code: Code) -> None:
        code.add("w_due[0] = w_reference[0] + ((now - w_reference[0]) // size[0] + 1) * size[0]")

    def row(self, code: Code, take: Take, printer: RowPrinter) -> None:
        take(code)
        with code.block(f"if w_due[0] == {NEVER}"):
            with code.block("if not w_known[0]"):
                code.add("w_reference[0] = now", "w_known[0] = True")
            self.schedule(code)
        code.add("continue")

    def state(self, ring: Ring) -> State:
        arrays = ring.arrays
        reference = int(arrays["w_reference"][0]) if arrays["w_known"][0] else None
        return {**self.batches(ring), "reference": reference, "duration": int(arrays["size"][0]), "due": self.next_due(ring)}

    @takes({"duration": INTEGER, "reference": DUE, "due": DUE})
    def restore(self, ring: Ring, state: State) -> None:
        super().restore(ring, state)
        ring.arrays["size"][0] = read_duration(state)
        self._know(ring.arrays, state["reference"])


class TimeLengthBatchWindow(BatchWindow):
    """``size``: of a batch; ``w_period``: the longest time it grows."""

    config: TimeLengthBatch
    timed = True
    period_name = "w_period"

    def fields(self) -> list[ArrayField]:
        return [*super().fields(), ArrayField("size", np.int64, ONE), ArrayField("w_period", np.int64, ONE)]

    def start(self, state: Arrays, surroundings: RunContext) -> None:
        state["size"][0] = surroundings.value(self.config.size)
        state["w_period"][0] = period_length(self.config.period, surroundings)

    def schedule(self, code: Code) -> None:
        code.add("w_due[0] = now + w_period[0]")

    def row(self, code: Code, take: Take, printer: RowPrinter) -> None:
        take(code)
        with code.block("if tail - w_mid[0] < size[0]"):
            with code.block(f"if w_due[0] == {NEVER}"):
                self.schedule(code)
            code.add("continue")
        self.schedule(code)
        self.release(code)

    def state(self, ring: Ring) -> State:
        size, period = int(ring.arrays["size"][0]), int(ring.arrays["w_period"][0])
        return {**self.batches(ring), "size": size, "duration": period, "due": self.next_due(ring)}

    @takes({"size": COUNT, "duration": INTEGER, "due": DUE})
    def restore(self, ring: Ring, state: State) -> None:
        super().restore(ring, state)
        ring.arrays["size"][0], ring.arrays["w_period"][0] = state["size"], read_duration(state)


def period_length(period: TypedExpression, surroundings: RunContext) -> int:
    length = surroundings.period(period)
    if length <= 0:
        raise NotCompilable("a time window of no length")
    return length
