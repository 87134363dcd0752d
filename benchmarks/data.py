"""The events: the same on every machine, made from row numbers by splitmix64 (no library's random numbers, which may change).

Row k: ``symbol`` 'S0' … of ``keys`` symbols and ``price`` 0 ≤ p < 1000, both uniform, ``volume`` 1 … 1000, ``ts`` k + 1 ms. Prices are
multiples of 1/64, so that sums of them are exact in whatever order an engine adds. As temperatures the same columns are ``id`` 'Ek',
``device`` the symbol's number and ``temp`` the price; for joins ``key`` is the symbol and ``x`` the price, of type A and B in turns.
"""
from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

Array = np.ndarray[Any, Any]

TICK = 64
KEYS = 1000


def splitmix64(numbers: Array, seed: int) -> Array:
    """64 well mixed bits for each number."""
    with np.errstate(over="ignore"):
        z = (numbers.astype(np.uint64) + np.uint64(seed * 0x51_7C_C1_B7)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: Array = z ^ (z >> np.uint64(31))
        return mixed


class Data:
    """``count`` events as columns, the rows ``start`` … of the endless sequence."""

    def __init__(self, count: int, keys: int = KEYS, start: int = 0) -> None:
        rows = np.arange(start, start + count, dtype=np.uint64)
        self.count, self.keys = count, keys
        self.symbol = (splitmix64(rows, 1) % np.uint64(keys)).astype(np.int32)
        self.price = (splitmix64(rows, 2) % np.uint64(1000 * TICK)).astype(np.float64) / TICK
        self.volume = (splitmix64(rows, 3) % np.uint64(1000)).astype(np.int32) + np.int32(1)
        self.ts = np.arange(start + 1, start + count + 1, dtype=np.int64)

    @cached_property
    def names(self) -> list[str]:
        return [f"S{k}" for k in range(self.keys)]

    # ------------------------------------------------------------------ as rows

    def dicts(self, layout: str, first: int, last: int) -> list[dict[str, Any]]:
        """Events as ``Runtime.send`` takes them."""
        price = self.price[first:last].tolist()
        symbol = self.symbol[first:last].tolist()
        if layout == "temperature":
            return [{"id": f"E{first + k}", "device": s, "temp": p} for k, (s, p) in enumerate(zip(symbol, price))]
        if layout == "joined":
            names = self.names
            return [{"key": names[s], "x": p} for s, p in zip(symbol, price)]
        names, volume, ts = self.names, self.volume[first:last].tolist(), self.ts[first:last].tolist()
        return [{"symbol": names[s], "price": p, "volume": v, "ts": t} for s, p, v, t in zip(symbol, price, volume, ts)]

    # ------------------------------------------------------------------ as Arrow

    def batches(self, layout: str, first: int, last: int, rows: int, encoded: bool) -> list[pa.RecordBatch]:
        """Record batches of ``rows`` rows; strings as dictionaries (one for all symbols, one a batch for ids) or plain."""
        return [self._batch(layout, start, min(start + rows, last), encoded) for start in range(first, last, rows)]

    def _batch(self, layout: str, first: int, last: int, encoded: bool) -> pa.RecordBatch:
        price, ts = pa.array(self.price[first:last]), pa.array(self.ts[first:last])
        if layout == "temperature":
            ids: Any = pa.array([f"E{k}" for k in range(first, last)])
            columns = [ids.dictionary_encode() if encoded else ids, pa.array(self.symbol[first:last]), price, ts]
            return pa.RecordBatch.from_arrays(columns, names=["id", "device", "temp", "ts"])
        symbol: Any = pa.DictionaryArray.from_arrays(pa.array(self.symbol[first:last]), self._dictionary)
        columns = [symbol if encoded else symbol.cast(pa.string()), price, pa.array(self.volume[first:last]), ts]
        return pa.RecordBatch.from_arrays(columns, names=["symbol", "price", "volume", "ts"])

    @cached_property
    def _dictionary(self) -> pa.Array[Any]:
        return pa.array(self.names)

    # ------------------------------------------------------------------ as files

    def write(self, folder: Path) -> None:
        """Raw little-endian columns: symbol.i32, price.f64, volume.i32."""
        self.symbol.astype("<i4").tofile(folder / "symbol.i32")
        self.price.astype("<f8").tofile(folder / "price.f64")
        self.volume.astype("<i4").tofile(folder / "volume.i32")


__all__ = ["KEYS", "Array", "Data"]
