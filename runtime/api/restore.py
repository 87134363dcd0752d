"""A runtime from a snapshot or from pages (runtime.state.snapshot): prepares the statements again, then lets each run in its state.

What is read is not trusted (SECURITY.md): no part of it imports, and whatever is not as it was written is refused.
"""
from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import attrs

from epl.catalog import Variable
from epl.errors import EplDeploymentError, EplRuntimeError
from epl.event_types import EventType
from epl.plan.fingerprints import former_fingerprint
from epl.plan.statements import ModulePlan
from epl.plan.windows import WindowConfig
from epl.settings import Settings
from runtime.api.engine import RuntimeEngine
from runtime.api.plan_cache import find_types, parse_text, plan_text
from runtime.clock.instants import FIRST, LAST
from runtime.event_loop.loop import ErrorHandler
from runtime.expressions.environment import HistoricalSources
from runtime.state.codec import as_list, as_map
from runtime.state.described_types import undescribe
from runtime.state.page_reader import PageReader, split_pages
from runtime.state.pages import statement_key
from runtime.state.runtime_state import RuntimeState
from runtime.state.seal import page_name, reading, unseal_payload
from runtime.state.snapshot import NAME
from runtime.statements.statement_output import StatementOutput
from runtime.stores.variables import VariableCell
from windows.protocol import Damaged

SOURCES = frozenset(field.name for field in attrs.fields(HistoricalSources))
"""What from clauses ask: kinds of what is registered."""


@attrs.frozen
class Provided:
    """Objects that a snapshot only names and its restore has to be given."""

    functions: Mapping[str, Callable[..., Any]] = attrs.field(factory=dict)
    aggregations: Mapping[str, Callable[[], Any]] = attrs.field(factory=dict)
    python_imports: tuple[str, ...] = ()
    windows: Mapping[str, type[WindowConfig]] = attrs.field(factory=dict)
    register: Callable[[Any], object] | None = None
    """Called with the new runtime before anything is deployed: registers methods, databases and static tables."""

    def missing(self, head: Mapping[str, Any]) -> EplDeploymentError | None:
        """Return the error for functions, aggregations and imports that are not given; None where all are."""
        imports = head["settings"]["python_imports"]
        for what, named, provided, hint in (
            ("functions", head["functions"], self.functions, "functions={…}"),
            ("aggregations", head["aggregations"], {name.lower() for name in self.aggregations}, "aggregations={…}"),
            ("windows", head["windows"], self.windows, "windows=[…]"),
            ("python_imports", imports, self.python_imports, f"python_imports={imports!r}: their code runs"),
        ):
            missing = sorted(set(_names(named)) - set(provided))
            if missing:
                return EplDeploymentError(
                    f"the snapshot uses {what} that are not given: {', '.join(missing)}", hint=f"Runtime.restore(…, {hint})"
                )
        return None


class Restorable(Protocol):
    """A runtime that has just been made, as far as restoring uses it."""

    _engine: RuntimeEngine

    def register_function(self, name: str, function: Callable[..., Any]) -> object: ...

    def register_aggregation(self, name: str, factory: Callable[[], Any]) -> object: ...

    def register_window(self, config: type[WindowConfig]) -> object: ...

    def register_enum(self, name: str, constants: Iterable[str] = ()) -> object: ...

    def register_type(self, event_type: EventType) -> object: ...


Made = TypeVar("Made", bound=Restorable)


def restore(
    make: Callable[..., Made], stored: bytes | Mapping[str, bytes], provided: Provided, on_error: ErrorHandler, tier: str,
    key: bytes | None = None,
) -> Made:
    """Return a runtime that goes on exactly where ``snapshot`` or ``pages`` saw the other one. ``make``: its class."""
    if isinstance(stored, Mapping):
        reader = PageReader({name: unseal_payload(page, page_name(name), key) for name, page in stored.items()})
    else:
        reader = PageReader(split_pages(unseal_payload(stored, NAME, key)))
    with reading("page 'head' or 'clock'"):
        head, clock = as_map(reader.body("head", "head")), as_map(reader.body("clock", "clock"))
        _check_now(clock["now"])
        values = as_map(clock["values"])
        missing = provided.missing(head)
    if missing is not None:
        raise missing
    with reading("page 'head'"):
        settings = Settings(**{**_settings(as_map(head["settings"])), "python_imports": provided.python_imports})
        runtime = make(start_time=clock["now"], settings=settings, on_error=on_error, tier=tier)
        _declare(runtime, head, clock, provided)
    if provided.register is not None:
        provided.register(runtime)
    with reading("page 'head'"):
        missing = _missing_source(runtime._engine.state().historical, head)
    if missing is not None:
        raise missing
    state = runtime._engine.state()
    _redeploy(runtime._engine, state, head, values)
    with reading("page 'clock'"):
        handles = state.core.handles
        handles.of_events, handles.of_time = (_count(n) for n in as_list(clock.get("handles", [0, 0]), 2))
    with _collector_stopped():
        _restore_state(runtime._engine, state, reader)
    return runtime


