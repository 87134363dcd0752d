"""Queries on demand as graphs: what they look up, read and change."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from epl.plan.expression_text import expression_text, of, plain
from epl.plan.statements import BodyPlan
from epl.plan.stores.queries import DeleteQueryPlan, InsertQueryPlan, QueryPlan, RowsPlan, SelectQueryPlan, UpdateQueryPlan
from runtime.explain.graph import Drawing, Graph
from runtime.explain.parts import Streams
from runtime.explain.statements import StatementDrawing, assignment_lines
from runtime.explain.streams import DrawnSources, property_texts, stream_names


def query_graph(plan: QueryPlan) -> Graph:
    """Return the plan of a query as a graph."""
    drawing = Drawing()
    QueryDrawing(DrawnSources(drawing), plan).draw()
    return drawing.graph("query", "query", context=None if plan.context is None else plan.context.name)


class QueryDrawing(StatementDrawing):
    """Draws a query between the windows and tables that it reads and changes."""

    begins = "has a row"

    def _body(self, body: BodyPlan) -> str:
        return DRAWN[type(body)](self, body)

    def _select_query(self, plan: SelectQueryPlan) -> str:
        streams = property_texts(plan.streams)
        if not plan.streams:
            here = self.drawing.node("start", "one row")
        else:
            here = self._draw_join(plan, streams)
            if plan.rows is not None and len(plan.streams) == 1:
                here = self._after(here, self._reading(plan.rows, "lookup", *_lookup_lines(plan.rows, streams)))
            elif plan.rows is not None:
                name = stream_names(plan.streams)[plan.looked_up]
                lookup = self._reading(plan.rows, "lookup", f"rows of {name}", *_lookup_lines(plan.rows, [plain]))
                self.drawing.edge(lookup, here, "lookup")
        if plan.where is not None:
            here = self._after(here, self._reading(plan.where, "where", f"where {expression_text(plan.where, streams)}"))
        return self._draw_result(here, plan.result_set, None, streams)

    def _insert(self, plan: InsertQueryPlan) -> str:
        count = len(plan.new_rows)
        return self._changes(plan, f"insert {count} row{'' if count == 1 else 's'}")

    def _update_query(self, plan: UpdateQueryPlan) -> str:
        streams = [of(plan.store.name), of("initial")]
        return self._changes(plan, "update", *assignment_lines(plan.assignments, streams), *_lookup_lines(plan.rows, streams))

    def _delete(self, plan: DeleteQueryPlan) -> str:
        return self._changes(plan, "delete", *_lookup_lines(plan.rows, [of(plan.store.name)]))

    def _changes(self, plan: InsertQueryPlan | UpdateQueryPlan | DeleteQueryPlan, *lines: str) -> str:
        store = self.sources.store(plan.store.name, "")
        node = self._reading(plan, "action", *lines)
        if not isinstance(plan, InsertQueryPlan):
            self.drawing.edge(store, node, "lookup")
        self.drawing.edge(node, store)
        self._emits(node, None)
        return node


def _lookup_lines(rows: RowsPlan, streams: Streams) -> Sequence[str]:
    """Return how rows are found, as lines of a label."""
    where = "" if rows.where is None else f"where {expression_text(rows.where, streams)}"
    return [rows.lookup.text(streams), where]


DRAWN: Mapping[type[BodyPlan], Callable[[QueryDrawing, Any], str]] = {
    SelectQueryPlan: QueryDrawing._select_query,
    InsertQueryPlan: QueryDrawing._insert,
    UpdateQueryPlan: QueryDrawing._update_query,
    DeleteQueryPlan: QueryDrawing._delete,
}

__all__ = ["QueryDrawing", "query_graph"]
