"""Errors that the documents quote are raised in these words."""

from __future__ import annotations

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def source() -> str:
    """Return the text of all packages, with strings of several lines joined."""
    text = "\n".join(path.read_text(encoding="utf-8") for folder in ("epl", "windows", "runtime") for path in (ROOT / folder).rglob("*.py"))
    return re.sub(r'"\s*\n\s*f?"', "", text)


def quoted_limits() -> list[str]:
    """Return the messages in the table of limits of docs/settings.md."""
    _, table = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8").split("| what | limit | error |")
    return [quote for line in table.splitlines() for quote in re.findall(r"`([^`]{20,})`", line.rpartition(" | ")[2])]


def quoted_blocks() -> list[str]:
    """Return the messages in blocks of the manuals of Spark."""
    pages = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("spark.md", "operations.md")]
    block = re.compile(r"^(?:\[epl:|Spark's Python workers).*(?:\n +.*)*", re.MULTILINE)
    return [re.sub(r"\s+", " ", message) for page in pages for message in block.findall(page)]


def runs(message: str, length: int) -> list[str]:
    """Return all runs of ``length`` words of a message that have no name, number or value between them."""
    pieces = re.split(r"…|;|(?<!\w)'[^']*'|\[[^\]]*\]|\{[^}]*\}|\([^)]*\)|\d[\w,.]*", message)
    words = [piece.strip(" :,.()").split() for piece in pieces]
    return [" ".join(each[i : i + length]) for each in words for i in range(len(each) - length + 1)]


@pytest.mark.parametrize(("messages", "length"), [(quoted_limits(), 3), (quoted_blocks(), 2)], ids=["limits", "Spark"])
def test_quoted_errors_are_those_of_the_source(messages: list[str], length: int) -> None:
    text = source()
    assert len(messages) >= 3
    for message in messages:
        assert any(run in text for run in runs(message, length)), message
