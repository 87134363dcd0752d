"""Types of values, with Java's names, as Esper reports them: ``int`` is the primitive that is never null, ``Integer`` the boxed one.

How values of each type look in Python:

============================  =============================================================
byte short int long           int (in range; arithmetic wraps as Java's does, see epl.java)
BigInteger                    int
float double                  float (a float is rounded to 32 bits)
BigDecimal                    decimal.Decimal
boolean / String / char       bool / str / str of length 1
Date                          datetime.datetime, aware, UTC
Calendar, ZonedDateTime       datetime.datetime, aware
LocalDateTime / LocalDate / LocalTime   naive datetime.datetime / date / time
arrays, List, Collection, Set list (hash keys are tuples, never these)
Map                           dict
enum                          str, the constant's name
event                         windows.event.Event
Object, unknown classes       any of these
============================  =============================================================
"""
from __future__ import annotations

import attrs


@attrs.frozen
class ValueType:
    """The type of an expression's value."""

    @property
    def boxed(self) -> ValueType:
        """The type that may be null."""
        return self

    @property
    def nullable(self) -> bool:
        return True


BOXED_NAMES = {
    "boolean": "Boolean", "byte": "Byte", "short": "Short", "int": "Integer", "long": "Long",
    "float": "Float", "double": "Double", "char": "Character",
}


@attrs.frozen
class Scalar(ValueType):
    """A single value. ``kind`` is the primitive's name where there is one: Scalar("int", primitive=False) is Integer.

    Kinds: boolean byte short int long float double char String BigInteger BigDecimal Date Calendar LocalDateTime LocalDate
    LocalTime ZonedDateTime OffsetDateTime Number Object null, and ``Void`` for what gives nothing.
    """

    kind: str
    primitive: bool = False

    @property
    def boxed(self) -> Scalar:
        return Scalar(self.kind) if self.primitive else self

    @property
    def nullable(self) -> bool:
        return not self.primitive

    def __str__(self) -> str:
        return self.kind if self.primitive else BOXED_NAMES.get(self.kind, self.kind)


@attrs.frozen
class ArrayType(ValueType):
    """``raw``: Esper has its events as the objects that they were created from, not as events of a type: that shows where those are arrays.
    """

    element: ValueType
    raw: bool = attrs.field(default=False, eq=False, repr=False)

    def __str__(self) -> str:
        return f"{self.element}[]"


@attrs.frozen
class CollectionType(ValueType):
    """``kind``: Collection, List, Set, Iterable … as declared; ``element`` is Object where no parameter is given."""

    element: ValueType
    kind: str = "Collection"

    def __str__(self) -> str:
        return self.kind if self.element == OBJECT else f"{self.kind}<{self.element}>"


@attrs.frozen
class MapType(ValueType):
    """``nested``: its keys are read as properties (``map.key.other``), which are not declared one by one."""

    key: ValueType
    value: ValueType
    nested: bool = False

    def __str__(self) -> str:
        return "Map" if self.key == self.value == OBJECT else f"Map<{self.key},{self.value}>"


@attrs.frozen
class EnumType(ValueType):
    """A Java enum; its values are the constants' names."""

    name: str
    constants: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


@attrs.frozen
class ClassType(ValueType):
    """A class that is known by name only: values are opaque."""

    name: str

    def __str__(self) -> str:
        return self.name


def primitive(kind: str) -> Scalar:
    return Scalar(kind, primitive=True)


BOOLEAN, BYTE, SHORT, INT, LONG = (primitive(k) for k in ("boolean", "byte", "short", "int", "long"))
FLOAT, DOUBLE, CHAR = (primitive(k) for k in ("float", "double", "char"))
BOXED_BOOLEAN, BOXED_INT, BOXED_LONG = BOOLEAN.boxed, INT.boxed, LONG.boxed
BOXED_FLOAT, BOXED_DOUBLE, BOXED_CHAR = FLOAT.boxed, DOUBLE.boxed, CHAR.boxed
BOXED_BYTE, BOXED_SHORT = BYTE.boxed, SHORT.boxed
STRING, BIG_INTEGER, BIG_DECIMAL = Scalar("String"), Scalar("BigInteger"), Scalar("BigDecimal")
DATE, CALENDAR, ZONED_DATE_TIME = Scalar("Date"), Scalar("Calendar"), Scalar("ZonedDateTime")
LOCAL_DATE_TIME, LOCAL_DATE, LOCAL_TIME = Scalar("LocalDateTime"), Scalar("LocalDate"), Scalar("LocalTime")
OFFSET_DATE_TIME = Scalar("OffsetDateTime")
NUMBER, OBJECT, NULL = Scalar("Number"), Scalar("Object"), Scalar("null")

PRIMITIVE_KINDS = frozenset(BOXED_NAMES)
SCALAR_KINDS = PRIMITIVE_KINDS | {
    "String", "BigInteger", "BigDecimal", "Date", "Calendar", "LocalDateTime", "LocalDate", "LocalTime", "ZonedDateTime", "OffsetDateTime",
    "Number", "Object", "null", "Void", "CharSequence", "Comparable", "TimePeriod",
}
"""All kinds of ``Scalar``."""

INTEGRAL_KINDS = ("byte", "short", "int", "long", "BigInteger")
NUMERIC_KINDS = (*INTEGRAL_KINDS, "float", "double", "BigDecimal", "Number")


def is_numeric(value_type: ValueType) -> bool:
    """Return whether Java sees a number: char is none."""
    return isinstance(value_type, Scalar) and value_type.kind in NUMERIC_KINDS


def is_boolean(value_type: ValueType) -> bool:
    return isinstance(value_type, Scalar) and value_type.kind == "boolean"


def is_null(value_type: ValueType) -> bool:
    return value_type == NULL


NAMED: dict[str, ValueType] = {
    "boolean": BOOLEAN, "bool": BOOLEAN, "byte": BYTE, "short": SHORT, "int": INT, "integer": INT, "long": LONG,
    "float": FLOAT, "double": DOUBLE, "char": CHAR, "character": CHAR, "string": STRING, "varchar": STRING, "varchar2": STRING,
    "biginteger": BIG_INTEGER, "bigint": BIG_INTEGER, "bigdecimal": BIG_DECIMAL, "decimal": BIG_DECIMAL,
    "date": DATE, "java.util.date": DATE, "calendar": CALENDAR, "java.util.calendar": CALENDAR,
    "localdatetime": LOCAL_DATE_TIME, "localdate": LOCAL_DATE, "localtime": LOCAL_TIME, "zoneddatetime": ZONED_DATE_TIME,
    "offsetdatetime": OFFSET_DATE_TIME, "object": OBJECT, "number": NUMBER, "null": NULL,
}


def find_type(name: str) -> ValueType | None:
    """Return the type that a simple or full Java name stands for (``int``, ``java.lang.Integer``, ``BigDecimal``), or None.

    Names of ``create schema`` columns are boxed by the caller where Esper boxes them; ``java.lang.`` names are boxed here.
    """
    lower = name.lower()
    for prefix in ("java.lang.", "java.math.", "java.time.", "java.util."):
        if lower.startswith(prefix):
            value_type = NAMED.get(lower.removeprefix(prefix))
            return value_type.boxed if value_type else None
    value_type = NAMED.get(lower)
    if value_type is not None and name in BOXED_NAMES.values():
        return value_type.boxed
    return value_type
