"""Windows in front of match_recognize: rows leave in order of arrival, and only ``gone`` shows it.

A row that leaves takes the matches with it that began there. All rows before it have left already, so a partial match holds just when
its first row's number is above ``gone``, the number of the last row that left.
"""
from __future__ import annotations

import attrs
import numpy as np

from epl.plan.expressions import StreamProperty, TypedExpression, VariableValue
from epl.plan.windows import WindowConfig
from runtime.batch.printing.expressions import ScalarPrinter, column_kind
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import Declined, NotCompilable
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.arrays import ONE, RING, ArrayField, Arrays
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.kinds import INTEGERS
from runtime.batch.storage.strings import StringPool
from runtime.batch.windows import is_calendar
from windows.ext_timed import ExtTimed
from windows.keepall import KeepAll
from windows.length import Length
from windows.time_sliding import Time


@attrs.frozen
class PatternWindow:
    """``kind``: length, time, ext_timed or keepall. ``size``: events or engine time. The ring holds of each row its id, time or timestamp,
    and the rows that prev saw after it. ``whole``: no filter is before it, so that ids follow one another: position + ``shift``."""

    kind: str
    size: TypedExpression | None
    timestamp: TypedExpression | None = None
    whole: bool = False

    def start(self, state: Arrays, surroundings: RunContext) -> None:
        """Put the size into a fresh state; raises NotCompilable for a size of 0, which lets rows go before they have come."""
        if self.size is None:
            return
        size = surroundings.value(self.size) if self.kind == "length" else surroundings.period(self.size)
        if size is None or size < 1:
            raise NotCompilable("match_recognize after a window without events is not computed in columns")
        state["size"][0] = size

    def check(self, intake: BatchIntake, state: Arrays, pool: StringPool) -> None:
        """Raise Declined for timestamps so near the lowest long that a period before them lies beyond it: such rows go as they come."""
        stamp = self.timestamp
        if not isinstance(stamp, StreamProperty) or column_kind(stamp.type) != "long":
            return
        values, valid = intake.column(stamp.name, "long", pool)
        lowest = int(state["size"][0]) - 1 - 2**63
        if values.min(initial=0) < lowest and bool((valid & (values < lowest)).any()):
            raise Declined("timestamps at the lowest end of long")

    def fields(self, lookback: int) -> list[ArrayField]:
        return [
            ArrayField("size", np.int64, ONE), *([] if self.whole else [ArrayField("w_row", np.int64, RING)]),
            ArrayField("w_time", np.int64, RING),
            *(ArrayField(f"w_before{n}", np.int64, RING) for n in range(1, lookback + 1)),
        ]

    @property
    def timed(self) -> bool:
        return self.kind == "time"

    def expire(self, code: Code, now: str) -> None:
        """Print, for a time, that rows leave that are due by the clock."""
        if self.kind == "time":
            self._evict(code, f"w_time[head & mask] + length <= {now}")

    def _evict(self, code: Code, test: str) -> None:
        with code.block(f"while head < tail and {test}"):
            self._pop(code)

    def _pop(self, code: Code) -> None:
        code.add("gone = head + shift + 1" if self.whole else "gone = w_row[head & mask] + 1", "head += 1")

    def take(self, code: Code, printer: ScalarPrinter, lookback: int) -> None:
        """Print that the row at ``r`` comes in, and rows leave that it pushes out."""
        code.add("place = tail & mask", *(["shift = row - tail"] if self.whole else ["w_row[place] = row"]), "tail += 1")
        code.add(*(f"w_before{n}[place] = h{n}_row[gu]" for n in range(1, lookback + 1)))
        if self.kind == "time":
            code.add("w_time[place] = now")
        elif self.kind == "length":
            with code.block("if tail - head > length"):
                self._pop(code)
        elif self.timestamp is not None:
            text = printer.value(self.timestamp)
            stamp = text.value if text.valid is None else f"({text.value} if {text.valid} else np.int64(0))"
            code.add(f"stamp = np.int64({stamp})", "w_time[place] = stamp", "edge = long_subtract(stamp, length - 1)")
            self._evict(code, "w_time[head & mask] < edge")


def pattern_window(config: WindowConfig, *, whole: bool) -> PatternWindow:
    """Return the printer of a window; ``whole``: all events of the type come in. Raise NotCompilable."""
    if isinstance(config, Length):
        window = PatternWindow("length", config.size)
    elif isinstance(config, Time):
        window = PatternWindow("time", config.period)
    elif isinstance(config, KeepAll):
        return PatternWindow("keepall", None, None, whole)
    elif isinstance(config, ExtTimed):
        if column_kind(config.timestamp.type) not in INTEGERS:
            raise NotCompilable("timestamps that are not integers")
        window = PatternWindow("ext_timed", config.period, config.timestamp)
    else:
        raise NotCompilable(f"match_recognize after the window {config.names[0]} is not computed in columns")
    assert window.size is not None
    if any(isinstance(node, VariableValue) for node in window.size.walk()):
        raise NotCompilable("a window whose size is a variable")
    if is_calendar(window.size):
        raise NotCompilable("a window of months or years")
    return attrs.evolve(window, whole=whole)


__all__ = ["PatternWindow", "pattern_window"]
