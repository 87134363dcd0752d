"""Which shard a row belongs to, and which ids shards have."""
from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from epl.analysis.partitioning import HashedKey, Key, Path, SplitBy
from epl.errors import EplRuntimeError, EplUnsupportedError
from epl.event_types import EventType
from epl.functions.partition_hashes import partition_hash
from epl.value_types import Scalar
from runtime.spark.distributed_host.packing import SHARD
from runtime.spark.sources import ROW, SEQUENCE, TIME, TYPE, merged_column

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def shard_ids(session: SparkSession, count: int, partitions: int) -> tuple[int, ...]:
    """Return ``count`` numbers that Spark's hash spreads evenly over its shuffle partitions: small ones in a row would meet by chance."""
    if count < 1:
        raise EplRuntimeError(f"shards is a number of engines, not {count!r}")
    most = -(-count // partitions)
    tries = session.range(0, 16 * count + 64 * partitions).select(F.col("id").cast("int").alias("id"))
    places = tries.select("id", F.expr(f"pmod(hash(id), {partitions})").alias("place")).orderBy("id").collect()
    ids: list[int] = []
    held = [0] * partitions
    for row in places:
        if held[row["place"]] < most and len(ids) < count:
            held[row["place"]] += 1
            ids.append(row["id"])
    return tuple(ids)


def with_shards(merged: DataFrame, types: Sequence[EventType], verdict: SplitBy | None, ids: Sequence[int]) -> DataFrame:
    """Return merged rows with their shard. ``verdict``: None where any split will do. Rows of types that no statement reads only advance
    time, on any shard."""
    if len(ids) == 1:
        return merged.withColumn(SHARD, F.lit(ids[0]))
    index = F.pmod(_hash(merged, types, verdict), F.lit(len(ids))).cast("int") + 1
    return merged.withColumn(SHARD, F.element_at(F.array(*[F.lit(i) for i in ids]), index))


def with_hashes(merged: DataFrame, types: Sequence[EventType], verdict: SplitBy | None) -> DataFrame:
    """Return the same where Spark chooses how many engines there are: each key, or row where any split will do, has a shard of its own."""
    return merged.withColumn(SHARD, _hash(merged, types, verdict))


def _hash(merged: DataFrame, types: Sequence[EventType], verdict: SplitBy | None) -> Column:
    """Return the hash of each row's key."""
    place = F.lit(None).cast("bigint")
    paths = [verdict.key_of(t) if verdict is not None and verdict.reads(t) else () for t in types]
    keyed = [[_key(merged, position, path) for path in each] for position, each in enumerate(paths)]
    forms = _forms([[form for _, form in each] for each in keyed])
    for position in reversed(range(len(types))):
        keys = [key.cast(form) for (key, _), form in zip(keyed[position], forms)]
        hashed = F.xxhash64(*(keys or [F.col(f"`{name}`") for name in (ROW, TIME, SEQUENCE) if name in merged.columns] or [F.lit(0)]))
        place = hashed if len(types) == 1 else F.when(F.col(f"`{TYPE}`") == position, hashed).otherwise(place)
    # A row of no type only advances time; any shard will do.
    return F.coalesce(place, F.lit(0))


def _forms(types: list[list[str]]) -> list[str]:
    """Return the form for each place of the key: one in which equal values of all types hash alike."""
    forms = []
    for place in zip(*[each for each in types if each]):
        different = set(place)
        if len(different) > 1 and not different <= {"bigint", "double", "decimal(38, 0)"}:
            raise EplUnsupportedError(f"rows cannot be split by columns of the Spark types {' and '.join(sorted(different))} together")
        forms.append(place[0] if len(different) == 1 else "double")
    return forms


def _key(merged: DataFrame, position: int, key: Key) -> tuple[Column, str]:
    """Return a key, and the Spark type in which to hash it. Raises EplUnsupportedError for types that have none."""
    if isinstance(key, HashedKey):
        return _number(merged, position, key), "bigint"
    return _property(merged, position, key)


HASHED = {
    "boolean": "boolean", "byte": "tinyint", "short": "smallint", "int": "int", "long": "bigint", "float": "float", "double": "double",
    "String": "string",
}
"""Spark's types for the kinds of values that it hands to Python as an engine has them (HASHED of the analysis)."""


def _number(merged: DataFrame, position: int, key: HashedKey) -> Column:
    """Return the number of a hash partition, computed as an engine does; CRC-32 of one string by Spark itself."""
    kinds = [each.kind for each in key.types if isinstance(each, Scalar)]
    columns = [_property(merged, position, path)[0].cast(HASHED[kind]) for path, kind in zip(key.paths, kinds)]
    if key.function == "consistent_hash_crc32" and kinds == ["String"]:
        number = F.pmod(F.crc32(F.encode(columns[0], "UTF-8")), F.lit(key.granularity))
        return F.coalesce(number, F.lit(0)).cast("bigint")
    numbered = F.udf(partition_hash(key.function, key.types, key.granularity), "bigint", useArrow=True)
    return F.coalesce(numbered(*columns), F.lit(0))


def _property(merged: DataFrame, position: int, path: Path) -> tuple[Column, str]:
    """Return a property of the rows of a type."""
    column = merged_column(position, path[0])
    data_type = merged.schema[column].dataType
    column_value = F.col(f"`{column}`")
    for name in path[1:]:
        assert isinstance(data_type, spark.StructType)
        data_type = data_type[name].dataType
        column_value = column_value.getField(name)
    if isinstance(data_type, spark.IntegralType):
        return column_value, "bigint"
    if isinstance(data_type, spark.DecimalType):  # all values of a column have its scale, so that equal ones hash alike
        return column_value, "decimal(38, 0)" if data_type.scale == 0 else data_type.simpleString()
    if isinstance(data_type, (spark.FloatType, spark.DoubleType)):
        return column_value, "double"
    if isinstance(data_type, (spark.StringType, spark.BooleanType, spark.DateType, spark.TimestampType, spark.TimestampNTZType)):
        return column_value, data_type.simpleString()
    raise EplUnsupportedError(
        f"rows cannot be split by '{'.'.join(path)}' of Spark type {data_type.simpleString()}",
        hint="distribute='never', or cast the column",
    )


def check_state_store(session: SparkSession) -> None:
    """Raise EplRuntimeError where another state store than RocksDB, which Spark's stateful operator needs, is set."""
    if session.conf.get(PROVIDER, "") != ROCKS:
        raise EplRuntimeError(
            "Streaming DataFrames are transformed with state in RocksDB, and the session uses another store",
            hint=f'spark.conf.set("{PROVIDER}", "{ROCKS}"); runtime.spark.session() sets it',
        )


__all__ = ["PROVIDER", "ROCKS", "check_state_store", "shard_ids", "with_hashes", "with_shards"]
