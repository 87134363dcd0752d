"""Files of traces: which there are, reading and writing one."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def trace_files(path: Path) -> list[tuple[Path, Path]]:
    """Return (file, path relative to ``path``) of all trace files of a folder, or of the one file."""
    if path.is_file():
        return [(path, Path(path.name))]
    paths = sorted(p for p in path.rglob("*") if p.name.endswith((".json", ".json.gz")) and p.name not in ("index.json", "ledger.json"))
    return [(p, p.relative_to(path)) for p in paths]


@contextmanager
def integers_of_any_length() -> Iterator[None]:
    """Read and write integers of more digits than Python does by default; the process's own limit holds again afterwards."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(limit)


def read_traces(path: Path) -> list[dict[str, Any]]:
    """Return the traces of one file, .json or .json.gz: a list of traces (or of cases of a SQL dialect), or a single one."""
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as handle, integers_of_any_length():
        try:
            traces = json.load(handle)
        except RecursionError:
            raise ValueError("nested too deeply") from None
    if isinstance(traces, dict):
        traces = [traces]
    if not isinstance(traces, list) or not all(isinstance(t, dict) and ("steps" in t or "dialect" in t) for t in traces):
        raise ValueError("a list of traces is expected")
    return traces


def write_traces(path: Path, traces: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "wt", encoding="utf-8") as handle, integers_of_any_length():
        json.dump(traces, handle, ensure_ascii=False)
