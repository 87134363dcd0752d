"""A source → the text of an LLVM module."""
from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from runtime.batch.compiler import intrinsics
from runtime.batch.compiler.llvm.entry_printer import EntryPrinter
from runtime.batch.compiler.llvm.functions import ModulePrinter
from runtime.batch.compiler.llvm.kernel_types import INT64, NotNative, argument_type

CONSTANTS = {name: value for name, value in vars(intrinsics).items() if type(value) is int}


@lru_cache(maxsize=1)
def _intrinsics() -> dict[str, ast.FunctionDef]:
    return _functions(inspect.getsource(intrinsics))


def _functions(source: str) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def module_text(source: str, name: str, arguments: tuple[Any, ...], numbers: Sequence[int]) -> str:
    """Return the LLVM module of a function for arguments of these types; ``numbers``: numpy's, of the arrays' dtypes. Raise NotNative."""
    of = [argument_type(argument) for argument in arguments]
    module = ModulePrinter({**_intrinsics(), **_functions(source)}, CONSTANTS)
    called, result = module.function(name, tuple(of))
    if result not in (INT64, None):
        raise NotNative("a function that gives anything but an integer")
    return module.text() + EntryPrinter(list(numbers)).print_entry(called, of, result is not None)


__all__ = ["module_text"]
