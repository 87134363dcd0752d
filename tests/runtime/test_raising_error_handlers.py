"""An error handler that raises: Esper's handlers do the same to a call, and the next call goes on from there."""

from __future__ import annotations

from typing import Any

import pytest

from runtime import Runtime

STATEMENTS = (
    "@name('first') select count(*) as c from A", "@name('routes') insert into B select k from A",
    "@name('bad') select cast(k, int) as i from A",
    "@name('after') select count(*) as c from A", "@name('b') select count(*) as c from B",
)


class Refused(Exception):
    """By the handler."""


class Application:
    """Keeps what listeners and the handler get."""

    def __init__(self, tier: str) -> None:
        self.seen: list[Any] = []
        self.runtime = Runtime(on_error=self.handle, tier=tier)
        self.runtime.deploy("create schema A(k string)")

    def handle(self, error: BaseException, statement: str, event: Any) -> None:
        self.seen.append(("handler", statement, type(error).__name__))
        raise Refused(statement)

    def deploy(self, *texts: str) -> None:
        for text in texts:
            for statement in self.runtime.deploy(text):
                statement.add_listener(lambda new, old, each, _: self.seen.append((each.name, [next(iter(row.values())) for row in new])))

    def taken(self) -> list[Any]:
        seen, self.seen = self.seen, []
        return seen


@pytest.mark.parametrize("tier", ["auto", "row"])
def test_an_event(tier: str) -> None:
    application = Application(tier)
    application.deploy(*STATEMENTS)
    with pytest.raises(Refused, match="bad"):
        application.runtime.send("A", {"k": "x"})
    assert [each[:2] for each in application.taken()] == [("handler", "bad")]
    application.runtime.send("A", {"k": "2"})
    assert application.taken() == [("first", [1, 2]), ("routes", ["x", "2"]), ("bad", [2]), ("after", [1]), ("b", [1]), ("b", [2])]
    application.runtime.send("A", {"k": "3"})
    assert application.taken() == [("first", [3]), ("routes", ["3"]), ("bad", [3]), ("after", [2]), ("b", [3])]
    application.runtime.close()


@pytest.mark.parametrize("tier", ["auto", "row"])
def test_a_timer_and_a_listener_call_it_once(tier: str) -> None:
    application = Application(tier)
    application.deploy("@name('t') select cast('x' || 'y', int) as i from pattern [every timer:interval(1 sec)]")
    with pytest.raises(Refused):
        application.runtime.advance_time_span(1000)
    assert [each[:2] for each in application.taken()] == [("handler", "t")]
    application.runtime.undeploy_all()
    application.runtime.deploy("create schema A(k string)")

    def sends(*_: Any) -> None:
        application.runtime.send("B", {})

    def fails(*_: Any) -> None:
        raise ValueError

    application.runtime.deploy("create schema B(); @name('outer') select * from A; @name('inner') select 1 as one from B",
                               listeners={"outer": sends, "inner": fails})
    with pytest.raises(Refused, match="inner"):
        application.runtime.send("A", {"k": "1"})
    assert [each[:2] for each in application.taken()] == [("handler", "inner")]
    application.runtime.close()
