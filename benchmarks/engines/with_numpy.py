"""numpy on whole columns: what a library without an engine takes for the same rows. Symbols are integer codes from the start."""
from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.data import Array, Data
from benchmarks.engine import Measured, NotRun, Prepared, timed
from benchmarks.workloads import Workload

Columns = tuple[Array, Array]
Step = Callable[[int, int], Columns]
"""step(first, last) → the two columns that a listener reads, computed from the events first … last - 1."""


class NumpySession:
    note = ""

    def __init__(self, workload: Workload, step: Step) -> None:
        self.workload, self.step = workload, step

    def run(self, first: int, last: int) -> Measured:
        gc.collect()
        cpu, wall, output = timed(lambda: self.step(first, last))
        return Measured(last - first, cpu, cpu, wall, len(output[0]), sums_of(self.workload, output))

    def close(self) -> None:
        pass


def sums_of(workload: Workload, output: Columns) -> tuple[float, ...]:
    """As the listeners of other engines add up; NaN stands for null."""
    return tuple(0 if c.mode == "touch" else np.nansum(values).item() for c, values in zip(workload.columns, output))


def filtered(data: Data) -> Step:
    """W1."""

    def step(first: int, last: int) -> Columns:
        price = data.price[first:last]
        taken = price > 990
        return data.symbol[first:last][taken], price[taken]

    return step


def running(data: Data) -> Step:
    """W2: the sum is an int of 32 bits, as in Java."""
    count = total = 0

    def step(first: int, last: int) -> Columns:
        nonlocal count, total
        counts = np.arange(count + 1, count + 1 + last - first)
        sums = np.cumsum(data.volume[first:last], dtype=np.int64)
        sums += total
        count, total = count + last - first, int(sums[-1])
        return counts, sums.astype(np.int32).astype(np.int64)

    return step


def sliding(data: Data, length: int = 1000) -> Step:
    """W4: sums as differences of running sums; maxima from those of the parts of blocks of ``length`` rows before and behind each row."""

    def step(first: int, last: int) -> Columns:
        start = max(0, first - length + 1)
        price = data.price[start:last]
        sums = np.concatenate(([0.0], np.cumsum(price)))
        ends = np.arange(first - start + 1, last - start + 1)
        begins = np.maximum(ends - length, 0)
        blocks = np.full((-(-len(price) // length), length), -np.inf)
        blocks.ravel()[: len(price)] = price
        before = np.maximum.accumulate(blocks, axis=1).ravel()
        behind = np.maximum.accumulate(blocks[:, ::-1], axis=1)[:, ::-1].ravel()
        most = np.where(ends < length, before[ends - 1], np.maximum(before[ends - 1], behind[begins]))  # a window that fills is a block
        return (sums[ends] - sums[begins]) / (ends - begins), most

    return step


def divided(data: Data) -> Step:
    """W7: the rows of each statement beside each other."""

    def step(first: int, last: int) -> Columns:
        price = data.price[first:last]
        taken = np.flatnonzero(price > 500)
        symbol = data.symbol[first:last][taken]
        order = np.argsort(symbol, kind="stable")
        return symbol[order], price[taken[order]]

    return step


STEPS: dict[str, Callable[[Data], Step]] = {"W1": filtered, "W2": running, "W4": sliding, "W7": divided}


class Numpy:
    name = "numpy"
    version = f"numpy {np.__version__}"

    def prepare(self, prepared: Prepared) -> None:
        self.data = prepared.data

    def open(self, workload: Workload) -> NumpySession:
        step_of: Any = STEPS.get(workload.name)
        if step_of is None:
            raise NotRun("needs a loop over the events")
        return NumpySession(workload, step_of(self.data))

    def close(self) -> None:
        pass


__all__ = ["Columns", "Numpy", "NumpySession", "Step", "sums_of"]
