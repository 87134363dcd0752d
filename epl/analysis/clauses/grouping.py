"""group by: keys, and the levels of rollup, cube and grouping sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import product

import attrs

from epl.analysis.expressions.bind import bind_in_clause
from epl.analysis.expressions.binding import StatementRefusal
from epl.analysis.expressions.properties import Read, property_or_call, reads
from epl.analysis.expressions.rewriting import rewrite
from epl.analysis.expressions.scope import Scope
from epl.errors import EplUnsupportedError
from epl.plan.expressions import Constant, GroupingCall, Previous, Prior, TypedExpression
from epl.plan.result_set import GroupLevel, OrderKey
from epl.spans import Span
from epl.syntax import Expression, GroupElement, Literal
from epl.unparse import expression_text

Keys = tuple[int, ...]

LARGEST_ROLLUP = 1024
"""How many levels a group by may have: cube has 2 to the power of its expressions. Each event is counted in every level."""


@attrs.frozen
class Grouping:
    """``keys``: the expressions, each once. ``levels``: for rollup and its relatives, which keys each level groups by; None for plain
    group by."""

    keys: tuple[TypedExpression, ...] = ()
    levels: tuple[Keys, ...] | None = None

    @property
    def omitted(self) -> tuple[TypedExpression, ...]:
        """Return the keys that some level leaves out."""
        return tuple(key for number, key in enumerate(self.keys) if any(number not in level for level in self.levels or ()))


def names_a_property(key: TypedExpression, scope: Scope) -> bool:
    """Return whether a group-by expression reads a property. A table's column that is an aggregation is none, as in Esper."""
    return not all(_is_aggregation(read, scope) for read in reads((key,)))


def _is_aggregation(read: Read, scope: Scope) -> bool:
    event_type = scope.streams[read.stream].event_type
    table = scope.catalog.tables.get(event_type.name)
    if table is None or table.event_type is not event_type:
        return False
    place = table.position(read.path.split(".")[0])
    return place is not None and table.columns[place].aggregation is not None


NAMES = "write group by x, the property itself: neither its place in the select clause nor its name in quotes"


def analyse_grouping(elements: tuple[GroupElement, ...], scope: Scope) -> Grouping:
    """Return the keys and levels of a group-by clause; ``scope`` is that of its expressions."""
    keys: list[TypedExpression] = []
    texts: list[str] = []

    def key(expression: Expression) -> int:
        bound = bind_in_clause(expression, scope)
        if not names_a_property(bound, scope):
            hint = NAMES if isinstance(expression, Literal) else None
            raise StatementRefusal("Group-by expressions must refer to property names", span=expression.span, hint=hint)
        if bound not in keys:
            keys.append(bound)
            texts.append(expression_text(expression))
        return keys.index(bound)

    if all(element.kind == "expression" for element in elements):
        for element in elements:
            key(_only(element))
        return Grouping(tuple(keys))
    if math.prod(map(_level_count, elements)) > LARGEST_ROLLUP:
        raise EplUnsupportedError(
            f"group by of more than {LARGEST_ROLLUP} levels (cube, rollup and grouping sets multiplied) is not supported",
            span=elements[0].span)
    spell = _Speller(texts, elements[0].span)
    choices = [_element_levels(element, key, spell) for element in elements]
    levels = dict.fromkeys(tuple(sorted({k for part in parts for k in part})) for parts in product(*choices))
    if not any(levels):
        raise StatementRefusal(
            "Failed to validate the group-by clause, the overall grouping '()' cannot be the only grouping", span=elements[0].span
        )
    return Grouping(tuple(keys), tuple(levels))


def _only(element: GroupElement) -> Expression:
    expression = element.items[0]
    assert isinstance(expression, Expression)
    return expression


def _level_count(element: GroupElement) -> int:
    """Return how many levels an element has."""
    if element.kind == "grouping sets":
        return sum(_level_count(_as_element(item)) for item in element.items)
    if element.kind == "cube":
        return 1 << min(len(element.items), 64)
    return len(element.items) + 1 if element.kind == "rollup" else 1


@attrs.frozen
class _Speller:
    """Refuses what a clause has twice; ``texts`` are those of the keys found so far."""

    texts: list[str]
    span: Span | None

    def refuse_repeats(self, levels: Iterable[Keys]) -> None:
        """Refuse a level that occurs twice, in whatever order of its keys."""
        seen: set[Keys] = set()
        for level in (tuple(sorted(set(each))) for each in levels):
            if level in seen:
                named = f"expressions ({', '.join(self.texts[k] for k in level)})" if level else "the overall grouping '()'"
                raise StatementRefusal(
                    f"Failed to validate the group-by clause, found duplicate specification of {named}", span=self.span)
            seen.add(level)


def _element_levels(element: GroupElement, key: Callable[[Expression], int], spell: _Speller) -> list[Keys]:
    """Return the alternatives of one element, most detailed first: rollup(a, b) → ab, a, nothing; cube(a, b) → ab, a, b, nothing.

    What is written twice within an element is refused. Levels that come out equal otherwise, as those of ``rollup((a, b), a)`` or of two
    elements, count once.
    """
    if element.kind == "grouping sets":
        levels = [level for item in element.items for level in _element_levels(_as_element(item), key, spell)]
        spell.refuse_repeats(levels)
        return levels
    if element.kind in ("expression", "combination"):
        keys = tuple(key(item) for item in element.items if isinstance(item, Expression))
        spell.refuse_repeats((each,) for each in keys)
        return [keys]
    parts = [_element_levels(_as_element(item), key, spell)[0] for item in element.items]
    spell.refuse_repeats(parts)
    if element.kind == "rollup":
        return [tuple(k for part in parts[:length] for k in part) for length in range(len(parts), -1, -1)]
    return [tuple(k for part, chosen in zip(parts, choice) if chosen for k in part) for choice in product((True, False), repeat=len(parts))]


def _as_element(item: Expression | GroupElement) -> GroupElement:
    return item if isinstance(item, GroupElement) else GroupElement("expression", (item,))


def make_level(
    level: Keys,
    keys: tuple[TypedExpression, ...],
    columns: tuple[TypedExpression, ...],
    having: TypedExpression | None,
    order_by: tuple[OrderKey, ...],
) -> GroupLevel:
    """Return what is computed for the groups of one level: every property that the keys it omits read is null, but not that of another
    event (prev, prior)."""
    absent = {i for i in range(len(keys)) if i not in level}
    unread = set(reads(keys[i] for i in absent))

    def replace(node: TypedExpression) -> TypedExpression | None:
        if isinstance(node, GroupingCall):
            bits = [int(k in absent) for k in node.keys]
            return Constant(value=int("".join(map(str, bits)), 2) if bits else 0, type=node.type)
        if isinstance(node, (Previous, Prior)):
            return node
        if property_or_call(node) in unread:
            return Constant(value=None, type=node.type.boxed)
        return None

    return GroupLevel(
        level,
        tuple(rewrite(c, replace) for c in columns),
        None if having is None else rewrite(having, replace),
        tuple(OrderKey(rewrite(k.expression, replace), k.descending) for k in order_by),
    )
