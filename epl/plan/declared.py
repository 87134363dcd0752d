"""What a module adds to the catalog. KINDS is the table of what can be declared: where it is found, what Esper calls it, who uses it."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from typing import Literal as Choice

import attrs

from epl.event_types import EventType
from epl.plan.expressions import VariableValue
from epl.plan.stores.tables import TableKeys, TableValue
from epl.plan.streams import NamedWindow
from epl.plan.walk import plan_expressions, walk_plan
from epl.spans import Span

Kind = Choice["event_type", "variable", "declaration", "named_window", "table", "index", "context"]
"""The key in KINDS."""

Reference = tuple[Kind, str]
"""A declared name, by kind."""


@attrs.frozen
class Declared:
    """A name that a statement adds to the catalog. ``access``: who else may see it; ``span``: the statement in its module's text."""

    kind: Kind
    name: str
    value: Any
    access: Choice["private", "protected", "public"] = "private"
    span: Span | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def key(self) -> Any:
        """What the catalog finds it by."""
        return self.value.key if self.kind == "index" else self.name

    def is_named(self, kind: str, name: str) -> bool:
        return self.kind == kind and self.name == name

    def place(self, text: str) -> str:
        """Return where the declaration is in its module's text."""
        if self.span is None:
            return "an unknown place"
        line, column = self.span.line_column(text)
        return f"line {line} column {column}"

    @property
    def noun(self) -> str:
        """What Esper calls it within a sentence."""
        return KINDS[self.kind].noun

    @property
    def title(self) -> str:
        """What Esper calls it at the beginning of a sentence."""
        return self.noun[0].upper() + self.noun[1:]

    def is_needed(self, body: object, refers: frozenset[Reference] = frozenset(), context: object | None = None) -> bool:
        """Return whether a statement refers to it. ``body``: the statement's plan; ``refers``: what that plan does not show; ``context``:
        the statement's."""
        own = context is not None and context is self.value
        return own or (self.kind, self.name) in refers or KINDS[self.kind].is_used(self, body)


@attrs.frozen(kw_only=True)
class DeclaredKind:
    """``field``: of the Catalog, which finds it by name. ``noun``: Esper's word, with the article ``article``. ``is_used(declared, body)``:
    whether the plan ``body`` of a statement refers to it.
    """

    field: str
    noun: str
    article: Choice["A", "An"] = "A"
    is_used: Callable[[Declared, object], bool]


def _is_type_used(declared: Declared, body: object) -> bool:
    return any(part is declared.value for part in walk_plan(body) if isinstance(part, EventType))


def _is_variable_used(declared: Declared, body: object) -> bool:
    nodes = (node for expression in plan_expressions(body) for node in expression.walk())
    return any(isinstance(node, VariableValue) and node.name == declared.name for node in nodes)


def _is_table_used(declared: Declared, body: object) -> bool:
    if any(part is declared.value for part in walk_plan(body)):
        return True
    nodes = (node for expression in plan_expressions(body) for node in expression.walk())
    return any(isinstance(node, (TableValue, TableKeys)) and node.table is declared.value for node in nodes)


def _is_window_used(declared: Declared, body: object) -> bool:
    window: NamedWindow = declared.value
    return any(part is window or part is window.event_type for part in walk_plan(body))


def _is_index_used(declared: Declared, body: object) -> bool:
    return any(part is declared.value for part in walk_plan(body))


def _is_in_no_plan(declared: Declared, body: object) -> bool:
    """Return whether no plan shows it: a context is the statement's own, and a declared expression replaces its calls
    (``Declared.is_needed``)."""
    return False


KINDS: Mapping[Kind, DeclaredKind] = {
    "event_type": DeclaredKind(field="event_types", noun="event type", article="An", is_used=_is_type_used),
    "variable": DeclaredKind(field="variables", noun="variable", is_used=_is_variable_used),
    "named_window": DeclaredKind(field="named_windows", noun="named window", is_used=_is_window_used),
    "table": DeclaredKind(field="tables", noun="table", is_used=_is_table_used),
    "index": DeclaredKind(field="indexes", noun="index", article="An", is_used=_is_index_used),
    "context": DeclaredKind(field="contexts", noun="context", is_used=_is_in_no_plan),
    "declaration": DeclaredKind(field="declarations", noun="declared-expression", is_used=_is_in_no_plan),
}

__all__ = ["KINDS", "Declared", "DeclaredKind", "Kind", "Reference"]
