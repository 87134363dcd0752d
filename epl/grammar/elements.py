"""The pyparsing elements of EPL's grammar: words, symbols and names that match whole tokens, and nodes built from named
fields.

Every element here reads tokens from the `SourceText` it was made with, whose offsets are those of the text: they compose with pyparsing's
own (``+``, ``|``,
``Opt``, ``ZeroOrMore``). What an element yields are syntax nodes, plain values, or `FieldValue` values that the enclosing `NodeElement`
takes as its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

from pyparsing import ParseException, ParserElement, ParseResults

from epl.errors import EplValidationError
from epl.grammar.lexis import RESERVED, RESERVED_FOR_NAMES, RESERVED_FOR_TYPES, RESERVED_FOR_VIEWS, Token, Tokens, read_name, string_value
from epl.grammar.literals import WORDS, number, string_literal
from epl.spans import Span
from epl.syntax import Literal

Parsed = tuple[int, Any]


class SourceText:
    """The text in hand, and the furthest place where it did not go on, with what was expected there."""

    def __init__(self) -> None:
        self.reset(Tokens(""))

    def reset(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.at = tokens.at
        self.furthest = 0
        self.expected: list[str] = []
        self.refused: EplValidationError | None = None

    def fail(self, offset: int, token: Token, expected: str, element: ParserElement) -> NoReturn:
        """Note what was expected at the token, and let pyparsing try what else there is."""
        if token.start > self.furthest:
            self.furthest = token.start
            self.expected = [expected]
        elif token.start == self.furthest:
            self.expected.append(expected)
        raise ParseException(self.tokens.text, offset, expected, element)

    def refuse(self, message: str, span: Span, hint: str | None = None) -> None:
        """Note that the text is EPL and yet means nothing; raised once the whole text is known to be EPL."""
        if self.refused is None:
            self.refused = EplValidationError(message, span=span, text=self.tokens.text, hint=hint)


class Element(ParserElement):
    """An element that matches whole tokens: space and comments never need skipping."""

    def __init__(self, source: SourceText) -> None:
        super().__init__()
        self.source = source
        self.skipWhitespace = False
        self.callPreparse = False
        self.mayIndexError = False

    def _generateDefaultName(self) -> str:
        return type(self).__name__

    def preParse(self, instring: str, loc: int) -> int:
        return loc

    def _parse(self, instring: str, loc: int, do_actions: bool = True, *others: bool, **options: bool) -> Parsed:
        """Do what pyparsing's does for an element without a name, without an action and without a cache, in a quarter of the time."""
        loc, tokens = self.parseImpl(instring, loc, do_actions)
        return loc, tokens if tokens.__class__ is ParseResults else ParseResults(tokens)


class Key(Element):
    """A keyword or a symbol; yields nothing."""

    def __init__(self, source: SourceText, key: str) -> None:
        super().__init__(source)
        self.key = key

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        if token.key != self.key:
            self.source.fail(loc, token, self.key, self)
        return token.end, []


class AnyOf(Element):
    """One of several keywords or symbols; yields what the mapping gives for it, nothing for None."""

    def __init__(self, source: SourceText, values: Mapping[str, object]) -> None:
        super().__init__(source)
        self.values = values

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        if token.key not in self.values:
            self.source.fail(loc, token, "|".join(self.values), self)
        value = self.values[token.key]
        return token.end, [] if value is None else [value]


class Identifier(Element):
    """A name; yields it without backticks. ``reserved``: the words it may not be."""

    def __init__(self, source: SourceText, reserved: frozenset[str]) -> None:
        super().__init__(source)
        self.reserved = reserved

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        if (token.kind == "word" and token.key not in self.reserved and "\\" not in token.text) or token.kind == "quoted":
            return token.end, [read_name(token)]
        return self.source.fail(loc, token, "an identifier", self)


class DottedName(Element):
    """``a.b.c``: yields one string. Ahead of ``a.b:c`` it stops before ``.b`` (an old-style view follows), with ``before_calls`` also
    before ``.b(``."""

    def __init__(self, source: SourceText, before_calls: bool = False) -> None:
        super().__init__(source)
        self.stops = frozenset({":", "("}) if before_calls else frozenset({":"})

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        token = at[loc]
        names: list[str] = []
        while True:
            if not ((token.kind == "word" and token.key not in RESERVED_FOR_TYPES) or token.kind == "quoted"):
                self.source.fail(loc, token, "an identifier", self)
            names.append(token.text if token.kind == "word" else _requote(token))
            loc = token.end
            dot = at[loc]
            if dot.key != ".":
                break
            token = at[dot.end]
            if token.kind == "word" and at[token.end].key in self.stops:
                break
        return loc, [".".join(names)]


