"""The shell in a terminal: editing of several lines, colours, completion, history."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer

from epl_spark_pygments import EplLexer
from runtime.api.runtime import internal_engine
from runtime.api.version import version
from runtime.replay.epl_online import format_time
from runtime.tools.completion import CompletionItem, CursorPlace, complete
from runtime.tools.shell import Shell

OF_STATEMENTS = frozenset({"explain", "rows", "undeploy", "text", "watch", "unwatch"})
"""Commands after which names of statements are completed."""


class EplCompleter(Completer):
    """Completes commands, then names of statements or types after them, and EPL."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        prefix = CursorPlace.of(text, len(text)).prefix
        for each in self.candidates(document.text, document.cursor_position):
            yield Completion(each.text, -len(prefix), display_meta=f"{each.kind}  {each.detail}"[:80])

    def candidates(self, text: str, offset: int) -> list[CompletionItem]:
        before = text[:offset]
        commands = self.shell.commands.by_name
        words = before.split()
        runtime = self.shell.session.runtime
        if words and words[0].lower() in OF_STATEMENTS and (len(words) > 1 or before[-1:].isspace()):
            prefix = "" if before[-1:].isspace() else words[-1]
            names = dict.fromkeys(s.name for d in runtime.deployments.values() for s in d)
            return [CompletionItem(name, "statement") for name in names if name.startswith(prefix)]
        known = complete(text, offset, internal_engine(runtime).catalog())
        if len(words) < 2 and not before[-1:].isspace():
            known = [CompletionItem(name, "command", commands[name][1]) for name in commands if name.startswith(before.lower())] + known
        return known


def interactive(shell: Shell, history: Path | None, **session_options: Any) -> None:
    """Read inputs until Ctrl-D or ``quit``. ``session_options``: of prompt_toolkit's session (its input and output)."""
    prompt: PromptSession[str] = PromptSession(
        message="epl> ", prompt_continuation=lambda width, line, wrapped: "...> ", lexer=PygmentsLexer(EplLexer),
        completer=EplCompleter(shell), complete_while_typing=False, history=_history(history), multiline=True,
        key_bindings=_bindings(shell), bottom_toolbar=lambda: _toolbar(shell), **session_options,
    )  # fmt: skip
    shell.write(f"epl-spark {version()}. help lists the commands; statements end with a semicolon; Ctrl-D leaves.")
    while not shell.is_over:
        try:
            text = prompt.prompt()
        except KeyboardInterrupt:
            continue  # what has been written is dropped
        except EOFError:
            return
        shell.handle(text)


def _history(path: Path | None) -> History:
    """Return the history in a file, or one that ends with the shell where the file cannot be written."""
    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a"):
            pass
        path.chmod(0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


def _bindings(shell: Shell) -> KeyBindings:
    """Enter ends a whole input, and begins a new line in one that is not whole."""
    bindings = KeyBindings()

    @bindings.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None  # takes the completion
        elif shell.is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return bindings


def _toolbar(shell: Shell) -> str:
    runtime = shell.session.runtime
    statements = sum(len(deployment) for deployment in runtime.deployments.values())
    now = format_time(runtime.now * 1000 // runtime.settings.units_per_second)
    return f" {now}   {statements} statement{'s' if statements != 1 else ''}   Tab completes"


__all__ = ["EplCompleter", "interactive"]
