"""filter and distinct: around any accumulator."""
from __future__ import annotations

from collections import Counter

import attrs
import numpy as np

from runtime.batch.accumulators.base import AccumulatorPrinter, At
from runtime.batch.accumulators.extremes import ExtremeHeld
from runtime.batch.compiler.hosted import fill_table, insert_slot
from runtime.batch.printing.expressions import ScalarText, column_kind
from runtime.batch.printing.python_values import encode_word, value_of_word, word_text
from runtime.batch.printing.source_code import Code
from runtime.batch.runs.ring import Ring
from runtime.batch.storage.arrays import ArrayField, Arrays
from windows.keys import freeze
from windows.protocol import Damaged, State


@attrs.define
class FilterPrinter(AccumulatorPrinter):
    """Only rows for which the filter is true."""

    inner: AccumulatorPrinter

    def fields(self) -> list[ArrayField]:
        return self.inner.fields()

    def enter(self, code: Code, at: At, place: str) -> None:
        assert self.plan.filter is not None
        with code.block(f"if {at(place, code).test(self.plan.filter)}"):
            self.inner.enter(code, at, place)

    def leave(self, code: Code, at: At, place: str) -> None:
        assert self.plan.filter is not None
        with code.block(f"if {at(place, code).test(self.plan.filter)}"):
            self.inner.leave(code, at, place)

    def value(self, group: str) -> ScalarText:
        return self.inner.value(group)

    def full(self) -> str | None:
        return self.inner.full()

    def grow(self, arrays: Arrays, more: int) -> None:
        self.inner.grow(arrays, more)

    @property
    def shared(self) -> object:
        return self.inner.shared

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        return self.inner.state(arrays, slot, ring)

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        self.inner.restore(arrays, slot, state, ring)


