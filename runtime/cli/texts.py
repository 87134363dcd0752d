"""Reading module files and printing errors the way compilers do."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from epl.errors import EplError
from runtime.cli import UsageError
from runtime.engine import Runtime


def read_text(path: Path) -> str:
    """A file's text, or standard input for ``-``; UsageError where it cannot be read."""
    if str(path) == "-":
        return sys.stdin.read()
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def shown_name(path: Path) -> str:
    return "<stdin>" if str(path) == "-" else str(path)


def print_error(path: Path, text: str, error: EplError, to: TextIO | None = None) -> None:
    """``path:line:column: error: message [code]``, the line with a caret, the hint."""
    out = to or sys.stderr
    position = error.within(text).position
    where = f":{position[0]}:{position[1]}" if position else ""
    print(f"{shown_name(path)}{where}: error: {error.message} [{error.code}]", file=out)
    if position is not None and error.span is not None and error.text is not None:
        for row in error.span.caret(error.text).splitlines():
            print(f"    {row}", file=out)
    if error.hint:
        print(f"    hint: {error.hint}", file=out)


def deploy_first(runtime: Runtime, files: Iterable[Path]) -> bool:
    """Deploy the modules of ``--with``; False (with the error printed) where one is refused."""
    for path in files:
        text = read_text(path)
        try:
            runtime.deploy(text)
        except EplError as error:
            print_error(path, text, error)
            return False
    return True
