"""Run a statement over Arrow tables; it is compiled if numba is installed.

    python examples/columns.py
"""
from __future__ import annotations

import pyarrow as pa

from runtime import Runtime

EPL = """
create schema Trade(symbol string, price double, volume int);

@name('averages') select symbol, avg(price) as average, count(*) as trades
from Trade#time(10 sec) group by symbol;
"""


def trades(first: int, count: int) -> pa.Table:
    """Return ``count`` trades of three symbols, one per millisecond."""
    numbers = range(first, first + count)
    symbols = pa.DictionaryArray.from_arrays(pa.array([n % 3 for n in numbers], pa.int32()), pa.array(["IBM", "ORCL", "SAP"]))
    return pa.table({
        "symbol": symbols,
        "price": pa.array([100.0 + n % 7 for n in numbers]),
        "volume": pa.array([n % 50 for n in numbers], pa.int32()),
        "ts": pa.array(numbers, pa.int64()),
    })


def main() -> tuple[int, str, list[dict[str, object]]]:
    """Return the number of emitted rows, the tier at the end, and the averages of the window."""
    rows = 0

    def count(new: pa.RecordBatch | None, old: pa.RecordBatch | None, statement: object, runtime: object) -> None:
        nonlocal rows
        rows += 0 if new is None else new.num_rows

    with Runtime() as runtime:
        statement = runtime.deploy(EPL)["averages"]
        statement.add_batch_listener(count)
        for batch in range(4):
            runtime.send_batch("Trade", trades(batch * 5_000, 5_000), time="ts")
        print(statement.explain().splitlines()[-1].strip())
        return rows, statement.tier, [row.to_dict() for row in statement]


if __name__ == "__main__":
    row_count, _, averages = main()
    print(f"{row_count} rows")
    for each in averages:
        print(each)
