"""Refusals of texts in a SQL dialect: the code and the words of the system named."""
from __future__ import annotations

from typing import NoReturn

from epl.errors import EplRuntimeError, EplUnsupportedError, EplValidationError
from epl.spans import Span

LONGEST = 1_000
"""Characters of a message: it may hold a value of any length."""


class DialectError(EplValidationError):
    """A text that the dialect's system refuses too. ``sql_code``: the name of the system's error, such as ``COLUMN_NOT_FOUND``."""

    def __init__(self, sql_code: str, message: str, at: int, *, hint: str | None = None) -> None:
        super().__init__(message, span=Span(at, at + 1), hint=hint)
        self.sql_code = sql_code


class DialectUnsupported(EplUnsupportedError):
    """A text that the dialect's system runs and that is not supported here."""

    def __init__(self, message: str, at: int, *, hint: str | None = None) -> None:
        super().__init__(message, span=Span(at, at + 1), hint=hint)
        self.sql_code = "NOT_SUPPORTED"


class QueryFailed(EplRuntimeError):
    """A query that failed on its rows. ``sql_code``: the name of the system's error, such as ``DIVISION_BY_ZERO``."""

    def __init__(self, sql_code: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message if len(message) <= LONGEST else f"{message[:LONGEST]}…", hint=hint)
        self.sql_code = sql_code


def query_failure(error: Exception) -> EplRuntimeError:
    """Return what fails in an expression as an error of the query, in words of SQL; what already is one stays as it is."""
    if isinstance(error, EplRuntimeError):
        return error
    if isinstance(error, ZeroDivisionError):
        return QueryFailed("DIVISION_BY_ZERO", "Division by zero")
    if isinstance(error, ArithmeticError):
        return QueryFailed("NUMERIC_VALUE_OUT_OF_RANGE", "an expression gives a value that is out of the range of its type")
    return QueryFailed("INVALID_FUNCTION_ARGUMENT", "a function or an operator does not take the value that it gets")


def raise_failure(error: Exception, at: int | None) -> NoReturn:
    """Raise the error of an expression as one of the query that has the expression's position, or that of the part of it that failed."""
    failure = query_failure(error)
    if failure.span is None and at is not None:
        failure.span = Span(at, at + 1)
    if failure is error:
        raise error
    raise failure from error


def locate_message(error: DialectError | DialectUnsupported, text: str) -> str:
    """Return the message as Trino prints it: ``line 1:8: …``."""
    error.within(text)
    line, column = error.position or (1, 1)
    return f"line {line}:{column}: {error.message}"


__all__ = ["DialectError", "DialectUnsupported", "QueryFailed", "locate_message", "query_failure", "raise_failure"]
