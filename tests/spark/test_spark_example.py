"""The Spark jobs among the examples run: micro-batches, send and a batch DataFrame agree (the jobs themselves assert it)."""

from __future__ import annotations

import importlib.util
import pathlib
import types

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def load(name: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_spark_job(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    found = load("spark_job").main()
    output = capsys.readouterr().out
    assert f"{len(found)} suspects in 12 micro-batches" in output and "the same in process, and as a batch DataFrame" in output
    assert found[0] == (13900, "C179", 3600, 315.68)


def test_the_job_that_is_spread(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    found = load("spark_spread").main()
    output = capsys.readouterr().out
    assert "Tick by symbol" in output and f"{len(found)} rises of three prices and more" in output and len(found) > 100
