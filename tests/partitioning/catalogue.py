"""Modules and by what their last statement may be split: the table of the rules, and what the property test draws from."""
from __future__ import annotations

from tests.partitioning import pattern_catalogue

SCHEMA = (
    "create schema T(k string, g int, x double, n int, ts long);"
    "create schema U(u string, g int, y double);"
    "create schema Place(city string, zone int);"
    "create schema V(place Place, v int);"
    "create schema Base(k string, b int);"
    "create schema Sub(c int) inherits Base;"
    "create schema Item(id string, q int);"
    "create schema Basket(owner string, items Item[]);"
)

K, KG, TU = {"T": "k"}, {"T": "k g"}, {"T": "k", "U": "u"}

W = "create window W#keepall as (k string, n int, x double); insert into W select k, n, x from T; "
TB = (
    "create table B(k string primary key, n int, s sum(double), c count(*));"
    "into table B select sum(x) as s, count(*) as c from T group by k; "
)
"""A named window and a table that T fills by k."""

PATTERN = "pattern (A B) define B as B.x > A.x"
SPLIT: list[tuple[str, dict[str, str]]] = [
    # groups
    ("select k, sum(x) as s from T group by k", K),
    ("select k, x, sum(x) as s from T group by k", K),
    ("select irstream k, sum(x) as s from T group by k", K),
    ("select k, g, avg(x) as a from T group by k, g", KG),
    ("select k, count(*) as c from T group by k, x + 1", K),
    ("select irstream k, sum(x) as s, count(*) as c from T#time(5 msec) group by k", K),
    ("select irstream k, x, sum(n) as s from T#time(5 msec) group by k having sum(n) > 2", K),
    ("select rstream k, g, max(x) as m from T#time(5 msec) group by k, g", KG),
    ("select irstream k, sum(x) as s from T#time_batch(4 msec, 0L) group by k", K),
    ("select irstream k, x, sum(x) as s from T#time_batch(4 msec, 0L) group by k", K),
    ("select irstream k, min(x) as s from T#keepall group by k", K),
    ("select k, countever(*) as c, lastever(n) as l, leaving() as v from T#time(3 msec) group by k", K),
    ("select irstream k, median(x) as m, stddev(x) as d, avedev(x) as e, fmin(n, x > 0) as f, maxby(n).x as b from T#time(3 msec) "
     "group by k", K),
    ("select irstream k, first(x) as f, last(n) as l, window(n) as w from T#time(5 msec) group by k", K),
    ("select irstream k, sum(x) as s from T#time_order(ts, 5 msec) group by k", K),
    ("select irstream k, sum(x) as s from T#timetolive(ts) group by k", K),
    ("select irstream k, sum(x) as s from T#firsttime(6 msec) group by k", K),
    ("select k, rate(4) as r, stddev(x) as d, count(distinct n) as c from T group by k", K),
    ("select irstream k, g, sum(x) as s from T#time(5 msec) group by k, rollup(g)", K),
    ("select irstream k, g, sum(x) as s from T#time(5 msec) group by grouping sets ((k, g), (k))", K),
    ("select irstream k, x, sum(x, group_by: k) as s from T#time(5 msec)", K),
    ("select irstream sum(x, group_by: (k, g)) as s, count(*, group_by: k) as c from T#time(5 msec)", K),
    ("select irstream k, sum(x) as s, sum(x, group_by: (k)) as t from T#time(5 msec) group by k, g", K),
    ("select irstream distinct k, n from T#time(5 msec)", {"T": "k n"}),
    ("select irstream distinct * from T#time(5 msec)", {"T": "k g x n ts"}),
    ("select place.city as city, sum(v) as s from V group by place.city", {"V": "place.city"}),
    ("select k, count(*) as c from Base group by k", {"Base": "k"}),
    ("select irstream distinct k, sum(x) as s from T#time(5 msec) group by k, g", K),
    ("select irstream k, x, n from T#time(5 msec)#time_order(ts, 3 msec)#unique(k, n) where x > 0", {"T": "k n"}),
    ("select irstream distinct k, n from T#time_batch(4 msec, 0L)", {"T": "k n"}),
    # output first
    ("select k, sum(x) as s from T group by k output first every 3 msec", K),
    ("select k, x, sum(x) as s from T#time(5 msec) group by k output first every 3 msec", K),
    ("select irstream k, sum(x) as s from T#time(5 msec) group by k having sum(x) > 1 output first every 2 events", K),
    # windows of their own
    ("select irstream * from T#groupwin(k)#length(2)", K),
    ("select irstream k, n from T#groupwin(k, g)#length_batch(2)", KG),
    ("select irstream k, n from T#groupwin(k)#time_batch(4 msec)", K),
    ("select irstream k, n from T#groupwin(k)#ext_timed(ts, 3 msec)", K),
    ("select irstream k, n from T#groupwin(k)#time_accum(3 msec)", K),
    ("select irstream k, n from T#groupwin(k)#sort(2, x)", K),
    ("select irstream k, n from T#groupwin(k)#expr(current_count <= 2)", K),
    ("select irstream k, n from T#groupwin(k)#time_length_batch(4 msec, 2)", K),
    ("select irstream k, n from T#groupwin(k)#length(3)#unique(n)", K),
    ("select irstream k, size from T#groupwin(k)#length(2)#size", K),
    ("select irstream k, total, average from T#groupwin(k)#length(2)#uni(x)", K),
    ("select irstream k, prev(1, x) as p, prevcount(x) as c from T#groupwin(k)#length(3)", K),
    ("select irstream k, prev(1, n) as p, prevtail(0, n) as t from T#groupwin(k)#time(5 msec)", K),
    ("select irstream k, prev(1, n) as p, prevwindow(n) as w from T#groupwin(k)#time_batch(4 msec)", K),
    ("select irstream k, prev(1, n) as p, prevcount(n) as c from T#groupwin(k)#time_accum(3 msec)", K),
    ("select irstream k, prev(1, n) as p, prevcount(n) as c from T#groupwin(k)#time_order(ts, 5 msec)", K),
    ("select irstream k, sum(x) as s from T#groupwin(k, g)#length(2) group by k", K),
    ("select irstream * from T#unique(k)", K),
    ("select irstream * from T#unique(k, g)", KG),
    ("select irstream * from T#firstunique(k, g)", KG),
    ("select irstream g, sum(x) as s from T#unique(k, g) group by g", {"T": "g"}),
    ("select irstream k, n from T#time(5 msec)#unique(k)", K),
    ("select irstream k, n from T#time(3 msec)#unique(k) retain-union", K),
    # row patterns
    (f"select * from T match_recognize (partition by k measures A.k as k, A.n as a, B.n as b {PATTERN})", K),
    (f"select * from T match_recognize (partition by k, g measures A.n as a, B.n as b after match skip to next row {PATTERN})", KG),
    ("select * from T match_recognize (partition by k measures A.n as a, count(B.n) as c, C.n as d all matches "
     "after match skip to current row pattern (A B* C) define B as B.x > prev(B.x), C as C.n > 1)", K),
    (f"select * from T#time(4 msec) match_recognize (partition by k measures A.n as a, B.n as b {PATTERN})", K),
    ("select * from T#keepall match_recognize (partition by k measures A.n as a, last(B.n) as b pattern (A B+) define B as B.x > A.x)", K),
    (f"select * from T#firsttime(9 msec) match_recognize (partition by k measures A.n as a, B.n as b {PATTERN})", K),
    # chains
    ("insert into A select k as kk, x * 2 as y from T(x > 0); select kk, sum(y) as s from A group by kk", K),
    ("insert into A select k as kk, n as m from T where n > 0; select irstream kk, m from A#groupwin(kk)#length(2)", K),
    ("insert into A select * from T; select irstream k, sum(x) as s from A#time(5 msec) group by k", K),
    ("insert into A select k, sum(x) as s from T group by k; select k, s from A#unique(k)", K),
    (f"insert into M select * from T match_recognize (partition by k, g measures A.k as ka, B.n as b {PATTERN});"
     "select ka, count(*) as c from M group by ka", K),
    ("insert into M select * from T match_recognize (partition by k measures last(B.k) as kb, B[0].k as kc, count(B.n) as c "
     "pattern (A B+ C) define B as B.x > 0, C as C.x <= 0); select kb, kc, sum(c) as s from M group by kb, kc", K),
    ("create schema W(kk string, gg long); insert into W select k as kk, g as gg from T; insert into W select u as kk, g as gg from U;"
     "select irstream kk, gg, count(*) as c from W#time(5 msec) group by kk, gg", {"T": "k g", "U": "u g"}),
    ("insert rstream into A select k, g, x from T#time(3 msec); select g, sum(x) as s from A group by g", {"T": "g"}),
    ("insert into A select k, g, x from T; insert into B select k, g, sum(x) as s from A group by k, g;"
     "insert into C select k, s from B; select irstream k, max(s) as m from C#groupwin(k)#length(2) group by k", K),
    ("on T insert into Hi select k, x where x > 1 insert into Lo select k, n where n > 0; select k, count(*) as c from Hi group by k", K),
    ("update istream T set x = 0 where n > 1; select k, sum(x) as s from T group by k", K),
    ("select owner, sum(q) as s from Basket[select owner, q from items] group by owner", {"Basket": "owner"}),
    ("insert into A select place from V; select place.city as city, sum(place.zone) as s from A group by place.city", {"V": "place.city"}),
    ("insert into X select k, x from T; insert into X select k, x + 1 as x from X(x < 3); select k, sum(x) as s from X group by k", K),
    ("create variable double least = 1; select k, sum(x) as s from T(x > least) group by k", K),
    ("select k, sum(x) as s from T group by k for grouped_delivery (k)", K),
    # joins
    ("select irstream a.k as k, a.n as n, b.y as y from T#time(5 msec) as a, U#time(3 msec) as b where a.k = b.u", TU),
    ("select irstream a.k as k, b.y as y from T#keepall as a inner join U#time(4 msec) as b on a.k = b.u and a.g = b.g where a.x > b.y",
     {"T": "k g", "U": "u g"}),
    ("select irstream a.k as k, b.y as y from T#time(5 msec) as a left outer join U#time(3 msec) as b on a.k = b.u", TU),
    ("select irstream a.k as k, b.u as u, a.n as n from T#time(5 msec) as a full outer join U#unique(u) as b on a.k = b.u", TU),
    ("select irstream a.k as k, sum(b.y) as s, count(*) as c from T#time(5 msec) as a, U#keepall as b where a.k = b.u group by a.k", TU),
    ("select irstream b.u as u, a.x as x, sum(b.y) as s from T#unique(k) as a, U#time(4 msec) as b where a.k = b.u group by b.u", TU),
    ("select a.k as k, sum(a.x) as s from T#time(5 msec) as a left outer join U#time(3 msec) as b on a.k = b.u group by a.k", TU),
    ("select irstream a.k as k, a.n as m, b.n as n from T#time(3 msec) as a, T#keepall as b where a.k = b.k and a.n < b.n", K),
    ("select a.k as k, b.y as y from T as a unidirectional, U#unique(u) as b where a.k = b.u", TU),
    ("select a.k as k, b.y as y, b.g as g from T as a unidirectional left outer join U#groupwin(u)#length(2) as b on a.k = b.u", TU),
    ("select a.k as k, b.y as y, v.v as v from T#time(5 msec) as a, U#time(5 msec) as b, V#keepall as v "
     "where a.k = b.u and b.u = v.place.city", {"T": "k", "U": "u", "V": "place.city"}),
    ("insert into J select b.u as k, b.y as y from T as a unidirectional, U#unique(u) as b where a.k = b.u;"
     "select k, sum(y) as s from J group by k", TU),
    ("insert into A select k as kk, n from T; select irstream a.kk as k, b.y as y from A#time(4 msec) as a, U#time(3 msec) as b "
     "where a.kk = b.u", TU),
    # named windows
    (W + "select irstream k, sum(x) as s from W group by k", K),
    (W + "on U as u delete from W as w where w.k = u.u; select irstream k, n from W", TU),
    (W + "on U as u update W as w set x = x + 1, n = n + u.g where w.k = u.u; select irstream k, sum(x) as s from W group by k", TU),
    (W + "on U as u select w.k as k, sum(w.x) as s, count(*) as c from W as w where w.k = u.u and w.n > 0", TU),
    (W + "on U as u select and delete w.k as k, w.n as n from W as w where w.k = u.u and w.n > u.g order by n limit 1", TU),
    (W + "on U as u insert into A select u.u as u, w.n as n from W as w where w.k = u.u; select u, sum(n) as s from A group by u", TU),
    ("create window W#unique(k) as (k string, n int); on T as t merge W as w where w.k = t.k when matched and t.n > 2 then delete "
     "when matched then update set n = w.n + t.n when not matched then insert select k, n; select irstream k, n from W", K),
    ("create window W#time(6 msec)#unique(k) as (k string, n int); insert into W select k, n from T; "
     "select a.u as u, w.n as n from U as a unidirectional, W as w where a.u = w.k", TU),
    (W + "select u, (select sum(x) from W where k = u.u) as s, exists(select * from W where k = u.u and n > u.g) as e from U as u", TU),
    ("create window W#groupwin(k)#length(2) as (k string, g int, n int); insert into W select k, g, n from T; "
     "on U as u delete from W as w where w.k = u.u and w.g = u.g; select irstream k, g, sum(n) as s from W group by k, g",
     {"T": "k", "U": "u"}),
    # tables
    (TB + "select u, B[u].s as s, B[u].c as c from U", TU),
    (TB + "select a.u as u, b.s as s, b.c as c from U as a unidirectional, B as b where a.u = b.k", TU),
    (TB + "select u, (select s from B where k = u.u) as s from U as u", TU),
    (TB + "on U as u delete from B as b where b.k = u.u; on U as u select b.k as k, b.c as c from B as b where b.k = u.u;"
     "select k, B[k].c as c from T", TU),
    (TB + "on U as u merge B as b where b.k = u.u when matched then update set n = u.g, c.reset() when not matched then insert select "
     "u.u as k, u.g as n; select k, B[k].n as n, B[k].c as c, B[k].s as s from T", TU),
    ("create table B(k string primary key, g int primary key, c count(*)); into table B select count(*) as c from T#time(5 msec) "
     "group by k, g; select u, g, B[u, g].c as c from U", {"T": "k g", "U": "u g"}),
    # sub-queries
    ("select k, (select sum(y) from U#time(5 msec) where u = t.k) as s from T as t", TU),
    ("select irstream k, (select y from U#unique(u) where u = t.k) as s, n from T#time(3 msec) as t", TU),
    ("select k, n from T as t where not exists (select * from U#time(3 msec) where u = t.k and y > t.x)", TU),
    ("select k, n from T(exists (select * from U#keepall where u = k and y > 0))", TU),
    ("select k, (select count(*) from T#keepall as b where b.k = a.k) as c from T as a", K),
    ("select k, n in (select g from U#keepall where u = t.k) as i, g = all (select g from U#time(3 msec) where u = t.k) as a from T as t",
     TU),
    ("select a.k as k, (select count(*) from V#keepall where place.city = a.k) as c from T#time(3 msec) as a, U#keepall as b "
     "where a.k = b.u", {"T": "k", "U": "u", "V": "place.city"}),
    ("select irstream k, count(*) as c, (select max(y) from U#keepall where u = t.k) as m from T#time(4 msec) as t group by k", TU),
]
"""(module, how the last statement's rows are split: properties by type)"""

