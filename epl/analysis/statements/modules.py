"""A module → its plan: statements in order, each seeing what those before it declare."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from epl.analysis.clauses import subqueries
from epl.analysis.clauses.from_clause.row_order import with_order
from epl.analysis.context.create_context import analyse_create_context
from epl.analysis.context.statements import check_types, context_named
from epl.analysis.expressions.rewriting import syntax_nodes
from epl.analysis.statements.annotations import check_access, check_annotations
from epl.analysis.statements.as_written import refuse_as_written
from epl.analysis.statements.create_index import analyse_create_index
from epl.analysis.statements.create_window import analyse_create_window
from epl.analysis.statements.filters_first import refuse_filters_first
from epl.analysis.statements.on_merge import analyse_on_merge
from epl.analysis.statements.on_set import analyse_on_set
from epl.analysis.statements.on_split import analyse_on_split
from epl.analysis.statements.on_window import analyse_on_delete, analyse_on_select, analyse_on_update
from epl.analysis.statements.properties_read import properties_read
from epl.analysis.statements.schemas import analyse_schema
from epl.analysis.statements.select_statement import analyse_select
from epl.analysis.statements.select_without_from import analyse_select_row
from epl.analysis.statements.subquery_numbers import number_subqueries
from epl.analysis.statements.subquery_types import check_subquery_types
from epl.analysis.statements.substitution_parameters import number_parameters, parameter_types
from epl.analysis.statements.tables import analyse_create_table
from epl.analysis.statements.type_sizes import check_type_sizes
from epl.analysis.statements.update_istream import analyse_update_istream
from epl.analysis.statements.variables import analyse_create_variable
from epl.analysis.statements.window_collections import with_window_collections
from epl.catalog import Catalog
from epl.errors import AlreadyDeclaredError, EplError, EplUnsupportedError, EplValidationError
from epl.plan.declared import KINDS, Declared, Kind, Reference
from epl.plan.expressions import Parameter
from epl.plan.fingerprints import fingerprint
from epl.plan.join.subqueries import distinct_subqueries
from epl.plan.statements import (
    BodyPlan,
    CreateContextPlan,
    CreateExpressionPlan,
    CreateSchemaPlan,
    ModulePlan,
    SelectPlan,
    StatementPlan,
)
from epl.plan.stores.on_statements import OnSelectPlan
from epl.plan.walk import plan_expressions
from epl.syntax import (
    Body,
    CreateContext,
    CreateExpression,
    CreateIndex,
    CreateSchema,
    CreateTable,
    CreateVariable,
    CreateWindow,
    Module,
    OnDelete,
    OnMerge,
    OnSelect,
    OnSet,
    OnSplit,
    OnUpdate,
    Select,
    Statement,
    UpdateIstream,
)
from epl.syntax.expressions import Call, Chain, Name, TypeName
from epl.unparse import unparse

HELD: tuple[Kind, ...] = ("declaration", "table", "variable")
"""What the body of a declared expression holds in Esper by naming it; named windows and event types it does not hold."""
ACCESS = ("private", "protected", "public")
EXPRESSIONS = (subqueries,)
"""Kinds of expressions that are analysed above epl.analysis.expressions, which they register with."""


def analyse_module(module: Module, catalog: Catalog) -> ModulePlan:
    """Return the module's plan. Raise EplError with the module's text and the position of the fault (that of its statement where nothing
    smaller is at fault); the catalog is not changed."""
    statements: list[StatementPlan] = []
    declared: list[Declared] = []
    catalog = attrs.evolve(catalog, imports=(*catalog.imports, *module.imports))
    for number, statement in enumerate(module.statements):
        try:
            plan, news = analyse_statement(statement, catalog, statement.name or f"stmt-{number}")
        except EplError as error:
            error.span = error.span or statement.body.span or statement.span
            if isinstance(error, AlreadyDeclaredError):
                error.hint = next((f"declared at {d.place(module.text)}" for d in declared if d.is_named(error.kind, error.name)), None)
            raise error.within(module.text).public() from error.__cause__
        catalog = catalog.with_declared(news)
        statements.append(plan)
        declared.extend(attrs.evolve(each, span=statement.span) for each in news)
    return ModulePlan(_uniquely_named(statements), tuple(declared), module.text, module.name, module.uses)


def _uniquely_named(statements: list[StatementPlan]) -> tuple[StatementPlan, ...]:
    """Give a statement whose name is taken the first free one of ``x-1``, ``x-2``, …, as Esper does; earlier statements keep theirs."""
    taken: set[str] = set()
    next_number: dict[str, int] = {}
    named = []
    for plan in statements:
        name = plan.name
        if name in taken:
            numbers = itertools.count(next_number.get(name, 1))
            number = next(n for n in numbers if f"{plan.name}-{n}" not in taken)
            next_number[plan.name] = number + 1
            name = f"{plan.name}-{number}"
        taken.add(name)
        named.append(plan if name == plan.name else attrs.evolve(plan, name=name))
    return tuple(named)


# ------------------------------------------------------------------ one statement

Analysed = tuple[BodyPlan, tuple[Declared, ...]]


def analyse_statement(statement: Statement, catalog: Catalog, name: str) -> tuple[StatementPlan, tuple[Declared, ...]]:
    """Return a statement's plan and what it declares."""
    check_annotations(statement, catalog)
    catalog = with_order(catalog, statement)
    analyse = ANALYSES.get(type(statement.body))
    if analyse is None:
        raise EplUnsupportedError(
            f"{REFUSED.get(type(statement.body).__name__, type(statement.body).__name__)} is not supported yet", span=statement.span
        )
    if statement.classes:
        raise EplUnsupportedError("Inlined classes are not supported", span=statement.span, hint="register a Python function instead")
    _check_aliases(statement)
    _refuse_scripts(statement)
    statement = number_parameters(statement)
    context = context_named(statement, catalog)
    catalog = attrs.evolve(catalog, statement_context=context, expanded=set())
    refuse_as_written(statement, catalog)
    numbered = number_subqueries(with_window_collections(statement, catalog), written=statement)
    if not isinstance(numbered.body, CreateExpression):
        check_subquery_types(numbered.body, catalog)
    try:
        body, declared = analyse(numbered, catalog, name)
    except EplValidationError as refusal:
        refuse_filters_first(numbered, catalog, refusal)
        raise
    body = attrs.evolve(body, subqueries=distinct_subqueries(body))
    check_access(statement, declared)
    _refuse_names_of_tables(declared, catalog)
    if context is not None:
        check_types(statement, body, context, catalog)
    check_type_sizes(body)
    priority = statement.annotation("priority")
    drop = statement.annotation("drop") is not None
    value = priority.get() if priority else int(drop)  # as in Esper
    reads = properties_read(body, context)
    plan = StatementPlan(
        name=name,
        body=body,
        text=statement.text,
        annotations=statement.annotations,
        priority=value if isinstance(value, int) else 0,
        drop=drop,
        fingerprint=fingerprint(unparse(statement), body, reads),
        parameters=tuple(parameter_types(n for e in plan_expressions(body) for n in e.walk() if isinstance(n, Parameter)).items()),
        context=context,
        reads=reads,
        refers=_references(statement.body, catalog),
    )
    return plan, declared


