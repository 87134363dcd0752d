"""Drawn row patterns of the SQL dialects over streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.restarts.drawn_modules import Drawn

SQL = (
    ("A B+ C", "B AS B.v > A.v, C AS C.v < PREV(C.v)"),
    ("A (B | C)* D", "B AS B.v > 5, C AS C.v <= 2, D AS D.g = 1"),
    ("PERMUTE(A, B, C)", "A AS A.v > 5, B AS B.v < 3, C AS C.g = 1"),
    ("A B*? C", "C AS C.g = 1"),
    ("A {- B+ -} C", "B AS B.v > 1, C AS C.b"),
    ("A{2,3}", "A AS sum(A.v) < 20"),
    ("A+ B?", "A AS count(A.v) < 4 AND A.v > 1"),
    ("(A B)+ C?", "A AS A.g = 0, B AS B.g <> 0"),
)
FLINK = (
    ("A B+ C", "B AS B.v > A.v, C AS C.v < LAST(B.v)"),
    ("A B* C", "B AS B.v > 2, C AS C.v < 2"),
    ("A+ B", "A AS A.v > 1, B AS B.v <= 1"),
    ("A B{1,2} C", "B AS B.g < 2, C AS C.b"),
)
YDB = (("A B+ C", "B AS B.v > LAST(A.v), C AS C.g = 1"), ("A+ B", "A AS A.v > 1, B AS B.v < 2"))
SKIPS = "", "AFTER MATCH SKIP PAST LAST ROW ", "AFTER MATCH SKIP TO NEXT ROW "


def in_dialects(draw: Drawn) -> str:
    """match_recognize of each dialect, ordered by a column or as rows come, with rows that are kept, and clauses around it."""
    dialect = draw.one("sql", "sql", "sql", "flink", "ydb")
    pattern, define = draw.one(*{"sql": SQL, "flink": FLINK, "ydb": YDB}[dialect])
    shown = {"sql": ["LAST(n) AS z", "FIRST(A.n) AS a", "count(*) AS c", "sum(v) AS t", "CLASSIFIER() AS cl", "MATCH_NUMBER() AS mn",
                     "array_agg(A.n) AS list"],
             "flink": ["FIRST(A.n) AS a", "LAST(A.n) AS z", "SUM(A.v) AS t"],
             "ydb": ["FIRST(A.n) AS a", "LAST(B.n) AS z", "COUNT(*) AS c"]}[dialect]
    rows = draw.one("", "ONE ROW PER MATCH ", "ALL ROWS PER MATCH ", "ALL ROWS PER MATCH WITH UNMATCHED ROWS ") if dialect == "sql" else ""
    skip = draw.one(*SKIPS, *(("AFTER MATCH SKIP TO LAST B ",) if " B" in pattern and dialect == "sql" else ()))
    order = draw.one("ORDER BY ts ", "ORDER BY n ") if dialect == "sql" else "ORDER BY ts "
    within = draw.maybe(0.25, " WITHIN INTERVAL '2' SECOND") if dialect == "flink" else ""
    partition = draw.one("", "PARTITION BY k ", "PARTITION BY k, g ")
    measures = ", ".join(draw.some(tuple(shown), 1, 3))
    clause = f"{partition}{order}MEASURES {measures} {rows}{skip}PATTERN ({pattern}){within} DEFINE {define}"
    if draw.of.random() < 0.2:
        return draw.named(f"@Dialect('{dialect}') select count(*) as c from E{draw.one('', '(n > 2)')} match_recognize ({clause}) as m")
    return draw.named(f"@Dialect('{dialect}') select * from E match_recognize ({clause}) as m{draw.output(0.15)}")


__all__ = ["in_dialects"]
