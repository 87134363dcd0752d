"""The EPL Online script: instructions in, printed output."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epl.errors import EplSyntaxError
from runtime.replay.epl_online import At, Later, Send, format_time, looks_like_script, parse_script, parse_time, value_text


def instructions(text: str) -> list[object]:
    return [instruction for _, instruction in parse_script(text)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('t = "2001-01-01 08:00:00.000"', At(978336000000)),
        ("t='1970-01-01 00:00:00.001';", At(1)),
        ("t = t.plus(10 minutes 5 seconds)", Later(605_000)),
        ("t=t.plus(1 seconds)", Later(1000)),
        ("t = t.plus( 1.5 sec )", Later(1500)),
        ("t = t + 1000", Later(1000)),
        ("Trade={symbol='A', price=1.5}", Send("Trade", {"symbol": "A", "price": 1.5})),
        ('Trade = { symbol = "it\'s" , n = -3 } ; ', Send("Trade", {"symbol": "it's", "n": -3})),
        ("T={}", Send("T", {})),
        ("a.b.T={x=null, y=true, z=FALSE}", Send("a.b.T", {"x": None, "y": True, "z": False})),
        ("T={arr={'a','b'}, inner={x=1, y={z=2}}, none={}}", Send("T", {"arr": ["a", "b"], "inner": {"x": 1, "y": {"z": 2}}, "none": []})),
        ("T={n=10L, f=2.5f, e=1e3} // a comment", Send("T", {"n": 10, "f": 2.5, "e": 1000.0})),
        ("t={a=1}", Send("t", {"a": 1})),
        (r"T={a.b=1, `c.d`='x', e\.f=2, `g h`=true}", Send("T", {"a.b": 1, "c.d": "x", "e.f": 2, "g h": True})),
    ],
)
def test_one_instruction(line: str, expected: object) -> None:
    assert instructions(line) == [expected]


def test_blank_lines_and_comments_are_nothing() -> None:
    assert list(parse_script("\n// head\n;\nT={a=1}\r\nT={a=2}")) == [(4, Send("T", {"a": 1})), (5, Send("T", {"a": 2}))]


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ("T={a=1}\nT={a 1}", (2, 4), "Incorrect syntax near 'a' expecting a value"),
        ("T={a=1", (1, 7), "Unexpected end-of-line, expecting ','"),
        ("T=5", (1, 3), "Incorrect syntax near '5' expecting '{'"),
        ("t = t.minus(1 sec)", (1, 5), "Incorrect syntax near 't.minus'"),
        ('t = "yesterday"', (1, 5), 'Incorrect time "yesterday"'),
        ("T={1, a=2}", (1, 10), "Values with and without names"),
        ("T={a=b}", (1, 6), "Incorrect syntax near 'b' expecting a value"),
        ("T={a=1} T={a=2}", (1, 9), "Incorrect syntax near 'T'"),
        ("T={a=#}", (1, 6), "Incorrect syntax near '#'"),
    ],
)
def test_errors_say_where(text: str, where: tuple[int, int], said: str) -> None:
    with pytest.raises(EplSyntaxError) as caught:
        instructions(text)
    assert caught.value.position == where
    assert caught.value.message.startswith(said)


def test_what_a_script_looks_like() -> None:
    assert looks_like_script("\n// x\nStockTick={symbol='A'}")
    assert looks_like_script('t="2001-01-01 08:00:00.000"')
    assert not looks_like_script('{"a": 1}')
    assert not looks_like_script("a,b\n1,2")


@given(st.integers(min_value=-(10**12), max_value=4 * 10**12))
def test_times_are_read_as_they_are_written(ms: int) -> None:
    assert parse_time(format_time(ms)) == ms


def test_values_as_printed() -> None:
    assert value_text({"a": None, "b": [1.0, "x"]}) == "{a=(null), b=[1.0, 'x']}"
