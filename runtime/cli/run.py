"""``epl run MODULE --events FILE``: a module over a file of events."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from epl.errors import EplRuntimeError, EplSyntaxError
from epl.plan.statements import SelectPlan
from runtime.api.deployment import Deployment
from runtime.api.runtime import Runtime
from runtime.cli import OutputClosed, UsageError
from runtime.cli.batches import Batches
from runtime.cli.cells import milliseconds
from runtime.cli.faults import Faults
from runtime.cli.progress import Progress
from runtime.cli.rows import RowReader
from runtime.cli.sources import Chunk, EventFile, FileFault
from runtime.cli.texts import deploy_first, deployed, made_runtime, print_error, read_text, shown_name
from runtime.conversion.rows import Rows
from runtime.replay.epl_online import DEFAULT_START, At, Later, Send, output_text, parse_script, parse_time
from runtime.replay.trace_values import json_row
from runtime.statements.statement import Statement

LONGEST = 500
"""How many characters of a message are shown: it may hold a cell of any length."""
AT_ONCE = 500
"""How many rows sent one by one are counted at once for the progress bar."""


class Printer:
    """Listener output, gathered for one instant and printed when time moves on."""

    def __init__(self, form: str) -> None:
        self.form = form
        self.is_closed = False
        """Whether standard output was closed by its reader."""
        self._at: int | None = None
        self._calls: list[tuple[str, Rows, Rows]] = []

    def listener(self, new: Rows, old: Rows, statement: Statement, runtime: Runtime) -> None:
        if self.form == "json":
            line = {"time": runtime.now, "statement": statement.name, "new": [json_row(r) for r in new], "old": [json_row(r) for r in old]}
            self._print(json.dumps(line, ensure_ascii=False))
            return
        if runtime.now != self._at:
            self.flush()
            self._at = runtime.now
        self._calls.append((statement.name, new, old))

    def flush(self) -> None:
        if self._calls and self._at is not None:
            text, self._calls = output_text(self._at, self._calls), []
            self._print(text)

    def _print(self, text: str) -> None:
        try:
            print(text)
        except BrokenPipeError:
            self.is_closed = True
            raise OutputClosed from None


def run(options: argparse.Namespace) -> int:
    """Return 0; 1 where the module is refused, a row is not an event of its type, or an expression raised."""
    text = read_text(options.module_file)
    try:
        file = EventFile.open(options.events, options.input, sys.stdin.buffer, options.delimiter)
    except FileFault as fault:
        return _refused(options.events, fault.line, fault.error)
    printer, faults = Printer(options.format), Faults(options.module_file)
    with made_runtime(options, start_time=start_time(options, file.kind), on_error=faults.note) as runtime:
        faults.runtime = runtime
        if not deploy_first(runtime, options.with_files):
            return 1
        deployment = deployed(runtime, options.module_file, text)
        if deployment is None:
            return 1
        attach(deployment, options.statement, printer)
        try:
            code = Run(options, runtime, file).drive()
            if code == 0 and options.until is not None:
                runtime.advance_time_span(moment("--until", options.until))
            printer.flush()
        except EplRuntimeError:
            if printer.is_closed:  # Spark has made an error of its own of it
                raise OutputClosed from None
            raise
        finally:
            faults.report()
    return code or (1 if faults.kinds else 0)


def moment(option: str, text: str) -> int:
    """Return an option's time in ms."""
    time = milliseconds(text)
    if time is None:
        raise UsageError(f"{option}: ms or yyyy-MM-dd HH:mm:ss.SSS expected, not {text!r}")
    return time


def start_time(options: argparse.Namespace, kind: str) -> int:
    if options.start is not None:
        return moment("--start", options.start)
    return parse_time(DEFAULT_START) if kind == "script" else 0


def attach(deployment: Deployment, requested: list[str], printer: Printer) -> None:
    """Listen to the statements asked for, else to all that emit rows."""
    for statement in chosen(deployment, requested):
        statement.add_listener(printer.listener)


def chosen(deployment: Deployment, requested: list[str]) -> list[Statement]:
    """Return the statements asked for, else all selects; UsageError for a name that no statement has."""
    names = {s.name for s in deployment}
    for name in requested:
        if name not in names:
            raise UsageError(f"--statement: no statement named {name!r}; there are {', '.join(sorted(names))}")
    return [s for s in deployment if (s.name in requested if requested else isinstance(s.plan.body, SelectPlan))]


class Feed(Protocol):
    """Where events and time go: into the runtime one by one, or collected for Spark."""

    @property
    def now(self) -> int: ...

    def check(self, event_type: str, values: dict[str, Any]) -> object:
        """Raise EplRuntimeError where the values are not an event of the type; nothing is done."""

    def send(self, event_type: str, values: dict[str, Any]) -> None: ...

    def move(self, target: int) -> None: ...

    def finish(self) -> None:
        """Note that the input is at its end."""


