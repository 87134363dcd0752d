"""Words of SQL, Flink, Spark and Siddhi: each is refused with the hint of its row, and what the hint says is EPL that deploys."""
from __future__ import annotations

from typing import Any

import pytest

from epl import foreign_words
from epl.errors import EplError
from epl.foreign_words import FUNCTIONS, PHRASES, STREAMS, TYPES, WINDOWS
from runtime import Runtime

SCHEMAS = (
    "create schema S(x string, y string, z string); create schema D(x double, y double, n long, b boolean, ts long);"
    "create schema T(x java.util.Date, y java.util.Date, ts java.util.Date); create schema L(x long, y int);"
    "create schema Item(id string, price double); create schema Basket(items Item[]); create schema I(x int[], y int);"
    "create schema A(id string, v double, n long, ts java.util.Date); create schema Type(key string, value double);"
    "create window W#keepall as D; create variable int known = 0"
)
EXPRESSIONS = ("select {} from S", "select {} from D#keepall", "select {} from T", "select {} from L", "select {} from I")
"""A hint's x and y are what its function takes: strings, numbers or times."""

HINTS: dict[str, tuple[str, ...]] = {
    "limit counts rows, and leaves out those that tie with the last one": (),
    foreign_words.NOW: ("current_timestamp()",),
    foreign_words.SUBSTRING: ("x.substring(0, 2)",),
    foreign_words.INDEX_OF: ("x.indexOf(y)",),
    foreign_words.CASE: ("case when x > y then x else y end",),
    foreign_words.CAST: ("cast(x, long)", "cast(x, date, dateformat: 'yyyy-MM-dd')"),
    foreign_words.EARLIER: ("prev(1, x)", "prior(1, x)"),
    foreign_words.LATER: (
        "select a.v as v, b.v as later from pattern [every a=A -> b=A]",
        "select * from A match_recognize (measures A.v as v, B.v as later pattern (A B) define A as true)",
    ),
    foreign_words.PART: ("x.getHourOfDay()", "x.getMinuteOfHour()", "x.getDayOfMonth()", "x.getMonthOfYear()", "x.getYear()"),
    foreign_words.UNNEST: ("select * from Basket[items]", "select * from Basket[select id, price from items]"),
    foreign_words.NESTED: ("create schema N(x Item, m java.util.Map); select x.id, m('y') from N",),
    foreign_words.OF_WINDOWS: ("select * from Type#time_batch(10 sec)", "select * from Type#time(10 sec)"),
    foreign_words.OF_SQL_PATTERNS: (
        "@Dialect('sql') select * from A match_recognize (order by ts measures classifier() as c pattern (A B) define B as B.v > 1) as m",
    ),
    foreign_words.TIMES: tuple(f"create schema N(a {name})" for name in (
        "long", "java.util.Date", "java.time.LocalDateTime", "java.time.ZonedDateTime")),
    foreign_words.TUMBLING: ("select * from A#time_batch(10 sec)", "select * from A#length_batch(10)"),
    foreign_words.SLIDING: ("select * from A#time(10 sec)", "select * from A#length(10)"),
    foreign_words.SESSION: (
        "create context Session initiated by A terminated after 10 sec; context Session select count(*) from A",
        "select * from A#time_accum(10 sec)",
    ),
    foreign_words.A_DIFFERENCE: (
        "select * from A as a where not exists (select * from W as w where w.x = a.v)",
        "select * from A as a where exists (select * from W as w where w.x = a.v)",
    ),
    foreign_words.A_UNION: ("insert into U select id from A; insert into U select x as id from S",),
    foreign_words.INNER: ("insert into V select id from A; select * from V",),
    foreign_words.LIMIT: ("select * from A output every 10 sec limit 5",),
    foreign_words.CONTEXT: ("create context C partition by id from A; context C select * from A", "select id, count(*) from A group by id"),
    foreign_words.FOLLOWED: ("select * from pattern [a=A -> b=A]",),
    foreign_words.CAST_AS: ("cast(x, int)",),
    foreign_words.EVERY: ("select * from A output every 10 sec",),
    "the newest rows are #length(10), the first ones of an output: limit 10": (
        "select * from A#length(10)", "select * from A output every 1 sec limit 10",
    ),
    "the newest rows are #length(10), the largest #rank(key, 10, value desc)": (
        "select * from Type#length(10)", "select * from Type#rank(key, 10, value desc)",
    ),
    "the largest rows of each key are #rank(key, 10, value desc)": ("select * from Type#rank(key, 10, value desc)",),
    "write x.replace(y, z)": ("select x.replace(y, z) from S",),
    "write x.replaceAll(y, z)": ("select x.replaceAll(y, z) from S",),
    "write count(*, condition)": ("count(*, x > 1)",), "write sum(x, condition)": ("sum(x, x > 1)",),
    "write Math.pow(stddev(x), 2), of a sample: by n - 1": ("Math.pow(stddev(x), 2)",),
    "write #length(100)#correl(x, y) after the type": ("select * from D#length(100)#correl(x, y)",),
    "write #length(100)#linest(x, y) after the type": ("select * from D#length(100)#linest(x, y)",),
    "write x[0], which counts from 0": ("x[0]",), "write y in (x)": ("select y in (x) from I",),
    "write x.countOf() of a collection, x.length() of a text": ("x.countOf()", "x.length()"),
    "write new {name = x, …}": ("new {name = x, other = y}",), "write {x, y}": ("{x, y}",),
    "write java.time.LocalTime, or long (ms)": ("create schema N(a java.time.LocalTime, b long)",),
    "write long (ms)": ("create schema N(a long)",), "write string, or java.util.UUID": ("create schema N(a string, b java.util.UUID)",),
    "write bigdecimal, which has no length": ("create schema N(a bigdecimal)",),
    "write primary key after the type of its column: id string primary key": ("create table N(id string primary key)",),
    "write the type of the elements with brackets: int[]": ("create schema N(a int[])",),
    "declare its fields by create schema, and write that name": ("create schema N(a Item)",),
    "write #ext_timed(timestamp, 10 sec)": ("select * from D#ext_timed(ts, 10 sec)",),
    "write #ext_timed_batch(timestamp, 10 sec)": ("select * from D#ext_timed_batch(ts, 10 sec)",),
    "write #length(10), or #length_batch(10)": ("select * from A#length(10)", "select * from A#length_batch(10)"),
    "write output at (*/5, *, *, *, *)": ("select * from A output at (*/5, *, *, *, *)",),
    "write #rank(key, 10, value desc), or #sort(10, value desc)": (
        "select * from Type#rank(key, 10, value desc)", "select * from Type#sort(10, value desc)",
    ),
    "write the type alone: from Type": ("select * from Type",),
    "write #time_order(ts, 5 sec), which waits 5 seconds for late events": ("select * from D#time_order(ts, 5 sec)",),
    "write from pattern [timer:interval(0)]": ("select 1 as one from pattern [timer:interval(0)]",),
    "a view is a statement with insert into: insert into V select …": ("insert into V select * from A",),
    "streams are declared by create schema; insert into declares those that it fills": (
        "create schema N(a int)", "insert into V select id from A",
    ),
    "streams are declared by create schema": ("create schema N(a int)",),
    "write create expression f { x => x + 1 }, or Runtime.register_function for one in Python": ("create expression f { x => x + 1 }",),
    "write on A insert into B select *": ("on A insert into B select *",),
    "sources and sinks are runtime.connectors, beside the statements": (),
    "write insert into X select …, which declares X": ("insert into X select id from A",),
    "write create window V#keepall as A, and insert into V select …": ("create window V#keepall as A; insert into V select * from A",),
    "a column is its name and type: it has no constraints": ("create schema N(a int)", "create table N(a int)"),
    "select comes first: select … from …": ("select id from A",),
    "write on A set x = 1, or Runtime.set_variable(name, value)": ("on A set known = 1",),
    "a deployment ends as a whole: Runtime.undeploy; rows of W leave by on A delete from W": ("on A delete from W",),
    "write on A as a merge W as w where a.v = w.x when matched then update set …": (
        "on A as a merge W as w where a.v = w.x when matched then update set y = 1.0",
    ),
    "Runtime.deployments lists what runs, Statement.explain() and epl explain show plans": (),
    "write module name; at the beginning, and @name('x') before a statement": ("module name; @name('x') select * from D",),
    "write insert into W select …": ("insert into W select * from D",), "write insert into B select …": ("insert into B select id from A",),
    "insert into comes first: insert into B select … from A": ("insert into B select id from A",),
    "name the properties: select x, y": ("select x, y from S",),
    "a name in quotes is a text: write as `name`": ("select x as `name` from S",),
    "write `name`": ("select `x` from S",), "write select *": ("select * from A",),
    "one row for each key is from Type#unique(key)": ("select * from Type#unique(key)",),
    "aggregations are over the rows of the data window: from Type#length(10)": ("select sum(value) from Type#length(10)",),
    "functions have no such prefix: write x.toUpperCase(), Math.abs(x)": ("x.toUpperCase()", "Math.abs(x)"),
    "write x is y, which takes null as equal to null": ("x is y",),
    "write x is y, or x is not y, which take null as a value": ("x is y", "x is not y"),
    "write x between y and z, whose bounds may be in any order": ("select x between y and z from S",),
    "write exists (select * from W as w where w.x = a.x and w.y = a.y)": (
        "select exists (select * from W as w where w.x = a.x and w.y = a.y) from D as a",
    ),
    "write cast('2024-01-31', localdate, dateformat: 'yyyy-MM-dd'), or a number of ms": (
        "cast('2024-01-31', localdate, dateformat: 'yyyy-MM-dd')",
    ),
    "write x.plus(5 minutes), x.minus(5 minutes)": ("x.plus(5 minutes)", "x.minus(5 minutes)"),
    "write 10 seconds, without interval and quotes": ("select * from A#time(10 seconds)",),
    "a type has no length: write string": ("create schema N(a string)",),
    "a type has no length: write bigdecimal": ("create schema N(a bigdecimal)",),
    "write x.contains(y), x.startsWith(y), x.endsWith(y)": ("x.contains(y)", "x.startsWith(y)", "x.endsWith(y)"),
    "write from pattern [every a=A -> b=B]": ("select * from pattern [every a=A -> b=D]",),
    foreign_words.A_PATTERN: ("select * from pattern [every a=A -> b=D]",),
    "write on a.id = b.id": ("select * from A#keepall as a join A#keepall as b on a.id = b.id",),
    "write a comma: from A#keepall as a, B#keepall as b": ("select * from A#keepall as a, D#keepall as b",),
    "write outer join": ("select * from A#keepall as a left outer join A#keepall as b on a.id = b.id",),
    "the newest row of each key is B#unique(id)": ("select * from A#unique(id)",),
    "the time of a join is its data windows: from A#time(5 sec) as a, B#time(5 sec) as b": (
        "select * from A#time(5 sec) as a, D#time(5 sec) as b",
    ),
    "write (a=A -> b=B) where timer:within(5 sec)": ("select * from pattern [(a=A -> b=D) where timer:within(5 sec)]",),
    "write the limit in define: define B as B.ts - A.ts < 300000": (
        "select * from D match_recognize (measures A.x as a pattern (A B) define B as B.ts - A.ts < 300000)",
    ),
    "write sec": ("select * from A#time(10 sec)",), "write min": ("select * from A#time(10 min)",),
    "write hour": ("select * from A#time(10 hour)",),
    "the guard of a pattern is within its brackets: pattern [(every a=A -> b=B) where timer:within(5 sec)]": (
        "select * from pattern [(every a=A -> b=D) where timer:within(5 sec)]",
    ),
    "the window is written alone: #time(5 sec)": ("select * from A#time(5 sec)",),
    "a window follows the type: from Type#time_batch(5 sec)": ("select * from Type#time_batch(5 sec)",),
    "where comes before group by; a condition on aggregations is having count(*) > 3": (
        "select id from A where v > 1 group by id having count(*) > 3",
    ),
    "write group by x, y": ("select x, y, count(*) from S group by x, y",),
    "write group by rollup(x)": ("select x, count(*) from S group by rollup(x)",),
    "group by comes before having": ("select id from A group by id having count(*) > 3",),
    "nulls come first: write order by case when x is null then 1 else 0 end, x": (
        "select * from D output every 1 sec order by case when x is null then 1 else 0 end, x",
    ),
    "write limit 10 offset 1": ("select * from A output every 1 sec limit 10 offset 1",),
    "an interval is written without timer: output every 1 min": ("select * from A output every 1 min",),
    "write output last every 5 events": ("select * from A output last every 5 events",),
    "annotations come first: @name('x') context C select …": (
        "create context C partition by id from A; @name('x') context C select * from A",
    ),
    "every select emits its changes; output every 10 sec emits at times": ("select * from A output every 10 sec",),
    "the first rows of each key are #firstunique(key), the largest #rank(key, 10, value desc)": (
        "select * from Type#firstunique(key)", "select * from Type#rank(key, 10, value desc)",
    ),
    "an index has a name: create index I on W(x)": ("create index I on W(x)",),
}  # fmt: skip
"""Hint → what it says, as statements or expressions; a hint ``write x.f(y)`` that is not here is tried as an expression, type or window."""

