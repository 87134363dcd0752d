"""Whether Python workers can run statements, asked before they have to: once a session, in a line with the fix instead of Java's trace.

Workers run what ``spark.pyspark.python`` or PYSPARK_PYTHON names, else the ``python3`` of their PATH, which need be neither the driver's
Python nor one that has epl-spark.
"""
from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from epl.errors import EplRuntimeError

log = logging.getLogger("epl.spark")

PACKAGES = ("epl", "windows", "runtime")
CURE = (
    "on one machine, os.environ['PYSPARK_PYTHON'] = sys.executable before the session begins; on a cluster, install epl-spark where the "
    "workers' Python is, or ship an environment or the code with the session (docs/operations.md, 'Python on the workers')"
)
MINOR = "import sys; print('%d.%d' % sys.version_info[:2])"
DESCRIPTION = "spark.job.description"
Answer = tuple[str, str, str]
"""A worker's executable; what went wrong, if anything; the digest of its epl-spark."""

_asked: set[tuple[str, str]] = set()
"""Applications and executables that workers have been found right with."""


def check_workers(session: SparkSession) -> None:
    """Raise EplRuntimeError unless the session's Python workers can run statements: they have the driver's Python version and epl-spark.

    In local mode workers are given the driver's own Python where no other one was chosen and the one of PATH will not do. One small job
    the first time, nothing from then on.
    """
    context = session.sparkContext
    if (context.applicationId, context.pythonExec) in _asked:
        return
    try:
        _ask(context)
    except EplRuntimeError as error:
        if not _is_local(context) or _is_chosen(context) or context.pythonExec == sys.executable:
            raise
        log.info("%s: workers run %s from here on", error.message, sys.executable)
        context.pythonExec = sys.executable
        _ask(context)
    _asked.add((context.applicationId, context.pythonExec))


def _is_local(context: SparkContext) -> bool:
    """Return whether workers run on the driver's machine, in its process's environment."""
    return re.match(r"local(\[|$)", context.master or "") is not None


def _is_chosen(context: SparkContext) -> bool:
    """Return whether the configuration says which Python workers run."""
    return "PYSPARK_PYTHON" in os.environ or context.getConf().contains("spark.pyspark.python")


def _ask(context: SparkContext) -> None:
    if _is_local(context):
        _check_version(context.pythonExec)
    count = 1 if _is_local(context) else max(1, _executors(context))
    try:
        with _describe_jobs(context, "epl-spark: can Python workers run statements?"):
            answers = context.parallelize(range(count), count).mapPartitions(_question()).collect()
    except (Py4JError, PySparkException) as failure:  # what it says is Java's trace with Python's in it
        raise _refusal(context.pythonExec, _summarize(failure)) from None
    mine = digest()
    for executable, wrong, theirs in answers:
        if wrong:
            raise _refusal(executable, wrong)
        if theirs and mine and theirs != mine:
            raise _refusal(executable, "has another version of epl-spark than the driver")


@contextmanager
def _describe_jobs(context: SparkContext, text: str) -> Iterator[None]:
    """Show the jobs under this description in Spark's UI."""
    before = context.getLocalProperty(DESCRIPTION)
    context.setLocalProperty(DESCRIPTION, text)
    try:
        yield
    finally:
        context.setLocalProperty(DESCRIPTION, before)  # type: ignore[arg-type]  # None removes it


def _check_version(executable: str) -> None:
    """Spark refuses another minor version of Python, and has each worker log a trace of it: in local mode one can ask before."""
    try:
        version = subprocess.run([executable, "-c", MINOR], capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        raise _refusal(executable, f"does not run ({error})") from None
    mine = ".".join(map(str, sys.version_info[:2]))
    if version != mine:
        raise _refusal(executable, f"is Python {version}, and the driver runs {mine}")


def _refusal(executable: str, wrong: str) -> EplRuntimeError:
    return EplRuntimeError(f"Spark's Python workers cannot run statements: {executable} {wrong}", hint=CURE)


def _executors(context: SparkContext) -> int:
    """Return how many there are now beside the driver."""
    return len(context._jsc.sc().statusTracker().getExecutorInfos()) - 1


def _summarize(failure: Exception) -> str:
    """Return what matters of a failed job."""
    text = str(failure)
    versions = re.search(r"PYTHON_VERSION_MISMATCH\] (.*)", text)
    if versions:
        return f"is of another version: {versions[1]}"
    last = re.findall(r"^(?:\w+\.)*\w*(?:Error|Exception): .*$", text, re.MULTILINE)
    return f"fails: {last[0] if last else text.strip().splitlines()[0]}"


def _question() -> Callable[[Iterable[int]], Iterator[Answer]]:
    """Return what a worker runs. It travels by value, as functions within functions do: a worker may have nothing to import it from."""

    def answer(_: Iterable[int]) -> Iterator[Answer]:
        import sys

        try:
            from runtime.spark import probe  # brings all that statements need there
        except (ImportError, SyntaxError) as error:
            yield sys.executable, f"cannot import epl-spark ({type(error).__name__}: {str(error).splitlines()[0]})", ""
        else:
            yield sys.executable, "", probe.digest()

    return answer


def digest() -> str:
    """Return the digest of the sources of epl-spark that this process runs, wherever they came from; empty where there are none."""
    total = count = 0
    for package in PACKAGES:
        for path, data in _sources(resources.files(package), package):
            total = zlib.crc32(data, zlib.crc32(path.encode(), total))
            count += 1
    return f"{total:08x}" if count else ""


def _sources(folder: Any, name: str) -> Iterator[tuple[str, bytes]]:
    for each in sorted(folder.iterdir(), key=lambda path: path.name):
        if each.is_dir():
            yield from _sources(each, f"{name}/{each.name}")
        elif each.name.endswith(".py"):
            yield f"{name}/{each.name}", each.read_bytes()


__all__ = ["check_workers", "digest"]
