"""What generated kernels call: Java's rules that are too long to print inline. Plain Python on numpy scalars, in the language of kernels:
compiled with the kernels that call them, and by themselves for the host (runtime.batch.compiler.hosted)."""
from __future__ import annotations

from typing import Any

import numpy as np


def wrap_int(value: Any) -> Any:
    """Return the low 32 bits of a 64-bit integer, as a Java int."""
    return ((value + 2147483648) & 4294967295) - 2147483648


def long_add(left: Any, right: Any) -> Any:
    """Return Java's sum of longs, which wraps around: a compiler may take it that a signed sum does not."""
    return np.int64(np.uint64(left) + np.uint64(right))


def long_subtract(left: Any, right: Any) -> Any:
    """Return Java's difference of longs."""
    return np.int64(np.uint64(left) - np.uint64(right))


def long_multiply(left: Any, right: Any) -> Any:
    """Return Java's product of longs."""
    return np.int64(np.uint64(left) * np.uint64(right))


def int_divide(left: Any, right: Any) -> Any:
    """Return Java's integer division, towards zero; the divisor is not zero."""
    if right == 0:
        return left - left
    quotient = left // right
    if quotient < 0 and quotient * right != left:
        quotient += 1
    return quotient


def int_remainder(left: Any, right: Any) -> Any:
    """Return Java's integer remainder: the sign of the dividend; the divisor is not zero."""
    if right == 0:
        return left - left
    result = left % right
    if result != 0 and (left < 0) != (right < 0):
        result -= right
    return result


def same_double(left: Any, right: Any) -> Any:
    """Implement ``Double.equals``: NaN equals itself, 0.0 does not equal -0.0."""
    if left == right:
        return left != 0 or np.copysign(1.0, left) == np.copysign(1.0, right)
    return left != left and right != right


def mix(value: Any) -> Any:
    """Return a 64-bit integer's bits, scattered: where a hash table looks first. Unsigned, since a compiler may take it that signed
    products do not overflow, and then gives another hash where it knows more of the value."""
    bits = np.int64(value).view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(31))) * np.uint64(0x7FB5D329728EA185)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x81DADEF4BC2DD44D)
    return np.uint64(bits ^ (bits >> np.uint64(33))).view(np.int64)


def sort_pairs(keys: Any, values: Any, count: Any) -> Any:
    """Sort the first ``count`` of ``values`` and of ``keys`` by ``keys``, in place; equal keys keep their order: insertion in runs of 16,
    which are merged. (numpy's sort takes seconds to compile.)"""
    for first in range(0, count, 16):
        for i in range(first + 1, min(first + 16, count)):
            key, value = keys[i], values[i]
            j = i - 1
            while j >= first and keys[j] > key:
                keys[j + 1] = keys[j]
                values[j + 1] = values[j]
                j -= 1
            keys[j + 1] = key
            values[j + 1] = value
    width = 16
    while width < count:
        merge_runs(keys, values, count, width)
        width *= 2


def merge_runs(keys: Any, values: Any, count: Any, width: Any) -> Any:
    """Merge each two neighbouring sorted runs of ``width`` into one."""
    old_keys, old_values = np.empty(count, np.int64), np.empty(count, np.int64)
    for place in range(count):
        old_keys[place], old_values[place] = keys[place], values[place]
    for first in range(0, count - width, 2 * width):
        left, middle, end = first, first + width, min(first + 2 * width, count)
        right = middle
        for i in range(first, end):
            if right >= end or (left < middle and old_keys[left] <= old_keys[right]):
                keys[i], values[i] = old_keys[left], old_values[left]
                left += 1
            else:
                keys[i], values[i] = old_keys[right], old_values[right]
                right += 1


def double_word(value: Any) -> Any:
    """Return the bits of a double; every NaN has the same."""
    if value != value:
        return np.int64(0x7FF8000000000000)
    return np.float64(value).view(np.int64)


def word_double(word: Any) -> Any:
    """Return the double with these bits."""
    return np.int64(word).view(np.float64)


def _home(keys: Any, slot: Any) -> Any:
    place = mix(keys[0, slot])
    for word in range(1, keys.shape[0]):
        place = mix(place ^ keys[word, slot])
    return place


def fill_table(table: Any, keys: Any, live: Any) -> Any:
    """Fill an empty open-addressing table with the slots that are ``live``; ``keys[word, slot]`` are their key words."""
    mask = len(table) - 1
    for slot in range(len(live)):
        if live[slot]:
            place = _home(keys, slot) & mask
            while table[place] != -1:
                place = (place + 1) & mask
            table[place] = slot


def remove_slot(table: Any, keys: Any, slot: Any) -> Any:
    """Take a slot out of an open-addressing table; those after it move up, so that every one is still found."""
    mask = len(table) - 1
    hole = _home(keys, slot) & mask
    while table[hole] != slot:
        hole = (hole + 1) & mask
    place = hole
    while True:
        place = (place + 1) & mask
        other = table[place]
        if other < 0:
            break
        if ((place - _home(keys, other)) & mask) >= ((place - hole) & mask):
            table[hole] = other
            hole = place
    table[hole] = -1


def insert_slot(table: Any, keys: Any, slot: Any) -> Any:
    """Put a slot into an open-addressing table that does not have it."""
    mask = len(table) - 1
    place = _home(keys, slot) & mask
    while table[place] != -1:
        place = (place + 1) & mask
    table[place] = slot


