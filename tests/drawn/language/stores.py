"""Named windows and tables, and the statements that fill, change and ask them."""

from __future__ import annotations

from tests.drawn.drawing import Column, Draw, Stream
from tests.drawn.language.expressions import aggregation, column, condition
from tests.drawn.language.streams import Stored, World, equality, note_read, window
from tests.drawn.language.types import NUMBERS, Scope

KEPT = ("keepall", "keepall", "unique", "length", "time", "lastevent", "firstunique")
"""Not sort: Esper's indexes keep an event that such a window refuses."""
LITERALS = {"text": "'ann'", "int": "2", "long": "3L", "double": "1.5", "flag": "true", "serial": "99L", "time": "0L"}
"""What queries insert."""


def named_window(draw: Draw, world: World) -> Stored:
    """A named window, filled by an insert or a merge."""
    name, source = draw.fresh("W"), draw.one(*(world.allowed or ("Trade", "Quote", "Basket", "Tick", "Trade")))
    note_read(draw, source)
    columns = tuple(each for each in world.types[source] if each.role not in ("items", "item", "texts", "ints"))
    chain, _ = window(draw, columns, KEPT)
    if draw.chance(0.4):
        draw.texts.append(f"{world.context}create window {name}{chain} as {source}")
        columns, listed = world.types[source], "*"
    else:
        kept = {next(c.name for c in columns if c.role == role) for role in ("text", "int", "serial")}
        kept |= {c.name for c in draw.some_of(columns, 0, len(columns))}
        columns = tuple(c for c in columns if c.name in kept)
        chain, _ = window(draw, columns, ("keepall", "length", "lastevent", "time"))
        kinds = {"text": "string", "flag": "boolean", "serial": "long", "time": "long", "decimal": "BigDecimal", "integer": "BigInteger"}
        listed = ", ".join(each.name for each in columns)
        if world.context:
            return named_window(draw, world)
        draw.texts.append(
            f"{world.context}create window {name}{chain} ({', '.join(f'{c.name} {kinds.get(c.role, c.role)}' for c in columns)})"
        )
    draw.mark("create window")
    store = Stored(name, columns, context=world.context)
    where = f" where {condition(draw, Scope((Stream('', source, world.types[source]),), aliased=False), 0)}" if draw.chance(0.15) else ""
    if draw.chance(0.3) and (key := next((c.name for c in columns if c.role == "text"), None)):
        changes = [f"w.{c.name} = {draw.one(f'e.{c.name}', f'w.{c.name} + 1')}" for c in columns if c.role in ("int", "long")][:2]
        update = (
            f" when matched{draw.maybe(0.3, ' and e.n > 3')} then update set {', '.join(changes)}"
            if changes
            else " when matched then delete"
        )
        draw.mark("merge")
        draw.statement(
            f"{world.context}on {source} as e merge {name} as w where w.{key} = e.{key}{update} "
            f"when not matched then insert select {listed}"
        )
    else:
        draw.statement(f"{world.context}insert into {name} select {listed} from {source}{where}")
    if draw.chance(0.2):
        key = draw.one(*[c.name for c in columns if c.role in ("text", "int")])
        draw.mark("create index")
        draw.texts.append(f"{world.context}create index {draw.fresh('I')} on {name}({key}{draw.maybe(0.3, ' btree')})")
    world.stores.append(store)
    return store


