"""Which matches there are, over bytes that say which rows satisfy which variable: ways are tried depth first, as in
``runtime.dialects.matcher``, by one loop that is compiled where numba is there.

``stamps`` has, for each instruction and row of a partition, the attempt that was there last: a way that arrives where another one of the
same attempt was is given up; so is one that arrives where an attempt failed, unless what a row may do depends on the first row.
"""
from __future__ import annotations

from functools import lru_cache
from types import FunctionType
from typing import Any

import attrs
import numpy as np

from epl.dialects.plans import SkipTo
from runtime.batch.dialects.vectors import Array, NotColumnar
from runtime.dialects.limits import UNLIMITED, QueryLimits
from runtime.dialects.program import PatternProgram
from runtime.dialects.step_limit import STEPS_EACH, STEPS_OF_A_STATE, too_many_steps

MOST_STAMPS = 1 << 28
MOST_LABELS = 1 << 28
"""Rows of matches, a row counted once for each match that it is in."""
DONE_ALL, MORE_ROOM, DEEPER, SKIP_ABSENT, SKIP_FIRST, TOO_MANY = range(6)
SKIPS = {"past last": 0, "next": 1, "first": 2, "last": 3}
NO_LIMIT = np.iinfo(np.int64).max
STATES_A_TURN = 20_000_000
"""States that the compiled loop visits before Python looks at signals; a search that needs more begins again, with twice as many."""
COMPILED_STATES, COMPILED_STATES_EACH = 50, 1_000
"""States that the searches of all matches may visit for each step that the query may need, and how many each row adds, where the loop is
compiled."""


@attrs.frozen(eq=False)
class TableMatches:
    """``starts``: first rows; ``offsets``: where each match's rows begin in ``steps`` (one more than matches), which are the instructions
    that took them; ``partitions``; ``numbers``: of the match in its partition."""

    starts: Array
    offsets: Array
    steps: Array
    partitions: Array
    numbers: Array


