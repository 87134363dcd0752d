"""Which page what belongs to: keys by hash, long lists by pieces. What is written here is format: docs/design/state.md."""
from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import msgpack

from runtime.state.codec import EVENT, Encoder
from windows.event import Event
from windows.paging import Compared, Key, Long, Marked, Paged

KEYS_A_PAGE = 64
"""On average; a page is split when there are more."""

ITEMS_A_PAGE = 256
"""Of a long list; a list that is not longer is in its statement's page."""


class _KeyEncoder(Encoder):
    """Keys as bytes: an event counts by what it holds, a set by its elements in the order of their bytes."""

    def _default(self, value: Any) -> Any:
        if isinstance(value, Event):
            return msgpack.ExtType(EVENT, self.encode(list(value.values())))
        if isinstance(value, (set, frozenset)):
            return sorted(self.encode(v) for v in value)
        return super()._default(value)


_KEYS = _KeyEncoder()


def key_hash(values: Any) -> int:
    """Return the hash of a key that is given as plain values: CRC-32 of its encoding.

    >>> key_hash([False, "IBM"])
    2551102814
    """
    return zlib.crc32(_KEYS.encode(values))


def page_number(hashed: int, count: int) -> int:
    """Return the page of a hash among ``count`` (linear hashing: one page more splits one page, all other keys stay where they are).

    >>> [page_number(7, count) for count in range(1, 9)]
    [0, 1, 1, 3, 3, 3, 3, 7]
    """
    level = 1 << (count.bit_length() - 1)
    place = hashed & (2 * level - 1)
    return place if place < count else hashed & (level - 1)


