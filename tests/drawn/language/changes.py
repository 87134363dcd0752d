"""Statements that change what streams hold: split streams, update istream, inserts into declared types; expressions that are declared."""

from __future__ import annotations

from tests.drawn.drawing import Column, Draw, Stream
from tests.drawn.language.expressions import condition
from tests.drawn.language.streams import World, filtered, note_read
from tests.drawn.language.types import Scope

DECLARED = (
    "create expression twice {v => v.qty * 2}",
    "create expression large {v => v.qty > 2}",
    "create expression level alias for {vi + 1}",
    "create expression span {(x, y) => coalesce(x, 0) - coalesce(y, 0)}",
)


def declare(draw: Draw) -> None:
    """Declare the expressions that ``expressions`` may call."""
    for text in DECLARED:
        draw.declare(text)
    draw.mark("declared expression")


def event_variable(draw: Draw) -> None:
    """A variable that holds the event before."""
    note_read(draw, "Trade")
    draw.texts += ["create variable Trade vt", "@Priority(0) on Trade as e set vt = e" if draw.chance(0.2) else "on Trade as e set vt = e"]
    draw.variables += ["vt.qty", "vt.price"]
    draw.mark("variable of an event type")


def context_variable(draw: Draw, world: World) -> None:
    """A variable that each partition has its own of."""
    source = world.read(draw)
    own = Stream("e", source, world.types[source])
    number = draw.one(*(own.of("int") or ["1"]))
    draw.texts.append(f"{world.context}create variable int vc = 1")
    draw.statement(f"{world.context}on {source} as e set vc = {draw.one('vc + 1', number)}")
    draw.variables.append("vc")
    draw.mark("variable of a context")


def split(draw: Draw, world: World) -> None:
    """A split-stream statement; its streams may be read later."""
    source = draw.one("Trade", "Quote", "Basket")
    note_read(draw, source)
    columns = world.types[source]
    scope = Scope((Stream("e", source, columns),))
    roles = {c.role: c.name for c in reversed(columns)}
    branches = []
    for place in range(draw.number(2, 3)):
        name = draw.fresh("S")
        branch = f"insert into {name} select e.{roles['text']} as t0, e.{roles['int']} as i1, e.n as s2"
        if place < 2 or draw.chance(0.3):
            branch += f" where {condition(draw, scope, 0)}"
        branches.append(branch)
        world.types[name] = (Column("t0", "text"), Column("i1", "int"), Column("s2", "serial"))
        world.streams.append(name)
    draw.mark("split stream")
    draw.texts.append(f"@name('{draw.fresh('s')}') on {source} as e {' '.join(branches)} output {draw.one('first', 'all')}")


def update(draw: Draw, world: World) -> None:
    """An update istream statement."""
    source = draw.one("Trade", "Trade", *[each for each in world.streams if not each.startswith("V")])
    columns = world.types[source]
    note_read(draw, source)
    scope = Scope((Stream("", source, columns),), aliased=False)
    number = draw.one(*[c.name for c in columns if c.role == "int"])
    word = draw.one(*[c.name for c in columns if c.role == "text"])
    sets = draw.some([f"{number} = {draw.one(f'{number} + 1', '1', 'vi')}", f"{word} = {draw.one(draw.word(), 'vs')}"], 1, 2)
    where = f" where {condition(draw, scope, 0)}" if draw.chance(0.6) else ""
    draw.mark("update istream")
    draw.texts.append(f"{draw.one('', '', '@Priority(2) ')}update istream {source} set {', '.join(sets)}{where}")


def into_declared(draw: Draw, world: World) -> None:
    """An insert into a type that is declared and also sent."""
    source = draw.one("Trade", "Quote", "Basket")
    note_read(draw, source)
    note_read(draw, "Alarm")
    columns = {c.role: c.name for c in reversed(world.types[source])}
    draw.mark("insert into")
    draw.statement(
        f"insert into Alarm(code, lvl, n) select {columns['text']}, {columns['int']}, n from {filtered(draw, world, source, 0.8)}"
    )


def variant(draw: Draw, world: World) -> None:
    """A variant stream over two types."""
    name = draw.fresh("V")
    draw.texts.append(f"create variant schema {name} as Trade, Basket")
    for source in ("Trade", "Basket"):
        note_read(draw, source)
        draw.texts.append(f"insert into {name} select * from {filtered(draw, world, source, 0.3)}")
    world.types[name] = tuple(Column(*pair.split(":")) for pair in ["sym:text", "qty:int", "n:serial", "ts:time"])
    world.streams.append(name)
    draw.mark("variant stream")
