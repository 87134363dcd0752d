"""Contexts: partitions by keys, hash numbers, categories and lifetimes, nested, and statements of all kinds in them."""

from __future__ import annotations

import attrs

from tests.drawn.drawing import Draw
from tests.drawn.world import window

BULLETS = (
    "keyed", "several keys", "several types", "initiated", "terminated", "hash", "preallocate", "category", "start and end", "overlapping",
    "distinct", "after a time", "now", "starts with a pattern", "ends with a pattern", "nested", "context properties",
    "when terminated", "and when terminated", "output rate", "data window", "aggregated", "group by", "join", "sub-query", "pattern",
    "row pattern", "named window", "on-select", "table", "variable", "several statements",
)  # fmt: skip
WINDOW_BULLETS = ()
TYPES = ("Ask", "Bid", "Deal")


@attrs.frozen
class Level:
    """``text``: the declaration; ``properties``: what statements may read; ``types``: those that statements read, each of them listed;
    ``ends``: whether partitions end."""

    text: str
    properties: tuple[str, ...]
    types: tuple[str, ...]
    ends: bool = False


# ------------------------------------------------------------------ declarations


def keyed(draw: Draw, path: str) -> Level:
    types = draw.some(TYPES, 1, 2)
    keys = draw.one("k", "k", "i", "b", "k and i")
    draw.mark("keyed", *(["several keys"] if "and" in keys else []), *(["several types"] if len(types) > 1 else []))
    text = "partition by " + ", ".join(f"{keys} from {each}" for each in types)
    ends = False
    rest = [each for each in TYPES if each not in types]
    if draw.chance(0.2):
        draw.mark("initiated")
        text += f" initiated by {types[0]}(l > 0) as st"
    if draw.chance(0.3):
        draw.mark("terminated")
        ends = True
        text += f" terminated by {draw.one(f'{rest[0]}(i = 2)', f'{rest[0]}', 'after 2 sec')}"
        draw.reads(rest[:1])
    numbers = range(1, 3) if "and" in keys else range(1, 2)
    return Level(text, tuple(f"{path}key{n}" for n in numbers), tuple(types), ends)


def hashed(draw: Draw, path: str) -> Level:
    types = draw.some(TYPES, 1, 2)
    draw.mark("hash")
    function = draw.one("hash_code(i)", "hash_code(k)", "hash_code(i, b)", "hash_code(b)")
    text = "coalesce by " + ", ".join(f"{function} from {each}" for each in types) + f" granularity {draw.number(2, 4)}"
    if draw.chance(0.5):
        draw.mark("preallocate")
        text += " preallocate"
    return Level(text, (), tuple(types))


def category(draw: Draw, path: str) -> Level:
    source = draw.one(*TYPES)
    draw.mark("category")
    text = draw.one(
        "group by i < 2 as low, group by i >= 2 as high", "group by b as yes, group by i = 1 as one", "group by k is not null as known")
    return Level(f"{text} from {source}", (f"{path}label",), (source,))


def lifetime(draw: Draw, path: str) -> Level:
    overlapping = draw.chance(0.5)
    begins, ends, reads = draw.random.sample(TYPES, 3)
    draw.reads([begins, ends])
    draw.mark("overlapping" if overlapping else "start and end")
    start, tag = _start(draw, begins, overlapping)
    end = _end(draw, ends, tag)
    properties = (f"{path}startTime", *((f"{path}{tag}.k", f"{path}{tag}.n") if tag else ()))
    if not overlapping:
        return Level(f"start {start} end {end}", properties, (reads,), True)
    distinct = ""
    if tag and "pattern" not in start and draw.chance(0.3):
        draw.mark("distinct")
        distinct = f"distinct({tag}.k) "
    return Level(f"initiated by {distinct}{start} terminated by {end}", properties, (reads,), True)


