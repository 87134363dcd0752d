"""Groups as the row tier keeps them: what ``runtime.aggregation.grouped.Keyed`` and the output stage have in their state, of slots and
back. Keys are values there and words here."""
from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from epl.java_hash import hash_of_keys, spread_hash
from epl.plan.expressions import StreamProperty
from runtime.aggregation.grouped import key_from_state, key_to_state
from runtime.aggregation.state_shapes import key_shape
from runtime.batch.accumulators import AccumulatorPrinter, group_state, restore_group
from runtime.batch.compiler.hosted import fill_table
from runtime.batch.refusals import Declined
from runtime.batch.result_set.groups import REGISTERS, GroupKeys
from runtime.batch.runs.ring import Ring
from runtime.batch.storage.arrays import CODES, GROUP, Array, Arrays
from runtime.batch.storage.strings import StringPool
from windows.event import Event, event_class
from windows.protocol import Damaged, State
from windows.shape import ANYTHING, COUNT, compile_check

Words = tuple[int, ...]
SHAPE = compile_check(([(ANYTHING, (COUNT, ANYTHING))], [ANYTHING], ANYTHING, [ANYTHING]))


@attrs.define
class GroupState:
    """The groups of one run."""

    keys: GroupKeys
    accumulators: Sequence[AccumulatorPrinter]
    arrays: Arrays
    pool: StringPool
    ring: Ring

    # ------------------------------------------------------------------ keys

    def key(self, slot: int) -> Any:
        """Return the key of a slot, as ``runtime.aggregation.keys`` has it."""
        words = self.arrays["g_words"][:, slot].tolist()
        values = [self._value(number, word, words[-1]) for number, word in enumerate(words) if number in self.keys.in_key]
        return values[0] if len(values) == 1 and not self.keys.tuples else tuple(values)

    def _value(self, number: int, word: int, nulls: int) -> Any:
        kind = self.keys.kinds[number]
        if kind == "String":
            return self.pool.value(word)
        if self.keys.nullable and nulls & 1 << number:
            return None
        if kind in ("double", "float"):
            return struct.unpack("<d", struct.pack("<q", word))[0]
        return word != 0 if kind == "boolean" else word

    def words(self, values: Sequence[Any]) -> Words:
        """Return the words of a key's values."""
        words, nulls = [], 0
        by_place = dict(zip(self.keys.in_key, values))
        for number, kind in enumerate(self.keys.kinds):
            value = by_place.get(number)
            if kind == "String":
                words.append(self.pool.code(value))
            elif value is None:
                words.append(0)
                nulls |= 1 << number
            elif kind in ("double", "float"):
                words.append(struct.unpack("<q", struct.pack("<d", value if value == value else np.nan))[0])
            else:
                words.append(int(value))
        return (*words, nulls) if self.keys.nullable else tuple(words) or (0,)

    @property
    def _several(self) -> bool:
        """Whether keys are tuples."""
        return self.keys.tuples or len(self.keys.parts) > 1

    def words_of_key(self, key: Any) -> Words:
        return self.words(key if self._several else (key,))

    def event(self, slot: int) -> Event:
        """Return an event with the values that the group is made by, and no others: all that is read of a group's last row."""
        values = dict(zip((p.name for p in self.keys.parts if isinstance(p, StreamProperty)), self._values(slot)))
        return event_class(self.ring.event_type)(*[values.get(name) for name in self.ring.event_type.names])

    def _values(self, slot: int) -> Sequence[Any]:
        key = self.key(slot)
        return key if self._several else (key,)

    # ------------------------------------------------------------------ state

    @property
    def top(self) -> int:
        """Slots that were ever used."""
        return int(self.arrays["g_registers"][REGISTERS["gtop"]])

    def present(self) -> list[int]:
        """Return the slots whose groups are there."""
        live: list[int] = np.flatnonzero(self.arrays["g_live"][: self.top]).tolist()
        if not self.keys.windowed or self.keys.stays:
            return live
        empty = set(self._empty().tolist())
        rows = self.arrays["g_rows"]
        return [slot for slot in live if rows[slot] > 0 or slot in empty]

    def _empty(self) -> Array:
        count = int(self.arrays["g_registers"][REGISTERS["gempty"]])
        return self.arrays["g_empty"][:count]

    def state(self) -> State:
        """Do as ``Keyed`` gives it."""
        rows = self.arrays["g_rows"] if self.keys.windowed else None
        groups = [
            [key_to_state(self.key(slot)), [0 if rows is None else int(rows[slot]), self._group(slot)]] for slot in self.present()
        ]
        empty = [key_to_state(self.key(slot)) for slot in self._empty().tolist()] if self.keys.windowed else []
        return [groups, empty, None, []]

    def _group(self, slot: int) -> State:
        return group_state(self.accumulators, self.arrays, slot, self.ring)

    # ------------------------------------------------------------------ restore

    def restore(self, state: State, first: Iterable[Any] = (), held: Array | None = None, *, with_groups: bool = True) -> dict[Words, int]:
        """Fill empty arrays; ``first``: keys that have the first slots, in this order; ``held``: the positions of the window's events,
        which are there already. Gives the slot of each group's words. ``with_groups``: whether the state has the groups.
        Raises Declined for rows that are in no group."""
        SHAPE(state)
        groups, empty, reclaim, failed = state
        if failed or reclaim is not None:
            raise Declined("groups whose keys raised, or that are reclaimed")
        check_key = key_shape([part.type for number, part in enumerate(self.keys.parts) if number in self.keys.in_key], exact=False)
        for key in (*(key for key, _ in groups), *empty):
            check_key(key)
        entries = [(self.words_of_key(key_from_state(key)), count, inner) for key, (count, inner) in groups]
        slots: dict[Words, int] = {}
        for words in (*map(self.words_of_key, first), *(words for words, _, _ in entries)):
            slots.setdefault(words, len(slots))
        holding = np.zeros(0, np.int64) if held is None else self._hold(held, slots)
        self._fill(slots)
        if self.keys.windowed:
            if not self.keys.at_once:
                self.arrays["g_held"][: len(slots)] = np.bincount(holding, minlength=len(slots))
            gone = [slots[self.words_of_key(key_from_state(key))] for key in empty]
            if len(set(gone)) != len(gone):
                raise Damaged("a group is twice among those without a row")
            self.arrays["g_empty"][: len(gone)] = gone
            self.arrays["g_registers"][REGISTERS["gempty"]] = len(gone)
            for words, count, _ in entries:
                self.arrays["g_rows"][slots[words]] = count
        self.ring.changed()
        if with_groups:
            self._check_rows(slots, {slots[words]: count for words, count, _ in entries})
        for words, _, inner in entries:
            restore_group(self.accumulators, self.arrays, slots[words], inner, self.ring)
        return slots

    def _check_rows(self, slots: Mapping[Words, int], rows: Mapping[int, int]) -> None:
        """Raise Damaged where groups do not have the rows that the window holds: compiled code frees a group by their number."""
        if len(rows) > len(slots):
            raise Damaged("a group is there twice")
        if self.keys.windowed:
            for slot in slots.values():
                held = len(self.ring.members(slot))
                if rows.get(slot, 0) != held:
                    raise Damaged(f"a group of {held} events is said to have {rows.get(slot, 0)}")

    def begin_without_state(self, held: Array | None, counted: Array) -> None:
        """Begin with groups that nothing is kept of: those of the events that are held, of which some are counted."""
        slots = self.restore([[], [], None, []], (), held, with_groups=False)
        if self.keys.windowed:
            self.arrays["g_rows"][: len(slots)] = np.bincount(self.ring.at("w_g", counted).astype(np.int64), minlength=len(slots))

    def _hold(self, positions: Array, slots: dict[Words, int]) -> Array:
        """Put the slots of the window's events into the ring, and give them; those of events that are in no group yet are new."""
        groups = []
        for key in self.event_keys(self.ring.events(positions)):
            groups.append(slots.setdefault(self.words_of_key(key), len(slots)))
        self.ring.put("w_g", positions, np.array(groups, np.int32))
        return np.array(groups, np.int64)

    def event_keys(self, events: Iterable[Event]) -> list[Any]:
        """Return the keys of the groups that the events are in."""
        readers = [self.ring.evaluator(self.keys.parts[number]) for number in self.keys.in_key]
        values = [[read(event) for read in readers] for event in events]
        return [tuple(each) if self._several else each[0] for each in values]

    def _fill(self, slots: dict[Words, int]) -> None:
        arrays, count = self.arrays, len(slots)
        if CODES in arrays.sizes:
            arrays.grow(CODES, len(self.pool) + 1)
        while arrays.sizes[GROUP] < count:
            self.keys.grow(arrays)
        for words, slot in slots.items():
            arrays["g_words"][:, slot] = words
        arrays["g_live"][:count] = True
        arrays["g_registers"][REGISTERS["gtop"]] = count
        if self.keys.hashed:
            hash_of = hash_of_keys([part.type for part in self.keys.parts])
            assert hash_of is not None
            for slot in slots.values():
                values = self._values(slot)
                arrays["g_hash"][slot] = spread_hash(hash_of(values if len(values) > 1 else values[0]))
        if self.keys.direct:
            arrays["g_table"][arrays["g_words"][0, :count] + 1] = np.arange(count)
        else:
            arrays["g_table"][:] = -1
            fill_table(arrays["g_table"], arrays["g_words"], arrays["g_live"])


@attrs.define
class OneGroup:
    """All events together, beside groups of another kind."""

    accumulators: Sequence[AccumulatorPrinter]
    arrays: Arrays
    ring: Ring

    def state(self) -> State:
        return group_state(self.accumulators, self.arrays, 0, self.ring)

    def restore(self, state: State, first: Iterable[Any] = (), held: Array | None = None) -> None:
        restore_group(self.accumulators, self.arrays, 0, state, self.ring)


__all__ = ["GroupState", "OneGroup", "Words"]
