"""A trace cut into runs: modules that are deployed together, the events and times that they see, what their statements emit.

A run can be sent to other engines as a whole: tables of events with the engine time that each had, from a start to an end of time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from epl.analysis.partitioning import AnySplit, Partitioning, SplitBy, analyse_partitioning
from epl.plan.statements import SelectPlan
from runtime.api.deployment import Deployment
from runtime.api.runtime import internal_engine
from tests.replay.player import TracePlayer
from windows.event import Event

READING = ("iterate", "get_variable", "compile", "compile_error", "add_listener", "remove_listener", "async")
"""Steps that change nothing that statements see."""

Key = tuple[str, str]
"""(deployment as the trace names it, statement)."""


@attrs.define
class Candidate:
    """A select of a run. ``place``: among all statements of the run; ``recorded``, ``played``: the rows of its insert
    stream that the trace has, and those of this replay, as JSON; ``whole``: whether it was listened to from the beginning to the end."""

    key: Key
    place: int
    verdict: Partitioning
    recorded: list[Any]
    played: list[Any]
    whole: bool

    @property
    def partitionable(self) -> bool:
        """Whether several engines may share its work."""
        return isinstance(self.verdict, (SplitBy, AnySplit))


@attrs.define
class Run:
    """``start``, ``until``: engine time; ``texts``: of its modules; ``events`` with their times, in order; ``odd``: why it cannot be sent
    to other engines as a whole, None where it can."""

    start: int
    texts: list[str] = attrs.field(factory=list)
    events: list[tuple[int, Event]] = attrs.field(factory=list)
    until: int = 0
    odd: str | None = None
    candidates: list[Candidate] = attrs.field(factory=list)
    begun: bool = False
    """Whether events or times have come."""
    _deployments: list[tuple[str, Deployment]] = attrs.field(factory=list)
    _recorded: dict[Key, list[Any]] = attrs.field(factory=dict)
    _played: dict[Key, list[Any]] = attrs.field(factory=dict)
    _heard: dict[Key, bool] = attrs.field(factory=dict)

    def deployed(self, name: str, text: str, deployment: Deployment, *, listened: bool) -> None:
        """Note one more module; ``listened``: to all of its statements."""
        if self.begun:
            self.odd = self.odd or "a module is deployed while events come"
        self.texts.append(text)
        self._deployments.append((name, deployment))
        if listened:
            self._heard.update({(name, statement.name): True for statement in deployment})

    def listener_changed(self, step: Mapping[str, Any], *, attached: bool) -> None:
        """Note that a listener comes or goes."""
        self._heard[self._key(step)] = attached and not self.begun

    def record_output(self, recorded: Mapping[str, Any], played: Mapping[str, Any]) -> None:
        """Record what a step caused, in the trace and here."""
        for outputs, step in ((self._recorded, recorded), (self._played, played)):
            for call in step.get("out", ()):
                outputs.setdefault(self._key(call), []).extend(call.get("new") or ())

    def _key(self, named: Mapping[str, Any]) -> Key:
        """Steps and calls need not say the deployment: then it is the first one that has the statement."""
        statement = named["statement"]
        having = (name for name, deployment in self._deployments if any(s.name == statement for s in deployment))
        return named.get("deployment") or next(having, ""), statement

    def ended(self, player: TracePlayer) -> Run:
        """Return the run with its candidates, while its modules are still deployed."""
        self.until = player.runtime.now
        plans = internal_engine(player.runtime).plans()
        place = 0
        for name, deployment in self._deployments:
            for statement in deployment:
                key = (name, statement.name)
                if isinstance(statement.plan.body, SelectPlan):
                    verdict = analyse_partitioning(plans, statement.plan, settings=player.runtime.settings)
                    rows = self._recorded.get(key, []), self._played.get(key, [])
                    self.candidates.append(Candidate(key, place, verdict, *rows, self._heard.get(key, False)))
                place += 1
        return self


class Cutter:
    """Plays a trace step by step, and has the run that is under way."""

    def __init__(self, trace: Mapping[str, Any]) -> None:
        self.trace = trace
        self.player = TracePlayer(trace, "row")
        self.run: Run | None = None

    def runs(self) -> Iterator[Run]:
        """Yield the runs, each while its modules are still deployed in ``player``."""
        for step in self.trace["steps"]:
            if step["op"] in ("undeploy", "undeploy_all", "initialize"):
                yield from self._ended()
                self.player.play(step)
                if self.player.runtime.deployments:
                    self.run = Run(self.player.runtime.now, odd="it begins where another one of its modules was undeployed")
            elif step["op"] == "deploy":
                self._deploy(step)
            elif self.run is None:
                self.player.play(step)
            else:
                self._go_on(self.run, step)
        yield from self._ended()

    def _ended(self) -> Iterator[Run]:
        if self.run is not None:
            yield self.run.ended(self.player)
        self.run = None

    def _deploy(self, step: Mapping[str, Any]) -> None:
        before = set(self.player.runtime.deployments)
        now = self.player.runtime.now
        done = self.player.play(step)
        new = [d for name, d in self.player.runtime.deployments.items() if name not in before]
        if not new:
            return
        self.run = self.run or Run(now)
        self.run.deployed(step.get("deployment", new[0].id), step["epl"], new[0], listened=self.player.listens_to_all)
        if step.get("params"):
            self.run.odd = self.run.odd or "a module has substitution parameters"
        if done.get("out"):
            self.run.odd = self.run.odd or "output comes while a module is deployed"

    def _go_on(self, run: Run, step: Mapping[str, Any]) -> None:
        if step["op"] == "event":
            self._event(run, step)
        elif step["op"] in ("time", "time_span"):
            run.begun = True
            if step["ms"] < self.player.runtime.now:
                run.odd = run.odd or "time goes back"
            run.record_output(step, self._played(run, step))
        elif step["op"] in READING:
            self.player.play(step)
            if step["op"] in ("add_listener", "remove_listener"):
                run.listener_changed(step, attached=step["op"] == "add_listener")
        else:
            run.odd = run.odd or f"it has a step {step['op']}"
            run.record_output(step, self.player.play(step))

    def _event(self, run: Run, step: Mapping[str, Any]) -> None:
        run.begun = True
        event = self.player.event_of(step)
        if event is None:  # what the engine refuses has no effect there either
            self.player.play(step)
            return
        run.events.append((self.player.runtime.now, event))
        run.record_output(step, self._played(run, step))

    def _played(self, run: Run, step: Mapping[str, Any]) -> Mapping[str, Any]:
        done = self.player.play(step)
        if "exception" in done:
            run.odd = run.odd or "an expression raises"
        return done


__all__ = ["Candidate", "Cutter", "Run"]
