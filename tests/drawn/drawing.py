"""Random choices, and the program that grows by them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TypeVar

import attrs

T = TypeVar("T")

WORDS = ("ann", "bob", "cid", "dee")
"""The strings that events and EPL texts hold."""

OTHER_WORDS = ("ably", "bulky7", "corn_er", "dull99x")
"""As many others, in the same order: a program with these words differs from one with WORDS only by what depends on hash codes."""

PROGRAM = "the program"
"""Under this name ``bullets`` has what no statement of its own shows."""
QUERIES = "queries"
"""Under this name, what fire-and-forget queries give."""


@attrs.frozen
class Column:
    """A property of a stream. ``role``: text, int, long, double, flag, serial (a running number) or time."""

    name: str
    role: str


@attrs.frozen
class Stream:
    """A stream of a from clause: what ``alias.column`` may name. ``source``: its event type; None where the rows are derived values."""

    alias: str
    source: str | None
    columns: tuple[Column, ...]
    views: frozenset[str] = frozenset()
    """Names of its views."""

    def of(self, *roles: str) -> list[str]:
        """``alias.name`` of the columns with these roles."""
        return [f"{self.alias}.{column.name}" for column in self.columns if column.role in roles]


class Draw:
    """Draws one program. The same seed and as many words give the same choices."""

    def __init__(self, seed: str, words: Sequence[str] = WORDS) -> None:
        self.random = Random(seed)
        self.words = words
        self.texts: list[str] = []
        """The statements so far, in order."""
        self.bullets: dict[str, list[str]] = {}
        """Statement → what it exercises: lines of a feature's census."""
        self.keys: dict[str, set[tuple[str, str]]] = {}
        """Statement → (event type, property) that it compares for equality."""
        self.sent: set[str] = set()
        """The event types that statements read and events are sent of."""
        self.never_null: set[tuple[str, str]] = set()
        """(event type, property) that events always have: Esper 9.0.0 raises where it widens a null."""
        self.untimed = False
        """Whether windows must do without timers, until the statement is added."""
        self.rare = False
        """Whether what people write seldom is drawn, too."""
        self.calls_declared = False
        """Whether expressions that the program declares may be called."""
        self.tables: list[tuple[str, list[str], list[str]]] = []
        """Tables whose columns expressions may read: name, roles of the keys, columns with numbers."""
        self.variables: list[str] = []
        """Numbers in variables of the program's own."""
        self.joining = False
        """Whether the statement that is drawn is a join."""
        self.unordered: set[str] = set()
        """Statements whose iterators give rows in an order that hash codes decide: joins without order by."""
        self._marks: list[str] = []
        self._keys: set[tuple[str, str]] = set()
        self._number = 0
        self._declared: set[str] = set()

    # ------------------------------------------------------------------ choices

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def one_of(self, choices: Sequence[T]) -> T:
        return self.random.choice(choices)

    def some(self, choices: Sequence[str], least: int, most: int) -> list[str]:
        """So many of the choices, in their order."""
        count = self.random.randint(min(least, len(choices)), min(most, len(choices)))
        return [choices[place] for place in sorted(self.random.sample(range(len(choices)), count))]

    def some_of(self, choices: Sequence[T], least: int, most: int) -> list[T]:
        count = self.random.randint(min(least, len(choices)), min(most, len(choices)))
        return [choices[place] for place in sorted(self.random.sample(range(len(choices)), count))]

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def maybe(self, share: float, text: str) -> str:
        return text if self.chance(share) else ""

    def number(self, least: int, most: int) -> int:
        return self.random.randint(least, most)

    def word(self) -> str:
        """A string literal."""
        return f"'{self.random.choice(self.words)}'"

    def fresh(self, prefix: str) -> str:
        """A name that occurs nowhere else in the program."""
        self._number += 1
        return f"{prefix}{self._number}"

    # ------------------------------------------------------------------ the program

    def mark(self, *bullets: str) -> None:
        """The statement that is being drawn exercises this."""
        self._marks.extend(bullets)

    def marked(self) -> list[str]:
        """What was marked since the last statement that got bullets."""
        lines, self._marks, self._keys = list(dict.fromkeys(self._marks)), [], set()
        return lines

    def of_program(self) -> None:
        """What was marked is exercised by the program as a whole: by a statement that shows in the output of others."""
        lines = self.bullets.setdefault(PROGRAM, [])
        lines.extend(line for line in self.marked() if line not in lines)

    def key(self, stream: Stream, name: str) -> None:
        """The statement compares ``alias.column`` of the stream for equality."""
        if stream.source is not None:
            self._keys.add((stream.source, name.split(".")[1]))

    def no_nulls(self, stream: Stream, name: str) -> None:
        """Events have ``alias.column``, whatever their sub-type; a variant stream's, whatever their type."""
        types = {"Quote": ("Ask", "Bid", "Rush"), "Ask": ("Ask", "Rush")}
        for each in types.get(stream.source or "", (stream.source or "",)):
            self.never_null.add((each, name.split(".")[1]))

    def statement(self, text: str, *, bullets: bool = True) -> str:
        """Add a statement with all that was marked since the last one; return its name. ``bullets`` false: the next one gets them."""
        name = self.fresh("s")
        self.texts.append(f"@name('{name}') {text}")
        if self.joining and " order by " not in text:
            self.unordered.add(name)
        self.untimed = self.joining = False
        if bullets:
            self.bullets[name] = list(dict.fromkeys(self._marks))
            self.keys[name] = self._keys
            self._marks, self._keys = [], set()
        return name

    def declare(self, text: str) -> None:
        """Add a statement without output (a schema, a variable …), once."""
        if text not in self._declared:
            self._declared.add(text)
            self.texts.append(text)

    def reads(self, sources: Iterable[str]) -> None:
        self.sent.update(sources)
