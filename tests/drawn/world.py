"""The event types of drawn programs, their data windows, and what happens to a program: events, time, iterations."""

from __future__ import annotations

from typing import Any

from tests.drawn.drawing import Column, Draw, Stream

COLUMNS = tuple(
    Column(*pair) for pair in (("k", "text"), ("i", "int"), ("l", "long"), ("d", "double"), ("b", "flag"), ("n", "serial"), ("ts", "time"))
)
OTHER_COLUMNS = tuple(
    Column(*pair)
    for pair in (
        ("code", "text"), ("grade", "int"), ("volume", "long"), ("score", "double"), ("active", "flag"), ("n", "serial"), ("ts", "time")
    )
)  # fmt: skip
PROPERTIES = "k string, i int, l long, d double, b boolean, n long, ts long"
SCHEMA = (
    f"create schema Ask({PROPERTIES})",
    f"create schema Bid({PROPERTIES})",
    f"create schema Deal({PROPERTIES})",
    "create schema Level(code string, grade int, volume long, score double, active boolean, n long, ts long)",
    "create schema Rush(extra int) inherits Ask",
    "create variant schema Quote as Ask, Bid",
)
COLUMNS_OF = {
    "Ask": COLUMNS,
    "Bid": COLUMNS,
    "Deal": COLUMNS,
    "Level": OTHER_COLUMNS,
    "Rush": (*COLUMNS, Column("extra", "int")),
    "Quote": COLUMNS,
}

# ------------------------------------------------------------------ windows

DATA_WINDOWS = {
    "length": ("length(1)", "length(2)", "length(3)"),
    "length_batch": ("length_batch(2)", "length_batch(3)"),
    "time": ("time(2 sec)", "time(3 sec)"),
    "time_batch": ("time_batch(2 sec)", "time_batch(1 sec)"),
    "time_length_batch": ("time_length_batch(2 sec, 3)",),
    "time_accum": ("time_accum(1 sec)", "time_accum(2 sec)"),
    "ext_timed": ("ext_timed({time}, 3 sec)",),
    "ext_timed_batch": ("ext_timed_batch({time}, 2 sec)",),
    "time_order": ("time_order({time}, 3 sec)",),
    "timetolive": ("timetolive({time} + 2000)",),
    "keepall": ("keepall",),
    "firstlength": ("firstlength(3)",),
    "firsttime": ("firsttime(4 sec)",),
    "unique": ("unique({text})", "unique({int})", "unique({text}, {int})"),
    "firstunique": ("firstunique({text})", "firstunique({text}, {int})"),
    "lastevent": ("lastevent",),
    "firstevent": ("firstevent",),
    "sort": ("sort(3, {serial} desc)", "sort(3, {double}, {serial})"),
    "rank": ("rank({text}, 3, {double} desc, {serial})",),
    "expr": ("expr(current_count <= 3)", "expr(oldest_timestamp > newest_timestamp - 2000)"),
    "expr_batch": ("expr_batch(current_count > 2)",),
}
"""Name → calls, over columns by role."""

COMMON = ("length", "keepall", "time", "unique", "lastevent")
"""Windows that are drawn more often, since they let most rows join."""

ANSWERING = ("length", "time", "keepall", "length_batch", "time_batch", "ext_timed", "sort")
"""Windows that answer prev."""

SMALL = ("length(2)", "lastevent", "unique({flag})", "sort(2, {serial} desc)")
"""Windows for joins of many streams without a condition."""

COMBINED = (
    "length(3)#unique({text})",
    "length(4)#time(3 sec)",
    "unique({text})#length(2) retain-union",
    "time(3 sec)#unique({text})",
)

DERIVED: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "uni": ("uni({double})", (("datapoints", "long"), ("total", "double"), ("average", "double"))),
    "size": ("size", (("size", "long"),)),
    "weighted_avg": ("weighted_avg({double}, {serial})", (("average", "double"),)),
    "correl": ("correl({double}, {serial})", (("correlation", "double"),)),
    "linest": ("linest({double}, {serial})", (("slope", "double"), ("YIntercept", "double"), ("n", "long"))),
}
"""Name → call, and (property, role) of its rows."""


def over(text: str, source: str) -> str:
    """A view with the names of a type's columns in place of roles."""
    return text.format(**{column.role: column.name for column in reversed(COLUMNS_OF[source])})


def window(draw: Draw, source: str, among: tuple[str, ...] = ()) -> tuple[str, frozenset[str]]:
    """``#…`` of a data window, or several, or one a group, and the names of its views. ``among``: of these kinds only."""
    if among:
        name = draw.one(*among)
        return f"#{over(draw.one(*DATA_WINDOWS[name]), source)}", _marked(draw, name)
    kind = draw.random.random()
    if kind < 0.08:
        draw.mark("several windows on a stream")
        return f"#{over(draw.one(*COMBINED), source)}", frozenset({"combined"})
    if kind < 0.18:
        name = draw.one("length", "length", "unique", "keepall", "time", "lastevent", "sort", "length_batch", "firstlength")
        keys = over(draw.one("{text}", "{int}", "{flag}", "{text}, {int}"), source)
        draw.mark("group window")
        return f"#groupwin({keys})#{over(draw.one(*DATA_WINDOWS[name]), source)}", _marked(draw, name) | {"groupwin"}
    name = draw.one(*COMMON) if kind < 0.36 else draw.one(*DATA_WINDOWS)
    return f"#{over(draw.one(*DATA_WINDOWS[name]), source)}", _marked(draw, name)


