"""Expression, script and dataflow declarations."""

from __future__ import annotations

from typing import Any

from pyparsing import Opt, ParserElement, ZeroOrMore

from epl import syntax as S
from epl.grammar.chains import ARROWS, is_property_name
from epl.grammar.clauses import Clauses
from epl.grammar.elements import Element, FieldValue, Kit, Parsed, SourceText


class Declarations:
    """``expression`` is a declaration (after ``create`` too), ``dataflow`` the rest of ``create dataflow …``."""

    def __init__(self, kit: Kit, clauses: Clauses) -> None:
        self.kit = kit
        self.clauses = clauses
        self.schema = kit.reference()
        """``schema …`` after ``create``; given by the statements."""
        self.expression = self._expression()
        self.dataflow = self._dataflow()

    def _expression(self) -> ParserElement:
        kit, clauses = self.kit, self.clauses
        names = kit.fields("listed", kit.key("(") + Opt(kit.item_list(kit.property_name)) + kit.key(")"))
        name_list = kit.key("(") + kit.item_list(kit.property_name) + kit.key(")")
        body = kit.field("body", clauses.expression)
        arrow = kit.fields("parameters", kit.dispatch({"(": name_list}, kit.property_name)) + kit.choice(dict.fromkeys(ARROWS))
        lambda_body = kit.key("{") + _LambdaBody(kit.source, arrow, body) + kit.key("}")
        alias = kit.value("alias", True, kit.choice({"alias": None}) + kit.key("for")) + kit.key("{") + body + kit.key("}")
        dialect = kit.ahead(lambda _, after: after.key == ":", kit.field("dialect", kit.name) + kit.key(":"), "a script dialect")
        script = _Script(kit.source)
        typed = kit.field("return_type", clauses.expressions.type_name)
        named = kit.field("name", kit.name)
        tail = kit.dispatch({"{": lambda_body, "[": kit.field("script", script), "alias": alias})
        head = _DeclarationHead(kit.source, typed, dialect, named)
        annotations = kit.fields("annotations", ZeroOrMore(clauses.annotation))
        return kit.node(S.Declaration, kit.key("expression") + head + Opt(names) + annotations + tail)

    def _dataflow(self) -> ParserElement:
        """``dataflow Name operator operator …``; the operators are read, and kept as text."""
        kit, clauses = self.kit, self.clauses
        type_argument = kit.reference()
        type_argument.define(kit.key("?") | kit.type_name + Opt(kit.key("<") + kit.item_list(type_argument) + kit.key(">")))
        port = kit.type_name + Opt(kit.key("<") + kit.item_list(type_argument) + kit.key(">"))
        stream = kit.dispatch({"(": kit.key("(") + kit.item_list(kit.type_name) + kit.key(")")}, kit.type_name)
        inputs = kit.key("(") + kit.item_list(stream + Opt(kit.key("as") + kit.name)) + kit.key(")")
        outputs = kit.key("->") + kit.item_list(port)
        selected = kit.ahead(lambda token, after: after.key == "select", kit.key("(") + clauses.body + kit.key(")"), "(select")
        expressions = clauses.expressions
        by_first = kit.dispatch({"{": expressions.json_object, "[": expressions.json_array}, selected | expressions.expression)
        name = kit.dispatch({"select": kit.key("select")}, kit.name)
        pair = name + kit.choice({":": None, "=": None}) + by_first
        settings = kit.key("{") + Opt(kit.item_list(pair, onward=lambda token, _: token.key != "}") + Opt(kit.key(","))) + kit.key("}")
        operator = ZeroOrMore(clauses.annotation) + name + Opt(inputs) + Opt(outputs) + settings
        schema = kit.key("create") + self.schema + kit.key(",")
        declared = kit.dispatch({"create": schema}, operator)
        operators = kit.convert(_text(kit.source), declared + ZeroOrMore(declared))
        return kit.node(
            S.CreateDataflow, kit.key("dataflow") + kit.field("name", kit.name) + Opt(kit.key("as")) + kit.field("source", operators)
        )


def _text(source: SourceText) -> Any:
    return lambda parts, span: source.tokens.text[span.start : span.end]


class _SkipTo(Element):
    """Everything up to the bracket that closes the one before, and that bracket; only brackets of its kind are counted."""

    def __init__(self, source: SourceText, opening: str, closing: str) -> None:
        super().__init__(source)
        self.opening = opening
        self.closing = closing

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        depth = 0
        while True:
            token = at[loc]
            if token.kind == "end":
                self.source.fail(loc, token, self.closing, self)
            if token.key == self.closing and not depth:
                return token.end, []
            depth += (token.key == self.opening) - (token.key == self.closing)
            loc = token.end


class _Script(Element):
    """``[ text ]``: yields the text as written. Closing brackets in a row all belong to it."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source)
        self.rest = _SkipTo(source, "[", "]")

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        if at[loc].key != "[":
            self.source.fail(loc, at[loc], "[", self)
        start = at[loc].end
        loc, _ = self.rest._parse(instring, start, do_actions)
        while at[loc].key == "]":
            loc = at[loc].end
        return loc, [instring[start : loc - 1]]


class _LambdaBody(Element):
    """``x => body``, ``(x, y) => body`` or a body alone."""

    def __init__(self, source: SourceText, arrow: ParserElement, body: ParserElement) -> None:
        super().__init__(source)
        self.arrow, self.body = arrow, body

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        parts: list[Any] = []
        if self._has_arrow(loc):
            loc, tokens = self.arrow._parse(instring, loc, do_actions)
            parts.extend(tokens)
        loc, tokens = self.body._parse(instring, loc, do_actions)
        return loc, [*parts, *tokens]

    def _has_arrow(self, loc: int) -> bool:
        at = self.source.at
        token = at[loc]
        if token.key == "(":
            token = at[token.end]
            while is_property_name(token) or token.key == ",":
                token = at[token.end]
            return token.key == ")" and at[token.end].key in ARROWS
        return token.kind != "end" and at[token.end].key in ARROWS


class _DeclarationHead(Element):
    """``[return type] [dialect:] name``: a type comes first when a name follows what reads as one."""

    def __init__(self, source: SourceText, typed: ParserElement, dialect: ParserElement, named: ParserElement) -> None:
        super().__init__(source)
        self.typed, self.dialect, self.named = typed, dialect, named

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        parts: list[FieldValue] = []
        following = at[at[loc].end] if at[loc].kind != "end" else at[loc]
        is_alias = following.key == "alias" and at[following.end].key == "for"
        is_script = following.key == "[" and at[following.end].key not in ("]", "primitive")
        if following.key not in ("(", "{", ":") and not is_alias and not is_script:
            loc, tokens = self.typed._parse(instring, loc, do_actions)
            parts.extend(tokens)
        if at[loc].kind != "end" and at[at[loc].end].key == ":":
            loc, tokens = self.dialect._parse(instring, loc, do_actions)
            parts.extend(tokens)
        loc, tokens = self.named._parse(instring, loc, do_actions)
        return loc, [*parts, *tokens]
