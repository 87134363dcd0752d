"""One stream's windows, composed: head to tail, intersections and unions, one chain a group."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from epl.event_types import EventType
from epl.plan.windows import WindowConfig, answers_previous, check_chain
from windows.event import Event
from windows.group import GroupContext, GroupView, GroupWin
from windows.intersection import BatchIntersectionView, IntersectionView
from windows.protocol import BuildContext, Sink, View
from windows.union import UnionView

__all__ = ["Chain", "PassThrough", "answers_previous", "build_chain", "check_chain"]


def build_chain(configs: Sequence[WindowConfig], retain: str | None, context: BuildContext, event_type: EventType) -> View:
    """The view that a stream's events go into; set its ``child`` to whatever takes the deltas.

    No window: events pass through, and an iterator sees nothing. ``retain``: ``union``, ``intersection`` or None (intersection).
    ``event_type``: of the events that come in.
    """
    if not configs:
        return PassThrough()
    first = configs[0]
    if isinstance(first, GroupWin):
        inner = [c for c in configs[1:] if not c.merges]
        windows = [c for c in inner if c.is_data_window]
        lone_batch = len(windows) == 1 and windows[0].is_batch
        return GroupView(first, lambda group: compose(inner, retain, group), context, takes_removals=not lone_batch)
    return compose(configs, retain, context)


def compose(configs: Sequence[WindowConfig], retain: str | None, context: BuildContext | GroupContext) -> View:
    """Windows without a groupwin, connected: several data windows become one, derived-value windows stand behind."""
    windows = [c for c in configs if c.is_data_window]
    views = [_retaining(windows, retain, context)] if windows else []
    views += [c.build(context) for c in configs if not c.is_data_window]
    return views[0] if len(views) == 1 else Chain(views)


def _retaining(windows: Sequence[WindowConfig], retain: str | None, context: BuildContext | GroupContext) -> View:
    views = [c.build(context) for c in windows]
    if len(views) == 1:
        return views[0]  # type: ignore[no-any-return]
    if retain == "union":
        return UnionView(views)
    batch = next((i for i, c in enumerate(windows) if c.is_batch), None)
    if batch is not None:
        return BatchIntersectionView(views, batch)
    return IntersectionView(views, selective=any(c.is_selective for c in windows))


class PassThrough(View):
    """A stream without windows."""

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        self.child.update(new, old)

    def __iter__(self) -> Iterator[Event]:
        return iter(())

    def state(self) -> Any:
        return None

    def restore(self, state: Any) -> None:
        """Nothing is kept."""


class Chain(View):
    """Views that feed one another: an event goes into the first, the last one's contents are seen, and its child is the chain's."""

    def __init__(self, views: Sequence[View]) -> None:
        self.views = tuple(views)
        for view, child in zip(self.views, self.views[1:]):
            view.child = child
        self.update = self.views[0].update  # type: ignore[method-assign]

    @property
    def child(self) -> Sink:  # type: ignore[override]
        return self.views[-1].child

    @child.setter
    def child(self, child: Sink) -> None:
        self.views[-1].child = child

    def __iter__(self) -> Iterator[Event]:
        return iter(self.views[-1])

    def state(self) -> Any:
        return [view.state() for view in self.views]

    def restore(self, state: Any) -> None:
        for view, kept in zip(self.views, state, strict=True):
            view.restore(kept)

    def close(self) -> None:
        for view in self.views:
            view.close()
