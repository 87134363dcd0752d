"""On-statements, indexes and fire-and-forget queries over a named window or table."""

from __future__ import annotations

from collections.abc import Sequence

from tests.drawn.drawing import Draw
from tests.drawn.stored_rows import Life, Store, aliases, assignments, matching, trigger

# ------------------------------------------------------------------ on-statements


def silent(draw: Draw, text: str) -> None:
    """Add a statement that shows in the output of others only; its lines of the census are the program's."""
    draw.statement(text, bullets=False)
    draw.of_program()


def on_delete(draw: Draw, store: Store, life: Life) -> None:
    source, event = trigger(draw, store)
    hint = ""
    if not store.is_table and draw.chance(0.25):
        draw.mark("silent delete")
        hint = "@Hint('silent_delete') "
    draw.mark("on delete of a table" if store.is_table else "on delete")
    if draw.chance(0.18):
        draw.mark("on delete of all")
        silent(draw, f"{hint}on {source} delete from {store.name}")
        return
    silent(draw, f"{hint}on {source} delete from {store.name} as r where {matching(draw, store, 'r', event)}")


def on_update(draw: Draw, store: Store, life: Life) -> None:
    source, event = trigger(draw, store)
    draw.mark("on update of a table" if store.is_table else "on update")
    prefix = "t." if len(event.columns) > 3 else ""
    setting = assignments(draw, store, "r", prefix)
    where = f" where {matching(draw, store, 'r', event)}" if draw.chance(0.92) else ""
    silent(draw, f"on {source} update {store.name} as r set {setting}{where}")


def on_merge(draw: Draw, store: Store, life: Life) -> None:
    source, event = trigger(draw, store)
    prefix = "t." if len(event.columns) > 3 else ""
    kind = "of a table" if store.is_table else ""
    inserted = ["k", "i", "n"] if not prefix else [column.name for column in store.columns]
    insert = f"insert select {', '.join(f't.{name} as {name}' for name in inserted)}"
    if not store.is_table and not source.startswith(store.name) and draw.chance(0.2):
        draw.mark("merge without when")
        silent(draw, f"on {source} merge {store.name} {insert}")
        return
    branches = []
    both = draw.random.random()
    if both < 0.85 or source.startswith(store.name):
        branches.append(_matched(draw, store, prefix, insert))
        if draw.chance(0.25):
            draw.mark("several branches")
            branches.insert(0, f"when matched and r.i {draw.one('>', '=')} 2 then delete")
            draw.mark("merge delete")
    if (both > 0.3 or not branches) and not source.startswith(store.name):
        draw.mark("not matched")
        condition = ""
        if draw.chance(0.2):
            draw.mark("merge condition")
            condition = f" and t.i {draw.one('>', '!=')} 0"
        also = ""
        if draw.chance(0.2):
            draw.mark("merge into another stream")
            also = " then insert into Merged select t.k as k, t.n as n"
        branches.append(f"when not matched{condition}{also} then {insert}")
        if also:
            draw.mark("several actions")
    draw.random.shuffle(branches)
    draw.mark(f"on merge {kind}".strip())
    where = f" where {matching(draw, store, 'r', event)}"
    silent(draw, f"on {source} merge {store.name} as r{where} {' '.join(branches)}")
    if "insert into Merged" in " ".join(branches):
        life.iterated.append(draw.statement(f"select {draw.one('*', 'irstream k, n')} from Merged{draw.one('', '#length(2)')}"))


def _matched(draw: Draw, store: Store, prefix: str, insert: str) -> str:
    draw.mark("matched")
    condition = ""
    if draw.chance(0.25):
        draw.mark("merge condition")
        condition = f" and r.i {draw.one('<', '>', '!=')} {draw.one('1', '2', 't.i')}"
    kind = draw.random.random()
    if kind < 0.2:
        draw.mark("merge delete")
        return f"when matched{condition} then delete"
    update = f"update set {assignments(draw, store, 'r', prefix)}"
    if kind < 0.75:
        draw.mark("merge update")
        return f"when matched{condition} then {update}"
    draw.mark("several actions", "merge update")
    guard = draw.maybe(0.3, " where r.i > 1")
    if draw.chance(0.6):
        draw.mark("merge into another stream")
        return f"when matched{condition} then {update}{guard} then insert into Merged select t.k as k, r.n as n"
    if not store.is_table:  # two updates of one row are two rows, and Esper's consumers lose the row twice (docs/design/named_windows.md)
        return f"when matched{condition} then {update}{guard}"
    return f"when matched{condition} then {update} then update set i = r.i + 1{guard}"


