"""One statement of a module checked by deploying it: what ``epl check`` and editors report."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs

from epl.analysis.statements.annotations import unknown_in_module
from epl.analysis.statements.doubts import Doubt, find_doubts
from epl.analysis.statements.faults import find_faults
from epl.errors import EplError
from epl.spans import Span
from epl.syntax import Annotation
from runtime.api.plan_cache import parse_text
from runtime.api.runtime import Runtime, internal_engine
from runtime.tools.modules import ModulePiece, at_its_place

if TYPE_CHECKING:
    from runtime.esper_config import Plugins


@attrs.frozen
class Checked:
    """``text``: the statement at its place in the module, with the headers; ``whole``: where it is. ``halves``: the two statements that it
    is where a semicolon is missing. ``doubts``: what is accepted and probably not meant. ``internal``: an exception that is no
    EplError, and should be."""

    text: str
    whole: Span
    errors: list[EplError] = attrs.field(factory=list)
    halves: tuple[ModulePiece, ...] = ()
    unknown_annotations: tuple[Annotation, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    internal: Exception | None = None

    @property
    def is_accepted(self) -> bool:
        return not self.errors and self.internal is None


def check_piece(runtime: Runtime, text: str, headers: list[ModulePiece], piece: ModulePiece, name: str) -> Checked:
    """Deploy one statement of the module ``text`` as ``name``, so that later ones see what it declares; nothing raises."""
    padded = at_its_place(text, headers, piece)
    whole = Span(piece.start, piece.start + len(piece.text))
    try:
        module = parse_text(padded)
    except EplError as error:
        return Checked(padded, whole, [error], (piece.halves(error.span.start) or ()) if error.span is not None else ())
    catalog = internal_engine(runtime).catalog(module.name)
    errors: list[EplError] = []
    internal = None
    try:
        runtime.deploy(padded, name=name)
    except EplError as error:
        errors = find_faults(module, catalog) or [error]
    except Exception as error:  # noqa: BLE001 - reported like every other refusal: the others are still to be checked
        internal = error
    doubts = () if errors or internal else tuple(doubt for statement in module.statements for doubt in find_doubts(statement, catalog))
    return Checked(padded, whole, errors, (), tuple(unknown_in_module(module, catalog)), doubts, internal)


def register_placeholders(runtime: Runtime, plugins: Plugins) -> None:
    """Register functions and aggregations that take anything and return a value of unknown type, in place of those that are Java's."""
    for name in plugins.functions:
        runtime.register_function(name, _of_java)
    for name in plugins.aggregations:
        runtime.register_aggregation(name, _AggregationOfJava)


def plugin_calls(text: str, plugins: Plugins | None) -> list[str]:
    """Return the names among ``plugins`` that a statement calls, as it is written."""
    if plugins is None:
        return []
    return [name for name in (*plugins.functions, *plugins.aggregations) if re.search(rf"(?<![\w.]){re.escape(name)}\s*\(", text)]


def _of_java(*arguments: Any) -> Any:
    raise NotImplementedError("this function is Java's: nothing runs in a check")


class _AggregationOfJava:
    def enter(self, *values: Any) -> None:
        _of_java()

    def leave(self, *values: Any) -> None:
        _of_java()

    def value(self) -> Any:
        return None

    def clear(self) -> None:
        _of_java()

    def state(self) -> Any:
        return None

    def restore(self, state: Any) -> None:
        _of_java()


__all__ = ["Checked", "check_piece", "plugin_calls", "register_placeholders"]
