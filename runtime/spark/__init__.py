"""Statements on Apache Spark: ``start`` for streaming DataFrames, ``transform`` for batch DataFrames, ``sql`` for
queries in a SQL dialect over them. docs/spark.md is the manual.

Importing this package needs pyspark, the extra ``spark``; starting a session needs Java 17 or newer.
"""

from runtime.extras import MissingPackage, install

try:
    import pyspark as _pyspark  # noqa: F401
except ModuleNotFoundError as error:
    raise MissingPackage(
        f"Spark is not installed: {error}",
        hint=f"{install('spark')}; Spark also needs Java 17 or newer, found through JAVA_HOME or PATH",
    ) from error

from runtime.spark.distributed_host.frames import transform as transform
from runtime.spark.driver_host.delta import DeltaSink as DeltaSink
from runtime.spark.driver_host.driver import error_of as error_of
from runtime.spark.driver_host.driver import start as start
from runtime.spark.driver_host.job import Job as Job
from runtime.spark.driver_host.job import MicroBatchError as MicroBatchError
from runtime.spark.metrics import Metrics as Metrics
from runtime.spark.schemas import event_type_of_spark as event_type_of_spark
from runtime.spark.schemas import spark_schema as spark_schema
from runtime.spark.sessions import session as session
from runtime.spark.table_queries import sql as sql

__all__ = [
    "DeltaSink", "Job", "Metrics", "MicroBatchError", "error_of", "event_type_of_spark", "session", "spark_schema", "sql", "start",
    "transform",
]
