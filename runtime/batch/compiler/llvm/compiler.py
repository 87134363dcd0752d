"""A printed kernel as a function that is compiled for the types of its arguments when it is called with them first."""
from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from runtime.batch.compiler.llvm import entry, machine
from runtime.batch.compiler.llvm.entry import OTHER_TYPES
from runtime.batch.compiler.llvm.kernel_types import NotNative, Type, argument_type
from runtime.batch.compiler.llvm.machine import Loaded, compile_object, target
from runtime.batch.compiler.llvm.object_files import keep, read_object

NDARRAY = id(np.ndarray)
PRINTERS = ("entry", "entry_printer", "expressions", "functions", "lines", "machine", "object_files", "printer", "kernel_types")
"""The modules that an object file depends on."""


def is_supported() -> bool:
    """Return whether kernels can be compiled here: this LLVM and this numpy are known."""
    return machine.is_known() and entry.layout_is_known()


@lru_cache(maxsize=1)
def _stamp() -> str:
    """Return what else an object file depends on."""
    here = Path(__file__).parent
    texts = [(here / f"{name}.py").read_bytes() for name in PRINTERS]
    return hashlib.sha256(b"\n".join([(here.parent / "intrinsics.py").read_bytes(), *texts, target().encode()])).hexdigest()


def _numbers(value: object) -> Iterator[int]:
    """numpy's numbers of the arrays' dtypes."""
    if isinstance(value, np.ndarray):
        yield value.dtype.num
    elif isinstance(value, tuple):
        for item in value:
            yield from _numbers(item)


class NativeKernel:
    """A function of the source, or of the intrinsics; one that gives nothing gives 0. Object files are kept in ``folder()``. ``otherwise``
    gives the function for a source that says what this compiler does not know."""

    def __init__(
        self, source: str, folder: Callable[[], Path], otherwise: Callable[[], Callable[..., int]], name: str = "kernel"
    ) -> None:
        self._source, self._folder, self._otherwise, self._name = source, folder, otherwise, name
        self._made: dict[tuple[tuple[Type, ...], tuple[int, ...]], Loaded] = {}
        self._entry: Callable[[tuple[Any, ...], int], int] | None = None
        self._other: Callable[..., int] | None = None

    def __call__(self, *arguments: Any) -> int:
        if self._entry is not None:
            status: int = self._entry(arguments, NDARRAY)
            if status != OTHER_TYPES:
                return status
        return self._call_other(arguments)

    def _call_other(self, arguments: tuple[Any, ...]) -> int:
        """Return the call for types that the last one had not."""
        if self._other is not None:
            return self._other(*arguments)
        try:
            key = tuple(map(argument_type, arguments)), tuple(_numbers(arguments))
            if key not in self._made:
                self._made[key] = self._load(repr(key), arguments)
        except NotNative:
            self._other = self._otherwise()
            return self._other(*arguments)
        entry = self._entry = self._made[key].entry
        status: int = entry(arguments, NDARRAY)
        assert status != OTHER_TYPES
        return status

    def _load(self, key: str, arguments: tuple[Any, ...]) -> Loaded:
        name = hashlib.sha256("\n".join([self._source, self._name, key, _stamp()]).encode()).hexdigest()[:32]
        path = self._folder() / f"epl_{name}.o"
        data = read_object(path)
        if data is None:
            # the printer is loaded where there is something to print: half of what a process that finds its kernels has to read
            from runtime.batch.compiler.llvm.printer import module_text

            data = compile_object(module_text(self._source, self._name, arguments, list(_numbers(arguments))))
            keep(path, data)
        return Loaded(data)


__all__ = ["NativeKernel", "is_supported"]
