"""Damaged and crafted snapshots, and what becomes of a runtime that took one."""
from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import msgpack

from epl.errors import EplUnsupportedError
from runtime import Runtime
from runtime.state.codec import KEYED, LONG, SET, TUPLE
from runtime.state.seal import seal_payload, unseal_payload

Ext = msgpack.ExtType
NAME = "the snapshot"
SCHEMA = """
create schema E(k string, j int, x double, o Object); create schema F(k string, x double);
create variable int low = 2; create variable Object kept = null;
"""
STATEMENTS = [
    "select irstream k, sum(x) as t, count(*) as c, min(x) as m from E#length(5) group by k",
    "select k, j, sum(x) as t, count(distinct j) as d from E#time(9 sec) group by rollup(k, j)",
    "@Hint('reclaim_group_aged=5,reclaim_group_freq=2') select k, sum(x) as t from E group by k",
    "select irstream * from E#groupwin(k)#length(2)",
    "select irstream * from E#groupwin(k)#time(4 sec)",
    "select irstream k, count(*) as c from E#groupwin(k)#time_batch(3 sec) group by k",
    "select * from E#unique(k)",
    "select irstream * from E#firstunique(k, j)",
    "select * from E#rank(k, 3, x desc)",
    "select * from E#sort(3, x desc)",
    "select irstream * from E#ext_timed(j, 3 sec)",
    "select irstream * from E#time_order(j, 3 sec)",
    "select irstream * from E#time_accum(3 sec)",
    "select irstream * from E#expr(current_count < 4)",
    "select irstream * from E#expr_batch(current_count > 3)",
    "select irstream * from E#time_length_batch(3 sec, 4)",
    "select irstream * from E#ext_timed_batch(j, 3 sec)",
    "select k, prior(2, x) as p, prev(1, x) as q from E#length(4)",
    "select irstream * from E#length_batch(3)",
    "select median(x) as m, stddev(x) as s, avedev(x) as a, avg(x) as v, max(x) as h, maxever(x) as e, firstever(x) as f from E#length(4)",
    "select first(x) as f, last(x) as l, window(x) as w, nth(x, 1) as n, rate(3) as r from E#length(4)",
    "select sorted(x).firstKey() as a, maxby(x).k as b from E#length(4)",
    "select * from E#keepall",
    "select * from E match_recognize (partition by k measures A.x as a, last(B.x) as b, C.x as c pattern (A B* C) "
    "define B as B.x > A.x, C as C.x < A.x)",
    "select * from E#time(8 sec) match_recognize (partition by k, j measures A.x as a, B.x as b pattern (A B) define B as B.x > prev(B.x))",
    "select * from E match_recognize (measures A.k as k, count(B.x) as n pattern (A B*) interval 4 sec define A as A.x > 5)",
    "select k, sum(x) as t from E group by k output first every 3 events",
    "select k, sum(x) as t from E group by k output first every 4 sec",
    "select irstream k, sum(x) as t from E#length(4) group by k output all every 3 events",
    "select irstream k, sum(x) as t from E#length(4) group by k output last every 3 sec",
    "select k, x, sum(x) as t from E group by k output last every 3 events",
    "select k, sum(x) as t from E group by k output snapshot every 3 sec",
    "select * from E output after 3 events",
    "@IterableUnbound select k, sum(x) as t from E group by k",
    "insert into F select k, x from E(x > low)",
    "select irstream k, avg(x) as a from F#length(3) group by k",
]
SINGLES = [
    None, True, -1, 0, 1, 7, 2**31, 2**63 - 1, -(2**63), 2**64 - 1, 1.5, float("nan"), float("inf"), "", "x", b"", [], {}, [1], {"x": 1},
]
DATA = b"", b"\x00" * 7 + b"\x01", b"\x90", b"\x92\x01\x02", b"1E+99999999", b"2020-01-01"
EXTENSIONS = [Ext(code, data) for code in range(14) for data in DATA]


def silent(*_: Any) -> None:
    """Leave it at that."""


def a_snapshot(chance: random.Random, tier: str = "row") -> bytes:
    """Of a runtime with some of the statements and events; in columns those that can be."""
    runtime = Runtime(tier=tier, on_error=silent)
    runtime.deploy(SCHEMA, name="types")
    for number in sorted(chance.sample(range(len(STATEMENTS)), 4)):
        with suppress(EplUnsupportedError):  # not in columns
            runtime.deploy(f"@name('s{number}') {STATEMENTS[number]}", name=f"d/{number}")
    use(runtime, chance, 25)
    if chance.random() < 0.5:
        runtime.set_variable("kept", chance.choice([(1, (2, "x")), [1, {"a": 2}], 10**30, "text"]))
    return runtime.snapshot()


def use(runtime: Runtime, chance: random.Random, count: int) -> None:
    """Send events, let time go by."""
    for n in range(count):
        if chance.random() < 0.8:
            values = {"k": chance.choice("ABCD"), "j": n * 500, "x": float(chance.randrange(9)), "o": chance.choice([None, n, (n, "x")])}
            runtime.send("E", values)
        else:
            runtime.advance_time_span(runtime.now + chance.randrange(3000))


