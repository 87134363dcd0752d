"""The machine, fed letters: a variable takes the row whose letter it is (or any of its letters)."""
from __future__ import annotations

import pytest

from epl.analysis.match_recognize.program import compile_program
from runtime.match_recognize.machine import CompiledConditions, Machine, PartialMatch, variable_rows
from runtime.match_recognize.ranking import Match, Ranking
from runtime.match_recognize.state import PathReader, PathWriter
from tests.match_recognize.row_harness import ROW, row
from tests.match_recognize.test_row_pattern import written


def machine_of(pattern: str, letters: dict[str, str] | None = None) -> tuple[Machine, Ranking]:
    names, normalised = written(pattern)
    taken = [(letters or {}).get(name, name.lower()) for name in names]
    tests = tuple((lambda event, history, wanted=wanted: event.f_id in wanted) for wanted in taken)
    program = compile_program(normalised)
    return Machine(program, CompiledConditions(tests, (None,) * len(names), (None,) * len(names))), Ranking(
        program, all_matches=False, skip="past last row"
    )


def run(machine: Machine, text: str) -> tuple[list[Match], list[PartialMatch]]:
    found: list[Match] = []
    partial_matches: list[PartialMatch] = []
    for number, letter in enumerate(text):
        event, truth = row(letter), machine.nothing_known()
        partial_matches = machine.advance(partial_matches, event, number, (), truth, found)
        machine.begin(event, number, (), truth, partial_matches, found)
    return found, partial_matches


@pytest.mark.parametrize(("pattern", "text", "spans"), [
    ("A B", "ab", ["0-1"]),
    ("A B", "aab", ["1-2"]),
    ("A B+ C", "abbc", ["0-3"]),
    ("A B* C", "acxabc", ["0-1", "3-5"]),
    ("A+", "aa", ["0-0", "0-1", "1-1"]),
    ("(A B)+", "abab", ["0-1", "0-3", "2-3"]),
    ("A?", "xa", ["1-1"]),
    ("(A | B) C", "acbc", ["0-1", "2-3"]),
    ("match_recognize_permute(A, B, C)", "cab", ["0-2"]),
    ("A{2,3}", "aaa", ["0-1", "0-2", "1-2"]),
])
def test_matches(pattern: str, text: str, spans: list[str]) -> None:
    found, _ = run(machine_of(pattern)[0], text)
    assert sorted(f"{m.begin}-{m.end}" for m in found) == spans


def test_two_ways_over_the_same_rows_are_two_matches() -> None:
    assert len(run(machine_of("A? A?")[0], "a")[0]) == 2
    assert len(run(machine_of("(A+)+")[0], "aa")[0]) == 3


def test_a_greedy_variable_takes_the_row() -> None:
    letters = {"A": "ab", "B": "ab"}
    machine, ranking = machine_of("A?? B?", letters)
    best = ranking.choose(run(machine, "a")[0])
    assert [variable_rows(m.path, machine.variables, 2) != [[], []] and m.path[2] for m in best] == [1]


def test_partial_matches_keep_no_rows_of_dead_matches() -> None:
    _, partial_matches = run(machine_of("A B C")[0], "abababab" * 50)
    assert len(partial_matches) == 1


def test_paths_survive_writing_and_share_their_beginnings() -> None:
    machine = machine_of("A+ B")[0]
    _, partial_matches = run(machine, "aaaa")
    writer = PathWriter()
    kept = writer.partial_matches(partial_matches)
    assert len(writer.nodes) == 4 + 3 + 2 + 1
    assert PathReader(writer.nodes, 2).partial_matches(kept, len(machine.nothing)) == partial_matches
    assert ROW.names == ("id", "k", "v")
