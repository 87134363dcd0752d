"""Historical streams: ``method:name(…)``, ``sql:db ["…"]``, static tables, and tables, which are looked up alike. Their row types come
first, then, once all streams are known, their arguments.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

import attrs

from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.context_values import check_store
from epl.analysis.expressions.conversions import type_name
from epl.analysis.expressions.scope import Scope, ScopeStream
from epl.analysis.filters.lookup import bind_filters
from epl.analysis.names.type_names import find_event_type
from epl.catalog import Catalog
from epl.errors import EplError, EplUnsupportedError, EplValidationError
from epl.event_types import EventType
from epl.historical_sources import Method
from epl.parse import parse_expression
from epl.plan.expressions import Prior, SubqueryValue, TypedExpression
from epl.plan.join.historical import HistoricalPlan, MethodPlan, SqlPlan, StoredTablePlan, TablePlan, historical_plan, look_up_order
from epl.plan.streams import StreamPlan
from epl.plan.walk import plan_expressions
from epl.spans import Span
from epl.syntax import Annotation, Declaration, Expression, From, MethodSource, Source, SqlSource, Stream, TypeFilter
from epl.value_types import ValueType

AGGREGATION = "Aggregation functions are not supported in the arguments of a historical stream"


def is_historical(source: Source, catalog: Catalog) -> bool:
    """Return whether the rows of a stream come from a call, or from a table."""
    if isinstance(source, TypeFilter):
        name = source.type_name
        return name in catalog.tables or (name in catalog.static_tables and name not in catalog.event_types)
    return isinstance(source, (MethodSource, SqlSource))


def analyse_historical(
    stream: Stream, catalog: Catalog, declarations: tuple[Declaration, ...] = ()
) -> tuple[StreamPlan, ScopeStream]:
    """Return the plan without its arguments, which ``bind_arguments`` adds, and how expressions of the statement see the stream."""
    source = stream.source
    if isinstance(source, TypeFilter) and source.type_name in catalog.tables:
        return _table_stream(stream, source, catalog, declarations)
    if isinstance(source, MethodSource):
        plan: HistoricalPlan = _method(source, catalog)
    elif isinstance(source, SqlSource):
        plan = _sql(source, catalog)
    else:
        plan = _table(source, catalog)
    if stream.views:
        kind = "Method" if isinstance(plan, MethodPlan) else "Historical"
        raise EplValidationError(
            f"{kind} data joins do not allow views onto the data, view '{stream.views[0].name}' is not valid in this context",
            span=stream.views[0].span
        )
    return StreamPlan(plan, plan.row_type, alias=stream.alias), ScopeStream(stream.alias, plan.row_type)


# ------------------------------------------------------------------ which source


def _method(source: MethodSource, catalog: Catalog) -> MethodPlan:
    method = catalog.methods.get(source.name)
    if method is None:
        # A class with its package is most likely one of Java's, which Esper could load.
        kind = EplUnsupportedError if source.name.count(".") > 1 else EplValidationError
        raise kind(_unknown_method(source.name, catalog.methods), span=source.span, hint=_close(source.name, catalog.methods))
    class_name, _, function = source.name.rpartition(".")
    of_class = f" of class '{class_name}'" if class_name else ""
    if not method.returns_rows:
        raise EplValidationError(
            f"Invalid return type for static method '{function}'{of_class}, expecting a Java class", span=source.span,
            hint="the function's type hint names no rows: list[Row], where Row is a dataclass, TypedDict or NamedTuple"
        )
    declared = _type_annotation(source.annotations, catalog, f"Method '{function}' returns event type")
    if declared is not None and method.row_type is not None:
        raise EplValidationError(
            "The @type annotation is only allowed when the invocation target returns EventBean instances", span=source.span,
            hint=f"'{source.name}' has the row type {method.row_type.name} already"
        )
    row_type = declared or method.row_type
    if row_type is None:
        raise EplValidationError(
            f"Could not find getter method for method invocation, expected a method by name '{function}Metadata' accepting no parameters",
            span=source.span, hint=f"name the type of the rows: method:{source.name}(…) @type(T), register_method(…, row=…) or a type hint"
        )
    return MethodPlan(row_type=row_type, name=source.name)


def _unknown_method(name: str, methods: Mapping[str, Method]) -> str:
    class_name, _, function = name.rpartition(".")
    if not class_name:
        return f"A function named '{name}' is not defined"
    if any(known.startswith(f"{class_name}.") for known in methods):
        return f"Could not find public static method named '{function}' in class '{class_name}'"
    return f"Could not load class by name '{class_name}', please check imports"


def _close(name: str, known: Mapping[str, object]) -> str:
    close = get_close_matches(name, known, 1)
    return f"did you mean '{close[0]}'?" if close else f"make it known with Runtime.register_method('{name}', …)"


def _type_annotation(annotations: tuple[Annotation, ...], catalog: Catalog, owner: str) -> EventType | None:
    """Return the event type that ``@type(T)`` names."""
    if not annotations:
        return None
    annotation = annotations[0]
    value = annotation.attributes.get("value")
    written = value if isinstance(value, str) else getattr(value, "name", "")
    if annotation.name.lower() != "type":
        raise EplValidationError(
            f"Invalid annotation for property selection, expected 'type' but found '{annotation.name}' in text "
            f"'@{annotation.name}({written})'",
            span=annotation.span
        )
    event_type = find_event_type(written, catalog.event_types)
    if event_type is None:
        raise EplValidationError(f"{owner} '{written}' and the event type cannot be found", span=annotation.span)
    return event_type


def _sql(source: SqlSource, catalog: Catalog) -> SqlPlan:
    database = catalog.databases.get(source.database)
    if database is None:
        raise EplValidationError(
            f"Error connecting to database '{source.database}', reason: Cannot locate configuration information for database "
            f"'{source.database}'",
            span=source.span, hint=f"make it known with Runtime.register_database('{source.database}', connect)"
        )
    query, _ = _parts(source.query, source.span)
    row_type = _type_annotation(source.annotations, catalog, f"Database '{source.database}' returns event type")
    if row_type is None:
        try:
            row_type = database.row_type(query, source.metadata_query)
        except EplValidationError as error:
            error.span = source.span
            raise
    return SqlPlan(row_type=row_type, database=source.database, query=query)


def _parts(query: str, span: Span | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the text around the parameters ``${…}``, and what is in them.

    >>> _parts("select * from T where k = ${a.k} and v > ${a.v + 1}", None)
    (('select * from T where k = ', ' and v > ', ''), ('a.k', 'a.v + 1'))
    """
    texts, expressions, at = [], [], 0
    while (start := query.find("${", at)) >= 0:
        end = query.find("}", start)
        if end < 0:
            raise EplValidationError(
                f"Error parsing SQL, reason: Syntax error in property or variable: '{query[start:]}'", span=span
            )
        inner = query[start + 2 : end].strip()
        if not inner:
            raise EplValidationError("Missing expression within ${...} in SQL statement", span=span)
        texts.append(query[at:start])
        expressions.append(inner)
        at = end + 1
    return (*texts, query[at:]), tuple(expressions)


