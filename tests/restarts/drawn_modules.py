"""Modules and events put together at random: statements of every kind that runs, over every data window.

A new kind of statement is one more function in ``KINDS``: it takes a ``Drawn`` and gives the text of its statements.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tests.restarts.drawn_dialects import in_dialects
from tests.restarts.drawn_partitions import in_contexts

SCHEMA = """create schema E(k string, g int, v double, n long, b boolean, ts long);
create schema Sub(extra int) inherits E;
create schema Item(id string, q int);
create schema Basket(owner string, items Item[]);
create schema Tags(nums int[primitive], words string[]);
"""

ANSWERING = (
    "length(3)",
    "time(3 sec)",
    "keepall",
    "sort(3, v)",
    "sort(3, v desc, n)",
    "rank(k, 3, v)",
    "time_order(ts, 3 sec)",
    "timetolive(ts + 2000)",
    "time_accum(2 sec)",
    "length_batch(3)",
    "time_batch(2 sec)",
    "time_batch(2 sec, 'FORCE_UPDATE')",
    "ext_timed(ts, 3 sec)",
    "ext_timed_batch(ts, 2 sec)",
    "time_length_batch(2 sec, 3)",
    "time_length_batch(1 sec, 4, 'START_EAGER')",
    "expr(current_count < 4)",
    "expr(oldest_timestamp > newest_timestamp - 2000)",
    "expr(sum(v) < 9)",
    "expr_batch(current_count > 3)",
    "length(1)",
    "time(500 msec)",
)
"""Windows that answer prev."""

UNANSWERING = ("unique(k)", "unique(k, g)", "firstunique(k)", "lastevent", "firstevent", "firstlength(4)", "firsttime(3 sec)")

COMBINED = (
    "length(3)#unique(k)",
    "time(2 sec)#unique(k)",
    "length(4)#time(3 sec)",
    "firstunique(g)#time(3 sec)",
    "unique(k)#sort(2, v)",
    "unique(k)#length(2) retain-union",
    "length(2)#time(2 sec) retain-union",
    "unique(k)#unique(g) retain-union",
    "time_batch(2 sec)#unique(k)",
)

DERIVED = {
    "uni(v)": ("datapoints", "total", "average", "stddev"),
    "size": ("size",),
    "size(k, n)": ("size", "k", "n"),
    "weighted_avg(v, n)": ("average",),
    "correl(v, n)": ("correlation",),
    "linest(v, n)": ("slope", "YIntercept", "n"),
    "uni(v, k)": ("total", "k"),
}

AGGREGATIONS = (
    "count(*)",
    "sum(v)",
    "avg(v)",
    "min(v)",
    "max(n)",
    "stddev(v)",
    "median(v)",
    "first(v)",
    "last(v)",
    "avedev(v)",
    "sum(g)",
    "count(v)",
    "sum(distinct g)",
    "count(distinct k)",
    "countever(*)",
    "minever(v)",
    "maxever(n)",
    "firstever(v)",
    "lastever(v)",
    "nth(v, 1)",
    "min(v, g > 1)",
    "sum(v, filter: b)",
    "sum(v, group_by: k)",
    "window(n)",
    "first(n, 1)",
    "fmax(v, b)",
    "fmin(v, b)",
    "sum(n) + max(v)",
    "leaving()",
    "rate(3)",
    "sorted(v).firstKey()",
    "maxby(v).n",
    "minby(v).n",
    "maxbyever(v).n",
    "fmaxever(v, b)",
    "avg(distinct v)",
    "sum(v * g, filter: n > 2)",
    "count(*, group_by: (k, g))",
    "window(*).countOf()",
    "last(*).n",
)
OUTPUTS = (
    "every 3 events",
    "last every 3 events",
    "first every 2 events",
    "all every 3 events",
    "every 2 sec",
    "last every 2 sec",
    "all every 2 sec",
    "first every 2 sec",
    "snapshot every 2 sec",
    "snapshot every 3 events",
    "when count_insert > 2",
    "after 3 events",
    "after 2 sec every 1 sec",
    "when count_insert_total > 4 and count_remove >= 0",
    "last when count_insert > 1",
    "at (*, *, *, *, *, */2)",
    "every 700 msec",
)
FILTERS = ("", "", "(v > 1)", "(k in ('a', 'b') or g > 0)", "(b)")
GROUPS = ("k", "k", "k, g", "n % 3", "rollup(k, g)", "cube(k, g)", "grouping sets((k), (g), ())")
PATTERNS = (
    ("A B", "B as B.v > A.v"),
    ("A B* C", "B as B.v >= 5, C as C.v < 4"),
    ("A+ B", "A as A.v > 3, B as B.v <= 3"),
    ("A B? C", "C as C.g > 1"),
    ("A (B | C) D", "B as B.v > 5, C as C.v <= 5, D as D.b"),
    ("A{2,3}", "A as A.v > 2"),
    ("A B+?", "B as B.v > 4"),
    ("match_recognize_permute(A, B)", "A as A.v > 5, B as B.v < 5"),
    ("A*? B", "B as B.b"),
    ("A B{1,}", "B as B.v > prev(B.v, 1)"),
    ("(A B)+", "B as B.b"),
    ("A B+ C", "B as B.v > A.v, C as C.v < B[0].v"),
    ("A B C", "C as C.g = prev(C.g, 2)"),
)


class Drawn:
    """Draws from ``of``; ``number`` counts names that must not occur twice."""

    def __init__(self, of: Random) -> None:
        self.of = of
        self.number = 0

    def one(self, *texts: str) -> str:
        return self.of.choice(texts)

    def some(self, texts: tuple[str, ...], least: int, most: int) -> list[str]:
        return self.of.sample(texts, self.of.randint(least, min(most, len(texts))))

    def maybe(self, chance: float, text: str) -> str:
        return text if self.of.random() < chance else ""

    def fresh(self, prefix: str) -> str:
        """A name that occurs nowhere else in the module."""
        self.number += 1
        return f"{prefix}{self.number}"

    def window(self, *, matched: bool = False) -> str:
        """A data window or several, in ``#…``; none now and then. ``matched``: for match_recognize."""
        single = self.one(*ANSWERING, *UNANSWERING)
        return self.one(
            "",
            f"#{single}",
            f"#{single}",
            f"#{single}",
            f"#{self.one(*COMBINED)}",
            f"#groupwin({self.one('k', 'g', 'k, g')})#{single}",
        )

    def stream(self) -> str:
        return self.one("E", "E", "E", "Sub") + self.one(*FILTERS)

    def output(self, chance: float = 0.5) -> str:
        return self.maybe(chance, f" output {self.one(*OUTPUTS)}")

    def order(self, *keys: str) -> str:
        return self.maybe(0.2, f" order by {self.one(*keys)}{self.one('', ' desc')}") + self.maybe(
            0.15, self.one(" limit 2", " limit 1 offset 1")
        )

    def named(self, text: str) -> str:
        return f"@name('{self.fresh('s')}') {text};\n"


