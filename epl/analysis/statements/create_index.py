"""create index: the window or table, the columns, and what they may be."""
from __future__ import annotations

from collections.abc import Collection

import attrs

from epl.analysis.expressions.bind import bind_in_clause, column_name
from epl.analysis.expressions.context_values import check_store
from epl.analysis.expressions.conversions import type_name
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.expressions.spatial import as_coordinate
from epl.analysis.lookups.conditions import HASHED, SORTED, scalar_kind
from epl.analysis.statements.subquery_numbers import has_subqueries
from epl.catalog import Catalog
from epl.errors import AlreadyDeclaredError, EplUnsupportedError, EplValidationError
from epl.functions.spatial import METHODS
from epl.plan.expressions import (
    DynamicProperty,
    Element,
    MapValue,
    Parameter,
    Previous,
    Prior,
    PropertyOf,
    StreamEvent,
    StreamProperty,
    TypedExpression,
    VariableValue,
)
from epl.plan.join.lookups import IndexPlan, NamedIndex, Region
from epl.plan.stores.indexes import CreateIndexPlan
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow
from epl.syntax import Call, Chain, CreateIndex, Expression, IndexColumn, Name, Statement
from epl.value_types import INT, NUMBER, is_numeric

KINDS = ("hash", "btree")
REGIONS = {method.index: ("x", "y", "width", "height")[: method.coordinates] for method in METHODS}
"""Kinds of spatial indexes, and what their columns provide."""
PARAMETERS = ("xMin", "yMin", "width", "height", "leafCapacity", "maxTreeHeight")
NUMBERS = len(REGIONS["mxcifquadtree"])
"""How many of the parameters must be given; those that follow are whole."""
COLUMN = "create-index index-column"
NOT_PLAIN = "Aggregation, sub-select, previous or prior functions are not supported in this context"


def analyse_create_index(statement: Statement, catalog: Catalog, name: str) -> CreateIndexPlan:
    """Return the plan of the index, which look-ups of statements that follow may use."""
    body = statement.body
    assert isinstance(body, CreateIndex)
    store = catalog.named_windows.get(body.target) or catalog.tables.get(body.target)
    if store is None:
        raise EplValidationError(f"A named window or table by name '{body.target}' does not exist", span=body.span)
    check_store(store, catalog, body.span, same=True)
    if isinstance(store, Table) and not store.keys:
        raise EplValidationError("Tables without primary key column(s) do not allow creating an index", span=body.span)
    scope = Scope(
        catalog, (ScopeStream(None, store.event_type, has_window=True),), clause=COLUMN, declarations=statement.declarations,
        aggregation_refusal="Aggregation functions may not be used within create-index")
    index = _Columns(body, scope, store).index()
    _check_new(index, body, catalog)
    return CreateIndexPlan(output_type=store.event_type, index=index)


def _check_new(index: NamedIndex, body: CreateIndex, catalog: Catalog) -> None:
    if index.key in catalog.indexes or (isinstance(index.store, Table) and index.name == index.store.name):
        raise AlreadyDeclaredError(f"An index by name '{index.name}' already exists", "index", index.name, span=body.span)
    others = [other.columns for other in catalog.store_indexes(index.store)]
    if isinstance(index.store, Table):
        others.append(("unique", *(key.name for key in index.store.keys), "btree"))
    if index.columns in others:
        raise EplValidationError("An index for the same columns already exists", span=body.span)


