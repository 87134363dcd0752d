"""A statement's fingerprint: its text and the schemas of the types that it uses."""
from __future__ import annotations

import pytest

from runtime import Runtime

STATEMENT = "@name('s0') select a from T#length(3)"
SCHEMA = "create schema N(x int); create schema Base(b int); create schema T(a int, n N, ns N[]) inherits Base"


def of(schema: str, statement: str = STATEMENT) -> str:
    runtime = Runtime()
    runtime.deploy(schema)
    return runtime.deploy(statement)["s0"].plan.fingerprint


def test_the_same_texts_have_the_same() -> None:
    assert of(SCHEMA) == of(SCHEMA) == of(SCHEMA, STATEMENT.replace("select a from", "SELECT  a\nfrom"))


READS = "@name('s0') select a, b, n.x as x, ns from T#length(3)"


@pytest.mark.parametrize("old, new", [
    ("a int", "a long"), ("x int", "x string"), ("b int", "b long"), ("ns N[]", "ns N"), ("create schema T", "create objectarray schema T"),
])
def test_a_changed_property_that_is_read_changes_it(old: str, new: str) -> None:
    schema = SCHEMA.replace(old, new)
    if "objectarray" in new:
        schema = schema.replace("create schema N", "create objectarray schema N").replace("create schema B", "create objectarray schema B")
    assert of(schema, READS) != of(SCHEMA, READS)


@pytest.mark.parametrize("old, new", [("a int", "a int, c int"), ("a int", "c int, a int"), ("x int", "x string"), ("b int", "b long"),
                                      ("ns N[]", "ns N"), (", n N, ns N[]", "")])
def test_properties_that_are_not_read_do_not_count(old: str, new: str) -> None:
    assert of(SCHEMA.replace(old, new)) == of(SCHEMA)
    whole = STATEMENT.replace("select a", "select *")
    assert of(SCHEMA.replace(old, new), whole) != of(SCHEMA, whole)


def test_types_that_are_not_used_do_not_count() -> None:
    assert of(SCHEMA + "; create schema Other(z int)") == of(SCHEMA)


def test_it_stays_over_a_restart() -> None:
    runtime = Runtime()
    runtime.deploy(SCHEMA)
    runtime.deploy(STATEMENT)
    restored = Runtime.restore(runtime.snapshot())
    assert restored.statement("s0").plan.fingerprint == runtime.statement("s0").plan.fingerprint