def aggregated(draw: Drawn) -> str:
    """Aggregations, group by, having, output rates, order by."""
    keys = draw.one("", "", *GROUPS)
    shown = [k for k in ("k", "g") if k in keys] or [draw.one("k", "n", "n % 3")]
    columns = ", ".join(f"{c} as c{i}" for i, c in enumerate([*shown, *draw.some(AGGREGATIONS, 1, 3)]))
    grouped = f" group by {keys}" if keys else ""
    where, having = draw.maybe(0.2, " where v > 2"), draw.maybe(0.2, draw.one(" having count(*) > 1", " having sum(v) > 4"))
    select = f"select {draw.one('', 'irstream ', 'irstream ', 'rstream ')}{draw.maybe(0.1, 'distinct ')}{columns}"
    hint = draw.maybe(0.15, draw.one("@hint('reclaim_group_aged=2,reclaim_group_freq=1') ", "@IterableUnbound "))
    return draw.named(
        f"{hint}{select} from {draw.stream()}{draw.window()}{where}{grouped}{having}{draw.output()}{draw.order('k', 'n', 'c0')}"
    )


def plain(draw: Drawn) -> str:
    """Rows as they come: distinct, order by, limit, output rates, delivery."""
    columns = draw.one(
        "*", "k, v", "distinct k, g", "n, v * 2 as w, case when b then k else 'none' end as c", "k, current_timestamp() as at"
    )
    delivery = draw.maybe(0.1, " for grouped_delivery(k)") if columns in ("*", "k, v") else ""
    stream, where = draw.one("", "irstream ", "rstream "), draw.maybe(0.2, " where b or g = 1")
    order = "" if delivery else draw.order("k", "v, n")
    return draw.named(
        f"select {stream}{columns} from {draw.stream()}{draw.window()}{where}{draw.output()}{order}{delivery}"
    )


