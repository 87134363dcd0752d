"""Conditions between streams and expressions over them."""

from __future__ import annotations

from collections.abc import Sequence

from tests.drawn.drawing import Draw, Stream

NUMERIC = ("int", "long", "double")
EQUAL_ROLES = (
    ("text", "text"), ("text", "text"), ("text", "text"), ("int", "int"), ("int", "int"), ("long", "long"), ("double", "double"),
    ("flag", "flag"), ("int", "long"), ("long", "int"), ("int", "double"), ("double", "int"), ("long", "double"), ("double", "long"),
)  # fmt: skip


def equality(draw: Draw, left: Stream, right: Stream, operator: str = "=") -> str:
    """``left.x = right.y``, of types that can be compared."""
    pairs = [pair for pair in EQUAL_ROLES if left.of(pair[0]) and right.of(pair[1])]
    roles = draw.random.choice(pairs or [(left.columns[0].role, right.columns[0].role)])
    first, second = draw.one(*left.of(roles[0])), draw.one(*right.of(roles[1]))
    draw.key(left, first)
    draw.key(right, second)
    draw.mark("equality")
    if roles[0] == "text":
        draw.mark("string keys")
    if roles[0] != roles[1]:
        draw.mark("mixed numeric keys")
        draw.no_nulls(left, first)
        draw.no_nulls(right, second)
    return f"{first} {operator} {second}" if draw.chance(0.5) else f"{second} {operator} {first}"


def key_equality(draw: Draw, left: Stream, right: Stream) -> str:
    """As ``equality``; of two conditions, now and then."""
    text = equality(draw, left, right)
    if draw.chance(0.25):
        other = equality(draw, left, right)
        if other != text:
            draw.mark("several keys")
            return f"{text} and {other}"
    return text


def comparison(draw: Draw, left: Stream, right: Stream) -> str:
    """A condition between two streams that is not an equality: a range, between, in, is, an inequality, a function."""
    numbers_left, numbers_right = left.of(*NUMERIC), right.of(*NUMERIC)
    texts_left, texts_right = left.of("text"), right.of("text")
    a, b = draw.one(*numbers_left), draw.one(*numbers_right)
    kind = draw.one("range", "range", "between", "in", "is", "is", "inequality", "function", "not", "or")
    draw.mark(kind if kind not in ("not", "or") else "function")
    if kind == "range":
        return f"{a} {draw.one('<', '<=', '>', '>=')} {b}"
    if kind == "between":
        low, high = draw.one(*numbers_right), draw.one(*numbers_right)
        return draw.one(
            f"{a} between {low} and {high}",
            f"{a} between {low} and {low} + 1",
            f"{a} not between {low} and {high}",
            f"{a} in [{low}:{high}]",
            f"{a} in ({low}:{high}]",
            f"{a} not in [{low}:{high})",
        )
    if kind == "in":
        other = draw.one(*numbers_right)
        if texts_left and texts_right and draw.chance(0.5):
            return f"{texts_left[0]} in ({texts_right[0]}, {draw.word()})"
        return draw.one(f"{a} in ({b}, {other})", f"{a} not in ({b}, {other})", f"{b} in ({a}, 2)")
    if kind == "is":
        if texts_left and texts_right:
            a, b = texts_left[0], texts_right[0]
        return f"{a} is {b}" if draw.chance(0.75) else f"{a} is not {b}"
    if kind == "inequality":
        if texts_left and texts_right and draw.chance(0.5):
            a, b = texts_left[0], texts_right[0]
        return f"{a} {draw.one('!=', '<>')} {b}"
    if kind == "not":
        return f"not ({a} > {b} and {draw.one(*numbers_left)} < 2)"
    if kind == "or":
        return f"({a} = {b} or {draw.one(*numbers_left)} > {draw.one(*numbers_right)})"
    if texts_left and texts_right and draw.chance(0.5):
        return draw.one(
            f"coalesce({texts_left[0]}, {draw.word()}) = coalesce({texts_right[0]}, {draw.word()})",
            f"{texts_left[0]} || {texts_right[0]} like '%n%'",
            f"{texts_left[0]}.toUpperCase() = {texts_right[0]}.toUpperCase()",
        )
    return draw.one(f"{a} + {b} > 2", f"min({a}, {b}) > 0", f"Math.abs({a} - {b}) < 2", f"{a} - 1 = {b}", f"coalesce({a}, 0) >= {b}")


def constant_condition(draw: Draw, stream: Stream) -> str:
    """A condition on one stream alone."""
    number = draw.one(*stream.of(*NUMERIC))
    choices = [f"{number} > 0", f"{number} is not null", f"{number} <= 2", f"{number} != 1", f"({number} is null or {number} < 3)"]
    if stream.of("text"):
        choices += [f"{stream.of('text')[0]} != {draw.word()}", f"{stream.of('text')[0]} in ({draw.word()}, {draw.word()})"]
    if stream.of("flag"):
        choices.append(stream.of("flag")[0])
    return draw.one(*choices)


def value(draw: Draw, streams: Sequence[Stream]) -> str:
    """A column, or a simple expression over columns of the streams."""
    stream = draw.random.choice(streams)
    kind = draw.random.random()
    numbers = stream.of(*NUMERIC, "serial")
    if kind < 0.6:
        return draw.one(*stream.of("text", "int", "long", "double", "flag", "serial"))
    other = draw.random.choice(streams)
    a, b = draw.one(*numbers), draw.one(*other.of(*NUMERIC, "serial"))
    return draw.one(
        f"{a} + {b}", f"coalesce({a}, -1)", f"case when {a} > {b} then 'up' else 'down' end", f"{a} is null", f"max({a}, {b})", f"{a} * 2"
    )


def number(draw: Draw, streams: Sequence[Stream]) -> str:
    """A numeric column."""
    return draw.one(*draw.random.choice(streams).of(*NUMERIC))
