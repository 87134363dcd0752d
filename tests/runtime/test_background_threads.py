"""Threads of a runtime, of live views and of replays: what ends a step of one does not end it in silence."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from epl.errors import EplRuntimeError
from runtime import Runtime
from runtime.api.statement import internal_output
from runtime.api.system_clock import SystemClock
from runtime.live.job_view import LiveJobView
from runtime.live.view import LiveView
from tests.replay import files

ROOT = Path(__file__).resolve().parents[2]

SUPERVISED = {
    "runtime/api/system_clock.py": "a step that raises is logged, the next one is taken",
    "runtime/historical/database.py": "what a call raises is raised to the statement that asks",
    "runtime/live/job_view.py": "the view shows the error and closes",
    "runtime/live/view.py": "the error is logged, the next row tries again",
    "runtime/spark/heartbeat.py": "the query ends with the error",
    "runtime/tools/serve/engine.py": "what a call raises is raised to the request that asks",
    "runtime/tools/serve/sandbox.py": "a process that has ended is replaced",
    "runtime/tools/serve/tasks.py": "a task that ends is begun again, and /ready says why",
    "runtime/cli/metrics.py": "Prometheus sees that the page is gone",
}
"""Where threads, tasks and processes begin, and what becomes of one that fails."""
BEGINS = re.compile(
    r"threading\.(Thread|Timer)\(|PoolExecutor\(|asyncio\.(create_task|ensure_future|create_subprocess|to_thread)|[^.]\bPopen\("
    r"|^ .*= start_http_server\(", re.MULTILINE)


def becomes(condition: Callable[[], object], seconds: float = 5) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_every_thread_is_known() -> None:
    paths = [path for folder in ("epl", "windows", "runtime") for path in (ROOT / folder).rglob("*.py")]
    assert {path.relative_to(ROOT).as_posix() for path in paths if BEGINS.search(path.read_text())} == set(SUPERVISED)


@pytest.mark.parametrize("kind", [ValueError, SystemExit, KeyboardInterrupt, RecursionError])
def test_a_system_clock_goes_on(kind: type[BaseException], caplog: pytest.LogCaptureFixture) -> None:
    fails = threading.Event()

    def listen(*_: Any) -> None:
        if fails.is_set():
            raise kind("by the listener")

    def on_error(error: BaseException, *_: Any) -> None:
        raise error

    with Runtime(clock="system", on_error=on_error) as runtime:
        runtime.deploy("@name('s') select 1 as one from pattern[every timer:interval(10 msec)]", listeners={"s": listen})
        clock = runtime._system_clock
        fails.set()
        assert becomes(lambda: clock.failure is not None)
        before = runtime.now
        assert becomes(lambda: runtime.now > before + 200)
        fails.clear()
        assert becomes(lambda: clock.failure is None) and clock._thread.is_alive()
    assert not clock._thread.is_alive()
    assert 1 <= len([each for each in caplog.records if "the system clock" in each.message]) <= 2


def test_a_clock_whose_lock_fails_goes_on() -> None:
    class Lock:
        broken = True

        def __enter__(self) -> None:
            if self.broken:
                raise OSError("no lock")

        def __exit__(self, *_: object) -> None:
            pass

    moved: list[int] = []
    lock = Lock()
    clock = SystemClock(lock, moved.append, 1000, 0.01)
    clock.start()
    assert becomes(lambda: clock.failure is not None) and not moved
    lock.broken = False
    assert becomes(lambda: moved)
    clock.stop()


def test_a_live_view_of_a_job_that_cannot_be_asked_says_so(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("anywidget")
    facts = {"status": "running", "engine time": "0"}
    broken = threading.Event()

    def ask() -> dict[str, str]:
        if broken.is_set():
            raise ConnectionError("no gateway")
        return dict(facts)

    with Runtime(tier="row") as runtime:
        statement = runtime.deploy("create schema A(x int); @name('s') select x from A")["s"]
        view = LiveJobView([statement], ask, every=0.01)
        broken.set()
        assert becomes(lambda: not view.widget.is_open)
        assert view.widget.facts == {**facts, "error": "ConnectionError: no gateway"}
        assert not internal_output(statement).batch_listeners and "a live view ends" in caplog.text
        view.close()


def test_a_live_view_tries_again(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("anywidget")
    broken = threading.Event()

    def time_text() -> str:
        if broken.is_set() and threading.current_thread() is not threading.main_thread():
            raise ConnectionError("no kernel")
        return "0"

    with Runtime(tier="row") as runtime:
        statement = runtime.deploy("create schema A(x int); @name('s') select x from A")["s"]
        view = LiveView(statement, time_text, every=0.01)
        broken.set()
        runtime.send("A", {"x": 1})
        assert becomes(lambda: "does not show its rows" in caplog.text) and view.widget.rows == []
        broken.clear()
        runtime.send("A", {"x": 2})
        assert becomes(lambda: len(view.widget.rows) == 2)
        view.close()


def _end(job: Any) -> Any:
    os._exit(9)


def test_a_process_of_a_replay_that_ends_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(files, "replay_file", _end)
    jobs = [files.Job(tmp_path / name, None, False, None, 60.0, False, None, False) for name in ("one.json", "two.json")]
    with pytest.raises(EplRuntimeError, match=r"ended by itself, at or before (one|two)\.json"):
        list(files.replay_files(jobs, 2))


def test_a_driver_that_exits_is_seen_by_the_caller() -> None:
    def connect() -> Any:
        raise SystemExit("no driver")

    with Runtime() as runtime:
        runtime.register_database("db", connect)
        with pytest.raises(SystemExit, match="no driver"):
            runtime.deploy("create schema A(x int); select * from A as a, sql:db ['select 1 as y'] as b")


@pytest.mark.parametrize("where", ["is_active", "wall"])
@pytest.mark.parametrize("kind", [ConnectionError, SystemExit])
def test_a_heartbeat_that_fails_ends_the_query(where: str, kind: type[BaseException]) -> None:
    pytest.importorskip("pyspark")
    from runtime.spark.heartbeat import Beat, Heartbeat

    class Job:
        error: EplRuntimeError | None = None

        @property
        def is_active(self) -> bool:
            if where == "is_active":
                raise kind("no gateway")
            return True

        def wall(self) -> int:
            raise kind("no gateway")

        def fail(self, error: EplRuntimeError) -> None:
            self.error = error

    job: Any = Job()
    Heartbeat(job, Beat(0.01, None)).start()
    assert becomes(lambda: job.error is not None)
    assert f"time cannot be moved: {kind.__name__}: no gateway" in str(job.error)