def table(draw: Draw, world: World) -> Stored:
    """A table, filled by into table or by merge."""
    name, source = draw.fresh("T"), draw.one(*(world.allowed or ("Trade", "Quote", "Basket")))
    note_read(draw, source)
    own = Stream("e", source, world.types[source])
    scope = Scope((own,), aliased=False)
    keys = draw.some([c.name for c in own.columns if c.role in ("text", "int")], 1, 2)
    roles = {c.name: c.role for c in own.columns}
    typed = [f"{key} {'string' if roles[key] == 'text' else 'int'} primary key" for key in keys]
    value = column(draw, scope, "int", "double") or keys[0]
    kind = "double" if roles[value] == "double" else "int"
    if draw.chance(0.6):
        functions = draw.some_of(
            [
                ("count(*)", "count(*)", "total_count:long"),
                (f"sum({kind})", f"sum({value})", f"total:{kind}"),
                (f"max({kind})", f"max({value})", f"top:{kind}"),
                (f"avg({kind})", f"avg({value})", "mean:double"),
            ],
            1,
            3,
        )
        names = [each[2].split(":") for each in functions]
        chain = draw.one("", "", window(draw, own.columns, ("length", "time", "keepall", "unique"))[0])
        if not chain:  # max needs rows that leave
            functions, names = (
                [f for f in functions if f[0] != f"max({kind})"] or [("count(*)", "count(*)", "")],
                [n for n in names if n[0] != "top"] or [["seen_count", "long"]],
            )
        draw.texts.append(
            f"{world.context}create table {name} ({', '.join([*typed, *(f'{n[0]} {f[0]}' for f, n in zip(functions, names))])})"
        )
        draw.mark("into table")
        draw.statement(
            f"{world.context}into table {name} select {', '.join(f'{f[1]} as {n[0]}' for f, n in zip(functions, names))} "
            f"from {source}{chain} group by {', '.join(keys)}"
        )
        others = tuple(Column(n[0], n[1]) for n in names)
    else:
        draw.texts.append(f"{world.context}create table {name} ({', '.join([*typed, f'val {kind}', 'seen long'])})")
        match = " and ".join(f"t.{key} = e.{key}" for key in keys)
        insert = f"insert select {', '.join(f'e.{key} as {key}' for key in keys)}, e.{value} as val, e.n as seen"
        update = draw.one(
            f"update set val = e.{value}, seen = e.n",
            f"update set t.val = t.val + e.{value}",
            "update set seen = e.n",
            f"update set val = e.{value}",
        )
        draw.mark("merge")
        draw.statement(
            f"{world.context}on {source} as e merge {name} as t where {match} "
            f"when matched{draw.maybe(0.3, f' and e.{value} > t.val')} then {update}"
            f"{draw.maybe(0.2, ' when matched and e.n > 9 then delete')} when not matched then {insert}"
        )
        others = (Column("val", kind), Column("seen", "long"))
    store = Stored(name, (*(Column(key, roles[key]) for key in keys), *others), tuple(keys), table=True, context=world.context)
    world.stores.append(store)
    if not world.context:
        draw.tables.append((name, [roles[key] for key in keys], [c.name for c in others]))
    return store


