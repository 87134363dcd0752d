"""A small local Spark session for examples, tests and the command line, and the check that there is a Java for it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from epl.errors import EplRuntimeError

JAVA = 17
HINT = (
    f"install Java {JAVA} or newer (Debian, Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17; "
    "elsewhere https://adoptium.net) and set JAVA_HOME to its folder; everything but Spark runs without Java"
)
OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
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


def session(name: str = "epl-spark", cores: int = 2, options: Mapping[str, str] | None = None) -> SparkSession:
    """A session on this machine: ``local[cores]``, no UI, few shuffle partitions, UTC; the running one where there is one.

    Workers run this Python (PYSPARK_PYTHON is set where it is not). ``options`` are Spark's own and win. Raises EplRuntimeError, naming
    JAVA_HOME, where there is no Java 17 or newer.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.Builder().appName(name).master(f"local[{cores}]")
    for key, value in {**OPTIONS, **(options or {})}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def require_java() -> None:
    """EplRuntimeError unless JAVA_HOME, or PATH where it is not set, leads to a Java that Spark can use."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    where = f"JAVA_HOME is {home}" if home else "JAVA_HOME is not set"
    if java is None or not os.access(java, os.X_OK):
        raise EplRuntimeError(f"Spark needs Java {JAVA} or newer and none was found: {where}", hint=HINT)
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', told)
    if version is None or int(version[1]) < JAVA:
        found = told.strip().partition("\n")[0] or "nothing"
        raise EplRuntimeError(f"Spark needs Java {JAVA} or newer: {where}, and {java} says {found}", hint=HINT)
