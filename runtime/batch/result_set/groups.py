"""Groups in a kernel: from the values of group by to the slot that holds a group's aggregations.

A single string finds its slot in a table by its code, other keys in an open-addressing table over their words: int64s that are equal
where Java's keys are. Where rows leave, a group whose last one has left can be read until the next row enters anywhere; then its
aggregations begin again, and its slot is free once no row in the window has it.
"""
from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from epl.java_hash import hash_of_keys
from epl.plan.expressions import TypedExpression
from epl.value_types import Scalar
from runtime.batch.accumulators import AccumulatorPrinter
from runtime.batch.compiler.hosted import fill_table
from runtime.batch.printing.expressions import ScalarPrinter, ScalarText, column_kind
from runtime.batch.printing.java_hash import follow, hash_text, print_order, spread
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.storage.arrays import CODES, GROUP, HASH, RING, ArrayField, Arrays
from runtime.batch.storage.kinds import INTEGERS, TEXTS
from runtime.batch.storage.registers import Registers
from runtime.batch.storage.strings import StringPool

REGISTERS = Registers("gtop", "gfree", "gempty")
"""Slots that were ever used; how many of them are free; how many have groups without rows."""
PARTS = (("na", "nb"), ("oa", "ob"))


@attrs.frozen
class GroupKeys:
    """``windowed``: rows leave. ``ordered``: several groups that one delta touches come in the order of a Java HashMap. ``kept``: slots
    are never freed; ``pinned``: those with ``r_mark[g] == stamp`` are freed by ``release`` only. ``at_once``: rows are counted
    in the delta in which they come, one in each; else ``g_held`` says which groups rows wait for in the window. ``tuples``: keys are
    tuples whatever the number of parts, of which there may be none. ``left_out``, of a level of a rollup: the numbers of the parts that
    its keys do not have. They are null in their words, so that all levels do the same with those."""

    parts: tuple[TypedExpression, ...]
    windowed: bool
    ordered: bool
    kept: bool = False
    pinned: bool = False
    at_once: bool = False
    tuples: bool = False
    left_out: frozenset[int] | None = None

    def __attrs_post_init__(self) -> None:
        for part in self.parts:
            if column_kind(part.type) not in (*INTEGERS, "float", "double", "boolean", *TEXTS):
                raise NotCompilable(f"group by {part.type}")

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(column_kind(part.type) for part in self.parts)

    @property
    def direct(self) -> bool:
        """Whether the slot is found by a string's code alone."""
        return self.kinds == ("String",) and self.left_out is None

    @property
    def in_key(self) -> list[int]:
        """The numbers of the parts that keys have."""
        return [number for number in range(len(self.parts)) if number not in (self.left_out or ())]

    @property
    def stays(self) -> bool:
        """Whether there is one group only, of the level without keys, whose aggregations go on when it has been empty."""
        return self.left_out is not None and not self.in_key

    @property
    def nullable(self) -> bool:
        """Whether a last word says which values are null; strings say it themselves."""
        sure = (isinstance(p.type, Scalar) and (p.type.primitive or p.type.kind in TEXTS) for p in self.parts)
        return self.left_out is not None or not all(sure)

    @property
    def words(self) -> int:
        return max(1, len(self.parts) + self.nullable)

    @property
    def hashed(self) -> bool:
        """Whether the order of groups asks for Java's hashes; where a type has none that is fixed, that of arrival stays."""
        return self.ordered and hash_of_keys([part.type for part in self.parts]) is not None

    def fields(self) -> list[ArrayField]:
        fields = [
            ArrayField("g_table", np.int32, CODES if self.direct else HASH, -1), ArrayField("g_words", np.int64, GROUP, 0, self.words),
            ArrayField("g_live", np.bool_, GROUP), ArrayField("g_registers", np.int64, "registers"),
            ArrayField("g_seen", np.int64, GROUP, -1),
        ]
        if self.windowed:
            fields += [
                ArrayField("g_rows", np.int64, GROUP), ArrayField("g_empty", np.int32, GROUP), ArrayField("g_free", np.int32, GROUP),
                ArrayField("w_g", np.uint32, RING), ArrayField("g_touched", np.uint32, GROUP),
                ArrayField("g_buckets", np.int64, GROUP), ArrayField("g_last", np.int64, GROUP),
            ]
        if self.windowed and not self.at_once:
            fields.append(ArrayField("g_held", np.int64, GROUP))
        if self.pinned and self.windowed:
            fields.append(ArrayField("g_gone", np.bool_, GROUP))
        if self.hashed:
            fields.append(ArrayField("g_hash", np.int64, GROUP))
            if "String" in self.kinds:
                fields.append(ArrayField("g_codes", np.int64, CODES))
        return fields

    # ------------------------------------------------------------------ in the kernel

    def full(self, more: str = "1") -> str:
        """Return true where there is no slot for one more group, or so many more of an unbound stream."""
        return "gfree == 0 and gtop >= len(g_live)" if self.windowed else f"gtop + {more} > len(g_live)"

    def find(self, code: Code, printer: ScalarPrinter) -> None:
        """Print ``g``: the slot of the event that the printer reads; a new one where its group has none."""
        self.look_up(code, self.event_words(code, printer))

    def look_up(self, code: Code, words: Sequence[str]) -> None:
        """Print ``g``: the slot of the group with these words."""
        if self.direct:
            code.add(f"g = np.int64(g_table[{words[0]} + 1])")
            with code.block("if g < 0"):
                self._slot(code, words)
                code.add(f"g_table[{words[0]} + 1] = g")
            return
        code.add(f"place = mix({words[0]})", *(f"place = mix(place ^ {word})" for word in words[1:]), "place &= len(g_table) - 1")
        with code.block("while True"):
            code.add("g = np.int64(g_table[place])")
            with code.block("if g < 0"):
                self._slot(code, words)
                code.add("g_table[place] = g", "break")
            with code.block(f"if {' and '.join(f'g_words[{n}, g] == {word}' for n, word in enumerate(words))}"):
                code.add("break")
            code.add("place = (place + 1) & (len(g_table) - 1)")

    def event_words(self, code: Code, printer: ScalarPrinter) -> list[str]:
        """Return the variables with the words of the event that the printer reads."""
        words, nulls = [], []
        for number, part in enumerate(self.parts):
            if number in (self.left_out or ()):
                code.add(f"k{number} = np.int64({-1 if self.kinds[number] in TEXTS else 0})")
                nulls += [] if self.kinds[number] in TEXTS else [str(1 << number)]
                words.append(f"k{number}")
                continue
            text, kind = printer.value(part), self.kinds[number]
            value = text.value
            if kind in ("float", "double"):
                value = f"double_word(np.float64({value}))"
            elif kind == "boolean":
                value = f"(1 if {value} else 0)"
            if kind in TEXTS:
                code.add(f"k{number} = np.int64({value})")
            else:
                valid = text.valid or "True"
                code.add(f"k{number} = np.int64({value})" if text.valid is None else f"k{number} = np.int64({value} if {valid} else 0)")
                nulls.append(f"(0 if {valid} else {1 << number})")
            words.append(f"k{number}")
        if not words:
            code.add("k0 = np.int64(0)")
            words.append("k0")
        if self.nullable:
            code.add(f"k{len(words)} = np.int64({' | '.join(nulls) or 0})")
            words.append(f"k{len(words)}")
        return words

    def _slot(self, code: Code, words: Sequence[str]) -> None:
        """``g``: a slot of its own for a new group."""
        if self.windowed:
            with code.block("if gfree > 0"):
                code.add("gfree -= 1", "g = np.int64(g_free[gfree])")
            with code.block("else"):
                code.add("g = gtop", "gtop += 1")
        else:
            code.add("g = gtop", "gtop += 1")
        code.add("g_live[g] = True", *(f"g_words[{n}, g] = {word}" for n, word in enumerate(words)))
        if self.hashed:
            code.add(*spread("g_hash[g]", self._hash()))

    def _hash(self) -> str:
        """Java's hash of the key."""
        there = (lambda number: self._there(number, "g")) if self.nullable else None
        return hash_text(self.kinds, lambda number: f"g_words[{number}, g]", there, "g_codes")

    def _there(self, number: int, group: str) -> str:
        return f"(g_words[{len(self.parts)}, {group}] & {1 << number}) == 0"

    def value(self, node: TypedExpression, group: str, *, of_event: bool = False) -> ScalarText | None:
        """Return the text of an expression that groups are made by; None for any other. ``of_event``: parts that are omitted have the
        event's value, not null."""
        for number in self.in_key if of_event else range(len(self.parts)):
            part = self.parts[number]
            if part == node and repr(part) == repr(node):
                kind, word = self.kinds[number], f"g_words[{number}, {group}]"
                if kind in TEXTS:
                    return ScalarText(word, f"({word} >= 0)")
                if kind in ("float", "double"):
                    word = f"np.float64(word_double({word}))" if kind == "double" else f"np.float32(word_double({word}))"
                elif kind == "boolean":
                    word = f"({word} != 0)"
                primitive = isinstance(part.type, Scalar) and part.type.primitive and self.left_out is None
                return ScalarText(word, None if primitive else f"({self._there(number, group)})")
        return None

    def take(self, code: Code, printer: ScalarPrinter) -> None:
        """Print that the event at ``tail`` comes into the ring: its slot is held."""
        self.hold(code, self.event_words(code, printer))

    def hold(self, code: Code, words: Sequence[str]) -> None:
        """Print that the event at ``tail`` comes into the ring, of the group with these words."""
        self.look_up(code, words)
        code.add("w_g[tail & mask] = g")
        if not self.at_once:
            code.add("g_held[g] += 1")

    def drop_empty(self, code: Code, accumulators: Sequence[AccumulatorPrinter], news: str) -> None:
        """Print that rows enter, of which the text ``news`` says how many: groups without rows are gone."""
        if self.stays:
            code.add("gempty = 0")
            return
        with code.block(f"if gempty > 0 and {news} > 0"):
            with code.block("for e in range(gempty)"):
                code.add("g = np.int64(g_empty[e])")
                with code.block("if g_rows[g] <= 0"):
                    self._reset(code, accumulators)
                    if self.pinned:
                        with code.block("if r_mark[g] == stamp"):
                            code.add("g_gone[g] = True", "continue")
                    if not self.kept:
                        with code.block("if g != np.int64(w_g[na & mask])" if self.at_once else "if g_held[g] <= 0"):
                            self._free(code)
            code.add("gempty = 0")

    def _reset(self, code: Code, accumulators: Sequence[AccumulatorPrinter]) -> None:
        for each in accumulators:
            code.add(*(f"{field.name}[g] = {field.fill!r}" for field in each.fields() if field.axis == GROUP and not field.words))

    def _free(self, code: Code) -> None:
        code.add("g_table[g_words[0, g] + 1] = -1" if self.direct else "remove_slot(g_table, g_words, g)")
        code.add("g_live[g] = False", "g_free[gfree] = g", "gfree += 1")

    def print_entering(self, code: Code) -> None:
        if self.windowed:
            code.add("g_rows[g] += 1")
            if self.pinned:
                code.add("g_gone[g] = False")

    def release(self, code: Code, slots: str, count: str) -> None:
        """Free those of the slots in an array whose groups have gone while they were pinned."""
        if self.pinned and self.windowed and not self.kept:
            with code.block(f"for t in range({count})"):
                code.add(f"g = {slots}[t]")
                with code.block("if g_gone[g]"):
                    code.add("g_gone[g] = False")
                    with code.block("if g_rows[g] <= 0" if self.at_once else "if g_held[g] <= 0"):
                        self._free(code)

    def print_leaving(self, code: Code) -> None:
        code.add("g_rows[g] -= 1")
        if not self.at_once:
            code.add("g_held[g] -= 1")
        with code.block("if g_rows[g] <= 0"):
            code.add("g_empty[gempty] = g", "gempty += 1")

    def touched(self, code: Code, *, pairwise: bool, places: bool, kept: str | None = None) -> None:
        """Print ``g_touched[0 … nt - 1]``: the groups of the delta in the order of output, ``g_last`` the position of each one's event if
        ``places`` are needed.

        ``pairwise``: of one event in and one out, the group of the one that came in is the first. ``kept``: a text that is true for the
        events that count, of which there are ``news`` and ``olds``.
        """
        place = ["g_last[g] = q"] if places else []
        if kept is not None:
            self._each_touched(code, place, kept)
        else:
            self._one_or_each(code, place)
        self.sort(code, f"not ({self.in_and_out(kept is not None)})" if pairwise else "True")

    def in_and_out(self, counted: bool) -> str:
        """Return the test that one event came in and one left; ``counted``: of those that count, ``news`` and ``olds``."""
        return "news == 1 and olds == 1" if counted else "nb - na == 1 and ob - oa == 1"

    def sort(self, code: Code, test: str = "True") -> None:
        """Bring the touched groups into the order of a Java HashMap, where the test holds and the order asks for it."""
        if not self.hashed:
            return
        with code.block(f"if nt > 1 and {test}"):
            print_order(code, "nt", "nt", "g_hash", "g_buckets", "g_touched")

    def _one_or_each(self, code: Code, place: Sequence[str]) -> None:
        with code.block("if nb - na + ob - oa == 1"):
            code.add("q = na if nb > na else oa", "g = np.int64(w_g[q & mask])", "nt = 1", "g_touched[0] = g", *place)
        with code.block("else"):
            self._each_touched(code, place)

    def _each_touched(self, code: Code, place: Sequence[str], kept: str = "True") -> None:
        code.add("nt = 0")
        for low, high in PARTS:
            with code.block(f"for q in range({low}, {high})"), code.block(f"if {kept}"):
                code.add("g = np.int64(w_g[q & mask])")
                with code.block("if g_seen[g] != delta"):
                    code.add("g_seen[g] = delta", "g_touched[nt] = g", "nt += 1")
                code.add(*place)

    # ------------------------------------------------------------------ around the kernel

    def grow(self, arrays: Arrays) -> None:
        """Make space for twice as many groups."""
        arrays.grow(GROUP, 2 * arrays.sizes[GROUP])
        if not self.direct and arrays.sizes[HASH] < 2 * arrays.sizes[GROUP]:
            arrays.grow(HASH, 2 * arrays.sizes[GROUP])
            fill_table(arrays["g_table"], arrays["g_words"], arrays["g_live"])

    def follow(self, arrays: Arrays, pool: StringPool, known: int) -> int:
        """Make space for the codes of the pool, and the hashes of those from ``known`` on; how many there are."""
        size = len(pool)
        if CODES in arrays.sizes:
            arrays.grow(CODES, size + 1)
        if self.hashed and "String" in self.kinds:
            follow(arrays, "g_codes", pool, known)
        return size


__all__ = ["REGISTERS", "GroupKeys"]
