"""Runs of the playground, each in a process of its own that is ended when it takes too long."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
from typing import Any

import attrs

from runtime.tools.serve.options import Allowed, ServeLimits

START = """import json, sys
arguments = json.loads(sys.argv[1])
sys.path[:] = arguments["path"]
from runtime.tools.serve.playground_run import main
main(arguments)
"""
"""The program of the process. It is isolated (``-I``): neither the environment nor the folder that it starts in adds modules."""
PASSED_ON = ("LANG", "LC_ALL", "TZ", "SYSTEMROOT")
"""Variables of the environment that a run sees: no secrets."""
LONGEST_LINE = 1 << 24
START_SECONDS = 60
LISTS = ("statements", "events")
"""Parts that are written once, as a list."""
SINGLE = ("stopped", "end")


class Busy(Exception):
    """More is asked for than can wait."""


class NotStarted(Exception):
    """The process of a run has ended before it was ready."""

    def __init__(self) -> None:
        super().__init__("the process of the run did not start")


class Sandbox:
    """Starts processes ahead, so that a run does not wait for imports. Used in one event loop."""

    def __init__(self, limits: ServeLimits, allowed: Allowed) -> None:
        self.limits = limits
        arguments = {
            "limits": attrs.asdict(limits), "imports": allowed.imports, "setup": allowed.setup, "path": [p for p in sys.path if p],
        }  # fmt: skip
        self._command = [sys.executable, "-I", "-c", START, json.dumps(arguments)]
        self._running = asyncio.Semaphore(limits.runs)
        self._asked = 0
        self._spare: asyncio.Task[asyncio.subprocess.Process] | None = None

    def prepare(self) -> None:
        """Start a process that waits for a job."""
        if self._spare is None:
            self._spare = asyncio.ensure_future(self._start())

    async def close(self) -> None:
        if self._spare is not None:
            spare, self._spare = self._spare, None
            with contextlib.suppress(NotStarted, asyncio.TimeoutError, OSError):
                await _end(await spare)

    async def run(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return what a run results in, also where it had to be stopped: what it had done until then. Raise Busy."""
        if self._asked >= self.limits.runs + self.limits.waiting:
            raise Busy
        self._asked += 1
        try:
            async with self._running:
                process = await self._prepare()
                self.prepare()
                try:
                    return await self._result(process, job)
                finally:
                    await _end(process)
        finally:
            self._asked -= 1

    async def _prepare(self) -> asyncio.subprocess.Process:
        """Return the process that waits; another one where it did not start or has ended meanwhile."""
        spare, self._spare = self._spare, None
        if spare is not None and not spare.cancelled():
            with contextlib.suppress(NotStarted, asyncio.TimeoutError, OSError):
                process = await spare
                if process.returncode is None:
                    return process
        return await self._start()

    async def _start(self) -> asyncio.subprocess.Process:
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            env=environment, cwd=tempfile.gettempdir(), start_new_session=True, limit=LONGEST_LINE,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            ready = await asyncio.wait_for(process.stdout.readline(), START_SECONDS)  # its modules are imported: only now time counts
            if not ready:
                raise NotStarted
        except BaseException:
            await _end(process)
            raise
        return process

    async def _result(self, process: asyncio.subprocess.Process, job: dict[str, Any]) -> dict[str, Any]:
        result: dict[str, Any] = {
            "statements": [], "outputs": [], "errors": [], "faults": [], "warnings": [], "events": [], "current": [], "lanes": [],
            "pictures": [],
            "stopped": None, "end": None,
        }  # fmt: skip
        try:
            await asyncio.wait_for(self._read(process, job, result), self.limits.run_seconds)
        except asyncio.TimeoutError:
            result["stopped"] = {"reason": "time", "message": f"the run took longer than {self.limits.run_seconds:g} seconds"}
        except (ValueError, asyncio.LimitOverrunError):
            result["stopped"] = _output_stop(self.limits)
        return result

    async def _read(self, process: asyncio.subprocess.Process, job: dict[str, Any], result: dict[str, Any]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(ConnectionError):  # it has ended: what it has written says why
            process.stdin.write(json.dumps(job).encode())
            await process.stdin.drain()
            process.stdin.close()
        size = 0
        async for line in process.stdout:
            size += len(line)
            if size > self.limits.run_output:
                result["stopped"] = _output_stop(self.limits)
                return
            entry = json.loads(line)
            part, value = entry["part"], entry["value"]
            if part in LISTS or part in SINGLE:
                result[part] = value
            else:
                result[part].append(value)
        code = await process.wait()
        if code and result["stopped"] is None and result["end"] is None:
            result["stopped"] = _exit_report(code, self.limits)


def _output_stop(limits: ServeLimits) -> dict[str, str]:
    return {"reason": "output", "message": f"the run's output is larger than {limits.run_output >> 20} MB"}


def _exit_report(code: int, limits: ServeLimits) -> dict[str, str]:
    if -code == getattr(signal, "SIGXCPU", None) or -code == getattr(signal, "SIGKILL", None):
        return {"reason": "time", "message": f"the run took longer than {limits.run_seconds:g} seconds"}
    return {"reason": "process", "message": "the run's process ended before the run did; it may have needed too much memory"}


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process and all that it has started."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
    await process.wait()


__all__ = ["Busy", "Sandbox"]
