"""Inlining: the steps of a statement that alone receives the events of a type are part of the type's intake.

The event is made only where a step names it, and the statement's listeners are called at once, since no other statement is to get the
event before. It is an optimization of what the fused functions do anyway, and may be switched off: nothing else depends on it, and no
other part of the engine offers steps for it but those that set ``Receiver.write`` or a timer's ``alone``.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from epl.attribute_text import name_attributes
from runtime.event_loop.filter_index import FilterEntry
from runtime.expressions.generated_steps import EVENT
from runtime.expressions.source_lines import indent_lines
from windows.event import Event


class Core(Protocol):
    """What generated code reads of the event loop."""

    busy: bool
    changed_statements: set[int] | None

    def process(self, event: Event) -> None: ...


ENABLED = True
"""The switch: intakes and timers that are generated while it is False call receivers and deliver afterwards, as they do for several."""


def lone_entry(entries: Sequence[FilterEntry]) -> FilterEntry | None:
    """Return the only one of the entries, if its statement offers its steps as text."""
    if not ENABLED or len(entries) != 1 or entries[0].receiver.write is None:
        return None
    return entries[0]


def core_text(scope: Mapping[str, Any]) -> Core:
    """Return the event loop of a scope, where it is ``core``, as an object whose attributes are source text."""
    core: Core = scope["core"]
    return name_attributes("core", core)


def note_change_line(core: Core, number: str) -> str:
    """Return the line that notes the statement of a number, given as text, as changed. ``core``: of ``core_text``."""
    return f"if {core.changed_statements} is not None: {core.changed_statements}.add({number})"


def lone_lines(entry: FilterEntry, place: Callable[[str], str], values: str, make: Sequence[str], scope: dict[str, Any]) -> list[str]:
    """Return the steps of the receiver and then all that ``EventLoop.process`` does, as source lines; ``scope`` gets what they name.

    ``place``: field of the event → the text of its value. ``values``: the text of the event; ``make``: lines that put it in ``e``.
    """
    receiver = entry.receiver
    assert receiver.write is not None
    core = core_text(scope)
    scope |= {"receiver": receiver, "name": receiver.name, "statement_number": receiver.order[2]}
    steps = receiver.write(place, scope, f"return deliver_alone(receiver, {values})")
    assert all(scope.get(name, each) is each for name, each in steps.scope.items()), "one name for two objects"
    scope |= steps.scope
    named = any(EVENT.search(line) for line in (*steps.before, *steps.then))
    lines = [note_change_line(core, "statement_number")]
    lines += ["try:", *indent_lines(steps.then or ["pass"])]
    lines += ["except Exception as error:", f"    on_error(error, name, {'e' if named else values})"]
    lines += ["if pending: flush()", "if queue: work()"]
    head = [*(make if named else ()), *steps.before, f"outer = {core.busy}", f"{core.busy} = True"]
    return [*head, "try:", *indent_lines(lines), "finally:", f"    {core.busy} = outer"]


__all__ = ["ENABLED", "Core", "core_text", "lone_entry", "lone_lines", "note_change_line"]
