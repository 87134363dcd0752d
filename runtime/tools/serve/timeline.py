"""What the windows and partial matches of a run held, along time: the lanes of a recording as plain values, which the page draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtime.api.runtime import Runtime
from runtime.pictures.lanes import Bar, Lane, Mark, build_lanes
from runtime.pictures.recording import Recording

MOST_STATEMENTS, MOST_MOMENTS, MOST_ROWS_READ = 40, 300, 100_000
"""Beyond these a run is not looked at any more: each moment reads all that the statements hold."""
MOST_LANES, MOST_LANE_ROWS = 40, 30


def start_recording(runtime: Runtime) -> Recording | None:
    """Return a recording of a runtime's selects and named windows, small enough for a page; None where there are too many statements."""
    if sum(map(len, runtime.deployments.values())) > MOST_STATEMENTS:
        return None
    recording = runtime.record()
    recording.most_moments, recording.most_rows = MOST_MOMENTS, MOST_ROWS_READ
    return recording


def lanes(recording: Recording) -> Iterator[dict[str, Any]]:
    """Yield the lanes of events, windows and partial matches: ``until`` is the time after which nothing was recorded, if there is one."""
    times = [moment.time for moment in recording.moments]
    if not times:
        return
    until = times[-1] if recording.is_cut else None
    drawn = [lane for lane in build_lanes(recording) if lane.kind != "rows"]
    if any(lane.kind != "events" for lane in drawn):
        for lane in drawn[:MOST_LANES]:
            yield _plain(lane, times, until)


def _plain(lane: Lane, times: list[int], until: int | None) -> dict[str, Any]:
    def place_time(place: int) -> int:
        return times[min(place, len(times) - 1)]

    def bar(each: Bar) -> dict[str, Any]:
        ends = until if each.ends is None else place_time(each.ends)
        return {"row": each.row, "begins": place_time(each.begins), "ends": ends, "text": each.text, "outcome": each.outcome}

    def mark(each: Mark) -> dict[str, Any]:
        return {"row": each.row, "time": place_time(each.place), "text": each.text, "outcome": each.outcome}

    return {
        "kind": lane.kind, "title": lane.title, "rows": min(lane.rows, MOST_LANE_ROWS), "until": until,
        "hidden": max(0, lane.rows - MOST_LANE_ROWS), "bars": [bar(each) for each in lane.bars if each.row < MOST_LANE_ROWS],
        "marks": [mark(each) for each in lane.marks if each.row < MOST_LANE_ROWS],
    }  # fmt: skip


__all__ = ["lanes", "start_recording"]
