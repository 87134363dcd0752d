"""Recordings: what windows hold, which partial matches there are, what comes out, moment by moment; and that nothing of it stays behind."""
from __future__ import annotations

import pathlib
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epl.errors import EplRuntimeError
from runtime import Runtime
from runtime.api.runtime import internal_engine
from runtime.cli import main
from runtime.pictures.recording import Recording
from runtime.pictures.tracks import Track

SCHEMAS = "create schema A(id string, x int); create schema B(id string, y int);"
Step = int | tuple[str, str, int]


def recorded(text: str, steps: Iterable[Step], **options: Any) -> Recording:
    """Events as (type, id, number), times in seconds."""
    with Runtime(**{"tier": "row", **options}) as runtime:
        runtime.deploy(SCHEMAS + text)
        with runtime.record("s") as recording:
            for step in steps:
                if isinstance(step, int):
                    runtime.advance_time_span(step * 1000)
                else:
                    runtime.send(step[0], {"id": step[1], "x" if step[0] == "A" else "y": step[2]})
        return recording


def held(track: Track) -> list[tuple[str, int, int | None]]:
    return [(each.label, each.enters, each.leaves) for each in track.held]


def partials(track: Track) -> list[tuple[str, str, int | None]]:
    """(variables with events, outcome, end)."""
    return [(" ".join(f"{v}{e}@{place}" for place, v, e in each.steps), each.outcome, each.ends) for each in track.partials]


def rows(track: Track) -> list[tuple[int, str, tuple[Any, ...]]]:
    return [(each.place, each.stream, tuple(value for _, value in each.values)) for each in track.emitted]


def test_a_time_window_along_time() -> None:
    recording = recorded("@name('s') select irstream x from A#time(10 sec)", [("A", "a", 1), 3, ("A", "b", 2), 20])
    assert [(m.time, m.event) for m in recording.moments] == [(0, 1), (3000, 2), (10000, None), (13000, None)]
    assert held(recording.tracks[0]) == [("1", 0, 2), ("2", 1, 3)]
    assert rows(recording.tracks[0]) == [(0, "insert", (1,)), (1, "insert", (2,)), (2, "remove", (1,)), (3, "remove", (2,))]


def test_what_a_statement_holds_without_emitting_it() -> None:
    recording = recorded("@name('s') select x from A#length_batch(3)", [("A", "a", 1), ("A", "b", 2), ("A", "c", 3)])
    assert held(recording.tracks[0]) == [("1", 0, 2), ("2", 1, 2)]
    assert rows(recording.tracks[0]) == [(2, "insert", (1,)), (2, "insert", (2,)), (2, "insert", (3,))]


@pytest.mark.parametrize("options", [{}, {"settings_limit": 100}])
def test_partial_matches_of_a_row_pattern(options: dict[str, int]) -> None:
    from epl.settings import Settings

    limited = {"settings": Settings(max_states=options["settings_limit"])} if options else {}
    recording = recorded("""@name('s') select * from A match_recognize (measures P.id as p, R.id as r pattern (P Q+ R)
        define P as P.x > 2, Q as Q.x > 3, R as R.x < 2)""", [("A", *each) for each in [("a", 3), ("b", 5), ("c", 1), ("d", 3), ("e", 1)]],
        **limited)
    assert partials(recording.tracks[0]) == [
        ("P1@0 Q2@1", "match", 2), ("P2@1", "given up", 2), ("P4@3", "given up", 4)]
    assert rows(recording.tracks[0]) == [(2, "insert", ("a", "c"))]


def test_partial_matches_of_a_row_pattern_that_looks_back() -> None:
    recording = recorded("""@name('s') select * from A match_recognize (partition by id measures P.x as p, R.x as r pattern (P Q* R)
        define Q as Q.x > P.x, R as R.x < P.x)""", [("A", "k", 3), ("A", "m", 5), ("A", "k", 4), ("A", "k", 1)])
    assert partials(recording.tracks[0])[0] == ("P1@0 Q3@2", "match", 3)
    assert ("P2@1", "open", None) in partials(recording.tracks[0])


def test_partial_matches_of_a_pattern() -> None:
    recording = recorded(
        "@name('s') select a.id as a, b.id as b from pattern [every a=A -> (b=B(id = a.id) and c=B(y > 8)) where timer:within(10 sec)]",
        [("A", "k", 1), 1, ("A", "m", 2), 4, ("B", "k", 3), 5, ("B", "z", 9), 20])
    assert partials(recording.tracks[0]) == [("a1@0 b3@2", "match", 3), ("a2@1 c4@3", "given up", 4)]
    assert rows(recording.tracks[0]) == [(3, "insert", ("k", "k"))]


