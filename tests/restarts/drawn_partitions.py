"""Drawn statements in context partitions: keyed, hashed, by category, by time, begun and ended by events and patterns, nested."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.restarts.drawn_modules import Drawn

LIFETIMES = (
    "partition by k from E, owner from Basket",
    "partition by k from E",
    "partition by k, g from E(v > 0)",
    "partition by k from E initiated by E(b) terminated by E(v > 6)",
    "partition by k from E terminated after 2 sec",
    "coalesce by consistent_hash_crc32(k) from E granularity 3",
    "group g < 1 as low, group g >= 1 as high from E",
    "initiated by E(g = 1) as s terminated by E(k = s.k and g = 2)",
    "initiated by E(b) as s terminated after 3 sec",
    "initiated by distinct(k) E(g > 0) as s terminated after 2 sec",
    "initiated by pattern [every s=E(g = 1) -> E(k = s.k)] terminated after 2500 msec",
    "start E(b) end after 2 sec",
    "start pattern [every timer:interval(1 sec)] end after 2 sec",
    "start @now end after 2 sec",
    "initiated by @now and pattern [every timer:interval(2 sec)] terminated after 3 sec",
    "start E(g = 0) as s end E(k = s.k)",
)
TOTALS = "count(*) as c", "sum(v) as t", "max(n) as m", "first(n) as f", "count(distinct g) as d", "avg(v) as a"
PATTERNS = "every a=E(g = 0) -> b=E(n > a.n)", "every a=E(b) -> (timer:interval(1 sec) and not E(g = 2))", "a=E until E(g = 2)"


def in_contexts(draw: Drawn) -> str:
    """Statements of all kinds in partitions of a context, or of two within one another."""
    context = draw.fresh("CTX")
    if draw.of.random() < 0.25:
        text = f"create context {context} context A{context} {draw.one(*LIFETIMES)}, context B{context} {draw.one(*LIFETIMES)};\n"
    else:
        text = f"create context {context} {draw.one(*LIFETIMES)};\n"
    window, table, variable = draw.fresh("CW"), draw.fresh("CT"), draw.fresh("cv")
    kept = draw.one("", "", f"create window {window}", f"create table {table}", f"create variable int {variable}")
    if kept.startswith("create window"):
        text += f"context {context} {kept}#{draw.one('keepall', 'length(3)', 'unique(k)', 'time(2 sec)')} as E;\n"
        text += f"context {context} insert into {window} select * from E;\n"
    elif kept.startswith("create table"):
        text += f"context {context} {kept}(s sum(double), c count(*));\n"
        text += f"context {context} into table {table} select sum(v) as s, count(*) as c from E#{draw.one('keepall', 'length(3)')};\n"
    elif kept:
        text += f"context {context} {kept} = 1;\ncontext {context} on E set {variable} = {variable} + 1;\n"
    for _ in range(draw.of.randint(1, 3)):
        texts = [_plain(draw), _grouped(draw), f"select * from pattern [{draw.one(*PATTERNS)}]", _matched(draw)]
        if kept.startswith("create window"):
            texts += [f"select count(*) as c, sum(v) as t from {window}", f"on E(b) as e delete from {window} as w where w.n < e.n",
                      f"on E(b) as e merge {window} as w where w.k = e.k when matched then update set v = e.v "
                      "when not matched then insert select e.*"]
        elif kept.startswith("create table"):
            texts += [f"select {table}.s as s, {table}.c as c from E"]
        elif kept:
            texts += [f"select {variable} as x, n from E"]
        text += draw.named(f"context {context} {draw.one(*texts)}")
    return text


def _plain(draw: Drawn) -> str:
    ended = draw.one("", "", " output when terminated", " output last every 2 sec and when terminated", " output snapshot when terminated",
                     " output every 2 events")
    shown = ", ".join(draw.some(TOTALS, 1, 3))
    return f"select context.id as i, {shown} from E{draw.one('', '#length(3)', '#time(2 sec)', '#keepall', '#unique(k)')}{ended}"


def _grouped(draw: Drawn) -> str:
    window = draw.one("length(4)", "time(2 sec)")
    return f"select {draw.one('', 'irstream ')}k, {draw.one(*TOTALS)} from E#{window} group by k{draw.output(0.3)}"


def _matched(draw: Drawn) -> str:
    clause = "measures A.n as a, last(B.n) as z pattern (A B+) define B as B.v > A.v"
    return f"select * from E{draw.one('', '#length(4)')} match_recognize ({clause})"


__all__ = ["in_contexts"]
