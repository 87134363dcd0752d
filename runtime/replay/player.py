"""Replays a trace: executes its steps on this engine and gives the same trace with what this engine did.

A trace is a dict with ``schema``, ``config``, ``start_time`` and ``steps`` (``op``: deploy, event, time, iterate, …). Outputs are put
into ``out``, ``rows``, ``values`` and ``exception`` of each step, on a deploy step ``statements`` and ``tiers``, on a compile_error
step ``refused``, ``code`` and ``message``; on event steps that went through a feed ``spark``. Nothing is compared here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from random import Random
from typing import Any, Protocol

import attrs

from epl.errors import EplError, EplRuntimeError, EplValidationError
from epl.event_types import EventType
from epl.value_types import OBJECT, ValueType
from runtime.api.deployment import Deployment
from runtime.api.runtime import Runtime
from runtime.api.statement import Statement
from runtime.batch.refusals import NotInBatchTier
from runtime.conversion.from_python import to_event
from runtime.conversion.rows import Rows
from runtime.replay.partition_selectors import partition_selector, partition_selectors
from runtime.replay.trace_schema import TraceTypes, add_variant_streams, settings_of, types_of
from runtime.replay.trace_values import from_json, from_text, json_row, json_value
from runtime.statements.running import EVERY_PARTITION
from windows.event import Event

RESULTS = ("out", "rows", "exception", "refused", "code", "tiers", "spark", "batch")
"""What a replay computes itself: recorded values of these never reach the result."""

Step = Mapping[str, Any]
Done = dict[str, Any]
"""A step with what it did here."""


class Feed(Protocol):
    """Takes events in place of ``send``: ``MicroBatches`` (runtime.replay.spark_micro_batches), ``ColumnFeed`` (runtime.replay.columns)."""

    name: str

    def refusal(self, runtime: Runtime, event: Event) -> str | None: ...

    def send(self, runtime: Runtime, events: Sequence[Event]) -> None: ...

    def event_at(self, place: int) -> int:
        """Return which of the events that are being sent came as the row at that place: rows that nothing reads may not have come."""
        ...


@attrs.define
class Caused:
    """What one step has caused so far: calls of listeners, and errors that the handler got."""

    calls: list[dict[str, Any]] = attrs.field(factory=list)
    errors: list[BaseException] = attrs.field(factory=list)

    def write(self, done: Done) -> None:
        if self.errors and "exception" not in done:
            done["exception"] = _text(self.errors[0])
        if self.calls:
            done["out"] = self.calls


def replay_trace(
    trace: Mapping[str, Any], *, restart: bool = False, tier: str | None = None, feed: Feed | None = None, cuts: int | None = None
) -> dict[str, Any]:
    """Return the trace with this engine's output. ``restart``: between every two steps the runtime is replaced by one restored from its
    snapshot.

    ``feed``: the events between two other steps go through it as one batch (``restart`` then comes between batches and other steps); each
    of their steps says so under the feed's name: "rows", or "refused: " and why the feed does not take the event, which is then sent by
    itself. With ``tier="batch"`` every statement runs in the batch tier and every event goes through the feed; a trace where that cannot
    be is replayed in the row tier as a whole: its ``tiers`` say "row", ``row_tier`` of the trace says why. ``cuts``: a seed; each such
    batch is cut at random places into several.
    What goes wrong in a step is that step's ``exception``; what goes wrong before the first one is every step's.
    """
    try:
        chance = None if cuts is None else Random(f"{cuts} {trace.get('id', trace.get('name'))}")
        player = TracePlayer(trace, tier or "row", chance)
    except NotInBatchTier:
        raise
    except EplError as error:
        return {**trace, "steps": [{**_asked(s), "exception": error.message} for s in trace["steps"]]}
    steps: list[Done] = []
    for together in _cut(trace["steps"], feed is not None):
        if restart:
            player.restart()
        if feed is not None and together[0]["op"] == "event":
            steps += player.play_events(together, feed)
        else:
            steps.append(player.play(together[0]))
        if player.outside is not None:
            return {**replay_trace(trace, restart=restart, tier="row"), "row_tier": player.outside}
    return {**trace, "steps": steps}


def _cut(steps: Sequence[Step], batches: bool) -> Iterator[Sequence[Step]]:
    """Yield the steps one by one; with ``batches``, events that follow one another stay together."""
    for is_event, stretch in groupby(steps, key=lambda step: batches and step["op"] == "event"):
        if is_event:
            yield list(stretch)
        else:
            yield from ([step] for step in stretch)


def _asked(step: Step) -> Done:
    left_out = (*RESULTS, "values") if step["op"] == "get_variable" else RESULTS
    return {k: v for k, v in step.items() if k not in left_out}


class TracePlayer:
    """One trace on one runtime."""

    def __init__(self, trace: Mapping[str, Any], tier: str, chance: Random | None = None) -> None:
        self.trace = trace
        self.tier = tier
        self._chance = chance
        """Where batches are cut; None: nowhere."""
        self.listens_to_all = trace.get("listen") == "all"
        self.types: TraceTypes = types_of(trace.get("schema", {}))
        add_variant_streams(trace.get("config", {}), self.types)
        self.ids: dict[str, str] = {}
        """The trace's deployment names → this runtime's deployment ids."""
        self.listening: list[tuple[str, str]] = []
        """(deployment id, statement name), in order of attachment."""
        self.caused: list[Caused] = []
        """By event of the batch that is at work; one where there is no batch."""
        self._feed: Feed | None = None
        """What sends the batch that is at work."""
        self.listeners: dict[tuple[str, str], Any] = {}
        self.outside: str | None = None
        """Why something did not run in the batch tier, where everything is to."""
        self._compiled: list[str] = []
        """Texts of compile steps, in order."""
        self.runtime = self._new_runtime()

    def _new_runtime(self) -> Runtime:
        runtime = Runtime(
            start_time=self.trace.get("start_time", 0), settings=settings_of(self.trace), tier=self.tier, on_error=self._on_error
        )
        for event_type in self.types.event_types.values():
            runtime.register_type(event_type)
        for name, enum in self.types.enums.items():
            full = self.types.enum_names[name]
            for known in {name, full, full.replace("$", ".")}:
                runtime.register_enum(known, enum.constants)
        for variable in self.trace.get("config", {}).get("variables", ()):
            value_type = self.types.value_type(variable["type"]).boxed
            runtime.declare_variable(
                variable["name"], value_type, from_text(variable.get("value"), value_type), constant=bool(variable.get("constant"))
            )
        return runtime

    def _on_error(self, error: BaseException, statement: str, event: Event | None) -> None:
        self._cause().errors.append(error)

    def _cause(self) -> Caused:
        """Return the part of what is at work that causes a call."""
        place = self.runtime.cause.place or 0
        return self.caused[place if self._feed is None else self._feed.event_at(place)]

    def restart(self) -> None:
        """Go on in a new runtime, restored from this one's snapshot."""
        self.runtime = Runtime.restore(
            self.runtime.snapshot(), on_error=self._on_error, tier=self.tier, python_imports=self.runtime.settings.python_imports
        )
        attached, self.listening, self.listeners = self.listening, [], {}
        for deployment_id, name in attached:
            self._listen(self.runtime.deployments[deployment_id][name])

    # ------------------------------------------------------------------ steps

    def play(self, step: Step) -> Done:
        """Return the step with what it did here."""
        done = _asked(step)
        action = ACTIONS.get(step["op"])
        if action is not None:
            self._run([done], lambda: action(self, step, done))
        return done

    def _run(self, steps: Sequence[Done], work: Callable[[], None]) -> None:
        """Do the steps' work and write into each what it caused. Where the work breaks off, none of them has gone to its end."""
        self.caused = [Caused() for _ in steps]
        try:
            work()
        except NotInBatchTier as error:
            self.outside = error.message
        except Exception as error:  # noqa: BLE001 - whatever a step raises is its result; the next step goes on
            for done in steps:
                done["exception"] = _text(error)
        for done, caused in zip(steps, self.caused):
            caused.write(done)

    def play_events(self, steps: Sequence[Step], feed: Feed) -> list[Done]:
        """Play event steps through the feed: as one batch, which those that it refuses cut."""
        played = [_asked(step) for step in steps]
        batch: list[tuple[Done, Event]] = []
        for step, done in zip(steps, played):
            try:
                event = self.runtime.event_of(*self._given(step))
            except Exception as error:  # noqa: BLE001 - the engine refuses the event, which is the step's result
                done.update({feed.name: f"refused: {_text(error)}", "exception": _text(error)})
                continue
            reason = feed.refusal(self.runtime, event)
            if reason is None:
                done[feed.name] = "rows"
                batch.append((done, event))
            elif self.tier == "batch":
                self.outside = reason
            else:
                done[feed.name] = f"refused: {reason}"
                self._run_batch(batch, feed)
                batch = []
                self._run([done], lambda: self.runtime.send(event.type, event))  # noqa: B023 - called at once
        self._run_batch(batch, feed)
        return played

    def _run_batch(self, batch: Sequence[tuple[Done, Event]], feed: Feed) -> None:
        while batch:
            size = len(batch) if self._chance is None else self._chance.randint(1, len(batch))
            piece, batch = batch[:size], batch[size:]
            self._feed = feed
            self._run([done for done, _ in piece], lambda: feed.send(self.runtime, [event for _, event in piece]))  # noqa: B023 - called at once
            self._feed = None

    def deploy(self, step: Step, done: Done) -> None:
        """Deploy a module; the result says its statements' output columns."""
        done.pop("statements", None)
        deployment = self._deploy(step, done)
        done["statements"] = [
            {"name": s.name, "type": None if s.plan.body.output_type is None else s.plan.body.output_type.name, "props": s.properties}
            for s in deployment
        ]
        done["tiers"] = {s.name: s.tier for s in deployment}

    def _deploy(self, item: Mapping[str, Any], done: dict[str, Any]) -> Deployment:
        deployment = self.runtime.deploy(_epl(item), name=item.get("deployment_id"), parameters=_parameters(item.get("params", ())))
        if "deployment" in item:
            self.ids[item["deployment"]] = deployment.id
        if self.listens_to_all:
            for statement in (each for each in deployment if each.plan.selects):
                self._listen(statement)
        return deployment

    def rollout(self, step: Step, done: Done) -> None:
        """Make several deployments, all or none."""
        deployments: list[Deployment] = []
        try:
            for item in step["items"]:
                deployments.append(self._deploy(item, done))
        except EplError:
            for deployment in reversed(deployments):
                deployment.undeploy()
            raise

    def undeploy(self, step: Step, done: Done) -> None:
        if "deployment" in step:
            deployment_id = self._id_of(step["deployment"])
        else:
            deployment_id = self.runtime.statement(step["statement"]).deployment_id
        self.runtime.undeploy(deployment_id)
        self.listening = [key for key in self.listening if key[0] != deployment_id]

    def undeploy_all(self, step: Step, done: Done) -> None:
        self.runtime.undeploy_all()
        self.listening = []

    def compile_error(self, step: Step, done: Done) -> None:
        """Note whether we refuse it too, and in which words. An error that is none of ours is not a refusal."""
        done.pop("message", None)
        try:
            self._compile(step)
            if step.get("kind") != "faf" and self.listens_to_all:
                self.runtime.deploy(step["epl"]).undeploy()
            done["refused"] = False
        except EplError as error:
            error = self._refused_with_path(step, error)
            done.update(refused=True, code=error.code, message=error.message)
        except Exception as error:  # noqa: BLE001 - an internal error: reported, and not counted as a refusal
            done.update(refused=False, code="internal", message=_text(error))

    def _refused_with_path(self, step: Step, error: EplError) -> EplError:
        """Return the refusal with what earlier steps compiled on the compiler's path; ``error``, that without it, where there is none."""
        if not self._compiled:
            return error
        try:
            with self._path(EplError):
                self._compile(step)
        except EplError as refusal:
            return refusal
        return error

    def compile(self, step: Step, done: Done) -> None:
        """Compile, if need be with what earlier steps compiled: the trace does not say which of it is on the compiler's path."""
        try:
            self._compile(step)
        except EplValidationError:
            if step.get("kind") == "faf":
                raise
            with self._path():
                self._compile(step)
        if step.get("kind") != "faf":
            self._compiled.append(step["epl"])

    def _compile(self, step: Step) -> None:
        compiling = self.runtime.compile_query if step.get("kind") == "faf" else self.runtime.compile
        compiling(step["epl"])

    @contextmanager
    def _path(self, *skipped: type[Exception]) -> Iterator[None]:
        """Deploy what earlier steps compiled for as long as the block runs; ``skipped``: errors of modules that are not deployed then."""
        path = []
        try:
            for text in self._compiled:
                with suppress(*skipped):
                    path.append(self.runtime.deploy(text))
            yield
        finally:
            for deployment in reversed(path):
                deployment.undeploy()

    def add_listener(self, step: Step, done: Done) -> None:
        statement = self._statement(step)
        self._listen(statement)
        if step.get("replay"):  # as addListenerWithReplay does
            self._collect(statement.rows(), Rows(), statement, self.runtime)

    def _listen(self, statement: Statement) -> None:
        key = (statement.deployment_id, statement.name)
        self.listening.append(key)
        self.listeners[key] = statement.add_listener(self._collect)

    def _collect(self, new: Rows, old: Rows, statement: Statement, runtime: Runtime) -> None:
        call: dict[str, Any] = {"statement": statement.name, "deployment": self._name_of(statement.deployment_id)}
        call["new"] = [json_row(row) for row in new] or None
        call["old"] = [json_row(row) for row in old] or None
        self._cause().calls.append(call)

    def _id_of(self, name: str) -> str:
        return self.ids.get(name, name)

    def _name_of(self, deployment_id: str) -> str:
        return next((name for name, known in self.ids.items() if known == deployment_id), deployment_id)

    def remove_listener(self, step: Step, done: Done) -> None:
        statement = self._statement(step)
        key = (statement.deployment_id, statement.name)
        statement.remove_listener(self.listeners.pop(key))
        self.listening.remove(key)

    def _statement(self, step: Step) -> Statement:
        if "deployment" not in step:
            return self.runtime.statement(step["statement"])
        deployment_id = self._id_of(step["deployment"])
        deployment = self.runtime.deployments.get(deployment_id)
        if deployment is None:
            raise LookupError(f"no deployment {step['deployment']!r}")
        return deployment[step["statement"]]

    # ------------------------------------------------------------------ events and time

    def event(self, step: Step, done: Done) -> None:
        """Send one event."""
        self.runtime.send(*self._given(step))

    def event_of(self, step: Step) -> Event | None:
        """Return the event that an event step sends, None where the engine refuses it."""
        try:
            return self.runtime.event_of(*self._given(step))
        except Exception:  # noqa: BLE001 - sending it reports why
            return None

    def _given(self, step: Step) -> tuple[str, Any]:
        """Return what an event step sends: a type's name, and a mapping or JSON text."""
        if step.get("via") == "json" and "json" in step:
            return step["type"], step["json"]
        props = step["props"]
        known = self.types.event_types.get(step["type"])
        if known is not None and step.get("via") == "map" and known.kind == "objectarray":
            raise EplRuntimeError(
                f"Event type named '{known.name}' has not been defined or is not a Map-type event type, the name '{known.name}' "
                "refers to a Object[] event type"
            )
        if known is not None and isinstance(props, dict):
            of_class = known.kind == "bean"
            props = {name: self._value(value, known.type_of(name), of_class) for name, value in props.items()}
        return step["type"], props

    def _value(self, value: Any, declared: ValueType | None, of_class: bool) -> Any:
        """Return a property's value; an object's class, which the trace does not say, by its properties."""
        if of_class and declared == OBJECT and isinstance(value, dict):
            event_type = self.types.class_of(value)
            return value if event_type is None else to_event(self._known(event_type), value)
        return from_json(value, declared)

    def _known(self, event_type: EventType) -> EventType:
        """Return the runtime's own type of that name, which is another one after a restart; of an unnamed class, one below such types."""
        if any(event_type is known for known in self.types.event_types.values()):
            return self.runtime.event_type(event_type.name)
        return attrs.evolve(event_type, supertypes=tuple(map(self._known, event_type.supertypes)))

    def route(self, step: Step, done: Done) -> None:
        self.runtime.route(step["type"], step["props"])

    def time(self, step: Step, done: Done) -> None:
        self.runtime.advance_time(step["ms"])

    def time_span(self, step: Step, done: Done) -> None:
        self.runtime.advance_time_span(step["ms"], step.get("resolution"))

    # ------------------------------------------------------------------ variables, iterators, queries

    def set_variable(self, step: Step, done: Done) -> None:
        self.runtime.set_variables({v["name"]: v["value"] for v in step["values"]}, partition=step.get("agent_instance"))

    def get_variable(self, step: Step, done: Done) -> None:
        if "name" in step:
            self.runtime.get_variable(step["name"])
        else:
            done["values"] = [{**v, "value": json_value(self.runtime.get_variable(v["name"]), None)} for v in step["values"]]

    def iterate(self, step: Step, done: Done) -> None:
        statement = self._statement(step)
        rows = statement.rows(partition_selector(step["selector"])) if "selector" in step else statement.rows()
        done["rows"] = [json_row(row) for row in rows]

    def faf(self, step: Step, done: Done) -> None:
        parameters = _parameters(step.get("params", ()))
        partitions = partition_selectors(step["selectors"]) if "selectors" in step else EVERY_PARTITION
        done["rows"] = [json_row(row) for row in self.runtime.query(step["epl"], parameters, partitions=partitions)]

    def initialize(self, step: Step, done: Done) -> None:
        """Replace the runtime by a new one."""
        self.ids, self.listening, self.listeners = {}, [], {}
        self.runtime = self._new_runtime()


