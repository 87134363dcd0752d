"""Sessions per user: begun by a login, ended by a logout or by thirty minutes in which the user does nothing; listed while they live.

    python examples/sessions.py            # in process
    python examples/sessions.py --spark    # as a Spark job, queried between its micro-batches (needs Java 17 or newer)

The same module runs in both, with the same output.
"""
from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from runtime import PartitionsWhere, Runtime

EPL = """
create schema Login(user string, ts long);
create schema Click(user string, page string, ts long);
create schema Logout(user string, ts long);

create context Session
  initiated by distinct(login.user) Login as login
  terminated by pattern [
    every click=Click(user = login.user) -> (timer:interval(30 min) and not Click(user = login.user))
    or Logout(user = login.user)
    or (timer:interval(30 min) and not Click(user = login.user))];

@name('ended') context Session
select context.login.user as user, count(*) as clicks, last(page) as lastPage, current_timestamp() - context.startTime as length
from Click(user = context.login.user) output last when terminated;

context Session create table Seen(page string primary key, times count(*));
context Session into table Seen select count(*) as times from Click(user = context.login.user) group by page;
"""

MINUTE = 60_000
EVENTS = [
    ("Login", {"user": "ann", "ts": 0}),
    ("Click", {"user": "ann", "page": "/", "ts": 1 * MINUTE}),
    ("Login", {"user": "bob", "ts": 2 * MINUTE}),
    ("Click", {"user": "bob", "page": "/", "ts": 3 * MINUTE}),
    ("Click", {"user": "ann", "page": "/shoes", "ts": 20 * MINUTE}),
    ("Click", {"user": "bob", "page": "/hats", "ts": 25 * MINUTE}),
    ("Logout", {"user": "bob", "ts": 26 * MINUTE}),
    ("Login", {"user": "cid", "ts": 45 * MINUTE}),
    ("Click", {"user": "cid", "page": "/", "ts": 46 * MINUTE}),
    ("Click", {"user": "cid", "page": "/hats", "ts": 51 * MINUTE}),
]
PAGES = "context Session select context.login.user as user, count(*) as pages from Seen"
SEEN = "select page, times from Seen order by page"
OF_CID = PartitionsWhere(lambda partition: partition.properties["login"]["user"] == "cid")

Shown = dict[str, list[dict[str, Any]]]


def in_process() -> Shown:
    """Return the sessions that have ended, and what queries give of those that live."""
    ended: list[dict[str, Any]] = []
    with Runtime(start_time=0) as runtime:
        runtime.deploy(EPL, listeners={"ended": lambda new, old, *_: ended.extend(dict(row) for row in new)})
        for event_type, event in EVENTS:
            runtime.advance_time_span(event["ts"])
            runtime.send(event_type, event)
        return {
            "ended": ended,
            "live": [{"id": each.id, "user": each.properties["login"]["user"]} for each in runtime.contexts["Session"]],
            "pages": [dict(row) for row in runtime.query(PAGES)],
            "of cid": [dict(row) for row in runtime.query(SEEN, partitions=OF_CID)],
        }


def on_spark() -> Shown:
    """Do the same in a job over folders of files."""
    import pyarrow as pa
    import pyarrow.parquet

    from runtime.spark import session, start

    ended: list[dict[str, Any]] = []
    spark = session("sessions")
    with tempfile.TemporaryDirectory() as folder:
        sources = {}
        for name in ("Login", "Click", "Logout"):
            Path(folder, name).mkdir()
            table = pa.Table.from_pylist([event for event_type, event in EVENTS if event_type == name])
            pa.parquet.write_table(table, Path(folder, name, "events.parquet"))
            schema = spark.read.parquet(str(Path(folder, name))).schema
            sources[name] = spark.readStream.schema(schema).parquet(str(Path(folder, name)))
        job = start(
            EPL, sources, time="ts", checkpoint=str(Path(folder, "job")),
            listeners={"ended": lambda new, old, *_: ended.extend(dict(row) for row in new)})
        try:
            job.process_all_available()
            return {
                "ended": ended,
                "live": [{"id": each.id, "user": each.properties["login"]["user"]} for each in job.runtime.contexts["Session"]],
                "pages": [dict(row) for row in job.query(PAGES)],
                "of cid": [dict(row) for row in job.query(SEEN, partitions=OF_CID)],
            }
        finally:
            job.stop()


if __name__ == "__main__":
    for title, rows in (on_spark() if "--spark" in sys.argv else in_process()).items():
        print(f"{title:7} {rows}")