_WRONG = """\
select * from A[v > 1]
    a filter is in parentheses: from A(v>1)
select * from A#time('10 minutes')
    a period has no quotes: 10 minutes
select id from A#keepall group by 1
    write group by x, the property itself: neither its place in the select clause nor its name in quotes
select *, id from A
    * has it already: leave id out, or write id as another name
select id from A#keepall order by v limit 5 with ties
    limit counts rows, and leaves out those that tie with the last one
select * from A, unnest(ids) as t(x)
    contained events follow the type: from Basket[items], or from Basket[select id, price from items]
create view V as select * from A
    a view is a statement with insert into: insert into V select …
every a=A -> b=D(x > a.v)
    write select * from pattern [every a=A -> b=B]
select every a=A -> b=D
    write select * from pattern [every a=A -> b=B]
pattern [every a=A]
    write select * from pattern [every a=A -> b=B]
create stream V(a int)
    streams are declared by create schema; insert into declares those that it fills
create type V(a int)
    write create schema X(a int, b string)
create function f(x int) returns int as 'x'
    write create expression f { x => x + 1 }, or Runtime.register_function for one in Python
create trigger t after insert on A
    write on A insert into B select *
create source S2 with (a)
    sources and sinks are runtime.connectors, beside the statements
create index on W(x)
    an index has a name: create index I on W(x)
create schema V as select * from A
    write insert into X select …, which declares X
create table V as select * from A
    write create window V#keepall as A, and insert into V select …
create variable int v default 1
    write create variable int x = 1
create table V(id int not null)
    a column is its name and type: it has no constraints
create schema V(id int array)
    write the type of the elements with brackets: int[]
create schema V(a double precision)
    write double
create schema V(a unsigned int)
    write long
create schema V(a struct<b:int>)
    declare its fields by create schema, and write that name
create schema V(a timestamp(3))
    write long (ms), java.util.Date, java.time.LocalDateTime or java.time.ZonedDateTime
create schema V(a long, watermark for a as a - 5)
    write #time_order(ts, 5 sec), which waits 5 seconds for late events
select * from A withWatermark('ts', '10 minutes')
    write #time_order(ts, 5 sec), which waits 5 seconds for late events
create table V(id int) with ('connector' = 'kafka')
    sources and sinks are runtime.connectors, beside the statements
with q as (select * from A) select * from q
    name the inner select by insert into, and select from that stream
define stream V(a int)
    streams are declared by create schema
@info(name = 'q') from A#length(5) select id insert into V
    select comes first: select … from …
declare v int
    write create variable int x = 1
set v = 1
    write on A set x = 1, or Runtime.set_variable(name, value)
drop table W
    a deployment ends as a whole: Runtime.undeploy; rows of W leave by on A delete from W
merge into W using A on A.v = W.x when matched then update set x = 1
    write on A as a merge W as w where a.v = w.x when matched then update set …
show tables
    Runtime.deployments lists what runs, Statement.explain() and epl explain show plans
partition with (id of A) begin from A select id insert into V end
    write group by key for aggregations, or a context: create context C partition by key from A; context C select …
output every 5 sec select * from A
    write output every 10 sec at the end of the select
@app:name('x') select * from A
    write module name; at the beginning, and @name('x') before a statement
insert into table W select * from D
    write insert into W select …
insert W select * from D
    write insert into B select …
select * from A insert into V
    insert into comes first: insert into B select … from A
select top 5 * from A
    write limit 5 at the end
select distinct top 5 * from A
    write limit 5 at the end
select top(5) * from A
    write limit 5 at the end
select first 5 * from A
    write limit 5 at the end
select stream * from A
    write select *
select * except (id) from A
    name the properties: select x, y
select id "name" from A
    a name in quotes is a text: write as `name`
select id as "name" from A
    a name in quotes is a text: write as `name`
select [id] from A
    write `name`
select distinct on (id) id from A
    one row for each key is from Type#unique(key)
select row_number() over (partition by id order by v) from A
    the newest rows are #length(10), the largest #rank(key, 10, value desc)
select lag(v) over (order by v) from A
    write prev(1, x) over a data window, or prior(1, x)
select lead(v) over (order by v) from A
    rows that come later are not known yet: write a pattern, or match_recognize
select sum(v) over w from A
    aggregations are over the rows of the data window: from Type#length(10)
select sum(v) filter (where v > 1) from A
    write sum(x, filter: y > 1)
select percentile_cont(0.5) within group (order by v) from A
    write median(x)
select group_concat(id separator ',') from A
    write window(x)
select extract(hour from ts) from A
    write x.getHourOfDay(), x.getMinuteOfHour(), x.getDayOfMonth(), x.getYear(); x.getMonthOfYear() is 0 to 11 for long and Date
select extract(epoch from ts) from A
    write x.getHourOfDay(), x.getMinuteOfHour(), x.getDayOfMonth(), x.getYear(); x.getMonthOfYear() is 0 to 11 for long and Date
select year(ts) from A
    write x.getHourOfDay(), x.getMinuteOfHour(), x.getDayOfMonth(), x.getYear(); x.getMonthOfYear() is 0 to 11 for long and Date
select trim(both ' ' from id) from A
    write x.trim()
select position('a' in id) from A
    write x.indexOf(y), which counts from 0
select try_cast(v as int) from A
    write cast(x, int)
select substring(id from 1 for 2) from A
    write x.substring(from, to), which counts from 0 and leaves out the character at to
select str:upper(id) from A
    functions have no such prefix: write x.toUpperCase(), Math.abs(x)
select v::int from A
    write cast(x, int)
select * from A where v !== 1
    write x != y
select * from A where id <=> id
    write x is y, which takes null as equal to null
select * from A where id is not distinct from 'a'
    write x is y, or x is not y, which take null as a value
select * from A where v between symmetric 1 and 2
    write x between y and z, whose bounds may be in any order
select n div 2 from A
    write cast(x / y, long)
select v ** 2 from A
    write Math.pow(x, y)
select id->'a' from A
    declare the fields by create schema, and write x.y of a nested event, x('y') of a map
select v ?? 1 from A
    write coalesce(x, y)
select v > 1 ? 1 : 2 from A
    write case when … then … else … end
select case when v > 1 then 1 from A
    write case when … then … else … end
select * from A where (id, v) in (select id, v from A#keepall)
    write exists (select * from W as w where w.x = a.x and w.y = a.y)
select date '2024-01-01' from A
    write cast('2024-01-31', localdate, dateformat: 'yyyy-MM-dd'), or a number of ms
select count(*) from A group by tumble(ts, interval '10' second)
    write a data window after the type: from Type#time_batch(10 sec) for intervals, Type#time(10 sec) for the last seconds
select ts + interval '1' day from A
    write x.plus(5 minutes), x.minus(5 minutes)
select ts - 5 minutes from A
    write x.plus(5 minutes), x.minus(5 minutes)
select * from A#time(interval '10' second)
    write 10 seconds, without interval and quotes
create schema V(a varchar(20))
    a type has no length: write string
create schema V(a decimal(10, 2))
    a type has no length: write bigdecimal
select * from A where id ilike 'x'
    write x.toLowerCase() like 'text'
select * from A where id rlike 'x'
    write x regexp 'pattern'
select * from A where id glob 'x'
    write x like 'a%'
select * from A where id contains 'x'
    write x.contains(y), x.startsWith(y), x.endsWith(y)
select id, item from A lateral view explode(items) t as item
    contained events follow the type: from Basket[items], or from Basket[select id, price from items]
select * from table(tumble(table A, descriptor(ts), interval '10' minutes))
    write a data window after the type: from Type#time_batch(10 sec) for intervals, Type#time(10 sec) for the last seconds
select * from every a=A -> b=A
    write from pattern [every a=A -> b=B]
select * from A -> B
    write from pattern [every a=A -> b=B]
select * from (select * from A)
    name the inner select by insert into, and select from that stream
select * from A#keepall as a join A#keepall as b using (id)
    write on a.id = b.id
select * from A#keepall as a natural join A#keepall as b
    write on a.id = b.id
select * from A#keepall as a cross join A#keepall as b
    write a comma: from A#keepall as a, B#keepall as b
select * from A#keepall as a left join A#keepall as b on a.id = b.id
    write outer join
select * from A as a join A for system_time as of a.ts as b on a.id = b.id
    the newest row of each key is B#unique(id)
select * from A#keepall as a join A#keepall as b on a.id = b.id within 5 seconds
    the time of a join is its data windows: from A#time(5 sec) as a, B#time(5 sec) as b
select * from pattern [every a=A -> b=A within 5 sec]
    write (a=A -> b=B) where timer:within(5 sec)
select * from pattern [a=A followed by b=A]
    write a=A -> b=B
select * from A match_recognize (measures A.v as v pattern (A B) within 5 minutes define B as B.v > 1)
    write the limit in define: define B as B.ts - A.ts < 300000
select * from A#time(10s)
    write sec
select * from A output every 10m
    write min
select * from A#time(10h)
    write hour
select * from pattern [every a=A] where timer:within(5 sec)
    the guard of a pattern is within its brackets: pattern [(every a=A -> b=B) where timer:within(5 sec)]
from A#window.time(5 sec) select id
    select comes first: select … from …
select * from A#window.time(5 sec)
    the window is written alone: #time(5 sec)
select * from A#last
    write #lastevent
select * from A#first(1)
    write #firstevent
select * from A#all()
    write #keepall
select * from A#distinct(id)
    write #unique(key)
select * from A#count(5)
    write #length(10), or #length_batch(10)
select id, count(*) from A window tumbling (size 10 seconds) group by id
    a window follows the type: from Type#time_batch(5 sec)
select * from A [range 5 minutes]
    the last seconds are #time(10 sec), the last rows #length(10)
select * from A trigger 5 sec
    write output every 10 sec at the end of the select
select * from A partition by id
    write group by key for aggregations, or a context: create context C partition by key from A; context C select …
select id, count(*) as c from A group by id where v > 3
    where comes before group by; a condition on aggregations is having count(*) > 3
select id, count(*) from A group by all
    write group by x, y
select id, count(*) from A group by id with rollup
    write group by rollup(x)
select id, count(*) from A having v > 1 group by id
    group by comes before having
select * from A order by v nulls last
    nulls come first: write order by case when x is null then 1 else 0 end, x
select * from A fetch first 10 rows only
    write limit 5 at the end
select * from A offset 1
    write limit 10 offset 1
select * from A output all every timer:interval(1 min)
    an interval is written without timer: output every 1 min
select * from A output every 5 events last
    write output last every 5 events
select * from A output 5 sec
    write output every 10 sec at the end of the select
select * from A every 5 sec
    write output every 10 sec at the end of the select
select * from A minus select * from A
    write where not exists (select * from W as w where w.x = a.x); exists for what both have
select * from A union select * from A
    a union is two statements that insert into one stream
select * from A except select * from A
    write where not exists (select * from W as w where w.x = a.x); exists for what both have
select * from A intersect select * from A
    write where not exists (select * from W as w where w.x = a.x); exists for what both have
context C @name('x') select * from A
    annotations come first: @name('x') context C select …
select * from A emit changes
    every select emits its changes; output every 10 sec emits at times
select id, count(*) from A group by id emit final
    every select emits its changes; output every 10 sec emits at times
select * from A qualify row_number() over (partition by id order by v) = 1
    the first rows of each key are #firstunique(key), the largest #rank(key, 10, value desc)
""".splitlines()
WRONG = dict(zip(_WRONG[::2], map(str.strip, _WRONG[1::2]), strict=True))
"""Statements of other languages and their hints, one or more for each phrase; those about words are written by ``WORDS``."""
WORDS = {
    **{f"select {name}(id) from A": (FUNCTIONS, name) for name in FUNCTIONS if not name.startswith("current_row")},
    **{f"create schema N(a {name})": (TYPES, name) for name in TYPES if name not in ("key",)},
    **{f"select * from A#{name}(10)": (WINDOWS, name) for name in WINDOWS},
    **{f"select * from {name}(ts)": (STREAMS, name) for name in STREAMS if name not in ("lateral", "table")},
}
"""Statement → (table, the word of it)."""
SAID = sorted({*FUNCTIONS.values(), *TYPES.values(), *WINDOWS.values(), *STREAMS.values(), *(hint for _, _, hint in PHRASES)})
VALUES: dict[str, tuple[str, dict[str, Any], Any]] = {
    "upper": ("x.toUpperCase()", {"x": "ab"}, "AB"), "lower": ("x.toLowerCase()", {"x": "AB"}, "ab"),
    "length": ("x.length()", {"x": "ab"}, 2),
    "substring": ("x.substring(0, 2)", {"x": "abc"}, "ab"), "concat": ("x || y", {"x": "a", "y": "b"}, "ab"),
    "nvl": ("coalesce(x, y)", {"y": "b"}, "b"), "strpos": ("x.indexOf(y)", {"x": "abc", "y": "c"}, 2),
    "replace": ("x.replace(y, z)", {"x": "aba", "y": "a", "z": "c"}, "cbc"),
    "starts_with": ("x.startsWith(y)", {"x": "ab", "y": "a"}, True),
    "if": ("case when x > y then x else y end", {"x": "b", "y": "a"}, "b"),
    "nullif": ("case when x = y then null else x end", {"x": "a", "y": "a"}, None),
    "greatest": ("max(n, m)", {"n": 1, "m": 5}, 5), "mod": ("n % m", {"n": 7, "m": 4}, 3),
    "power": ("Math.pow(n, m)", {"n": 2, "m": 3}, 8.0),
    "round": ("Math.round(d)", {"d": 2.6}, 3), "trunc": ("cast(d, long)", {"d": 2.6}, 2), "tostring": ("cast(n, string)", {"n": 7}, "7"),
    "regexp_like": ("x regexp 'a.*'", {"x": "ab"}, True), "is not distinct from": ("x is y", {}, True),
    "ilike": ("x.toLowerCase() like 'a%'", {"x": "AB"}, True),
    "date_trunc": ("t.roundFloor('hour')", {"t": 7_200_001}, 7_200_000), "date_add": ("t.plus(1 hour)", {"t": 1}, 3_600_001),
    "hour": ("t.getHourOfDay()", {"t": 7_200_001}, 2), "cardinality": ("list.countOf()", {"list": [1, 2]}, 2),
    "array_contains": ("m in (list)", {"m": 2, "list": [1, 2]}, True),
}  # fmt: skip
"""Word → (the hint's expression, an event, what the word means)."""


