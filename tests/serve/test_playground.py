"""Runs of the playground: what they show, and what ends them."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import pathlib
from typing import Any

import httpx
import pytest

from runtime.replay.epl_online import DEFAULT_START
from runtime.tools.serve import playground_run
from runtime.tools.serve.options import Allowed, ServeLimits
from runtime.tools.serve.sandbox import PASSED_ON, Sandbox
from tests.serve.conftest import serving

SCHEMA = "create schema T(a int, s string);\n"


def run(address: str, epl: str, script: str, status: int = 200, **more: Any) -> Any:
    answer = httpx.post(f"{address}/api/v1/playground/run", json={"epl": epl, "script": script, **more}, timeout=30)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_output_is_by_time_as_epl_online_has_it(address: str) -> None:
    result = run(address, SCHEMA + "@name('Out') select irstream a, s from T#time(2 sec)",
                 "T={a=1, s='x'}\nt=t.plus(2 seconds)\nT={a=2}")  # fmt: skip
    assert result["errors"] == []
    assert [(o["at"], o["statements"]) for o in result["outputs"]] == [
        (DEFAULT_START, [{
            "name": "Out", "insert": [{"text": "Out-output={a=1, s='x'}", "cells": [["a", "1"], ["s", "'x'"]]}], "remove": []}]),
        ("2001-01-01 08:00:02.000", [{
            "name": "Out", "insert": [{"text": "Out-output={a=2, s=(null)}", "cells": [["a", "2"], ["s", "(null)"]]}],
            "remove": [{"text": "Out-output={a=1, s='x'}", "cells": [["a", "1"], ["s", "'x'"]]}]}]),
    ]  # fmt: skip
    assert [(event["type"], event["line"]) for event in result["events"]] == [("T", 1), ("T", 3)]
    assert result["current"] == [{"name": "Out", "rows": [{"text": "Out-output={a=2, s=(null)}", "cells": [["a", "2"], ["s", "(null)"]]}]}]
    assert "time" in result["statements"][1]["plan"]
    has_layout = importlib.util.find_spec("fast_sugiyama") is not None
    assert [picture["statement"] for picture in result["pictures"]] == ([None, "Out"] if has_layout else [])
    assert all(picture["svg"].startswith("<svg ") for picture in result["pictures"])
    assert (result["end"]["events"], result["end"]["rows"], result["stopped"]) == (2, 3, None)


def test_errors_name_pane_and_place(address: str) -> None:
    result = run(address, "select *\nfro X", "T={a=1}\nt=t.plus(1 parsec)")
    assert [(e["pane"], e["line"], e["column"]) for e in result["errors"]] == [("script", 2, 12), ("epl", 2, 1)]
    event = run(address, SCHEMA, "T={a=1}\n  T={a='one'}")["errors"]
    assert [(e["pane"], e["line"], e["column"], e["end_column"]) for e in event] == [("script", 2, 3, 14)]
    back = run(address, SCHEMA, "t=\"1999-01-01 00:00:00\"")["errors"]
    assert "time goes back" in back[0]["message"]
    assert run(address, SCHEMA, "", start="soon")["errors"][0]["pane"] == "start"


def test_misspelt_properties_are_warned_of_once_each(address: str) -> None:
    result = run(address, SCHEMA + "select * from T", "T={a=1, z='x'}\nT={a=2, z='y'}\nT={aa=2}")
    assert result["warnings"] == ["line 1: T has no property 'z'", "line 3: T has no property 'aa' (did you mean 'a'?)"]
    assert (result["errors"], result["end"]["events"]) == ([], 3)


def test_exceptions_in_expressions_are_faults(address: str) -> None:
    result = run(address, SCHEMA + "@name('F') select cast(s, int) as n from T", "T={s='x'}\nT={s='4'}")
    assert [(f["statement"], f["line"]) for f in result["faults"]] == [("F", 2)]
    assert len(result["outputs"][0]["statements"][0]["insert"]) == 1


@pytest.mark.parametrize(
    ("epl", "script", "reasons"),
    [
        ("@name('o') select * from T; insert into T select a + 1 as a, s from T", "T={a=1}", {"rows"}),
        ("create window W#keepall as T; insert into W select * from T; insert into T select a, s || s as s from T",
         f"T={{a=1, s='{'x' * 1000}'}}", {"memory", "process"}),
    ],
    ids=["rows", "memory"],
)  # fmt: skip
def test_runs_without_end_are_stopped(address: str, epl: str, script: str, reasons: set[str]) -> None:
    assert run(address, SCHEMA + epl, script)["stopped"]["reason"] in reasons
    assert run(address, SCHEMA + "@name('o') select a from T", "T={a=1}")["end"]["rows"] == 1


def test_timers_without_end_are_stopped(hurried: str) -> None:
    result = run(hurried, SCHEMA + "@name('o') select * from pattern[every timer:interval(1 msec)] where 1 = 2", "t=t.plus(100 days)")
    assert (result["stopped"] or {}).get("reason") == "time" or "200000 timers" in result["errors"][0]["message"], result


def test_slow_expression_is_killed(hurried: str) -> None:
    """Sixty to the power of five additions, in one expression."""
    nested = "1"
    for name in "bcdef":
        nested = f"{{{', '.join(map(str, range(60)))}}}.sumOf({name} => {nested})"
    result = run(hurried, SCHEMA + f"@name('o') select a from T(a = 1); select {nested} as n from T(a = 2)", "T={a=1}\nT={a=2}")
    assert result["stopped"]["reason"] == "time"
    assert result["outputs"][0]["statements"][0]["insert"][0]["text"] == "o-output={a=1}"


def test_limits_of_scripts_and_texts(address: str) -> None:
    assert "400 instructions" in run(address, SCHEMA, "T={a=1}\n" * 401)["errors"][0]["message"]
    run(address, SCHEMA + "x" * 30_000, "", status=413)


@pytest.mark.parametrize(
    "epl",
    [
        "select * from sql:db ['select 1'], T", "select * from T, method:os.listdir('/')", "import os; select os.getcwd() as d from T",
        "import subprocess; select subprocess.run('id') as d from T", "select java.lang.Runtime.getRuntime() as r from T",
        "create expression string js:f() [java.lang.System.exit(1)]; select f() as x from T",
        "inlined_class \"\"\"public class X { public static String f() { return \"\"; } }\"\"\" select X.f() as x from T",
    ],
)  # fmt: skip
def test_what_reaches_out_of_the_language_is_refused(address: str, epl: str) -> None:
    imports, _, statement = epl.rpartition("; ") if epl.startswith("import ") else ("", "", epl)
    result = run(address, f"{imports};{SCHEMA}{statement}" if imports else SCHEMA + epl, "T={a=1}")
    assert result["errors"]
    assert result["errors"][0]["pane"] == "epl"
    assert result["outputs"] == []


def test_functions_are_there_where_the_one_who_starts_allows_them(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "allowed_rules.py").write_text(
        "import signal, time\n\ndef asleep() -> int:\n    signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "    time.sleep(60)\n    return 1\n\n"
        "def discount(price: float) -> float:\n    print('no result')\n    return price / 2\n\n"
        "def register(runtime):\n    runtime.register_function('half', discount)\n"
        "    runtime.register_function('asleep', asleep)\n")  # fmt: skip
    monkeypatch.syspath_prepend(str(tmp_path))
    with serving(allowed=Allowed(("allowed_rules",), ("allowed_rules",)), limits=ServeLimits(run_seconds=3)) as address:
        epl = f"import allowed_rules; {SCHEMA} @name('o') select half(3.0) as h, allowed_rules.discount(5.0) as d from T"
        result = run(address, epl, "T={a=1}")
        assert result["outputs"][0]["statements"][0]["insert"][0]["text"] == "o-output={h=1.5, d=2.5}"
        deployed = httpx.post(f"{address}/api/v1/deployments", json={"epl": "select half(3.0) as h from pattern[every timer:interval(1)]"})
        assert deployed.status_code == 201
        killed = run(address, SCHEMA + "@name('o') select asleep() as n from T", "T={a=1}")
        assert killed["stopped"]["reason"] == "time"


def test_run_sees_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of a run has nothing of the server's environment but the language."""
    monkeypatch.setenv("EPL_SERVE_TOKEN", "secret")

    async def environment() -> bytes:
        sandbox = Sandbox(ServeLimits(), Allowed())
        process = await sandbox._start()
        try:
            return pathlib.Path(f"/proc/{process.pid}/environ").read_bytes()
        finally:
            process.kill()
            await process.wait()

    if not pathlib.Path("/proc/self/environ").exists():
        pytest.skip("no /proc")
    assert {entry.partition(b"=")[0].decode() for entry in asyncio.run(environment()).split(b"\0")} <= {"", *PASSED_ON}


def test_server_has_the_parts_asked_for() -> None:
    with serving(rules=False) as address:
        assert httpx.get(f"{address}/api/v1/deployments").status_code == 404
        assert httpx.get(f"{address}/ready").status_code == 200
        assert "/api/v1/query" not in httpx.get(f"{address}/openapi.json").json()["paths"]
    with serving(playground=False) as address:
        assert httpx.get(f"{address}/").status_code == 404
        assert httpx.post(f"{address}/api/v1/playground/run", json={"epl": "", "script": ""}).status_code == 404


EXAMPLES = json.loads((pathlib.Path(playground_run.__file__).parent / "static" / "examples.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["title"])
def test_examples_of_the_page_run_and_emit(address: str, example: dict[str, str]) -> None:
    result = run(address, example["epl"], example["script"])
    assert (result["errors"], result["faults"], result["stopped"], result["warnings"]) == ([], [], None, [])
    named = {s["name"] for s in result["statements"] if not s["name"].startswith("stmt-")}
    emitted = {s["name"] for o in result["outputs"] for s in o["statements"]} | {c["name"] for c in result["current"]}
    assert named <= emitted
