"""From clauses: event types with filters and windows, named windows, tables, patterns, joins."""

from __future__ import annotations

from itertools import pairwise

import attrs

from tests.drawn.drawing import Column, Draw, Stream
from tests.drawn.language import rare
from tests.drawn.language.contained import contained
from tests.drawn.language.expressions import condition
from tests.drawn.language.patterns import pattern
from tests.drawn.language.types import EVENTS, TYPES, Scope

WINDOWS = {
    "length": ("length(1)", "length(2)", "length(3)", "length(vi)"),
    "time": ("time(2 sec)", "time(3 sec)", "time(500 msec)", "time(1 min)"),
    "keepall": ("keepall",),
    "length_batch": ("length_batch(2)", "length_batch(3)"),
    "time_batch": ("time_batch(2 sec)", "time_batch(1 sec)", "time_batch(2 sec, 0L)", 'time_batch(2 sec, "FORCE_UPDATE, START_EAGER")'),
    "time_length_batch": ("time_length_batch(2 sec, 3)", 'time_length_batch(2 sec, 3, "FORCE_UPDATE")'),
    "time_accum": ("time_accum(1 sec)", "time_accum(2 sec)"),
    "ext_timed": ("ext_timed({time}, 3 sec)",),
    "ext_timed_batch": ("ext_timed_batch({time}, 2 sec)",),
    "time_order": ("time_order({time}, 3 sec)",),
    "timetolive": ("timetolive({time} + 2000)",),
    "unique": ("unique({text})", "unique({int})", "unique({text}, {int})"),
    "firstunique": ("firstunique({text})", "firstunique({int})"),
    "firstlength": ("firstlength(3)",),
    "firsttime": ("firsttime(4 sec)",),
    "lastevent": ("lastevent",),
    "firstevent": ("firstevent",),
    "sort": ("sort(3, {serial} desc)", "sort(2, {int}, {serial})", "sort(3, {int} desc, {serial})"),
    "rank": ("rank({text}, 2, {int} desc, {serial})",),
    "expr": ("expr(current_count <= 3)", "expr(newest_timestamp - oldest_timestamp < 2000)", "expr(sum({int}) < 6)"),
    "expr_batch": ("expr_batch(current_count > 2)", "expr_batch(newest_event.{int} > 2)"),
}
FREQUENT = ("length", "time", "keepall", "unique", "lastevent", "length_batch", "time_batch", "length", "time")
GROUPED = ("length", "unique", "time", "keepall", "lastevent", "length_batch", "sort", "firstunique", "time_batch")
PREVIOUS = ("length", "time", "keepall", "length_batch", "time_batch", "ext_timed", "sort")
"""Windows that answer prev."""
JOINED = ("length", "time", "keepall", "unique", "lastevent", "firstunique", "sort", "length_batch", "time_batch")
OUTER = ("length", "time", "keepall", "lastevent", "sort", "length_batch", "time_batch")
"""Windows of outer joins. Not those with unique keys: Esper drops the other conditions."""


DERIVED = (
    ("#uni({})", tuple(Column(*pair.split(":")) for pair in ("datapoints:long", "total:double", "average:double"))),
    ("#size", (Column("size", "long"),)),
)
"""Views whose rows are computed."""
RARELY_DERIVED = (
    ("#linest({0}, {1})", tuple(Column(*pair.split(":")) for pair in ("slope:double", "YIntercept:double"))),
    ("#correl({0}, {1})", (Column("correlation", "double"),)),
    ("#weighted_avg({0}, {1})", (Column("average", "double"),)),
)


@attrs.frozen
class Stored:
    """A named window or a table that later statements read. ``indexed``: its key columns, where it is a table."""

    name: str
    columns: tuple[Column, ...]
    keys: tuple[str, ...] = ()
    table: bool = False
    context: str = ""

    def as_stream(self, alias: str) -> Stream:
        return Stream(alias, self.name, self.columns)


@attrs.define
class World:
    """What the statements so far have made: types to read, stores, contexts."""

    types: dict[str, tuple[Column, ...]]
    streams: list[str] = attrs.field(factory=list)
    stores: list[Stored] = attrs.field(factory=list)
    context: str = ""
    """``context C`` in front of the statement that is drawn."""
    allowed: tuple[str, ...] = ()
    """The types that it may read; all where empty."""
    free_to_leave: list[str] = attrs.field(factory=list)
    """Statements that were deployed alone, on which no other depends."""
    dense: bool = False

    @classmethod
    def new(cls, *, dense: bool) -> World:
        return cls(dict(TYPES), dense=dense)

    @property
    def depth(self) -> int:
        return 2 if self.dense else 1

    def read(self, draw: Draw) -> str:
        """An event type to read."""
        if self.allowed:
            source = draw.one(*self.allowed)
        elif self.streams and draw.chance(0.3):
            source = draw.one(*self.streams)
        else:
            source = draw.one(*EVENTS)
        note_read(draw, source)
        return source


