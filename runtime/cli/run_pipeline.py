"""``epl run`` from streams and to sinks: Kafka, files, databases, with a state that restarts go on from."""
from __future__ import annotations

import argparse
import hashlib
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from epl.errors import EplRuntimeError
from runtime.api.deployment import Deployment
from runtime.api.runtime import Runtime
from runtime.cli import UsageError
from runtime.cli.faults import Faults
from runtime.cli.metrics import MetricsPage, metrics_page
from runtime.cli.run_events import OutputPrinter, attach, check_options, choose_statements, moment, report_skipped
from runtime.cli.texts import build_runtime, deploy_first, deploy_text, read_text
from runtime.connectors import Pipeline, Sink
from runtime.connectors.feeds import DirectFeed, EventFeed
from runtime.connectors.output import OutputRow
from runtime.connectors.pacing import parse_speed
from runtime.connectors.uris import open_sink, open_source
from runtime.tools.rule_tests.recording import RecordedScript, Recorder

TO = re.compile(r"([^=/:?]+)=(.+)", re.DOTALL)
"""``STATEMENT=URI``."""


class ModuleRefused(Exception):
    """The module is refused, which has been printed."""


class Printing:
    """Prints what listeners have gathered, when the rows of a poll or checkpoint are delivered."""

    stream = "both"

    def __init__(self, printer: OutputPrinter) -> None:
        self.name = "standard output"
        self._printer = printer

    def open(self, event_type: Any, state: str | None) -> None:
        """See Sink."""

    def deliver(self, rows: Sequence[OutputRow], checkpoint: int | None) -> None:
        """See Sink."""
        self._printer.flush()
        sys.stdout.flush()

    def close(self) -> None:
        """See Sink."""


def run_pipeline(options: argparse.Namespace) -> int:
    """Return 0 at the end of all sources, or where a signal stopped it; 1 where the module is refused, a source or sink failed, or an
    expression raised."""
    _check(options)
    text = read_text(options.module_file)
    with metrics_page(options) as page:
        return _run(options, text, page)


def _run(options: argparse.Namespace, text: str, page: MetricsPage | None) -> int:
    printer, faults = OutputPrinter(options.format), Faults(options.module_file)

    def start() -> Runtime:
        at = 0 if options.start is None else moment("--start", options.start)
        runtime = faults.runtime = build_runtime(options, start_time=at, on_error=faults.note)
        if not deploy_first(runtime, options.with_files) or deploy_text(runtime, options.module_file, text, "epl run") is None:
            raise ModuleRefused
        return begin(runtime)

    def begin(runtime: Runtime) -> Runtime:
        if page is not None:
            page.show(runtime)
        if not options.to:
            attach(runtime.deployments["epl run"], options.statement, printer)
        return runtime

    def restore(data: bytes) -> Runtime:
        runtime = faults.runtime = Runtime.restore(data, on_error=faults.note)
        return begin(runtime)

    try:
        sinks = _sinks(options, start, printer)
        label = _label(options, text)
        until = None if options.until is None else moment("--until", options.until)
        with _record_feed(options) as feed:
            pipeline = Pipeline(
                start, [open_source(uri, **_source_options(options)) for uri in options.events], sinks, state=options.state,
                restore=restore,
                every=options.every, label=label, on_bad="skip" if options.skip_bad_rows else "refuse", on_late=options.on_late,
                until=until, feed=feed, append=options.append, speed=None if options.speed is None else parse_speed(options.speed))
            with _stopping(pipeline):
                pipeline.run()
        printer.flush()
    except ModuleRefused:
        return 1
    except EplRuntimeError as error:
        print(f"epl: error: {error.message} [{error.code}]", file=sys.stderr)
        if error.hint:
            print(f"    hint: {error.hint}", file=sys.stderr)
        return 1
    finally:
        faults.report()
    report_skipped("epl", "rows", pipeline.intake.skipped)
    return 1 if faults.kinds else 0


def _check(options: argparse.Namespace) -> None:
    """Raise UsageError for options that pipelines do not have."""
    check_options(options)
    if options.spark:
        raise UsageError("--spark: not together with --to, --state, kafka:// and several --from")
    if options.unknown != "warn":
        raise UsageError("--unknown: not together with --to, --state, kafka:// and several --from, which warn")
    if options.state is not None and not options.to:
        raise UsageError("--state: where do rows go? --to URI; --to - prints JSON lines")
    if options.append and options.state is None:
        raise UsageError("--append: together with --state")
    if options.state is not None and "-" in options.events:
        raise UsageError("--state: standard input cannot be read again")
    if options.state is not None and not options.rate is options.loop is None:
        raise UsageError("--rate, --loop: not together with --state: a replay begins at its beginning")
    if options.state is not None and options.record is not None:
        raise UsageError("--record: not together with --state: a test begins without state")


def _source_options(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "type": options.type, "type_column": options.type_column, "time": options.time, "missing": options.missing, "input": options.input,
        "delimiter": options.delimiter, "rate": options.rate, "loop": 1 if options.loop is None else options.loop,
    }


def _sinks(options: argparse.Namespace, start: Any, printer: OutputPrinter) -> dict[str, list[Sink]]:
    """Return the sinks of ``--to``; without it the statements that print. The module is deployed once to see that they are there."""
    with start() as runtime:
        deployment: Deployment = runtime.deployments["epl run"]
        statements = [statement.name for statement in choose_statements(deployment, options.statement)]
        names = {statement.name for statement in deployment}
    sinks: dict[str, list[Sink]] = {}
    for each in options.to:
        match = TO.fullmatch(each)
        if match is None and len(statements) != 1:
            raise UsageError(f"--to {each}: of which statement? --to STATEMENT={each}; there are {', '.join(statements)}")
        name, uri = (statements[0], each) if match is None else match.groups()
        if name not in names:
            raise UsageError(f"--to {each}: no statement named {name!r}; there are {', '.join(sorted(names))}")
        sinks.setdefault(name, []).append(open_sink(uri))
    if not sinks:
        sinks = {name: [Printing(printer)] for name in statements}
    return sinks


def _label(options: argparse.Namespace, text: str) -> str:
    """Return what the state is of: the module's text, and what it was deployed with."""
    config = [] if options.config is None else [read_text(options.config)]
    parts = [*config, *map(read_text, options.with_files), text, *options.imports]
    return f"{options.module_file.name} {hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}"


@contextmanager
def _record_feed(options: argparse.Namespace) -> Iterator[Any]:
    """Yield what makes the pipeline's feed: a recorder, which is closed at the end."""
    recorders: list[Recorder] = []

    def feed(runtime: Runtime) -> EventFeed:
        if options.record is None:
            return DirectFeed(runtime)
        recorded = RecordedScript([*options.with_files, options.module_file], runtime.now, options.imports, options.config)
        recorders.append(Recorder(options.record, runtime, recorded))
        return recorders[0]

    try:
        yield feed
    finally:
        for recorder in recorders:
            recorder.close()


@contextmanager
def _stopping(pipeline: Pipeline) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the pipeline with a checkpoint; a second one ends it at once."""

    def stop(number: int, frame: Any) -> None:
        pipeline.stop()
        for each in signals:
            signal.signal(each, signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL)

    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(each, stop) for each in signals]
    try:
        yield
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)


__all__ = ["run_pipeline"]