def _table_stream(
    stream: Stream, source: TypeFilter, catalog: Catalog, declarations: tuple[Declaration, ...]
) -> tuple[StreamPlan, ScopeStream]:
    table = catalog.tables[source.type_name]
    check_store(table, catalog, source.span)
    if stream.views:
        raise EplValidationError("Views are not supported with tables", span=stream.views[0].span)
    if source.contained:
        raise EplValidationError("Contained-event expressions are not supported with tables", span=source.span)
    if stream.unidirectional:
        raise EplValidationError("Tables cannot be marked as unidirectional", span=stream.span)
    if stream.retain is not None:
        raise EplValidationError("Tables cannot be marked with retain", span=stream.span)
    row = ScopeStream(stream.alias, table.event_type, has_window=True)
    scope = Scope(catalog, (row,), clause="filter", declarations=declarations, allow_previous=False, in_filter=True)
    plan = StoredTablePlan(row_type=table.event_type, table=table, conditions=bind_filters(source.filters, scope))
    return StreamPlan(plan, table.event_type, alias=stream.alias), row


def _table(source: Source, catalog: Catalog) -> TablePlan:
    assert isinstance(source, TypeFilter)
    if source.filters or source.contained:
        raise EplUnsupportedError(
            f"A filter of the static table '{source.type_name}' is not supported", span=source.span, hint="write it in the where clause"
        )
    return TablePlan(row_type=catalog.static_tables[source.type_name], name=source.type_name)


# ------------------------------------------------------------------ arguments


