"""Typed expressions over a scope: numbers, texts, conditions, aggregations, sub-queries."""

from __future__ import annotations

from collections.abc import Callable

from tests.drawn.drawing import Draw
from tests.drawn.language import methods, rare
from tests.drawn.language.types import NUMBERS, SIMPLE_ROLES, Scope

VARIABLES = {"vi": "int", "vd": "double", "vs": "text", "vb": "flag"}
VARIABLE_SCHEMA = (
    "create variable int vi = 2",
    "create variable double vd = 1.5",
    "create variable string vs = 'ann'",
    "create variable boolean vb = true",
)


def column(draw: Draw, scope: Scope, *roles: str) -> str | None:
    """A column with one of the roles; None where there is none."""
    names = scope.of(*roles)
    return draw.one(*names) if names else None


def number(draw: Draw, scope: Scope, depth: int = 1) -> str:
    """An expression that gives a number."""
    name = column(draw, scope, *NUMBERS)
    if depth <= 0 or draw.chance(0.4):
        return name if name and draw.chance(0.85) else draw.one("1", "2", "3", "1.5", "vi", "vd")

    def part() -> str:
        return number(draw, scope, depth - 1)

    makers: list[Callable[[], str]] = [
        lambda: f"{part()} + {part()}",
        lambda: f"({part()} - {part()})",
        lambda: f"{part()} * {draw.one('2', '3', '0.5', part())}",
        lambda: f"{part()} / {draw.one('2', '4.0', part())}",
        lambda: f"{part()} % {draw.one('2', '3')}",
        lambda: f"-{name}" if name else "-1",
        lambda: f"(case when {condition(draw, scope, depth - 1)} then {part()} else {part()} end)",
        lambda: f"(case {simple(draw, scope)} when {draw.one('1', '2')} then {part()} end)" if scope.of("int") else part(),
        lambda: f"coalesce({part()}, {part()})",
        lambda: f"cast({part()}, {draw.one('int', 'long', 'double', 'string')})" if draw.chance(0.8) else f"cast({part()}, float)",
        lambda: f"max({part()}, {part()})",
        lambda: f"min({part()}, {part()}, {part()})",
        lambda: f"Math.abs({part()})",
    ]
    makers += enumerations(draw, scope, depth)
    if draw.chance(0.3):
        makers = methods.numbers(draw, scope)
    if read := [*columns_of_tables(draw, scope), *draw.variables]:
        makers += [lambda: draw.one(*read)] * 3
    if draw.calls_declared:
        makers += [lambda: "level", lambda: f"span({part()}, {part()})"]
        if able := [stream.alias for stream in scope.streams if "[" not in stream.alias and "qty" in {c.name for c in stream.columns}]:
            if scope.aliased:
                makers += [lambda: f"twice({draw.one(*able)})"] * 2
    if draw.rare and draw.chance(0.25):
        return draw.one(*rare.numbers(draw, scope))
    return draw.random.choice(makers)()


def simple(draw: Draw, scope: Scope) -> str:
    """An int column."""
    return column(draw, scope, "int") or "vi"


def enumerations(draw: Draw, scope: Scope, depth: int) -> list[Callable[[], str]]:
    """Enumeration methods and array elements that give numbers."""
    makers: list[Callable[[], str]] = []
    ints, items, item, texts = (column(draw, scope, role) for role in ("ints", "items", "item", "texts"))
    if ints:
        makers += [
            lambda: f"{ints}.{draw.one('sumOf()', 'min()', 'max()', 'average()', 'countOf()', 'firstOf()', 'lastOf()', 'mostFrequent()')}",
            lambda: f"{ints}.where(x => x > {draw.one('0', '1', 'vi')}).sumOf()",
            lambda: f"{ints}.aggregate(0, (total, x) => total + x)",
            lambda: f"{ints}[{draw.one('0', '1')}]",
            lambda: f"{ints}.countOf(x => x {draw.one('>', '<=', '=')} {draw.one('1', '2')})",
            lambda: f"{ints}.orderByDesc().firstOf()" if draw.chance(0.5) else f"{ints}.distinctOf().countOf()",
        ]
    if items:
        makers += [
            lambda: f"{items}.countOf(i => i.{draw.one('qty > 1', 'price < 2.0', 'sku is not null')})",
            lambda: f"{items}.sumOf(i => i.{draw.one('qty', 'price', 'price * 2')})",
            lambda: f"{items}.where(i => i.qty {draw.one('>', '<')} 2).{draw.one('countOf()', 'firstOf().qty', 'lastOf().price')}",
            lambda: f"{items}.{draw.one('maxBy', 'minBy')}(i => i.{draw.one('price', 'qty')}).{draw.one('qty', 'price')}",
            lambda: f"{items}.{draw.one('min', 'max', 'average')}(i => i.qty)",
            lambda: f"{items}[{draw.one('0', '1')}].{draw.one('qty', 'price')}",
            lambda: f"{items}.selectFrom(i => i.qty).{draw.one('sumOf()', 'countOf()', 'max()')}",
            lambda: f"{items}.take({draw.one('1', '2')}).sumOf(i => i.qty)",
        ]
    if item:
        makers.append(lambda: f"{item}.{draw.one('qty', 'price')}")
    if texts:
        makers.append(lambda: f"{texts}.countOf(t => t {draw.one('=', '!=')} {draw.word()})")
    return makers


