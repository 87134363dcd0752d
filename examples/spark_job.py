"""A Spark job with two sources: ``python examples/spark_job.py`` (needs Java 17 or newer and ``pip install '.[spark]'``).

Two folders of Parquet files, purchases and declined payments, form one streaming query of 12 micro-batches. The statements find cards with
two declined payments in a row and then a large purchase, within a minute, across micro-batches. The same runs twice more, by ``send`` in
process and over batch DataFrames by ``transform``, and all three give the same matches.
"""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
from pyspark.sql import DataFrame, SparkSession

from runtime import Rows, Runtime, Statement
from runtime.spark import session, start, transform

MODULE = """
insert into Activity select card, amount, 'purchase' as kind, current_timestamp() as at_ms from Purchase;
insert into Activity select card, 0.0 as amount, 'decline' as kind, current_timestamp() as at_ms from Decline;

@name('suspects') select * from Activity#time(1 minute)
match_recognize (
  partition by card
  measures d1.card as card, d1.at_ms as since, p.amount as amount
  pattern (d1 d2 p)
  define d1 as d1.kind = 'decline', d2 as d2.kind = 'decline', p as p.kind = 'purchase' and p.amount > 300
);
"""
SCHEMAS = {"Purchase": {"card": str, "amount": float}, "Decline": {"card": str}}
BATCHES = 12
SECONDS_A_BATCH = 10

Suspect = tuple[int, str, int, float]
"""Time in ms, card, time of the first declined payment, amount."""


def make_tables() -> list[dict[str, pa.Table]]:
    """Return BATCHES times ten seconds of both types; ``at`` is the time in ms, ``n`` orders rows of equal time."""
    chance = random.Random(42)
    batches = []
    for number in range(BATCHES):
        rows: dict[str, list[dict[str, object]]] = {"Purchase": [], "Decline": []}
        for n in range(400):
            at = (number * SECONDS_A_BATCH * 1000) + n * 25 // 100 * 100
            card = f"C{chance.randrange(200)}"
            if chance.random() < 0.35:
                rows["Decline"].append({"card": card, "at": at, "n": n})
            else:
                rows["Purchase"].append({"card": card, "amount": round(chance.expovariate(1 / 200), 2), "at": at, "n": n})
        batches.append({name: pa.Table.from_pylist(chance.sample(of_type, len(of_type))) for name, of_type in rows.items()})
    return batches


def write(folder: Path, batches: list[dict[str, pa.Table]]) -> None:
    for number, tables in enumerate(batches):
        for name, table in tables.items():
            path = folder / name / f"{number:03}.parquet"
            path.parent.mkdir(exist_ok=True)
            pyarrow.parquet.write_table(table, path)
            os.utime(path, (number, number))  # Spark takes files in order of their modification times


class Collector:
    """A listener that collects its rows with the time."""

    def __init__(self) -> None:
        self.suspects: list[Suspect] = []

    def __call__(self, new: Rows, old: Rows, statement: Statement, runtime: Runtime) -> None:
        self.suspects.extend((runtime.now, row["card"], row["since"], row["amount"]) for row in new)


def streaming(spark: SparkSession, folder: Path) -> tuple[list[Suspect], int]:
    """Return the rows that the listener gets on the driver, and the number of micro-batches."""

    def stream(name: str, schema: str) -> DataFrame:
        return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / name))

    sources = {
        "Purchase": stream("Purchase", "card string, amount double, at long, n long"),
        "Decline": stream("Decline", "card string, at long, n long"),
    }
    collector = Collector()
    with Runtime() as runtime:
        for name, schema in SCHEMAS.items():
            runtime.register(name, schema)
        runtime.deploy(MODULE, listeners={"suspects": collector})
        job = start(runtime, sources, time="at", sequence="n", checkpoint=str(folder / "checkpoint"), trigger="availableNow")
        job.await_termination()
        batches = len({progress["batchId"] for progress in job.streaming_query.recentProgress if progress["numInputRows"]})
    return collector.suspects, batches


def in_process(batches: list[dict[str, pa.Table]]) -> list[Suspect]:
    """Return the same by ``send``, event by event."""
    collector = Collector()
    with Runtime() as runtime:
        for name, schema in SCHEMAS.items():
            runtime.register(name, schema)
        runtime.deploy(MODULE, listeners={"suspects": collector})
        for tables in batches:
            rows = [(row.pop("at"), row.pop("n"), name, row) for name, table in tables.items() for row in table.to_pylist()]
            for at, _, name, row in sorted(rows, key=lambda each: each[:2]):
                runtime.advance_time_span(at)
                runtime.send(name, row)
    return collector.suspects


def as_a_batch_job(spark: SparkSession, folder: Path) -> list[tuple[str, int, float]]:
    """Return the same from all files at once, as a batch DataFrame."""
    sources = {name: spark.read.parquet(str(folder / name)) for name in SCHEMAS}
    suspects = transform(MODULE, sources, "suspects", time="at", sequence="n")
    return [(row["card"], row["since"], row["amount"]) for row in suspects.collect()]


def main() -> list[Suspect]:
    batches = make_tables()
    spark = session("epl-spark example")
    with tempfile.TemporaryDirectory(prefix="epl-spark-job-") as name:
        folder = Path(name)
        write(folder, batches)
        suspects, micro_batches = streaming(spark, folder)
        batch_job = as_a_batch_job(spark, folder)
    length = SECONDS_A_BATCH * 1000
    spanning = sum(since // length != at // length for at, _, since, _ in suspects)
    print(f"{len(suspects)} suspects in {micro_batches} micro-batches, {spanning} of them span micro-batches; the first:")
    for at, card, since, amount in suspects[:5]:
        print(f"  {since:6} to {at:6} ms  {card:4}  {amount}")
    assert micro_batches == BATCHES and spanning
    assert suspects == in_process(batches), "micro-batches and send agree"
    assert sorted(each[1:] for each in suspects) == sorted(batch_job), "and so does the batch job, partitioned by card"
    print("the same in process, and as a batch DataFrame")
    return suspects


if __name__ == "__main__":
    main()