def _references(written: Body, catalog: Catalog) -> frozenset[Reference]:
    """Return what a statement refers to and its plan does not show. The body of a declared expression is resolved where it is called; what
    it names has to be there until then. A declared type has properties of others, and not the others."""
    refers: set[Reference] = {("declaration", name) for name in catalog.expanded}
    if isinstance(written, CreateExpression) and written.declaration.body is not None:
        chains = [node for node in syntax_nodes(written.declaration.body) if isinstance(node, Chain) and node.root is None]
        refers |= _name_references({link.name for chain in chains for link in chain.links[:1] if isinstance(link, (Name, Call))}, HELD,
            catalog)
    if isinstance(written, (CreateSchema, CreateTable, CreateWindow)):
        names = {node.name for node in syntax_nodes(written) if isinstance(node, TypeName)}
        if isinstance(written, CreateSchema):
            names.update(written.inherits, written.copy_from)
        if isinstance(written, CreateWindow) and written.from_type is not None:
            names.add(written.from_type)
        refers |= _name_references(names, ("event_type", "named_window"), catalog)
    return frozenset(refers)


def _name_references(names: set[str], kinds: Sequence[Kind], catalog: Catalog) -> set[Reference]:
    return {(kind, name) for kind in kinds for name in names if name in getattr(catalog, KINDS[kind].field)}


