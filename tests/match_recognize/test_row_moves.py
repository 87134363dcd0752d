"""Steps written out over partial matches do what the machine does: the same rows at the same time, the same states, the same snapshots."""
from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runtime.match_recognize as rooms
from runtime import Runtime
from runtime.api.runtime import internal_engine

SCHEMA = "@public @buseventtype create schema T(k int, v int, n int);\n"
PATTERNS = {
    "A B C": "B as B.v > A.v, C as C.v > B.v",
    "A B+ C": "A as A.v < 3, B as B.v > A.v, C as C.v < A.v",
    "A (B | C)? D": "B as B.v > A.v, C as C.v = A.v, D as D.v >= A.v and D.n is not null",
    "A B* C D": "B as B.v < 3, C as C.v > A.v, D as D.v < C.v",
    "A (B C | C B) D": "B as B.n > 0, C as C.v > 1, D as D.v > A.v",
    "A (B C?)+ D": "B as B.v > A.v, C as C.v >= A.v, D as D.v = A.v or D.v = 0",
    "A B C*": "A as A.v > 0, B as 10 / B.n > A.v, C as C.v = B.v",
}
CLAUSES = ["", "after match skip to next row", "after match skip to current row"]


def statement(pattern: str, window: str, choice: str, skip: str) -> str:
    names = sorted(set(pattern) & set("ABCD"))
    measures = ", ".join(f"{name} as {name.lower()}" for name in names)
    body = f"partition by k measures {measures} {choice} {skip} pattern ({pattern}) define {PATTERNS[pattern]}"
    return f"@name('s0') select * from T{window} match_recognize ({body})"


def outcome(epl: str, rows: list[tuple[int, int, int | None, int]], stop: int) -> list[Any]:
    """What is emitted after each row, with the count of states; after ``stop`` rows the runtime goes on from its snapshot."""
    outcomes: list[Any] = []
    runtime = Runtime()
    errors: list[str] = []

    def start(into: Runtime) -> None:
        internal_engine(into).core.on_error = lambda error, name, event: errors.append(f"{type(error).__name__}: {error}")
        into.statement("s0").add_listener(lambda new, old, *_: outcomes.append([row.to_dict() for row in new]))

    runtime.deploy(SCHEMA + epl)
    start(runtime)
    time = 0
    for number, (k, v, n, wait) in enumerate(rows):
        if number == stop:
            runtime = Runtime.restore(runtime.snapshot())
            start(runtime)
        time += wait
        runtime.advance_time(time)
        runtime.send("T", {"k": k, "v": v, "n": n})
        outcomes.append((internal_engine(runtime).core.match_states.count, len(errors), [row.to_dict() for row in runtime.statement("s0")]))
    return [*outcomes, *errors]


rows_sent = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 4), st.one_of(st.none(), st.integers(0, 3)), st.integers(0, 900)), max_size=14
)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(PATTERNS)), st.sampled_from(["", "#time(2 sec)", "#length(5)", "#keepall"]),
    st.sampled_from(["", "all matches"]), st.sampled_from(CLAUSES), rows_sent, st.integers(0, 14),
)
def test_written_steps_are_the_machine(pattern: str, window: str, choice: str, skip: str, rows: list[Any], stop: int) -> None:
    epl = statement(pattern, window, choice, skip)
    written = outcome(epl, rows, stop)
    with patch.object(rooms, "write_move", lambda *_: None):
        assert outcome(epl, rows, stop) == written


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
def test_steps_are_written(pattern: str) -> None:
    made = []
    kept = rooms.write_move
    with patch.object(rooms, "write_move", lambda *arguments: made.append(kept(*arguments)) or made[-1]):
        Runtime().deploy(SCHEMA + statement(pattern, "", "", ""))
    assert made and made[0] is not None
