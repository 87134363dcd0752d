"""Join purchases with payments: what is paid, what is not within ten seconds, and totals by customer.

    python examples/joins.py
"""
from __future__ import annotations

from runtime import Runtime

EPL = """
create schema Purchase(id string, customer string, amount double);
create schema Payment(order_id string, amount double);

@name('paid') select o.customer as customer, o.id as id, p.amount as paid
from Purchase#time(30 sec) as o inner join Payment#time(30 sec) as p on o.id = p.order_id
where p.amount >= o.amount;

@name('unpaid') select rstream o.id as id, o.amount as amount
from Purchase#time(10 sec) as o left outer join Payment#time(1 min) as p on o.id = p.order_id
where p is null;

@name('totals') select o.customer as customer, count(*) as n, sum(p.amount) as paid
from Payment as p unidirectional, Purchase#unique(id) as o
where p.order_id = o.id group by o.customer;
"""

STEPS = [
    (0, "Purchase", {"id": "o1", "customer": "ann", "amount": 20.0}),
    (1, "Purchase", {"id": "o2", "customer": "bob", "amount": 5.0}),
    (2, "Payment", {"order_id": "o1", "amount": 20.0}),
    (3, "Payment", {"order_id": "o2", "amount": 1.0}),
    (4, "Purchase", {"id": "o3", "customer": "ann", "amount": 7.5}),
    (20, "Payment", {"order_id": "o3", "amount": 7.5}),
]


def main() -> list[tuple[int, str, list[dict[str, object]]]]:
    """Return what each statement emits, with the second."""
    emitted: list[tuple[int, str, list[dict[str, object]]]] = []
    with Runtime() as runtime:
        for statement in runtime.deploy(EPL):
            if statement.name in ("paid", "unpaid", "totals"):
                statement.add_listener(
                    lambda new, old, statement, runtime: emitted.append((runtime.now // 1000, statement.name, [dict(row) for row in new]))
                )
        for second, event_type, event in STEPS:
            runtime.advance_time_span(second * 1000)
            runtime.send(event_type, event)
    return emitted


if __name__ == "__main__":
    for second, name, rows in main():
        print(f"{second:3} s  {name}: {rows}")
