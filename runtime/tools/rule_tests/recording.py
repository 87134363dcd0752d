"""Records what goes into a runtime and what comes out, as a test that ``epl test`` runs: ``NAME.test.json``, ``NAME.test.yaml``, or a
script ``NAME.test.txt`` with its ``NAME.test.out``."""
from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import attrs

from epl.errors import EplRuntimeError
from runtime.api.runtime import Runtime, internal_engine
from runtime.api.statement import Statement
from runtime.conversion.rows import Rows
from runtime.replay.epl_online import DEFAULT_START, format_time, output_text, parse_time
from runtime.replay.trace_values import json_row, json_value
from runtime.tools.rule_tests.files import SUFFIXES, output_file

WORD = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
BREAK = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")


@attrs.frozen
class RecordedScript:
    """The subject of a recording: the module and those deployed before it, the beginning of time (ms), what all modules import, and Esper's
    configuration file."""

    modules: Sequence[Path]
    start_time: int
    imports: Sequence[str]
    config: Path | None = None


class ScriptWriter(Protocol):
    def step(self, step: Mapping[str, Any]) -> None: ...

    def output(self, at: int, calls: Sequence[tuple[str, Rows, Rows]]) -> None: ...

    def close(self) -> None: ...


class Recorder:
    """Sends events and moves time as a runtime does, and writes each step with the listener calls that it caused.

    The file is written while the runtime runs, and complete when the recorder is closed. Raises EplRuntimeError for a file whose name is
    none of a test's, and for an event whose values cases cannot hold.
    """

    def __init__(self, path: Path, runtime: Runtime, recorded: RecordedScript) -> None:
        self.runtime = runtime
        internal_engine(runtime).properties_read.read_all()
        self._writer: ScriptWriter = _writer(path, recorded)
        self._calls: list[tuple[str, Rows, Rows, int]] = []
        for deployment in runtime.deployments.values():
            for statement in deployment:
                if statement.plan.selects:
                    statement.add_listener(self._heard)

    def _heard(self, new: Rows, old: Rows, statement: Statement, runtime: Runtime) -> None:
        self._calls.append((statement.name, new, old, runtime.now))

    @property
    def now(self) -> int:
        return self.runtime.now

    @property
    def next_due(self) -> int | None:
        return self.runtime.next_scheduled_time

    def check(self, event_type: str, values: dict[str, Any]) -> object:
        """Raise EplRuntimeError where the values are not an event of the type."""
        return self.runtime.event_of(event_type, values)

    def send(self, event_type: str, values: dict[str, Any]) -> None:
        """Send an event and record it."""
        event = self.runtime.event_of(event_type, values)
        props = json_value(event, None)
        if json_value(self.runtime.event_of(event_type, props), None) != props:
            raise EplRuntimeError(f"the event {values} of type '{event_type}' cannot be recorded: a case has values of JSON")
        self.runtime.send(event_type, values)
        self._write({"op": "event", "type": event_type, "props": props})

    def move(self, target: int) -> None:
        """Walk to a time and record it."""
        if target != self.runtime.now:
            self.runtime.advance_time_span(target)
            self._write({"op": "time_span", "ms": target})

    def finish(self) -> None:
        """Note that the input is at its end; a case has no step for what is emitted then."""
        self.runtime.end_of_input()
        self._calls = []

    def _write(self, step: dict[str, Any]) -> None:
        calls, self._calls = self._calls, []
        out = []
        for name, new, old, at in calls:
            call = {"statement": name, "new": [json_row(row) for row in new], "old": [json_row(row) for row in old]}
            out.append({key: value for key, value in call.items() if value})
            self._writer.output(at, [(name, new, old)])
        self._writer.step(step | {"out": out} if out else step)

    def close(self) -> None:
        """Complete the file."""
        self._writer.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def check_record_path(path: Path) -> str:
    """Return the suffix of a test's file; raise EplRuntimeError for another name."""
    suffix = next((s for s in SUFFIXES if path.name.endswith(s) and path.name != s), None)
    if suffix is None:
        raise EplRuntimeError(f"a test is called NAME{', NAME'.join(SUFFIXES)}, not {path.name}", hint="epl test finds it by its name")
    return suffix


def _writer(path: Path, recorded: RecordedScript) -> ScriptWriter:
    suffix = check_record_path(path)
    return _ScriptWriter(path, recorded) if suffix == ".test.txt" else _CaseWriter(path, recorded, suffix == ".test.json")


