"""Partitions' slots are released: those without a partial match, as the row tier forgets them.

Done when there is no slot left, and only where half of them come free: a slot is then moved as often as slots were taken since. Where
there are few slots more are made instead: looking through them costs some 100 µs however few there are.
"""
from __future__ import annotations

import numpy as np

from runtime.batch.compiler.hosted import fill_table
from runtime.batch.match_recognize.held_matches import live_matches
from runtime.batch.match_recognize.layout import REGISTERS, SMALL, SMALL_KEYS, MatchKernel
from runtime.batch.storage.arrays import CODES, GROUP, HASH, Array
from runtime.batch.storage.records import Records

FEW_SLOTS = 2048


def free_unused_slots(kernel: MatchKernel, arrays: Records, registers: Array) -> bool:
    """Return whether half of the slots are free now; else nothing has been done. Between rows only."""
    if kernel.plan.lookback or not kernel.keys:
        return False  # the next row of any partition may look back
    count = int(registers[REGISTERS["groups"]])
    if count < FEW_SLOTS:
        return False
    live = _count_partial_matches(kernel, arrays, count, int(registers[REGISTERS["gone"]]))
    held = live_matches(arrays) if kernel.interval is not None else np.zeros(0, np.int64)
    if len(held):
        live[arrays["m_group"][held]] = True
    kept = np.flatnonzero(live)
    if 2 * len(kept) > count:
        return False
    if kernel.has_partial_matches:
        for group in np.flatnonzero(~live & (arrays["g_first"][:count] >= 0)).tolist():
            _free_partial_matches(arrays, registers, int(arrays["g_first"][group]))
    else:
        _free_layers(arrays, np.flatnonzero(~live & (arrays["g_off"][:count] >= 0)))
    for field in kernel.fields:
        if field.axis == GROUP:
            column = arrays[field.name]
            column[..., : len(kept)] = column[..., kept]
            column[..., len(kept) : count] = field.fill
    if len(held):
        arrays["m_group"][held] = (np.cumsum(live) - 1)[arrays["m_group"][held]]
    registers[REGISTERS["groups"]] = len(kept)
    index_keys(arrays, len(kept))
    return True


def matches_in_progress(kernel: MatchKernel, arrays: Records, count: int, created: int, gone: int) -> int:
    """Return how many states the row tier would hold: partial matches, or for each partition the steps that took its last row and go on
    (after a window perhaps some more: of matches whose first row has left). ``count``: of slots, ``created``: of partial matches, ``gone``:
    the last row that left."""
    if kernel.has_partial_matches:
        return int(np.count_nonzero(arrays["s_begin"][:created] > gone))
    bits = arrays["g_bits"][:count][_count_partial_matches(kernel, arrays, count, gone)]
    return int(np.unpackbits(np.ascontiguousarray(bits, np.int64).view(np.uint8)).sum())


def _count_partial_matches(kernel: MatchKernel, arrays: Records, count: int, gone: int) -> Array:
    """Count partial matches by slot. One that began with a row that has left is none: all are where the last row taken has left."""
    if not kernel.has_partial_matches:
        live: Array = arrays["g_bits"][:count] != 0
        if kernel.window is not None:
            groups = np.flatnonzero(live)
            live[groups] = arrays["p_row"][arrays["g_off"][groups] + arrays["g_count"][groups] - 1] + 1 > gone
        return live
    active: Array = arrays["g_first"][:count] >= 0
    if kernel.window is not None:
        groups = np.flatnonzero(active)
        youngest = arrays["g_first"][groups]
        while (arrays["s_next"][youngest] >= 0).any():
            following = arrays["s_next"][youngest]
            youngest = np.where(following >= 0, following, youngest)
        active[groups] = arrays["s_begin"][youngest] > gone
    return active


def _free_layers(arrays: Records, groups: Array) -> None:
    """Free the space of layers, which is listed by size."""
    for size in np.unique(arrays["g_size"][groups]).tolist():
        begins = arrays["g_off"][groups][arrays["g_size"][groups] == size]
        arrays["p_row"][begins] = [*begins[1:], arrays["b_free"][size]]
        arrays["b_free"][size] = begins[0]


def _free_partial_matches(arrays: Records, registers: Array, partial_match: int) -> None:
    """Free a list of partial matches, with their nodes."""
    while partial_match >= 0:
        following, node = int(arrays["s_next"][partial_match]), int(arrays["s_node"][partial_match])
        arrays["s_next"][partial_match], arrays["s_begin"][partial_match] = registers[REGISTERS["free"]], -1
        registers[REGISTERS["free"]] = partial_match
        registers[REGISTERS["spare"]] += 1
        while node >= 0:
            arrays["p_refs"][node] -= 1
            if arrays["p_refs"][node] > 0:
                break
            before = int(arrays["p_prev"][node])
            arrays["p_prev"][node] = registers[REGISTERS["vacant"]]
            registers[REGISTERS["vacant"]] = node
            registers[REGISTERS["vacancies"]] += 1
            node = before
        partial_match = following


def index_keys(arrays: Records, count: int) -> None:
    """Index where the keys of the first ``count`` slots are found, and no others."""
    keys = arrays["g_key"][0, :count]
    if CODES in arrays.sizes:
        arrays["g_of"][:] = -1
        arrays["g_of"][keys + 1] = np.arange(count)
    if HASH in arrays.sizes:
        arrays["g_table"][:] = -1
        fill_table(arrays["g_table"], arrays["g_key"], np.arange(arrays["g_key"].shape[1]) < count)
    if SMALL in arrays.sizes:
        arrays["g_of"][:] = -1
        small = np.flatnonzero((keys >= 0) & (keys < SMALL_KEYS))
        arrays["g_of"][keys[small]] = small


__all__ = ["free_unused_slots", "index_keys"]
