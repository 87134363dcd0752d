"""create context: one level, or several that are nested."""
from __future__ import annotations

from epl.analysis.context.conditions import Declaring
from epl.analysis.context.levels import analyse_level
from epl.catalog import Catalog
from epl.errors import AlreadyDeclaredError, EplValidationError
from epl.plan.context.contexts import Context, ContextLevel, Path, full_path
from epl.syntax import ContextSpec, CreateContext, NestedContext, Statement
from epl.value_types import BOXED_INT, STRING, ValueType


def analyse_create_context(statement: Statement, catalog: Catalog) -> Context:
    """Return the context; raise EplValidationError in Esper's words."""
    body = statement.body
    assert isinstance(body, CreateContext)
    if statement.context is not None:
        raise EplValidationError(
            "A create-context statement cannot itself be associated to a context, please declare a nested context instead", span=body.span)
    if body.name in catalog.contexts:
        raise AlreadyDeclaredError(f"Context by name '{body.name}' already exists", "context", body.name, span=body.span)
    properties: dict[Path, ValueType] = {("name",): STRING, ("id",): BOXED_INT}
    levels: list[ContextLevel] = []
    for name, spec, prefix in _parts(body):
        where = Declaring(body.name, catalog, statement.declarations, prefix, tuple(levels))
        level, own = analyse_level(spec, name, where)
        levels.append(level)
        if prefix:
            properties[full_path(level, "name")] = STRING
        properties.update((full_path(level, key), value_type) for key, value_type in own)
    if len(levels) > 1:
        properties[(levels[-1].name, "id")] = BOXED_INT
    return Context(body.name, tuple(levels), tuple(properties.items()))


def _parts(body: CreateContext) -> list[tuple[str, ContextSpec, Path]]:
    """(name, declaration, prefix) of each level."""
    if not isinstance(body.context, NestedContext):
        return [(body.name, body.context, ())]
    names = [body.name]
    for name, spec in body.context.contexts:
        if name in names:
            raise EplValidationError(
                f"Context by name '{name}' has already been declared within nested context '{body.name}'", span=spec.span)
        names.append(name)
    return [(name, spec, (name,)) for name, spec in body.context.contexts]


__all__ = ["analyse_create_context"]
