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
from typing import Any, ClassVar, Protocol

import attrs

from epl.errors import EplError, EplRuntimeError, EplValidationError
from epl.event_types import EventType
from epl.value_types import OBJECT, ValueType
from runtime.api.deployment import Deployment
from runtime.api.runtime import Runtime
from runtime.batch.refusals import NotInBatchTier
from runtime.conversion.from_python import to_event
from runtime.conversion.rows import Rows
from runtime.replay.step_player import Caused, Done, Step, StepPlayer, error_text, without_results
from tests.replay.from_trace import from_json, from_text
from tests.replay.trace_schema import TraceTypes, add_variant_streams, settings_of, types_of
from windows.event import Event


class Feed(Protocol):
    """Takes events in place of ``send``: ``MicroBatches`` (tests.replay.spark_micro_batches), ``ColumnFeed`` (tests.replay.columns)."""

    name: str

    def refusal(self, runtime: Runtime, event: Event) -> str | None: ...

    def send(self, runtime: Runtime, events: Sequence[Event]) -> None: ...

    def event_at(self, place: int) -> int:
        """Return which of the events that are being sent came as the row at that place: rows that nothing reads may not have come."""
        ...


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
        return {**trace, "steps": [{**without_results(s), "exception": error.message} for s in trace["steps"]]}
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


DECLARED_BY_OPTION = {
    "accessModifierNamedWindow": "create window", "accessModifierEventType": "create schema", "accessModifierVariable": "create variable",
    "accessModifierExpression": "create expression", "accessModifierContext": "create context", "accessModifierTable": "create table",
}
"""Compiler option → the statements that it makes public."""


class TracePlayer(StepPlayer):
    """Plays one trace on one runtime."""

    def __init__(self, trace: Mapping[str, Any], tier: str, chance: Random | None = None) -> None:
        self.trace = trace
        self.tier = tier
        self._chance = chance
        """Where batches are cut; None: nowhere."""
        self.listens_to_all = trace.get("listen") == "all"
        self.types: TraceTypes = types_of(trace.get("schema", {}))
        add_variant_streams(trace.get("config", {}), self.types)
        self._feed: Feed | None = None
        """What sends the batch that is at work."""
        self.outside: str | None = None
        """Why something did not run in the batch tier, where everything is to."""
        self._compiled: list[str] = []
        """Texts of compile steps, in order."""
        super().__init__()

    def new_runtime(self) -> Runtime:
        runtime = Runtime(
            start_time=self.trace.get("start_time", 0), settings=settings_of(self.trace), tier=self.tier, on_error=self.on_error
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

    def cause(self) -> Caused:
        place = self.runtime.cause.place or 0
        return self.caused[place if self._feed is None else self._feed.event_at(place)]

    def restart(self) -> None:
        """Go on in a new runtime, restored from this one's snapshot."""
        self.runtime = Runtime.restore(
            self.runtime.snapshot(), on_error=self.on_error, tier=self.tier, python_imports=self.runtime.settings.python_imports
        )
        attached, self.listening, self.listeners = self.listening, [], {}
        for deployment_id, name in attached:
            self.listen(self.runtime.deployments[deployment_id][name])

    def run(self, steps: Sequence[Done], work: Callable[[], None]) -> None:
        """Do the steps' work as ``StepPlayer`` does; what the batch tier refuses ends the replay in it."""

        def attempt() -> None:
            try:
                work()
            except NotInBatchTier as error:
                self.outside = error.message

        super().run(steps, attempt)

    def play_events(self, steps: Sequence[Step], feed: Feed) -> list[Done]:
        """Play event steps through the feed: as one batch, which those that it refuses cut."""
        played = [without_results(step) for step in steps]
        batch: list[tuple[Done, Event]] = []
        for step, done in zip(steps, played):
            try:
                event = self.runtime.event_of(*self._given(step))
            except Exception as error:  # noqa: BLE001 - the engine refuses the event, which is the step's result
                done.update({feed.name: f"refused: {error_text(error)}", "exception": error_text(error)})
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
                self.run([done], lambda: self.runtime.send(event.type, event))  # noqa: B023 - called at once
        self._run_batch(batch, feed)
        return played

    def _run_batch(self, batch: Sequence[tuple[Done, Event]], feed: Feed) -> None:
        while batch:
            size = len(batch) if self._chance is None else self._chance.randint(1, len(batch))
            piece, batch = batch[:size], batch[size:]
            self._feed = feed
            self.run([done for done, _ in piece], lambda: feed.send(self.runtime, [event for _, event in piece]))  # noqa: B023 - called at once
            self._feed = None

    def module_text(self, item: Step) -> str:
        """Return the module's text, with what its compiler options make public annotated so, and names with quotes in other quotes: Esper
        prints the name of an object model between apostrophes, whatever is in it."""
        text = super().module_text(item)
        for name in (statement["name"] for statement in item.get("statements", ())):
            if "'" in name and '"' not in name:
                text = text.replace(f"@name('{name}')", f'@name("{name}")')
        for option in item.get("compiler_options", ()):
            declared = DECLARED_BY_OPTION.get(option)
            if declared is not None and "@public" not in text:
                text = text.replace(declared, f"@public {declared}")
        return text

    def rollout(self, step: Step, done: Done) -> None:
        """Make several deployments, all or none."""
        deployments: list[Deployment] = []
        try:
            for item in step["items"]:
                deployments.append(self.deploy_item(item))
        except EplError:
            for deployment in reversed(deployments):
                deployment.undeploy()
            raise

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
            done.update(refused=False, code="internal", message=error_text(error))

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
        statement = self.statement(step)
        self.listen(statement)
        if step.get("replay"):  # as addListenerWithReplay does
            self.collect(statement.rows(), Rows(), statement, self.runtime)

    def remove_listener(self, step: Step, done: Done) -> None:
        statement = self.statement(step)
        key = (statement.deployment_id, statement.name)
        statement.remove_listener(self.listeners.pop(key))
        self.listening.remove(key)

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
            props = {name: self._value(value, known.property_type(name), of_class) for name, value in props.items()}
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

    def initialize(self, step: Step, done: Done) -> None:
        """Replace the runtime by a new one."""
        self.ids, self.listening, self.listeners = {}, [], {}
        self.runtime = self.new_runtime()

    ACTIONS: ClassVar[dict[str, Callable[[Any, Step, Done], None]]] = {
        **StepPlayer.ACTIONS,
        "event": event, "rollout": rollout, "compile_error": compile_error, "compile": compile, "add_listener": add_listener,
        "remove_listener": remove_listener, "route": route, "initialize": initialize,
    }  # fmt: skip
    """By ``op``; ``async`` steps came from a wall clock and have nothing to execute."""
