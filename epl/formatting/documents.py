"""Layout documents: what a text consists of and where its lines may break; `render` chooses the breaks for a width.

A group is written on one line if it fits, else all of its own breaks become line ends. A hard break ends the line in any case, and with it
the groups around it are broken.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

INDENT = 4


@attrs.frozen
class Characters:
    """Characters as they are. ``free``: they do not count for the width (comments at the end of a line)."""

    text: str
    free: bool = False

    @property
    def is_hard(self) -> bool:
        return False


@attrs.frozen
class Break:
    """A line end, or ``flat`` where its group stays on one line. ``hard``: always a line end; ``blank``: with an empty line after it."""

    flat: str = " "
    hard: bool = False
    blank: bool = False

    @property
    def is_hard(self) -> bool:
        return self.hard


@attrs.frozen
class Many:
    """Documents one after the other; as a ``group`` they break together, and ``indent`` moves what follows their breaks to the right."""

    items: tuple[Document, ...]
    group: bool = False
    indent: bool = False
    is_hard: bool = False


Document = Characters | Break | Many

SPACE, NOTHING = Characters(" "), Characters("")
LINE, SOFT, HARD, BLANK = Break(), Break(""), Break(hard=True), Break(hard=True, blank=True)


def many(items: Sequence[Document], group: bool = False, indent: bool = False) -> Many:
    return Many(tuple(items), group, indent, any(item.is_hard for item in items))


def group(*items: Document) -> Many:
    return many(items, group=True)


def indent(*items: Document) -> Many:
    return many(items, indent=True)


def render(document: Document, width: int) -> str:
    """Return the text, without space at line ends.

    >>> items = indent(LINE, Characters("alpha,"), LINE, Characters("beta"))
    >>> render(group(Characters("select"), items), 80)
    'select alpha, beta'
    >>> print(render(group(Characters("select"), items), 10))
    select
        alpha,
        beta
    """
    lines: list[str] = []
    line = ""
    waiting: list[tuple[int, bool, Document]] = [(0, False, document)]
    while waiting:
        margin, flat, item = waiting.pop()
        if isinstance(item, Characters):
            *whole, rest = item.text.split("\n")
            for part in whole:
                lines.append(line + part)
                line = ""
            line += rest
        elif isinstance(item, Many):
            inner = margin + INDENT if item.indent else margin
            if item.group and not flat:
                flat = not item.is_hard and _fits(width - len(line), inner, item, waiting)
            waiting += [(inner, flat, part) for part in reversed(item.items)]
        elif flat and not item.hard:
            line += item.flat
        else:
            lines.append(line.rstrip())
            lines += [""] * item.blank
            line = " " * margin
    return "\n".join([*lines, line.rstrip()])


def _fits(room: int, margin: int, document: Many, waiting: list[tuple[int, bool, Document]]) -> bool:
    """Return whether the document on one line, and what follows it up to the next possible line end, is at most ``room`` wide."""
    rest = len(waiting)
    items: list[tuple[int, bool, Document]] = [(margin, True, part) for part in reversed(document.items)]
    while room >= 0:
        if not items:
            if not rest:
                return True
            rest -= 1
            items.append(waiting[rest])
        margin, flat, item = items.pop()
        if isinstance(item, Characters):
            if not item.free:
                first, line_end, _ = item.text.partition("\n")
                room -= len(first)
                if line_end:
                    return room >= 0
        elif isinstance(item, Many):
            items += [(margin, flat and not item.is_hard, part) for part in reversed(item.items)]
        elif not flat or item.hard:
            return True
        else:
            room -= len(item.flat)
    return False
