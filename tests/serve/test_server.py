"""The command as it is started: options, state over restarts, the example of the documentation, the OpenAPI description."""

from __future__ import annotations

import contextlib
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from runtime.cli import main
from runtime.tools.serve.openapi import describe_api
from runtime.tools.serve.options import ServeOptions
from runtime.tools.serve.server import prepare_runtime
from tests.serve.conftest import MODULE, serving

ROOT = pathlib.Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def command(*arguments: object) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Yield the address that the command prints, and its process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "runtime.cli", "serve", "--port", "0", "--no-playground", *map(str, arguments)], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip().rstrip("/"), process
    finally:
        process.terminate()
        process.communicate(timeout=20)


def send(address: str, *prices: float) -> None:
    answer = httpx.post(f"{address}/api/v1/events/Trade", json=[{"symbol": "A", "price": price} for price in prices])
    assert answer.status_code == 200


def total(address: str) -> Any:
    return httpx.get(f"{address}/api/v1/statements/Totals/rows").json()["rows"]


def test_state_outlives_the_server(tmp_path: pathlib.Path) -> None:
    module, state = tmp_path / "rules.epl", tmp_path / "state"
    module.write_text(MODULE)
    with command(module, "--state", state) as (address, process):
        send(address, 1, 2)
        httpx.post(f"{address}/api/v1/deployments", json={"epl": "@name('Added') select * from Trade#keepall", "name": "added"})
        send(address, 4)
        assert main(["serve", "--port", "0", "--state", str(state)]) == 2
        process.send_signal(signal.SIGTERM)
        process.wait(20)
    assert (state / "runtime.snapshot").stat().st_mode & 0o077 == 0
    with command(module, "--state", state) as (address, _):
        assert total(address) == [{"symbol": "A", "total": 7.0}]
        assert len(httpx.get(f"{address}/api/v1/statements/Added/rows").json()["rows"]) == 1
    (state / "runtime.snapshot").write_bytes(b"damaged")
    assert main(["serve", "--port", "0", "--state", str(state)]) == 2


def test_made_token_is_printed_and_needed() -> None:
    with command("--token", "auto", "--no-rules", "--playground") as (address, process):
        assert process.stdout is not None
        token = process.stdout.readline().strip().removeprefix("token: ")
        assert process.stdout.readline().strip() == f"playground: {address}/#token={token}"
        assert httpx.get(f"{address}/metrics").status_code == 401
        assert httpx.get(f"{address}/metrics", headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_state_is_saved_at_intervals(tmp_path: pathlib.Path) -> None:
    with serving(state=tmp_path / "s", snapshot_seconds=0.1, playground=False) as address:
        httpx.post(f"{address}/api/v1/deployments", json={"epl": MODULE})
        send(address, 5)
        deadline = time.monotonic() + 10
        while not (tmp_path / "s" / "runtime.snapshot").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert (tmp_path / "s" / "runtime.snapshot").exists()


def test_system_clock_moves_time() -> None:
    with serving(clock="system", playground=False) as address:
        one = httpx.get(f"{address}/api/v1/time").json()
        assert abs(one["now"] / 1000 - time.time()) < 30
        assert one["clock"] == "system"
        assert httpx.post(f"{address}/api/v1/time", json={"by": 1}).status_code == 409
        module = "@name('Beat') select 1 as one from pattern[every timer:interval(1)]"
        httpx.post(f"{address}/api/v1/deployments", json={"epl": module})
        with httpx.stream("GET", f"{address}/api/v1/stream?statement=Beat", timeout=20) as answer:
            assert any(line.startswith("event: rows") for line in answer.iter_lines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--host", "0.0.0.0"), "needs a token"), (("--token", "short"), "16 characters"), (("--allow", "os"), "import:MODULE"),
        (("--allow", "setup:no_such_module"), "no_such_module"), (("--allow", "setup:json"), "no function register"),
        (("no-such.epl",), "cannot read"), (("--key", "k.pem"), "go together"), (("--token-file", "/no/such"), "cannot read"),
        (("--runs", "0"), "more than 0"),
    ],
)  # fmt: skip
def test_wrong_options_are_2(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--port", "0", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_small_answers_are_sent_at_once() -> None:
    """asyncio sets TCP_NODELAY only on sockets whose protocol is named; without it, each answer takes 40 ms."""
    with prepare_runtime(ServeOptions(port=0, rules=False)) as (_, listening):
        assert listening.proto == socket.IPPROTO_TCP


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    assert main(["serve"]) == 2
    assert "pip install 'starlette>=0.40' 'uvicorn" in capsys.readouterr().err


def test_example_of_the_documentation_runs(tmp_path: pathlib.Path) -> None:
    page = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```bash\n(api=.*?)```", page, re.DOTALL)
    with serving() as address:
        script = script.replace("http://127.0.0.1:8420", address) + "kill %1\n"
        done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30)
    assert '"accepted":2' in done.stdout
    assert '"rows":[{"symbol": "A", "price": 99.5},{"symbol": "B", "price": 250.0}]' in done.stdout
    (promised,) = re.findall(r"^data: (.*)$", page, re.MULTILINE)
    assert f"data: {promised}" in (tmp_path / "large.txt").read_text()


