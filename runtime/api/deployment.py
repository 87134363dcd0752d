"""A deployed module."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import attrs

from epl.plan.statements import ModulePlan
from runtime.api.statement import Statement
from runtime.statements.statement_output import StatementOutput

if TYPE_CHECKING:
    from runtime.explain.formats import Format
    from runtime.explain.graph import Graph


class Deployment:
    """The statements of one deployment, by name or position.

    Attributes:
        id: The id of ``Runtime.deployments``.
        plan: The plan of the module.
        statements: In the order of the text.

    Examples:
        >>> from runtime import Runtime
        >>> runtime = Runtime()
        >>> deployment = runtime.deploy("create schema A(x int); @name('all') select * from A", name="d")
        >>> deployment["all"], deployment[0], len(deployment), [statement.name for statement in deployment]
        (Statement('all'), Statement('stmt-0'), 2, ['stmt-0', 'all'])
        >>> deployment.undeploy()
        >>> runtime.deployments
        {}
    """

    def __init__(
        self, deployment_id: str, plan: ModulePlan, statements: tuple[Statement, ...], undeploy: Callable[[str], None]
    ) -> None:
        self.id = deployment_id
        self.plan = plan
        self.statements = statements
        self._undeploy = undeploy

    def __getitem__(self, key: str | int) -> Statement:
        if isinstance(key, int):
            return self.statements[key]
        for statement in self.statements:
            if statement.name == key:
                return statement
        raise KeyError(f"no statement named {key!r}; there are {', '.join(s.name for s in self.statements)}")

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    def __len__(self) -> int:
        return len(self.statements)

    def undeploy(self) -> None:
        """Stop and forget all statements of the deployment.

        Raises:
            EplDeploymentError: Another deployment uses what it declares.
        """
        self._undeploy(self.id)

    def explain(self, format: Format = "text") -> str:
        """Return the plans of all statements, or how events flow between them as a graph (docs/pictures.md).

        Args:
            format: ``text``: the plans; ``json``, ``mermaid`` or ``dot``: the graph, ``json`` with that of each statement.

        Raises:
            ValueError: for another format.

        Examples:
            >>> from runtime import Runtime
            >>> deployment = Runtime().deploy("create schema T(a int); insert into U select a from T; @name('s') select a from U")
            >>> [line.strip() for line in deployment.explain("dot").splitlines() if "->" in line]
            ['n0 -> n2 [style=solid]', 'n2 -> n1 [style=solid, label="insert into"]', 'n1 -> n3 [style=solid]']
        """
        from runtime.explain.formats import WRITERS, as_json, check_format

        check_format(format)
        if format == "text":
            return "\n\n".join(statement.explain() for statement in self.statements)
        if format == "json":
            return as_json({**self.graph().to_dict(), "statements": [statement.graph().to_dict() for statement in self.statements]})
        return WRITERS[format](self.graph())

    def graph(self) -> Graph:
        """Return the statements as a graph, between the event types, windows, tables, variables and contexts that they share.

        Examples:
            >>> from runtime import Runtime
            >>> deployment = Runtime().deploy("create schema T(a int); insert into U select a from T; @name('s') select a from U")
            >>> [node.lines[0] for node in deployment.graph().nodes]
            ['T', 'U', 'stmt-1', 's']
        """
        from runtime.explain.modules import module_graph

        return module_graph(self.plan.name or self.id, [statement.plan for statement in self.statements])

    def __repr__(self) -> str:
        return f"Deployment({self.id!r}, {[s.name for s in self.statements]})"

    def _repr_html_(self) -> str:
        from runtime.explain.notebook_html import count_text, facts_html, picture_html

        facts = [count_text(len(self), "statement"), *([f"module {self.plan.name}"] if self.plan.name else [])]
        return f"<b>Deployment {escape(self.id)}</b>{facts_html(facts)}{picture_html(self.graph())}"


@attrs.frozen(eq=False)
class DeployedModule:
    """Internal to epl-spark: a deployment as the engine has it. ``statements``: in the order of the text; ``public``: what users see."""

    id: str
    plan: ModulePlan
    statements: tuple[StatementOutput, ...]
    parameters: dict[str | int, Any]
    public: Deployment

    def __iter__(self) -> Iterator[StatementOutput]:
        return iter(self.statements)

    def __len__(self) -> int:
        return len(self.statements)
