"""``epl replay PATH`` in a checkout: execute traces, write what this engine did."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from pathlib import Path

from epl.errors import EplRuntimeError
from runtime.batch.available import is_available
from runtime.cli import UsageError
from runtime.cli.progress import ProgressLine
from tests.replay.files import Job, Outcome, replay_files
from tests.replay.reading import trace_files

LIMIT, LONG_LIMIT = 60.0, 600.0
"""Seconds a trace."""


def run(options: argparse.Namespace) -> int:
    """Return 0, or 1 where a trace broke off, a file is not a trace file, or engines together differ from one; what the steps do is in the
    traces written, not in the exit code."""
    if options.tier == "batch" and options.spark:
        raise UsageError("--tier batch: not together with --spark")
    if options.tier == "batch" and not is_available():
        raise UsageError("--tier batch: numba is not installed")
    if options.cuts is not None and not (options.spark or options.tier == "batch"):
        raise UsageError("--cuts: together with --spark or --tier batch")
    if options.distributed and (not options.spark or options.restart or options.tier or options.cuts is not None):
        raise UsageError("--distributed: together with --spark, without --restart, --tier and --cuts")
    if options.spark:
        _require_spark()
    if options.jobs < 1:
        raise UsageError("--jobs: at least 1")
    if not options.path.exists():
        raise UsageError(f"cannot read {options.path}: no such file or folder")
    files = trace_files(options.path)
    if not files:
        raise UsageError(f"no traces (.json, .json.gz) in {options.path}")
    if options.out is not None:
        _check_out(options.out, options.path)
    limit = options.limit or (LONG_LIMIT if options.restart or options.spark else LIMIT)
    jobs = [
        Job(
            source, options.out / name if options.out else None, options.restart, options.tier, limit, options.spark, options.cuts,
            options.distributed,
        )
        for source, name in files
    ]  # fmt: skip
    logging.getLogger("epl").addHandler(logging.NullHandler())  # the traces hold what statements throw
    started = time.monotonic()
    done: list[Outcome] = []
    with ProgressLine("files", len(jobs), None) as progress:
        try:
            for outcome in replay_files(jobs, options.jobs):
                done.append(outcome)
                progress.advance(1)
        except EplRuntimeError as error:
            raise UsageError(str(error)) from None
    if options.out is None:
        json.dump([trace for outcome in done for trace in outcome.traces], sys.stdout, ensure_ascii=False, indent=1)
        print()
    broken = [f"{name}: {text}" for outcome in done for name, text in outcome.broken]
    for line in broken:
        print(f"epl replay: {line}", file=sys.stderr)
    seconds = time.monotonic() - started
    replayed = sum(o.replayed for o in done)
    print(f"{replayed} traces of {len(done)} files replayed in {seconds:.1f} s, {len(broken)} broke off", file=sys.stderr)
    if options.distributed:
        can, spread, agreed = (sum(counts) for counts in zip(*(o.spread for o in done)))
        print(f"spread over engines: {spread} of {can} statements that can be split; {agreed} give what one engine gives", file=sys.stderr)
        return 1 if broken or agreed < spread else 0
    if options.spark:
        rows, refused = sum(o.rows for o in done), sum(o.refused for o in done)
        print(f"through Spark: {rows} events as rows of micro-batches, {refused} refused (see their steps)", file=sys.stderr)
    return 1 if broken else 0


def _check_out(out: Path, path: Path) -> None:
    """Where traces are written is a folder that can be made, and not the one that they are read from."""
    if out.resolve() == (path if path.is_dir() else path.parent).resolve():
        raise UsageError(f"--out: {out} holds the traces that are read; name another folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out: cannot write to {out}: {error.strerror}") from None


def _require_spark() -> None:
    """Before any process is started: pyspark, and a Java that it can use."""
    try:
        from runtime.spark.sessions import require_java

        require_java()
    except EplRuntimeError as error:
        raise UsageError(f"--spark: {error}") from None