def _missing_source(registered: HistoricalSources, head: Mapping[str, Any]) -> EplDeploymentError | None:
    """Return the error that names methods, databases or static tables that the other runtime had and this one has not."""
    for what, names in as_map(head.get("historical", {})).items():
        if what not in SOURCES:
            raise Damaged("what is registered is neither methods, databases nor tables")
        missing = sorted(set(_names(names)) - getattr(registered, what).keys())
        if missing:
            return EplDeploymentError(
                f"the snapshot uses {what} that are not given: {', '.join(missing)}",
                hint="Runtime.restore(…, register=f), where f(runtime) registers them"
            )
    return None


@contextmanager
def _collector_stopped() -> Iterator[None]:
    """Pause the garbage collector of cycles, which would visit all that is restored so far again and again: two thirds of the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _names(values: Any) -> list[str]:
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
        raise Damaged("names of functions, aggregations or imports are not a list of names")
    return list(values)


def _check_now(now: Any) -> None:
    if type(now) is not int or not FIRST <= now <= LAST:
        raise Damaged("'now' is not a point in engine time")


def _declare(runtime: Restorable, head: Mapping[str, Any], clock: Mapping[str, Any], provided: Provided) -> None:
    """Make known to the runtime all that was made known to the other one from Python."""
    for name, function in provided.functions.items():
        runtime.register_function(name, function)
    for name, factory in provided.aggregations.items():
        runtime.register_aggregation(name, factory)
    for config in dict.fromkeys(provided.windows.values()):
        runtime.register_window(config)
    for name, constants in head["enums"]:
        runtime.register_enum(name, constants)
    for event_type in find_types(head["types"]):
        runtime.register_type(event_type)
    state = runtime._engine.state()
    for name, described, constant in head["variables"]:
        value = clock["values"].get(name)
        state.variables[name] = VariableCell(Variable(name, undescribe(described, state.types), constant, value), value)


def _settings(values: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}


def _redeploy(engine: RuntimeEngine, state: RuntimeState, head: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Prepare the statements of all modules again; they run once they have their states."""
    with reading("page 'head'"):
        deployments = [as_list(each, 3) for each in as_list(head["deployments"])]
        numbers = as_map(head.get("numbers", {}))
    for deployment_id, text, parameters in deployments:
        with reading(f"deployment '{deployment_id}'"):
            module = parse_text(text)
            engine.import_names(module)
            plan = plan_text(engine.catalog(module.name), state.functions, deployment_id, text)
            _check_same(plan, deployment_id, head["fingerprints"])
            first = _count(numbers.get(deployment_id, state.counts.statements + 1))
            if first <= state.counts.statements:
                raise Damaged("statements with numbers of others")
            state.counts.statements = first - 1
            engine.prepare(plan, name=deployment_id, parameters=dict(parameters))
            for name, cell in state.variables.keyed().items():
                if name in values:
                    _assign(cell, values[name])
    with reading("page 'head'"):
        state.counts.deployments, state.counts.statements = (_count(n) for n in as_list(head["counts"], 2))


def _check_same(plan: ModulePlan, deployment_id: str, fingerprints: Mapping[str, str]) -> None:
    """Check the statements before they are deployed, which runs their text."""
    for number, statement in enumerate(plan.statements):
        stored = fingerprints.get(f"{deployment_id}/{number}")
        if stored != statement.fingerprint and stored != former_fingerprint(statement):
            raise EplRuntimeError(f"statement '{statement.name}' of deployment '{deployment_id}' is not the one in the snapshot")


def _assign(cell: VariableCell, value: Any) -> None:
    try:
        cell.value = cell.coerce(value)
    except EplRuntimeError as error:
        raise Damaged(error.message) from error


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise Damaged("a count of deployments or statements is not a number")
    return value


def _restore_state(engine: RuntimeEngine, state: RuntimeState, reader: PageReader) -> None:
    with reading("page 'head'"):  # types within one another without end
        reader.tables = state.tables_by_type
        reader.table.add_registered(state.types)
        for deployment in state.deployments.values():
            for number, statement in enumerate(deployment):
                reader.table.add_statement(statement, deployment.id, number)
    with reading("page 'variables'"):
        variables = as_map(reader.body("variables", "variables"))
        cells = state.variables.keyed()
        if variables.keys() != cells.keys():
            raise Damaged("its variables are not those of the modules")
        for name, value in variables.items():
            _assign(cells[name], value)
    for deployment in state.deployments.values():
        for number, statement in enumerate(deployment):
            resume_statement(engine, statement, reader, statement_key(statement, number))
    with reading("the state of the statements"):
        state.core.schedule.check()


def resume_statement(engine: RuntimeEngine, statement: StatementOutput, reader: PageReader, key: str) -> None:
    """Run a statement in the state in a page. Raise EplRuntimeError, naming the operator, where it is not of the operator's structure."""
    with reading(lambda error: f"page '{key}', the state of statement '{statement.name}', {_operators(error)}"):
        engine.resume(statement, reader.statement(key, columns=statement.tier == "batch"))


def _operators(error: BaseException) -> str:
    """Return the operators whose ``restore`` raised, outermost first."""
    operators = list(dict.fromkeys(_restoring(error)))
    return f"in {' / '.join(operators)}" if operators else "as a whole"


def _restoring(error: BaseException) -> Iterator[str]:
    trace = error.__traceback__
    while trace is not None:
        frame_ = trace.tb_frame
        if "restore" in frame_.f_code.co_name and "self" in frame_.f_locals:
            yield type(frame_.f_locals["self"]).__name__
        trace = trace.tb_next


__all__ = ["Provided", "restore", "resume_statement"]
