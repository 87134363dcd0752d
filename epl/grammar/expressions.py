"""Expressions: the operands, wired to the operators between them."""

from __future__ import annotations

from typing import Any

from pyparsing import Opt, ParserElement, ZeroOrMore

from epl import syntax as S
from epl.errors import EplValidationError
from epl.grammar.chains import Amount, ArgumentElement, CallArguments, Links, NamedChain, Rooted, TimePeriodElement, is_property_name
from epl.grammar.elements import ConstantElement, DottedName, Element, Kit, Parsed, SourceText
from epl.grammar.lexis import Token, read_name
from epl.grammar.literals import WORDS, number, string_literal
from epl.grammar.operators import Operators
from epl.spans import Span


class Expressions:
    """The grammar of expressions, for the clauses to use."""

    def __init__(self, kit: Kit) -> None:
        source = kit.source
        self.expression = kit.reference()
        self.select = kit.reference()
        """The select of subqueries; given by the clauses."""
        self.type_name = type_names(kit)
        links = Links(source, self.expression)
        argument = ArgumentElement(source, self.expression, lambdas=True)
        links.arguments = CallArguments(source, argument)
        self.chain: ParserElement = NamedChain(source, links)
        self.item_list = kit.item_list(self.expression)
        self.subquery = kit.convert(lambda parts, span: S.Subquery(parts[0], span=span), kit.key("(") + self.select + kit.key(")"))
        self.case = self._case(kit)
        self.substitution: ParserElement = _Substitution(source, type_names(kit, DottedName(source, before_calls=True)))
        operand = self._operands(kit, links)
        self.operators = Operators(source, operand, self.chain, self.case, self.subquery, links)
        self.expression.define(self.operators)
        parameters = kit.item_list(ArgumentElement(source, self.expression, lambdas=False))
        self.parameters = kit.key("(") + Opt(parameters) + kit.key(")")
        self.some_parameters = kit.key("(") + parameters + kit.key(")")
        cron_parts = kit.item_list(ArgumentElement(source, self.expression, lambdas=False, cron_star=True))
        self.crontab = kit.key("(") + cron_parts + kit.key(")")
        self.observer_parameters = kit.key("(") + Opt(cron_parts) + kit.key(")")
        amount = Amount(source, self.substitution)
        self.time_period: ParserElement = TimePeriodElement(source, amount)
        """A time period whose parts are counted by numbers and names alone."""

    def _operands(self, kit: Kit, links: Links) -> ParserElement:
        source, chain = kit.source, self.chain
        array = kit.convert(lambda parts, span: S.ArrayLiteral(tuple(parts), span=span), kit.key("{") + Opt(self.item_list) + kit.key("}"))
        self.array = array
        timestamp = kit.convert(lambda parts, span: S.CurrentTimestamp(span=span), kit.key("current_timestamp") + Opt(kit.key("( )")))
        choices = {
            "{": kit.ahead(lambda _, after: _names_field(source, after), self._json(kit), "{") | Rooted(source, array, links),
            "?": Rooted(source, self.substitution, links),
            "current_timestamp": Rooted(source, timestamp, links),
            "new": self._new(kit, links),
            "exists": self._exists(kit),
            "cast": Rooted(source, _Cast(source, self), links),
            "instanceof": Rooted(source, kit.convert(_build_instanceof, chain), links),
            "typeof": kit.convert(_build_typeof, chain),
            "istream": self._builtin(kit, "istream", kit.key("( )")),
            "grouping": self._builtin(kit, "grouping", kit.key("(") + self.expression + kit.key(")")),
            "grouping_id": self._builtin(kit, "grouping_id", kit.key("(") + self.item_list + kit.key(")")),
            "prevcount": self._builtin(kit, "prevcount", kit.key("(") + self.expression + kit.key(")")),
            "prevwindow": Rooted(source, self._builtin(kit, "prevwindow", kit.key("(") + self.expression + kit.key(")")), links),
        }
        return kit.dispatch(choices, _Simple(source, chain))

    def _json(self, kit: Kit) -> ParserElement:
        """``{a: 1, 'b': [true, {…}]}``: constants only."""
        value = kit.reference()
        trailing = Opt(kit.key(","))
        name = kit.property_name | kit.string
        pair = kit.convert(lambda parts, span: (parts[0], parts[1]), name + kit.key(":") + value)
        json_object = kit.convert(
            lambda parts, span: S.JsonObject(tuple(parts), span=span),
            kit.key("{") + Opt(kit.item_list(pair, onward=_is_continuation) + trailing) + kit.key("}"),
        )
        array = kit.convert(
            lambda parts, span: S.ArrayLiteral(tuple(parts), span=span),
            kit.key("[") + Opt(kit.item_list(value, onward=_is_continuation) + trailing) + kit.key("]"),
        )
        value.define(kit.dispatch({"{": json_object, "[": array}, ConstantElement(kit.source)))
        self.json_object = json_object
        self.json_array = array
        return json_object

    def _builtin(self, kit: Kit, name: str, arguments: ParserElement) -> ParserElement:
        def build(parts: list[Any], span: Span) -> S.Expression:
            return S.Chain((S.Call(name, tuple(parts), span=span),), span=span)

        return kit.convert(build, kit.key(name) + arguments)

    def _case(self, kit: Kit) -> ParserElement:
        when = kit.convert(lambda parts, span: tuple(parts), kit.key("when") + self.expression + kit.key("then") + self.expression)
        operand = Opt(kit.ahead(lambda token, _: token.key != "when", kit.field("operand", self.expression), "when"))
        otherwise = Opt(kit.key("else") + kit.field("otherwise", self.expression))
        return kit.node(S.Case, kit.key("case") + operand + kit.fields("whens", when + ZeroOrMore(when)) + otherwise + kit.key("end"))

    def _exists(self, kit: Kit) -> ParserElement:
        def build(parts: list[Any], span: Span) -> S.Expression:
            inner = parts[0]
            return S.Subquery(inner.select, True, span=span) if isinstance(inner, S.Subquery) else S.Exists(inner, span=span)

        inside = kit.ahead(lambda token, after: token.key == "(" and after.key == "select", self.subquery, "(") | kit.key(
            "("
        ) + self.chain + kit.key(")")
        return kit.convert(build, kit.key("exists") + inside)

    def _new(self, kit: Kit, links: Links) -> ParserElement:
        column = kit.convert(
            lambda parts, span: (column_name(parts[0]), parts[1] if len(parts) > 1 else None),
            self.chain + Opt(kit.key("=") + self.expression),
        )
        struct = kit.node(S.NewStruct, kit.key("{") + kit.fields("columns", kit.item_list(column)) + kit.key("}"))
        name = class_type(kit)
        instance = kit.node(
            S.NewInstance, kit.field("type_name", name) + kit.key("(") + kit.fields("arguments", Opt(self.item_list)) + kit.key(")")
        )
        size = kit.key("[") + self.expression + kit.key("]")
        open_dimension = kit.convert(lambda parts, span: _OPEN, kit.key("[ ]"))
        sized = kit.node(_array_with_sizes, kit.field("type_name", name) + kit.fields("sizes", size + Opt(open_dimension | size)))
        filled = kit.node(
            _array_with_values,
            kit.field("type_name", name) + kit.fields("sizes", open_dimension + Opt(open_dimension)) + kit.field("initializer", self.array),
        )
        return kit.key("new") + _New(kit.source, struct, Rooted(kit.source, instance, links), sized, Rooted(kit.source, filled, links))


