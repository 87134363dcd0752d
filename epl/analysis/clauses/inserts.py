"""insert into: which type the output becomes, and how a row fills it."""
from __future__ import annotations

import attrs

from epl.analysis.clauses.assignments import is_struct, is_untyped
from epl.analysis.clauses.precedence import bind_precedence
from epl.analysis.expressions.context_values import check_store
from epl.analysis.expressions.conversions import type_name
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventOf, EventType, Property
from epl.plan.expressions import StreamEvent, SubqueryValue, TypedExpression
from epl.plan.result_set import StreamSelector
from epl.plan.statements import InsertPlan
from epl.plan.stores.tables import Table
from epl.syntax import InsertInto, Select, Wildcard
from epl.value_types import NULL, OBJECT, STRING, ArrayType, CollectionType, MapType, Scalar, ValueType, is_null, is_numeric

PAIR = "com.espertech.esper.common.internal.collection.Pair"
UNTYPED = ("map", "objectarray")
COPIED = frozenset({"map", "row", "objectarray", "json"})
"""The kinds of types whose events become others property by property."""
WIDENING = ("byte", "short", "int", "long", "float", "double")


def insert_columns(select: Select, row_type: EventType, wild: bool) -> tuple[str, ...]:
    """Return the names that the row's columns have for the target; ``wild``: a wildcard is selected."""
    clause = select.insert_into
    assert clause is not None
    if not clause.columns:
        return row_type.names
    if any(isinstance(i.expression, Wildcard) for i in select.items):
        raise EplValidationError("Wildcard not allowed when insert-into specifies column order", span=clause.span)
    seen: set[str] = set()
    for column in clause.columns:
        if column in seen:
            raise EplValidationError(f"Property name '{column}' appears more then once in insert-into clause", span=clause.span)
        seen.add(column)
    if wild or len(clause.columns) != len(select.items):
        raise EplValidationError(
            "Number of supplied values in the select or values clause does not match insert-into clause", span=clause.span
        )
    return clause.columns


def is_whole(select: Select) -> bool:
    """Return whether events are inserted as they are, ``select *``; ``select s.*`` gives the properties that their type declares."""
    return len(select.items) == 1 and isinstance(select.items[0].expression, Wildcard)


def plan_insert(
    clause: InsertInto, row_type: EventType, columns: tuple[str, ...], catalog: Catalog, *, own_event: bool,
    expressions: tuple[TypedExpression, ...] = (), wild: bool | None = None, whole: bool = False,
) -> InsertPlan:
    """Do as ``_plan``, with the event-precedence. ``expressions``: the columns' own, where there are any; ``wild``: whether a
    wildcard of one stream is selected; None where that is not known."""
    if any(map(is_untyped, expressions)) and (clause.target in catalog.tables or clause.target in catalog.event_types):
        anything = {name: Property(name, NULL) for name, each in zip(row_type.names, expressions) if is_untyped(each)}
        row_type = attrs.evolve(row_type, properties={**row_type.properties, **anything})
    table = catalog.tables.get(clause.target)
    if table is not None:
        check_store(table, catalog, clause.span, same=True)
        return _plan_rows(clause, row_type, columns, table, own_event=own_event)
    _refuse_event_for_array(clause, columns, catalog.event_types.get(clause.target), expressions)
    plan = _plan_inner_event(clause, row_type, columns, catalog)
    if wild is False and (plan is None or plan.target.underlying != PAIR):
        _refuse_columns(clause, catalog.event_types.get(clause.target))
    if plan is None:
        rows = frozenset(name for name, expression in zip(columns, expressions) if isinstance(expression, SubqueryValue))
        plan = _plan(clause, row_type, columns, catalog, own_event=own_event, wraps=wild is True, whole=whole, rows=rows)
    return attrs.evolve(plan, precedence=bind_precedence(clause, plan.target, catalog))


def _refuse_columns(clause: InsertInto, target: EventType | None) -> None:
    """Refuse columns for a stream that holds whole events, for which another insert into declared it."""
    if target is not None and target.underlying is not None:
        raise EplValidationError(
            f"{_head(target)}Type by name '{target.name}' is not a compatible type (target type underlying is '{target.underlying}')",
            span=clause.span)


def _underlying(row_type: EventType, own_event: bool) -> str:
    """Return what Esper calls the objects of a stream of whole events; decorated events are pairs."""
    if not own_event:
        return PAIR
    names = {"objectarray": "[Ljava.lang.Object;", "json": f"generated.{row_type.name}", "bean": row_type.name}
    return names.get(row_type.kind, "java.util.Map")


