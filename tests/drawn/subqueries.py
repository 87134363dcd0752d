"""Sub-queries: what they compute, over which rows, and where in a statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from tests.drawn.drawing import Draw, Stream
from tests.drawn.expressions import NUMERIC, comparison, constant_condition, equality
from tests.drawn.result_sets import result_set
from tests.drawn.world import ANSWERING, COLUMNS_OF, DATA_WINDOWS, event_type, filtered, reading, window

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
QUANTIFIERS = ("any", "all", "some")

BULLETS = (
    "scalar", "scalar of several rows", "exists", "in", *(f"{each} {operator}" for each in QUANTIFIERS for operator in OPERATORS),
    "correlated", "not correlated", "filter", "several columns", "whole event", "enumeration method", "aggregated", "grouped", "having",
    "in select", "in where", "in a filter", "in having", "in case", "as a method's argument",
    "in on set", "in update istream", "in split stream", "in a declared expression", "in a created expression", "in an event-typed insert",
    "in a join", "no window", "several sub-queries", "event before or after", "group window", "several windows on a stream",
    "variant stream", "sub-type", "equality", "string keys", "mixed numeric keys", "null keys", "is", "range", "between", "inequality",
    "function", "prev or prior in a sub-query", "remove stream", "output clause", "iterator",
)  # fmt: skip
"""The census: each occurs in so many stored programs that emit rows."""

WINDOW_BULLETS = tuple(f"#{name}" for name in DATA_WINDOWS)


@attrs.frozen
class Inner:
    """The rows of a sub-query. ``source``: its from clause; ``where``: of the sub-query, with the keyword, or nothing."""

    source: str
    stream: Stream
    where: str

    @property
    def rows(self) -> str:
        return f"from {self.source}{self.where}"


UNTIMED = ("length", "keepall", "unique", "firstunique", "lastevent", "firstevent", "sort", "rank", "firstlength", "length_batch")
"""Windows for statements where Esper 9.0.0 cannot schedule for a sub-query: on-set, update, split stream."""

SELDOM = (
    "time_accum", "expr", "expr_batch", "time_order", "timetolive", "time_batch", "time_length_batch", "firsttime", "ext_timed_batch",
    "rank",
)  # fmt: skip


def inner(draw: Draw, outer: Sequence[Stream], correlated: float = 0.55, views: tuple[str, ...] = (), same: float = 0.15) -> Inner:
    """Rows of a window, with a where clause that names outer streams (correlated) or not. ``same``: how often of the outer type."""
    of_outer = [stream.source for stream in outer if stream.source]
    if of_outer and draw.chance(same):
        source = reading(draw, draw.one(*of_outer))
        draw.mark("event before or after")
    else:
        source = event_type(draw)
    name = draw.fresh("q")
    chain, names = window(draw, source, views or (UNTIMED if draw.untimed else ()))
    union = " retain-union" if chain.endswith("retain-union") else ""
    stream = Stream(name, source, COLUMNS_OF[source], names)
    text = f"{filtered(draw, source)}{chain.removesuffix(' retain-union')} as {name}{union}"
    return Inner(text, stream, where(draw, stream, outer, correlated))


def where(draw: Draw, stream: Stream, outer: Sequence[Stream], correlated: float) -> str:
    parts = []
    if outer and draw.chance(correlated):
        draw.mark("correlated")
        other = draw.random.choice(list(outer))
        if draw.chance(0.7):
            parts.append(equality(draw, stream, other))
        if not parts or draw.chance(0.25):
            parts.append(comparison(draw, stream, other))
    else:
        draw.mark("not correlated")
    if draw.chance(0.15):
        parts.append(constant_condition(draw, stream))
    return f" where {' and '.join(parts)}" if parts else ""


# ------------------------------------------------------------------ what a sub-query computes


def scalar(draw: Draw, outer: Sequence[Stream], correlated: float = 0.6) -> str:
    """A number."""
    kind = draw.one("value", "value", "aggregated", "aggregated", "grouped", "no window", "back")
    draw.mark("scalar")
    if kind == "value":
        few = draw.chance(0.5)
        rows = inner(draw, outer, correlated, ("lastevent", "length", "unique", "firstevent", "firstunique") if few else ())
        if not few:
            draw.mark("scalar of several rows")
        shown = draw.one(*rows.stream.of(*NUMERIC, "serial"))
        if draw.chance(0.2):
            shown = f"{shown} + {draw.one(*rows.stream.of('int', 'serial'))}"
        return f"(select {draw.maybe(0.08, 'distinct ')}{shown} {rows.rows})"
    if kind == "back":
        rows = inner(draw, outer, correlated, tuple(name for name in ANSWERING if not draw.untimed or name in UNTIMED))
        draw.mark("prev or prior in a sub-query")
        serial = rows.stream.of("serial")[0]
        return f"(select {draw.one(f'prev(1, {serial})', f'prior(1, {serial})', f'prevcount({serial})')} {rows.rows})"
    if kind == "no window":
        source = event_type(draw)
        stream = Stream(draw.fresh("q"), source, COLUMNS_OF[source])
        draw.mark("no window", "aggregated")
        clause = where(draw, stream, outer, 0.05)
        return f"(select {aggregation(draw, stream)} from {filtered(draw, source)} as {stream.alias}{clause})"
    rows = inner(draw, outer, correlated)
    draw.mark("aggregated")
    if kind == "grouped":
        draw.mark("grouped")
        key = draw.one(*rows.stream.of("text", "int", "flag"))
        text = f"(select {aggregation(draw, rows.stream)} {rows.rows} group by {key}"
        return text + having(draw, rows.stream, 0.6) + ")"
    return f"(select {aggregation(draw, rows.stream)} {rows.rows}{having(draw, rows.stream, 0.2)})"


def aggregation(draw: Draw, stream: Stream) -> str:
    x, y = draw.one(*stream.of(*NUMERIC)), draw.one(*stream.of(*NUMERIC, "serial"))
    return draw.one(
        f"sum({x})", f"sum({x})", "count(*)", f"max({x})", f"min({x})", f"avg({x})", f"max({y})", f"sum({x} + {y})", f"count(distinct {x})",
        f"last({y})", f"first({y})", f"sum({x}) + count(*)", f"sum({x}, filter: {y} > 1)", f"maxever({x})",
    )  # fmt: skip


def having(draw: Draw, stream: Stream, share: float) -> str:
    if not draw.chance(share):
        return ""
    draw.mark("having")
    x = draw.one(*stream.of(*NUMERIC))
    return draw.one(" having count(*) > 1", f" having sum({x}) > 2", f" having max({x}) >= 2", f" having last({x}) > 0")


def condition(draw: Draw, outer: Sequence[Stream], nested: float = 0.01, correlated: float = 0.6) -> str:
    """A boolean."""
    kind = draw.one("exists", "exists", "in", "in", "quantified", "quantified", "quantified", "compared", "aggregated")
    if draw.chance(nested):
        return nested_condition(draw, outer)
    if kind == "exists":
        rows = inner(draw, outer, max(correlated, 0.7) if correlated else 0)
        draw.mark("exists")
        shown = draw.one("*", "*", rows.stream.of("serial")[0])
        return f"{draw.maybe(0.35, 'not ')}exists (select {shown} {rows.rows})"
    stream = draw.random.choice(list(outer))
    if kind == "compared":
        return f"{draw.one(*stream.of(*NUMERIC))} {draw.one(*OPERATORS)} {scalar(draw, outer, correlated)}"
    rows = inner(draw, outer, correlated / 2)
    if kind == "aggregated":
        draw.mark("aggregated", "in")
        key = draw.one(*rows.stream.of("text", "int", "flag"))
        number = draw.one(*stream.of(*NUMERIC))
        group = ""
        if draw.chance(0.5):
            draw.mark("grouped")
            group = f" group by {key}"
        shown = f"(select {aggregation(draw, rows.stream)} {rows.rows}{group}{having(draw, rows.stream, 0.3)})"
        if draw.chance(0.5):
            return f"{number} {draw.one('in', 'not in')} {shown}"
        return quantified(draw, number, shown)
    texts = draw.chance(0.35)
    left = draw.one(*stream.of("text")) if texts else draw.one(*stream.of(*NUMERIC))
    right = draw.one(*rows.stream.of("text")) if texts else draw.one(*rows.stream.of(*NUMERIC))
    shown = f"(select {right} {rows.rows})"
    if kind == "in":
        draw.mark("in")
        return f"{left} {draw.one('in', 'in', 'not in')} {shown}"
    return quantified(draw, left, shown)


def quantified(draw: Draw, left: str, rows: str) -> str:
    quantifier, operator = draw.one(*QUANTIFIERS), draw.one(*OPERATORS)
    draw.mark(f"{quantifier} {operator}")
    return f"{left} {operator} {quantifier} {rows}"


def nested_condition(draw: Draw, outer: Sequence[Stream]) -> str:
    """A sub-query in a sub-query."""
    rows = inner(draw, outer, 0.3)
    draw.mark("nested")
    inside = condition(draw, [rows.stream], nested=0)
    joined_where = f"{rows.where} and {inside}" if rows.where else f" where {inside}"
    number = draw.one(*rows.stream.of(*NUMERIC))
    return draw.one(
        f"exists (select * from {rows.source}{joined_where})",
        f"not exists (select * from {rows.source}{joined_where})",
        f"{draw.one(*outer[0].of(*NUMERIC))} in (select {number} from {rows.source}{joined_where})",
        f"2 <= (select count(*) from {rows.source}{joined_where})",
    )


def structured(draw: Draw, outer: Sequence[Stream]) -> str:
    """A row, an event, or rows that enumeration methods take."""
    kind = draw.one("row", "row", "event", "event", "methods", "methods", "methods", "column", "grouped")
    rows = inner(draw, outer, 0.4, ("lastevent", "length", "unique", "keepall", "firstevent") if draw.chance(0.6) else ())
    stream = rows.stream
    numbers = stream.of(*NUMERIC)
    if kind == "row":
        draw.mark("several columns")
        if draw.chance(0.25):
            draw.mark("aggregated")
            return f"(select count(*) as x, {aggregation(draw, stream)} as y {rows.rows})"
        return f"(select {stream.of('serial')[0]} as x, {draw.one(*numbers)} as y, {draw.one(*stream.of('text', 'flag'))} as z {rows.rows})"
    if kind == "event":
        draw.mark("whole event")
        return f"(select {draw.one('*', '*', f'{stream.alias}')} {rows.rows})"
    serial, number = (name.split(".")[1] for name in (stream.of("serial")[0], draw.one(*numbers)))
    draw.mark("enumeration method")
    if kind == "methods":
        draw.mark("whole event")
        method = draw.one(
            f"where(x => x.{number} > 1)", "countOf()", f"where(x => x.{number} >= 1).countOf()", f"sumOf(x => x.{number})",
            f"selectFrom(x => x.{serial})", f"anyOf(x => x.{number} = 2)", f"allOf(x => x.{number} > 0)", "firstOf()", "lastOf()",
            f"orderBy(x => x.{serial}).selectFrom(x => x.{serial})", "take(2)", "takeLast(1)", f"maxBy(x => x.{serial})",
            f"minBy(x => x.{serial}).{number}", f"selectFrom((x, i) => x.{serial} + i)",
        )  # fmt: skip
        return f"(select * {rows.rows}).{method}"
    if kind == "column":
        method = draw.one(
            "sumOf()",
            "countOf()",
            "max()",
            "min()",
            "where(x => x > 1)",
            "take(2)",
            "firstOf()",
            "anyOf(x => x = 2)",
            "orderBy()",
            "lastOf()",
        )
        return f"(select {stream.of('serial')[0] if draw.chance(0.5) else draw.one(*numbers)} {rows.rows}).{method}"
    draw.mark("grouped", "aggregated")
    key = draw.one(*stream.of("text", "int", "flag"))
    method = draw.one(
        "take(10)",
        "orderBy(x => x.total)",
        "countOf()",
        "where(x => x.total > 1)",
        "firstOf()",
        "selectFrom(x => x.total)",
        "sumOf(x => x.total)",
    )
    total = draw.one(f"sum({draw.one(*numbers)})", "count(*)")
    return f"(select {key} as key, {total} as total {rows.rows} group by {key}{having(draw, stream, 0.2)}).{method}"


# ------------------------------------------------------------------ where it stands


def outer(draw: Draw, views: bool = True) -> tuple[str, Stream]:
    """The stream of a statement, with a window or without."""
    source = event_type(draw)
    stream = Stream("o", source, COLUMNS_OF[source])
    if not views or draw.chance(0.5):
        return f"{filtered(draw, source, 0.1)} as o", stream
    chain = draw.one("#length(2)", "#keepall", "#lastevent", "#time(2 sec)", "#length_batch(2)", "#time_batch(2 sec)", "#length(3)")
    return f"{source}{chain} as o", stream


def expression(draw: Draw, streams: Sequence[Stream]) -> str:
    """A sub-query of any kind."""
    return draw.random.choice((scalar, scalar, condition, condition, structured))(draw, streams)


def in_select(draw: Draw) -> None:
    text, stream = outer(draw)
    draw.mark("in select")
    expressions = [expression(draw, [stream])]
    if draw.chance(0.25):
        draw.mark("several sub-queries")
        expressions.append(expression(draw, [stream]))
    shape = draw.one("plain", "plain", "plain", "plain", "event", "detail")
    where = constant_condition(draw, stream) if draw.chance(0.1) else ""
    statement = result_set(draw, [stream], shape, more=lambda d, s: expressions, wildcards=False)
    draw.statement(statement.around(text, where))


def quantifiers(draw: Draw) -> None:
    """Any, all and some, with each operator."""
    text, stream = outer(draw)
    draw.mark("in select", "several sub-queries")
    rows = inner(draw, [stream], 0.2, ("length", "keepall", "unique", "sort", "lastevent"))
    left, right = draw.one(*stream.of(*NUMERIC)), draw.one(*rows.stream.of(*NUMERIC))
    columns = [quantified(draw, left, f"(select {right} {rows.rows})") for _ in range(draw.number(2, 4))]
    draw.statement(result_set(draw, [stream], "plain", more=lambda d, s: columns, wildcards=False).around(text))


def shared(draw: Draw) -> None:
    """Several sub-queries over the same window, by the same key."""
    text, stream = outer(draw)
    draw.mark("in select", "several sub-queries")
    rows = inner(draw, [stream], 1.0)
    serial, number = rows.stream.of("serial")[0], draw.one(*rows.stream.of(*NUMERIC))
    choices = [f"(select {serial} {rows.rows})", f"exists (select * {rows.rows})", f"(select count(*) {rows.rows})",
               f"(select sum({number}) {rows.rows})", f"(select {number} {rows.rows})", f"(select {serial} {rows.rows}).max()"]  # fmt: skip
    draw.mark("scalar")
    columns = draw.some(choices, 2, 3)
    if any("exists" in column for column in columns):
        draw.mark("exists")
    if any("sum" in column or "count" in column for column in columns):
        draw.mark("aggregated")
    draw.statement(result_set(draw, [stream], "plain", more=lambda d, s: columns, wildcards=False).around(text))


def over_windows(draw: Draw) -> None:
    """Over windows that are seldom drawn."""
    text, stream = outer(draw)
    draw.mark("in select")
    rows = inner(draw, [stream], 0.5, SELDOM)
    number = draw.one(*rows.stream.of(*NUMERIC))
    kind = draw.one("count", "exists", "value", "any")
    if kind == "any":
        column = quantified(draw, draw.one(*stream.of(*NUMERIC)), f"(select {number} {rows.rows})")
    else:
        draw.mark({"count": "aggregated", "exists": "exists", "value": "scalar"}[kind])
        column = {
            "count": f"(select count(*) {rows.rows})",
            "exists": f"exists (select * {rows.rows})",
            "value": f"(select {number} {rows.rows})",
        }[kind]
    draw.statement(result_set(draw, [stream], "plain", more=lambda d, s: [column], wildcards=False).around(text))


def in_where(draw: Draw) -> None:
    text, stream = outer(draw)
    draw.mark("in where")
    where = condition(draw, [stream])
    if draw.chance(0.2):
        where += draw.one(" or ", " and ") + constant_condition(draw, stream)
    draw.statement(result_set(draw, [stream]).around(text, where))


def in_filter(draw: Draw) -> None:
    source = event_type(draw)
    draw.mark("in a filter")
    correlated = draw.chance(0.5)
    stream = Stream("o", source, COLUMNS_OF[source])
    inside = condition(draw, [stream], correlated=0.6 if correlated else 0)
    if not correlated:
        inside = inside.replace("o.", "")
    views = draw.one("", "", "#length(2)", "#keepall")
    draw.statement(result_set(draw, [stream]).around(f"{source}({inside}){views} as o"))


def in_having(draw: Draw) -> None:
    text, stream = outer(draw)
    draw.mark("in having")
    shape = draw.one("all", "event", "group", "detail")
    correlated = 0.4 if shape in ("event", "detail") else 0
    subquery = scalar(draw, [stream], correlated)
    number = draw.one(*stream.of(*NUMERIC))
    clause = draw.one(
        f"sum({number}) > {subquery}", f"count(*) <= {subquery}", f"max({number}) >= {subquery}", f"coalesce({subquery}, 0) < sum({number})"
    )
    draw.statement(result_set(draw, [stream], shape, having=clause).around(text))


def in_group_by(draw: Draw) -> None:
    text, stream = outer(draw)
    draw.mark("in group by")
    correlated = 0.3
    key = draw.random.choice((scalar, condition))(draw, [stream], correlated=correlated)
    number = draw.one(*stream.of(*NUMERIC))
    draw.statement(f"select count(*) as c0, sum({number}) as c1 from {text} group by {key}")


def in_order_by(draw: Draw) -> None:
    text, stream = outer(draw)
    draw.mark("in order by")
    key = scalar(draw, [stream], 1)
    draw.statement(f"select o.n as c0 from {text} output every 3 events order by {key}, o.n")


def in_case(draw: Draw) -> None:
    text, stream = outer(draw)
    draw.mark("in case", "in select")
    shown = draw.one(*stream.of("serial"))
    kind = draw.number(0, 2)
    if kind == 0:
        column = f"case when {condition(draw, [stream])} then {shown} else -1 end"
    elif kind == 1:
        column = f"case when {shown} > 5 then {scalar(draw, [stream])} else -1 end"
    else:
        column = f"case when {condition(draw, [stream])} then 'yes' else 'no' end"
    draw.statement(result_set(draw, [stream], "plain", more=lambda d, s: [column], wildcards=False).around(text))


def as_argument(draw: Draw) -> None:
    text, stream = outer(draw)
    draw.mark("as a method's argument", "in select")
    value, number = scalar(draw, [stream]), draw.one(*stream.of(*NUMERIC))
    column = draw.one(
        f"coalesce({value}, -1)", f"max({number}, {value})", f"Math.abs({value})", f"{value} + {number}",
        f"Math.max(coalesce({value}, 0), 2)", f"{value} in ({number}, 2)", f"{value} between 0 and {number}", f"{value} is null",
        f"String.valueOf({value})",
    )  # fmt: skip
    draw.statement(result_set(draw, [stream], "plain", more=lambda d, s: [column], wildcards=False).around(text))


def in_on_set(draw: Draw) -> None:
    draw.untimed = True
    source = event_type(draw)
    stream = Stream("o", source, COLUMNS_OF[source])
    first, second = draw.fresh("v"), draw.fresh("v")
    draw.declare(f"create variable double {first}")
    draw.declare(f"create variable boolean {second} = false")
    draw.mark("in on set")
    kinds = draw.some(["number", "flag"], 1, 2)
    parts = [f"{first} = {scalar(draw, [stream])}" if kind == "number" else f"{second} = {condition(draw, [stream])}" for kind in kinds]
    setting = f"on {source} as o set {', '.join(parts)}"
    draw.statement(setting, bullets=False)
    draw.statement(f"select {first} as c0, {second} as c1, d.n as c2 from {reading(draw, draw.one('Deal', 'Level', source))} as d")


def in_update(draw: Draw) -> None:
    draw.untimed = True
    source = reading(draw, draw.one("Ask", "Bid", "Deal", "Level"))
    stream = Stream("o", source, COLUMNS_OF[source])
    number = draw.one(*(column.name for column in COLUMNS_OF[source] if column.role == "double"))
    draw.mark("in update istream")
    where = f" where {condition(draw, [stream])}" if draw.chance(0.4) else ""
    value = scalar(draw, [stream]) if not where or draw.chance(0.5) else "9"
    draw.statement(f"update istream {source} as o set {number} = {value}{where}", bullets=False)
    draw.statement(f"select {draw.one('irstream ', '')}{number}, n from {source}{draw.one('', '#length(2)')}")


def in_split(draw: Draw) -> None:
    draw.untimed = True
    source = event_type(draw)
    stream = Stream("o", source, COLUMNS_OF[source])
    draw.mark("in split stream")
    one, two = draw.fresh("Part"), draw.fresh("Part")
    for name in (one, two):
        draw.declare(f"create schema {name}(n long, v double)")
    value = f"cast({scalar(draw, [stream])}, double)" if draw.chance(0.5) else "1d"
    text = f"on {source} as o insert into {one} select o.n as n, {value} as v where {condition(draw, [stream])}"
    last = f" where {condition(draw, [stream])}" if draw.chance(0.3) else ""
    draw.statement(f"{text} insert into {two} select o.n as n, 2d as v{last} output {draw.one('first', 'all')}", bullets=False)
    draw.statement(f"select * from {two}", bullets=False)
    draw.statement(f"select * from {one}")


def declared(draw: Draw) -> None:
    """In expressions declared for the statement or for all."""
    created = draw.chance(0.5)
    draw.mark("in a created expression" if created else "in a declared expression")
    text, stream = outer(draw)
    name = draw.fresh("ex")
    kind = draw.random.choice((scalar, scalar, condition, structured))
    if draw.chance(0.5):
        body, call = f"o => {kind(draw, [stream])}", f"{name}(o)"
    else:
        shown = inner(draw, [], 0)
        draw.mark("scalar", "aggregated")
        body, call = f"(select {aggregation(draw, shown.stream)} {shown.rows})", draw.one(f"{name}()", f"{name}()")
    if created:
        draw.declare(f"create expression {name} {{ {body} }}")
    before = "" if created else f"expression {name} {{ {body} }} "
    draw.statement(f"{before}select {draw.one('irstream ', '')}o.n as c0, {call} as c1 from {text}")


def inserted(draw: Draw) -> None:
    """A sub-query's event or events are a property of the inserted event."""
    source = reading(draw, draw.one("Ask", "Bid", "Deal"))
    text, stream = outer(draw)
    name = draw.fresh("Box")
    several = draw.chance(0.4)
    rows = inner(draw, [stream], 0.5, ("lastevent", "length", "unique", "keepall"))
    while rows.stream.source != source:
        rows = inner(draw, [stream], 0.5, ("lastevent", "length", "unique", "keepall"), same=0)
    draw.declare(f"create schema {name}(serial long, held {source}{'[]' if several else ''})")
    draw.mark("in an event-typed insert", "whole event")
    draw.statement(f"insert into {name} select o.n as serial, (select * {rows.rows}) as held from {text}", bullets=False)
    shown = draw.one("*", "serial, held.countOf() as size" if several else "serial, held.n as c1, held.k as c2")
    draw.statement(f"select {shown} from {name}{draw.one('', '#length(2)')}")