# ------------------------------------------------------------------ OpenAPI


def test_description_is_openapi() -> None:
    validate(describe_api())
    validate(describe_api(rules=False, token=False))


def test_description_names_every_route(address: str) -> None:
    with serving(rules=True) as server:
        document = httpx.get(f"{server}/openapi.json").json()
    assert document == describe_api(token=False)
    for path, operations in document["paths"].items():
        concrete = re.sub(r"\{\w+\}", "x", path)
        for method in {"get", "post", "delete"} - set(operations) - ({"get"} if "stream" in path else set()):
            assert httpx.request(method, f"{address}{concrete}").status_code in (404, 405, 415), (method, path)


EXCHANGES: list[tuple[str, str, str, Any]] = [
    ("post", "/deployments", "", {"epl": "@name('S') select * from Trade#time(1)", "name": "s"}), ("get", "/deployments", "", None),
    ("get", "/deployments/{id}", "s", None), ("get", "/deployments/{id}", "none", None), ("post", "/deployments", "", {"epl": "selct"}),
    ("post", "/deployments", "", {"epl": 1}), ("post", "/compile", "", {"epl": "selct"}),
    ("post", "/compile", "", {"epl": "select 1 as a"}),
    ("post", "/events/{type}", "Trade", [{"symbol": "A", "price": 1}]), ("post", "/events/{type}", "Trade", {"price": "x"}),
    ("post", "/events", "", [{"type": "Trade", "event": {}}]), ("post", "/events", "", {"time": "soon"}), ("get", "/time", "", None),
    ("post", "/time", "", {"by": 1}), ("post", "/time", "", {}), ("post", "/query", "", {"epl": "select * from Book"}),
    ("post", "/query", "", {"epl": "select * from Nothing"}), ("get", "/statements", "", None), ("get", "/statements/{name}", "S", None),
    ("get", "/statements/{name}", "none", None), ("get", "/statements/{name}/rows", "S", None),
    ("get", "/statements/{name}/plan", "S", None),
    ("get", "/faults", "", None), ("delete", "/deployments/{id}", "m", None), ("delete", "/deployments/{id}", "s", None),
    ("get", "/playground", "", None), ("post", "/playground/run", "", {"epl": MODULE, "script": "Trade={symbol='A', price=200}"}),
    ("post", "/playground/run", "", {"epl": "selct", "script": "T="}), ("post", "/playground/run", "", {"epl": ""}),
]  # fmt: skip


def test_answers_are_as_described(http: httpx.Client) -> None:
    document = describe_api()
    for method, path, value, body in EXCHANGES:
        answer = http.request(method, f"/api/v1{re.sub(r'{.*?}', value, path)}", json=body)
        responses = document["paths"][f"/api/v1{path}"][method]["responses"]
        assert str(answer.status_code) in responses, (method, path, answer.text)
        content = responses[str(answer.status_code)].get("content")
        if content is None:
            assert answer.content == b""
            continue
        schema = {**content["application/json"]["schema"], "components": document["components"]}
        Draft202012Validator(schema).validate(answer.json())
    for path in ("/health", "/ready"):
        content = document["paths"][path]["get"]["responses"]["200"]["content"]
        Draft202012Validator(content["application/json"]["schema"]).validate(http.get(path).json())


def test_unknown_paths_and_methods_are_answered_in_json(http: httpx.Client) -> None:
    for method, path, status in (("get", "/nothing", 404), ("put", "/api/v1/time", 405), ("patch", "/", 405)):
        answer = http.request(method, path)
        assert answer.status_code == status
        assert answer.json()["error"]["code"] == "request"
