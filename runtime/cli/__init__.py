"""The ``epl`` command: check, fmt, run, test, shell, lsp, explain, replay, serve (docs/cli.md).

Exit codes: 0; 1 for errors in the input (EPL text, events, traces); 2 for wrong use (options, files that are not there); 130 where Ctrl-C
ended it; 141 where the reader of the output (``| head``) closed it, as a shell reports tools that SIGPIPE ends.
What a sub-command needs is imported when it runs, so that ``epl check`` starts in a blink.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

EXAMPLES = """examples:
  epl check rules/                                  what a folder of modules would need to run here
  epl check rules/ --with schemas.epl --format github     with shared declarations, for a CI
  epl fmt rules/                                    write them in one style
  epl run rules.epl --events trades.csv --type Trade --time ts
  epl run rules.epl --events script.txt             an EPL Online script (t=t.plus(1 seconds), Trade={symbol='A'})
  epl explain rules.epl --format mermaid            text, json, mermaid or dot
  epl plot rules.epl --events script.txt -o out.svg windows, partial matches and rows along time
  epl top localhost:9000                            metrics of a runtime or job that serves them
  epl replay traces/ --out actual/ --jobs 2
  epl serve                                         playground at http://127.0.0.1:8420/, and REST for rules and events
"""


INTERRUPTED, OUTPUT_CLOSED = 130, 141
LONGEST_PATH = 300
"""Characters of a path that an error shows."""
NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EROFS, getattr(errno, "EDQUOT", errno.ENOSPC)}
"""Errors of the system for writes that a disk does not take."""


class UsageError(Exception):
    """Wrong use of the command: exit code 2."""


class OutputClosed(BaseException):
    """Standard output was closed by its reader. Not an Exception, so that a listener that prints ends the run and not its own call
    alone."""


class OutputFailed(BaseException):
    """Standard output takes no more, such as a file on a full disk. Not an Exception, as above. ``error``: why."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error)
        self.error = error


class _Version(argparse.Action):
    """Print the version, which is looked up only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from runtime.api.version import version

        print(f"epl-spark {version()}")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """Return the command line. Every sub-command's module has ``run(arguments) -> exit code``."""
    top = argparse.ArgumentParser(
        prog="epl",
        description="Esper's event processing language in Python.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_check(commands)
    _add_fmt(commands)
    _add_run(commands)
    _add_shell(commands)
    _add_lsp(commands)
    _add_test(commands)
    _add_explain(commands)
    _add_plot(commands)
    _add_top(commands)
    _add_replay(commands)
    _add_serve(commands)
    return top


def _add_module_options(command: argparse.ArgumentParser, what: str = "") -> None:
    what = f"deploy this module first {what}".rstrip()
    command.add_argument(
        "--with", dest="with_files", action="append", default=[], type=Path, metavar="FILE", help=f"{what}; may be repeated"
    )
    command.add_argument(
        "--import", dest="imports", action="append", default=[], metavar="NAME",
        help="every module imports this name (an annotation's, without a warning then; a package's as a.b.*); may be repeated",
    )  # fmt: skip
    command.add_argument("--config", type=Path, metavar="FILE", help="Esper's esper.cfg.xml: event types, variables, imports, settings")
    _add_setup(command)


def _add_unknown(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--unknown", choices=("ignore", "warn", "refuse"), default="warn",
        help="what to do with a property that an event's type does not declare (default: warn, once for each type and name)",
    )  # fmt: skip


def _add_setup(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--setup", action="append", default=[], metavar="MODULE",
        help="a Python module, also of this folder, whose register(runtime) registers functions, aggregations, methods; may be repeated",
    )  # fmt: skip


def _add_check(commands: Commands) -> None:
    check = commands.add_parser("check", help="compile modules, print errors as compilers do and a porting report")
    check.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="module files, or folders of .epl files; - reads standard input")
    check.add_argument(
        "--together", action="store_true", help="all files share one namespace (default: each is a module of its own, with those it uses)"
    )
    _add_module_options(check, "(schemas)")
    form = check.add_mutually_exclusive_group()
    form.add_argument(
        "--format", choices=("text", "json", "sarif", "github"), default="text",
        help="text: as compilers print, on standard error (default); on standard output: one JSON object; SARIF 2.1.0 for code scanning; "
        "commands that make GitHub Actions annotate the lines",
    )  # fmt: skip
    form.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    form.add_argument("--sarif", action="store_const", const="sarif", dest="format", help="the same as --format sarif")
    check.set_defaults(module="runtime.cli.check")