def columns_of_tables(draw: Draw, scope: Scope) -> list[str]:
    """``T[key].column`` for the tables whose keys the scope has."""
    made = []
    for name, keys, columns in draw.tables:
        found = [column(draw, scope, role) for role in keys]
        if all(found):
            made += [f"{name}[{', '.join(str(each) for each in found)}].{each}" for each in columns]
    return made


def text(draw: Draw, scope: Scope, depth: int = 1) -> str:
    """An expression that gives a string."""
    name = column(draw, scope, "text")
    if depth <= 0 or draw.chance(0.5):
        return name if name and draw.chance(0.85) else draw.one(draw.word(), "vs")

    def part() -> str:
        return text(draw, scope, depth - 1)

    makers: list[Callable[[], str]] = [
        lambda: f"{part()} || {part()}",
        lambda: f"(case when {condition(draw, scope, depth - 1)} then {part()} else {part()} end)",
        lambda: f"coalesce({part()}, {draw.word()})",
        lambda: f"cast({number(draw, scope, 0)}, string)",
    ]
    if name:
        makers.append(lambda: f"{name}.{draw.one('toUpperCase()', 'substring(1)', 'trim()', 'concat(vs)')}")
    if item := column(draw, scope, "item"):
        makers.append(lambda: f"{item}.sku")
    if items := column(draw, scope, "items"):
        makers.append(lambda: f"{items}.{draw.one('firstOf()', 'lastOf()', 'maxBy(i => i.price)', 'firstOf(i => i.qty > 1)')}.sku")
    if texts := column(draw, scope, "texts"):
        makers.append(
            lambda: draw.one(
                f"{texts}.firstOf()", f"{texts}[0]", f"{texts}.lastOf()", f"{texts}.mostFrequent()", f"{texts}.orderBy().firstOf()"
            )
        )
    if draw.chance(0.3):
        makers = methods.texts(draw, scope) or makers
    if draw.rare and draw.chance(0.3):
        return draw.one(*rare.texts(draw, scope))
    return draw.random.choice(makers)()


def condition(draw: Draw, scope: Scope, depth: int = 1) -> str:
    """An expression that gives a boolean."""
    name, words, flag = column(draw, scope, *NUMBERS), column(draw, scope, "text"), column(draw, scope, "flag")
    number_of = lambda: number(draw, scope, depth - 1)  # noqa: E731
    makers: list[Callable[[], str]] = [lambda: f"{number_of()} {draw.one('>', '<', '>=', '<=', '=', '!=')} {number_of()}"]
    if name:
        makers += [
            lambda: f"{name} {draw.one('>', '<', '>=', '!=', '=')} {draw.one('1', '2', 'vi', 'vd')}",
            lambda: f"{name} {draw.one('', 'not ')}between {draw.one('0', '1')} and {draw.one('2', '3', 'vi')}",
            lambda: (
                f"{name} {draw.one('', 'not ')}in ({draw.one('1, 2', '0, 3', '1, 2, vi', '[1:3]', '(0:2]')})".replace("([", "[")
                .replace("])", "]")
                .replace("((", "(")
            ),
            lambda: f"{name} is {draw.one('', 'not ')}null",
        ]
    if words:
        makers += [
            lambda: f"{words} {draw.one('=', '!=', '<>', '>', 'is', 'is not')} {draw.one(draw.word(), 'vs')}",
            lambda: f"{words} {draw.one('', 'not ')}in ({', '.join(draw.some([*(repr(w) for w in draw.words), 'vs'], 2, 3))})",
            lambda: f"{words} {draw.one('', 'not ')}like '{draw.one('a%', '%b', '_i%', '%n%')}'",
            lambda: f"{words} {draw.one('', 'not ')}regexp '{draw.one('a.*', '.*b', '[a-c].+')}'",
            lambda: f"{words} is {draw.one('', 'not ')}null",
        ]
    if flag:
        makers += [lambda: flag, lambda: f"not {flag}", lambda: f"{flag} = {draw.one('true', 'false', 'vb')}"]
    if ints := column(draw, scope, "ints"):
        makers += [
            lambda: f"{ints}.{draw.one('anyOf', 'allOf')}(x => x > {draw.one('1', 'vi')})",
            lambda: f"{draw.one('1', '2', 'vi')} in ({ints})",
        ]
    if items := column(draw, scope, "items"):
        makers.append(lambda: f"{items}.{draw.one('anyOf', 'allOf')}(i => i.{draw.one('qty > 1', 'price < 2', 'sku = vs')})")
    if texts := column(draw, scope, "texts"):
        makers += [lambda: f"{texts}.anyOf(t => t = {draw.word()})", lambda: f"{draw.word()} in ({texts})"]
    if draw.calls_declared and scope.aliased:
        if able := [stream.alias for stream in scope.streams if "[" not in stream.alias and "qty" in {c.name for c in stream.columns}]:
            makers += [lambda: f"large({draw.one(*able)})"] * 2
    if draw.chance(0.25):
        makers = methods.conditions(draw, scope) or makers
    if draw.rare and draw.chance(0.3):
        return draw.one(*rare.conditions(draw, scope))
    if depth > 0:
        makers += [
            lambda: f"({condition(draw, scope, depth - 1)} {draw.one('and', 'or')} {condition(draw, scope, depth - 1)})",
            lambda: f"not ({condition(draw, scope, depth - 1)})",
        ]
    return draw.random.choice(makers)()


