"""``epl run MODULE --events FILE``: a module over a file of events."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from epl.errors import EplRuntimeError, EplSyntaxError
from runtime.api.deployment import Deployment
from runtime.api.runtime import Runtime, internal_engine
from runtime.api.statement import Statement
from runtime.cli import OutputClosed, OutputFailed, UsageError
from runtime.cli.faults import Faults
from runtime.cli.metrics import metrics_page
from runtime.cli.progress import ProgressLine
from runtime.cli.texts import build_runtime, deploy_first, deploy_text, display_name, print_error, read_text
from runtime.connectors.batches import Batches
from runtime.connectors.cells import milliseconds
from runtime.connectors.event_files import Chunk, EventFile, FileFault
from runtime.connectors.feeds import DirectFeed, EventFeed, execute
from runtime.connectors.intake import Skipped, check_values
from runtime.connectors.pacing import Pace, Timetable, parse_speed
from runtime.connectors.row_reader import RowOptions, RowReader
from runtime.conversion.rows import Rows
from runtime.conversion.undeclared import build_check
from runtime.replay.epl_online import DEFAULT_START, At, Instruction, Send, output_text, parse_script, parse_time
from runtime.replay.trace_values import json_row
from runtime.tools.rule_tests.recording import RecordedScript, Recorder, check_record_path

LONGEST = 500
"""How many characters of a message are shown: it may hold a cell of any length."""
AT_ONCE = 500
"""How many rows sent one by one are counted at once for the progress bar."""


class OutputPrinter:
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
        except OSError as error:
            raise OutputFailed(error) from None


def run_events(options: argparse.Namespace) -> int:
    """Return 0; 1 where the module is refused, a row is not an event of its type, or an expression raised."""
    check_options(options)
    options.events = options.events[0]
    text = read_text(options.module_file)
    try:
        file = open_events(options)
    except FileFault as fault:
        return _report_refusal(options.events, fault.line, fault.error)
    printer, faults = OutputPrinter(options.format), Faults(options.module_file)
    runtime = build_runtime(options, start_time=start_time(options, file.kind), on_error=faults.note)
    with runtime, metrics_page(options) as page:
        faults.runtime = runtime
        if page is not None:
            page.show(runtime)
        if not deploy_first(runtime, options.with_files):
            return 1
        deployment = deploy_text(runtime, options.module_file, text)
        if deployment is None:
            return 1
        attach(deployment, options.statement, printer)
        try:
            code = _drive(options, runtime, file)
            printer.flush()
        except EplRuntimeError:
            if printer.is_closed:  # Spark has made an error of its own of it
                raise OutputClosed from None
            raise
        finally:
            faults.report()
    return code or (1 if faults.kinds else 0)


def _drive(options: argparse.Namespace, runtime: Runtime, file: EventFile) -> int:
    """Return the exit code of the events, and of what is due until ``--until``."""
    if options.record is None:
        return EventRun(options, runtime, file).drive()
    modules = [*options.with_files, options.module_file]
    try:
        recorder = Recorder(options.record, runtime, RecordedScript(modules, runtime.now, options.imports, options.config))
    except (EplRuntimeError, OSError) as error:
        raise UsageError(f"--record: {error}") from None
    with recorder:
        return EventRun(options, runtime, file, recorder).drive()


def check_options(options: argparse.Namespace) -> None:
    """Raise UsageError for options that exclude one another."""
    pacing = [name for name in ("record", "speed", "rate", "loop") if getattr(options, name) is not None]
    if options.spark and pacing:
        raise UsageError(f"--{pacing[0]}: not together with --spark")
    if options.spark and options.metrics is not None:
        raise UsageError("--metrics: not together with --spark")
    if options.rate is not None and options.time is not None:
        raise UsageError("--rate gives the times of the rows: not together with --time")
    if options.rate is not None and not 0 < options.rate <= 1e9:
        raise UsageError("--rate: a number of events a second is expected, greater than 0")
    if options.loop is not None and (options.loop < 0 or "-" in options.events):
        raise UsageError("--loop: standard input is read once" if "-" in options.events else "--loop: at least 1, or 0 for no end")
    try:
        if options.speed is not None:
            parse_speed(options.speed)
        if options.record is not None and check_record_path(options.record) == ".test.txt" and options.start is None:
            options.start = DEFAULT_START
    except EplRuntimeError as error:
        raise UsageError(f"{error}" + (f" ({error.hint})" if error.hint else "")) from None


def open_events(options: argparse.Namespace) -> EventFile:
    """Return the file of ``--events``; raise UsageError where it cannot be read, FileFault where its columns make no sense."""
    try:
        return EventFile.open(options.events, options.input, sys.stdin.buffer, options.delimiter)
    except EplRuntimeError as error:
        raise UsageError(f"{error.message}" + (f" ({error.hint})" if error.hint else "")) from None


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


def attach(deployment: Deployment, requested: list[str], printer: OutputPrinter) -> None:
    """Listen to the statements asked for, else to all that emit rows."""
    for statement in choose_statements(deployment, requested):
        statement.add_listener(printer.listener)


def choose_statements(deployment: Deployment, requested: list[str]) -> list[Statement]:
    """Return the statements asked for, else all that select; UsageError for a name that no statement has."""
    names = {s.name for s in deployment}
    for name in requested:
        if name not in names:
            raise UsageError(f"--statement: no statement named {name!r}; there are {', '.join(sorted(names))}")
    return [s for s in deployment if (s.name in requested if requested else s.plan.selects)]


class EventRun:
    """One file's events through one runtime; time walks, so that output never depends on how the input is cut."""

    def __init__(self, options: argparse.Namespace, runtime: Runtime, file: EventFile, feed: EventFeed | None = None) -> None:
        self.options = options
        self.file = file
        self._runtime = runtime
        self.feed = feed or _build_feed(options, runtime)
        row_options = RowOptions(options.type, options.type_column, options.time, options.missing, options.unknown)
        self.reader = RowReader(runtime, row_options, self._warn, file.names, has_header=file.kind != "parquet")
        self.batches = Batches(runtime, self.reader)
        self.in_batches = feed is None and not options.spark and options.speed is options.rate is options.loop is None
        self.skipped = Skipped()
        self._until = None if options.until is None else moment("--until", options.until)
        begins = options.start is not None or file.kind == "script"
        self._pace = Pace(None if options.speed is None else parse_speed(options.speed), begins=begins or options.rate is not None)
        self._times = Timetable(options.rate, runtime.now if options.rate is not None or begins else None)

    def drive(self) -> int:
        """Return the exit code: 1 where the file cannot be read to its end."""
        try:
            with ProgressLine("events", self.file.total, self.options.progress) as progress:
                self._passes(progress)
            if self._until is not None:
                execute(At(self._until), self.feed, self._pace)
            self.feed.finish()
        except FileFault as fault:
            return _report_refusal(self.options.events, fault.line, fault.error)
        except EplSyntaxError as error:
            print_error(self.options.events, error.text or "", error)
            return 1
        except EplRuntimeError as error:
            return _report_refusal(self.options.events, None, error)
        finally:
            report_skipped(display_name(self.options.events), "bad rows", self.skipped)
        return 0

    def _passes(self, progress: ProgressLine) -> None:
        """Process the file as often as ``--loop`` says; 0: until the run is stopped."""
        left = 1 if self.options.loop is None else self.options.loop
        while True:
            if self.file.kind == "script":
                self._script(progress)
            else:
                self._chunks(progress)
            left -= 1
            if left == 0:
                return
            self.file.close()
            self.file = open_events(self.options)
            self._times.begin_pass()

    def _warn(self, text: str, line: int | None = None) -> None:
        where = "" if line is None else f":{line}"
        print(f"{display_name(self.options.events)}{where}: warning: {text}", file=sys.stderr)

    def _script(self, progress: ProgressLine) -> None:
        line = 0
        check = build_check(self.options.unknown, lambda text: self._warn(text, line))
        for line, instruction in parse_script(self.file.script()):
            try:
                if check is not None and isinstance(instruction, Send):
                    check(internal_engine(self._runtime).bus_type(instruction.type), instruction.values)
                self._execute([instruction])
            except EplRuntimeError as error:
                raise FileFault(line, error) from error
            progress.advance(isinstance(instruction, Send))

    def _chunks(self, progress: ProgressLine) -> None:
        self._locate(1, self.reader.check_file)
        weighed = 0
        for chunk in self.file.chunks(self.batches.json_schema, self.reader.columns_read()):
            if weighed == 0 and self.file.names is None:
                self._locate(1, lambda: self.reader.check_first(chunk, self.options.skip_bad_rows))  # noqa: B023 - called at once
            fed = self.batches.feed(chunk) if self.in_batches else None
            if fed is None:
                rows = chunk.rows()
                while part := list(islice(rows, AT_ONCE)):
                    self._rows(iter(part), chunk)
                    progress.advance(len(part), 0)
            progress.advance(fed or 0, chunk.position - weighed)
            weighed = chunk.position

    def _locate(self, line: int, work: Any) -> None:
        try:
            work()
        except EplRuntimeError as error:
            raise FileFault(None if self.file.kind == "parquet" else line, error) from error

    def _rows(self, rows: Iterator[tuple[int, Mapping[str, Any] | EplRuntimeError]], chunk: Chunk) -> None:
        """Send rows one by one; the first that is wrong ends the run, or is skipped."""
        for number, row in rows:
            try:
                if isinstance(row, EplRuntimeError):
                    raise row
                instructions = list(self.reader.instructions(row, chunk.is_text))
                if self.options.skip_bad_rows:
                    self._check(instructions)
                self._execute(instructions)
            except EplRuntimeError as error:
                if not self.options.skip_bad_rows:
                    raise FileFault(self.file.row_line(number), error) from error
                self.skipped.add(f"{'line' if self.file.kind == 'jsonl' else 'row'} {number}", error.message)

    def _check(self, instructions: list[Any]) -> None:
        """Refuse a row before anything of it is done, so that one that is skipped has moved no clock."""
        for instruction in instructions:
            if isinstance(instruction, Send):
                check_values(self.feed, instruction)
            elif isinstance(instruction, At) and instruction.ms < self.feed.now:
                raise EplRuntimeError("time goes back")

    def _execute(self, instructions: Iterable[Instruction]) -> None:
        for instruction in self._times.add_times(instructions):
            execute(instruction, self.feed, self._pace)


