"""What a statement may see: read-only for analysis, passed in by the runtime (or by ``epl check``)."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from epl.event_types import EventType
from epl.functions.registry import FunctionRegistry
from epl.historical_sources import Database, Method
from epl.plan.context.contexts import Context
from epl.plan.declared import KINDS, Declared
from epl.plan.join.lookups import NamedIndex
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow
from epl.plan.windows import WindowConfig
from epl.settings import Settings
from epl.syntax import Declaration
from epl.value_types import EnumType, ValueType


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
class Catalog:
    """Everything that names in a statement can mean.

    ``window_configs``: by name and by ``namespace:name``. ``aggregations``: by function name (epl.aggregations.functions). ``enums``: by
    the name that a column's type may have. ``methods``, ``databases``, ``static_tables``: what historical streams name; a table is the
    type of its rows. ``indexes``: by window or table, and name. The event type of a named window is among ``event_types`` too.
    ``statement_context``: the context of the statement that is analysed, None without one; ``for_query``: it is a fire-and-forget query.
    ``expanded``: takes the names of the declared expressions that are put in place of their calls in the statement.
    """

    event_types: Mapping[str, EventType]
    functions: FunctionRegistry
    window_configs: Mapping[str, type[WindowConfig]]
    variables: Mapping[str, Variable] = attrs.field(factory=dict)
    declarations: Mapping[str, Declaration] = attrs.field(factory=dict)
    named_windows: Mapping[str, NamedWindow] = attrs.field(factory=dict)
    tables: Mapping[str, Table] = attrs.field(factory=dict)
    indexes: Mapping[tuple[object, str], NamedIndex] = attrs.field(factory=dict)
    contexts: Mapping[str, Context] = attrs.field(factory=dict)
    statement_context: Context | None = None
    for_query: bool = False
    expanded: set[str] = attrs.field(factory=set, eq=False, repr=False)
    aggregations: Mapping[str, Any] = attrs.field(factory=dict)
    enums: Mapping[str, EnumType] = attrs.field(factory=dict)
    methods: Mapping[str, Method] = attrs.field(factory=dict)
    databases: Mapping[str, Database] = attrs.field(factory=dict)
    static_tables: Mapping[str, EventType] = attrs.field(factory=dict)
    settings: Settings = attrs.field(factory=Settings)
    imports: tuple[str, ...] = ()

    def store_indexes(self, store: object) -> tuple[NamedIndex, ...]:
        """Return the indexes that were created on a named window or table, in order."""
        return tuple(index for index in self.indexes.values() if index.store is store)

    def with_declared(self, news: Iterable[Declared]) -> Catalog:
        """Return the catalog with names that modules declare; a name that is there already means the new one."""
        fields: dict[str, Any] = {}
        for new in news:
            field = KINDS[new.kind].field
            fields.setdefault(field, dict(getattr(self, field)))[new.key] = new.value
            if new.kind == "named_window":
                fields.setdefault("event_types", dict(self.event_types))[new.name] = new.value.event_type
        return attrs.evolve(self, **fields) if fields else self
