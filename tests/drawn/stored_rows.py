"""Named windows and tables as statements and queries name them, and what happens to them: deployments, queries, events, time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from tests.drawn.drawing import Column, Draw, Stream
from tests.drawn.world import COLUMNS, steps, window

EXTRA = ("create schema Item(k string, i int, n long)", "create schema Basket(k string, items Item[])")
ITEM = (Column("k", "text"), Column("i", "int"), Column("n", "serial"))
TYPES = ("Ask", "Bid", "Deal")
LISTED = ", ".join(column.name for column in COLUMNS)

Step = dict[str, Any]


@attrs.frozen
class Store:
    """A named window, or a table. ``source``: the event type that fills it. ``values``: properties that on-statements set."""

    name: str
    source: str
    columns: tuple[Column, ...]
    is_table: bool
    keys: tuple[str, ...] = ()
    """Of a table: its primary key."""
    values: tuple[str, ...] = ("i", "l", "d", "k")
    aggregations: tuple[str, ...] = ()

    def named(self, alias: str) -> Stream:
        return Stream(alias, self.source, self.columns)


@attrs.define
class Life:
    """What happens to the stores of a program beside events and time, in order."""

    steps: list[Step] = attrs.Factory(list)
    iterated: list[str] = attrs.Factory(list)
    """Statements that are iterated: those of stores, and consumers."""


def trigger(draw: Draw, store: Store, alias: str = "t") -> tuple[str, Stream]:
    """What an on-statement is triggered by: an event type, contained events, the named window itself."""
    chance = draw.random.random()
    if chance < 0.1:
        draw.mark("contained events in a trigger")
        draw.declare(EXTRA[0])
        draw.declare(EXTRA[1])
        return f"Basket[items] as {alias}", Stream(alias, None, ITEM)
    if chance < 0.17 and not store.is_table:
        draw.mark("a named window as trigger")
        return f"{store.name} as {alias}", Stream(alias, None, COLUMNS)
    source = draw.one(*(each for each in TYPES if each != store.source)) if draw.chance(0.85) else store.source
    draw.reads([source])
    condition = ""
    if draw.chance(0.15):
        draw.mark("filter of a trigger")
        condition = draw.one("(i > 0)", "(k is not null)", "(b)", "(d between 0 and 2)")
    return f"{source}{condition} as {alias}", Stream(alias, source, COLUMNS)


def matching(draw: Draw, store: Store, row: str, other: Stream) -> str:
    """A condition between a row and an event: mostly of equal keys."""
    key = store.keys[0] if store.keys else draw.one("k", "k", "k", "i")
    own = draw.one(f"{row}.{key} = {other.alias}.{key}", f"{other.alias}.{key} = {row}.{key}")
    kind = draw.random.random()
    if kind < 0.65:
        return own
    if kind < 0.8:
        return f"{own} and {row}.i {draw.one('<', '<=', '>', '>=', '!=')} {other.alias}.i"
    return draw.one(
        f"{row}.i {draw.one('<', '>=', '>')} {other.alias}.i",
        f"{row}.i between {other.alias}.i - 1 and {other.alias}.i",
        f"{row}.k in ({other.alias}.k, {draw.word()})",
        f"{row}.k is {other.alias}.k",
        f"{row}.n < {other.alias}.n and {row}.k != {other.alias}.k",
        f"({own} or {row}.i = 3)",
    )


def assignments(draw: Draw, store: Store, row: str, event: str = "") -> str:
    """``name = value`` for columns that are no keys, over the row, maybe the event, and the row as it was. ``event``: a prefix with dot."""
    columns = {"i": "int", "l": "long", "d": "double", "k": "text", "n": "long"}
    names = draw.some([name for name in store.values if name not in store.keys], 1, 2)
    if len(names) > 1:
        draw.mark("several assignments")
    parts = []
    for name in names:
        if columns[name] == "text":
            value = draw.one(*([f"{event}k"] if event else []), draw.word(), f"{row}.k || ''")
        else:
            own = f"{row}.{name}"
            choices = [f"{own} + 1", f"{own} * 2", "3" if name == "i" else f"{own} - 1"]
            if event:
                choices += [f"{event}{name}", f"{own} + {event}{name}"]
            value = draw.one(*choices)
            if draw.chance(0.25) and event:
                draw.mark("initial")
                value = f"initial.{name} + 1"
        parts.append(f"{name} = {value}")
    return ", ".join(parts)


def drawn_window(draw: Draw, source: str) -> str:
    """``#…`` of a named window; kinds whose rows stay longer are drawn more often."""
    kind = draw.random.random()
    if kind < 0.25:
        draw.mark("#keepall")
        return "#keepall"
    if kind < 0.35:
        draw.mark("#unique")
        return "#unique(k)"
    return window(draw, source)[0]


def deploy(life: Life, text: str) -> None:
    life.steps.append({"op": "deploy", "epl": text})


def mixed(draw: Draw, life: Life) -> list[Step]:
    """Events, time and iterations, among them what happens to the stores."""
    known = list(dict.fromkeys(life.iterated))
    happens = steps(draw, known)
    last = len(happens) - len(known)
    baskets: Callable[[int], Step] = lambda place: {"op": "event", "type": "Basket", "props": _basket(draw, place)}  # noqa: E731
    extra = list(life.steps)
    places = sorted(draw.number(last // 3, last) for _ in extra)
    if EXTRA[1] in draw.texts:
        pairs = sorted([*zip(places, extra), *((draw.number(2, last), baskets(place)) for place in range(5))], key=lambda pair: pair[0])
        places, extra = [place for place, _ in pairs], [step for _, step in pairs]
    for place, step in reversed(list(zip(places, extra))):
        happens.insert(place, step)
    return happens


def _basket(draw: Draw, place: int) -> Step:
    items = [
        {"k": draw.random.choice(draw.words[:3]), "i": draw.number(0, 3), "n": 1000 + 10 * place + each}
        for each in range(draw.number(1, 3))
    ]
    return {"k": draw.random.choice(draw.words[:3]), "items": items}


def aliases(columns: Sequence[str]) -> str:
    return ", ".join(f"{column} as c{place}" for place, column in enumerate(columns))
