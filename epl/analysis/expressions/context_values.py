"""``context.…`` in a statement of a context, and which variables and tables of contexts a statement may name."""
from __future__ import annotations

from collections.abc import Sequence

from epl.analysis.expressions.binding import StatementRefusal
from epl.catalog import Catalog, Variable
from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.context.contexts import Context, store_context
from epl.plan.expressions import ContextValue
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow
from epl.spans import Span
from epl.syntax.expressions import Call, Chain, Link, Literal, Name
from epl.unparse import expression_text


def context_value(node: Chain, context: Context) -> tuple[ContextValue, Sequence[Link]]:
    """Return the property of the context that a chain begins with, and the links that follow. The innermost level's ``id`` is the
    partition's."""
    known = dict(context.properties)
    path: tuple[str, ...] = ()
    for at, link in enumerate(node.links[1:], 2):
        if not isinstance(link, Name):
            break
        path = (*path, link.name)
        if path in known:
            call = next((n for n, each in enumerate(node.links[at:], at) if not isinstance(each, Name)), None)
            if call is not None and _may_be_mapped(node.links[call]):
                raise unknown_property(node, context, call)
            place = path[-1:] if path == (context.levels[-1].name, "id") and context.is_nested else path
            return ContextValue(type=known[path], path=place), node.links[at:]
    if path and len(node.links) == 2 and any(each[:1] == path for each in known):
        raise EplUnsupportedError(
            f"All properties of '{path[0]}' as one value are not supported", span=node.span, hint=f"select {_example(path[0], context)}")
    raise unknown_property(node, context)


def _example(level: str, context: Context) -> str:
    return "context." + ".".join(next(path for path, _ in context.properties if path[0] == level))


def _may_be_mapped(link: Link) -> bool:
    """Return whether a method's call looks like a mapped property, as which Esper reads it: ``equals('a')``."""
    if not isinstance(link, Call) or len(link.arguments) != 1 or not isinstance(link.arguments[0], Literal):
        return False
    return link.arguments[0].value is None or isinstance(link.arguments[0].value, str)


def unknown_property(node: Chain, context: Context, call: int | None = None) -> EplValidationError:
    """Return the refusal of a path that leads to no property of the context. ``call``: how many links after ``context`` are named."""
    links = node.links[1:]
    if call is None:
        call = next((at for at, link in enumerate(links) if isinstance(link, Call)), len(links))
    written = expression_text(Chain(links=links[:max(call, 1)])) if links else ""
    return EplValidationError(
        f"Context property '{written}' is not a known property, known properties are [{', '.join(context.names)}]", span=node.span)


class ContextRefusal(StatementRefusal):
    """A variable of a context where there is none of it: nothing precedes its refusal anywhere."""


def check_variable(variable: Variable, catalog: Catalog, span: Span | None) -> None:
    """Refuse a variable of which each partition of another context has one."""
    own = catalog.statement_context
    if variable.context is None or (own is not None and own.name == variable.context):
        return
    if own is None:
        raise ContextRefusal(
            f"Variable '{variable.name}' defined for use with context '{variable.context}' can only be accessed within that context",
            span=span, hint=f"write context {variable.context} before the statement")
    raise ContextRefusal(
        f"Variable '{variable.name}' defined for use with context '{variable.context}' is not available for use with context '{own.name}'",
        span=span)


def check_store(store: NamedWindow | Table, catalog: Catalog, span: Span | None, *, same: bool = False) -> None:
    """Refuse a table, or what a named window or table is changed by, outside of its context. ``same``: also within one where it has none.
    """
    own, declared = catalog.statement_context, store_context(store)
    if catalog.for_query or own is declared or (declared is None and not same):
        return
    title = "Table" if isinstance(store, Table) else "Named window"
    raise EplValidationError(
        f"{title} by name '{store.name}' has been declared for context '{declared.name if declared is not None else 'null'}' and can only "
        "be used within the same context", span=span)


def subquery_mismatch(store: NamedWindow | Table, catalog: Catalog) -> str | None:
    """Return why a sub-query that reads the rows of a named window or table as they are does not see those of its partitions."""
    own, declared = catalog.statement_context, store_context(store)
    if declared is None or own is declared:
        return None
    title = "table" if isinstance(store, Table) else "named window"
    query = "no context " if own is None else f"context '{own.name}'"
    return (f"Mismatch in context specification, the context for the {title} '{store.name}' is '{declared.name}' and the query specifies "
            f"{query}")


__all__ = ["ContextRefusal", "check_store", "check_variable", "context_value", "subquery_mismatch", "unknown_property"]
