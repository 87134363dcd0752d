"""match_recognize as data: the normalised pattern, the program it compiles to, conditions and measures.

The pattern goes through three stages, each readable by itself: syntax → ``RowPattern`` (repetitions and permutations written out) →
``Program`` (one step a variable occurrence, ``dump`` prints it) → the machine that runs it (runtime.match_recognize).

What a dialect may add later has its place here: an order other than arrival, other ``skip`` targets and rows per match are fields beside
``skip``;
the machine reads rows in the order in which it is given them and asks ``skip`` only when it ranks matches.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Literal as Choice

import attrs

from epl.event_types import EventType
from epl.plan.aggregations import AggregationPlan
from epl.plan.checks import check
from epl.plan.expressions import TypedExpression

# ------------------------------------------------------------------ the pattern, normalised


@attrs.frozen
class RowPattern:
    """``str()`` writes a pattern as one would in EPL."""

    def variables(self) -> Iterator[int]:
        """Return the variables in order of occurrence, repeated as they occur."""
        raise NotImplementedError


@attrs.frozen
class RowPatternVariable(RowPattern):
    """One occurrence of a variable: its number and name."""

    number: int
    name: str

    def variables(self) -> Iterator[int]:
        yield self.number

    def __str__(self) -> str:
        return self.name


@attrs.frozen
class Concatenation(RowPattern):
    items: tuple[RowPattern, ...]

    def variables(self) -> Iterator[int]:
        for item in self.items:
            yield from item.variables()

    def __str__(self) -> str:
        return " ".join(f"({i})" if isinstance(i, (Concatenation, Alternation)) else str(i) for i in self.items)


@attrs.frozen
class Alternation(RowPattern):
    items: tuple[RowPattern, ...]

    def variables(self) -> Iterator[int]:
        for item in self.items:
            yield from item.variables()

    def __str__(self) -> str:
        return " | ".join(f"({i})" if isinstance(i, Alternation) else str(i) for i in self.items)


@attrs.frozen
class Repetition(RowPattern):
    """``? * +`` and, where ``greedy`` is false, ``?? *? +?``."""

    item: RowPattern
    required: bool
    unbounded: bool
    greedy: bool = True

    @property
    def mark(self) -> str:
        sign = ("+" if self.required else "*") if self.unbounded else "?"
        return sign if self.greedy else f"{sign}?"

    def variables(self) -> Iterator[int]:
        return self.item.variables()

    def __str__(self) -> str:
        return f"{self.item}{self.mark}" if isinstance(self.item, RowPatternVariable) else f"({self.item}){self.mark}"


# ------------------------------------------------------------------ the program


@attrs.frozen
class Step:
    """Take a row for a variable, then wait for one of ``then``; ``accepts``: a match may end here.

    ``counted``: each row taken here speaks for a match in the ranking of matches (greedy ``*`` and ``?`` of a single variable, and ``+``
    where its
    condition reads group variables).
    """

    variable: int
    label: str
    then: tuple[int, ...] = ()
    accepts: bool = False
    counted: bool = False

    def __str__(self) -> str:
        targets = [str(n) for n in self.then] + (["match"] if self.accepts else [])
        return f"{self.label} -> {' '.join(targets) or 'nothing'}{' counted' if self.counted else ''}"


@attrs.frozen
class Program:
    """A pattern's steps by number; a match begins at one of ``start``. The order of ``start`` and ``then`` is the order in which matches
    are found.
    """

    steps: tuple[Step, ...]
    start: tuple[int, ...]

    def dump(self) -> str:
        """Return one line a step.

        >>> print(Program((Step(0, "A", (1,)), Step(1, "B+", (1,), accepts=True)), (0,)).dump())
        start -> 0
        0: A -> 1
        1: B+ -> 1 match
        """
        return "\n".join([f"start -> {' '.join(map(str, self.start))}", *(f"{n}: {step}" for n, step in enumerate(self.steps))])


# ------------------------------------------------------------------ conditions, measures


@attrs.frozen
class Operand:
    """What an expression's stream number n is given: ``current`` the row being tested, ``variable`` the last row of variable ``number``,
    ``groups`` an event of ``event_type`` whose properties are all rows of each group variable, ``previous`` the row ``number`` before the
    current one
    in the partition."""

    kind: Choice["current", "variable", "groups", "previous"]
    number: int = 0
    event_type: EventType | None = None


@attrs.frozen
class Condition:
    """A define: a row is taken for the variable when ``expression`` over ``operands`` is true."""

    expression: TypedExpression
    operands: tuple[Operand, ...]

    @property
    def reads_row_only(self) -> bool:
        """Whether the condition is the same for all partial matches."""
        return all(o.kind in ("current", "previous") for o in self.operands)


@attrs.frozen
class GroupAggregation:
    """An aggregation of a measure over the rows of one group variable; its arguments see every variable as a stream, ``variable`` as the
    row.
    """

    plan: AggregationPlan
    variable: int


@attrs.frozen(kw_only=True)
class RowRecognitionPlan:
    """A match_recognize clause.

    ``variables``: their names; ``groups``: which of them hold several rows. ``conditions``: by variable, None where any row will do.
    ``match_type``: a match as an event with a property a variable, which ``measures`` read (stream 0); ``Aggregated(slot)`` in them is
    ``aggregations[slot]``. ``output_type`` has a property a measure. ``lookback``: the largest offset of prev.
    """

    event_type: EventType
    match_type: EventType
    output_type: EventType
    variables: tuple[str, ...]
    groups: tuple[bool, ...]
    pattern: RowPattern
    program: Program
    conditions: tuple[Condition | None, ...]
    measures: tuple[TypedExpression, ...]
    partition_by: tuple[TypedExpression, ...] = ()
    aggregations: tuple[GroupAggregation, ...] = ()
    all_matches: bool = False
    skip: Choice["past last row", "to next row", "to current row"] = "past last row"
    interval: TypedExpression | None = None
    or_terminated: bool = False
    has_window: bool = False
    iterate_only: bool = False
    lookback: int = 0

    def __attrs_post_init__(self) -> None:
        names = len(self.variables)
        check(len(self.groups) == names, f"{len(self.groups)} kinds for {names} variables")
        check(len(self.conditions) == names, f"{len(self.conditions)} conditions for {names} variables")
        columns = len(self.output_type.properties)
        check(len(self.measures) == columns, f"{len(self.measures)} measures for {columns} columns")
