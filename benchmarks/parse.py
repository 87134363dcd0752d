"""How long parsing takes: milliseconds a statement, warm, and for the first one of a process.

python -m benchmarks.parse [--rounds 200]
"""

from __future__ import annotations

import argparse
import statistics
import time

_BEGAN = time.perf_counter()

from epl.parse import parse_module  # noqa: E402

_IMPORTED = time.perf_counter() - _BEGAN

STATEMENTS = {
    "select": """@name('alerts') @description('large trades by symbol') insert into Alerts select t.symbol as symbol,
sum(t.price * t.volume) as worth,
count(*) as trades, max(q.bid) as bid from Trade(volume > 100, venue in ('X', 'Y'))#time(30 sec) as t, Quote#unique(symbol) as q
where t.symbol = q.symbol
group by t.symbol having sum(t.price * t.volume) > 10000 output last every 5 seconds""",
    "match_recognize": """select * from TemperatureSensorEvent#time(10 sec) match_recognize (partition by device measures A.id as a_id,
count(B.id) as count_b,
first(B.id) as first_b, C.id as c_id, last(B.temp) as last_temp after match skip to next row pattern (A B* C) define A as A.temp < 50,
B as B.temp between 50 and 60 and B.temp > prev(B.temp), C as C.temp > 60 or C.temp is null)""",
    "pattern": """select a.id as id, b.price as price, c[0].price as next_price from pattern [every a=Trade(price > 10, side = 'B')
-> ([2:4] c=Fill(id = a.id)
until (b=Cancel(id = a.id) or timer:interval(10 sec))) where timer:within(1 min)] where a.price < coalesce(b.price, 0) and not exists
(select * from Halts#lastevent as h where h.symbol = a.symbol)""",
    "schema": """create schema TemperatureSensorEvent(id string, device int, temp double, tags string[],
nested java.util.Map<String, Object>) starttimestamp ts""",
    "short": "select * from Trade where price > 10",
}


def milliseconds(text: str, rounds: int) -> list[float]:
    found = []
    for _ in range(rounds):
        began = time.perf_counter()
        parse_module(text)
        found.append((time.perf_counter() - began) * 1000)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="milliseconds a statement takes to parse")
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    first = milliseconds(STATEMENTS["short"], 1)[0]
    print(f"import {_IMPORTED * 1000:.0f} ms, first parse (makes the grammar) {first:.0f} ms")
    for name, text in STATEMENTS.items():
        found = milliseconds(text, rounds)
        print(f"{name:16} {len(text):4} characters: median {statistics.median(found):6.2f} ms, least {min(found):6.2f} ms")


if __name__ == "__main__":
    main()
