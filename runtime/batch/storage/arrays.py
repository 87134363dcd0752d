"""A kernel's state as struct of arrays: named numpy arrays along a few axes, each of which grows by doubling."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

Array = np.ndarray[Any, Any]

RING, GROUP, HASH, CODES, ONE, PAIR = "ring", "group", "hash", "codes", "one", "pair"
"""``ring``: positions in a window, at ``position & (size - 1)``; ``group``: slots of groups; ``hash``: an open-addressing table (-1 is
free); ``codes``: by string code + 1; ``one``: a single element; ``pair``: slots of (group, value) pairs."""


@attrs.frozen
class ArrayField:
    """One array. ``words``: 2-dimensional, ``array[word, place]``."""

    name: str
    dtype: Any
    axis: str
    fill: Any = 0
    words: int = 0


START = {RING: 64, GROUP: 16, HASH: 64, CODES: 64, ONE: 1, PAIR: 64}


def kind_of_axis(axis: str) -> str:
    """Return what a group or hash axis of several groupings is one of: ``hash`` for ``hash 2``."""
    return axis.partition(" ")[0]


class Arrays:
    """The arrays of one kernel."""

    def __init__(self, fields: Sequence[ArrayField]) -> None:
        self.fields = tuple(fields)
        self.sizes: dict[str, int] = {}
        self.arrays: dict[str, Array] = {}
        for field in self.fields:
            size = self.sizes.setdefault(field.axis, START.get(kind_of_axis(field.axis), 64))
            self.arrays[field.name] = self._make(field, size)

    @staticmethod
    def _make(field: ArrayField, size: int) -> Array:
        return np.full((field.words, size) if field.words else size, field.fill, field.dtype)

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def tuple(self) -> tuple[Array, ...]:
        """Return the arrays in order of the fields, as kernels take them."""
        return tuple(self.arrays.values())

    def grow(self, axis: str, needed: int, head: int = 0, tail: int = 0) -> None:
        """Make space for ``needed`` places; a ring's positions ``head`` … ``tail`` keep their contents."""
        old = self.sizes.get(axis, 1)
        size = old
        while size < needed:
            size *= 2
        if size == old:
            return
        self.sizes[axis] = size
        for field in self.fields:
            if field.axis != axis:
                continue
            before, after = self.arrays[field.name], self._make(field, size)
            if axis == RING:
                positions = np.arange(head, tail)
                after[..., positions & (size - 1)] = before[..., positions & (old - 1)]
            elif kind_of_axis(axis) != HASH:
                after[..., :old] = before
            self.arrays[field.name] = after

    def memory(self) -> int:
        """Return bytes held."""
        return sum(a.nbytes for a in self.arrays.values())


def read_only(array: Array) -> Array:
    """Return the array as a view that cannot be written to: what kernels only read is always given so, since numba compiles a kernel once
    for arrays that it may write to and once for those that it may not."""
    if not array.flags.writeable:
        return array
    view: Array = array.view()
    view.flags.writeable = False
    return view


def longer(array: Array, size: int) -> Array:
    """Return an array of that size that begins with the other one."""
    extended = np.empty(size, array.dtype)
    extended[: len(array)] = array
    return extended
