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
PART = "write x.getHourOfDay(), x.getMinuteOfHour(), x.getDayOfMonth(), x.getYear(); x.getMonthOfYear() is 0 to 11 for long and Date"
UNNEST = "contained events follow the type: from Basket[items], or from Basket[select id, price from items]"
NESTED = "declare the fields by create schema, and write x.y of a nested event, x('y') of a map"
OF_WINDOWS = "write a data window after the type: from Type#time_batch(10 sec) for intervals, Type#time(10 sec) for the last seconds"
OF_SQL_PATTERNS = "@Dialect('sql') before the statement reads match_recognize as SQL defines it, with this function"

FUNCTIONS: Mapping[str, str] = {
    **dict.fromkeys((
        "now", "current_time", "getdate", "sysdate", "localtimestamp", "unix_timestamp", "unixepoch", "proctime", "current_date",
        "localtime", "currenttimemillis", "eventtimestamp", "rowtime", "current_row_timestamp", "systimestamp",
    ), NOW),
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
    **dict.fromkeys(("dayofweek", "day_of_week"), "write x.getDayOfWeek()"),
    **dict.fromkeys(("dayofmonth", "mday"), "write x.getDayOfMonth()"),
    **dict.fromkeys(("date_part", "datepart"), PART), "from_unixtime": "write x.toDate()",
    "lag": EARLIER, "lead": LATER, "next": LATER,
    "row_number": "the newest rows are #length(10), the first ones of an output: limit 10",
    **dict.fromkeys(("rank", "dense_rank"), "the largest rows of each key are #rank(key, 10, value desc)"),
    "first_value": "write first(x)", "last_value": "write last(x)", "any_value": "write last(x)",
    **dict.fromkeys(("array_agg", "collect_list", "string_agg", "listagg", "group_concat"), COLLECT),
    **dict.fromkeys(("count_if", "countif"), "write count(*, condition)"), "sum_if": "write sum(x, condition)",
    **dict.fromkeys(("approx_distinct", "approx_count_distinct", "count_distinct"), "write count(distinct x)"),
    **dict.fromkeys(("stddev_samp", "stddev_pop", "stdev"), "write stddev(x)"),
    **dict.fromkeys(("percentile", "approx_percentile", "quantile"), "write median(x)"),
    **dict.fromkeys(("variance", "var_samp", "var_pop"), "write Math.pow(stddev(x), 2), of a sample: by n - 1"),
    "corr": "write #length(100)#correl(x, y) after the type", "regr_slope": "write #length(100)#linest(x, y) after the type",
    "distinctcount": "write count(distinct x)", "maxforever": "write maxever(x)", "minforever": "write minever(x)",
    "nth_value": "write nth(x, 2)", "earliest": "write first(x)", "latest": "write last(x)",
    **dict.fromkeys(("explode", "unnest", "flatten", "posexplode"), UNNEST),
    "element_at": "write x[0], which counts from 0", "array_contains": "write y in (x)",
    **dict.fromkeys(("cardinality", "size", "array_length"), "write x.countOf() of a collection, x.length() of a text"),
    **dict.fromkeys(("split", "string_to_array"), "write x.split(y)"), "regexp_replace": "write x.replaceAll(y, z)",
    **dict.fromkeys(("rand", "random"), "write Math.random()"), **dict.fromkeys(("trunc", "truncate"), "write cast(x, long)"),
    **dict.fromkeys(("str", "to_string", "tostring", "string", "varchar"), "write cast(x, string)"),
    **{name: f"write Math.{name}(x)" for name in ("sin", "cos", "tan", "asin", "acos", "atan", "cbrt")},
    **dict.fromkeys(("json_extract", "json_value", "json_query", "get_json_object"), NESTED),
    **dict.fromkeys(("tumble_start", "hop_start", "window_start", "tumble_end", "hop_end", "window_end"), OF_WINDOWS),
    "max_by": "write maxby(y).x", "min_by": "write minby(y).x", "arg_max": "write maxby(y).x", "arg_min": "write minby(y).x",
    "classifier": OF_SQL_PATTERNS, "match_number": OF_SQL_PATTERNS,
    **dict.fromkeys(("struct", "row", "named_struct"), "write new {name = x, …}"), "array": "write {x, y}",
    **dict.fromkeys(("tumble", "hop", "session"), OF_WINDOWS),
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
    **dict.fromkeys((
        "timestamp", "datetime", "timestamptz", "timestamp_ltz", "timestamp_ntz", "datetime64", "datetime2", "smalldatetime",
    ), TIMES),
    "time": "write java.time.LocalTime, or long (ms)", "interval": "write long (ms)",
    **dict.fromkeys(("text", "nvarchar", "nchar", "str", "clob", "keyword"), "write string"),
    **dict.fromkeys(("tinyint", "int8"), "write byte"), **dict.fromkeys(("smallint", "int16"), "write short"),
    **dict.fromkeys(("int32", "int4", "serial", "signed"), "write int"),
    **dict.fromkeys(("int64", "uint32", "unsigned", "uint"), "write long"),
    "uint8": "write short", "uint16": "write int", "uint64": "write biginteger", "int128": "write biginteger",
    **dict.fromkeys(("real", "float32"), "write float"), **dict.fromkeys(("float64", "float8"), "write double"),
    **dict.fromkeys(("numeric", "money"), "write bigdecimal, which has no length"),
    **dict.fromkeys(("blob", "bytes", "binary", "varbinary", "bytea"), "write byte[]"),
    **dict.fromkeys(("json", "jsonb", "variant", "dict", "map", "hstore"), "write java.util.Map"),
    "key": "write primary key after the type of its column: id string primary key",
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
    "latest": "write #lastevent", "oldest": "write #firstevent",
    "unbounded": "write #keepall", "delay": LATER,
    **dict.fromkeys(("rows", "countwindow"), "write #length(10), or #length_batch(10)"),
    "cron": "write output at (*/5, *, *, *, *)",
    "top": "write #rank(key, 10, value desc), or #sort(10, value desc)",
}  # fmt: skip
"""Data windows, in small letters."""

