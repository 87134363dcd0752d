"""A small local Spark session for examples, tests and the command line, and the check that there is a Java for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from epl.errors import EplRuntimeError, EplUnsupportedError
from runtime.arguments import check_arguments

JAVA = 17
HINT = (
    f"install Java {JAVA} or newer (Debian, Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17; "
    "elsewhere https://adoptium.net) and set JAVA_HOME to its folder; everything but Spark runs without Java"
)
OPTIONS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.forceDeleteTempCheckpointLocation": "true",
    # Engines in Spark's stateful operator keep their state there.
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    # Batches have at most 10,000 rows anyway; Spark asks for their size at every row, a third of the way to Python.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    # A batch then writes what it changed, and not RocksDB's files.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Stopping a query that runs foreachBatch overflows the default stack of the driver's threads.
    "spark.driver.extraJavaOptions": "-Xss16m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


@check_arguments
def session(name: str = "epl-spark", cores: int | None = None, options: Mapping[str, str] | None = None) -> SparkSession:
    """Return a Spark session on this machine, or the one that runs: ``local[cores]``, few shuffle partitions, UTC, RocksDB as the state
    store. Workers run this Python (PYSPARK_PYTHON is set if it is not).

    Args:
        name: The name of a new session.
        cores: Of a new session; default 2.
        options: Spark's own options, which take precedence. In a running session, those that Spark lets change are set.

    Raises:
        EplUnsupportedError: The environment asks for Spark Connect.
        EplRuntimeError: There is no Java 17 or newer; or a running session cannot get the options or cores, which the message names. None
            has been set then.

    Examples:
        ```python
        from runtime.spark import session

        spark = session(options={"spark.sql.shuffle.partitions": "4"})
        assert spark.conf.get("spark.sql.shuffle.partitions") == "4"
        ```
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        requested = {} if cores is None else {"spark.master": f"local[{cores}]"}
        _apply(running, {**requested, **(options or {})})
        return running
    if os.environ.get("SPARK_REMOTE") or os.environ.get("SPARK_CONNECT_MODE_ENABLED"):
        raise EplUnsupportedError("SPARK_REMOTE is set: sessions would be of Spark Connect, which is not supported", hint="unset it")
    require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.Builder().appName(name).master(f"local[{cores or 2}]")
    for key, value in {**OPTIONS, **(options or {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def background_session(name: str) -> SparkSession:
    """Return the running session, whatever it has, or one of one core without UI and progress: for tools that run many processes beside one
    another."""
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    return SparkSession.getActiveSession() or session(name, cores=1, options=quiet)


def _apply(running: SparkSession, options: Mapping[str, str]) -> None:
    """Apply all of the options, or none and raise EplRuntimeError."""
    before: dict[str, str | None] = {}
    refused = {}
    for key, value in options.items():
        now = running.conf.get(key, None)
        if now == str(value):
            continue
        if key.startswith("spark.") and not key.startswith("spark.sql."):  # Spark would keep it, and do nothing with it
            refused[key] = now
            continue
        try:
            running.conf.set(key, value)
        except PySparkException:
            refused[key] = now
        else:
            before[key] = now
    if not refused:
        return
    for key, then in before.items():
        if then is None:
            running.conf.unset(key)
        else:
            running.conf.set(key, then)
    differences = ", ".join(f"{key} is {'not set' if now is None else now}, not {options[key]}" for key, now in refused.items())
    raise EplRuntimeError(
        f"A Spark session is running, and Spark does not let these options change in it: {differences}",
        hint="give them before the first session of the process, or end that one first: spark.stop()",
    )


def require_java() -> None:
    """Raise EplRuntimeError unless JAVA_HOME, or PATH where it is not set, leads to a Java that Spark can use."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    where = f"JAVA_HOME is {home}" if home else "JAVA_HOME is not set"
    if java is None or not os.access(java, os.X_OK):
        raise EplRuntimeError(f"Spark needs Java {JAVA} or newer and none was found: {where}", hint=HINT)
    printed = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', printed)
    if version is None or int(version[1]) < JAVA:
        answer = printed.strip().partition("\n")[0] or "nothing"
        raise EplRuntimeError(f"Spark needs Java {JAVA} or newer: {where}, and {java} says {answer}", hint=HINT)
