"""Names, calls, indexes and the arguments of calls: ``a.b[0].c('k')?.where(x => x > 1)``."""

from __future__ import annotations

from typing import Any

from pyparsing import ParserElement

from epl import syntax as S
from epl.grammar.elements import Element, Parsed, SourceText
from epl.grammar.lexis import RESERVED, RESERVED_FOR_NAMES, UNITS, Token, read_name
from epl.grammar.literals import number
from epl.spans import Span

Step = tuple[int, Any]
_ENDS = frozenset({",", ")", "]"})
ARROWS = frozenset({"=>", "->"})
"""Between a lambda's parameters and its body; Esper reads both."""


def is_property_name(token: Token) -> bool:
    return (token.kind == "word" and token.key not in RESERVED) or token.kind == "quoted"


class Links(Element):
    """The rest of a chain after a root: ``[0]``, ``.name``, ``.name(arguments)``, each with ``?``; yields the links."""

    def __init__(self, source: SourceText, expression: ParserElement) -> None:
        super().__init__(source)
        self.expression = expression
        self.arguments: ParserElement | None = None

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        links: list[S.Link] = []
        loc = self.extend(loc, links)
        return loc, links

    def extend(self, loc: int, links: list[S.Link]) -> int:
        """Append the links at the offset."""
        at = self.source.at
        while True:
            token = at[loc]
            if token.key == "[":
                loc, link = self._index(token)
            elif token.key == "." and at[token.end].key != "*":
                loc, link = self.link(token.end, token.start)
            else:
                return loc
            links.append(link)

    def link(self, loc: int, start: int) -> Step:
        """Parse ``name``, ``name?``, ``name(arguments)``, ``name(arguments)?``."""
        at = self.source.at
        token = at[loc]
        if not is_property_name(token):
            self.source.fail(loc, token, "an identifier", self)
        name, loc = read_name(token), token.end
        following = at[loc]
        if following.key != "(":
            optional = following.key == "?"
            loc = following.end if optional else loc
            return loc, S.Name(name, optional, span=Span(start, loc))
        assert self.arguments is not None
        loc, parsed = self.arguments._parse(self.source.tokens.text, loc, True)
        distinct, arguments = parsed
        optional = at[loc].key == "?"
        loc = at[loc].end if optional else loc
        return loc, S.Call(name, arguments, distinct, optional, token.kind == "quoted", span=Span(start, loc))

    def _index(self, opening: Token) -> Step:
        at, text = self.source.at, self.source.tokens.text
        loc, tokens = self.expression._parse(text, opening.end, True)
        items = list(tokens)
        while at[loc].key == ",":
            loc, tokens = self.expression._parse(text, at[loc].end, True)
            items.extend(tokens)
        closing = at[loc]
        if closing.key != "]":
            self.source.fail(loc, closing, "]", self)
        loc = closing.end
        optional = at[loc].key == "?"
        loc = at[loc].end if optional else loc
        return loc, S.Index(tuple(items), optional, span=Span(opening.start, loc))


class NamedChain(Element):
    """A chain that begins with a name: a property, a function call, a class's method."""

    def __init__(self, source: SourceText, links: Links) -> None:
        super().__init__(source)
        self.links = links

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        start = self.source.at[loc].start
        loc, first = self.links.link(loc, start)
        parts = [first]
        loc = self.links.extend(loc, parts)
        return loc, [S.Chain(tuple(parts), span=Span(start, loc))]


class Rooted(Element):
    """An operand that a chain may follow: yields the operand, or a chain rooted in it."""

    def __init__(self, source: SourceText, operand: ParserElement, links: Links) -> None:
        super().__init__(source)
        self.operand = operand
        self.links = links

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        start = self.source.at[loc].start
        loc, tokens = self.operand._parse(instring, loc, do_actions)
        root = tokens[0]
        links: list[S.Link] = []
        loc = self.links.extend(loc, links)
        return loc, [S.Chain(tuple(links), root, span=Span(start, loc)) if links else root]


