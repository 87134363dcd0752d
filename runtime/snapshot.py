"""Snapshot and restore: module texts, parameters, names of functions, types, variables, clock and state; no code, no plan, never pickle.

A snapshot is a sequence of (page key, bytes) pages: ``head``, ``clock``, those of each statement, ``variables``, ``events`` (each event
once, however many operators hold it); docs/design/state.md describes them. ``Runtime.restore`` deploys the texts again, then gives each
statement its state. What is read is not trusted (SECURITY.md): no part of it imports, and whatever is not as it was written is refused.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import msgpack

from epl.catalog import Variable
from epl.errors import EplDeploymentError, EplRuntimeError
from epl.plan.windows import WindowConfig
from epl.settings import Settings
from runtime.codec import list_of, map_of
from runtime.core import ErrorHandler
from runtime.described_types import describe, describe_types, undescribe
from runtime.page_reader import PageReader, pages_in
from runtime.pages import all_pages, statement_key
from runtime.plan_cache import planned, types_of
from runtime.seal import Damaged, page_name, reading, sealed, unsealed
from runtime.variables import VariableCell

if TYPE_CHECKING:
    from epl.plan.statements import ModulePlan
    from runtime.engine import Runtime
    from runtime.statement import Statement

NAME = "the snapshot"
"""What a snapshot that is one piece is sealed as."""


def snapshot(runtime: Runtime, key: bytes | None = None) -> bytes:
    """All pages in one piece."""
    packed: bytes = msgpack.packb(list(all_pages(runtime, frame(runtime))), use_bin_type=True)
    return sealed(packed, NAME, key)


def frame(runtime: Runtime) -> Mapping[str, Callable[[], Any]]:
    """What the pages ``head`` and ``clock`` hold."""
    return {"head": partial(_head, runtime), "clock": partial(_clock, runtime)}


def _clock(runtime: Runtime) -> dict[str, Any]:
    """``values``: of variables that statements may need while they are deployed."""
    return {
        "now": runtime.now, "values": {name: cell.value for name, cell in runtime._variables.items() if isinstance(cell.value, PLAIN)},
    }


def _head(runtime: Runtime) -> dict[str, Any]:
    return {
        "settings": attrs.asdict(runtime.settings),
        "types": describe_types(list(runtime._types.values())),
        "functions": sorted(runtime._user_functions),
        "aggregations": sorted(runtime._functions.aggregations),
        "windows": sorted(runtime.own_windows),
        "variables": [
            [c.variable.name, describe(c.variable.type, {}), c.variable.constant]
            for c in runtime._variables.values() if c.deployment is None
        ],
        "deployments": [[d.id, d.plan.text, list(d.parameters.items())] for d in runtime.deployments.values()],
        "counts": [runtime._deployment_count, runtime._statement_count],
        "enums": [[name, list(constants)] for name, constants in runtime._enums.items()],
        "fingerprints": {f"{d.id}/{n}": s.plan.fingerprint for d in runtime.deployments.values() for n, s in enumerate(d)},
    }


# ------------------------------------------------------------------ restore


@attrs.frozen
class Given:
    """What a snapshot only names, and whoever restores it has to give."""

    functions: Mapping[str, Callable[..., Any]] = attrs.field(factory=dict)
    aggregations: Mapping[str, Callable[[], Any]] = attrs.field(factory=dict)
    python_imports: tuple[str, ...] = ()
    windows: Mapping[str, type[WindowConfig]] = attrs.field(factory=dict)

    def missing(self, head: Mapping[str, Any]) -> EplDeploymentError | None:
        """The error for functions, aggregations and imports that are not given; None where all are."""
        imports = head["settings"]["python_imports"]
        for what, named, given, hint in (
            ("functions", head["functions"], self.functions, "functions={…}"),
            ("aggregations", head["aggregations"], {name.lower() for name in self.aggregations}, "aggregations={…}"),
            ("windows", head["windows"], self.windows, "windows=[…]"),
            ("python_imports", imports, self.python_imports, f"python_imports={imports!r}: their code runs"),
        ):
            missing = sorted(set(_names(named)) - set(given))
            if missing:
                return EplDeploymentError(
                    f"the snapshot uses {what} that are not given: {', '.join(missing)}", hint=f"Runtime.restore(…, {hint})"
                )
        return None


def restore(
    cls: type[Runtime], stored: bytes | Mapping[str, bytes], given: Given, on_error: ErrorHandler, tier: str, key: bytes | None = None
) -> Runtime:
    """A runtime that goes on exactly where ``snapshot`` or ``pages`` saw the other one."""
    if isinstance(stored, Mapping):
        reader = PageReader({name: unsealed(page, page_name(name), key) for name, page in stored.items()})
    else:
        reader = PageReader(pages_in(unsealed(stored, NAME, key)))
    with reading("page 'head' or 'clock'"):
        head, clock = map_of(reader.body("head", "head")), map_of(reader.body("clock", "clock"))
        _check_now(clock["now"])
        values = map_of(clock["values"])
        missing = given.missing(head)
    if missing is not None:
        raise missing
    with reading("page 'head'"):
        settings = Settings(**{**_settings(map_of(head["settings"])), "python_imports": given.python_imports})
        runtime = _declared(cls(start_time=clock["now"], settings=settings, on_error=on_error, tier=tier), head, clock, given)
    runtime._core.restoring = True
    _redeploy(runtime, head, values)
    _restore_state(runtime, reader)
    runtime._core.restoring = False
    return runtime


def _names(values: Any) -> list[str]:
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
        raise Damaged("names of functions, aggregations or imports are no list of names")
    return list(values)


def _check_now(now: Any) -> None:
    if type(now) is not int or not -(2**63) <= now < 2**63:
        raise Damaged("'now' is no time")


def _declared(runtime: Runtime, head: Mapping[str, Any], clock: Mapping[str, Any], given: Given) -> Runtime:
    """The runtime with all that was made known to the other one from Python."""
    for name, function in given.functions.items():
        runtime.register_function(name, function)
    for name, factory in given.aggregations.items():
        runtime.register_aggregation(name, factory)
    for config in dict.fromkeys(given.windows.values()):
        runtime.register_window(config)
    for name, constants in head["enums"]:
        runtime.register_enum(name, constants)
    for event_type in types_of(head["types"]):
        runtime.register_type(event_type)
    for name, described, constant in head["variables"]:
        value = clock["values"].get(name)
        runtime._variables[name] = VariableCell(Variable(name, undescribe(described, runtime._types), constant, value), value)
    return runtime


def _settings(values: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}


def _redeploy(runtime: Runtime, head: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Deploy the modules again; later ones see variables as they stand, since sizes of windows may be variables."""
    with reading("page 'head'"):
        deployments = [list_of(each, 3) for each in list_of(head["deployments"])]
    for deployment_id, text, parameters in deployments:
        with reading(f"deployment '{deployment_id}'"):
            plan = planned(runtime, deployment_id, text)
            _check_same(plan, deployment_id, head["fingerprints"])
            runtime.deploy(plan, name=deployment_id, parameters=dict(parameters))
            for name, value in values.items():
                if name in runtime._variables:
                    _assign(runtime._variables[name], value)
    with reading("page 'head'"):
        runtime._deployment_count, runtime._statement_count = (_count(n) for n in list_of(head["counts"], 2))


