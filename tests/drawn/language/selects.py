"""Select statements: what is selected, grouped, output, ordered; sub-queries; streams between statements."""

from __future__ import annotations

import re

from tests.drawn.drawing import Column, Draw, Stream
from tests.drawn.language import methods
from tests.drawn.language.contained import contained
from tests.drawn.language.expressions import aggregation, column, comparison_of_aggregates, condition, expression, number, text
from tests.drawn.language.patterns import row_pattern
from tests.drawn.language.streams import JOINED, From, World, join, note_read, one_stream, pattern_stream, window
from tests.drawn.language.types import NUMBERS, SIMPLE_ROLES, TYPES, Scope

OUTPUT = (
    "every 2 events",
    "every 3 events",
    "every 2 sec",
    "every 1 sec",
    "last every 3 events",
    "last every 2 sec",
    "first every 2 events",
    "first every 2 sec",
    "all every 3 events",
    "all every 2 sec",
    "snapshot every 2 sec",
    "snapshot every 3 events",
    "when count_insert > 2",
    "after 2 events",
    "after 2 sec snapshot every 1 sec",
    "last when vi > 2 then set vi = 1",
    "at (*, *, *, *, *, */2)",
    "every vi events",
    "when vb and count_insert_total > 2",
    "after 3 events last every 1 sec",
    "all when count_insert > 1",
)


def selector(draw: Draw, frm: From) -> str:
    """istream, rstream, irstream."""
    if frm.window in ("", "pattern") and not frm.joined:
        return ""
    chosen = draw.one("", "", "irstream ", "irstream ", "rstream ")
    if chosen:
        draw.mark("remove stream")
    return chosen


def tail(draw: Draw, orders: list[str], *, share: float) -> str:
    """Output rate, order by, limit."""
    made = ""
    if draw.chance(share):
        rate = draw.one(*OUTPUT)
        draw.mark(f"output {rate.split()[0]}")
        made += f" output {rate}"
    if orders and draw.chance(share * 0.7):
        keys = draw.some(orders, 1, 2)
        draw.mark("order by")
        made += " order by " + ", ".join(f"{key}{draw.one('', '', ' desc')}" for key in keys)
        if draw.chance(0.3):
            draw.mark("limit")
            made += f" limit {draw.one('2', '2', '3')}"
    return made


def subquery(draw: Draw, world: World, outer: Scope, *, boolean: bool = False) -> str:
    """A sub-query over a stream, a named window or a table, correlated or not."""
    alias = draw.fresh("q")
    stores = [each for each in world.stores if each.context == world.context]
    if stores and draw.chance(0.5):
        store = draw.one_of(stores)
        source, inner = store.name, store.as_stream(alias)
        draw.mark("sub-query over a table" if store.table else "sub-query over a named window")
    else:
        kind = draw.one(*world.allowed) if world.allowed else draw.one("Trade", "Quote", "Basket", "Alarm")
        note_read(draw, kind)
        columns = world.types[kind]
        inner = Stream(alias, kind, columns)
        source = kind + draw.maybe(0.2, f"({condition(draw, Scope((Stream('', kind, columns),), aliased=False), 0)})")
        if draw.chance(0.1) and (not world.allowed or "Basket" in world.allowed):
            note_read(draw, "Basket")
            source, columns = contained(draw)
            inner = Stream(alias, "Item", columns)
        source += window(draw, columns, ("length", "keepall", "lastevent", "time", "length_batch") if "[" in source else JOINED)[0]
        draw.mark("sub-query")
    scope = Scope((inner,))
    conditions = []
    mine, others = scope.of("text"), outer.of("text")
    if mine and others and draw.chance(0.6):
        conditions.append(f"{draw.one(*mine)} = {draw.one(*others)}")
    if scope.of(*NUMBERS) and outer.of(*NUMBERS) and draw.chance(0.2):
        conditions.append(f"{column(draw, scope, *NUMBERS)} {draw.one('<', '>', '>=')} {column(draw, outer, *NUMBERS)}")
    if draw.chance(0.15):
        conditions.append(condition(draw, scope, 0))
    where = f" where {' and '.join(conditions)}" if conditions else ""
    rows = f"from {source} as {alias}{where}"
    value = column(draw, scope, *NUMBERS) or column(draw, scope, "serial") or "1"
    if boolean:
        own = column(draw, outer, *NUMBERS) or "vi"
        word = column(draw, outer, "text") or "vs"
        forms = [
            f"{draw.one('', 'not ')}exists (select * {rows})",
            f"{own} {draw.one('>', '<', '>=')} (select {draw.one('avg', 'max', 'min', 'sum')}({value}) {rows})",
            f"{own} {draw.one('>', '<=', '=')} {draw.one('any', 'all', 'some')} (select {value} {rows})",
            f"{own} {draw.one('', 'not ')}in (select {value} {rows})",
        ]
        if mine:
            forms.append(f"{word} {draw.one('', 'not ')}in (select {draw.one(*mine)} {rows})")
        return draw.one(*forms)
    forms = [f"(select {draw.one('count(*)', f'sum({value})', f'max({value})', f'avg({value})', f'count({value})')} {rows})"] * 3
    forms += [f"(select {draw.one(value, *mine)} {rows})"] * 2
    forms += [f"(select {draw.one('first', 'last', 'window')}({value}) {rows})", f"exists (select * {rows})"]
    if mine:
        forms.append(
            f"(select {draw.one(*mine)} as g, {draw.one('count(*)', f'sum({value})')} as c {rows} group by {mine[0]}).countOf()"
            if world.dense
            else f"(select {draw.one(*mine)} {rows})"
        )
        forms.append(f"(select sum({value}) {rows} having count(*) > 1)")
    return draw.one(*forms)


