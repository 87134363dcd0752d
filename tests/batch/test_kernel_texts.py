"""The source of three kernels as it was reviewed: what a change of the printers does to them is seen in the difference.

``python -m tests.batch.test_kernel_texts`` writes the files again.
"""
from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from runtime import Runtime
from runtime.batch.match_recognize.choice import pattern_kernel
from runtime.batch.match_recognize.layout import REGISTERS as PATTERN
from runtime.batch.select_statement.kernel import select_kernel
from runtime.batch.storage.registers import SELECT, Registers

FOLDER = Path(__file__).parent / "kernel_texts"
SCHEMA = "@public @buseventtype create schema T(k string, x double, n int);\n"
STATEMENTS = {
    "filter": "select k, x * 2 as w from T(n > 0)",
    "window": "select sum(x) as s, count(*) as c from T#length(3)",
    "row_pattern": "select * from T match_recognize (partition by n measures A.x as a, B.x as b pattern (A B) define B as B.x > A.x)",
}


def source_of(text: str) -> str:
    with Runtime() as runtime:
        runtime.deploy(SCHEMA)
        plan: Any = runtime.compile(f"@name('s') {text}").statements[0].body
        kernel = select_kernel(plan) if plan.row_recognition is None else pattern_kernel(plan)
        return kernel.source


@pytest.mark.parametrize("name", STATEMENTS)
def test_kernels_are_printed_as_they_were(name: str) -> None:
    assert source_of(STATEMENTS[name]) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "registers"), [("filter", SELECT), ("window", SELECT), ("row_pattern", PATTERN)])
def test_kernels_read_registers_at_their_places(name: str, registers: Registers) -> None:
    read = re.findall(r"^ +(\w+) = R\[(\d+)\]", source_of(STATEMENTS[name]), re.MULTILINE)
    assert len(read) > 5
    assert {variable: int(place) for variable, place in read} == {variable: registers[variable] for variable, _ in read}


def test_a_register_that_is_not_declared() -> None:
    with pytest.raises(KeyError):
        SELECT["rows"]


if __name__ == "__main__":
    for each, statement in STATEMENTS.items():
        (FOLDER / f"{each}.txt").write_text(source_of(statement), encoding="utf-8")
