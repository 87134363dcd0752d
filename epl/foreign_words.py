"""What people write who know SQL, Flink, Spark, Siddhi or Java, and what EPL has for it: the hints of errors, asked before spelling is."""

from __future__ import annotations

import re
from collections.abc import Mapping

NOW = "current_timestamp() is the engine's time in ms"
UPPER, LOWER, LENGTH = "write x.toUpperCase()", "write x.toLowerCase()", "write x.length()"
SUBSTRING = "write x.substring(from, to), which counts from 0 and leaves out the character at to"
COALESCE, CASE = "write coalesce(x, y)", "write case when … then … else … end"
CAST = "write cast(x, long), or of a text cast(x, date, dateformat: 'yyyy-MM-dd')"
INDEX_OF = "write x.indexOf(y), which counts from 0"
EARLIER = "write prev(1, x) over a data window, or prior(1, x)"
LATER = "rows that come later are not known yet: write a pattern, or match_recognize"
COLLECT = "write window(x)"
OF_SQL_PATTERNS = "@Dialect('sql') before the statement reads match_recognize as SQL defines it, with this function"

FUNCTIONS: Mapping[str, str] = {
    **dict.fromkeys(("now", "current_time", "getdate", "sysdate", "localtimestamp", "unix_timestamp", "unixepoch"), NOW),
    **dict.fromkeys(("upper", "ucase"), UPPER), **dict.fromkeys(("lower", "lcase"), LOWER),
    **dict.fromkeys(("length", "len", "char_length", "character_length"), LENGTH),
    **dict.fromkeys(("substring", "substr", "left", "right", "mid"), SUBSTRING),
    **dict.fromkeys(("concat", "concat_ws"), "write x || y"), **dict.fromkeys(("trim", "ltrim", "rtrim", "btrim"), "write x.trim()"),
    **dict.fromkeys(("position", "locate", "instr", "charindex", "strpos"), INDEX_OF),
    "replace": "write x.replace(y, z)", "starts_with": "write x.startsWith(y)", "startswith": "write x.startsWith(y)",
    "ends_with": "write x.endsWith(y)", "endswith": "write x.endsWith(y)", "contains": "write x.contains(y)",
    "regexp_like": "write x regexp 'pattern'", "regexp_matches": "write x regexp 'pattern'",
    "round": "write Math.round(x)", "ceil": "write Math.ceil(x)", "ceiling": "write Math.ceil(x)", "floor": "write Math.floor(x)",
    "abs": "write Math.abs(x)", "sqrt": "write Math.sqrt(x)", "exp": "write Math.exp(x)", "ln": "write Math.log(x)",
    "log": "write Math.log(x)", "log10": "write Math.log10(x)", "power": "write Math.pow(x, y)", "pow": "write Math.pow(x, y)",
    "sign": "write Math.signum(x)", "mod": "write x % y", "greatest": "write max(x, y)", "least": "write min(x, y)",
    **dict.fromkeys(("if", "iif", "decode", "ifthenelse"), CASE), "nullif": "write case when x = y then null else x end",
    **dict.fromkeys(("nvl", "ifnull", "isnull", "zeroifnull"), COALESCE),
    **dict.fromkeys(("try_cast", "convert", "to_timestamp", "to_date", "date_parse", "to_number", "int", "bigint", "float64"), CAST),
    "date_trunc": "write x.roundFloor('hour')", "date_format": "write x.format()", "to_char": "write x.format()",
    **dict.fromkeys(("date_add", "dateadd", "timestampadd"), "write x.plus(1 hour)"), "date_sub": "write x.minus(1 hour)",
    **dict.fromkeys(("datediff", "date_diff", "timestampdiff"), "write y.toMillisec() - x.toMillisec()"),
    "hour": "write x.getHourOfDay()", "minute": "write x.getMinuteOfHour()", "second": "write x.getSecondOfMinute()",
    "day": "write x.getDayOfMonth()", "month": "write x.getMonthOfYear()", "year": "write x.getYear()",
    "dayofweek": "write x.getDayOfWeek()", "extract": "write x.getHourOfDay() and the like",
    "lag": EARLIER, "lead": LATER, "next": LATER,
    "row_number": "the newest rows are #length(10), the first ones of an output: limit 10",
    **dict.fromkeys(("rank", "dense_rank"), "the largest rows of each key are #rank(key, 10, value desc)"),
    "first_value": "write first(x)", "last_value": "write last(x)", "any_value": "write last(x)",
    **dict.fromkeys(("array_agg", "collect_list", "string_agg", "listagg", "group_concat"), COLLECT),
    **dict.fromkeys(("count_if", "countif"), "write count(*, condition)"), "sum_if": "write sum(x, condition)",
    **dict.fromkeys(("approx_distinct", "approx_count_distinct", "count_distinct"), "write count(distinct x)"),
    **dict.fromkeys(("stddev_samp", "stddev_pop", "stdev"), "write stddev(x)"), "percentile": "write median(x)",
    "max_by": "write maxby(x).y", "min_by": "write minby(x).y", "arg_max": "write maxby(x).y", "arg_min": "write minby(x).y",
    "classifier": OF_SQL_PATTERNS, "match_number": OF_SQL_PATTERNS,
    **dict.fromkeys(("struct", "row", "named_struct"), "write new {name = x, …}"), "array": "write {x, y}",
    **dict.fromkeys(("tumble", "hop", "session"), "write a data window: from Type#time_batch(10 sec), #time(10 sec)"),
}  # fmt: skip
"""Functions, in small letters."""

