"""Variables: cells that compiled expressions read."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from epl.catalog import Variable
from epl.errors import EplRuntimeError
from runtime.incoming import WrongValue, coercion


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
            self.value = self.coerced(value)

    def coerced(self, value: Any) -> Any:
        """The value as the variable's type holds it; raises EplRuntimeError in Esper's words."""
        if value is None:
            return None
        try:
            return self._coerce(value)
        except WrongValue:
            raise EplRuntimeError(
                f"Variable '{self.variable.name}' of declared type {self.variable.type} cannot be assigned a value of type {type(value).__name__}"
            ) from None

    def assign(self, value: Any) -> None:
        """Set by the API: constants refuse."""
        if self.variable.constant:
            raise EplRuntimeError(f"Variable by name '{self.variable.name}' is declared as constant and may not be assigned a new value")
        before, self.value = self.value, self.coerced(value)
        self.changed(before)

    def changed(self, before: Any) -> None:
        """Tell those who read the variable that it was set; observers get the values before and now."""
        for watcher in tuple(self.watchers):
            watcher()
        for observer in tuple(self.observers):
            observer(before, self.value)
