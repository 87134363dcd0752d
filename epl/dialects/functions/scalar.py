"""What a scalar function is: types of its arguments → type of its result, and what it computes."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from epl.dialects import types as k
from epl.dialects.errors import QueryFailed
from epl.dialects.types import SqlType

Kinds = Sequence[SqlType]
Rule = Callable[[Kinds], "SqlType | None"]


@attrs.frozen
class ScalarFunction:
    """``rule``: types of the arguments → type of the result, None where the function does not take them. ``takes_null``: it is called
    with nulls; else a null argument gives null."""

    rule: Rule
    compute: Callable[..., Any]
    takes_null: bool = False


def element(kind: SqlType) -> SqlType:
    """Return the type of an array's elements."""
    first = kind.arguments[0] if kind.arguments else k.ANY
    return first if isinstance(first, SqlType) else k.ANY


def is_kind(kind: SqlType, *tests: str) -> bool:
    """Return whether a type is one of those named: number, text, integer, moment, or a type's own name."""
    if kind.name in ("any", "unknown"):
        return True
    return any(
        (test == "number" and k.is_number(kind)) or (test == "text" and k.is_text(kind)) or (test == "integer" and kind.name in k.INTEGERS)
        or (test == "moment" and kind.name in ("date", "timestamp")) or (test == "span" and kind.name.startswith("interval"))
        or test == kind.name
        for test in tests
    )  # fmt: skip


def takes(result: SqlType | None, *tests: str, least: int | None = None) -> Rule:
    """Return a rule: arguments that pass the tests give ``result`` (None: the type of the first one). ``least``: so many need be there;
    ``…`` as the last test: the one before may repeat."""

    def rule(kinds: Kinds) -> SqlType | None:
        listed = list(tests)
        if listed and listed[-1] == "…":
            listed = [*listed[:-1], *([listed[-2]] * max(0, len(kinds) - len(listed) + 1))]
        if not (len(listed) if least is None else least) <= len(kinds) <= len(listed):
            return None
        for kind, test in zip(kinds, listed):
            if test != "*" and not is_kind(kind, *test.split("|")):
                return None
        return kinds[0] if result is None else result

    return rule


def same(kinds: Kinds) -> SqlType | None:
    """Return a rule: the common type of the arguments."""
    if not kinds:
        return None
    shared: SqlType | None = kinds[0]
    for kind in kinds[1:]:
        shared = None if shared is None else k.common(shared, kind)
    return shared


def first_of_one(rule: Rule) -> Rule:
    """Return the rule for one argument alone."""
    return lambda kinds: rule(kinds) if len(kinds) == 1 else None


def wrong_argument(message: str) -> QueryFailed:
    """Return the error of an argument that a function does not take."""
    return QueryFailed("INVALID_FUNCTION_ARGUMENT", message)


__all__ = ["Kinds", "Rule", "ScalarFunction", "element", "first_of_one", "is_kind", "same", "takes", "wrong_argument"]
