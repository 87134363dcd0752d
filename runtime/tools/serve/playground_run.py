"""One run of the playground, in a process of its own: a job on standard input, a line of JSON a result on standard output.

The process limits itself before it reads the job; ``sandbox`` ends it where that does not suffice.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from itertools import islice
from typing import Any

from epl.errors import EplError, EplSyntaxError, EplWarning
from epl.plan.statements import CreateSchemaPlan
from epl.settings import Settings
from epl.spans import Span
from runtime.api.deployment import Deployment
from runtime.api.faults import StatementFault, build_fault
from runtime.api.runtime import Runtime, internal_engine
from runtime.api.statement import Statement
from runtime.conversion.rows import Row, Rows
from runtime.conversion.undeclared import UndeclaredNames
from runtime.replay.epl_online import DEFAULT_START, At, Instruction, Send, format_time, parse_script, parse_time, row_text, value_text
from runtime.tools.serve.answers import error_json, fault_json, short, statement_json
from runtime.tools.serve.options import ServeLimits
from runtime.tools.serve.pictures import deployment_pictures
from runtime.tools.serve.timeline import lanes, start_recording
from runtime.tools.setup import registering

MOST_FAULTS = 50
MOST_STOPS = 200_000
"""Times at which a timer is due, in one instruction of a script."""


class RunStopped(BaseException):
    """A limit is reached. Not an Exception, so that it ends the run and not a listener's call alone."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class Results:
    """Writes results, each a line of JSON with its ``part``."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, part: str, value: Any) -> None:
        line = json.dumps({"part": part, "value": value}, separators=(",", ":")).encode() + b"\n"
        while line:
            line = line[os.write(self._descriptor, line) :]


class PlaygroundRun:
    """A module and a script. Output of one instant is gathered and written when time moves on."""

    def __init__(self, limits: ServeLimits, imports: tuple[str, ...], register: Callable[[Runtime], object], results: Results) -> None:
        self.limits, self.imports, self.register, self.results = limits, imports, register, results
        self.events: list[dict[str, Any]] = []
        """``time``, ``type`` and ``line`` of the script."""
        self.rows = self.faults = 0
        self._names = UndeclaredNames(lambda text: results.write("warnings", short(f"line {self._line}: {text}")))
        self._line = 0
        self._at = 0
        self._instant: dict[str, tuple[list[Row], list[Row]]] = {}
        self._runtime: Runtime

    def drive(self, job: dict[str, Any]) -> None:
        started = time.monotonic()
        instructions = self._instructions(job["script"])
        start = self._start_time(job.get("start") or DEFAULT_START)
        if start is None:
            return
        settings = Settings(python_imports=self.imports)
        self._runtime = runtime = Runtime(tier="row", start_time=start, settings=settings, on_error=self._fault)
        self.register(runtime)
        deployment = self._deploy(job["epl"])
        if deployment is None or instructions is None:
            return
        described = [{**statement_json(s), "plan": short(s.explain())} for s in deployment]
        self.results.write("statements", described)
        for statement in deployment:
            if statement.plan.body.output_type is not None and not isinstance(statement.plan.body, CreateSchemaPlan):
                statement.add_listener(self._listen)
        recording = start_recording(runtime)
        try:
            with recording or nullcontext():
                self._play(instructions, job["script"])
        except RunStopped as stop:
            self.results.write("stopped", {"reason": stop.reason, "message": stop.message})
        stop_timer()
        self._flush()
        self._finish(deployment, time.monotonic() - started)
        for lane in () if recording is None else lanes(recording):
            self.results.write("lanes", lane)
        for picture in deployment_pictures(deployment):  # last: a large one may take the rest of the time
            self.results.write("pictures", picture)

    # ------------------------------------------------------------------ before

    def _instructions(self, script: str) -> list[tuple[int, Instruction]] | None:
        try:
            instructions = list(islice(parse_script(script), self.limits.run_events + 1))
        except EplSyntaxError as error:
            self._error("script", error_json(error, script))
            return None
        if len(instructions) > self.limits.run_events:
            self._error("script", fault_json("limit", f"the script has more than {self.limits.run_events:,} instructions"))
            return None
        return instructions

    def _start_time(self, text: str) -> int | None:
        try:
            return parse_time(text)
        except (ValueError, OverflowError):
            self._error("start", fault_json("syntax", f"Incorrect time '{short(text)}', expecting yyyy-MM-dd HH:mm:ss.SSS"))
            return None

    def _deploy(self, text: str) -> Deployment | None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", EplWarning)
            try:
                return self._runtime.deploy(text)
            except EplError as error:
                self._error("epl", error_json(error, text))
                return None
            finally:
                for warning in caught:
                    self.results.write("warnings", short(str(warning.message)))

    # ------------------------------------------------------------------ while it runs

    def _play(self, instructions: list[tuple[int, Instruction]], script: str) -> None:
        for line, instruction in instructions:
            try:
                self._execute(line, instruction)
            except EplError as error:
                begin = sum(len(each) for each in script.splitlines(keepends=True)[: line - 1])
                written = script[begin:].splitlines()[0]
                error.span, error.text = Span(begin + len(written) - len(written.lstrip()), begin + len(written.rstrip())), script
                self._error("script", error_json(error))
                return

    def _execute(self, line: int, instruction: Instruction) -> None:
        runtime = self._runtime
        if isinstance(instruction, Send):
            self.events.append({"time": runtime.now, "type": instruction.type, "line": line})
            self._line = line
            self._names.check(internal_engine(runtime).bus_type(instruction.type), instruction.values)
            runtime.send(instruction.type, instruction.values)
            return
        target = instruction.ms if isinstance(instruction, At) else runtime.now + instruction.ms
        if target < runtime.now:
            raise EplSyntaxError(f"time goes back from {format_time(runtime.now)} to {format_time(target)}", hint="sort the script by time")
        runtime.advance_time_span(target, max_stops=MOST_STOPS)

    def _listen(self, new: Rows, old: Rows, statement: Statement, runtime: Any) -> None:
        if runtime.now != self._at:
            self._flush()
            self._at = runtime.now
        self.rows += len(new) + len(old)
        insert, remove = self._instant.setdefault(statement.name, ([], []))
        insert.extend(new)
        remove.extend(old)
        if self.rows > self.limits.run_rows:
            raise RunStopped("rows", f"the statements emitted more than {self.limits.run_rows:,} rows")

    def _flush(self) -> None:
        statements, self._instant = self._instant, {}
        if any(insert or remove for insert, remove in statements.values()):
            self.results.write("outputs", {"time": self._at, "at": _time_text(self._at), "statements": [
                {"name": name, "insert": list(_show_rows(insert, name)), "remove": list(_show_rows(remove, name))}
                for name, (insert, remove) in statements.items() if insert or remove
            ]})  # fmt: skip

    def _fault(self, error: BaseException, statement: str, event: Any) -> None:
        self.faults += 1
        if self.faults <= MOST_FAULTS:
            fault = error if isinstance(error, StatementFault) else build_fault(self._runtime, error, statement, event)
            self.results.write("faults", {"statement": statement, **error_json(fault)})

    def _error(self, pane: str, error: dict[str, Any]) -> None:
        self.results.write("errors", {"pane": pane, **error})

    # ------------------------------------------------------------------ after

    def _finish(self, deployment: Deployment, seconds: float) -> None:
        runtime = self._runtime
        self.results.write("events", self.events)
        for statement in deployment:
            if statement.plan.body.output_type is None or isinstance(statement.plan.body, CreateSchemaPlan):
                continue
            try:
                rows = list(islice(statement, self.limits.run_rows))
            except EplError:
                continue  # a statement without an iterator
            if rows:
                self.results.write("current", {"name": statement.name, "rows": list(_show_rows(rows, statement.name))})
        self.results.write("end", {
            "time": runtime.now, "at": _time_text(runtime.now), "events": len(self.events), "rows": self.rows, "faults": self.faults,
            "seconds": round(seconds, 3),
        })  # fmt: skip


def _time_text(ms: int) -> str:
    try:
        return format_time(ms)
    except OverflowError:
        return str(ms)


def _show_rows(rows: list[Row], statement: str) -> Iterator[dict[str, Any]]:
    """Rows as EPL Online prints them, and cell by cell."""
    for row in rows:
        yield {"text": row_text(row, statement), "cells": [[name, value_text(value)] for name, value in row.items()]}


def start_timer(seconds: float) -> None:
    """End what takes longer, a little before the process is ended from outside: what it has emitted can still be shown."""
    def stop(*_: object) -> None:
        raise RunStopped("time", f"the run took longer than {seconds:g} seconds")

    if hasattr(signal, "setitimer"):  # not on Windows
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds * 0.75)


def stop_timer() -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def restrict(limits: ServeLimits) -> None:
    """Give up what a run does not need: memory and time beyond the limits, files, dumps."""
    try:
        import resource
    except ImportError:  # Windows: the parent's clock alone
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + limits.run_seconds) + 2
    for what, most in (
        (resource.RLIMIT_AS, limits.run_memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0),
    ):  # fmt: skip
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


def warm_up() -> None:
    """Have everything imported, and the grammar built, before there is a job."""
    with Runtime(tier="row") as runtime:
        deployment = runtime.deploy(
            "create schema T(a int); select a, count(*) as n from T#time(1 sec) where a > 0 group by a output last every 1 sec"
        )
        runtime.send("T", {"a": 1})
        start_recording(runtime)
        for statement in deployment:
            statement.explain()
        list(deployment_pictures(deployment))


def perform(run: PlaygroundRun, job: dict[str, Any]) -> None:
    """Run a job; whatever happens is a result."""
    limits, results = run.limits, run.results
    start_timer(limits.run_seconds)
    try:
        run.drive(job)
    except MemoryError:
        results.write("stopped", {"reason": "memory", "message": f"the run needs more than {limits.run_memory >> 20} MB"})
    except RunStopped as stop:
        results.write("stopped", {"reason": stop.reason, "message": stop.message})
    except Exception as error:  # noqa: BLE001 - the page shows it; a traceback would be no help there
        results.write("errors", {"pane": "epl", **fault_json("internal", f"{type(error).__name__}: {error}")})


def main(arguments: dict[str, Any]) -> None:
    """Read the job, run it."""
    descriptor = os.dup(1)
    os.dup2(2, 1)  # what registered functions print is not a result
    limits = ServeLimits(**arguments["limits"])
    register = registering(tuple(arguments["setup"]))
    warm_up()
    results = Results(descriptor)
    results.write("ready", None)
    text = sys.stdin.buffer.read()
    if text:
        restrict(limits)
        perform(PlaygroundRun(limits, tuple(arguments["imports"]), register, results), json.loads(text))


__all__ = ["main", "perform", "restrict"]
