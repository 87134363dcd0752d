"""One driver a file; ``ENGINES`` names them all, in the order in which they take their turns."""
from __future__ import annotations

from collections.abc import Callable

from benchmarks.engine import Engine
from benchmarks.engines.batch import Batch
from benchmarks.engines.esper import Esper
from benchmarks.engines.flink import Flink
from benchmarks.engines.loops import Loops
from benchmarks.engines.row import Row
from benchmarks.engines.with_numpy import Numpy
from benchmarks.engines.with_polars import Polars

ENGINES: dict[str, Callable[[], Engine]] = {
    "esper": Esper, "row": Row, "batch": Batch, "batch-plain": lambda: Batch(encoded=False),
    "batch-only": lambda: Batch(tier="batch"), "loops": Loops, "numpy": Numpy, "polars": Polars, "flink": Flink,
}
ON_REQUEST = frozenset(("batch-only", "flink"))
"""Engines that run only when named."""

__all__ = ["ENGINES", "ON_REQUEST"]