def _add_fmt(commands: Commands) -> None:
    fmt = commands.add_parser("fmt", help="write modules in one style; comments and meaning stay")
    fmt.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="module files, or folders of .epl files; - formats standard input"
    )
    fmt.add_argument("--check", action="store_true", help="write nothing; exit code 1 where a file would change")
    fmt.add_argument("--diff", action="store_true", help="write nothing; print what would change")
    fmt.add_argument("--width", type=int, default=100, metavar="N", help="longest line (default: 100)")
    fmt.set_defaults(module="runtime.cli.fmt")


def _add_run(commands: Commands) -> None:
    run = commands.add_parser("run", help="run a module over events from a file")
    _add_events(run)
    run.add_argument("--format", choices=("online", "json"), default="online", help="as EPL Online prints, or a JSON line a listener call")
    run.add_argument("--spark", action="store_true", help="through Spark micro-batches (needs the extra [spark] and Java 17)")
    run.add_argument(
        "--batches", type=int, default=10, metavar="N", help="how many micro-batches --spark cuts the input into (default: 10)"
    )
    run.add_argument(
        "--record", type=Path, metavar="TEST",
        help="write what goes in and comes out as a test for epl test: NAME.test.json, NAME.test.yaml, or the script NAME.test.txt",
    )
    run.add_argument("--speed", metavar="N", help="rows are processed when they are due by the wall clock, N times as fast: 1x, 10x")
    run.add_argument("--rate", type=float, metavar="N", help="rows happen N times a second of engine time, from --start on")
    run.add_argument("--loop", type=int, nargs="?", const=0, metavar="N", help="read the file N times, without N until it is stopped")
    run.add_argument(
        "--metrics", metavar="[HOST:]PORT",
        help="serve metrics of each statement while it runs, for Prometheus and epl top (host: 127.0.0.1)",
    )
    _add_sinks(run)
    run.set_defaults(module="runtime.cli.run")


def _add_sinks(run: argparse.ArgumentParser) -> None:
    run.add_argument(
        "--to", action="append", default=[], metavar="[STATEMENT=]URI",
        help="where rows go: a file (JSON lines, CSV, Parquet), kafka://host:9092/topic?key=COLUMN, sqlite:///FILE?table=T&key=COLUMN, "
        "- for JSON lines on standard output; may be repeated",
    )
    run.add_argument("--state", type=Path, metavar="DIR", help="keep state and positions here: the next run goes on from them")
    run.add_argument("--append", action="store_true", help="with --state: add to sinks that have rows of another state (default: refused)")
    run.add_argument("--every", default="10 seconds", metavar="TIME", help="between two checkpoints of --state (default: 10 seconds)")
    run.add_argument(
        "--on-late", choices=("refuse", "skip", "keep"), default="refuse", help="rows whose time is before the clock, of Kafka or with --to"
    )


def _add_plot(commands: Commands) -> None:
    plot = commands.add_parser("plot", help="draw what a module does over events from a file: windows, partial matches, rows along time")
    _add_events(plot)
    plot.add_argument("-o", "--out", type=Path, required=True, metavar="PICTURE", help="write it here: .svg, .png or .pdf")
    plot.add_argument("--axis", choices=("auto", "time", "steps"), default="auto", help="a scale of time, or a column a step")
    plot.add_argument("--title", metavar="TEXT", help="above the picture (default: the statement, where one is drawn)")
    plot.set_defaults(module="runtime.cli.plot", spark=False, speed=None, rate=None, loop=None)


