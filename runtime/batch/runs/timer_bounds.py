"""How many timers may be due in a gap of time, as bounds that cost next to nothing to compute.

``max_stops`` limits at how many times time may stop between two rows because something is due. Kernels run their timers within the loop and
do not count them over all statements; so a call in which the limit could be reached is run in the row tier, which counts. Nearly always one
look at the widest gap says that it cannot be.
"""
from __future__ import annotations

from typing import Literal

import attrs
import numpy as np

from runtime.batch.storage.arrays import Array


class Gaps:
    """The gaps of a call that are wider than ``limit``. ``times``: of the rows, ascending, none below ``start``, the engine time;
    time goes on to ``until``."""

    def __init__(self, start: int, times: Array, until: int, limit: int) -> None:
        self.widest = 0
        """Engine time of the widest one, 0 where there is none."""
        self.rows = 0
        """At how many times rows come."""
        if until - start <= limit:
            return
        ends = np.unique(np.concatenate(([start], times, [until])))
        widths = np.diff(ends)
        wide = np.flatnonzero(widths > limit)
        if len(wide):
            self._times, self._begins, self.widest = np.unique(times), ends[wide], int(widths.max())
            self.rows = len(self._times)

    def most_rows(self, period: int) -> int:
        """Return at how many times rows come, at most, within a period before one of the gaps begins."""
        ends = np.searchsorted(self._times, self._begins, "right")
        begins = np.searchsorted(self._times, self._begins - period, "right")
        return int((ends - begins).max(initial=0))


@attrs.frozen
class Timers:
    """What a statement may have due. ``each``: a period after each time at which events come; ``while``: each period while events are
    there or have just gone, and once more; ``always``: each period. ``held``: at how many times those came that are there."""

    kind: Literal["each", "while", "always"]
    period: int
    held: int = 0

    def in_a_gap(self, gaps: Gaps, others: int) -> int:
        """Return at how many times they are due at most in one of the gaps; ``others``: at how many times, at most, timers bring events
        there or as long before."""
        if self.kind == "each":
            return min(self.period + 1, self.held + gaps.most_rows(self.period)) + others
        return self._beats(gaps, others)

    def anywhere(self, gaps: Gaps, others: int) -> int:
        """Return the same of any time as long as the widest gap."""
        if self.kind == "each":
            return min(gaps.widest, self.held + gaps.rows + others)
        return self._beats(gaps, gaps.rows + others)

    def _beats(self, gaps: Gaps, entries: int) -> int:
        beats = gaps.widest // self.period + 2
        return beats if self.kind == "always" else min(beats, 3 * entries + 3)


__all__ = ["Gaps", "Timers"]
