"""What the server does by itself goes on whatever ends one step of it, and ``/ready`` says while it does not."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from runtime.cli import main
from runtime.tools.serve.options import Allowed, ServeLimits, ServeOptions
from runtime.tools.serve.sandbox import Sandbox
from runtime.tools.serve.server import prepare_runtime
from runtime.tools.serve.stored_state import StoredState
from runtime.tools.serve.tasks import Tasks

BEAT = "@name('Beat') select current_timestamp as at from pattern[every timer:interval(1 sec)]"


@contextlib.contextmanager
def running(**options: Any) -> Iterator[tuple[str, Any]]:
    """Yield the address of a server and its application."""
    with prepare_runtime(ServeOptions(port=0, playground=False, **options)) as (server, listening):
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            assert httpx.get(f"{address}/health", timeout=20).status_code == 200
            yield address, server.application
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()


def becomes(condition: Callable[[], object], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def ready(address: str) -> tuple[int, str]:
    answer = httpx.get(f"{address}/ready", timeout=20)
    return answer.status_code, str(answer.json().get("reason"))


def moves(application: Any) -> bool:
    """Whether engine time moves without a request."""
    before = application.engine.runtime.now
    return becomes(lambda: application.engine.runtime.now > before)


def test_the_clock_outlives_more_requests_than_may_wait() -> None:
    with running(clock="system", limits=ServeLimits(waiting=4)) as (address, application):
        busy = threading.Event()

        async def burst() -> list[Any]:
            async with httpx.AsyncClient(timeout=30) as client:
                return await asyncio.gather(*[client.get(f"{address}/api/v1/time") for _ in range(40)])

        application.engine._pool.submit(busy.wait, 1)
        answers = asyncio.run(burst())
        assert {answer.status_code for answer in answers} == {200, 503}
        assert moves(application) and ready(address)[0] == 200
        assert application.tasks.failures == {}


@pytest.mark.parametrize("name", ["clock", "state"])
def test_a_task_that_is_ended_begins_again(name: str, tmp_path: Path) -> None:
    with running(clock="system", state=tmp_path, snapshot_seconds=0.05) as (address, application):
        assert moves(application)
        tasks = application.tasks
        first = tasks.running[name]
        first.get_loop().call_soon_threadsafe(first.cancel)
        assert becomes(lambda: tasks.running[name] is not first and not tasks.running[name].done())
        assert becomes(lambda: ready(address)[0] == 200) and moves(application)
        assert tasks.failed_steps[name] == 1
        assert f'epl_task_failures_total{{task="{name}"}} 1.0' in httpx.get(f"{address}/metrics").text


def test_a_clock_that_cannot_move_is_said_by_ready(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    with running(clock="system") as (address, application):
        engine = application.engine
        follow = engine._follow

        def fails() -> None:
            raise ValueError("no time")

        monkeypatch.setattr(engine, "_follow", fails)
        assert becomes(lambda: application.tasks.failures)
        status, reason = ready(address)
        assert status == 503 and "no time" in reason
        time.sleep(0.5)
        assert len([each for each in caplog.records if each.message.startswith("clock:")]) == 1
        monkeypatch.setattr(engine, "_follow", follow)
        assert becomes(lambda: ready(address)[0] == 200) and moves(application)


def test_a_state_that_cannot_be_saved_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = StoredState.write

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with running(state=tmp_path, snapshot_seconds=0.05) as (address, application):
        httpx.post(f"{address}/api/v1/deployments", json={"epl": BEAT}).raise_for_status()
        monkeypatch.setattr(StoredState, "write", full)
        httpx.post(f"{address}/api/v1/time", json={"by": 1}).raise_for_status()
        assert becomes(lambda: ready(address)[0] == 503) and "No space left" in ready(address)[1]
        monkeypatch.setattr(StoredState, "write", write)
        assert becomes(lambda: ready(address)[0] == 200)
        monkeypatch.setattr(StoredState, "write", full)
        httpx.post(f"{address}/api/v1/time", json={"by": 1}).raise_for_status()
    assert "not saved at the end: No space left" in application.not_saved


def test_a_last_state_that_is_not_saved_is_exit_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(StoredState, "write", full)
    before = signal.getsignal(signal.SIGTERM)
    timer = threading.Timer(1.5, signal.raise_signal, [signal.SIGTERM])
    timer.start()
    monkeypatch.setattr(signal, "raise_signal", lambda number: None)  # uvicorn raises it again when it has ended
    try:
        assert main(["serve", "--port", "0", "--no-playground", "--state", str(tmp_path)]) == 2
    finally:
        signal.signal(signal.SIGTERM, before)
    assert "not saved at the end: No space left" in capsys.readouterr().err


def test_tasks_close_once_and_begin_nothing_afterwards() -> None:
    async def run() -> list[str]:
        tasks, seen = Tasks(), list[str]()

        async def step() -> None:
            seen.append("step")

        tasks.every("t", 0.001, step)
        while len(seen) < 3:
            await asyncio.sleep(0.001)
        await tasks.close()
        count = len(seen)
        await asyncio.sleep(0.02)
        assert len(seen) == count and tasks.running["t"].done()
        return seen

    assert asyncio.run(run())


def killed_spare(kill: Callable[[Any], Awaitable[None]]) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        sandbox = Sandbox(ServeLimits(run_seconds=30), Allowed())
        sandbox.prepare()
        await kill(sandbox)
        try:
            return await sandbox.run({"epl": "create schema A(x int); @name('s') select x from A", "script": "A={x=1}"})
        finally:
            await sandbox.close()

    return asyncio.run(run())


def test_a_process_that_waits_and_is_killed_is_replaced() -> None:
    async def kill(sandbox: Any) -> None:
        process = await sandbox._spare
        process.kill()
        await process.wait()

    assert killed_spare(kill)["stopped"] is None


def test_a_process_that_never_started_is_replaced() -> None:
    async def kill(sandbox: Any) -> None:
        sandbox._spare.cancel()
        await asyncio.sleep(0)

    assert killed_spare(kill)["stopped"] is None


@pytest.mark.parametrize("port", ["99999", "65536", "-1", "1000000000000000000000"])
def test_ports_that_there_are_not(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--port", port]) == 2
    assert "cannot listen" in capsys.readouterr().err
