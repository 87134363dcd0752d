"""What the figures were measured on: processor, cores, versions, load; nothing that names the machine."""
from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterable
from pathlib import Path

import pyarrow


def processor() -> str:
    """The processor's name as the system gives it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def load() -> str:
    """Processes that want to run, mean of the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def description(versions: Iterable[str]) -> str:
    """One line; ``versions``: what the engines say of themselves."""
    day = datetime.datetime.now(datetime.timezone.utc).date()
    parts = [
        f"{processor()}, {os.cpu_count()} cores", f"Python {platform.python_version()}", f"pyarrow {pyarrow.__version__}", *versions,
        platform.system(),
    ]
    return f"{', '.join(p for p in parts if p)}; {day}"


__all__ = ["description", "load", "processor"]
