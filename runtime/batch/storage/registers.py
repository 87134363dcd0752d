"""Registers: the numbers with which a call of a kernel begins and ends, and those that a part of its state keeps from call to call.

Each set is declared once, by names: in the kernel's text each is a local variable of its name, for the host a place of an array.
"""
from __future__ import annotations

from collections.abc import Collection


class Registers:
    """Named places of an array of int64. ``booleans``: those that are booleans in the kernel.

    >>> counts = Registers("head", "open", booleans=["open"])
    >>> counts.read("R"), counts.write_lines("R"), counts["open"]
    (['head = R[0]', 'open = R[1] != 0'], ['R[0] = head', 'R[1] = open'], 1)
    """

    def __init__(self, *names: str, booleans: Collection[str] = ()) -> None:
        assert len(set(names)) == len(names) and set(booleans) <= set(names)
        self.names = names
        self._booleans = frozenset(booleans)
        self._places = {name: place for place, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> int:
        """The place of a register. Raise KeyError for one that was not declared."""
        return self._places[name]

    def places(self, *names: str) -> list[int]:
        """Return the places of several, in the order of the names."""
        return [self._places[name] for name in names]

    def read(self, array: str) -> list[str]:
        """Return source lines that put the array's numbers into the variables."""
        return [f"{name} = {array}[{n}]{' != 0' if name in self._booleans else ''}" for n, name in enumerate(self.names)]

    def write_lines(self, array: str) -> list[str]:
        """Return source lines that put the variables into the array."""
        return [f"{array}[{n}] = {name}" for n, name in enumerate(self.names)]

    def rename(self, suffix: str) -> Registers:
        """Return the same registers with other names."""
        return Registers(*(f"{name}{suffix}" for name in self.names), booleans=[f"{name}{suffix}" for name in self._booleans])


SELECT = Registers(
    "i", "out", "pending", "na", "nb", "oa", "ob", "head", "tail", "now", "timer", "delta", "out_capacity", "need", booleans=["timer"],
)
"""Of a select's kernel: ``i`` next row of the batch, ``out`` output rows, ``pending`` a delta that found no space for its output: new
events at ring positions ``na`` … ``nb``, old ones at ``oa`` … ``ob``; ``head`` … ``tail`` the positions in use; ``now`` engine time,
``timer`` whether a timer causes the delta, ``delta`` its number; ``out_capacity`` how many output rows there is space for, and how
many rows a delta may ``need``."""

DONE, OUTPUT_FULL, RING_FULL, GROUPS_FULL, ACCUMULATORS_FULL = 0, 1, 2, 3, 4
"""What a call of it returns: all is done; make space for output, for ring positions, for groups or for what accumulators keep, and call
again."""