def bind_arguments(
    from_: From, plans: Sequence[StreamPlan], scopes: Sequence[ScopeStream], catalog: Catalog, declarations: tuple[Declaration, ...] = ()
) -> tuple[StreamPlan, ...]:
    """Return the plans with the arguments of historical streams, bound over all streams. Refuses arguments that read one another's rows in
    a circle."""
    bound = []
    for number, (stream, plan) in enumerate(zip(from_.streams, plans, strict=True)):
        historical = historical_plan(plan)
        if historical is not None:
            historical = _with_arguments(number, stream, historical, Scope(
                catalog, tuple(scopes), declarations=declarations, allow_previous=False, aggregation_refusal=AGGREGATION
            ))
            plan = attrs.evolve(plan, source=historical)
        bound.append(plan)
    if look_up_order(bound) is None:
        raise EplValidationError("Circular dependency detected between historical streams", span=from_.span)
    return tuple(bound)


def _with_arguments(number: int, stream: Stream, plan: HistoricalPlan, scope: Scope) -> HistoricalPlan:
    source = stream.source
    if isinstance(source, MethodSource):
        scope = attrs.evolve(scope, clause="from-clause method-invocation")
        arguments = tuple(_bind_argument(argument, scope, source.span) for argument in source.arguments)
        assert isinstance(plan, MethodPlan)
        if any(number in argument.streams for argument in arguments):
            raise EplValidationError(
                f"Parameters for historical stream {number} indicate that the stream is subordinate to itself as stream parameters "
                "originate in the same stream",
                span=source.span
            )
        return attrs.evolve(plan, arguments=arguments, steps=_steps(plan, arguments, source, scope.catalog))
    if isinstance(source, SqlSource):
        scope = attrs.evolve(scope, clause="from-clause database-access parameter")
        _, texts = _parts(source.query, source.span)
        arguments = tuple(_bind_argument(_parse_parameter(text, source.span), scope, source.span) for text in texts)
        own = next((text for text, argument in zip(texts, arguments, strict=True) if number in argument.streams), None)
        if own is not None:
            raise EplValidationError(f"Invalid expression '{own}' resolves to the historical data itself", span=source.span)
        return attrs.evolve(plan, arguments=arguments)
    return plan


def _parse_parameter(text: str, span: Span | None) -> Expression:
    """Return the expression of a parameter; a refusal names the place of the query, since the text is within a string."""
    try:
        return parse_expression(text)
    except EplError as error:
        raise EplValidationError(f"Error parsing SQL, reason: {error.message}", span=span, hint=error.hint) from error


def _bind_argument(argument: Expression, scope: Scope, span: Span | None) -> TypedExpression:
    try:
        typed = bind_in_clause(argument, scope)
    except EplValidationError as error:
        if error.message.endswith(AGGREGATION):
            raise EplUnsupportedError(AGGREGATION, span=span) from error
        error.span = span
        raise
    if any(isinstance(node, SubqueryValue) for node in typed.walk()):
        raise EplUnsupportedError("Sub-queries in the arguments of a historical stream are not supported", span=span)
    return typed


def _steps(plan: MethodPlan, arguments: Sequence[TypedExpression], source: MethodSource, catalog: Catalog) -> tuple[str, ...]:
    """Return how the arguments are converted; refuses those that the function does not take."""
    method = catalog.methods[plan.name]
    types = [argument.type for argument in arguments]
    steps = method.bind(types)
    if steps is not None:
        return steps
    class_name, _, function = plan.name.rpartition(".")
    owner = f" in class '{class_name}'" if class_name else ""
    nearest = f"(nearest match found was '{function}' taking {_taking(method.parameters)})"
    if not types:
        raise EplValidationError(
            "Method footprint does not match the number or type of expression parameters, expecting no parameters in method: Could not "
            f"find static method named '{function}'{owner} taking no parameters {nearest}",
            span=source.span
        )
    names = ", ".join(type_name(t.boxed) for t in types)
    raise EplValidationError(
        "Method footprint does not match the number or type of expression parameters, expecting a method where parameters are typed "
        f"'{names}': Could not find static method named '{function}'{owner} with matching parameter number and expected parameter type(s) "
        f"'{names}' {nearest}",
        span=source.span
    )


def _taking(parameters: Sequence[ValueType]) -> str:
    return f"type(s) '{', '.join(map(type_name, parameters))}'" if parameters else "no parameters"


# ------------------------------------------------------------------ what else of the statement depends on them


def check_prior(streams: Sequence[StreamPlan], plans: object, span: Span | None) -> None:
    """Refuse prior of a historical stream: its rows do not arrive one after the other."""
    for node in (node for expression in plan_expressions(plans) for node in expression.walk()):
        if isinstance(node, Prior) and historical_plan(streams[node.stream]) is not None:
            raise EplValidationError("Prior function cannot be used on a historical stream", span=span)


__all__ = ["analyse_historical", "bind_arguments", "check_prior", "is_historical"]
