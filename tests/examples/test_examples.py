"""Every example runs, and gives what it should."""

from __future__ import annotations

import importlib.util
import pathlib
import re
import subprocess
import sys
import types
from typing import Any

import pytest

from runtime.cli import main

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def load(name: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name.replace('/', '_')}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


MANUAL = {
    "two in a row": [(4000, {"a_id": "E3", "b_id": "E4", "a_temp": 60.0, "b_temp": 70.0})],
    "alternation": [(2000, {"a_id": "E1", "b_id": "E2", "c_id": None}), (6000, {"a_id": "E5", "b_id": None, "c_id": "E6"})],
    "optional and reluctant": [(2000, {"a_id": None, "b_id": "E2"}), (3000, {"a_id": "E3", "b_id": None})],
    "groups by index": [(4000, {"first_a": "E2", "last_a": "E3", "b0_id": "E4", "b1_id": None})],
    "zero or more": [(6000, {"a_id": "E3", "count_b": 2, "c_id": "E6"})],
    "optional steps": [(5000, {"a_id": "E2", "b_id": "E3", "c_id": "E4", "d_id": "E5"})],
    "previous rows": [(5000, {"a_id": "E5"})],
    "within a window": [(13000, {"a_id": "E4", "b_id": "E5", "c_id": "E6", "d_id": "E7"})],
    "interval": [(7000, {"a_id": "E2", "count_b": 3, "first_b": "E3", "last_b": "E5"})],
}
"""The manual's tables, as Esper 9.0.0 gives them; so are the outputs of the ported programs."""


def test_the_manuals_statements_give_the_manuals_tables() -> None:
    manual = load("manual")
    assert {example.name: manual.matches(example) for example in manual.EXAMPLES} == MANUAL


def test_listener_and_iterator(capsys: pytest.CaptureFixture[str]) -> None:
    totals = load("listener_and_iterator").main()
    assert totals == [{"account": "B", "n": 2, "total": 150.0}, {"account": "A", "n": 1, "total": 200.0}]
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == ["in: [500.0] out: []", "large: [{'account': 'A', 'amount': 500.0}]"]
    assert "in: [50.0] out: [500.0]" in printed


def test_patterns() -> None:
    """As Esper 9.0.0 gives it."""
    assert load("patterns").main() == [
        (2, "sequence", [{"user": "ann", "amount": 250.0}]),
        (4, "timeout", [{"id": "o1", "late": False}]),
        (5, "three failures", [{"user": "bob", "failures": 2}]),
        (11, "absence", [{"id": "o2"}]),
        (26, "timeout", [{"id": "o2", "late": True}]),
    ]


def test_joins() -> None:
    ann, bob = ({"customer": customer, "n": 1} for customer in ("ann", "bob"))
    assert load("joins").main() == [
        (2, "paid", [{"customer": "ann", "id": "o1", "paid": 20.0}]),
        (2, "totals", [{**ann, "paid": 20.0}]),
        (3, "totals", [{**bob, "paid": 1.0}]),
        (14, "unpaid", [{"id": "o3", "amount": 7.5}]),
        (20, "paid", [{"customer": "ann", "id": "o3", "paid": 7.5}]),
        (20, "totals", [{**ann, "paid": 7.5}]),
    ]


def test_module_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert load("module_file").main() == [
        ("LargeSale", {"customer": "ann", "article": "pot", "amount": 120.0}),
        ("Rising", {"customer": "ann", "first_amount": 9.0, "last_amount": 120.0}),
    ]


def test_columns(capsys: pytest.CaptureFixture[str]) -> None:
    rows, tier, averages = load("columns").main()
    assert rows == 30_000 and tier == ("batch" if importlib.util.find_spec("numba") else "row")
    assert {row["symbol"]: row["trades"] for row in averages} == {"IBM": 3333, "ORCL": 3334, "SAP": 3333}


def test_lookups() -> None:
    emitted = load("lookups").main()
    assert [(row["name"], row["city"], row["amount"]) for row in emitted["enriched"]] == [
        ("International Business Machines", "Oslo", 600.0), ("SAP SE", "Rome", 900.0), (None, "Oslo", 500.0), ("Xyz Ltd", None, 1.0),
    ]
    assert emitted["exceeded"] == [{"account": "a1", "amount": 1100.0, "most": 1000.0}]


def test_subqueries() -> None:
    assert load("subqueries").main() == [
        ("priced", {"id": "o1", "value": 2000.0}),
        ("priced", {"id": "o2", "value": 1050.0}),
        ("blocked", {"id": "o2", "account": "a9"}),
        ("priced", {"id": "o3", "value": None}),
        ("large", {"id": "o3", "account": {"purchases": 2, "mean": 50.0}}),
        ("unpaid", {"id": "o2", "account": "a9"}),
        ("unpaid", {"id": "o3", "account": "a1"}),
    ]


def test_ported_market_data_monitor() -> None:
    assert load("ported/market_data").main() == [
        {"at": 9100, "feed": "SOUTH", "average": 18.333333333333332, "ticks": 5},
        {"at": 10100, "feed": "SOUTH", "average": 17.0, "ticks": 5},
    ]


