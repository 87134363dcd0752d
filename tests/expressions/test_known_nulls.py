"""Tests for null of values that are known at deploy: printed so that Python has nothing to warn of, with the value that they have."""
from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from runtime import Runtime

VALUES: dict[str, Any] = {"x": 3, "s": "a", "b": True, "d": 1.5, "n": None}
TRUE = [
    "?:x:int is not null", "not (?:x:int is null)", "?:d:double is not null", "?:n:int is null", "1 is not null", "'a' is not null",
    "null is null", "coalesce(?:x:int, 2) is not null", "(case when 1 = 1 then 2 end) is not null", "cast(?:x:int, long) is not null",
    "?:x:int is 3", "3 is ?:x:int", "?:x:int is not ?:n:int", "?:n:int is null and ?:s:string is not null", "?:b:boolean is true",
    "instanceof(?:x:int, int)", "instanceof(1, int)", "not instanceof(?:n:int, int)", "?:s:string || 'b' is not null",
    "(1 + 2) is not null", "Math.abs(?:x:int) is not null", "typeof(?:x:int) is not null", "?:x:int in (1, 3)", "{1, 2} is not null",
    "max(?:x:int, 2) is not null", "?:x:int between 1 and 3", "?:s:string like 'a%'", "a is not ?:x:int", "current_timestamp() is not null",
]


@pytest.mark.parametrize("form", ["select a from T where {}", "select a from T({})", "select a from T group by a having {}"])
@pytest.mark.parametrize("condition", TRUE)
def test_python_has_nothing_to_warn_of(condition: str, form: str) -> None:
    names = set(re.findall(r"\?:(\w+)", condition))
    rows: list[Any] = []
    runtime = Runtime()
    with warnings.catch_warnings():
        warnings.simplefilter("error", SyntaxWarning)
        runtime.deploy(
            "create schema T(a int); @name('s') " + form.format(condition), parameters={"s": {name: VALUES[name] for name in names}},
            listeners={"s": lambda new, old, statement, runtime: rows.extend(new)},
        )
        runtime.send("T", {"a": 1})
    assert rows == [{"a": 1}]
