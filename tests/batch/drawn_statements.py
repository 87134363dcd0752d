"""Select statements and row patterns over T, put together at random: what the catalogue's shapes do not combine."""
from __future__ import annotations

from random import Random

AGGREGATIONS = (
    "count(*)", "count(distinct k)", "sum(n)", "sum(distinct m)", "avg(x)", "min(x)", "max(n * x)", "stddev(x)", "first(k)",
    "last(n)", "firstever(x)", "maxever(n)", "countever(k)", "nth(x, 1)", "leaving()", "sum(x, filter: n > 0)", "max(m, filter: b)",
    "count(*, group_by: b)", "sum(n, group_by: (k, n))", "avg(distinct n, filter: x < 2)",
)
PATTERNS = (
    "A B", "A B C", "A B+", "A B* C", "A B? C", "(A B)+", "(A | B) C", "A+? B", "A (B | C)+", "A{2} B", "A B{1,2}", "A+", "A B C?",
    "A B{2,} C",
)


class Drawn:
    """Draws from ``of``."""

    def __init__(self, of: Random) -> None:
        self.of = of

    def one(self, *texts: str) -> str:
        return self.of.choice(texts)

    def maybe(self, chance: float, text: str) -> str:
        return text if self.of.random() < chance else ""

    def number(self, depth: int = 1) -> str:
        if depth == 0 or self.of.random() < 0.6:
            return self.one("x", "n", "m", "x", "n", "2", "-3", "0.5", "1L", "1.5f", "-0.0")
        left, right = self.number(depth - 1), self.number(depth - 1)
        return self.one(
            f"({left} {self.one(*'+-*/')} {right})", f"({left} % 3)", f"coalesce({left}, {right}, 0)", f"min({left}, {right})",
            f"max({left}, {right}, 0)", f"(case when {self.condition(0)} then {left} else {right} end)",
        )

    def condition(self, depth: int = 1) -> str:
        if depth and self.of.random() < 0.25:
            return self.one(f"({self.condition(0)} {self.one('and', 'or')} {self.condition(0)})", f"not ({self.condition(0)})")
        return self.one(
            f"{self.number(0)} {self.one('>', '<', '>=', '<=', '=', '!=')} {self.number(0)}", f"k {self.one('=', '!=', '<', '>=')} 'a'",
            "k in ('a', 'c')", "n not between 0 and 2", f"{self.one(*'kxnbm')} is {self.one('', 'not ')}null", "k like 'a%'", "b",
        )

    def window(self) -> str:
        size, time = self.of.choice((1, 2, 3, 7)), self.of.choice((1, 2, 5, 9))
        return self.one(
            "", "", f"#length({size})", f"#time({time} msec)", "#keepall", f"#ext_timed(m, {time} msec)", f"#time_accum({time} msec)",
            f"#length_batch({size})", f"#time_batch({time} msec)", f"#time_length_batch({time} msec, {size})",
            f"#unique({self.one('k', 'n', 'k, b', 'x')})", f"#firstunique({self.one('k', 'x')})", "#lastevent", "#firstevent",
            f"#firstlength({size})",
        )

    def output(self) -> str:
        every = self.one("1 msec", "3 msec", "9 msec", "1 events", "3 events")
        selector = self.one("", "first ", "last ", "all ", "snapshot ")
        return self.one(
            "", "", "", f" output {selector}every {every}", f" output {selector}every {every}",
            f" output after 2 events {self.one('', 'first ', 'last ')}every {every}", " output last when count_insert >= 2",
        )

    def grouping(self) -> tuple[list[str], str]:
        """(keys, the group by clause)"""
        keys = list(dict.fromkeys(self.one("k", "n", "b", "x", "m", "n % 3", "k || 'z'") for _ in range(self.of.choice((1, 1, 2, 3)))))
        listed = ", ".join(keys)
        sets = f"grouping sets(({listed}), {keys[0]}, ())"
        return keys, f" group by {self.one(listed, listed, f'rollup({listed})', f'cube({listed})', sets)}"

    def order(self, *texts: str) -> str:
        by = ", ".join(f"{self.one(*texts)}{self.one('', ' desc')}" for _ in range(self.of.choice((1, 2))))
        return self.maybe(0.25, f" order by {by}") + self.maybe(0.1, f" limit {self.one('1', '2 offset 1')}")

    def select(self) -> str:
        source = f"T{self.maybe(0.3, f'({self.condition()})')}{self.window()}{self.maybe(0.2, f' where {self.condition()}')}"
        head = f"select {self.one('', 'irstream ', 'irstream ', 'rstream ')}"
        if self.of.random() < 0.3:
            values = self.number(), self.condition(), *"kxnbmd", "current_timestamp()"
            columns = [self.one(*values) for _ in range(self.of.choice((1, 2, 3)))]
            listed = self.maybe(0.1, "distinct ") + ", ".join(f"{c} as c{i}" for i, c in enumerate(columns))
            return f"{head}{listed} from {source}{self.maybe(0.1, f' having {self.condition()}')}{self.output()}{self.order(*'xnkm')}"
        keys, group = self.grouping() if self.of.random() < 0.6 else ([], "")
        columns = [*keys, *(self.one(*AGGREGATIONS) for _ in range(self.of.choice((1, 2, 3)))), *self.maybe(0.3, self.one("x", "n"))]
        having = self.maybe(0.2, f" having {self.one('sum(n)', 'count(*)', 'max(x)')} {self.one('>', '<=', '!=')} 1")
        listed = ", ".join(f"{c} as c{i}" for i, c in enumerate(columns))
        return f"{head}{listed} from {source}{group}{having}{self.output()}{self.order(*keys, 'sum(x)', 'count(*)')}"

    def pattern(self) -> str:
        shape = self.one(*PATTERNS)
        names = [name for name in "ABC" if name in shape]
        defined = [f"{name} as {self._defined(name)}" for name in names if self.of.random() < 0.7]
        measures = []
        for name in names:
            grouped = "(" in shape or any(name + sign in shape for sign in "+*{")
            several = self.one(f"count({name}.n)", f"sum({name}.n)", f"min({name}.x)", f"max({name}.x)", f"last({name}.k)")
            single = f"{name}.{self.one('x', 'n', 'k')}"
            measures.append(f"{several if grouped else single} as {name.lower()}")
        window = self.one("", "", "#length(3)", "#time(4 msec)", "#keepall")
        define = f" define {', '.join(defined)}" if defined else ""
        return (
            f"select * from T{self.maybe(0.2, f'({self.condition()})')}{window} match_recognize ("
            f"{self.one('', 'partition by k ', 'partition by k, b ', 'partition by x ')}measures {', '.join(measures)}"
            f"{self.maybe(0.3, ' all matches')}{self.one('', '', ' after match skip to next row', ' after match skip to current row')} "
            f"pattern ({shape}){self.one('', '', ' interval 2 msec', ' interval 5 msec or terminated')}{define})"
            f"{self.one('', '', '', ' output every 2 events', ' limit 2', ' having a is not null')}"
        )

    def _defined(self, name: str) -> str:
        sign = self.one(">", "<", "=", "!=")
        before = f"{name}.x {sign} prev({name}.x)", f"{name}.n {sign} prev({name}.n, 2)"
        return self.one(f"{name}.n {sign} 1", f"{name}.b", f"{name}.k = 'a'", *before)


def drawn_statement(of: Random) -> str:
    made = Drawn(of)
    return made.pattern() if of.random() < 0.3 else made.select()


__all__ = ["drawn_statement"]
