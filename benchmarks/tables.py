"""Row patterns over tables beside Trino: ``python -m benchmarks.tables --rows 1000000 --trino COMMAND``.

Both read the same rows, which are made by a formula. COMMAND is a program that runs Trino in its process: a line ``{"id": 1, "sql": …}``
in, a line ``{"id": 1, "rows": […]}`` out. Its time is that of the query without that of making the rows. Without it, the rest is measured.
"""
from __future__ import annotations

import argparse
import json
import shlex
import statistics
import subprocess
import time
from typing import Any

import numpy as np
import pyarrow as pa

from runtime import Runtime

SYMBOLS, CENTS = 1000, 100_000
RISING, FALLING = "B AS B.price > PREV(B.price)", "C AS C.price < PREV(C.price)"
RUNS = "MEASURES A.price AS ap, LAST(B.price) AS bp, C.price AS cp PATTERN (A B+ C) DEFINE"
CLAUSES = {
    "W5sel": f"{RUNS} A AS A.price < 10, {RISING}, {FALLING} AND C.price < 5",
    "W5all": f"{RUNS} {RISING}, {FALLING}",
    "W5abcd": "MEASURES A.ts AS ap, B.ts AS bp, D.ts AS cp PATTERN (A B C D) DEFINE B AS B.price > A.price, C AS C.price > B.price, "
    "D AS D.price > C.price AND D.ts - A.ts < 10000",
}
QUERY = "SELECT * FROM {rows} MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts {clause}) AS m"
ROWS = f"""(SELECT CAST(x % {SYMBOLS} AS integer) AS symbol, ts, CAST(y % {CENTS} AS double) / 100 AS price FROM (
    SELECT ts, x, bitwise_xor(y, y / 8192) AS y FROM (
    SELECT ts, x, x * 1103515245 % 4294967296 AS y FROM (
    SELECT ts, bitwise_xor(z, z / 32768) AS x FROM (
    SELECT a.i * 1000 + b.i AS ts, (a.i * 1000 + b.i) * 2654435761 % 4294967296 AS z
    FROM UNNEST(sequence(0, {{last}})) a(i) CROSS JOIN UNNEST(sequence(0, 999)) b(i))))))"""


def table_of(count: int) -> pa.Table:
    """Return the rows that ``ROWS`` gives."""
    ts = np.arange(count)
    x = ts * 2654435761 % 4294967296
    x ^= x // 32768
    y = x * 1103515245 % 4294967296
    y ^= y // 8192
    return pa.table({"symbol": (x % SYMBOLS).astype(np.int32), "ts": ts, "price": (y % CENTS).astype(np.float64) / 100})


def ours(table: pa.Table, clause: str, times: int) -> tuple[float, int, float]:
    """Return seconds, rows and the sum of the last column."""
    text = QUERY.format(rows="t", clause=clause)
    result = Runtime.sql(text, {"t": table})
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        result = Runtime.sql(text, {"t": table})
        took.append(time.perf_counter() - begun)
    return statistics.median(took), result.num_rows, float(np.sum(result.column("cp").to_numpy()))


class Trino:
    """The program that runs Trino."""

    def __init__(self, command: str) -> None:
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, sql: str) -> tuple[float, list[Any]]:
        """Return seconds and rows."""
        assert self.process.stdin is not None and self.process.stdout is not None
        begun = time.perf_counter()
        print(json.dumps({"id": 1, "sql": sql}), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        if "rows" not in answer:
            raise RuntimeError(answer.get("error"))
        return time.perf_counter() - begun, answer["rows"]

    def measured(self, count: int, clause: str, times: int) -> tuple[float, int, float]:
        """Return seconds, rows and the sum of the last column."""
        rows = ROWS.format(last=count // 1000 - 1)
        rows_only = f"SELECT count(*), sum(price), sum(symbol), max(ts) FROM {rows}"
        matched = "SELECT count(*), sum(cp), sum(ap), sum(bp) FROM (" + QUERY.format(rows=rows, clause=clause) + ")"
        for _ in range(2):
            self.ask(rows_only)
            self.ask(matched)
        base = statistics.median(self.ask(rows_only)[0] for _ in range(times))
        answers = [self.ask(matched) for _ in range(times)]
        return statistics.median(seconds for seconds, _ in answers) - base, answers[0][1][0][0], float(answers[0][1][0][1] or 0)

    def close(self) -> None:
        """End the program."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)


def main() -> None:
    """Print million rows a second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--trino", help="the command that runs Trino; without it, Trino is not measured")
    options = parser.parse_args()
    table, trino = table_of(options.rows), None if options.trino is None else Trino(options.trino)
    for name, clause in CLAUSES.items():
        seconds, rows, total = ours(table, clause, options.times)
        line = f"{name:8} {rows:>9,} rows  here {options.rows / seconds / 1e6:6.2f} M rows/s"
        if trino is not None:
            theirs, their_rows, their_total = trino.measured(options.rows, clause, options.times)
            same = rows == their_rows and abs(total - their_total) <= 1e-9 * max(1.0, abs(total))
            line += f"  Trino {options.rows / theirs / 1e6:6.2f} M rows/s  {theirs / seconds:5.1f} times"
            line += "" if same else "  RESULTS DIFFER"
        print(line, flush=True)
    if trino is not None:
        trino.close()


if __name__ == "__main__":
    main()
