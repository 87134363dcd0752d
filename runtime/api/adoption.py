"""A changed module goes on with the state of the statements that did not change: same name, if they have one, same fingerprint (law 1)."""
from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from epl.errors import EplDeploymentError
from epl.plan.fingerprints import keeps_state
from runtime.api.engine import RuntimeEngine
from runtime.api.restore import resume_statement
from runtime.api.runtime import Runtime, internal_engine
from runtime.state.page_reader import PageReader
from runtime.state.pages import all_pages, statement_key
from runtime.state.snapshot import frame

if TYPE_CHECKING:
    from runtime.statements.statement_output import StatementOutput

Place = tuple["StatementOutput", str, int]
"""A statement, its deployment's id, its number there."""


def adopt(runtime: Runtime, former: Runtime, forget: Collection[str] = ()) -> None:
    """Give ``runtime``'s statements the state of those of the same name and fingerprint in ``former``, and its variables their values.
    Statements without a name are found by their fingerprint, wherever they are.

    ``runtime``: deployed at ``former``'s time, nothing sent. ``forget``: names of statements that may start without state although they
    changed. Raises EplDeploymentError, nothing having been done, where a statement changed and its state would be lost.
    """
    engine, before = internal_engine(runtime), internal_engine(former)
    kept = sorted([*_match_named(engine, before, forget), *_match_unnamed(engine, before, forget)], key=lambda pair: pair[0][0].number)
    reader = PageReader(dict(all_pages(before.state(), frame(before.state()))))
    reader.tables = engine.state().tables_by_type
    _add_types(reader, engine, before, {old.number: new for (old, _, _), new in kept})
    variables = engine.state().variables
    for name, value in reader.body("variables", "variables").items():
        if name in variables:
            variables[name].value = value
    for (_, deployment_id, number), statement in kept:
        old = before.deployer.deployments[deployment_id].statements[number]
        resume_statement(engine, statement, reader, statement_key(old, number))


def _match_named(engine: RuntimeEngine, before: RuntimeEngine, forget: Collection[str]) -> list[tuple[Place, StatementOutput]]:
    old, new = _by_name(before), _by_name(engine)
    both = [name for name in new if name in old]
    kept = [name for name in both if keeps_state(old[name][0].plan, new[name][0].plan)]
    changed = [name for name in both if name not in kept and name not in forget and _has_state(old[name][0])]
    if changed:
        raise EplDeploymentError(
            f"statement '{changed[0]}' is not the one whose state was kept: its text, or the schema of a type it uses, has changed",
            hint=f"give it another name, or let it start without state: forget={changed!r}",
        )
    return [(old[name], new[name][0]) for name in kept]


def _match_unnamed(engine: RuntimeEngine, before: RuntimeEngine, forget: Collection[str]) -> list[tuple[Place, StatementOutput]]:
    """Equal ones in their order. One that is gone may have changed into one that is new, or have got a name; which of them is unknown."""
    new = list(_places(engine, named=False))
    kept, gone = [], []
    for place in _places(before, named=False):
        alike = next((each for each in new if keeps_state(place[0].plan, each[0].plan)), None)
        if alike is None:
            gone.append(place[0])
        else:
            new.remove(alike)
            kept.append((place, alike[0]))
    named = _by_name(engine)
    fresh = [*new, *(named[name] for name in named.keys() - _by_name(before).keys())]
    kinds = {place[0].plan.kind for place in fresh}
    changed = [s.name for s in gone if s.plan.kind in kinds and s.name not in forget and _has_state(s)]
    if changed:
        raise EplDeploymentError(
            f"a statement without a name, '{changed[0]}' by default, has state and is not there any more, and there are new ones: it may "
            "be one of them, with a name now, another text, or another schema of a type that it uses",
            hint=f"restore its text, or discard its state: forget={changed!r}",
        )
    return kept


def _places(engine: RuntimeEngine, *, named: bool) -> Iterator[Place]:
    for deployment in engine.deployer.deployments.values():
        for number, statement in enumerate(deployment):
            if statement.plan.is_named == named:
                yield statement, deployment.id, number


def _by_name(engine: RuntimeEngine) -> dict[str, Place]:
    """Return places by name; a name that several deployments use gets the deployment's id."""
    places: dict[str, Place] = {}
    for place in _places(engine, named=True):
        name = place[0].name
        places[name if name not in places else f"{place[1]}/{name}"] = place
    return places


def _has_state(statement: StatementOutput) -> bool:
    return _holds(statement.running.state())


def _holds(state: Any) -> bool:
    """Return whether there is anything in a state but None."""
    if isinstance(state, dict):
        return any(map(_holds, state.values()))
    if isinstance(state, (list, tuple)):
        return any(map(_holds, state))
    return state is not None


def _add_types(reader: PageReader, engine: RuntimeEngine, before: RuntimeEngine, kept: Mapping[int, StatementOutput]) -> None:
    """Add the types that the old pages refer to: those at the same places in the plans of statements that go on, else of the same names.
    ``kept``: by number of the old statement."""
    types_of = reader.table.plan_types
    registered, registered_before = engine.state().types, before.state().types
    for name, event_type in registered_before.items():
        reader.table.add_renewed(event_type, registered.get(name), f"registered/{name}")
    here = {t.name: t for d in engine.deployer.deployments.values() for s in d for t in types_of(s)}
    here.update(registered)
    for deployment in before.deployer.deployments.values():
        for number, statement in enumerate(deployment):
            same = kept.get(statement.number)
            old = types_of(statement)
            types = [here.get(t.name) for t in old] if same is None else types_of(same)
            for place, (event_type, renewed) in enumerate(zip(old, types)):
                reader.table.add_renewed(event_type, renewed, f"{deployment.id}/{number}/{place}")


__all__ = ["adopt"]
