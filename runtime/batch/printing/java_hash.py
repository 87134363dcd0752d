"""Java's hash of a key in a kernel, and the order of a Java HashMap."""
from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from epl.java_hash import string_hash
from runtime.batch.compiler.hosted import java_hashes
from runtime.batch.printing.source_code import Code
from runtime.batch.storage.arrays import CODES, Arrays
from runtime.batch.storage.strings import StringPool

MASK = "4294967295"
FEW = 1_000
"""So many strings are hashed sooner than compiled code is loaded."""


def hash_text(kinds: Sequence[str], word: Callable[[int], str], there: Callable[[int], str] | None, codes: str) -> str:
    """Return the text of a key's hash. ``word(n)``: the text of the n-th value's word; ``there(n)``: of whether it is not null, None where
    none is null or strings alone are, by a code below 0; ``codes``: the array of strings' hashes by code + 1."""
    result = ""
    for number, kind in enumerate(kinds):
        value = word(number)
        if kind == "String":
            text = f"{codes}[{value} + 1]"
        elif kind == "boolean":
            text = f"(1231 if {value} != 0 else 1237)"
        elif kind in ("long", "double"):
            text = f"(({value} ^ ({value} >> 32)) & {MASK})"
        elif kind == "float":
            text = f"(np.int64(np.float32(word_double({value})).view(np.int32)) & {MASK})"
        else:
            text = f"({value} & {MASK})"
        if kind != "String" and there is not None:
            text = f"({text} if {there(number)} else 0)"
        result = text if not result else f"((31 * {result} + {text}) & {MASK})"
    return result


def spread(name: str, text: str) -> tuple[str, str]:
    """Return lines that put what a HashMap makes of a hash into ``name``."""
    return f"found = {text}", f"{name} = (found ^ (found >> 16)) & {MASK}"


def print_order(code: Code, count: str, most: str, hashes: str, buckets: str, items: str) -> None:
    """Sort the first ``count`` of ``items`` as a HashMap that held ``most`` keys has them."""
    code.add("capacity = 16")
    with code.block(f"while {most} > capacity * 3 // 4"):
        code.add("capacity *= 2")
    with code.block(f"for t in range({count})"):
        code.add(f"{buckets}[t] = {hashes}[{items}[t]] & (capacity - 1)")
    code.add(f"sort_pairs({buckets}, {items}, {count})")


def follow(arrays: Arrays, name: str, pool: StringPool, known: int) -> None:
    """Compute the hashes of the pool's strings from ``known`` on."""
    size = len(pool)
    arrays.grow(CODES, size + 1)
    if known < size <= FEW:
        arrays[name][known + 1 : size + 1] = [string_hash(value) & 0xFFFFFFFF for value in pool.values[known:]]
    elif known < size:
        strings = pool.dictionary()
        offsets, units = (np.frombuffer(memoryview(b), t) for b, t in zip(strings.buffers()[1:], (np.int32, np.uint8)) if b is not None)
        java_hashes(offsets, units, arrays[name], known, size)


__all__ = ["follow", "hash_text", "print_order", "spread"]
