"""Row patterns: syntax → normalised pattern, and what the pattern says about its variables.

Rules learnt from Esper 9.0.0 (suite rowrecog, class RowRecogRepetition, and the manual's chapter Match Recognize).
"""
from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import attrs

from epl.errors import EplUnsupportedError, EplValidationError
from epl.plan.patterns.match_recognize import Alternation, Concatenation, Repetition, RowPattern, RowPatternVariable
from epl.syntax import (
    Binary,
    Call,
    Chain,
    Expression,
    Literal,
    RowAlternation,
    RowConcatenation,
    RowPermutation,
    RowRepetition,
    RowVariable,
    Subquery,
    Unary,
)
from epl.syntax import RowPattern as Written

LARGEST_REPETITION = 10_000
"""How many copies of an item a pattern may ask for: repetitions are written out, and each copy is a step of the program."""

LARGEST_PATTERN = 50_000
"""How many variables a pattern may have when all repetitions and permutations are written out."""

LARGEST_PERMUTATION = 7
"""How many items may be permuted: their orders are written out."""


def variable_names(written: Written) -> tuple[str, ...]:
    """Return the pattern's variables in order of first occurrence."""
    names: dict[str, None] = {}

    def visit(node: Written) -> None:
        if isinstance(node, RowVariable):
            names.setdefault(node.name)
        elif isinstance(node, RowRepetition):
            visit(node.item)
        elif isinstance(node, (RowConcatenation, RowAlternation, RowPermutation)):
            for item in node.items:
                visit(item)

    visit(written)
    return tuple(names)


def normalise(written: Written, numbers: Mapping[str, int]) -> RowPattern:
    """Write out repetitions in braces and permutations, in terms of ``? * +`` and alternation.

    ``A{2,3}`` is ``A A A?``, ``A{,2}`` ``A? A?``, ``A{2,}`` ``A A A*``; a quantifier before the braces stays with each copy (``A+?{2}``
    is ``A+? A+?``),
    optional copies of it may be empty. Copies join the
    concatenation they are in; a group of one item (``(A)*``) stays a group.
    """
    _check_size(written)
    return _normal(written, numbers)


def _check_size(written: Written) -> None:
    if _size(written) > LARGEST_PATTERN:
        raise EplUnsupportedError(
            f"a row pattern of more than {LARGEST_PATTERN} variables, repetitions and permutations written out, is not supported",
            span=written.span)


def _size(written: Written) -> int:
    """Return how many variables are left when repetitions and permutations are written out."""
    if isinstance(written, RowRepetition):
        low = 0 if written.low is None else _repetition_count(written.low)
        copies = low if written.exact else low + 1 if written.high is None else _repetition_count(written.high)
        return _size(written.item) * max(copies, 1)
    if isinstance(written, (RowConcatenation, RowAlternation)):
        return sum(map(_size, written.items))
    if isinstance(written, RowPermutation):
        orders = math.factorial(len(written.items)) if len(written.items) <= LARGEST_PERMUTATION else 1  # more are refused by themselves
        return sum(map(_size, written.items)) * orders
    return 1


def _normal(written: Written, numbers: Mapping[str, int]) -> RowPattern:
    items = _items(written, numbers)
    return items[0] if len(items) == 1 and not isinstance(written, RowConcatenation) else Concatenation(items)


def _items(written: Written, numbers: Mapping[str, int]) -> tuple[RowPattern, ...]:
    """Return what a node adds to the concatenation that it is in."""
    if isinstance(written, RowVariable):
        return (RowPatternVariable(numbers[written.name], written.name),)
    if isinstance(written, RowRepetition):
        return _repetition(written, numbers)
    if isinstance(written, RowConcatenation):
        return tuple(item for node in written.items for item in _spread(node, numbers))
    if isinstance(written, RowAlternation):
        return (Alternation(tuple(_normal(item, numbers) for item in written.items)),)
    if isinstance(written, RowPermutation):
        return (_permutation(written, numbers),)
    raise EplUnsupportedError(f"a row pattern of kind {type(written).__name__} is not supported", span=written.span)


def _spread(node: Written, numbers: Mapping[str, int]) -> tuple[RowPattern, ...]:
    """Return a node inside a concatenation: a group stays together, anything else is laid out."""
    return (_normal(node, numbers),) if isinstance(node, RowConcatenation) else _items(node, numbers)



def _permutation(written: RowPermutation, numbers: Mapping[str, int]) -> RowPattern:
    if len(written.items) > LARGEST_PERMUTATION:
        raise EplUnsupportedError(f"match_recognize_permute of more than {LARGEST_PERMUTATION} items is not supported", span=written.span)
    items = [_normal(item, numbers) for item in written.items]
    if len(items) == 1:
        return items[0]
    return Alternation(tuple(Concatenation(order) for order in itertools.permutations(items)))


# ------------------------------------------------------------------ repetition


def _repetition(written: RowRepetition, numbers: Mapping[str, int]) -> tuple[RowPattern, ...]:
    item = _normal(written.item, numbers)
    once = _quantify(item, written.quantifier)
    if written.low is None and written.high is None:
        if written.exact:
            raise EplValidationError("Invalid match-recognize quantifier '{}', expecting an expression", span=written.span)
        return (once,)
    low = 0 if written.low is None else _repetition_count(written.low)
    high = None if written.high is None else _repetition_count(written.high)
    if written.exact:
        return (once,) * low
    if high is None:
        return (*(once,) * low, _optional(item, written.quantifier, unbounded=True))
    if high < low:
        raise EplValidationError(
            f"Invalid pattern quantifier value {low}, expecting a minimum of 1 and maximum of {high}", span=written.span,
        )
    return (*(once,) * low, *(_optional(item, written.quantifier),) * (high - low))


