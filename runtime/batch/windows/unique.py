"""``unique`` and ``firstunique``: one event a key. Keys have slots in the order in which they came first."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from epl.java_hash import hash_of_keys, spread_hash
from epl.plan.expressions import TypedExpression
from runtime.batch.compiler.hosted import fill_table
from runtime.batch.printing.expressions import column_kind
from runtime.batch.printing.java_hash import follow, hash_text, print_order, spread
from runtime.batch.printing.python_values import encode_word, word_text
from runtime.batch.printing.source_code import Code
from runtime.batch.refusals import NotCompilable
from runtime.batch.runs.ring import Ring
from runtime.batch.runs.run import RunContext
from runtime.batch.storage.arrays import CODES, ONE, RING, Array, ArrayField, Arrays
from runtime.batch.storage.kinds import INTEGERS, TEXTS
from runtime.batch.storage.strings import StringPool
from runtime.batch.windows.base import RowPrinter, Take, Window
from windows.keys import key_of_values, values_of_key
from windows.protocol import Damaged, State
from windows.shape import ANYTHING, COUNT, EVENT, compile_check, of_type, takes
from windows.unique import FirstUnique, Unique

TABLE = "unique table"


class UniqueWindow(Window):
    """The places of the ring are those of the keys' events and a spare one, ``tail``, where the next event is put: it then has its key's
    place, and the place of the event before it is the spare one.

    ``u_table``: an open-addressing table, four times as long as the ring; by slot ``u_words`` the key (the last word says which values
    are null) and ``u_place`` its event's position; ``u_count`` the number of keys, ``u_peak`` that of a restored state.
    """

    config: Unique
    sorted: bool = False
    in_order: ClassVar[bool] = False

    @property
    def keys(self) -> tuple[TypedExpression, ...]:
        return self.config.keys

    @property
    def kinds(self) -> tuple[str, ...]:
        kinds = tuple(column_kind(key.type) for key in self.keys)
        if not kinds:
            raise NotCompilable("unique(*)")
        for kind in kinds:
            if kind not in (*INTEGERS, *TEXTS, "float", "double", "boolean"):
                raise NotCompilable(f"{self.config.names[0]} by {kind}")
        return kinds

    def fields(self) -> list[ArrayField]:
        return [
            ArrayField("u_table", np.int64, TABLE, -1), ArrayField("u_words", np.int64, RING, 0, len(self.kinds) + 1),
            ArrayField("u_place", np.int64, RING, -1), ArrayField("u_count", np.int64, ONE), ArrayField("u_peak", np.int64, ONE),
            *([ArrayField(f"u_{name}", np.int64, RING) for name in ("hash", "buckets", "order")] if self.sorted else []),
            *([ArrayField("u_codes", np.int64, CODES), ArrayField("u_known", np.int64, ONE)] if self._by_text else []),
        ]

    # ------------------------------------------------------------------ the order of an iterator

    @property
    def most(self) -> str:
        return "u_count[0]"

    def sort_contents(self) -> None:
        self.sorted = True

    @property
    def _by_text(self) -> bool:
        return self.sorted and "String" in self.kinds

    def follow(self, state: Arrays, pool: StringPool) -> None:
        if self._by_text:
            follow(state, "u_codes", pool, int(state["u_known"][0]))
            state["u_known"][0] = len(pool)

    @contextmanager
    def print_contents(self, code: Code) -> Iterator[None]:
        with code.block("for t in range(u_count[0])"):
            code.add("u_order[t] = t")
        print_order(code, "u_count[0]", "max(u_count[0], u_peak[0])", "u_hash", "u_buckets", "u_order")
        with code.block("for t in range(u_count[0])"):
            code.add("q = u_place[u_order[t]]")
            yield

    def start(self, state: Arrays, surroundings: RunContext) -> None:
        state.grow(TABLE, 4 * state.sizes[RING])

    # ------------------------------------------------------------------ in the kernel

    def _find(self, code: Code, printer: RowPrinter) -> None:
        """``u``: the slot of the row's key, -1 where it has none; ``hole`` where the table would hold it."""
        nulls = []
        names = [f"u{number}" for number in range(len(self.kinds) + 1)]
        for number, (key, kind) in enumerate(zip(self.keys, self.kinds)):
            row = printer(code)
            text = row.keep(row.value(key))
            word = word_text(text, kind)
            if text.valid is None:
                code.add(f"u{number} = {word}")
            else:
                code.add(f"u{number} = {word} if {text.valid} else np.int64(0)")
                nulls.append(f"(0 if {text.valid} else {1 << number})")
        code.add(f"{names[-1]} = np.int64({' | '.join(nulls) or '0'})")
        code.add("hole = mix(u0)", *(f"hole = mix(hole ^ {name})" for name in names[1:]), "hole &= len(u_table) - 1", "u = u_table[hole]")
        same = " and ".join(f"u_words[{number}, u] == {name}" for number, name in enumerate(names))
        with code.block(f"while u >= 0 and not ({same})"):
            code.add("hole = (hole + 1) & (len(u_table) - 1)", "u = u_table[hole]")

    def _insert(self, code: Code) -> None:
        code.add("u = u_count[0]", "u_count[0] += 1", "u_table[hole] = u", "u_place[u] = na")
        code.add(*(f"u_words[{number}, u] = u{number}" for number in range(len(self.kinds) + 1)))
        if self.sorted:
            kinds, nulls = self.kinds, f"u{len(self.kinds)}"
            words = [f"(u{n} if {nulls} & {1 << n} == 0 else np.int64(-1))" if kind in TEXTS else f"u{n}" for n, kind in enumerate(kinds)]
            code.add(*spread("u_hash[u]", hash_text(kinds, words.__getitem__, lambda n: f"{nulls} & {1 << n} == 0", "u_codes")))

    def row(self, code: Code, take: Take, printer: RowPrinter) -> None:
        take(code)
        self._find(code, printer)
        with code.block("if u < 0"):
            self._insert(code)
            code.add("tail = u_count[0]")
        with code.block("else"):
            code.add("oa = u_place[u]", "ob = oa + 1", "u_place[u] = na", "tail = oa")

    # ------------------------------------------------------------------ around it

    def size(self, ring: Ring) -> int:
        return int(ring.arrays["u_count"][0])

    def held(self, ring: Ring) -> Array:
        return ring.arrays["u_place"][: self.size(ring)]

    def counted(self, ring: Ring) -> Array:
        held = self.held(ring)
        return held[np.argsort(ring.at("w_row", held))]

    def oldest(self, ring: Ring) -> int | None:
        return 0 if self.size(ring) else None

    def grow(self, ring: Ring) -> None:
        super().grow(ring)
        ring.arrays.grow(TABLE, 4 * ring.arrays.sizes[RING])
        self._fill(ring.arrays)

    def _fill(self, arrays: Arrays) -> None:
        table = arrays["u_table"]
        table.fill(-1)
        fill_table(table, arrays["u_words"], np.arange(arrays.sizes[RING]) < arrays["u_count"][0])

    def state(self, ring: Ring) -> State:
        held, types = self.held(ring), [key.type for key in self.keys]
        evaluate = [ring.evaluator(key) for key in self.keys]
        entries = [
            [values_of_key(key_of_values([f(event) for f in evaluate], types), len(types)), event] for event in ring.events(held)
        ]
        return {"events": entries, "peak": max(len(held), int(ring.arrays["u_peak"][0]))}

    @takes({"events": [([ANYTHING], EVENT)], "peak": COUNT})
    def restore(self, ring: Ring, state: State) -> None:
        arrays, pool = ring.arrays, ring.surroundings.pool
        entries = list(state["events"])
        check_keys = compile_check(tuple(of_type(key.type) for key in self.keys))
        for values, _ in entries:
            check_keys(values)
        if len({tuple(self._words(values, pool)) for values, _ in entries}) != len(entries):
            raise Damaged("a key is there twice")
        ring.hold([event for _, event in entries])
        for slot, (values, _) in enumerate(entries):
            arrays["u_words"][:, slot] = self._words(values, pool)
            arrays["u_place"][slot] = slot
        if self.sorted:
            types = [key.type for key in self.keys]
            hash_of = hash_of_keys(types)
            for slot, (values, _) in enumerate(entries):
                arrays["u_hash"][slot] = 0 if hash_of is None else spread_hash(hash_of(key_of_values(values, types)))
        arrays["u_count"][0], arrays["u_peak"][0] = len(entries), state["peak"]
        arrays.grow(TABLE, 4 * arrays.sizes[RING])
        self._fill(arrays)

    def _words(self, values: list[Any], pool: StringPool) -> list[int]:
        words = [0 if value is None else encode_word(value, kind, pool) for value, kind in zip(values, self.kinds)]
        return [*words, sum(1 << number for number, value in enumerate(values) if value is None)]


class FirstUniqueWindow(UniqueWindow):
    """Nothing leaves: the position of a key's event is its slot."""

    config: FirstUnique  # type: ignore[assignment]  # keys all the same
    in_order = True
    contents = None

    def row(self, code: Code, take: Take, printer: RowPrinter) -> None:
        code.add("r = i")
        self._find(code, printer)
        with code.block("if u >= 0"):
            code.add("i += 1", "continue")
        take(code)
        self._insert(code)
