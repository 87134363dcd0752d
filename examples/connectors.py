"""A file goes through rules into a database and a folder of files; a restart goes on where the run before ended (docs/connectors.md)."""
from __future__ import annotations

import json
import sqlite3
import tempfile
from pathlib import Path

from runtime import Runtime
from runtime.connectors import DatabaseSink, FileSink, FileSource, Pipeline

RULES = """
@public @buseventtype create schema Trade(symbol string, price double, ts long);
@name('mean') select symbol, avg(price) as mean from Trade#length(100) group by symbol;
@name('jump') select * from Trade match_recognize (
    partition by symbol
    measures B.symbol as symbol, A.price as was, B.price as now
    pattern (A B)
    define B as B.price > A.price * 1.1);
"""


def start() -> Runtime:
    """Make the runtime that begins without state."""
    runtime = Runtime()
    runtime.deploy(RULES)
    return runtime


def run(folder: Path) -> None:
    """Process what is in the file and has not been processed."""
    with sqlite3.connect(folder / "means.db") as database:
        database.execute("create table if not exists means(symbol text primary key, mean real)")
    means = DatabaseSink(lambda: sqlite3.connect(folder / "means.db"), table="means", key="symbol")
    jumps = FileSink(folder / "jumps", format="jsonl")
    source = FileSource(folder / "trades.jsonl", time="ts")
    Pipeline(start, [source], {"mean": means, "jump": jumps}, state=folder / "state").run()


def main() -> None:
    """Run twice, with more trades the second time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for prices in ((10, 12), (13, 20)):
            with (folder / "trades.jsonl").open("a") as file:
                for price in prices:
                    file.write(json.dumps({"symbol": "A", "price": price, "ts": price}) + "\n")
            run(folder)
        for part in sorted(folder.glob("jumps/part-*")):
            print(part.name, part.read_text().strip())
        with sqlite3.connect(folder / "means.db") as database:
            print(database.execute("select * from means").fetchall())


if __name__ == "__main__":
    main()
