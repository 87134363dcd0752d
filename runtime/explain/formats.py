"""The formats of ``explain()``."""
from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Literal as Choice
from typing import get_args

from runtime.explain.dot import dot
from runtime.explain.graph import Graph
from runtime.explain.mermaid import mermaid

Format = Choice["text", "json", "mermaid", "dot"]
"""``text`` is written from the plan itself (epl.plan.explain), the others from its graph."""

WRITERS: Mapping[str, Callable[[Graph], str]] = {"json": lambda graph: as_json(graph.to_dict()), "mermaid": mermaid, "dot": dot}


def as_json(value: object) -> str:
    """Return JSON that may stand in an HTML page: no sign of it can end a script."""
    text = json.dumps(value, indent=2, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026") + "\n"


def check_format(name: str) -> None:
    """Raise ValueError for what is no format."""
    if name not in get_args(Format):
        raise ValueError(f"format is one of {', '.join(map(repr, get_args(Format)))}, not {name!r}")


__all__ = ["WRITERS", "Format", "as_json", "check_format"]
