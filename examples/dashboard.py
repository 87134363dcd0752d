"""A dashboard's window: totals by account that events upsert, that a listener follows, that queries read on demand and that a stream joins.

    python examples/dashboard.py            # in process
    python examples/dashboard.py --spark    # as a Spark job, queried between its micro-batches (needs Java 17 or newer)

The same module runs in both; what the queries and the join give is the same.
"""
from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from runtime import Runtime

EPL = """
create schema Purchase(account string, amount double, ts long);
create schema Login(account string, ts long);

@name('totals') create window Totals#keepall as (account string, purchases long, amount double);
on Purchase as p merge Totals as t where t.account = p.account
  when matched then update set purchases = t.purchases + 1, amount = t.amount + p.amount
  when not matched then insert select account, 1L as purchases, amount;

create table Logins(account string primary key, logins count(*));
into table Logins select count(*) as logins from Login group by account;

@name('welcome') select l.account as account, t.amount as spent, Logins[l.account].logins as logins
from Login as l unidirectional, Totals as t where t.account = l.account;
"""

EVENTS = [
    ("Purchase", {"account": "ann", "amount": 20.0, "ts": 1_000}),
    ("Purchase", {"account": "bob", "amount": 5.0, "ts": 2_000}),
    ("Login", {"account": "ann", "ts": 3_000}),
    ("Purchase", {"account": "ann", "amount": 7.5, "ts": 4_000}),
    ("Login", {"account": "ann", "ts": 5_000}),
    ("Login", {"account": "cid", "ts": 6_000}),
]
LARGEST = "select account, amount from Totals order by amount desc limit 1"
ONE = "select purchases from Totals where account = ?:account:string"
FORGET = "delete from Totals where amount < 10.0"

Shown = dict[str, list[dict[str, Any]]]


def in_process() -> Shown:
    """Return what the join has emitted and what the queries give."""
    welcomed: list[dict[str, Any]] = []
    with Runtime(start_time=0) as runtime:
        runtime.deploy(EPL, listeners={"welcome": lambda new, old, *_: welcomed.extend(dict(row) for row in new)})
        for event_type, event in EVENTS:
            runtime.advance_time(event["ts"])
            runtime.send(event_type, event)
        one = runtime.prepare_query(ONE)
        return {
            "welcomed": welcomed,
            "largest": [dict(row) for row in runtime.query(LARGEST)],
            "ann": [dict(row) for row in one.execute({"account": "ann"})],
            "forgotten": [dict(row) for row in runtime.query(FORGET)],
            "left": [dict(row) for row in runtime.query("select account from Totals")],
        }


def on_spark() -> Shown:
    """Do the same in a job over folders of files; a query that deletes is a step of the job, once whatever happens."""
    import pyarrow as pa
    import pyarrow.parquet

    from runtime.spark import session, start

    welcomed: list[dict[str, Any]] = []
    spark = session("dashboard")
    with tempfile.TemporaryDirectory() as folder:
        sources = {}
        for name in ("Purchase", "Login"):
            Path(folder, name).mkdir()
            table = pa.Table.from_pylist([event for event_type, event in EVENTS if event_type == name])
            pa.parquet.write_table(table, Path(folder, name, "events.parquet"))
            schema = spark.read.parquet(str(Path(folder, name))).schema
            sources[name] = spark.readStream.schema(schema).parquet(str(Path(folder, name)))
        job = start(
            EPL, sources, time="ts", checkpoint=str(Path(folder, "job")),
            listeners={"welcome": lambda new, old, *_: welcomed.extend(dict(row) for row in new)})
        try:
            job.process_all_available()
            return {
                "welcomed": welcomed,
                "largest": [dict(row) for row in job.query(LARGEST)],
                "ann": [dict(row) for row in job.query(ONE, {"account": "ann"})],
                "forgotten": [dict(row) for row in job.query(FORGET)],
                "left": [row.asDict() for row in job.window("Totals").select("account").collect()],
            }
        finally:
            job.stop()


if __name__ == "__main__":
    for title, rows in (on_spark() if "--spark" in sys.argv else in_process()).items():
        print(f"{title:10} {rows}")
