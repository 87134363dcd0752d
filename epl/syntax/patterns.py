"""EPL patterns: ``every a=A -> (b=B(id=a.id) or timer:interval(10 sec))``."""
from __future__ import annotations

from typing import Literal as Choice

import attrs

from epl.syntax.clauses import Annotation, Contained
from epl.syntax.expressions import Expression
from epl.syntax.nodes import Pattern as Pattern


@attrs.frozen
class FilterAtom(Pattern):
    """``tag=Type(filter)[contained] @consume(2)``."""

    type_name: str
    filters: tuple[Expression, ...] = ()
    tag: str | None = None
    contained: tuple[Contained, ...] = ()
    annotations: tuple[Annotation, ...] = ()


@attrs.frozen
class Observer(Pattern):
    """``timer:interval(10 sec)``."""

    namespace: str
    name: str
    arguments: tuple[Expression, ...] = ()


@attrs.frozen
class Every(Pattern):
    item: Pattern


@attrs.frozen
class EveryDistinct(Pattern):
    """``every-distinct(a.id, 10 sec) a=A``; a last argument that is a time period is the expiry, which the analysis decides."""

    arguments: tuple[Expression, ...]
    item: Pattern


@attrs.frozen
class Not(Pattern):
    item: Pattern


@attrs.frozen
class And(Pattern):
    items: tuple[Pattern, ...]


@attrs.frozen
class Or(Pattern):
    items: tuple[Pattern, ...]


@attrs.frozen
class FollowedBy(Pattern):
    """``a -> b -[5]> c``: limits has one entry an arrow, None where no limit is written."""

    items: tuple[Pattern, ...]
    limits: tuple[Expression | None, ...]


@attrs.frozen
class MatchUntil(Pattern):
    """``[low:high] item until until``. ``bounds``: none, exact ``[n]``, low ``[n:]``, high ``[:m]``, both ``[n:m]``."""

    item: Pattern
    until: Pattern | None = None
    bounds: Choice["none", "exact", "low", "high", "both"] = "none"
    low: Expression | None = None
    high: Expression | None = None


@attrs.frozen
class Guard(Pattern):
    """``item where timer:within(10 sec)``; ``while (condition)`` has name ``while``, no namespace, one argument."""

    item: Pattern
    name: str
    arguments: tuple[Expression, ...] = ()
    namespace: str | None = None