def _plan_rows(
    clause: InsertInto, row_type: EventType, columns: tuple[str, ...], table: Table, *, own_event: bool
) -> InsertPlan:
    """Return how events become rows of a table: its columns that hold values are filled."""
    if clause.precedence is not None:
        raise EplValidationError("Event-precedence is not allowed when inserting into a table", span=clause.span)
    plan = _populate(clause, table.plain_type, row_type, columns, clause.stream or "istream", own_event, lenient=own_event)
    return attrs.evolve(plan, table=table)


def _supertypes(row_type: EventType) -> tuple[EventType, ...]:
    """Return what a stream of another stream's events inherits: the super classes of a class, but not the types that a schema inherits."""
    return row_type.supertypes if row_type.kind == "bean" else ()


def _plan(
    clause: InsertInto, row_type: EventType, columns: tuple[str, ...], catalog: Catalog, *, own_event: bool, wraps: bool,
    whole: bool, rows: frozenset[str] = frozenset(),
) -> InsertPlan:
    """Return how rows of ``row_type`` become events of the target.

    ``columns``: the names the row's columns have for the target (the clause's column list, or their own). ``own_event``: rows are whole
    events of another stream (``select *``, ``select s.*``); ``whole``: by ``select *``; ``wraps``: these, or these with columns added, of
    one stream; ``rows``: the columns that are sub-queries. A target that does not exist yet takes over the row's columns.
    """
    stream = clause.stream or "istream"
    target = catalog.event_types.get(clause.target)
    if target is None:
        properties = {n: _rename_property(p, n) for n, p in zip(columns, row_type.properties.values())}
        target = EventType(clause.target, row_type.kind if own_event else "map", properties, _supertypes(row_type) if own_event else (),
                           row_type.start_timestamp, row_type.end_timestamp, open=own_event and row_type.open,
                           underlying=_underlying(row_type, own_event) if wraps else None)
        return InsertPlan(target=target, stream=stream, same=False, positions=tuple(range(len(columns))), converts=(None,) * len(columns),
                          whole=own_event)
    if target is row_type:
        return InsertPlan(target=target, stream=stream)
    if target.kind == "variant":
        return InsertPlan(target=_variant_target(target, row_type), stream=stream)
    if target.is_of_members and not row_type.is_of_members and (whole or not own_event):
        _refuse_columns(clause, target)
    kinds = {target.kind, row_type.kind}
    is_subtype = own_event and row_type.is_a(target)
    if is_subtype and not kinds <= COPIED:
        return InsertPlan(target=target, stream=stream)
    if not target.properties and all(is_null(prop.type) for prop in row_type.properties.values()):
        return InsertPlan(target=target, stream=stream, same=False)
    if not own_event and ((clause.target in catalog.named_windows and target.kind != "bean") or _nests_events(target)):
        _check_columns(clause, target, row_type, columns, rows)
    lenient = own_event and (kinds <= {"map", "row"} or clause.target in catalog.named_windows or not kinds <= COPIED)
    plan = _populate(clause, target, row_type, columns, stream, own_event, lenient=lenient or (is_subtype and not whole), rows=rows)
    return attrs.evolve(plan, whole=own_event and (whole or _declare_the_same(row_type, target)))


def _declare_the_same(row_type: EventType, target: EventType) -> bool:
    """Return whether an event of one type is one of the other as it is: then ``select s.*`` inserts it whole, too."""
    return {p.name: p.type for p in row_type.properties.values()} == {p.name: p.type for p in target.properties.values()}


def _check_columns(
    clause: InsertInto, target: EventType, row_type: EventType, columns: tuple[str, ...], rows: frozenset[str]
) -> None:
    """Refuse columns that are not of the very types of a named window's, or of a type that events are nested in: Esper widens no numbers
    there. ``rows``: the columns that are sub-queries."""
    for name, prop in zip(columns, row_type.properties.values()):
        declared, selected = target.property_type(name), prop.type
        problem = None
        if declared is None:
            problem = "property name not found in target"
        elif is_null(selected) or declared == OBJECT:
            continue
        elif isinstance(declared, Scalar) and declared.boxed != selected.boxed:
            problem = f"expected {declared.boxed} but receives {selected.boxed}"
        elif (nested := inner_event_type(declared)) is not None and not _brings_events(declared, selected, of_rows=name in rows):
            kind = "event type array" if isinstance(declared, ArrayType) else "event type"
            problem = f"expected {kind} '{nested.name}' but receives {_class_name(selected)}"
        if problem is not None:
            raise EplValidationError(f"{_head(target)}Type by name '{target.name}' in property '{name}' {problem}", span=clause.span)


def _class_name(selected: ValueType) -> str:
    """Return the type as Java names its class."""
    if isinstance(selected, ArrayType) and isinstance(selected.element, Scalar):
        return f"[L{_class_name(selected.element)};"
    name = "java.util.Map" if isinstance(selected, EventOf) else type_name(selected.boxed)
    if not isinstance(selected, Scalar) or "." in name:
        return name
    return f"java.{'math' if name.startswith('Big') else 'lang'}.{name}"


