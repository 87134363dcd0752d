"""Drawn programs replayed, and held against what Esper 9.0.0 did: as they are, and with a restart between every two steps (a third of
them; ``EPL_LONG=1``: all). Those also run in one of the other ways of tests.drawn.ways, in turn (``EPL_LONG=1``: in all), which must do
what a replay does.

A program that does not agree yet is in tests/drawn/known_gaps.json with the reason; one that agrees must leave it. Where Esper is at fault,
tests/drawn/omissions.json names the parts of a program that differ; the rest must agree.
``python -m tests.drawn.test_drawn`` prints the census and the programs that differ; with ``--gaps`` it writes the known gaps.
"""

from __future__ import annotations

import json
import os
import re
import sys

import pytest

from tests.comparison import difference
from tests.drawn import table
from tests.drawn.language.programs import LANGUAGE
from tests.drawn.language.programs import program as language_program
from tests.drawn.omissions import OMISSIONS as OMITTED
from tests.drawn.omissions import differing_parts, omissions, parts_of
from tests.drawn.programs import FEATURES, census_lines, program
from tests.drawn.recorded import KNOWN_GAPS, census, is_refused, known_gaps, stored
from tests.drawn.ways import WAYS, apart

PROGRAMS = {each["name"]: each for feature in (*FEATURES, LANGUAGE) for each in stored(feature)}
RAN = [name for name, each in PROGRAMS.items() if not is_refused(each)]
GAPS = known_gaps()
OMISSIONS = omissions()
RESTARTED = RAN if os.environ.get("EPL_LONG") else RAN[::3]
TURNS = [way for way in WAYS if way != "restart"]
OTHER_WAYS = [
    (name, way)
    for place, name in enumerate(RESTARTED)
    for way in (TURNS if os.environ.get("EPL_LONG") else [TURNS[place % len(TURNS)]])
]
SLOW = [pytest.mark.slow]
QUICK = 20
"""One program in so many is among the tests of ``make quick``."""
LEAST = 10
"""In so many stored programs each line of a census must occur."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW if place % QUICK else ()) for place, name in enumerate(PROGRAMS)])
def test_program_agrees(name: str) -> None:
    if name in OMISSIONS:
        assert differing_parts(PROGRAMS[name]) == parts_of(OMISSIONS[name])
        return
    why = difference(PROGRAMS[name])
    if name in GAPS:
        assert why is not None, f"{name} agrees now: remove it from {KNOWN_GAPS.name}"
        pytest.xfail(GAPS[name])
    assert why is None, f"{PROGRAMS[name]['steps'][0]['epl']}\n{why}"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in RESTARTED if name not in GAPS])
def test_program_agrees_with_restarts(name: str) -> None:
    if name in OMISSIONS:
        assert differing_parts(PROGRAMS[name], restart=True) == parts_of(OMISSIONS[name])
        return
    why = difference(PROGRAMS[name], restart=True)
    if restarted(name) in GAPS:
        assert why is not None, f"{restarted(name)} agrees now: remove it from {KNOWN_GAPS.name}"
        pytest.xfail(GAPS[restarted(name)])
    assert why is None, f"{PROGRAMS[name]['steps'][0]['epl']}\n{why}"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "way"), OTHER_WAYS)
def test_program_does_the_same_in_other_ways(name: str, way: str) -> None:
    if way in ("batch", "batch times", "tiers"):
        pytest.importorskip("numba")
    why = apart(PROGRAMS[name], way, seed=RAN.index(name))
    assert why is None, f"{PROGRAMS[name]['steps'][0]['epl']}\n{why}"


@pytest.mark.parametrize("feature", FEATURES)
def test_census(feature: str) -> None:
    """Each part of the feature occurs in enough programs that emit rows."""
    counts = census([each for each in stored(feature) if not is_refused(each)])
    assert {line: counts[line] for line in census_lines(feature) if counts[line] < LEAST} == {}


@pytest.mark.slow
@pytest.mark.parametrize("feature", FEATURES)
def test_stored_programs_are_those_of_their_seeds(feature: str) -> None:
    """After a change of what is drawn, record it again: python -m tests.drawn.record."""
    for each in stored(feature):
        again = program(feature, int(each["name"].split()[1]))
        assert again["steps"][0]["epl"] == each["steps"][0]["epl"], each["name"]
        assert again["bullets"] == each["bullets"], each["name"]


@pytest.mark.slow
def test_stored_programs_over_the_language_are_those_of_their_seeds() -> None:
    """After a change of what is drawn, record it again: python -m tests.drawn.rounds."""
    for each in stored(LANGUAGE):
        assert language_program(each["name"])["steps"][0]["epl"] == each["steps"][0]["epl"], each["name"]


def test_known_gaps_name_programs() -> None:
    assert GAPS.keys() <= {*PROGRAMS, *map(restarted, RAN)}
    assert not [name for name in RAN if name in GAPS and restarted(name) in GAPS]
    assert OMISSIONS.keys() <= PROGRAMS.keys() - GAPS.keys()


def test_page_says_how_many_programs_agree() -> None:
    """After a change of what is stored or agrees: python -m tests.drawn.table --write."""
    assert table.written() == "\n".join(table.rows())


def test_there_are_enough_programs() -> None:
    assert len(RAN) >= 300


def restarted(name: str) -> str:
    """The known gap of a program that differs only with restarts."""
    return f"{name} restarted"


def reason(why: str) -> str:
    """What a new known gap says: which part of the language is missing, else where the first difference is."""
    missing = re.search(r"(?:got |\()([^():]*(?:is|are) not supported[^():]*)", why)
    return missing[1].split(", Esper says")[0] if missing else why.split(": expected", 1)[0][:120]


def main(arguments: list[str]) -> int:
    differing: dict[str, str] = {}
    for name, each in PROGRAMS.items():
        if name in OMISSIONS:
            continue
        if why := difference(each):
            differing[name] = why
        elif not is_refused(each) and (why := difference(each, restart=True)):
            differing[restarted(name)] = why
    for feature in FEATURES:
        programs = [each for each in stored(feature) if not is_refused(each)]
        counts = census(programs)
        print(f"{feature}: {len(programs)} programs; " + ", ".join(f"{line} {counts[line]}" for line in census_lines(feature)))
    for name, why in differing.items():
        print(f"{name}: {why[:300]}")
    print(f"{len(OMISSIONS)} programs agree but for the parts that {OMITTED.name} names")
    print(f"{len(PROGRAMS) - len(differing)} of {len(PROGRAMS)} programs agree")
    if "--gaps" in arguments:
        reasons = {name: GAPS.get(name) or reason(why) for name, why in differing.items()}
        KNOWN_GAPS.write_text(json.dumps(reasons, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
