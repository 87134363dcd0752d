"""``(did you mean 'x'?)``: the nearest known name, as Esper finds it."""
from __future__ import annotations

from collections.abc import Iterable

FARTHEST = 3


def edit_distance(left: str, right: str) -> int:
    """Return Levenshtein's distance.

    >>> edit_distance("kitten", "sitting")
    3
    """
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        previous, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    return row[-1]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the first of the known names with the least distance, case aside; None beyond a distance of three.

    >>> nearest("theStrring", ["intPrimitive", "theString"])
    'theString'
    """
    lower = name.lower()
    best: tuple[int, str] | None = None
    for candidate in known:
        if abs(len(candidate) - len(name)) > FARTHEST:
            continue
        distance = edit_distance(lower, candidate.lower())
        if best is None or distance < best[0]:
            best = (distance, candidate)
    return best[1] if best is not None and best[0] <= FARTHEST else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    suggestion = nearest(name, known)
    return f" (did you mean '{suggestion}'?)" if suggestion is not None else ""
