"""The pages that have changed since a mark (``Runtime.pages``)."""
from __future__ import annotations

import secrets
import warnings
from collections import deque
from collections.abc import Mapping
from typing import Any

import attrs

from epl.errors import EplRuntimeError
from runtime.state.codec import Encoder
from runtime.state.pages import KINDS, StatePages, Written
from runtime.state.runtime_state import RuntimeState
from runtime.state.seal import page_name, seal_payload
from runtime.state.snapshot import frame

MARKS_KEPT = 8
"""For how many marks back the changes are kept."""


@attrs.frozen
class Pages:
    """What ``Runtime.pages`` gives. ``complete``: all pages there are; otherwise those that changed since the mark that was given.

    ``mark`` names this moment. ``removed``: keys of pages that are there no more (other than by being complete).
    """

    mark: str
    complete: bool
    changed: Mapping[str, bytes]
    removed: tuple[str, ...] = ()

    def apply_to(self, store: dict[str, bytes]) -> dict[str, bytes]:
        """Bring a store of pages to this moment; the store, to be given to ``Runtime.restore``."""
        if self.complete:
            store.clear()
        store.update(self.changed)
        for key in self.removed:
            store.pop(key, None)
        return store

    def onto(self, store: dict[str, bytes]) -> dict[str, bytes]:
        """Do as ``apply_to``: the old name of ``apply_to``."""
        warnings.warn("Pages.onto is called Pages.apply_to now", DeprecationWarning, stacklevel=2)
        return self.apply_to(store)


class ChangedPages:
    """The changes between the last marks. A new deployment or one that is gone, a type, a function: all pages are written."""

    def __init__(self) -> None:
        self._name = secrets.token_hex(6)
        self._count = 0
        self._first = 0
        self._log: deque[tuple[int, Written]] = deque(maxlen=MARKS_KEPT)
        self._keys: set[str] = set()
        self._signature: Any = None
        self._pages: StatePages | None = None
        self._small: dict[str, bytes] = {}

    def since(self, state: RuntimeState, mark: str | None, key: bytes | None = None) -> Pages:
        """See Runtime.pages. ``state``: of the same runtime each time; ``key``: to seal the pages with."""
        if mark is None:
            written = self._all(state)
            name = self._next(written)
            self._log.clear()
            self._first = self._count
            return Pages(name, True, _seal_pages(written, key))
        at = self._place(mark)
        now = self._next(self._changes(state))
        changes: Written = {}
        for count, written in self._log:
            if count > at:
                changes.update(written)
        return Pages(now, False, _seal_pages(changes, key), tuple(k for k, v in changes.items() if v is None))

    def _place(self, mark: str) -> int:
        name, _, count = mark.partition(":")
        oldest = max(self._first, self._log[0][0] - 1 if self._log else 0)
        if name != self._name or not count.isdecimal() or not oldest <= int(count) <= self._count or self._pages is None:
            raise EplRuntimeError(
                f"The changes since mark '{mark}' are not known", hint="take all pages with Runtime.pages() and continue from their mark"
            )
        return int(count)

    def _next(self, written: Written) -> str:
        self._count += 1
        self._log.append((self._count, written))
        self._keys.update(k for k, v in written.items() if v is not None)
        self._keys.difference_update([k for k, v in written.items() if v is None])
        return f"{self._name}:{self._count}"

    def _all(self, state: RuntimeState) -> Written:
        """Return every page; those that are there no more as gone."""
        self._pages = StatePages(state, notes=True)
        self._small = {}
        self._signature = _signature(state)
        written = self._pages.all()
        written.update(self._frame(state, ["head", "clock"]))
        return {**dict.fromkeys(self._keys - written.keys()), **written}

    def _changes(self, state: RuntimeState) -> Written:
        if self._pages is None or self._signature != _signature(state):
            return self._all(state)
        written = self._pages.changed()
        written.update(self._frame(state, ["clock"]))
        return written

    def _frame(self, state: RuntimeState, keys: list[str]) -> Written:
        """Head and clock, where they have changed."""
        bodies = frame(state)
        packed_pages = {key: Encoder().encode([key, KINDS[key], bodies[key]()]) for key in keys}
        changed = {key: packed for key, packed in packed_pages.items() if self._small.get(key) != packed}
        self._small.update(changed)
        return dict(changed)


def _seal_pages(written: Written, key: bytes | None) -> dict[str, bytes]:
    """Return the pages that are there, each in a frame of its own."""
    return {name: seal_payload(page, page_name(name), key) for name, page in written.items() if page is not None}


def _signature(state: RuntimeState) -> Any:
    """Return what the head depends on and statements' places."""
    return (
        attrs.astuple(state.counts), [(key, id(d)) for key, d in state.deployments.items()], [id(t) for t in state.types.values()],
        list(state.functions), list(state.aggregations), list(state.windows), list(state.enums),
        [id(cell) for cell in state.variables.keyed().values()],
    )


__all__ = ["ChangedPages", "Pages"]
