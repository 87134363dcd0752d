"""The lines of one LLVM function: names, blocks, conversions, elements of arrays."""
from __future__ import annotations

import struct
from collections.abc import Sequence

from runtime.batch.compiler.llvm.kernel_types import BOOL, FLOAT32, FLOAT64, INT64, UINT64, Array, LlvmValue, NotNative, NumberType


class Lines:
    """Instructions in the order of blocks. Variables are memory, which LLVM turns into registers."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.variables: list[str] = []
        self._names = 0
        self.block = "entry"

    def add(self, text: str) -> None:
        self.texts.append(text)

    def name(self) -> str:
        self._names += 1
        return f"%t{self._names}"

    def set(self, text: str) -> str:
        """Return a name for what the instruction gives."""
        name = self.name()
        self.texts.append(f"{name} = {text}")
        return name

    def label(self) -> str:
        self._names += 1
        return f"b{self._names}"

    def begin(self, label: str) -> None:
        self.texts.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        self.texts.append(f"br label %{label}")

    def branch(self, test: str, yes: str, no: str) -> None:
        self.texts.append(f"br i1 {test}, label %{yes}, label %{no}")

    def variable(self, llvm: str, zero: str) -> str:
        """Allocate memory of the function's own, zero at first."""
        name = self.name()
        self.variables += [f"{name} = alloca {llvm}", f"store {llvm} {zero}, ptr {name}"]
        return name

    # ------------------------------------------------------------------ numbers

    def convert(self, value: LlvmValue, to: NumberType) -> LlvmValue:
        """Return the value as another type, by C's and numpy's rules."""
        if value.type == to:
            return value
        return CONVERSIONS[_sort(value.type) + _sort(to)](self, value, to)

    def truth(self, value: LlvmValue) -> str:
        if value.type is BOOL:
            return value.text
        return self.set(f"{'fcmp une' if value.type.sort == 'f' else 'icmp ne'} {value.type.llvm} {value.text}, {zero(value.type)}")

    # ------------------------------------------------------------------ arrays

    def place(self, array: Array, indices: Sequence[LlvmValue]) -> str:
        """Return the address of an element. Indices below 0 count from the end, and none is outside."""
        if len(indices) != array.type.dimensions:
            raise NotNative("a row of an array")
        texts = [self._from_start(index, count) for index, count in zip(indices, array.shape)]
        if any(index.type.sort == "f" for index in indices):
            raise NotNative("an index that is not an integer")
        if array.strides:
            offset = "0"
            for text, stride in zip(texts, array.strides):
                offset = self.set(f"add i64 {offset}, {self.set(f'mul i64 {text}, {stride}')}")
            return self.set(f"getelementptr i8, ptr {array.pointer}, i64 {offset}")
        offset = texts[0]
        for text, count in zip(texts[1:], array.shape[1:]):
            offset = self.set(f"add nsw i64 {self.set(f'mul nsw i64 {offset}, {count}')}, {text}")
        return self.set(f"getelementptr inbounds {array.type.element.memory}, ptr {array.pointer}, i64 {offset}")

    def _from_start(self, index: LlvmValue, count: str) -> str:
        text = self.convert(index, INT64).text
        if index.type.sort == "u" or (index.literal is not None and index.literal >= 0):
            return text
        from_end = self.set(f"add nsw i64 {text}, {count}")
        return self.set(f"select i1 {self.set(f'icmp slt i64 {text}, 0')}, i64 {from_end}, i64 {text}")

    def load(self, array: Array, place: str) -> LlvmValue:
        element = array.type.element
        text = self.set(f"load {element.memory}, ptr {place}")
        return LlvmValue(self.set(f"icmp ne i8 {text}, 0") if element is BOOL else text, element)

    def store(self, array: Array, place: str, value: LlvmValue) -> None:
        element = array.type.element
        if value.type.sort == "f" and element.sort != "f":
            raise NotNative("a float in an array of integers")
        text = self.convert(value, element).text
        if element is BOOL:
            text = self.set(f"zext i1 {text} to i8")
        self.add(f"store {element.memory} {text}, ptr {place}")


def _sort(number: NumberType) -> str:
    return number.sort if number.sort in "bf" else "i"


def zero(number: NumberType) -> str:
    return "0.0" if number.sort == "f" else "false" if number is BOOL else "0"


def literal(value: int | float) -> LlvmValue:
    """Return a number that the source says."""
    if isinstance(value, bool):
        return LlvmValue("true" if value else "false", BOOL)
    if isinstance(value, float):
        return LlvmValue(f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}", FLOAT64)
    if value >= 2**64 or value < -(2**63):
        raise NotNative(f"the integer {value}")
    return LlvmValue(str(value), UINT64 if value >= 2**63 else INT64, value)


def _integer(lines: Lines, value: LlvmValue, to: NumberType) -> LlvmValue:
    if value.type.bits == to.bits or value.literal is not None:
        return LlvmValue(value.text if value.literal is None else str(_wrap(value.literal, to)), to, value.literal)
    word = "trunc" if value.type.bits > to.bits else "zext" if value.type.sort == "u" else "sext"
    return LlvmValue(lines.set(f"{word} {value.type.llvm} {value.text} to {to.llvm}"), to)


def _wrap(number: int, to: NumberType) -> int:
    number &= (1 << to.bits) - 1
    return number - (1 << to.bits) if to.sort == "i" and number >> (to.bits - 1) else number


def _truth(lines: Lines, value: LlvmValue, to: NumberType) -> LlvmValue:
    return LlvmValue(lines.truth(value), BOOL)


def _of_truth(lines: Lines, value: LlvmValue, to: NumberType) -> LlvmValue:
    return LlvmValue(lines.set(f"{'uitofp' if to.sort == 'f' else 'zext'} i1 {value.text} to {to.llvm}"), to)


def _float_of_integer(lines: Lines, value: LlvmValue, to: NumberType) -> LlvmValue:
    return LlvmValue(lines.set(f"{'u' if value.type.sort == 'u' else 's'}itofp {value.type.llvm} {value.text} to {to.llvm}"), to)


def _integer_of_float(lines: Lines, value: LlvmValue, to: NumberType) -> LlvmValue:
    return LlvmValue(lines.set(f"fpto{to.sort if to.sort == 'u' else 's'}i {value.type.llvm} {value.text} to {to.llvm}"), to)


def _float(lines: Lines, value: LlvmValue, to: NumberType) -> LlvmValue:
    return LlvmValue(lines.set(f"{'fptrunc' if to is FLOAT32 else 'fpext'} {value.type.llvm} {value.text} to {to.llvm}"), to)


CONVERSIONS = {
    "ii": _integer, "ib": _truth, "fb": _truth, "bi": _of_truth, "bf": _of_truth, "if": _float_of_integer, "fi": _integer_of_float,
    "ff": _float,
}

__all__ = ["Lines", "literal", "zero"]
