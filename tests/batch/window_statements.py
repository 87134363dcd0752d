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

KEYED = [
    "select irstream k, x, n from T#unique(k)",
    "select irstream k, x from T(x > 0)#unique(n, b)",
    "select irstream x from T#unique(x)",
    "select irstream sum(n) as s, count(*) as c, avg(x) as a, max(x) as hi, min(x) as lo, min(n, filter: b) as ln from T#unique(k)",
    "select irstream k, first(x) as f, last(n) as l, first(k) as fk, last(b, filter: n > 0) as lb from T#unique(k, m)",
    "select irstream k, x from T#firstunique(k)",
    "select sum(n) as s, max(x) as hi from T(b)#firstunique(k, n)",
]

AGGREGATED = [
    "select irstream first(x) as f, last(x) as l, first(k) as fk, last(k, filter: n > 0) as lk from T#length(3)",
    "select irstream k, first(b) as f, last(d) as l, first(n + 1) as e from T#time(3 msec)",
    "select first(x) as f, last(k) as l, count(*) as c from T#length_batch(3)",
    "select irstream first(x) as f, last(k) as l, count(*) as c from T#time_batch(3 msec)",
    "select first(x) as f, last(k) as l, firstever(n) as e, lastever(b) as lb, firstever(d) as d from T",
    "select irstream firstever(x) as f, lastever(k) as l, countever(*) as c, countever(n, b) as cn, minever(x) as lo from T#length(2)",
    "select irstream fmin(x, n > 0) as lo, fmax(m, b) as hi, fmaxever(x, b) as e from T#length(3)",
    "select stddev(x) as s, stddev(n) as sn from T",
    "select irstream stddev(x) as s, stddev(n, filter: b) as sn from T#length(3)",
    "select irstream stddev(x * 0.1) as s from T#time(4 msec)",
    "select irstream count(distinct k) as c, count(distinct x) as cx, count(distinct b, filter: n > 0) as cb from T#length(4)",
    "select count(distinct n) as c, sum(distinct n) as s, avg(distinct x) as a, min(distinct x) as lo, max(distinct n) as hi from T",
    "select irstream sum(distinct n) as s, avg(distinct x) as a, min(distinct x) as lo, max(distinct n) as hi from T#time(3 msec)",
    "select irstream k, count(distinct k) as c, max(distinct x) as hi from T#unique(n)",
    "select irstream count(distinct m) as c, stddev(distinct x) as s from T#time_length_batch(3 msec, 4)",
    "select irstream nth(x, 1) as a, nth(k, 0) as b, nth(n, 2, filter: b) as c, leaving() as l from T#length(3)",
    "select nth(n, 1) as a, nth(d, 1) as b from T",
]

GROUPED = [
    "select irstream k, sum(n) as s, max(x) as hi, count(distinct b) as d from T#length_batch(4) group by k",
    "select irstream k, x, first(n) as f, last(x) as l from T#time_batch(3 msec) group by k",
    "select irstream n, count(*) as c, min(x) as lo, stddev(x) as s from T(n is not null)#unique(k) group by n",
    "select irstream k, count(distinct n) as d, sum(distinct m) as s, lastever(b) as e from T#time(3 msec) group by k",
    "select k, avg(distinct x) as a, first(b) as f, count(*) as c from T#time_length_batch(4 msec, 3) group by k having count(*) > 0",
    "select irstream b, last(k) as l, max(n) as hi from T#ext_timed(m, 5 msec) group by b",
    "select k, count(distinct n) as d, stddev(x) as s, firstever(m) as f from T group by k",
    "select irstream k, nth(x, 1) as a, leaving(filter: n > 0) as l from T#time(3 msec) group by k",
    "select irstream b, nth(k, 1) as a, leaving() as l from T#length_batch(3) group by b",
]

FILTERED = [
    "select irstream k, x from T#length(3) where x > 1",
    "select irstream sum(n) as s, max(x) as hi, first(k) as f, count(*) as c from T#time(3 msec) where b or n > 1",
    "select irstream k, sum(n) as s, min(x) as lo from T#length_batch(3) where k != 'a'",
    "select irstream count(*) as c, count(distinct k) as d from T#time_batch(3 msec) where x > 0 having count(*) > 0",
    "select irstream x, max(n) as hi from T#unique(k) where x > n",
]

UNBOUND = [
    "select k, x from T(x > 2)",
    "select count(*) as c, sum(n) as s, sum(x) as t, avg(x) as a, count(x) as cx from T",
    "select irstream count(*) as c, max(x) as hi, min(n) as lo from T having count(*) > 2",
    "select k, max(x, filter: b) as hi, minever(n) as lo from T",
]

STATEMENTS = [*SLIDING, *BATCHES, *KEYED, *AGGREGATED, *GROUPED, *FILTERED, *UNBOUND]
