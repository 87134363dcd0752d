"""Colours for EPL in documents, notebooks and the shell: a lexer of Pygments, known to it as ``epl``."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pygments.lexer import RegexLexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Text, _TokenType

from runtime.tools.colours import rules

TOKENS: dict[str, _TokenType] = {
    "comment": Comment.Single, "block comment": Comment.Multiline, "class text": String.Doc, "string": String, "quoted name": Name,
    "annotation": Name.Decorator, "namespace": Name.Namespace, "window": Name.Builtin, "number": Number, "method": Name.Function,
    "property": Name.Attribute, "function": Name.Builtin, "constant": Keyword.Constant, "operator word": Operator.Word,
    "keyword": Keyword, "type": Keyword.Type, "name": Name, "operator": Operator, "punctuation": Punctuation,
}  # fmt: skip
"""By kind of rule (`runtime.tools.colours`)."""


class EplLexer(RegexLexer):  # type: ignore[misc]
    """EPL as Esper has it. Text without a meaning (a quote without an end) is an error token; nothing raises."""

    name = "EPL"
    aliases: ClassVar[list[str]] = ["epl", "esper"]
    filenames: ClassVar[list[str]] = ["*.epl"]
    mimetypes: ClassVar[list[str]] = ["text/x-epl"]
    url = "https://www.espertech.com/esper/"
    flags = re.IGNORECASE | re.ASCII
    tokens: ClassVar[dict[str, list[Any]]] = {
        "root": [(r"\s+", Text), *((rule.pattern, TOKENS[rule.kind]) for rule in rules()), (r"[\s\S]", Error)]
    }


__all__ = ["EplLexer"]
