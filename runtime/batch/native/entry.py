"""The function that Python calls: it takes the tuple of a kernel's arguments apart, lets other threads run meanwhile, and calls the kernel.

It reads numpy's arrays where numpy's C interface says that they keep what it needs, and says so where one is of another type than the
kernel was compiled for. ``layout_is_known`` tries those places out.
"""
from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from runtime.batch.native.lines import Lines
from runtime.batch.native.types import BOOL, INT64, Array, ArrayType, Number, Operand, Several, TupleType, Type, Value, arguments_of

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
    """Whether arrays keep things where the entry looks for them."""
    if struct.calcsize("P") != 8 or sys.implementation.name != "cpython" or np.dtype(np.int64).num != type_number(np.dtype(np.int64)):
        return False
    tried: tuple[np.ndarray[Any, Any], ...] = np.zeros((3, 5), np.int32), np.zeros((4, 6))[:, 1:4], np.zeros(7, np.bool_)
    return all(map(_is_laid_out, tried))


def _is_laid_out(array: np.ndarray[Any, Any]) -> bool:
    found = {place: ctypes.c_int64.from_address(id(array) + place).value for place in (OBJECT_TYPE, DATA, SHAPE, STRIDES, DTYPE, FLAGS)}
    if found[OBJECT_TYPE] != id(np.ndarray) or found[DATA] != array.ctypes.data or found[DTYPE] != id(array.dtype):
        return False
    if ctypes.c_int32.from_address(id(array) + DIMENSIONS).value != array.ndim:
        return False
    shape, strides = (tuple((ctypes.c_int64 * array.ndim).from_address(found[place])) for place in (SHAPE, STRIDES))
    return (shape, strides, bool(found[FLAGS] & CONTIGUOUS)) == (array.shape, array.strides, array.flags.c_contiguous)


def type_number(dtype: np.dtype[Any]) -> int:
    return ctypes.c_int32.from_address(id(dtype) + TYPE_NUMBER).value


class EntryPrinter:
    """``numbers``: numpy's number of each array's dtype, in order of the arguments."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._lines = Lines()
        self._numbers = iter(numbers)

    def printed(self, called: str, types: Sequence[Type], gives: bool) -> str:
        """``gives``: whether the function gives an integer, or nothing."""
        lines = self._lines
        operand = self._operand("%args", TupleType(tuple(types)))
        self._demand(f"icmp eq ptr {lines.set('call ptr @PyErr_Occurred()')}, null")
        thread = lines.set("call ptr @PyEval_SaveThread()")
        call = f"{called}({', '.join(arguments_of(operand))})"
        status = lines.set(f"call i64 {call}") if gives else "0"
        if not gives:
            lines.add(f"call void {call}")
        lines.add(f"call void @PyEval_RestoreThread(ptr {thread})")
        lines.add(f"ret i64 {status}")
        lines.begin("other")
        lines.add(f"ret i64 {OTHER_TYPES}")
        declared = "\n".join(f"declare {text}" for text in API.values())
        return f"{declared}\ndefine i64 @entry(ptr %args, ptr %array) {{\nentry:\n" + "\n".join(lines.texts) + "\n}\n"

    def _operand(self, text: str, of: Type) -> Operand:
        if isinstance(of, TupleType):
            self._demand(f"icmp eq i64 {self._lines.set(f'call i64 @PyTuple_Size(ptr {text})')}, {len(of.items)}")
            found = [self._lines.set(f"call ptr @PyTuple_GetItem(ptr {text}, i64 {n})") for n in range(len(of.items))]
            return Several(tuple(self._operand(item, each) for item, each in zip(found, of.items)))
        return self._number(text, of) if isinstance(of, Number) else self._array(text, of)

    def _number(self, text: str, of: Number) -> Value:
        lines = self._lines
        if of is BOOL:
            return Value(lines.set(f"icmp eq i32 {lines.set(f'call i32 @PyObject_IsTrue(ptr {text})')}, 1"), of)
        return Value(lines.set(f"call i64 @PyLong_AsLongLong(ptr {text})"), INT64)

    def _array(self, text: str, of: ArrayType) -> Array:
        lines = self._lines
        self._demand(f"icmp eq ptr {self._at(text, OBJECT_TYPE, 'ptr')}, %array")
        number = self._at(self._at(text, DTYPE, "ptr"), TYPE_NUMBER, "i32")
        tests = [f"icmp eq i32 {self._at(text, DIMENSIONS, 'i32')}, {of.dimensions}", f"icmp eq i32 {number}, {next(self._numbers)}"]
        if not of.strided:
            flags = self._at(text, FLAGS, "i32")
            tests.append(f"icmp ne i32 {lines.set(f'and i32 {flags}, {CONTIGUOUS}')}, 0")
        found = lines.set(tests[0])
        for test in tests[1:]:
            found = lines.set(f"and i1 {found}, {lines.set(test)}")
        self._demand(f"and i1 {found}, true")
        counts = [self._at(self._at(text, SHAPE, "ptr"), 8 * n, "i64") for n in range(of.dimensions)]
        strides = [self._at(self._at(text, STRIDES, "ptr"), 8 * n, "i64") for n in range(of.dimensions * of.strided)]
        return Array(of, self._at(text, DATA, "ptr"), tuple(counts), tuple(strides))

    def _at(self, pointer: str, offset: int, llvm: str) -> str:
        place = self._lines.set(f"getelementptr i8, ptr {pointer}, i64 {offset}")
        return self._lines.set(f"load {llvm}, ptr {place}")

    def _demand(self, test: str) -> None:
        good = self._lines.label()
        self._lines.branch(self._lines.set(test), good, "other")
        self._lines.begin(good)


__all__ = ["API", "OTHER_TYPES", "EntryPrinter", "layout_is_known"]
