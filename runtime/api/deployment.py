"""A deployed module."""
from __future__ import annotations

from collections.abc import Callable, Iterator

from epl.plan.statements import ModulePlan
from runtime.statements.statement import Statement


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
        self, deployment_id: str, plan: ModulePlan, statements: tuple[Statement, ...], undeploy: Callable[[str], None],
        parameters: dict[str | int, object],
    ) -> None:
        self.id = deployment_id
        self.plan = plan
        self.statements = statements
        self.parameters = parameters
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

    def __repr__(self) -> str:
        return f"Deployment({self.id!r}, {[s.name for s in self.statements]})"
