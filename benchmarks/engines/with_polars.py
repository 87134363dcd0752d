"""Polars on whole columns, one thread: where an expression of its own gives the same rows. Symbols are categories from the start."""
from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

from benchmarks.data import Data
from benchmarks.engine import NotRun, Prepared
from benchmarks.engines.with_numpy import Columns, NumpySession, Step
from benchmarks.workloads import Workload


def _columns(frame: Any) -> Columns:
    one, two = frame.columns
    return frame[one].to_numpy(), frame[two].to_numpy()


def filtered(polars: Any, frame: Any) -> Step:
    """W1."""

    def step(first: int, last: int) -> Columns:
        rows = frame.slice(first, last - first).lazy()
        return _columns(rows.filter(polars.col("price") > 990).select("symbol", "price").collect())

    return step


def running(polars: Any, frame: Any) -> Step:
    """W2: the sum is an int of 32 bits, as in Java."""
    total = 0

    def step(first: int, last: int) -> Columns:
        nonlocal total
        rows = frame.slice(first, last - first).lazy()
        sums = polars.col("volume").cast(polars.Int64).cum_sum() + total
        output = rows.select(c=polars.int_range(first + 1, last + 1), s=sums).collect()
        total = output["s"][-1]
        return _columns(output.with_columns(polars.col("s").cast(polars.Int32, wrap_numerical=True).cast(polars.Int64)))

    return step


def sliding(polars: Any, frame: Any, length: int = 1000) -> Step:
    """W4."""

    def step(first: int, last: int) -> Columns:
        start = max(0, first - length + 1)
        price = polars.col("price")
        rows = frame.slice(start, last - start).lazy()
        mean, most = price.rolling_mean(length, min_samples=1), price.rolling_max(length, min_samples=1)
        return _columns(rows.select(a=mean, m=most).slice(first - start).collect())

    return step


STEPS: dict[str, Callable[[Any, Any], Step]] = {"W1": filtered, "W2": running, "W4": sliding}


class Polars:
    name = "polars"
    version = ""

    def prepare(self, prepared: Prepared) -> None:
        os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when polars is imported
        try:
            polars = importlib.import_module("polars")
        except ImportError as error:
            raise NotRun("pip install polars") from error
        self.polars, self.version = polars, f"Polars {polars.__version__}"
        self.frame = frame_of(polars, prepared.data)

    def open(self, workload: Workload) -> NumpySession:
        step_of = STEPS.get(workload.name)
        if step_of is None:
            raise NotRun("no expression of Polars gives these rows")
        return NumpySession(workload, step_of(self.polars, self.frame))

    def close(self) -> None:
        pass


def frame_of(polars: Any, data: Data) -> Any:
    return polars.DataFrame({"symbol": data.symbol, "price": data.price, "volume": data.volume})


__all__ = ["Polars"]
