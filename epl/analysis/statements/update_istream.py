"""update istream T set property = value, … where …: plan and refusals."""
from __future__ import annotations

import attrs

from epl.analysis.clauses.assignments import set_scope
from epl.analysis.clauses.from_clause.streams import analyse_stream
from epl.analysis.clauses.property_assignments import analyse_property_assignment
from epl.analysis.expressions.bind import StatementRefusal, bind_in_clause
from epl.analysis.expressions.table_access import refuse_tables
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.plan.stores.on_statements import UpdateIstreamPlan
from epl.plan.streams import FilterPlan, stream_store_plan
from epl.syntax import Statement, Stream, TypeFilter, UpdateIstream

NO_AGGREGATION = "Aggregation functions may not be used within an update-clause"


def analyse_update_istream(statement: Statement, catalog: Catalog, name: str) -> UpdateIstreamPlan:
    """Return the plan; its listeners get the changed event, and the one before as remove stream."""
    body = statement.body
    assert isinstance(body, UpdateIstream)
    if statement.context is not None:
        raise StatementRefusal("Update IStream is not supported in conjunction with a context", span=body.span)
    if body.type_name in catalog.tables:
        raise EplValidationError("Tables cannot be used in an update-istream statement", span=body.span)
    source = Stream(TypeFilter(body.type_name, span=body.span), alias=body.alias, span=body.span)
    stream, seen = analyse_stream(source, catalog, statement.declarations)
    if stream_store_plan(stream) is not None:  # what is inserted into a named window: events of its type
        stream, seen = attrs.evolve(stream, source=FilterPlan(stream.event_type)), attrs.evolve(seen, has_window=False)
    scope = set_scope(catalog, seen, statement.declarations)
    assignments = tuple(analyse_property_assignment(a, stream.event_type, scope) for a in body.assignments)
    where = None if body.where is None else bind_in_clause(
        body.where, attrs.evolve(scope, clause="where-clause", aggregation_refusal=NO_AGGREGATION))
    for written, assignment in zip(body.assignments, assignments, strict=True):
        refuse_tables(assignment.value, written.value or written.target, "update assignment")
    if where is not None and body.where is not None:
        refuse_tables(where, body.where, "where-clause")
    return UpdateIstreamPlan(stream.event_type, stream, assignments, where)
