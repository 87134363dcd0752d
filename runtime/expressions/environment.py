"""What expressions of one statement may touch beside their events."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import attrs

from epl.functions.registry import FunctionRegistry
from epl.settings import Settings
from windows.protocol import RandomAccess


class Clock(Protocol):
    now: int


class Cell(Protocol):
    """A variable: generated code reads ``value`` each time."""

    value: Any


class PriorAccess(Protocol):
    def prior(self, event: Any, index: int) -> Any: ...


@attrs.define
class Environment:
    """``functions``: what calls mean; ``variables``: cells by name; ``clock.now``: engine time; ``parameters``: values of ``?``;
    ``random_access`` / ``prior``: by stream number, may be filled after expressions are compiled; ``context``: properties of the context
    partition.
    """

    functions: FunctionRegistry = attrs.field(factory=FunctionRegistry)
    variables: Mapping[str, Cell] = attrs.field(factory=dict)
    clock: Clock | None = None
    parameters: Mapping[str | int, Any] = attrs.field(factory=dict)
    random_access: dict[int, RandomAccess] = attrs.field(factory=dict)
    prior: dict[int, PriorAccess] = attrs.field(factory=dict)
    context: Mapping[str, Any] = attrs.field(factory=dict)
    settings: Settings = attrs.field(factory=Settings)