Action = Callable[[TracePlayer, Step, Done], None]

ACTIONS: dict[str, Action] = {
    "deploy": TracePlayer.deploy,
    "rollout": TracePlayer.rollout,
    "undeploy": TracePlayer.undeploy,
    "undeploy_all": TracePlayer.undeploy_all,
    "compile_error": TracePlayer.compile_error,
    "compile": TracePlayer.compile,
    "add_listener": TracePlayer.add_listener,
    "remove_listener": TracePlayer.remove_listener,
    "event": TracePlayer.event,
    "route": TracePlayer.route,
    "time": TracePlayer.time,
    "time_span": TracePlayer.time_span,
    "set_variable": TracePlayer.set_variable,
    "get_variable": TracePlayer.get_variable,
    "iterate": TracePlayer.iterate,
    "faf": TracePlayer.faf,
    "initialize": TracePlayer.initialize,
}
"""By ``op``; ``async`` steps came from a wall clock and have nothing to execute."""


def _text(error: BaseException) -> str:
    return error.message if isinstance(error, EplError) else f"{type(error).__name__}: {error}"


DECLARED_BY_OPTION = {
    "accessModifierNamedWindow": "create window", "accessModifierEventType": "create schema", "accessModifierVariable": "create variable",
    "accessModifierExpression": "create expression", "accessModifierContext": "create context", "accessModifierTable": "create table",
}
"""Compiler option → the statements that it makes public."""


def _epl(item: Step) -> str:
    """Return the module's text, with what its compiler options make public annotated so, and names with quotes in other quotes: Esper
    prints the name of an object model between apostrophes, whatever is in it."""
    text: str = item["epl"]
    for name in (statement["name"] for statement in item.get("statements", ())):
        if "'" in name and '"' not in name:
            text = text.replace(f"@name('{name}')", f'@name("{name}")')
    for option in item.get("compiler_options", ()):
        declared = DECLARED_BY_OPTION.get(option)
        if declared is not None and "@public" not in text:
            text = text.replace(declared, f"@public {declared}")
    return text


def _parameters(recorded: Any) -> dict[str | int, Any]:
    """Values of ``?``: by name or place."""
    return {p["name"] if "name" in p else p["index"]: p["value"] for p in recorded}