def hint_of(text: str) -> str | None:
    with Runtime() as runtime:
        runtime.deploy(SCHEMAS)
        with pytest.raises(EplError) as refusal:
            runtime.deploy(text)
    return refusal.value.hint


@pytest.mark.parametrize("text", WORDS)
def test_a_foreign_word_is_refused_with_its_hint(text: str) -> None:
    table, word = WORDS[text]
    assert hint_of(text) == table[word]


@pytest.mark.parametrize("text", WRONG)
def test_a_foreign_phrase_is_refused_with_its_hint(text: str) -> None:
    assert hint_of(text) == WRONG[text]


def test_every_phrase_has_a_statement() -> None:
    assert [hint for _, _, hint in PHRASES if hint not in WRONG.values()] == []


def _deploys(text: str) -> bool:
    with Runtime() as runtime:
        runtime.deploy(SCHEMAS)
        try:
            runtime.deploy(text)
        except EplError:
            return False
    return True


def _forms(text: str) -> list[str]:
    """Return the statements that a part of one may be in: an expression, a type or a data window."""
    if text.startswith("#"):
        return [f"select * from Type{text}"]
    return [text, *(form.format(text) for form in EXPRESSIONS), f"create schema N(a {text})"]


@pytest.mark.parametrize("hint", SAID)
def test_what_a_hint_says_deploys(hint: str) -> None:
    for text in HINTS.get(hint) or (hint.removeprefix("write "),) * (hint not in HINTS):
        assert any(_deploys(each) for each in _forms(text)), text


@pytest.mark.parametrize("word", VALUES)
def test_what_a_hint_says_means_what_the_word_means(word: str) -> None:
    expression, event, value = VALUES[word]
    with Runtime() as runtime:
        runtime.deploy("create schema E(x string, y string, z string, n int, m int, d double, t long, list int[])")
        rows: list[Any] = []
        (statement,) = runtime.deploy(f"select {expression} as value from E").statements
        statement.add_listener(lambda new, old, *_: rows.extend(new))
        runtime.send("E", event)
    assert [row["value"] for row in rows] == [value]
