"""A sort key that a variable changes: an event is found where it is, not where its key would be now."""
from __future__ import annotations

from random import Random

from runtime import Runtime


def test_a_ranked_event_is_taken_out_though_its_sort_key_has_changed() -> None:
    random, errors = Random(5), []
    with Runtime(on_error=lambda error, *_: errors.append(error)) as runtime:
        runtime.deploy(
            "create schema E(k string, v double); create schema Turn(f double); create variable double factor = 1;"
            "on Turn as t set factor = t.f; @name('s') select k, v from E#rank(k, 3, v * factor)"
        )
        for _ in range(200):
            runtime.send("E", {"k": random.choice("abcde"), "v": random.random()})
            runtime.send("Turn", {"f": random.choice([-1.0, 1.0])})
            keys = [row["k"] for row in runtime.statement("s")]
            assert len(keys) == len(set(keys)) <= 3
    assert not errors
