"""All faults of a statement, as far as analysis can go on after the first: for people who port many statements at once.

After a fault the part that holds it is taken out and the rest is analysed again. Only parts are taken out that others do not depend on (a
condition, a column of a schema), or whose dependants go with them (a select item: order by, having, insert into), so that no fault is
reported that is but a consequence of another.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from epl.analysis.statements.modules import analyse_module
from epl.catalog import Catalog
from epl.errors import EplError
from epl.spans import Span
from epl.syntax import CreateSchema, Module, Node, Select, SelectItem, Statement, TypeFilter, Wildcard

MOST = 20
"""How many faults of a statement are looked for."""


def find_faults(module: Module, catalog: Catalog) -> list[EplError]:
    """Return the faults of a module of one statement, none where it is accepted; each knows its position. The catalog is not changed."""
    faults: list[EplError] = []
    while len(faults) < MOST:
        try:
            analyse_module(module, catalog)
        except EplError as error:
            (statement,) = module.statements
            faults.append(error)
            rest = None if error.span is None else next((r for part, r in _without(statement) if _holds(part, error.span)), None)
            if rest is None:
                break
            module = attrs.evolve(module, statements=(rest,))
        else:
            break
    return faults


def _holds(part: Span | None, fault: Span) -> bool:
    return part is not None and part.start <= fault.start and fault.end <= part.end


Without = Iterator[tuple[Span | None, Statement]]
"""(where a part is, the statement without it)."""


def _without(statement: Statement) -> Without:
    for number, annotation in enumerate(statement.annotations):
        yield annotation.span, attrs.evolve(statement, annotations=_but(statement.annotations, number))
    body = statement.body
    parts = _select(body) if isinstance(body, Select) else _schema(body) if isinstance(body, CreateSchema) else ()
    for part, rest in parts:
        yield part, attrs.evolve(statement, body=rest)


def _but(items: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    return items[:number] + items[number + 1 :]


def _schema(body: CreateSchema) -> Iterator[tuple[Span | None, CreateSchema]]:
    for number, column in enumerate(body.columns):
        yield column.span, attrs.evolve(body, columns=_but(body.columns, number))


def _select(body: Select) -> Iterator[tuple[Span | None, Select]]:
    parts: list[tuple[Node | None, Select]] = [
        (body.where, attrs.evolve(body, where=None)), (body.having, attrs.evolve(body, having=None)),
        (body.output, attrs.evolve(body, output=None)), (body.limit, attrs.evolve(body, limit=None)),
    ]
    yield from ((part.span, rest) for part, rest in parts if part is not None)
    for number, order in enumerate(body.order_by):
        yield order.expression.span, attrs.evolve(body, order_by=_but(body.order_by, number))
    yield from _filters(body)
    yield from _defines(body)
    yield from _items(body)


def _filters(body: Select) -> Iterator[tuple[Span | None, Select]]:
    if body.from_ is None:
        return
    streams = body.from_.streams
    for at, stream in enumerate(streams):
        if isinstance(stream.source, TypeFilter):
            for number, condition in enumerate(stream.source.filters):
                source = attrs.evolve(stream.source, filters=_but(stream.source.filters, number))
                changed = (*streams[:at], attrs.evolve(stream, source=source), *streams[at + 1 :])
                yield condition.span, attrs.evolve(body, from_=attrs.evolve(body.from_, streams=changed))


def _defines(body: Select) -> Iterator[tuple[Span | None, Select]]:
    rows = body.match_recognize
    for number, (_, condition) in enumerate(rows.defines if rows is not None else ()):
        assert rows is not None
        yield condition.span, attrs.evolve(body, match_recognize=attrs.evolve(rows, defines=_but(rows.defines, number)))


def _items(body: Select) -> Iterator[tuple[Span | None, Select]]:
    """Select items, with what may name their columns or depend on whether they aggregate."""
    for number, item in enumerate(body.items):
        rest = _but(body.items, number)
        if not rest and body.match_recognize is not None:
            continue
        yield item.expression.span, attrs.evolve(
            body, items=rest or (SelectItem(Wildcard()),), insert_into=None, group_by=(), having=None, order_by=(), delivery=None
        )


__all__ = ["MOST", "find_faults"]
