"""The data windows that kernels are printed for: ``window_printer(config)``."""
from __future__ import annotations

from epl.plan.expressions import TimeSpan, TypedExpression, VariableValue
from epl.plan.windows import WindowConfig
from runtime.batch.refusals import NotCompilable
from runtime.batch.windows.base import Window
from runtime.batch.windows.batches import LengthBatchWindow, TimeBatchWindow, TimeLengthBatchWindow
from runtime.batch.windows.sliding import (
    ExtTimedWindow,
    FirstEventWindow,
    FirstLengthWindow,
    KeepAllWindow,
    LastEventWindow,
    LengthWindow,
    TimeAccumWindow,
    TimeWindow,
)
from runtime.batch.windows.unique import FirstUniqueWindow, UniqueWindow
from windows.ext_timed import ExtTimed
from windows.first_events import FirstLength
from windows.keepall import KeepAll
from windows.length import Length
from windows.length_batch import LengthBatch
from windows.single_event import FirstEvent, LastEvent
from windows.time_accum import TimeAccum
from windows.time_batch import TimeBatch
from windows.time_length_batch import TimeLengthBatch
from windows.time_sliding import Time
from windows.unique import FirstUnique, Unique

KINDS: dict[type[WindowConfig], type[Window]] = {
    Length: LengthWindow, KeepAll: KeepAllWindow, Time: TimeWindow, ExtTimed: ExtTimedWindow, TimeAccum: TimeAccumWindow,
    LastEvent: LastEventWindow, FirstEvent: FirstEventWindow, FirstLength: FirstLengthWindow,
    LengthBatch: LengthBatchWindow, TimeBatch: TimeBatchWindow, TimeLengthBatch: TimeLengthBatchWindow,
    Unique: UniqueWindow, FirstUnique: FirstUniqueWindow,
}


def window_printer(config: WindowConfig) -> Window:
    """Return the printer of a window; raise NotCompilable."""
    kind = KINDS.get(type(config))
    if kind is None:
        raise NotCompilable(f"the window {config.names[0]} is not computed in columns")
    parameters = [e for e in (getattr(config, "size", None), getattr(config, "period", None)) if e is not None]
    if any(isinstance(node, VariableValue) for e in parameters for node in e.walk()):
        raise NotCompilable("a window whose size is a variable")
    if any(is_calendar(e) for e in parameters):
        raise NotCompilable("a window of months or years")
    return kind(config)


def is_calendar(period: TypedExpression) -> bool:
    return isinstance(period, TimeSpan) and any(name.startswith(("month", "year")) for name, _ in period.parts)


__all__ = ["Window", "is_calendar", "window_printer"]