def looking_back(draw: Drawn) -> str:
    """prior over any window; prev and its relatives over those that answer, also in groups."""
    prior = [f"prior({draw.one('1', '2', '4')}, {draw.one('v', 'k')})"]
    asked = ("prev(1, v)", "prev(2, k)", "prev(g, v)", "prevtail(0, v)", "prevtail(1, n)", "prevcount(v)", "prevwindow(n)")
    if draw.of.random() < 0.4:
        window, columns = draw.window(), prior
    else:
        window = f"{draw.maybe(0.5, '#groupwin(k)')}#{draw.one(*ANSWERING)}"
        columns = [*draw.some(asked, 1, 3), *(prior if draw.of.random() < 0.4 else []), *(["sum(v)"] if draw.of.random() < 0.2 else [])]
    listed = ", ".join(f"{c} as c{i}" for i, c in enumerate(columns))
    return draw.named(f"select {draw.one('', 'irstream ')}n, {listed} from {draw.stream()}{window}{draw.output()}{draw.order('n')}")


def derived(draw: Drawn) -> str:
    """Derived-value windows, alone, in groups, with windows before and after."""
    name = draw.one(*DERIVED)
    columns = draw.one("*", ", ".join(DERIVED[name]), ", ".join(f"sum({c}) as t{i}" for i, c in enumerate(DERIVED[name]) if c != "k"))
    before = draw.one(
        "", "#length(3)", "#time(2 sec)", "#unique(k)", "#groupwin(k)", "#groupwin(k)#length(2)", "#groupwin(g)#time(2 sec)"
    )
    after = draw.maybe(0.3, draw.one("#length(2)", "#keepall", "#time(3 sec)")) if "groupwin" not in before else ""
    return draw.named(f"select {draw.one('', 'irstream ')}{columns} from {draw.stream()}{before}#{name}{after}{draw.output(0.3)}")


def recognized(draw: Drawn) -> str:
    """match_recognize over every data window."""
    pattern, define = draw.of.choice(PATTERNS)
    variables = [v for v in "ABCD" if v in pattern]
    several = [v for v in variables if pattern == "(A B)+" or any(f"{v}{mark}" in pattern for mark in "*+{")]
    measures = [f"{v}[0].n as m{v}" if v in several else f"{v}.n as m{v}" for v in variables]
    measures += [
        draw.one(f"count({v}.v) as c{v}", f"sum({v}.v) as s{v}", f"last({v}.v) as l{v}") for v in several if draw.of.random() < 0.6
    ]
    measures.append(f"{variables[0]}{'[0]' if variables[0] in several else ''}.k as x")
    skip = draw.one("", "", "after match skip past last row ", "after match skip to next row ", "after match skip to current row ")
    interval = draw.maybe(0.3, draw.one(" interval 2 seconds", " interval 1 seconds or terminated"))
    partition, every = draw.maybe(0.5, f"partition by {draw.one('k', 'k, g')} "), draw.maybe(0.3, "all matches ")
    clause = f"match_recognize ({partition}measures {', '.join(measures)} {every}{skip}pattern ({pattern}){interval} define {define})"
    after = draw.one("", "", f"{draw.output(1)}", " order by x", " limit 2")
    columns = draw.one("*", "*", "x, prior(1, x) as before")
    return draw.named(f"select {columns} from {draw.stream()}{draw.window(matched=True)} {clause}{after}")


