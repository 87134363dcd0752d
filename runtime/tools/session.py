"""What a notebook and a shell do with a runtime: deploy texts that replace what they deployed before, send events, record output."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs

from epl.errors import EplDeploymentError, EplError, EplRuntimeError, EplSyntaxError, EplWarning
from epl.spans import Span
from runtime.api.deployment import Deployment
from runtime.api.preconditions import first_use
from runtime.api.runtime import Runtime
from runtime.api.statement import Statement
from runtime.conversion.rows import Row, Rows
from runtime.conversion.undeclared import UndeclaredNames
from runtime.replay.epl_online import At, Later, Send, parse_script

JSON_EVENT = re.compile(r"\s*(?P<type>[A-Za-z_$][\w$.]*)\s*=?\s*(?P<json>\{\s*(?:\"[^\n]*)?\}|\{\s*\".*\})\s*;?\s*$", re.DOTALL)
"""``Trade {"price": 1}``, also with ``=``; a brace and a quote tell it from a line of a script."""
MOST_CALLS = 10_000
"""The number of calls of a run that are kept."""


@attrs.frozen
class WatchedCall:
    """The rows that one statement emitted at once, at engine time ``at``."""

    at: int
    statement: str
    new: tuple[Row, ...]
    old: tuple[Row, ...]


@attrs.define
class DeploymentResult:
    """The result of deploying a text. ``again``: other texts that use it and were deployed again; ``notes``: what the user should know."""

    deployment: Deployment
    again: list[str] = attrs.field(factory=list)
    notes: list[str] = attrs.field(factory=list)


class Session:
    """A runtime, and the texts that are deployed to it, by key: a name or a cell."""

    def __init__(self, runtime: Runtime | None = None) -> None:
        self.runtime = runtime or Runtime()
        self.notes: list[str] = []
        self._names = UndeclaredNames(self.notes.append)
        """Remarks for the user on the events that `play` has sent."""
        self.texts: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        """By key: the id of the deployment."""

    # ------------------------------------------------------------------ deploying

    def deploy(self, text: str, key: str | None = None) -> DeploymentResult:
        """Deploy a module in place of what has its key, its names or its text; nothing changes if it is refused. Texts that use what it
        declares are deployed again, and begin with empty state."""
        key = text.strip() if key is None else key
        before = self.runtime.deployments
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", EplWarning)
            deployment = self.runtime.deploy(text, replace=True)
        result = DeploymentResult(deployment, notes=[str(warning.message) for warning in caught])
        replaced = [each for each in before.values() if each.id not in self.runtime.deployments]
        self._replace(key, replaced, result)
        self.texts[key], self.ids[key] = text, deployment.id
        for dependent in self._dependents(replaced):
            self._deploy_again(dependent, result)
        return result

    def _replace(self, key: str, replaced: list[Deployment], result: DeploymentResult) -> None:
        """Undeploy what the key had before, unless that has happened already; forget the keys of what was replaced."""
        previous = self.runtime.deployments.get(self.ids.get(key, ""))
        if previous is not None:
            try:
                self.runtime.undeploy(previous.id)
                replaced.append(previous)
            except EplDeploymentError as error:
                result.notes.append(f"what was deployed here before stays: {error.message}")
        gone = {each.id for each in replaced}
        for other in [other for other, identity in self.ids.items() if identity in gone]:
            del self.ids[other], self.texts[other]

    def _dependents(self, replaced: list[Deployment]) -> list[str]:
        """Return the keys whose deployments use, themselves or through others, what the replaced ones declared; in order of deployment."""
        declared = [each for deployment in replaced for each in deployment.plan.declared]
        keys = []
        for key, identity in self.ids.items():
            deployment = self.runtime.deployments.get(identity)
            if deployment is not None and any(first_use(each, [deployment]) is not None for each in declared):
                keys.append(key)
                declared += deployment.plan.declared
        return keys

    def _deploy_again(self, key: str, result: DeploymentResult) -> None:
        text, identity = self.texts.pop(key), self.ids.pop(key)
        title = _title(self.runtime.deployments[identity], key)
        try:
            self.runtime.undeploy(identity)
            self.ids[key] = self.runtime.deploy(text, replace=True).id
            self.texts[key] = text
            result.again.append(title)
        except EplError as error:
            result.notes.append(f"{title} uses what has changed and no longer fits: {error.message}")

    def undeploy(self, name: str) -> str:
        """Undeploy by key, deployment id or statement name; returns the id."""
        identity = self.ids.get(name, name)
        if identity not in self.runtime.deployments:
            identity = next((d.id for d in self.runtime.deployments.values() if any(s.name == name for s in d)), identity)
        self.runtime.undeploy(identity)
        for key in [key for key, each in self.ids.items() if each == identity]:
            del self.ids[key], self.texts[key]
        return identity

    def statement(self, name: str) -> Statement:
        """Return the newest statement of that name; EplRuntimeError with the names that there are."""
        try:
            return self.runtime.statement(name)
        except KeyError:
            names = ", ".join(dict.fromkeys(s.name for d in self.runtime.deployments.values() for s in d)) or "none yet"
            raise EplRuntimeError(f"no statement named '{name}'; there are: {names}") from None

    # ------------------------------------------------------------------ events and time

    @contextmanager
    def recording(self) -> Iterator[list[WatchedCall]]:
        """Collect what all statements emit meanwhile."""
        calls: list[WatchedCall] = []

        def listener(new: Rows, old: Rows, statement: Statement, runtime: Any) -> None:
            if len(calls) < MOST_CALLS:
                calls.append(WatchedCall(self.runtime.now, statement.name, tuple(new), tuple(old)))

        statements = [s for d in self.runtime.deployments.values() for s in d if s.plan.body.output_type is not None]
        for statement in statements:
            statement.add_listener(listener)
        try:
            yield calls
        finally:
            for statement in statements:
                statement.remove_listener(listener)

    def play(self, script: str) -> int:
        """Send the events of a text and move time as it says; returns how many events. A line is one of EPL Online's script, or a type and
        a JSON object. Times before the present set the clock back where nothing has happened yet, as EPL Online begins in 2001."""
        self.notes = []
        self._names = UndeclaredNames(self.notes.append)
        events = 0
        start = 0
        for line in script.splitlines(keepends=True):
            events += self._line(script, start, line)
            start += len(line)
        return events

    def _line(self, script: str, start: int, line: str) -> int:
        span = Span(start + len(line) - len(line.lstrip()), start + len(line.rstrip()))
        try:
            event = json_event(line)
        except ValueError as error:
            raise EplSyntaxError(f"Incorrect JSON: {error}", span=span, text=script) from None
        if event is not None:
            self._send(*event, span, script)
            return 1
        for instruction in _instructions(script, start, line):
            if isinstance(instruction, Send):
                self._send(instruction.type, instruction.values, span, script)
                return 1
            self._move(instruction)
        return 0

    def _send(self, event_type: str, values: dict[str, Any], span: Span, script: str) -> None:
        try:
            self.runtime.send(event_type, values)
        except EplError as error:
            if error.span is None:
                error.span, error.text = span, script
            raise
        self._names.check(self.runtime.event_type(event_type), values)

    def _move(self, instruction: At | Later) -> None:
        units = instruction.ms * self.runtime.settings.units_per_second // 1000
        if isinstance(instruction, Later):
            self.runtime.advance_time_span(self.runtime.now + units)
        elif self.runtime.now and units >= self.runtime.now:
            self.runtime.advance_time_span(units)
        else:
            self.runtime.advance_time(units)


def _instructions(script: str, start: int, line: str) -> Iterator[At | Later | Send]:
    """Yield the instruction of a line; errors are at their place in the script."""
    try:
        for _, instruction in parse_script(line):
            yield instruction
    except EplSyntaxError as error:
        if error.text == line and error.span is not None:
            error.span, error.text = Span(error.span.start + start, error.span.end + start), script
        raise


def json_event(line: str) -> tuple[str, dict[str, Any]] | None:
    """Return type and values of ``Trade {"price": 1}``; None for any other line; ValueError for JSON that is none.

    >>> json_event('Trade {"price": 1}')
    ('Trade', {'price': 1})
    >>> json_event("Trade = {price = 1}")
    """
    match = JSON_EVENT.match(line)
    if match is None:
        return None
    try:
        values = json.loads(match["json"])
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return match["type"], values


def _title(deployment: Deployment, key: str) -> str:
    names = [statement.name for statement in deployment if statement.plan.is_named]
    return ", ".join(names) or (key if "\n" not in key and len(key) < 60 else deployment.id)


__all__ = ["DeploymentResult", "Session", "WatchedCall", "json_event"]
