"""Several data windows at once, ``retain-intersection`` (the default): an event stays as long as all of them keep it."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from windows.event import NO_EVENTS, Event
from windows.failures import Failures
from windows.group_context import GroupContext
from windows.protocol import BuildContext, View
from windows.shape import ANYTHING, takes

__all__ = ["BatchIntersectionView", "IntersectionPart", "IntersectionView"]


class IntersectionPart:
    """Downstream of one of the windows: notes what it emits while ``open``, else passes what its timer evicts to ``note_timer``."""

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
            self.owner.note_timer(self, new, old)

    def update_window(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Give the window a delta and note its answer in ``new`` and ``old``."""
        self.open, self.new, self.old = True, [], []
        try:
            self.view.update(new, old)
        finally:
            self.open = False

    def holds(self, event: Event) -> bool:
        """Return whether the event is in the window, or came and went in its last delta."""
        return event in self.new or any(held is event for held in self.view)


class PartsView(View):
    """Base: the windows side by side. An event for which a window's key or timestamp raises enters none of them."""

    def __init__(self, views: Sequence[View], context: BuildContext | GroupContext) -> None:
        self.parts = tuple(IntersectionPart(self, v) for v in views)  # type: ignore[arg-type]
        self.keyed_first = tuple(sorted(self.parts, key=lambda part: not part.view.may_refuse))
        self._withhold = context.withhold

    def update_all(self, new: Sequence[Event], failures: Failures, parts: Sequence[IntersectionPart]) -> Sequence[Event]:
        """Pass new events to the windows, ``parts`` in an order in which those that may refuse an event come first; return the events
        that are in."""
        updated: list[IntersectionPart] = []
        for part in parts:
            if not failures.attempt(part.update_window, new, NO_EVENTS):
                out = [e for e in new if not part.holds(e)]
                if out:
                    new = [e for e in new if e not in out]
                    for other in updated:
                        self._take_back(other, out)
            updated.append(part)
        return new

    def _take_back(self, part: IntersectionPart, events: list[Event]) -> None:
        """Another window does not take the events: this one forgets them; what they pushed out of it has left."""
        before = part.old
        part.update_window(NO_EVENTS, events)
        part.old = [e for e in before if e not in events]

    def emit(self, new: Sequence[Event], old: Sequence[Event], failures: Failures) -> None:
        """Pass the delta on and raise what failed; where a window holds an event although its condition raised, nothing is emitted."""
        if new or old:
            if failures.first is not None and new:
                failures.attempt(self._withhold, self.child, new, old)
            else:
                failures.attempt(self.child.update, new, old)
        failures.settle()

    def state(self) -> Any:
        return [part.view.state() for part in self.parts]

    @takes([ANYTHING])
    def restore(self, state: Any) -> None:
        for part, kept in zip(self.parts, state, strict=True):
            part.view.restore(kept)

    def close(self) -> None:
        for part in self.parts:
            part.view.close()

    def withdraw(self, events: Sequence[Event], failures: Failures, source: IntersectionPart | None = None) -> None:
        """Take events out of all windows but ``source``."""
        if events:
            for part in self.parts:
                if part is not source:
                    failures.attempt(part.update_window, NO_EVENTS, events)


