"""``explain()`` speaks EPL and plain words: no Python reprs, no names of classes."""
from __future__ import annotations

import json
import pathlib
import re
import warnings

import pytest

from epl.errors import EplError, EplWarning
from runtime import Runtime

CASES = sorted((pathlib.Path(__file__).resolve().parents[1] / "cases").glob("*/*.json"))
PYTHON = re.compile(r"\w+\(\w+=|\bNone\b|\bTrue\b|\bFalse\b|<\w+[ .]|object at 0x|\b[A-Z]\w*Plan\b|\bOrderKey\b|\bScalar\b|\bs\d+\.")

SCHEMA = "create schema T(id string, a int, volume long, d double);"


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_nothing_of_python_shows(path: pathlib.Path) -> None:
    texts = [s["epl"] for trace in json.loads(path.read_text(encoding="utf-8"))[::3] for s in trace["steps"] if s["op"] == "deploy"]
    for text in texts[:8]:
        with Runtime(tier="row") as runtime, warnings.catch_warnings():
            warnings.simplefilter("ignore", EplWarning)
            try:
                deployment = runtime.deploy(text)
            except EplError:
                continue
            for statement in deployment:
                plan = "\n".join(statement.explain().splitlines()[1:])
                assert not PYTHON.search(re.sub(r"'(?:[^'\\]|\\.)*'", "''", plan)), plan


def test_a_row_pattern_in_full() -> None:
    with Runtime(tier="row") as runtime:
        statement = runtime.deploy(
            SCHEMA + """@name('rp') select * from T#length(5) match_recognize (
            partition by id measures A.a as x, count(B.a) as n pattern (A B+ C?)
            define A as A.a > 3 and A.id like 'x%', B as B.a > prev(B.a) or B.d > A.d)"""
        )["rp"]
        assert statement.explain() == """rp: select → x Integer, n Long
  stream 0:
    filter: T
    event type: T
    window 0: #length
      size: 5
  result set:
    shape: un-aggregated
    forward: 0
  row recognition:
    event type: T
    variables: A, B, C
    pattern: A B+ C?
    program:
      start -> 0
      0: A -> 1
      1: B+ -> 1 2 match
      2: C? -> match counted
    measures: A.a, aggregation 0
    partition by: id
    aggregation 0:
      plan: aggregation
        function: count
        arguments: B.a
        type: Long
      variable: 1
    has window: yes
    lookback: 1
    variables of several rows: B
    define A: (a > 3) and (id like 'x%')
    define B: (a > prev(a, 1)) or (d > A.d)
    define C: any row
  partitioning: not at all: the window #length of statement 'rp': an event leaves when enough others have come, whatever their keys
  tier: row (tier='row')"""


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("volume not in (1, 2) and id regexp 'a.*'", "(volume not in (1, 2)) and (id regexp 'a.*')"),
        ("a in [1:5)", "a in [1:5)"),
        ("id is null or id != 'it''s' || 'x'".replace("''", "\\'"), "(id is null) or (id != 'it\\'s' || 'x')"),
        ("(case when a > 1 then true else false end)", "case when (a > 1) then true else false end"),
        ("exists(b?) and cast(c?, string) = 'x'", "exists(b?) and (cast(c?, String) = 'x')"),
        ("Math.max(a, 2) + coalesce(a, 1) > 2.5", "(Math.max(a, 2) + coalesce(a, 1)) > 2.5"),
        ("current_timestamp() > volume", "current_timestamp() > volume"),
    ],
)
def test_conditions_are_epl(written: str, shown: str) -> None:
    with Runtime(tier="row") as runtime:
        statement = runtime.deploy(f"{SCHEMA} @name('s') select * from T#keepall where {written}")["s"]
        (where,) = [line for line in statement.explain().splitlines() if line.startswith("  where: ")]
        assert where == f"  where: {shown}"
        again = runtime.deploy(f"@name('t') select * from T#keepall where ({shown})")["t"]
        assert where in again.explain().splitlines()
