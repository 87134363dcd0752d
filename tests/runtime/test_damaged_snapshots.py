"""Damaged snapshots are refused; crafted ones, whose checksum is right, are refused or run. ``EPL_LONG=1``: 52,500 of them."""
from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator

import pytest

from epl.errors import EplRuntimeError
from runtime import Runtime
from runtime.batch.available import is_available
from runtime.state import codec, page_reader
from tests.runtime.damage import a_snapshot, crafted, damaged, silent, try_all

LONG = bool(os.environ.get("EPL_LONG"))
ROUNDS = 25_000 if LONG else 600
TIERS = ["row", pytest.param("batch", marks=pytest.mark.skipif(not is_available(), reason="numba is not installed"))]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How many values, pages and events have been begun with."""
    counted: Counter[str] = Counter()

    def counting(owner: object, name: str) -> None:
        inner = getattr(owner, name)

        def call(*arguments: object) -> object:
            counted["steps"] += 1
            return inner(*arguments)

        monkeypatch.setattr(owner, name, call)

    counting(codec, "unpack")
    counting(page_reader.PageReader, "body")
    counting(page_reader.EventReader, "_build_event")
    counting(codec.Decoder, "_extension")
    yield counted


@pytest.mark.parametrize("tier", TIERS)
def test_snapshots_are_accepted_as_they_are(tier: str) -> None:
    for seed in range(20):
        try_all(a_snapshot(random.Random(seed), tier), random.Random(seed), tier)


def test_every_damage_is_refused(steps: Counter[str]) -> None:
    chance = random.Random(1)
    blobs = [a_snapshot(chance) for _ in range(20)]
    for number in range(ROUNDS):
        with pytest.raises(EplRuntimeError, match=r"^the snapshot(:| is )"):
            Runtime.restore(damaged(chance.choice(blobs), chance), on_error=silent)
        assert not steps, number


@pytest.mark.parametrize("tier", TIERS)
def test_a_crafted_snapshot_is_refused_or_runs(tier: str, steps: Counter[str]) -> None:
    """What is raised is EplRuntimeError, and reading takes no more steps than the snapshot has bytes."""
    chance = random.Random(2)
    blobs = [a_snapshot(chance, tier) for _ in range(20)]
    seen: Counter[str] = Counter()
    for number in range(ROUNDS if tier == "row" else ROUNDS // 10):
        blob = crafted(chance.choice(blobs), chance)
        steps.clear()
        try:
            try_all(blob, random.Random(number), tier)
            seen["accepted"] += 1
        except EplRuntimeError as error:
            assert error.message.startswith(("the snapshot", "statement ")), error.message
            seen["refused"] += 1
        assert steps["steps"] < len(blob), number
    assert seen["refused"] > seen["accepted"] > 0
