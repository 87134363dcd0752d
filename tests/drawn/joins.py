"""Joins: streams, kinds, shapes and conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.drawn.drawing import Draw, Stream
from tests.drawn.expressions import comparison, constant_condition, equality, key_equality
from tests.drawn.result_sets import OUTPUTS, result_set
from tests.drawn.world import ANSWERING, COLUMNS_OF, DATA_WINDOWS, DERIVED, event_type, filtered, reading, stream, window

BULLETS = (
    "two streams", "three streams", "four streams", "five streams", "comma with where", "inner join", "left outer join",
    "right outer join", "full outer join", "several on conditions", "where with on", "chain", "star", "mixed kinds", "self join",
    "cartesian product", "equality", "several keys", "string keys", "mixed numeric keys", "null keys", "is", "range", "between", "in",
    "inequality", "function", "filter", "sub-type", "variant stream", "group window", "several windows on a stream", "derived window",
    "unidirectional", "unidirectional outer join", "several unidirectional", "iterator of unidirectional", "insert into chain",
    "remove stream", "rstream", "output clause", "aggregated", "one row for all", "aggregated, a row an event", "a row a group",
    "grouped, a row an event", "rollup", "having", "order by", "limit", "distinct", "wildcard", "prev", "prior", "hint", "iterator",
    "ordered iterator", "grouped iterator", "sub-query in a join",
)  # fmt: skip
"""The census: each occurs in so many stored programs that emit rows."""

WINDOW_BULLETS = tuple(f"#{name}" for name in (*DATA_WINDOWS, *DERIVED))
OUTPUT_BULLETS = tuple(f"output {name}" for name in OUTPUTS)

ALIASES = ("a", "b", "c", "d", "e")
HINTS = (
    "@Hint('exclude_plan(true)') ", "@Hint('exclude_plan(from_streamnum=0 and to_streamnum=1)') ", "@Hint('force_nested_iter') ",
    "@Hint('prefer_merge_join') ", "@Hint('exclude_plan(opname=\"equals\")') ", "@Hint('disable_unique_implicit_idx') ",
)  # fmt: skip
COUNTED = {2: "two streams", 3: "three streams", 4: "four streams", 5: "five streams"}


def streams_of(draw: Draw, count: int, special: int = -1, views: str = "any") -> tuple[list[str], list[Stream]]:
    """So many items of a from clause; the one at place ``special`` with ``views``."""
    pairs = [stream(draw, ALIASES[place], views if place == special else "any") for place in range(count)]
    draw.mark(COUNTED[count])
    draw.joining = True
    sources = [each.source for _, each in pairs if each.source]
    if len(set(sources)) < len(sources):
        draw.mark("self join")
    return [text for text, _ in pairs], [each for _, each in pairs]


def drawn_count(draw: Draw) -> int:
    return draw.random.choices([2, 3, 4, 5], [44, 23, 18, 15])[0]


def edges(draw: Draw, count: int) -> list[tuple[int, int]]:
    """Which earlier stream each stream but the first is joined to: a chain, a star or neither."""
    shape = draw.one("chain", "star", "tree")
    if shape == "chain":
        pairs = [(place - 1, place) for place in range(1, count)]
    elif shape == "star":
        pairs = [(0, place) for place in range(1, count)]
    else:
        pairs = [(draw.number(0, place - 1), place) for place in range(1, count)]
    if count > 2:
        if all(left + 1 == right for left, right in pairs):
            draw.mark("chain")
        if all(left == 0 for left, _ in pairs):
            draw.mark("star")
    return pairs


def where_of(draw: Draw, streams: Sequence[Stream]) -> str:
    """The where clause of a comma join."""
    parts = []
    for left, right in edges(draw, len(streams)):
        if draw.chance(0.8 if len(streams) < 4 else 0.92):
            parts.append(key_equality(draw, streams[left], streams[right]))
            if draw.chance(0.2):
                parts.append(comparison(draw, streams[left], streams[right]))
        else:
            parts.append(comparison(draw, streams[left], streams[right]))
    if draw.chance(0.15):
        parts.append(constant_condition(draw, draw.random.choice(streams)))
    if draw.chance(0.1) and len(parts) > 1:
        draw.mark("function")
        return f"({parts[0]}) or ({' and '.join(parts[1:])})"
    return " and ".join(parts)


def on_of(draw: Draw, texts: Sequence[str], streams: Sequence[Stream]) -> str:
    """The from clause of a join with on clauses."""
    inner = ("inner",) if len(texts) < 4 or draw.chance(0.3) else ()
    among = ("left outer", "left outer", "right outer", "full outer", "full outer", *inner)
    kinds = [draw.one(*among) for _ in texts[1:]]
    if len(set(kinds)) > 1:
        draw.mark("mixed kinds")
    text = texts[0]
    for kind, (left, right) in zip(kinds, edges(draw, len(texts))):
        draw.mark(f"{kind} join")
        conditions = equality(draw, streams[left], streams[right])
        if draw.chance(0.3):
            other = equality(draw, streams[left], streams[right])
            if other != conditions:
                draw.mark("several on conditions")
                conditions += f" and {other}"
        elif draw.chance(0.05):
            conditions += f" and {comparison(draw, streams[left], streams[right])}"
        text += f" {'join' if kind == 'inner' and draw.chance(0.3) else kind + ' join'} {texts[right]} on {conditions}"
    return text


def joined(draw: Draw, texts: Sequence[str], streams: Sequence[Stream]) -> tuple[str, str]:
    """(from clause, where clause) of the streams: by commas and where, or by on clauses."""
    if draw.chance(0.4):
        draw.mark("comma with where")
        return ", ".join(texts), where_of(draw, streams)
    where = ""
    if draw.chance(0.25):
        draw.mark("where with on")
        first, second = draw.random.sample(list(streams), 2)
        where = draw.one(comparison(draw, first, second), constant_condition(draw, first))
    return on_of(draw, texts, streams), where


def hint(draw: Draw, share: float = 0.08) -> str:
    if not draw.chance(share):
        return ""
    draw.mark("hint")
    return draw.one(*HINTS)


# ------------------------------------------------------------------ kinds of joins


def plain(draw: Draw) -> None:
    """Streams over data windows of every kind."""
    texts, streams = streams_of(draw, drawn_count(draw))
    source, where = joined(draw, texts, streams)
    draw.statement(hint(draw) + result_set(draw, streams).around(source, where))


def hinted(draw: Draw) -> None:
    texts, streams = streams_of(draw, draw.number(2, 3))
    source, where = joined(draw, texts, streams)
    draw.statement(hint(draw, 1) + result_set(draw, streams).around(source, where))


def self_join(draw: Draw) -> None:
    """One event type, once under each alias."""
    source = event_type(draw)
    texts, streams = [], []
    for alias in ALIASES[: draw.number(2, 3)]:
        chain, names = window(draw, source)
        union = " retain-union" if chain.endswith("retain-union") else ""
        texts.append(f"{filtered(draw, source)}{chain.removesuffix(' retain-union')} as {alias}{union}")
        streams.append(Stream(alias, source, COLUMNS_OF[source], names))
    draw.mark("self join", COUNTED[len(texts)])
    draw.joining = True
    text, where = joined(draw, texts, streams)
    draw.statement(result_set(draw, streams).around(text, where))


def cartesian(draw: Draw) -> None:
    """No condition between the streams."""
    count = draw.number(2, 3)
    pairs = [stream(draw, ALIASES[place], "small") for place in range(count)]
    streams = [each for _, each in pairs]
    draw.mark("cartesian product", COUNTED[count])
    draw.joining = True
    where = constant_condition(draw, streams[0]) if draw.chance(0.2) else ""
    draw.statement(result_set(draw, streams).around(", ".join(text for text, _ in pairs), where))


def compared(draw: Draw) -> None:
    """No equality, only ranges and the like."""
    texts, streams = streams_of(draw, 2)
    condition = comparison(draw, *streams)
    if draw.chance(0.4):
        condition += f" and {comparison(draw, streams[1], streams[0])}"
    draw.mark("comma with where")
    draw.statement(hint(draw) + result_set(draw, streams).around(", ".join(texts), condition))


def derived(draw: Draw) -> None:
    """A derived-value view on one side at least."""
    texts, streams = streams_of(draw, draw.number(2, 3), special=draw.number(0, 1), views="derived")
    kind = draw.random.random()
    if kind < 0.3:
        source, where = joined(draw, texts, streams)
    else:
        source, where = ", ".join(texts), ""
        if kind < 0.65 and len(streams) == 2:
            draw.mark("comma with where")
            where = comparison(draw, streams[0], streams[1])
        else:
            draw.mark("cartesian product")
    draw.statement(result_set(draw, streams).around(source, where))


def unidirectional(draw: Draw) -> None:
    """One stream alone triggers."""
    texts, streams = streams_of(draw, drawn_count(draw), special=0, views="any" if draw.chance(0.04) else "none")
    texts[0] = _unidirectional(texts[0])
    draw.mark("unidirectional")
    if draw.chance(0.5):
        draw.mark("comma with where")
        source, where = ", ".join(texts), where_of(draw, streams)
    else:
        source, where = on_of(draw, texts, streams), ""
        if "outer" in source:
            draw.mark("unidirectional outer join")
    draw.statement(result_set(draw, streams).around(source, where))


def _unidirectional(text: str) -> str:
    union = " retain-union" if text.endswith(" retain-union") else ""
    return f"{text.removesuffix(' retain-union')} unidirectional{union}"


def several_unidirectional(draw: Draw) -> None:
    """A full outer join of streams that all trigger."""
    count = draw.number(2, 3)
    pairs = [stream(draw, ALIASES[place], "none") for place in range(count)]
    texts, streams = [f"{text} unidirectional" for text, _ in pairs], [each for _, each in pairs]
    source = texts[0]
    for right in range(1, count):
        condition = f" on {equality(draw, streams[right - 1], streams[right])}" if draw.chance(0.6) else ""
        source += f" full outer join {texts[right]}{condition}"
    draw.mark("several unidirectional", "unidirectional outer join", "full outer join", COUNTED[count])
    draw.joining = True
    draw.statement(result_set(draw, streams, wildcards=False).around(source))


def chained(draw: Draw) -> None:
    """A join fills a stream, and a statement or another join reads it."""
    texts, streams = streams_of(draw, 2)
    source, where = joined(draw, texts, streams)
    name = draw.fresh("Pair")
    selector = draw.one("", "", "irstream ", "rstream ")
    columns = f"{draw.one(*streams[0].of('text', 'flag', 'long'))} as k, {draw.one(*streams[0].of('serial', 'long', 'double'))} as n"
    columns += f", {draw.one(*streams[1].of('int', 'long', 'double'))} as i"
    into = f"insert {selector if selector != 'irstream ' else ''}into {name} select {selector}{columns}"
    draw.mark("insert into chain")
    draw.statement(f"{into} from {source}{f' where {where}' if where else ''}", bullets=False)
    if draw.chance(0.5):
        draw.statement(f"select {draw.one('irstream ', '')}* from {name}{draw.one('', '#length(2)', '#lastevent')}")
    else:
        other = reading(draw, draw.one("Deal", "Level", "Bid"))
        chain, _ = window(draw, other)
        union = " retain-union" if chain.endswith("retain-union") else ""
        text = f"{other}{chain.removesuffix(' retain-union')} as o{union}"
        serial = "n"
        number = draw.one(*(c.name for c in COLUMNS_OF[other] if c.role in ("int", "long")))
        kind = draw.one("inner", "left outer", "full outer")
        draw.joining = True
        draw.statement(
            f"select irstream p.n as c0, o.{serial} as c1, p.i as c2 from {name}#length(3) as p {kind} join {text} on p.i = o.{number}"
        )


def looking_back(draw: Draw) -> None:
    """``prev`` and ``prior`` of joined streams."""
    texts, streams = streams_of(draw, 2, special=0, views="prev")
    back = streams[0]
    column = draw.one(*back.of("serial", "text", "double"))
    if draw.chance(0.55):
        draw.mark("prev")
        shown = draw.one(
            f"prev(1, {column})",
            f"prev({column})",
            f"prevcount({column})",
            f"prevtail(0, {column})",
            f"prevwindow({column})",
            f"prev(2, {column})",
        )
    else:
        draw.mark("prior")
        shown = draw.one(f"prior(1, {column})", f"prior(2, {column})", f"prior(1, {draw.one(*streams[1].of('serial', 'long', 'double'))})")
    source, where = joined(draw, texts, streams)
    draw.statement(result_set(draw, streams, shape=draw.one("plain", "plain", "event"), more=lambda d, s: [shown]).around(source, where))


def with_sub_query(draw: Draw) -> None:
    """A sub-query that names joined streams."""
    texts, streams = streams_of(draw, 2)
    source, where = joined(draw, texts, streams)
    other = reading(draw, draw.one("Deal", "Level"))
    chain, names = window(draw, other, ANSWERING)
    inner = Stream("q", other, COLUMNS_OF[other], names)
    condition = equality(draw, inner, draw.random.choice(streams))
    draw.mark("sub-query in a join")
    shown = draw.one(
        f"(select q.n from {other}{chain} as q where {condition})",
        f"exists (select * from {other}{chain} as q where {condition})",
        f"(select count(*) from {other}{chain} as q where {condition})",
    )
    draw.statement(result_set(draw, streams, shape="plain", more=lambda d, s: [shown], wildcards=False).around(source, where))


KINDS: tuple[tuple[Callable[[Draw], None], int], ...] = (
    (plain, 34), (hinted, 4), (self_join, 8), (cartesian, 8), (compared, 9), (derived, 15), (unidirectional, 12),
    (several_unidirectional, 5), (chained, 8), (looking_back, 9), (with_sub_query, 5),
)  # fmt: skip
"""Kinds of statements and how often they are drawn."""