IN_ANY_WAY: list[tuple[str, bool]] = [
    ("select * from T", True),
    ("select k, x * 2 as y from T(n > 1) where x > 0", True),
    ("insert into A select k, x from T; select * from A(x > 1)", True),
    ("on T insert into Hi select k where x > 1 insert into Lo select k; select * from Lo", True),
    ("update istream T set x = 0 where n > 1; select * from T", True),
    ("select irstream * from T#time(5 msec)", False),
    ("select irstream * from T#time_batch(4 msec, 0L)", False),
    ("select irstream k from T#time_order(ts, 5 msec)", False),
    ("select rstream * from T#time(5 msec)#timetolive(ts)", False),
    ("select current_timestamp as t, istream() as i, k from T#keepall", False),
]
"""(module, whether nothing at all is kept)"""

WHOLE: list[tuple[str, str]] = [
    (W + "on U as u delete from W; select k, sum(x) as s from W group by k", "on … delete"),
    (W + "on U as u update W as w set k = 'x' where w.k = u.u; select k, sum(x) as s from W group by k", "on … update"),
    (W + "select sum(x) as s from W", "the aggregation"),
    ("create window W#length(2) as (k string, n int); insert into W select k, n from T; select k, sum(n) as s from W group by k",
     "the window #length"),
    (W + "create window V2#keepall as W insert; select k, sum(x) as s from V2 group by k", "the named window 'V2'"),
    ("create table One(c count(*)); into table One select count(*) as c from T; select One.c as c from U", "the table 'One'"),
    (TB + "select B['a'].s as s from U", "the table 'B'"),
    (TB + "select B.keys() as s from U", "TableKeys"),
    ("select sum(x) as s from T", "the aggregation"),
    ("select k, sum(x) as s from T", "the aggregation sum"),
    ("select k, x, sum(x, group_by: ()) as s from T#time(5 msec) group by k", "the aggregation sum"),
    ("select k, g, sum(x) as s from T group by rollup(k, g)", "group by"),
    ("select k, g, sum(x) as s from T group by cube(k, g)", "group by"),
    ("select n % 2 as m, sum(x) as s from T group by n % 2", "group by"),
    ("select irstream k, sum(x) as s from T#length(3) group by k", "the window #length"),
    ("select irstream * from T#length_batch(3)", "the window #length_batch"),
    ("select irstream * from T#time_batch(4 msec)", "the window #time_batch"),
    ("select irstream * from T#time_batch(4 msec, 0L, 'FORCE_UPDATE')", "the window #time_batch"),
    ("select irstream * from T#time_accum(4 msec)", "the window #time_accum"),
    ("select irstream * from T#time_length_batch(4 msec, 2)", "the window #time_length_batch"),
    ("select irstream * from T#ext_timed(ts, 4 msec)", "the window #ext_timed"),
    ("select irstream * from T#ext_timed_batch(ts, 4 msec)", "the window #ext_timed_batch"),
    ("select irstream * from T#sort(2, x)", "the window #sort"),
    ("select irstream * from T#rank(k, 2, x)", "the window #rank"),
    ("select irstream * from T#firstlength(2)", "the window #firstlength"),
    ("select irstream * from T#firstevent", "the window #firstevent"),
    ("select irstream * from T#lastevent", "the window #lastevent"),
    ("select irstream * from T#expr(current_count <= 2)", "the window #expr"),
    ("select irstream * from T#expr_batch(current_count > 2)", "the window #expr_batch"),
    ("select irstream * from T#time(5 msec)#length(2)", "the window #length"),
    ("select irstream * from T#time_batch(4 msec, 0L)#unique(k)", "the window #time_batch"),
    ("select irstream k, min(ts) as m from T#time_order(ts, 5 msec)#firstunique(k) group by k", "the windows #time_order#firstunique"),
    ("select irstream k, min(n) as m from T#time(5 msec) where not istream() or n > 1 group by k", "where"),
    ("select irstream k, min(n) as m from T#time(5 msec) where current_timestamp % 3 > 0 group by k", "where"),
    ("select irstream k, min(n) as m from T#time(5 msec) group by k, (n + current_timestamp) % 2", "group by"),
    ("select irstream k, countever(*) as c from T#time(3 msec) group by k", "the aggregation count"),
    ("select rstream k, lastever(x) as l from T#time(3 msec) group by k", "the aggregation lastever"),
    ("select irstream k, leaving() as l from T#time(3 msec) group by k", "the aggregation leaving"),
    ("select irstream k, rate(ts) as r from T#time(3 msec) group by k", "the aggregation rate by timestamp"),
    (f"select * from T#time(3 msec) match_recognize (partition by k, current_timestamp % 2 measures A.n as a, B.n as b {PATTERN})",
     "match_recognize partition by"),
    ("select k, sum(size) as s from T#groupwin(k)#length(2)#size group by k", "the aggregation"),
    ("select size from T#keepall#size", "the window #size"),
    ("@Hint('reclaim_group_aged=0.002') select irstream k, n from T#groupwin(k)#length(2)", "the window #groupwin"),
    ("@Hint('reclaim_group_aged=0.003,reclaim_group_freq=0.001') select k, sum(x) as s from T group by k",
     "the hint reclaim_group_aged"),
    ("select irstream n % 2 as m from T#groupwin(n % 2)#length(2)", "the window #groupwin"),
    ("select irstream k, prev(1, x) as p from T#time(5 msec)", "prev"),
    ("select k, prior(1, x) as p from T", "prior"),
    ("select k, sum(x) as s from T group by k order by k", "order by"),
    ("select irstream k, x from T#time(5 msec) limit 1", "limit"),
    ("select irstream distinct n + 1 as m from T#time(5 msec)", "select distinct"),
    ("select k, sum(x) as s from T group by k output every 3 msec", "output every"),
    ("select k, sum(x) as s from T group by k output last every 2 events", "output last every"),
    ("select k, sum(x) as s from T group by k output snapshot every 3 msec", "output snapshot every"),
    ("select k, x from T output first every 3 msec", "output first"),
    ("select k, sum(x) as s from T group by k output when count_insert > 2", "output when"),
    ("select k, sum(x) as s from T group by k output after 2 events", "output after"),
    (f"select * from T match_recognize (measures A.n as a, B.n as b {PATTERN})", "match_recognize"),
    (f"select * from T#length(3) match_recognize (partition by k measures A.n as a, B.n as b {PATTERN})", "the window #length"),
    (f"select * from T#unique(k, n) match_recognize (partition by k measures A.n as a, B.n as b {PATTERN})", "match_recognize"),
    (f"select * from T#groupwin(k)#ext_timed(ts, 4 msec) match_recognize (partition by g, k measures A.n as a, B.n as b {PATTERN})",
     "match_recognize"),
    (f"select * from T#groupwin(k)#length(3) match_recognize (partition by k measures A.n as a, B.n as b {PATTERN})", "match_recognize"),
    (f"select * from T#groupwin(k, g)#length(2) match_recognize (partition by k measures A.n as a, B.n as b {PATTERN})",
     "match_recognize"),
    ("select * from T match_recognize (partition by k measures A.n as a, count(B.n) as b pattern (A B+) interval 6 msec "
     "define B as B.x > A.x)", "interval"),
    (f"select * from T match_recognize (partition by n % 2 measures A.n as a, B.n as b {PATTERN})", "match_recognize partition by"),
    ("insert into A select case when n > 1 then k else 'a' end as kk, x from T; select kk, sum(x) as s from A group by kk", "group by"),
    ("insert into A select k, sum(x) as s from T group by k, g; select s, count(*) as c from A group by s", "group by"),
    ("insert into A select k, g, sum(x) as s from T group by k, g output last every 2 events; select k, max(s) as m from A group by k",
     "output last every"),
    ("insert into A select k, g, x from T#groupwin(k)#length(2); select g, sum(x) as s from A group by g", "group by"),
    ("insert into M select * from T match_recognize (partition by k measures C.k as ck pattern (A B C?) define B as B.x > A.x);"
     "select ck, count(*) as c from M group by ck", "group by"),
    ("create schema W(kk string); insert into W select k as kk from T; insert into W select 'a' as kk from U;"
     "select kk, count(*) as c from W group by kk", "group by"),
    ("update istream T set k = 'a' where n > 1; select k, sum(x) as s from T group by k", "group by"),
    ("create variable double least = 1; on U set least = y; select k, sum(x) as s from T(x > least) group by k", "the variable least"),
    ("create variable int v = 1; on U set v = g", "on … set"),
    ("create variant schema Both as T, U; insert into Both select * from T; select g, count(*) as c from Both group by g", "insert into"),
    ("select id, sum(q) as s from Basket[items] group by id", "group by"),
    # joins, sub-queries
    ("select a.k as k, b.y as y from T#keepall as a, U#keepall as b where a.x > b.y", "the join"),
    ("select a.k as k, b.y as y from T#length(3) as a, U#keepall as b where a.k = b.u", "the window #length"),
    ("select a.k as k, b.n as n from T#keepall as a, T#keepall as b where a.g = b.n", "the join"),
    ("select a.k as k, b.n as n from T#unique(k) as a, T#keepall as b where a.g = b.g", "the window #unique"),
    ("select a.k as k, b.y as y, v.v as v from T#keepall as a, U#keepall as b, V#keepall as v where a.k = b.u and b.g = v.place.zone",
     "the join"),
    ("select b.u as u, sum(a.x) as s from T#keepall as a left outer join U#keepall as b on a.k = b.u group by b.u", "group by"),
    ("select b.y as y, count(*) as c from T#keepall as a, U#keepall as b where a.k = b.u group by b.y", "group by"),
    ("select sum(a.x) as s from T#keepall as a, U#keepall as b where a.k = b.u", "the aggregation"),
    ("insert into J select b.y as j, b.y as y from T as a unidirectional, U#unique(u) as b where a.k = b.u;"
     "select j, sum(y) as s from J group by j", "group by"),
    ("select a.k as k, prev(1, a.x) as p from T#time(5 msec) as a, U#keepall as b where a.k = b.u", "prev"),
    ("select k, (select sum(y) from U#keepall) as s from T", "the sub-query"),
    ("select k, n from T where n in (select g from U#time(3 msec))", "the sub-query"),
    ("select k, (select y from U#lastevent where u = t.k) as s from T as t", "the window #lastevent"),
    ("select g, (select sum(y) from U#keepall where u = t.k) as s, sum(x) as q from T as t group by g", "group by"),
    ("select irstream k, count(*) as c from T#time(3 msec) as t where exists (select * from U#keepall where u = t.k) group by k", "where"),
    ("insert into A select cast(ts, double) as d, x from T; select d, sum(x) as s from A group by d", "group by"),
]
"""(module, the operator that stands in the way)"""

SPLIT += pattern_catalogue.SPLIT
IN_ANY_WAY += pattern_catalogue.IN_ANY_WAY
WHOLE += pattern_catalogue.WHOLE
