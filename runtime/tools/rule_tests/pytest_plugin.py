"""The pytest plugin: collects ``*.test.json``, ``*.test.yaml`` and scripts ``*.test.txt`` beside their modules."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.tools.rule_tests.files import BadCaseFile, Case, is_case_file, read_cases
from runtime.tools.rule_tests.running import CaseRunner


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect files of cases."""
    return RuleFile.from_parent(parent, path=file_path) if is_case_file(file_path) else None


class RuleFile(pytest.File):
    """One file of cases."""

    def collect(self) -> Iterator[pytest.Item]:
        try:
            file = read_cases(self.path)
            runner = CaseRunner(file)
        except BadCaseFile as error:
            raise self.CollectError(str(error)) from None
        for case in file.cases:
            yield RuleItem.from_parent(self, name=case.name, runner=runner, case=case)


class RuleItem(pytest.Item):
    """One case."""

    def __init__(self, *, runner: CaseRunner, case: Case, **options: Any) -> None:
        super().__init__(**options)
        self._runner, self._case = runner, case

    def runtest(self) -> None:
        try:
            failure = self._runner.run(self._case).failure
        except BadCaseFile as error:
            raise RuleFailure(str(error)) from None
        if failure:
            raise RuleFailure("\n".join(failure))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, RuleFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


class RuleFailure(Exception):
    """The output of a case is not what it expects."""
