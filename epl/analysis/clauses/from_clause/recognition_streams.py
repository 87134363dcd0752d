"""``from Type match_recognize (…)`` of a SQL dialect → the plan of a stream of its rows."""
from __future__ import annotations

import attrs

from epl.analysis.clauses.from_clause.row_order import order_policy
from epl.dialects import types as k
from epl.dialects.errors import DialectError, DialectUnsupported
from epl.dialects.plans import Plan, RecognitionPlan, SqlTablePlan
from epl.dialects.queries import CLAUSES
from epl.dialects.scopes import SqlColumn
from epl.dialects.syntax import tree as t
from epl.dialects.syntax.lexis import DIALECTS
from epl.dialects.syntax.read_clause import read_clause
from epl.dialects.types import SqlType
from epl.errors import EplUnsupportedError
from epl.event_types import EventType, Property
from epl.plan.patterns.recognition_streams import RecognitionStreamPlan
from epl.plan.streams import FilterPlan, StreamPlan
from epl.settings import Settings
from epl.syntax import RecognitionSource
from epl.value_types import (
    BIG_DECIMAL,
    BIG_INTEGER,
    BOXED_BOOLEAN,
    BOXED_BYTE,
    BOXED_DOUBLE,
    BOXED_FLOAT,
    BOXED_INT,
    BOXED_LONG,
    BOXED_SHORT,
    LOCAL_DATE,
    LOCAL_DATE_TIME,
    OBJECT,
    STRING,
    ArrayType,
    EnumType,
    MapType,
    Scalar,
    ValueType,
)

SQL_TYPES: dict[str, SqlType] = {
    "boolean": k.BOOLEAN, "byte": k.TINYINT, "short": k.SMALLINT, "int": k.INTEGER, "long": k.BIGINT, "float": k.REAL, "double": k.DOUBLE,
    "char": k.VARCHAR, "String": k.VARCHAR, "BigInteger": k.decimal(38, 0), "BigDecimal": k.decimal(38, 10), "LocalDate": k.DATE,
    "LocalDateTime": k.TIMESTAMP, "Date": k.TIMESTAMP, "Calendar": k.TIMESTAMP, "ZonedDateTime": k.TIMESTAMP,
    "OffsetDateTime": k.TIMESTAMP,
}  # fmt: skip
"""Types of properties → types of columns."""
EPL_TYPES: dict[str, ValueType] = {
    "boolean": BOXED_BOOLEAN, "tinyint": BOXED_BYTE, "smallint": BOXED_SHORT, "integer": BOXED_INT, "bigint": BOXED_LONG,
    "real": BOXED_FLOAT, "double": BOXED_DOUBLE, "varchar": STRING, "char": STRING, "date": LOCAL_DATE, "timestamp": LOCAL_DATE_TIME,
    "decimal": BIG_DECIMAL,
}  # fmt: skip
CLOCKS = frozenset((
    "now", "current_timestamp", "localtimestamp", "current_date", "current_time", "localtime", "match_proctime", "random", "rand", "uuid",
))
"""Functions whose value is not the rows' alone: a match has to be the same after a restart."""
NOT_READ = {
    "a named window": "rows leave a window, and a match that was emitted cannot be taken back: read the stream that is inserted into it",
    "a table": "rows of a table change and have no order in time: Runtime.sql runs the clause over the rows that a query returns",
}
"""Why the clause does not read a source, by its title, and what to do."""
TIMES = ("timestamp", *k.INTEGERS)
"""Types that a stream's time may have; numbers are engine units."""


def sql_type(value_type: ValueType) -> SqlType | None:
    """Return the type of the column that a property is; None where it is no column."""
    if isinstance(value_type, Scalar):
        return SQL_TYPES.get(value_type.kind)
    if isinstance(value_type, EnumType):
        return k.VARCHAR
    if isinstance(value_type, ArrayType):
        element = sql_type(value_type.element)
        return None if element is None else k.array(element)
    return None