METHODS: Mapping[str, str] = {
    "toUpper": "write toUpperCase()", "upper": "write toUpperCase()", "toLower": "write toLowerCase()", "lower": "write toLowerCase()",
    "len": "write length()", "size": "write countOf() of a collection, length() of a text", "strip": "write trim()",
    "startswith": "write startsWith(…)", "endswith": "write endsWith(…)", "includes": "write contains(…)",
    "filter": "write where(x => …)", "map": "write selectFrom(x => …)", "reduce": "write aggregate(start, (result, x) => …)",
    "some": "write anyOf(x => …)", "every": "write allOf(x => …)", "sort": "write orderBy(x => …)",
}  # fmt: skip
"""Methods."""

TIMES = "write long (ms), java.util.Date, java.time.LocalDateTime or java.time.ZonedDateTime"
TYPES: Mapping[str, str] = {
    **dict.fromkeys(("timestamp", "datetime", "timestamptz", "timestamp_ltz", "timestamp_ntz", "datetime64"), TIMES),
    "time": "write java.time.LocalTime, or long (ms)", "interval": "write long (ms)",
    **dict.fromkeys(("text", "nvarchar", "nchar", "str", "clob", "keyword"), "write string"),
    **dict.fromkeys(("tinyint", "int8"), "write byte"), **dict.fromkeys(("smallint", "int16"), "write short"),
    **dict.fromkeys(("int32", "int4", "serial", "signed"), "write int"), **dict.fromkeys(("int64", "uint32"), "write long"),
    **dict.fromkeys(("real", "float32"), "write float"), **dict.fromkeys(("float64", "float8"), "write double"),
    **dict.fromkeys(("numeric", "money"), "write bigdecimal, which has no length"),
    **dict.fromkeys(("blob", "bytes", "binary", "varbinary", "bytea"), "write byte[]"),
    **dict.fromkeys(("json", "jsonb", "variant", "dict"), "write java.util.Map"),
    "uuid": "write string, or java.util.UUID", "bit": "write boolean", "logical": "write boolean",
    **dict.fromkeys(("array", "list"), "write the type of the elements with brackets: int[]"),
    **dict.fromkeys(("struct", "row", "record"), "declare its fields by create schema, and write that name"),
}  # fmt: skip
"""Types of columns, in small letters."""

TUMBLING = "intervals that follow one another are #time_batch(10 sec), numbers of rows #length_batch(10)"
SLIDING = "the last seconds are #time(10 sec), the last rows #length(10)"
SESSION = "sessions are a context: create context Session initiated by A terminated after 10 sec, or #time_accum(10 sec)"
WINDOWS: Mapping[str, str] = {
    **dict.fromkeys(("tumbling", "tumble", "timebatch", "fixed", "batch"), TUMBLING), "lengthbatch": "write #length_batch(10)",
    **dict.fromkeys(("sliding", "slide", "hop", "hopping", "range", "rolling"), SLIDING), "session": SESSION,
    "externaltime": "write #ext_timed(timestamp, 10 sec)", "externaltimebatch": "write #ext_timed_batch(timestamp, 10 sec)",
    "last": "write #lastevent", "latest": "write #lastevent", "first": "write #firstevent", "all": "write #keepall",
    "unbounded": "write #keepall", "distinct": "write #unique(key)", "top": "write #rank(key, 10, value desc), or #sort(10, value desc)",
}  # fmt: skip
"""Data windows, in small letters."""

