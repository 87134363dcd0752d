"""Statements over data windows, and the aggregations behind them, that run in columns."""
from __future__ import annotations

SLIDING = [
    "select irstream k, x from T#length(3)",
    "select avg(x) as a, max(x) as hi, min(n) as lo, count(*) as c from T#length(3)",
    "select irstream sum(x) as t, sum(n) as s, sum(m) as q from T(b)#length(2)",
    "select irstream k, n, sum(n, filter: b) as s, max(m, filter: n > 0) as hi from T#length(4) having sum(n) > 1",
    "select rstream * from T#time(5 msec)",
    "select irstream k, x * 2 as w from T(n > 0)#time(3 msec)",
    "select irstream avg(x) as a, count(k) as c, max(n) as hi, min(x) as lo from T#time(4 msec)",
    "select irstream k, count(*) as c from T#keepall",
    "select irstream k, x from T#ext_timed(m, 7 msec)",
    "select irstream sum(n) as s, max(x) as hi, count(*) as c from T(b)#ext_timed(n, 2 msec)",
    "select irstream k, n from T(b)#lastevent",
    "select irstream sum(n) as s, min(x) as lo from T#lastevent",
    "select irstream k, n from T(b)#firstevent",
    "select irstream sum(n) as s, k from T(n > 0)#firstlength(3)",
    "select irstream x from T(x > 0)#time_accum(2 msec)",
    "select irstream sum(n) as s, max(x) as hi, count(*) as c from T#time_accum(2 msec)",
]

BATCHES = [
    "select irstream k, x from T#length_batch(3)",
    "select k, n + 1 as w from T(n > 0)#length_batch(1)",
    "select irstream sum(x) as s, max(n) as hi, min(x) as lo, count(*) as c from T#length_batch(4)",
    "select irstream k, sum(n) as s, avg(x) as a from T(b)#length_batch(2) having count(*) > 1",
    "select irstream k, x from T#time_batch(4 msec)",
    "select rstream k from T(b)#time_batch(3 msec, 2L)",
    "select irstream sum(x) as s, max(n) as hi, min(x) as lo, count(*) as c from T#time_batch(5 msec)",
    "select irstream k, sum(n) as s from T#time_batch(2 msec) having sum(n) > 1",
    "select irstream k, x from T#time_length_batch(4 msec, 3)",
    "select irstream sum(x) as s, max(n) as hi, min(x) as lo, count(*) as c from T(b)#time_length_batch(3 msec, 2)",
]

UNBOUND = [
    "select k, x from T(x > 2)",
    "select count(*) as c, sum(n) as s, sum(x) as t, avg(x) as a, count(x) as cx from T",
    "select irstream count(*) as c, max(x) as hi, min(n) as lo from T having count(*) > 2",
    "select k, max(x, filter: b) as hi, minever(n) as lo from T",
]

STATEMENTS = [*SLIDING, *BATCHES, *UNBOUND]
