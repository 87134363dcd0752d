"""``epl plot MODULE --events FILE -o PICTURE``: what a module does along time, as a picture."""

from __future__ import annotations

import argparse
import sys

from runtime.cli import UsageError
from runtime.cli.faults import Faults
from runtime.cli.run_events import EventRun, choose_statements, moment, open_events, start_time
from runtime.cli.texts import build_runtime, deploy_first, deploy_text, display_name, read_text
from runtime.connectors.event_files import FileFault
from runtime.pictures.recording import Recording


def run(options: argparse.Namespace) -> int:
    """Return 0; 1 where the module is refused, a row is no event of its type, or an expression raised: the picture then shows what came
    before."""
    if options.out.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise UsageError(f"--out: a picture is written as .svg, .png or .pdf, not as {options.out.name!r}")
    if len(options.events) > 1:
        raise UsageError("--events: one file is drawn")
    options.events = options.events[0]
    text = read_text(options.module_file)
    try:
        file = open_events(options)
    except FileFault as fault:
        print(f"{display_name(options.events)}: error: {fault.error.message}", file=sys.stderr)
        return 1
    faults = Faults(options.module_file)
    with build_runtime(options, start_time=start_time(options, file.kind), on_error=faults.note, tier="row") as runtime:
        faults.runtime = runtime
        if not deploy_first(runtime, options.with_files):
            return 1
        deployment = deploy_text(runtime, options.module_file, text)
        if deployment is None:
            return 1
        statements = choose_statements(deployment, options.statement)
        if not statements:
            raise UsageError(f"{display_name(options.module_file)} has no select to draw")
        try:
            with runtime.record(*statements) as recording:
                code = EventRun(options, runtime, file).drive()
                if code == 0 and options.until is not None:
                    runtime.advance_time_span(moment("--until", options.until))
        finally:
            faults.report()
        if not recording.moments:
            print("epl: nothing happened to the statements: there is nothing to draw", file=sys.stderr)
            return 1
        _write(recording, options)
    return code or (1 if faults.kinds else 0)


def _write(recording: Recording, options: argparse.Namespace) -> None:
    title = options.title
    if title is None and len(recording.tracks) == 1:
        title = recording.tracks[0].text
    if recording.is_cut:
        print(f"epl: only the first {len(recording.moments):,} moments are drawn", file=sys.stderr)
    try:
        recording.save(options.out, axis=options.axis, title=title)
    except ImportError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"--out: cannot write {options.out}: {error.strerror or error}") from None


__all__ = ["run"]
