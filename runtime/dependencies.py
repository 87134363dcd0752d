"""Which deployment uses what another one declares."""
from __future__ import annotations

import re
from collections.abc import Iterable

from epl.event_types import EventType
from epl.plan.expressions import VariableValue
from epl.plan.statements import Declared
from runtime.build import expressions_of, plans_of
from runtime.deployment import Deployment


def first_use(declared: Declared, deployments: Iterable[Deployment]) -> Deployment | None:
    """The first of the deployments that refers to what is declared, or None."""
    for deployment in deployments:
        if any(_uses(declared, statement.plan.body, statement.plan.text) for statement in deployment):
            return deployment
    return None


def _uses(declared: Declared, body: object, text: str) -> bool:
    if declared.kind == "event_type":
        return any(value is declared.value for value in plans_of(body) if isinstance(value, EventType))
    if declared.kind == "variable":
        return any(isinstance(n, VariableValue) and n.name == declared.name for e in expressions_of(body) for n in e.walk())
    return re.search(rf"\b{re.escape(declared.name)}\s*\(", text) is not None