class KeyedPages:
    """The pages of one ``Paged``: which keys are in which, and their numbers, which give the order of the operator's dictionary."""

    def __init__(self, paged: Paged, *, notes: bool) -> None:
        self.paged = paged
        self._numbers: dict[Key, int] = {}
        self._hashes: dict[Key, int] = {}
        self._next = 0
        live = paged.entries()
        self.pages: list[dict[Key, None]] = [{} for _ in range(max(1, -(-len(live) // KEYS_A_PAGE)))]
        for key in live:
            self._add(key)
        if notes:
            paged.note()

    @property
    def count(self) -> int:
        return len(self._numbers)

    @property
    def next_number(self) -> int:
        return self._next

    def number(self, key: Key) -> int | None:
        """Return the number of a key; None where it has none yet."""
        return self._numbers.get(key)

    def _add(self, key: Key) -> int:
        hashed = self._hashes[key] = key_hash(self.paged.values(key))
        self._numbers[key] = self._next
        self._next += 1
        page = page_number(hashed, len(self.pages))
        self.pages[page][key] = None
        return page

    def _remove(self, key: Key) -> int:
        del self._numbers[key]
        page = page_number(self._hashes.pop(key), len(self.pages))
        del self.pages[page][key]
        return page

    def changed(self) -> set[int]:
        """Return the pages that have changed since the last call, some of them perhaps empty now. Takes time of what has changed."""
        paged, known = self.paged, self._numbers
        touched, forgotten, emptied = paged.touched or {}, paged.forgotten, paged.emptied
        paged.note()
        pages = set(range(len(self.pages))) if emptied else set()
        for key in list(known) if emptied else [k for k in forgotten if k in known]:
            pages.add(self._remove(key))
        live = paged.entries()
        for key in touched:
            if key not in live:
                if key in known:
                    pages.add(self._remove(key))
            elif key in known:
                pages.add(page_number(self._hashes[key], len(self.pages)))
            else:
                pages.add(self._add(key))
        while self.count > KEYS_A_PAGE * len(self.pages):
            pages.update(self._split())
        return pages

    def _split(self) -> tuple[int, int]:
        """Add one page."""
        count = len(self.pages)
        source = count - (1 << (count.bit_length() - 1))
        keys = self.pages[source]
        self.pages[source] = {}
        self.pages.append({})
        for key in keys:
            self.pages[page_number(self._hashes[key], count + 1)][key] = None
        return source, count

    def rows(self, page: int) -> list[list[Any]]:
        """Return ``[number, key, state]`` of the keys of a page, by number."""
        paged, numbers, live = self.paged, self._numbers, self.paged.entries()
        return [[numbers[k], paged.values(k), paged.entry(k, live[k])] for k in sorted(self.pages[page], key=numbers.__getitem__)]


class ComparedPages:
    """The pages of one ``Compared`` or ``Marked``: of each key what it was last time is known by a digest, or by its mark."""

    def __init__(self, kind: str) -> None:
        self._places: dict[bytes, int] = {}
        self._read: Callable[[int], Any] = [].__getitem__
        """read(place) → the row there, of those that are being written."""
        self._digests: dict[bytes, bytes] = {}
        self._keys: dict[bytes, bytes | None] = {}
        """By mark: the key, None where nothing is kept."""
        paged = Paged(kind, lambda: self._places, lambda key: self._read(self._places[key])[0], lambda key, at: self._read(at)[1])
        self.pages = KeyedPages(paged, notes=True)

    def changed(self, rows: Compared | Marked, encode: Callable[[Any], bytes]) -> set[int]:
        """Return the rows as they are now: the pages that have changed. Rows that have marks are made where these are new; all others are
        encoded, which is all that is done with most of them."""
        paged, digests = self.pages.paged, self._digests
        self._digests = self._row_marks(rows) if isinstance(rows, Marked) else self._row_digests(rows, encode)
        for key in digests.keys() - self._digests.keys():
            paged.forget(key)
        last = -1
        for key, digest in self._digests.items():
            number = self.pages.number(key)
            if number is not None and number < last:  # after a key that it was before
                paged.forget(key)
                number = None
            if number is None or digests.get(key) != digest:
                paged.touch(key)
            last = self.pages.next_number if number is None else number
        return self.pages.changed()

    def _row_digests(self, rows: Compared, encode: Callable[[Any], bytes]) -> dict[bytes, bytes]:
        self._read = rows.__getitem__
        self._places = {_KEYS.encode(row[0]): place for place, row in enumerate(rows)}
        return {key: blake2b(encode(rows[place][1]), digest_size=16).digest() for key, place in self._places.items()}

    def _row_marks(self, rows: Marked) -> dict[bytes, bytes]:
        new: dict[int, list[Any]] = {}
        known, self._keys, self._places = self._keys, {}, {}
        self._read = lambda place: new[place] if place in new else rows.row(place)
        marks: dict[bytes, bytes] = {}
        for place, mark in enumerate(rows.marks):
            if not mark:
                continue
            if mark in known:
                key = known[mark]
            else:
                row = rows.row(place)
                key = None
                if row is not None:
                    key, new[place] = _KEYS.encode(row[0]), row
            self._keys[mark] = key
            if key is not None:
                marks[key] = mark
                self._places[key] = place
        return marks

    def release(self) -> None:
        """Note that the pages have been written."""
        self._places, self._read = {}, [].__getitem__


class LongPages:
    """The pages of one ``Long``, each a piece of the list: ``pieces`` are (page number, items), in order."""

    def __init__(self) -> None:
        self.pieces: list[tuple[int, Sequence[Any]]] = []
        self._next = 0

    def changed(self, items: Long) -> tuple[set[int], set[int]]:
        """Return the list as it is now: which pages have changed, which are gone. Compares all items, which is all it does with most of
        them."""
        before = {number for number, _ in self.pieces}
        pieces: list[tuple[int, Sequence[Any]]] = []
        changed: set[int] = set()
        if len(items) > ITEMS_A_PAGE:
            at = self._keep(items, pieces, changed)
            while at < len(items):
                pieces.append((self._next, items[at : at + ITEMS_A_PAGE]))
                changed.add(self._next)
                self._next += 1
                at += ITEMS_A_PAGE
        self.pieces = pieces
        return changed, before - {number for number, _ in pieces}

    def _keep(self, items: Long, pieces: list[tuple[int, Sequence[Any]]], changed: set[int]) -> int:
        """Find the old pieces in the list, whole or without some of their items; how far they reach."""
        at = 0
        for place, (number, old) in enumerate(self.pieces):
            if not pieces and items[0] not in old:
                continue
            rest = old if pieces else old[old.index(items[0]) :]
            last = place == len(self.pieces) - 1
            if items[at : at + len(rest)] == rest:
                end = at + (max(len(rest), ITEMS_A_PAGE) if last else len(rest))
            elif last or self.pieces[place + 1][1][0] not in items[at : at + len(old)]:
                return at
            else:
                end = items.index(self.pieces[place + 1][1][0], at)
            now = items[at:end]
            if now:
                pieces.append((number, now))
            if now != old:
                changed.add(number)
            at += len(now)
        return at


__all__ = ["ITEMS_A_PAGE", "KEYS_A_PAGE", "ComparedPages", "KeyedPages", "LongPages", "key_hash", "page_number"]