def _marked(draw: Draw, name: str) -> frozenset[str]:
    draw.mark(f"#{name}")
    return frozenset({name})


def small_window(draw: Draw, source: str) -> str:
    """``#…`` of a window that retains two events at most."""
    call = over(draw.one(*SMALL), source)
    draw.mark(f"#{call.split('(')[0]}")
    return f"#{call}"


# ------------------------------------------------------------------ streams


def event_type(draw: Draw) -> str:
    """An event type to read. A variant stream brings the statements that fill it."""
    source = draw.one("Ask", "Ask", "Bid", "Bid", "Deal", "Deal", "Level", "Level", "Rush", "Quote")
    return reading(draw, source)


def reading(draw: Draw, source: str) -> str:
    """The type, after events of it were made sure of."""
    if source == "Quote":
        draw.mark("variant stream")
        draw.declare("@name('quotes0') insert into Quote select * from Ask")
        draw.declare("@name('quotes1') insert into Quote select * from Bid")
        draw.reads(["Ask", "Bid"])
    elif source == "Rush":
        draw.mark("sub-type")
        draw.reads(["Rush"])
    elif source == "Ask":
        draw.reads(["Ask", "Rush"] if draw.chance(0.3) else ["Ask"])
    else:
        draw.reads([source])
    return source


def filtered(draw: Draw, source: str, share: float = 0.15) -> str:
    """The type with a filter, now and then."""
    if not draw.chance(share):
        return source
    draw.mark("filter")
    condition = draw.one(
        "{int} > 0", f"{{text}} in ({draw.word()}, {draw.word()})", "{flag}", "{double} between 0 and 2", "{text} is not null"
    )
    return f"{source}({over(condition, source)})"


def stream(draw: Draw, alias: str, views: str = "any") -> tuple[str, Stream]:
    """An item of a from clause, and what can be named of it. ``views``: any, small, prev (windows that answer it), derived or none."""
    source = event_type(draw)
    text = filtered(draw, source)
    if views == "none":
        return f"{text} as {alias}", Stream(alias, source, COLUMNS_OF[source])
    if views == "small":
        return f"{text}{small_window(draw, source)} as {alias}", Stream(alias, source, COLUMNS_OF[source])
    if views == "derived":
        name = draw.one(*DERIVED)
        call, columns = DERIVED[name]
        before = draw.one("", "#length(3)", "#keepall", "#time(3 sec)", over("#groupwin({text})#length(2)", source))
        draw.mark("derived window", f"#{name}")
        columns_of_rows = tuple(Column(*column) for column in columns)
        return f"{text}{before}#{over(call, source)} as {alias}", Stream(alias, None, columns_of_rows, frozenset({name}))
    chain, names = window(draw, source, ANSWERING if views == "prev" else ())
    union = chain.endswith("retain-union")
    chain = chain.removesuffix(" retain-union")
    return f"{text}{chain} as {alias}{' retain-union' if union else ''}", Stream(alias, source, COLUMNS_OF[source], names)


# ------------------------------------------------------------------ what happens


def steps(draw: Draw, iterated: list[str]) -> list[dict[str, Any]]:
    """Events, time and iterations, in order."""

    def iteration(name: str) -> dict[str, Any]:
        return {"op": "iterate", "statement": name, **({"any_order": True} if name in draw.unordered else {})}

    types = sorted(draw.sent)
    now, serial = 0, 0
    happens: list[dict[str, Any]] = []
    for _ in range(draw.number(16, 20) + 4 * len(types)):
        chance = draw.random.random()
        if chance < 0.17:
            now += draw.random.choice([1, 500, 999, 1000, 1001, 2000, 3000])
            happens.append({"op": "time_span" if draw.chance(0.5) else "time", "ms": now})
        elif chance < 0.24 and iterated:
            happens.append(iteration(draw.one(*iterated)))
        else:
            serial += 1
            name = draw.one(*types)
            happens.append({"op": "event", "type": name, "props": _values(draw, name, serial, now)})
    return [*happens, *map(iteration, iterated)]


def _values(draw: Draw, source: str, serial: int, now: int) -> dict[str, Any]:
    choose = draw.random.choice
    by_role: dict[str, Any] = {
        "text": choose(draw.words[:3]) if draw.chance(0.9) else draw.words[3],
        "int": choose([0, 1, 2, 3]),
        "long": choose([0, 1, 2, 3]),
        "double": choose([0.0, 1.0, 2.0, 2.5, 3.0]),
        "flag": choose([True, False]),
        "serial": serial,
        "time": now + choose([0, 0, 0, -500, 700]),
    }
    values = {column.name: by_role[column.role] for column in COLUMNS_OF[source]}
    for column in COLUMNS_OF[source]:
        if column.role not in ("serial", "time") and draw.chance(0.09) and (source, column.name) not in draw.never_null:
            values[column.name] = None
    return values
