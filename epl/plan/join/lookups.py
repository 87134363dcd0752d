"""Look-ups: which rows of a window satisfy conditions with events of other streams, and the index that answers."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Literal as Choice

import attrs

from epl.plan.checks import check
from epl.plan.expression_text import PropertyText, expression_text
from epl.plan.expressions import TypedExpression
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow


@attrs.frozen(kw_only=True)
class Region:
    """Where a spatial index has its rows: ``pointregionquadtree`` has points, ``mxcifquadtree`` rectangles. ``parameters``: x, y, width,
    height and, where they are given, the number of rows at which a quadrant is divided and how often it may be; they read nothing.
    """

    kind: Choice["pointregionquadtree", "mxcifquadtree"]
    parameters: tuple[TypedExpression, ...]

    def __attrs_post_init__(self) -> None:
        check(4 <= len(self.parameters) <= 6, "a region with other parameters")


@attrs.frozen(kw_only=True)
class IndexPlan:
    """An index over the rows of a window. Streams and statements that need equal indexes of the same rows share one.

    ``hash``: rows are found by equal values of these expressions; ``ranges``: and then sorted by this one, if any. They read
    the row alone, which is stream 0. ``unique``: at most one row has a key. ``space``: rows are found by where these expressions place
    them in a region.
    """

    hash: tuple[TypedExpression, ...] = ()
    ranges: tuple[TypedExpression, ...] = ()
    space: tuple[TypedExpression, ...] = ()
    region: Region | None = None
    unique: bool = False

    def __attrs_post_init__(self) -> None:
        check(bool(self.hash or self.ranges or self.space), "an index without a key")
        check(all(key.streams == {0} for key in (*self.hash, *self.ranges)), "an index key that does not read the row alone")
        check(all(key.streams <= {0} for key in self.space), "a spatial index that does not read the row alone")
        check(len(self.ranges) < 2, "an index sorted by several keys")
        check(not (self.unique and self.ranges), "a unique index over a range")
        check(bool(self.space) is (self.region is not None), "a spatial index without a region")
        check(not (self.space and (self.hash or self.ranges)), "a spatial index with other keys")

    @property
    def title(self) -> str:
        """
        >>> from epl.plan.expressions import StreamProperty; from epl.value_types import INT
        >>> a, b = (StreamProperty(type=INT, stream=0, name=name) for name in "ab")
        >>> IndexPlan(hash=(a,)).title, IndexPlan(ranges=(b,)).title, IndexPlan(hash=(a,), ranges=(b,)).title
        ('hash (a)', 'sorted (b)', 'hash (a) sorted (b)')
        """
        parts = [("unique" if self.unique else "hash", self.hash), ("sorted", self.ranges)]
        if self.region is not None:
            parts = [(f"unique {self.region.kind}" if self.unique else self.region.kind, self.space)]
        return " ".join(f"{word} ({', '.join(map(expression_text, keys))})" for word, keys in parts if keys)


@attrs.frozen(kw_only=True, eq=False)
class NamedIndex:
    """An index that ``create index`` declares, equal only to itself. ``columns``: the keys and their kinds as Esper compares them with
    those of other indexes of the window or table; ``ranges``: all its sorted keys, of which ``plan`` sorts by the first.
    """

    name: str
    store: NamedWindow | Table
    plan: IndexPlan
    columns: tuple[str, ...]
    ranges: tuple[TypedExpression, ...] = ()

    @property
    def key(self) -> tuple[object, str]:
        """What names it: windows and tables may have indexes of equal names."""
        return self.store, self.name


@attrs.frozen(kw_only=True)
class Bounds:
    """The values that one sorted key may have; None: no such bound. ``swap``: the two come in either order. ``outside``: the values that
    are not within the bounds.
    """

    low: TypedExpression | None = None
    high: TypedExpression | None = None
    include_low: bool = True
    include_high: bool = True
    swap: bool = False
    outside: bool = False

    def __attrs_post_init__(self) -> None:
        ends = (self.low is not None) + (self.high is not None)
        check(ends > 0, "bounds without an end")
        check(ends == 2 or not (self.swap or self.outside), "bounds in either order, or values outside of them, without two ends")


@attrs.frozen(kw_only=True)
class LookupPlan:
    """How the rows of stream ``sought`` that satisfy all conditions are found, given an event of each stream that is known.

    ``index``: None reads all rows. ``keys``: the value of each hash key of the index, over the known streams; ``null_safe``: for each
    whether null finds null (``is``). ``listed``: the index has one key and ``keys`` are the values that it may have (``in``), looked up
    one after the other. ``others``: more hash indexes of one key, asked for the same value. ``bounds``: for each sorted key.
    ``in_order``: rows are wanted in the order in which all rows are read, not in that of the index. A spatial index has the coordinates
    of the rectangle as ``keys``. ``named``: the index is one that ``create index`` has declared.

    ``conditions``: what is evaluated on each row that an index gives, over all streams. ``applied``: the conditions of the statement that
    this look-up takes care of, as they were written; a caller need not evaluate them again.
    """

    sought: int
    index: IndexPlan | None = None
    others: tuple[IndexPlan, ...] = ()
    keys: tuple[TypedExpression, ...] = ()
    null_safe: tuple[bool, ...] = ()
    listed: bool = False
    bounds: tuple[Bounds, ...] = ()
    in_order: bool = False
    named: NamedIndex | None = None
    conditions: tuple[TypedExpression, ...] = ()
    applied: tuple[TypedExpression, ...] = ()

    def __attrs_post_init__(self) -> None:
        hashed, ranges = (self.index.hash, self.index.ranges) if self.index is not None else ((), ())
        if self.index is not None and self.index.space:
            check(len(self.keys) == 4 and not self.others, "a spatial look-up without a rectangle")
        elif self.listed:
            check(len(hashed) == 1 and bool(self.keys) and not self.others, "an in-list without one key")
            check(len(self.keys) == len(self.null_safe), "an in-list that does not tell which of its values find null")
        else:
            check(len(self.keys) == len(self.null_safe) == len(hashed), "a look-up with other keys than its index")
        check(len(self.bounds) == len(ranges), "a look-up with other bounds than its index")
        check(all(len(other.hash) == len(hashed) == 1 for other in self.others), "one value for several keys")

    @property
    def of_one_key(self) -> bool:
        """Whether all rows that the index gives have one key, and are in the order in which they have arrived."""
        return self.index is not None and bool(self.index.hash) and not (self.index.ranges or self.listed or self.others)

    @property
    def indexes(self) -> tuple[IndexPlan, ...]:
        """The indexes that are asked, in order."""
        return () if self.index is None else (self.index, *self.others)

    def text(self, streams: Sequence[PropertyText] = ()) -> str:
        """Return which index answers, and what is evaluated on each row that it gives."""
        answer = " and ".join(index.title for index in self.indexes) or "all rows"
        if self.named is not None:
            answer = f"{self.named.name}: {answer}"
        looked_up = [condition for condition in self.applied if condition not in self.conditions]
        by = f" by {_conjunction_text(looked_up, streams)}" if looked_up else ""
        return answer + by + (f", where {_conjunction_text(self.conditions, streams)}" if self.conditions else "")


def _conjunction_text(conditions: Sequence[TypedExpression], streams: Sequence[PropertyText]) -> str:
    return " and ".join(expression_text(condition, streams) for condition in conditions)


__all__ = ["Bounds", "IndexPlan", "LookupPlan", "NamedIndex", "Region"]
