"""Which properties a statement reads of event types that no one has declared: what a porter has to write ``create schema`` for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from epl.analysis.expressions.rewriting import syntax_nodes
from epl.errors import EplError
from epl.parse import parse_statement
from epl.syntax import Chain, Name, Stream, TypeFilter
from epl.syntax.patterns import FilterAtom


def properties_read(text: str, type_name: str) -> set[str]:
    """Return the names of properties that the statement ``text`` seems to read of the event type ``type_name``.

    Names after an alias or tag belong to its type, those in a filter's brackets to the filter's type. All other names belong to the type
    if the statement reads no other.
    """
    try:
        statement = parse_statement(text)
    except EplError:
        return set()
    nodes = list(syntax_nodes(statement))
    aliases = dict(_aliases(nodes))
    filters = [node for node in nodes if isinstance(node, (TypeFilter, FilterAtom)) and node.type_name == type_name]
    read = {name for each in filters for name in _bare_names(each.filters, aliases)}
    read |= {inner.name for name, inner in _name_pairs(nodes) if aliases.get(name.name) == type_name}
    if {node.type_name for node in nodes if isinstance(node, (TypeFilter, FilterAtom))} == {type_name}:
        read |= set(_bare_names(statement, aliases))
    return read


def _bare_names(value: Any, aliases: dict[str, str]) -> Iterator[str]:
    for node in syntax_nodes(value):
        if isinstance(node, Chain) and node.root is None and isinstance(node.links[0], Name) and node.links[0].name not in aliases:
            yield node.links[0].name


def _name_pairs(nodes: list[Any]) -> Iterator[tuple[Name, Name]]:
    for node in nodes:
        if isinstance(node, Chain) and node.root is None and len(node.links) > 1:
            first, second = node.links[:2]
            if isinstance(first, Name) and isinstance(second, Name):
                yield first, second


def _aliases(nodes: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield the aliases of streams and the tags of patterns with their event types."""
    for node in nodes:
        if isinstance(node, Stream) and isinstance(node.source, TypeFilter):
            yield node.alias or node.source.type_name, node.source.type_name
        elif isinstance(node, FilterAtom) and node.tag is not None:
            yield node.tag, node.type_name


__all__ = ["properties_read"]
