"""Variables of one name that only their own modules see: each keeps its value over a restart and what other deployments come and go."""

from __future__ import annotations

from runtime import Runtime


def deploy(runtime: Runtime, module: str, first: int) -> str:
    return runtime.deploy(
        f"""module {module}; @protected create variable int v = {first}; create schema Set_{module}(a int);
        @name('{module}') select v from pattern [every timer:interval(1)]; on Set_{module} set v = a""").id


def values(runtime: Runtime, *names: str) -> dict[str, int]:
    """Return what the statements emit at the next second."""
    seen: dict[str, int] = {}
    for name in names:
        runtime.statement(name).add_listener(lambda new, old, statement, _: seen.update({statement.name: new[0]["v"]}))
    runtime.advance_time(runtime.now + 1000)
    return seen


def test_each_module_has_its_own() -> None:
    runtime = Runtime(start_time=0)
    deploy(runtime, "one", 10)
    two = deploy(runtime, "two", 20)
    runtime.send("Set_one", {"a": 11})
    runtime.deploy("module one; @name('later') select v from pattern [every timer:interval(1)]")
    runtime = Runtime.restore(runtime.snapshot())
    assert values(runtime, "one", "two", "later") == {"one": 11, "two": 20, "later": 11}
    runtime.send("Set_two", {"a": 21})
    runtime.send("Set_one", {"a": 12})
    runtime = Runtime.restore(runtime.snapshot())
    assert values(runtime, "one", "two", "later") == {"one": 12, "two": 21, "later": 12}
    runtime.undeploy(two)
    assert values(runtime, "one", "later") == {"one": 12, "later": 12}
    deploy(runtime, "two", 22)
    runtime = Runtime.restore(runtime.snapshot())
    assert values(runtime, "one", "two", "later") == {"one": 12, "two": 22, "later": 12}


def test_a_module_that_fails_leaves_that_of_another() -> None:
    runtime = Runtime(start_time=0)
    deploy(runtime, "one", 10)
    try:
        runtime.deploy("module two; @protected create variable int v = 20; create constant variable int w = cast('x', int)")
    except Exception:  # noqa: BLE001 - it is refused
        pass
    else:
        raise AssertionError("the module is refused")
    assert values(runtime, "one") == {"one": 10} and runtime.get_variable("v") == 10
