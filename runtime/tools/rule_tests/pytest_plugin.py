"""The engine's part of the pytest plugin (epl_spark_pytest): runs the cases that it has collected."""
from __future__ import annotations

from pathlib import Path

from runtime.tools.rule_tests.files import BadCaseFile, RuleCase, read_cases
from runtime.tools.rule_tests.running import CaseRunner


class CollectedCases:
    """The cases of one file. A file or module that cannot be read fails each case."""

    def __init__(self, path: Path) -> None:
        self._bad: str | None = None
        self._cases: dict[str, RuleCase] = {}
        try:
            file = read_cases(path)
            self._runner = CaseRunner(file)
        except BadCaseFile as error:
            self._bad = str(error)
        else:
            self._cases = {case.name: case for case in file.cases}

    def failure(self, name: str | None) -> str | None:
        """Run a case, or all; return the lines that say what fails, None where nothing does."""
        if self._bad is not None:
            return self._bad
        lines: list[str] = []
        for case in self._cases.values() if name is None else [self._cases[name]]:
            try:
                lines += self._runner.run(case).failure
            except BadCaseFile as error:
                return str(error)
        return "\n".join(lines) or None


__all__ = ["CollectedCases"]
