"""Write docs/reference/*.md: every data window, pattern operator, aggregation function, function and method, with an example that was run.

    python docs/make_reference.py            write the pages
    python docs/make_reference.py --results  put what the examples give here into examples.json, then write the pages

What there is, signatures and meanings come from the registries; the examples and their results from docs/reference/examples.json:
``types`` (create schema texts), ``given`` (one event of a type, for the examples that are one expression) and ``pages``. An example is a
statement (``epl``, ``steps``: an event ``{"send": type, "event": {…}}`` or ``{"time": ms}``, with the rows that come out in ``new`` and
``old``), or ``given`` and ``expression`` with its ``result``. ``refused``: the words with which it is refused here. ``esper``: what
Esper 9.0.0 does, where that is another thing.
"""
from __future__ import annotations

import json
import pathlib
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from epl.plan.patterns.pattern_reference import ELEMENTS  # noqa: E402
from runtime.tools.reference import ReferenceEntry, entries, method_class  # noqa: E402
from tests.replay.player import replay_trace  # noqa: E402

FOLDER = ROOT / "docs" / "reference"
EXAMPLES = FOLDER / "examples.json"
Example = dict[str, Any]
"""As in examples.json."""

TITLES = {
    "windows": "Data windows and derived-value windows",
    "patterns": "Patterns",
    "aggregations": "Aggregation functions",
    "functions": "Static methods and conversions",
    "methods": "Methods of values",
    "enumeration": "Enumeration methods",
    "date_time": "Date-time and interval methods",
}


HEADINGS = {e.key: e.title for e in ELEMENTS}


def read_examples() -> dict[str, Any]:
    """examples.json."""
    examples: dict[str, Any] = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return examples


def write_examples(examples: Mapping[str, Any]) -> None:
    """examples.json, an example or a step a line."""
    text = ['{"types": {', ",\n".join(f"  {_json(k)}: {_json(v)}" for k, v in examples["types"].items()), "},"]
    text += ['"given": {', ",\n".join(f"  {_json(k)}: {_json(v)}" for k, v in examples["given"].items()), "},", '"pages": {']
    pages = []
    for page, shown in examples["pages"].items():
        pages.append(f"{_json(page)}: {{\n" + ",\n".join(f"  {_json(k)}: {_example_text(e)}" for k, e in shown.items()) + "\n}")
    EXAMPLES.write_text("\n".join([*text, ",\n".join(pages), "}}"]) + "\n", encoding="utf-8")


def _example_text(example: Example) -> str:
    if not example.get("steps"):
        return _json(example)
    steps = ",\n".join(f"    {_json(s)}" for s in example["steps"])
    rest = _json({k: v for k, v in example.items() if k != "steps"})
    return f'{rest[:-1]}, "steps": [\n{steps}]}}'


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# ------------------------------------------------------------------ running an example


def run(example: Example, examples: Mapping[str, Any]) -> Example:
    """The example with what it gives in a fresh Runtime whose clock starts at 0."""
    steps = example.get("steps", [])
    if "expression" in example:
        steps = [{"send": example["given"], "event": examples["given"][example["given"]]}]
    text = ";\n".join([*schemas(statement(example), examples["types"]), f"@name('example') {statement(example)}"])
    trace = replay_trace({"start_time": 0, "listen": "all", "steps": [{"op": "deploy", "epl": text}, *map(_step, steps)]})
    deployed, *done = json.loads(json.dumps(trace["steps"]))
    if "exception" in deployed:
        return {**example, "refused": deployed["exception"]}
    failed = [s["exception"] for s in done if "exception" in s]
    if failed:
        raise ValueError(f"{statement(example)}: {failed[0]}")
    if "expression" in example:
        return {**example, "result": done[0]["out"][0]["new"][0]["result"]}
    return {**example, "steps": [{**_input(s), **_rows(d)} for s, d in zip(steps, done)]}


def statement(example: Example) -> str:
    """The EPL of an example."""
    return str(example["epl"]) if "epl" in example else f"select {example['expression']} as result from {example['given']}"


def schemas(text: str, types: Mapping[str, str]) -> list[str]:
    """The declarations of the types that a text names, each after those that it needs itself."""
    texts: list[str] = []
    for name in re.findall(r"\w+", text):
        if name in types and types[name] != text:
            texts += [s for s in (*schemas(types[name], types), types[name]) if s not in texts]
    return texts


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    if "time" in step:
        return {"op": "time", "ms": step["time"]}
    return {"op": "event", "type": step["send"], "props": step["event"]}


def _input(step: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in step.items() if k not in ("new", "old")}


def _rows(done: Mapping[str, Any]) -> dict[str, Any]:
    calls = done.get("out", [])
    both = {side: [row for call in calls for row in call[side] or ()] for side in ("new", "old")}
    return {side: rows for side, rows in both.items() if rows}


# ------------------------------------------------------------------ pages


def pages(examples: Mapping[str, Any]) -> dict[str, str]:
    """The text of each page by its name, with the results that examples.json holds."""
    known = entries()
    return {page: "\n".join(_page(page, known[page], examples)).rstrip() + "\n" for page in TITLES}


