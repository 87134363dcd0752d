"""A kernel's computed values as an Arrow column."""
from __future__ import annotations

from typing import Any

import pyarrow as pa

from runtime.batch.arrays import Array
from runtime.batch.scalars import INSTANTS, TEXTS
from runtime.batch.strings import StringPool


def computed_column(kind: str, values: Array, valid: Array, arrow: pa.DataType, pool: StringPool) -> pa.Array[Any]:
    """Values of a kind; strings are codes and become a dictionary column. An empty ``valid``: all are there."""
    mask = None if valid.all() else ~valid
    if kind in TEXTS:
        gone = values < 0 if mask is None else mask | (values < 0)
        codes = pa.array(values, pa.int32(), mask=gone if gone.any() else None)
        return pa.DictionaryArray.from_arrays(codes, pool.dictionary(), safe=False)
    if kind in INSTANTS:
        return pa.array(values, pa.int64(), mask=mask).view(pa.timestamp("us")).cast(arrow)
    return pa.array(values, mask=mask)
