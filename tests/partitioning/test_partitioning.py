"""By which key statements may be split: a table of modules with the key, or the operator that stands in the way."""
from __future__ import annotations

import pytest

from epl.analysis.partitioning import AnySplit, SplitBy, Whole, partitioning_of
from epl.catalog import Settings
from epl.errors import EplValidationError
from runtime import Runtime
from tests.partitioning.catalogue import ANYHOW, PATTERN, SCHEMA, SPLIT, WHOLE


def verdict(text: str, *names: str, settings: Settings | None = None) -> SplitBy | AnySplit | Whole:
    """Of the statements of those names, or of the last one."""
    plan = Runtime(settings=settings).compile(SCHEMA + text)
    return partitioning_of(plan.statements, *(names or (plan.statements[-1],)), settings=settings)


@pytest.mark.parametrize(("text", "keys"), SPLIT)
def test_split(text: str, keys: dict[str, str]) -> None:
    found = verdict(text)
    assert isinstance(found, SplitBy), found.describe()
    assert {name: " ".join(".".join(p) for p in paths) for name, paths in found.keys.items()} == keys


@pytest.mark.parametrize(("text", "stateless"), ANYHOW)
def test_anyhow(text: str, stateless: bool) -> None:
    found = verdict(text)
    assert isinstance(found, AnySplit), found.describe()
    assert found.stateless == stateless


@pytest.mark.parametrize(("text", "operator"), WHOLE)
def test_whole(text: str, operator: str) -> None:
    found = verdict(text)
    assert isinstance(found, Whole), found.describe()
    assert found.operator == operator and found.reason
