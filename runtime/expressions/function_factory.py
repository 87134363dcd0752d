"""Functions over the objects of an instance: printed and compiled once a statement, bound to an instance's objects by a call."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from epl.generated_code import defined, names_in
from runtime.expressions.compiled import OPERATIONS
from runtime.expressions.environment import Environment
from runtime.expressions.printer import Printer
from runtime.expressions.source_lines import indented


class FunctionFactory:
    """The functions ``names``, which the lines define. ``shared``: objects that all instances have in common; ``own``: names of those
    that each has of its own. ``printer``: what has printed the expressions in the lines.
    """

    __slots__ = ("names", "source", "_bind", "_cells", "_own")

    def __init__(self, names: Sequence[str], lines: Sequence[str], shared: Mapping[str, Any], own: Sequence[str], printer: Printer) -> None:
        self.names = tuple(names)
        used = names_in("\n".join([*lines, ""]))
        self._cells = tuple((name, read) for name, read in printer.instance_cells.items() if name in used)
        self._own = tuple(name for name in own if name in used)
        parameters = ", ".join([*self._own, *(name for name, _ in self._cells)])
        text = "\n".join([f"def bind({parameters}):", *indented([*lines, f"return ({', '.join(names)},)"]), ""])
        self._bind: Callable[..., tuple[Any, ...]] = defined(text, {**OPERATIONS, **printer.bindings, **shared})["bind"]
        self.source = text

    def __call__(self, objects: Mapping[str, Any], environment: Environment) -> dict[str, Any]:
        """Return the functions by name, over an instance's own objects."""
        own = [objects[name] for name in self._own]
        return dict(zip(self.names, self._bind(*own, *[read(environment) for _, read in self._cells])))


__all__ = ["FunctionFactory"]
