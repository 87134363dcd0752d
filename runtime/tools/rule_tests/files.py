"""Files of tests beside modules: ``NAME.test.json``, ``NAME.test.yaml`` and scripts ``NAME.test.txt``.

A file of cases is a list of cases, or an object with ``module`` (a file or a list of files beside it; default: ``NAME.epl``), ``imports``,
``config`` (Esper's configuration file, beside it), ``start_time`` (ms) and ``cases``. A case has ``name`` and ``steps``; each step has
``op`` and what CONTRIBUTING's cases have, with the expected output: ``out`` (listener calls), ``rows`` (iterate, faf), ``values``
(get_variable), ``exception``. A script is one of EPL Online; its expected output is the text of ``NAME.test.out``.
"""
from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from epl.errors import EplError, EplSyntaxError
from epl.reprs import brief
from runtime.clock.instants import FIRST, LAST
from runtime.extras import install
from runtime.replay.epl_online import DEFAULT_START, At, Later, parse_script, parse_time

SUFFIXES = (".test.json", ".test.yaml", ".test.yml", ".test.txt")
RESULTS = ("out", "rows", "values", "exception")
"""The keys of what a step expects."""
OPS: Mapping[str, tuple[str, ...]] = {
    "deploy": ("epl",), "event": ("type", "props"), "time": ("ms",), "time_span": ("ms",), "iterate": ("statement",), "faf": ("epl",),
    "set_variable": ("values",), "get_variable": ("values",), "undeploy": (), "undeploy_all": (),
}
"""Steps, and what each must have."""
OF_FILE = frozenset({"module", "imports", "config", "start_time", "cases"})
DEEPEST = 100
"""The depth to which lists and mappings of YAML may be nested."""
LARGEST = 16 << 20
"""Longest file of cases, bytes."""


class BadCaseFile(Exception):
    """A file of cases that cannot be read: ``str()`` says where and why."""


@attrs.frozen
class RuleCase:
    """A case: its steps, what they expect included, after the modules have been deployed. ``is_script``: ``expected_text`` is its output
    as EPL Online prints it; None: none has been written yet."""

    name: str
    steps: tuple[Mapping[str, Any], ...]
    is_script: bool = False
    expected_text: str | None = None


@attrs.frozen
class CaseFile:
    """The cases of one file. ``data``: what the file holds, as it was read."""

    path: Path
    modules: tuple[Path, ...]
    imports: tuple[str, ...]
    start_time: int
    cases: tuple[RuleCase, ...]
    data: Any
    config: Path | None = None


def is_case_file(path: Path) -> bool:
    return path.name.endswith(SUFFIXES)


def case_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files, and those below the folders, each once and sorted; raise BadCaseFile where a path leads to none."""
    chosen: dict[Path, None] = {}
    for path in paths:
        below = sorted(p for p in path.rglob("*.test.*") if is_case_file(p)) if path.is_dir() else [path]
        if not path.exists():
            raise BadCaseFile(f"cannot read {path}: no such file or folder")
        if not below:
            raise BadCaseFile(f"no tests ({', '.join('*' + s for s in SUFFIXES)}) in {path}")
        if not is_case_file(path) and not path.is_dir():
            raise BadCaseFile(f"{path}: tests are called {', '.join('NAME' + s for s in SUFFIXES)}")
        chosen.update(dict.fromkeys(below))
    return list(chosen)


def read_cases(path: Path) -> CaseFile:
    """Read a file of cases; raise BadCaseFile."""
    stem = next(path.name.removesuffix(s) for s in SUFFIXES if path.name.endswith(s))
    text = _text(path)
    if path.suffix == ".txt":
        return _script(path, stem, text)
    data = _json(path, text) if path.suffix == ".json" else read_yaml(path, text)
    head: Mapping[str, Any] = data if isinstance(data, dict) else {"cases": data}
    unknown = sorted(map(str, head.keys() - OF_FILE))
    if unknown:
        raise BadCaseFile(f"{path}: unknown entry '{unknown[0]}'; there are {', '.join(sorted(OF_FILE))}")
    modules = tuple(path.parent / name for name in _texts(path, head, "module", [f"{stem}.epl"]))
    start = head.get("start_time", 0)
    if type(start) is not int or not FIRST <= start <= LAST:
        raise BadCaseFile(f"{path}: start_time: ms expected, not {brief(start)}")
    cases = head.get("cases")
    if not isinstance(cases, list):
        raise BadCaseFile(f"{path}: a list of cases is expected")
    config = head.get("config")
    if config is not None and not isinstance(config, str):
        raise BadCaseFile(f"{path}: config: the name of a file is expected")
    return CaseFile(
        path, modules, tuple(_texts(path, head, "imports", [])), start, tuple(_cases(path, cases)), data,
        None if config is None else path.parent / config,
    )


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise BadCaseFile(f"{path}: longer than {LARGEST >> 20} MB")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadCaseFile(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BadCaseFile(f"{path}: not UTF-8 at offset {error.start}") from None


def _json(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadCaseFile(f"{path}:{error.lineno}:{error.colno}: {error.msg}") from None
    except ValueError:
        raise BadCaseFile(f"{path}: a number has too many digits") from None
    except RecursionError:
        raise BadCaseFile(f"{path}: nested too deeply") from None


def read_yaml(path: Path, text: str, *, round_trip: bool = False) -> Any:
    """Read YAML 1.2; ``round_trip``: with its comments and layout, to be written again. Aliases are refused: a short text could stand for
    an endless one."""
    try:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import MarkedYAMLError
        from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent
    except ModuleNotFoundError:
        raise BadCaseFile(f"{path}: YAML needs another package: {install('rules')} (JSON needs none)") from None
    yaml = YAML(typ="rt" if round_trip else "safe", pure=True)
    depth = 0
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
            if depth > DEEPEST:  # what reads YAML needs time for the square of the depth
                raise BadCaseFile(f"{path}:{event.start_mark.line + 1}: nested more than {DEEPEST} deep")
            if isinstance(event, AliasEvent):
                raise BadCaseFile(f"{path}:{event.start_mark.line + 1}: aliases (*{event.anchor}) are not read; write the value out")
        data = yaml.load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        raise BadCaseFile(f"{path}{where}: {error.problem or error.context}") from None
    except BadCaseFile:
        raise
    except Exception as error:  # noqa: BLE001 - of the text: signs that YAML has not, dates that there are not, numbers of thousands of digits
        raise BadCaseFile(f"{path}: cannot be read as YAML: {' '.join(str(error).split())}") from None
    return data if round_trip else _plain(data)


def _plain(value: Any) -> Any:
    """Return the same with dates as text: a case says values as JSON does."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return value.isoformat() if isinstance(value, (datetime.date, datetime.datetime)) else value


