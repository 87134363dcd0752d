"""Which partition a row belongs to, as lines: the key as words, where a partition is found by them, and that it gets a slot.

A slot is ``g``; ``g_key`` holds its key's words, so that slots can be released (``pattern_run``).
"""
from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from epl.plan.expressions import TypedExpression
from runtime.batch.match_recognize.layout import GROUPS_FULL, HASH_FULL, KEYS_FULL, SMALL, SMALL_KEYS
from runtime.batch.printing.expressions import ScalarPrinter, ScalarText, column_kind
from runtime.batch.printing.source_code import Code
from runtime.batch.storage.arrays import CODES, GROUP, HASH, ArrayField
from runtime.batch.storage.kinds import TEXTS

Full = Callable[[Code, str, int], None]
"""Prints: where this is so, stop in front of the row, for this reason."""


class KeyPrinter:
    """``keys``: the kinds of the key's values."""

    def __init__(self, partition_by: Sequence[TypedExpression], full: Full) -> None:
        self.partition_by = tuple(partition_by)
        self.keys = tuple(column_kind(e.type) for e in partition_by)
        self._full = full
        self._words = 1

    def fields(self) -> list[ArrayField]:
        """Return the fields, once ``find`` has printed."""
        if not self.keys:
            return []
        if self._by_code():
            fields = [ArrayField("g_of", np.int64, CODES, -1)]
        else:
            fields = [ArrayField("g_table", np.int64, HASH, -1), *([ArrayField("g_of", np.int64, SMALL,
                -1)] if self._has_small_keys() else [])]
        return [*fields, ArrayField("g_key", np.int64, GROUP, 0, self._words)]

    def _by_code(self) -> bool:
        return len(self.keys) == 1 and self.keys[0] in TEXTS

    def _has_small_keys(self) -> bool:
        """Return whether the key is one integer: small ones are looked up without a hash."""
        return len(self.keys) == 1 and self.keys[0] in ("byte", "short", "int")

    def find(self, code: Code, printer: ScalarPrinter) -> None:
        """Print ``g``: the row's slot."""
        if not self.keys:
            code.add("g = 0", "groups = 1")
            return
        texts = [printer.keep(printer.value(e)) for e in self.partition_by]
        if self._by_code():
            code.add(f"g = g_of[{texts[0].value} + 1]")
            with code.block("if g < 0"):
                self._full(code, "groups >= g_key.shape[1]", GROUPS_FULL)
                code.add("g = groups", "groups += 1", f"g_of[{texts[0].value} + 1] = g", f"g_key[0, g] = {texts[0].value}")
            return
        words = [word for text, kind in zip(texts, self.keys) for word in words_of_key(text, kind)]
        total = self._words = len(words)
        code.add(*(f"k{n} = {word}" for n, word in enumerate(words)))
        if not self._has_small_keys():
            self._probe(code, total)
            return
        with code.block(f"if k0 >= 0 and k0 < {SMALL_KEYS}"):
            with code.block("if k0 >= len(g_of)"):
                code.add("wanted = k0 + 1")
                self._full(code, "True", KEYS_FULL)
            code.add("g = g_of[np.uint64(k0)]")
            with code.block("if g < 0"):
                self._full(code, "groups >= g_key.shape[1]", GROUPS_FULL)
                code.add("g = groups", "groups += 1", "g_of[k0] = g", "g_key[0, g] = k0")
        with code.block("else"):
            self._probe(code, total)

    def _probe(self, code: Code, total: int) -> None:
        """Find the group of the words ``k0`` …; a new one if there is none."""
        code.add("place = mix(k0)", *(f"place = mix(place ^ k{n})" for n in range(1, total)))
        code.add("place &= len(g_table) - 1", "g = g_table[place]")
        other = " or ".join(f"g_key[{n}, g] != k{n}" for n in range(total))
        with code.block(f"while g >= 0 and ({other})"):
            code.add("place = (place + 1) & (len(g_table) - 1)", "g = g_table[place]")
        with code.block("if g < 0"):
            self._full(code, "groups >= g_key.shape[1]", GROUPS_FULL)
            self._full(code, "2 * groups >= len(g_table)", HASH_FULL)
            code.add("g = groups", "groups += 1", "g_table[place] = g", *(f"g_key[{n}, g] = k{n}" for n in range(total)))


def words_of_key(text: ScalarText, kind: str) -> list[str]:
    """Return a value as 64 bits of a key, and whether it is null where the bits do not say it."""
    value = f"double_word(np.float64({text.value}))" if kind in ("float", "double") else f"np.int64({text.value})"
    if text.valid is None or kind in TEXTS:
        return [value]
    if kind in ("long", "float", "double"):
        return [f"({value} if {text.valid} else np.int64(0))", f"np.int64({text.valid})"]
    return [f"({value} if {text.valid} else np.int64({2**62}))"]


__all__ = ["KeyPrinter", "words_of_key"]
