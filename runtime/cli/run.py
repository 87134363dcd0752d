"""``epl run MODULE --events FILE``: a module over a file of events."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Protocol

from epl.errors import EplError, EplRuntimeError, EplSyntaxError
from epl.plan.statements import SelectPlan
from runtime.cli import OutputClosed, UsageError
from runtime.cli.progress import Progress
from runtime.cli.sources import EventFile, RowError, RowReader
from runtime.cli.texts import deploy_first, made_runtime, print_error, read_text, shown_name
from runtime.deployment import Deployment
from runtime.engine import Runtime
from runtime.epl_online import DEFAULT_START, At, Later, Send, output_text, parse_time
from runtime.rows import Rows
from runtime.statement import Statement
from runtime.trace_values import json_row


class Printer:
    """Listener output, gathered for one instant and printed when time moves on."""

    def __init__(self, form: str) -> None:
        self.form = form
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
            raise OutputClosed from None


def run(options: argparse.Namespace) -> int:
    """0; 1 where the module is refused or a row is no event of its type."""
    text = read_text(options.module_file)
    file = EventFile.open(options.events, options.input, sys.stdin)
    printer = Printer(options.format)
    with made_runtime(options, start_time=start_time(options, file.kind)) as runtime:
        if not deploy_first(runtime, options.with_files):
            return 1
        try:
            deployment = runtime.deploy(text)
        except EplError as error:
            print_error(options.module_file, text, error)
            return 1
        attach(deployment, options.statement, printer)
        reader = RowReader(runtime.event_type, options.type, options.type_column, only_type(runtime), options.time)
        code = _drive(options, _feed(options, runtime), file, reader)
        if code == 0 and options.until is not None:
            runtime.advance_time_span(moment("--until", options.until))
        printer.flush()
        return code


def moment(option: str, text: str) -> int:
    """An option's time in ms."""
    try:
        return int(text) if text.lstrip("-").isdigit() else parse_time(text)
    except ValueError:
        raise UsageError(f"{option}: ms or yyyy-MM-dd HH:mm:ss.SSS expected, not {text!r}") from None


def start_time(options: argparse.Namespace, kind: str) -> int:
    if options.start is not None:
        return moment("--start", options.start)
    return parse_time(DEFAULT_START) if kind == "script" else 0


def attach(deployment: Deployment, wanted: list[str], printer: Printer) -> None:
    """Listen to the statements asked for, else to all that put out rows."""
    names = {s.name for s in deployment}
    for name in wanted:
        if name not in names:
            raise UsageError(f"--statement: no statement named {name!r}; there are {', '.join(sorted(names))}")
    for statement in deployment:
        if statement.name in wanted if wanted else isinstance(statement.plan.body, SelectPlan):
            statement.add_listener(printer.listener)


def only_type(runtime: Runtime) -> str | None:
    """The one event type that statements read and no statement fills; None where there are none or several."""
    bodies = [s.plan.body for d in runtime.deployments.values() for s in d if isinstance(s.plan.body, SelectPlan)]
    read = {stream.filter.event_type.name for body in bodies for stream in body.streams}
    filled = {body.insert.target.name for body in bodies if body.insert is not None}
    found = read - filled
    return found.pop() if len(found) == 1 else None


class Feed(Protocol):
    """Where events and time go: into the runtime one by one, or collected for Spark."""

    @property
    def now(self) -> int: ...

    def send(self, event_type: str, values: dict[str, Any]) -> None: ...

    def move(self, target: int) -> None: ...

    def finish(self) -> None:
        """The input is at its end."""


class DirectFeed:
    """Each event and time step at once."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.send = runtime.send
        self.move = runtime.advance_time_span

    @property
    def now(self) -> int:
        return self.runtime.now

    def finish(self) -> None:
        pass


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


def _drive(options: argparse.Namespace, feed: Feed, file: EventFile, reader: RowReader) -> int:
    """Execute the file's instructions; time walks, so that output never depends on how the input is cut."""
    line = 0
    try:
        with Progress("events", file.total, options.progress) as progress:
            for item in file.items(reader):
                line = item.line
                instruction = item.instruction
                if isinstance(instruction, Send):
                    feed.send(instruction.type, instruction.values)
                    progress.advance(1, item.weight)
                else:
                    _move(feed, instruction)
        feed.finish()
    except RowError as error:
        return _refused(options.events, error.line, error.error)
    except EplSyntaxError as error:
        print_error(options.events, error.text or "", error)
        return 1
    except EplRuntimeError as error:
        return _refused(options.events, line, error)
    return 0


def _move(feed: Feed, instruction: At | Later) -> None:
    target = instruction.ms if isinstance(instruction, At) else feed.now + instruction.ms
    if target < feed.now:
        raise EplRuntimeError(f"time goes back from {feed.now} to {target}", hint="sort the rows by time")
    feed.move(target)


def _refused(path: Path, line: int, error: EplRuntimeError) -> int:
    print(f"{shown_name(path)}:{line}: error: {error.message} [{error.code}]", file=sys.stderr)
    if error.hint:
        print(f"    hint: {error.hint}", file=sys.stderr)
    return 1