def _add_events(run: argparse.ArgumentParser) -> None:
    """Add a module, and the events that it runs over."""
    run.add_argument("module_file", type=Path, metavar="MODULE")
    run.add_argument(
        "--events", "--from",
        action="append",
        required=True,
        metavar="FILE",
        help="JSON lines, CSV (both perhaps .gz), Parquet or an EPL Online script: a path or a URI (s3://…), - for standard input; "
        "for run also kafka://host:9092/topic, and several",
    )
    run.add_argument(
        "--input",
        choices=("auto", "jsonl", "csv", "parquet", "script"),
        default="auto",
        help="what FILE holds (default: by its name and first line)",
    )
    run.add_argument(
        "--type", metavar="NAME", help="event type of every row (default: the column --type-column, else the one type the module declares)"
    )
    run.add_argument("--type-column", default="type", metavar="NAME", help="column that holds the event type (default: type)")
    run.add_argument("--time", metavar="COLUMN", help="column of engine time, ms or ISO 8601, to which the clock advances before the row")
    run.add_argument("--delimiter", metavar="SIGN", help="what divides the cells of a CSV file (default: a comma; .tsv: a tab)")
    run.add_argument(
        "--missing", choices=("refuse", "null"), default="refuse", help="where a property has no column: refuse the file, or read null"
    )
    _add_unknown(run)
    run.add_argument("--skip-bad-rows", action="store_true", help="skip rows that are not events, and count them")
    run.add_argument(
        "--start", metavar="TIME", help="beginning of time: ms, or yyyy-MM-dd HH:mm:ss.SSS (default: 0; scripts: 2001-01-01 08:00:00.000)"
    )
    run.add_argument("--until", metavar="TIME", help="go on to this time after the last event, through every timer on the way")
    run.add_argument("--statement", action="append", default=[], metavar="NAME", help="this statement only; may be repeated")
    _add_module_options(run)
    run.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="progress bar on standard error (default: where it is a terminal)",
    )


def _add_shell(commands: Commands) -> None:
    shell = commands.add_parser("shell", help="deploy statements, send events and query, interactively or from a pipe")
    shell.add_argument("modules", nargs="*", type=Path, metavar="MODULE", help="deploy these module files first")
    shell.add_argument("--history", type=Path, metavar="FILE", help="where inputs are kept (default: ~/.local/state/epl-spark/history)")
    shell.add_argument("--no-history", action="store_true", help="keep no inputs")
    shell.add_argument(
        "--import", dest="imports", action="append", default=[], metavar="NAME", help="every module imports this name; may be repeated"
    )
    _add_setup(shell)
    shell.set_defaults(module="runtime.cli.shell")


def _add_lsp(commands: Commands) -> None:
    lsp = commands.add_parser("lsp", help="language server for editors, on standard input and output")
    _add_module_options(lsp, "(schemas)")
    lsp.set_defaults(module="runtime.cli.lsp")


def _add_test(commands: Commands) -> None:
    test = commands.add_parser("test", help="run the tests of rules: cases as data beside modules")
    test.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="NAME.test.json, .test.yaml, .test.txt, or folders of them")
    test.add_argument("--update", action="store_true", help="write the output of every case as the expected one")
    test.add_argument("-k", dest="filter", metavar="TEXT", help="cases whose file::name holds this text")
    test.add_argument("--coverage", action="store_true", help="print statements and transitions of row patterns that no case reaches")
    test.add_argument("-v", "--verbose", action="store_true", help="print the cases that pass, too")
    _add_unknown(test)
    _add_setup(test)
    test.set_defaults(module="runtime.cli.test")


def _add_explain(commands: Commands) -> None:
    explain = commands.add_parser("explain", help="print the plan of a module's statements")
    explain.add_argument("module_file", type=Path, metavar="MODULE")
    explain.add_argument(
        "--format", choices=("text", "json", "mermaid", "dot"), default="text",
        help="text (default), or a graph: as data, for Mermaid, for Graphviz",
    )
    explain.add_argument("--statement", metavar="NAME", help="this statement's plan only")
    _add_module_options(explain)
    explain.set_defaults(module="runtime.cli.explain")


def _add_top(commands: Commands) -> None:
    top = commands.add_parser("top", help="watch the metrics of a runtime or job that serves them as Prometheus text")
    top.add_argument("source", metavar="URL|FILE", help="http://host:port/metrics, host:port, or a file that holds the text")
    top.add_argument("--interval", type=float, default=2.0, metavar="SECONDS", help="between two looks (default: 2)")
    top.add_argument("--once", action="store_true", help="print once, and end")
    top.set_defaults(module="runtime.cli.top")


