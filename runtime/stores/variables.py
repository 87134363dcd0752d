"""Variables: cells that compiled expressions read."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from epl.catalog import Variable
from epl.errors import EplRuntimeError
from epl.event_types import EventOf
from epl.reprs import brief
from epl.value_types import Scalar, ValueType
from runtime.conversion.from_python import RANGES, WrongValue, coercion
from windows.event import Event


class VariableCell:
    """The current value of one variable. ``deployment``: who created it, None where it was preconfigured. ``watchers`` are called after
    each assignment.
    """

    __slots__ = ("variable", "value", "deployment", "watchers", "observers", "_coerce")

    def __init__(self, variable: Variable, value: Any, deployment: str | None = None) -> None:
        self.variable = variable
        self.deployment = deployment
        self._coerce = coercion(variable.type)
        self.watchers: list[Callable[[], None]] = []
        self.observers: list[Callable[[Any, Any], None]] = []
        self.value: Any = None
        if value is not None:
            self.value = self.coerce(value)

    def coerce(self, value: Any) -> Any:
        """Return the value as the variable's type holds it; raise EplRuntimeError in Esper's words."""
        if value is None:
            return None
        try:
            _check_columns(self.variable.type, value)
            return self._coerce(value)
        except WrongValue:
            declared = f"type {self.variable.type}"
            if isinstance(self.variable.type, EventOf):
                declared = f"event type '{self.variable.type.event_type.name}'"
            raise EplRuntimeError(
                f"Variable '{self.variable.name}' of declared {declared} cannot be assigned a value of type {type(value).__name__}",
                hint=_beyond(self.variable.type, value),
            ) from None

    def checked(self, value: Any) -> Any:
        """Do as ``coerce`` for an assignment: constants refuse."""
        if self.variable.constant:
            raise EplRuntimeError(f"Variable by name '{self.variable.name}' is declared as constant and may not be assigned a new value")
        return self.coerce(value)

    def assign(self, value: Any) -> None:
        """Set by the API: constants refuse."""
        before, self.value = self.value, self.checked(value)
        self.changed(before)

    def changed(self, before: Any) -> None:
        """Notify those who read the variable that it was set; observers get the values before and now."""
        for watcher in tuple(self.watchers):
            watcher()
        for observer in tuple(self.observers):
            observer(before, self.value)


class VariableCells(dict[str, VariableCell]):
    """The variables of a runtime by name. Modules may declare variables of one name that only they see: the newest stands under the name,
    the others, oldest first, in ``older``."""

    __slots__ = ("older",)

    def __init__(self) -> None:
        super().__init__()
        self.older: dict[str, list[VariableCell]] = {}

    def add(self, cell: VariableCell) -> None:
        name = cell.variable.name
        if name in self:
            self.older.setdefault(name, []).append(self[name])
        self[name] = cell

    def remove(self, name: str, deployment: str) -> None:
        """Remove the variable that the deployment has created, if it has."""
        older = self.older.get(name, [])
        if name in self and self[name].deployment == deployment:
            del self[name]
            if older:
                self[name] = older.pop()
        else:
            older[:] = [cell for cell in older if cell.deployment != deployment]
        if not older:
            self.older.pop(name, None)

    def keyed(self) -> dict[str, VariableCell]:
        """Return all, by what names each in a saved state."""
        return {**self, **{f"{name}@{cell.deployment}": cell for name, older in self.older.items() for cell in older}}

    def visible_cells(self, sees: Callable[[VariableCell], bool]) -> Mapping[str, VariableCell]:
        """Return the variables as one who sees these of several of one name has them."""
        if not self.older:
            return self
        chosen = {name: next(filter(sees, (self[name], *reversed(older))), self[name]) for name, older in self.older.items()}
        return {**self, **chosen}


def _beyond(declared: ValueType, value: Any) -> str | None:
    """Return the hint for a whole number that the declared type has no place for."""
    bound = RANGES.get(declared.kind) if isinstance(declared, Scalar) else None
    if bound is None or type(value) is not int:
        return None
    return f"{brief(value)} is beyond the range of {declared}, {-bound} to {bound - 1}"


def _check_columns(declared: ValueType, value: Any) -> None:
    """Check that a mapping for a variable of an event type has that type's properties only, and that an event is of the type."""
    if not isinstance(declared, EventOf):
        return
    event_type = declared.event_type
    if isinstance(value, Event) and not value.type.is_a(event_type):
        raise WrongValue
    if isinstance(value, Mapping) and not event_type.open and not value.keys() <= event_type.properties.keys():
        raise WrongValue