class _CaseWriter:
    """A file with one case, a step a line."""

    def __init__(self, path: Path, recorded: RecordedScript, is_json: bool) -> None:
        head: dict[str, Any] = {"module": [_beside(path, module) for module in recorded.modules]}
        if recorded.config is not None:
            head["config"] = _beside(path, recorded.config)
        if recorded.imports:
            head["imports"] = list(recorded.imports)
        if recorded.start_time:
            head["start_time"] = recorded.start_time
        self._is_json, self._is_first = is_json, True
        self._file = path.open("w", encoding="utf-8", newline="\n")
        entries = "".join(f"  {_json(key)}: {_json(value)},\n" if is_json else f"{key}: {_json(value)}\n" for key, value in head.items())
        begin = '{{\n{}  "cases": [\n    {{"name": "recorded", "steps": [' if is_json else "{}cases:\n  - name: recorded\n    steps:"
        self._file.write(begin.format(entries))

    def step(self, step: Mapping[str, Any]) -> None:
        if self._is_json:
            self._file.write(f"{'' if self._is_first else ','}\n      {_json(step)}")
        else:
            self._file.write(f"\n      - {_json(step)}")
        self._is_first = False

    def output(self, at: int, calls: Sequence[tuple[str, Rows, Rows]]) -> None:
        """Do nothing: the output is in the steps."""

    def close(self) -> None:
        end = "]}]}\n" if self._is_json else " []\n" if self._is_first else "\n"
        self._file.write(end)
        self._file.close()


class _ScriptWriter:
    """A script of EPL Online, and what comes out as EPL Online prints it."""

    def __init__(self, path: Path, recorded: RecordedScript) -> None:
        beside = path.with_name(f"{path.name.removesuffix('.test.txt')}.epl")
        if len(recorded.modules) != 1 or recorded.modules[0].resolve() != beside.resolve() or recorded.imports or recorded.config:
            raise EplRuntimeError(
                f"the script {path} is a test of {beside} alone", hint=f"record to {path.with_suffix('.json')}, which names its modules"
            )
        if recorded.start_time != parse_time(DEFAULT_START):
            hint = f"record to {path.with_suffix('.json')}, or leave out --start"
            raise EplRuntimeError(f"the time of a script begins at {DEFAULT_START}", hint=hint)
        self._file = path.open("w", encoding="utf-8", newline="\n")
        self._out = output_file(path).open("w", encoding="utf-8", newline="\n")
        self._at: int | None = None
        self._calls: list[tuple[str, Rows, Rows]] = []

    def step(self, step: Mapping[str, Any]) -> None:
        if step["op"] == "time_span":
            self._file.write(f't = "{format_time(step["ms"])}"\n')
        else:
            self._file.write(f"{_word(step['type'])} = {_script_value(step['props']) if step['props'] else '{}'}\n")

    def output(self, at: int, calls: Sequence[tuple[str, Rows, Rows]]) -> None:
        if at != self._at:
            self._flush()
            self._at = at
        self._calls += calls

    def _flush(self) -> None:
        if self._calls and self._at is not None:
            self._out.write(f"{output_text(self._at, self._calls)}\n")
        self._calls = []

    def close(self) -> None:
        self._flush()
        self._file.close()
        self._out.close()


def _beside(path: Path, file: Path) -> str:
    """Return where a file is, from the folder of the recording."""
    return os.path.relpath(file, path.parent).replace(os.sep, "/")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _word(name: str) -> str:
    if not all(WORD.fullmatch(part) for part in name.split(".")) or name == "t":
        raise _not_in_script(f"the name {name!r}")
    return name


def _not_in_script(what: str) -> EplRuntimeError:
    return EplRuntimeError(f"{what} cannot be written in a script", hint="record to NAME.test.json")


def _script_value(value: Any) -> str:
    """
    >>> _script_value({"symbol": "O'K", "price": 1.5, "tags": ["a"], "of": None})
    "{symbol='O\\\\'K', price=1.5, tags={'a'}, of=null}"
    """
    if isinstance(value, Mapping):
        if not value:
            raise _not_in_script("an empty map")
        return f"{{{', '.join(f'{_word(str(k))}={_script_value(v)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"{{{', '.join(map(_script_value, value))}}}"
    if isinstance(value, str):
        if BREAK.search(value):
            raise _not_in_script("text of several lines")
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return "null" if value is None else "true" if value is True else "false" if value is False else repr(value)


__all__ = ["RecordedScript", "Recorder", "check_record_path"]
