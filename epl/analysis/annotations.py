"""Annotations of statements: which there are, and what they take. Esper refuses every other one."""
from __future__ import annotations

from collections.abc import Mapping

from epl.errors import EplValidationError
from epl.spans import Span
from epl.syntax import Annotation, Statement

TEXT, ANY, OPTIONAL = "String", "", "?"
"""What an attribute takes: a text, anything, anything or nothing."""

ATTRIBUTES: Mapping[str, Mapping[str, str]] = {
    "Name": {"value": TEXT}, "Description": {"value": TEXT}, "Tag": {"name": TEXT, "value": TEXT}, "Priority": {"value": ANY}, "Drop": {},
    "Hint": {"value": OPTIONAL, "applies": OPTIONAL, "model": OPTIONAL}, "Hook": {"type": ANY, "hook": TEXT}, "Audit": {"value": OPTIONAL},
    "NoLock": {}, "IterableUnbound": {}, "EventRepresentation": {"value": ANY},
    "Private": {}, "Protected": {}, "Public": {}, "BusEventType": {},
    "JsonSchema": {"dynamic": OPTIONAL, "className": OPTIONAL}, "JsonSchemaField": {"name": TEXT, "adapter": ANY},
    "AvroSchemaField": {"name": TEXT, "schema": TEXT},
    "XMLSchema": dict.fromkeys((
        "rootElementName", "schemaResource", "schemaText", "xpathPropertyExpr", "defaultNamespace", "eventSenderValidatesRoot",
        "autoFragment", "xpathResolvePropertiesAbsolute", "xpathFunctionResolver", "xpathVariableResolver",
        "rootElementNamespace"), OPTIONAL),
    "XMLSchemaField": {"name": TEXT, "xpath": TEXT, "type": OPTIONAL, "eventTypeName": OPTIONAL, "castToType": OPTIONAL},
    "XMLSchemaNamespacePrefix": {"prefix": TEXT, "namespace": TEXT},
}
"""Esper's annotations and their attributes, by simple name; names are compared without regard to case."""
BY_NAME = {name.lower(): name for name in ATTRIBUTES}
ACCESS = ("private", "protected", "public")
TYPE_NAMES = {bool: "Boolean", int: "Integer", float: "Double"}


def check_annotations(statement: Statement, imports: tuple[str, ...]) -> None:
    """Refuses unknown annotations and attributes, missing and wrong values, contradicting access modifiers.

    An annotation that an import names is the application's own and stays unread.
    """
    for annotation in statement.annotations:
        if not any(i.rsplit(".", 1)[-1] in (annotation.name, "*") for i in imports):
            _check(annotation, statement)
    given = [access for access in ACCESS if statement.annotation(access)]
    if len(given) > 1:
        raise EplValidationError(f"Encountered both the @{given[0]} and the @{given[1]} annotation", span=statement.span)


def _check(annotation: Annotation, statement: Statement) -> None:
    name = BY_NAME.get(annotation.name.lower())
    span = annotation.span or statement.span
    if name is None:
        raise EplValidationError(
            "Failed to process statement annotations: Failed to resolve @-annotation class: Could not load annotation class by name "
            f"'{annotation.name}', please check imports",
            span=span, hint="import its name to have it ignored",
        )
    attributes = {attribute.lower(): attribute for attribute in ATTRIBUTES[name]}
    for attribute, takes in ATTRIBUTES[name].items():
        value = annotation.get(attribute)
        if value is None and takes != OPTIONAL:
            raise _refusal(name, f"requires a value for attribute '{attribute}'", span)
        if takes == TEXT and type(value) in TYPE_NAMES:
            words = f"requires a String-typed value for attribute '{attribute}' but received a {TYPE_NAMES[type(value)]}-typed value"
            raise _refusal(name, words, span)
    for attribute, _ in annotation.values:
        if attribute.lower() not in attributes:
            raise _refusal(name, f"does not have an attribute '{attribute}'", span)


def _refusal(name: str, words: str, span: Span | None) -> EplValidationError:
    return EplValidationError(f"Failed to process statement annotations: Annotation '{name}' {words}", span=span)


__all__ = ["check_annotations"]
