"""Restarts at any moment change nothing that a user sees: random modules of every kind of statement, random events, both tiers.

The same sequences each time; ``EPL_LONG=1`` runs 10,000 a tier with others each time, ``EPL_SEED=n`` with those of seed n.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from tests.restarts.drawn_modules import KINDS, Drawn, module, steps
from tests.restarts.sequences import Refused, difference, reduced, restarts_at, run

LONG = bool(os.environ.get("EPL_LONG"))
SEED = int(os.environ.get("EPL_SEED", Random().randrange(2**32) if LONG else 0))
PARTS = 8
SEQUENCES = {"row": 10_000 if LONG else 160, "batch": 10_000 if LONG else 64}
REFUSED = {"row": 0.2, "batch": 0.9}
"""At most so many of the drawn modules may be refused at deploy: Esper refuses them too, or columns do not take them."""


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("tier", ["row", "batch"])
def test_restarts_change_nothing(tier: str, part: int) -> None:
    counts: Counter[str] = Counter()
    for number in range(SEQUENCES[tier] // PARTS):
        of = Random(f"{SEED} {tier} {part} {number}")
        columns = tier == "batch"
        texts, happens = module(of, columns=columns), steps(of, of.randint(8, 40), columns=columns)
        restarts = restarts_at(of, len(happens), ["row"] if tier == "row" else ["row", "batch", "auto"])
        try:
            found = difference(texts, happens, tier, restarts)
        except Refused:
            counts["refused"] += 1
            continue
        counts["ran"] += 1
        if found is not None:
            pytest.fail(f"EPL_SEED={SEED}, part {part}, number {number}\n{reduced(texts, happens, tier, restarts)}")
    assert counts["refused"] <= REFUSED[tier] * counts.total(), counts


@pytest.mark.parametrize("kind", dict.fromkeys(KINDS), ids=lambda kind: kind.__name__)
def test_every_kind_runs_and_puts_something_out(kind: object) -> None:
    """A kind whose texts are all refused, or never emit a row, would test nothing."""
    calls = 0
    for number in range(12):
        of = Random(f"{kind.__name__} {number}")  # type: ignore[attr-defined]
        try:
            calls += len(run([kind(Drawn(of))], steps(of, 40), "row").calls)  # type: ignore[operator]
        except Refused:
            continue
    assert calls > 10
