"""Named windows, tables, on-statements and fire-and-forget queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.drawn import store_actions as actions
from tests.drawn.drawing import QUERIES, Column, Draw
from tests.drawn.stored_rows import LISTED, TYPES, Life, Store, deploy, drawn_window, mixed
from tests.drawn.world import COLUMNS, DATA_WINDOWS

BULLETS = (
    "window as a type", "window of columns", "window as select", "window of a sub-type", "window insert", "window insert where",
    "group window", "several windows on a stream", "consumer", "consumer with a filter", "consumer with a derived window",
    "remove stream", "aggregating consumer", "consumer of insert into", "join with a named window", "outer join with a named window",
    "sub-query of a named window", "row pattern over a named window", "late consumer", "undeployed consumer", "output clause of a consumer",
    "on delete", "on delete of all", "silent delete", "on update", "several assignments", "initial", "on merge", "matched", "not matched",
    "merge condition", "several branches", "several actions", "merge delete", "merge update", "merge into another stream",
    "merge without when", "on select", "on select aggregated", "on select grouped", "on select having", "on select order by",
    "on select limit", "on select distinct", "on select insert into", "select and delete", "contained events in a trigger",
    "a named window as trigger", "filter of a trigger", "create index", "hash index", "btree index", "several columns index",
    "unique index", "spatial index", "index share hint",
    "keyed table", "table with several keys", "un-keyed table", "table of values", "table of aggregations", "window column",
    "sorted column", "count-min sketch", "into table", "several writers", "table access", "methods of a table's column", "join with a table", "sub-query of a table",  # noqa: E501
    "on update of a table", "on merge of a table", "reset",
    "query select", "query of a named window", "query of a table", "query where", "query aggregated", "query group by",
    "query order by", "query limit", "query distinct", "query join", "query with sub-query", "query without from",
    "on delete of a table", "on select of a table",
    "query update of a table",
    "query insert values", "query insert select", "query insert several rows", "query update", "query delete",
)  # fmt: skip
"""The census: each occurs in so many stored programs that emit rows."""

SELDOM = (
    "rollup into a table", "insert into a table", "keys() of a table", "query insert of a table", "query delete of a table",
)  # fmt: skip
"""Lines that too few stored programs show as yet; so are, of the data windows, these."""
SELDOM_WINDOWS = (
    "length_batch", "time_batch", "time_length_batch", "time_accum", "ext_timed", "ext_timed_batch", "time_order", "timetolive",
    "firsttime", "firstunique", "firstevent",
)  # fmt: skip

WINDOW_BULLETS = tuple(f"#{name}" for name in DATA_WINDOWS if name not in SELDOM_WINDOWS)

VALUES = (Column("k", "text"), Column("i", "int"), Column("n", "serial"))

# ------------------------------------------------------------------ named windows


def named_window(draw: Draw, life: Life) -> Store:
    """``create window`` and what fills it."""
    name, source = draw.fresh("W"), draw.one(*TYPES)
    chain = drawn_window(draw, source)
    draw.reads([source])
    form = draw.one("type", "type", "columns", "select", "sub-type")
    hint = ""
    if draw.chance(0.12):
        draw.mark("index share hint")
        hint = "@Hint('enable_window_subquery_indexshare') "
    listed = "*" if form == "type" else LISTED
    if form == "columns":
        draw.mark("window of columns")
        columns = "(k string, i int, l long, d double, b boolean, n long, ts long)"
        draw.texts.append(f"@name('{name}') {hint}create window {name}{chain} {columns}")
    elif form == "select":
        draw.mark("window as select")
        draw.texts.append(f"@name('{name}') {hint}create window {name}{chain} as select {LISTED} from {source}")
    else:
        draw.mark("window as a type" if form == "type" else "window of a sub-type")
        if form == "sub-type":
            source, listed = "Ask", "*"
            draw.reads(["Ask", "Rush"])
        draw.texts.append(f"@name('{name}') {hint}create window {name}{chain} as {source}")
    where = draw.maybe(0.12, f" where i {draw.one('>=', '!=')} 0")
    draw.texts.append(f"insert into {name} select {listed} from {source}{where}")
    life.iterated.append(name)
    draw.of_program()
    return Store(name, source, COLUMNS, False)


def late_window(draw: Draw, store: Store, life: Life) -> None:
    """A window that begins with rows of another one."""
    name = draw.fresh("W")
    condition = draw.maybe(0.5, f" where {draw.one('i > 0', 'k is not null', 'i != 2')}")
    draw.mark("window insert where" if condition else "window insert")
    chain = draw.one("#keepall", "#length(3)", "#unique(k)", "#length(2)", "#time(3 sec)", "#sort(2, n desc)")
    reader = draw.fresh("s")
    text = f"@name('{name}') create window {name}{chain} as {store.name} insert{condition}; insert into {name} select * from {store.source}"
    deploy(life, f"{text}; @name('{reader}') select irstream k, n from {name}")
    draw.bullets[name] = draw.marked()
    life.steps.append({"op": "iterate", "statement": name})
    actions.query(life, f"select k, n from {name}")


# ------------------------------------------------------------------ consumers


def consumer_text(draw: Draw, store: Store) -> str:
    """A statement that reads a named window."""
    name = store.name
    selector = draw.one("irstream ", "irstream ", "irstream ", "", "rstream ")
    if selector:
        draw.mark("remove stream")
    draw.mark("consumer")
    kind = draw.one("plain", "plain", "filter", "filter", "derived", "aggregated", "grouped", "output", "match", "match", "prior")
    if kind == "filter":
        draw.mark("consumer with a filter")
        condition = draw.one("i > 0", "k is not null", f"k in ({draw.word()}, {draw.word()})", "d <= 2", "i in [1:2]", "b")
        return f"select {selector}k, i, n from {name}({condition})"
    if kind == "derived":
        draw.mark("consumer with a derived window")
        return f"select irstream {draw.one('datapoints, total', 'average')} from {name}#uni(d)"
    if kind == "aggregated":
        draw.mark("aggregating consumer")
        where = draw.maybe(0.3, " where i > 0")
        return f"select {selector}{draw.one('count(*) as c', 'n, sum(i) as c', 'max(i) as c, window(n) as w', 'sum(l) as c')} from {name}{where}"  # noqa: E501
    if kind == "grouped":
        draw.mark("aggregating consumer")
        having = draw.maybe(0.25, " having count(*) > 1")
        return f"select {selector}k, count(*) as c, {draw.one('sum(i)', 'max(n)', 'window(n)')} as v from {name} group by k{having}"
    if kind == "output":
        draw.mark("output clause of a consumer")
        return f"select {selector}k, i, n from {name} output {draw.one('every 2 events', 'last every 2 sec', 'snapshot every 2 sec', 'first every 3 events')}"  # noqa: E501
    if kind == "match":
        draw.mark("row pattern over a named window")
        return (
            f"select * from {name} match_recognize (partition by k measures A.n as a, B.n as b "
            f"pattern ({draw.one('A B', 'A X* B', 'A X? B')}) define B as B.i {draw.one('>', '>=', '!=')} A.i)"
        ).replace(" partition by k", draw.one(" partition by k", ""))
    if kind == "prior":
        return f"select {selector}n, prior(1, n) as p from {name}"
    return f"select {selector}{draw.one('*', 'k, i, n', 'n, i * 2 as x')} from {name}"


def consumers(draw: Draw, store: Store, life: Life, observer: bool = True) -> None:
    """Statements over the store: one at least that shows what changes; one that comes late; one that goes."""
    if not store.is_table:
        if observer:
            life.iterated.append(draw.statement(f"select irstream k, i, n from {store.name}"))
        for _ in range(draw.number(0, 2)):
            text = consumer_text(draw, store)
            statement = draw.statement(text)
            if "match_recognize" not in text:
                life.iterated.append(statement)
        if draw.chance(0.3):
            draw.mark("late consumer")
            name = draw.fresh("s")
            deploy(life, f"@name('{name}') {consumer_text(draw, store)}")
            if draw.chance(0.7):
                life.steps.append({"op": "iterate", "statement": name})
            if draw.chance(0.6):
                draw.mark("undeployed consumer")
                life.steps.append({"op": "undeploy", "statement": name})
            draw.bullets[name] = draw.marked()
        if draw.chance(0.15):
            draw.mark("consumer of insert into")
            stream = draw.fresh("Flow")
            actions.silent(draw, f"insert {draw.one('', 'rstream ')}into {stream} select {draw.one('', 'irstream ')}k, n from {store.name}")
            draw.statement(f"select * from {stream}{draw.one('', '#length(2)')}")
    if draw.chance(0.35):
        joined(draw, store)
    if draw.chance(0.35):
        sub_query(draw, store)


def joined(draw: Draw, store: Store) -> None:
    """A join of the store with events."""
    other = draw.one(*(each for each in TYPES if each != store.source))
    draw.reads([other])
    condition = draw.one("a.k = r.k", "a.k = r.k", "a.i = r.i", "a.k = r.k and a.i >= r.i", "a.i < r.i")
    key = draw.one("k", "i")
    if store.is_table:  # by another column than the key Esper's outer joins match all rows (docs/compatibility.md)
        key = store.keys[0] if len(store.keys) == 1 else ""
    kind = draw.one(",", ",", "inner", "left outer", "full outer") if key else ","
    kinds = "table" if store.is_table else "named window"
    uni = " unidirectional" if draw.chance(0.5) and kind != "full outer" else ""
    known = f"({key} is not null)" if kind != "," else ""  # null equals null there
    left = f"{other}{known}{'' if uni else draw.one('#length(2)', '#lastevent', '#unique(k)')} as a{uni}"
    draw.mark(f"join with a {kinds}")
    columns = "a.n as c0, r.k as c1, r.n as c2"
    joining = draw.joining
    draw.joining = True
    if kind == ",":
        draw.statement(f"select irstream {columns} from {left}, {store.name} as r where {condition}")
    else:
        condition = f"a.{key} = r.{key}"
        if "outer" in kind and not store.is_table:
            draw.mark("outer join with a named window")
        draw.statement(f"select irstream {columns} from {left} {kind} join {store.name} as r on {condition}")
    draw.joining = joining


def sub_query(draw: Draw, store: Store) -> None:
    """A statement over events with a sub-query of the store."""
    other = draw.one(*(each for each in TYPES if each != store.source))
    draw.reads([other])
    name = store.name
    draw.mark("sub-query of a table" if store.is_table else "sub-query of a named window")
    shown = draw.one(
        f"(select count(*) from {name} as r where r.k = a.k)",
        f"(select sum(r.i) from {name} as r where r.i <= a.i)",
        f"(select max(r.n) from {name} as r)",
        f"exists (select * from {name} as r where r.k = a.k and r.i > a.i)",
        f"a.i in (select r.i from {name} as r)",
        f"(select window(r.n) from {name} as r where r.k = a.k)",
        f"(select r.n from {name} as r where r.n = a.n - 1)",
    )
    if draw.chance(0.25):
        draw.statement(f"select a.n as c0 from {other} as a where exists (select * from {name} as r where r.k = a.k)")
    else:
        draw.statement(f"select a.n as c0, {shown} as c1 from {other}{draw.one('', '#length(2)')} as a")


# ------------------------------------------------------------------ tables


def values_table(draw: Draw, life: Life) -> Store:
    """A table of plain columns that events and queries fill."""
    name, source = draw.fresh("T"), draw.one(*TYPES)
    keys = draw.one("k", "k", "k, i", "k, i", "")
    draw.mark("table of values")
    draw.mark({"k": "keyed table", "": "un-keyed table"}.get(keys, "table with several keys"))
    primary = keys.split(", ") if keys else []
    columns = ", ".join(f"{column} {kind}{' primary key' if column in primary else ''}" for column, kind in (("k", "string"), ("i", "int"), ("n", "long")))  # noqa: E501
    draw.texts.append(f"@name('{name}') create table {name}({columns})")
    draw.reads([source])
    match = " and ".join(f"r.{key} = t.{key}" for key in primary)
    where = f" where {match}" if match else ""
    if not primary or draw.chance(0.75):
        draw.mark("on merge of a table", "matched", "not matched", "merge update")
        update = f"when matched then update set {draw.one('n = t.n', 'n = r.n + t.n', 'n = t.n' if keys else 'n = t.n, i = t.i')}"
        insert = "when not matched then insert select t.k as k, t.i as i, t.n as n"
        actions.silent(draw, f"on {source}(k is not null, i is not null) as t merge {name} as r{where} {update} {insert}")
    if primary and draw.chance(0.5):
        draw.mark("insert into a table")
        actions.silent(draw, f"insert into {name} select k, i, n from {source}#firstunique({keys})")
    life.iterated.append(name)
    values = tuple(column for column in ("i", "n") if column not in primary)
    return Store(name, source, VALUES, True, tuple(primary), values)


def aggregations_table(draw: Draw, life: Life) -> None:
    """A table that ``into table`` fills, and what reads it."""
    name, source, other = draw.fresh("T"), draw.one(*TYPES), draw.one(*TYPES)
    keyed = draw.chance(0.7)
    draw.mark("table of aggregations", "into table", "keyed table" if keyed else "un-keyed table")
    offered = [
        ("total", "sum(int)", "sum(i)"), ("cnt", "count(*)", "count(*)"), ("mean", "avg(double)", "avg(d)"), ("top", "max(int)", "max(i)"),
        ("w", f"window(*) @type({source})", "window(*)"), ("s", f"sorted(n desc) @type({source})", "sorted(*)"),
        ("low", "minever(int)", "minever(i)"), ("cms", "countMinSketch()", "countMinSketchAdd(k)"), ("d", "count(distinct int)", "count(distinct i)"),  # noqa: E501
    ]  # fmt: skip
    chosen = [offered[place] for place in sorted(draw.random.sample(range(len(offered)), draw.number(2, 4)))]
    held = {column for column, _, _ in chosen}
    draw.mark(*(line for column, line in (("w", "window column"), ("s", "sorted column"), ("cms", "count-min sketch")) if column in held))
    key = "k string primary key, " if keyed else ""
    draw.texts.append(f"@name('{name}') create table {name}({key}{', '.join(f'{column} {kind}' for column, kind, _ in chosen)})")
    draw.reads([source, other])
    views = draw.one("#length(3)", "#keepall", "#time(3 sec)", "#unique(k)", "#lastevent")
    group = " group by k" if keyed else ""
    shared = [each for each in chosen if each[0] in ("total", "cnt")]
    if keyed and draw.chance(0.35) and not held & {"cms"}:
        draw.mark("rollup into a table")
        group = draw.one(" group by rollup(k)", " group by grouping sets((k), ())")
    filtered = "(k is not null)" if "(k)" in group else ""  # else a rollup's levels have rows in common, whose columns hold events twice
    listed = ", ".join(f"{value} as {column}" for column, _, value in chosen)
    actions.silent(draw, f"into table {name} select {listed} from {source}{filtered}{views}{group}")
    if shared and draw.chance(0.6):
        draw.mark("several writers")
        second = draw.one(*(each for each in TYPES if each != source))
        draw.reads([second])
        listed = ", ".join(f"{value} as {column}" for column, _, value in shared)
        actions.silent(draw, f"into table {name} select {listed} from {second}{draw.one('', '#length(2)')}{' group by k' if keyed else ''}")
    if draw.chance(0.3):
        draw.mark("reset")
        trigger = draw.one(*TYPES)
        draw.reads([trigger])
        reset = draw.one(*(f"r.{column}.reset()" for column in sorted(held)), "r.reset()")
        actions.silent(draw, f"on {trigger}(i = 0) as t merge {name} as r{' where r.k = t.k' if keyed else ''} when matched then update set {reset}")  # noqa: E501
    _table_readers(draw, name, other, keyed, held)
    life.iterated.append(name)
    plain = [column for column, _, _ in chosen if column not in ("cms", "w", "s")]
    if plain and draw.chance(0.6):
        actions.query(life, f"select {', '.join(['k'] * keyed + plain)} from {name}")
        draw.mark("query select", "query of a table")


def _table_readers(draw: Draw, name: str, other: str, keyed: bool, held: set[str]) -> None:
    draw.mark("table access")
    base = f"{name}[k]" if keyed else name
    values = [f"{base}.{column}" for column in sorted(held & {"total", "cnt", "mean", "top", "low", "d"})]
    if "w" in held:
        draw.mark("methods of a table's column")
        values.append(base + draw.one(".w.first(n)", ".w.last(n)", ".w.window(n)", ".w.countEvents()", ".w.last(*)"))
    if "s" in held:
        draw.mark("methods of a table's column")
        values.append(base + draw.one(".s.firstKey()", ".s.lastKey()", ".s.countEvents()", ".s.countKeys()", ".s.firstEvent().i"))
    if "cms" in held:
        values.append(f"{base}.cms.countMinSketchFrequency(k)")
    if keyed and draw.chance(0.6):
        draw.mark("keys() of a table")
        values.append(f"{name}.keys(){draw.one('', '.countOf()')}")
    listed = ", ".join(f"{value} as c{place}" for place, value in enumerate(values))
    draw.statement(f"select n, {listed} from {other}{draw.one('', '', '#length(2)')}")
    if "total" in held and draw.chance(0.4):
        draw.statement(f"select irstream n from {other}#length(2) where {base}.total {draw.one('>', '<=')} 2")
    if keyed and held & {"total", "cnt"} and draw.chance(0.4):
        column = "total" if "total" in held else "cnt"
        kind = draw.one(f"{other} as a, {name} as r where a.k = r.k", f"{other}(k is not null) as a unidirectional left outer join {name} as r on a.k = r.k")  # noqa: E501
        draw.mark("join with a table")
        draw.joining = True
        draw.statement(f"select a.n as c0, r.{column} as c1 from {kind}")


# ------------------------------------------------------------------ programs

ACTIONS: tuple[tuple[Callable[[Draw, Store, Life], None], int], ...] = (
    (actions.on_delete, 5), (actions.on_update, 4), (actions.on_merge, 5), (actions.on_select, 8), (actions.create_index, 5),
)  # fmt: skip


def act(draw: Draw, store: Store, life: Life) -> None:
    kinds, weights = zip(*ACTIONS)
    count = draw.number(1, 3)
    chosen = draw.random.choices(kinds, weights, k=count)
    for kind in sorted(chosen, key=lambda each: each is not actions.create_index):
        kind(draw, store, life)


def ask(draw: Draw, stores: list[Store], life: Life) -> list[str]:
    """Queries; the lines of the census of those that select."""
    lines: list[str] = []
    for _ in range(draw.number(1, 4)):
        if draw.chance(0.55):
            lines += actions.query_select(draw, stores, life)
        else:
            actions.query_change(draw, draw.random.choice(stores), life)
    return lines


def one_store(draw: Draw, life: Life, create: Callable[[Draw, Life], Store]) -> list[str]:
    store = create(draw, life)
    early = draw.chance(0.5)
    if early:
        consumers(draw, store, life)
    act(draw, store, life)
    if not early:
        consumers(draw, store, life)
    if not store.is_table and draw.chance(0.3):
        late_window(draw, store, life)
    return ask(draw, [store], life) if draw.chance(0.6) else []


def windows(draw: Draw, life: Life) -> list[str]:
    return one_store(draw, life, named_window)


def tables(draw: Draw, life: Life) -> list[str]:
    return one_store(draw, life, values_table)


def window_and_table(draw: Draw, life: Life) -> list[str]:
    stores = [named_window(draw, life), draw.random.choice([values_table, named_window])(draw, life)]
    for store in stores:
        consumers(draw, store, life, observer=store is stores[0])
        if draw.chance(0.6):
            act(draw, store, life)
    return ask(draw, stores, life)


def aggregations(draw: Draw, life: Life) -> list[str]:
    aggregations_table(draw, life)
    return []


PROGRAMS: tuple[tuple[Callable[[Draw, Life], list[str]], int], ...] = (
    (windows, 20), (tables, 13), (window_and_table, 9), (aggregations, 12),
)  # fmt: skip


def draw_program(draw: Draw) -> list[dict[str, Any]]:
    """Add the statements to the draw; give all that happens after they are deployed."""
    kinds, weights = zip(*PROGRAMS)
    life = Life()
    lines = draw.random.choices(kinds, weights)[0](draw, life)
    draw.of_program()
    if lines:
        draw.bullets[QUERIES] = list(dict.fromkeys(lines))
    return mixed(draw, life)