def _page(page: str, known: Mapping[str, ReferenceEntry], examples: Mapping[str, Any]) -> Iterable[str]:
    shown: Mapping[str, Example] = examples["pages"][page]
    without = [key for key in known if key not in shown]
    if without:
        raise SystemExit(f"docs/reference/examples.json has no example of {', '.join(without)} (page {page})")
    yield from (f"# {TITLES[page]}", "", "Generated by `python docs/make_reference.py`, which runs every example.")
    used = dict.fromkeys(e["given"] for e in shown.values() if "given" in e)
    if not used:
        yield from ("", "An example is a statement over the types below, followed by its input (an event, or the engine time), one per "
                    "line, each with the rows of the insert stream (new) and the remove stream (old) that it emits.", "", "```epl")
        yield from (f"{s};" for s in schemas(" ".join(statement(e) for e in shown.values()), examples["types"]))
        yield "```"
    else:
        yield from ("", "The examples are of the form `select <expression> as result from "
                    f"{' | '.join(used)}`, over these types and events:", "")
        for name in used:
            yield from ("```", *(f"{s};" for s in schemas(name, examples["types"])), _json(examples["given"][name]), "```", "")
        yield ("Results are JSON: Date and Calendar are milliseconds since 1970, times of java.time are ISO strings, decimals have no "
               "trailing zeros.")
    yield ""
    if page == "patterns":
        yield from ("A time line goes from left to right: a column for each event and each step of the engine's time, and below it the "
                    "matches that it brings.", "")
    if page == "windows":
        yield from (
            "A picture shows the same example: events from left to right, each in the window for as long as its bar, and the rows that "
            "the statement emits. They are drawn by [recordings](../pictures.md#timelines) (`python docs/make_pictures.py`).", "")
    yield from _tables(known, shown) if page in ("functions", "methods") else _sections(known, shown, drawn=page == "windows")


def _sections(known: Mapping[str, ReferenceEntry], shown: Mapping[str, Example], *, drawn: bool = False) -> Iterable[str]:
    for key, (signature, meaning, line) in known.items():
        example = shown[key]
        yield from (f"## {HEADINGS.get(key, key)}", "", "```", *signature.split(" | "), "```", "", _sentence(meaning), "")
        if line:
            yield from ("```", line, "```", "")
        if "expression" in example:
            yield from (f"`{example['expression']}` → `{_result(example)}`", "")
        elif key in HEADINGS:
            yield from ("```", *_time_line(example), "```", "")
        else:
            yield from ("```epl", example["epl"], "```", "", "```", *_statement_lines(example), "```", "")
        if drawn and "refused" not in example:
            yield from (f"![The example of {key} along time](../pictures/{key}.svg)", "")
        if "esper" in example:
            yield from (f"Differs from Esper: {example['esper']}", "")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _result(example: Example) -> str:
    return f"refused: {example['refused']}" if "refused" in example else _json(example["result"])


def _tables(known: Mapping[str, ReferenceEntry], shown: Mapping[str, Example]) -> Iterable[str]:
    before = None
    for key, (signature, meaning, _) in known.items():
        example = shown[key]
        if method_class(key) != before:
            before = method_class(key)
            yield from ("", f"## {before}", "", "| signature | meaning | example | result |", "|---|---|---|---|")
        signatures = "<br>".join(f"`{s}`" for s in signature.split(" | "))
        note = f" Differs from Esper: {example['esper']}" if "esper" in example else ""
        yield f"| {signatures} | {_cell(_sentence(meaning) + note)} | `{_cell(example['expression'])}` | `{_cell(_result(example))}` |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _statement_lines(example: Example) -> Iterable[str]:
    if "refused" in example:
        yield f"refused: {example['refused']}"
        return
    sides = [s for s in ("new", "old") if any(s in step for step in example["steps"])]
    columns = next(list(row) for step in example["steps"] for side in sides for row in step.get(side, ()))
    table = [["", *(f"{side}: {', '.join(columns)}" for side in sides)]]
    for step in example["steps"]:
        rows = [[_values(r.values()) for r in step.get(side, ())] for side in sides]
        for n in range(max(1, *map(len, rows))):
            table.append([_entered(step) if n == 0 else "", *(r[n] if n < len(r) else "" for r in rows)])
    widths = [max(map(len, column)) for column in zip(*table)]
    for cells in table:
        yield "   ".join(c.ljust(w) for c, w in zip(cells, widths)).rstrip()


def _time_line(example: Example) -> Iterable[str]:
    """The input from left to right, and below each step the rows that it brings."""
    yield from (example["epl"], "")
    if "refused" in example:
        raise ValueError(f"{example['epl']}: {example['refused']}")
    deepest = max(len(step.get("new", ())) for step in example["steps"])
    names = next((list(row) for step in example["steps"] for row in step.get("new", ())), [])
    table = [["", ", ".join(names), *[""] * max(deepest - 1, 0)]]
    for step in example["steps"]:
        rows = [_values(row.values()) for row in step.get("new", ())]
        table.append([_entered(step), *rows, *[""] * (max(deepest, 1) - len(rows))])
    widths = [max(map(len, column)) for column in table]
    for cells in zip(*table):
        yield "   ".join(c.ljust(w) for c, w in zip(cells, widths)).rstrip()


def _entered(step: Mapping[str, Any]) -> str:
    if "time" in step:
        return f"time {step['time'] / 1000:g} sec"
    return f"{step['send']} {_values(step['event'].values())}"


def _values(values: Iterable[Any]) -> str:
    return ", ".join("null" if v is None else v if isinstance(v, str) else _json(v) for v in values)


def main(arguments: list[str]) -> None:
    """Write the pages; with ``--results`` the results of the examples first."""
    examples = read_examples()
    if "--results" in arguments:
        results = {page: {k: run(e, examples) for k, e in shown.items()} for page, shown in examples["pages"].items()}
        examples = {**examples, "pages": results}
        write_examples(examples)
    for page, text in pages(examples).items():
        (FOLDER / f"{page}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
