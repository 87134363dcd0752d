"""Fixtures of the tests of expressions."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from expression_bench import Bench


@pytest.fixture
def bench() -> Bench:
    return Bench()
