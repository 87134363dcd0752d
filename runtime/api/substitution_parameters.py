"""Substitution parameters: what ``deploy(parameters=…)`` gives to each statement."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from epl.errors import EplDeploymentError
from epl.plan.statements import ModulePlan, StatementPlan
from runtime.conversion.from_python import WrongValue, coercion


def check_parameters(plan: StatementPlan, parameters: dict[str | int, Any]) -> dict[str | int, Any]:
    """Return one statement's parameters, checked and coerced: ``parameters[statement name]`` where that is a mapping, else all of them."""
    own = parameters.get(plan.name)
    values = own if isinstance(own, Mapping) else parameters
    coerced: dict[str | int, Any] = {}
    for key, value_type in plan.parameters:
        if key not in values:
            name = f"'{key}'" if isinstance(key, str) else key
            raise EplDeploymentError(f"Substitution parameters have not been provided: Missing value for substitution parameter {name}")
        try:
            coerced[key] = None if values[key] is None else coercion(value_type)(values[key])
        except WrongValue:
            raise EplDeploymentError(f"Substitution parameter {key!r} is declared {value_type} and cannot hold {values[key]!r}") from None
    return coerced


def check_all_used(plan: ModulePlan, parameters: dict[str | int, Any]) -> None:
    """Refuse values that no statement asks for."""
    known = {k for s in plan.statements for k, _ in s.parameters} | {s.name for s in plan.statements}
    unknown = parameters.keys() - known
    if unknown:
        raise EplDeploymentError(f"There is no substitution parameter {next(iter(unknown))!r} in the module")


__all__ = ["check_all_used", "check_parameters"]