def on_select(draw: Draw, store: Store, life: Life) -> None:
    source, event = trigger(draw, store)
    row = store.named("r")
    draw.mark("on select of a table" if store.is_table else "on select")
    where = f" where {matching(draw, store, 'r', event)}" if draw.chance(0.85) else ""
    shape = draw.one("plain", "plain", "plain", "aggregated", "grouped", "distinct", "wild", "grouped", "aggregated")
    tail, delete, into = "", "", ""
    columns = draw.some(["r.k", "r.i", "r.n", "t.k", "t.n", "t.i"], 2, 4)
    if shape == "aggregated":
        draw.mark("on select aggregated")
        columns = draw.some(["count(*)", "sum(r.i)", "max(r.n)", "window(r.n)", "avg(r.i)", "first(r.k)"], 1, 3)
        if draw.chance(0.45):
            draw.mark("on select having")
            tail = f" having count(*) > {draw.number(0, 2)}"
    elif shape == "grouped":
        draw.mark("on select grouped")
        columns = ["r.k", draw.one("count(*)", "sum(r.i)"), draw.one("max(r.n)", "sum(r.i + 1)")]
        tail = " group by r.k"
        if draw.chance(0.35):
            draw.mark("on select having")
            tail += draw.one(" having count(*) > 1", " having sum(r.i) > 1")
        if draw.chance(0.5):
            draw.mark("on select order by")
            tail += f" order by {columns[1]}{draw.one('', ' desc')}, r.k"
    elif shape == "distinct":
        draw.mark("on select distinct")
        columns = [draw.one("r.k", "r.i")]
    if shape in ("plain", "wild") and draw.chance(0.4):
        draw.mark("on select order by")
        tail = f" order by {draw.one('r.n', 'r.i desc, r.n', 'r.k, r.n desc')}"
        if draw.chance(0.6):
            draw.mark("on select limit")
            tail += draw.one(" limit 1", " limit 2", " limit 1 offset 1")
    listed = draw.one("*", "r.*", "r") if shape == "wild" else aliases(columns)
    if draw.chance(0.3) and shape != "distinct":
        draw.mark("select and delete")
        delete = "and delete "
    elif draw.chance(0.22) and shape in ("plain", "aggregated"):
        draw.mark("on select insert into")
        into = f"insert into {draw.fresh('Picked')} "
    assert row.columns
    distinct = "distinct " if shape == "distinct" else ""
    text = f"on {source} {into}select {delete}{distinct}{listed} from {store.name} as r{where}{tail}"
    draw.statement(text)
    if into:
        life.iterated.append(draw.statement(f"select irstream * from {into.split()[2]}#length(2)"))


def create_index(draw: Draw, store: Store, life: Life) -> None:
    if store.is_table and not store.keys:
        return
    kind = draw.one("hash", "btree", "several columns", "unique", "spatial", "spatial")
    name = draw.fresh("X")
    if kind == "spatial" and store.is_table:
        kind = "btree"
    draw.mark("create index", f"{kind} index")
    if kind == "spatial":
        columns = "(n, ts) pointregionquadtree(-1000, -1000, 200000, 200000)"
        source, _ = trigger(draw, store)
        if "Basket" in source:
            source = f"{store.source} as t"
        silent(draw, f"create index {name} on {store.name}({columns})")
        area = f"point(r.n, r.ts).inside(rectangle(t.n - {draw.number(2, 8)}, 0, {draw.number(4, 12)}, {draw.number(1, 9)}000))"
        draw.statement(f"on {source} select r.n as c0, t.n as c1 from {store.name} as r where {area}")
        return
    columns = {"hash": "k", "btree": "i btree", "several columns": "k, i", "unique": "n"}[kind]
    silent(draw, f"create {'unique ' if kind == 'unique' else ''}index {name} on {store.name}({columns})")


# ------------------------------------------------------------------ queries


def query(life: Life, text: str) -> None:
    life.steps.append({"op": "faf", "epl": text})


