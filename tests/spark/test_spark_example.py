"""The Spark job among the examples runs: micro-batches, send and a batch DataFrame agree (the job itself asserts it)."""

from __future__ import annotations

import importlib.util
import pathlib

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "spark_job.py"


def test_the_spark_job(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("example_spark_job", EXAMPLE)
    assert spec is not None and spec.loader is not None
    job = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(job)
    found = job.main()
    told = capsys.readouterr().out
    assert f"{len(found)} suspects in 12 micro-batches" in told and "the same in process, and as a batch DataFrame" in told
    assert found[0] == (13900, "C179", 3600, 315.68)