def _build_feed(options: argparse.Namespace, runtime: Runtime) -> EventFeed:
    """Return what the options say; UsageError without Java."""
    if not options.spark:
        return DirectFeed(runtime)
    if options.batches < 1:
        raise UsageError("--batches: at least 1")
    try:
        from runtime.cli.run_spark import SparkFeed

        return SparkFeed(runtime, options.batches)
    except EplRuntimeError as error:
        raise UsageError(f"--spark: {error}") from None


def report_skipped(what: str, rows: str, skipped: Skipped) -> None:
    """Print how many rows were skipped, with place and reason of the first ones."""
    if skipped.count:
        print(f"{what}: {skipped.count:,} {rows} skipped", file=sys.stderr)
        for each in skipped.first:
            print(f"    {each}", file=sys.stderr)
        if skipped.count > len(skipped.first):
            print(f"    and {skipped.count - len(skipped.first):,} more", file=sys.stderr)


def _report_refusal(path: str, line: int | None, error: EplRuntimeError) -> int:
    where = "" if line is None else f":{line}"
    message = error.message if len(error.message) <= LONGEST else f"{error.message[:LONGEST]}…"
    print(f"{display_name(path)}{where}: error: {message} [{error.code}]", file=sys.stderr)
    if error.hint:
        print(f"    hint: {error.hint}", file=sys.stderr)
    return 1


__all__ = ["report_skipped", "run_events"]
