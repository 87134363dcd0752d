"""Annotations of statements: Esper's own and what they take, and those of applications, which are kept as metadata.

Esper refuses an annotation that is not a Java class; ``Settings(annotations="refuse")`` does so too.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

import attrs

from epl.analysis.clauses.from_clause.row_order import orders_rows
from epl.analysis.statements.hints import check_hints
from epl.catalog import Catalog
from epl.dialects.front_door import NAMES as DIALECTS
from epl.errors import EplValidationError
from epl.plan.declared import Declared
from epl.spans import Span
from epl.syntax import Annotation, CreateIndex, CreateTable, CreateWindow, EnumConstant, Module, Statement

TEXT, FLAG, NUMBER = "String", "boolean", "int"
REPRESENTATION, HOOK, APPLIES = "EventUnderlyingType", "HookType", "AppliesTo"
OPTIONAL = "?"
"""What an attribute takes; one that may be absent has ``OPTIONAL`` after it."""

ENUMERATIONS: Mapping[str, tuple[str, ...]] = {
    REPRESENTATION: ("map", "objectarray", "json", "avro"),
    HOOK: ("sqlcol", "sqlrow"),
    APPLIES: (),
}
"""Constants of enumerations, in lower case; none where every name is taken."""
INTERNAL = "internal_"
"""How the names of hooks for Esper's own tests begin; which ones there are is not documented."""
IMPORTED = (HOOK, APPLIES)
"""Enumerations whose constants may have the name of the class in front."""

ATTRIBUTES: Mapping[str, Mapping[str, str]] = {
    "Name": {"value": TEXT}, "Description": {"value": TEXT}, "Tag": {"name": TEXT, "value": TEXT}, "Priority": {"value": NUMBER},
    "Drop": {}, "Hint": {"applies": APPLIES + OPTIONAL, "model": TEXT + OPTIONAL, "value": TEXT + OPTIONAL},
    "Hook": {"hook": TEXT, "type": HOOK}, "Audit": {"value": TEXT + OPTIONAL},
    "NoLock": {}, "IterableUnbound": {}, "EventRepresentation": {"value": REPRESENTATION},
    "Private": {}, "Protected": {}, "Public": {}, "BusEventType": {},
    "JsonSchema": {"className": TEXT + OPTIONAL, "dynamic": FLAG + OPTIONAL}, "JsonSchemaField": {"adapter": TEXT, "name": TEXT},
    "AvroSchemaField": {"name": TEXT, "schema": TEXT},
    "XMLSchema": {
        "autoFragment": FLAG + OPTIONAL, "defaultNamespace": TEXT + OPTIONAL, "eventSenderValidatesRoot": FLAG + OPTIONAL,
        "rootElementName": TEXT, "rootElementNamespace": TEXT + OPTIONAL, "schemaResource": TEXT + OPTIONAL, "schemaText": TEXT + OPTIONAL,
        "xpathFunctionResolver": TEXT + OPTIONAL, "xpathPropertyExpr": FLAG + OPTIONAL, "xpathResolvePropertiesAbsolute": FLAG + OPTIONAL,
        "xpathVariableResolver": TEXT + OPTIONAL},
    "XMLSchemaField": {
        "castToType": TEXT + OPTIONAL, "eventTypeName": TEXT + OPTIONAL, "name": TEXT, "type": TEXT, "xpath": TEXT},
    "XMLSchemaNamespacePrefix": {"namespace": TEXT, "prefix": TEXT},
}
"""Esper's annotations and their attributes in alphabetical order, by simple name; names of annotations are compared without regard to
case."""
BY_NAME = {name.lower(): name for name in ATTRIBUTES}
ACCESS = ("private", "protected", "public")
STORES = {CreateWindow: "named window", CreateTable: "table"}
TYPE_NAMES: Mapping[type, str] = {
    bool: "Boolean", int: "Integer", float: "Double", str: "String", tuple: "Object[]", Annotation: "AnnotationDesc"}
NUMBERS = ("Integer", "Double")


def unknown_annotations(statement: Statement, catalog: Catalog) -> tuple[Annotation, ...]:
    """Return the statement's annotations that are neither Esper's nor known to be the application's own: no import names them, nor
    ``Settings.annotations``."""
    return tuple(
        a for a in statement.annotations if a.name.lower() not in BY_NAME and not _names_dialect(a) and not orders_rows(a)
        and not _is_own(a, catalog))


def _names_dialect(annotation: Annotation) -> bool:
    """Return whether it says of which dialect the statement's match_recognize is."""
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


