"""Contexts of every kind."""

from __future__ import annotations

from tests.drawn.drawing import Draw
from tests.drawn.language import rare
from tests.drawn.language.streams import World, note_read

KEYED = {
    "partition by sym from Trade, sym from Quote": ("Trade", "Quote"),
    "partition by sym from Trade": ("Trade",),
    "partition by sym, qty from Trade, sym, lvl from Quote": ("Trade", "Quote"),
    "partition by sym from Trade(qty > 0), sym from Basket": ("Trade", "Basket"),
    "partition by sym from Trade terminated by Trade(qty = 5)": ("Trade",),
    "partition by sym from Trade terminated after 3 sec": ("Trade",),
    "partition by sym from Trade, sym from Quote initiated by Trade(qty > 1) terminated by Quote(lvl > 2)": ("Trade", "Quote"),
    "coalesce by consistent_hash_crc32(sym) from Trade, consistent_hash_crc32(sym) from Quote granularity 4": ("Trade", "Quote"),
    "coalesce by hash_code(sym) from Trade granularity 3 preallocate": ("Trade",),
    "group by qty < 2 as low, group by qty >= 2 as high from Trade": ("Trade",),
    "group by price > 1 as dear, group by ok as fine from Trade": ("Trade",),
}
LIFETIMES = (
    "start Alarm(lvl > 1) end Alarm(lvl = 0)",
    "start Alarm(lvl > 0) as a end after 3 sec",
    "start @now end after 4 sec",
    "start (*, *, *, *, *, */4) end (*, *, *, *, *, */3)",
    "initiated by Alarm(lvl > 0) as a terminated by Alarm(code = a.code, lvl = 0)",
    "initiated by Alarm(lvl > 1) terminated after 3 sec",
    "initiated by distinct(a.sym) Trade as a terminated after 3 sec",
    "start @now end Alarm(lvl = 5)",
    "initiated by Quote(lvl > 2) as q terminated by Quote(sym = q.sym, lvl = 0)",
    "initiated by Trade(qty > 2) as a terminated by Quote(sym = a.sym)",
    "start pattern [every x=Alarm(lvl > 1)] end after 2 sec",
    "initiated by pattern [every x=Alarm(lvl > 1) -> Alarm] terminated after 3 sec",
)


def context(draw: Draw, world: World) -> tuple[str, list[str]]:
    """Create a context; set it in the world; give expressions over its properties."""
    name = draw.fresh("C")
    seldom = draw.rare and draw.chance(0.5)
    all_keyed, lifetimes = (rare.KEYED, rare.LIFETIMES) if seldom else (KEYED, LIFETIMES)
    kind = draw.random.random()
    properties = ["context.id", "context.name"]
    if kind < 0.5:
        text = draw.one(*all_keyed)
        allowed = all_keyed[text]
        draw.texts.append(f"create context {name} {text}")
        if text.startswith("partition"):
            properties.append("context.key1")
        elif text.startswith("group"):
            properties.append("context.label")
        draw.mark(f"context {text.split()[0]}")
    elif kind < 0.85:
        text, allowed = draw.one(*lifetimes), ()
        draw.texts.append(f"create context {name} {text}")
        if " as a " in text:
            properties.append("context.a.n")
        draw.mark(f"context {text.split()[0]}")
        note_lifetime(draw, text)
    else:
        inner = draw.one(*[t for t in all_keyed if "terminated" not in t])
        life = draw.one(*[t for t in lifetimes if "distinct" not in t])  # Esper begins two for equal values there
        allowed = all_keyed[inner]
        pair = [f"context {name}a {life}", f"context {name}b {inner}"]
        if draw.chance(0.5):
            pair = [f"context {name}b {inner}", f"context {name}a {life}"]
        draw.texts.append(f"create context {name} {', '.join(pair)}")
        properties = [f"context.{name}a.startTime" if "start" in life and draw.chance(0.3) else "context.id"]
        if inner.startswith("partition"):
            properties.append(f"context.{name}b.key1")
        draw.mark("nested context")
        note_lifetime(draw, life)
    world.context, world.allowed = f"context {name} ", allowed
    for source in allowed:
        note_read(draw, source)
    return name, properties


def note_lifetime(draw: Draw, text: str) -> None:
    """Have the events sent that begin and end partitions."""
    for source in ("Alarm", "Trade", "Quote"):
        if source in text:
            draw.reads([source])