def epl_type(kind: SqlType) -> ValueType:
    """Return the type of the property that an output column is."""
    if kind.name == "decimal" and k.precision_and_scale(kind)[1] == 0:
        return BIG_INTEGER
    if kind.name in ("array", "map"):
        inner = [epl_type(each) if isinstance(each, SqlType) else OBJECT for each in kind.arguments]
        return ArrayType(inner[0]) if kind.name == "array" else MapType(inner[0], inner[1])
    return EPL_TYPES.get(kind.name, OBJECT)


def analyse_recognition(source: RecognitionSource, stream: StreamPlan, settings: Settings) -> RecognitionStreamPlan:
    """Return the plan of a clause over a stream."""
    if not isinstance(stream.source, (FilterPlan, RecognitionStreamPlan)):
        message = f"match_recognize in dialect '{source.dialect}' over {stream.source.title} is not supported"
        usual = "it reads the events of one type, or the rows of another clause; insert into brings others there"
        hint = NOT_READ.get(stream.source.title, usual)
        raise EplUnsupportedError(message, span=source.span, hint=hint)
    properties, columns = _columns(stream.event_type)
    streaming = attrs.evolve(DIALECTS[source.dialect], streaming=True)
    # read at its place in the text, so that errors have the positions of the module
    padding = " " * source.start
    tree = read_clause(padding + source.text, source.start, source.start + len(source.text), streaming, stream.event_type.name)
    for node in t.descendants(tree):
        if isinstance(node, t.Call) and node.is_plain and node.name in CLOCKS:
            words = f"{node.name.upper()} in match_recognize over a stream is not supported: it differs each time it is asked"
            raise DialectUnsupported(words, node.at, hint="select current_timestamp() around the clause is the engine's time")
    rows = SqlTablePlan(columns, stream.event_type.name)
    clause = CLAUSES[source.dialect](tree, rows, streaming, _no_queries).plan()
    _check(clause, tree, settings)
    return RecognitionStreamPlan(
        row_type=_row_type(clause, tree), input=stream, properties=properties, clause=clause, text=source.text, reason=source.reason,
        order=order_policy(settings))


def _no_queries(query: t.SqlQuery, boundary: object = None) -> Plan:
    raise DialectUnsupported("sub-queries in match_recognize over a stream are not supported", query.at)


def _columns(event_type: EventType) -> tuple[tuple[str, ...], tuple[SqlColumn, ...]]:
    """Return the properties that are columns, and the columns."""
    if event_type.any_type or event_type.kind == "variant":
        raise EplUnsupportedError(f"match_recognize of a SQL dialect over the variant stream '{event_type.name}' is not supported")
    typed = [(each.name, sql_type(each.whole_type)) for each in event_type.properties.values()]
    known = [(name, kind) for name, kind in typed if kind is not None]
    columns = tuple(SqlColumn(name, kind, event_type.name, is_time=kind.name in TIMES) for name, kind in known)
    return tuple(name for name, _ in known), columns


def _check(clause: RecognitionPlan, tree: t.RecognitionClause, settings: Settings) -> None:
    """Refuse what a stream does not have."""
    if clause.order:
        place, descending, _ = clause.order[0]
        kind = clause.input.columns[place].type if place < len(clause.input.columns) else clause.computed[-1].type
        at = tree.order_by[0].at
        if descending:
            raise DialectUnsupported("ORDER BY of a stream begins with its time, ascending", at)
        if kind.name not in TIMES:
            words = f"ORDER BY of a stream begins with its time, a timestamp or a whole number of engine units, not {kind}"
            raise DialectUnsupported(words, at)
    if clause.within is not None and clause.dialect == "ydb":
        assert tree.within is not None
        raise DialectError("SYNTAX_ERROR", "WITHIN is not in YDB's MATCH_RECOGNIZE", tree.within.at)


def _row_type(clause: RecognitionPlan, tree: t.RecognitionClause) -> EventType:
    properties: dict[str, Property] = {}
    for place, column in enumerate(clause.columns):
        name = column.name if column.name is not None else f"_col{place}"
        if name in properties:
            words = f"two output columns with the name '{name}' are not supported"
            raise DialectUnsupported(words, tree.at, hint="a stream's properties have names of their own")
        properties[name] = Property(name, epl_type(column.type))
    return EventType("match_recognize", "row", properties, is_bus=False)


__all__ = ["analyse_recognition", "epl_type", "sql_type"]
