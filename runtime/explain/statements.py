"""The plan of one statement as a graph, from its sources to its output."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from epl.plan.assignments import PropertyAssignment, VariableAssignment
from epl.plan.expression_text import expression_text, of, plain
from epl.plan.expressions import VariableValue
from epl.plan.join.subqueries import SubqueryPlan, plan_subqueries
from epl.plan.result_set import OutputPlan, ResultSetPlan
from epl.plan.statements import (
    BodyPlan,
    CreateContextPlan,
    CreateExpressionPlan,
    CreateSchemaPlan,
    CreateTablePlan,
    CreateVariablePlan,
    InsertPlan,
    SelectPlan,
    SelectRowPlan,
    StatementPlan,
    class_words,
)
from epl.plan.stores.indexes import CreateIndexPlan
from epl.plan.stores.named_windows import CreateWindowPlan
from epl.plan.stores.on_statements import (
    MergeBranchPlan,
    OnDeletePlan,
    OnMergePlan,
    OnSelectPlan,
    OnSetPlan,
    OnUpdatePlan,
    OnWindowPlan,
    UpdateIstreamPlan,
)
from epl.plan.stores.queries import QueryPlan, SelectQueryPlan
from epl.plan.stores.splitting import OnSplitPlan
from epl.plan.stores.tables import TableKeys, TableValue
from epl.plan.walk import plan_expressions
from epl.value_types import ValueType
from runtime.explain.contexts import draw_context
from runtime.explain.graph import Drawing, Graph
from runtime.explain.parts import Streams, draw_join, draw_row_pattern, join_conditions
from runtime.explain.streams import DrawnSources, draw_stream, property_texts, stream_names

MOST_COLUMNS = 8
"""Columns of an output that a picture lists."""


def statement_graph(plan: StatementPlan, tier: str = "", partitioning: str = "") -> Graph:
    """Return the plan of a statement as a graph. ``tier``, ``partitioning``: as ``explain()`` says them."""
    drawing = Drawing()
    sources = DrawnSources(drawing)
    StatementDrawing(sources, plan).draw()
    context = None if plan.context is None else plan.context.name
    return drawing.graph("statement", plan.name, context=context, priority=plan.priority or None, partitioning=partitioning, tier=tier)


class StatementDrawing:
    """Draws one statement between its sources and targets."""

    begins = "arrives or leaves"
    """When the look-ups of a join begin at a stream."""

    def __init__(self, sources: DrawnSources, plan: StatementPlan | QueryPlan) -> None:
        self.sources = sources
        self.drawing = sources.drawing
        self.plan = plan
        self.name = plan.name if isinstance(plan, StatementPlan) else "query"
        self.readers: list[tuple[Any, str]] = []
        """Parts of the plan with expressions, and their nodes."""

    def draw(self) -> None:
        body = self.plan.body
        last = self._body(body)
        for subquery in body.subqueries:
            self._subquery(subquery, last)
        self._reads(last)
        if self.plan.context is not None:
            context = self.drawing.node("context", self.plan.context.name, "context", name=self.plan.context.name)
            self.drawing.edge(context, last, "control", "of each partition")

    def _body(self, body: BodyPlan) -> str:
        """Draw what is of its kind alone; return the node that sub-queries and variables lead to."""
        return DRAWN.get(type(body), StatementDrawing._other)(self, body)

    # ------------------------------------------------------------------ selects

    def _select(self, plan: SelectPlan) -> str:
        streams = property_texts(plan.streams)
        here = self._draw_join(plan, streams)
        if plan.row_recognition is not None:
            recognition = plan.row_recognition
            by = join_conditions(recognition.partition_by, streams, ", ")
            match = self.drawing.node("match", "match_recognize", f"pattern {recognition.pattern}", f"partition by {by}" if by else "",
                                      pattern=str(recognition.pattern))
            group = draw_row_pattern(self.drawing, recognition)
            self.drawing.edge(next(node.id for node in self.drawing.nodes if node.group == group), match, "part")
            here, streams = self._after(here, match), [plain]
        if plan.where is not None:
            here = self._after(here, self._reading(plan.where, "where", f"where {expression_text(plan.where, streams)}"))
        return self._draw_result(here, plan.result_set, plan.insert, streams)

    def _draw_join(self, plan: SelectPlan | SelectQueryPlan, streams: Streams) -> str:
        first = len(self.drawing.nodes)
        ends = [draw_stream(self.sources, stream, streams) for stream in plan.streams]
        filters = (node.id for node in self.drawing.nodes[first:] if node.kind == "filter" and node.group is None)
        self.readers.append((plan.streams, next(filters, ends[0])))
        if plan.join is None:
            return ends[0]
        names = stream_names(plan.streams)
        kinds = ", ".join("join" if kind == "comma" else f"{kind} join" for kind in plan.join.kinds)
        join = self._reading(plan.join, "join", kinds)
        for end, name in zip(ends, names):
            self.drawing.edge(end, join, label=name)
        group = draw_join(self.drawing, plan.join, names, streams, self.begins)
        for node in [node for node in self.drawing.nodes if node.group == group and node.kind == "accept"]:
            self.drawing.edge(node.id, join, "part")
        return join

    def _draw_result(self, here: str, rows: ResultSetPlan, insert: InsertPlan | None, streams: Streams) -> str:
        """Draw the result set and where its rows go; return the node of the result set."""
        node = self._after(here, self._reading(rows, "rows", *_result_set_lines(rows, streams)))
        if rows.output is not None:
            node = self._after(node, self.drawing.node("where", _output_text(rows.output)))
        self._emits(node, insert)
        return node

    def _emits(self, here: str, insert: InsertPlan | None) -> None:
        body = self.plan.body
        if isinstance(body, SelectPlan) and body.result_set.into is not None:
            self.drawing.edge(here, self.sources.store(body.result_set.into.table.name, "table"), label="into table")
        if insert is not None:
            self._inserts(here, insert)
        elif body.output_type is not None:
            self._after(here, self.drawing.node("output", self.name, *_columns(body), name=self.name))

    def _inserts(self, here: str, insert: InsertPlan) -> None:
        stream = "" if insert.stream == "istream" else f" {insert.stream}"
        target = self.sources.type(insert.target) if insert.table is None else self.sources.store(insert.table.name, "table")
        self.drawing.edge(here, target, label=f"insert{stream} into")

    def _select_row(self, plan: SelectRowPlan) -> str:
        names = plan.output_type.names if plan.output_type is not None else ()
        here = self._reading(plan.columns, "rows", *(f"{n} = {expression_text(c)}" for n, c in zip(names, plan.columns)))
        self._emits(here, None)
        return here

    # ------------------------------------------------------------------ declarations

    def _schema(self, plan: CreateSchemaPlan) -> str:
        return self.drawing.node("type", plan.event_type.name, *_columns(plan), name=plan.event_type.name)

    def _context(self, plan: CreateContextPlan) -> str:
        return draw_context(self.sources, plan.context)

    def _variable(self, plan: CreateVariablePlan) -> str:
        initial = "" if plan.initial is None else f" = {expression_text(plan.initial)}"
        return self.drawing.node("variable", plan.name, f"{plan.type}{initial}", "constant" if plan.constant else "", name=plan.name)

    def _table(self, plan: CreateTablePlan) -> str:
        lines = [f"{c.name} {c.text or c.type}{' primary key' if c.is_key else ''}" for c in plan.table.columns]
        return self.drawing.node("store", plan.table.name, "table", *_shorten(lines), name=plan.table.name)

    def _window(self, plan: CreateWindowPlan) -> str:
        end = draw_stream(self.sources, plan.stream, [plain])
        store = self.sources.store(plan.window.name, "named window")
        self.drawing.edge(end, store)
        if plan.fill is not None:
            self.drawing.edge(self.sources.store(plan.fill.source.name, "named window"), store, "lookup", "begins with")
        return store

    def _index(self, plan: CreateIndexPlan) -> str:
        node = self.drawing.node("lookup", plan.index.name, plan.index.plan.title)
        self.drawing.edge(node, self.sources.store(plan.index.store.name, ""), "lookup", "index of")
        return node

    def _expression(self, plan: CreateExpressionPlan) -> str:
        return self.drawing.node("note", self.name, "declared expression")

    def _other(self, plan: BodyPlan) -> str:
        return self.drawing.node("statement", self.name, class_words(type(plan).__name__))

    # ------------------------------------------------------------------ on-statements

    def _on_set(self, plan: OnSetPlan) -> str:
        end = draw_stream(self.sources, plan.stream, [plain])
        values = tuple(assignment.value for assignment in plan.assignments)
        node = self._after(end, self._reading(values, "action", "set", *assignment_lines(plan.assignments, [plain])))
        for assignment in plan.assignments:
            if assignment.variable is not None:
                self.drawing.edge(node, self.sources.variable(assignment.variable.name), label="sets")
        self._emits(node, None)
        return node

    def _update(self, plan: UpdateIstreamPlan) -> str:
        end = draw_stream(self.sources, plan.stream, [plain])
        where = "" if plan.where is None else f"where {expression_text(plan.where, [plain])}"
        node = self._after(end, self._reading(plan, "action", "update istream", *assignment_lines(plan.assignments, [plain]), where))
        self.drawing.edge(node, self.sources.type(plan.stream.event_type), label="instead")
        return node

    def _on_window(self, plan: OnWindowPlan) -> str:
        name = plan.match.store.name
        streams = [of(name), of(plan.trigger.alias or plan.trigger.event_type.name), of("initial")]
        end = draw_stream(self.sources, plan.trigger, [plain])
        store = self.sources.store(name, "")
        node = self._after(end, self._reading(plan, "action", *_action_lines(plan, streams), plan.match.lookup.text(streams)))
        writes = not isinstance(plan, OnSelectPlan) or plan.delete
        self.drawing.edge(store, node, "lookup")
        if writes:
            self.drawing.edge(node, store)
        if isinstance(plan, OnSelectPlan):
            return self._draw_result(node, plan.result_set, plan.insert, streams)
        if isinstance(plan, OnMergePlan):
            for insert in (a.insert for branch in plan.branches for a in branch.actions if a.insert is not None):
                if insert.target is not plan.match.store.event_type:
                    self._inserts(node, insert)
        self._emits(node, None)
        return node

    def _split(self, plan: OnSplitPlan) -> str:
        end = draw_stream(self.sources, plan.stream, [plain])
        node = self._after(end, self.drawing.node("action", "split", "every branch that applies" if plan.all else "the first that applies"))
        for branch in plan.branches:
            where = "otherwise" if branch.where is None else f"where {expression_text(branch.where, [plain])}"
            rows = self._after(node, self._reading(branch, "where", where))
            self._inserts(rows, branch.insert)
        self._emits(node, None)
        return node

    # ------------------------------------------------------------------ what expressions read

    def _subquery(self, plan: SubqueryPlan, last: str) -> None:
        streams = [plain, *map(of, plan.outer), lambda name: "the value"]
        end = draw_stream(self.sources, plan.stream, [plain])
        lookup = "" if plan.lookup is None else plan.lookup.text(streams)
        keeps = "aggregations are kept up to date" if plan.running else ""
        node = self._after(end, self.drawing.node("subquery", f"sub-query: {plan.use}", ", ".join(plan.names), keeps, lookup, use=plan.use))
        self.drawing.edge(node, self._subquery_reader(plan, last), "lookup")

    def _subquery_reader(self, subquery: SubqueryPlan, last: str) -> str:
        return next((node for part, node in self.readers if subquery in plan_subqueries(part)), last)

    def _reads(self, last: str) -> None:
        """Tables and variables that expressions read."""
        drawn = {edge.target for edge in self.drawing.edges if edge.label == "sets"}
        for part, reader in [*self.readers, (self.plan.body, last)]:
            for node in (node for expression in plan_expressions(part) for node in expression.walk()):
                if isinstance(node, VariableValue):
                    source = self.sources.variable(node.name)
                elif isinstance(node, (TableValue, TableKeys)):
                    source = self.sources.store(node.table.name, "table")
                else:
                    continue
                if part is not self.plan.body or source not in drawn:
                    self.drawing.edge(source, reader, "lookup")
                drawn.add(source)

    def _reading(self, part: Any, kind: Any, *lines: str) -> str:
        node = self.drawing.node(kind, *lines)
        self.readers.append((part, node))
        return node

    def _after(self, before: str, node: str) -> str:
        self.drawing.edge(before, node)
        return node


DRAWN: Mapping[type[BodyPlan], Callable[[StatementDrawing, Any], str]] = {
    SelectPlan: StatementDrawing._select,
    SelectRowPlan: StatementDrawing._select_row,
    CreateSchemaPlan: StatementDrawing._schema,
    CreateContextPlan: StatementDrawing._context,
    CreateVariablePlan: StatementDrawing._variable,
    CreateTablePlan: StatementDrawing._table,
    CreateWindowPlan: StatementDrawing._window,
    CreateIndexPlan: StatementDrawing._index,
    CreateExpressionPlan: StatementDrawing._expression,
    OnSetPlan: StatementDrawing._on_set,
    UpdateIstreamPlan: StatementDrawing._update,
    OnDeletePlan: StatementDrawing._on_window,
    OnSelectPlan: StatementDrawing._on_window,
    OnUpdatePlan: StatementDrawing._on_window,
    OnMergePlan: StatementDrawing._on_window,
    OnSplitPlan: StatementDrawing._split,
}

# ---------------------------------------------------------------------- lines of labels


def _columns(body: BodyPlan) -> list[str]:
    types: Mapping[str, Any] = {} if body.output_type is None else body.output_type.properties
    return _shorten([f"{p.name} {_type_text(p.type)}" for p in types.values()])


def _type_text(value: ValueType) -> str:
    return str(value)


def _shorten(lines: Sequence[str]) -> list[str]:
    return list(lines) if len(lines) <= MOST_COLUMNS else [*lines[:MOST_COLUMNS - 1], f"… {len(lines) - MOST_COLUMNS + 1} more"]


def _result_set_lines(rows: ResultSetPlan, streams: Streams) -> Iterator[str]:
    distinct = "distinct " if rows.distinct else ""
    if rows.forward is not None:
        yield f"select {distinct}*"
    else:
        names = rows.output_type.names
        texts = [(name, expression_text(column, streams)) for name, column in zip(names, rows.columns)]
        yield from _shorten([f"{'select ' + distinct if n == 0 else ''}{name if name == text else f'{name} = {text}'}"
                               for n, (name, text) in enumerate(texts)])
    if rows.group_by:
        yield f"group by {join_conditions(rows.group_by, streams, ', ')}" + (f" ({len(rows.levels)} levels)" if rows.levels else "")
    if rows.having is not None:
        yield f"having {expression_text(rows.having, streams)}"
    if rows.order_by:
        yield "order by " + ", ".join(expression_text(k.expression, streams) + (" desc" if k.descending else "") for k in rows.order_by)
    if rows.limit is not None:
        yield f"limit {expression_text(rows.limit.rows)}"
    if rows.selector != "istream":
        yield f"{rows.selector}: {'insert and remove stream' if rows.selector == 'irstream' else 'remove stream'}"


def _output_text(plan: OutputPlan) -> str:
    selector = "" if plan.selector == "default" else f" {plan.selector}"
    if plan.condition is not None:
        return f"output{selector} when {expression_text(plan.condition)}"
    if plan.crontab is not None:
        return f"output{selector} at a crontab's times"
    if plan.every is not None:
        return f"output{selector} every {expression_text(plan.every)}{' events' if plan.unit == 'events' else ''}"
    if plan.terminated is not None:
        return f"output{selector} when terminated"
    after = "" if plan.after is None else f" after {expression_text(plan.after)}{' events' if plan.after_unit == 'events' else ''}"
    return f"output{selector}{after}"


def assignment_lines(assignments: Sequence[VariableAssignment | PropertyAssignment], streams: Streams) -> list[str]:
    lines = []
    for each in assignments:
        target = each.property or ""
        if isinstance(each, VariableAssignment) and each.variable is not None:
            target = f"{each.variable.name}.{target}" if target else each.variable.name
        index = "" if each.index is None else f"[{expression_text(each.index, streams)}]"
        value = expression_text(each.value, streams)
        lines.append(f"{target}{index} = {value}" if target else value)
    return _shorten(lines)


def _action_lines(plan: OnWindowPlan, streams: Streams) -> Iterator[str]:
    if isinstance(plan, OnDeletePlan):
        yield "delete"
    elif isinstance(plan, OnSelectPlan):
        yield "select and delete" if plan.delete else "select"
    elif isinstance(plan, OnUpdatePlan):
        yield "update"
        yield from assignment_lines(plan.assignments, streams)
    elif isinstance(plan, OnMergePlan):
        yield "merge"
        yield from (line for branch in plan.branches for line in _branch_lines(branch, streams))
    if plan.match.where is not None:
        yield f"where {expression_text(plan.match.where, streams)}"


def _branch_lines(branch: MergeBranchPlan, streams: Streams) -> Iterator[str]:
    streams = streams if branch.matched else streams[1:]
    condition = "" if branch.condition is None else f" and {expression_text(branch.condition, streams)}"
    actions = ", ".join(
        f"insert into {action.insert.target.name}" if action.insert is not None else action.kind for action in branch.actions)
    yield f"when {'' if branch.matched else 'not '}matched{condition}: {actions}"


__all__ = ["StatementDrawing", "assignment_lines", "statement_graph"]
