"""The intrinsics that the host calls too, on whole arrays: compiled, or plain Python where nothing compiles."""
from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from runtime.batch.available import missing
from runtime.batch.compiler import intrinsics
from runtime.batch.compiler.kernels import Kernel, cache_folder
from runtime.batch.storage.arrays import Array


@lru_cache(maxsize=64)
def _compile(name: str) -> Kernel:
    if missing() is not None:
        return getattr(intrinsics, name)  # type: ignore[no-any-return]
    from runtime.batch.compiler.llvm.compiler import NativeKernel, is_supported

    return NativeKernel("", cache_folder, lambda: _by_numba(name), name) if is_supported() else _by_numba(name)


def _by_numba(name: str) -> Kernel:
    from runtime.batch.compiler import jitted

    return getattr(jitted, name)  # type: ignore[no-any-return]


def fill_table(table: Array, keys: Array, live: Array) -> None:
    """See runtime.batch.compiler.intrinsics, as of the others."""
    _compile("fill_table")(table, keys, live)


def insert_slot(table: Array, keys: Array, slot: int) -> None:
    _compile("insert_slot")(table, keys, slot)


def heap_insert(top: int, position: int, links: Sequence[Array], mask: int, largest: bool) -> int:
    """Insert into a heap; ``links``: left, right, up, values."""
    return _compile("heap_insert")(top, position, *links, mask, largest)


def mark_chains(ends: Array, before: Array, mark: Array) -> None:
    _compile("mark_chains")(ends, before, mark)


def java_hashes(offsets: Array, data: Array, hashes: Array, first: int, last: int) -> None:
    _compile("java_hashes")(offsets, data, hashes, first, last)


__all__ = ["fill_table", "heap_insert", "insert_slot", "java_hashes", "mark_chains"]
