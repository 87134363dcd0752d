"""Parts of a kernel that are printed several times become functions: compiling costs by the line, and equal lines are compiled once."""
from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Sequence

from runtime.batch.compiler import intrinsics
from runtime.batch.printing.source_code import Code

KNOWN = frozenset({"np", *dir(builtins), *(name for name in dir(intrinsics) if not name.startswith("__"))})
"""Names that are not a kernel's variables."""
NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


class Subroutines:
    """The functions of one kernel; two parts that differ in names only are one function."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def call(self, code: Code, lines: Sequence[str], changes: Iterable[str], makes: Iterable[str]) -> None:
        """Print a call of what ``lines`` do. Of the variables that they assign to those that they may have ``changes`` and ``makes`` are
        read after it; all but the first are assigned to before they are read."""
        text = "\n".join(lines)
        loaded, stored = _variables(text)
        changed, created = ([name for name in names if name in stored] for names in (changes, makes))
        returned, own = [*changed, *created], stored - set(changed)
        renamed: dict[str, str] = {}
        for match in NAME.finditer(text):
            name = match.group()
            if name in loaded | stored:
                renamed.setdefault(name, f"{'v' if name in own else 'p'}{len(renamed)}")
        takes = [name for name in renamed if name not in own]
        body = NAME.sub(lambda match: renamed.get(match.group(), match.group()), text)
        inner = Code(1)
        inner.add(*body.split("\n"))
        inner.add(f"return {', '.join(renamed[name] for name in returned)}")
        function = f"({', '.join(renamed[name] for name in takes)}):\n{inner.text()}"
        name = self._names.setdefault(function, f"part{len(self._names)}")
        code.add(f"{', '.join(returned)}{' = ' if returned else ''}{name}({', '.join(takes)})")

    def text(self) -> str:
        """Return the functions' source."""
        return "".join(f"def {name}{function}\n" for function, name in self._names.items())


def _variables(text: str) -> tuple[set[str], set[str]]:
    """Return the names that are read, and those that are assigned to."""
    loaded: set[str] = set()
    stored: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id not in KNOWN:
            (loaded if isinstance(node.ctx, ast.Load) else stored).add(node.id)
    return loaded, stored


__all__ = ["Subroutines"]
