"""What Trino says that a function takes, for its messages: the end of «Unexpected parameters (…) for function …»."""
from __future__ import annotations

SIGNATURES: dict[str, str] = {
    "abs": "abs(bigint), abs(decimal(p,s)), abs(double), abs(integer), abs(number), abs(real), abs(smallint), abs(tinyint)",
    "acos": "acos(double)",
    "any_value": "any_value(T) T",
    "approx_distinct": (
        "approx_distinct(T) T:comparable, approx_distinct(T, double) T:comparable, approx_distinct(boolean), "
        "approx_distinct(boolean, double), approx_distinct(unknown), approx_distinct(unknown, double)"
    ),
    "approx_percentile": (
        "approx_percentile(bigint, array(double)), approx_percentile(bigint, double), approx_percentile(bigint, double, "
        "array(double)), approx_percentile(bigint, double, double), approx_percentile(bigint, double, double, double), "
        "approx_percentile(double, array(double)), approx_percentile(double, double), approx_percentile(double, double, "
        "array(double)), approx_percentile(double, double, double), approx_percentile(double, double, double, double), "
        "approx_percentile(real, array(double)), approx_percentile(real, double), approx_percentile(real, double, "
        "array(double)), approx_percentile(real, double, double), approx_percentile(real, double, double, double)"
    ),
    "approx_set": "approx_set(bigint), approx_set(double), approx_set(varchar(x))",
    "arbitrary": "arbitrary(T) T",
    "array_agg": "array_agg(T) T",
    "array_distinct": "array_distinct(array(E)) E:comparable",
    "array_except": "array_except(array(E), array(E)) E:comparable",
    "array_first": "array_first(array(E)) E, array_first(array(E), function(E,boolean)) E",
    "array_intersect": "array_intersect(array(E), array(E)) E:comparable",
    "array_join": "array_join(array(E), varchar) E, array_join(array(E), varchar, varchar) E",
    "array_last": "array_last(array(E)) E",
    "array_max": "array_max(array(T)) T:orderable",
    "array_min": "array_min(array(T)) T:orderable",
    "array_position": "array_position(array(T), T) T:comparable",
    "array_remove": "array_remove(array(E), E) E:comparable",
    "array_sort": "array_sort(array(E)) E:orderable, array_sort(array(T), function(T,T,integer)) T",
    "array_union": "array_union(array(E), array(E)) E:comparable",
    "arrays_overlap": "arrays_overlap(array(E), array(E)) E:comparable",
    "asin": "asin(double)",
    "atan": "atan(double)",
    "atan2": "atan2(double, double)",
    "avg": "avg(bigint), avg(decimal(p,s)), avg(double), avg(interval day to second), avg(interval year to month), avg(number), avg(real)",
    "bit_count": "bit_count(bigint, bigint)",
    "bitwise_and": "bitwise_and(bigint, bigint)",
    "bitwise_and_agg": "bitwise_and_agg(bigint)",
    "bitwise_left_shift": (
        "bitwise_left_shift(bigint, integer), bitwise_left_shift(integer, integer), bitwise_left_shift(smallint, integer), "
        "bitwise_left_shift(tinyint, integer)"
    ),
    "bitwise_not": "bitwise_not(bigint)",
    "bitwise_or": "bitwise_or(bigint, bigint)",
    "bitwise_or_agg": "bitwise_or_agg(bigint)",
    "bitwise_right_shift": (
        "bitwise_right_shift(bigint, integer), bitwise_right_shift(integer, integer), bitwise_right_shift(smallint, integer), "
        "bitwise_right_shift(tinyint, integer)"
    ),
    "bitwise_xor": "bitwise_xor(bigint, bigint)",
    "bitwise_xor_agg": "bitwise_xor_agg(bigint)",
    "bool_and": "bool_and(boolean)",
    "bool_or": "bool_or(boolean)",
    "cardinality": "cardinality(array(E)) E, cardinality(hyperloglog), cardinality(map(K,V)) K, V, cardinality(setdigest)",
    "cbrt": "cbrt(double)",
    "ceil": "ceil(bigint), ceil(decimal(p,s)), ceil(double), ceil(integer), ceil(number), ceil(real), ceil(smallint), ceil(tinyint)",
    "ceiling": (
        "ceiling(bigint), ceiling(decimal(p,s)), ceiling(double), ceiling(integer), ceiling(number), ceiling(real), "
        "ceiling(smallint), ceiling(tinyint)"
    ),
    "chr": "chr(bigint)",
    "codepoint": "codepoint(varchar(1))",
    "concat": (
        "concat(E, array(E)) E, concat(array(E)) E, concat(array(E), E) E, concat(char(x), char(y)), concat(varbinary), "
        "concat(varchar)"
    ),
    "concat_ws": "concat_ws(varchar, array(varchar)), concat_ws(varchar, varchar)",
    "contains": "contains(array(T), T) T:comparable, contains(varchar, ipaddress)",
    "corr": "corr(double, double), corr(real, real)",
    "cos": "cos(double)",
    "cosh": "cosh(double)",
    "count": "count(), count(T) T",
    "count_if": "count_if(boolean)",
    "covar_pop": "covar_pop(double, double), covar_pop(real, real)",
    "covar_samp": "covar_samp(double, double), covar_samp(real, real)",
    "date": "date(timestamp(p) with time zone), date(timestamp(p)), date(varchar(x))",
    "date_add": (
        "date_add(varchar(x), bigint, date), date_add(varchar(x), bigint, time(p) with time zone), date_add(varchar(x), "
        "bigint, time(p)), date_add(varchar(x), bigint, timestamp(p) with time zone), date_add(varchar(x), bigint, "
        "timestamp(p))"
    ),
    "date_diff": (
        "date_diff(varchar(x), date, date), date_diff(varchar(x), time(p) with time zone, time(p) with time zone), "
        "date_diff(varchar(x), time(p), time(p)), date_diff(varchar(x), timestamp(p) with time zone, "
        "timestamp(p) with time zone), date_diff(varchar(x), timestamp(p), timestamp(p))"
    ),
    "date_format": "date_format(timestamp(p) with time zone, varchar(x)), date_format(timestamp(p), varchar(x))",
    "date_parse": "date_parse(varchar(x), varchar(y))",
    "date_trunc": (
        "date_trunc(varchar(x), date), date_trunc(varchar(x), time(p) with time zone), date_trunc(varchar(x), time(p)), "
        "date_trunc(varchar(x), timestamp(p) with time zone), date_trunc(varchar(x), timestamp(p))"
    ),
    "day": "day(date), day(interval day to second), day(timestamp(p) with time zone), day(timestamp(p))",
    "day_of_month": (
        "day_of_month(date), day_of_month(interval day to second), day_of_month(timestamp(p) with time zone), "
        "day_of_month(timestamp(p))"
    ),
    "day_of_week": "day_of_week(date), day_of_week(timestamp(p) with time zone), day_of_week(timestamp(p))",
    "day_of_year": "day_of_year(date), day_of_year(timestamp(p) with time zone), day_of_year(timestamp(p))",
    "degrees": "degrees(double)",
    "dow": "dow(date), dow(timestamp(p) with time zone), dow(timestamp(p))",
    "doy": "doy(date), doy(timestamp(p) with time zone), doy(timestamp(p))",
    "e": "e()",
    "element_at": "element_at(array(E), bigint) E, element_at(map(K,V), K) K, V",
    "ends_with": "ends_with(varchar(x), varchar(y))",
    "every": "every(boolean)",
    "exp": "exp(double)",
    "flatten": "flatten(array(array(E))) E",
    "floor": (
        "floor(bigint), floor(decimal(p,s)), floor(double), floor(integer), floor(number), floor(real), floor(smallint), "
        "floor(tinyint)"
    ),
    "from_base": "from_base(varchar(x), bigint)",
    "from_hex": "from_hex(varbinary), from_hex(varchar(x))",
    "from_iso8601_date": "from_iso8601_date(varchar(x))",
    "from_unixtime": "from_unixtime(double), from_unixtime(double, bigint, bigint), from_unixtime(double, varchar(x))",
    "from_utf8": "from_utf8(varbinary), from_utf8(varbinary, bigint), from_utf8(varbinary, varchar(x))",
    "geometric_mean": "geometric_mean(bigint), geometric_mean(double), geometric_mean(real)",
    "greatest": "greatest(E) E:orderable",
    "hamming_distance": "hamming_distance(varchar(x), varchar(y))",
    "histogram": "histogram(T) T:comparable",
    "hour": (
        "hour(interval day to second), hour(time(p) with time zone), hour(time(p)), hour(timestamp(p) with time zone), "
        "hour(timestamp(p))"
    ),
    "infinity": "infinity()",
    "is_finite": "is_finite(bigint), is_finite(decimal(p,s)), is_finite(double), is_finite(number), is_finite(real)",
    "is_infinite": "is_infinite(bigint), is_infinite(decimal(p,s)), is_infinite(double), is_infinite(number)",
    "is_nan": "is_nan(bigint), is_nan(decimal(p,s)), is_nan(double), is_nan(number), is_nan(real)",
    "kurtosis": "kurtosis(bigint), kurtosis(double)",
    "last_day_of_month": "last_day_of_month(date), last_day_of_month(timestamp(p) with time zone), last_day_of_month(timestamp(p))",
    "least": "least(E) E:orderable",
    "length": "length(char(x)), length(varbinary), length(varchar(x))",
    "levenshtein_distance": "levenshtein_distance(varchar(x), varchar(y))",
    "ln": "ln(double)",
    "log": "log(double, double)",
    "log10": "log10(double)",
    "log2": "log2(double)",
    "lower": "lower(char(x)), lower(varchar(x))",
    "lpad": "lpad(char(x), bigint, varchar(y)), lpad(varbinary, bigint, varbinary), lpad(varchar(x), bigint, varchar(y))",
    "ltrim": "ltrim(char(x)), ltrim(char(x), codepoints), ltrim(varchar(x)), ltrim(varchar(x), codepoints)",
    "map": "map(), map(array(K), array(V)) K:comparable, V",
    "map_agg": "map_agg(K, V) K:comparable, V",
    "map_keys": "map_keys(map(K,V)) K, V",
    "map_values": "map_values(map(K,V)) K, V",
    "max": "max(E, bigint) E:orderable, max(T) T:orderable",
    "max_by": "max_by(V, K) K:orderable, V, max_by(V, K, bigint) K:orderable, V",
    "millisecond": (
        "millisecond(interval day to second), millisecond(time(p) with time zone), millisecond(time(p)), "
        "millisecond(timestamp(p) with time zone), millisecond(timestamp(p))"
    ),
    "min": "min(E, bigint) E:orderable, min(T) T:orderable",
    "min_by": "min_by(V, K) K:orderable, V, min_by(V, K, bigint) K:orderable, V",
    "minute": (
        "minute(interval day to second), minute(time(p) with time zone), minute(time(p)), minute(timestamp(p) with time zone), "
        "minute(timestamp(p))"
    ),
    "mod": (
        "mod(bigint, bigint), mod(decimal(a_precision,a_scale), decimal(b_precision,b_scale)), mod(double, double), "
        "mod(integer, integer), mod(number, number), mod(real, real), mod(smallint, smallint), mod(tinyint, tinyint)"
    ),
    "month": "month(date), month(interval year to month), month(timestamp(p) with time zone), month(timestamp(p))",
    "multimap_agg": "multimap_agg(K, V) K:comparable, V",
    "nan": "nan()",
    "normalize": "normalize(varchar(x), varchar(y))",
    "pi": "pi()",
    "pow": "pow(double, double)",
    "power": "power(double, double)",
    "quarter": "quarter(date), quarter(timestamp(p) with time zone), quarter(timestamp(p))",
    "radians": "radians(double)",
    "regexp_count": "regexp_count(varchar(x), joniregexp)",
    "regexp_extract": "regexp_extract(varchar(x), joniregexp), regexp_extract(varchar(x), joniregexp, bigint)",
    "regexp_extract_all": "regexp_extract_all(varchar(x), joniregexp), regexp_extract_all(varchar(x), joniregexp, bigint)",
    "regexp_like": "regexp_like(varchar(x), joniregexp)",
    "regexp_position": (
        "regexp_position(varchar(x), joniregexp), regexp_position(varchar(x), joniregexp, integer), "
        "regexp_position(varchar(x), joniregexp, integer, integer)"
    ),
    "regexp_replace": (
        "regexp_replace(varchar(x), joniregexp), regexp_replace(varchar(x), joniregexp, varchar(y)), regexp_replace(varchar, "
        "joniregexp, function(array(varchar),varchar(x)))"
    ),
    "regexp_split": "regexp_split(varchar(x), joniregexp)",
    "regr_intercept": "regr_intercept(double, double), regr_intercept(real, real)",
    "regr_slope": "regr_slope(double, double), regr_slope(real, real)",
    "repeat": "repeat(T, bigint) T",
    "replace": "replace(varchar(x), varchar(y)), replace(varchar(x), varchar(y), varchar(z))",
    "reverse": "reverse(array(E)) E, reverse(char(x)), reverse(varbinary), reverse(varchar(x))",
    "round": (
        "round(bigint), round(bigint, integer), round(decimal(p,s)), round(decimal(p,s), integer), round(double), "
        "round(double, integer), round(integer), round(integer, integer), round(number), round(number, integer), round(real), "
        "round(real, integer), round(smallint), round(smallint, integer), round(tinyint), round(tinyint, integer)"
    ),
    "rpad": "rpad(varbinary, bigint, varbinary), rpad(varchar(x), bigint, varchar(y))",
    "rtrim": "rtrim(char(x)), rtrim(char(x), codepoints), rtrim(varchar(x)), rtrim(varchar(x), codepoints)",
    "second": (
        "second(interval day to second), second(time(p) with time zone), second(time(p)), second(timestamp(p) with time zone), "
        "second(timestamp(p))"
    ),
    "sequence": (
        "sequence(bigint, bigint), sequence(bigint, bigint, bigint), sequence(date, date), sequence(date, date, "
        "interval day to second), sequence(date, date, interval year to month), sequence(timestamp(p), timestamp(p), "
        "interval day to second), sequence(timestamp(p), timestamp(p), interval year to month)"
    ),
    "sign": "sign(bigint), sign(decimal(p,s)), sign(double), sign(integer), sign(number), sign(real), sign(smallint), sign(tinyint)",
    "sin": "sin(double)",
    "sinh": "sinh(double)",
    "skewness": "skewness(bigint), skewness(double)",
    "slice": "slice(array(E), bigint, bigint) E",
    "split": "split(varchar(x), varchar(y)), split(varchar(x), varchar(y), bigint)",
    "split_part": "split_part(varchar(x), varchar(y), bigint)",
    "sqrt": "sqrt(double)",
    "starts_with": "starts_with(varchar(x), varchar(y))",
    "stddev": "stddev(bigint), stddev(double)",
    "stddev_pop": "stddev_pop(bigint), stddev_pop(double)",
    "stddev_samp": "stddev_samp(bigint), stddev_samp(double)",
    "strpos": "strpos(varchar(x), varchar(y)), strpos(varchar(x), varchar(y), bigint)",
    "substr": (
        "substr(char(x), bigint), substr(char(x), bigint, bigint), substr(varbinary, bigint), substr(varbinary, bigint, "
        "bigint), substr(varchar(x), bigint), substr(varchar(x), bigint, bigint)"
    ),
    "substring": (
        "substring(char(x), bigint), substring(char(x), bigint, bigint), substring(varchar(x), bigint), substring(varchar(x), "
        "bigint, bigint)"
    ),
    "sum": "sum(bigint), sum(decimal(p,s)), sum(double), sum(interval day to second), sum(interval year to month), sum(number), sum(real)",
    "tan": "tan(double)",
    "tanh": "tanh(double)",
    "to_base": "to_base(bigint, bigint)",
    "to_hex": "to_hex(varbinary)",
    "to_iso8601": "to_iso8601(date), to_iso8601(timestamp(p) with time zone), to_iso8601(timestamp(p))",
    "to_milliseconds": "to_milliseconds(interval day to second)",
    "to_unixtime": "to_unixtime(timestamp(p) with time zone)",
    "to_utf8": "to_utf8(char(x)), to_utf8(varchar(x))",
    "translate": "translate(varchar(x), varchar(y), varchar(z))",
    "trim_array": "trim_array(array(E), bigint) E",
    "truncate": "truncate(decimal(p,s)), truncate(decimal(p,s), integer), truncate(double), truncate(number), truncate(real)",
    "upper": "upper(char(x)), upper(varchar(x))",
    "var_pop": "var_pop(bigint), var_pop(double)",
    "var_samp": "var_samp(bigint), var_samp(double)",
    "variance": "variance(bigint), variance(double)",
    "week": "week(date), week(timestamp(p) with time zone), week(timestamp(p))",
    "week_of_year": "week_of_year(date), week_of_year(timestamp(p) with time zone), week_of_year(timestamp(p))",
    "width_bucket": "width_bucket(double, array(double)), width_bucket(double, double, double, bigint)",
    "year": "year(date), year(interval year to month), year(timestamp(p) with time zone), year(timestamp(p))",
    "year_of_week": "year_of_week(date), year_of_week(timestamp(p) with time zone), year_of_week(timestamp(p))",
    "yow": "yow(date), yow(timestamp(p) with time zone), yow(timestamp(p))",
}
"""Functions by their names in lower case."""
ELSEWHERE = frozenset((
    "ascii", "char_length", "character_length", "initcap", "timestampadd", "timestampdiff", "to_timestamp", "to_timestamp_ltz",
))  # fmt: skip
"""Functions that Trino does not have."""


def describe_signatures(name: str, dialect: str) -> str:
    """Return the end of the message of a call with other arguments."""
    signature = SIGNATURES.get(name) if dialect == "sql" else None
    return "" if signature is None else f". Expected: {signature}"


__all__ = ["ELSEWHERE", "describe_signatures"]