def action(draw: Draw, world: World, store: Stored) -> None:
    """An on-statement over the store."""
    source = world.read(draw)
    trigger, target = Stream("e", source, world.types[source]), store.as_stream("w")
    scope = Scope((trigger, target))
    match = equality(draw, target, trigger)
    where = f" where {match}" if draw.chance(0.8) else ""
    if draw.chance(0.2):
        where = where + f" and {condition(draw, Scope((target,)), 0)}" if where else f" where {condition(draw, Scope((target,)), 0)}"
    own = f"{source}{draw.maybe(0.2, f'({condition(draw, Scope((trigger,), aliased=False), 0)})')}"
    on = f"{world.context}on {own} as e"
    if draw.chance(0.12):
        draw.mark("a pattern as trigger")
        form = draw.one(
            "every e={}", "every e={} -> timer:interval(1 sec)", "every (e={} where timer:within(1 sec))", "every (e={} -> Alarm)"
        )
        note_read(draw, "Alarm")
        on = f"{world.context}on pattern [{form.format(own)}]"
    kind = draw.random.random()
    settable = [
        c for c in store.columns if c.role in NUMBERS and c.name not in store.keys and (not store.table or c.name in ("val", "seen"))
    ]
    if kind < 0.45:
        serial = column(draw, scope, "serial", "long", "int")
        form = draw.random.random()
        if form < 0.5:
            chosen = f"{serial} as c0, " + ", ".join(f"w.{c.name} as w{c.name}" for c in store.columns[:3])
            tail = draw.maybe(
                0.35,
                f" order by w.{draw.one(*[c.name for c in store.columns if c.role in ('text', 'int', 'serial', 'long', 'double')])}"
                + draw.one("", " desc"),
            )
        elif form < 0.75:
            chosen, tail = ", ".join(f"{aggregation(draw, scope, 0, plain=True)} as c{i}" for i in range(2)), ""
        elif form < 0.9:
            key = draw.one(*[c.name for c in store.columns if c.role in ("text", "int")])
            chosen, tail = f"w.{key} as k, count(*) as c, {aggregation(draw, scope, 0, plain=True)} as s", f" group by w.{key}"
        else:
            chosen, tail = "w.*", ""
        delete = draw.maybe(0.15, "and delete ")
        draw.mark("on select")
        if form < 0.5 and draw.chance(0.15) and not world.context and serial:
            found = draw.fresh("S")
            draw.mark("on select into a stream")
            draw.statement(f"{on} insert into {found} select {serial} as s0, w.{store.columns[0].name} as t1 from {store.name} as w{where}")
            return
        draw.statement(f"{on} select {delete}{chosen} from {store.name} as w{where}{tail}")
    elif kind < 0.65:
        draw.mark("on delete")
        draw.statement(f"{on} delete from {store.name} as w{where}")
    elif kind < 0.85 and settable:
        what = draw.one(*[c.name for c in settable])
        draw.mark("on update")
        to = draw.one(f"w.{what} + 1", "1", "cast(e.n, int)" if {c.name: c.role for c in settable}[what] == "int" else "e.n")
        draw.statement(f"{on} update {store.name} as w set {what} = {to}{where}")
    else:
        draw.mark("on set")
        draw.statement(
            f"{world.context}on {source} as e set {draw.one('vi = cast(e.n % 4, int)', 'vd = 2.5', 'vb = not vb', 'vi = vi + 1')}"
        )


def query(draw: Draw, store: Stored, others: list[Stored]) -> str:
    """A fire-and-forget query; ``others`` may be asked beside the store."""
    scope = Scope((Stream("", store.name, store.columns),), aliased=False)
    where = f" where {condition(draw, scope, 1)}" if draw.chance(0.6) else ""
    key = draw.one(*[c.name for c in store.columns if c.role in ("text", "int")])
    value = column(draw, scope, *NUMBERS, "serial") or key
    kind = draw.random.random()
    names = [f"{c.name} as {c.name}q" for c in store.columns if c.role not in ("items", "item")][:3]
    if draw.chance(0.12) and (beside := [each for each in others if each is not store]):
        left, right = store.as_stream("l"), draw.one_of(beside).as_stream("r")
        return (
            f"select l.{key} as k, count(*) as c from {left.source} as l, {right.source} as r where {equality(draw, left, right)} "
            f"group by l.{key} order by l.{key}"
        )
    if draw.chance(0.06) and not store.table:
        given = [c for c in store.columns if c.role in LITERALS][:3]
        return f"insert into {store.name}({', '.join(c.name for c in given)}) values ({', '.join(LITERALS[c.role] for c in given)})"
    if kind < 0.35:
        return f"select {', '.join(names)} from {store.name}{where} order by {value}, {key}"
    if kind < 0.55:
        return f"select count(*) as c, sum({value}) as s, min({value}) as m from {store.name}{where}"
    if kind < 0.7:
        return f"select {key} as k, count(*) as c from {store.name}{where} group by {key} order by {key}"
    if kind < 0.8:
        return f"select * from {store.name}{where}"
    if kind < 0.9:
        return f"delete from {store.name}{where}"
    settable = [
        c
        for c in store.columns
        if c.role in ("int", "long", "double") and c.name not in store.keys and (not store.table or c.name in ("val", "seen"))
    ]
    if settable:
        what = draw.one(*[c.name for c in settable])
        return f"update {store.name} set {what} = {draw.one('1', '2', f'{what} + 1')}{where}"
    return f"select distinct {key} as k from {store.name}{where} order by {key}"
