"""Enrich trades by a frame, a Python function and a database.

    python examples/lookups.py
"""
from __future__ import annotations

import dataclasses
import sqlite3

import pyarrow as pa

from runtime import LruCache, Runtime

EPL = """
create schema Trade(symbol string, account string, amount double);

@name('enriched') select t.symbol as symbol, i.name as name, c.city as city, t.amount as amount
from Trade as t
  left outer join Instrument as i on t.symbol = i.symbol
  left outer join sql:clients ["select account, city from client where account = ${t.account}"
                               metadatasql "select account, city from client"] as c on c.account = t.account;

@name('exceeded') select t.account as account, sum(t.amount) as amount, l.most as most
from Trade#time(1 min) as t, method:limits(t.account) as l
group by t.account, l.most having sum(t.amount) > l.most;
"""

INSTRUMENTS = pa.table({"symbol": ["IBM", "SAP"], "name": ["International Business Machines", "SAP SE"]})
LIMITS = {"a1": 1_000.0, "a2": 5_000.0}


@dataclasses.dataclass
class Limit:
    """What an account may trade in a minute."""

    most: float


def limits(account: str) -> list[Limit]:
    """Return the limit of an account, if it has one."""
    return [Limit(LIMITS[account])] if account in LIMITS else []


def connect() -> sqlite3.Connection:
    """Open the database of clients."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table client(account text, city text)")
    connection.executemany("insert into client values (?, ?)", [("a1", "Oslo"), ("a2", "Rome")])
    connection.commit()
    return connection


def main() -> dict[str, list[dict[str, object]]]:
    """Return what each statement emits."""
    emitted: dict[str, list[dict[str, object]]] = {"enriched": [], "exceeded": []}
    with Runtime() as runtime:
        runtime.register_table("Instrument", INSTRUMENTS, keys="symbol")
        runtime.register_method("limits", limits, cache=LruCache(1_000))
        runtime.register_database("clients", connect, cache=LruCache(1_000), timeout=5)
        for statement in runtime.deploy(EPL):
            if statement.name in emitted:
                statement.add_listener(lambda new, old, s, r: emitted[s.name].extend(row.to_dict() for row in new))
        for symbol, account, amount in [("IBM", "a1", 600.0), ("SAP", "a2", 900.0), ("XYZ", "a1", 500.0)]:
            runtime.send("Trade", {"symbol": symbol, "account": account, "amount": amount})
        runtime.refresh_table("Instrument", pa.table({"symbol": ["XYZ"], "name": ["Xyz Ltd"]}))
        runtime.send("Trade", {"symbol": "XYZ", "account": "a9", "amount": 1.0})
    return emitted


if __name__ == "__main__":
    for name, rows in main().items():
        for row in rows:
            print(name, row)