def _add_replay(commands: Commands) -> None:
    replay = commands.add_parser("replay", help="execute recorded traces and write what this engine did")
    replay.add_argument("path", type=Path, metavar="PATH", help="a file or folder of traces, .json or .json.gz")
    replay.add_argument(
        "--out", type=Path, metavar="DIR", help="write the traces here, named as they are in PATH (default: JSON to standard output)"
    )
    replay.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default: 1)")
    replay.add_argument("--restart", action="store_true", help="snapshot and restore into a new runtime between every two steps")
    replay.add_argument(
        "--tier", choices=("row", "batch"), help="row: one event at a time; batch: the events between two other steps as one batch"
    )
    replay.add_argument(
        "--spark",
        action="store_true",
        help="the events between two other steps as one Spark micro-batch (needs the extra [spark] and Java 17)",
    )
    replay.add_argument(
        "--distributed",
        action="store_true",
        help="with --spark: each statement that can be split runs in several engines over a batch DataFrame, held against one engine",
    )
    replay.add_argument(
        "--cuts", type=int, metavar="SEED", help="with --spark or --tier batch: cut each batch at random places into several"
    )
    replay.add_argument("--limit", type=float, metavar="SECONDS", help="time limit a trace (default: 60, with --restart or --spark 600)")
    replay.set_defaults(module="runtime.cli.replay")


def _add_serve(commands: Commands) -> None:
    serve = commands.add_parser("serve", help="serve the playground, and REST for rules and events (docs/serve.md)")
    add = serve.add_argument
    add("modules", nargs="*", type=Path, metavar="MODULE", help="deploy these module files at the start")
    add("--host", default="127.0.0.1", metavar="ADDRESS", help="listen here (default: 127.0.0.1); others than loopback need a token")
    add("--port", type=int, default=8420, help="default: 8420; 0 takes a free one")
    add("--token", metavar="TOKEN", help="every request must carry it; auto makes one and prints it (also: EPL_SERVE_TOKEN)")
    add("--token-file", type=Path, metavar="FILE", help="read the token from a file, so that no process list shows it")
    add("--name", action="append", default=[], metavar="HOST", help="a further name of the server, behind a proxy; may be repeated")
    add("--certificate", type=Path, metavar="FILE", help="TLS: certificate, PEM")
    add("--key", type=Path, metavar="FILE", help="TLS: key, PEM")
    add("--playground", action=argparse.BooleanOptionalAction, default=True, help="the page (default: yes)")
    add("--rules", action=argparse.BooleanOptionalAction, default=True, help="REST for rules and events (default: yes)")
    add(
        "--allow", action="append", default=[], metavar="KIND:MODULE",
        help="import:MODULE: EPL may import this Python module; setup:MODULE: its register(runtime) registers functions, methods and more",
    )
    add("--clock", choices=("external", "system"), default="external", help="engine time: set by clients, or the wall clock's")
    add("--start", metavar="TIME", help="beginning of engine time, with --clock external (default: 0)")
    add("--measure", action="store_true", help="count events, rows and time of each statement, for /metrics and epl top")
    _add_unknown(serve)
    add("--state", type=Path, metavar="DIR", help="keep rules and their state here over restarts")
    add("--snapshot-seconds", type=float, default=60.0, metavar="N", help="how often the state is saved (default: 60; and at the end)")
    add("--max-body", type=int, default=16, metavar="MB", help="largest request (default: 16)")
    add("--run-seconds", type=float, default=5.0, metavar="N", help="longest run of the playground (default: 5)")
    add("--run-memory", type=int, default=512, metavar="MB", help="its memory (default: 512)")
    add("--run-events", type=int, default=10_000, metavar="N", help="most instructions of a script (default: 10000)")
    add("--run-rows", type=int, default=5_000, metavar="N", help="most rows emitted (default: 5000)")
    add("--runs", type=int, default=2, metavar="N", help="runs at one time (default: 2)")
    serve.set_defaults(module="runtime.cli.serve")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code (argparse itself exits with 2)."""
    options = parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # half a surrogate pair in an event ends nothing
    try:
        code = int(import_module(options.module).run(options))
        sys.stdout.flush()
        return code
    except UsageError as error:
        print(f"epl: {error}", file=sys.stderr)
        return 2
    except (BrokenPipeError, OutputClosed):
        _drop_output()
        return OUTPUT_CLOSED
    except OutputFailed as failed:
        return _refuse_room(failed.error)
    except OSError as error:
        if error.errno in NO_ROOM:
            return _refuse_room(error)
        if error.filename is None:
            raise
        print(f"epl: cannot use {str(error.filename)[:LONGEST_PATH]}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED


def _drop_output() -> None:
    """Let what is left in Python's buffer go nowhere; without this the interpreter complains about it at its end."""
    with contextlib.suppress(io.UnsupportedOperation):  # a stream in memory has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse_room(error: OSError) -> int:
    _drop_output()
    where = "standard output" if error.filename is None else str(error.filename)
    print(f"epl: cannot write to {where}: {error.strerror or error}", file=sys.stderr)
    return 1