def test_ported_service_levels() -> None:
    assert load("ported/service_levels").main() == [
        ("exceeded", {"name": "order", "customer": "acme", "latency": 9000}),
        ("spike", {"name": "order", "customer": "umbrella", "latency": 21000}),
        ("errors", {"customer": "acme", "errors": 2}),
        ("exceeded", {"name": "order", "customer": "acme", "latency": 7000}),
        ("averages", {"customer": "acme", "name": "login", "average": 200.0, "datapoints": 2}),
        ("averages", {"customer": "acme", "name": "order", "average": 7666.666666666667, "datapoints": 3}),
        ("averages", {"customer": "umbrella", "name": "order", "average": 21000.0, "datapoints": 1}),
    ]


def test_ported_terminal_service() -> None:
    emitted = load("ported/terminal_service").main()
    assert [each for each in emitted if each[1] != "counts"] == [
        (30_000, "service", {"terminal": "T2", "problem": "LowPaper"}),
        (100_000, "service", {"terminal": "T3", "problem": "OutOfOrder"}),
        (185_000, "abandoned", {"terminal": "T2", "others": 1}),
    ]
    counts = {row["kind"]: row["events"] for _, name, row in emitted if name == "counts"}
    assert counts == {"Cancelled": 1, "Checkin": 3, "Completed": 1, "LowPaper": 1, "OutOfOrder": 1}
    assert sorted({at for at, name, _ in emitted if name == "counts"}) == [61_000, 121_000, 181_000, 241_000]


def test_the_command_runs_the_module_file() -> None:
    command = [sys.executable, "-m", "runtime.cli", "run", "examples/shop.epl", "--events", "examples/shop.txt", "--statement", "Rising"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "At: 2024-05-01 09:00:30.000\n  Statement: Rising\n    Insert\n"
        "      Rising-output={customer='ann', first_amount=9.0, last_amount=120.0}\n"
    )


def test_notebook() -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    saved = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)
    notebook = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = [output for cell in saved.cells for output in cell.get("outputs", ())]
    html = [output["data"].get("text/html", "") for output in shown if "data" in output]
    assert sum("<table" in text for text in html) == 2
    assert sum("<svg" in text for text in html) == 4  # the deployment, the recording, a statement's plan, a plan
    assert any("did you mean" in output.get("text", "") for output in shown)
    assert plain_texts(notebook) == plain_texts(saved)


def plain_texts(notebook: Any) -> list[str]:
    """What its cells show, without pictures."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output["text"] if "text" in output else output["data"]["text/plain"] for output in outputs]


DASHBOARD = {
    "welcomed": [{"account": "ann", "spent": 20.0, "logins": 1}, {"account": "ann", "spent": 27.5, "logins": 2}],
    "largest": [{"account": "ann", "amount": 27.5}],
    "ann": [{"purchases": 2}],
    "forgotten": [{"account": "bob", "purchases": 1, "amount": 5.0}],
    "left": [{"account": "ann"}],
}


def test_dashboard() -> None:
    assert load("dashboard").in_process() == DASHBOARD


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_dashboard_on_spark() -> None:
    assert load("dashboard").on_spark() == DASHBOARD


SESSIONS = {
    "ended": [{"user": "bob", "clicks": 2, "lastPage": "/hats", "length": 1440000},
              {"user": "ann", "clicks": 2, "lastPage": "/shoes", "length": 3000000}],
    "live": [{"id": 2, "user": "cid"}],
    "pages": [{"user": "cid", "pages": 2}],
    "of cid": [{"page": "/", "times": 1}, {"page": "/hats", "times": 1}],
}


def test_sessions() -> None:
    assert load("sessions").in_process() == SESSIONS


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_sessions_on_spark() -> None:
    assert load("sessions").on_spark() == SESSIONS


@pytest.mark.spark
def test_demo_on_spark_equals_in_process() -> None:
    command = [sys.executable, "examples/demo.py", "--rows", "6000", "--batches", "10"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "on Spark, 10 micro-batches" in done.stdout
    assert "the output is the same, match for match" in done.stdout
    spanning = re.search(r"([\d,]+) matches span micro-batches", done.stdout)
    assert spanning is not None and int(spanning[1].replace(",", "")) > 0


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_command_runs_through_spark(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = tmp_path / "m.epl"
    module.write_text(
        "create schema A(k string, n int); create schema B(k string);\n"
        "@name('s0') select irstream k, n from A#time(2 sec);\n@name('s1') select count(*) as c from B;"
    )
    events = tmp_path / "e.jsonl"
    events.write_text("".join(f'{{"type": "{"AB"[n % 3 == 0]}", "k": "k{n}", "ts": {n * 700}}}\n' for n in range(12)))
    outputs = []
    for more in ([], ["--spark", "--batches", "4"]):
        words = ["run", str(module), "--events", str(events), "--time", "ts", "--format", "json", "--until", "20000", *more]
        assert main(words) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] != ""


def test_sql_patterns() -> None:
    assert load("sql_patterns").in_process() == [
        (7, "dip", {"symbol": "A", "top": 12, "bottom": 4, "back": 13}),
        (8, "deepest", {"symbol": "B", "low": 0}),
        (10, "no answer", {"symbol": "B", "asked": 5000, "answered": None}),
        (60, "dip", {"symbol": "B", "top": 20, "bottom": 0, "back": 8}),
    ]


def test_connectors(capsys: pytest.CaptureFixture[str]) -> None:
    load("connectors").main()
    assert capsys.readouterr().out.splitlines() == [
        'part-00000002.jsonl {"symbol": "A", "was": 10.0, "now": 12.0}',
        'part-00000003.jsonl {"symbol": "A", "was": 13.0, "now": 20.0}',
        "[('A', 13.75)]"]
