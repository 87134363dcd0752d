"""The processes of one session (in the sense of setsid), which is all that is ever killed here. Needs /proc."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import attrs

PROC = Path("/proc")
GONE_WITHIN = 60.0


@attrs.frozen
class Process:
    pid: int
    parent: int
    session: int
    command: str


def processes(session: int) -> list[Process]:
    """Those that live; who has died and is not yet reaped does not."""
    found = []
    for folder in PROC.iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # it has ended since
            state, parent, _, its = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(its) == session and state not in "ZX":
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append(Process(int(folder.name), int(parent), session, command))
    return found


def launch(arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Python in a session of its own, from the root of the project; what it says goes to ``log``."""
    root = Path(__file__).resolve().parents[3]
    path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    with log.open("ab") as out:
        return subprocess.Popen(
            [sys.executable, *arguments], cwd=root, env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
            stdout=out, stderr=out, stdin=subprocess.DEVNULL,
        )


def kill(session: int) -> None:
    """All of the session at once."""
    for each in processes(session):
        with contextlib.suppress(ProcessLookupError):
            os.kill(each.pid, signal.SIGKILL)


def wait_until_gone(session: int) -> None:
    """Until nothing of the session lives: what the dead left behind is then as it stays."""
    until = time.monotonic() + GONE_WITHIN
    while left := processes(session):
        if time.monotonic() > until:
            raise TimeoutError(f"still there: {left}")
        time.sleep(0.02)


def python_workers(session: int) -> list[int]:
    """Spark's Python workers: the children of its daemon."""
    found = [each for each in processes(session) if "pyspark.daemon" in each.command]
    daemons = {each.pid for each in found}
    return [each.pid for each in found if each.parent in daemons]
