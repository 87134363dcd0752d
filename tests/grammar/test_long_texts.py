"""Literals of megabytes: a module is read and written in memory that grows with its length alone."""
from __future__ import annotations

import re
import tracemalloc

from hypothesis import assume, given
from hypothesis import strategies as st

from epl.grammar.lexis import _TOKEN
from epl.parse import parse_module
from epl.unparse.words import string

STRING = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)


@given(st.text(alphabet="a'\"\\\n", max_size=12), st.sampled_from("'\""))
def test_a_string_ends_where_its_quote_stands(text: str, quote: str) -> None:
    written = quote + text
    assume(not written.startswith('"""'))  # a token of its own
    token, expected = _TOKEN.match(written), STRING.match(written)
    found = token["string"] if token is not None else None
    assert found == (None if expected is None else expected[0])


@given(st.text(alphabet="a'\"\\\n", max_size=12))
def test_what_is_written_is_read(text: str) -> None:
    written = string(text)
    (token,) = [t for t in [_TOKEN.fullmatch(written)] if t is not None]
    assert re.sub(r"\\(.)", r"\1", token["string"][1:-1], flags=re.DOTALL) == text


def test_memory_of_a_long_literal() -> None:
    text = "select '" + "x" * 1_000_000 + "' as z from X"
    parse_module("select 'x' as z from X")  # the grammar is made once
    tracemalloc.start()
    try:
        parse_module(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * len(text)
