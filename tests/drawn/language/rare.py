"""What people write seldom: drawn only in programs whose name begins with ``rare``, in place of what the other parts would draw."""

from __future__ import annotations

import re

from tests.drawn.drawing import Draw
from tests.drawn.language.types import NUMBERS, Scope


def _one(draw: Draw, scope: Scope, *roles: str) -> str | None:
    names = [name for name in scope.of(*roles) if "[" not in name]
    return draw.one(*names) if names else None


def _alias(draw: Draw, scope: Scope) -> str | None:
    """A stream's name, where expressions may use it as a whole event."""
    names = [stream.alias for stream in scope.streams if stream.source and "[" not in stream.alias]
    return draw.one(*names) if names and scope.aliased else None


def aggregations(draw: Draw, scope: Scope) -> list[str]:
    """Calls of aggregation functions with their rarer parameters."""
    value, words, serial = (_one(draw, scope, *roles) for roles in (NUMBERS, ("text",), ("serial",)))
    if value is None:
        return ["count(*)"]
    words, serial = words or value, serial or value
    made = [
        f"sum({value}, group_by: {words})",
        f"count(*, group_by: {draw.one(words, '()', f'({words}, {value})')})",
        f"{draw.one('avg', 'max', 'first', 'window')}({value}, group_by: {words})",
        f"sum({value}, group_by: {words}, filter: {value} > 1)",
        f"{draw.one('sum', 'avg', 'count')}(distinct {value}, filter: {value} > 0)",
        "countever(*)",
        f"countever({value}, {value} > 1)",
        f"{draw.one('firstever', 'lastever')}({words}, filter: {value} > 1)",
        f"{draw.one('maxever', 'minever')}({value}, {value} < 3)",
        f"{draw.one('fsum', 'favg')}({value}, {value} > 1)",
        f"rate({draw.one('2', '3')})",
        "leaving()",
        f"{draw.one('stddev', 'median', 'avedev')}(distinct {value})",
        f"nth({words}, {draw.one('0', '2')})",
        f"window({value}).{draw.one('sumOf()', 'countOf()', 'max()', 'reverse().firstOf()')}",
        f"sum({value}) / count({value})",
        f"last({value}) - prev(1, {value})" if draw.chance(0.1) else f"last({value}) - first({value})",
    ]
    if len(scope.streams) == 1 and not scope.aliased:
        made += [
            f"{draw.one('maxbyever', 'minbyever')}({value}).{serial}",
            f"{draw.one('maxby', 'minby')}({value}, {serial} desc).{words}",
            f"sorted({value} desc, {serial}).{draw.one('firstOf()', 'lastOf()')}.{serial}",
            f"{draw.one('first', 'last')}(*).{serial}",
            f"last(*, {draw.one('0', '1')}).{words}",
            f"window(*).where(x => x.{value} > 1).{draw.one('countOf()', f'lastOf().{serial}')}",
        ]
    return made


