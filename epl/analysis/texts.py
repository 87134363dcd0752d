"""Expressions as Esper prints them in refusals, until the printer of the whole language is there."""
from __future__ import annotations

from epl.syntax import expressions as syntax


def written(expression: object) -> str:
    """The text of an expression: no spaces around operators, text in double quotes."""
    match expression:
        case syntax.Literal(kind="string", value=value):
            return f'"{value}"'
        case syntax.Literal(value=value):
            return {True: "true", False: "false", None: "null"}.get(value, str(value)) if isinstance(value, (bool, type(None))) else str(value)
        case syntax.Chain(links=links, root=root):
            text = "" if root is None else written(root)
            for link in links:
                if isinstance(link, syntax.Index):
                    text += f"[{','.join(map(written, link.arguments))}]"
                else:
                    text += ("." if text else "") + link_text(link)
            return text
        case syntax.Binary(operator=operator, left=left, right=right) | syntax.Comparison(operator=operator, left=left, right=right):
            gap = " " if operator[0].isalpha() else ""
            return f"{written(left)}{gap}{operator}{gap}{written(right)}"
        case syntax.Logical(operator=operator, operands=operands):
            return f" {operator} ".join(map(written, operands))
    return type(expression).__name__


def link_text(link: syntax.Link) -> str:
    mark = "?" if getattr(link, "optional", False) else ""
    if isinstance(link, syntax.Call):
        quoted = (f"'{a.value}'" if isinstance(a, syntax.Literal) and a.kind == "string" and len(link.arguments) == 1 else written(a) for a in link.arguments)
        return f"{link.name}({','.join(quoted)}){mark}"
    return f"{getattr(link, 'name', '')}{mark}"


def quoted(expression: object) -> str:
    """As messages show it: long texts are cut.

    >>> quoted(syntax.Literal("x" * 50, "string"))
    '"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...(52 chars)'
    """
    text = written(expression)
    return f"{text[:35]}...({len(text)} chars)" if len(text) > 40 else text
