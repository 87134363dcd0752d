"""A limit on states and the iterator: partial matches are limited, what the iterator finds is not where layers bound it."""
from __future__ import annotations

import pytest

from epl.settings import Settings
from runtime import Runtime

KEYS = 10
LAYERS = "pattern (A B) define A as A.v = 1, B as B.v = 2"
LOOKS_BACK = "pattern (A B) define A as A.v = 1, B as B.v = A.v + 1"


def over(pattern: str, limit: int | None) -> tuple[list[int], list[int]]:
    """(what listeners get, what the iterator gives): the keys of which a one and a two have come, all ones first."""
    runtime = Runtime(settings=Settings(max_states=limit))
    runtime.register("T", {"k": int, "v": int})
    delivered: list[int] = []
    deployment = runtime.deploy(
        f"@name('s0') select * from T#keepall match_recognize (partition by k measures A.k as a, B.k as b {pattern})",
        listeners={"s0": lambda new, *_: delivered.extend(r["a"] for r in new)},
    )
    for value in (1, 2):
        for key in range(KEYS):
            runtime.send("T", {"k": key, "v": value})
    return delivered, [r["a"] for r in deployment["s0"]]


@pytest.mark.parametrize("pattern", [LAYERS, LOOKS_BACK])
def test_without_a_limit_both_give_all(pattern: str) -> None:
    assert over(pattern, None) == (list(range(KEYS)), list(range(KEYS)))


def test_the_iterator_over_layers_has_no_limit() -> None:
    assert over(LAYERS, 4) == ([0, 1, 2, 3], list(range(KEYS)))


def test_the_iterator_that_looks_back_is_limited() -> None:
    assert over(LOOKS_BACK, 4) == ([0, 1, 2, 3], [0, 1, 2, 3])