def expression(draw: Draw, scope: Scope, depth: int = 1) -> str:
    """A number, a text, a boolean, a column, a row."""
    kind = draw.random.random()
    if kind < 0.4:
        names = scope.of(*SIMPLE_ROLES)
        if names:
            return draw.one(*names)
    if kind < 0.65:
        return number(draw, scope, depth)
    if kind < 0.85:
        return text(draw, scope, depth)
    return condition(draw, scope, depth)


def aggregation(draw: Draw, scope: Scope, depth: int = 1, *, plain: bool = False) -> str:
    """A call of an aggregation function, or arithmetic over such. ``plain``: one that every statement may hold."""
    name = column(draw, scope, *NUMBERS) or "vi"
    value = number(draw, scope, depth - 1) if draw.chance(0.25) else name
    words = column(draw, scope, "text") or name
    serial = column(draw, scope, "serial") or name
    makers: list[Callable[[], str]] = [
        lambda: "count(*)",
        lambda: f"sum({value})",
        lambda: f"avg({value})",
        lambda: f"{draw.one('min', 'max')}({value})",
        lambda: f"count({draw.one('', 'distinct ')}{words})",
    ]
    if not plain:
        makers += [
            lambda: f"sum({name}, filter: {condition(draw, scope, 0)})",
            lambda: f"count(*, filter: {condition(draw, scope, 0)})",
            lambda: f"{draw.one('stddev', 'median', 'avedev')}({name})",
            lambda: f"{draw.one('first', 'last')}({draw.one(name, words, serial)})",
            lambda: f"{draw.one('first', 'last')}({serial}, {draw.one('0', '1')})",
            lambda: f"window({draw.one(name, words, serial)})",
            lambda: f"{draw.one('firstever', 'lastever')}({words})",
            lambda: f"{draw.one('countever', 'minever', 'maxever')}({name})",
            lambda: f"nth({name}, {draw.one('0', '1')})",
            lambda: f"{draw.one('sum', 'avg')}(distinct {name})",
            lambda: f"{draw.one('fmin', 'fmax')}({name}, {condition(draw, scope, 0)})",
            lambda: f"sum({name}) {draw.one('+', '-', '*')} {draw.one('count(*)', f'max({name})', '2')}",
            lambda: f"case when count(*) > 1 then {draw.one('sum', 'min')}({name}) else 0 end",
            lambda: f"coalesce(sum({name}), 0)",
        ]
        if len(scope.streams) == 1 and not scope.aliased:
            makers += [
                lambda: f"{draw.one('maxby', 'minby')}({name}).{draw.one(words, serial)}",
                lambda: (
                    f"window(*).{draw.one('countOf()', f'countOf(e => e.{name} > 1)', f'sumOf(e => e.{name})', f'lastOf().{serial}')}"
                    if name != "vi"
                    else "count(*)"
                ),
                lambda: f"sorted({name}).{draw.one('firstOf()', 'lastOf()')}.{serial}",
            ]
    if draw.rare and not plain and draw.chance(0.4):
        return draw.one(*rare.aggregations(draw, scope))
    return draw.random.choice(makers)()


def comparison_of_aggregates(draw: Draw, scope: Scope) -> str:
    """A having condition."""
    name = column(draw, scope, *NUMBERS) or "vi"
    return draw.one(
        "count(*) > 1",
        f"sum({name}) > {draw.one('2', 'vi')}",
        f"avg({name}) >= 1",
        f"max({name}) != min({name})",
        f"count({name}) in (1, 2, 3)",
        f"sum({name}) > 1 and count(*) < 5",
    )