def _names_field(source: SourceText, token: Token) -> bool:
    """Return whether a JSON field's name and its colon are next."""
    return token.kind in ("word", "quoted", "string") and source.at[token.end].key == ":"


def _is_continuation(token: Token, _: Token) -> bool:
    return token.key not in ("}", "]")


_OPEN = object()
MOST_DIMENSIONS = 255
"""Of an array type, as in Java."""
"""Stands for an open dimension while sizes are collected."""


def _array_with_sizes(type_name: S.TypeName, sizes: tuple[Any, ...], span: Span) -> S.NewArray:
    return S.NewArray(type_name, tuple(None if size is _OPEN else size for size in sizes), span=span)


def _array_with_values(type_name: S.TypeName, sizes: tuple[Any, ...], initializer: S.ArrayLiteral, span: Span) -> S.NewArray:
    return S.NewArray(type_name, (None,) * len(sizes), initializer, span=span)


class _New(Element):
    """What follows ``new``: distinguished by the first token that is not part of a class's name."""

    def __init__(self, source: SourceText, struct: ParserElement, instance: ParserElement, sized: ParserElement,
        filled: ParserElement) -> None:
        super().__init__(source)
        self.struct, self.instance, self.sized, self.filled = struct, instance, sized, filled

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        token = at[loc]
        if token.key == "{":
            return self.struct._parse(instring, loc, do_actions)
        depth = 0
        while token.kind in ("word", "quoted") or token.key in (".", "<", ">") or (depth and token.key in (",", "[", "]")):
            depth += (token.key == "<") - (token.key == ">")
            token = at[token.end]
        if token.key != "[":
            return self.instance._parse(instring, loc, do_actions)
        chosen = self.filled if at[token.end].key == "]" else self.sized
        return chosen._parse(instring, loc, do_actions)