def test_repetitions_and_every_tag_of_a_pattern() -> None:
    recording = recorded("@name('s') select a[0].x as x from pattern [every [2] a=A(x > 0) -> b=B]",
                         [("A", "k", 1), ("A", "k", 2), ("B", "k", 3)])
    assert partials(recording.tracks[0])[0] == ("a1@0 a2@1", "match", 2)


def test_each_window_of_a_join_and_each_partition_of_a_context() -> None:
    recording = recorded("@name('s') select a.x from A#lastevent as a, B#length(2) as b", [("A", "k", 1), ("B", "k", 2), ("A", "k", 3)])
    assert recording.tracks[0].windows == ["a #lastevent()", "b #length(2)"]
    recording = recorded("create context P partition by id from A; @name('s') context P select * from A#length(2)",
                         [("A", "k", 1), ("A", "m", 2), ("A", "k", 3)])
    assert recording.tracks[0].windows == ["#length(2) (partition 0)", "#length(2) (partition 1)"]
    assert held(recording.tracks[0]) == [("1", 0, None), ("2", 1, None), ("3", 2, None)]


def test_named_windows_sub_queries_and_routed_events() -> None:
    text = SCHEMAS + """@name('w') create window W#length(1) as A; insert into W select * from A(x > 1); on B delete from W;
        @name('s') select id, (select max(y) from B#lastevent) as m from A#length(2)"""
    with Runtime(tier="row") as runtime:
        runtime.deploy(text)
        with runtime.record() as recording:
            runtime.send("A", {"id": "a", "x": 2})
            runtime.send("B", {"id": "b", "y": 1})
            runtime.send("A", {"id": "c", "x": 1})
        tracks = {track.name: track for track in recording.tracks}
        assert held(tracks["w"]) == [("2", 1, 2)]
        assert {each.window: each.label for each in tracks["s"].held[:2]} == {"#length(2)": "1", "sub-query B #lastevent()": "3"}
        assert [values for _, stream, values in rows(tracks["s"]) if stream == "insert"] == [("a", None), ("c", 1)]


def test_batches_are_recorded_row_by_row() -> None:
    table = pa.table({"id": ["a", "b", "c"], "x": pa.array([1, 2, 3], pa.int32()), "at": [0, 4000, 12000]})
    for tier in ("row", "auto"):
        with Runtime(tier=tier) as runtime:
            runtime.deploy(SCHEMAS + "@name('s') select x from A#time(10 sec)")
            with runtime.record("s") as recording:
                runtime.send_batch("A", table, time="at")
            assert [(m.time, m.event) for m in recording.moments] == [(0, 1), (4000, 2), (10000, None), (12000, 3)]
            assert held(recording.tracks[0]) == [("1", 0, 2), ("2", 1, None), ("3", 3, None)]


EVENTS = st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from("km"), st.integers(0, 5), st.integers(0, 4)), max_size=12)


@settings(max_examples=25, deadline=None)
@given(EVENTS)
def test_a_recording_changes_nothing(events: list[tuple[str, str, int, int]]) -> None:
    """The same rows come out with and without, and afterwards the runtime is as it was: generated code, listeners, state."""
    text = SCHEMAS + """@name('s') select irstream id, sum(x) as t from A#time(3 sec) group by id; @name('p') select a.x as x from
        pattern [every a=A -> B(id = a.id)]; insert into C select x from A(x > 1); @name('c') select irstream * from C#length(2);
        @name('m') select * from A match_recognize (measures P.x as p, last(Q.x) as q pattern (P Q+) define Q as Q.x > P.x)"""
    logs: list[list[Any]] = []
    for records in (False, True):
        with Runtime(tier="row") as runtime:
            log: list[Any] = []
            deployment = runtime.deploy(text)
            for statement in deployment:
                if statement.name in ("s", "p", "c", "m"):
                    statement.add_listener(
                        lambda new, old, s, r, log=log: log.append((r.now, s.name, [*map(dict, new)], [*map(dict, old)])))

            def send(part: list[tuple[str, str, int, int]], runtime: Runtime = runtime) -> None:
                for name, key, number, wait in part:
                    runtime.send(name, {"id": key, "x" if name == "A" else "y": number})
                    runtime.advance_time(runtime.now + wait * 1000)

            before = {name: getattr(internal_engine(runtime).core, name) for name in ("_process_one", "run_due")}
            if records:
                with runtime.record(), runtime.record("c"):
                    send(events[:8])
            else:
                send(events[:8])
            assert {name: getattr(internal_engine(runtime).core, name) for name in before} == before
            send(events[8:])
            logs.append([log, runtime.snapshot()])
    assert logs[0] == logs[1]


# ---------------------------------------------------------------------- pictures


@pytest.fixture(scope="module")
def example() -> Recording:
    return recorded("@name('s') select irstream x from A#length(2)", [("A", "<b>&", 1), ("A", "$x^2$", 2), ("A", "c", 3)])