class _Columns:
    """The columns of one statement, bound to the rows of a window or table."""

    def __init__(self, body: CreateIndex, scope: Scope, store: NamedWindow | Table) -> None:
        self._body = body
        self._scope = scope
        self._store = store
        names: Collection[str] = store.event_type.properties
        if isinstance(store, Table):
            names = {column.name for column in store.columns if column.aggregation is None}
        self._names = names

    def index(self) -> NamedIndex:
        body = self._body
        for column in body.columns:
            self._check_kind(column)
        if any(_kind(column) not in KINDS for column in body.columns):
            return self._spatial()
        hashed: dict[str, TypedExpression] = {}
        ranges: dict[str, TypedExpression] = {}
        for column in body.columns:
            text, key = self._property(column)
            if text in hashed or text in ranges:
                raise EplValidationError(f"Property named '{text}' has been declared more then once", span=column.span)
            (ranges if _kind(column) == "btree" else hashed)[text] = key
        if body.unique and ranges:
            raise EplValidationError("Combination of unique index with btree (range) is not supported", span=body.span)
        plan = IndexPlan(hash=tuple(hashed.values()), ranges=tuple(ranges.values())[:1], unique=body.unique)
        columns = ("unique" if body.unique else "", *hashed, "btree", *ranges)
        return NamedIndex(name=body.name, store=self._store, plan=plan, columns=columns, ranges=tuple(ranges.values()))

    def _check_kind(self, column: IndexColumn) -> None:
        kind = _kind(column)
        if kind in REGIONS:
            return
        if kind not in KINDS:
            raise EplValidationError(f"Unrecognized advanced-type index '{column.kind}'", span=column.span)
        if not column.expressions:
            raise EplValidationError("Invalid empty list of index expressions", span=column.span)
        if len(column.expressions) > 1:
            raise EplValidationError(f"Invalid multiple index expressions for index type '{kind}'", span=column.span)

    # ------------------------------------------------------------------ hash and btree

    def _property(self, column: IndexColumn) -> tuple[str, TypedExpression]:
        """Return a column's text and its value: Esper has properties of the row alone, an element or a mapped value among them."""
        written = column.expressions[0]
        text = column_name(written, self._scope)
        if not isinstance(written, Chain) or written.root is not None or any(isinstance(each, (Name, Call)) for each in written.links[1:]):
            raise _no_property(text, written)
        link = written.links[0]
        if isinstance(link, Name) and link.name not in self._names:
            if link.name in self._scope.catalog.variables:
                raise _no_property(text, written)
            raise EplValidationError(f"Property named '{link.name}' not found", span=written.span)
        if has_subqueries(written):
            raise _no_property(text, written)
        try:
            key = bind_in_clause(written, self._scope)
        except EplValidationError:
            raise _no_property(text, written) from None
        if not isinstance(key, (StreamProperty, PropertyOf, Element, MapValue, DynamicProperty)) or key.streams != {0}:
            raise _no_property(text, written)
        self._check_type(key, column)
        return text, key

    def _check_type(self, key: TypedExpression, column: IndexColumn) -> None:
        kind = scalar_kind(key)
        if _kind(column) == "btree" and kind not in SORTED:
            raise EplUnsupportedError(
                f"An index of type 'btree' over values of type '{type_name(key.type)}' is not supported", span=column.span)
        if self._body.unique and kind not in HASHED:
            raise EplUnsupportedError(f"A unique index over values of type '{type_name(key.type)}' is not supported", span=column.span)

    # ------------------------------------------------------------------ spatial

    def _spatial(self) -> NamedIndex:
        body = self._body
        if any(_kind(column) in KINDS for column in body.columns):
            raise EplValidationError("Combination of hash/btree columns an advanced-type indexes is not supported", span=body.span)
        if len(body.columns) > 1:
            raise EplValidationError("Nested advanced-type indexes are not supported", span=body.span)
        column = body.columns[0]
        kind = _kind(column)
        provides = REGIONS[kind]
        if len(column.expressions) != len(provides):
            raise EplValidationError(
                f"Index of type '{kind}' requires {len(provides)} expressions as index columns but received {len(column.expressions)}",
                span=column.span)
        keys = [
            self._coordinate(written, f"Index of type '{kind}' for column {at} that is providing {provides[at]}-values")
            for at, written in enumerate(column.expressions)]
        if any(not self._reads_property(key) for key in keys):
            raise EplValidationError("Failed to find indexed property", span=column.span)
        region = Region(kind=kind, parameters=self._parameters(kind, column))  # type: ignore[arg-type]
        plan = IndexPlan(space=tuple(keys), region=region, unique=body.unique)
        texts = (column_name(written, self._scope) for written in column.expressions)
        return NamedIndex(name=body.name, store=self._store, plan=plan, columns=("unique" if body.unique else "", kind, *texts))

    def _coordinate(self, written: Expression, what: str) -> TypedExpression:
        text = column_name(written, self._scope)
        if has_subqueries(written):
            raise EplValidationError(f"Invalid {COLUMN} expression '{text}': {NOT_PLAIN}", span=written.span)
        try:
            value = bind_in_clause(written, self._scope)
        except EplValidationError as refusal:
            if self._scope.aggregation_refusal not in refusal.message:
                raise
            raise EplValidationError(f"Invalid {COLUMN} expression '{text}': {NOT_PLAIN}", span=written.span) from None
        if any(isinstance(node, (Previous, Prior)) for node in value.walk()):
            raise EplValidationError(f"Invalid {COLUMN} expression '{text}': {NOT_PLAIN}", span=written.span)
        if any(isinstance(node, (VariableValue, Parameter)) for node in value.walk()):
            raise EplUnsupportedError("A spatial index over variables or parameters is not supported", span=written.span)
        if not is_numeric(value.type) or value.type == NUMBER:
            raise EplValidationError(f"{what} expecting type Number but received type {type_name(value.type)}", span=written.span)
        return as_coordinate(value)

    def _reads_property(self, key: TypedExpression) -> bool:
        """Return whether it reads properties, none of them an aggregation of a table."""
        read = [node for node in key.walk() if isinstance(node, (StreamProperty, StreamEvent))]
        return bool(read) and all(isinstance(node, StreamEvent) or node.name in self._names for node in read)

    def _parameters(self, kind: str, column: IndexColumn) -> tuple[TypedExpression, ...]:
        arguments = column.arguments
        if not NUMBERS <= len(arguments) <= len(PARAMETERS):
            raise EplValidationError(
                f"Index of type '{kind}' requires at least {NUMBERS} parameters but received {len(arguments)}", span=column.span)
        scope = attrs.evolve(self._scope, clause="create-index index-parameter")
        parameters = []
        for at, written in enumerate(arguments):
            value = bind_in_clause(written, scope)
            if value.streams:
                raise EplValidationError("Index parameters may not refer to event properties", span=written.span)
            if any(isinstance(node, (VariableValue, Parameter)) for node in value.walk()):
                raise EplUnsupportedError("Index parameters with variables are not supported", span=written.span)
            whole = at >= NUMBERS
            if not is_numeric(value.type) or value.type == NUMBER or (whole and scalar_kind(value) != INT.kind):
                raise EplValidationError(
                    f"Index of type '{kind}' for parameter {at} that is providing {PARAMETERS[at]}-values expecting type "
                    f"{'Integer' if whole else 'Number'} but received type {type_name(value.type.boxed)}", span=written.span)
            parameters.append(value if whole else as_coordinate(value))
        return tuple(parameters)


def _kind(column: IndexColumn) -> str:
    return (column.kind or "hash").lower()


def _no_property(text: str, written: Expression) -> EplValidationError:
    return EplValidationError(f"Invalid index expression '{text}'", span=written.span)


__all__ = ["analyse_create_index"]
