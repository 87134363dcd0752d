"""EPL patterns and row patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.drawn.drawing import Draw, Stream
from tests.drawn.language import rare
from tests.drawn.language.expressions import condition
from tests.drawn.language.types import Scope

if TYPE_CHECKING:
    from tests.drawn.language.streams import World


class Pattern:
    """Draws a pattern; ``bound`` are its tags, with the columns that later atoms and the select clause may name."""

    def __init__(self, draw: Draw, world: World, sources: tuple[str, ...]) -> None:
        self.draw, self.world, self.sources = draw, world, sources
        self.bound: list[Stream] = []
        self._names = iter("abcdefgh")

    def atom(self, *, bind: bool = True) -> str:
        """A filter atom; its tag may be named by what follows."""
        from tests.drawn.language.streams import note_read

        draw = self.draw
        source = draw.one(*self.sources)
        note_read(draw, source)
        own = Stream("", source, self.world.types[source])
        conditions = []
        texts = [column.name for column in own.columns if column.role == "text"]
        others = Scope(tuple(self.bound)).of("text")
        if others and texts and draw.chance(0.6):
            conditions.append(f"{draw.one(*texts)} = {draw.one(*others)}")
        if draw.chance(0.4):
            conditions.append(condition(draw, Scope((own,), aliased=False), 0))
        name = next(self._names, None) if bind else None
        if name:
            self.bound.append(Stream(name, source, own.columns))
        consumed = draw.maybe(0.03, draw.one("@consume", "@consume(2)"))
        return (f"{name}=" if name else "") + source + (f"({', '.join(conditions)})" if conditions else "") + consumed

    def timer(self) -> str:
        draw = self.draw
        if draw.rare and draw.chance(0.4):
            return draw.one(*rare.TIMERS)
        return draw.one("timer:interval(1 sec)", "timer:interval(2 sec)", "timer:at(*, *, *, *, *, */2)", "timer:interval(500 msec)")

    def step(self, depth: int) -> str:
        """What one side of ``->`` holds."""
        draw = self.draw
        kind = draw.random.random()
        if depth <= 0 or kind < 0.5:
            return self.atom()
        if kind < 0.6:
            draw.mark("and")
            return f"({self.atom()} and {self.atom()})"
        if kind < 0.68 and depth > 0:
            draw.mark("or")
            return f"({self.atom()} or {self.atom()})"
        if kind < 0.78:
            draw.mark("not")
            waits = draw.one(self.timer().replace("timer:at(*, *, *, *, *, */2)", "timer:interval(1 sec)"), self.atom())
            return f"({waits} and not {self.atom(bind=False)})"
        if kind < 0.84:
            draw.mark("match-until")
            return self.repeated()
        if kind < 0.9:
            draw.mark("guard")
            return f"({self.sequence(depth - 1, 2)} where timer:{draw.one('within(2 sec)', 'within(3 sec)', 'withinmax(3 sec, 2)')})"
        if kind < 0.95:
            return self.timer()
        if kind < 0.97 and (name := Scope(tuple(self.bound)).of("int")):
            draw.mark("while")
            return f"({self.atom()} while ({draw.one(*name)} {draw.one('>', '<')} 2))"
        return f"({self.sequence(depth - 1, 2)})"

    def repeated(self) -> str:
        """A match-until; its tag is an array, which the select clause does not name here."""
        draw = self.draw
        text = self.atom()
        tag = self.bound.pop()
        text = f"{draw.one('[2]', '[1:2]', '[:3]', '')} {text}".strip()
        if not text.startswith("[2]"):
            text += f" until {self.atom(bind=False)}"
        elements = tuple(column for column in tag.columns if column.role in ("text", "serial", "int"))
        self.bound.append(Stream(f"{tag.alias}[0]", tag.source, elements))
        return f"({text})"

    def sequence(self, depth: int, most: int) -> str:
        draw = self.draw
        steps = [self.step(depth)]
        for _ in range(draw.number(0 if most > 2 else 1, most - 1)):
            every = draw.maybe(0.12, "every ")
            steps.append(every + self.step(depth))
        arrow = " -> " if draw.chance(0.93) else " -[2]> "
        return arrow.join(steps)

    def whole(self) -> str:
        draw, depth = self.draw, self.world.depth
        kind = draw.random.random()
        if kind < 0.4:
            return f"every {self.step(0)} -> {self.sequence(depth, 2)}"
        if kind < 0.75:
            return f"every ({self.sequence(depth, 3)})" + draw.maybe(0.15, " where timer:within(10 sec)")
        if kind < 0.82:
            first = self.atom()
            keys = Scope((self.bound[-1],)).of("text")
            draw.mark("every-distinct")
            return f"every-distinct({draw.one(*keys)}{draw.maybe(0.4, ', 2 sec')}) {first}" + draw.maybe(0.5, f" -> {self.step(0)}")
        if kind < 0.9:
            return f"every {self.timer()}" + draw.maybe(0.6, f" -> {self.step(0)}")
        return self.sequence(depth, 3)


def pattern(draw: Draw, world: World, sources: tuple[str, ...]) -> tuple[str, tuple[Stream, ...]]:
    """A pattern that binds a tag, and its tags."""
    while True:
        made = Pattern(draw, world, sources)
        text = made.whole()
        if made.bound:
            return text, tuple(made.bound)


# ------------------------------------------------------------------ match_recognize

ROW_PATTERNS = (
    "A B",
    "A B C",
    "A B* C",
    "A+ B",
    "A B+",
    "A B? C",
    "A (B | C)",
    "(A B)+ C",
    "A{2} B",
    "A{1,2} B",
    "A B*? C",
    "A+? B",
    "A (B C)? D",
    "match_recognize_permute(A, B)",
    "A B{2,}",
    "(A | B) C",
    "A* B",
    "A (B | C)* D",
)


def row_pattern(draw: Draw, world: World, stream: Stream) -> tuple[str, list[str]]:
    """``match_recognize (...)`` over the stream, and its measures' names."""
    shape = draw.one(*ROW_PATTERNS).replace("match_recognize_permute", draw.one("match_recognize_permute"))
    symbols = sorted({letter for letter in shape.replace("match_recognize_permute", "") if letter.isupper()})
    groups = {s for s in symbols if any(f"{s}{q}" in shape for q in "*+{")} | (set("AB") if "(A B)+" in shape else set())
    groups |= set("BC") if ")*" in shape else set()
    texts = [column.name for column in stream.columns if column.role == "text"] or [stream.columns[0].name]
    numbers = [column.name for column in stream.columns if column.role in ("int", "long", "double")]
    serial = next((column.name for column in stream.columns if column.role == "serial"), numbers[0])
    defines = []
    for place, symbol in enumerate(symbols):
        if not draw.chance(0.75):
            continue
        own = f"{symbol}.{draw.one(*numbers)}"
        options = [f"{own} {draw.one('>', '<=', '>=')} {draw.one('1', '2', 'vi')}"] * 2
        options.append(f"{own} {draw.one('>', '<', '>=')} prev({own})")
        options.append(f"{symbol}.{draw.one(*texts)} {draw.one('=', '!=')} {draw.word()}")
        single = [s for s in symbols[:place] if s not in groups]
        if single:
            options += [f"{own} {draw.one('>', '<', '=')} {draw.one(*single)}.{draw.one(*numbers)}"] * 2
        if symbols[:place] and draw.chance(0.3):
            grouped = [s for s in symbols[:place] if s in groups]
            if grouped:
                options.append(
                    f"{own} > {draw.one('sum', 'max', 'count', 'last')}({draw.one(*grouped)}.{draw.one(*numbers)})".replace(
                        "count(", "max("
                    )
                )
        defines.append(f"{symbol} as {draw.one(*options)}" + draw.maybe(0.1, f" and {own} is not null"))
    measures, names = [], []
    for symbol in symbols:
        name = f"m{symbol.lower()}"
        if symbol in groups:
            measures.append(
                draw.one(
                    f"first({symbol}.{serial})",
                    f"last({symbol}.{serial})",
                    f"count({symbol}.{serial})",
                    f"sum({symbol}.{draw.one(*numbers)})",
                    f"{symbol}[0].{serial}",
                )
                + f" as {name}"
            )
        else:
            measures.append(f"{symbol}.{draw.one(serial, serial, *texts)} as {name}")
        names.append(name)
    parts = [
        f"partition by {draw.one(*texts)}" if draw.chance(0.6) else "",
        "measures " + ", ".join(measures),
        "all matches" if draw.chance(0.2) else "",
        draw.one("", "", "after match skip to next row", "after match skip to current row", "after match skip past last row"),
        f"pattern ({shape})",
        f"interval {draw.one('1 sec', '2 sec')}{draw.maybe(0.3, ' or terminated')}" if draw.chance(0.15) else "",
        "define " + ", ".join(defines) if defines else "",
    ]
    draw.mark("match_recognize")
    return f" match_recognize ({' '.join(part for part in parts if part)})", names
