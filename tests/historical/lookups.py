"""What Lookup.java has in Java: methods of recorded cases. Each row says by which call of all it was made."""
from __future__ import annotations

import dataclasses
from typing import Any

from epl.value_types import BOXED_INT
from runtime import Runtime

ROW = {"key": "string", "v": "int", "label": "string", "call": "int"}


@dataclasses.dataclass
class Row:
    key: str | None
    v: int
    label: str
    call: int


class Lookup:
    """One for each runtime: it counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def _row(self, key: str | None, v: int, label: str) -> Row:
        return Row(key, v, label, self.calls)

    def rows(self, key: str, n: BOXED_INT) -> list[Row | None] | None:  # type: ignore[valid-type]
        self.calls += 1
        if n is None:
            return None
        if n == -2:
            raise ValueError("no such key")
        if n < 0:
            return [None]
        return [self._row(key, i, f"{'null' if key is None else key}{i}") for i in range(n)]

    def everything(self) -> list[Row]:
        self.calls += 1
        return [self._row("A", 1, "A1"), self._row("B", 2, "B2"), self._row("B", 3, "B3")]

    def next(self, v: BOXED_INT) -> list[Row]:  # type: ignore[valid-type]
        self.calls += 1
        return [self._row("n", v + 1, "next"), self._row("m", v + 2, "next")]  # type: ignore[operator]

    def single(self, key: str) -> Row | None:
        self.calls += 1
        return None if key is None else self._row(key, 7, f"{key}x")

    def wide(self, x: int) -> list[Row]:
        self.calls += 1
        return [self._row(f"w{x}", x, "w")]

    def fraction(self, x: float) -> list[Row]:
        self.calls += 1
        return [self._row(f"d{x}", 1, "d")]

    def tally(self, *x: str) -> list[Row]:
        self.calls += 1
        return [self._row(f"n{len(x)}", len(x), "c")]


class NoRows:
    """Methods that a statement cannot name in its from clause."""

    def text(self, key: str) -> str:
        return key

    def number(self, key: str) -> int:
        return 3

    def nothing(self, key: str) -> None:
        pass

    def untyped(self, key: str) -> Any:
        return None


def register(runtime: Runtime) -> Lookup:
    """Register the methods of recorded cases."""
    lookup = Lookup()
    runtime.register_method("Lookup", lookup, row=ROW)
    runtime.register_method("Lookup", NoRows())
    return lookup
