"""A distributed statement: ``python examples/spark_spread.py`` (needs Java 17 or newer and ``pip install '.[spark]'``).

Prices of many symbols come as files, shuffled within two seconds. ``transform`` returns the rises of each symbol as a streaming DataFrame:
rows are partitioned by symbol over two engines in Spark's stateful operator, each of which buffers rows until no earlier one is expected.
The query is stopped half-way and continues from its checkpoint. The same statement over a batch DataFrame of all files, and by
``send_batch`` in process, gives the same rows.
"""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
from pyspark.sql import SparkSession

from runtime import Runtime
from runtime.spark import session, transform

MODULE = """
create schema Tick(symbol string, price double, n long, ts long);
@name('rises') select * from Tick match_recognize (
  partition by symbol
  measures A.symbol as symbol, A.n as since, last(B.n) as til, A.price as low, last(B.price) as high
  pattern (A B{3,} C)
  define B as B.price > prev(B.price), C as C.price < prev(C.price));
"""
SCHEMA = "symbol string, price double, n long, ts long"
FILES, ROWS_A_FILE, LATE_MS = 4, 2000, 2000

Rise = tuple[str, int, int, float, float]


def make_rows() -> list[dict[str, object]]:
    """Return one row per 10 ms; ``ts`` is the time in ms, ``n`` the row's number."""
    chance = random.Random(42)
    return [
        {"symbol": f"S{chance.randrange(50)}", "price": round(chance.uniform(1, 100), 2), "n": n, "ts": n * 10}
        for n in range(FILES * ROWS_A_FILE)
    ]


def write(folder: Path, rows: list[dict[str, object]]) -> None:
    """Write files in which no row comes more than LATE_MS after a later one, and a last row that moves time beyond them."""
    chance = random.Random(7)
    shuffled = sorted(rows, key=lambda row: int(str(row["ts"])) + chance.random() * LATE_MS)
    end = {"symbol": "end", "price": 0.0, "n": len(rows), "ts": len(rows) * 10 + LATE_MS}
    for number in range(FILES):
        part = shuffled[number * ROWS_A_FILE : (number + 1) * ROWS_A_FILE] + ([end] if number == FILES - 1 else [])
        path = folder / f"{number:03}.parquet"
        pyarrow.parquet.write_table(pa.Table.from_pylist(part), path)
        os.utime(path, (number, number))  # Spark takes files in order of their modification times


def streaming(spark: SparkSession, folder: Path) -> list[Rise]:
    """Run twice: the second run continues from the checkpoint."""
    source, out = folder / "half", folder / "out"
    source.mkdir()
    for part in (range(FILES // 2), range(FILES // 2, FILES)):
        for number in part:
            os.link(folder / "in" / f"{number:03}.parquet", source / f"{number:03}.parquet")
        ticks = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(source))
        rises = transform(MODULE, {"Tick": ticks}, "rises", time="ts", sequence="n", late=f"{LATE_MS} ms", distribute="always", shards=2)
        query = rises.writeStream.format("parquet").option("path", str(out)).option("checkpointLocation", str(folder / "checkpoint"))
        query.trigger(availableNow=True).start().awaitTermination()
    return sorted(tuple(row) for row in spark.read.parquet(str(out)).collect())


def as_a_batch_job(spark: SparkSession, folder: Path) -> list[Rise]:
    ticks = spark.read.schema(SCHEMA).parquet(str(folder / "in"))
    rises = transform(MODULE, {"Tick": ticks}, "rises", time="ts", sequence="n", distribute="always", shards=2)
    return sorted(tuple(row) for row in rises.collect())


def in_process(rows: list[dict[str, object]]) -> list[Rise]:
    rises: list[Rise] = []
    with Runtime() as runtime:
        deployment = runtime.deploy(MODULE)
        print(deployment["rises"].partitioning.describe())
        deployment["rises"].add_listener(lambda new, old, statement, _: rises.extend(tuple(row.values()) for row in new))
        runtime.send_batch("Tick", pa.Table.from_pylist(rows), time="ts", sequence="n")
    return sorted(rises)


def main() -> list[Rise]:
    rows = make_rows()
    spark = session("epl-spark spread")
    with tempfile.TemporaryDirectory(prefix="epl-spark-spread-") as name:
        folder = Path(name)
        (folder / "in").mkdir()
        write(folder / "in", rows)
        rises = streaming(spark, folder)
        batch_job = as_a_batch_job(spark, folder)
    print(f"{len(rises)} rises of three prices and more; the first:")
    for symbol, since, til, low, high in rises[:5]:
        print(f"  {symbol:4} rows {since:5} to {til:5}  {low:6} to {high:6}")
    assert rises == in_process(rows), "distributed and in process agree"
    assert rises == batch_job, "and so does the batch job"
    return rises


if __name__ == "__main__":
    main()
