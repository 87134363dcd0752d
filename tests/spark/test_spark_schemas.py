"""Spark schemas ↔ event types, without a session; what is said where Spark or Java is missing."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest
from pyspark.sql import types as spark

from epl.errors import EplDeploymentError, EplRuntimeError
from epl.event_types import EventOf, EventType, Property
from epl.value_types import INT, LOCAL_TIME, ArrayType
from runtime import Runtime
from runtime.conversion.arrow import arrow_schema
from runtime.spark import event_type_of_spark, spark_schema
from runtime.spark.schemas import arrow_for_spark
from runtime.spark.sessions import require_java

ROOT = pathlib.Path(__file__).resolve().parents[2]


def struct(**fields: spark.DataType) -> spark.StructType:
    return spark.StructType([spark.StructField(name, data_type) for name, data_type in fields.items()])


def parsed() -> spark.StructType:
    fields = {
        "by": spark.ByteType(),
        "sh": spark.ShortType(),
        "it": spark.IntegerType(),
        "lo": spark.LongType(),
        "fl": spark.FloatType(),
        "db": spark.DoubleType(),
        "tx": spark.StringType(),
        "bo": spark.BooleanType(),
        "ts": spark.TimestampType(),
        "nz": spark.TimestampNTZType(),
        "da": spark.DateType(),
        "ar": spark.ArrayType(spark.ArrayType(spark.IntegerType())),
        "mp": spark.MapType(spark.StringType(), spark.ArrayType(spark.DateType())),
        "st": struct(a=spark.IntegerType(), b=struct(c=spark.TimestampType())),
        "es": spark.ArrayType(struct(a=spark.StringType())),
        "de": spark.DecimalType(38, 18),
    }
    return struct(**fields)


def test_a_schema_comes_back() -> None:
    event_type = event_type_of_spark("T", parsed())
    assert spark_schema(event_type) == parsed()
    assert arrow_for_spark(event_type) == arrow_schema(event_type)
    names = [str(p.type) for p in event_type.properties.values()]
    plain = ["Byte", "Short", "Integer", "Long", "Float", "Double", "String", "Boolean", "ZonedDateTime", "LocalDateTime", "LocalDate"]
    assert names == [*plain, "Integer[][]", "Map<String,LocalDate[]>", "T.st", "T.es[]", "BigDecimal"]


def test_the_runtime_registers_spark_schemas() -> None:
    with Runtime() as runtime:
        assert runtime.register("T", parsed()).names == tuple(parsed().names)


def test_precision_length_and_collation_do_not_matter() -> None:
    texts = struct(a=spark.CharType(3), b=spark.VarcharType(4), c=spark.StringType("UNICODE_CI"), d=spark.ArrayType(spark.CharType(2)))
    assert [str(p.type) for p in event_type_of_spark("T", texts).properties.values()] == ["String", "String", "String", "String[]"]
    others = struct(a=spark.DecimalType(10, 2), b=spark.NullType(), **({"c": spark.TimeType(3)} if hasattr(spark, "TimeType") else {}))
    found = [str(p.type) for p in event_type_of_spark("T", others).properties.values()]
    assert found == ["BigDecimal", "Object", "LocalTime"][:len(found)]


class PointType(spark.UserDefinedType):
    @classmethod
    def sqlType(cls) -> spark.DataType:
        return spark.ArrayType(spark.DoubleType())

    @classmethod
    def module(cls) -> str:
        return __name__


def test_times_of_day_go_out_as_text_at_any_depth() -> None:
    inner = EventType("I", "map", {"t": Property("t", LOCAL_TIME)})
    outer = EventType("T", "map", {"x": Property("x", INT), "e": Property("e", EventOf(inner)), "l": Property("l", ArrayType(LOCAL_TIME))})
    assert spark_schema(outer).simpleString() == "struct<x:int,e:struct<t:string>,l:array<string>>"
    assert "time64" not in str(arrow_for_spark(outer))


OTHERS = [spark.BinaryType(), spark.DayTimeIntervalType(), spark.YearMonthIntervalType(), spark.VariantType(), PointType()]


@pytest.mark.parametrize("data_type", OTHERS, ids=spark.DataType.simpleString)
def test_other_columns_are_refused_by_name(data_type: spark.DataType) -> None:
    schema = struct(a=struct(b=spark.ArrayType(data_type)))
    with pytest.raises(EplDeploymentError, match=rf"T\.a\.b: columns of Spark type {data_type.simpleString()} are not supported"):
        event_type_of_spark("T", schema)


def test_without_java_the_error_names_java_home(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EplRuntimeError, match=f"Spark needs Java 17 or newer and none was found: JAVA_HOME is {tmp_path}") as caught:
        require_java()
    assert "openjdk-17-jre-headless" in str(caught.value)
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019' >&2\n")
    java.chmod(0o755)
    with pytest.raises(EplRuntimeError, match=r'bin/java says openjdk version "11\.0\.2"'):
        require_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EplRuntimeError, match="none was found: JAVA_HOME is not set"):
        require_java()


def test_without_pyspark_the_error_names_the_extra() -> None:
    code = """
import sys
sys.modules["pyspark"] = None
from epl.errors import EplRuntimeError
from runtime import Runtime
try:
    import runtime.spark
except EplRuntimeError as error:
    print(error)
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert output.startswith("Spark is not installed") and "pip install 'pyspark" in output and "JAVA_HOME" in output


def test_the_engine_imports_no_spark() -> None:
    code = "import sys, runtime, runtime.api.send_batch, runtime.conversion.arrow; print('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip() == "False"
