"""countMinSketch: how often each text has come, estimated from above, in as many counters as the settings say."""
from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from epl.errors import EplRuntimeError
from epl.functions.sketches import TOP_VALUE, SketchSettings
from runtime.aggregation.sorted_bag import SortedBag
from windows.event import Event, event_class
from windows.protocol import Damaged
from windows.shape import COUNT, class_check, takes

Row = Any
WORD = 0xFFFFFFFF
BYTE_ORDER_MARK = b"\xfe\xff"
"""Java writes it before every text in UTF-16 but the empty one."""
MAKE_TOP_VALUE: Callable[..., Event] = event_class(TOP_VALUE)


def murmur(data: bytes, seed: int) -> int:
    """Return MurmurHash2 of the bytes, which are signed where they are the rest of a word, as in Java."""
    multiplier, rest = 0x5BD1E995, len(data) & ~3
    value = seed ^ len(data)
    for at in range(0, rest, 4):
        word = (int.from_bytes(data[at:at + 4], "little") * multiplier) & WORD
        word = ((word ^ (word >> 24)) * multiplier) & WORD
        value = ((value * multiplier) & WORD) ^ word
    if rest < len(data):
        for place in range(len(data) - rest - 1, -1, -1):
            byte = data[rest + place]
            value ^= (byte - 256 if byte > 127 else byte) << (8 * place)
        value = ((value & WORD) * multiplier) & WORD
    value = ((value ^ (value >> 13)) * multiplier) & WORD
    return value ^ (value >> 15)


@lru_cache(maxsize=1 << 14)
def counter_places(text: str, depth: int, width: int) -> tuple[int, ...]:
    """Return a text's counter for each hash function, numbered through all of them."""
    data = BYTE_ORDER_MARK + text.encode("utf-16-be", "surrogatepass") if text else b""
    first = murmur(data, 0)
    second = murmur(data, first)
    places = []
    for row in range(depth):
        value = (first + row * second) & WORD
        distance = value if value < 1 << 31 else (1 << 32) - value
        places.append(row * width + distance % width)
    return tuple(places)


class CountMinSketch:
    """Takes texts; nothing leaves. ``counters``: those that are not zero, by number."""

    __slots__ = ("_evaluate", "_depth", "_width", "counters", "_most", "_best", "_ranks", "_next")

    def __init__(self, evaluate: Callable[[Row], Any], settings: SketchSettings) -> None:
        self._evaluate = evaluate
        self._depth, self._width, self._most = settings.depth, settings.width, max(0, settings.topk)
        self.clear()

    def clear(self) -> None:
        self.counters: dict[int, int] = {}
        self._best = SortedBag()
        self._ranks: dict[str, tuple[int, int, str]] = {}
        self._next = 0

    def enter(self, row: Row) -> None:
        text = self._evaluate(row)
        if text is None:
            return
        counters, estimate = self.counters, None
        for place in counter_places(text, self._depth, self._width):
            count = counters[place] = counters.get(place, 0) + 1
            if estimate is None or count < estimate:
                estimate = count
        if self._most:
            assert estimate is not None
            self._remember(text, estimate)

    def leave(self, row: Row) -> None:
        pass

    def _remember(self, text: str, frequency: int) -> None:
        """Rank the text by what its frequency is now; among equals the one that came there first. The last one gives way."""
        rank = self._ranks.get(text)
        if rank is not None:
            self._best.remove(rank)
        elif len(self._ranks) >= self._most:
            last = self._best.last()
            if frequency <= -last[0]:
                return
            self._best.remove(last)
            del self._ranks[last[2]]
        self._rank(text, frequency)

    def _rank(self, text: str, frequency: int) -> None:
        rank = self._ranks[text] = (-frequency, self._next, text)
        self._next += 1
        self._best.add(rank)

    # ------------------------------------------------------------------ what is read

    def value(self) -> None:
        """Return null: a sketch is read by its methods."""

    def frequency(self, text: Any) -> int | None:
        """Return how often the text has come, at most; null for null."""
        if text is None:
            return None
        if not isinstance(text, str):
            raise EplRuntimeError(f"countMinSketchFrequency takes a string, not a value of type {type(text).__name__}")
        counters = self.counters
        return min([counters.get(place, 0) for place in counter_places(text, self._depth, self._width)])

    def top_values(self) -> list[Event]:
        """Return the most frequent texts with their frequencies, in the order of the frequencies with which they came there."""
        return [MAKE_TOP_VALUE(self.frequency(text), text) for _, _, text in self._best]

    # ------------------------------------------------------------------ state

    def state(self) -> Any:
        return [list(self.counters), list(self.counters.values()), [[text, -frequency] for frequency, _, text in self._best]]

    @takes(([COUNT], [COUNT], [(class_check("a text", str), COUNT)]))
    def restore(self, state: Any) -> None:
        places, counts, best = state
        size = self._depth * self._width
        if len(places) != len(counts) or any(place >= size for place in places):
            raise Damaged(f"counters of a sketch of another size than {size}")
        self.clear()
        self.counters = dict(zip(places, counts))
        for text, frequency in best:
            self._rank(text, frequency)


__all__ = ["CountMinSketch"]