def _refuse_names_of_tables(declared: tuple[Declared, ...], catalog: Catalog) -> None:
    for each in declared:
        if each.kind == "event_type" and each.name in catalog.static_tables:
            raise EplValidationError(
                f"Event type named '{each.name}' has already been declared", hint=f"Runtime.register_table has registered '{each.name}'"
            )


def _check_aliases(statement: Statement) -> None:
    declared = (statement.body.declaration,) if isinstance(statement.body, CreateExpression) else ()
    for declaration in (*statement.declarations, *declared):
        if declaration.alias and declaration.listed:
            raise EplValidationError(
                f"For expression alias '{declaration.name}' expecting no parameters but received '{','.join(declaration.listed)}'",
                span=declaration.span)


def _refuse_scripts(statement: Statement) -> None:
    for declaration in statement.declarations:
        if declaration.dialect is not None or declaration.script is not None:
            raise EplUnsupportedError(
                f"Failed to obtain script runtime for dialect '{declaration.dialect or 'js'}' for script '{declaration.name}'",
                span=declaration.span, hint="scripts are not supported: register a Python function instead"
            )


REFUSED: Mapping[str, str] = {
    "CreateDataflow": "Create dataflow", "CreateClass": "Create inlined_class",
}


def _access(statement: Statement, catalog: Catalog) -> Any:
    for access in ACCESS:
        if statement.annotation(access):
            return access
    return catalog.settings.default_access


def _select(statement: Statement, catalog: Catalog, name: str) -> Analysed:
    assert isinstance(statement.body, Select)
    if statement.body.from_ is None:
        return analyse_select_row(statement, statement.body, catalog, name), ()
    plan = analyse_select(statement, statement.body, catalog, name)
    return plan, _insert_declaration(plan, statement, catalog)


def _on_select(statement: Statement, catalog: Catalog, name: str) -> Analysed:
    plan = analyse_on_select(statement, catalog, name)
    return plan, _insert_declaration(plan, statement, catalog)


def _insert_declaration(plan: SelectPlan | OnSelectPlan, statement: Statement, catalog: Catalog) -> tuple[Declared, ...]:
    """Declare the stream that insert into brings into being."""
    if plan.insert is None or plan.insert.table is not None or plan.insert.target.name in catalog.event_types:
        return ()
    target = plan.insert.target
    target.complete(is_bus=_is_bus(statement, catalog))
    return (Declared("event_type", target.name, target, _access(statement, catalog)),)


def _is_bus(statement: Statement, catalog: Catalog) -> bool:
    return statement.annotation("buseventtype") is not None or catalog.settings.default_access == "public"


def _create_schema(statement: Statement, catalog: Catalog, name: str) -> Analysed:
    assert isinstance(statement.body, CreateSchema)
    _refuse_table(statement.body.name, statement.body, catalog, "already exists")
    existing = catalog.event_types.get(statement.body.name)
    if existing is not None and existing.module != "":
        message = f"Event type named '{existing.name}' has already been declared"
        raise AlreadyDeclaredError(message, "event_type", existing.name, span=statement.span)
    if statement.annotation("buseventtype") and _access(statement, catalog) != "public":
        raise EplValidationError(
            f"Event type '{statement.body.name}' with bus-visibility requires the public access modifier for the event type",
            span=statement.span, hint="write @public @buseventtype",
        )
    event_type = analyse_schema(statement.body, statement, catalog)
    event_type.complete(is_bus=_is_bus(statement, catalog))
    return CreateSchemaPlan(event_type, event_type), (Declared("event_type", event_type.name, event_type, _access(statement, catalog)),)


def _create_variable(statement: Statement, catalog: Catalog, name: str) -> Analysed:
    body = statement.body
    assert isinstance(body, CreateVariable)
    _refuse_table(body.name, body, catalog, "has already been declared")
    plan, variable = analyse_create_variable(body, catalog, name)
    return plan, (Declared("variable", body.name, variable, _access(statement, catalog)),)