def chained(draw: Drawn) -> str:
    """insert into, a window and aggregations over what was inserted, and a second stream from there."""
    first, second = draw.fresh("F"), draw.fresh("F")
    inserted, selected = draw.one("", "istream ", "rstream "), draw.one("", "irstream ")
    source = f"insert {inserted}into {first} select {selected}k, v, n, ts from {draw.stream()}{draw.window()}"
    window = draw.one("", "#length(3)", "#time(2 sec)", "#unique(k)", "#sort(2, v)", "#groupwin(k)#length(2)", "#length_batch(2)")
    more = draw.named(f"insert into {second} select k, sum(v) as t from {first}{window} group by k{draw.output(0.3)}")
    return draw.named(source) + more + draw.named(f"select irstream k, t, count(*) as c from {second}#length(3)")


def decorated(draw: Drawn) -> str:
    """insert into with the event itself and more; a variant stream of both."""
    wide, either = draw.fresh("W"), draw.fresh("V")
    return (
        draw.named(f"insert into {wide} select *, v * 2 as twice from {draw.stream()}")
        + f"create variant schema {either} as E, {wide};\n"
        + draw.named(f"insert into {either} select * from {draw.stream()}")
        + draw.named(f"insert into {either} select * from {wide}")
        + draw.named(
            f"select irstream k, n, twice? as w, typeof(x) as t from {either}#{draw.one('length(3)', 'time(2 sec)', 'unique(k)')} as x"
        )
    )


def with_variables(draw: Drawn) -> str:
    """Variables, on set; in filters, sizes of windows, conditions of output and expressions."""
    total, size, on = draw.fresh("total"), draw.fresh("size"), draw.fresh("on")
    declared = f"create variable int {total} = 1; create variable int {size} = 2; create variable boolean {on} = true;\n"
    setting = draw.named(
        f"on {draw.one('E(g > 0)', 'Sub', 'Basket')} set {total} = {total} + 1, {size} = {total} % 3 + 1, {on} = not {on}"
    )
    use = draw.one(
        f"select irstream n, {total} from {draw.stream()}#length({size})",
        f"select sum(v) as s from E(g > {total} % 2)#time(2 sec)",
        f"select k, count(*) as c from E group by k output last when {on} then set {size} = 1",
        f"select n from E#expr(current_count <= {size})",
        f"select n, v * {total} as w from {draw.stream()}{draw.window()}",
        f"select k, n from E output every {size} events",
        f"select n from E#time({size} sec)",
        f"select n from E#groupwin(k)#length({size})",
        f"select n from E#expr_batch({on} or current_count > 3)",
    )
    return declared + draw.named(use) + setting


def split(draw: Drawn) -> str:
    """on … insert into …, first or all, over events and what they contain."""
    one, two = draw.fresh("P"), draw.fresh("P")
    all_ = draw.maybe(0.4, " output all")
    text = draw.one(
        f"on {draw.stream()} insert into {one} select k, v where v > 3 insert into {two} select k, n{all_}",
        f"on E as e insert into {one} select e.k as k, e.v as v where g > 0 insert into {two} select k, n where b{all_}",
        f"on Basket insert into {one} select owner as k, 1.0 as v insert into {two} select id as k, q as n from [items]{all_}",
    )
    return (
        draw.named(text)
        + draw.named(f"select irstream k, sum(v) as s from {one}#length(3) group by k")
        + draw.named(f"select * from {two}#{draw.one('unique(k)', 'time(2 sec)', 'length_batch(2)')}")
    )


def updated(draw: Drawn) -> str:
    """update istream of a stream of its own, and what comes after it."""
    stream = draw.fresh("U")
    fill = draw.named(f"insert into {stream} select k, g, v from {draw.stream()}")
    change = draw.one(
        "set v = v + 1", "set g = g * 2, k = k || '!' where v > 2", "set k = 'z' where k is null", "set v = null where g = 1"
    )
    reader = draw.one(
        "select irstream k, g, v from {}#length(2)", "select k, sum(v) as s from {} group by k", "select * from {}#unique(k)"
    )
    return fill + draw.named(f"update istream {stream} {change}") + draw.named(reader.format(stream))