def test_pictures_are_the_same_each_time(example: Recording, tmp_path: pathlib.Path) -> None:
    for name in ("a.svg", "b.svg", "c.png"):
        example.save(tmp_path / name, title="select 'x' from A")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert text == (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert len(text) < 20_000
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    tags = {element.tag.partition("}")[2] for element in ET.fromstring(text).iter()}
    assert not tags & {"script", "a", "image", "foreignObject"}
    assert "&lt;b&gt;&amp;, 1" in text and "$x^2$, 2" in text
    with pytest.raises(ValueError, match=r"written as \.svg, \.png or \.pdf"):
        example.save(tmp_path / "d.gif")
    shown = example._repr_html_()
    assert shown.startswith('<div style="overflow-x:auto" tabindex="0" role="group" aria-label="Timeline of ')
    width = round(example.plot().get_figwidth() * 72, 2)
    assert re.search(rf'<svg style="max-width:none" [^>]*width="{width}[0-9]*pt"', shown)


def test_both_axes_and_a_chart(example: Recording) -> None:
    with pytest.raises(ValueError, match="axis is 'auto', 'time' or 'steps'"):
        example.plot(axis="space")
    assert example.plot(axis="time").axes and example.plot(width=4).get_figwidth() == 4
    chart = example.chart().to_dict()
    bars, marks = (chart["datasets"][chart["layer"][layer]["data"]["name"]] for layer in (0, 1))
    assert [(bar["row"], bar["text"], bar["x"], bar["x2"]) for bar in bars] == [
        ("#length(2) 1", "1", 0.0, 2.0), ("#length(2) 2", "2", 1.0, 3.0), ("#length(2) 1", "3", 2.0, 3.0)]
    assert [mark["values"] for mark in marks if mark["sign"] == "event"] == ["id=<b>&, x=1", "id=$x^2$, x=2", "id=c, x=3"]


@pytest.mark.parametrize("seconds", [1, 2, 60])
def test_the_last_texts_are_within_the_picture(seconds: int) -> None:
    pytest.importorskip("matplotlib")
    recording = recorded("@name('s') select id, x from A", [("A", "abcdefgh", 123456), seconds, ("A", "abcdefgh", 123456)])
    figure = recording.plot(axis="time")
    figure.canvas.draw()
    ends = [text.get_window_extent().x1 for axes in figure.axes for text in axes.texts]
    assert max(ends) <= figure.bbox.x1


def test_what_cannot_be_recorded() -> None:
    with Runtime(tier="row") as runtime, pytest.raises(KeyError, match="no statement named 'none'"):
        runtime.record("none")
    with Runtime(tier="batch") as runtime:
        runtime.deploy(SCHEMAS + "@name('s') select x from A#length(2)")
        with pytest.raises(EplRuntimeError, match="A statement of the batch tier cannot be recorded"):
            runtime.record("s").__enter__()
        assert not runtime.statement("s").listeners


def test_a_recording_that_fails_harms_no_statement(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    with Runtime(tier="row") as runtime:
        statement = runtime.deploy(SCHEMAS + "@name('s') select x from A#length(2)")["s"]
        with runtime.record("s") as recording:
            runtime.send("A", {"id": "a", "x": 1})
            monkeypatch.setattr("runtime.pictures.recording.statement_windows", lambda statement: 1 // 0)
            runtime.send("A", {"id": "a", "x": 2})
            statement.remove_all_listeners()
        assert [row.x for row in statement] == [1, 2] and recording.is_cut and "the recording ends" in caplog.text


def test_long_recordings_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.pictures.recording.MOST_MOMENTS", 2)
    recording = recorded("@name('s') select x from A", [("A", "a", 1)] * 3)
    assert len(recording.moments) == 2 and recording.is_cut


def test_epl_plot(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, script, out = tmp_path / "m.epl", tmp_path / "s.txt", tmp_path / "o.svg"
    module.write_text(SCHEMAS + "@name('s') select irstream x from A#time(2 sec);", encoding="utf-8")
    script.write_text("A={id='a', x=1}\nt=t.plus(3 seconds)\nA={id='b', x=2}\n", encoding="utf-8")
    assert main(["plot", str(module), "--events", str(script), "-o", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "1: a, 1" in text and "08:00:02" in text and "select irstream x from A#time(2 sec)" in text
    assert main(["plot", str(module), "--events", str(script), "-o", str(tmp_path / "o.gif")]) == 2
    assert main(["plot", str(module), "--events", str(script), "-o", str(out), "--statement", "t"]) == 2
    script.write_text("A={id='a', x='one'}\n", encoding="utf-8")
    assert main(["plot", str(module), "--events", str(script), "-o", str(out)]) in (0, 1)
    capsys.readouterr()