class ArgumentElement(Element):
    """One argument of a call, a data window, an observer or a crontab.

    Besides expressions: ``*``, ``s.*``, ``name: value``, ``x => body``, ``expression asc|desc``, time periods, and the parts of
    crontabs. ``lambdas``: whether this is a call (lambdas; ``last`` is a name; ``name:`` takes no time period) or a parameter list of
    windows, observers and crontabs. ``cron_star``: ``*`` is a crontab's.
    """

    def __init__(self, source: SourceText, expression: ParserElement, lambdas: bool, cron_star: bool = False) -> None:
        super().__init__(source)
        self.expression = expression
        self.lambdas = lambdas
        self.cron_star = cron_star

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        loc, parts = self._argument(loc, self.source.at[loc])
        return loc, [parts]

    def _argument(self, loc: int, token: Token) -> Step:
        at = self.source.at
        following = at[token.end] if token.kind != "end" else token
        if token.key == "*":
            return self._star(token, following)
        if token.key == "[":
            return self._list(token)
        if self.lambdas and (following.key in ARROWS or token.key == "(") and (parameters := self._parameters(token)):
            return self._lambda(token, parameters)
        if following.key == ":":
            if token.kind == "word" and token.key not in RESERVED_FOR_NAMES:
                return self._named(token, following)
            if token.kind == "integer":
                return self._range(loc, ")")
        if following.key == "." and at[following.end].key == "*" and is_property_name(token):
            star = at[following.end]
            return star.end, S.StreamWildcard(read_name(token), span=Span(token.start, star.end))
        if following.key in ("last", "weekday") and (_is_atom(token) or token.key == "?"):
            value_end, value = self._expression(loc)
            return at[value_end].end, S.CronPart(at[value_end].key, value, span=Span(token.start, at[value_end].end))  # type: ignore[arg-type]
        if not self.lambdas and token.key in ("last", "lastweekday") and following.key in _ENDS:
            return token.end, S.CronPart(token.key, span=token.span)  # type: ignore[arg-type]
        return self._period_or_expression(loc, ordered=True)

    def _expression(self, loc: int) -> Step:
        loc, tokens = self.expression._parse(self.source.tokens.text, loc, True)
        return loc, tokens[0]

    def _period_or_expression(self, loc: int, ordered: bool = False) -> Step:
        """Return an expression, a time period, or with ``ordered`` an expression and its direction."""
        start = self.source.at[loc].start
        loc, value = self._expression(loc)
        token = self.source.at[loc]
        if token.key in UNITS:
            return time_period(self.source, self.expression, loc, value, start)
        if ordered and token.key in ("asc", "desc"):
            return token.end, S.Ordered(value, token.key == "desc", span=Span(start, token.end))
        return loc, value

    def _star(self, token: Token, following: Token) -> Step:
        if following.key == "/":
            loc, value = self._atom(following.end)
            return loc, S.CronPart("every", value, span=Span(token.start, loc))
        return token.end, S.CronPart("any", span=token.span) if self.cron_star else S.Wildcard(span=token.span)

    def _atom(self, loc: int) -> Step:
        """Return a number, a name or a substitution parameter: the elements of a crontab part."""
        token = self.source.at[loc]
        if token.kind in ("integer", "float"):
            return token.end, number(token)
        if token.key == "?":
            return self._expression(loc)
        if not is_property_name(token):
            self.source.fail(loc, token, "a number", self)
        return token.end, S.Chain((S.Name(read_name(token), span=token.span),), span=token.span)

    def _range(self, loc: int, closing: str) -> Step:
        start = self.source.at[loc].start
        loc, low = self._atom(loc)
        colon = self.source.at[loc]
        if colon.key != ":":
            self.source.fail(loc, colon, ":", self)
        loc, high = self._atom(colon.end)
        return loc, S.CronPart("range", low, high, span=Span(start, loc))

    def _list(self, opening: Token) -> Step:
        """``[1, 2:3, */4]``."""
        at = self.source.at
        items: list[S.Expression] = []
        loc = opening.end
        while True:
            token = at[loc]
            following = at[token.end] if token.kind != "end" else token
            if token.key == "*" and following.key == "/":
                loc, item = self._star(token, following)
            elif token.kind == "integer" and following.key != ":":
                loc, item = self._atom(loc)
            else:
                loc, item = self._range(loc, "]")
            items.append(item)
            if at[loc].key != ",":
                break
            loc = at[loc].end
        closing = at[loc]
        if closing.key != "]":
            self.source.fail(loc, closing, "]", self)
        return closing.end, S.CronPart("list", items=tuple(items), span=Span(opening.start, closing.end))

    def _parameters(self, token: Token) -> list[Token]:
        """Return the tokens of ``x =>`` or ``(x, y) =>`` up to the arrow, or none where there is no lambda."""
        at = self.source.at
        if token.key != "(":
            return [token, at[token.end]] if is_property_name(token) else []
        tokens = [token]
        expected_name = True
        while True:
            token = at[token.end]
            tokens.append(token)
            if expected_name:
                if not is_property_name(token):
                    return []
            elif token.key == ")":
                break
            elif token.key != ",":
                return []
            expected_name = not expected_name
        tokens.append(at[token.end])
        return tokens if tokens[-1].key in ARROWS else []

    def _lambda(self, token: Token, parameters: list[Token]) -> Step:
        names = tuple(read_name(parameter) for parameter in parameters if parameter.kind in ("word", "quoted"))
        loc, body = self._period_or_expression(parameters[-1].end)
        return loc, S.Lambda(names, body, span=Span(token.start, loc))

    def _named(self, name: Token, colon: Token) -> Step:
        loc = colon.end
        if self.source.at[loc].key == "(" and is_row(self.source, loc):
            loc, value = row(self.source, self.expression, loc)
        elif self.lambdas:
            loc, value = self._expression(loc)
        else:
            loc, value = self._period_or_expression(loc)
        return loc, S.NamedArgument(name.text, value, span=Span(name.start, loc))


