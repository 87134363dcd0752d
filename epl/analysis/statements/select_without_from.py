"""A select without from clause as a statement: one row, for the iterator, and for listeners as a partition of a context begins or ends."""
from __future__ import annotations

import attrs

from epl.analysis.clauses import result_set
from epl.analysis.clauses.output_clause import analyse_output
from epl.analysis.statements.queries.parts import bind_where, refuse_wildcard
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.result_set import OutputPlan
from epl.plan.statements import SelectRowPlan
from epl.syntax import Select, Statement


def analyse_select_row(statement: Statement, select: Select, catalog: Catalog, name: str) -> SelectRowPlan:
    """Return the plan; aggregations and every clause but select are refused."""
    if select.insert_into is not None:
        raise EplValidationError(
            "Provided EPL expression is an on-demand query expression (not a continuous query)", span=select.span,
            hint="Runtime.query(…) inserts rows once; a statement needs a from clause")
    if select.where is not None:
        bind_where(select.where, (), statement, catalog)
    refuse_wildcard(select)
    rows = result_set.analyse(
        attrs.evolve(select, output=None), (), catalog, output_name=f"{name}_out", has_remove_stream=True, is_unbound=False,
        declarations=statement.declarations, allow_previous=False)
    output = analyse_output(select.output, catalog)
    at_end = output is not None and output.only_terminated and catalog.statement_context is not None
    if rows.aggregations or _has_clauses(select, None if at_end else output):
        raise EplUnsupportedError("A select without from clause has expressions only", span=select.span)
    return SelectRowPlan(rows.output_type, rows.columns, output.terminated if at_end and output is not None else None)


def _has_clauses(select: Select, output: OutputPlan | None) -> bool:
    clauses = (
        select.where, select.group_by, select.having, select.order_by, select.limit, select.delivery, select.into_table,
        select.match_recognize, output)
    return any(clauses)
