"""What deployments have to do with one another: who sees, uses, or would hide what another one declares."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from epl.errors import AlreadyDeclaredError, EplDeploymentError
from epl.event_types import EventType
from epl.plan.declared import KINDS, Declared
from epl.plan.expressions import TypedExpression, VariableValue
from epl.plan.join.lookups import NamedIndex
from epl.plan.kept import once_per_plan
from epl.plan.statements import BodyPlan, InsertPlan, ModulePlan
from epl.plan.stores.tables import Table, TableKeys, TableValue
from epl.plan.streams import NamedWindow, types_read
from epl.plan.walk import walk_plan


class DeclaringDeployment(Protocol):
    """A deployment, as preconditions ask of it."""

    @property
    def id(self) -> str: ...

    @property
    def plan(self) -> ModulePlan: ...


def first_use(declared: Declared, deployments: Iterable[DeclaringDeployment]) -> DeclaringDeployment | None:
    """Return the first of the deployments that refers to what is declared, or None."""
    for deployment in deployments:
        named = [own for own in deployment.plan.declared if (own.kind, own.key) == (declared.kind, declared.key)]
        if any(own.value is not declared.value for own in named):
            continue  # it has one of its own by that name
        if any(declared.is_needed(each.body, each.refers, each.context) for each in deployment.plan.statements):
            return deployment
    return None


def locate(error: AlreadyDeclaredError, deployments: Iterable[DeclaringDeployment]) -> None:
    """Say which deployment has declared the name that is taken, unless the module itself has, and where."""
    for deployment in deployments:
        for declared in deployment.plan.declared:
            if error.hint is None and declared.is_named(error.kind, error.name):
                place = declared.place(deployment.plan.text)
                error.hint = f"declared by deployment '{deployment.id}' at {place}"
                error.declared_by, error.declared_at = deployment.id, declared.span


def check_preconditions(
    plan: ModulePlan, deployments: Iterable[DeclaringDeployment], types: Iterable[EventType], variables: Mapping[str, Any]
) -> None:
    """Refuse a plan whose event types and variables are gone since it was compiled, or whose own names others have taken since.

    ``types``: the registered ones; ``variables``: all that there are, by name. Deploying the very same plan again is not a conflict.
    """
    theirs = [(deployment, declared) for deployment in deployments for declared in deployment.plan.declared]
    for own in plan.declared:
        for deployment, other in theirs:
            same = (own.kind, own.key) == (other.kind, other.key) and (own.value is not other.value or own.kind == "named_window")
            if same and _meet(own, plan, other, deployment.plan):
                raise _precondition_error(
                    f"{KINDS[own.kind].article} {own.noun} by name '{own.name}' has already been created for module "
                    f"'{plan.name or '(unnamed)'}'"
                )
    declared = [*(d for _, d in theirs), *plan.declared]
    rows = {id(d.value.event_type) for d in declared if d.kind == "named_window"}
    _check_there(plan, {id(t) for t in types} | {id(d.value) for d in declared} | rows, variables)


def _meet(own: Declared, plan: ModulePlan, other: Declared, theirs: ModulePlan) -> bool:
    """Return whether one name would hide the other: private names never do, protected ones in modules of one name."""
    if "private" in (own.access, other.access):
        return False
    return own.access == other.access == "public" or plan.name == theirs.name


def _check_there(plan: ModulePlan, known: set[int], variables: Mapping[str, Any]) -> None:
    own = {d.name for d in plan.declared if d.kind == "variable"}
    for statement in plan.statements:
        if statement.context is not None and id(statement.context) not in known:
            raise _precondition_error(f"Required dependency context '{statement.context.name}' cannot be found")
        for what, needed in _list_preconditions(statement.body):
            if (needed.name not in own and needed.name not in variables) if what == "variable" else id(needed) not in known:
                raise _precondition_error(f"Required dependency {what} '{needed.name}' cannot be found")


@once_per_plan
def _list_preconditions(body: BodyPlan) -> tuple[tuple[str, Any], ...]:
    """Return what has to be there for a statement, each with what it is, in the order in which it is looked for."""
    parts = list(walk_plan(body))
    nodes = [node for part in parts if isinstance(part, TypedExpression) for node in part.walk()]
    return (
        *(("event type", event_type) for event_type in types_read(body)),
        *(("event type", part.target) for part in parts if isinstance(part, InsertPlan) and part.table is None),
        *(("named window", part) for part in parts if isinstance(part, NamedWindow)),
        *(("index" if isinstance(part, NamedIndex) else "table", part) for part in parts if isinstance(part, (NamedIndex, Table))),
        *(("variable", node) if isinstance(node, VariableValue) else ("table", node.table)
          for node in nodes if isinstance(node, (TableValue, TableKeys, VariableValue))),
    )


def _precondition_error(message: str) -> EplDeploymentError:
    return EplDeploymentError(f"A precondition is not satisfied: {message}", hint="compile the module again")


def sees(declared: Declared, plan: ModulePlan, module: str | None) -> bool:
    """Return whether a module of that name sees what another deployment has declared."""
    return declared.access == "public" or (declared.access == "protected" and plan.name == module)


def module_names(module: Any) -> set[str]:
    """Return statement names and declared names that are in a module's text."""
    names = {s.name for s in module.statements if s.name}
    return names | {s.body.name for s in module.statements if hasattr(s.body, "name")}
