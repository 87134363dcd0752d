"""This engine on columns: Arrow record batches through ``Runtime.send_batch``, Arrow out by batch listeners, whatever tier it takes."""
from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.data import Data
from benchmarks.engine import Measured, NotRun, Prepared, timed
from benchmarks.workloads import LISTENED, Column, Workload
from epl.errors import EplUnsupportedError
from runtime import Runtime
from runtime.api.statement import Statement, internal_output


def tiers(statements: Sequence[Statement]) -> str:
    """The tiers that the statements run in now, with the reasons for the row tier."""
    outputs = map(internal_output, statements)
    reasons = dict.fromkeys(each.host.statement_tier(each) for each in outputs)
    return "; ".join(f"{tier} tier: {reason}" if tier == "row" and reason else f"{tier} tier" for tier, reason in reasons)


def sums_of(columns: tuple[Column, ...], batches: list[pa.RecordBatch]) -> tuple[float, ...]:
    """Each column's sum as the listeners of other engines make it."""
    return tuple(sum(_sum(column, batch.column(column.name)) for batch in batches) for column in columns)


def _sum(column: Column, values: Any) -> float:
    if column.mode == "touch":
        return 0
    if column.mode == "id":
        values = pc.utf8_slice_codeunits(values.cast(pa.string()), 1).cast(pa.int64())
    elif column.mode == "whole":
        values = values.cast(pa.int64())
    return pc.sum(values).as_py() or 0


class BatchSession:
    """``note`` says which tier ran. What listeners get is kept and added up behind the clock."""

    def __init__(self, workload: Workload, data: Data, batch_rows: int, encoded: bool, tier: str = "auto") -> None:
        self.workload, self.data, self.batch_rows, self.encoded = workload, data, batch_rows, encoded
        self.runtime = Runtime(tier=tier)
        self.kept: list[pa.RecordBatch] = []
        self.statements = [s for s in self.runtime.deploy(workload.module()) if LISTENED.fullmatch(s.name)]
        for statement in self.statements:
            statement.add_batch_listener(self._keep)
        self.note = ""

    def _keep(self, new: Any, old: Any, statement: Any, runtime: Any) -> None:
        if new is not None:
            self.kept.append(new)

    def run(self, first: int, last: int) -> Measured:
        batches = self.data.batches(self.workload.layout, first, last, self.batch_rows, self.encoded)
        self.kept = []
        gc.collect()
        gc.freeze()
        cpu, wall, _ = timed(lambda: self._send(batches))
        gc.unfreeze()
        kept, self.kept = self.kept, []
        self.note = tiers(self.statements)
        return Measured(last - first, cpu, cpu, wall, sum(b.num_rows for b in kept), sums_of(self.workload.columns, kept))

    def _send(self, batches: list[pa.RecordBatch]) -> None:
        send, name = self.runtime.send_batch, self.workload.event_type
        time = "ts" if self.workload.moves or self.workload.layout == "temperature" else None
        for batch in batches:
            send(name, batch, time=time)

    def close(self) -> None:
        self.runtime.undeploy_all()


class Batch:
    """``encoded``: string columns come as dictionaries; otherwise as plain strings. ``tier``: as ``Runtime`` takes it."""

    version = ""

    def __init__(self, encoded: bool = True, tier: str = "auto") -> None:
        self.name = "batch" if encoded else "batch-plain"
        self.encoded, self.tier = encoded, tier

    def prepare(self, prepared: Prepared) -> None:
        self.data, self.batch_rows = prepared.data, prepared.batch_rows

    def open(self, workload: Workload) -> BatchSession:
        if len(workload.event_types) > 1:
            raise NotRun("runs in rows: the figures are those of the row engine")
        try:
            return BatchSession(workload, self.data, self.batch_rows, self.encoded, self.tier)
        except EplUnsupportedError as refused:
            raise NotRun(refused.message) from refused

    def close(self) -> None:
        pass


__all__ = ["Batch", "BatchSession", "sums_of", "tiers"]
