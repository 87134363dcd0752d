"""What all tests share: where the traces are, which tests need Spark."""

from __future__ import annotations

import gc
import os
import pathlib
import signal
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = pathlib.Path(__file__).resolve().parent.parent


# In the background of a script SIGINT is ignored, which children inherit; tests send it to processes that they begin.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that start Spark run in one worker (one JVM), and are skipped where there is no Java for it."""
    spark = [item for item in items if item.get_closest_marker("spark")]
    if not spark:
        return
    java = subprocess.run([str(ROOT / ".ci" / "require-java")], capture_output=True, check=False).returncode == 0
    for item in spark:
        item.add_marker(pytest.mark.xdist_group("spark"))
        if not java:
            item.add_marker(pytest.mark.skip(reason="needs Java 17 or newer (.ci/require-java says how to get it)"))


def pytest_collection_finish() -> None:
    """Keep what was collected, a million objects, out of the garbage collector's sight: tests ask for many full collections."""
    gc.freeze()


@pytest.fixture(scope="session")
def traces() -> pathlib.Path:
    """The folder of recorded traces that EPL_TRACES names."""
    named = os.environ.get("EPL_TRACES")
    if not named:
        pytest.skip("EPL_TRACES is not set: no recorded traces to replay")
    folder = pathlib.Path(named)
    assert folder.is_dir(), f"EPL_TRACES={named} is not a folder"
    return folder


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The Spark session of all tests of a process. A test that lets epl-spark begin one asks for it first: Spark keeps its options."""
    from runtime.spark import session  # needs Java

    interrupted = signal.getsignal(signal.SIGINT)
    started = session("epl-spark tests", options={"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"})
    signal.signal(signal.SIGINT, interrupted)  # pyspark's own handler would stay for all later tests of the process
    started.sparkContext.setLogLevel("OFF")
    yield started
    started.stop()
