"""Batch input where other statements of the runtime have named windows and tables: their components stay in rows, no others."""
from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.api.statement import internal_output

TRADES = """
    @public @buseventtype create schema Trade(symbol string, volume int);
    @name('sums') select symbol, sum(volume) as total from Trade#length(3) group by symbol;
"""
STORES = """
    @public @buseventtype create schema Payment(id string, amount long);
    create window Open#keepall as Payment;
    @name('filled') insert into Open select * from Payment;
    @name('changed') on Payment p merge Open o where o.id = p.id when matched then update set amount = o.amount + p.amount;
    create table Totals(id string primary key, amount sum(long));
    @name('counted') into table Totals select sum(amount) as amount from Payment group by id;
"""


def rows_of(tier: str, modules: tuple[str, ...]) -> tuple[Runtime, list[Any]]:
    """Return a runtime that has had batches of both types, and the rows of ``sums``."""
    runtime = Runtime(tier=tier)
    for module in modules:
        runtime.deploy(module)
    seen: list[Any] = []
    runtime.statement("sums").add_batch_listener(lambda new, old, *_: seen.extend(new.to_pylist()))
    for start in (0, 3):
        volumes = [start, 2, 5] * 2000
        runtime.send_batch("Trade", pa.table({"symbol": ["a", "b", "a"] * 2000, "volume": pa.array(volumes, pa.int32())}))
        if len(modules) > 1:
            runtime.send_batch("Payment", pa.table({"id": ["x", "y", "x"], "amount": [1, 2, 3]}))
    return runtime, seen


@pytest.mark.parametrize("modules", [(TRADES, STORES), (STORES, TRADES)], ids=["before", "after"])
def test_other_components_stay_in_columns(modules: tuple[str, ...]) -> None:
    runtime, seen = rows_of("auto", modules)
    assert runtime.statement("sums").tier == "batch"
    for name in ("filled", "changed", "counted"):
        tier, why = internal_engine(runtime).statement_tier(internal_output(runtime.statement(name)))
        assert (tier, "create window" in why) == ("row", True)
    assert seen == rows_of("row", (TRADES,))[1]
    assert [(row.id, row.amount) for row in runtime.query("select * from Totals order by id")] == [("x", 8), ("y", 4)]
    assert runtime.query("select count(*) as c from Open")[0].c == 6
