"""Push and pull: a listener gets every change, the iterator returns the current rows.

``python examples/listener_and_iterator.py``
"""

from __future__ import annotations

from dataclasses import dataclass

from runtime import Row, Rows, Runtime


@dataclass
class Withdrawal:
    account: str
    amount: float


EPL = """
@name('all')   select irstream * from Withdrawal#length(3);
@name('total') select account, count(*) as n, sum(amount) as total from Withdrawal#time(10 sec) group by account;
@name('large') select * from Withdrawal(amount >= 200);
"""


def main() -> list[Row]:
    with Runtime() as runtime:
        runtime.register("Withdrawal", Withdrawal)
        deployment = runtime.deploy(EPL, listeners={"large": lambda new, old, statement, runtime: print("large:", new)})

        @deployment["all"].add_listener
        def changes(new: Rows, old: Rows, *_: object) -> None:
            print("in:", [row.amount for row in new], "out:", [row.amount for row in old])

        for ms, account, amount in [(1000, "A", 500.0), (2000, "B", 100.0), (4000, "A", 200.0), (6500, "B", 50.0)]:
            runtime.advance_time_span(ms)
            runtime.send("Withdrawal", Withdrawal(account, amount))  # an object of the class, or a dict

        print("now in the window:", [dict(row) for row in deployment["all"]])
        print("totals:", [dict(row) for row in deployment["total"]])
        runtime.advance_time_span(11_500)  # the first withdrawals expire
        totals = list(deployment["total"])
        print("totals later:", [dict(row) for row in totals])
        return totals


if __name__ == "__main__":
    main()
