"""What row pattern kernels consist of: axes and registers of their state, how they stop, and what the host knows of one."""
from __future__ import annotations

import attrs

from epl.event_types import EventType
from epl.plan.patterns.match_recognize import RowRecognitionPlan
from runtime.batch.match_recognize.held_matches import PatternInterval
from runtime.batch.match_recognize.measures import PatternColumn
from runtime.batch.match_recognize.windows import PatternWindow
from runtime.batch.printing.parameters import Parameters
from runtime.batch.runs.order_and_limit import FinishPlan
from runtime.batch.storage.arrays import GROUP, ArrayField
from runtime.batch.storage.records import Records
from runtime.batch.storage.registers import Registers

NODE, PARTIAL_MATCH, WORK, PROGRAM, SCRATCH = "node", "partial_match", "work", "program", "scratch"
AXES = {GROUP: "G", NODE: "N", PARTIAL_MATCH: "W"}
"""What is kept as records. ``scratch`` is as long as ``node``."""
NO_ROW = -(2**62)
"""In place of the id of a row that is not there."""

REGISTERS = Registers(
    "i", "out", "pending", "head", "tail", "now", "gone", "groups", "nodes", "g", "delta", "free", "spare", "made", "found", "wanted",
    "vacant", "vacancies", "shift",
)
"""Of the places of a pool, ``nodes`` and ``made`` have been used; of these ``vacancies`` and ``spare`` are free, lists that begin with
``vacant`` and ``free``."""
DONE, OUTPUT_FULL, RING_FULL, GROUPS_FULL, HASH_FULL, NODES_FULL, PARTIAL_MATCHES_FULL, WORK_FULL = range(8)
KEYS_FULL, BEGUN_FULL, HELD_FULL = range(8, 11)
SMALL, SMALL_KEYS = "small", 1 << 16
"""Integers below, as the only key, have a place of their own."""
FEW_LAYERS = 2
"""A partition's first space for layers, as a power of two."""
MOST_STEPS, MOST_LINKS = 48, 500
"""Programs with more steps are left to the row tier."""


@attrs.frozen
class MatchKernel:
    """What the host needs to know: the source; ``inputs`` property → kind of the columns it reads; ``retained`` and ``previous``: whose
    values it keeps in nodes and of the rows that prev reads; ``keys``: kinds of the partition's key; ``has_partial_matches``: which machine
    it is; ``finish`` of the rows of a call, by the ``order_keys`` that are emitted after the columns."""

    source: str
    plan: RowRecognitionPlan
    event_type: EventType
    inputs: tuple[tuple[str, str], ...]
    retained: tuple[str, ...]
    previous: tuple[str, ...]
    keys: tuple[str, ...]
    fields: tuple[ArrayField, ...]
    columns: tuple[PatternColumn, ...]
    parameters: Parameters
    window: PatternWindow | None
    interval: PatternInterval | None
    has_partial_matches: bool
    slots: tuple[int, ...]
    order_keys: tuple[PatternColumn, ...] = ()
    finish: FinishPlan | None = None
    writes_layers: bool = attrs.field(init=False)
    """Whether the row tier keeps layers for the statement, and single partial matches otherwise."""

    @writes_layers.default
    def _writes_layers(self) -> bool:
        return not self.plan.or_terminated and all(c is None or c.reads_row_only for c in self.plan.conditions)

    def number(self, name: str) -> int:
        """Return the number of an input column, as its arrays are named."""
        return [n for n, _ in self.inputs].index(name)

    def arrays(self) -> Records:
        """Return a fresh state with the program: for each step how many follow it, then these."""
        arrays = Records(self.fields, AXES)
        steps = self.plan.program.steps
        arrays.grow(PROGRAM, len(steps) * (len(steps) + 1))
        width = len(steps) + 1
        for number, step in enumerate(steps):
            arrays["then"][number * width] = len(step.then)
            arrays["then"][number * width + 1 : number * width + 1 + len(step.then)] = step.then
        arrays.grow(SCRATCH, arrays.sizes[NODE])
        return arrays


__all__ = [
    "AXES",
    "BEGUN_FULL",
    "DONE",
    "FEW_LAYERS",
    "GROUPS_FULL",
    "HASH_FULL",
    "HELD_FULL",
    "KEYS_FULL",
    "MOST_LINKS",
    "MOST_STEPS",
    "NODE",
    "NODES_FULL",
    "NO_ROW",
    "OUTPUT_FULL",
    "PARTIAL_MATCH",
    "PARTIAL_MATCHES_FULL",
    "PROGRAM",
    "REGISTERS",
    "RING_FULL",
    "SCRATCH",
    "SMALL",
    "SMALL_KEYS",
    "WORK",
    "WORK_FULL",
    "MatchKernel",
]
