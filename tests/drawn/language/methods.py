"""Expressions beside arithmetic: date-time and enumeration methods, ``new``, types, arrays, columns of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tests.drawn.drawing import Draw
from tests.drawn.language.types import NUMBERS, Scope

SPANS = ("1 second", "500 milliseconds", "1 minute", "2 hours", "1 day")


def _one(draw: Draw, names: Iterable[str]) -> str | None:
    able = list(names)
    return draw.one(*able) if able else None


def moment(draw: Draw, name: str) -> str:
    """A time as milliseconds, from a column with a time."""
    return draw.one(
        f"{name}.plus({draw.one(*SPANS)})",
        f"{name}.minus({draw.one(*SPANS)})",
        f"{name}.withTime({draw.one('1, 2, 3, 4', '0, 0, 0, 0')})",
        f"{name}.set('{draw.one('sec', 'minute', 'hour')}', {draw.one('1', '7')})",
        f"{name}.roundFloor('{draw.one('sec', 'min', 'hour')}')",
        f"{name}.roundCeiling('{draw.one('sec', 'min')}')",
        f"{name}.roundHalf('{draw.one('sec', 'min')}')",
        f"{name}.plus({draw.one(*SPANS)}).minus({draw.one(*SPANS)})",
        f"{name}.withMax('{draw.one('msec', 'sec')}')",
        f"{name}.withMin('{draw.one('msec', 'hour')}')",
        f"{name}.withDate(2002, 4, 30)",
    )


def numbers(draw: Draw, scope: Scope) -> list[Callable[[], str]]:
    """Expressions that give numbers."""
    made: list[Callable[[], str]] = [lambda: "cast(current_timestamp() % 7, int)", lambda: "vi | 1", lambda: "vi & 3"]
    if time := _one(draw, scope.of("time")):
        made += [
            lambda: f"{time}.get('{draw.one('msec', 'sec', 'minute', 'hour', 'day')}')",
            lambda: f"{time}.{draw.one('getSecondOfMinute', 'getMillisOfSecond', 'getMinuteOfHour', 'getDayOfWeek', 'getYear')}()",
            lambda: f"{moment(draw, time)} - {time}",
            lambda: moment(draw, time),
        ]
    if name := _one(draw, scope.of("int", "long")):
        made += [lambda: f"({name} {draw.one('&', '|', '^')} {draw.one('1', '3')})"]
    if number := _one(draw, scope.of(*NUMBERS)):
        made += [
            lambda: f"{{1, 2, 3}}.countOf(x => x > {number})",
            lambda: f"{{{number}, 2}}.{draw.one('max()', 'min()', 'firstOf()', 'lastOf()')}",
            lambda: f"Math.{draw.one('max', 'min')}({number}, 2)",
            lambda: f"case when {number} is null then -1 when {number} > 2 then {number} else {number} + 1 end",
        ]
    if text := _one(draw, scope.of("text")):
        made += [lambda: f"{text}.{draw.one('length()', 'indexOf(vs)', 'hashCode()', 'compareTo(vs)')}"]
    if items := _one(draw, scope.of("items")):
        made += [
            lambda: f"{items}.{draw.one('takeLast', 'take')}(2).{draw.one('min', 'max', 'sumOf')}(i => i.{draw.one('qty', 'price')})",
            lambda: f"{items}.takeWhile(i => i.qty {draw.one('>', '<')} 3).countOf()",
            lambda: f"{items}.takeWhileLast((i, x) => i.qty > 0 and x < 2).countOf()",
            lambda: f"{items}.orderBy(i => i.{draw.one('qty', 'price')}).{draw.one('firstOf()', 'lastOf()')}.{draw.one('qty', 'price')}",
            lambda: f"{items}.reverse().firstOf().qty",
            lambda: f"{items}.aggregate(0, (r, i) => r + i.qty)",
            lambda: f"{items}.where((i, x) => x > 0).sumOf(i => i.price)",
            lambda: f"{items}.selectFrom(i => i.price).{draw.one('average()', 'min()', 'lastOf()')}",
            lambda: f"{items}.toMap(k => k.sku, v => v.qty).get({draw.word()})",
            lambda: f"{items}.{draw.one('mostFrequent', 'leastFrequent')}(i => i.qty)",
            lambda: f"{items}.groupBy(i => i.sku).{draw.one('keys()', 'values()')}.countOf()",
            lambda: f"{items}.distinctOf(i => i.sku).countOf()",
        ]
    if ints := _one(draw, scope.of("ints")):
        made += [
            lambda: f"{ints}.selectFrom((x, i) => x * i).sumOf()",
            lambda: f"{ints}.{draw.one('union', 'except', 'intersect')}({{1, 2, 5}}).{draw.one('countOf()', 'sumOf()', 'firstOf()')}",
            lambda: f"{ints}.reverse().{draw.one('firstOf()', 'lastOf()')}",
            lambda: f"{ints}.where((x, i, s) => i < s - 1).sumOf()",
            lambda: f"{ints}.aggregate(0, (r, x, i) => r + x * i)",
            lambda: f"{ints}.length",
            lambda: f"{ints}.leastFrequent()",
        ]
    return made


def texts(draw: Draw, scope: Scope) -> list[Callable[[], str]]:
    """Expressions that give strings."""
    made: list[Callable[[], str]] = []
    if text := _one(draw, scope.of("text")):
        made += [
            lambda: f"{text}.{draw.one('toLowerCase()', 'replace(vs, vs)', 'concat(vs).trim()', 'toUpperCase().substring(0, 1)')}",
            lambda: f"case {text} when {draw.word()} then 'first' when {draw.word()} then {text} else 'none' end",
        ]
    if time := _one(draw, scope.of("time")):
        made += [lambda: f"cast({time}, string)"]
    if items := _one(draw, scope.of("items")):
        made += [
            lambda: f"{items}.selectFrom(i => i.sku).{draw.one('firstOf()', 'lastOf()', 'mostFrequent()')}",
            lambda: f"{items}.orderByDesc(i => i.price).firstOf().sku",
            lambda: f"{items}.{draw.one('maxBy', 'minBy')}(i => i.qty).sku",
        ]
    if tags := _one(draw, scope.of("texts")):
        made += [
            lambda: f"{tags}.aggregate('', (r, t) => r || t)",
            lambda: f"{tags}.{draw.one('orderByDesc()', 'reverse()', 'distinctOf()', 'where(t => t > vs)')}.firstOf()",
            lambda: f"{tags}.{draw.one('min()', 'max()')}",
        ]
    return made


def conditions(draw: Draw, scope: Scope) -> list[Callable[[], str]]:
    """Expressions that give booleans."""
    made: list[Callable[[], str]] = []
    times = scope.of("time")
    if time := _one(draw, times):
        other = draw.one(*times)
        made += [
            lambda: f"{time}.{draw.one('before', 'after', 'coincides')}({moment(draw, other)})",
            lambda: f"{time}.between({other}.minus(1 sec), {other}.plus({draw.one('1 sec', '200 msec')}))",
            lambda: f"{time}.after({other}, {draw.one('100 msec, 2 sec', '0 sec, 1 sec')})",
        ]
    if number := _one(draw, scope.of(*NUMBERS)):
        made += [
            lambda: f"{number} {draw.one('>', '=', '<=')} {draw.one('any', 'all', 'some')} ({draw.one('1, 2', '0, vi', '{1, 2, 3}')})",
            lambda: f"{number} in ({{1, 2, 3}})",
            lambda: f"cast({number}, string) like '{draw.one('1%', '%0', '_')}'",
        ]
    if text := _one(draw, scope.of("text")):
        made += [
            lambda: f"{text}.{draw.one('contains', 'startsWith', 'endsWith', 'equals')}({draw.one(draw.word(), 'vs')})",
            lambda: f"{text} in ({{'ann', 'cid'}})",
            lambda: f"{text} like {draw.one('vs', repr('%'))} || '%'",
        ]
    if items := _one(draw, scope.of("items")):
        made += [
            lambda: f"{items}.anyOf((i, x) => i.qty > x)",
            lambda: f"{items}.selectFrom(i => i.sku).anyOf(s => s = {draw.word()})",
            lambda: f"{items}.firstOf().qty > 1",
        ]
    if ints := _one(draw, scope.of("ints")):
        made += [
            lambda: f"{ints}.{draw.one('sequenceEqual({1, 2})', 'anyOf(x => x in (1, 2))', 'countOf() > 1')}",
            lambda: f"{ints}.{draw.one('where(x => x > 1)', 'take(2)', 'takeLast(1)')}.allOf(x => x < 5)",
        ]
    return made


def whole(draw: Draw, scope: Scope) -> list[str]:
    """Expressions that give something else than one number, string or boolean: rows, lists, types."""
    made = []
    if number := _one(draw, scope.of(*NUMBERS)):
        made += [f"new {{ p = {number}, q = {draw.one('vs', '1', number)} }}", f"{{{number}, 1}}", f"typeof({number})"]
        made.append(f"case when {number} > 1 then new {{ p = {number} }} else new {{ p = 0 }} end")
    if ints := _one(draw, scope.of("ints")):
        made += [ints, f"{ints}.where(x => x > 1)", f"{ints}.orderByDesc()", f"{ints}.selectFrom(x => new {{ y = x }})"]
    if items := _one(draw, scope.of("items")):
        made += [
            f"{items}.selectFrom(i => i.{draw.one('sku', 'qty')})",
            f"{items}.selectFrom(i => new {{ sku, twice = i.qty * 2 }})",
            f"{items}.where(i => i.qty > 1).selectFrom(i => i.price)",
            f"{items}.groupBy(i => i.sku, i => i.qty)",
            f"{items}.toMap(i => i.sku, i => i.qty)",
            f"{items}.arrayOf(i => i.qty)",
        ]
    if item := _one(draw, scope.of("item")):
        made += [f"{item}.sku", f"exists({item}.qty)"]
    if tags := _one(draw, scope.of("texts")):
        made += [tags, f"{tags}.take(1)", f"{tags}.distinctOf()", f"{tags}.union({{'zed'}})"]
    return made