def in_join(draw: Draw) -> None:
    """Correlated with one of two joined streams."""
    left, right = reading(draw, draw.one("Ask", "Bid")), reading(draw, draw.one("Deal", "Level"))
    streams = [Stream("o", left, COLUMNS_OF[left]), Stream("m", right, COLUMNS_OF[right])]
    draw.mark("in a join")
    draw.joining = True
    kind = draw.one("inner", "left outer", "full outer")
    views = [draw.one("#length(2)", "#keepall", "#unique({text})").format(text=COLUMNS_OF[each][0].name) for each in (left, right)]
    source = f"{left}{views[0]} as o {kind} join {right}{views[1]} as m on {equality(draw, streams[0], streams[1])}"
    if draw.chance(0.7):
        draw.mark("in select")
        statement = result_set(draw, streams, "plain", more=lambda d, s: [expression(d, s)], wildcards=False)
        draw.statement(statement.around(source))
    else:
        draw.mark("in where")
        draw.statement(result_set(draw, streams).around(source, condition(draw, streams)))


KINDS: tuple[tuple[Callable[[Draw], None], int], ...] = (
    (in_select, 26), (quantifiers, 12), (shared, 6), (over_windows, 16), (in_where, 14), (in_filter, 9), (in_having, 8),
    (in_group_by, 1), (in_order_by, 1), (in_case, 6), (as_argument, 6), (in_on_set, 7), (in_update, 7), (in_split, 7), (declared, 10),
    (inserted, 7), (in_join, 8),
)  # fmt: skip
"""Kinds of statements and how often they are drawn."""