def _quantify(item: RowPattern, quantifier: str) -> RowPattern:
    if not quantifier:
        return item
    return Repetition(item, required=quantifier[0] == "+", unbounded=quantifier[0] != "?", greedy=len(quantifier) == 1)


def _optional(item: RowPattern, quantifier: str, *, unbounded: bool = False) -> RowPattern:
    """Return a copy that may be missing: ``A`` → ``A?``, ``A+`` → ``A*``; with ``unbounded`` any number of them."""
    greedy = len(quantifier) < 2
    return Repetition(item, required=False, unbounded=unbounded or quantifier[:1] in ("*", "+"), greedy=greedy)


def _repetition_count(written: Expression) -> int:
    """Return a number of repetitions: an int constant from 1 on."""
    text = _text(written)
    if _is_history_call(written) or isinstance(written, Subquery):
        raise EplValidationError(
            f"Invalid match-recognize pattern expression '{text}': Aggregation, sub-select, previous or prior functions "
            "are not supported in this context",
            span=written.span,
        )
    value = _constant(written)
    if value is None:
        raise EplValidationError(f"Pattern quantifier '{text}' must return a constant value", span=written.span)
    if value.kind != "int" or not isinstance(value.value, int):
        raise EplValidationError(f"Pattern quantifier '{text}' must return an integer-type value", span=written.span)
    if value.value < 1:
        raise EplValidationError(f"Invalid pattern quantifier value {value.value}, expecting a minimum of 1", span=written.span)
    if value.value > LARGEST_REPETITION:
        raise EplUnsupportedError(f"more than {LARGEST_REPETITION} repetitions in a row pattern are not supported", span=written.span)
    return value.value


def _constant(written: Expression) -> Literal | None:
    if isinstance(written, Literal):
        return written
    if isinstance(written, Unary) and written.operator == "-" and isinstance(written.operand, Literal):
        value = written.operand.value
        return attrs.evolve(written.operand, value=-value) if isinstance(value, (int, float)) else None
    return None


def _is_history_call(written: Expression) -> bool:
    return isinstance(written, Chain) and isinstance(written.links[0], Call) and written.links[0].name.lower().startswith(("prev", "prior"))


def _text(written: Expression) -> str:
    """Return the expression as Esper's messages print it, for the few kinds that may be a bound."""
    constant = _constant(written)
    if constant is not None:
        return "null" if constant.value is None else str(constant.value)
    if isinstance(written, Chain):
        return ".".join(_link_text(link) for link in written.links)
    if isinstance(written, Binary):
        return f"{_text(written.left)}{written.operator}{_text(written.right)}"
    return type(written).__name__.lower()


def _link_text(link: object) -> str:
    name: str = getattr(link, "name", "")
    return f"{name}({','.join(_text(a) for a in link.arguments)})" if isinstance(link, Call) else name


# ------------------------------------------------------------------ what the pattern says about its variables


def group_variables(pattern: RowPattern) -> frozenset[int]:
    """Return variables that may take several rows: those below ``*`` or ``+``, and those that follow an earlier occurrence of themselves.

    An occurrence inside an alternation does not count as following one outside of it (``A (A | B)``: one row, the last).
    """
    numbers: set[int] = set()
    _collect_groups(pattern, set(), numbers, below_loop=False)
    return frozenset(numbers)


def _collect_groups(node: RowPattern, seen: set[int], numbers: set[int], *, below_loop: bool) -> None:
    """``seen``: variables before the node, to which its own are added."""
    if isinstance(node, RowPatternVariable):
        if below_loop or node.number in seen:
            numbers.add(node.number)
        seen.add(node.number)
    elif isinstance(node, Repetition):
        _collect_groups(node.item, seen, numbers, below_loop=below_loop or node.unbounded)
    elif isinstance(node, Concatenation):
        for item in node.items:
            _collect_groups(item, seen, numbers, below_loop=below_loop)
    elif isinstance(node, Alternation):
        for item in node.items:
            _collect_groups(item, set(), numbers, below_loop=below_loop)
        seen.update(node.variables())


def visible_variables(pattern: RowPattern, count: int) -> tuple[tuple[int, ...], ...]:
    """Return for each variable those that its define may name: itself and those that are before one of its occurrences on the way to it.

    Loops do not count as a way (in ``(A B)*`` the A does not see the B before it), and the branches of an alternation do not see one
    another.
    """
    visible: list[set[int]] = [{n} for n in range(count)]
    _collect_visible(pattern, set(), visible)
    return tuple(tuple(sorted(names)) for names in visible)


def _collect_visible(node: RowPattern, seen: set[int], visible: Sequence[set[int]]) -> None:
    if isinstance(node, RowPatternVariable):
        visible[node.number] |= seen
        seen.add(node.number)
    elif isinstance(node, Repetition):
        _collect_visible(node.item, seen, visible)
    elif isinstance(node, Concatenation):
        for item in node.items:
            _collect_visible(item, seen, visible)
    elif isinstance(node, Alternation):
        for item in node.items:
            _collect_visible(item, set(seen), visible)
        seen.update(node.variables())
