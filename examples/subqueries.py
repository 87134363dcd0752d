"""Sub-queries: the latest row of another stream, absence, and what other rows have.

    python examples/subqueries.py
"""
from __future__ import annotations

from typing import Any

from runtime import Runtime

EPL = """
create schema Purchase(id string, account string, symbol string, amount double);
create schema Quote(symbol string, price double);
create schema Payment(purchaseId string);
create schema Blocked(account string);

@name('priced') select id, amount * (select price from Quote#unique(symbol) as q where q.symbol = o.symbol) as value
from Purchase as o;

@name('unpaid') select rstream id, account
from Purchase#time(30 min) as o
where not exists (select * from Payment#time(1 hour) as p where p.purchaseId = o.id);

@name('blocked') select id, account from Purchase where account in (select account from Blocked#keepall);

@name('large') select id,
  (select count(*) as purchases, avg(amount) as mean from Purchase#time(1 hour) as p where p.account = o.account) as account
from Purchase as o
where amount > 2 * (select avg(amount) from Purchase#time(1 hour));
"""

EVENTS: tuple[tuple[int, str, dict[str, Any]], ...] = (
    (0, "Quote", {"symbol": "IBM", "price": 200.0}),
    (0, "Blocked", {"account": "a9"}),
    (1, "Purchase", {"id": "o1", "account": "a1", "symbol": "IBM", "amount": 10.0}),
    (2, "Payment", {"purchaseId": "o1"}),
    (3, "Quote", {"symbol": "IBM", "price": 210.0}),
    (4, "Purchase", {"id": "o2", "account": "a9", "symbol": "IBM", "amount": 5.0}),
    (5, "Purchase", {"id": "o3", "account": "a1", "symbol": "SAP", "amount": 90.0}),
)


def main() -> list[tuple[str, dict[str, Any]]]:
    """Run the module over the events and an hour more; return what its statements emit."""
    emitted: list[tuple[str, dict[str, Any]]] = []

    def listen(new: Any, old: Any, statement: Any, runtime: Runtime) -> None:
        emitted.extend((statement.name, dict(row)) for row in new)

    with Runtime() as runtime:
        runtime.deploy(EPL, listeners=dict.fromkeys(("priced", "unpaid", "blocked", "large"), listen))
        for minute, event_type, event in EVENTS:
            runtime.advance_time_span(minute * 60_000)
            runtime.send(event_type, event)
        runtime.advance_time_span(60 * 60_000)
    return emitted


if __name__ == "__main__":
    for name, row in main():
        print(name, row)
