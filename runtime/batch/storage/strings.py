"""Strings as codes: one pool for all string columns of a statement, so that equal strings have equal codes."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from runtime.batch.refusals import Declined
from runtime.batch.storage.fetched import fetch_rows

CODE = np.int32
LIMIT = 2**31 - 2
UNSEEN = CODE(-2)
"""In the codes of a dictionary: no row has had the value."""


class StringPool:
    """value ↔ code; codes are dense from 0, null is -1. Codes never reach a snapshot: those hold values."""

    def __init__(self) -> None:
        self.values: list[str] = []
        self._codes: dict[str, int] = {}
        self._ranks: np.ndarray[Any, Any] = np.zeros(1, np.int32)
        self._ranked = 0
        self._arrow: pa.Array[Any] | None = None
        self._mapped: dict[Any, tuple[pa.Array[Any], np.ndarray[Any, Any]]] = {}

    def __len__(self) -> int:
        return len(self.values)

    def code(self, value: str | None) -> int:
        """Return the value's code; a new value gets the next one."""
        if value is None:
            return -1
        code = self._codes.get(value)
        if code is None:
            code = len(self.values)
            if code > LIMIT:
                raise Declined(f"more than {LIMIT + 1} different strings")
            _check_text(value)
            self._codes[value] = code
            self.values.append(value)
        return code

    def codes(self, values: Iterable[str | None]) -> np.ndarray[Any, Any]:
        code = self.code
        return np.array([code(v) for v in values], CODE)

    def value(self, code: int) -> str | None:
        return None if code < 0 else self.values[code]

    def encode(self, column: pa.Array[Any]) -> np.ndarray[Any, Any]:
        """Return a string or dictionary column's codes; a plain string column is encoded as a whole first."""
        encoded: Any = column if kinds.is_dictionary(column.type) else pc.dictionary_encode(column)
        if len(encoded.dictionary) == 0:
            return np.full(len(encoded), -1, CODE)
        mapping = self._mapping(encoded.dictionary)
        indices = encoded.indices
        if not indices.null_count:
            return self._map_codes(mapping, encoded.dictionary, indices.to_numpy(zero_copy_only=False))
        valid = indices.is_valid().to_numpy(zero_copy_only=False)
        codes = np.full(len(indices), -1, CODE)
        codes[valid] = self._map_codes(mapping, encoded.dictionary, indices.drop_null().to_numpy(zero_copy_only=False))
        return codes

    def _map_codes(
        self, mapping: np.ndarray[Any, Any], dictionary: pa.Array[Any], places: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, Any]:
        """Return the codes at the places of a dictionary. Only what rows have gets a code: a dictionary may be far longer than a batch, and
        codes of what no row has would have to be forgotten again and again."""
        codes: np.ndarray[Any, Any] = mapping.take(places)
        missing = codes == UNSEEN
        if not missing.any():
            return codes
        seen = np.zeros(len(mapping), np.bool_)
        seen[places[missing]] = True
        new = np.flatnonzero(seen)
        mapping[new] = self.codes(fetch_rows(dictionary, new).to_pylist())
        return np.asarray(mapping.take(places), CODE)

    def _mapping(self, dictionary: pa.Array[Any]) -> np.ndarray[Any, Any]:
        """Return a dictionary's codes, as far as they have been asked for; batches that share one are recognized by its buffers, which are
        held so that no other can take their place."""
        place = (dictionary.offset, len(dictionary), *(None if b is None else b.address for b in dictionary.buffers()))
        mapping = self._mapped.get(place)
        if mapping is None:
            mapping = dictionary, np.full(len(dictionary), UNSEEN, CODE)
            while len(self._mapped) >= 16:
                del self._mapped[next(iter(self._mapped))]
            self._mapped[place] = mapping
        return mapping[1]

    def dictionary(self) -> pa.Array[Any]:
        """Return all values, by code."""
        if self._arrow is None or len(self._arrow) != len(self.values):
            known = [] if self._arrow is None else [self._arrow]
            self._arrow = pa.concat_arrays([*known, pa.array(self.values[sum(map(len, known)) :], pa.string())])
        return self._arrow

    def ranks(self) -> np.ndarray[Any, Any]:
        """Return ``ranks[code + 1]``: places in Java's order of strings (UTF-16 units); computed again when values have come."""
        if self._ranked != len(self.values):
            order = sorted(range(len(self.values)), key=lambda code: utf16(self.values[code]))
            ranks = np.zeros(len(self.values) + 1, np.int32)
            ranks[np.array(order, np.int64) + 1] = np.arange(1, len(order) + 1, dtype=np.int32)
            self._ranks, self._ranked = ranks, len(self.values)
        return self._ranks


def _check_text(value: str) -> None:
    """Raise TypeError for what is not a string (out of a damaged state), Declined for a string that Arrow does not hold."""
    if not isinstance(value, str):
        raise TypeError(f"a value of type {type(value).__name__} where a string is expected")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Declined(f"a string with a lone surrogate: {value!r}") from None


def utf16(value: str) -> bytes:
    """Return a key that orders strings as Java does."""
    return value.encode("utf-16-be", "surrogatepass")


class CodeTable:
    """A function of one string, evaluated once a distinct value: ``values[code + 1]`` and ``valid[code + 1]``; entry 0 is that of null."""

    def __init__(self, function: Callable[[str | None], Any], dtype: Any) -> None:
        self._function = function
        self._size = 0
        self.values = np.zeros(64, dtype)
        self.valid = np.zeros(64, np.bool_)

    def update(self, pool: StringPool) -> None:
        """Evaluate for the values that have come since; raises Declined where the function fails for one of them."""
        size = len(pool) + 1
        if len(self.values) < size:
            self.values = np.resize(self.values, size * 2)
            self.valid = np.resize(self.valid, size * 2)
        while self._size < size:
            string = None if self._size == 0 else pool.values[self._size - 1]
            try:
                value = self._function(string)
            except Exception as error:
                raise Declined(f"a function of the string {string!r} failed: {error}") from error
            self.valid[self._size] = value is not None
            self.values[self._size] = 0 if value is None else value
            self._size += 1