def _check_same(plan: ModulePlan, deployment_id: str, fingerprints: Mapping[str, str]) -> None:
    """In front of deploying, which runs the statements' text."""
    for number, statement in enumerate(plan.statements):
        if fingerprints.get(f"{deployment_id}/{number}") != statement.fingerprint:
            raise EplRuntimeError(f"statement '{statement.name}' of deployment '{deployment_id}' is not the one in the snapshot")


def _assign(cell: VariableCell, value: Any) -> None:
    try:
        cell.value = cell.coerced(value)
    except EplRuntimeError as error:
        raise Damaged(error.message) from error


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise Damaged("a count of deployments or statements is no number")
    return value


def _restore_state(runtime: Runtime, reader: PageReader) -> None:
    with reading("page 'head'"):  # types within one another without end
        reader.table.add_registered(runtime._types)
        for deployment in runtime.deployments.values():
            for number, statement in enumerate(deployment):
                reader.table.add_statement(statement, deployment.id, number)
    with reading("page 'variables'"):
        variables = map_of(reader.body("variables", "variables"))
        if variables.keys() != runtime._variables.keys():
            raise Damaged("its variables are not those of the modules")
        for name, value in variables.items():
            _assign(runtime._variables[name], value)
    for deployment in runtime.deployments.values():
        for number, statement in enumerate(deployment):
            restore_statement(statement, reader, statement_key(statement, number))
    with reading("the state of the statements"):
        runtime._core.schedule.check()


def restore_statement(statement: Statement, reader: PageReader, key: str) -> None:
    """Give a statement the state in a page. Raises EplRuntimeError, naming the operator, where it is not of the operator's structure."""
    assert statement.running is not None
    with reading(lambda error: f"page '{key}', the state of statement '{statement.name}', {_operators(error)}"):
        statement.running.restore(reader.statement(key, columns=statement.tier == "batch"))


def _operators(error: BaseException) -> str:
    """The operators whose ``restore`` raised, outermost first."""
    found = list(dict.fromkeys(_restoring(error)))
    return f"in {' / '.join(found)}" if found else "as a whole"


def _restoring(error: BaseException) -> Iterator[str]:
    trace = error.__traceback__
    while trace is not None:
        frame_ = trace.tb_frame
        if "restore" in frame_.f_code.co_name and "self" in frame_.f_locals:
            yield type(frame_.f_locals["self"]).__name__
        trace = trace.tb_next


PLAIN = (bool, int, float, str)
"""Values of variables that statements may need while they are deployed."""
