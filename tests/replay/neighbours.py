"""Types that a trace names and does not describe, as where it only compiles: the traces of one suite are preconfigured alike, so they are
taken from those beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.replay.reading import read_traces, trace_files

Schema = Mapping[str, Mapping[str, Any]]
WORD = re.compile(r"\w+")
MAKES = re.compile(r"\b(?:schema|window|table|into|context)\s+(\w+)", re.IGNORECASE)


def with_neighbours(trace: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the trace with the types that its texts name, that it neither describes nor makes, and that its suite knows."""
    known = _described(folder).get(str(trace.get("suite")), {})
    texts = " ".join(str(step.get("epl", "")) for step in trace["steps"])
    own = trace.get("schema") or {}
    imports = trace.get("config", {}).get("imports", ())
    missing = set(WORD.findall(texts)) - own.keys() - set(MAKES.findall(texts))
    added: dict[str, Mapping[str, Any]] = {}
    for name in sorted(missing & known.keys()):
        if known[name]["kind"] != "enum" or _imported(str(known[name].get("class")), imports):
            _add(name, known, own, added)
    return {**trace, "schema": {**own, **added}} if added else trace


def _imported(name: str, imports: tuple[str, ...]) -> bool:
    return name in imports or f"{name.rsplit('.', 1)[0]}.*" in imports


def _add(name: str, known: Schema, own: Schema, added: dict[str, Mapping[str, Any]]) -> None:
    """Add the type and those of its properties and above it."""
    if name in own or name in added or name not in known:
        return
    added[name] = known[name]
    for written in (*(known[name].get("props") or {}).values(), *known[name].get("supertypes", ())):
        for inner in WORD.findall(written):
            _add(inner, known, own, added)


@lru_cache(maxsize=16)
def _described(folder: Path) -> Mapping[str, Schema]:
    """Return suite → type → its description, those that all traces of the folder describe alike."""
    suites: dict[str, dict[str, Any]] = {}
    for suite, name, entry in _entries(folder):
        types = suites.setdefault(suite, {})
        types[name] = entry if types.get(name, entry) == entry else None
    return {suite: {n: e for n, e in types.items() if e is not None} for suite, types in suites.items()}


def _entries(folder: Path) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, below in trace_files(folder):
        if below.parent != Path("."):
            continue
        try:
            traces = read_traces(path)
        except (OSError, EOFError, ValueError):
            continue  # replaying that file reports it
        for trace in traces:
            for name, entry in (trace.get("schema") or {}).items():
                yield str(trace.get("suite")), name, entry


__all__ = ["with_neighbours"]
