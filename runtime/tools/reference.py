"""What the registries say of windows, pattern elements, functions and methods: the entries of docs/reference, and of editors."""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import NamedTuple

from epl.aggregations.functions import AGGREGATIONS
from epl.functions.library import builtin_functions
from epl.functions.registry import FunctionSpec
from epl.plan.patterns.pattern_reference import ELEMENTS
from epl.plan.windows import WindowConfig
from windows.registry import WINDOWS


class ReferenceEntry(NamedTuple):
    """``signatures``: `` | `` between them; ``time_line``: what a window contains over time, or nothing."""

    signatures: str
    meaning: str
    time_line: str = ""

    def markdown(self) -> str:
        """Return the signatures as code, the meaning, the time line."""
        code = "\n".join(self.signatures.split(" | "))
        line = f"\n\n```\n{self.time_line}\n```" if self.time_line else ""
        return f"```epl\n{code}\n```\n\n{self.meaning}{line}"


@cache
def entries() -> dict[str, dict[str, ReferenceEntry]]:
    """Return everything that the registries hold, by page of the reference and key."""
    registry = builtin_functions()
    functions = [*registry.single_row.values(), *registry.static.values()]
    methods = [s for specs in registry.methods.values() for s in specs]
    return {
        "windows": {c.names[0]: _window(c) for c in WINDOWS.values()},
        "patterns": {e.key: ReferenceEntry(" | ".join(e.signatures), e.meaning) for e in ELEMENTS},
        "aggregations": {s.name: ReferenceEntry(s.signature, s.summary) for s in AGGREGATIONS.values()},
        "functions": _sort_entries({s.key: ReferenceEntry(s.signature, s.summary) for s in functions}),
        "methods": _sort_entries({s.key: _method(s) for s in methods if not s.key.startswith("dt.")}),
        "enumeration": {s.name: ReferenceEntry(s.signature, s.summary) for s in registry.enumeration.values()},
        "date_time": {s.key[3:]: ReferenceEntry(s.signature, s.summary) for s in methods if s.key.startswith("dt.")},
    }


def _sort_entries(by_key: dict[str, ReferenceEntry]) -> dict[str, ReferenceEntry]:
    """Class by class, each in the order of registration."""
    return dict(sorted(by_key.items(), key=lambda item: method_class(item[0])))


def method_class(key: str) -> str:
    """Return the class of a method's key, ``Math.abs`` or ``String#concat``."""
    return re.split(r"[.#:]", key)[0]


def _window(config: type[WindowConfig]) -> ReferenceEntry:
    """Describe a window: its signature is in its module's first line, its meaning and time line in its own docstring."""
    module = (sys.modules[config.__module__].__doc__ or "").splitlines()[0]
    signature = next((s for s in re.findall(r"``([^`]+)``", module) if re.match(rf"{config.names[0]}\b", s)), "")
    words, _, line = (config.__doc__ or "").partition("::\n")
    meaning = " ".join(words.split("\n\n")[0].split())
    lines = [each for each in line.splitlines() if each.strip()]
    margin = min((len(each) - len(each.lstrip()) for each in lines), default=0)
    return ReferenceEntry(signature, meaning.replace("``", "`"), "\n".join(each[margin:].rstrip() for each in lines))


def _method(spec: FunctionSpec) -> ReferenceEntry:
    """Return the receiver's class instead of its name."""
    receiver = method_class(spec.key)
    return ReferenceEntry(" | ".join(re.sub(r"^\w+\.", f"{receiver}.", s) for s in spec.signature.split(" | ")), spec.summary)


__all__ = ["ReferenceEntry", "entries", "method_class"]