def contained(draw: Drawn) -> str:
    """Contained events, with windows and groups."""
    items = draw.one("Basket[items]", "Basket[select owner, * from items]", "Basket[items where q > 0]")
    text = draw.one(
        "select id, sum(q) as s from {} group by id",
        "select irstream id, q from {}#length(3)",
        "select id, prev(1, id) as p from {}#keepall",
        "select irstream * from {}#unique(id)",
        "select id, count(*) as c from {}#time(3 sec) group by id output last every 2 sec",
    )
    return draw.named(text.format(items))


def enumerated(draw: Drawn) -> str:
    """Enumeration methods over aggregated and previous events, arrays and lists."""
    window = draw.one("length(3)", "time(2 sec)", "keepall", "sort(3, v)", "groupwin(k)#length(2)")
    text = draw.one(
        f"select window(*).where(x => x.v > 2).selectFrom(x => x.n) as a, window(*).sumOf(x => x.v) as b from E#{window}",
        f"select prevwindow(e).countOf(x => x.b) as a, prevwindow(e).selectFrom((x, i) => x.n + i) as b from E#{window} as e",
        "select owner, items.maxBy(x => x.q).id as top, items.orderBy(x => x.q).selectFrom(x => x.id) as ids from Basket#length(2)",
        "select nums.where(x => x > 1).sumOf() as s, words.firstOf() as f, nums.aggregate(0, (r, x) => r + x) as t from Tags#unique(words)",
        f"select window(*).groupBy(x => x.k, x => x.n) as a from E#{window} output last every 3 events",
    )
    return draw.named(text)


def declared(draw: Drawn) -> str:
    """Expressions declared for the module and for the statement."""
    name = draw.fresh("ex")
    use = draw.one(
        f"select n, {name}(e) as w from {draw.stream()}{draw.window()} as e",
        f"select k, sum({name}(e)) as s from E#length(3) as e group by k",
        f"expression inner_{name} {{ x => {name}(x) + 1 }} select inner_{name}(e) as w, prior(1, n) as p from E#time(2 sec) as e",
        f"expression often alias for {{ count(*) > 1 }} select k, {name}(e) as w from E#length(4) as e group by k having often",
    )
    return f"create expression {name} {{ x => coalesce(x.v, 0) * 2 }};\n" + draw.named(use)


def asking(draw: Drawn) -> str:
    """Sub-queries of every use, correlated and not, over windows of every kind."""
    window = draw.one(*ANSWERING, *UNANSWERING, *COMBINED)
    columns = draw.one(
        "(select max(v) from E{w}) as a, exists (select * from E{w} as x where x.k = e.k) as b",
        "(select v from E{w} as x where x.n = e.n).take(3) as a, g in (select g from E{w}) as b",
        "(select k, sum(v) as s from E{w} group by k).take(5) as a, (select count(*) from E{w} as x where x.g >= e.g) as b",
        "(select n, k from E{w}) as a, v > all (select v from E{w} as x where x.k = e.k) as b",
        "(select prior(1, n) from E#lastevent) as a, (select sum(v) from E{w} having count(*) > 2) as b",
        "(select sum(v) from Sub) as a, (select x.n from E#unique(k) as x where x.k = e.k) as b",
    ).format(w=f"#{window}")
    source = draw.one("E", "E#length(3)", "E#time(2 sec)", "E(exists (select * from E#lastevent as x where x.g > 1))")
    where = draw.one("", "", " where n not in (select n from E#length(2) as x where x.k = e.k)")
    return draw.named(f"select {draw.one('', 'irstream ')}e.n as n, {columns} from {source} as e{where}")


UNION = " retain-union"


