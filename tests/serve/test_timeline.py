"""The timeline of a run shows what windows and partial matches hold, within limits."""

from __future__ import annotations

import itertools
import json
import pathlib
import shutil
import subprocess
from typing import Any

import pytest

from runtime.tools.serve import playground_run
from runtime.tools.serve.options import ServeLimits
from runtime.tools.serve.timeline import MOST_LANE_ROWS, MOST_MOMENTS, MOST_STATEMENTS

SCRIPT = pathlib.Path(playground_run.__file__).parent / "static" / "timeline.js"
SCHEMA = "create schema T(a int, s string);\n"
START = 978_336_000_000
DRAW = """
import { readFileSync } from "node:fs";
class Shape {
  constructor(name) { this.name = name; this.attributes = {}; this.children = []; }
  setAttribute(name, value) { this.attributes[name] = value; }
  append(...children) { this.children.push(...children); }
  set textContent(text) { this.text = text; }
}
globalThis.document = { createElementNS: (_, name) => new Shape(name) };
const { timelineOf } = await import(process.argv[1]);
console.log(JSON.stringify(timelineOf(JSON.parse(readFileSync(0)), 600)));
"""


class Gathered(playground_run.Results):
    """Results that stay in the process."""

    def __init__(self) -> None:
        self.parts: dict[str, Any] = {"outputs": [], "lanes": [], "errors": [], "faults": [], "warnings": [], "current": [], "pictures": []}

    def write(self, part: str, value: Any) -> None:
        if part in self.parts and part not in ("statements", "events", "end"):
            self.parts[part].append(value)
        else:
            self.parts[part] = value


def run(epl: str, script: str) -> dict[str, Any]:
    results = Gathered()
    playground_run.PlaygroundRun(ServeLimits(), (), lambda runtime: None, results).drive({"epl": SCHEMA + epl, "script": script})
    assert results.parts["errors"] == []
    return results.parts


def lane(result: dict[str, Any], kind: str) -> dict[str, Any]:
    (one,) = (each for each in result["lanes"] if each["kind"] == kind)
    return dict(one)


def test_windows_and_partial_matches_have_lanes() -> None:
    result = run("@name('w') select a from T#time(5 sec); @name('p') select y.a as a from pattern [every x=T(a > 1) -> y=T(a < 2)]",
                 "T={a=2, s='x'}\nt=t.plus(3 sec)\nT={a=1, s='y'}\nt=t.plus(3 sec)\nT={a=3, s='z'}")  # fmt: skip
    window = lane(result, "window")
    assert window["title"] == "w: #time(5 second)"
    assert [(bar["begins"] - START, bar["ends"] and bar["ends"] - START, bar["text"]) for bar in window["bars"]] == [
        (0, 5000, "1"), (3000, None, "2"), (6000, None, "3")]  # fmt: skip
    partials = lane(result, "partials")
    assert [(bar["begins"] - START, bar["outcome"]) for bar in partials["bars"]] == [(0, "match"), (6000, "open")]
    assert [mark["text"] for mark in partials["marks"]] == ["x=1", "x=3"]
    assert [mark["text"] for mark in lane(result, "events")["marks"]] == ["1: 2, x", "2: 1, y", "3: 3, z"]
    assert result["end"]["rows"] == 4


def test_statements_without_windows_have_no_lanes() -> None:
    assert run("select a from T", "T={a=2}")["lanes"] == []


def test_long_runs_are_recorded_in_part_and_run_to_the_end() -> None:
    result = run("select count(*) as c from T#keepall", "T={a=2}\n" * (2 * MOST_MOMENTS))
    window = lane(result, "window")
    assert (window["until"], window["rows"], window["hidden"]) == (START, MOST_LANE_ROWS, MOST_MOMENTS - MOST_LANE_ROWS)
    assert len(window["bars"]) == MOST_LANE_ROWS
    assert result["end"]["events"] == 2 * MOST_MOMENTS
    wide = "create schema Many(rows T[]); insert into T select * from Many[rows]; select count(*) as c from T#keepall"
    event = "Many={rows={" + ", ".join(["{a=1}"] * 2000) + "}}"
    assert run(wide, "\n".join([event] * 2))["lanes"][0]["until"] == START


def test_modules_of_many_statements_are_not_recorded() -> None:
    assert run("select a from T#keepall;" * MOST_STATEMENTS, "T={a=2}")["lanes"] == []


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_page_draws_them() -> None:
    result = run("@name('w') select a from T#length(1); @name('p') select y.a as a from pattern [every x=T(a > 1) -> y=T(a < 2)]",
                 "T={a=2, s='x'}\nt=t.plus(40 minutes)\nT={a=1, s='y'}\nt=t.plus(30 hours)\nT={a=3, s='z'}")  # fmt: skip
    drawn = subprocess.run(
        ["node", "--input-type=module", "-e", DRAW, str(SCRIPT)], input=json.dumps(result), capture_output=True, text=True, check=True
    )
    svg = json.loads(drawn.stdout)
    shapes = [(each["name"], each["attributes"].get("class", ""), each.get("text")) for each in svg["children"]]
    assert svg["attributes"]["aria-label"].startswith("Timeline of event T, window w: #length(1), partials p: partial matches, statement ")
    assert [text for _, kind, text in shapes if kind == "name"] == ["T", "w: #length(1)", "p: partial matches", "w", "p"]
    assert sum(kind == "held hot" for _, kind, _ in shapes) == 3
    assert [kind for _, kind, _ in shapes if kind.startswith("partial")] == ["partial match", "partial open"]
    ticks = [each for each in svg["children"] if each["attributes"].get("class") == "tick"]
    places = [float(each["attributes"]["x"]) for each in ticks]
    assert len(ticks) > 1
    assert min(after - before for before, after in itertools.pairwise(places)) > 6.7 * len(ticks[0]["text"])
