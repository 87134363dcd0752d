"""Ways to run a program that must do what one event after the other does; ``WAYS`` has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any
from unittest import mock

import attrs

from epl.errors import EplError
from runtime.api.runtime import Runtime
from runtime.batch.refusals import NotInBatchTier
from runtime.batch.tier import tier
from tests.drawn.recorded import Program
from tests.drawn.timed_batches import TIMES, in_timed_batches, joined, with_time_of_each
from tests.replay import player
from tests.replay.columns import ColumnFeed
from tests.replay.player import TracePlayer, replay_trace
from windows.event import Event

Steps = Sequence[Mapping[str, Any]]
NOT_COMPARED = ("tiers", "batch")
"""What of a step says how it was done."""


def restarted(program: Program, seed: int) -> Steps:
    """Restore the runtime from its snapshot between every two steps."""
    return replay_trace(program, restart=True)["steps"]


def in_columns(program: Program, seed: int) -> Steps:
    """Send the events between two other steps as batches of columns, cut at random; at odd seeds restore between batches, too."""
    return replay_trace(program, feed=ColumnFeed(), cuts=seed, restart=bool(seed % 2))["steps"]


def in_batch_tier(program: Program, seed: int) -> Steps:
    return replay_trace(program, tier="batch", feed=ColumnFeed(), cuts=seed, restart=bool(seed % 2))["steps"]


def with_times(program: Program, seed: int) -> Steps:
    return in_timed_batches(program, seed, "row")


def with_times_in_batch_tier(program: Program, seed: int) -> Steps:
    return in_timed_batches(program, seed, "batch")


# ---------------------------------------------------------------------- pages


class PagedPlayer(TracePlayer):
    """Brings a store of pages up to date with each step, and now and then goes on in a runtime restored from it."""

    chance = Random(1)
    store: Mapping[str, bytes] | None = None
    mark: str | None = None

    def restart(self) -> None:
        pages = self.runtime.pages(since=self.mark)
        self.mark, self.store = pages.mark, pages.apply_to(self.store or {})
        if self.chance.random() < 0.2:
            stored, self.store, self.mark = self.store, None, None
            with mock.patch.object(Runtime, "snapshot", lambda runtime: stored):
                super().restart()


def paged(program: Program, seed: int) -> Steps:
    """Restore now and then from pages that only say what has changed."""
    with mock.patch.object(player, "TracePlayer", PagedPlayer), mock.patch.object(PagedPlayer, "chance", Random(seed)):
        return replay_trace(program, restart=True)["steps"]


# ---------------------------------------------------------------------- tiers


@attrs.define
class NowAndThen(ColumnFeed):
    """Sends some events by themselves, the others in batches."""

    chance: Random

    def refusal(self, runtime: Runtime, event: Event) -> str | None:
        return "by chance" if self.chance.random() < 0.3 else ColumnFeed.refusal(self, runtime, event)


@contextmanager
def moving_at_once() -> Iterator[None]:
    """Move statement groups to the batch tier with each batch and back with each event, whatever listens."""
    with (
        mock.patch.object(tier, "ROWS_BEFORE", 0),
        mock.patch.object(tier, "SENDS_BEFORE", 0),
        mock.patch.object(tier.StatementGroup, "has_row_listeners", lambda group: False),
        mock.patch.object(tier.BatchTier, "listener_added", lambda batch_tier, statement: None),
    ):
        yield


def between_tiers(program: Program, seed: int) -> Steps:
    with moving_at_once():
        return replay_trace(program, tier="auto", feed=NowAndThen(Random(seed)), cuts=seed, restart=bool(seed % 2))["steps"]


# ---------------------------------------------------------------------- what is run


def whole(program: Program) -> Program:
    return program


def of_rows(program: Program) -> Program:
    """Return the program without the events that cannot be rows of a table."""
    sent = replay_trace(program, feed=ColumnFeed())["steps"]
    return {**program, "steps": [step for step, done in zip(program["steps"], sent) if done.get(ColumnFeed.name, "rows") == "rows"]}


def of_batch_tier(program: Program) -> Program:
    """Return the program with those statements of its modules alone that the batch tier supports, as far as they need no others."""
    kept: list[str] = []
    steps = [_supported(step, kept) if step["op"] == "deploy" else step for step in program["steps"]]
    return of_rows({**program, "steps": [step for step in steps if step["op"] != "compile_error" and step.get("epl") != ""]})


def _supported(step: Mapping[str, Any], kept: list[str]) -> Mapping[str, Any]:
    """Return the step that deploys what is supported of the module; add that to ``kept``, what earlier steps deploy."""
    own: list[str] = []
    for text in step["epl"].split(";\n"):
        with Runtime(tier="batch") as runtime:
            try:
                for module in [*kept, ";\n".join([*own, text])]:
                    runtime.deploy(module)
            except EplError:
                continue
        own.append(text)
    kept.append(";\n".join(own))
    return {**step, "epl": kept[-1]}


# ---------------------------------------------------------------------- comparing


@attrs.frozen
class Way:
    """``part``: what of a program can run in this way; ``timed``: whether times are not steps of their own."""

    run: Callable[[Program, int], Steps]
    part: Callable[[Program], Program] = whole
    timed: bool = False


WAYS = {
    "restart": Way(restarted),
    "pages": Way(paged),
    "columns": Way(in_columns),
    "times": Way(with_times, of_rows, timed=True),
    "batch": Way(in_batch_tier, of_batch_tier),
    "batch times": Way(with_times_in_batch_tier, of_batch_tier, timed=True),
    "tiers": Way(between_tiers, of_batch_tier),
}


def apart(program: Program, name: str, seed: int) -> str | None:
    """Return the first step at which the program does something else in this way than one event after the other, None where none does or
    the batch tier refuses an event."""
    way = WAYS[name]
    part = way.part(program)
    if way.timed:
        part = with_time_of_each(part, TIMES[seed % 2])
    steps = replay_trace(part)["steps"]
    expected = joined(steps, seed) if way.timed else steps
    try:
        actual = way.run(part, seed)
    except NotInBatchTier:
        return None
    except EplError as error:
        return f"{name}: {error}"
    for place, (step, other) in enumerate(zip(expected, actual, strict=True)):
        if compared(step) != compared(other):
            return f"{name}, step {place} ({step['op']}): expected {compared(step)}, got {compared(other)}"
    return None


def compared(step: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in step.items() if key not in NOT_COMPARED}
