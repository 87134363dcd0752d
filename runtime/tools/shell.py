"""``epl shell``: deploy statements, send events, move time, query, watch what comes out.

`Shell` handles one input at a time and prints; `interactive` and `run_lines` read inputs from a terminal or a file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from epl.errors import EplRuntimeError
from epl.grammar.mistakes import STATEMENT_STARTS
from runtime.replay.epl_online import looks_like_script
from runtime.tools import output
from runtime.tools.commands import Commands, error_text
from runtime.tools.completion import SKIPPED
from runtime.tools.output import Shown, plain
from runtime.tools.session import Session

JSON_LINE = re.compile(r"\s*[A-Za-z_$][\w$.]*\s*=?\s*\{")
STARTS = STATEMENT_STARTS | {"module", "uses", "import", "into", "inlined_class"}
"""The words that EPL begins with."""
HELP = """Statements end with a semicolon and may have several lines:   create schema Trade(symbol string, price double);
Events:                    Trade = {symbol='A', price=10}     Trade {"symbol": "A", "price": 10}
Time:                      t = t.plus(10 seconds)             t = "2024-01-01 09:00:00"             time +10 sec
Deploying a statement of the same name again replaces it.
"""


class Shell:
    """A session with commands of its own. ``failures``: how many inputs failed."""

    def __init__(self, session: Session, write: Callable[[str], Any], write_error: Callable[[str], Any]) -> None:
        self.session = session
        self.commands = Commands(session)
        self.write, self.write_error = write, write_error
        self.failures = 0
        self.is_over = False
        self.commands.by_name |= {
            "watch": ("[NAME …]", "print the output of these statements only; without a name, of all", self._watch),
            "unwatch": ("[NAME …]", "print no output of these statements; without a name, of none", self._unwatch),
            "load": ("FILE", "deploy a module file", self._load),
            "play": ("FILE", "send the events of a script file", self._play_file),
            "help": ("", "show this", self._help),
            "quit": ("", "leave (also exit, Ctrl-D)", self._quit),
            "exit": ("", "leave", self._quit),
        }

    # ------------------------------------------------------------------ inputs

    def is_complete(self, text: str) -> bool:
        """Return whether the text is a whole input: a command, a line of events, or EPL up to a semicolon."""
        kind = self._kind(text)
        if kind in ("nothing", "command", "events"):
            return True
        blank = SKIPPED.sub(lambda match: " " * len(match.group()) if not match.group().startswith(("//", "/*")) else "", text)
        return blank.rstrip().endswith(";")

    def _kind(self, text: str) -> str:
        line = re.sub(r"^(?:\s+|//[^\n]*\n?|/\*.*?\*/)+", "", text, flags=re.DOTALL)
        word = re.match(r"[\w$-]*", line)
        first = word.group().lower() if word else ""
        if not line:
            return "nothing"
        if looks_like_script(line) or (JSON_LINE.match(line) and first not in STARTS):
            return "events"
        if first == "query":
            return "query"
        if first in self.commands.by_name:
            return "command"
        if first and first not in STARTS and re.fullmatch(r"\w+(\s+[^;\s]+)?\s*", line):
            return "command"
        return "epl"

    def handle(self, text: str) -> None:
        """Do what one input says; errors are printed, never raised."""
        try:
            shown = self._do(text)
        except KeyboardInterrupt:
            self.write_error("interrupted")
        except Exception as error:  # noqa: BLE001 - the shell goes on
            self.failures += 1
            self.write_error(visible(error_text(error)))
        else:
            if shown is not None and shown.text:
                self.write(visible(shown.text))

    def _do(self, text: str) -> Shown | None:
        kind = self._kind(text)
        if kind == "nothing":
            return None
        if kind in ("command", "query"):
            return self.commands.run(text.strip().rstrip(";"))
        if kind == "events":
            return self._play(text)
        return output.show_deployment(self.session.deploy(text))

    def _play(self, script: str) -> Shown | None:
        with self.session.recording() as calls:
            events = self.session.play(script)
        seen = self.commands.select_calls(calls)
        shown = output.output(seen, events, self.session.notes)
        return shown if seen or self.session.notes else None

    # ------------------------------------------------------------------ commands

    def _watch(self, argument: str) -> Shown:
        names = argument.replace(",", " ").split()
        for name in names:
            self.session.statement(name)
        self.commands.watched = (self.commands.watched or set()) | set(names) if names else None
        return plain(f"watching {', '.join(sorted(self.commands.watched)) if self.commands.watched is not None else 'all statements'}")

    def _unwatch(self, argument: str) -> Shown:
        names = set(argument.replace(",", " ").split())
        everything = {s.name for d in self.session.runtime.deployments.values() for s in d}
        self.commands.watched = (everything if self.commands.watched is None else self.commands.watched) - names if names else set()
        return plain(f"watching {', '.join(sorted(self.commands.watched)) or 'no statement'}")

    def _load(self, argument: str) -> Shown:
        return output.show_deployment(self.session.deploy(_read_file(argument), f"file {argument}"))

    def _play_file(self, argument: str) -> Shown:
        return self._play(_read_file(argument)) or plain("no output")

    def _help(self, argument: str) -> Shown:
        return plain("\n".join([HELP, "Commands:", *self.commands.help_lines()]))

    def _quit(self, argument: str) -> Shown:
        self.is_over = True
        return plain("")


def _read_file(name: str) -> str:
    try:
        return Path(name.strip("'\"")).expanduser().read_text(encoding="utf-8-sig")
    except OSError as error:
        raise EplRuntimeError(f"cannot read '{name}': {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise EplRuntimeError(f"cannot read '{name}': it is not UTF-8") from None


def visible(text: str) -> str:
    """Return text without characters that a terminal obeys.

    >>> visible("a\\x1b[31mb")
    'a·[31mb'
    """
    return "".join(character if character.isprintable() or character == "\n" else "·" for character in text)


def run_lines(shell: Shell, lines: Iterable[str]) -> None:
    """Handle the inputs of a file or pipe, to its end or ``quit``."""
    waiting = ""
    for line in lines:
        waiting += line if line.endswith("\n") else f"{line}\n"
        if shell.is_complete(waiting):
            shell.handle(waiting)
            waiting = ""
        if shell.is_over:
            return
    if waiting.strip():
        shell.handle(waiting)


def main(
    session: Session, history: Path | None, modules: Iterable[Path] = (), *, interactive: Callable[[Shell, Path | None], object]
) -> int:
    """Read inputs from standard input until its end; return 1 where it is not a terminal and an input failed. ``interactive``: reads them
    from a terminal."""
    shell = Shell(session, print, lambda text: print(text, file=sys.stderr))
    for module in modules:
        shell.handle(f"load {module}")
    if sys.stdin.isatty():
        interactive(shell, history)
        return 0
    run_lines(shell, sys.stdin)
    return 1 if shell.failures else 0


__all__ = ["Shell", "main", "run_lines", "visible"]