def try_all(blob: bytes, chance: random.Random, tier: str = "row") -> None:
    """Restore it and do what users do; raises what that raises."""
    runtime = Runtime.restore(blob, on_error=silent, tier=tier)
    use(runtime, chance, 4)
    for deployment in runtime.deployments.values():
        for statement in deployment:
            list(statement)
    runtime.snapshot()
    runtime.close()


# ------------------------------------------------------------------ damage to bytes


def damaged(blob: bytes, chance: random.Random) -> bytes:
    """Flipped, cut, with other bytes in it, or all other bytes; never the same."""
    made = bytearray(blob)
    how = chance.random()
    if how < 0.15:
        del made[chance.randrange(len(made)) :]
    elif how < 0.75:
        for at in chance.sample(range(len(made)), min(len(made), chance.choice([1, 1, 1, 2, 4]))):
            made[at] ^= 1 << chance.randrange(8)
    elif how < 0.95:
        at = chance.randrange(len(made))
        made[at : at + chance.randrange(8)] = chance.randbytes(chance.randrange(1, 8))
    else:
        made = bytearray(b"EPLSPARK\x04" + chance.randbytes(chance.randrange(200)))
    return bytes(made) if bytes(made) != blob else damaged(blob, chance)


# ------------------------------------------------------------------ crafted structures, with a right checksum


def crafted(blob: bytes, chance: random.Random) -> bytes:
    """One to three changes in the pages."""
    pages = dict(msgpack.unpackb(unseal_payload(blob, NAME)))
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        _change(pages, chance)
    return seal_payload(msgpack.packb(list(pages.items())), NAME)


def _change(pages: dict[str, bytes], chance: random.Random) -> None:
    key = chance.choice(list(pages))
    how = chance.random()
    if how < 0.05:
        del pages[key]
    elif how < 0.1:
        other = chance.choice(list(pages))
        pages[key], pages[other] = pages[other], pages[key]
    elif how < 0.3:
        pages[key] = damaged(pages[key], chance) if pages[key] else b"\x00"
    else:
        pages[key] = _edited(pages[key], chance)


def _edited(page: bytes, chance: random.Random) -> bytes:
    try:
        tree = msgpack.unpackb(page, strict_map_key=False)
    except (ValueError, TypeError):  # an earlier change
        return page
    found = list(places(tree, lambda made: None))
    if not found:
        return page
    holder, at, done = chance.choice(found)
    _edit(holder, at, chance)
    done(holder)
    try:
        packed: bytes = msgpack.packb(tree)
    except ValueError:  # NaN is fine, and nothing else comes here but nesting
        return page
    return packed


Place = tuple[Any, Any, Callable[[Any], None]]


def places(node: Any, done: Callable[[Any], None]) -> Iterator[Place]:
    """Every (list or map, place in it, what has to be called when it has changed), those in extensions and in events' rows too."""
    if isinstance(node, list):
        entries: list[tuple[Any, Any]] = list(enumerate(node))
    elif isinstance(node, dict):
        entries = list(node.items())
    else:
        return
    for at, value in entries:
        yield node, at, done
        if isinstance(value, Ext) and value.code in (TUPLE, SET, KEYED, LONG):
            yield from _inside(value.data, node, at, done, lambda data, code=value.code: Ext(code, data))
        elif isinstance(value, bytes):
            yield from _inside(value, node, at, done, lambda data: data)
        else:
            yield from places(value, done)


def _inside(data: bytes, holder: Any, at: Any, done: Callable[[Any], None], wrap: Callable[[bytes], Any]) -> Iterator[Place]:
    try:
        tree = msgpack.unpackb(data, strict_map_key=False)
    except (ValueError, TypeError):
        return

    def store(_: Any) -> None:
        holder[at] = wrap(msgpack.packb(tree))
        done(holder)

    yield from places(tree, store)


def _edit(holder: Any, at: Any, chance: random.Random) -> None:
    how = chance.random()
    if how < 0.5:
        holder[at] = chance.choice(SINGLES if chance.random() < 0.7 else EXTENSIONS)
    elif how < 0.65:
        del holder[at]
    elif how < 0.8 and isinstance(holder, list):
        holder.insert(at, holder[chance.randrange(len(holder))])
    elif how < 0.9:
        other = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        holder[at], holder[other] = holder[other], holder[at]
    elif isinstance(holder[at], int):
        holder[at] = min(max(holder[at] + chance.choice([-1, 1, 1000, -(10**12), 10**12]), -(2**63)), 2**63)
    elif isinstance(holder[at], list):
        holder[at] = holder[at][::-1]
    else:
        holder[at] = holder[at] if not isinstance(holder, list) else [holder[at]]


__all__ = ["NAME", "STATEMENTS", "a_snapshot", "crafted", "damaged", "places", "silent", "try_all", "use"]