def _nests_events(target: EventType) -> bool:
    return target.kind in UNTYPED and any(inner_event_type(prop.type) is not None for prop in target.properties.values())


def inner_event_type(declared: ValueType) -> EventType | None:
    """Return the type of the event, or of the events of an array, that a property declares."""
    element = declared.element if isinstance(declared, ArrayType) else declared
    return element.event_type if isinstance(element, EventOf) else None


def _brings_events(declared: ValueType, selected: ValueType, *, of_rows: bool) -> bool:
    """Return whether a value may be events for a property that declares one or several."""
    if of_rows or isinstance(selected, EventOf):
        return not isinstance(selected, Scalar)
    several = isinstance(selected, (ArrayType, CollectionType))
    return several and isinstance(declared, ArrayType) and isinstance(selected.element, EventOf)  # type: ignore[attr-defined]


def _head(target: EventType) -> str:
    return f"Event type named '{target.name}' has already been declared with differing column name or type information: "


def _refuse_event_for_array(
    clause: InsertInto, columns: tuple[str, ...], target: EventType | None, expressions: tuple[TypedExpression, ...]
) -> None:
    """Refuse a stream's event for an array of events (the event that an aggregation gives does fill one)."""
    for name, expression in zip(columns, expressions):
        declared = None if target is None else target.property_type(name)
        if isinstance(expression, StreamEvent) and isinstance(declared, ArrayType) and isinstance(declared.element, EventOf):
            assert target is not None and isinstance(expression.type, EventOf)
            raise EplValidationError(
                f"{_head(target)}Type by name '{target.name}' in property '{name}' expected event type array "
                f"'{declared.element}' but receives event type '{expression.type}'",
                span=clause.span,
            )


def _plan_inner_event(clause: InsertInto, row_type: EventType, columns: tuple[str, ...], catalog: Catalog) -> InsertPlan | None:
    """Plan the insert of an only column that is an event of the type the target decorates: the event itself, undecorated."""
    target = catalog.event_types.get(clause.target)
    if target is None or len(columns) != 1 or columns[0] in target.properties:
        return None
    value_type = row_type.properties[row_type.names[0]].type if len(row_type.properties) == 1 else None
    if not isinstance(value_type, EventOf) or not value_type.event_type.properties:
        return None
    inner = value_type.event_type
    if all(target.property_type(p.name) == p.type for p in inner.properties.values()):
        return InsertPlan(target=target, stream=clause.stream or "istream", same=False, nested=0)
    return None


def _rename_property(prop: Property, name: str) -> Property:
    return prop if prop.name == name else attrs.evolve(prop, name=name)


def _variant_target(target: EventType, row_type: EventType) -> EventType:
    if not target.any_type and not any(row_type.is_a(m) for m in target.members):
        raise EplValidationError(f"Selected event type is not a valid event type of the variant stream '{target.name}'")
    return target


def _populate(
    clause: InsertInto, target: EventType, row_type: EventType, columns: tuple[str, ...], stream: StreamSelector, own_event: bool,
    *, lenient: bool, rows: frozenset[str] = frozenset(),
) -> InsertPlan:
    """``lenient``: properties of a whole event that the target does not have are left away."""
    positions: list[int | None] = [None] * len(target.properties)
    converts: list[ValueType | None] = [None] * len(target.properties)
    places = {name: i for i, name in enumerate(target.properties)}
    types = [p.type for p in row_type.properties.values()]
    for position, name in enumerate(columns):
        if name not in places:
            if lenient:
                continue
            what = "Event property" if own_event else "Column"
            raise EplValidationError(
                f"{what} '{name}' could not be assigned to any of the properties of the underlying type "
                "(missing column names, event property, setter method or constructor?)",
                span=clause.span,
            )
        place = places[name]
        declared = target.property_type(name)
        assert declared is not None
        of_rows = _of_rows(declared, types[position], clause) if name in rows else None
        converts[place] = of_rows or _assignable(name, declared, types[position], target, clause)
        positions[place] = position
    return InsertPlan(target=target, stream=stream, same=False, positions=tuple(positions), converts=tuple(converts))


def _of_rows(declared: ValueType, selected: ValueType, clause: InsertInto) -> ValueType | None:
    """Return the type to convert to where a sub-query's rows of several columns fill an array of events, else None."""
    if not isinstance(declared, ArrayType) or not isinstance(selected, (ArrayType, CollectionType)):
        return None
    return CollectionType(declared.element) if _of_struct(declared.element, selected.element, clause) else None


