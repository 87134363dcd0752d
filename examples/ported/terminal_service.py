"""A service for check-in terminals, ported: terminals report what happens to them, the service counts and raises alarms.

Events of several classes have one base class: registering it and its subclasses makes them sub-types, so that a statement over the base
sees them all, and ``typeof`` distinguishes them.

Not ported, since EPL patterns are not supported yet: ``pattern [every a=Checkin -> (timer:interval(…) and not …)]`` for a check-in that is
neither completed nor cancelled in time. The same alarm is written with ``match_recognize`` and ``interval`` here.

``python examples/ported/terminal_service.py``
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runtime import Rows, Runtime, Statement


@dataclass
class TerminalEvent:
    terminal: str


@dataclass
class Checkin(TerminalEvent):
    passenger: str


@dataclass
class Completed(TerminalEvent):
    passenger: str


@dataclass
class Cancelled(TerminalEvent):
    passenger: str


@dataclass
class LowPaper(TerminalEvent):
    pass


@dataclass
class OutOfOrder(TerminalEvent):
    pass


EPL = """
@name('counts')
select typeof(e) as kind, count(*) as events from TerminalEvent#time(10 min) as e
group by typeof(e) output snapshot every 1 min order by typeof(e);

@name('service') select terminal, typeof(e) as problem from TerminalEvent as e where typeof(e) in ('LowPaper', 'OutOfOrder');

insert into Session
select * from TerminalEvent match_recognize (
  partition by terminal
  measures A.terminal as terminal, count(B.terminal) as others, C.terminal as ended
  pattern (A B* C?)
  interval 3 min
  define A as typeof(A) = 'Checkin', B as typeof(B) not in ('Completed', 'Cancelled', 'Checkin'),
         C as typeof(C) in ('Completed', 'Cancelled')
);

@name('abandoned') select terminal, others from Session(ended is null);
"""


def main() -> list[tuple[int, str, dict[str, Any]]]:
    emitted: list[tuple[int, str, dict[str, Any]]] = []

    def alarm(new: Rows, old: Rows, statement: Statement, runtime: Runtime) -> None:
        for row in new:
            emitted.append((runtime.now, statement.name, dict(row)))
            print(f"{runtime.now} ms: {statement.name}", row)

    with Runtime() as runtime:
        for kind in (TerminalEvent, Checkin, Completed, Cancelled, LowPaper, OutOfOrder):
            runtime.register(kind.__name__, kind)
        runtime.deploy(EPL, listeners=dict.fromkeys(("counts", "service", "abandoned"), alarm))
        for ms, event in [
            (1_000, Checkin("T1", "ann")), (5_000, Checkin("T2", "bob")), (20_000, Completed("T1", "ann")), (30_000, LowPaper("T2")),
            (70_000, Checkin("T1", "cid")), (80_000, Cancelled("T1", "cid")), (100_000, OutOfOrder("T3")),
        ]:
            runtime.advance_time_span(ms)
            runtime.send(type(event).__name__, event)
        runtime.advance_time_span(260_000)
    return emitted


if __name__ == "__main__":
    main()
