"""Pictures of a deployed module for the playground: an SVG text each, which the page shows as an image, where no script in it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from epl.plan.statements import CreateSchemaPlan, CreateVariablePlan, ModulePlan, StatementPlan
from runtime.api.deployment import Deployment
from runtime.explain import picture

MOST_STATEMENTS = 40
LARGEST = 300_000
"""Characters of a picture."""


def deployment_pictures(deployment: Deployment) -> Iterator[dict[str, Any]]:
    """Yield ``{"statement": …, "title": …, "svg": …}``: of the module (statement None), and of each statement that is more than a
    declaration. Nothing without the layout library (extra ``plot``), and for modules too large to be looked at."""
    drawn = [s for s in deployment if not isinstance(s.plan.body, (CreateSchemaPlan, CreateVariablePlan))]
    if len(deployment.statements) > MOST_STATEMENTS:
        return
    plans: list[tuple[str | None, str, ModulePlan | StatementPlan]] = [(None, "how the statements are connected", deployment.plan)]
    plans += [(statement.name, f"plan of {statement.name}", statement.plan) for statement in drawn]
    for statement, title, plan in plans:
        try:
            svg = picture(plan).svg
        except ImportError:
            return
        if len(svg) <= LARGEST:
            yield {"statement": statement, "title": title, "svg": svg}


__all__ = ["deployment_pictures"]
