"""Exceptions in expressions while ``epl run`` goes on: one line a kind, with how often it happened."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import attrs

from runtime.api.faults import StatementFault, build_fault
from runtime.api.runtime import Runtime
from runtime.cli.texts import display_name

MOST = 1000
"""How many kinds are listed one by one."""

Kind = tuple[str, str, str, int]
"""(statement, class of the exception, file and line of the code that raised it)."""


@attrs.define
class Seen:
    first: StatementFault
    count: int = 0


class Faults:
    """The runtime's error handler. ``kinds``: what has been seen."""

    def __init__(self, module: Path) -> None:
        self.module = module
        self.runtime: Runtime | None = None
        self.kinds: dict[Kind, Seen] = {}

    def note(self, error: BaseException, statement: str, event: Any) -> None:
        """Count it; what it was is put into words the first time only."""
        assert self.runtime is not None
        kind = _kind(error, statement)
        seen = self.kinds.get(kind)
        if seen is None:
            if len(self.kinds) >= MOST:
                kind, seen = next(reversed(self.kinds.items()))
            else:
                seen = self.kinds[kind] = Seen(build_fault(self.runtime, error, statement, event))
        seen.count += 1

    def report(self) -> None:
        """Print a line a kind on standard error."""
        for seen in self.kinds.values():
            where = seen.first.position
            place = "" if where is None else f":{where[0]}:{where[1]}"
            times = "once" if seen.count == 1 else f"{seen.count:,} times, first"
            print(f"{display_name(self.module)}{place}: error: {seen.first.message} [{times}]", file=sys.stderr)


def _kind(error: BaseException, statement: str) -> Kind:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file, line = ("", 0) if trace is None else (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    return statement, type(error).__name__, file, line


__all__ = ["Faults"]
