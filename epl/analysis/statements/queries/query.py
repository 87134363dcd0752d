"""A query's text → its plan."""
from __future__ import annotations

import attrs

from epl.analysis.context.statements import context_named
from epl.analysis.statements.annotations import check_annotations
from epl.analysis.statements.as_written import refuse_as_written
from epl.analysis.statements.queries.changes import analyse_delete_query, analyse_insert_query, analyse_update_query
from epl.analysis.statements.queries.parts import check_sources, check_subqueries, is_indexed, stream_store
from epl.analysis.statements.queries.selects import analyse_select_query
from epl.analysis.statements.subquery_numbers import number_subqueries
from epl.analysis.statements.substitution_parameters import number_parameters, parameter_types
from epl.catalog import Catalog
from epl.errors import EplError, EplUnsupportedError, EplValidationError
from epl.plan.context.contexts import Context, store_context
from epl.plan.expressions import ContextValue, Parameter
from epl.plan.join.subqueries import distinct_subqueries
from epl.plan.statements import BodyPlan
from epl.plan.stores.queries import DeleteQueryPlan, InsertQueryPlan, QueryPlan, SelectQueryPlan, UpdateQueryPlan
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow
from epl.plan.walk import plan_expressions
from epl.syntax import FafDelete, FafUpdate, InsertValues, Select, Statement


def analyse_query(statement: Statement, text: str, catalog: Catalog) -> QueryPlan:
    """Return the plan. Raise EplError with the text and the position of the fault; the catalog is not changed."""
    try:
        return _analyse(statement, text, catalog)
    except EplError as error:
        error.span = error.span or statement.body.span or statement.span
        raise error.within(text).public() from error.__cause__


def _analyse(statement: Statement, text: str, catalog: Catalog) -> QueryPlan:
    check_annotations(statement, catalog)
    context = context_named(statement, catalog)
    catalog = attrs.evolve(catalog, statement_context=context, for_query=True)
    if statement.classes:
        raise EplUnsupportedError("Inlined classes are not supported", span=statement.span, hint="register a Python function instead")
    statement = number_subqueries(number_parameters(statement))
    refuse_as_written(statement, catalog)
    check_sources(statement, catalog)
    body = _body(statement, catalog)
    _check_context(statement, body, context)
    body = attrs.evolve(body, subqueries=distinct_subqueries(body))
    check_subqueries(body.subqueries, statement.body.span)
    parameters = parameter_types(n for e in plan_expressions(body) for n in e.walk() if isinstance(n, Parameter))
    indexed = tuple(each for each in body.subqueries if is_indexed(each, catalog))
    return QueryPlan(body=body, text=text, parameters=tuple(parameters.items()), indexed=indexed, context=context)


def _check_context(statement: Statement, body: BodyPlan, context: Context | None) -> None:
    """Refuse joins of what contexts have in partitions, and properties of another context than that of the rows."""
    stores = _stores(body)
    if isinstance(body, SelectQueryPlan) and len(body.streams) > 1:
        if context is not None:
            raise EplValidationError("Joins in runtime queries for context partitions are not supported", span=statement.body.span)
        if any(store_context(store) is not None for store in stores):
            raise EplValidationError("Joins against named windows that are under context are not supported", span=statement.body.span)
    for store in stores:
        own = store_context(store)
        if own is not context and context is not None and own is not None and any(
                isinstance(node, ContextValue) for expression in plan_expressions(body) for node in expression.walk()):
            raise EplUnsupportedError(
                f"A query of context '{context.name}' reads properties of its partitions, and '{store.name}' is of context '{own.name}'",
                span=statement.body.span, hint=f"write context {own.name}")


def _stores(body: BodyPlan) -> list[NamedWindow | Table]:
    if isinstance(body, SelectQueryPlan):
        return [store for stream in body.streams if (store := stream_store(stream)) is not None]
    assert isinstance(body, (InsertQueryPlan, UpdateQueryPlan, DeleteQueryPlan))
    return [body.store]


def _body(statement: Statement, catalog: Catalog) -> BodyPlan:
    body = statement.body
    if isinstance(body, InsertValues) or (isinstance(body, Select) and body.insert_into is not None):
        return analyse_insert_query(statement, body, catalog)
    if isinstance(body, FafUpdate):
        return analyse_update_query(statement, body, catalog)
    if isinstance(body, FafDelete):
        return analyse_delete_query(statement, body, catalog)
    assert isinstance(body, Select)
    return analyse_select_query(statement, body, catalog)


__all__ = ["analyse_query"]
