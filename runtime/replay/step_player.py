"""Plays steps on a runtime: those of test cases, and what recorded traces have in common with them.

A step is a mapping with ``op`` (deploy, event, time, iterate, …) and what the operation takes; playing it returns the step with what the
runtime did: ``out`` (calls of listeners), ``rows``, ``values``, ``exception``; a deploy step gets ``statements`` and ``tiers``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import attrs

from epl.errors import EplError
from runtime.api.deployment import Deployment
from runtime.api.runtime import Runtime
from runtime.api.statement import Statement
from runtime.conversion.rows import Rows
from runtime.replay.partition_selectors import partition_selector, partition_selectors
from runtime.replay.trace_values import json_row, json_value
from runtime.statements.running import EVERY_PARTITION
from windows.event import Event

RESULTS = ("out", "rows", "exception", "refused", "code", "tiers", "spark", "batch")
"""What playing computes itself: expected values of these never reach the result."""

Step = Mapping[str, Any]
Done = dict[str, Any]
"""A step with what it did here."""


@attrs.define
class Caused:
    """What one step has caused so far: calls of listeners, and errors that the handler got."""

    calls: list[dict[str, Any]] = attrs.field(factory=list)
    errors: list[BaseException] = attrs.field(factory=list)

    def write(self, done: Done) -> None:
        if self.errors and "exception" not in done:
            done["exception"] = error_text(self.errors[0])
        if self.calls:
            done["out"] = self.calls


class StepPlayer:
    """Plays steps on one runtime, which a subclass creates. ``listens_to_all``: all selects of a deployment get a listener."""

    listens_to_all = True

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        """The steps' deployment names → this runtime's deployment ids."""
        self.listening: list[tuple[str, str]] = []
        """(deployment id, statement name), in order of attachment."""
        self.listeners: dict[tuple[str, str], Any] = {}
        self.caused: list[Caused] = []
        """By event of the batch that is at work; one where there is no batch."""
        self.runtime = self.new_runtime()

    def new_runtime(self) -> Runtime:
        """Return a runtime whose handler of errors is ``on_error``."""
        raise NotImplementedError

    def on_error(self, error: BaseException, statement: str, event: Event | None) -> None:
        self.cause().errors.append(error)

    def cause(self) -> Caused:
        """Return the part of what is at work that causes a call."""
        return self.caused[self.runtime.cause.place or 0]

    def play(self, step: Step) -> Done:
        """Return the step with what it did here."""
        done = without_results(step)
        action = self.ACTIONS.get(step["op"])
        if action is not None:
            self.run([done], lambda: action(self, step, done))
        return done

    def run(self, steps: Sequence[Done], work: Callable[[], None]) -> None:
        """Do the steps' work and write into each what it caused. Where the work breaks off, none of them has gone to its end."""
        self.caused = [Caused() for _ in steps]
        try:
            work()
        except Exception as error:  # noqa: BLE001 - whatever a step raises is its result; the next step goes on
            for done in steps:
                done["exception"] = error_text(error)
        for done, caused in zip(steps, self.caused):
            caused.write(done)

    # ------------------------------------------------------------------ deployments

    def deploy(self, step: Step, done: Done) -> None:
        """Deploy a module; the result says its statements' output columns."""
        done.pop("statements", None)
        deployment = self.deploy_item(step)
        done["statements"] = [
            {"name": s.name, "type": None if s.plan.body.output_type is None else s.plan.body.output_type.name, "props": s.properties}
            for s in deployment
        ]
        done["tiers"] = {s.name: s.tier for s in deployment}

    def deploy_item(self, item: Step) -> Deployment:
        """Deploy what a step, or a part of it, says; attach the listeners."""
        deployment = self.runtime.deploy(
            self.module_text(item), name=item.get("deployment_id"), parameters=parameter_values(item.get("params", ()))
        )
        if "deployment" in item:
            self.ids[item["deployment"]] = deployment.id
        if self.listens_to_all:
            for statement in (each for each in deployment if each.plan.selects):
                self.listen(statement)
        return deployment

    def module_text(self, item: Step) -> str:
        text: str = item["epl"]
        return text

    def undeploy(self, step: Step, done: Done) -> None:
        if "deployment" in step:
            deployment_id = self.deployment_id(step["deployment"])
        else:
            deployment_id = self.runtime.statement(step["statement"]).deployment_id
        self.runtime.undeploy(deployment_id)
        self.listening = [key for key in self.listening if key[0] != deployment_id]

    def undeploy_all(self, step: Step, done: Done) -> None:
        self.runtime.undeploy_all()
        self.listening = []

    def listen(self, statement: Statement) -> None:
        key = (statement.deployment_id, statement.name)
        self.listening.append(key)
        self.listeners[key] = statement.add_listener(self.collect)

    def collect(self, new: Rows, old: Rows, statement: Statement, runtime: Runtime) -> None:
        """Keep a listener's call with the step that caused it."""
        call: dict[str, Any] = {"statement": statement.name, "deployment": self.deployment_name(statement.deployment_id)}
        call["new"] = [json_row(row) for row in new] or None
        call["old"] = [json_row(row) for row in old] or None
        self.cause().calls.append(call)

    def deployment_id(self, name: str) -> str:
        return self.ids.get(name, name)

    def deployment_name(self, deployment_id: str) -> str:
        return next((name for name, known in self.ids.items() if known == deployment_id), deployment_id)

    def statement(self, step: Step) -> Statement:
        """Return the statement that a step names."""
        if "deployment" not in step:
            return self.runtime.statement(step["statement"])
        deployment = self.runtime.deployments.get(self.deployment_id(step["deployment"]))
        if deployment is None:
            raise LookupError(f"no deployment {step['deployment']!r}")
        return deployment[step["statement"]]

    # ------------------------------------------------------------------ events, time, reading

    def event(self, step: Step, done: Done) -> None:
        """Send one event."""
        self.runtime.send(step["type"], step["props"])

    def time(self, step: Step, done: Done) -> None:
        self.runtime.advance_time(step["ms"])

    def time_span(self, step: Step, done: Done) -> None:
        self.runtime.advance_time_span(step["ms"], step.get("resolution"))

    def set_variable(self, step: Step, done: Done) -> None:
        self.runtime.set_variables({v["name"]: v["value"] for v in step["values"]}, partition=step.get("agent_instance"))

    def get_variable(self, step: Step, done: Done) -> None:
        if "name" in step:
            self.runtime.get_variable(step["name"])
        else:
            done["values"] = [{**v, "value": json_value(self.runtime.get_variable(v["name"]), None)} for v in step["values"]]

    def iterate(self, step: Step, done: Done) -> None:
        statement = self.statement(step)
        rows = statement.rows(partition_selector(step["selector"])) if "selector" in step else statement.rows()
        done["rows"] = [json_row(row) for row in rows]

    def faf(self, step: Step, done: Done) -> None:
        parameters = parameter_values(step.get("params", ()))
        partitions = partition_selectors(step["selectors"]) if "selectors" in step else EVERY_PARTITION
        done["rows"] = [json_row(row) for row in self.runtime.query(step["epl"], parameters, partitions=partitions)]

    ACTIONS: ClassVar[dict[str, Callable[[Any, Step, Done], None]]] = {
        "deploy": deploy, "undeploy": undeploy, "undeploy_all": undeploy_all, "event": event, "time": time, "time_span": time_span,
        "set_variable": set_variable, "get_variable": get_variable, "iterate": iterate, "faf": faf,
    }  # fmt: skip
    """By ``op``; steps of another ``op`` do nothing."""


def without_results(step: Step) -> Done:
    """Return a step as it was asked, without what is expected of it."""
    left_out = (*RESULTS, "values") if step["op"] == "get_variable" else RESULTS
    return {k: v for k, v in step.items() if k not in left_out}


def error_text(error: BaseException) -> str:
    return error.message if isinstance(error, EplError) else f"{type(error).__name__}: {error}"


def parameter_values(recorded: Any) -> dict[str | int, Any]:
    """Return the values of ``?``, by name or place."""
    return {p["name"] if "name" in p else p["index"]: p["value"] for p in recorded}
