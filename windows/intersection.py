"""Several data windows at once, ``retain-intersection`` (the default): an event stays as long as all of them keep it."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from windows.event import NO_EVENTS, Event
from windows.protocol import View

__all__ = ["BatchIntersectionView", "IntersectionView", "Part"]


class Part:
    """Stands behind one of the windows: notes what it tells while ``open``, else hands what its timer lets go to ``timed``."""

    def __init__(self, owner: IntersectionView | BatchIntersectionView, view: View) -> None:
        self.owner = owner
        self.view = view
        self.open = False
        self.new: list[Event] = []
        self.old: list[Event] = []
        view.child = self

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        if self.open:
            self.new.extend(new)
            self.old.extend(old)
        else:
            self.owner.timed(self, new, old)

    def tell(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Give the window a delta and note its answer in ``new`` and ``old``."""
        self.open, self.new, self.old = True, [], []
        self.view.update(new, old)
        self.open = False


class PartsView(View):
    """Base: the windows side by side."""

    def __init__(self, views: Sequence[View]) -> None:
        self.parts = tuple(Part(self, v) for v in views)  # type: ignore[arg-type]

    def state(self) -> Any:
        return [part.view.state() for part in self.parts]

    def restore(self, state: Any) -> None:
        for part, kept in zip(self.parts, state, strict=True):
            part.view.restore(kept)

    def close(self) -> None:
        for part in self.parts:
            part.view.close()

    def withdraw(self, events: Sequence[Event], source: Part | None = None) -> None:
        """Take events out of all windows but ``source``."""
        if events:
            for part in self.parts:
                if part is not source:
                    part.tell(NO_EVENTS, events)


class IntersectionView(PartsView):
    """Windows none of which is a batch. Several events that leave at once do so in the windows' order (Esper leaves their order to
    hashing).

    ::

        length(3)#unique(k)   E1(a)   E2(b)   E3(a)   E4(c)   E5(d)
        contents              1       1 2     2 3     2 3 4   3 4 5
        new                   E1      E2      E3      E4      E5
        old                   -       -       E1      -       E2

    ``selective``: one of them may refuse events (``firstunique`` …). A refused event is taken out of the others again: nothing is told
    of it, but if it pushed others out of theirs these leave, and it is named among them.
    """

    def __init__(self, views: Sequence[View], *, selective: bool = False) -> None:
        super().__init__(views)
        self.selective = selective

    def __iter__(self) -> Iterator[Event]:
        return iter(self.parts[0].view)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        gone: dict[Event, None] = {}
        if old:
            self.withdraw(old)
            known = {e for part in self.parts for e in part.old} if self.selective else set(old)
            gone.update((e, None) for e in old if e in known)
        if new:
            new = self._let_in(new, gone)
        if new or gone:
            self.child.update(new, list(gone))

    def _let_in(self, new: Sequence[Event], gone: dict[Event, None]) -> Sequence[Event]:
        """Tell the windows; what leaves is added to ``gone``. What they let in."""
        pushed: dict[Event, None] = {}
        refused: dict[Event, None] = {}
        for part in self.parts:
            part.tell(new, NO_EVENTS)
            pushed.update(dict.fromkeys(part.old))
            if self.selective:
                let_in = set(part.new)
                refused.update((e, None) for e in new if e not in let_in)
        if refused:
            new = [e for e in new if e not in refused]
            if pushed:
                pushed.update(refused)
            else:
                self._take_out(list(refused))
        if pushed:
            self._take_out(list(pushed))
            gone.update(pushed)
        return new

    def _take_out(self, events: list[Event]) -> None:
        """What one window let go leaves the others."""
        for part in self.parts:
            known = set(part.old)
            rest = [e for e in events if e not in known]
            if rest:
                part.tell(NO_EVENTS, rest)

    def timed(self, source: Part, new: Sequence[Event], old: Sequence[Event]) -> None:
        """A window's timer let events go."""
        self.withdraw(old, source)
        self.child.update(new, old)


class BatchIntersectionView(PartsView):
    """One batch window among others: what the others let go leaves the batch unseen; what the batch releases leaves the others.

    ::

        length_batch(2)#unique(k)   E1(a)   E2(a)   E3(b)      E4(b)   E5(c)
        contents                    1       2                  4
        new                         -       -       E2 E3      -       E4 E5
        old                         -       -       -          -       E2 E3
    """

    def __init__(self, views: Sequence[View], batch: int) -> None:
        super().__init__(views)
        self.batch = self.parts[batch]

    def __iter__(self) -> Iterator[Event]:
        return iter(self.batch.view)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """``old`` is not heeded: such windows keep what their parent removes (as in Esper)."""
        if not new:
            return
        gone: dict[Event, None] = {}
        for part in self.parts:
            if part is not self.batch:
                part.tell(new, NO_EVENTS)
                gone.update(dict.fromkeys(part.old))
        told: list[Event] = []
        if gone:
            self.withdraw(list(gone))
            told = self.batch.old
            new = [e for e in new if e not in gone]
        released: list[Event] = []
        if new:
            self.batch.tell(new, NO_EVENTS)
            released, told = self.batch.new, told + self.batch.old
        if released or told:
            self.withdraw(released, self.batch)
            self.child.update(released, told)

    def timed(self, source: Part, new: Sequence[Event], old: Sequence[Event]) -> None:
        """A window's timer let events go, or released the batch."""
        if source is self.batch:
            self.withdraw(new, source)
            self.child.update(new, old)
        else:
            self.withdraw(old, source)
