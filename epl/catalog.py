"""What a statement may see: read-only for analysis, passed in by the runtime (or by ``epl check``)."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from epl.event_types import EventType
from epl.functions.registry import FunctionRegistry
from epl.plan.windows import WindowConfig
from epl.syntax import Declaration
from epl.value_types import ValueType


@attrs.frozen
class Variable:
    """``constant``: its value is fixed, and may be used as a constant; ``value`` is the value at declaration."""

    name: str
    type: ValueType
    constant: bool = False
    value: Any = None
    module: str | None = None
    context: str | None = None


@attrs.frozen
class Settings:
    """Configuration that changes meaning (docs/settings.md). Names follow Esper's.

    ``default_access``: what names without @public, @protected or @private are: ``public`` (every later deployment sees them, event types
    take events from outside) or ``private`` (Esper's default: only their own module does). ``imports``: what every
    module imports without saying so. ``python_imports``: Python modules (with all below them) whose functions and classes EPL text may
    ``import``; importing runs their code, so that text alone never decides it.
    """

    time_unit: str = "milliseconds"
    time_zone: str = "UTC"
    integer_division: bool = False
    division_by_zero_returns_null: bool = False
    default_stream_selector: str = "istream"
    iterable_unbound: bool = False
    prioritized: bool = False
    precedence: bool = False
    max_states: int | None = None
    max_states_prevent_start: bool = True
    max_subexpressions: int | None = None
    max_subexpressions_prevent_start: bool = True
    math_context: tuple[int, str] | None = None
    sort_using_collator: bool = False
    self_subselect_preeval: bool = True
    udf_cache: bool = True
    output_limit_opt: bool = True
    scripts_enabled: bool = True
    property_resolution: str = "case_sensitive"
    default_event_representation: str = "map"
    default_access: str = "public"
    imports: tuple[str, ...] = ()
    python_imports: tuple[str, ...] = ()

    @property
    def units_per_second(self) -> int:
        return 1_000_000 if self.time_unit == "microseconds" else 1_000


@attrs.frozen
class Catalog:
    """Everything that names in a statement can mean.

    ``window_configs``: by name and by ``namespace:name``. ``aggregations``: by function name (epl.functions.aggregations). Named windows,
    tables and contexts come with their rooms.
    """

    event_types: Mapping[str, EventType]
    functions: FunctionRegistry
    window_configs: Mapping[str, type[WindowConfig]]
    variables: Mapping[str, Variable] = attrs.field(factory=dict)
    declarations: Mapping[str, Declaration] = attrs.field(factory=dict)
    named_windows: Mapping[str, Any] = attrs.field(factory=dict)
    tables: Mapping[str, Any] = attrs.field(factory=dict)
    contexts: Mapping[str, Any] = attrs.field(factory=dict)
    aggregations: Mapping[str, Any] = attrs.field(factory=dict)
    settings: Settings = attrs.field(factory=Settings)
    imports: tuple[str, ...] = ()