def joined(draw: Drawn) -> str:
    """Joins of two to four streams of every kind, over windows of every kind."""
    streams = [f"E#{draw.one('keepall', 'length(3)', *ANSWERING, *UNANSWERING)} as e"]
    keys = ("{}.k = {}.k", "{}.n = {}.n", "{}.g = {}.g and {}.v = {}.v")
    names = ["e"]
    kind = draw.one("comma", "comma", "inner", "outer", "outer", "unidirectional")
    for number in range(draw.of.randint(1, 3)):
        name = f"j{number}"
        window = draw.one(*ANSWERING, *UNANSWERING, *COMBINED)
        other = draw.one(*names)
        on = draw.one(*keys).format(other, name, other, name)
        union = UNION if window.endswith(UNION) else ""
        source = f"{draw.one('E', 'E', 'Sub')}{draw.one(*FILTERS)}#{window.removesuffix(UNION)} as {name}{union}"
        if kind in ("comma", "unidirectional"):
            inexact = f"{name}.v between {other}.v and {other}.n", f"{name}.g in ({other}.g, {other}.n)", f"{name}.v > {other}.v"
            more = draw.one(on, on, *inexact)
            streams.append(f", {source}" if kind == "comma" else f" join {source} on {on}")
            names.append(name)
            if kind == "comma":
                streams.append(f"\0{more}")
        else:
            join = "inner" if kind == "inner" else draw.one("left outer", "right outer", "full outer")
            streams.append(f" {join} join {source} on {on}")
            names.append(name)
    if kind == "unidirectional":
        streams[0] = "E as e unidirectional"
    where = " and ".join(s[1:] for s in streams if s.startswith("\0"))
    text = "".join(s for s in streams if not s.startswith("\0"))
    where = f" where {where}" if where else draw.maybe(0.3, " where e.n > 2")
    shape = draw.of.random()
    listed = ", ".join(f"{name}.n as n{name}" for name in names)
    if shape < 0.4:
        return draw.named(f"select {draw.one('', 'irstream ', 'rstream ')}{listed} from {text}{where}{draw.output(0.3)}")
    if shape < 0.5:
        return draw.named(f"select irstream * from {text}{where}")
    if shape < 0.6 and kind != "unidirectional":
        return draw.named(f"select irstream {listed}, prior(1, e.n) as p from {text}{where}")
    grouped = draw.one("", " group by e.k", " group by e.k, e.g", " group by rollup(e.k, e.g)")
    total = f"sum({names[-1]}.v) as s, count(*) as c, max({names[-1]}.n) as m"
    shown = "e.k as k, " if grouped else ""
    return draw.named(f"select {draw.one('', 'irstream ')}{shown}{total} from {text}{where}{grouped}{draw.output(0.4)}")


def storing(draw: Drawn) -> str:
    """Named windows and tables, written and read by on-statements, joins and sub-queries."""
    window, table = draw.fresh("NW"), draw.fresh("TB")
    view = draw.one("keepall", "length(3)", "time(3 sec)", "unique(k)", "lastevent", "length_batch(3)", "sort(3, v)")
    text = f"create window {window}#{view} as select * from E;\n" + draw.named(f"insert into {window} select * from E{draw.one(*FILTERS)}")
    text += f"create table {table}(k string primary key, s sum(double), c count(*), w window(*) @type(E), l long);\n"
    rows = draw.one("length(4)", "keepall")
    text += draw.named(f"into table {table} select sum(v) as s, count(*) as c, window(*) as w from E#{rows} group by k")
    for _ in range(draw.of.randint(1, 3)):
        text += draw.named(draw.one(
            f"select e.n as n, (select sum(w.v) from {window} as w where w.k = e.k) as a, "
            f"exists (select * from {window} as w where w.g > e.g) as b from E as e",
            f"on Sub as s delete from {window} as w where w.{draw.one('k = s.k', 'n < s.n', 'g between s.g and s.n')}",
            f"on Sub as s update {window} as w set v = s.v, g = w.g + 1 where w.k = s.k",
            f"on Sub as s merge {window} as w where w.k = s.k when matched then update set v = s.v when not matched then insert select *",
            f"on Sub as s select w.n as n, count(*) as c from {window} as w where w.k = s.k group by w.n",
            f"select irstream count(*) as c, sum(v) as s from {window} group by k",
            f"select {table}[k].s as s, {table}[k].c as c from E",
        ))
    return text


KINDS: tuple[Callable[[Drawn], str], ...] = (
    aggregated,
    aggregated,
    aggregated,
    plain,
    looking_back,
    looking_back,
    derived,
    recognized,
    recognized,
    recognized,
    chained,
    decorated,
    with_variables,
    split,
    updated,
    contained,
    enumerated,
    declared,
    asking,
    joined,
    joined,
    storing,
    in_contexts,
    in_contexts,
    in_dialects,
    in_dialects,
)

