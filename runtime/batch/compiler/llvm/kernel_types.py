"""The types of a kernel's values: numbers, arrays of them, tuples."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import attrs
import numpy as np


class NotNative(Exception):
    """The source says something that this compiler does not know; another has to compile it."""


@attrs.frozen
class NumberType:
    """``sort``: b, i (signed), u (unsigned) or f; ``llvm``: as a value; ``memory``: as an array's element."""

    name: str
    sort: str
    bits: int
    llvm: str
    memory: str


BOOL = NumberType("bool", "b", 1, "i1", "i8")
INT64 = NumberType("int64", "i", 64, "i64", "i64")
INT32 = NumberType("int32", "i", 32, "i32", "i32")
INT16 = NumberType("int16", "i", 16, "i16", "i16")
INT8 = NumberType("int8", "i", 8, "i8", "i8")
UINT64 = NumberType("uint64", "u", 64, "i64", "i64")
UINT32 = NumberType("uint32", "u", 32, "i32", "i32")
UINT16 = NumberType("uint16", "u", 16, "i16", "i16")
UINT8 = NumberType("uint8", "u", 8, "i8", "i8")
FLOAT64 = NumberType("float64", "f", 64, "double", "double")
FLOAT32 = NumberType("float32", "f", 32, "float", "float")
NUMBERS = {n.name: n for n in (BOOL, INT64, INT32, INT16, INT8, UINT64, UINT32, UINT16, UINT8, FLOAT64, FLOAT32)}


@attrs.frozen
class KernelArrayType:
    """``strided``: its elements are not one after the other in order of the indices; strides are bytes then."""

    element: NumberType
    dimensions: int
    strided: bool = False


@attrs.frozen
class TupleType:
    items: tuple[Type, ...]


Type: TypeAlias = "NumberType | KernelArrayType | TupleType"


@attrs.frozen
class LlvmValue:
    """A number: its text in LLVM's language; ``literal`` where the source says which one."""

    text: str
    type: NumberType
    literal: int | None = None


@attrs.frozen
class Array:
    """Where an array's elements are, how many a dimension and, of strided ones, how many bytes apart."""

    type: KernelArrayType
    pointer: str
    shape: tuple[str, ...]
    strides: tuple[str, ...] = ()


@attrs.frozen
class Several:
    items: tuple[Operand, ...]

    @property
    def type(self) -> TupleType:
        return TupleType(tuple(item.type for item in self.items))


Operand: TypeAlias = "LlvmValue | Array | Several"


def number_type(dtype: np.dtype[Any]) -> NumberType:
    """Return the number that arrays of the dtype hold."""
    if dtype.name not in NUMBERS or not dtype.isnative:
        raise NotNative(f"arrays of {dtype}")
    return NUMBERS[dtype.name]


def argument_type(value: object) -> Type:
    """Return the type of a kernel's argument."""
    if isinstance(value, np.ndarray):
        return KernelArrayType(number_type(value.dtype), value.ndim, not value.flags.c_contiguous)
    if isinstance(value, tuple):
        return TupleType(tuple(map(argument_type, value)))
    if isinstance(value, (bool, np.bool_)):
        return BOOL
    if isinstance(value, (int, np.integer)):
        return INT64
    raise NotNative(f"arguments of {type(value)}")


def function_parameters(of: Type, names: Iterator[str], texts: list[str]) -> Operand:
    """Return the operand that a function's parameters of this type make; their declarations go into ``texts``."""
    if isinstance(of, NumberType):
        texts.append(f"{of.llvm} {(name := next(names))}")
        return LlvmValue(name, of)
    if isinstance(of, TupleType):
        return Several(tuple(function_parameters(item, names, texts) for item in of.items))
    pointer = next(names)
    counts = [next(names) for _ in range(of.dimensions * (2 if of.strided else 1))]
    texts += [f"ptr {pointer}", *(f"i64 {name}" for name in counts)]
    return Array(of, pointer, tuple(counts[: of.dimensions]), tuple(counts[of.dimensions :]))


def call_arguments(operand: Operand) -> list[str]:
    """Return what is given for those parameters."""
    if isinstance(operand, LlvmValue):
        return [f"{operand.type.llvm} {operand.text}"]
    if isinstance(operand, Several):
        return [text for item in operand.items for text in call_arguments(item)]
    return [f"ptr {operand.pointer}", *(f"i64 {text}" for text in (*operand.shape, *operand.strides))]


__all__ = [
    "BOOL",
    "FLOAT32",
    "FLOAT64",
    "INT64",
    "NUMBERS",
    "UINT64",
    "Array",
    "KernelArrayType",
    "LlvmValue",
    "NotNative",
    "NumberType",
    "Operand",
    "Several",
    "TupleType",
    "Type",
    "argument_type",
    "call_arguments",
    "function_parameters",
    "number_type",
]
