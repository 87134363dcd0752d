"""MATCH_RECOGNIZE as other systems have it: SQL:2016 (as Trino runs it), Flink, Alibaba, YDB. Pure language: text → plan.

``queries.compile_query`` is the entrance; docs/design/sql-dialects.md says how the pieces fit.
"""