def _requote(token: Token) -> str:
    """Return a quoted name keeps its backticks only where it holds a dot, so that the dotted name stays readable as parts."""
    return token.text if "." in token.text else read_name(token)


class StringLiteral(Element):
    """A string; yields what it holds."""

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        if token.kind != "string":
            self.source.fail(loc, token, "a string literal", self)
        return token.end, [string_value(token)]


class NumberLiteral(Element):
    """A number without a sign; yields its Literal."""

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        if token.kind not in ("integer", "float"):
            self.source.fail(loc, token, "a number", self)
        return token.end, [number(token)]


class ConstantElement(Element):
    """A string, a number with or without sign, null, true or false; yields its Literal."""

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        if token.kind == "string":
            return token.end, [string_literal(token)]
        if token.key in WORDS:
            value, kind = WORDS[token.key]
            return token.end, [Literal(value, kind, span=token.span)]  # type: ignore[arg-type]
        sign, start = "", token.start
        if token.key in ("-", "+"):
            sign, token = token.key, self.source.at[token.end]
        if token.kind not in ("integer", "float"):
            self.source.fail(loc, token, "a constant", self)
        return token.end, [number(token, sign, start)]


class ClassText(Element):
    """The text between triple quotes."""

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        if token.kind != "class text":
            self.source.fail(loc, token, "a triple-quoted class text", self)
        return token.end, [token.text[3:-3]]


class Reference(Element):
    """Stands for an element that is given later, by ``define``."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source)
        self.target: ParserElement | None = None

    def define(self, target: ParserElement) -> None:
        self.target = target

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        assert self.target is not None
        return self.target._parse(instring, loc, do_actions)


class Dispatch(Element):
    """Chooses by the next token alone; ``otherwise`` where the mapping has nothing for it."""

    def __init__(self, source: SourceText, choices: Mapping[str, ParserElement], otherwise: ParserElement | None = None) -> None:
        super().__init__(source)
        self.choices = choices
        self.otherwise = otherwise

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        chosen = self.choices.get(token.key, self.otherwise)
        if chosen is None:
            self.source.fail(loc, token, "|".join(self.choices), self)
        return chosen._parse(instring, loc, do_actions)


class Ahead(Element):
    """Tries ``element`` only where ``test`` holds of the next token and the one after it; so nothing is ever parsed twice."""

    def __init__(self, source: SourceText, test: Callable[[Token, Token], bool], element: ParserElement, expected: str) -> None:
        super().__init__(source)
        self.test = test
        self.element = element
        self.expected = expected

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        if token.kind == "end" or not self.test(token, self.source.at[token.end]):
            self.source.fail(loc, token, self.expected, self)
        return self.element._parse(instring, loc, do_actions)


class Listed(Element):
    """``item, item, …``: yields every item's tokens. Ends before a separator where ``onward`` is false of the two tokens after it."""

    def __init__(
        self,
        source: SourceText,
        item: ParserElement,
        separator: str = ",",
        least: int = 1,
        onward: Callable[[Token, Token], bool] | None = None,
    ) -> None:
        super().__init__(source)
        self.item = item
        self.separator = separator
        self.least = least
        self.onward = onward

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at, parse = self.source.at, self.item._parse
        loc, tokens = parse(instring, loc, do_actions)
        parts = list(tokens)
        count = 1
        while at[loc].key == self.separator:
            if self.onward is not None:
                following = at[at[loc].end]
                if following.kind != "end" and not self.onward(following, at[following.end]):
                    break
            loc, tokens = parse(instring, at[loc].end, do_actions)
            parts.extend(tokens)
            count += 1
        if count < self.least:
            self.source.fail(loc, at[loc], self.separator, self)
        return loc, parts


class Nothing(Element):
    """Matches everywhere, without consuming."""

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        return loc, []


# ------------------------------------------------------------------ building nodes


class FieldValue(NamedTuple):
    """A value on its way to the field of the node around it."""

    field: str
    value: object


class FieldElement(Element):
    """Binds what the element yields to a field: its one value, or with ``many`` a tuple of all."""

    def __init__(self, source: SourceText, field: str, element: ParserElement, many: bool = False) -> None:
        super().__init__(source)
        self.field = field
        self.element = element
        self.many = many

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        loc, tokens = self.element._parse(instring, loc, do_actions)
        return loc, [FieldValue(self.field, tuple(tokens) if self.many else tokens[0])]