def _create_context(statement: Statement, catalog: Catalog, name: str) -> Analysed:
    context = analyse_create_context(statement, catalog)
    return CreateContextPlan(None, context), (Declared("context", context.name, context, _access(statement, catalog)),)


def _create_window(statement: Statement, catalog: Catalog, name: str) -> Analysed:
    plan = analyse_create_window(statement, catalog, name)
    plan.window.event_type.complete(is_bus=False)
    return plan, (Declared("named_window", plan.window.name, plan.window, _access(statement, catalog)),)


def _create_index(statement: Statement, catalog: Catalog, name: str) -> Analysed:
    plan = analyse_create_index(statement, catalog, name)
    return plan, (Declared("index", plan.index.name, plan.index, "public"),)  # seen where its window is seen, as in Esper


def _create_table(statement: Statement, catalog: Catalog, name: str) -> Analysed:
    body = statement.body
    assert isinstance(body, CreateTable)
    _refuse_table(body.name, body, catalog, "has already been declared")
    plan = analyse_create_table(body, catalog)
    return plan, (Declared("table", body.name, plan.table, _access(statement, catalog)),)


def _refuse_table(name: str, body: Body, catalog: Catalog, words: str) -> None:
    if name in catalog.tables:
        raise AlreadyDeclaredError(f"A table by name '{name}' {words}", "table", name, span=body.span)


def _create_expression(statement: Statement, catalog: Catalog, name: str) -> Analysed:
    body = statement.body
    assert isinstance(body, CreateExpression)
    declaration = body.declaration
    if declaration.dialect is not None:
        raise EplUnsupportedError(
            f"Scripts of dialect '{declaration.dialect}' are not supported", span=declaration.span,
            hint="register a Python function instead"
        )
    if declaration.name in catalog.declarations:
        message = f"Expression '{declaration.name}' has already been declared"
        raise AlreadyDeclaredError(message, "declaration", declaration.name, span=body.span)
    return CreateExpressionPlan(None, declaration), (Declared("declaration", declaration.name, declaration, _access(statement, catalog)),)


def _on_split(statement: Statement, catalog: Catalog, name: str) -> Analysed:
    plan = analyse_on_split(statement, catalog, name)
    new = [b.insert for b in plan.branches if b.insert.table is None and b.insert.target.name not in catalog.event_types]
    targets = {insert.target.name: insert.target for insert in new}
    for target in targets.values():
        target.complete(is_bus=_is_bus(statement, catalog))
    return plan, tuple(Declared("event_type", t.name, t, _access(statement, catalog)) for t in targets.values())


def _on_merge(statement: Statement, catalog: Catalog, name: str) -> Analysed:
    plan = analyse_on_merge(statement, catalog, name)
    inserts = [action.insert for branch in plan.branches for action in branch.actions if action.insert is not None]
    new = [each for each in inserts if each.table is None and each.target.name not in catalog.event_types]
    targets = {insert.target.name: insert.target for insert in new}
    for target in targets.values():
        target.complete(is_bus=_is_bus(statement, catalog))
    return plan, tuple(Declared("event_type", t.name, t, _access(statement, catalog)) for t in targets.values())


def _plain(analyse: Callable[[Statement, Catalog, str], BodyPlan]) -> Callable[[Statement, Catalog, str], Analysed]:
    """Return a statement that declares nothing."""
    return lambda statement, catalog, name: (analyse(statement, catalog, name), ())


ANALYSES: Mapping[type[Body], Callable[[Statement, Catalog, str], Analysed]] = {
    Select: _select,
    CreateSchema: _create_schema,
    CreateContext: _create_context,
    CreateIndex: _create_index,
    CreateVariable: _create_variable,
    CreateWindow: _create_window,
    CreateExpression: _create_expression,
    CreateTable: _create_table,
    OnDelete: _plain(analyse_on_delete),
    OnMerge: _on_merge,
    OnSelect: _on_select,
    OnSet: _plain(analyse_on_set),
    OnSplit: _on_split,
    OnUpdate: _plain(analyse_on_update),
    UpdateIstream: _plain(analyse_update_istream),
}
"""Which bodies can be planned; every other one is refused by name (REFUSED)."""

__all__ = ["ANALYSES", "REFUSED", "analyse_module", "analyse_statement"]
