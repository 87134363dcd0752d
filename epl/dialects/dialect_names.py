"""The names of the SQL dialects."""
from __future__ import annotations

DIALECT_NAMES = ("sql", "flink", "alibaba", "ydb")

__all__ = ["DIALECT_NAMES"]
