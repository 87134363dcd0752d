"""Watch logins and payments by patterns: a sequence, an absence, a time-out, and n occurrences.

    python examples/patterns.py
"""
from __future__ import annotations

from runtime import Runtime

EPL = """
create schema Login(user string, ok boolean);
create schema Purchase(id string, user string, amount double);
create schema Payment(id string, amount double);

@name('sequence') select l.user as user, p.amount as amount
from pattern [every l=Login(ok) -> p=Purchase(user = l.user, amount > 100) where timer:within(10 sec)];

@name('absence') select p.id as id
from pattern [every p=Purchase -> (timer:interval(5 sec) and not Payment(id = p.id))];

@name('timeout') select p.id as id, q is null as late
from pattern [every p=Purchase -> (q=Payment(id = p.id) or timer:interval(20 sec))];

@name('three failures') select f[0].user as user, f.countOf() as failures
from pattern [every f1=Login(not ok) -> ([2] f=Login(not ok, user = f1.user) until Login(ok, user = f1.user)) where timer:within(1 min)];
"""

STEPS = [
    (0, "Login", {"user": "ann", "ok": True}),
    (1, "Login", {"user": "bob", "ok": False}),
    (2, "Purchase", {"id": "o1", "user": "ann", "amount": 250.0}),
    (3, "Login", {"user": "bob", "ok": False}),
    (4, "Payment", {"id": "o1", "amount": 250.0}),
    (5, "Login", {"user": "bob", "ok": False}),
    (6, "Purchase", {"id": "o2", "user": "ann", "amount": 5.0}),
    (30, "Login", {"user": "ann", "ok": True}),
]


def main() -> list[tuple[int, str, list[dict[str, object]]]]:
    """Return what each statement emits, with the second."""
    emitted: list[tuple[int, str, list[dict[str, object]]]] = []
    with Runtime() as runtime:
        for statement in runtime.deploy(EPL):
            if statement.name in ("sequence", "absence", "timeout", "three failures"):
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
