"""A changed module goes on with the state of the statements that did not change: same name, same fingerprint (law 1)."""
from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import attrs

from epl.errors import EplDeploymentError
from runtime.pages import PageReader, all_pages, statement_key
from runtime.snapshot import frame

if TYPE_CHECKING:
    from runtime.engine import Runtime
    from runtime.statement import Statement

Place = tuple["Statement", str, int]
"""A statement, its deployment's id, its number there."""


@attrs.frozen
class Adopted:
    """Names of statements: ``kept`` go on, ``fresh`` begin, ``dropped`` are gone with their state."""

    kept: tuple[str, ...]
    fresh: tuple[str, ...]
    dropped: tuple[str, ...]


def adopt(runtime: Runtime, before: Runtime, forget: Collection[str] = ()) -> Adopted:
    """Give ``runtime``'s statements the state of those of the same name and fingerprint in ``before``, and its variables their values.

    ``runtime``: deployed at ``before``'s time, nothing sent. ``forget``: names of statements that may begin anew although they changed.
    Raises EplDeploymentError, nothing having been done, where a statement of the same name changed and its state would be lost.
    """
    old, new = _places(before), _places(runtime)
    kept = {name: (old[name], new[name]) for name in new if name in old and _same(old[name], new[name])}
    changed = [name for name in new if name in old and name not in kept and name not in forget and _has_state(old[name][0])]
    if changed:
        raise EplDeploymentError(
            f"statement '{changed[0]}' is not the one whose state was kept: its text, or the schema of a type it uses, has changed",
            hint=f"give it another name, or let it begin anew: forget={changed!r}",
        )
    reader = PageReader(dict(all_pages(before, frame(before))))
    _add_types(reader, runtime, before)
    for statement, deployment_id, number in old.values():
        if statement.name in kept:
            running = kept[statement.name][1][0].running
            assert running is not None
            running.restore(reader.body(statement_key(before.deployments[deployment_id][number], number), "statement"))
    for name, value in reader.body("variables", "variables").items():
        if name in runtime._variables:
            runtime._variables[name].value = value
    return Adopted(tuple(kept), tuple(n for n in new if n not in kept), tuple(n for n in old if n not in new))


def _places(runtime: Runtime) -> dict[str, Place]:
    """By name; a name that several deployments use stands with the deployment's id."""
    found: dict[str, Place] = {}
    for deployment in runtime.deployments.values():
        for number, statement in enumerate(deployment):
            name = statement.name if statement.name not in found else f"{deployment.id}/{statement.name}"
            found[name] = statement, deployment.id, number
    return found


def _same(old: Place, new: Place) -> bool:
    return bool(old[0].plan.fingerprint == new[0].plan.fingerprint)


def _has_state(statement: Statement) -> bool:
    assert statement.running is not None
    return _holds(statement.running.state())


def _holds(state: Any) -> bool:
    """Whether there is anything in a state but None."""
    if isinstance(state, dict):
        return any(map(_holds, state.values()))
    if isinstance(state, (list, tuple)):
        return any(map(_holds, state))
    return state is not None


def _add_types(reader: PageReader, runtime: Runtime, before: Runtime) -> None:
    """The types that the old pages refer to are those of the same names here."""
    reader.table.add_registered(runtime._types)
    here = {t.name: t for d in runtime.deployments.values() for s in d for t in reader.table.types_of(s)}
    here.update(runtime._types)
    for deployment in before.deployments.values():
        for number, statement in enumerate(deployment):
            reader.table.add_renewed(statement, deployment.id, number, here)


__all__ = ["Adopted", "adopt"]