def select(draw: Draw, world: World) -> str:
    """A select statement; what it makes may be read by later statements."""
    kind = draw.random.random()
    prev = False
    if kind < 0.12:
        frm = pattern_stream(draw, world)
    elif kind < 0.32:
        frm = join(draw, world, draw.one_of((2, 2, 2, 2, 3, 3, 4)))
    elif kind < 0.4:
        return row_select(draw, world)
    elif kind < 0.5:
        prev = True
        frm = one_stream(draw, world, prev=True)
    else:
        frm = one_stream(draw, world)
    return select_from(draw, world, frm, prev=prev)


def row_select(draw: Draw, world: World) -> str:
    """A select from match_recognize."""
    frm = one_stream(draw, world, windowless=0.2, aliased=False)
    made, names = row_pattern(draw, world, frm.scope.streams[0])
    irs = draw.one("", "", "irstream ") if frm.window else ""
    chosen = draw.one("*", ", ".join(f"{n}" for n in names), ", ".join(f"{n} as {n}x" for n in names))
    return f"select {irs}{chosen} from {frm.text}{made}{tail(draw, [], share=0.15)}"


def select_from(draw: Draw, world: World, frm: From, *, prev: bool = False) -> str:
    """The rest of a select statement over a from clause."""
    scope, dense = frm.scope, world.dense
    share = 0.5 if dense else 0.3
    depth = world.depth
    where = ""
    if not frm.joined and draw.chance(0.2):
        where = f" where {condition(draw, scope, depth)}"
    if scope.aliased and draw.chance(0.12) and not (frm.joined and " join " in frm.text and where):
        asked = subquery(draw, world, scope, boolean=True)
        draw.mark("sub-query in where")
        if frm.joined and " where " in frm.text:
            where = f" and {asked}"
        else:
            where = f"{where} and {asked}" if where else f" where {asked}"
    shape = draw.random.random()
    irs = selector(draw, frm)
    aggregated = 0.4 <= shape < 0.6 and not prev  # one that reads the row, where there is none, fails in Esper
    subqueries = [subquery(draw, world, Scope(()) if aggregated else scope)] if scope.aliased and draw.chance(0.2) else []
    if shape < 0.4 or prev:
        return _rows(draw, world, frm, irs, where, subqueries, share, prev=prev)
    if shape < 0.6:
        chosen = [aggregation(draw, scope, depth) for _ in range(draw.number(1, 2 + dense))]
        if draw.chance(0.35):
            chosen.insert(0, expression(draw, scope, 0))
        names = [f"{what} as c{place}" for place, what in enumerate([*chosen, *subqueries])]
        having = f" having {comparison_of_aggregates(draw, scope)}" if draw.chance(0.2) else ""
        draw.mark("aggregation")
        rest = tail(draw, ["c0"] if having or draw.chance(0.5) else [], share=share)
        return f"select {irs}{', '.join(names)} from {frm.text}{where}{having}{rest}"
    return _grouped(draw, world, frm, irs, where, subqueries, share)


