"""create json schema: which columns JSON text can be read into, and what annotations say about them."""
from __future__ import annotations

from collections.abc import Mapping

from epl.analysis.names.type_names import find_event_type
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.event_types import EventOf, Property
from epl.syntax import Annotation, CreateSchema, Statement
from epl.value_types import CALENDAR, ArrayType, ClassType, CollectionType, ValueType

READABLE_CLASSES = ("UUID", "URL", "URI")
"""Java classes that have no type of their own here and that JSON holds as text."""
NESTED_KINDS = ("json", "map", "bean")


def check_json_columns(body: CreateSchema, statement: Statement, catalog: Catalog, properties: Mapping[str, Property]) -> None:
    """Refuse what Esper's JSON types refuse, in its words; adapters and provided classes are Java code, so they are refused as well."""
    for annotation in statement.annotations:
        if annotation.name.lower() == "jsonschemafield":
            _refuse_adapter(annotation, statement)
        elif annotation.name.lower() == "jsonschema":
            _check_provided(annotation, statement, catalog)
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
    """An annotation's value: a string, or a name as it is written."""
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


def _check_provided(annotation: Annotation, statement: Statement, catalog: Catalog) -> None:
    provided = annotation.get("className") or annotation.get("classname")
    if provided is None:
        return
    name = _text(provided)
    if find_event_type(name, catalog.event_types) is None and not name.startswith("java."):
        raise EplValidationError(
            f"Failed to resolve JSON event class '{name}': Could not load class by name '{name}', please check imports", span=statement.span
        )
    raise EplUnsupportedError(
        "JSON events of a provided class are not supported", span=statement.span, hint="declare the columns in create json schema"
    )


__all__ = ["check_json_columns"]
