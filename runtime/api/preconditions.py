"""What deployments have to do with one another: who sees, uses, or would hide what another one declares."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from epl.errors import AlreadyDeclaredError, EplDeploymentError
from epl.event_types import EventType
from epl.plan.declared import KINDS, Declared
from epl.plan.expressions import VariableValue
from epl.plan.join.lookups import NamedIndex
from epl.plan.statements import InsertPlan, ModulePlan
from epl.plan.stores.tables import Table, TableKeys, TableValue
from epl.plan.streams import NamedWindow, types_read
from epl.plan.walk import expressions_of, plans_of
from runtime.api.deployment import Deployment


def first_use(declared: Declared, deployments: Iterable[Deployment]) -> Deployment | None:
    """Return the first of the deployments that refers to what is declared, or None."""
    for deployment in deployments:
        named = [own for own in deployment.plan.declared if (own.kind, own.key) == (declared.kind, declared.key)]
        if any(own.value is not declared.value for own in named):
            continue  # it has one of its own by that name
        if any(declared.is_used_by(statement.plan.body, statement.plan.refers, statement.plan.context) for statement in deployment):
            return deployment
    return None


def locate(error: AlreadyDeclaredError, deployments: Iterable[Deployment]) -> None:
    """Say which deployment has declared the name that is taken, unless the module itself has, and where."""
    for deployment in deployments:
        for declared in deployment.plan.declared:
            if error.hint is None and declared.is_named(error.kind, error.name):
                place = declared.place(deployment.plan.text)
                error.hint = f"declared by deployment '{deployment.id}' at {place}"
                error.declared_by, error.declared_at = deployment.id, declared.span


def check_preconditions(
    plan: ModulePlan, deployments: Iterable[Deployment], types: Iterable[EventType], variables: Mapping[str, Any]
) -> None:
    """Refuse a plan whose event types and variables are gone since it was compiled, or whose own names others have taken since.

    ``types``: the registered ones; ``variables``: all that there are, by name. Deploying the very same plan again is not a conflict.
    """
    theirs = [(deployment, declared) for deployment in deployments for declared in deployment.plan.declared]
    for own in plan.declared:
        for deployment, other in theirs:
            same = (own.kind, own.key) == (other.kind, other.key) and (own.value is not other.value or own.kind == "named_window")
            if same and _meet(own, plan, other, deployment.plan):
                raise _unsatisfied(
                    f"{KINDS[own.kind].article} {own.noun} by name '{own.name}' has already been created for module "
                    f"'{plan.name or '(unnamed)'}'"
                )
    declared = [*(d for _, d in theirs), *plan.declared]
    rows = {id(d.value.event_type) for d in declared if d.kind == "named_window"}
    _check_there(plan, {id(t) for t in types} | {id(d.value) for d in declared} | rows, variables)


def _meet(own: Declared, plan: ModulePlan, other: Declared, theirs: ModulePlan) -> bool:
    """Whether one name would hide the other: private names never do, protected ones in modules of one name."""
    if "private" in (own.access, other.access):
        return False
    return own.access == other.access == "public" or plan.name == theirs.name


def _check_there(plan: ModulePlan, known: set[int], variables: Mapping[str, Any]) -> None:
    own = {d.name for d in plan.declared if d.kind == "variable"}
    for statement in plan.statements:
        if statement.context is not None and id(statement.context) not in known:
            raise _unsatisfied(f"Required dependency context '{statement.context.name}' cannot be found")
        read = list(types_read(statement.body))
        filled = [part.target for part in plans_of(statement.body) if isinstance(part, InsertPlan) and part.table is None]
        for used in (*read, *filled):
            if id(used) not in known:
                raise _unsatisfied(f"Required dependency event type '{used.name}' cannot be found")
        for window in [part for part in plans_of(statement.body) if isinstance(part, NamedWindow)]:
            if id(window) not in known:
                raise _unsatisfied(f"Required dependency named window '{window.name}' cannot be found")
        for part in plans_of(statement.body):
            if isinstance(part, NamedIndex) and id(part) not in known:
                raise _unsatisfied(f"Required dependency index '{part.name}' cannot be found")
            if isinstance(part, Table) and id(part) not in known:
                raise _unsatisfied(f"Required dependency table '{part.name}' cannot be found")
        for expression in expressions_of(statement.body):
            for node in expression.walk():
                if isinstance(node, (TableValue, TableKeys)) and id(node.table) not in known:
                    raise _unsatisfied(f"Required dependency table '{node.table.name}' cannot be found")
                if isinstance(node, VariableValue) and node.name not in own and node.name not in variables:
                    raise _unsatisfied(f"Required dependency variable '{node.name}' cannot be found")


def _unsatisfied(message: str) -> EplDeploymentError:
    return EplDeploymentError(f"A precondition is not satisfied: {message}", hint="compile the module again")


def sees(declared: Declared, plan: ModulePlan, module: str | None) -> bool:
    """Return whether a module of that name sees what another deployment has declared."""
    return declared.access == "public" or (declared.access == "protected" and plan.name == module)


def names_in(module: Any) -> set[str]:
    """Return statement names and declared names that are in a module's text."""
    names = {s.name for s in module.statements if s.name}
    return names | {s.body.name for s in module.statements if hasattr(s.body, "name")}
