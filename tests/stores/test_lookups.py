"""Look-ups give the rows that satisfy the conditions."""
from __future__ import annotations

from epl.analysis.lookups.planner import conjuncts, plan_lookup
from epl.event_types import EventType, Property
from epl.plan.expressions import Equality, Logic, Order, StreamProperty
from epl.value_types import BOOLEAN, INT
from runtime.expressions import Environment
from runtime.stores.indexes import IndexedRows
from runtime.stores.lookup import compile_lookup
from windows.event import event_class

ROW = EventType("Row", "map", {name: Property(name, INT) for name in ("k", "v")})


def test_full_scan() -> None:
    made = event_class(ROW)
    k0, k1 = (StreamProperty(type=INT, stream=n, name="k") for n in (0, 1))
    v1 = StreamProperty(type=INT, stream=1, name="v")
    equal, order = Equality(type=BOOLEAN, left=k0, right=k1), Order(type=BOOLEAN, operator=">", left=v1, right=k0)
    plan = plan_lookup(conjuncts(Logic(type=BOOLEAN, operator="and", operands=(equal, order))), 1, {0})
    assert plan.applied == (equal, order)
    rows = IndexedRows()
    look_up = compile_lookup(plan, rows, Environment(), 2)
    first, second, third = made(1, 5), made(1, 6), made(2, 7)
    rows.update([first, second, third], [])
    assert list(look_up([made(1, 0), None])) == [first, second]
    rows.update([], [first])
    assert list(look_up([made(1, 0), None])) == [second]
