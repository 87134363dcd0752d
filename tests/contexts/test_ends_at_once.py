"""What is due at the time at which a context partition ends, within it."""

from __future__ import annotations

import pytest

from runtime import Runtime

MODULE = """create schema E(k string);
create context C
  context A start pattern [every timer:interval(1 sec)] end after 2 sec,
  context B initiated by {begins} terminated after 3 sec;
@name('s') context C select context.id as id, count(*) as c from E"""


@pytest.mark.parametrize("begins", ["@now and pattern [every timer:interval(2 sec)]", "pattern [every timer:interval(1 sec)]"])
@pytest.mark.parametrize("jump", [True, False])
def test_nothing_begins_in_a_partition_that_has_ended_at_the_same_time(begins: str, jump: bool) -> None:
    """Esper reports an exception ("no-entry-found for path") and begins none, either."""
    runtime = Runtime()
    runtime.deploy(MODULE.format(begins=begins))
    advance = runtime.advance_time if jump else runtime.advance_time_span
    advance(1000)
    if not jump:
        advance(2999)
    advance(3000)
    assert [row["id"] for row in runtime.statement("s")] == []
    restored = Runtime.restore(runtime.snapshot())
    for each in (runtime, restored):
        each.advance_time(4000)
        each.advance_time(5500)
    assert list(restored.statement("s")) == list(runtime.statement("s")) != []
