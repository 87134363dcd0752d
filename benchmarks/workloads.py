"""What is measured: the statements, what a listener reads of each row, and whether time moves with each event."""
from __future__ import annotations

import re

import attrs

LISTENED = re.compile(r"s0|q\d+")
"""Names of the statements that get a listener."""
TRADE = "@public @buseventtype create {kind}schema Trade(symbol string, price double, volume int, ts long);\n"
JOINED = "".join(f"@public @buseventtype create {{kind}}schema {name}(key string, x double);\n" for name in "AB")
TEMPERATURE = "@public @buseventtype create {kind}schema TemperatureSensorEvent(id string, device int, temp double);\n"


@attrs.frozen
class Column:
    """A column that listeners read. ``mode``: what is done with the values, without nulls.

    touch: read only; whole: sum of integers; exact: sum of doubles that are multiples of 1/64; near: sum of doubles that are rounded, so
    that sums agree to 1e-9; id: sum of the numbers behind 'E'.
    """

    name: str
    mode: str


@attrs.frozen
class Workload:
    """``goals``: least ratio Esper's time / ours, of the batch tier and of the row tier (None: no goal is set)."""

    name: str
    title: str
    epl: str
    columns: tuple[Column, Column]
    moves: bool = False
    layout: str = "trade"
    goals: tuple[float | None, float | None] = (None, None)

    @property
    def event_types(self) -> tuple[str, ...]:
        """The type of each event; of several, event k is of type k modulo their number."""
        return {"trade": ("Trade",), "temperature": ("TemperatureSensorEvent",), "joined": ("A", "B")}[self.layout]

    @property
    def event_type(self) -> str:
        """The only event type."""
        (name,) = self.event_types
        return name

    def module(self, kind: str = "") -> str:
        """Schema and statements. ``kind``: the representation of events, as in ``create objectarray schema``."""
        schema = {"trade": TRADE, "temperature": TEMPERATURE, "joined": JOINED}[self.layout]
        return schema.replace("{kind}", f"{kind} " if kind else "") + self.epl


def _columns(*pairs: tuple[str, str]) -> tuple[Column, Column]:
    first, second = (Column(*p) for p in pairs)
    return first, second


MATCH = "partition by symbol measures A.price as ap, last(B.price) as bp, C.price as cp pattern (A B+ C)"
RISING = "B as B.price > prev(B.price)"
ABCD = """select * from TemperatureSensorEvent#time(10 sec) match_recognize (partition by device
measures A.id as a_id, B.id as b_id, C.id as c_id, D.id as d_id pattern (A B C D)
define B as B.temp > A.temp, C as C.temp > B.temp, D as D.temp > C.temp)"""


def filters(count: int, keys: int, above: int = 500) -> str:
    """That many statements of one shape, each with a symbol and, where there are more statements than symbols, a price of its own."""
    return "".join(f"@name('q{k}') select * from Trade(symbol = 'S{k % keys}' and price > {above + k // keys});\n" for k in range(count))


def joined(length: int) -> str:
    """A join by key of two windows."""
    return f"@name('s0') select a.key as k, a.x as ax, b.x as bx from A#length({length}) as a, B#length({length}) as b where a.key = b.key"


MERGE = """create window Totals#keepall as (symbol string, total long, px double);
@name('s0') on Trade t merge Totals w where w.symbol = t.symbol
when matched then update set w.total = w.total + t.volume, w.px = t.price
when not matched then insert select t.symbol as symbol, cast(t.volume, long) as total, t.price as px"""
INTO_TABLE = """create table Totals(symbol string primary key, total sum(int), c count(*));
@name('s0') into table Totals select sum(volume) as total, count(*) as c from Trade group by symbol"""

BY_SYMBOL = """create context BySymbol partition by symbol from Trade;
@name('s0') context BySymbol select symbol, sum(volume) as s from Trade"""


def sliding(length: int) -> str:
    return f"@name('s0') select avg(price) as a, max(price) as m from Trade#length({length})"


WORKLOADS: dict[str, Workload] = {w.name: w for w in (
    Workload(
        "W1", "filter 1 %", "@name('s0') select symbol, price from Trade(price > 990)",
        _columns(("symbol", "touch"), ("price", "exact")), goals=(20, 0.15),
    ),
    Workload(
        "W2", "running count, sum", "@name('s0') select count(*) as c, sum(volume) as s from Trade",
        _columns(("c", "whole"), ("s", "whole")), goals=(20, 0.15),
    ),
    Workload(
        "W3", "#time(10 sec) group by",
        "@name('s0') select symbol, avg(price) as a, sum(volume) as s, count(*) as c from Trade#time(10 sec) group by symbol",
        _columns(("a", "near"), ("s", "whole")), moves=True, goals=(15, 0.15),
    ),
    Workload(
        "W4", "#length(1000) avg, max", sliding(1000),
        _columns(("a", "near"), ("m", "exact")), goals=(20, 0.2),
    ),
    Workload(
        "W5sel", "A B+ C selective", "@name('s0') select * from Trade match_recognize (" + MATCH +
        f" define A as A.price < 10, {RISING}, C as C.price < prev(C.price) and C.price < 5)",
        _columns(("ap", "exact"), ("cp", "exact")), goals=(6, 0.15),
    ),
    Workload(
        "W5all", "A B+ C", f"@name('s0') select * from Trade match_recognize ({MATCH} define {RISING}, C as C.price < prev(C.price))",
        _columns(("ap", "exact"), ("cp", "exact")), goals=(12, 0.15),
    ),
    Workload(
        "W5abcd", "A B C D on #time(10 sec)", "@name('s0') " + ABCD, _columns(("a_id", "id"), ("d_id", "id")), moves=True,
        layout="temperature", goals=(20, 0.15),
    ),
    Workload(
        "W6", "pattern within 10 sec",
        "@name('s0') select a.symbol as s, b.price as p "
        "from pattern [every a=Trade(price>990) -> b=Trade(symbol=a.symbol, price<10) where timer:within(10 sec)]",
        _columns(("s", "touch"), ("p", "exact")), moves=True, goals=(None, 0.15),
    ),
    Workload("W7", "1,000 filters", filters(1000, 1000), _columns(("symbol", "touch"), ("price", "exact")), goals=(8, 0.1)),
    Workload(
        "W8", "window join", joined(1000), _columns(("k", "touch"), ("bx", "exact")), layout="joined", goals=(None, 0.15),
    ),
    Workload("W9", "named window, merge", MERGE, _columns(("total", "whole"), ("px", "exact")), goals=(None, 0.15)),
    Workload("W9t", "into table", INTO_TABLE, _columns(("total", "whole"), ("c", "whole")), goals=(None, 0.15)),
    Workload(
        "W10", "output last every 1 sec", "@name('s0') select symbol, sum(volume) as s from Trade group by symbol output last every 1 sec",
        _columns(("symbol", "touch"), ("s", "whole")), moves=True, goals=(10, 0.15),
    ),
    Workload("W11", "a context's partition a symbol", BY_SYMBOL, _columns(("symbol", "touch"), ("s", "whole")), goals=(None, 0.15)),
)}

__all__ = ["LISTENED", "WORKLOADS", "Column", "Workload", "filters", "joined", "sliding"]
