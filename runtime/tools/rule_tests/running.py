"""Runs cases: a fresh runtime each, the modules deployed, the steps played, the output held against what is expected."""
from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from epl.errors import EplError, EplWarning
from epl.settings import Settings
from runtime.api.deployment import Deployment
from runtime.api.runtime import Runtime, internal_engine
from runtime.api.statement import Statement
from runtime.conversion.rows import Rows
from runtime.esper_config import EsperConfig, read_esper_config
from runtime.replay.epl_online import output_text
from runtime.replay.step_player import Step, StepPlayer
from runtime.tools.rule_tests.comparing import differences
from runtime.tools.rule_tests.coverage import Coverage
from runtime.tools.rule_tests.files import RESULTS, BadCaseFile, CaseFile, RuleCase


@attrs.frozen
class CaseResult:
    """The result of a case. ``steps``: with this engine's output; ``text``: of a script, as EPL Online prints it; ``failure``: lines that
    say what differs, empty where the case passes."""

    case: RuleCase
    steps: tuple[Mapping[str, Any], ...]
    text: str
    failure: tuple[str, ...]


class CaseRunner:
    """Runs the cases of one file; raise BadCaseFile for modules that cannot be read or are refused. ``register`` is called with the runtime
    of each case before its modules are deployed. ``unknown``: what is done with undeclared properties (``Settings.unknown_properties``)."""

    def __init__(
        self, file: CaseFile, coverage: Coverage | None = None, register: Callable[[Runtime], None] | None = None, unknown: str = "warn"
    ) -> None:
        self.file = file
        self._unknown = unknown
        self._coverage = coverage
        self._register = register
        self._modules = [(path, _module_text(file, path)) for path in file.modules]

    def run(self, case: RuleCase) -> CaseResult:
        player = _Player(self.file, self._coverage, self._register, self._unknown)
        self._deploy(player)
        played: list[Mapping[str, Any]] = []
        for step in case.steps:
            done = player.play(step)
            played.append({key: value for key, value in done.items() if key in step or key in RESULTS})
        player.runtime.close()
        text = player.text()
        failure = _script_failure(case, played, text) if case.is_script else _failure(case.steps, played)
        return CaseResult(case, tuple(played), text, tuple(failure))

    def _deploy(self, player: _Player) -> None:
        for path, text in self._modules:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EplWarning)
                try:
                    player.deploy_module(text)
                except EplError as error:
                    located = error.within(text)
                    where = ":".join(map(str, (path, *(located.position or ()))))
                    hint = f" (hint: {error.hint})" if error.hint else ""
                    raise BadCaseFile(f"{where}: {error.message}{hint}") from None


class _Player(StepPlayer):
    """A player whose runtime has an application's settings, and whose listeners' calls are kept for a script's text."""

    def __init__(self, file: CaseFile, coverage: Coverage | None, register: Callable[[Runtime], None] | None, unknown: str) -> None:
        self._file, self._coverage, self._register, self._unknown = file, coverage, register, unknown
        self._texts: list[str] = []
        self._at: int | None = None
        self._rows: list[tuple[str, Rows, Rows]] = []
        super().__init__()

    def new_runtime(self) -> Runtime:
        config = _read_config(self._file)
        settings = Settings() if config is None else config.settings
        settings = attrs.evolve(settings, imports=(*settings.imports, *self._file.imports), unknown_properties=self._unknown)
        runtime = Runtime(start_time=self._file.start_time, settings=settings, on_error=self.on_error, tier="row")
        if config is not None:
            _declare(self._file, config, runtime)
        if self._register is not None:
            self._register(runtime)
        if self._coverage is not None:
            internal_engine(runtime).observe_patterns(rows=self._coverage.took, events=self._coverage.came)
        return runtime

    def deploy_module(self, text: str) -> None:
        self.deploy_item({"epl": text})

    def deploy_item(self, item: Step) -> Deployment:
        deployment = super().deploy_item(item)
        if self._coverage is not None:
            self._coverage.add_deployment(deployment)
        return deployment

    def collect(self, new: Rows, old: Rows, statement: Statement, runtime: Runtime) -> None:
        if self._coverage is not None:
            self._coverage.emits(statement.name)
        if runtime.now != self._at:
            self._flush()
            self._at = runtime.now
        self._rows.append((statement.name, new, old))
        if self.caused:
            super().collect(new, old, statement, runtime)
            self.caused[-1].calls[-1].pop("deployment", None)

    def _flush(self) -> None:
        if self._rows and self._at is not None:
            self._texts.append(output_text(self._at, self._rows))
        self._rows = []

    def text(self) -> str:
        """Return all that listeners got, as EPL Online prints it."""
        self._flush()
        return "".join(f"{text}\n" for text in self._texts)


def _read_config(file: CaseFile) -> EsperConfig | None:
    if file.config is None:
        return None
    try:
        return read_esper_config(file.config)
    except OSError as error:
        raise BadCaseFile(f"{file.path}: cannot read the configuration {file.config}: {error.strerror or error}") from None
    except EplError as error:
        raise BadCaseFile(error.message) from None


def _declare(file: CaseFile, config: EsperConfig, runtime: Runtime) -> None:
    try:
        config.declare(runtime, {})
    except EplError as error:
        raise BadCaseFile(f"{file.path}: {error.message}") from None


def _module_text(file: CaseFile, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadCaseFile(f"{file.path}: cannot read the module {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BadCaseFile(f"{path}: not UTF-8 at offset {error.start}") from None


def _failure(expected: Sequence[Mapping[str, Any]], played: Sequence[Mapping[str, Any]]) -> list[str]:
    lines: list[str] = []
    for number, (awaited, got) in enumerate(zip(expected, played, strict=True), 1):
        of_step = differences(awaited, got)
        if of_step:
            lines.append(f"step {number} ({_describe(awaited)}):")
            lines += [f"  {line}" for line in of_step]
    return lines


def _describe(step: Mapping[str, Any]) -> str:
    what = next((str(step[key]) for key in ("type", "statement", "ms", "epl") if key in step), "")
    return f"{step['op']} {what[:60]}".strip()


def _script_failure(case: RuleCase, played: Sequence[Mapping[str, Any]], text: str) -> list[str]:
    raised = [f"- exception: None\n+ exception: {step['exception']}" for step in played if "exception" in step]
    if raised:
        return raised
    if case.expected_text is None:
        return ["no expected output yet: run `epl test --update`, and read what it writes"]
    awaited = case.expected_text.splitlines()
    got = text.splitlines()
    if awaited == got:
        return []
    return [line.rstrip("\n") for line in difflib.unified_diff(awaited, got, "expected", "actual", lineterm="")]


__all__ = ["CaseResult", "CaseRunner"]
