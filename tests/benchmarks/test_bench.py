"""The benchmark's engines emit the same rows, its events never change, its reports hold what was measured."""
from __future__ import annotations

import gc
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import attrs
import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.data import Data
from benchmarks.engine import Engine, Measured
from benchmarks.engines.batch import Batch
from benchmarks.engines.loops import Loops
from benchmarks.engines.row import Row, RowSession
from benchmarks.engines.with_numpy import Numpy
from benchmarks.plot import picture
from benchmarks.report import number, replaced, table
from benchmarks.report import scaling as scaling_report
from benchmarks.report import throughput as throughput_report
from benchmarks.scaling import AXES, Curve, curves, prepared
from benchmarks.throughput import Result, differing, measure
from benchmarks.workloads import WORKLOADS, Column, Workload

ROOT = Path(__file__).resolve().parents[2]


def ignore(text: str) -> None:
    pass


@pytest.fixture(autouse=True)
def _no_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure without collecting garbage first, and leave frozen what tests/conftest.py has: no test looks at the figures."""
    monkeypatch.setattr(gc, "collect", lambda: 0)
    monkeypatch.setattr(gc, "unfreeze", lambda: None)


IN_ROWS = ("W6", "W8", "W9", "W9t", "W11")
"""Workloads of patterns, joins, named windows, tables and contexts, which run in rows."""


@pytest.mark.slow
def test_quick_mode_finds_engines_in_agreement(capsys: pytest.CaptureFixture[str]) -> None:
    """An engine that disagrees makes the command fail, so that its success says that counts and sums agree: here of what runs in rows,
    and of one in columns; the next test has the others."""
    names = ("W1", *IN_ROWS)
    options = ["--events", "1500", "--engines", "row,batch,numpy", "--batch-rows", "700", "--workloads", ",".join(names)]
    assert main(options) == 0
    printed = capsys.readouterr().out
    for name in names:
        assert f"| {name} " in printed
    assert "ns per event, CPU time" in printed


@pytest.mark.slow
def test_batch_tier_and_loops_by_hand_agree_with_the_row_tier() -> None:
    pytest.importorskip("numba")
    engines: dict[str, Engine] = {
        "row": Row(), "batch": Batch(tier="batch"), "plain": Batch(encoded=False, tier="batch"), "numpy": Numpy(), "loops": Loops(),
    }
    with prepared(engines, Data(8_000, 50), 900):  # few symbols, so that matches are many
        for name, workload in WORKLOADS.items():
            results = measure(workload, engines, 1_500, 2_000, ignore)
            assert not [r.note for r in results if r.failed]
            ran = {r.engine: r for r in results if r.runs}
            if name in IN_ROWS:
                assert list(ran) == ["row"] and all(m.rows for m in ran["row"].runs)
                continue
            assert {"row", "batch", "plain", "loops"} <= ran.keys()
            assert all(m.rows for m in ran["row"].runs) or name == "W5sel"
            assert {ran["batch"].note, ran["plain"].note} == {"batch tier"}


def test_unknown_names_are_refused() -> None:
    command = [sys.executable, "-m", "benchmarks", "--workloads", "W99"]  # as a command, once
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no workload 'W99'; there are W1," in done.stderr


def test_disagreement_is_told() -> None:
    one, other = Measured(10, 1, 1, 1, 4, (0, 7)), Measured(10, 1, 1, 1, 4, (0, 8))
    assert differing(WORKLOADS["W2"], {"row": one, "batch": one}, (0, 10)) == {}
    found = differing(WORKLOADS["W2"], {"row": one, "batch": other, "loops": Measured(10, 1, 1, 1, 5, (0, 7))}, (0, 10))
    assert found == {
        "batch": "DISAGREES with row on the events 0 to 10: sum of s 7 against 8",
        "loops": "DISAGREES with row on the events 0 to 10: 4 rows against 5 rows",
    }


def test_only_rounded_sums_may_differ_in_their_last_digits() -> None:
    one, other = Measured(1, 1, 1, 1, 1, (1e9, 5)), Measured(1, 1, 1, 1, 1, (1e9 + 1e-3, 5))
    assert not differing(WORKLOADS["W3"], {"row": one, "batch": other}, (0, 1))
    exact = {"row": Measured(1, 1, 1, 1, 1, (0, 1e9)), "batch": Measured(1, 1, 1, 1, 1, (0, 1e9 + 1e-3))}
    assert list(differing(WORKLOADS["W1"], exact, (0, 1))) == ["batch"]


class Failing(Row):
    def open(self, workload: Workload) -> RowSession:
        session = super().open(workload)
        session.workload = attrs.evolve(workload, layout="temperature")  # events that the statement does not know
        return session


@pytest.mark.slow
def test_an_engine_that_raises_fails_alone() -> None:
    engines: dict[str, Engine] = {"row": Row(), "failing": Failing()}
    with prepared(engines, Data(100)):
        good, bad = measure(WORKLOADS["W2"], engines, 20, 20, ignore)
    assert len(good.runs) == 3 and not good.failed
    assert bad.failed and not bad.runs and bad.note.startswith("FAILS: EplRuntimeError: ")


def test_events_never_change() -> None:
    data = Data(1_000)
    assert data.symbol[:5].tolist() == [962, 867, 827, 686, 330]
    assert data.price[:5].tolist() == [491.65625, 152.859375, 230.359375, 994.71875, 307.421875]
    assert data.volume[:5].tolist() == [969, 680, 487, 580, 341]
    assert (data.price * 64 == np.floor(data.price * 64)).all() and data.price.max() < 1000
    assert data.volume.min() >= 1 and data.volume.max() <= 1000
    longer = Data(2_000)
    assert (longer.symbol[:1000] == data.symbol).all()
    later = Data(500, start=1_500)
    assert (later.price == longer.price[1_500:]).all() and later.ts[0] == 1_501


def test_events_are_the_same_in_every_form() -> None:
    data = Data(100)
    for layout in ("trade", "temperature"):
        dicts = data.dicts(layout, 10, 50)
        for encoded in (True, False):
            batches = data.batches(layout, 10, 50, 16, encoded)
            assert [b.num_rows for b in batches] == [16, 16, 8]
            rows = [row for b in batches for row in b.to_pylist()]
            assert [{name: row[name] for name in dicts[0]} for row in rows] == dicts
            assert [row["ts"] for row in rows] == list(range(11, 51))


@pytest.mark.slow
def test_growth_is_measured_drawn_and_tabled() -> None:
    found = list(curves({"row": Row()}, 200, ignore))
    assert {c.axis.name for c in found} == {"window", "join", "keys", "partitions", "statements"}
    drawn = ElementTree.fromstring(picture(found))
    assert len([e for e in drawn.iter() if e.tag.endswith("polyline")]) == 5
    assert scaling_report(found).count("| row ") == 5


def test_slope_is_of_logarithms() -> None:
    assert Curve(AXES[0], "row", ((10, 5.0), (100, 50.0), (1000, 500.0))).slope == pytest.approx(1)
    assert Curve(AXES[0], "row", ((10, 5.0), (100, 5.0))).slope == pytest.approx(0)
    assert Curve(AXES[0], "row", ((10, 5.0),)).slope == 0


def test_report_shows_medians_ratios_and_goals() -> None:
    runs = tuple(Measured(10, cpu, 2 * cpu, 3 * cpu, 5, (0, 0)) for cpu in (100, 300, 200))
    faster = tuple(Measured(10, cpu // 10, cpu // 10, cpu // 10, 5, (0, 0)) for cpu in (100, 300, 200))
    text = throughput_report([
        Result(WORKLOADS["W1"], "esper", runs), Result(WORKLOADS["W1"], "batch", faster, "batch tier"),
        Result(WORKLOADS["W1"], "numpy", note="not there"),
    ])
    assert "| W1 filter 1 % |         0.50 |  20.0 |  2.00 |     - |" in text
    assert "10.0 (20)" in text
    assert "- numpy, W1: not there" in text and "- batch, W1: batch tier" in text
    assert "W1 esper: from 10.0 to 30.0 ns CPU" in text


def test_sections_of_the_document_are_replaced() -> None:
    document = "a\n<!-- memory -->\nold\n<!-- /memory -->\nb\n"
    assert replaced(document, "memory", "new\\1") == "a\n<!-- memory -->\nnew\\1\n<!-- /memory -->\nb\n"
    with pytest.raises(ValueError, match="no section"):
        replaced(document, "scaling", "")
    performance = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    for part in ("throughput", "scaling", "memory", "compiling", "shapes"):
        assert f"<!-- {part} -->" in performance and f"<!-- /{part} -->" in performance


def test_tables_line_up() -> None:
    assert table(["a", "b"], [["long", "1"]]) == "| a    | b |\n|------|--:|\n| long | 1 |"
    assert [number(v) for v in (1234.5, 12.34, 1.234, 0.01234)] == ["1,234", "12.3", "1.23", "0.012"]


def test_columns_are_read_in_known_ways() -> None:
    for workload in WORKLOADS.values():
        assert all(isinstance(c, Column) and c.mode in ("touch", "whole", "exact", "near", "id") for c in workload.columns)
