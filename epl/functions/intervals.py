"""The interval algebra: how a left interval (start, end) lies to a right one, in engine time units.

Thresholds are functions of a reference time (a period of months has another length in each month) or None where none was written.
"""
from __future__ import annotations

from collections.abc import Callable

Threshold = Callable[[int], int]
"""Length in engine time units, counted from a time."""
Relation = Callable[[int, int, int, int, tuple[Threshold, ...]], bool]
"""(left start, left end, right start, right end, thresholds) → whether the relation holds."""


def _within(distance: int, limits: tuple[Threshold, ...], reference: int) -> bool:
    """Return whether the distance is at least the first limit and at most the second; limits in the wrong order are swapped."""
    low = limits[0](reference)
    if len(limits) == 1:
        return distance >= low
    high = limits[1](reference)
    return min(low, high) <= distance <= max(low, high)


def before(start: int, end: int, other_start: int, other_end: int, limits: tuple[Threshold, ...]) -> bool:
    return _within(other_start - end, limits, end) if limits else end < other_start


def after(start: int, end: int, other_start: int, other_end: int, limits: tuple[Threshold, ...]) -> bool:
    return _within(start - other_end, limits, other_end) if limits else start > other_end


def _near(one: int, other: int, limit: Threshold | None) -> bool:
    return one == other if limit is None else abs(one - other) <= limit(min(one, other))


def coincides(start: int, end: int, other_start: int, other_end: int, limits: tuple[Threshold, ...]) -> bool:
    first = limits[0] if limits else None
    return _near(start, other_start, first) and _near(end, other_end, limits[1] if len(limits) > 1 else first)


def during(start: int, end: int, other_start: int, other_end: int, limits: tuple[Threshold, ...]) -> bool:
    """Return the relation ``during``; limits: maximum of both distances; minimum and maximum of both; minimum and maximum of the start's,
    of the end's.

    Where minimum and maximum are given, the intervals may end together.
    """
    if not (other_start < start and (end < other_end or (end == other_end and len(limits) > 1))):
        return False
    if not limits:
        return True
    first, last = start - other_start, other_end - end
    if len(limits) == 1:
        return first <= limits[0](other_start) and last <= limits[0](end)
    starts, ends = (limits, limits) if len(limits) == 2 else (limits[:2], limits[2:])
    return starts[0](other_start) <= first <= starts[1](other_start) and ends[0](end) <= last <= ends[1](end)


def includes(start: int, end: int, other_start: int, other_end: int, limits: tuple[Threshold, ...]) -> bool:
    return during(other_start, other_end, start, end, limits)


def finishes(start: int, end: int, other_start: int, other_end: int, limits: tuple[Threshold, ...]) -> bool:
    return other_start < start and _near(end, other_end, limits[0] if limits else None)


def finished_by(start: int, end: int, other_start: int, other_end: int, limits: tuple[Threshold, ...]) -> bool:
    return start < other_start and _near(end, other_end, limits[0] if limits else None)


def meets(start: int, end: int, other_start: int, other_end: int, limits: tuple[Threshold, ...]) -> bool:
    return _near(end, other_start, limits[0] if limits else None)


def met_by(start: int, end: int, other_start: int, other_end: int, limits: tuple[Threshold, ...]) -> bool:
    return _near(start, other_end, limits[0] if limits else None)


def overlaps(start: int, end: int, other_start: int, other_end: int, limits: tuple[Threshold, ...]) -> bool:
    """Return the relation ``overlaps``; limits: maximum, or minimum and maximum, of the common part's length."""
    if not start < other_start < end < other_end:
        return False
    if not limits:
        return True
    common = end - other_start
    if len(limits) == 1:
        return common <= limits[0](other_start)
    return limits[0](other_start) <= common <= limits[1](other_start)


def overlapped_by(start: int, end: int, other_start: int, other_end: int, limits: tuple[Threshold, ...]) -> bool:
    return overlaps(other_start, other_end, start, end, limits)


def starts(start: int, end: int, other_start: int, other_end: int, limits: tuple[Threshold, ...]) -> bool:
    return _near(start, other_start, limits[0] if limits else None) and end < other_end


def started_by(start: int, end: int, other_start: int, other_end: int, limits: tuple[Threshold, ...]) -> bool:
    return _near(start, other_start, limits[0] if limits else None) and end > other_end


RELATIONS: dict[str, Relation] = {
    "before": before, "after": after, "coincides": coincides, "during": during, "includes": includes, "finishes": finishes,
        "finishedBy": finished_by,
    "meets": meets, "metBy": met_by, "overlaps": overlaps, "overlappedBy": overlapped_by, "starts": starts, "startedBy": started_by,
}
