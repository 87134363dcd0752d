"""Functions over the objects of an instance: printed and compiled once a statement, bound to an instance's objects by a call."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from epl.generated_code import define_names, text_names
from runtime.expressions.compiled import OPERATIONS
from runtime.expressions.environment import Environment
from runtime.expressions.printer import Printer
from runtime.expressions.source_lines import indent_lines


class FunctionFactory:
    """The functions ``names``, which the lines define. ``shared``: objects that all instances have in common; ``own``: names of those
    that each has of its own. ``printer``: what has printed the expressions in the lines.
    """

    __slots__ = ("names", "source", "_bind", "_cells", "_own")

    def __init__(self, names: Sequence[str], lines: Sequence[str], shared: Mapping[str, Any], own: Sequence[str], printer: Printer) -> None:
        self.names = tuple(names)
        used = text_names("\n".join([*lines, ""]))
        self._cells = tuple((name, read) for name, read in printer.instance_cells.items() if name in used)
        self._own = tuple(name for name in own if name in used)
        parameters = ", ".join([*self._own, *(name for name, _ in self._cells)])
        text = "\n".join([f"def bind({parameters}):", *indent_lines([*lines, f"return ({', '.join(names)},)"]), ""])
        self._bind: Callable[..., tuple[Any, ...]] = define_names(text, {**OPERATIONS, **printer.bindings, **shared})["bind"]
        self.source = text

    def __call__(self, objects: Mapping[str, Any], environment: Environment) -> dict[str, Any]:
        """Return the functions by name, over an instance's own objects."""
        own = [objects[name] for name in self._own]
        return dict(zip(self.names, self._bind(*own, *[read(environment) for _, read in self._cells])))


class ObjectFactory:
    """The functions as methods of objects, one an instance, where there are many: an object holds what the instance has of its own, and
    costs less than functions do. Parameters as of FunctionFactory; ``functions``: their heads and lines by name; ``rare``: of own
    objects those that lines read of ``own``, the object, where they need them.
    """

    __slots__ = ("source", "_cells", "_class", "_own")

    def __init__(
        self, functions: Mapping[str, tuple[str, Sequence[str]]], shared: Mapping[str, Any], own: Sequence[str], rare: Sequence[str],
        printer: Printer,
    ) -> None:
        whole = "\n".join(line for head, lines in functions.values() for line in (head, *indent_lines(lines), ""))
        used = text_names(whole)
        self._cells = tuple((name, read) for name, read in printer.instance_cells.items() if name in used)
        self._own = tuple(name for name in own if name in used)
        names = [*self._own, *(name for name, _ in self._cells)]
        texts = [_as_method(head, lines, names, rare) for head, lines in functions.values()]
        self.source = "\n".join(texts)
        scope = define_names(self.source, {**OPERATIONS, **printer.bindings, **shared})
        self._class = type("InstanceObjects", (), {"__slots__": tuple(names), **{name: scope[name] for name in functions}})

    def __call__(self, objects: Mapping[str, Any], environment: Environment) -> Any:
        """Return the object of an instance, which has the functions as methods."""
        bound = self._class()
        for name in self._own:
            setattr(bound, name, objects[name])
        for name, read in self._cells:
            setattr(bound, name, read(environment))
        return bound


def _as_method(head: str, lines: Sequence[str], names: Sequence[str], rare: Sequence[str]) -> str:
    """Return a function's text with the instance's object as its first parameter."""
    used = text_names("\n".join([head, *indent_lines(lines), ""]))
    read = [f"{name} = own.{name}" for name in names if name in used and name not in rare]
    return "\n".join([head.replace("(", "(own, ", 1).replace(", )", ")"), *indent_lines([*read, *lines]), ""])


__all__ = ["FunctionFactory", "ObjectFactory"]
