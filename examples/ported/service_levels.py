"""Service levels, ported: customers' operations are measured, and limits that customers set at run time become statements.

A ``LatencyLimit`` event deploys a statement for its customer and operation, with the limit as a substitution parameter; a new limit for
the same two replaces it. Beside that: spikes, error rates and averages a customer.

Not ported, since EPL patterns are not supported yet: the check by ``pattern [every timer:interval(…)]`` that an operation has been
measured at all; here the averages are emitted on a schedule instead (``output snapshot every``).

``python examples/ported/service_levels.py``
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runtime import Deployment, Rows, Runtime, Statement


@dataclass
class Operation:
    name: str
    customer: str
    latency: int
    success: bool = True


@dataclass
class LatencyLimit:
    operation: str
    customer: str
    limit: int


MONITORS = """
@name('spike') select name, customer, latency from Operation(latency > 20000);

@name('errors')
select customer, count(*) as errors from Operation(success = false)#time(10 min) group by customer having count(*) >= 2;

@name('averages')
select customer, name, average, datapoints from Operation#groupwin(customer, name)#length(100)#uni(latency)
output snapshot every 1 min order by customer, name;

@name('limits') select * from LatencyLimit;
"""

LIMIT = """
@name('exceeded') select name, customer, latency
from Operation(customer = ?:customer:string, name = ?:name:string, latency > ?:longest:int)
"""


class ServiceLevels:
    """The monitors, and a deployment for each limit that is in force."""

    def __init__(self, runtime: Runtime) -> None:
        self.alerts: list[tuple[str, dict[str, Any]]] = []
        self.limits: dict[tuple[str, str], Deployment] = {}
        runtime.register("Operation", Operation)
        runtime.register("LatencyLimit", LatencyLimit)
        for statement in runtime.deploy(MONITORS):
            statement.add_listener(self.set_limit if statement.name == "limits" else self.alert)

    def alert(self, new: Rows, old: Rows, statement: Statement, runtime: Runtime) -> None:
        for row in new:
            self.alerts.append((statement.name, dict(row)))
            print(f"{runtime.now} ms: {statement.name}", row)

    def set_limit(self, new: Rows, old: Rows, statement: Statement, runtime: Runtime) -> None:
        """A listener may deploy and undeploy."""
        for row in new:
            key = (row.customer, row.operation)
            if key in self.limits:
                self.limits[key].undeploy()
            values = {"customer": row.customer, "name": row.operation, "longest": row.limit}
            self.limits[key] = runtime.deploy(LIMIT, parameters=values, listeners={"exceeded": self.alert})


def main() -> list[tuple[str, dict[str, Any]]]:
    with Runtime() as runtime:
        levels = ServiceLevels(runtime)
        for ms, event in [
            (1_000, LatencyLimit("order", "acme", 8_000)), (2_000, Operation("order", "acme", 7_000)),
            (3_000, Operation("order", "acme", 9_000)), (4_000, Operation("order", "umbrella", 21_000)),
            (5_000, Operation("login", "acme", 100, success=False)), (6_000, Operation("login", "acme", 300, success=False)),
            (7_000, LatencyLimit("order", "acme", 6_000)), (8_000, Operation("order", "acme", 7_000)),
        ]:
            runtime.advance_time_span(ms)
            runtime.send(type(event).__name__, event)
        runtime.advance_time_span(70_000)
    return levels.alerts


if __name__ == "__main__":
    main()