@attrs.define
class DistinctPrinter(AccumulatorPrinter):
    """Each value of the argument counts once: it enters with its first row and leaves with its last.

    A table of pairs (group, value): ``t`` the open-addressing table; by pair ``k`` its two words, ``c`` how many rows have it, ``o`` its
    number in the order of their coming; ``e`` free places. ``q``: places ever used, free ones, pairs that ever came.
    """

    inner: AccumulatorPrinter
    leaves: bool = False
    """Whether events leave again."""

    @property
    def kind(self) -> str:
        return column_kind(self.argument.type)

    @property
    def lets_all_in(self) -> bool:
        """min and max of held events need to know of each event, not only of each value."""
        return isinstance(self.inner, ExtremeHeld)

    def fields(self) -> list[ArrayField]:
        name = self.name
        return [
            *self.inner.fields(), ArrayField(f"{name}_t", np.int64, self._table, -1), ArrayField(f"{name}_k", np.int64, self._pairs, 0, 2),
            ArrayField(f"{name}_c", np.int64, self._pairs), ArrayField(f"{name}_o", np.int64, self._pairs),
            ArrayField(f"{name}_e", np.int64, self._pairs),
            ArrayField(f"{name}_q", np.int64, f"{name} counts"),
        ]

    @property
    def _table(self) -> str:
        return f"{self.name} table"

    @property
    def _pairs(self) -> str:
        return f"{self.name} pairs"

    def full(self) -> str:
        name = self.name
        return f"{name}_q[0] - {name}_q[1] + nb - na > min(len({name}_c), len({name}_t) >> 1)"

    def grow(self, arrays: Arrays, more: int) -> None:
        name = self.name
        arrays.grow(self._pairs, 2 * (arrays.sizes[self._pairs] + more))
        arrays.grow(self._table, 2 * arrays.sizes[self._pairs])
        table = arrays[f"{name}_t"]
        table.fill(-1)
        fill_table(table, arrays[f"{name}_k"], arrays[f"{name}_c"] > 0)

    # ------------------------------------------------------------------ in the kernel

    def _find(self, code: Code, at: At, place: str) -> None:
        """``pair``: the place of the event's pair; -1 where there is none."""
        name = self.name
        printer = at(place, code)
        text = printer.keep(printer.value(self.argument))
        word = word_text(text, self.kind)
        if text.valid is None:
            code.add("high = g << 1", f"low = {word}")
        else:
            code.add(f"high = (g << 1) | np.int64(0 if {text.valid} else 1)", f"low = {word} if {text.valid} else np.int64(0)")
        code.add("high = np.int64(high)", f"hole = mix(mix(high) ^ low) & (len({name}_t) - 1)", f"pair = {name}_t[hole]")
        with code.block(f"while pair >= 0 and not ({name}_k[0, pair] == high and {name}_k[1, pair] == low)"):
            code.add(f"hole = (hole + 1) & (len({name}_t) - 1)", f"pair = {name}_t[hole]")

    def enter(self, code: Code, at: At, place: str) -> None:
        name = self.name
        self._find(code, at, place)
        code.add("fresh = pair < 0")
        with code.block("if fresh"):
            with code.block(f"if {name}_q[1] > 0"):
                code.add(f"{name}_q[1] -= 1", f"pair = {name}_e[{name}_q[1]]")
            with code.block("else"):
                code.add(f"pair = {name}_q[0]", f"{name}_q[0] += 1")
            code.add(
                f"{name}_t[hole] = pair", f"{name}_k[0, pair] = high", f"{name}_k[1, pair] = low", f"{name}_c[pair] = 0",
                f"{name}_o[pair] = {name}_q[2]", f"{name}_q[2] += 1",
            )
        code.add(f"{name}_c[pair] += 1")
        with code.block("if True" if self.lets_all_in else "if fresh"):
            self.inner.enter(code, at, place)

    def leave(self, code: Code, at: At, place: str) -> None:
        name = self.name
        self._find(code, at, place)
        code.add(f"{name}_c[pair] -= 1", f"ended = {name}_c[pair] == 0")
        with code.block("if ended"):
            code.add(f"remove_slot({name}_t, {name}_k, pair)", f"{name}_e[{name}_q[1]] = pair", f"{name}_q[1] += 1")
        with code.block("if True" if self.lets_all_in else "if ended"):
            self.inner.leave(code, at, place)

    def value(self, group: str) -> ScalarText:
        return self.inner.value(group)

    # ------------------------------------------------------------------ state

    def state(self, arrays: Arrays, slot: int, ring: Ring) -> State:
        pool = ring.surroundings.pool
        by_slot = ring.once(f"{self.name} pairs", lambda: self._by_slot(arrays))
        pairs = [
            [None if null else value_of_word(word, self.kind, pool), count] for _, null, word, count in sorted(by_slot.get(slot, ()))
        ]
        return [self.inner.state(arrays, slot, ring), pairs]

    def _by_slot(self, arrays: Arrays) -> dict[int, list[tuple[int, int, int, int]]]:
        """Return, by slot, (number, whether it is null, word, count) of each pair."""
        name = self.name
        there = np.flatnonzero(arrays[f"{name}_c"] > 0)
        entries: dict[int, list[tuple[int, int, int, int]]] = {}
        columns = (arrays[f"{name}_o"][there], arrays[f"{name}_k"][0, there], arrays[f"{name}_k"][1, there], arrays[f"{name}_c"][there])
        for number, high, low, count in zip(*(column.tolist() for column in columns)):
            entries.setdefault(high >> 1, []).append((number, high & 1, low, count))
        return entries

    def _check(self, slot: int, pairs: State, ring: Ring) -> None:
        """Raise Damaged where the pairs are not those of the events that are to leave: compiled code finds each of them."""
        if len({repr(freeze(value)) for value, _ in pairs}) != len(pairs):
            raise Damaged("a distinct value is there twice")
        if self.leaves:
            held = Counter(repr(freeze(value)) for _, value in self.counted(slot, ring))
            if held != {repr(freeze(value)): count for value, count in pairs}:
                raise Damaged("the distinct values are not those of the events that the window holds")

    def restore(self, arrays: Arrays, slot: int, state: State, ring: Ring) -> None:
        name, pool = self.name, ring.surroundings.pool
        inner, pairs = state
        self._check(slot, pairs, ring)
        self.inner.restore(arrays, slot, inner, ring)
        used = int(arrays[f"{name}_q"][0])
        if used + len(pairs) > min(arrays.sizes[self._pairs], arrays.sizes[self._table] >> 1):
            self.grow(arrays, len(pairs))
        for place, (value, count) in enumerate(pairs, used):
            low = 0 if value is None else encode_word(value, self.kind, pool)
            arrays[f"{name}_k"][:, place] = slot << 1 | (value is None), low
            arrays[f"{name}_c"][place], arrays[f"{name}_o"][place] = count, place
            insert_slot(arrays[f"{name}_t"], arrays[f"{name}_k"], place)
        arrays[f"{name}_q"][0] = arrays[f"{name}_q"][2] = used + len(pairs)
