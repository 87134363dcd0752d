"""Windows whose sizes are variables go on after a restart, whatever the variables hold by then."""
from __future__ import annotations

import pytest

from runtime import EplDeploymentError, Runtime

WINDOWS = [
    "length(z)", "length_batch(z)", "sort(z, n)", "firstlength(z)", "time(z sec)", "time(z)", "time_batch(z)", "time_accum(z)",
    "ext_timed(n, z)", "ext_timed_batch(n, z)", "time_order(n, z)", "firsttime(z)", "time_length_batch(1, z)", "time_length_batch(z, 2)",
    "groupwin(n)#length(z)", "groupwin(n)#time(z)", "expr(current_count < z)",
]


@pytest.mark.parametrize("value", [0, -1, None])
@pytest.mark.parametrize("window", WINDOWS)
def test_a_size_is_not_asked_again_at_a_restart(window: str, value: int | None) -> None:
    received: list[list[list[int]]] = [[], []]
    runtime = Runtime()
    runtime.declare_variable("z", "int", 2)
    runtime.deploy("create schema E(n long)")
    runtime.deploy(f"@name('s') select irstream n from E#{window}")
    for number in range(3):
        runtime.send("E", {"n": number})
    runtime.set_variable("z", value)
    for each, heard in zip((runtime, Runtime.restore(runtime.snapshot())), received):
        each.statement("s").add_listener(lambda new, old, *_, heard=heard: heard.append([r["n"] for r in (*new, *old)]))
        heard.append([r["n"] for r in each.statement("s")])
        for number in (0, 1, 2):
            each.send("E", {"n": number})
        each.advance_time(10_000)
    assert received[0] == received[1] and received[0][0] + received[0][-1]


@pytest.mark.parametrize(("window", "message"), [
    ("length(z)", "length view requires a positive integer for size but received null"),
    ("time(z)", "Invalid time computation result null requires a size of at least 1 msec but received null"),
    ("time_batch(z sec)", "Failed to evaluate time period, received a null value for 'Received null value evaluating time period'"),
    ("time_length_batch(1, z)", "time_length_batch view requires a positive integer for size but received null"),
])
def test_a_size_that_is_null_is_refused_when_it_is_deployed(window: str, message: str) -> None:
    with pytest.raises(EplDeploymentError) as refusal:
        Runtime().deploy(f"create schema E(n int); create variable int z; select n from E#{window}")
    assert refusal.value.message == f"Failed to deploy: {message}"