STREAMS: Mapping[str, str] = {
    **dict.fromkeys(("unnest", "explode", "flatten", "lateral"), UNNEST),
    **dict.fromkeys(("tumble", "hop", "session", "cumulate", "table"), OF_WINDOWS), "stream": "write the type alone: from Type",
    "withwatermark": "write #time_order(ts, 5 sec), which waits 5 seconds for late events",
    "dual": "write from pattern [timer:interval(0)]",
}  # fmt: skip
"""What is in the from clause, in small letters."""

A_UNION = "a union is two statements that insert into one stream"
A_DIFFERENCE = "write where not exists (select * from W as w where w.x = a.x); exists for what both have"
INNER = "name the inner select by insert into, and select from that stream"
LIMIT = "write limit 5 at the end"
CONTEXT = "write group by key for aggregations, or a context: create context C partition by key from A; context C select …"
FOLLOWED = "write a=A -> b=B"
OF_PATTERN = "write from pattern [every a=A -> b=B]"
A_PATTERN = "write select * from pattern [every a=A -> b=B]"
CAST_AS = "write cast(x, int)"
EVERY = "write output every 10 sec at the end of the select"
PHRASES: tuple[tuple[str, str, str], ...] = (
    # what begins a statement
    (r"^create(?: or replace)?(?: temp\w*| materialized)?$", r"(?:view|materialized|temp\w*|or)\b",
     "a view is a statement with insert into: insert into V select …"),
    (r"^$", r"(?:every|pattern)\b", A_PATTERN),
    (r"^select every \w+$", r"=", A_PATTERN),
    (r"^create$", r"stream\b", "streams are declared by create schema; insert into declares those that it fills"),
    (r"^create$", r"(?:type|event|struct)\b", "write create schema X(a int, b string)"),
    (r"^create(?: or replace)?$", r"function\b",
     "write create expression f { x => x + 1 }, or Runtime.register_function for one in Python"),
    (r"^create$", r"trigger\b", "write on A insert into B select *"),
    (r"^create$", r"(?:source|sink|topic|database|connection)\b", "sources and sinks are runtime.connectors, beside the statements"),
    (r"^create(?: unique)? index$", r"on\b", "an index has a name: create index I on W(x)"),
    (r"^create schema \w+ as$", r"select\b", "write insert into X select …, which declares X"),
    (r"^create table \w+ as$", r"select\b", "write create window V#keepall as A, and insert into V select …"),
    (r"^create(?: constant)? variable .*$", r"default\b", "write create variable int x = 1"),
    (r"^create \w+ \w+ \(.*$", r"not\b|null\b|default\b|references\b|check\b|unique\b|auto_increment\b|comment\b|primary\b",
     "a column is its name and type: it has no constraints"),
    (r"^create \w+ \w+ \(.*$", r"array\b", "write the type of the elements with brackets: int[]"),
    (r"^create \w+ \w+ \(.*\bdouble$", r"precision\b", "write double"),
    (r"^create \w+ \w+ \(.*\bunsigned$", "", "write long"),
    (r"^create \w+ \w+ \(.*\b(?:struct|row|record) <.*$", "", TYPES["struct"]),
    (r"^create \w+ \w+ \(.*\b(?:timestamp|datetime|time|timestamp_ltz)$", r"\(", TIMES),
    (r"\bwatermark$", r"for\b", STREAMS["withwatermark"]),
    (r"\bwithwatermark$", r"\(", STREAMS["withwatermark"]),
    (r"^create \w+ \w+ .*\)$", r"with\b", "sources and sinks are runtime.connectors, beside the statements"),
    (r"^$", r"with\b", INNER),
    (r"^$", r"define\b", "streams are declared by create schema"),
    (r"^$", r"from\b", "select comes first: select … from …"),
    (r"^$", r"declare\b", "write create variable int x = 1"),
    (r"^$", r"set\b", "write on A set x = 1, or Runtime.set_variable(name, value)"),
    (r"^$", r"(?:drop|alter|truncate)\b", "a deployment ends as a whole: Runtime.undeploy; rows of W leave by on A delete from W"),
    (r"^$", r"merge\b", "write on A as a merge W as w where a.v = w.x when matched then update set …"),
    (r"^$", r"(?:show|describe|desc|explain)\b", "Runtime.deployments lists what runs, Statement.explain() and epl explain show plans"),
    (r"^$", r"partition\b", CONTEXT),
    (r"^$", r"output\b", EVERY),
    (r"^@ app$", r":", "write module name; at the beginning, and @name('x') before a statement"),
    (r"^insert into$", r"table\b", "write insert into W select …"),
    (r"^insert$", r"(?!into\b|istream\b|rstream\b|irstream\b)\w", "write insert into B select …"),
    (r"^select\b.*$", r"insert into [\w.]+\s*(?:;|$)", "insert into comes first: insert into B select … from A"),
    # the select clause
    (r"^select (?:all |distinct )?top$", r"\d", LIMIT),
    (r"^select top$", "", LIMIT),
    (r"^select top \( \d+ \) \*$", "", LIMIT),
    (r"^select first$", r"\d", LIMIT),
    (r"^select stream \*$", "", "write select *"),
    (r"^select \*$", r"(?:except|exclude|replace)\b", "name the properties: select x, y"),
    (r"^select\b(?!.*\bfrom\b).*\w$", r'"', "a name in quotes is a text: write as `name`"),
    (r"\bselect$", r"\[", "write `name`"),
    (r"\bdistinct$", r"on\b", "one row for each key is from Type#unique(key)"),
    (r"\b(?:row_number|rank|dense_rank|ntile) \( \) over$", "", "the newest rows are #length(10), the largest #rank(key, 10, value desc)"),
    (r"\blag \( .* \) over$", "", EARLIER),
    (r"\blead \( .* \) over$", "", LATER),
    (r"\) over$", "", "aggregations are over the rows of the data window: from Type#length(10)"),
    (r"\) filter$", r"\(", "write sum(x, filter: y > 1)"),
    (r"\) within group$", r"\(", "write median(x)"),
    (r"\b(?:group_concat|string_agg|listagg|array_agg) \([^()]*$", r"(?:separator|order)\b", COLLECT),
    # expressions
    (r"\bextract \($", "", PART),
    ("", r"(?:year|month|day|hour|minute|second)s? *\(", PART),
    (r"\b(?:both|leading|trailing)$|\btrim \($", "", "write x.trim()"),
    (r"\bposition \([^()]*\bin$", "", INDEX_OF),
    (r"\b(?:try_cast|safe_cast) \([^()]*$", r"as\b", CAST_AS),
    (r"\bsubstring \([^()]*$", r"(?:from|for)\b", SUBSTRING),
    (r"\b(?:str|math|time|json|list|map)$", r":", "functions have no such prefix: write x.toUpperCase(), Math.abs(x)"),
    ("", r"::", CAST_AS),
    (r"! =$", r"=", "write x != y"),
    (r"< =$", r">", "write x is y, which takes null as equal to null"),
    (r"\bis(?: not)?$", r"distinct\b", "write x is y, or x is not y, which take null as a value"),
    (r"\bbetween symmetric$", "", "write x between y and z, whose bounds may be in any order"),
    (r"\bdiv$", "", "write cast(x / y, long)"),
    (r"\*$", r"\*", "write Math.pow(x, y)"),
    (r"\bfrom \w+(?: as \w+)?$", r"->", OF_PATTERN),
    (r"^select\b(?!.*\bpattern\b).*$", r"->", NESTED),
    (r"\?$", r"[?:]", COALESCE),
    (r"(?<!limit)$", r"\?", CASE),
    (r"\bcase\b(?!.*\bend\b).*$", r"(?:from|as)\b|,", CASE),
    (r"\($", r"\w+(?: *, *\w+)+ *\) *in\b", "write exists (select * from W as w where w.x = a.x and w.y = a.y)"),
    (r"\( \w+$", r",[^()]*\) *in\b", "write exists (select * from W as w where w.x = a.x and w.y = a.y)"),
    (r"\b(?:date|timestamp|time|datetime)$", r"['\"]", "write cast('2024-01-31', localdate, dateformat: 'yyyy-MM-dd'), or a number of ms"),
    (r"\b(?:tumble|hop|session|window|tumble_start|tumble_end|cumulate) \([^)]*interval$", "", OF_WINDOWS),
    (r"[+-] interval$|[+-] \d+$", r"['\"]|(?:sec|min|hour|day|week|month|year|milli)", "write x.plus(5 minutes), x.minus(5 minutes)"),
    (r"\binterval$", r"['\"\d]", "write 10 seconds, without interval and quotes"),
    (r"\b(?:varchar|char|nvarchar|string|varchar2)$", r"\(", "a type has no length: write string"),
    (r"\b(?:decimal|numeric|number)$", r"\(", "a type has no length: write bigdecimal"),
    ("", r"ilike\b", "write x.toLowerCase() like 'text'"),
    ("", r"rlike\b|similar\b|~", "write x regexp 'pattern'"),
    ("", r"glob\b", "write x like 'a%'"),
    ("", r"(?:contains|startswith|endswith)\b", "write x.contains(y), x.startsWith(y), x.endsWith(y)"),
    # the from clause
    (r"\bcross join (?:unnest|explode|flatten)$|\blateral(?: view)?$", "", UNNEST),
    (r"\bfrom$", r"table *\(", OF_WINDOWS),
    (r"\bfrom$", r"every\b", OF_PATTERN),
    (r"\b(?:from|join|,)$", r"\( *select", INNER),
    (r"\) *$|\w$", r"using\b", "write on a.id = b.id"),
    ("", r"natural\b", "write on a.id = b.id"),
    ("", r"cross\b", "write a comma: from A#keepall as a, B#keepall as b"),
    (r"\b(?:left|right|full)$", r"join\b", "write outer join"),
    (r"\bfor system_time$", "", "the newest row of each key is B#unique(id)"),
    (r"\bon .*$", r"within\b", "the time of a join is its data windows: from A#time(5 sec) as a, B#time(5 sec) as b"),
    (r"\bpattern \[ .*$", r"within\b", "write (a=A -> b=B) where timer:within(5 sec)"),
    (r"\bpattern \[ [^\]()]*$", r"followed\b|=>|next\b|,", FOLLOWED),
    (r"\bpattern \( .* \)$", r"within\b", "write the limit in define: define B as B.ts - A.ts < 300000"),
    (r"(?:\(|\bevery|\bafter) \d+$", r"(?:s|sek|second_s|secs)\b", "write sec"),
    (r"(?:\(|\bevery|\bafter) \d+$", r"(?:m|mins|minuten)\b", "write min"),
    (r"(?:\(|\bevery|\bafter) \d+$", r"h\b", "write hour"),
    (r"\bwhere timer$", ":", "the guard of a pattern is within its brackets: pattern [(every a=A -> b=B) where timer:within(5 sec)]"),
    (r"#$", r"last\b", WINDOWS["latest"]),
    (r"#$", r"first\b", WINDOWS["oldest"]),
    (r"#$", r"all\b", WINDOWS["unbounded"]),
    (r"#$", r"distinct\b", "write #unique(key)"),
    (r"#$", r"count\b", WINDOWS["rows"]),
    (r"#$", r"(?:window|win)\b", "the window is written alone: #time(5 sec)"),
    (r"\bfrom .*", r"window (?:tumbling|hopping|session|sliding)\b", "a window follows the type: from Type#time_batch(5 sec)"),
    (r"\bfrom .*\b(?:range|keep|retain|rows)$", r"\d", SLIDING),
    (r"\bfrom .*\btrigger$", r"\d", EVERY),
    # what follows it
    (r"\bfrom (?!.*\bmatch_recognize\b).*$", r"partition\b", CONTEXT),
    (r"\bgroup by .+$", r"where\b", "where comes before group by; a condition on aggregations is having count(*) > 3"),
    (r"\bgroup by$", r"all\b", "write group by x, y"),
    (r"\bgroup by .*$", r"with (?:rollup|cube)\b", "write group by rollup(x)"),
    (r"\bhaving .*$", r"group\b", "group by comes before having"),
    (r"\border by .*$", r"nulls\b", "nulls come first: write order by case when x is null then 1 else 0 end, x"),
    (r"\blimit \w+$", r"with ties\b", "limit counts rows, and leaves out those that tie with the last one"),
    (r"\bunnest \( .* \) as \w+$", r"\(", UNNEST),
    (r"\bfetch$", r"(?:first|next)\b", LIMIT),
    (r"^(?!.*\blimit\b).*$", r"offset\b", "write limit 10 offset 1"),
    (r"\boutput .*\btimer$", ":", "an interval is written without timer: output every 1 min"),
    (r"\boutput every .*$", r"(?:last|first|all|snapshot)\b", "write output last every 5 events"),
    (r"\boutput(?: \w+)?$", r"\d", EVERY),
    (r"\bfrom [^\[]*$", r"every \d", EVERY),
    (r"\b(?:union|union all)$", r"select\b", A_UNION),
    ("", r"union\b", A_UNION),
    (r"\b(?:intersect|except|minus)$", r"select\b", A_DIFFERENCE),
    ("", r"(?:intersect|except)\b", A_DIFFERENCE),
    (r"^context \w+$", "@", "annotations come first: @name('x') context C select …"),
    (r"\bemit$", "", "every select emits its changes; output every 10 sec emits at times"),
    ("", r"emit\b", "every select emits its changes; output every 10 sec emits at times"),
    (r"\bqualify$", "", "the first rows of each key are #firstunique(key), the largest #rank(key, 10, value desc)"),
)  # fmt: skip
"""(what is before the place where the text goes wrong, what is there, the hint): patterns over words with one blank between. The first
one that matches counts; annotations before the statement are not seen."""
LONGEST = 400
"""Characters of the statement before the place that are looked at."""
_WORDS = re.compile(r"\w+|[^\w\s]")
_ANNOTATIONS = re.compile(r"^(?:@ \w+ \( [^()]*\) )+")


def word_hint(words: Mapping[str, str], name: str) -> str | None:
    """Return the hint for a name that one of these tables has, whatever follows it in brackets; None for any other name.

    >>> word_hint(TYPES, "Text(20)")
    'write string'
    """
    return words.get(re.split(r"[(<\[]", name, maxsplit=1)[0].strip().lower())


def phrase_hint(before: str, after: str) -> str | None:
    """Return the hint for the text of a statement that goes wrong between ``before`` and ``after``; None where none is known."""
    written = _ANNOTATIONS.sub("", " ".join(_WORDS.findall(before[-LONGEST:].lower())) + " ").strip()
    rest = after[:80].lower()
    return next((hint for left, right, hint in PHRASES if re.search(left, written) and re.match(right, rest)), None)


__all__ = ["FUNCTIONS", "METHODS", "STREAMS", "TYPES", "WINDOWS", "phrase_hint", "word_hint"]
