"""A monitor of market data feeds, ported: alerts when a feed delivers far fewer ticks a second than it used to.

Each second the ticks of each feed are counted; a count below three quarters of the feed's average over ten seconds raises an alert. What
a Java program does with an enum of feeds, two statements and a listener is the same here.

Not ported: the simulator's threads, which send at random; the ticks here are the same in each run.

``python examples/ported/market_data.py``
"""
from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from runtime import Rows, Runtime


class Feed(enum.Enum):
    NORTH = "N"
    SOUTH = "S"


@dataclass
class Tick:
    symbol: str
    feed: Feed


EPL = """
insert into TicksPerSecond
select feed, count(*) as ticks from Tick#time_batch(1 sec) group by feed;

@name('falloff')
select feed, avg(ticks) as average, ticks from TicksPerSecond#time(10 sec)
group by feed having ticks < avg(ticks) * 0.75;
"""


def simulated(seconds: int) -> Iterator[tuple[int, Tick]]:
    """(ms, tick): 20 ticks a second of each feed; SOUTH falls to 5 from second 8 to 9."""
    for second in range(seconds):
        for feed in Feed:
            ticks = 5 if feed is Feed.SOUTH and 8 <= second <= 9 else 20
            for n in range(ticks):
                yield second * 1000 + 100 + n * 40, Tick(f"SYM{n % 3}", feed)


def main() -> list[dict[str, Any]]:
    alerts: list[dict[str, Any]] = []
    with Runtime() as runtime:
        runtime.register("Tick", Tick)

        def alert(new: Rows, *_: object) -> None:
            for row in new:
                alerts.append({"at": runtime.now, **row})
                print(f"{runtime.now} ms: {row.feed} delivers {row.ticks} ticks a second, on average {row.average}")

        runtime.deploy(EPL, listeners={"falloff": alert})
        for ms, tick in sorted(simulated(14), key=lambda each: each[0]):
            runtime.advance_time_span(ms)
            runtime.send("Tick", tick)
        runtime.advance_time_span(14_000)
    return alerts


if __name__ == "__main__":
    main()
