"""The words of EPL for syntax colouring and completion, from the grammar and the registries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import attrs

from epl.aggregations.functions import AGGREGATIONS
from epl.analysis.statements.annotations import ATTRIBUTES
from epl.parse import keywords
from epl.value_types import NAMED
from runtime.tools.reference import entries
from windows.registry import WINDOWS

READ_BY_GRAMMAR = frozenset(
    ["cast", "coalesce", "current_timestamp", "exists", "grouping", "grouping_id", "instanceof", "istream", "prev", "prevcount", "prevtail",
     "prevwindow", "prior", "typeof"]
)  # fmt: skip
"""Functions that no registry holds."""
CONSTANTS = frozenset({"true", "false", "null"})
OPERATORS = frozenset({"and", "or", "not", "in", "like", "regexp", "between", "is", "every", "every-distinct", "until"})


@attrs.frozen
class Vocabulary:
    """Names by what they are. Keywords, operators and constants are in lower case."""

    keywords: tuple[str, ...]
    operators: tuple[str, ...]
    constants: tuple[str, ...]
    windows: tuple[str, ...]
    namespaces: tuple[str, ...]
    """Before the colon of old-style views and of observers and guards."""
    functions: tuple[str, ...]
    types: tuple[str, ...]
    annotations: tuple[str, ...]
    classes: tuple[str, ...]
    """Java classes whose static methods can be called."""
    methods: tuple[str, ...]
    """Of values, dates and collections, and static ones."""


@cache
def vocabulary() -> Vocabulary:
    """Return the words of the language as it is, without what applications register."""
    reference = entries()
    called = {*AGGREGATIONS, *(key for key in reference["functions"] if not re.search(r"[.:]", key))} | READ_BY_GRAMMAR
    methods = {*reference["enumeration"], *reference["date_time"]}
    methods |= {re.split(r"[#.]", key)[1] for page in ("methods", "functions") for key in reference[page] if re.search(r"[#.]", key)}
    return Vocabulary(
        keywords=_order_words(keywords() - CONSTANTS - OPERATORS),
        operators=_order_words(OPERATORS),
        constants=_order_words(CONSTANTS),
        windows=_order_words(name for name in WINDOWS if ":" not in name),
        namespaces=_order_words({name.split(":")[0] for name in WINDOWS if ":" in name} | {"timer", "method", "sql"}),
        functions=_order_words(called),
        types=_order_words(name for name in NAMED if "." not in name),
        annotations=_order_words(ATTRIBUTES),
        classes=_order_words({key.split(".")[0] for key in reference["functions"] if "." in key}),
        methods=_order_words(methods),
    )


def _order_words(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=str.lower))


__all__ = ["CONSTANTS", "OPERATORS", "Vocabulary", "vocabulary"]
