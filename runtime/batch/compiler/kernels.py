"""Kernel source → compiled function, through a folder of content-named files that are never rewritten.

The folder is ``EPL_CACHE_DIR`` or the user's cache folder, if it is the user's own and no one else may write there (``private_files``). A
file is written atomically, so that processes may share the folder; numba keeps what it compiled beside it, and a second process loads that
instead of compiling.
"""
from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from epl.generated_code import compile_text, define_names
from runtime.batch.compiler import intrinsics
from runtime.batch.compiler.private_files import folder_fault, read_private, warn_once, write_private

Kernel = Callable[..., int]

HEAD = """\
import numpy as np
from runtime.batch.compiler.jitted import (
    double_word, heap_insert, heap_remove, int_divide, int_remainder, last_not_above, long_add, long_multiply, long_subtract, mix,
    rank_matches, release_path, remove_slot, same_double, sort_pairs, word_double, wrap_int,
)
from runtime.batch.compiler.numba_functions import as_kernel, as_part


"""
PART_OF_IT = re.compile(r"^def part\d+\(", re.MULTILINE)
"""The functions that a kernel calls, which precede it."""


@lru_cache(maxsize=1)
def _stamp() -> str:
    """Return what else a compiled kernel depends on: the functions it calls, how they are compiled, and for what. (numba looks at the
    processor too, but processes on two kinds that write one file at once may take each other's.)"""
    import numba
    from llvmlite.binding import get_host_cpu_name

    from runtime.batch.compiler import numba_functions

    folder = Path(intrinsics.__file__).parent
    names = ("intrinsics", "jitted", "numba_functions")
    text = "".join((folder / f"{name}.py").read_text(encoding="utf-8") for name in names)
    return f"{numba.__version__}|{np.__version__}|{sys.version_info[:2]}|{get_host_cpu_name()}|{sorted(numba_functions.OPTIONS)}|{text}"


def cache_folder() -> Path:
    """Return where kernels are kept; a folder of this process alone where that cannot be written, or others can write there."""
    chosen = os.environ.get("EPL_CACHE_DIR")
    try:
        folder = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "epl-spark"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fault = folder_fault(folder)
        if fault is None and os.access(folder, os.W_OK):
            return folder
        if fault is not None:
            warn_once(folder, f"{fault}; EPL_CACHE_DIR names another folder, chmod 700 closes an empty one")
    except (OSError, RuntimeError):  # a user without a home
        pass
    return _own_folder()


@lru_cache(maxsize=1)
def _own_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="epl-spark-"))


@lru_cache(maxsize=4096)
def compile_kernel(source: str) -> Kernel:
    """Return the function ``kernel`` of the source, compiled at its first call; raise ImportError without numba."""
    from runtime.batch.compiler.llvm.compiler import NativeKernel, is_supported

    if not is_supported():
        return by_numba(source)
    return NativeKernel(source, cache_folder, partial(by_numba, source))


def by_numba(source: str) -> Kernel:
    """Return the same function, compiled by numba."""
    compile_text(source)  # the same checks as for what is not compiled
    text = HEAD + PART_OF_IT.sub(r"@as_part\n\g<0>", source).replace("def kernel(", "@as_kernel\ndef kernel(")
    name = f"epl_{hashlib.sha256((text + _stamp()).encode()).hexdigest()[:32]}"
    try:
        path = _store(cache_folder() / f"{name}.py", text)
    except OSError:
        path = _store(_own_folder() / f"{name}.py", text)
    return _load(name, path, text).kernel  # type: ignore[no-any-return]


@lru_cache(maxsize=4096)
def interpret_kernel(source: str) -> Kernel:
    """Return the same function as plain Python: slow, for tests and for looking inside."""
    kernel = define_names(source, {name: each for name, each in vars(intrinsics).items() if not name.startswith("__")})["kernel"]

    def run(*arguments: Any) -> int:
        with np.errstate(all="ignore"):
            return kernel(*arguments)  # type: ignore[no-any-return]

    return run


class Warming:
    """A kernel that is plain Python until it has been given ``rows_before`` rows, and compiled from then on: compiling takes seconds, which
    a few rows are not worth. Its second argument is the number of rows, or an array of them."""

    def __init__(self, source: str, rows_before: int = 2_000) -> None:
        self._source = source
        self._left = rows_before
        self._function = interpret_kernel(source)

    def __call__(self, registers: Any, rows: Any, *rest: Any) -> int:
        if self._left > 0:
            self._left -= int(np.size(rows)) if isinstance(rows, np.ndarray) else rows
            if self._left > 0:
                return self._function(registers, rows, *rest)
            self._function = compile_kernel(self._source)
        return self._function(registers, rows, *rest)


def _store(path: Path, text: str) -> Path:
    """Return the path, with the text in it: a file may have been cut off when its machine stopped. numba's folder beside it is made."""
    (path.parent / "__pycache__").mkdir(mode=0o700, exist_ok=True)
    if read_private(path) != text.encode():
        write_private(path, text.encode())
    return path


def _load(name: str, path: Path, text: str) -> ModuleType:
    """Return the text as a module. The file is there for numba, which looks at its date; what runs is the text."""
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    exec(compile(text, str(path), "exec"), vars(module))  # noqa: S102
    return module
