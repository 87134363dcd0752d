"""A kernel's computed values as an Arrow column."""
from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from runtime.batch.storage.arrays import Array
from runtime.batch.storage.kinds import INSTANTS, TEXTS
from runtime.batch.storage.strings import StringPool


def build_column(kind: str, values: Array, valid: Array, arrow: pa.DataType, pool: StringPool) -> pa.Array[Any]:
    """Return a column of values of a kind; strings are codes and become a dictionary column. An empty ``valid``: all are there. The column
    takes the values as they are, they must not change afterwards."""
    if kind in TEXTS:
        there = values >= 0
        if len(valid):
            there &= valid
        return pa.DictionaryArray.from_arrays(_primitive(values, there, pa.int32()), pool.dictionary(), safe=False)
    if kind == "boolean":
        return pa.array(values, mask=None if valid.all() else ~valid)
    if kind in INSTANTS:
        return _primitive(values, valid, pa.timestamp("us")).cast(arrow)
    return _primitive(values, valid, pa.from_numpy_dtype(values.dtype))


def _primitive(values: Array, valid: Array, arrow: pa.DataType) -> pa.Array[Any]:
    """Return the array around the values."""
    mask = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little").data)
    return pa.Array.from_buffers(arrow, len(values), [mask, pa.py_buffer(np.ascontiguousarray(values).data)])