def column_name(chain: S.Chain) -> str:
    """Return the name that a property stands for where a column is named: ``a.b`` stays ``a.b``."""
    from_links = [link.name for link in chain.links if isinstance(link, S.Name)]
    if len(from_links) != len(chain.links):
        raise EplValidationError("Unexpected expression where a column name is needed", span=chain.span)
    return ".".join(from_links)


def type_names(kit: Kit, name: ParserElement | None = None) -> ParserElement:
    """Return the element of ``int``, ``a.B``, ``string[]``, ``int[primitive]``, ``java.util.List<String>[][]``; ``name`` reads the dotted
    name."""
    type_name = kit.reference()
    primitive = kit.word("primitive", "Invalid array keyword '{}', expected 'primitive'")
    dimension = kit.convert(lambda parts, span: parts[0] if parts else "open", kit.key("[") + Opt(primitive) + kit.key("]"))

    def build(parts: list[Any], span: Span) -> S.TypeName:
        base: S.TypeName = parts[0]
        dimensions = parts[1:]
        if len(dimensions) > MOST_DIMENSIONS:
            raise EplValidationError(f"An array type has more than {MOST_DIMENSIONS} dimensions", span=span)
        is_primitive = "primitive" in dimensions
        if is_primitive and base.parameters:
            raise EplValidationError("Cannot use the 'primitive' keyword with type parameters", span=span)
        return S.TypeName(base.name, base.parameters, len(dimensions), is_primitive, span=span)

    type_name.define(kit.convert(build, class_type(kit, type_name, name) + ZeroOrMore(dimension)))
    return type_name


def class_type(kit: Kit, parameter: ParserElement | None = None, name: ParserElement | None = None) -> ParserElement:
    """Return the element of a class's name with type parameters, without dimensions."""
    inner = type_names(kit) if parameter is None else parameter
    parameters = kit.key("<") + kit.item_list(inner) + kit.key(">")
    return kit.convert(lambda parts, span: S.TypeName(parts[0], tuple(parts[1:]), span=span), (name or kit.type_name) + Opt(parameters))


class _Simple(Element):
    """Literals and chains that begin with a name: most operands."""

    def __init__(self, source: SourceText, chain: ParserElement) -> None:
        super().__init__(source)
        self.chain = chain

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        if token.kind == "string":
            return token.end, [string_literal(token)]
        if token.kind in ("integer", "float"):
            return token.end, [number(token)]
        if token.key in WORDS:
            value, kind = WORDS[token.key]
            return token.end, [S.Literal(value, kind, span=token.span)]  # type: ignore[arg-type]
        if not is_property_name(token):
            self.source.fail(loc, token, "an expression", self)
        return self.chain._parse(instring, loc, do_actions)


class _Substitution(Element):
    """``?``, ``?:``, ``?:name``, ``?:name:type``, ``?::type``."""

    def __init__(self, source: SourceText, type_name: ParserElement) -> None:
        super().__init__(source)
        self.type_name = type_name

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        start = at[loc].start
        loc = at[loc].end
        name = type_name = None
        if at[loc].key == ":":
            loc = at[loc].end
            if is_property_name(at[loc]):
                name, loc = read_name(at[loc]), at[loc].end
            if at[loc].key == ":":
                loc, tokens = self.type_name._parse(instring, at[loc].end, do_actions)
                type_name = tokens[0]
        return loc, [S.SubstitutionParameter(name, type_name, span=Span(start, loc))]


