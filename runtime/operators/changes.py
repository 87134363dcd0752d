"""Changed copies of an event: update istream, on … update, on … merge. All assignments are one generated function."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.generated_code import field_name, literal
from epl.plan.assignments import PropertyAssignment
from epl.value_types import Scalar
from runtime.expressions import Environment
from runtime.expressions.compiled import compile_text
from runtime.expressions.printer import Printer
from windows.event import Event, Extra


def compile_changes(
    assignments: Sequence[PropertyAssignment], event_type: EventType, environment: Environment, arity: int, *, in_turn: bool
) -> Callable[..., Event]:
    """Compile ``f(e0, …)`` → a changed copy of the event ``e0``, of its own type.

    ``in_turn``: each assignment sees what those before it have set; otherwise all see the event as it was, but for arrays and maps of which
    several elements are set.
    """
    def write(printer: Printer) -> tuple[str, str]:
        printer.bindings |= CHANGING
        lines = change_lines(assignments, event_type, printer, in_turn=in_turn)
        parameters = ", ".join(f"e{number}" for number in range(arity))
        return parameters, "\n    ".join([*lines, "return r"])

    return compile_text(("changes", event_type, in_turn), assignments, environment, arity, write)


def change_lines(
    assignments: Sequence[PropertyAssignment], event_type: EventType, printer: Printer, *, in_turn: bool
) -> list[str]:
    """Return lines that put the changed copy of ``e0`` into ``r``; they name what is in ``CHANGING``. See ``compile_changes``."""
    lines = ["e0 = r = e0.copied()" if in_turn else "r = e0.copied()"]
    for each in assignments:
        lines += _lines(each, event_type, printer)
    return lines


def _lines(plan: PropertyAssignment, event_type: EventType, printer: Printer) -> list[str]:
    value = printer.value(plan.value)
    if plan.kind == "reset":
        return [f"reset(r, {literal(tuple(plan.places))})"]
    if plan.kind == "call":
        return [value]
    name, place = literal(plan.property), f"r.{field_name(plan.property)}"
    then = [f"{place} = v", *([f"if r.extra is not None: r.extra = sent(r.extra, {name})"] if event_type.open else [])]
    if plan.kind == "value" and not _is_primitive(event_type, plan.property):
        return [f"v = {value}", *then]
    if plan.kind == "value":  # a null leaves a primitive property as it is
        return [f"v = {value}", "if v is not None:", *_indent(then)]
    assert plan.index is not None
    index = printer.value(plan.index)
    if plan.kind == "element":
        fits = "holds(a, i)" if plan.lenient else f"fits(a, i, {name})"
        return [f"a, i = {place}, {index}", f"if {fits}:", *_indent([f"v = with_element(a, i, {value})", *then])]
    return [f"a = {place}", "if a is not None:", *_indent([f"v = {{**a, {index}: {value}}}", *then])]


def _indent(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _is_primitive(event_type: EventType, name: str) -> bool:
    value_type = event_type.properties[name].type if name in event_type.properties else None
    return isinstance(value_type, Scalar) and value_type.primitive


def _fits(array: Any, index: int | None, name: str) -> bool:
    """Return whether there is an element to set; an index outside of the array is an error."""
    if array is None or index is None:
        return False
    if not 0 <= index < len(array):
        raise EplRuntimeError(f"Array length {len(array)} less than index {index} for property '{name}'")
    return True


def _holds(array: Any, index: int) -> bool:
    """Return whether there is an element to set; as in Esper, a literal index outside of the array sets nothing."""
    return array is not None and index < len(array)


def _with_element(array: Sequence[Any], index: int, value: Any) -> list[Any]:
    changed = list(array)
    changed[index] = value
    return changed


def _reset(row: Any, places: Sequence[int]) -> None:
    """Let aggregations of a table's row begin again."""
    row.reset(places)


def _extra_without(extra: dict[str, Any] | None, name: str) -> dict[str, Any] | None:
    """Return what a map event holds besides its declared properties, once this one has a value."""
    return extra.without((name,)) if isinstance(extra, Extra) else extra


CHANGING: dict[str, Any] = {"fits": _fits, "holds": _holds, "with_element": _with_element, "sent": _extra_without, "reset": _reset}
"""What ``change_lines`` name."""

__all__ = ["CHANGING", "change_lines", "compile_changes"]