class DirectFeed:
    """Each event and time step at once."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.send = runtime.send
        self.move = runtime.advance_time_span
        self.check = runtime.event_of

    @property
    def now(self) -> int:
        return self.runtime.now

    def finish(self) -> None:
        self.runtime.end_of_input()


class Run:
    """One file's events through one runtime; time walks, so that output never depends on how the input is cut."""

    def __init__(self, options: argparse.Namespace, runtime: Runtime, file: EventFile) -> None:
        self.options = options
        self.file = file
        self.feed = _feed(options, runtime)
        self.reader = RowReader(runtime, options, file, self._warn)
        self.batches = Batches(runtime, self.reader)
        self.in_batches = not options.spark
        self.skipped = 0

    def drive(self) -> int:
        """Return the exit code: 1 where the file cannot be read to its end."""
        try:
            with Progress("events", self.file.total, self.options.progress) as progress:
                if self.file.kind == "script":
                    self._script(progress)
                else:
                    self._chunks(progress)
            self.feed.finish()
        except FileFault as fault:
            return _refused(self.options.events, fault.line, fault.error)
        except EplSyntaxError as error:
            print_error(self.options.events, error.text or "", error)
            return 1
        except EplRuntimeError as error:
            return _refused(self.options.events, None, error)
        finally:
            if self.skipped:
                print(f"{shown_name(self.options.events)}: {self.skipped:,} bad rows skipped", file=sys.stderr)
        return 0

    def _warn(self, text: str) -> None:
        print(f"{shown_name(self.options.events)}: warning: {text}", file=sys.stderr)

    def _script(self, progress: Progress) -> None:
        for line, instruction in parse_script(self.file.script()):
            try:
                self._execute(instruction)
            except EplRuntimeError as error:
                raise FileFault(line, error) from error
            progress.advance(isinstance(instruction, Send))

    def _chunks(self, progress: Progress) -> None:
        self._located(1, self.reader.check_file)
        weighed = 0
        for chunk in self.file.chunks(self.batches.json_schema):
            if weighed == 0 and self.file.names is None:
                self._located(1, lambda: self.reader.check_first(chunk))  # noqa: B023 - called at once
            fed = self.batches.feed(chunk) if self.in_batches else None
            if fed is None:
                rows = chunk.rows()
                while part := list(islice(rows, AT_ONCE)):
                    self._rows(iter(part), chunk)
                    progress.advance(len(part), 0)
            progress.advance(fed or 0, chunk.position - weighed)
            weighed = chunk.position

    def _located(self, line: int, work: Any) -> None:
        try:
            work()
        except EplRuntimeError as error:
            raise FileFault(None if self.file.kind == "parquet" else line, error) from error

    def _rows(self, rows: Iterator[tuple[int, dict[str, Any] | EplRuntimeError]], chunk: Chunk) -> None:
        """Send rows one by one; the first that is wrong ends the run, or is skipped."""
        for number, row in rows:
            try:
                if isinstance(row, EplRuntimeError):
                    raise row
                instructions = list(self.reader.instructions(row, chunk.is_text))
                if self.options.skip_bad_rows:
                    self._check(instructions)
                for instruction in instructions:
                    self._execute(instruction)
            except EplRuntimeError as error:
                if not self.options.skip_bad_rows:
                    raise FileFault(self.file.line_of(number), error) from error
                self.skipped += 1

    def _check(self, instructions: list[Any]) -> None:
        """Refuse a row before anything of it is done, so that one that is skipped has moved no clock."""
        for instruction in instructions:
            if isinstance(instruction, Send):
                self.feed.check(instruction.type, instruction.values)
            elif isinstance(instruction, At) and instruction.ms < self.feed.now:
                raise EplRuntimeError("time goes back")

    def _execute(self, instruction: At | Later | Send) -> None:
        if isinstance(instruction, Send):
            self.feed.send(instruction.type, instruction.values)
            return
        target = instruction.ms if isinstance(instruction, At) else self.feed.now + instruction.ms
        if target < self.feed.now:
            raise EplRuntimeError(f"time goes back from {self.feed.now} to {target}", hint="sort the rows by time")
        self.feed.move(target)


def _feed(options: argparse.Namespace, runtime: Runtime) -> Feed:
    if not options.spark:
        return DirectFeed(runtime)
    if options.batches < 1:
        raise UsageError("--batches: at least 1")
    try:
        from runtime.cli.run_spark import SparkFeed

        return SparkFeed(runtime, options.batches)
    except EplRuntimeError as error:
        raise UsageError(f"--spark: {error}") from None


def _refused(path: Path, line: int | None, error: EplRuntimeError) -> int:
    where = "" if line is None else f":{line}"
    message = error.message if len(error.message) <= LONGEST else f"{error.message[:LONGEST]}…"
    print(f"{shown_name(path)}{where}: error: {message} [{error.code}]", file=sys.stderr)
    if error.hint:
        print(f"    hint: {error.hint}", file=sys.stderr)
    return 1


__all__ = ["run"]
