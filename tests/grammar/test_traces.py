"""Recorded behaviour of Esper: every text it deployed, compiled or queried is read; what it refused as no EPL is refused, and nothing else.

EPL_TRACES names the folder of traces (``<suite>/*.json[.gz]``); without it the tests are skipped.
"""

from __future__ import annotations

import gzip
import json
import os
import pathlib
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from epl.errors import EplError, EplSyntaxError
from epl.parse import parse_module, parse_query
from epl.syntax import Module, Statement
from epl.unparse import unparse

FOLDER = os.environ.get("EPL_TRACES")
pytestmark = [
    pytest.mark.traces, pytest.mark.skipif(not FOLDER, reason="EPL_TRACES names no folder of traces"),
    pytest.mark.xdist_group("texts of traces"),  # which one process reads once
]
NOT_EPL = ("Incorrect syntax", "Unexpected end-of-input", "Failed to parse")
ACCEPTED = {"deploy", "compile", "faf"}
Text = tuple[str, str]
"""Kind (module or faf) and text."""


def steps() -> Iterator[dict[str, Any]]:
    for path in sorted(pathlib.Path(FOLDER or ".").glob("*/*.json*")):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for trace in json.loads(content):
            yield from trace["steps"]


@cache
def texts() -> tuple[set[Text], dict[Text, str]]:
    """Texts that ran, and texts that were refused with their message. Texts that the recorder itself printed are omitted: not all of
    them read back."""
    good: set[Text] = set()
    bad: dict[Text, str] = {}
    for step in steps():
        text = step.get("epl")
        if not text or step.get("epl_from_statements"):
            continue
        kind = "faf" if step["op"] == "faf" or step.get("kind") == "faf" else "module"
        if step["op"] in ACCEPTED and not _is_artefact(text):
            good.add((kind, text))
        elif step["op"] == "compile_error":
            bad[kind, text] = step["message"]
    return good, bad


def _is_artefact(text: str) -> bool:
    """A name with quotes in it was set by code, and printed without escapes."""
    return text.lstrip().startswith("@name('name--")


@cache
def parsed(text: Text) -> Module | Statement:
    """The tree of a text, which several tests look at."""
    return parse_query(text[1]) if text[0] == "faf" else parse_module(text[1])


@cache
def read(text: Text) -> EplError | None:
    try:
        parsed(text)
    except EplError as error:
        return error
    return None


def test_what_ran_is_read() -> None:
    good, _ = texts()
    refused = [f"{error}\n{text[1][:200]}" for text in sorted(good) if (error := read(text)) is not None]
    assert len(good) > 4000
    assert not refused, f"{len(refused)} of {len(good)}\n" + "\n".join(refused[:5])


def test_what_esper_cannot_read_is_refused() -> None:
    _, bad = texts()
    read_anyway = [text[1] for text, message in bad.items() if message.startswith(NOT_EPL) and not isinstance(read(text), EplSyntaxError)]
    assert not read_anyway


def test_what_esper_reads_and_refuses_is_read() -> None:
    _, bad = texts()
    syntax = [text[1] for text, message in bad.items() if not message.startswith(NOT_EPL) and isinstance(read(text), EplSyntaxError)]
    assert len(syntax) <= 1, syntax  # one holds a Java object's identity hash in place of a constant


def test_messages_begin_as_espers() -> None:
    _, bad = texts()
    lines = [(message, read(text)) for text, message in bad.items() if message.startswith("Incorrect syntax")]
    same = [
        message
        for message, error in lines
        if error is not None and message.split(" at line ")[0].startswith(error.message.split(" expecting ")[0])
    ]
    assert len(same) >= 0.9 * len(lines)


def test_texts_are_written_back() -> None:
    good, _ = texts()
    for text in good:
        again = parse_query if text[0] == "faf" else parse_module
        tree = parsed(text)
        assert again(unparse(tree)) == tree