def _start(draw: Draw, source: str, overlapping: bool) -> tuple[str, str | None]:
    kind = draw.one("filter", "filter", "filter", "pattern", "after", "now")
    if kind == "pattern":
        draw.mark("starts with a pattern")
        return f"pattern [every st={source}(i > 0)]", "st"
    if kind == "after":
        draw.mark("after a time")
        return f"after {draw.number(1, 3)} sec", None
    if kind == "now" and not overlapping:
        draw.mark("now")
        return "@now", None
    return f"{source}{draw.one('', '(i > 0)', '(b = true)')} as st", "st"


def _end(draw: Draw, source: str, tag: str | None) -> str:
    kind = draw.one("filter", "filter", "after", "pattern")
    if kind == "after":
        draw.mark("after a time")
        return f"after {draw.number(2, 4)} sec"
    if kind == "pattern":
        draw.mark("ends with a pattern")
        return f"pattern [{source}(i > 1) or timer:interval(3 sec)]"
    return f"{source}(k = {tag}.k)" if tag and draw.chance(0.6) else f"{source}(i = 2)"


LEVELS = (keyed, keyed, hashed, category, lifetime, lifetime)


def declared(draw: Draw) -> Level:
    """``create context C``; return what its statements may use."""
    if draw.chance(0.75):
        level = draw.random.choice(LEVELS)(draw, "context.")
        draw.texts.append(f"create context C {level.text}")
        return level
    draw.mark("nested")
    outer = draw.random.choice((keyed, category, lifetime))(draw, "context.X.")
    inner = draw.random.choice((keyed, lifetime))(draw, "context.Y.")
    draw.texts.append(f"create context C context X {outer.text}, context Y {inner.text}")
    types = tuple(each for each in outer.types if each in inner.types) or inner.types
    if outer.text.startswith(("partition", "group")) and not set(types) & set(outer.types):
        types = outer.types + inner.types
    return Level("", (*outer.properties, *inner.properties), types, outer.ends or inner.ends)


# ------------------------------------------------------------------ statements


def _properties(draw: Draw, level: Level) -> str:
    named = [f"{each} as p{n}" for n, each in enumerate(draw.some(level.properties, 0, 2))]
    if named:
        draw.mark("context properties")
    return "".join(f"{each}, " for each in ("context.id as id", *named))


def _output(draw: Draw, level: Level) -> str:
    if level.ends and draw.chance(0.45):
        if draw.chance(0.3):
            draw.mark("and when terminated")
            return f" output {draw.one('last', 'all', 'snapshot')} every {draw.one('2 events', '2 sec')} and when terminated"
        draw.mark("when terminated")
        return f" output {draw.one('', 'last ', 'all ', 'snapshot ')}when terminated"
    if draw.chance(0.15):
        draw.mark("output rate")
        return f" output {draw.one('last', 'all', 'first')} every {draw.one('2 events', '2 sec')}"
    return ""


def plain(draw: Draw, level: Level, source: str) -> str:
    chain = ""
    if draw.chance(0.6):
        draw.mark("data window")
        chain, _ = window(draw, source)
    union = " retain-union" if chain.endswith("retain-union") else ""
    where = draw.maybe(0.2, " where i > 0")
    filtered = draw.maybe(0.2, "(l > 0)")
    stream = draw.one("", "", "irstream ")
    return (f"select {stream}{_properties(draw, level)}k, n from {source}{filtered}{chain.removesuffix(' retain-union')} as s{union}{where}"
            f"{_output(draw, level)}")


def aggregated(draw: Draw, level: Level, source: str) -> str:
    draw.mark("aggregated")
    chain = draw.one("", "#length(2)", "#keepall", "#time(2 sec)")
    grouped = ""
    if draw.chance(0.4):
        draw.mark("group by")
        grouped = " group by b"
    extra = "b, " if grouped else ""
    return (f"select {_properties(draw, level)}{extra}count(*) as c, sum(i) as s, max(d) as m from {source}{chain}{grouped}"
            f"{_output(draw, level)}")


