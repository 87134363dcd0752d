"""The commands that notebook and shell share: ``explain NAME``, ``query select …``, ``time +10 sec`` and so on."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

from epl.errors import EplError, EplRuntimeError, EplSyntaxError
from runtime.api.runtime import internal_engine
from runtime.explain.formats import WRITERS
from runtime.explain.notebook_html import fold_html, picture_html
from runtime.replay.epl_online import Later, format_time, parse_script, parse_time
from runtime.tools.output import Shown, output, plain, table
from runtime.tools.session import Session, WatchedCall

BEGINNINGS = ("select", "create", "insert", "on", "update", "context", "@name")
"""How statements begin."""
OF_STATEMENTS = "EPL is no command: in a notebook it is a cell that begins with %%epl, in the shell it is written as it is"


class Commands:
    """Commands by name: what they take, their line of help, what they do. ``watched``: the statements whose output is shown, None for
    all."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.watched: set[str] | None = None
        self.by_name: dict[str, tuple[str, str, Callable[[str], Shown]]] = {
            "statements": ("", "list what is deployed", self.statements),
            "types": ("[NAME]", "list event types, windows and tables, or the properties of one", self.types),
            "explain": ("NAME [FORMAT]", "show the plan of a statement: as text, json, mermaid or dot", self.explain),
            "rows": ("NAME", "show the current rows of a statement", self.rows),
            "query": ("SELECT …", "run a fire-and-forget query on named windows and tables", self.query),
            "time": ("[+10 sec | TIME | MS]", "show engine time, or move it through every timer", self.time),
            "undeploy": ("NAME", "undeploy a statement's deployment", self.undeploy),
            "text": ("NAME", "show a statement as it is written", self.text),
        }

    def run(self, line: str) -> Shown:
        """Run one command; EplRuntimeError where there is no such command."""
        name, _, argument = line.strip().partition(" ")
        command = self.by_name.get(name.lower())
        if command is None:
            close = get_close_matches(name.lower(), self.by_name, 1)
            hint = f"did you mean '{close[0]}'?" if close else f"there are: {', '.join(self.by_name)}"
            raise EplRuntimeError(f"no command '{name}'", hint=OF_STATEMENTS if name.lower().partition("(")[0] in BEGINNINGS else hint)
        return command[2](argument.strip())

    def help_lines(self) -> list[str]:
        """Return a line for each command."""
        heads = {name: f"{name} {usage}".strip() for name, (usage, _, _) in self.by_name.items()}
        return [f"  {heads[name]:<28}{meaning}" for name, (_, meaning, _) in self.by_name.items()]

    def statements(self, argument: str) -> Shown:
        rows = [
            {"deployment": d.id, "statement": s.name, "kind": s.plan.kind, "text": " ".join(s.plan.text.split())}
            for d in self.session.runtime.deployments.values() for s in d
        ]  # fmt: skip
        return table(rows) if rows else plain("nothing is deployed")

    def types(self, argument: str) -> Shown:
        catalog = internal_engine(self.session.runtime).catalog()
        known = {**{name: t.event_type for name, t in catalog.tables.items()}, **catalog.event_types}
        if not argument:
            rows = [{"name": name, "kind": each.kind, "properties": ", ".join(each.properties)} for name, each in known.items()]
            return table(rows) if rows else plain("no types yet: create schema Name(property type, …)")
        event_type = known.get(argument)
        if event_type is None:
            close = get_close_matches(argument, known, 1)
            raise EplRuntimeError(f"no type named '{argument}'", hint=f"did you mean '{close[0]}'?" if close else None)
        return table([{"property": name, "type": str(each.type)} for name, each in event_type.properties.items()])

    def explain(self, argument: str) -> Shown:
        """Show the plan: with a picture where HTML is shown, unless a format is asked for."""
        name, _, last = argument.rpartition(" ")
        if name and last in WRITERS:
            return plain(self.session.statement(name.strip()).explain(last))  # type: ignore[arg-type]
        statement = self.session.statement(name.strip() if last == "text" and name else argument)
        shown = plain(statement.explain())
        return Shown(shown.text, picture_html(statement.graph()) + fold_html("plan as text", shown.html))

    def text(self, argument: str) -> Shown:
        return plain(self.session.statement(argument).plan.text)

    def rows(self, argument: str) -> Shown:
        statement = self.session.statement(argument)
        return table(statement.rows(), list(statement.properties))

    def query(self, argument: str) -> Shown:
        return table(self.session.runtime.query(argument.rstrip(";")))

    def time(self, argument: str) -> Shown:
        if not argument:
            return plain(format_time(self._ms()))
        target = self._target(argument)
        with self.session.recording() as calls:
            self.session.runtime.advance_time_span(target * self.session.runtime.settings.units_per_second // 1000)
        seen = self.select_calls(calls)
        shown = output(seen, 0)
        now = format_time(self._ms())
        return Shown(f"{shown.text}\n{now}", f"{shown.html}<p>{now}</p>") if seen else plain(now)

    def select_calls(self, calls: list[WatchedCall]) -> list[WatchedCall]:
        """Return the calls of watched statements."""
        return [call for call in calls if self.watched is None or call.statement in self.watched]

    def _ms(self) -> int:
        return self.session.runtime.now * 1000 // self.session.runtime.settings.units_per_second

    def _target(self, argument: str) -> int:
        """Read ``+10 sec``, ms since 1970 or a date, as ms."""
        if argument.startswith("+"):
            try:
                _, later = next(parse_script(f"t = t.plus({argument[1:]})"))
            except EplSyntaxError as error:
                raise EplRuntimeError(f"{error.message} in '{argument}'", hint="write +10 sec or +1 hour 30 minutes") from None
            assert isinstance(later, Later)
            return self._ms() + later.ms
        try:
            return int(argument) if argument.lstrip("-").isdigit() else parse_time(argument.strip("'\""))
        except (ValueError, OverflowError):
            raise EplRuntimeError(f"'{argument}' is not a time", hint="write +10 sec, yyyy-MM-dd HH:mm:ss or ms since 1970") from None

    def undeploy(self, argument: str) -> Shown:
        return plain(f"undeployed {self.session.undeploy(argument)}")


def error_text(error: Exception) -> str:
    """Return what is shown of an exception: errors of EPL with position, caret and hint, of others their kind and message."""
    return f"{type(error).__name__}: {error}" if not isinstance(error, EplError) else str(error)


__all__ = ["Commands", "error_text"]