class _Cast(Element):
    """``cast(value, type)``, ``cast(value as type)``, with a named argument or none; any other ``cast(…)`` is a call like others."""

    def __init__(self, source: SourceText, expressions: Expressions) -> None:
        super().__init__(source)
        self.expression = expressions.expression
        self.type_name = expressions.type_name
        self.chain = expressions.chain
        self.argument = ArgumentElement(source, self.expression, lambdas=True)

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        start = at[loc].start
        opening = at[at[loc].end]
        inside = at[opening.end] if opening.key == "(" else opening
        if opening.key != "(" or inside.key in (")", "distinct", "all"):
            return self.chain._parse(instring, loc, do_actions)
        loc, tokens = self.argument._parse(instring, opening.end, do_actions)
        value, separator = tokens[0], at[loc]
        if separator.key in (",", "as"):
            end = self._type_end(separator)
            if end is not None or separator.key == "as":
                return self._cast_to_type_name(separator.end, value, start)
        return self._call(loc, value, start)

    def _type_end(self, separator: Any) -> int | None:
        """Return where a type that follows the separator ends, if nothing but the end or a named argument follows it."""
        at = self.source.at
        token, depth = at[separator.end], 0
        if not (is_property_name(token)):
            return None
        while token.kind in ("word", "quoted") or token.key in (".", "<", ">", "[", "]") or (token.key == "," and depth):
            depth += (token.key == "<") - (token.key == ">")
            token = at[token.end]
        if token.key == ")":
            return token.start
        name = at[token.end] if token.key == "," else token
        return token.start if token.key == "," and name.kind == "word" and at[name.end].key == ":" else None

    def _cast_to_type_name(self, loc: int, value: S.Expression, start: int) -> Parsed:
        at, text = self.source.at, self.source.tokens.text
        loc, tokens = self.type_name._parse(text, loc, True)
        type_name = tokens[0]
        arguments: list[S.Expression] = []
        if at[loc].key == ",":
            loc, more = self.argument._parse(text, at[loc].end, True)
            arguments.extend(more)
        if at[loc].key != ")":
            self.source.fail(loc, at[loc], ")", self)
        loc = at[loc].end
        return loc, [S.Cast(value, type_name, tuple(arguments), span=Span(start, loc))]

    def _call(self, loc: int, first: S.Expression, start: int) -> Parsed:
        at, text = self.source.at, self.source.tokens.text
        arguments = [first]
        while at[loc].key == ",":
            loc, tokens = self.argument._parse(text, at[loc].end, True)
            arguments.extend(tokens)
        if at[loc].key != ")":
            self.source.fail(loc, at[loc], ")", self)
        loc = at[loc].end
        span = Span(start, loc)
        return loc, [S.Chain((S.Call("cast", tuple(arguments), span=span),), span=span)]


def _plain_name(expression: S.Expression) -> S.TypeName | None:
    """Return the class that a chain of plain names may name."""
    if not isinstance(expression, S.Chain) or expression.root is not None:
        return None
    names = [link.name for link in expression.links if isinstance(link, S.Name) and not link.optional]
    return S.TypeName(".".join(names), span=expression.span) if len(names) == len(expression.links) else None


def _build_instanceof(parts: list[Any], span: Span) -> S.Expression:
    chain: S.Chain = parts[0]
    call = chain.links[0]
    if (
        not isinstance(call, S.Call)
        or len(call.arguments) < 2
        or call.distinct
        or isinstance(call.arguments[0], (S.Wildcard, S.Ordered, S.NamedArgument))
    ):
        return chain
    types = [_plain_name(argument) for argument in call.arguments[1:]]
    if None in types:
        return chain
    instance_of = S.InstanceOf(call.arguments[0], tuple(t for t in types if t is not None), span=call.span)
    return instance_of if len(chain.links) == 1 else S.Chain(chain.links[1:], instance_of, span=span)


def _build_typeof(parts: list[Any], span: Span) -> S.Expression:
    chain: S.Chain = parts[0]
    call = chain.links[0]
    if (
        not isinstance(call, S.Call)
        or len(call.arguments) != 1
        or call.distinct
        or isinstance(call.arguments[0], (S.Wildcard, S.StreamWildcard, S.Ordered))
    ):
        return chain
    type_of = S.TypeOf(call.arguments[0], span=call.span)
    return type_of if len(chain.links) == 1 else S.Chain(chain.links[1:], type_of, span=span)
