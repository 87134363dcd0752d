"""Small mistakes in our own texts: what Esper reads, we read; what it refuses as no EPL, we refuse."""

from __future__ import annotations

import gzip
import json
import pathlib

import mutations
import pytest

from epl.errors import EplError, EplSyntaxError
from epl.parse import parse_module
from epl.unparse import unparse

TEXTS = mutations.paragraphs(mutations.HERE / "texts")


def is_epl(text: str) -> bool:
    """Whether the text is EPL, whatever it means."""
    try:
        parse_module(text)
    except EplSyntaxError:
        return False
    except EplError:
        return True
    return True


@pytest.mark.parametrize("text", TEXTS, ids=[text[:60] for text in TEXTS])
def test_own_texts_are_read_and_written_back(text: str) -> None:
    module = parse_module(text)
    assert len(module.statements) == 1
    assert parse_module(unparse(module)) == module


def test_mutations_are_judged_as_esper_judges_them() -> None:
    recorded = json.loads(gzip.decompress(pathlib.Path(mutations.HERE, "mutations.json.gz").read_bytes()))
    different = [(accepted, text) for text, accepted in recorded if is_epl(text) != accepted]
    assert len(recorded) >= 2000
    assert len(different) <= 0.05 * len(recorded), "\n".join(
        f"{'Esper reads' if accepted else 'Esper refuses'}: {text}" for accepted, text in different[:20]
    )