def joined(draw: Draw, level: Level, source: str) -> str:
    draw.mark("join")
    other = draw.random.choice(level.types)
    draw.reads([other])
    return (f"select {_properties(draw, level)}a.n as an, o.n as bn from {source}#length(2) as a, {other}#lastevent as o"
            f"{draw.maybe(0.5, ' where a.i >= o.i')}")


def subquery(draw: Draw, level: Level, source: str) -> str:
    draw.mark("sub-query")
    other = draw.random.choice(level.types)
    draw.reads([other])
    inner = draw.one(f"select count(*) from {other}#keepall", f"select max(n) from {other}#length(3)", f"select n from {other}#lastevent")
    return f"select {_properties(draw, level)}n, ({inner}) as q from {source} as s"


def pattern(draw: Draw, level: Level, source: str) -> str:
    draw.mark("pattern")
    other = draw.random.choice(level.types)
    draw.reads([other])
    text = draw.one(f"every a={source} -> o={other}(i >= a.i)", f"every a={source} -> o={other}", f"every (a={source} and o={other})")
    return f"select {_properties(draw, level)}a.n as an, o.n as bn from pattern [{text}]"


def recognized(draw: Draw, level: Level, source: str) -> str:
    draw.mark("row pattern")
    measure, pattern_ = draw.random.choice((("B.n", "A B"), ("last(B.n)", "A B+"), ("last(B.n)", "A B*")))
    window_ = draw.one("", "#length(4)")
    return (f"select * from {source}{window_} match_recognize (measures A.n as an, {measure} as bn pattern ({pattern_}) "
            "define B as B.i > A.i)")


def stored(draw: Draw, level: Level, source: str) -> str:
    name = draw.fresh("W")
    draw.mark("named window")
    draw.texts.append(f"context C create window {name}{draw.one('#keepall', '#length(2)', '#unique(b)', '#time(3 sec)')} as {source}")
    draw.texts.append(f"context C insert into {name} select * from {source}")
    if draw.chance(0.5):
        draw.mark("on-select")
        other = draw.random.choice(level.types)
        draw.reads([other])
        return f"on {other} as t select w.n as wn, t.n as tn from {name} as w{draw.one('', ' where w.i <= t.i')}"
    return f"select {_properties(draw, level)}count(*) as c, sum(i) as s from {name}"


def tabled(draw: Draw, level: Level, source: str) -> str:
    name = draw.fresh("T")
    draw.mark("table")
    draw.texts.append(f"context C create table {name}(b boolean primary key, c count(*), s sum(int))")
    draw.texts.append(f"context C into table {name} select count(*) as c, sum(i) as s from {source} group by b")
    other = draw.random.choice(level.types)
    draw.reads([other])
    return f"select {_properties(draw, level)}n, {name}[b].c as c, {name}[b].s as s from {other}"


def variable(draw: Draw, level: Level, source: str) -> str:
    name = draw.fresh("v")
    draw.mark("variable")
    draw.texts.append(f"context C create variable int {name} = 0")
    draw.texts.append(f"context C on {source} set {name} = {name} + 1")
    other = draw.random.choice(level.types)
    draw.reads([other])
    return f"select {_properties(draw, level)}n, {name} as v from {other}"


STATEMENTS = (
    (plain, 5), (aggregated, 5), (joined, 2), (subquery, 2), (pattern, 2), (recognized, 1), (stored, 3), (tabled, 2), (variable, 2),
)  # fmt: skip


def of_context(draw: Draw) -> None:
    """A context and its statements."""
    level = declared(draw)
    kinds, weights = zip(*STATEMENTS)
    count = 1 if draw.chance(0.6) else 2
    if count > 1:
        draw.mark("several statements")
    for kind in draw.random.choices(kinds, weights, k=count):
        source = draw.random.choice(level.types)
        draw.reads([source])
        text = kind(draw, level, source)
        draw.statement(f"context C {text}")


KINDS = ((of_context, 1),)

__all__ = ["BULLETS", "KINDS", "WINDOW_BULLETS"]