def _texts(path: Path, head: Mapping[str, Any], key: str, default: list[str]) -> list[str]:
    value = head.get(key, default)
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise BadCaseFile(f"{path}: {key}: a text or a list of texts is expected")
    return listed


def _cases(path: Path, cases: Sequence[Any]) -> Iterable[RuleCase]:
    names: set[str] = set()
    for number, case in enumerate(cases, 1):
        where = f"{path}: case {number}"
        if not isinstance(case, dict) or not isinstance(case.get("name"), str) or not isinstance(case.get("steps"), list):
            raise BadCaseFile(f"{where}: an object with name and steps is expected")
        name = case["name"]
        if name in names:
            raise BadCaseFile(f"{where}: another case is called {name!r}")
        names.add(name)
        for place, step in enumerate(case["steps"], 1):
            _check_step(f"{where} ({name}), step {place}", step)
        yield RuleCase(name, tuple(case["steps"]))


def _check_step(where: str, step: Any) -> None:
    if not isinstance(step, dict) or step.get("op") not in OPS:
        shown = step.get("op") if isinstance(step, dict) else step
        raise BadCaseFile(f"{where}: no such op: {shown!r}; there are {', '.join(OPS)}")
    missing = [key for key in OPS[step["op"]] if key not in step]
    if missing:
        raise BadCaseFile(f"{where}: {step['op']} needs '{missing[0]}'")


def _script(path: Path, stem: str, text: str) -> CaseFile:
    start = now = parse_time(DEFAULT_START)
    steps: list[Mapping[str, Any]] = []
    try:
        for _, instruction in parse_script(text):
            if isinstance(instruction, (At, Later)):
                now = instruction.ms if isinstance(instruction, At) else now + instruction.ms
                steps.append({"op": "time_span", "ms": now})
            else:
                steps.append({"op": "event", "type": instruction.type, "props": instruction.values})
    except EplSyntaxError as error:
        position = error.within(text).position
        raise BadCaseFile(f"{path}:{position[0]}:{position[1]}: {error.message}" if position else f"{path}: {error.message}") from None
    except EplError as error:
        raise BadCaseFile(f"{path}: {error.message}") from None
    expected = output_file(path)
    case = RuleCase(stem, tuple(steps), True, _text(expected) if expected.exists() else None)
    return CaseFile(path, (path.parent / f"{stem}.epl",), (), start, (case,), None)


def output_file(script: Path) -> Path:
    """Return the file of a script's expected output.

    >>> output_file(Path("rules/jumps.test.txt")).as_posix()
    'rules/jumps.test.out'
    """
    return script.with_suffix(".out")


__all__ = ["RESULTS", "BadCaseFile", "CaseFile", "RuleCase", "case_files", "is_case_file", "output_file", "read_cases", "read_yaml"]
