"""The magics of notebooks. Errors of EPL are shown with their place in the cell, without a traceback, and fail the cell."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import attrs
from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher
from IPython.core.error import UsageError

from runtime.api.runtime import Runtime, internal_engine
from runtime.tools import output
from runtime.tools.commands import Commands, error_text
from runtime.tools.completion import CompletionItem, CursorPlace, complete
from runtime.tools.output import Shown
from runtime.tools.session import Session

VARIABLE = "rt"
"""The runtime of a notebook that names none."""
CELL_USAGE = "usage: %%epl [-n NAME] [-r RUNTIME_VARIABLE]"
EVENTS_USAGE = "usage: %%events [-r RUNTIME_VARIABLE]"
MAGICS = (("cell", "epl"), ("cell", "events"), ("line", "epl"))


class CellError(Exception):
    """What fails a cell: shown as it is, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


@attrs.frozen
class Options:
    runtime: str = VARIABLE
    name: str | None = None


class EplMagics:
    """The magics of one IPython shell; a session for each runtime that its variables hold."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.sessions: dict[int, Session] = {}
        """By identity of the runtime, which the session keeps alive."""

    def install(self) -> None:
        """Register the magics, colours and completion."""
        register = self.shell.register_magic_function
        register(self.deploy, "cell", "epl")
        register(self.events, "cell", "events")
        register(self.command, "line", "epl")
        self.shell.epl_magics = self
        completer = getattr(self.shell, "Completer", None)
        if completer is not None and hasattr(completer, "custom_matchers"):
            completer.custom_matchers.append(self.matches)

    @staticmethod
    def remove(shell: Any) -> None:
        magics = shell.magics_manager.magics
        for kind, name in MAGICS:
            magics[kind].pop(name, None)
        matchers = getattr(getattr(shell, "Completer", None), "custom_matchers", [])
        matchers[:] = [each for each in matchers if not isinstance(getattr(each, "__self__", None), EplMagics)]

    # ------------------------------------------------------------------ magics

    def deploy(self, line: str, cell: str) -> Shown:
        """``%%epl [-n NAME] [-r VARIABLE]``: deploy the cell. Running it again replaces what it deployed before."""
        options = _options(line, CELL_USAGE, named=True)
        session = self.session(options.runtime)
        return _guard(lambda: output.show_deployment(session.deploy(cell, options.name or self._cell_id())))

    def events(self, line: str, cell: str) -> Shown:
        """``%%events [-r VARIABLE]``: send events and move time, and show what statements emit. A line is ``Type = {name = value, …}``,
        ``Type {"name": value}``, ``t = t.plus(10 seconds)`` or ``t = "2001-01-01 08:00:00"``."""
        session = self.session(_options(line, EVENTS_USAGE).runtime)

        def play() -> Shown:
            with session.recording() as calls:
                events = session.play(cell)
            return output.output(calls, events, session.notes)

        return _guard(play)

    def command(self, line: str) -> Shown:
        """``%epl COMMAND``; without a command, the list of commands. ``-r VARIABLE`` before the command names the runtime."""
        name = VARIABLE
        if line.strip().startswith("-r"):
            _, name, line = [*line.strip().split(maxsplit=2), "", ""][:3]
        commands = Commands(self.session(name))
        if not line.strip():
            return output.plain("\n".join(["%epl COMMAND", *commands.help_lines()]))
        return _guard(lambda: commands.run(line))

    # ------------------------------------------------------------------ sessions

    def session(self, name: str) -> Session:
        """Return the session of the runtime in a variable; a new runtime is put there if the variable does not exist."""
        if not name.isidentifier():
            raise UsageError(f"'{name}' is not the name of a variable")
        runtime = self.shell.user_ns.get(name)
        if runtime is None:
            runtime = self.shell.user_ns[name] = Runtime()
        if not isinstance(runtime, Runtime):
            raise UsageError(f"the variable '{name}' holds no Runtime but {type(runtime).__name__}; name another one: -r VARIABLE")
        session = self.sessions.get(id(runtime))
        if session is None:
            session = self.sessions[id(runtime)] = Session(runtime)
        return session

    def _cell_id(self) -> str | None:
        """Return what identifies the cell where the front end says so (JupyterLab, Visual Studio Code); elsewhere its text does."""
        parent: Any = self.shell.get_parent() if hasattr(self.shell, "get_parent") else None
        metadata = parent.get("metadata", {}) if isinstance(parent, dict) else {}
        cell = metadata.get("cellId")
        return f"cell {cell}" if isinstance(cell, str) else None

    # ------------------------------------------------------------------ completion

    @context_matcher(identifier="epl")  # type: ignore[untyped-decorator]
    def matches(self, context: CompletionContext) -> SimpleMatcherResult:
        """Complete words in cells that begin with ``%%epl`` or ``%%events``; nothing else completes there."""
        lines = context.full_text.split("\n")
        offset = sum(len(line) + 1 for line in lines[: context.cursor_line]) + context.cursor_position
        candidates = self.candidates(context.full_text, offset)
        prefix = CursorPlace.of(context.full_text, offset).prefix
        completions = [SimpleCompletion(each.text, type=each.kind) for each in candidates]
        return {
            "completions": completions, "matched_fragment": prefix, "suppress": bool(candidates), "do_not_suppress": set(), "ordered": True
        }  # fmt: skip

    def candidates(self, cell: str, offset: int) -> list[CompletionItem]:
        """Return what may be written at the offset of a cell, its first line included; nothing in other cells."""
        head, newline, body = cell.partition("\n")
        name = next((word for word in ("%%epl", "%%events") if head.startswith(word)), None)
        if name is None or not newline or offset <= len(head):
            return []
        try:
            session = self.session(_options(head.removeprefix(name), CELL_USAGE, named=True).runtime)
        except UsageError:
            return []
        return complete(body, offset - len(head) - 1, internal_engine(session.runtime).catalog())


def _options(line: str, usage: str, named: bool = False) -> Options:
    """Read the words after a magic; only cells that deploy are ``named``."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{error}; {usage}") from None
    options: dict[str, str] = {}
    fields = {"-r": "runtime", "--runtime": "runtime", **({"-n": "name", "--name": "name"} if named else {})}
    while words:
        option = words.pop(0)
        field = fields.get(option)
        if field is None or not words:
            raise UsageError(f"'{option}' {'needs a value' if field else 'is not an option'}; {usage}")
        options[field] = words.pop(0)
    return Options(**options)


def _guard(work: Callable[[], Shown]) -> Shown:
    """Do it; whatever it raises fails the cell in one message."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - shown, and raised without the engine's frames
        message = error_text(error)
    raise CellError(message)


__all__ = ["CellError", "EplMagics"]
