"""Event types, variant streams and variables of ``esper.cfg.xml``, as the EPL that declares them."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import attrs

from epl.errors import EplDeploymentError
from runtime.esper_config.elements import XmlElement, element_error, require_attribute

TYPE = re.compile(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*(\[(primitive)?\])*")
PROPERTIES = {"java-util-map": ("map", "map-property"), "objectarray": ("objectarray", "objectarray-property")}
"""Element of a representation → EPL's word, the element of a property."""
OTHERS = ("legacy-type", "xml-dom", "avro", "json")


@attrs.frozen
class TypeDeclaration:
    """A type as EPL. ``uses``: the names that it may refer to, types of this file among them."""

    element: XmlElement
    name: str
    text: str
    uses: frozenset[str]


def read_declaration(file: str, element: XmlElement) -> TypeDeclaration | None:
    """Return an event type of properties; None for one of a class, XML or Avro."""
    name = require_attribute(file, element, "name")
    for representation in element.children:
        if representation.name in PROPERTIES:
            return _of_properties(file, element, name, representation)
    return None


def _of_properties(file: str, element: XmlElement, name: str, representation: XmlElement) -> TypeDeclaration:
    word, item = PROPERTIES[representation.name]
    columns, uses = [], set()
    for child in representation.children:
        if child.name != item:
            message = f"there is no element '{child.name}' in '{representation.name}'"
            raise element_error(file, child, message, f"properties are <{item} name= class=>")
        written = require_attribute(file, child, "class")
        if TYPE.fullmatch(written) is None:
            raise element_error(file, child, f"'{written}' is not a type", "such as string, double, int[] or the name of an event type")
        columns.append(f"{quote_name(file, child, require_attribute(file, child, 'name'))} {written}")
        uses.add(written.partition("[")[0])
    clauses = []
    supertypes = [each.strip() for each in representation.attributes.get("supertype-names", "").split(",") if each.strip()]
    if supertypes:
        clauses.append(f"inherits {', '.join(quote_name(file, element, each) for each in supertypes)}")
    for attribute, word_of in (("start-timestamp-property-name", "starttimestamp"), ("end-timestamp-property-name", "endtimestamp")):
        if attribute in representation.attributes:
            clauses.append(f"{word_of} {quote_name(file, element, representation.attributes[attribute].strip())}")
    text = f"@public @buseventtype create {word} schema {quote_name(file, element, name)} as ({', '.join(columns)}) {' '.join(clauses)}"
    return TypeDeclaration(element, name, text, frozenset({*uses, *supertypes}))


def read_variant(file: str, element: XmlElement) -> TypeDeclaration:
    """Return a variant stream."""
    name = require_attribute(file, element, "name")
    variance = element.attributes.get("type-variance", "predefined").strip().lower()
    if variance not in ("predefined", "any"):
        raise element_error(file, element, f"Invalid enumeration value for type-variance attribute '{variance}'", "predefined or any")
    members = [require_attribute(file, child, "name") for child in element.children_named("variant-event-type")]
    if variance == "predefined" and not members:
        raise element_error(file, element, f"the variant stream '{name}' has no event type")
    listed = ", ".join([*(quote_name(file, element, each) for each in members), *(["*"] if variance == "any" else [])])
    text = f"@public @buseventtype create variant schema {quote_name(file, element, name)} as {listed}"
    return TypeDeclaration(element, name, text, frozenset(members))


def quote_name(file: str, element: XmlElement, name: str) -> str:
    """Return a name as EPL takes any name."""
    if not name or "`" in name or not name.isprintable():
        raise element_error(file, element, f"{name!r} is not a name")
    return f"`{name}`"


def in_order(file: str, declarations: Sequence[TypeDeclaration]) -> list[TypeDeclaration]:
    """Return them so that each comes after those that it refers to; raise EplDeploymentError for two of a name, and for a circle."""
    by_name: dict[str, TypeDeclaration] = {}
    for declaration in declarations:
        if declaration.name in by_name:
            raise element_error(file, declaration.element, f"Event type named '{declaration.name}' has already been declared")
        by_name[declaration.name] = declaration
    ordered: dict[str, TypeDeclaration] = {}
    for declaration in declarations:
        _add(file, declaration, by_name, ordered, ())
    return list(ordered.values())


def _add(
    file: str, declaration: TypeDeclaration, by_name: Mapping[str, TypeDeclaration], ordered: dict[str, TypeDeclaration],
    path: tuple[str, ...]
) -> None:
    if declaration.name in path or len(path) > 100:
        raise EplDeploymentError(
            f"{file}:{declaration.element.line}:{declaration.element.column}: event type '{declaration.name}' refers to itself",
            hint=" → ".join((*path[-5:], declaration.name)),
        )
    if declaration.name not in ordered:
        for name in sorted(declaration.uses & by_name.keys()):
            _add(file, by_name[name], by_name, ordered, (*path, declaration.name))
        ordered[declaration.name] = declaration


__all__ = ["OTHERS", "TypeDeclaration", "in_order", "read_declaration", "read_variant"]