def _heap_before(values: Any, one: Any, other: Any, largest: Any) -> Any:
    """Return whether the value at one place is better than that at the other; NaN is greater than every number, -0.0 less than 0.0."""
    a, b = values[one], values[other]
    if a == 0 and b == 0:
        first, second = np.copysign(1.0, np.float64(a)), np.copysign(1.0, np.float64(b))
        return first > second if largest else first < second
    if largest:
        return a > b or (a != a and b == b)
    return a < b or (b != b and a == a)


def heap_merge(one: Any, other: Any, left: Any, right: Any, up: Any, values: Any, mask: Any, largest: Any) -> Any:
    """Return the top of two skew heaps put together; -1 is an empty one. ``left``, ``right``, ``up`` link positions by ``position &
    mask``."""
    if one < 0:
        return other
    if other < 0:
        return one
    if _heap_before(values, other & mask, one & mask, largest):
        one, other = other, one
    top = one
    while True:
        child = right[one & mask]
        right[one & mask] = left[one & mask]
        if child < 0:
            left[one & mask] = other
            up[other & mask] = one
            return top
        if _heap_before(values, other & mask, child & mask, largest):
            child, other = other, child
        left[one & mask] = child
        up[child & mask] = one
        one = child


def heap_insert(top: Any, position: Any, left: Any, right: Any, up: Any, values: Any, mask: Any, largest: Any) -> Any:
    """Return the top of the heap once the position is in it."""
    left[position & mask] = -1
    right[position & mask] = -1
    up[position & mask] = -1
    top = heap_merge(top, position, left, right, up, values, mask, largest)
    up[top & mask] = -1
    return top


def heap_remove(top: Any, position: Any, left: Any, right: Any, up: Any, values: Any, mask: Any, largest: Any) -> Any:
    """Return the top of the heap once the position, which is in it, has been taken out."""
    place = position & mask
    above = up[place]
    below = heap_merge(left[place], right[place], left, right, up, values, mask, largest)
    if below >= 0:
        up[below & mask] = above
    if above < 0:
        return below
    if left[above & mask] == position:
        left[above & mask] = below
    else:
        right[above & mask] = below
    return top


def java_hashes(offsets: Any, data: Any, hashes: Any, first: Any, last: Any) -> Any:
    """Fill ``hashes[code + 1]``: String.hashCode of the UTF-8 strings ``first`` … ``last - 1``."""
    for code in range(first, last):
        result = 0
        place = offsets[code]
        while place < offsets[code + 1]:
            unit = np.int64(data[place])
            more = 0 if unit < 0x80 else 1 if unit < 0xE0 else 2 if unit < 0xF0 else 3
            if more:
                unit &= 0x3F >> more
            for _ in range(more):
                place += 1
                unit = (unit << 6) | (np.int64(data[place]) & 0x3F)
            place += 1
            if unit >= 0x10000:
                result = (31 * result + 0xD800 + ((unit - 0x10000) >> 10)) & 0xFFFFFFFF
                unit = 0xDC00 + ((unit - 0x10000) & 0x3FF)
            result = (31 * result + unit) & 0xFFFFFFFF
        hashes[code + 1] = result


def mark_chains(ends: Any, before: Any, mark: Any) -> Any:
    """Mark the nodes ``ends`` and all that they lead back to: ``before`` is the node before each, -1 for none."""
    for place in range(len(ends)):
        node = ends[place]
        while node >= 0 and not mark[node]:
            mark[node] = True
            node = before[node]


PREVIOUS, REFERENCES = 2, 3
"""Words of a node of a row pattern's paths: the node before it, how many refer to it."""


def release_path(nodes: Any, node: Any, vacant: Any) -> Any:
    """Release one reference to a path's last node; free nodes without any. (First free node, how many have become free)."""
    freed = 0
    while node >= 0:
        nodes[node, REFERENCES] -= 1
        if nodes[node, REFERENCES] > 0:
            break
        before = nodes[node, PREVIOUS]
        nodes[node, PREVIOUS] = vacant
        vacant = node
        freed += 1
        node = before
    return vacant, freed


def last_not_above(values: Any, low: Any, high: Any, value: Any) -> Any:
    """Return the place of the last of the ascending ``values[low:high]`` that is not above ``value``; ``low - 1`` where all are."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low - 1


def rank_matches(matches: Any, count: Any, groups: Any, begins: Any, ends: Any) -> Any:
    """Order the first ``count`` of ``matches`` by partition in order of appearance, first row, and the latest last row first."""
    keys, order, ranks = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    for place in range(count):
        keys[place] = groups[matches[place]]
        order[place] = place
    sort_pairs(keys, order, count)
    first = order[0]
    for place in range(count):
        if groups[matches[order[place]]] != groups[matches[first]]:
            first = order[place]
        ranks[order[place]] = first
    for place in range(count):
        order[place] = place
        keys[place] = -ends[matches[place]]
    sort_pairs(keys, order, count)
    for place in range(count):
        keys[place] = begins[matches[order[place]]]
    sort_pairs(keys, order, count)
    for place in range(count):
        keys[place] = ranks[order[place]]
    sort_pairs(keys, order, count)
    for place in range(count):
        keys[place] = matches[order[place]]
    for place in range(count):
        matches[place] = keys[place]
