"""What Esper refuses of a statement as it is written, before it looks up any event type: only names of variables and of declared
expressions are known."""
from __future__ import annotations

from epl.analysis.clauses.assignments import target_error
from epl.analysis.expressions.rewriting import syntax_nodes
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.syntax import (
    Assignment,
    Chain,
    Contained,
    Declaration,
    Expression,
    FafUpdate,
    Join,
    OnMerge,
    OnUpdate,
    Select,
    Statement,
    StreamWildcard,
    UpdateIstream,
    Wildcard,
)
from epl.syntax.expressions import Call, Index, Name, Subquery
from epl.unparse import expression_text
from epl.unparse.esper_text import ExpressionNames

ROLLUPS = ("rollup", "cube", "grouping sets")
ROWS = (UpdateIstream, OnUpdate, OnMerge, FafUpdate)
"""Statements whose assignments are to properties of a row."""
PREVIOUS = ("prev", "prevcount", "prevtail", "prevwindow", "prior")
NAMES = ExpressionNames()


def refuse_as_written(statement: Statement, catalog: Catalog) -> None:
    """Refuse declared expressions that compare events by identity, wildcards beside rollups, on clauses of anything but properties,
    contained events that depend on other rows, assignments to variables where rows are changed."""
    expressions = {declaration.name for declaration in statement.declarations} | catalog.declarations.keys() | catalog.variables.keys()
    for node in syntax_nodes((statement.declarations, statement.body)):
        if isinstance(node, Declaration):
            _refuse_identities(node)
        elif isinstance(node, Select):
            _refuse_wildcards_of_rollups(node)
        elif isinstance(node, Join):
            _refuse_expressions(node, expressions)
        elif isinstance(node, Contained):
            _refuse_other_rows(node, catalog)
        elif isinstance(node, Assignment) and _changes_rows(statement, catalog):
            _refuse_variables(node, catalog)


def _refuse_identities(declaration: Declaration) -> None:
    for node in syntax_nodes(declaration.body):
        if isinstance(node, Call) and node.name.lower() == "event_identity_equals":
            raise EplValidationError(
                "Could not map expression node of type ExprEventIdentityEqualsNode", span=node.span,
                hint="a declared expression cannot compare events by identity; write event_identity_equals where it is used")


def _refuse_wildcards_of_rollups(select: Select) -> None:
    if any(element.kind in ROLLUPS for element in select.group_by):
        wild = next((item for item in select.items if isinstance(item.expression, (Wildcard, StreamWildcard))), None)
        if wild is not None:
            raise EplValidationError(
                "Group-by with rollup requires that the select-clause does not use wildcard", span=wild.expression.span or wild.span)


def _refuse_expressions(join: Join, expressions: set[str]) -> None:
    for side in (side for pair in join.on for side in pair):
        if not _is_property(side, expressions):
            raise EplValidationError(
                "Failed to validated 'on'-keyword expressions in outer join, expected identifiers only", span=side.span,
                hint="an on clause compares properties of streams; write other conditions in the where clause")


def _is_property(side: Expression, expressions: set[str]) -> bool:
    if not isinstance(side, Chain) or side.root is not None or not NAMES.is_property(side):
        return False
    first = side.links[0]
    return not isinstance(first, Name) or (first.name not in expressions and not (first.name == "context" and len(side.links) > 1))


def _refuse_other_rows(contained: Contained, catalog: Catalog) -> None:
    """Refuse what is read of other rows than the event that contains the events."""
    for node in syntax_nodes(contained.expression):
        name = node.name.lower() if isinstance(node, Call) else ""
        if isinstance(node, Subquery) or name in PREVIOUS or name in catalog.aggregations:
            raise EplValidationError(
                f"Invalid contained-event expression '{expression_text(contained.expression)}': Aggregation, sub-select, previous or prior "
                "functions are not supported in this context", span=contained.expression.span)


def _changes_rows(statement: Statement, catalog: Catalog) -> bool:
    """Return whether assignments are to properties of a row, in a statement that may change it."""
    body = statement.body
    if isinstance(body, UpdateIstream):
        return statement.context is None and body.type_name not in catalog.tables
    return isinstance(body, ROWS)


def _refuse_variables(written: Assignment, catalog: Catalog) -> None:
    target = written.target
    if written.value is None or not isinstance(target, Chain):
        return
    first, *rest = target.links
    if isinstance(first, Name) and first.name in catalog.variables:
        if rest and isinstance(rest[0], Index):
            raise target_error(written)
        raise EplValidationError(f"Left-hand-side does not allow variables for variable '{first.name}'", span=written.span)


__all__ = ["refuse_as_written"]
