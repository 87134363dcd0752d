"""What recorded cases cannot show: delivery by groups and rows, precedence, all-or-nothing assignment, restarts in between."""
from __future__ import annotations

from typing import Any

import pytest

from epl.errors import EplDeploymentError, EplUnsupportedError
from epl.settings import Settings
from runtime import Runtime

READING = "create schema Reading(sensor string, value int); "


def listen(runtime: Runtime, *names: str) -> list[Any]:
    """(statement, new values, old values) of every call from now on."""
    calls: list[Any] = []
    for name in names:
        runtime.statement(name).add_listener(
            lambda new, old, s, r: calls.append(
                (s.name, [list(n.to_dict().values()) for n in new], [list(o.to_dict().values()) for o in old])
            )
        )
    return calls


def send(runtime: Runtime, *rows: tuple[str, int]) -> None:
    for sensor, value in rows:
        runtime.send("Reading", {"sensor": sensor, "value": value})


def test_grouped_delivery_calls_once_a_group() -> None:
    runtime = Runtime()
    runtime.deploy(READING + "@name('s0') select irstream sensor, value from Reading#length_batch(3) for grouped_delivery(sensor)")
    calls = listen(runtime, "s0")
    send(runtime, ("a", 1), ("b", 2), ("a", 3))
    assert calls == [("s0", [["a", 1], ["a", 3]], []), ("s0", [["b", 2]], [])]
    calls.clear()
    send(runtime, ("c", 1), ("b", 5), ("c", 2))
    assert calls == [
        ("s0", [["c", 1], ["c", 2]], []), ("s0", [["b", 5]], [["b", 2]]), ("s0", [], [["a", 1], ["a", 3]]),
    ]


def test_discrete_delivery_calls_once_a_row() -> None:
    runtime = Runtime()
    runtime.deploy(READING + "@name('s0') select irstream sensor from Reading#length(1) for discrete_delivery")
    calls = listen(runtime, "s0")
    send(runtime, ("a", 1), ("b", 2))
    assert calls == [("s0", [["a"]], []), ("s0", [["b"]], []), ("s0", [], [["a"]])]


@pytest.mark.parametrize(("precedence", "order"), [(True, ["5", "3", "1", "none", "low"]), (False, ["1", "5", "none", "low", "3"])])
def test_events_of_higher_precedence_come_first(precedence: bool, order: list[str]) -> None:
    runtime = Runtime(settings=Settings(precedence=precedence))
    runtime.deploy(
        READING + "create schema Out(id string, rank int); insert into Out event-precedence(1) select '1' as id from Reading;"
        "insert into Out event-precedence(rank) select '5' as id, 5 as rank from Reading; insert into Out select 'none' as id from Reading;"
        "insert into Out event-precedence(-1) select 'low' as id from Reading;"
        "insert into Out event-precedence(3) select '3' as id from Reading; @name('s0') select id from Out"
    )
    calls = listen(runtime, "s0")
    send(runtime, ("a", 1))
    assert [new[0][0] for _, new, _ in calls] == order


def test_a_failing_assignment_leaves_all_variables_as_they_were() -> None:
    errors: list[str] = []
    runtime = Runtime(on_error=lambda error, statement, event: errors.append(str(error)))
    runtime.deploy(
        READING + "create variable int n = 1; create variable long[] slots = {1L, 2L}; on Reading set n = value, slots[value] = 7"
    )
    send(runtime, ("a", 9))
    assert (runtime.get_variable("n"), runtime.get_variable("slots")) == (1, [1, 2])
    assert errors[0].startswith("Failed variable write: Array length 2 less than index 9 for variable 'slots'")
    send(runtime, ("a", 1))
    assert (runtime.get_variable("n"), runtime.get_variable("slots")) == (1, [1, 7])


def test_listeners_of_variables_hear_of_every_way_to_set_them() -> None:
    runtime = Runtime()
    runtime.deploy(READING + "@name('v') create variable int n = 1; @name('set') on Reading set n = value")
    calls = listen(runtime, "v", "set")
    send(runtime, ("a", 4))
    runtime.set_variable("n", 6)
    send(runtime, ("a", 7))
    assert next(c for c in calls if c[0] == "v") == ("v", [[4]], [[1]])
    assert [c for c in calls if c[0] == "set"] == [("set", [[4]], []), ("set", [[7]], [])]
    assert [list(row.to_dict().values()) for row in runtime.statement("v")] == [[7]]


def test_a_variable_in_use_by_an_assignment_cannot_go() -> None:
    runtime = Runtime()
    declared = runtime.deploy(READING + "create variable int n = 1")
    runtime.deploy("on Reading set n = value")
    with pytest.raises(EplDeploymentError, match="A precondition is not satisfied"):
        runtime.undeploy(declared.id)


def test_everything_goes_on_after_a_restart() -> None:
    runtime = Runtime()
    runtime.deploy(
        "create schema Item(id string); create schema Purchase(code string, items Item[]); create variable Purchase newest;"
        "update istream Purchase set code = code || '!'; on Purchase as p insert into Codes select p.code as c where p.code != 'x';"
        "on Purchase as p set newest = p; @name('s0') select code, id from Purchase[select code, id from items]#length(2);"
        "@name('s1') select newest.code as c from Codes"
    )
    for number in range(3):
        runtime = Runtime.restore(runtime.snapshot())
        calls = listen(runtime, "s1")
        runtime.send("Purchase", {"code": f"p{number}", "items": [{"id": "i"}]})
        assert calls == [("s1", [[f"p{number}!"]], [])]
    assert [row.to_dict() for row in runtime.statement("s0")] == [{"code": "p1!", "id": "i"}, {"code": "p2!", "id": "i"}]


@pytest.mark.parametrize("text", ["on Reading set n('k') = 1"])
def test_what_is_not_there_yet_is_refused(text: str) -> None:
    runtime = Runtime()
    runtime.deploy(READING + "create variable int n = 1; create variable java.util.Map m")
    with pytest.raises(EplUnsupportedError):
        runtime.deploy(text)
