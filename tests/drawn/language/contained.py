"""Events within events: ``Basket[items]`` and its forms."""

from __future__ import annotations

from tests.drawn.drawing import Column, Draw, Stream
from tests.drawn.language.expressions import condition
from tests.drawn.language.types import TYPES, Scope

ITEM = TYPES["Item"]


def contained(draw: Draw) -> tuple[str, tuple[Column, ...]]:
    """``Basket[…]`` with what its rows hold; the caller has events of Basket sent."""
    own = Scope((Stream("", "Item", ITEM),), aliased=False)
    outer = ""
    if draw.chance(0.25):
        outer = f"({condition(draw, Scope((Stream('', 'Basket', TYPES['Basket']),), aliased=False), 0)})"
    where = f" where {condition(draw, own, 0)}" if draw.chance(0.3) else ""
    draw.mark("contained events")
    form = draw.random.random()
    if form < 0.5:
        return f"Basket{outer}[items{where}]", ITEM
    if form < 0.6:
        return f"Basket{outer}[items as i where i.{draw.one('qty > 1', 'price < 2', 'sku is not null')}]", ITEM
    if form < 0.8:
        return f"Basket{outer}[select sku, price from items]", tuple(each for each in ITEM if each.name != "qty")  # a basket has qty, too
    return f"Basket{outer}[select sym, n, sku, price from items]", (Column("sym", "text"), Column("n", "serial"), ITEM[0], ITEM[2])