def _rows(draw: Draw, world: World, frm: From, irs: str, where: str, subqueries: list[str], share: float, *, prev: bool) -> str:
    scope = frm.scope
    if draw.chance(0.15) and not prev and not subqueries:
        first = scope.streams[0].alias
        star = draw.one("*", "*", f"*, {expression(draw, scope, 1)} as more")
        if frm.joined and draw.chance(0.4):
            star = draw.one(f"{first}.*", f"{first}.*, {expression(draw, scope, 0)} as more")
        orders = [name for name in scope.of("text", "int", "serial") if "[" not in name]
        return f"select {irs}{star} from {frm.text}{where}{tail(draw, orders, share=share)}"
    chosen = [expression(draw, scope, world.depth) for _ in range(draw.number(1, 3))]
    if scope.of("serial"):
        chosen.insert(0, draw.one(*scope.of("serial")))
    if prev:
        value = draw.one(*scope.of(*SIMPLE_ROLES))
        chosen.append(
            draw.one(
                f"prev({draw.one('1', '2')}, {value})",
                f"prev({value})",
                f"prevtail(0, {value})",
                f"prevcount({value})",
                f"prevwindow({value})",
                f"prior(1, {value})",
            )
        )
        draw.mark("prev")
    elif not frm.joined and frm.window not in ("pattern", "patterns") and draw.chance(0.12):
        chosen.append(f"prior({draw.one('1', '2')}, {draw.one(*scope.of(*SIMPLE_ROLES))})")
        draw.mark("prior")
    chosen += subqueries
    distinct = draw.maybe(0.07, "distinct ")
    if (
        not distinct
        and scope.aliased
        and draw.chance(0.06)
        and (events := [s.alias for s in scope.streams if s.source in TYPES and "[" not in s.alias])
    ):
        chosen.append(draw.one(*events))
        draw.mark("a whole event")
    if not distinct and draw.chance(0.12) and (able := methods.whole(draw, scope)):
        chosen.append(draw.one(*able))
    names = [f"{what} as c{place}" for place, what in enumerate(chosen)]
    orders = [] if distinct else [*scope.of("text", "int", "serial"), "c0", "c1"]
    return f"select {irs}{distinct}{', '.join(names)} from {frm.text}{where}{tail(draw, [o for o in orders if '[' not in o], share=share)}"


def _grouped(draw: Draw, world: World, frm: From, irs: str, where: str, subqueries: list[str], share: float) -> str:
    scope = frm.scope
    able = [name for name in scope.of("text", "int", "flag") if "[" not in name] or scope.of("text", "long") or scope.of("double")
    keys = draw.some(able, 1, 2)
    if draw.chance(0.08):
        keys = [draw.one(number(draw, scope, 1), text(draw, scope, 1))]
    aggregates = [aggregation(draw, scope, world.depth) for _ in range(draw.number(1, 2 + world.dense))]
    by = ", ".join(keys)
    if draw.chance(0.12) and len(keys) == 2:
        by = draw.one(f"rollup({by})", f"cube({by})", f"grouping sets(({keys[0]}), ({keys[1]}), ())", f"{keys[0]}, rollup({keys[1]})")
        draw.mark("rollup")
    chosen = [*draw.some(keys, 0 if world.dense else 1, 2), *aggregates]
    if draw.chance(0.2) and "(" not in by:
        chosen.append(draw.one(*(scope.of("serial") or able)))
    chosen += subqueries
    having = f" having {comparison_of_aggregates(draw, scope)}" if draw.chance(0.25) else ""
    names = [f"{what} as c{place}" for place, what in enumerate(chosen)]
    orders = [*keys, f"c{len(chosen) - 1}"] if not subqueries else keys
    draw.mark("group by")
    rest = tail(draw, [order for order in orders if "(" not in by or order in keys], share=share)
    return f"select {irs}{', '.join(names)} from {frm.text}{where} group by {by}{having}{rest}"


def feeding(draw: Draw, world: World) -> None:
    """A statement that inserts into a stream which later statements read."""
    frm = one_stream(draw, world, aliased=draw.chance(0.5))
    if frm.scope.streams[0].source in world.types and draw.chance(0.25) and not world.context:
        frm = join(draw, world, 2)
    scope = frm.scope
    name = draw.fresh("S")
    columns, chosen = [], []
    for role, share in (("text", 1.0), ("int", 1.0), ("double", 0.6), ("serial", 1.0), ("time", 0.6), ("flag", 0.2)):
        if (found := column(draw, scope, role)) and draw.chance(share):
            columns.append(Column(f"{role[0]}{len(columns)}", role))
            chosen.append(f"{found} as {columns[-1].name}")
    if not any(c.role == "text" for c in columns) or not any(c.role == "serial" for c in columns):
        return
    if not any(c.role == "int" for c in columns):
        columns.append(Column("i9", "int"))
        chosen.append(f"{draw.one('1', '2')} as i9")
    if frm.window not in ("", "pattern") and draw.chance(0.3):
        insert, irs = "insert rstream into", "rstream "
    else:
        insert, irs = "insert into", ""
    text = f"{world.context}{insert} {name} select {irs}{', '.join(chosen)} from {frm.text}"
    if not frm.joined and draw.chance(0.25):
        text += f" where {condition(draw, scope, 1)}"
    draw.mark("insert into")
    draw.statement(re.sub(r"\s+", " ", text))
    if not world.context:
        world.types[name] = tuple(columns)
        world.streams.append(name)
