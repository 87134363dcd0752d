"""``epl test PATH…``: the tests of rules (runtime.tools.rule_tests)."""
from __future__ import annotations

import argparse
import logging
import sys
import warnings
from pathlib import Path

from epl.errors import EplWarning
from runtime.cli import UsageError
from runtime.cli.texts import load_setup
from runtime.tools.rule_tests.coverage import Coverage
from runtime.tools.rule_tests.files import BadCaseFile, RuleCase, case_files, read_cases
from runtime.tools.rule_tests.running import CaseResult, CaseRunner
from runtime.tools.rule_tests.writing import update


def run(options: argparse.Namespace) -> int:
    """Return 0; 1 where a case fails, or a file or its module cannot be read."""
    logging.getLogger("epl").addHandler(logging.NullHandler())  # the cases hold what statements throw
    register = load_setup(options)
    try:
        paths = case_files(options.paths)
    except BadCaseFile as error:
        raise UsageError(str(error)) from None
    passed = failed = broken = changed = 0
    covered: dict[tuple[Path, ...], Coverage] = {}
    for path in paths:
        try:
            file = read_cases(path)
            runner = CaseRunner(file, covered.setdefault(file.modules, Coverage()) if options.coverage else None, register, options.unknown)
            chosen = [case for case in file.cases if options.filter is None or options.filter in f"{path}::{case.name}"]
            results = [_run(runner, path, case) for case in (file.cases if options.update else chosen)]
            if options.update:
                changed += update(file, results)
                passed += len(results)
                continue
        except BadCaseFile as error:
            print(f"epl test: {error}", file=sys.stderr)
            broken += 1
            continue
        for result in results:
            passed, failed = passed + (not result.failure), failed + bool(result.failure)
            _report(path, result, options.verbose)
    for modules, coverage in covered.items():
        print("\n".join([f"coverage of {', '.join(map(str, modules))}:", *(f"  {line}" for line in coverage.lines())]))
    files = "file" if broken == 1 else "files"
    outcome = f"{passed} passed" + (f", {failed} failed" if failed else "") + (f", {broken} {files} could not be run" if broken else "")
    print(f"{outcome}; {changed} files written" if options.update else outcome)
    return 1 if failed or broken else 0


def _run(runner: CaseRunner, path: Path, case: RuleCase) -> CaseResult:
    """Run a case, and print what it is warned of: what an event's type does not declare, foremost."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EplWarning)
        result = runner.run(case)
    for warning in caught:
        print(f"{path}::{case.name}: warning: {warning.message}", file=sys.stderr)
    return result


def _report(path: Path, result: CaseResult, verbose: bool) -> None:
    if result.failure:
        print("\n".join([f"FAILED {path}::{result.case.name}", *(f"    {line}" for line in result.failure)]))
    elif verbose:
        print(f"passed {path}::{result.case.name}")


__all__ = ["run"]
