"""Look-ups: which rows of a window satisfy conditions with events of other streams, and the index that answers."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from epl.plan.checks import check
from epl.plan.expression_text import PropertyText, expression_text
from epl.plan.expressions import TypedExpression


@attrs.frozen(kw_only=True)
class IndexPlan:
    """An index over the rows of a window. Statements that need equal indexes of the same rows share one.

    ``hash``: rows are found by equal values of these expressions; ``ranges``: and then sorted by these, one after the other. They read
    the row alone, which is stream 0. ``unique``: at most one row has a key; a later row replaces it.
    """

    hash: tuple[TypedExpression, ...] = ()
    ranges: tuple[TypedExpression, ...] = ()
    unique: bool = False

    def __attrs_post_init__(self) -> None:
        check(bool(self.hash or self.ranges), "an index without a key")
        check(all(key.streams == {0} for key in (*self.hash, *self.ranges)), "an index key that does not read the row alone")
        check(not (self.unique and self.ranges), "a unique index over a range")

    @property
    def title(self) -> str:
        """
        >>> from epl.plan.expressions import StreamProperty; from epl.value_types import INT
        >>> a, b = (StreamProperty(type=INT, stream=0, name=name) for name in "ab")
        >>> IndexPlan(hash=(a,)).title, IndexPlan(ranges=(b,)).title, IndexPlan(hash=(a,), ranges=(b,)).title
        ('hash (a)', 'sorted (b)', 'hash (a) sorted (b)')
        """
        parts = [("unique" if self.unique else "hash", self.hash), ("sorted", self.ranges)]
        return " ".join(f"{word} ({', '.join(map(expression_text, keys))})" for word, keys in parts if keys)


@attrs.frozen(kw_only=True)
class Bounds:
    """The values that one sorted key may have; None: no such bound. ``swap``: the two come in either order."""

    low: TypedExpression | None = None
    high: TypedExpression | None = None
    include_low: bool = True
    include_high: bool = True
    swap: bool = False

    def __attrs_post_init__(self) -> None:
        check(self.low is not None or self.high is not None, "bounds without an end")
        check(not self.swap or (self.low is not None and self.high is not None), "bounds in either order without two ends")


@attrs.frozen(kw_only=True)
class LookupPlan:
    """How the rows of stream ``sought`` that satisfy all conditions are found, given an event of each stream that is known.

    ``index``: None reads all rows. ``keys``: for each hash key of the index the values it may have, one of an equality, several of an
    in-list; expressions over the known streams. ``null_safe``: for each hash key whether null finds null (``is``). ``bounds``: for each
    sorted key. ``conditions``: what is evaluated on each row that the index gives, over all streams. ``applied``: the conditions of the
    statement that this look-up takes care of, as they were written; a caller need not evaluate them again.
    """

    sought: int
    index: IndexPlan | None = None
    keys: tuple[tuple[TypedExpression, ...], ...] = ()
    null_safe: tuple[bool, ...] = ()
    bounds: tuple[Bounds, ...] = ()
    conditions: tuple[TypedExpression, ...] = ()
    applied: tuple[TypedExpression, ...] = ()

    def __attrs_post_init__(self) -> None:
        index = self.index
        count, ranges = (len(index.hash), len(index.ranges)) if index is not None else (0, 0)
        check(len(self.keys) == len(self.null_safe) == count, "a look-up with other keys than its index")
        check(len(self.bounds) == ranges, "a look-up with other bounds than its index")

    def text(self, streams: Sequence[PropertyText] = ()) -> str:
        """Return which index answers, and what is evaluated on each row that it gives."""
        return ", ".join(self._parts(streams))

    def _parts(self, streams: Sequence[PropertyText]) -> Iterator[str]:
        yield "all rows" if self.index is None else self.index.title
        looked_up = [c for c in self.applied if c not in self.conditions]
        for word, conditions in (("by", looked_up), ("where", self.conditions)):
            if conditions:
                yield f"{word} {' and '.join(expression_text(c, streams) for c in conditions)}"


__all__ = ["Bounds", "IndexPlan", "LookupPlan"]