def _is_atom(token: Token) -> bool:
    return token.kind in ("integer", "float", "quoted") or (token.kind == "word" and token.key not in RESERVED_FOR_NAMES)


class CallArguments(Element):
    """``([distinct | all] argument, …)``: yields whether distinct, and the arguments."""

    def __init__(self, source: SourceText, argument: ArgumentElement) -> None:
        super().__init__(source)
        self.argument = argument

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        loc = at[loc].end
        token = at[loc]
        if token.key == ")":
            return token.end, [False, ()]
        distinct = token.key == "distinct"
        if distinct or token.key == "all":
            loc = token.end
        arguments: list[S.Expression] = []
        while True:
            loc, tokens = self.argument._parse(instring, loc, do_actions)
            arguments.extend(tokens)
            token = at[loc]
            if token.key == ")":
                return token.end, [distinct, tuple(arguments)]
            if token.key != ",":
                self.source.fail(loc, token, ")", self)
            loc = token.end


class Amount(Element):
    """What counts a strict time period's units: a number, a name or a substitution parameter."""

    def __init__(self, source: SourceText, substitution: ParserElement) -> None:
        super().__init__(source)
        self.substitution = substitution

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        sign = ""
        if token.key in ("-", "+"):
            sign, token = token.key, self.source.at[token.end]
        if token.kind in ("integer", "float"):
            return token.end, [number(token, sign, self.source.at[loc].start)]
        if not sign and token.key == "?":
            return self.substitution._parse(instring, loc, do_actions)
        if sign or (token.kind != "quoted" and (token.kind != "word" or token.key in RESERVED_FOR_NAMES)):
            self.source.fail(loc, token, "a number", self)
        return token.end, [S.Chain((S.Name(read_name(token), span=token.span),), span=token.span)]


class TimePeriodElement(Element):
    """A time period whose parts are counted by ``amount``."""

    def __init__(self, source: SourceText, amount: ParserElement) -> None:
        super().__init__(source)
        self.amount = amount

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        start = self.source.at[loc].start
        loc, tokens = self.amount._parse(instring, loc, do_actions)
        loc, parts = time_period(self.source, self.amount, loc, tokens[0], start)
        return loc, [parts]


_ORDER = {
    unit: place for place, unit in enumerate(["year", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond"])
}


def time_period(source: SourceText, expression: ParserElement, loc: int, first: S.Expression, start: int) -> Step:
    """Parse the period whose first part's value has been read: the unit is at ``loc``. Parts go from large units to small ones."""
    at = source.at
    parts: list[tuple[Any, S.Expression]] = []
    value = first
    while True:
        unit = at[loc]
        name = UNITS.get(unit.key, "")
        if not name or (parts and _ORDER[name] <= _ORDER[parts[-1][0]]):
            source.fail(loc, unit, "a smaller time unit" if parts else "a time unit", expression)
        parts.append((name, value))
        loc = unit.end
        if not _begins_value(at[loc]):
            return loc, S.TimePeriod(tuple(parts), span=Span(start, loc))
        loc, tokens = expression._parse(source.tokens.text, loc, True)
        value = tokens[0]


_FOLLOWS_PERIOD = RESERVED_FOR_NAMES
"""What may occur after a time period and is not a value of its next part."""


def _begins_value(token: Token) -> bool:
    return (
        token.kind in ("integer", "float", "string", "quoted")
        or token.key in ("?", "(", "+", "-", "{")
        or (token.kind == "word" and token.key not in _FOLLOWS_PERIOD)
    )


def is_row(source: SourceText, loc: int) -> bool:
    """Return whether the bracket at ``loc`` holds no expression, or several."""
    at = source.at
    token = at[at[loc].end]
    if token.key == ")":
        return True
    depth = 0
    while token.kind != "end":
        if token.key in ("(", "[", "{"):
            depth += 1
        elif token.key in (")", "]", "}"):
            depth -= 1
            if depth < 0:
                return False
        elif token.key == "," and not depth:
            return True
        token = at[token.end]
    return False


def row(source: SourceText, expression: ParserElement, loc: int) -> Step:
    """Parse ``()`` or ``(a, b)``."""
    at = source.at
    start = at[loc].start
    loc = at[loc].end
    items: list[S.Expression] = []
    if at[loc].key != ")":
        loc, tokens = expression._parse(source.tokens.text, loc, True)
        items.extend(tokens)
        while at[loc].key == ",":
            loc, tokens = expression._parse(source.tokens.text, at[loc].end, True)
            items.extend(tokens)
    closing = at[loc]
    if closing.key != ")":
        source.fail(loc, closing, ")", expression)
    return closing.end, S.Row(tuple(items), span=Span(start, closing.end))
