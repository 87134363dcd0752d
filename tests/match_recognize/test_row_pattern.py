"""Patterns: normalised text, programs by their dump, what a pattern says about its variables."""
from __future__ import annotations

import pytest

from epl.analysis.match_recognize.pattern import group_variables, normalise, variable_names, visible_variables
from epl.analysis.match_recognize.program import compile_program
from epl.errors import EplUnsupportedError
from epl.parse import parse_statement
from epl.plan.patterns.match_recognize import RowPattern
from epl.syntax import Select
from tests.match_recognize.row_harness import plan_of


def written(pattern: str) -> tuple[tuple[str, ...], RowPattern]:
    body = parse_statement(f"select * from T match_recognize (measures 1 as one pattern ({pattern}))").body
    assert isinstance(body, Select) and body.match_recognize is not None
    names = variable_names(body.match_recognize.pattern)
    return names, normalise(body.match_recognize.pattern, {n: i for i, n in enumerate(names)})


@pytest.mark.parametrize(("pattern", "normalised"), [
    ("A B C", "A B C"),
    ("A{2}", "A A"),
    ("A{2,3} B", "A A A? B"),
    ("A{,2} B", "A? A? B"),
    ("A{2,} B", "A A A* B"),
    ("A+?{2}", "A+? A+?"),
    ("A+{1,2}", "A+ A*"),
    ("A??{1,2}", "A?? A??"),
    ("(A B){2}", "(A B) (A B)"),
    ("(A B){1,2} C", "(A B) (A B)? C"),
    ("A (B{2}|C{2})", "A (B B | C C)"),
    ("match_recognize_permute(A, B)", "A B | B A"),
    ("A | B C*?", "A | B C*?"),
])
def test_normalise(pattern: str, normalised: str) -> None:
    assert str(written(pattern)[1]) == normalised


@pytest.mark.parametrize(("pattern", "dump"), [
    ("A B+ C", "start -> 0\n0: A -> 1\n1: B+ -> 1 2\n2: C -> match"),
    ("A B? C?", "start -> 0\n0: A -> 2 1 match\n1: B? -> 2 match counted\n2: C? -> match counted"),
    ("(A | B) C", "start -> 0 1\n0: A -> 2\n1: B -> 2\n2: C -> match"),
    ("(A B)*", "start -> 0\n0: A -> 1\n1: B -> 0 match"),
    ("(A+)+ B", "start -> 0\n0: A+ -> 0 1\n1: B -> match"),
    ("(A)* B", "start -> 0 1\n0: A -> 0 1\n1: B -> match"),
])
def test_program(pattern: str, dump: str) -> None:
    assert compile_program(written(pattern)[1]).dump() == dump


def test_plus_is_counted_where_its_condition_reads_a_group() -> None:
    program = plan_of("measures A as a pattern (A+ B+) define B as B.v > A[0].v").program
    assert [step.counted for step in program.steps] == [False, True]


@pytest.mark.parametrize(("pattern", "groups"), [
    ("A", ""), ("A?", ""), ("A*", "A"), ("A A", "A"), ("A B A", "A"), ("A | A", ""), ("A (A | B)", ""), ("(A | B) A", "A"),
    ("(A B)+", "AB"),
    ("(A A | B)", "A"), ("A (A B | C)", ""), ("A{2}", "A"), ("A{1,1}", ""), ("match_recognize_permute(A,B) A", "A"), ("B (A|C){2}", ""),
])
def test_groups(pattern: str, groups: str) -> None:
    names, normalised = written(pattern)
    assert "".join(sorted(names[n] for n in group_variables(normalised))) == groups


@pytest.mark.parametrize(("pattern", "variable", "seen"), [
    ("A B C", "B", "AB"), ("A (B | C)", "C", "AC"), ("(A | B C) D", "D", "ABCD"), ("(A B)* C", "A", "A"), ("A B A", "A", "AB"),
    ("match_recognize_permute(A,B)", "A", "AB"), ("A (B | C) (B | D)", "B", "ABC"), ("(A B){2}", "A", "AB"),
])
def test_visible(pattern: str, variable: str, seen: str) -> None:
    names, normalised = written(pattern)
    visible = visible_variables(normalised, len(names))[names.index(variable)]
    assert "".join(sorted(names[n] for n in visible)) == seen


def test_permutation_is_limited() -> None:
    with pytest.raises(EplUnsupportedError, match="more than 7"):
        written("match_recognize_permute(A,B,C,D,E,F,G,H)")
