"""XML → elements with their positions. Nothing is loaded and nothing expands: a document type, and with it entities, is refused."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.parsers import expat

import attrs

from epl.errors import EplDeploymentError

LARGEST = 4 << 20
"""Bytes of a file."""
DEEPEST = 50
"""Elements within each other."""


@attrs.define
class XmlElement:
    """An element without its namespace. ``line`` and ``column`` count from 1."""

    name: str
    attributes: Mapping[str, str]
    line: int
    column: int
    children: list[XmlElement] = attrs.field(factory=list)

    def children_named(self, name: str) -> Iterator[XmlElement]:
        """Yield the children of a name."""
        return (child for child in self.children if child.name == name)


def element_error(file: str, element: XmlElement, message: str, hint: str | None = None) -> EplDeploymentError:
    """Return the error of an element, with its place."""
    return EplDeploymentError(f"{file}:{element.line}:{element.column}: {message}", hint=hint)


def require_attribute(file: str, element: XmlElement, attribute: str) -> str:
    """Return the value of an attribute; raise EplDeploymentError, in Esper's words, where it is not there."""
    value = element.attributes.get(attribute, "").strip()
    if not value:
        raise element_error(file, element, f"Required attribute by name '{attribute}' not found for element '{element.name}'")
    return value


def read_elements(content: bytes, file: str) -> XmlElement:
    """Return the root of a document; raise EplDeploymentError with its place for what is not XML, and for a document type."""
    if len(content) > LARGEST:
        raise EplDeploymentError(f"{file}: longer than {LARGEST >> 20} MB")
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    root = XmlElement("", {}, 1, 1)
    open_elements = [root]

    def place(message: str) -> EplDeploymentError:
        return EplDeploymentError(f"{file}:{parser.CurrentLineNumber}:{parser.CurrentColumnNumber + 1}: {message}")

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > DEEPEST:
            raise place(f"elements are nested more than {DEEPEST} deep")
        element = XmlElement(name.rpartition(" ")[2], attributes, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(name: str) -> None:
        open_elements.pop()

    def document_type(*_: object) -> None:
        raise place("a document type (<!DOCTYPE …>) is not read: it could name other files, or entities without end")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = document_type
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise EplDeploymentError(f"{file}:{error.lineno}:{error.offset + 1}: not XML: {expat.ErrorString(error.code)}") from None
    except (LookupError, ValueError) as error:
        raise EplDeploymentError(f"{file}: not XML: {error}") from None
    return root.children[0]


__all__ = ["XmlElement", "element_error", "read_elements", "require_attribute"]
