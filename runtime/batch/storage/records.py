"""Arrays of one axis as records side by side, so that what is read together lies together: a row of 64-bit words for each place.

``pack`` rewrites a kernel's source, in which each field is an array of its own, to read and write words of the records: integers and
booleans as they are, floating point numbers through a view of the same memory.
"""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from runtime.batch.storage.arrays import START, Array, ArrayField, Arrays

FLOATS = (np.float32, np.float64)


@attrs.frozen
class RecordWord:
    """The place of a field: the names of the records' arrays of integers and of floats, and the word."""

    field: ArrayField
    integers: str
    floats: str
    place: int

    @property
    def is_float(self) -> bool:
        return self.field.dtype in FLOATS

    def text(self, index: str, stores: bool) -> str:
        """Return ``field[index]`` as a value, or as a place to store to."""
        word = f"{self.floats if self.is_float else self.integers}[{index}, {self.place}]"
        if stores or self.field.dtype in (np.int64, np.float64):
            return word
        if self.field.dtype is np.bool_:
            return f"({word} != 0)"
        return f"np.float32({word})" if self.is_float else word


def record_words(fields: Sequence[ArrayField], axes: Mapping[str, str]) -> dict[str, RecordWord]:
    """Return the fields on the axes, but for those with words of their own. ``axes``: axis → name of its records."""
    words: dict[str, RecordWord] = {}
    counts = dict.fromkeys(axes, 0)
    for field in fields:
        if field.axis in axes and not field.words:
            name = axes[field.axis]
            words[field.name] = RecordWord(field, name, f"{name}F", counts[field.axis])
            counts[field.axis] += 1
    return words


def pack(source: str, words: Mapping[str, RecordWord]) -> str:
    """Return the source with each ``field[index]`` in terms of records."""
    if not words:
        return source
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, words))})\[|\blen\(({'|'.join(map(re.escape, words))})\)")
    return "".join(_line(line, pattern, words) for line in source.splitlines(keepends=True))


def _line(line: str, pattern: re.Pattern[str], words: Mapping[str, RecordWord]) -> str:
    done: list[str] = []
    at = 0
    while True:
        match = pattern.search(line, at)
        if match is None:
            return "".join([*done, line[at:]])
        done.append(line[at : match.start()])
        if match.group(2):
            done.append(f"len({words[match.group(2)].integers})")
            at = match.end()
            continue
        end = _closing(line, match.end())
        index = _line(line[match.end() : end], pattern, words)
        stores = not "".join(done).strip() and re.match(r"\s*[-+|]?=(?!=)", line[end + 1 :]) is not None
        done.append(words[match.group(1)].text(index, stores))
        at = end + 1


def _closing(line: str, at: int) -> int:
    """Return the place of the bracket that closes one opened before ``at``."""
    depth = 1
    while depth:
        depth += {"[": 1, "]": -1}.get(line[at], 0)
        at += 1
    return at - 1


class Records(Arrays):
    """Arrays of which some axes are records. A field's array is then a view of its words, of integers or of float64."""

    def __init__(self, fields: Sequence[ArrayField], axes: Mapping[str, str]) -> None:
        self.words = record_words(fields, axes)
        super().__init__([f for f in fields if f.name not in self.words])
        self._axes = dict(axes)
        self._records: dict[str, Array] = {}
        for axis in axes:
            self.sizes.setdefault(axis, START.get(axis, 64))
            self._records[axis] = self._fill_array(axis, self.sizes[axis])

    def _fill_array(self, axis: str, size: int) -> Array:
        of_axis = [w for w in self.words.values() if w.field.axis == axis]
        records = np.zeros((size, max(1, len(of_axis))), np.int64)
        for word in of_axis:
            (records.view(np.float64) if word.is_float else records)[:, word.place] = word.field.fill
        return records

    def __getitem__(self, name: str) -> Array:
        word = self.words.get(name)
        if word is None:
            return super().__getitem__(name)
        records = self._records[word.field.axis]
        view: Array = (records.view(np.float64) if word.is_float else records)[:, word.place]
        return view

    @staticmethod
    def names(fields: Sequence[ArrayField], axes: Mapping[str, str]) -> list[str]:
        """Return what ``tuple`` holds, in order."""
        words = record_words(fields, axes)
        return [*(f.name for f in fields if f.name not in words), *(n for a in axes.values() for n in (a, f"{a}F"))]

    def tuple(self) -> tuple[Array, ...]:
        return (*super().tuple(), *(a for axis in self._axes for a in (self._records[axis], self._records[axis].view(np.float64))))

    def grow(self, axis: str, needed: int, head: int = 0, tail: int = 0) -> None:
        old = self.sizes.get(axis, 1)
        super().grow(axis, needed, head, tail)
        if axis in self._axes:
            size = old
            while size < needed:
                size *= 2
            self.sizes[axis] = size
            if size != old:
                records = self._fill_array(axis, size)
                records[:old] = self._records[axis]
                self._records[axis] = records

    def memory(self) -> int:
        return super().memory() + sum(r.nbytes for r in self._records.values())


__all__ = ["Records", "pack", "record_words"]