def note_read(draw: Draw, source: str) -> None:
    """Have events of the type, and of its sub-type, sent."""
    if source in TYPES:
        draw.reads(["Trade", "Rush"] if source == "Trade" and draw.chance(0.3) else [source])


def role_names(columns: tuple[Column, ...]) -> dict[str, str]:
    """Role → the first column with it."""
    return {column.role: column.name for column in reversed(columns)}


def window(draw: Draw, columns: tuple[Column, ...], among: tuple[str, ...] = ()) -> tuple[str, str]:
    """``#…`` and the name of its outermost view."""
    names = role_names(columns)
    able = [name for name in WINDOWS if all(_fits(call, names) for call in WINDOWS[name])]

    def call(kind: str) -> str:
        return draw.one(*[text for text in WINDOWS[kind] if _fits(text, names)]).format_map(names)

    if among:
        kind = draw.one(*[name for name in among if name in able])
    elif draw.chance(0.1) and {"text", "int"} <= names.keys():
        kind = draw.one(*[name for name in GROUPED if name in able])
        keys = draw.one(names["text"], names["int"], f"{names['text']}, {names['int']}")
        draw.mark("#groupwin", f"#{kind}")
        return f"#groupwin({keys})#{call(kind)}", "groupwin"
    elif draw.chance(0.07):
        draw.mark("several windows on a stream")
        pair = [
            call(draw.one(*[name for name in ("length", "time", "unique", "keepall", "firstunique", "sort") if name in able]))
            for _ in range(2)
        ]
        if pair[0] != pair[1]:
            return f"#{pair[0]}#{pair[1]}{draw.one('', ' retain-union', ' retain-intersection', '')}", "combined"
        return f"#{pair[0]}", "combined"
    elif draw.rare and draw.chance(0.25):
        text = draw.one(*[text for text in rare.WINDOWS if _fits(text, names)]).format_map(names)
        draw.mark(f"#{text.partition('(')[0]}")
        return f"#{text}", "rare"
    else:
        kind = draw.one(*[name for name in (FREQUENT if draw.chance(0.55) else tuple(WINDOWS)) if name in able])
    draw.mark(f"#{kind}")
    return f"#{call(kind)}", kind


def _fits(call: str, names: dict[str, str]) -> bool:
    try:
        call.format_map(names)
    except KeyError:
        return False
    return True


def filtered(draw: Draw, world: World, source: str, share: float = 0.3) -> str:
    """The type, now and then with a filter."""
    if not draw.chance(share):
        return source
    draw.mark("filter")
    scope = Scope((Stream("", source, world.types[source]),), aliased=False)
    return f"{source}({condition(draw, scope, world.depth - 1)})"


@attrs.frozen
class From:
    """A from clause: its text, what may be named, and what kind its first window is ("" without, "pattern", "store")."""

    text: str
    scope: Scope
    window: str = ""
    joined: bool = False


def one_stream(draw: Draw, world: World, *, prev: bool = False, windowless: float = 0.3, aliased: bool | None = None) -> From:
    """A single stream."""
    named = draw.chance(0.3) if aliased is None else aliased
    stores = [each for each in world.stores if not each.table and each.context == world.context]
    if stores and draw.chance(0.35) and not prev:
        store = draw.one_of(stores)
        draw.mark("a named window in from")
        text = f"{store.name}{_where_of(draw, world, store)}"
        return From(text + (" as e" if named else ""), Scope((store.as_stream("e"),), named), "store")
    if draw.chance(0.08) and not prev and (not world.allowed or "Basket" in world.allowed):
        source = "Item"
        note_read(draw, "Basket")
        text, columns = contained(draw)
    else:
        source = world.read(draw)
        columns = world.types[source]
        text = filtered(draw, world, source)
    kind = ""
    if prev or not draw.chance(windowless):
        chain, kind = window(draw, columns, PREVIOUS if prev else ())
        retained = chain.partition(" retain-")
        text += retained[0]
        suffix = f" retain-{retained[2]}" if retained[2] else ""
        if not prev and not suffix and draw.chance(0.05) and (number := role_names(columns).get("double")):
            other = role_names(columns).get("int", number)
            view, columns = draw.one_of((*DERIVED, *RARELY_DERIVED) if draw.rare else DERIVED)
            draw.mark(view.partition("(")[0])
            text += view.format(number, other)
            source = "derived values"
    else:
        suffix = ""
    return From(text + (" as e" if named else "") + suffix, Scope((Stream("e", source, columns),), named), kind)


def _where_of(draw: Draw, world: World, store: Stored) -> str:
    if not draw.chance(0.3):
        return ""
    return f"({condition(draw, Scope((Stream('', store.name, store.columns),), aliased=False), 0)})"


