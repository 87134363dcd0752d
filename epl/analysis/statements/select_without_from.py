"""A select without from clause as a statement: one row, for the iterator, and for listeners as a partition of a context begins or ends."""
from __future__ import annotations

from epl.analysis.clauses.output_clause import analyse_output
from epl.analysis.clauses.selection import analyse_selection
from epl.analysis.expressions.scope import Scope
from epl.catalog import Catalog
from epl.errors import EplUnsupportedError
from epl.plan.statements import SelectRowPlan
from epl.syntax import Select, Statement, StreamWildcard, Wildcard


def analyse_select_row(statement: Statement, select: Select, catalog: Catalog, name: str) -> SelectRowPlan:
    """Return the plan; every clause but select is refused."""
    rest = (
        select.insert_into, select.where, select.group_by, select.having, select.order_by, select.limit, select.delivery,
        select.into_table, select.match_recognize,
    )
    output = analyse_output(select.output, catalog)
    at_end = output is not None and output.only_terminated and catalog.statement_context is not None
    if any(rest) or (output is not None and not at_end) or any(isinstance(i.expression, (Wildcard, StreamWildcard)) for i in select.items):
        raise EplUnsupportedError("A select without from clause has expressions only", span=select.span)
    scope = Scope(
        catalog, (), declarations=statement.declarations, allow_previous=False,
        aggregation_refusal="Aggregation functions are not allowed without a from clause",
    )
    selection = analyse_selection(select.items, scope, f"{name}_out")
    return SelectRowPlan(selection.output_type, selection.columns, output.terminated if at_end and output is not None else None)
