"""Snapshot and restore: module texts, parameters, names of functions, types, variables, clock and state; no code, no plan, never pickle.

A snapshot is a sequence of (page key, bytes) pages: ``head``, ``clock``, those of each statement, ``variables``, ``events`` (each event
once, however many operators hold it); docs/design/state.md describes them. ``Runtime.restore`` deploys the texts again, then gives each
statement its state. The version stands in front; unknown ones refuse by name, and so do pages.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import msgpack

from epl.catalog import Settings, Variable
from epl.errors import EplDeploymentError, EplRuntimeError
from runtime.core import ErrorHandler
from runtime.described_types import describe, describe_types, undescribe
from runtime.pages import PageReader, all_pages, statement_key
from runtime.plan_cache import planned, types_of
from runtime.variables import VariableCell

if TYPE_CHECKING:
    from runtime.engine import Runtime

MAGIC = b"EPLSPARK"
VERSION = 3


def snapshot(runtime: Runtime) -> bytes:
    """All pages in one blob."""
    packed: bytes = msgpack.packb(list(all_pages(runtime, frame(runtime))), use_bin_type=True)
    return MAGIC + bytes([VERSION]) + packed


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


def restore(
    cls: type[Runtime], blob: bytes | Mapping[str, bytes], functions: dict[str, Callable[..., Any]], classes: Mapping[str, Any],
    on_error: ErrorHandler, aggregations: Mapping[str, Callable[[], Any]], tier: str,
) -> Runtime:
    """A runtime that goes on exactly where ``snapshot`` or ``pages`` saw the other one."""
    reader = PageReader(blob if isinstance(blob, Mapping) else _pages_in(blob))
    head, clock = reader.body("head", "head"), reader.body("clock", "clock")
    _check_given("functions", head["functions"], functions)
    _check_given("aggregations", head["aggregations"], {name.lower() for name in aggregations})
    runtime = cls(start_time=clock["now"], settings=Settings(**_settings(head["settings"])), on_error=on_error, tier=tier)
    for name, function in functions.items():
        runtime.register_function(name, function)
    for name, factory in aggregations.items():
        runtime.register_aggregation(name, factory)
    for name, constants in head["enums"]:
        runtime.register_enum(name, constants)
    for event_type in types_of(head["types"]):
        runtime.register_type(event_type)
    for name, described, constant in head["variables"]:
        value = clock["values"].get(name)
        runtime._variables[name] = VariableCell(Variable(name, undescribe(described, runtime._types), constant, value), value)
    _redeploy(runtime, head, clock["values"])
    _restore_state(runtime, reader)
    return runtime


def _pages_in(blob: bytes) -> dict[str, bytes]:
    if not blob.startswith(MAGIC) or len(blob) == len(MAGIC):
        raise EplRuntimeError("this is no epl-spark snapshot")
    version = blob[len(MAGIC)]
    if version != VERSION:
        raise EplRuntimeError(f"snapshot version {version} is not known here; this is version {VERSION}")
    try:
        return dict(msgpack.unpackb(blob[len(MAGIC) + 1 :], raw=False))
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise EplRuntimeError("the snapshot is damaged or cut off") from error


def _check_given(what: str, named: list[str], given: Any) -> None:
    missing = sorted(set(named) - set(given))
    if missing:
        raise EplDeploymentError(
            f"the snapshot uses {what} that are not given: {', '.join(missing)}", hint=f"Runtime.restore(blob, {what}={{…}})"
        )


def _settings(values: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}


def _redeploy(runtime: Runtime, head: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Deploy the modules again; later ones see variables as they stand, since sizes of windows may be variables."""
    for deployment_id, text, parameters in head["deployments"]:
        deployment = runtime.deploy(planned(runtime, deployment_id, text), name=deployment_id, parameters=dict(parameters))
        for number, statement in enumerate(deployment):
            if head["fingerprints"][f"{deployment_id}/{number}"] != statement.plan.fingerprint:
                raise EplRuntimeError(f"statement '{statement.name}' of deployment '{deployment_id}' is not the one in the snapshot")
        for name, value in values.items():
            if name in runtime._variables:
                runtime._variables[name].value = value
    runtime._deployment_count, runtime._statement_count = head["counts"]


def _restore_state(runtime: Runtime, reader: PageReader) -> None:
    reader.table.add_registered(runtime._types)
    for deployment in runtime.deployments.values():
        for number, statement in enumerate(deployment):
            reader.table.add_statement(statement, deployment.id, number)
    for name, value in reader.body("variables", "variables").items():
        runtime._variables[name].value = value
    for deployment in runtime.deployments.values():
        for number, statement in enumerate(deployment):
            assert statement.running is not None
            statement.running.restore(reader.body(statement_key(statement, number), "statement"))


PLAIN = (bool, int, float, str)
"""Values of variables that statements may need while they are deployed."""
