"""All data windows and derived-value windows by name: ``length`` and, in the old syntax, ``win:length``. A user's window registers the
same way.
"""
from __future__ import annotations

from collections.abc import Mapping

from epl.plan.windows import WindowConfig
from windows.expr import Expr
from windows.expr_batch import ExprBatch
from windows.ext_timed import ExtTimed
from windows.ext_timed_batch import ExtTimedBatch
from windows.first_events import FirstLength, FirstTime
from windows.group import GroupWin, Merge
from windows.keepall import KeepAll
from windows.length import Length
from windows.length_batch import LengthBatch
from windows.rank import Rank
from windows.regression import Correl, Linest
from windows.single_event import FirstEvent, LastEvent
from windows.size import Size
from windows.sort import Sort
from windows.time_accum import TimeAccum
from windows.time_batch import TimeBatch
from windows.time_length_batch import TimeLengthBatch
from windows.time_order import TimeOrder, TimeToLive
from windows.time_sliding import Time
from windows.uni import Uni
from windows.unique import FirstUnique, Unique
from windows.weighted_avg import WeightedAvg

__all__ = ["WINDOWS", "by_name"]

ALL: tuple[type[WindowConfig], ...] = (
    Length, LengthBatch, Time, TimeBatch, TimeLengthBatch, TimeAccum, ExtTimed, ExtTimedBatch, TimeOrder, TimeToLive, KeepAll,
    FirstLength, FirstTime,
    Unique, FirstUnique, LastEvent, FirstEvent, Sort, Rank, Expr, ExprBatch, GroupWin, Merge, Size, Uni, Linest, Correl, WeightedAvg,
)


def by_name(*configs: type[WindowConfig]) -> dict[str, type[WindowConfig]]:
    """Return the configs under each of their names, plain and with their namespace."""
    configs_of: dict[str, type[WindowConfig]] = {}
    for config in configs:
        for name in config.names:
            configs_of[name] = config
            configs_of[f"{config.namespace}:{name}"] = config
    return configs_of


WINDOWS: Mapping[str, type[WindowConfig]] = by_name(*ALL)