def annotation_warning(annotation: Annotation) -> str:
    """Return what to say of an unknown annotation that is kept."""
    near = get_close_matches(annotation.name.lower(), BY_NAME, 1, 0.75)
    meant = f" (did you mean '@{BY_NAME[near[0]]}'?)" if near else ""
    return f"Annotation '@{annotation.name}' is not one of Esper's: it is kept as metadata and has no effect{meant}"


def check_annotations(statement: Statement, catalog: Catalog) -> None:
    """Refuse unknown attributes, missing and wrong values; unknown annotations unless the settings keep them."""
    unknown = unknown_annotations(statement, catalog)
    for annotation in statement.annotations:
        if annotation.name.lower() in BY_NAME:
            if not any(i.rsplit(".", 1)[-1] in (annotation.name, "*") for i in catalog.imports):
                _check(annotation, statement, catalog)
        elif annotation in unknown and catalog.settings.annotations != "keep":
            raise EplValidationError(
                "Failed to process statement annotations: Failed to resolve @-annotation class: Could not load annotation class by name "
                f"'{annotation.name}', please check imports",
                span=annotation.span or statement.span, hint="import its name, or name it in Settings(annotations=…), to have it kept",
            )
    check_hints(statement)


def check_access(statement: Statement, declared: Sequence[Declared]) -> None:
    """Refuse access modifiers that contradict each other on what a statement declares; elsewhere they have no effect."""
    accesses = [access for access in ACCESS if statement.annotation(access)]
    if len(accesses) < 2 or not declared or isinstance(statement.body, CreateIndex):
        return
    title = STORES.get(type(statement.body))
    creating = f"Unexpected exception creating {title} '{statement.body.name}': " if title else ""  # type: ignore[attr-defined]
    raise EplValidationError(f"{creating}Encountered both the @{accesses[0]} and the @{accesses[1]} annotation", span=statement.span)


def _check(annotation: Annotation, statement: Statement, catalog: Catalog) -> None:
    name = BY_NAME[annotation.name.lower()]
    span = annotation.span or statement.span
    values = {attribute: _constant(value, catalog, span) for attribute, value in annotation.values}
    twice = next((attribute for attribute in values if [each for each, _ in annotation.values].count(attribute) > 1), None)
    if twice is not None:
        raise _refusal(name, f"has duplicate attribute values for attribute '{twice}'", span)
    for attribute, takes in ATTRIBUTES[name].items():
        value = values.get(attribute)
        if value is None and not takes.endswith(OPTIONAL):
            raise _refusal(name, f"requires a value for attribute '{attribute}'", span)
        if value is not None:
            _check_value(name, attribute, takes.rstrip(OPTIONAL), value, span)
    for attribute in sorted(values):
        if attribute not in ATTRIBUTES[name]:
            raise _refusal(name, f"does not have an attribute '{attribute}'", span)


def _constant(value: object, catalog: Catalog, span: Span | None) -> object:
    """Return the value, a name as its text. Refuse constants of classes that are not known."""
    if not isinstance(value, EnumConstant):
        return value
    owner, _, constant = value.name.rpartition(".")
    if owner in ("Integer", "java.lang.Integer"):
        return 0  # whichever it is: only its type counts
    if not owner or "." in owner or any(i.rsplit(".", 1)[-1] in (owner, "*") for i in catalog.imports):
        return constant
    known = ENUMERATIONS[owner] if owner in IMPORTED else ()
    if owner not in IMPORTED or (known and not _is_constant(constant, known)):
        raise EplValidationError(
            f"Annotation enumeration value '{value.name}' not recognized as an enumeration class, please check imports or type used",
            span=span)
    return constant


def _is_constant(name: str, known: tuple[str, ...]) -> bool:
    return name.lower() in known or name.lower().startswith(INTERNAL)


def _check_value(name: str, attribute: str, takes: str, value: object, span: Span | None) -> None:
    typed = TYPE_NAMES[type(value)]
    constants = ENUMERATIONS.get(takes)
    fitting = (TEXT,) if constants is not None else NUMBERS if takes == NUMBER else (takes.capitalize(),)
    if typed not in fitting:
        raise _refusal(name, f"requires a {takes}-typed value for attribute '{attribute}' but received a {typed}-typed value", span)
    if constants and not _is_constant(str(value), constants):
        words = f"requires an enum-value '{takes}' for attribute '{attribute}' but received '{value}'"
        raise _refusal(name, f"{words} which is not one of the enum choices", span)


def _refusal(name: str, words: str, span: Span | None) -> EplValidationError:
    return EplValidationError(f"Failed to process statement annotations: Annotation '{name}' {words}", span=span)


__all__ = ["annotation_warning", "check_access", "check_annotations", "unknown_annotations", "unknown_in_module"]