def conditions(draw: Draw, scope: Scope) -> list[str]:
    """Rarer operators."""
    value, words, serial, long = (_one(draw, scope, *roles) for roles in (NUMBERS, ("text",), ("serial",), ("long", "serial")))
    made = []
    if value:
        made += [
            f"{value} {draw.one('>', '<=', '!=')} {draw.one('all', 'any', 'some')} ({draw.one('1, 2', '0, vi', '{1, 2}')})",
            f"{value} in ({draw.one('1', 'vi')}:{draw.one('3', '4')}]".replace("((", "("),
            f"instanceof({value}, {draw.one('int', 'long', 'double', 'int, double', 'string')})",
            f"not {value} between 3 and 1",
            f"{value} is {draw.one('', 'not ')}{draw.one('1', 'vi')}",
        ]
    if words:
        made += [
            f"{words} like '{draw.one('a!%', '%!_%', '_!i%', 'b%')}' escape '!'",
            f"({words} || 'x') {draw.one('', 'not ')}like '%x'",
            f"{words}.{draw.one('equals(vs)', 'startsWith(vs)', 'isEmpty()', 'contains(vs)')}",
            f"{words} > {draw.one('all', 'any')} ({draw.word()}, {draw.word()})",
        ]
    if long:
        made.append(f"({long} {draw.one('&', '|', '^')} {draw.one('1', '2', '3')}) > 1")
    if serial:
        made.append(f"current_timestamp {draw.one('>', '<')} {serial} * 500")
    if alias := _alias(draw, scope):
        made += [
            f"typeof({alias}) {draw.one('=', '!=')} '{draw.one('Trade', 'Rush', 'Quote')}'",
            f"{draw.one('', 'not ')}exists({alias}.extra?)",
            f"{alias}.{draw.one('extra', 'qty', 'none')}? is {draw.one('', 'not ')}null",
        ]
        if len(scope.streams) > 1 and scope.streams[0].source == scope.streams[1].source:
            made.append(f"{draw.one('', 'not ')}event_identity_equals({scope.streams[0].alias}, {scope.streams[1].alias})")
    return made or ["vb"]


def numbers(draw: Draw, scope: Scope) -> list[str]:
    """Rarer arithmetic."""
    value, long, time = (_one(draw, scope, *roles) for roles in (NUMBERS, ("long", "serial"), ("time",)))
    made = ["{1, 2, vi}.sumOf()", "current_timestamp % 1000", "Math.max(vi, 1)", "{vi, 3}[1]"]
    if value:
        made += [f"cast({value}, int)", f"Math.{draw.one('round', 'floor', 'ceil')}({value})", f"{{{value}, vi}}.max()"]
    if long:
        made.append(f"({long} {draw.one('&', '|', '^')} {draw.one('1', '3')})")
    if time:
        made += [
            f"{time}.{draw.one('getSecondOfMinute()', 'getMillisOfSecond()', 'getHourOfDay()', 'getDayOfWeek()')}",
            f"{time}.{draw.one('plus', 'minus')}({draw.one('1 sec', '2 min 3 msec')})",
            f"{time}.roundFloor('sec') - {time}",
            f"current_timestamp.minus({time})",
        ]
    if alias := _alias(draw, scope):
        made.append(f"cast({alias}.{draw.one('extra', 'qty', 'lvl')}?, int)")
    return made


def texts(draw: Draw, scope: Scope) -> list[str]:
    """Rarer texts."""
    made = ["case vi when 1 then 'one' when 2 then 'two' else vs end"]
    if alias := _alias(draw, scope):
        made += [f"typeof({alias})", f"typeof({alias}.{draw.one('extra', 'qty', 'sym')}?)"]
    if words := _one(draw, scope, "text"):
        made += [f"{words}.{draw.one('toLowerCase()', 'replace(vs, vs)', 'substring(0, 1)')}", f"'<' || {words} || '>'"]
    return made


WINDOWS = (
    "length(vi + 1)",
    "time(vi sec)",
    "expr(expired_count < 2)",
    "expr(current_count <= vi)",
    "expr(newest_event.{serial} - oldest_event.{serial} < 4)",
    "expr_batch(newest_timestamp - oldest_timestamp > 1500)",
    "expr_batch(count(*) > 2)",
    "expr_batch(newest_event.{serial} - oldest_event.{serial} >= 3, false)",
    "unique({text}, {serial} % 2)",
    "unique({int} + 1)",
    "sort(vi, {text}, {serial} desc)",
    "rank({text}, 2, {serial} desc)",
    "time_batch(1 sec, 500L)",
    "time_length_batch(1500 msec, 2)",
    "firsttime(1500 msec)",
    "firstlength(1)",
    "time_accum(vi sec)",
)

