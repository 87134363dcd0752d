"""Keys of a context that statements read in place of properties: what was stored before is restored."""
from __future__ import annotations

import pathlib
import zipfile
from typing import Any

import pytest

from runtime import Runtime

STORED = pathlib.Path(__file__).parent / "stored" / "shapes.zip"
"""``create context X partition by k from A, k from B`` after an A, a B and a SubA, with ``select …, count(*) … output last every 10 sec``
over SubA, which was taken for fully aggregated, and over a join of A and B, which was not."""


@pytest.mark.parametrize(("name", "expected"), [("join", [{"k": "a", "c": 2}]), ("sub-type", [])])
def test_output_last_of_another_shape_is_restored(name: str, expected: list[dict[str, Any]]) -> None:
    with zipfile.ZipFile(STORED) as archive:
        runtime = Runtime.restore(archive.read(f"{name}.bin"))
    rows: list[dict[str, Any]] = []
    runtime.statement("s").add_listener(lambda new, old, *_: rows.extend(row.to_dict() for row in new or ()))
    runtime.advance_time_span(10_000)
    assert rows == expected
    runtime.send("SubA", {"k": "a", "g": 1, "n": 1})
    runtime.advance_time_span(20_000)
    assert rows == [*expected, {"k": "a", "c": 3 if name == "join" else 2}]
