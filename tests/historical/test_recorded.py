"""Method joins as Esper 9.0.0 recorded them: rows, their order, iterators, refusals, and by which call each row was made."""
from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from runtime import Runtime
from tests.comparison import step_difference
from tests.historical.lookups import Lookup, register
from tests.replay.player import TracePlayer

RECORDED = pathlib.Path(__file__).resolve().parent / "recorded"
CASES = {
    f"{path.stem}/{case['name']}": {"listen": "all", **case}
    for path in sorted(RECORDED.glob("*.json")) for case in json.loads(path.read_text(encoding="utf-8"))
}


KNOWN_GAPS: dict[str, str] = json.loads((RECORDED.parent / "gaps.json").read_text(encoding="utf-8"))
"""Drawn programs on which this engine differs from Esper, with the reason."""


class Player(TracePlayer):
    """A player whose runtimes know the methods."""

    lookup: Lookup

    def new_runtime(self) -> Runtime:
        runtime = super().new_runtime()
        self.lookup = register(runtime)
        return runtime

    def restart(self) -> None:
        def same_counter(runtime: Runtime) -> None:
            calls, self.lookup = self.lookup.calls, register(runtime)
            self.lookup.calls = calls

        self.runtime = Runtime.restore(self.runtime.snapshot(), on_error=self.on_error, tier=self.tier, register=same_counter)
        attached, self.listening, self.listeners = self.listening, [], {}
        for deployment_id, name in attached:
            self.listen(self.runtime.deployments[deployment_id][name])


def differs(case: dict[str, Any], *, restart: bool) -> str | None:
    """The first difference from what Esper did, None where there is none. ``restart``: a snapshot is restored before each step."""
    player = Player(case, "row")
    for number, step in enumerate(case["steps"]):
        if restart:
            player.restart()
        difference = step_difference(ordered(step, case), ordered(player.play(step), case))
        if difference is not None:
            return f"step {number} {_shown(step)}: {difference}"
    return None


RUNS = [(name, False) for name in CASES] + [(name, True) for name in CASES if not name.startswith("drawn/") or name.endswith("5")]
"""Every case; and with restarts all but nine in ten of the drawn ones."""


@pytest.mark.parametrize(("name", "restart"), RUNS, ids=[f"{name}{' restart' if restart else ''}" for name, restart in RUNS])
def test_recorded(name: str, restart: bool) -> None:
    difference = differs(CASES[name], restart=restart)
    if name in KNOWN_GAPS:
        assert difference is not None, f"{name} agrees now: take it out of gaps.json"
        pytest.xfail(KNOWN_GAPS[name])
    assert difference is None, difference


@pytest.mark.parametrize("part", [
    "left outer", "right outer", "full outer", "inner join", ", method", "everything()", "rows(", "single(", " where ", "group by",
    "#keepall", "#length(2)", "#unique", "#lastevent", "#length_batch", "irstream",
])
def test_each_part_occurs_in_drawn_programs_that_emit(part: str) -> None:
    emitting = [case["steps"][0]["epl"] for name, case in CASES.items() if name.startswith("drawn/") and any(
        step.get("out") for step in case["steps"])]
    assert len([epl for epl in emitting if part in epl]) >= 10


def ordered(step: dict[str, Any], case: dict[str, Any]) -> dict[str, Any]:
    """The step; its rows in one order where the case says so: that of a join of several streams comes from hashes of Java's objects.
    What a statement raises is the step's exception."""
    errors = [call["error"] for call in step.get("out", ()) if "error" in call]
    if errors:
        step = {**step, "exception": errors[0], "out": [call for call in step["out"] if "error" not in call]}
    if not case.get("any_order"):
        return step
    step = {**step, "rows": sorted(step["rows"], key=repr)} if step.get("rows") else step
    calls = [{k: sorted(v, key=repr) if isinstance(v, list) else v for k, v in call.items()} for call in step.get("out", ())]
    return {**step, "out": calls} if calls else step


def _shown(step: dict[str, Any]) -> str:
    return str(step.get("epl") or step.get("props") or step["op"])
