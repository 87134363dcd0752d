"""What a path that leads nowhere may have meant."""

from __future__ import annotations

from epl.analysis.expressions.scope import Scope
from epl.java_classes import has_method, is_java_class
from epl.syntax.expressions import Call, Chain, Name


def dots_hint(node: Chain, scope: Scope) -> str | None:
    """Return how to write a property whose name has dots and that more follows, or None."""
    types = [s.event_type for s in scope.streams if s.visible]
    for first in (0, 1):
        for end in range(first + 2, len(node.links)):
            name = ".".join(getattr(link, "name", "") for link in node.links[first:end])
            if any(event_type.property(name) is not None for event_type in types):
                escaped = name.replace(".", "\\.")
                return f"the property '{name}' has dots in its name: write {escaped} where more follows it"
    return None


def java_member(node: Chain, scope: Scope) -> str | None:
    """Return the method or constant of a Java class that the chain begins with and that is not built here."""
    names: list[str] = []
    for link in node.links:
        if not isinstance(link, (Name, Call)):
            return None
        owner = ".".join(names)
        if is_java_class(owner):
            is_built = any(name == owner for name, _ in scope.catalog.functions.static)
            if not is_built or has_method(owner, link.name):
                return f"{owner}.{link.name}{'(…)' if isinstance(link, Call) else ''}"
        names.append(link.name)
    return None