def _assignable(name: str, declared: ValueType, selected: ValueType, target: EventType, clause: InsertInto) -> ValueType | None:
    """Return the type to convert to (see InsertPlan), or None for as it is; refuses what does not fit."""
    if _of_struct(declared, selected, clause):
        return declared
    of_structs = isinstance(selected, (ArrayType, CollectionType)) and is_struct(selected.element)
    if of_structs and isinstance(declared, ArrayType) and isinstance(declared.element, EventOf):
        raise EplValidationError(_differing(name, declared, selected, target), span=clause.span)
    if selected == NULL or declared in (OBJECT, NULL) or declared.boxed == selected.boxed:
        return None
    if isinstance(declared, Scalar) and declared.kind == "char" and selected == STRING:
        return declared
    if isinstance(declared, Scalar) and isinstance(selected, Scalar) and is_numeric(declared) and is_numeric(selected):
        if declared.kind == "Number":
            return None
        if declared.kind in WIDENING and selected.kind in WIDENING and WIDENING.index(selected.kind) <= WIDENING.index(declared.kind):
            return declared
    elif isinstance(declared, ArrayType) and isinstance(declared.element, EventOf) and isinstance(selected, EventOf):
        if selected.event_type.is_a(declared.element.event_type):
            return declared
    elif isinstance(declared, ArrayType) and isinstance(selected, ArrayType):
        if _same_elements(name, declared.element, selected.element, clause):
            return None
    elif _goes_together(declared, selected):
        return None
    if _nests_events(target) and isinstance(declared, (EventOf, MapType, ArrayType)):
        raise EplValidationError(_differing(name, declared, selected, target), span=clause.span)
    raise EplValidationError(
        f"Invalid assignment of column '{name}' of type '{selected.boxed}' to event property '{name}' typed as '{declared}', "
        "column and parameter types mismatch",
        span=clause.span,
    )


def _goes_together(declared: ValueType, selected: ValueType) -> bool:
    """Return whether values that are no numbers, nor two arrays, are of one kind: maps and events, collections, two events of one type."""
    if isinstance(declared, Scalar) or isinstance(selected, Scalar):
        return False
    if isinstance(declared, EventOf) and isinstance(selected, EventOf):
        return selected.event_type.is_a(declared.event_type)
    if isinstance(declared, ArrayType):
        return isinstance(selected, CollectionType) and inner_event_type(declared) is not None
    if isinstance(declared, MapType):
        return isinstance(selected, (MapType, EventOf))
    if isinstance(declared, CollectionType):
        return isinstance(selected, CollectionType) and declared.kind in (selected.kind, "Collection", "Iterable")
    return True


def _of_struct(declared: ValueType, selected: ValueType, clause: InsertInto) -> bool:
    """Return whether ``new {…}`` is given for an event, or for an array of one event; refuses properties that do not fit."""
    element = declared.element if isinstance(declared, ArrayType) else declared
    if not isinstance(element, EventOf) or not isinstance(selected, EventOf) or not is_struct(selected):
        return False
    target = element.event_type
    for prop in selected.event_type.properties.values():
        expected = target.property_type(prop.name)
        if expected is None or isinstance(expected, EventOf) or (isinstance(expected, ArrayType) and isinstance(expected.element, EventOf)):
            raise EplValidationError(
                f"Failed to find property '{prop.name}' among properties for target event type '{target.name}'", span=clause.span
            )
        _assignable(prop.name, expected, prop.type, target, clause)
    return True


def _same_elements(name: str, declared: ValueType, selected: ValueType, clause: InsertInto) -> bool:
    """Return whether an array fits an array: events must be of the very type."""
    if isinstance(declared, EventOf) and isinstance(selected, EventOf):
        if declared.event_type is selected.event_type:
            return True
        raise EplValidationError(
            f"Incompatible type detected attempting to insert into column '{name}' type '{declared}' "
            f"compared to selected type '{selected}'",
            span=clause.span,
        )
    if OBJECT in (declared, selected) or selected == NULL or declared.boxed == selected.boxed:
        return True
    return not isinstance(declared, Scalar) and not isinstance(selected, Scalar)


def _differing(name: str, declared: EventOf | MapType | ArrayType, selected: ValueType, target: EventType) -> str:
    """Esper's words where a column of a map or object-array type does not fit."""
    head = f"{_head(target)}Type by name "
    if not isinstance(declared, EventOf):
        expected = "java.util.Map" if isinstance(declared, MapType) else str(declared)
        if isinstance(declared, ArrayType) and isinstance(declared.element, EventOf) and not isinstance(selected, EventOf):
            expected = f"event type array '{declared.element}'"
        return f"{head}'{target.name}' in property '{name}' expected {expected} but receives {selected.boxed}"
    return f"{head}'{target.name}' in property '{name}' expected event type '{declared}' but receives {_class_name(selected)}"
