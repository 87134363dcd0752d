"""A recording as an Altair chart: the lanes of the timeline, with all values under the pointer."""
from __future__ import annotations

from typing import Any

from runtime.extras import MissingPackage, install
from runtime.pictures.lanes import Lane, Places, build_lanes
from runtime.pictures.timeline import BAR, BAR_LINE, OUTCOMES
from runtime.pictures.tracks import Recorded

SIGNS = {"event": "event", "insert": "insert stream", "remove": "remove stream", "step": "partial match"}


def chart(recording: Recorded) -> Any:
    """Return an ``altair.LayerChart``. Raise ImportError without altair."""
    try:
        import altair as alt
    except ImportError as error:
        raise MissingPackage(f"interactive timelines need altair: {install('plot')}") from error
    places = Places(recording.moments, "auto", recording.units_per_second)
    lanes = build_lanes(recording)
    bars, marks = (alt.InlineData(values=values) for values in (_bars(lanes, places), _marks(lanes, places, recording)))
    order = [row for lane in lanes for row in _rows(lane)]
    title = f"engine time, {'ms' if recording.units_per_second == 1000 else 'µs'}" if places.by_time else "moments"
    x = alt.X("x:Q", title=title, axis=alt.Axis(format="d", tickMinStep=1), scale=alt.Scale(domain=[places.left, places.right], nice=False))
    y = alt.Y("row:N", sort=order, title=None, axis=alt.Axis(labelLimit=260, grid=True))
    signs = list(SIGNS.values())
    colour = alt.Color("sign:N", title=None, scale=alt.Scale(domain=signs, range=["#0072b2", "#009e73", "#d55e00", "#777777"]))
    shape = alt.Shape("sign:N", title=None, scale=alt.Scale(domain=signs, range=["circle", "triangle-up", "triangle-down", "square"]))
    outline = alt.Color("outcome:N", legend=None, scale=alt.Scale(domain=["", *OUTCOMES], range=[BAR_LINE, *OUTCOMES.values()]))
    layers = [
        alt.Chart(bars).mark_bar(fill=BAR, height=11, strokeWidth=1).encode(
            x=x, x2="x2:Q", y=y, stroke=outline, tooltip=["text:N", "begins:N", "ends:N", "outcome:N"]),
        alt.Chart(marks).mark_point(filled=True, size=70, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape, tooltip=["text:N", "time:N", "values:N"]),
        alt.Chart(marks).mark_text(align="left", dx=7, fontSize=10).encode(x=x, y=y, text="text:N"),
    ]
    names = ", ".join(track.name for track in recording.tracks)
    return alt.layer(*layers).properties(width=max(420, 70 * places.columns), title=names).interactive(bind_y=False)


def _rows(lane: Lane) -> list[str]:
    """Return the names of a lane's rows, each with a number of its own where there are several."""
    return [lane.title if lane.rows == 1 else f"{lane.title} {row + 1}" for row in range(lane.rows)]


def _bars(lanes: list[Lane], places: Places) -> list[dict[str, Any]]:
    return [
        {
            "row": _rows(lane)[bar.row], "x": places.x(bar.begins), "x2": places.right if bar.ends is None else places.x(bar.ends),
            "text": bar.text, "outcome": bar.outcome, "begins": places.place_time(bar.begins),
            "ends": "" if bar.ends is None else places.place_time(bar.ends),
        }
        for lane in lanes for bar in lane.bars
    ]


def _marks(lanes: list[Lane], places: Places, recording: Recorded) -> list[dict[str, Any]]:
    values = {moment.place: ", ".join(f"{name}={value}" for name, value in moment.values) for moment in recording.moments}
    return [
        {
            "row": _rows(lane)[mark.row], "x": places.x(mark.place), "text": mark.text, "sign": SIGNS[mark.sign],
            "time": places.place_time(mark.place), "values": values[mark.place] if mark.sign == "event" else mark.full or mark.text,
        }
        for lane in lanes for mark in lane.marks
    ]


__all__ = ["chart"]