def query_select(draw: Draw, stores: Sequence[Store], life: Life) -> list[str]:
    """Add a query; give its lines of the census."""
    store = draw.random.choice(list(stores))
    lines = ["query select", "query of a table" if store.is_table else "query of a named window"]
    kind = draw.one("plain", "plain", "where", "where", "aggregated", "grouped", "sub-query", "join", "no from", "distinct")
    name = store.name
    where = draw.one("i > 1", f"k = {draw.word()}", f"k in ({draw.word()}, {draw.word()})", "i between 1 and 2", "i >= 1 and n < 12", "k is null")  # noqa: E501
    order = draw.one("", "", "", " order by n", " order by i desc, n", " order by k, n limit 2", " order by n desc limit 1")
    if kind in ("plain", "where"):
        if " order" in order:
            lines.append("query order by")
        if "limit" in order:
            lines.append("query limit")
        if kind == "where":
            lines.append("query where")
        query(life, f"select {draw.one('*', 'k, i, n', 'n, i + 1 as c')} from {name}{f' where {where}' if kind == 'where' else ''}{order}")
    elif kind == "aggregated":
        lines.append("query aggregated")
        query(life, f"select count(*) as c, {draw.one('sum(i)', 'max(n)', 'avg(i)')} as s from {name}{draw.maybe(0.5, f' where {where}')}")
    elif kind == "grouped":
        lines.append("query group by")
        having = draw.maybe(0.3, " having count(*) > 1")
        query(life, f"select k, count(*) as c, sum(i) as s from {name} group by k{having} order by k")
    elif kind == "distinct":
        lines.append("query distinct")
        query(life, f"select distinct {draw.one('k', 'i')} from {name}")
    elif kind == "no from":
        lines.append("query without from")
        query(life, f"select {draw.number(1, 9)} + 1 as a, {draw.word()} as b, (select count(*) from {name}) as c")
    elif kind == "sub-query":
        lines.append("query with sub-query")
        other = draw.random.choice(list(stores)).name
        query(
            life,
            draw.one(
                f"select n, (select count(*) from {other} as o where o.k = r.k) as c from {name} as r order by n",
                f"select n from {name} as r where exists (select * from {other} as o where o.i > r.i) order by n",
                f"select n from {name} as r where i in (select i from {other}) order by n",
                f"select n from {name} as r where i = (select max(i) from {other}) order by n",
            ),
        )
    else:
        lines.append("query join")
        other = draw.random.choice(list(stores)).name
        joint = draw.one("join", "left outer join", "full outer join")
        by = draw.one(f"{name} as a {joint} {other} as c on a.k = c.k", f"{name} as a, {other} as c where a.k = c.k and a.i >= c.i")
        query(life, f"select a.n as an, c.n as cn from {by}{draw.one('', '', ' order by a.n, c.n')}")
    return lines


def query_change(draw: Draw, store: Store, life: Life) -> None:
    """Add a query that changes the store; what it did shows later."""
    number, word = draw.number(0, 3), draw.word()
    name = store.name
    where = draw.one(f"k = {word}", f"i > {number}", "i = 1", f"k = {word} and i < 2", f"k in ({word}, {draw.word()})")
    kind = draw.one("insert values", "insert select", "insert several rows", "update", "update", "delete")
    draw.mark(f"query {kind}", f"query {kind.split()[0]} of a table" if store.is_table else f"query {kind.split()[0]}")
    serial = draw.number(500, 900)
    if kind == "insert values":
        query(life, f"insert into {name}(k, i, n) values ({word}, {number}, {serial}L)")
    elif kind == "insert select":
        query(life, f"insert into {name} select {word} as k, {number} as i, {serial}L as n")
    elif kind == "insert several rows":
        query(life, f"insert into {name}(k, i, n) values ({word}, {number}, {serial}L), ({draw.word()}, {number}, {serial + 1}L)")
    elif kind == "update":
        value = draw.one("i = i + 1", "i = 7", "i = i * 2, n = n + 100", "i = initial.i + 2")
        query(life, f"update {name} set {value}{draw.maybe(0.8, f' where {where}')}")
    else:
        query(life, f"delete from {name}{draw.maybe(0.85, f' where {where}')}")
    draw.of_program()
