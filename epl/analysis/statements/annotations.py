"""Annotations of statements: Esper's own and what they take, and those of applications, which are kept as metadata.

Esper refuses an annotation that is not a Java class; ``Settings(annotations="refuse")`` does so too.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

import attrs

from epl.analysis.clauses.from_clause.row_order import orders_rows
from epl.analysis.statements.hints import check_hints
from epl.catalog import Catalog
from epl.dialects.front_door import NAMES as DIALECTS
from epl.errors import EplValidationError
from epl.spans import Span
from epl.syntax import Annotation, Module, Statement

TEXT, ANY, OPTIONAL, OPTIONAL_TEXT, OPTIONAL_FLAG = "String", "", "?", "String?", "boolean?"
"""What an attribute takes: a text, anything, anything or nothing, a text or nothing, a boolean or nothing."""

ATTRIBUTES: Mapping[str, Mapping[str, str]] = {
    "Name": {"value": TEXT}, "Description": {"value": TEXT}, "Tag": {"name": TEXT, "value": TEXT}, "Priority": {"value": ANY}, "Drop": {},
    "Hint": {"value": OPTIONAL_TEXT, "applies": OPTIONAL, "model": OPTIONAL},
    "Hook": {"type": ANY, "hook": TEXT}, "Audit": {"value": OPTIONAL},
    "NoLock": {}, "IterableUnbound": {}, "EventRepresentation": {"value": ANY},
    "Private": {}, "Protected": {}, "Public": {}, "BusEventType": {},
    "JsonSchema": {"dynamic": OPTIONAL_FLAG, "className": OPTIONAL}, "JsonSchemaField": {"name": TEXT, "adapter": ANY},
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
REPRESENTATIONS = ("map", "objectarray", "json", "avro")
ACCESS = ("private", "protected", "public")
TYPE_NAMES = {bool: "Boolean", int: "Integer", float: "Double"}


def unknown_annotations(statement: Statement, catalog: Catalog) -> tuple[Annotation, ...]:
    """Return the statement's annotations that are neither Esper's nor known to be the application's own: no import names them, nor
    ``Settings.annotations``."""
    return tuple(
        a for a in statement.annotations if a.name.lower() not in BY_NAME and not _names_dialect(a) and not orders_rows(a)
        and not _is_own(a, catalog))


def _names_dialect(annotation: Annotation) -> bool:
    """Whether it says of which dialect the statement's match_recognize is."""
    value = annotation.get("value")
    return annotation.name.lower() == "dialect" and isinstance(value, str) and value.lower() in DIALECTS


def unknown_in_module(module: Module, catalog: Catalog) -> Iterator[Annotation]:
    """Yield ``unknown_annotations`` of all statements, in order."""
    catalog = attrs.evolve(catalog, imports=(*catalog.imports, *module.imports))
    for statement in module.statements:
        yield from unknown_annotations(statement, catalog)


def _is_own(annotation: Annotation, catalog: Catalog) -> bool:
    annotations = catalog.settings.annotations
    names = () if isinstance(annotations, str) else annotations
    simple = annotation.name.rsplit(".", 1)[-1]
    return annotation.name in names or simple in names or any(i.rsplit(".", 1)[-1] in (annotation.name, "*") for i in catalog.imports)


def warning_of(annotation: Annotation) -> str:
    """Return what to say of an unknown annotation that is kept."""
    near = get_close_matches(annotation.name.lower(), BY_NAME, 1, 0.75)
    meant = f" (did you mean '@{BY_NAME[near[0]]}'?)" if near else ""
    return f"Annotation '@{annotation.name}' is not one of Esper's: it is kept as metadata and has no effect{meant}"


def check_annotations(statement: Statement, catalog: Catalog) -> None:
    """Refuse unknown attributes, missing and wrong values, contradicting access modifiers; unknown annotations unless the settings keep
    them."""
    unknown = unknown_annotations(statement, catalog)
    for annotation in statement.annotations:
        if annotation.name.lower() in BY_NAME:
            if not any(i.rsplit(".", 1)[-1] in (annotation.name, "*") for i in catalog.imports):
                _check(annotation, statement)
        elif annotation in unknown and catalog.settings.annotations != "keep":
            raise EplValidationError(
                "Failed to process statement annotations: Failed to resolve @-annotation class: Could not load annotation class by name "
                f"'{annotation.name}', please check imports",
                span=annotation.span or statement.span, hint="import its name, or name it in Settings(annotations=…), to have it kept",
            )
    check_hints(statement)
    accesses = [access for access in ACCESS if statement.annotation(access)]
    if len(accesses) > 1:
        raise EplValidationError(f"Encountered both the @{accesses[0]} and the @{accesses[1]} annotation", span=statement.span)


def _check(annotation: Annotation, statement: Statement) -> None:
    name = BY_NAME[annotation.name.lower()]
    span = annotation.span or statement.span
    attributes = {attribute.lower(): attribute for attribute in ATTRIBUTES[name]}
    for attribute, takes in ATTRIBUTES[name].items():
        value = annotation.get(attribute)
        if value is None and not takes.endswith(OPTIONAL):
            raise _refusal(name, f"requires a value for attribute '{attribute}'", span)
        typed = "String" if isinstance(value, str) else TYPE_NAMES.get(type(value))
        kind = takes.rstrip(OPTIONAL)
        if kind and typed is not None and typed.lower() != kind.lower():
            raise _refusal(name, f"requires a {kind}-typed value for attribute '{attribute}' but received a {typed}-typed value", span)
    if name == "EventRepresentation":
        _check_representation(name, annotation.get("value"), span)
    for attribute, _ in annotation.values:
        if attribute.lower() not in attributes:
            raise _refusal(name, f"does not have an attribute '{attribute}'", span)


def _check_representation(name: str, value: object, span: Span | None) -> None:
    written = str(getattr(value, "name", value)).rsplit(".", 1)[-1]
    if type(value) in TYPE_NAMES:
        words = f"requires a EventUnderlyingType-typed value for attribute 'value' but received a {TYPE_NAMES[type(value)]}-typed value"
        raise _refusal(name, words, span)
    if written.lower() not in REPRESENTATIONS:
        words = f"requires an enum-value 'EventUnderlyingType' for attribute 'value' but received '{written}' which is not one of the"
        raise _refusal(name, f"{words} enum choices", span)


def _refusal(name: str, words: str, span: Span | None) -> EplValidationError:
    return EplValidationError(f"Failed to process statement annotations: Annotation '{name}' {words}", span=span)


__all__ = ["check_annotations", "unknown_annotations", "unknown_in_module", "warning_of"]
