"""Plans in notebooks: text, facts and picture as HTML that loads nothing and runs nothing."""
from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import attrs

from epl.plan.explain import explain, explain_query
from epl.plan.statements import ModulePlan, StatementPlan
from epl.plan.stores.queries import QueryPlan
from runtime.explain.graph import Graph
from runtime.explain.modules import module_graph
from runtime.explain.queries import query_graph
from runtime.explain.statements import statement_graph
from runtime.explain.svg import svg

FACTS = "color:#555;font-size:90%;margin:2px 0"
CODE = "background:#f6f6f6;color:#1b1b1b;padding:6px 8px;border-radius:4px;white-space:pre-wrap;margin:4px 0"


def picture_html(graph: Graph) -> str:
    """Return the picture, or what to install for it."""
    try:
        return scroll_html(svg(graph), "Picture of the plan")
    except ImportError as error:
        return f'<p style="{FACTS}">{escape(str(error))}</p>'


def scroll_html(drawn: str, label: str) -> str:
    """Return an SVG element in its own size: a cell that is narrower scrolls, by keys too, where it would shrink the letters."""
    sized = drawn.replace("<svg ", '<svg style="max-width:none" ', 1)
    return f'<div style="overflow-x:auto" tabindex="0" role="group" aria-label="{escape(label)}">{sized}</div>'


def facts_html(facts: Iterable[str]) -> str:
    return f'<p style="{FACTS}">{" · ".join(map(escape, facts))}</p>'


def count_text(count: int, what: str) -> str:
    """
    >>> count_text(1, "listener"), count_text(0, "listener")
    ('1 listener', '0 listeners')
    """
    return f"{count} {what}{'' if count == 1 else 's'}"


def text_html(text: str) -> str:
    """Return EPL text as a block."""
    return f'<pre style="{CODE}">{escape(text.strip())}</pre>'


def fold_html(title: str, html: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{html}</details>"


@attrs.frozen
class Picture:
    """A graph that notebooks show as a picture."""

    graph: Graph

    @property
    def svg(self) -> str:
        """The picture as an SVG element; raises ImportError where the layout library is missing."""
        return svg(self.graph)

    def _repr_html_(self) -> str:
        return picture_html(self.graph)


def picture(plan: ModulePlan | StatementPlan | QueryPlan) -> Picture:
    """Return the picture of a plan, as ``runtime.compile`` and ``compile_query`` return it or ``statement.plan`` holds it; nothing is
    deployed or run.

    >>> from runtime import Runtime
    >>> picture(Runtime().compile("create schema T(a int); select a from T")).graph.kind
    'module'
    """
    if isinstance(plan, ModulePlan):
        return Picture(module_graph(plan.name or "module", plan.statements))
    if isinstance(plan, QueryPlan):
        return Picture(query_graph(plan))
    return Picture(statement_graph(plan))


def plan_html(plan: Any) -> str:
    """Return what notebooks show of a plan that is not deployed: its text and its picture."""
    return f"{text_html(_plan_text(plan))}{fold_html('picture', picture(plan)._repr_html_())}"


def _plan_text(plan: Any) -> str:
    if isinstance(plan, ModulePlan):
        return "\n\n".join(explain(statement, tier="") for statement in plan.statements)
    return explain_query(plan) if isinstance(plan, QueryPlan) else explain(plan, tier="")


__all__ = ["Picture", "count_text", "facts_html", "fold_html", "picture", "picture_html", "plan_html", "text_html"]
