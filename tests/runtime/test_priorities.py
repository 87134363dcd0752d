"""Statements with ``@priority`` and ``@drop`` where execution is prioritized, as recorded of Esper 9.0.0: who is called."""

from __future__ import annotations

import pytest

from runtime import Runtime, Settings


@pytest.mark.parametrize("module, steps, called", [
    (
        "@name('a') select rstream * from T#time(1); "
        "@name('b') @Priority(2) select rstream * from T#time(1); "
        "@name('c') @Priority(1) select rstream n from T#time(1); ",
        [1, "1000 ms", "3000 ms"], ["", "b c a", ""],
    ),
    (
        "@name('a') select * from pattern[every timer:interval(1)]; "
        "@name('b') @Priority(2) select * from pattern[every timer:interval(1)]; "
        "@name('c') @Priority(1) select * from pattern[every timer:interval(1)]; ",
        ["1000 ms", "2000 ms"], ["b c a", "b c a"],
    ),
    (
        "@name('a') select * from pattern[every timer:interval(1)]; "
        "@name('b') @Priority(2) select * from pattern[every timer:interval(1)]; "
        "@name('c') @Drop @Priority(1) select * from pattern[every timer:interval(1)]; "
        "@name('d')  @Priority(1) select * from pattern[every timer:interval(1)]; ",
        ["1000 ms", "2000 ms", "3000 ms"], ["b c", "b c", "b c"],
    ),
    (
        "@name('a') select rstream * from T#time(1); "
        "@name('b') @Priority(2) select rstream * from T#time(1); "
        "@name('c') @Drop @Priority(1) select rstream n from T#time(1); "
        "@name('d') @Priority(1) select rstream n from T#time(1); ",
        [1, "1000 ms", "3000 ms", 2, "5000 ms"], ["", "b c", "", "", "b c"],
    ),
    (
        "@name('a') select rstream * from T#time(1); "
        "@name('c') @Drop select rstream n from T(n=1)#time(1); "
        "@name('d') select rstream n from T#time(1); ",
        [2, "500 ms", 1, "1000 ms", "1500 ms", "5000 ms"], ["", "", "", "a d", "c", ""],
    ),
    (
        "@name('a') select n from T output every 1 sec; "
        "@name('c') @Drop select n from T(n=3)#length(1) output snapshot every 1 sec; "
        "@name('d') @Priority(1) select n from T#length(2) output snapshot every 1 sec; ",
        [3, 2, "1000 ms", "2000 ms"], ["", "", "c", "c"],
    ),
    (
        "@name('s0')  select n from T; "
        "@name('l01') @Drop @Priority(0) select n from T; "
        "@name('s2')  select n from T; ",
        [1], ["s0 l01"],
    ),
    (
        "@name('p10') @Priority(1) select n from T; "
        "@name('l01') @Drop @Priority(0) select n from T; ",
        [1], ["p10 l01"],
    ),
    (
        "@name('s0')  select n from T; "
        "@name('l01') @Drop @Priority(0) select n from T; "
        "@name('p12') @Priority(1) select n from T; ",
        [1], ["p12 s0 l01"],
    ),
    (
        "@name('s0')  select n from T; "
        "@name('lr1') @Priority(0) @Drop select n from T; "
        "@name('s2')  select n from T; ",
        [1], ["s0 lr1"],
    ),
    (
        "@name('p10') @Priority(1) select n from T; "
        "@name('lr1') @Priority(0) @Drop select n from T; ",
        [1], ["p10 lr1"],
    ),
    (
        "@name('s0')  select n from T; "
        "@name('lr1') @Priority(0) @Drop select n from T; "
        "@name('p12') @Priority(1) select n from T; ",
        [1], ["p12 s0 lr1"],
    ),
    (
        "@name('s0')  select n from T; "
        "@name('lm1') @Drop @Priority(-1) select n from T; "
        "@name('s2')  select n from T; ",
        [1], ["s0 s2 lm1"],
    ),
    (
        "@name('p10') @Priority(1) select n from T; "
        "@name('lm1') @Drop @Priority(-1) select n from T; ",
        [1], ["p10 lm1"],
    ),
    (
        "@name('s0')  select n from T; "
        "@name('lm1') @Drop @Priority(-1) select n from T; "
        "@name('p12') @Priority(1) select n from T; ",
        [1], ["p12 s0 lm1"],
    ),
    (
        "@name('s0')  select n from T; "
        "@name('lt1') @Drop @Priority(2) select n from T; "
        "@name('p12') @Priority(1) select n from T; ",
        [1], ["lt1"],
    ),
    (
        "@name('p20') @Priority(2) select n from T; "
        "@name('lt1') @Drop @Priority(2) select n from T; ",
        [1], ["p20 lt1"],
    ),
    (
        "@name('lt0') @Drop @Priority(2) select n from T; "
        "@name('p21') @Priority(2) select n from T; ",
        [1], ["lt0"],
    ),
    (
        "@name('s') select * from T; "
        "@name('l') @Drop select * from T(n=1); ",
        [1, 2], ["l", "s"],
    ),
    (
        "@name('s') select * from T; "
        "@name('l2') @Drop select * from T(n>0); "
        "@name('l') @Drop select * from T(n=1); "
        "@name('s2') select * from T(n=1); ",
        [1, 2], ["l2", "l2"],
    ),
    (
        "@name('s') @Priority(1) select * from T; "
        "@name('l') @Drop select * from T(n=1); "
        "@name('s2') @Priority(-1) select * from T; "
        "@name('s3') select * from T; ",
        [1, 2], ["s l", "s s3 s2"],
    ),
    (
        "@name('s') select a.n as x from pattern[every a=T]; "
        "@name('l') @Drop select * from T(n=1); "
        "@name('j') select a.n as x from T#keepall a, T#lastevent b; ",
        [1, 2], ["l", "s j"],
    ),
    (
        "@name('s') select * from T; "
        "@name('l') @Drop select a.n as x from pattern[every a=T(n=1)]; "
        "@name('s2') select * from T; ",
        [1, 2], ["l", "s s2"],
    ),
    (
        "@name('s') select * from T; "
        "@name('l') @Drop select a.n as x from T(n=1)#keepall a, T(n=1)#lastevent b; "
        "@name('s2') select * from T; ",
        [1, 2], ["l", "s s2"],
    ),
    (
        "@name('s') select a.n as x from pattern[a=T -> timer:interval(1)]; "
        "@name('l') @Drop select a.n as x from pattern[a=T -> timer:interval(1)]; "
        "@name('s2') select a.n as x from pattern[a=T -> timer:interval(1)]; ",
        [1, "1000 ms", "3000 ms"], ["", "l", ""],
    ),
    (
        "@name('s') select rstream * from T#time(1); "
        "@name('l') @Drop select rstream * from T#time(1); "
        "@name('s2') @Priority(1) select rstream n from T#time(1); ",
        [1, "1000 ms", "3000 ms"], ["", "l", ""],
    ),
    (
        "create window W#keepall as T; "
        "insert into W select * from T; "
        "@name('s') select * from W; "
        "@name('l') @Drop select * from W(n=1); "
        "@name('s2') @Priority(1) select n from W; ",
        [1, 2], ["l", ""],
    ),
    (
        "@name('i') insert into U select * from T; "
        "@name('s') select * from U; "
        "@name('l') @Drop select * from U(n=1); "
        "@name('s2') @Priority(1) select n from U; ",
        [1, 2], ["i l", "i s2 s"],
    ),
    (
        "create context C partition by k from T; "
        "@name('s') select * from T; "
        "@name('l') @Drop context C select * from T(n=1); "
        "@name('s2') context C select n from T; ",
        [1, 1, 2], ["l s", "l", "s s2"],
    ),
])
def test_priority_and_drop(module: str, steps: list[int | str], called: list[str]) -> None:
    """``steps``: an event with this ``n``, or a time. ``called``: the listeners at each."""
    runtime = Runtime(start_time=0, settings=Settings(prioritized=True))
    seen: list[str] = []
    for statement in runtime.deploy("create schema T(k string, n int); " + module):
        if not statement.name.startswith("stmt"):
            statement.add_listener(lambda new, old, from_statement, _: seen.append(from_statement.name))
    for step, names in zip(steps, called, strict=True):
        seen.clear()
        if isinstance(step, int):
            runtime.send("T", {"k": "ab"[step - 1] if step < 3 else "c", "n": step})
        else:
            runtime.advance_time(int(step.removesuffix(" ms")))
        if "context C" in module:  # an event that begins a partition reaches it first in Esper, here in turn
            assert sorted(seen) == sorted(names.split())
        else:
            assert seen == names.split()
