"""Files that a stream takes one by one."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql import DataFrame, SparkSession


class Stream:
    """A folder of Parquet files as a stream that takes one file a micro-batch."""

    def __init__(self, spark: SparkSession, folder: pathlib.Path) -> None:
        self._spark = spark
        self._folder = folder
        folder.mkdir()
        self._files = 0

    def add(self, *tables: pa.Table) -> Stream:
        for table in tables:
            path = self._folder / f"{self._files:04}.parquet"
            pyarrow.parquet.write_table(table, path)
            # Spark takes files by their modification times, which must not be in the future nor equal.
            os.utime(path, (1_000_000 + self._files, 1_000_000 + self._files))
            self._files += 1
        return self

    def frame(self) -> DataFrame:
        schema = self._spark.read.parquet(str(self._folder)).schema
        return self._spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(self._folder))


@pytest.fixture
def folder(spark: SparkSession, tmp_path: pathlib.Path) -> Callable[[str], Stream]:
    """folder(name) → a Stream to add tables to."""
    return lambda name: Stream(spark, tmp_path / name)


@pytest.fixture
def stream(folder: Callable[[str], Stream]) -> Callable[..., DataFrame]:
    """stream(name, table, …) → streaming DataFrame, one table a micro-batch."""
    return lambda name, *tables: folder(name).add(*tables).frame()
