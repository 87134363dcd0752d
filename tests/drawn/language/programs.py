"""Programs over the whole language: several statements that read each other's streams, windows, tables and variables."""

from __future__ import annotations

import re
from typing import Any

from tests.drawn.drawing import Draw
from tests.drawn.language import rare
from tests.drawn.language.changes import context_variable, declare, event_variable, into_declared, split, update, variant
from tests.drawn.language.contexts import context
from tests.drawn.language.expressions import VARIABLE_SCHEMA
from tests.drawn.language.selects import feeding, select
from tests.drawn.language.stores import action, named_window, query, table
from tests.drawn.language.streams import World
from tests.drawn.language.types import SCHEMA, values

LANGUAGE = "language"
"""The name of the stored programs."""
ALWAYS = (*SCHEMA, *VARIABLE_SCHEMA)
"""What every program begins with."""


def draw_program(draw: Draw, *, dense: bool = False) -> list[dict[str, Any]]:
    """Add the statements; give what happens to them."""
    world = World.new(dense=dense)
    draw.texts[:0] = rare.retyped(draw, list(ALWAYS)) if draw.rare else ALWAYS
    if draw.rare:
        draw.texts += rare.declarations(draw)
    kind = draw.random.random()
    if draw.chance(0.2):
        declare(draw)
        draw.calls_declared = True
    if draw.chance(0.06):
        event_variable(draw)
    if draw.chance(0.3):
        feeding(draw, world)
    for share, made in ((0.06, split), (0.06, into_declared), (0.05, variant), (0.08, update)):
        if draw.chance(share * (2 if dense else 1)):
            made(draw, world)
    if kind < 0.45:
        for _ in range(draw.number(1, 2 + dense)):
            _select(draw, world)
    elif kind < 0.75:
        for _ in range(draw.number(1, 1 + dense)):
            (named_window if draw.chance(0.55) else table)(draw, world)
        for _ in range(draw.number(1, 2 + dense)):
            action(draw, world, draw.one_of(world.stores))
        for _ in range(draw.number(1, 1 + dense)):
            _select(draw, world)
    else:
        world.streams.clear()
        _, properties = context(draw, world)
        if draw.chance(0.15):
            context_variable(draw, world)
        if draw.chance(0.25):
            (named_window if draw.chance(0.6) else table)(draw, world)
            action(draw, world, world.stores[-1])
        for _ in range(draw.number(1, 2)):
            _select(draw, world, properties)
        if draw.chance(0.3):
            world.context, world.allowed = "", ()
            world.stores.clear()
            draw.tables.clear()
            draw.variables.clear()
            _select(draw, world)
    return happenings(draw, world)


def _select(draw: Draw, world: World, properties: list[str] | None = None) -> None:
    text = select(draw, world)
    if properties and draw.chance(0.5) and " group by " not in text and "distinct" not in text:
        text = (
            text.replace(" from ", f", {draw.one(*properties)} as ctx from ", 1)
            if "(select" not in text.split(" from ")[0] and "*" not in text.split(" from ")[0]
            else text
        )
    if world.context and "terminated" in "".join(draw.texts) and " output " not in text and draw.chance(0.3):
        text = re.sub(
            r"( order by .*)?$", lambda end: f" output {draw.one('last', 'all', 'snapshot')} when terminated{end[0]}", text, count=1
        )
    hint = ""
    if " group by " in text and draw.chance(0.08):
        hint = draw.one("@Hint('disable_reclaim_group') ", "@Hint('reclaim_group_aged=2,reclaim_group_freq=1') ")
    elif "#" not in text and draw.chance(0.05):
        hint = "@IterableUnbound "
    text = re.sub(r"\s+", " ", text)
    text = world.context + text
    draw.statement(hint + (rare.rewritten(draw, text) if draw.rare and not hint else text))


def happenings(draw: Draw, world: World) -> list[dict[str, Any]]:
    """Events, time, iterations, queries, a late deployment, an undeployment."""
    statements = list(draw.bullets)
    types = sorted(draw.sent) or ["Trade"]
    now = serial = 0
    happens: list[dict[str, Any]] = []
    stores = [each for each in world.stores if not each.context]
    for _ in range(draw.number(25, 60)):
        chance = draw.random.random()
        if chance < 0.16:
            now += draw.random.choice([1, 500, 999, 1000, 1001, 2000, 3000])
            happens.append({"op": "time_span" if draw.chance(0.5) else "time", "ms": now})
        elif chance < 0.2:
            happens.append({"op": "iterate", "statement": draw.one(*statements)})
        elif chance < 0.25 and stores:
            happens.append({"op": "faf", "epl": query(draw, draw.one_of(stores), stores)})
        elif chance < 0.26 and not world.context:
            known = set(draw.sent)
            text = select(draw, world)
            if draw.sent <= known:
                draw.statement(re.sub(r"\s+", " ", text))
                happens.append({"op": "deploy", "epl": draw.texts.pop()})
                statements.append(list(draw.bullets)[-1])
                world.free_to_leave.append(statements[-1])
            draw.sent = known
        elif chance < 0.265 and len(statements) > 2 and world.free_to_leave:
            gone = draw.one(*world.free_to_leave)
            world.free_to_leave.remove(gone)
            if gone in statements:
                statements.remove(gone)
                happens.append({"op": "undeploy", "statement": gone})
        else:
            serial += 1
            name = draw.one(*types)
            happens.append({"op": "event", "type": name, "props": values(draw, name, serial, now)})
    return [*happens, *({"op": "iterate", "statement": name} for name in statements)]


def program(name: str) -> dict[str, Any]:
    """A trace without output; the name says the seed, and whether it is as people write (``plain 7 12``), dense (``dense 7 12``), with
    what they write seldom (``rare 7 12``) or both (``rare-dense 7 12``)."""
    draw = Draw(name)
    kind = name.partition(" ")[0]
    draw.rare = "rare" in kind
    happens = draw_program(draw, dense="dense" in kind)
    return {"name": name, "bullets": draw.bullets, "start_time": 0, "steps": [{"op": "deploy", "epl": ";\n".join(draw.texts)}, *happens]}
