"""How Python calls a kernel: numpy's arrays are read where numpy's C interface says that they keep what is needed. ``entry_printer`` prints
the function that does so; ``layout_is_known`` tries those places out.
"""
from __future__ import annotations

import ctypes
import struct
import sys
from functools import lru_cache
from typing import Any

import numpy as np

OTHER_TYPES = -(2**62)
"""What is returned for arguments of other types than those that the function was made for."""

OBJECT_TYPE, DATA, SHAPE, STRIDES, DTYPE, FLAGS, DIMENSIONS = 8, 16, 32, 40, 56, 64, 24
TYPE_NUMBER = 28
"""Bytes from the beginning of a PyArrayObject and of a PyArray_Descr."""
CONTIGUOUS = 1

API = {
    "PyTuple_GetItem": "ptr @PyTuple_GetItem(ptr, i64)", "PyTuple_Size": "i64 @PyTuple_Size(ptr)",
    "PyLong_AsLongLong": "i64 @PyLong_AsLongLong(ptr)", "PyObject_IsTrue": "i32 @PyObject_IsTrue(ptr)",
    "PyErr_Occurred": "ptr @PyErr_Occurred()",
    "PyEval_SaveThread": "ptr @PyEval_SaveThread()", "PyEval_RestoreThread": "void @PyEval_RestoreThread(ptr)",
}
"""What is called of Python."""


@lru_cache(maxsize=1)
def layout_is_known() -> bool:
    """Return whether arrays keep things where the entry looks for them."""
    if struct.calcsize("P") != 8 or sys.implementation.name != "cpython" or np.dtype(np.int64).num != type_number(np.dtype(np.int64)):
        return False
    tried: tuple[np.ndarray[Any, Any], ...] = np.zeros((3, 5), np.int32), np.zeros((4, 6))[:, 1:4], np.zeros(7, np.bool_)
    return all(map(_is_laid_out, tried))


def _is_laid_out(array: np.ndarray[Any, Any]) -> bool:
    words = {place: ctypes.c_int64.from_address(id(array) + place).value for place in (OBJECT_TYPE, DATA, SHAPE, STRIDES, DTYPE, FLAGS)}
    if words[OBJECT_TYPE] != id(np.ndarray) or words[DATA] != array.ctypes.data or words[DTYPE] != id(array.dtype):
        return False
    if ctypes.c_int32.from_address(id(array) + DIMENSIONS).value != array.ndim:
        return False
    shape, strides = (tuple((ctypes.c_int64 * array.ndim).from_address(words[place])) for place in (SHAPE, STRIDES))
    return (shape, strides, bool(words[FLAGS] & CONTIGUOUS)) == (array.shape, array.strides, array.flags.c_contiguous)


def type_number(dtype: np.dtype[Any]) -> int:
    return ctypes.c_int32.from_address(id(dtype) + TYPE_NUMBER).value


__all__ = [
    "API", "CONTIGUOUS", "DATA", "DIMENSIONS", "DTYPE", "FLAGS", "OBJECT_TYPE", "OTHER_TYPES", "SHAPE", "STRIDES", "TYPE_NUMBER",
    "layout_is_known",
]
