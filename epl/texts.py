"""The check of every argument that is EPL or SQL: a text, or a path to a file that holds it."""
from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from epl.errors import EplError

FILE_NAME = re.compile(r"[\w.~+/\\:-]+\.(?:epl|sql|ddl|txt)", re.IGNORECASE)
"""One word that ends as a file's name does."""


def load_text(value: object, expected: str = "EPL text", *, others: str = "") -> str:
    """Return a text as it is, or what the file holds that an ``os.PathLike`` leads to.

    Args:
        value: What a caller has passed.
        expected: What the text is called in the error.
        others: What the caller takes beside texts, for the error.

    Raises:
        TypeError: It is neither.
        FileNotFoundError: There is no such file; another OSError where it cannot be read.
        ValueError: The file is not UTF-8.

    Examples:
        >>> load_text("select * from A")
        'select * from A'
        >>> load_text(b"select * from A")
        Traceback (most recent call last):
          ...
        TypeError: EPL text is expected, or a pathlib.Path to its file, not bytes: decode it
        >>> load_text(None, others="a plan of compile")
        Traceback (most recent call last):
          ...
        TypeError: EPL text is expected, or a pathlib.Path to its file, or a plan of compile, not None
    """
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        path = Path(os.fsdecode(value))
        try:
            return path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: not UTF-8 at offset {error.start}") from error
    more = f", or {others}" if others else ""
    raise TypeError(f"{expected} is expected, or a pathlib.Path to its file{more}, not {_describe(value)}")


def _describe(value: object) -> str:
    if value is None:
        return "None"
    kind = type(value).__name__
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"{kind}: decode it"
    if isinstance(value, (list, tuple)):
        return f"a {kind}: join the statements by ';'"
    return f"an open file ({kind}): read it" if hasattr(value, "read") else f"{kind}"


@contextmanager
def hinting_at_files(text: str) -> Iterator[None]:
    """Give the error of a text that looks like a file's name the hint to pass a path."""
    try:
        yield
    except EplError as error:
        if len(text) < 1000 and FILE_NAME.fullmatch(text.strip()):
            error.hint = f"'{text.strip()}' looks like the name of a file: pass pathlib.Path({text.strip()!r})"
        raise


__all__ = ["hinting_at_files", "load_text"]
