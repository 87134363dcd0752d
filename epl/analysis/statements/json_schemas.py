"""create json schema: which columns JSON text can be read into, and what annotations say about them."""
from __future__ import annotations

from collections.abc import Mapping

from epl.analysis.names.type_names import find_event_type
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf, EventType, Property
from epl.syntax import Annotation, CreateSchema, Statement
from epl.value_types import CALENDAR, ArrayType, ClassType, CollectionType, ValueType

READABLE_CLASSES = ("UUID", "URL", "URI")
"""Java classes that have no type of their own here and that JSON holds as text."""
NESTED_KINDS = ("json", "map", "bean")


def check_json_columns(body: CreateSchema, statement: Statement, properties: Mapping[str, Property]) -> None:
    """Refuse what Esper's JSON types refuse, in its words; adapters are Java code, so they are refused as well."""
    for annotation in statement.annotations:
        if annotation.name.lower() == "jsonschemafield" and _text(annotation.get("name")) in properties:
            _refuse_adapter(annotation, statement)
    for column in body.columns:
        column_type = properties[column.name.strip("`")].type
        element = _element(column_type)
        if isinstance(element, EventOf) and element.event_type.kind not in NESTED_KINDS:
            raise EplValidationError(
                f"Failed to validate event type '{element.event_type.name}', expected a Json or Map event type", span=column.span
            )
        if element == CALENDAR or isinstance(element, CollectionType) or _is_opaque(element):
            written = column.type_name.name if column.type_name is not None else str(column_type)
            raise EplValidationError(
                f"Unsupported type '{written}' for property '{column.name}' (use @JsonSchemaField to declare additional information)",
                span=column.span, hint="arrays, Map, Object, numbers, strings, dates and event types can be read",
            )


def _element(value_type: ValueType) -> ValueType:
    while isinstance(value_type, ArrayType):
        value_type = value_type.element
    return value_type


def _is_opaque(value_type: ValueType) -> bool:
    return isinstance(value_type, ClassType) and value_type.name not in READABLE_CLASSES


def _text(value: object) -> str:
    """Return an annotation's value: a string, or a name as it is written."""
    return value if isinstance(value, str) else str(getattr(value, "name", value))


def _refuse_adapter(annotation: Annotation, statement: Statement) -> None:
    adapter = _text(annotation.get("adapter"))
    if adapter.startswith("java."):
        raise EplValidationError(
            "Json schema field adapter class does not implement interface 'JsonFieldAdapterString", span=statement.span
        )
    raise EplValidationError(
        f"Failed to resolve Json schema field adapter class: Could not load class by name '{adapter}', please check imports",
        span=statement.span, hint="declare the column as text and convert it in the statement",
    )


def class_properties(
    body: CreateSchema, statement: Statement, catalog: Catalog, declared: Mapping[str, Property]
) -> Mapping[str, Property]:
    """Return the properties of a JSON type with ``@JsonSchema(className='…')``: those of the registered class, whatever columns say.

    Without the annotation, and for a class whose properties are not known, they are the declared ones.
    """
    written = _class_name(statement)
    if written is None:
        return declared
    provided = _json_class(written, statement, catalog)
    if body.inherits:
        raise EplValidationError("Specifying a supertype is not supported with a provided JSON event class", span=statement.span)
    if is_dynamic(statement):
        raise EplValidationError("The dynamic flag is not supported when used with a provided JSON event class", span=statement.span)
    if provided.any_type:
        if not declared:
            raise EplUnsupportedError(
                f"The properties of class '{written}' are not known, and JSON events of it have no columns",
                span=statement.span, hint="register the class with its properties, or list the columns in create json schema",
            )
        return declared
    for name, column in declared.items():
        field = provided.properties.get(name)
        if field is None:
            raise EplValidationError(f"Failed to find public field '{name}' on class '{written}'", span=statement.span)
        if field.type.boxed != column.type.boxed:
            raise EplValidationError(
                f"Public field '{name}' of class '{written}' declared as type '{field.type}' cannot receive a value of type "
                f"'{column.type.boxed}'",
                span=statement.span,
            )
    return {name: Property(name, field.type) for name, field in provided.properties.items()}


def is_dynamic(statement: Statement) -> bool:
    """Return whether ``@JsonSchema(dynamic=true)`` is written: names that are not declared are kept."""
    annotation = statement.annotation("JsonSchema")
    return bool(annotation and annotation.get("dynamic"))


def _class_name(statement: Statement) -> str | None:
    annotation = next((a for a in statement.annotations if a.name.lower() == "jsonschema"), None)
    written = None if annotation is None else annotation.get("className") or annotation.get("classname")
    return None if written is None else _text(written)


def _json_class(name: str, statement: Statement, catalog: Catalog) -> EventType:
    provided = find_event_type(name, catalog.event_types)
    if provided is None and name.startswith("java."):
        raise EplUnsupportedError(
            f"JSON events of Java's class {name} are not supported", span=statement.span, hint="list the columns in create json schema"
        )
    if provided is None or provided.kind != "bean":
        raise EplValidationError(
            f"Failed to resolve JSON event class '{name}': Could not load class by name '{name}', please check imports",
            span=statement.span, hint="register a Python class of that name with Runtime.register, or list the columns",
        )
    return provided


__all__ = ["check_json_columns", "class_properties", "is_dynamic"]
