"""What is selected, and the clauses after where: group by, having, output, order by, limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from tests.drawn.drawing import Draw, Stream
from tests.drawn.expressions import number, value

OUTPUTS = {
    "all": ("all every 2 events", "all every 2 sec"),
    "last": ("last every 2 events", "last every 2 sec"),
    "first": ("first every 2 events", "first every 2 sec"),
    "snapshot": ("snapshot every 2 sec", "snapshot every 3 events"),
    "every": ("every 2 events", "every 2 sec", "every 3 events"),
    "when": ("when count_insert > 1", "last when count_insert_total > 3"),
    "after": ("after 2 events", "after 2 sec", "after 2 events every 1 sec"),
    "at": ("at (*, *, *, *, *, */2)",),
}

SHAPES = {
    "all": "one row for all",
    "event": "aggregated, a row an event",
    "group": "a row a group",
    "detail": "grouped, a row an event",
    "rollup": "rollup",
}
"""Shapes that aggregate, and their lines in a census."""

Columns = Callable[[Draw, Sequence[Stream]], list[str]]
"""More columns of a select clause, without names."""


@attrs.frozen
class ResultSet:
    """A statement's parts around its from clause: ``select …`` before it, ``tail`` after where."""

    select: str
    tail: str

    def around(self, source: str, where: str = "") -> str:
        """The statement."""
        return f"{self.select} from {source}{f' where {where}' if where else ''}{self.tail}"


def no_columns(draw: Draw, streams: Sequence[Stream]) -> list[str]:
    return []


def result_set(
    draw: Draw, streams: Sequence[Stream], shape: str = "", more: Columns = no_columns, having: str = "", wildcards: bool = True
) -> ResultSet:
    """A select clause over the streams and what follows where. ``more``: columns of every shape. ``having``: in place of a drawn one.

    ``shape``: plain, all, event, group, detail (grouped, with columns that are not keys) or rollup; drawn where it is not given.
    """
    shape = shape or draw.one("plain", "plain", "plain", "plain", "all", "event", "group", "group", "detail", "rollup")
    selected_streams = draw.one("irstream ", "irstream ", "irstream ", "", "", "", "rstream ")
    if selected_streams:
        draw.mark("remove stream" if selected_streams == "irstream " else "rstream")
    keys = _keys(draw, streams, shape)
    columns, aggregated = _columns(draw, streams, shape, keys)
    distinct = shape == "plain" and draw.chance(0.12)
    if distinct:
        draw.mark("distinct")
        columns = columns[: draw.number(1, 2)]
    columns += more(draw, streams)
    wild = wildcards and shape == "plain" and not distinct and draw.chance(0.2)
    listed = _named(columns)
    if wild:
        draw.mark("wildcard")
        listed = draw.one("*", f"{streams[0].alias}.*", _named([*columns[:2], *(each.alias for each in streams)]))
    text = f"select {selected_streams}{'distinct ' if distinct else ''}{listed}"
    return ResultSet(
        text, _group_by(draw, shape, keys) + _having(draw, shape, aggregated, having) + _ends(draw, shape, columns, distinct, wild)
    )


def _named(columns: Sequence[str]) -> str:
    return ", ".join(f"{column} as c{place}" for place, column in enumerate(columns))


def _keys(draw: Draw, streams: Sequence[Stream], shape: str) -> list[str]:
    """What a statement of this shape groups by."""
    if shape not in ("group", "detail", "rollup"):
        return []
    candidates = [name for stream in streams for name in stream.of("text", "int", "flag")] or streams[0].of("long", "double")
    keys = draw.some(candidates, 2 if shape == "rollup" else 1, 2)
    if len(keys) < 2 and shape == "rollup":
        keys.append(f"{keys[0]} is null")
    return keys


def _columns(draw: Draw, streams: Sequence[Stream], shape: str, keys: Sequence[str]) -> tuple[list[str], str]:
    """The columns, and one that aggregates ('' where none does)."""
    if shape == "plain":
        serials = [name for stream in streams for name in stream.of("serial")]
        columns = serials if draw.chance(0.7) else draw.some(serials, 1, len(serials))
        return [*columns, *(value(draw, streams) for _ in range(draw.number(0 if columns else 1, 2)))], ""
    aggregations = [aggregation(draw, streams, local=shape != "rollup") for _ in range(draw.number(1, 3))]
    draw.mark(SHAPES[shape])
    details = [draw.one(*draw.random.choice(streams).of("serial", "long", "int", "double"))] if shape in ("event", "detail") else []
    return [*keys, *details, *aggregations], aggregations[0]


def aggregation(draw: Draw, streams: Sequence[Stream], local: bool = True) -> str:
    """An aggregation over columns of the streams. ``local``: maybe with a ``group_by`` of its own."""
    x, y = number(draw, streams), number(draw, streams)
    stream = draw.random.choice(streams)
    serial = draw.one(*stream.of("serial", "long", "int", "double"))
    draw.mark("aggregated")
    return draw.one(
        "count(*)", "count(*)", f"sum({x})", f"sum({x})", f"avg({x})", f"min({x})", f"max({x})", f"count({x})", f"count(distinct {x})",
        f"sum({x} + {y})", f"first({serial})", f"last({serial})", f"window({serial})", f"max({serial})", f"sum({x}, {y} > 1)",
        f"sum({x}, filter: {y} > 0)", f"sum({x}, group_by: {y})" if local else f"avg({y})", f"median({x})", f"stddev({x})",
        f"nth({serial}, 1)", f"countever({x})", f"maxever({x})", f"lastever({serial})", f"sum(distinct {x})",
    )  # fmt: skip


def _group_by(draw: Draw, shape: str, keys: Sequence[str]) -> str:
    if shape == "rollup":
        listed = ", ".join(keys)
        sets = f"grouping sets(({keys[0]}), ({keys[1]}), ())"
        return " group by " + draw.one(f"rollup({listed})", f"rollup({listed})", f"cube({listed})", sets, f"{keys[0]}, rollup({keys[1]})")
    return f" group by {', '.join(keys)}" if keys else ""


def _having(draw: Draw, shape: str, aggregated: str, condition: str) -> str:
    if condition:
        return f" having {condition}"
    if shape == "plain" or not draw.chance(0.2):
        return ""
    draw.mark("having")
    if aggregated.startswith(("window", "first", "last", "nth")):
        return " having count(*) > 1"
    return draw.one(" having count(*) > 1", f" having {aggregated} > 1", f" having {aggregated} is not null")


def _ends(draw: Draw, shape: str, columns: Sequence[str], distinct: bool, wild: bool) -> str:
    """Output, order by and limit."""
    text = ""
    if draw.chance(0.25):
        kind = draw.one(*OUTPUTS)
        draw.mark("output clause", f"output {kind}")
        text += f" output {draw.one(*OUTPUTS[kind])}"
    ordered = draw.chance(0.25)
    plain = [column for column in columns if not column.startswith(("window", "prevwindow")) and "(select" not in column]
    if ordered and plain and not wild:
        draw.mark("order by")
        parts = draw.some(plain, 1, len(plain)) if not distinct else plain
        text += " order by " + ", ".join(part + draw.maybe(0.4, " desc") for part in parts)
        if shape in ("plain", "event") and draw.chance(0.4):
            draw.mark("limit")
            text += draw.one(" limit 2", " limit 1 offset 1", " limit 3")
    return text
