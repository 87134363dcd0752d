"""What the host knows of a kernel with its state: rows in, record batches out, state as the row tier has it."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import attrs
import pyarrow as pa

from epl.generated_code import field_name
from epl.plan.expressions import StreamProperty, TypedExpression
from runtime.batch.compiler.kernels import Kernel
from runtime.batch.runs.timer_bounds import Timers
from runtime.batch.storage.arrays import Array
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.strings import StringPool
from runtime.clock.instants import FARTHEST
from runtime.clock.periods import add_period
from runtime.expressions import Environment, compile_expression
from windows.protocol import State


@attrs.frozen
class Causes:
    """By output row: ``row``, the input row (in the batch) that was at work or came last before; ``timer``, whether a timer brought the
    output; ``time``, engine time; ``delta``, which ascends from one call of a row listener to the next and is equal within one.
    """

    row: Array
    timer: Array
    time: Array
    delta: Array

    def select(self, mask: Array | slice) -> Causes:
        return Causes(self.row[mask], self.timer[mask], self.time[mask], self.delta[mask])


@attrs.define
class BatchOutput:
    """What a batch gave: insert and remove stream as record batches, None where empty; and by row of ``new`` and ``old`` what caused it,
    where causes were asked for. It is never changed (it is not frozen because thousands are made a batch)."""

    new: pa.RecordBatch | None = None
    old: pa.RecordBatch | None = None
    new_causes: Causes | None = None
    old_causes: Causes | None = None
    nothing: Causes | None = None
    """What row listeners are called for without a row: output that was due when there was none."""
    plain: bool = False
    """Known to have no column with a dictionary."""

    def is_empty(self) -> bool:
        return self.new is None and self.old is None and self.nothing is None

    def decoded(self) -> BatchOutput:
        """Return it with plain columns in place of those with a dictionary."""
        if self.plain:
            return self
        new, old = (None if batch is None else decoded(batch) for batch in (self.new, self.old))
        return attrs.evolve(self, new=new, old=old, plain=True)


NOTHING = BatchOutput()
"""One for all that emit nothing."""


def decoded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return it with plain columns in place of those with a dictionary."""
    if not any(pa.types.is_dictionary(f.type) for f in batch.schema):
        return batch
    columns = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


class BatchRun(Protocol):
    """One statement in the batch tier."""

    def prepare(self, intake: BatchIntake) -> None:
        """Convert what ``feed`` is going to read of the batch; raises Declined where a column does not decide that its values fit. Nothing
        has been done then."""

    def feed(self, intake: BatchIntake, times: Array, until: int, *, jump: bool = False, causes: bool = False) -> BatchOutput:
        """Process the rows, each at its time (int64, ascending, none below the clock); then time goes on to ``until``. ``jump``: each timer
        that is due runs once, at the time of the row or ``until``; else at its own time. ``causes``: whether the output has them."""

    def next_due(self) -> int | None:
        """Return when a timer is due next, None where none is."""

    def timers(self) -> Sequence[Timers]:
        """Return what may be due, whether it is now or not."""

    def state(self) -> State:
        """Return the state as ``runtime.statements.select_statement.RunningSelect.state`` gives it: events are objects, the same one for
        the same row."""

    def restore(self, state: State) -> None:
        """Go on where ``state`` was taken, in either tier. Called before the first batch only."""

    def memory(self) -> int:
        """Return bytes that the state holds."""


@attrs.frozen
class RunContext:
    """What runs share or are given: the strings' codes, and what expressions may read. ``compile``: source → kernel."""

    pool: StringPool
    environment: Environment
    compile: Callable[[str], Kernel]

    def value(self, node: TypedExpression) -> Any:
        """Return the value of an expression without events, now."""
        return compile_expression(node, self.environment, 0)()

    def period(self, node: TypedExpression) -> int:
        """Return a time period without months and years, in engine time; ``FARTHEST`` where it is longer."""
        return min(add_period(0, node, self.value, self.environment.settings, 1), FARTHEST)

    def function_of_string(self, node: TypedExpression) -> Callable[[str | None], Any]:
        """Return the expression as a function of the one string property that it reads."""
        name = next(n.name for n in node.walk() if isinstance(n, StreamProperty))
        function = compile_expression(node, self.environment, 1)
        probe = type("Probe", (), {})
        attribute = field_name(name)

        def call(value: str | None) -> Any:
            setattr(probe, attribute, value)
            return function(probe)

        return call


__all__ = ["NOTHING", "BatchOutput", "BatchRun", "Causes", "RunContext", "decoded"]
