"""One stream's windows, composed: head to tail, intersections and unions, one chain a group."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from epl.plan.windows import WindowConfig, check_chain, merge_groups
from windows.derived import DerivedView
from windows.event import Event
from windows.generated_steps import WindowSteps
from windows.group import GroupView, GroupWin, Merge
from windows.group_context import GroupContext
from windows.intersection import BatchIntersectionView, IntersectionView
from windows.protocol import BuildContext, RowReceiver, View
from windows.shape import ANYTHING, NOTHING, takes
from windows.union import UnionView

__all__ = ["PassThrough", "ViewChain", "build_chain", "check_chain", "group_view", "merge_groups"]


def build_chain(configs: Sequence[WindowConfig], retain: str | None, context: BuildContext, *, removals: bool = False) -> View:
    """Return the view that a stream's events go into; set its ``child`` to whatever takes the deltas.

    No window: events pass through, and an iterator sees nothing. ``retain``: ``union``, ``intersection`` or None (intersection).
    ``removals``: whether events leave before they come to these windows.
    """
    if not configs:
        return PassThrough()
    if isinstance(configs[0], GroupWin):
        return _build_groupwin(configs[0], configs[1:], retain, context, removals)
    return compose(configs, retain, context, removals)


def _build_groupwin(group: GroupWin, configs: Sequence[WindowConfig], retain: str | None, context: BuildContext, removals: bool) -> View:
    """Return a groupwin: its windows up to the merge once a group, those after it once."""
    merge = next((c for c in configs if isinstance(c, Merge)), None)
    end = len(configs) if merge is None else configs.index(merge)
    inner, outer = configs[:end], configs[end + 1 :]
    view = GroupView(
        group, merge, lambda output: compose(inner, retain, output, removals, next(iter(outer), None)), context,
        batches=any(config.is_batch for config in inner))
    return ViewChain([view, compose(outer, retain, context)]) if outer else view


def group_view(view: View) -> GroupView | None:
    """Return the groupwin that the view of ``build_chain`` begins with."""
    first = view.views[0] if isinstance(view, ViewChain) else view
    return first if isinstance(first, GroupView) else None


def compose(
    configs: Sequence[WindowConfig], retain: str | None, context: BuildContext | GroupContext, removals: bool = False,
    after: WindowConfig | None = None,
) -> View:
    """Compose windows without a groupwin, one after the other; several data windows become an intersection or union in their place.

    ``after``: the window that takes what these emit.
    """
    views: list[View] = []
    run: list[WindowConfig] = []
    for config in configs:
        if config.is_data_window:
            run.append(config)
            continue
        if run:
            views.append(_retaining(run, retain, context))
            run = []
        views.append(config.build(context))
        if isinstance(views[-1], DerivedView):
            views[-1].removals = removals or len(views) > 1
    taker = run[0] if run else after
    if taker is not None and views and isinstance(views[-1], DerivedView):
        views[-1].replaces = not (taker.keeps_replaced or taker.is_batch)
    if run:
        views.append(_retaining(run, retain, context))
    return views[0] if len(views) == 1 else ViewChain(views)


def _retaining(windows: Sequence[WindowConfig], retain: str | None, context: BuildContext | GroupContext) -> View:
    views = [c.build(context) for c in windows]
    if len(views) == 1:
        only: View = views[0]
        return only
    if retain == "union":
        return UnionView(views, context, all_selective=all(c.is_selective for c in windows))
    batch = next((i for i, c in enumerate(windows) if c.is_batch), None)
    if batch is not None:
        return BatchIntersectionView(views, batch, context, selective=any(c.is_selective for c in windows))
    return IntersectionView(views, context, selective=any(c.is_selective for c in windows))


class PassThrough(View):
    """A stream without windows."""

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        self.child.update(new, old)

    def __iter__(self) -> Iterator[Event]:
        return iter(())

    def steps(self) -> WindowSteps:
        return WindowSteps()

    def state(self) -> Any:
        return None

    @takes(NOTHING)
    def restore(self, state: Any) -> None:
        """Do nothing: nothing is kept."""


class ViewChain(View):
    """Views that feed one another: an event goes into the first, the last one's contents are seen, and its child is the chain's."""

    def __init__(self, views: Sequence[View]) -> None:
        self.views = tuple(views)
        for view, child in zip(self.views, self.views[1:]):
            view.child = child
        self.update = self.views[0].update  # type: ignore[method-assign]

    @property
    def child(self) -> RowReceiver:
        return self.views[-1].child

    @child.setter
    def child(self, child: RowReceiver) -> None:
        self.views[-1].child = child

    def __iter__(self) -> Iterator[Event]:
        return iter(self.views[-1])

    def end_partition(self) -> None:
        self.views[-1].end_partition()

    def state(self) -> Any:
        return [view.state() for view in self.views]

    @takes([ANYTHING])
    def restore(self, state: Any) -> None:
        for view, kept in zip(self.views, state, strict=True):
            view.restore(kept)

    def close(self) -> None:
        for view in self.views:
            view.close()