class IntersectionView(PartsView):
    """Windows none of which is a batch. Several events that leave at once do so in the windows' order (Esper leaves their order to
    hashing).

    ::

        length(3)#unique(k)   E1(a)   E2(b)   E3(a)   E4(c)   E5(d)
        contents              1       1 2     2 3     2 3 4   3 4 5
        new                   E1      E2      E3      E4      E5
        old                   -       -       E1      -       E2

    ``selective``: one of them may refuse events (``firstunique`` …). A refused event is taken out of the others again: nothing is emitted
    of it, but if it pushed others out of theirs these leave, and it is named among them. An event that another window evicts at once
    leaves, too, without having come.
    """

    def __init__(self, views: Sequence[View], context: BuildContext | GroupContext, *, selective: bool = False) -> None:
        super().__init__(views, context)
        self.selective = selective

    def __iter__(self) -> Iterator[Event]:
        return iter(self.parts[0].view)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        gone: dict[Event, None] = {}
        failures = Failures()
        if old:
            self.withdraw(old, failures)
            known = {e for part in self.parts for e in part.old} if self.selective else set(old)
            gone.update((e, None) for e in old if e in known)
        if new:
            new = self._admit(new, gone, failures)
        self.emit(new, list(gone), failures)

    def _admit(self, new: Sequence[Event], gone: dict[Event, None], failures: Failures) -> Sequence[Event]:
        """Update the windows and add what leaves to ``gone``; return what they admit."""
        pushed: dict[Event, None] = {}
        refused: dict[Event, None] = {}
        new = self.update_all(new, failures, self.keyed_first)
        for part in self.parts:
            pushed.update(dict.fromkeys(part.old))
            if self.selective:
                let_in = set(part.new)
                refused.update((e, None) for e in new if e not in let_in)
        if refused:
            new = [e for e in new if e not in refused]
            if pushed:
                pushed.update(refused)
            else:
                self._take_out(list(refused), failures)
        if pushed:
            self._take_out(list(pushed), failures)
            gone.update(pushed)
        return [e for e in new if e not in pushed] if pushed and self.selective else new

    def _take_out(self, events: list[Event], failures: Failures) -> None:
        """Remove what one window evicts from the others."""
        for part in self.parts:
            known = set(part.old)
            rest = [e for e in events if e not in known]
            if rest:
                failures.attempt(part.update_window, NO_EVENTS, rest)

    def note_timer(self, source: IntersectionPart, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Note that a window's timer let events go."""
        failures = Failures()
        self.withdraw(old, failures, source)
        failures.attempt(self.child.update, new, old)
        failures.settle()


class BatchIntersectionView(PartsView):
    """One batch window among others: what the others evict leaves the batch unseen; what the batch releases leaves the others.

    ::

        length_batch(2)#unique(k)   E1(a)   E2(a)   E3(b)      E4(b)   E5(c)
        contents                    1       2                  4
        new                         -       -       E2 E3      -       E4 E5
        old                         -       -       -          -       E2 E3

    ``selective``: one of the others may refuse events (``firstunique`` …): these are not in the batch.
    """

    def __init__(self, views: Sequence[View], batch: int, context: BuildContext | GroupContext, *, selective: bool = False) -> None:
        super().__init__(views, context)
        self.batch = self.parts[batch]
        self.selective = selective
        self.released: Sequence[Event] = ()

    def __iter__(self) -> Iterator[Event]:
        return iter(self.released or self.batch.view)

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Take new events; those that the parent removes leave unseen, as long as they wait for their batch."""
        failures = Failures()
        if old:
            self.withdraw(list(old), failures)
        if not new:
            failures.settle()
            return
        gone: dict[Event, None] = {}
        new = self.update_all(new, failures, [part for part in self.keyed_first if part is not self.batch])
        for part in self.parts:
            if part is not self.batch:
                gone.update(dict.fromkeys(part.old))
        if self.selective:
            new = self._admit(new)
        left: list[Event] = []
        if gone:
            self.withdraw(list(gone), failures)
            left = self.batch.old
            new = [e for e in new if e not in gone]
        released: list[Event] = []
        if new:
            if not failures.attempt(self.batch.update_window, new, NO_EVENTS):
                self.withdraw([e for e in new if not self.batch.holds(e)], failures, self.batch)
            released, left = self.batch.new, left + self.batch.old
        if released or left:
            self.withdraw(released, failures, self.batch)
            begun = next(iter(self.batch.view), None) is not None
            self.released = () if begun else released  # what an output snapshot shows that the release brings
            failures.attempt(self.child.update, released, left)
            self.released = ()
        failures.settle()

    def _admit(self, new: Sequence[Event]) -> Sequence[Event]:
        """Return the events that one of the other windows has let in, as in Esper: the rest is not in the batch."""
        let_in = {event for part in self.parts if part is not self.batch for event in part.new}
        return [event for event in new if event in let_in]

    def note_timer(self, source: IntersectionPart, new: Sequence[Event], old: Sequence[Event]) -> None:
        """Note that a window's timer let events go, or released the batch."""
        failures = Failures()
        if source is self.batch:
            self.withdraw(new, failures, source)
            failures.attempt(self.child.update, new, old)
        else:
            self.withdraw(old, failures, source)
        failures.settle()