def pattern_stream(draw: Draw, world: World) -> From:
    """``pattern [...]`` with or without a window."""
    text, streams = pattern(draw, world, world.allowed or EVENTS)
    annotation = draw.one("", "", "", "", "@SuppressOverlappingMatches ", "@DiscardPartialsOnMatch ")
    chain = "" if annotation else draw.one("", "", "", "", "#length(2)", "#time(3 sec)", "#keepall", "#lastevent")
    draw.mark("pattern")
    return From(f"pattern {annotation}[{text}]{chain}", Scope(streams), "pattern" if not chain else "patterns")


def join(draw: Draw, world: World, count: int) -> From:
    """Two to four streams with their conditions."""
    items, streams = [], []
    aliases = ("a", "b", "c", "d")[:count]
    unidirectional = draw.chance(0.15)
    outer = draw.chance(0.45)
    stores = [each for each in world.stores if each.context == world.context]
    for place, alias in enumerate(aliases):
        if stores and not outer and draw.chance(0.35) and (place or not unidirectional):
            store = draw.one_of(stores)
            draw.mark("a table in a join" if store.table else "a named window in a join")
            items.append(f"{store.name} as {alias}")
            streams.append(store.as_stream(alias))
            continue
        if place and not outer and draw.chance(0.06):
            text, tags = pattern(draw, world, world.allowed or EVENTS)
            draw.mark("a pattern in a join")
            items.append(f"pattern [{text}]{draw.one('#length(2)', '#time(3 sec)', '#keepall', '#lastevent')} as {alias}")
            columns = tuple(Column(f"{tag.alias}.{c.name}", c.role) for tag in tags for c in tag.columns)
            streams.append(Stream(alias, "a pattern", columns))
            continue
        if place and draw.chance(0.06) and (not world.allowed or "Basket" in world.allowed):
            note_read(draw, "Basket")
            text, columns = contained(draw)
            items.append(f"{text}{draw.one('#length(3)', '#time(3 sec)', '#keepall', '#lastevent')} as {alias}")
            streams.append(Stream(alias, "Item", columns))
            continue
        source = world.read(draw)
        text = filtered(draw, world, source, 0.2)
        if place == 0 and unidirectional:
            draw.mark("unidirectional")
            items.append(f"{text} as {alias} unidirectional")
        else:
            chain, _ = window(draw, world.types[source], OUTER if outer else JOINED if draw.chance(0.8) else ())
            chain, _, retained = chain.partition(" retain-")
            items.append(f"{text}{chain} as {alias}" + (f" retain-{retained}" if retained else ""))
        streams.append(Stream(alias, source, world.types[source]))
    draw.mark(f"join of {count}")
    if not outer:
        pairs = [equal for left, right in pairwise(streams) if (equal := equality(draw, left, right))]
        if len(pairs) < count - 1 or draw.chance(0.1):
            extra = condition(draw, Scope(tuple(streams)), 0)
            pairs.append(extra)
        return From(", ".join(items) + " where " + " and ".join(pairs), Scope(tuple(streams)), joined=True)
    text = items[0]
    for place in range(1, count):
        on = equality(draw, streams[draw.number(0, place - 1)], streams[place], strict=True)
        kind = draw.one("inner", "left outer", "left outer", "right outer", "full outer")
        draw.mark(f"{kind} join")
        text += f" {kind} join {items[place]} on {on}"
    return From(text, Scope(tuple(streams)), joined=True)


def equality(draw: Draw, left: Stream, right: Stream, *, strict: bool = False) -> str:
    """A condition between two streams. ``strict``: equalities only."""

    def pairs(*roles: str) -> list[str]:
        return [
            f"{left.alias}.{mine.name} = {right.alias}.{other.name}"
            for mine in left.columns
            for other in right.columns
            if mine.role == other.role and mine.role in roles
        ]

    texts, ints = pairs("text"), pairs("int")
    chosen = [draw.one(*texts)] if texts and draw.chance(0.85) else []
    if ints and (not chosen or draw.chance(0.2)):
        chosen.append(draw.one(*ints))
    if not chosen:
        chosen = [draw.one(*(pairs("serial") or ["1 = 1"]))]
    numbers = [c for c in left.columns if c.role in ("int", "double")], [c for c in right.columns if c.role in ("int", "double")]
    if not strict and all(numbers) and draw.chance(0.25):
        mine, other = (draw.one(*[column.name for column in each]) for each in numbers)
        chosen.append(
            draw.one(
                f"{left.alias}.{mine} {draw.one('>', '<=', '>=')} {right.alias}.{other}",
                f"{left.alias}.{mine} between {right.alias}.{other} and {right.alias}.{other} + 2",
            )
        )
    return " and ".join(chosen)
