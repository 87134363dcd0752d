"""The function that Python calls: it takes the tuple of a kernel's arguments apart, lets other threads run meanwhile, and calls the kernel.
It says so where an array is of another type than the kernel was compiled for.
"""
from __future__ import annotations

from collections.abc import Sequence

from runtime.batch.compiler.llvm.entry import (
    API,
    CONTIGUOUS,
    DATA,
    DIMENSIONS,
    DTYPE,
    FLAGS,
    OBJECT_TYPE,
    OTHER_TYPES,
    SHAPE,
    STRIDES,
    TYPE_NUMBER,
)
from runtime.batch.compiler.llvm.kernel_types import (
    BOOL,
    INT64,
    Array,
    KernelArrayType,
    LlvmValue,
    NumberType,
    Operand,
    Several,
    TupleType,
    Type,
    call_arguments,
)
from runtime.batch.compiler.llvm.lines import Lines


class EntryPrinter:
    """``numbers``: numpy's number of each array's dtype, in order of the arguments."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._lines = Lines()
        self._numbers = iter(numbers)

    def print_entry(self, called: str, types: Sequence[Type], gives: bool) -> str:
        """Return the function's text; ``gives``: whether the function gives an integer, or nothing."""
        lines = self._lines
        operand = self._operand("%args", TupleType(tuple(types)))
        self._demand(f"icmp eq ptr {lines.set('call ptr @PyErr_Occurred()')}, null")
        thread = lines.set("call ptr @PyEval_SaveThread()")
        call = f"{called}({', '.join(call_arguments(operand))})"
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
            items = [self._lines.set(f"call ptr @PyTuple_GetItem(ptr {text}, i64 {n})") for n in range(len(of.items))]
            return Several(tuple(self._operand(item, each) for item, each in zip(items, of.items)))
        return self._number(text, of) if isinstance(of, NumberType) else self._array(text, of)

    def _number(self, text: str, of: NumberType) -> LlvmValue:
        lines = self._lines
        if of is BOOL:
            return LlvmValue(lines.set(f"icmp eq i32 {lines.set(f'call i32 @PyObject_IsTrue(ptr {text})')}, 1"), of)
        return LlvmValue(lines.set(f"call i64 @PyLong_AsLongLong(ptr {text})"), INT64)

    def _array(self, text: str, of: KernelArrayType) -> Array:
        lines = self._lines
        self._demand(f"icmp eq ptr {self._at(text, OBJECT_TYPE, 'ptr')}, %array")
        number = self._at(self._at(text, DTYPE, "ptr"), TYPE_NUMBER, "i32")
        tests = [f"icmp eq i32 {self._at(text, DIMENSIONS, 'i32')}, {of.dimensions}", f"icmp eq i32 {number}, {next(self._numbers)}"]
        if not of.strided:
            flags = self._at(text, FLAGS, "i32")
            tests.append(f"icmp ne i32 {lines.set(f'and i32 {flags}, {CONTIGUOUS}')}, 0")
        passed = lines.set(tests[0])
        for test in tests[1:]:
            passed = lines.set(f"and i1 {passed}, {lines.set(test)}")
        self._demand(f"and i1 {passed}, true")
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


__all__ = ["EntryPrinter"]
