"""A module as a graph: its statements between the event types, windows, tables and variables that they read and write."""
from __future__ import annotations

import re
from collections.abc import Sequence

from epl.plan.statements import (
    CreateContextPlan,
    CreateExpressionPlan,
    CreateSchemaPlan,
    CreateTablePlan,
    CreateVariablePlan,
    StatementPlan,
)
from epl.plan.stores.named_windows import CreateWindowPlan
from runtime.explain.graph import Drawing, Graph, GraphEdge, GraphNode, NodeKind
from runtime.explain.statements import statement_graph

SHARED: tuple[NodeKind, ...] = ("type", "store", "variable", "context")
LONGEST_TEXT = 90
ANNOTATIONS = re.compile(r"^(?:\s*@\w+(?:\([^()]*\))?)+")
"""In front of a statement; its name is shown by itself."""


def module_graph(title: str, plans: Sequence[StatementPlan]) -> Graph:
    """Return how events flow between statements: insert into, named windows, tables, variables, contexts. Each statement's own graph is
    drawn together to one node."""
    flow = _Flow()
    for plan in plans:
        flow.add(plan)
    return flow.drawing.graph("module", title)


class _Flow:
    def __init__(self) -> None:
        self.drawing = Drawing()
        self._shared: dict[tuple[NodeKind, str], str] = {}

    def add(self, plan: StatementPlan) -> None:
        graph = statement_graph(plan)
        named = [node for node in graph.nodes if node.kind in SHARED and _name(node) is not None]
        shared = {node.id: self._place(node) for node in sorted(named, key=lambda node: node.kind != "store")}
        if isinstance(plan.body, (CreateSchemaPlan, CreateExpressionPlan)):
            return
        own = self._own(plan)
        for edge in graph.edges:
            source, target = shared.get(edge.source, own), shared.get(edge.target, own)
            if source != target:
                self._connect(edge, source, target, own)

    def _own(self, plan: StatementPlan) -> str:
        if isinstance(plan.body, CreateContextPlan):
            return self._shared["context", plan.body.context.name]
        if isinstance(plan.body, CreateWindowPlan):
            return self._shared["store", plan.body.window.name]
        if isinstance(plan.body, CreateTablePlan):
            return self._shared["store", plan.body.table.name]
        if isinstance(plan.body, CreateVariablePlan):
            return self._shared["variable", plan.body.name]
        text = " ".join(ANNOTATIONS.sub("", plan.text).split())
        context = "" if plan.context is None else f"context {plan.context.name}"
        return self.drawing.node("statement", plan.name, context, text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT - 1]}…",
                                 name=plan.name, statement=plan.kind, context=context.partition(" ")[2], epl=plan.text)

    def _connect(self, edge: GraphEdge, source: str, target: str, own: str) -> None:
        label = edge.label if target != own and edge.label.startswith(("insert", "into", "sets")) else ""
        self.drawing.edge(source, target, "flow" if edge.kind == "part" else edge.kind, label)

    def _place(self, node: GraphNode) -> str:
        """Return the node of a shared thing. A named window is known as the type of its events, too."""
        name = _name(node)
        assert name is not None
        for kind in (node.kind, "store"):
            if (kind, name) in self._shared:
                return self._shared[kind, name]
        place = self._shared[node.kind, name] = self.drawing.node(node.kind, *node.lines[:2 if node.kind == "store" else 1], name=name)
        return place


def _name(node: GraphNode) -> str | None:
    return next((str(value) for name, value in node.attributes if name == "name"), None)


__all__ = ["module_graph"]
