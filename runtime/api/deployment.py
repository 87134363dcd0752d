"""A deployed module."""
from __future__ import annotations

from collections.abc import Callable, Iterator

from epl.plan.statements import ModulePlan
from runtime.statements.statement import Statement


class Deployment:
    """The statements of one deployment, by name or place: ``deployment["s0"]``, ``deployment[0]``."""

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
        """Stop and forget all statements of the deployment; refuses while other deployments use what it declares."""
        self._undeploy(self.id)

    def __repr__(self) -> str:
        return f"Deployment({self.id!r}, {[s.name for s in self.statements]})"