A_UNION = "a union is two statements that insert into one stream"
OF_SQL = "queries in SQL over tables are Runtime.sql(text, tables)"
PHRASES: tuple[tuple[str, str, str], ...] = (
    (r"select (?:all |distinct )?top$", r"\d", "write limit 5 at the end"),
    (r"select top$", "", "write limit 5 at the end"),
    (r"\b(?:row_number|rank|dense_rank|ntile) \( \) over$", "", "the newest rows are #length(10), the largest #rank(key, 10, value desc)"),
    (r"\b(?:varchar|char|nvarchar|string|varchar2)$", r"\(", "a type has no length: write string"),
    (r"\b(?:decimal|numeric|number)$", r"\(", "a type has no length: write bigdecimal"),
    (r"\blag \( .* \) over$", "", EARLIER),
    (r"\blead \( .* \) over$", "", LATER),
    (r"\) over$", r"\(", "aggregations are over the rows of the data window: from Type#length(10)"),
    ("", r"::", "write cast(x, int)"),
    (r"\b(?:from|join|,)$", r"\( *select", "name the inner select by insert into, and select from that stream"),
    (r"^create(?: or replace)?$", r"(?:view|materialized|or)\b", "a view is a statement with insert into: insert into V select …"),
    (r"^create$", r"stream\b", "streams are declared by create schema; insert into declares those that it fills"),
    (r"^$", r"with\b", "name the inner select by insert into, and select from that stream"),
    (r"^$", r"define\b", "streams are declared by create schema"),
    (r"^$", r"from\b", "select comes first: select … from …"),
    (r"\binterval$", r"['\"\d]", "write 10 seconds, without interval and quotes"),
    (r"\) *$|\w$", r"using\b", "write on a.id = b.id"),
    ("", r"ilike\b", "write x.toLowerCase() like 'text'"),
    ("", r"rlike\b|similar\b|~", "write x regexp 'pattern'"),
    (r"\b(?:union|union all|intersect|except)$", r"select\b", A_UNION),
    ("", r"(?:union|intersect|except)\b", A_UNION),
    (r"# \w+ \( \d+$", r"(?:s|sek|second_s|secs)\b", "write sec"),
    (r"# \w+ \( \d+$", r"(?:m|mins|minuten)\b", "write min"),
    (r"# \w+ \( \d+$", r"h\b", "write hour"),
    (r"\boutput .*\btimer$", ":", "an interval is written without timer: output every 1 min"),
    (r"\bwhere timer$", ":", "the guard of a pattern is within its brackets: pattern [(every a=A -> b=B) where timer:within(5 sec)]"),
    (r"#$", r"(?:window|win)\b", "the window is written alone: #time(5 sec)"),
    (r"\bgroup by .+$", r"where\b", "where comes before group by; a condition on aggregations is having count(*) > 3"),
    (r"^context \w+$", "@", "annotations come first: @name('x') context C select …"),
    (r"\b(?:left|right|full)$", r"join\b", "write outer join"),
    (r"\bdistinct$", r"on\b", "one row for each key is from Type#unique(key)"),
    (r"\bfrom .*", r"window (?:tumbling|hopping|session|sliding)\b", "a window follows the type: from Type#time_batch(5 sec)"),
    (r"\bemit$", "", "every select emits its changes; output every 10 sec emits at times"),
    (r"\bqualify$", "", "the first rows of each key are #firstunique(key), the largest #rank(key, 10, value desc)"),
)  # fmt: skip
"""(what is before the place where the text goes wrong, what is there, the hint): patterns over words with one blank between."""
LONGEST = 400
"""Characters of the statement before the place that are looked at."""
_WORDS = re.compile(r"\w+|[^\w\s]")


def phrase_hint(before: str, after: str) -> str | None:
    """Return the hint for the text of a statement that goes wrong between ``before`` and ``after``; None where none is known."""
    written = " ".join(_WORDS.findall(before[-LONGEST:].lower()))
    rest = after[:40].lower()
    return next((hint for left, right, hint in PHRASES if re.search(left, written) and re.match(right, rest)), None)


__all__ = ["FUNCTIONS", "METHODS", "TYPES", "WINDOWS", "phrase_hint"]
