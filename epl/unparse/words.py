"""Names, literals and types as EPL reads them back."""

from __future__ import annotations

import re

from epl import syntax as S
from epl.grammar.lexis import RESERVED, RESERVED_FOR_NAMES

_PLAIN = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_DOTTED = re.compile(r"`[^`]*`|[^.`]+", re.ASCII)
_CALLED = frozenset({"istream", "grouping", "grouping_id", "prevcount", "prevwindow"})
_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'"})


def name(text: str) -> str:
    """Return a name that a statement gives or refers to; in backticks where it is reserved or no identifier."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in RESERVED_FOR_NAMES else f"`{text}`"


def property_name(text: str) -> str:
    """Return a name in an expression: fewer words are reserved there; ``last`` and ``lastweekday`` alone would be parts of a crontab."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in RESERVED and text.lower() not in ("last", "lastweekday") else f"`{text}`"


def call_name(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and (text.lower() not in RESERVED or text.lower() in _CALLED) else f"`{text}`"


def quote_type_name(text: str) -> str:
    """Return a type's name; a part that is quoted already stays so, ``a\\.b`` too."""
    if "\\" in text:
        return text
    return ".".join(part if part.startswith("`") else name(part) for part in _DOTTED.findall(text))


def string(text: str) -> str:
    """Return a string literal: only quotes and backslashes need escaping; line ends stay as they are."""
    return "'" + text.translate(_ESCAPES) + "'"


def literal(node: S.Literal) -> str:
    value = node.value
    if node.kind == "string":
        return string(str(value))
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if node.kind == "byte":
        return hex(int(value))
    if node.kind in ("float", "double"):
        return repr(float(value)) + ("f" if node.kind == "float" else "")
    return f"{value}L" if node.kind == "long" else str(value)


def type_name(node: S.TypeName) -> str:
    """Return ``int[primitive]``, ``java.util.List<String>``, ``*``, ``null``."""
    if node.name in ("*", "null"):
        return node.name
    parameters = f"<{', '.join(map(type_name, node.parameters))}>" if node.parameters else ""
    dimensions = ("[primitive]" if node.primitive else "[]") + "[]" * (node.dimensions - 1) if node.dimensions else ""
    return f"{quote_type_name(node.name)}{parameters}{dimensions}"
