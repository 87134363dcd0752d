"""The statements as loops that somebody wrote by hand for numba: the floor under any engine that takes events in order.

Each takes its state as arrays, the columns of the events ``first`` … and the arrays to write to, and gives the number of rows. Symbols are
integer codes; only the two columns that listeners read are written. NaN and 0 stand for null.
"""
from __future__ import annotations

from typing import Any

import numpy as np


def filtered(symbol: Any, price: Any, one: Any, two: Any) -> int:
    written = 0
    for i in range(len(price)):
        if price[i] > 990:
            one[written] = symbol[i]
            two[written] = price[i]
            written += 1
    return written


def running(state: Any, volume: Any, one: Any, two: Any) -> int:
    """state: count, sum."""
    count, total = state[0], state[1]
    for i in range(len(volume)):
        count += 1
        total += volume[i]
        one[i] = count
        two[i] = np.int32(total)
    state[0], state[1] = count, total
    return len(volume)


def in_time(groups: Any, prices: Any, ring: Any, symbol: Any, price: Any, volume: Any, first: int, one: Any, two: Any) -> int:
    """10 sec by symbol, an event a ms. groups: [sum of volume, count] by symbol; ring: [symbol, volume] of the last 10,000 events;
    prices: sums by symbol, behind them the prices of those events.
    """
    written = 0
    keys = len(groups)
    for i in range(len(symbol)):
        place = (first + i) % 10_000
        if first + i >= 10_000:
            g = ring[place, 0]
            prices[g] -= prices[keys + place]
            groups[g, 0] -= ring[place, 1]
            groups[g, 1] -= 1
            one[written] = prices[g] / groups[g, 1] if groups[g, 1] else np.nan
            two[written] = groups[g, 0]
            written += 1
        g = symbol[i]
        ring[place, 0], ring[place, 1], prices[keys + place] = g, volume[i], price[i]
        prices[g] += price[i]
        groups[g, 0] += volume[i]
        groups[g, 1] += 1
        one[written] = prices[g] / groups[g, 1]
        two[written] = groups[g, 0]
        written += 1
    return written


def sliding(state: Any, ring: Any, queue: Any, price: Any, first: int, one: Any, two: Any) -> int:
    """1,000 rows, mean and maximum. state: [sum]; queue: the candidates' row numbers, [1024] and [1025] are its ends."""
    total, head, tail = state[0], queue[1024], queue[1025]
    for i in range(len(price)):
        row = first + i
        x = price[i]
        if row >= 1000:
            total -= ring[(row - 1000) & 1023]
        total += x
        ring[row & 1023] = x
        while tail > head and ring[queue[(tail - 1) & 1023] & 1023] <= x:
            tail -= 1
        queue[tail & 1023] = row
        tail += 1
        if queue[head & 1023] <= row - 1000:
            head += 1
        one[i] = total / min(row + 1, 1000)
        two[i] = ring[queue[head & 1023] & 1023]
    state[0], queue[1024], queue[1025] = total, head, tail
    return len(price)


def rising_falling(runs: Any, last: Any, symbol: Any, price: Any, begin: float, end: float, one: Any, two: Any) -> int:
    """A B+ C by symbol: A below ``begin``, B rises, C falls and is below ``end``. runs: number of B, -1 without A; last: price of the event
    before, and of A.
    """
    written = 0
    for i in range(len(symbol)):
        g, x = symbol[i], price[i]
        if runs[g] >= 0 and x > last[g, 0]:
            runs[g] += 1
        elif runs[g] > 0 and x < last[g, 0] and x < end:
            one[written], two[written] = last[g, 1], x
            written += 1
            runs[g] = -1
        else:
            runs[g] = 0 if x < begin else -1
            last[g, 1] = x
        last[g, 0] = x
    return written


def four_rising(length: Any, held: Any, last: Any, symbol: Any, price: Any, first: int, one: Any, two: Any) -> int:
    """A B C D by symbol, each above the one before, all of the last 10,000 events. held: row numbers of the partial match."""
    written = 0
    for i in range(len(symbol)):
        g, x, row = symbol[i], price[i], first + i
        n = length[g]
        while n > 0 and held[g, 0] <= row - 10_000:
            for j in range(n - 1):
                held[g, j] = held[g, j + 1]
            n -= 1
        if n > 0 and not x > last[g]:
            n = 0
        held[g, n] = row
        n += 1
        last[g] = x
        if n == 4:
            one[written], two[written] = held[g, 0], row
            written += 1
            n = 0
        length[g] = n
    return written


def divided(symbol: Any, price: Any, one: Any, two: Any) -> int:
    """A row goes to the statement of its symbol: counted, then written beside each other."""
    starts = np.zeros(1001, np.int64)
    for i in range(len(price)):
        if price[i] > 500:
            starts[symbol[i] + 1] += 1
    for g in range(1000):
        starts[g + 1] += starts[g]
    for i in range(len(price)):
        if price[i] > 500:
            place = starts[symbol[i]]
            starts[symbol[i]] += 1
            one[place], two[place] = symbol[i], price[i]
    return int(starts[999])


def last_each_second(state: Any, sums: Any, waiting: Any, symbol: Any, volume: Any, first: int, one: Any, two: Any) -> int:
    """Sums by symbol, those that changed emitted every second. state: [number waiting, next output]; waiting: [symbols in order, flags]."""
    written, count, due = 0, state[0], state[1]
    for i in range(len(symbol)):
        if first + i + 1 >= due:
            for j in range(count):
                g = waiting[0, j]
                one[written], two[written] = g, np.int32(sums[g])
                written += 1
                waiting[1, g] = 0
            count = 0
            due += 1000
        g = symbol[i]
        sums[g] += volume[i]
        if waiting[1, g] == 0:
            waiting[1, g] = 1
            waiting[0, count] = g
            count += 1
    state[0], state[1] = count, due
    return written


__all__ = ["divided", "filtered", "four_rising", "in_time", "last_each_second", "rising_falling", "running", "sliding"]