TIMERS = (
    "timer:schedule(date: '1970-01-01T00:00:01.5Z')",
    "timer:schedule(date: '1970-01-01T00:00:00.0Z', period: 1 sec, repetitions: 3)",
    "timer:schedule(iso: 'R3/1970-01-01T00:00:02Z/PT1S')",
    "timer:interval(vi sec)",
    "timer:at(*, *, *, *, *, [1,3,5])",
    "timer:at(*, *, *, *, *, 1:4)",
)

KEYED = {
    "partition by sym from Trade as t, sym from Quote as q terminated by Quote(lvl > 3)": ("Trade", "Quote"),
    "partition by sym from Trade terminated by pattern [Quote(lvl > 2) or timer:interval(3 sec)]": ("Trade",),
    "partition by code from Alarm": ("Alarm",),
    "partition by sym, n % 2 from Trade": ("Trade",),
    "partition by sym from Trade, sym from Basket, sym from Quote": ("Trade", "Basket", "Quote"),
    "coalesce by consistent_hash_crc32(sym) from Trade, hash_code(sym) from Basket granularity 2": ("Trade", "Basket"),
    "group by sym = 'ann' as a, group by sym in ('bob', 'cid') as b, group by sym is null as c from Trade": ("Trade",),
    "group by bid > ask as up, group by bid <= ask as down from Quote": ("Quote",),
}
LIFETIMES = (
    "initiated by pattern [every timer:interval(2 sec)] terminated after 3 sec",
    "initiated @now and pattern [every timer:interval(3 sec)] terminated after 4 sec",
    "start @now end pattern [Alarm -> Alarm]",
    "start pattern [x=Alarm(lvl > 0) -> Trade] @inclusive end after 2 sec",
    "initiated by Trade(qty > 1) as a terminated by pattern [Quote(sym = a.sym) or timer:interval(3 sec)]",
    "initiated by distinct(code) Alarm as a terminated by Alarm(code = a.code, lvl = 5)",
    "start Alarm(lvl > 1) as a end Alarm(code = a.code, lvl < 2)",
    "start after 1 sec end after 2 sec",
    "initiated by Alarm as a terminated by Trade(qty > a.lvl)",
    "initiated by Quote(lvl > 1) terminated by Trade(ok)",
)


def retyped(draw: Draw, schema: list[str]) -> list[str]:
    """The schemas, two of them as object arrays or JSON now and then."""
    return [
        re.sub("^create schema", f"create {draw.one('objectarray', 'json', 'map')} schema", each)
        if re.search("schema (Quote|Alarm|Tick)", each) and draw.chance(0.4)
        else each
        for each in schema
    ]


def rewritten(draw: Draw, text: str) -> str:
    """A select statement with what may be added to any."""
    if draw.chance(0.2) and " limit " in text:
        text = re.sub(r" limit (\d)", lambda found: f" limit {found[1]} offset 1", text)
    if draw.chance(0.3) and "select irstream " in text and " group by " not in text and "irstream *" not in text:
        text = text.replace("select irstream ", "select irstream istream() as entered, ", 1) if "distinct" not in text else text
    if draw.chance(0.2):
        text = re.sub(r"#(length|time|keepall|length_batch|time_batch|ext_timed)\b(\([^()#]*\))?", _old_name, text)
    if draw.chance(0.2):
        text = re.sub(r"#(unique|lastevent|firstevent|groupwin)\b", lambda found: f".std:{found[1]}", text)
        text = re.sub(r"\.std:(lastevent|firstevent)(?!\()", r".std:\1()", text)
    if draw.chance(0.1):
        text = f"@Priority({draw.one('1', '2')}) {text}"
    return text


def _old_name(found: re.Match[str]) -> str:
    return f".win:{found[1]}{found[2] or '()'}"


def declarations(draw: Draw) -> list[str]:
    """Constants, copied types, global aliases."""
    made = []
    if draw.chance(0.3):
        made.append("create constant variable int most = 3")
        draw.variables.append("most")
    if draw.chance(0.2):
        made += ["create schema Likeness() copyfrom Quote", "insert into Likeness select * from Quote"]
    return made