class FixedValue(Element):
    """Binds a fixed value to a field where the element matches: flags."""

    def __init__(self, source: SourceText, field: str, value: object, element: ParserElement) -> None:
        super().__init__(source)
        self.field = field
        self.value = value
        self.element = element

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        loc, _ = self.element._parse(instring, loc, do_actions)
        return loc, [FieldValue(self.field, self.value)]


class NodeElement(Element):
    """Makes ``make(**fields, span=…)`` of the fields bound inside."""

    def __init__(self, source: SourceText, make: Callable[..., object], element: ParserElement) -> None:
        super().__init__(source)
        self.make = make
        self.element = element

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        start = self.source.at[loc].start
        loc, tokens = self.element._parse(instring, loc, do_actions)
        return loc, [self.make(**dict(iter(tokens)), span=Span(start, loc))]


class ConvertElement(Element):
    """Makes one value of what the element yields: ``make(list of tokens, span)``."""

    def __init__(self, source: SourceText, make: Callable[[list[Any], Span], object], element: ParserElement) -> None:
        super().__init__(source)
        self.make = make
        self.element = element

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        start = self.source.at[loc].start
        loc, tokens = self.element._parse(instring, loc, do_actions)
        return loc, [self.make(list(tokens), Span(start, loc))]


class Kit:
    """Makes elements over one source, by short names, so that a grammar reads like one."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self._keys: dict[str, Key] = {}
        self.words: set[str] = set()
        """All keywords of the grammar."""
        self.property_name = Identifier(source, RESERVED)
        self.class_name = Identifier(source, RESERVED_FOR_TYPES)
        self.name = Identifier(source, RESERVED_FOR_NAMES)
        self.observer_name = Identifier(source, RESERVED_FOR_NAMES - {"at"})
        self.view_name = Identifier(source, RESERVED_FOR_VIEWS)
        self.any_name = Identifier(source, frozenset())
        self.type_name = DottedName(source)
        self.string = StringLiteral(source)

    def key(self, words: str) -> ParserElement:
        """Match one keyword or symbol, or several in a row."""
        self.words.update(words.split())
        elements = [self._keys.setdefault(word, Key(self.source, word)) for word in words.split()]
        result: ParserElement = elements[0]
        for element in elements[1:]:
            result = result + element
        return result

    def choice(self, values: Mapping[str, object] | str) -> ParserElement:
        values = {word: word for word in values.split()} if isinstance(values, str) else values
        self.words.update(values)
        return AnyOf(self.source, values)

    def field(self, field: str, element: ParserElement) -> ParserElement:
        return FieldElement(self.source, field, element)

    def fields(self, field: str, element: ParserElement) -> ParserElement:
        return FieldElement(self.source, field, element, many=True)

    def value(self, field: str, value: object, element: ParserElement | str) -> ParserElement:
        return FixedValue(self.source, field, value, self.key(element) if isinstance(element, str) else element)

    def word(self, expected: str, message: str, *others: str) -> ParserElement:
        """Return a word that Esper reads as any name and then refuses: ``message`` with the name in it. ``others`` are words that do as
        well."""

        def check_word(parts: list[Any], span: Span) -> str:
            if parts[0].lower() not in (expected, *others):
                self.source.refuse(message.format(parts[0]), span, f"did you mean '{expected}'?")
            return expected

        return self.convert(check_word, self.name)

    def node(self, make: Callable[..., object], element: ParserElement) -> ParserElement:
        return NodeElement(self.source, make, element)

    def convert(self, make: Callable[[list[Any], Span], object], element: ParserElement) -> ParserElement:
        return ConvertElement(self.source, make, element)

    def item_list(
        self, item: ParserElement, separator: str = ",", least: int = 1, onward: Callable[[Token, Token], bool] | None = None
    ) -> ParserElement:
        return Listed(self.source, item, separator, least, onward)

    def dispatch(self, choices: Mapping[str, ParserElement], otherwise: ParserElement | None = None) -> ParserElement:
        return Dispatch(self.source, choices, otherwise)

    def ahead(self, test: Callable[[Token, Token], bool], element: ParserElement, expected: str) -> ParserElement:
        return Ahead(self.source, test, element, expected)

    def reference(self) -> Reference:
        return Reference(self.source)
