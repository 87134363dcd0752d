"""A kernel's registers: what stands at which place of the array that a call begins and ends with."""
from __future__ import annotations

(NEXT, OUT, PENDING, NA, NB, OA, OB, HEAD, TAIL, NOW, TIMER, DELTA, ROOM, NEED), REGISTERS = range(14), 14
"""``NEXT`` row of the batch, ``OUT`` rows put out, ``PENDING`` a delta that found no room for its output: new events at ring positions
``NA`` … ``NB``, old ones at ``OA`` … ``OB``; ``HEAD`` … ``TAIL`` the positions in use; ``NOW`` engine time, ``TIMER`` whether a timer is
behind the delta, ``DELTA`` its number; ``ROOM`` for output rows, and how much of it a delta may ``NEED``."""

DONE, OUTPUT_FULL, RING_FULL, GROUPS_FULL, ACCUMULATORS_FULL = 0, 1, 2, 3, 4
"""What a call gives: all is done; make room for output, for ring positions, for groups or for what accumulators keep, and call again."""