IN_COLUMNS = (
    "length(3)",
    "time(3 sec)",
    "keepall",
    "time_accum(2 sec)",
    "length_batch(3)",
    "time_batch(2 sec)",
    "ext_timed(ts, 3 sec)",
    "time_length_batch(2 sec, 3)",
    "unique(k)",
    "firstunique(k)",
    "lastevent",
    "firstevent",
    "firstlength(4)",
)
MATCHED_IN_COLUMNS = ("length(4)", "time(2 sec)", "keepall", "ext_timed(ts, 3 sec)")
AGGREGATED_IN_COLUMNS = (
    *AGGREGATIONS[:2],
    "avg(v)",
    "min(v)",
    "max(n)",
    "stddev(v)",
    "first(v)",
    "last(v)",
    "sum(g)",
    "count(v)",
    "sum(distinct g)",
    "countever(*)",
    "minever(v)",
    "lastever(v)",
    "nth(v, 1)",
    "sum(v, filter: b)",
    "sum(v, group_by: k)",
    "leaving()",
)


class ColumnsDrawn(Drawn):
    """What the batch tier may take."""

    def window(self, *, matched: bool = False) -> str:
        return self.one("", "", *(f"#{w}" for w in (MATCHED_IN_COLUMNS if matched else IN_COLUMNS)))

    def stream(self) -> str:
        return "E" + self.one(*FILTERS)

    def some(self, texts: tuple[str, ...], least: int, most: int) -> list[str]:
        return super().some(AGGREGATED_IN_COLUMNS if texts is AGGREGATIONS else texts, least, most)


KINDS_IN_COLUMNS: tuple[Callable[[Drawn], str], ...] = (aggregated, aggregated, plain, recognized, chained)


def module(of: Random, *, columns: bool = False) -> list[str]:
    """The statements of a module, those of one kind a text. ``columns``: of kinds that the batch tier knows."""
    draw = ColumnsDrawn(of) if columns else Drawn(of)
    return [of.choice(KINDS_IN_COLUMNS if columns else KINDS)(draw) for _ in range(of.randint(1, 2 if columns else 3))]


# ------------------------------------------------------------------ what happens

Step = tuple[Any, ...]
"""("send", type, values), ("span", time), ("jump", time) or ("batch", rows with at)."""


def steps(of: Random, count: int, *, columns: bool = False) -> list[Step]:
    """Events and time, in order. ``columns``: no events of sub-types, which ``select *`` in columns does not take."""
    now, number = 0, 0
    found: list[Step] = []
    for _ in range(count):
        chance = of.random()
        if chance < 0.28:
            now += of.choice([1, 100, 500, 999, 1000, 1001, 2000, 2500, 7000])
            found.append((of.choice(["span", "span", "jump"]), now))
        elif chance < 0.34:
            items = [{"id": of.choice("xyz"), "q": of.choice([0, 1, 2, 5])} for _ in range(of.randint(0, 3))]
            found.append(("send", "Basket", {"owner": of.choice("ab"), "items": items}))
        elif chance < 0.37:
            found.append(
                ("send", "Tags", {"nums": [of.randint(0, 4) for _ in range(of.randint(0, 4))], "words": of.sample(["p", "q", "r"], 2)})
            )
        elif chance < 0.42:
            rows = []
            for _ in range(of.randint(1, 6)):
                now, number = now + of.choice([0, 0, 1, 400, 1000]), number + 1
                rows.append({**_event(of, number, now), "at": now})
            found.append(("batch", rows))
        else:
            number += 1
            sub = not columns and of.random() < 0.2
            found.append(("send", "Sub" if sub else "E", {**_event(of, number, now), **({"extra": number % 3} if sub else {})}))
    return found


def _event(of: Random, number: int, now: int) -> dict[str, Any]:
    values = [None, 0.0, -0.0, 1.1, 2.2, 3.3, 5.5, 7.7, 0.1, float("nan") if of.random() < 0.2 else 4.4, of.random() * 10]
    return {
        "k": of.choice(["a", "b", "c", None, "d"]),
        "g": of.choice([0, 1, 2, None]),
        "v": of.choice(values),
        "n": number,
        "b": of.choice([True, False, None]),
        "ts": now + of.choice([0, 0, 0, 100]),
    }
