"""Hints for names of the SQL dialects that are not known: those of other systems, and the nearest known name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

LAG, LEAD = "within match_recognize: PREV(x), PREV(x, 2)", "within match_recognize: NEXT(x), NEXT(x, 2)"
OF_WINDOWS = "within match_recognize: PREV(x), NEXT(x), aggregates of the rows so far; for others, give the table to DuckDB"
NO_OUTPUT = "write MEASURES A.x AS x, or ALL ROWS PER MATCH"
LONGEST = 400
"""Characters before a word that are looked at."""
OF_OTHER_SYSTEMS: Mapping[str, str] = {
    "lag": LAG, "lead": LEAD, "nvl": "write COALESCE(x, y)", "ifnull": "write COALESCE(x, y)", "isnull": "write x IS NULL",
    "nvl2": "write IF(x IS NOT NULL, y, z)", "iff": "write IF(x, y, z)", "iif": "write IF(x, y, z)", "decode": "write CASE x WHEN …",
    **dict.fromkeys(("match_sequence_number", "match_row_number"), "write COUNT(*) among the measures, with ALL ROWS PER MATCH"),
    "match_id": "write MATCH_NUMBER()", "pattern_id": "write MATCH_NUMBER()", "event_name": "write CLASSIFIER()",
    "rpr_first": "write FIRST(x)", "rpr_last": "write LAST(x)",
    "len": "write LENGTH(x)", "charindex": "write STRPOS(x, y)", "instr": "write STRPOS(x, y)", "locate": "write STRPOS(y, x)",
    "to_char": "write DATE_FORMAT(x, '%Y-%m-%d')", "to_date": "write DATE(DATE_PARSE(x, '%Y-%m-%d'))",
    "to_number": "write CAST(x AS DOUBLE)",
    "to_timestamp": "write DATE_PARSE(x, '%Y-%m-%d')", "sysdate": "write NOW()", "getdate": "write NOW()",
    "unix_timestamp": "write TO_UNIXTIME(x)",
    "datediff": "write DATE_DIFF('day', x, y)", "dateadd": "write DATE_ADD('day', 1, x)",
    "collect_list": "write ARRAY_AGG(x)", "list": "write ARRAY_AGG(x)", "median": "write APPROX_PERCENTILE(x, 0.5)",
    "string_agg": "write ARRAY_JOIN(ARRAY_AGG(x), ',')", "group_concat": "write ARRAY_JOIN(ARRAY_AGG(x), ',')",
    "countif": "write COUNT_IF(x)", "any": "write ANY_VALUE(x)",
}  # fmt: skip
"""Functions, in small letters: what Trino's SQL has for them."""


def of_function(name: str, known: Iterable[str], dialect: str) -> str | None:
    """Return the hint for a function that is not known; None where nothing is near."""
    foreign = OF_OTHER_SYSTEMS.get(name.lower()) if dialect == "sql" else None
    return foreign or near(name.lower(), known)


ALONE = "a query alone is read here: write its SELECT, without the statement around it"
WITHIN = "write WITHIN INTERVAL '5' MINUTE after the brackets of PATTERN (…)"
PLACES: tuple[tuple[str, str, str], ...] = (
    (r"^$", r"(?:create|insert|explain|set|use|update|delete|merge|describe|show)$", ALONE),
    (r"^$", r"pivot$", "write SELECT x, SUM(y) FILTER (WHERE z = 'a') AS a FROM t GROUP BY x"),
    (r"\blimit\b", r"offset$", "OFFSET comes before LIMIT"),
    (r"", r":$", "write CAST(x AS type)"),
    (r"", r"qualify$", "name the query by WITH, and write the condition as WHERE of a query over it"),
    (r"", r"ilike$", "write LOWER(x) LIKE 'a%'"),
    (r"", r"(?:rlike|regexp|similar|~)$", "write REGEXP_LIKE(x, 'pattern')"),
    (r"\bselect top$", r"\d+$", "write LIMIT 3 at the end"),
    (r"\bselect .*\*$", r"(?:exclude|except|replace|rename)$", "name the columns instead of *"),
    (r"\bfrom$", r"'", "name the table, and give it with the query: Runtime.sql(text, {'t': pandas.read_csv('t.csv')})"),
    (r"\bwhere .+$", r"from$", "WHERE comes after FROM"),
    (r"\bpattern \([^)]* within$", "", WITHIN),
    (r"\bpattern \([^)]*$", r"within$", WITHIN),
    (r"\bpattern$", "", "a pattern is in brackets: PATTERN (A B+)"),
    (r"\bmeasures .*$", r"(?:pattern|,|one|all|after)$", "a measure has a name: MEASURES A.x AS x"),
)  # fmt: skip
"""(the text before a word that cannot be where it is, that word, the hint): patterns; the first one that matches counts."""


def of_place(written: str, before: str) -> str | None:
    """Return the hint for a word that cannot be where it is; ``before``: the text until there."""
    word, words = written.lower(), " ".join(before[-LONGEST:].lower().split())
    return next((hint for left, right, hint in PLACES if re.match(right, word) and re.search(left, words)), None)


def near(name: str, known: Iterable[str | None]) -> str | None:
    """Return ``did you mean 'x'?`` for the nearest name in any case, None where none is near.

    >>> near("symbl", ["price", "Symbol"])
    "did you mean 'Symbol'?"
    """
    by_key = {each.lower(): each for each in known if each is not None}
    matches = difflib.get_close_matches(name.lower(), by_key, 1, 0.7)
    return f"did you mean '{by_key[matches[0]]}'?" if matches else None


def of_comparison(types: Iterable[str]) -> str | None:
    """Return how to write a time where one is compared with a text."""
    names = sorted(each.partition("(")[0] for each in types)
    if names == ["timestamp", "varchar"]:
        return "write TIMESTAMP '2024-01-31 00:00:00' for a literal, CAST(x AS timestamp) for a column"
    if names == ["date", "varchar"]:
        return "write DATE '2024-01-31' for a literal, CAST(x AS date) for a column"
    return None


__all__ = ["NO_OUTPUT", "OF_WINDOWS", "near", "of_comparison", "of_function", "of_place"]
