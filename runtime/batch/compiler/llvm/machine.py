"""LLVM's text → an object file → a function in memory. Object files are kept in the folder of kernels, named by what they come from."""
from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from runtime.batch.compiler.llvm.entry import API

OPTIMIZATION = 2
LONG = 6_000
"""Lines of a module from which on it is optimized less, which takes a third of the time and costs some hundredths of speed."""


@lru_cache(maxsize=1)
def is_known() -> bool:
    """Return whether this is an LLVM that takes the text that is printed here, on a system whose programs say where C's functions are."""
    return sys.platform != "win32" and llvm.llvm_version_info[0] >= 15 and hasattr(llvm, "create_pass_builder")


@lru_cache(maxsize=1)
def target() -> str:
    """Return what an object file is made for: name it where one is kept."""
    return f"{llvmlite.__version__}|{llvm.get_default_triple()}|{llvm.get_host_cpu_name()}|{llvm.get_host_cpu_features().flatten()}"


def _target_machine() -> Any:
    for begin in ("initialize_native_target", "initialize_native_asmprinter", "initialize_native_asmparser"):
        getattr(llvm, begin)()
    features = llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=OPTIMIZATION, jit=True
    )


def compile_object(text: str) -> bytes:
    """Return the object file of a module."""
    machine = _target_machine()
    module = llvm.parse_assembly(f'target triple = "{machine.triple}"\ntarget datalayout = "{machine.target_data}"\n{text}')
    options = llvm.create_pipeline_tuning_options(speed_level=OPTIMIZATION if text.count("\n") < LONG else 1)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


class Loaded:
    """An object file in memory; ``entry`` is called with the tuple of arguments and the type of arrays as an address."""

    def __init__(self, data: bytes) -> None:
        for name in API:
            address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
            llvm.add_symbol(name, address)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(data))
        self._engine.finalize_object()
        kind = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.py_object, ctypes.c_void_p)
        self.entry = kind(self._engine.get_function_address("entry"))


__all__ = ["Loaded", "compile_object", "is_known", "target"]
