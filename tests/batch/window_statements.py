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
]

UNBOUND = [
    "select k, x from T(x > 2)",
    "select count(*) as c, sum(n) as s, sum(x) as t, avg(x) as a, count(x) as cx from T",
    "select irstream count(*) as c, max(x) as hi, min(n) as lo from T having count(*) > 2",
    "select k, max(x, filter: b) as hi, minever(n) as lo from T",
]

STATEMENTS = [*SLIDING, *UNBOUND]