def fits(place: int, row: int, start: int, count: int, tests: Any, of_row: Any, of_start: Any) -> bool:
    """Return whether a row fits the first row of the match: by the tests of its variable, which are (variable, comparison) each. A null is
    NaN, of which no comparison holds."""
    for test in range(len(tests) // 2):
        if tests[2 * test] != place:
            continue
        a, b = of_row[test * count + row], of_start[test * count + start]
        sign = tests[2 * test + 1]
        if sign == 0:
            held = a == b
        elif sign == 1:
            held = a < b or a > b
        elif sign == 2:
            held = a < b
        elif sign == 3:
            held = a <= b
        elif sign == 4:
            held = a > b
        else:
            held = a >= b
        if not held:
            return False
    return True


def try_from(
    start: int, begin: int, end: int, count: int, operations: Any, first: Any, second: Any, holds: Any, tests: Any, of_row: Any,
    of_start: Any, times: Any, within: int, attempt: int, oldest: int, stamps: Any, failed: Any, stack_pc: Any, stack_row: Any,
    steps: Any, filled: int, state: Any,
) -> int:  # fmt: skip
    """Return the row behind the match that begins at a row; -1 where there is none, -2 where the stack is too small. ``state[7]`` is less
    by the number of states that were visited."""
    size = len(operations)
    depth = 1
    stack_pc[0], stack_row[0] = 0, start
    while depth > 0:
        depth -= 1
        pc, row = stack_pc[depth], stack_row[depth]
        while True:
            operation = operations[pc]
            if operation == 2:  # jump
                pc = first[pc]
                continue
            if operation == 5:  # done
                return int(row)
            place = (row - begin) * size + pc
            seen = stamps[place]
            if seen == attempt or (seen > oldest and failed[seen] == 1):
                break
            stamps[place] = attempt
            state[7] -= 1
            if operation == 1:  # split
                if depth >= len(stack_pc):
                    return -2
                stack_pc[depth], stack_row[depth] = second[pc], row
                depth += 1
                pc = first[pc]
                continue
            if operation == 0:  # match
                if row >= end or holds[first[pc] * count + row] == 0 or times[row] - times[start] >= within:
                    break
                if len(tests) > 0 and not fits(first[pc], row, start, count, tests, of_row, of_start):
                    break
                steps[filled + row - start] = pc
                row += 1
            elif row != (begin if operation == 3 else end):  # the start or the end of the partition
                break
            pc += 1
    return -1


def next_start(start: int, behind: int, skip: int, targets: Any, first: Any, steps: Any, filled: int) -> int:
    """Return the row at which the next attempt begins; -1 where what is skipped to is not there, -2 where it is the first row."""
    if behind == start or skip == 1:
        return start + 1
    if skip == 0:
        return behind
    step = -1
    for each in range(behind - start):
        if targets[first[steps[filled + each]]] == 1:
            step = each
            if skip == 2:
                break
    if step <= 0:
        return -1 if step < 0 else -2
    return start + step


def find(
    operations: Any, first: Any, second: Any, holds: Any, tests: Any, of_row: Any, of_start: Any, count: int, bounds: Any, times: Any,
    within: int, skip: int, targets: Any, stamps: Any, failed: Any, stack_pc: Any, stack_row: Any, state: Any, starts: Any, offsets: Any,
    steps: Any, partitions: Any, numbers: Any,
) -> int:  # fmt: skip
    """Go on from ``state`` (partition, row, matches, rows of matches, attempt, number, the attempt before the partition, how many
    states may be visited still); return why it ended."""
    partition, start, matches, filled, attempt, number = state[0], state[1], state[2], state[3], state[4], state[5]
    oldest = state[6]
    while partition < len(bounds) - 1:
        begin, end = bounds[partition], bounds[partition + 1]
        if start < begin:
            start = begin
            number = 0
            oldest = attempt
        while start < end:
            state[0], state[1], state[2], state[3] = partition, start, matches, filled
            state[4], state[5], state[6] = attempt, number, oldest
            if filled + (end - start) > len(steps):
                return 1
            attempt += 1
            behind = try_from(
                start, begin, end, count, operations, first, second, holds, tests, of_row, of_start, times, within, attempt, oldest, stamps,
                failed, stack_pc, stack_row, steps, filled, state,
            )  # fmt: skip
            if behind == -2:
                return 2
            if state[7] < 0:
                return 5
            if behind == -1:
                if within == 9223372036854775807 and len(tests) == 0:
                    failed[attempt] = 1
                start += 1
                continue
            following = next_start(start, behind, skip, targets, first, steps, filled)
            if following < 0:
                return 3 if following == -1 else 4
            number += 1
            starts[matches], partitions[matches], numbers[matches] = start, partition, number
            filled += behind - start
            matches += 1
            offsets[matches] = filled
            start = following
        partition += 1
        start = -1
    state[2], state[3] = matches, filled
    return 0


def loop_compiler() -> Any:
    """Return what compiles a loop; None where numba is not there."""
    try:
        from runtime.batch.compiler.numba_cache import cache_kernel
    except ImportError:
        return None
    return cache_kernel(nogil=True)


@lru_cache(maxsize=1)
def _loop() -> Any:
    """Return the loop, compiled if numba is there."""
    compiled = loop_compiler()
    if compiled is None:
        return None
    functions: dict[str, Any] = {each.__name__: compiled(each) for each in (fits, next_start)}
    functions["try_from"] = compiled(FunctionType(try_from.__code__, {**globals(), **functions}, "try_from"))
    return compiled(FunctionType(find.__code__, {**globals(), **functions}, "find"))


def is_loaded() -> bool:
    """Return whether the loop has been compiled in this process: another search costs no more than itself."""
    return _loop.cache_info().currsize > 0 and _loop() is not None


@attrs.frozen(eq=False)
class Conditions:
    """``holds``: for each variable, a byte a row. ``tests``: (variable, comparison) of a value of the row, ``of_row``, with one of the
    match's first row, ``of_start``: a double a row and test."""

    holds: Array
    tests: Array
    of_row: Array
    of_start: Array


def most_states(rows: int, limits: QueryLimits, is_compiled: bool) -> int:
    """Return how many states the searches over so many rows may visit."""
    if is_compiled:
        return min(COMPILED_STATES * limits.steps + COMPILED_STATES_EACH * rows, UNLIMITED)
    return (limits.steps + STEPS_EACH * rows) // STEPS_OF_A_STATE


def find_matches(
    program: PatternProgram, conditions: Conditions, count: int, bounds: Array, times: Array | None, within: int | None, skip: SkipTo,
    limits: QueryLimits,
) -> TableMatches:  # fmt: skip
    """Return the matches of all partitions. ``bounds``: where partitions begin and end."""
    size = len(program.operations)
    widest = int(np.max(np.diff(bounds), initial=0)) + 1
    if widest * size > MOST_STAMPS:
        raise NotColumnar("a partition with very many rows")
    targets = np.array([label in skip.labels for label in program.labels] or [False], np.uint8)
    code = [np.array(each, np.int64) for each in (program.operations, program.first, program.second)]
    # attempts are numbered from 1; a restarted one takes a number more
    failed = np.zeros(2 * count + 1026, np.uint8)
    stamps = np.zeros(widest * size, np.int32)
    state = np.zeros(8, np.int64)
    state[1] = -1
    starts, partitions, numbers = (np.empty(count + 1, np.int64) for _ in range(3))
    offsets = np.zeros(count + 2, np.int64)
    steps = np.empty(max(count + widest, 1024), np.int32)
    stacks = [np.empty(4096, np.int64) for _ in range(2)]
    clock = np.zeros(count, np.int64) if times is None else times
    compiled = _loop()
    loop = compiled or _plain
    left = most = most_states(count, limits, compiled is not None)
    turn, before = (left if compiled is None else STATES_A_TURN), -1
    while True:
        state[7] = allowed = min(turn, left)
        outcome = loop(
            *code, conditions.holds, conditions.tests, conditions.of_row, conditions.of_start, count, bounds, clock,
            NO_LIMIT if within is None else within, SKIPS[skip.kind], targets, stamps, failed, *stacks, state, starts, offsets, steps,
            partitions, numbers,
        )  # fmt: skip
        left -= allowed - int(state[7])
        if outcome == DONE_ALL:
            many, filled = int(state[2]), int(state[3])
            return TableMatches(starts[:many], offsets[: many + 1], steps[:filled], partitions[:many], numbers[:many])
        if outcome == MORE_ROOM:
            if 2 * len(steps) > MOST_LABELS:
                raise NotColumnar("very many rows in matches")
            steps = np.concatenate([steps, np.empty(len(steps), np.int32)])
        elif outcome == DEEPER:
            stacks = [np.empty(4 * len(stacks[0]), np.int64) for _ in range(2)]
            state[4] += 1
        elif outcome == TOO_MANY:
            if left < 0:
                raise too_many_steps(most)
            turn, before = (2 * turn if state[1] == before else turn), int(state[1])
            state[4] += 1
        else:
            raise NotColumnar("a skip that fails, perhaps after a measure of an earlier match")


def _plain(*arguments: Any) -> int:
    """Return the loop as Python runs it: over lists, which it reads faster than arrays."""
    lists = [each.tolist() if isinstance(each, np.ndarray) else each for each in arguments]
    outcome = find(*lists)
    for array, changed in zip(arguments, lists):
        if isinstance(array, np.ndarray):
            array[:] = changed
    return outcome


__all__ = ["Conditions", "TableMatches", "find_matches", "is_loaded", "loop_compiler"]
