"""Writes what came out into files of cases: ``epl test --update``."""
from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from runtime.tools.rule_tests.files import RESULTS, CaseFile, output_file, read_yaml
from runtime.tools.rule_tests.running import CaseResult


def update(file: CaseFile, results: Sequence[CaseResult]) -> bool:
    """Write the output of all cases of a file as the expected one; return whether the file has changed."""
    if file.path.suffix == ".txt":
        return _write(output_file(file.path), results[0].text)
    if file.path.suffix == ".json":
        data = file.data
        _fill(data, results)
        return _write(file.path, _json_text(data))
    text = file.path.read_text(encoding="utf-8")
    data = read_yaml(file.path, text, round_trip=True)
    _fill(data, results, _a_line_each)
    return _write(file.path, _yaml_text(data))


def _fill(data: Any, results: Sequence[CaseResult], written: Callable[[Any], Any] = lambda value: value) -> None:
    cases = data["cases"] if isinstance(data, dict) else data
    for case, result in zip(cases, results, strict=True):
        for step, played in zip(case["steps"], result.steps, strict=True):
            for key in RESULTS:
                if key == "values" and step["op"] != "get_variable":
                    continue
                value = _drop_empty(played.get(key)) if key == "out" else played.get(key)
                if value is None:
                    step.pop(key, None)
                elif step.get(key) != value:
                    step[key] = written(value)


def _a_line_each(value: Any) -> Any:
    """Return a list for YAML whose elements, listener calls or rows, have a line each: a change reads well in a diff."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq

    if not isinstance(value, list):
        return value
    lines = CommentedSeq()
    for element in value:
        line = CommentedMap(element) if isinstance(element, Mapping) else element
        if isinstance(line, CommentedMap):
            line.fa.set_flow_style()
        lines.append(line)
    return lines


def _drop_empty(calls: Any) -> Any:
    """Return listener calls without what is empty."""
    return None if not calls else [{k: v for k, v in call.items() if v} for call in calls]


def _json_text(data: Any) -> str:
    """Return JSON with a step a line: a change reads well in a diff."""
    head: Mapping[str, Any] = data if isinstance(data, dict) else {}
    cases = data["cases"] if isinstance(data, dict) else data
    indent = "  " if head else ""
    parts = []
    for case in cases:
        rest = "".join(f"{_dump(k)}: {_dump(v)}, " for k, v in case.items() if k != "steps")
        steps = f",\n{indent}    ".join(_dump(step) for step in case["steps"])
        parts.append(f"{indent}  {{{rest}\"steps\": [\n{indent}    {steps}]}}")
    listed = "[\n" + ",\n".join(parts) + f"\n{indent}]"
    if not head:
        return listed + "\n"
    entries = [f"  {_dump(k)}: {listed if k == 'cases' else _dump(v)}" for k, v in head.items()]
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _yaml_text(data: Any) -> str:
    from ruamel.yaml import YAML

    yaml = YAML(typ="rt")
    yaml.width = 140
    yaml.indent(mapping=2, sequence=4, offset=2)
    out = io.StringIO()
    yaml.dump(data, out)
    return out.getvalue()


def _write(path: Path, text: str) -> bool:
    """Write a file as a whole or not at all."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
        if path.exists():
            os.chmod(name, path.stat().st_mode)
        else:
            os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    return True


__all__ = ["update"]
