"""Where a piece of EPL text is: offsets in nodes, lines and carets in messages."""
from __future__ import annotations

import attrs


@attrs.frozen(slots=True)
class Span:
    """Half-open range of character offsets into the module text."""

    start: int
    end: int

    def line_column(self, text: str) -> tuple[int, int]:
        """Return line and column of the start, both from 1."""
        line = text.count("\n", 0, self.start) + 1
        return line, self.start - (text.rfind("\n", 0, self.start) + 1) + 1

    def caret(self, text: str, width: int = 100) -> str:
        """Return the line of the start with a caret line below it; of a line longer than ``width``, the part around the caret.

        >>> print(Span(7, 10).caret("select foo from T"))
        select foo from T
               ^^^
        >>> print(Span(60, 63).caret("x" * 60 + "foo" + "y" * 60, 20))
        …xxxxxxxxxfooyyyyyy…
                  ^^^
        """
        begin = text.rfind("\n", 0, self.start) + 1
        stop = text.find("\n", self.start)
        line = text[begin : stop if stop >= 0 else len(text)].replace("\t", " ")
        at = self.start - begin
        length = max(1, min(self.end, begin + len(line)) - self.start)
        if len(line) > width:
            cut = max(0, at - width // 2)
            before, after = "…" if cut else "", "…" if cut + width < len(line) else ""
            line, at = before + line[cut + len(before) : cut + width - len(after)] + after, at - cut
            length = max(1, min(length, width - at))
        return f"{line}\n{' ' * at}{'^' * length}"
