"""Expressions by operator precedence: one element climbs where a tower of grammar rules would recurse."""

from __future__ import annotations

from typing import Any

import attrs
from pyparsing import ParserElement

from epl import syntax as S
from epl.errors import EplValidationError
from epl.grammar.elements import Element, Parsed, SourceText
from epl.grammar.lexis import Token
from epl.grammar.literals import number
from epl.spans import Span

OR, AND, BITWISE, NOT, EQUALITY, RELATION, CONCATENATION, SUM, PRODUCT = range(1, 10)
"""Levels of precedence, the loosest first."""

_LEVELS: dict[str, int] = {
    "or": OR, "and": AND, "&": BITWISE, "|": BITWISE, "^": BITWISE, "=": EQUALITY, "!=": EQUALITY, "<>": EQUALITY, "is": EQUALITY,
    "<": RELATION, "<=": RELATION, ">": RELATION, ">=": RELATION, "in": RELATION, "between": RELATION, "like": RELATION, "regexp":
    RELATION, "not": RELATION,
    "||": CONCATENATION, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT,
}  # fmt: skip
_PREDICATES = frozenset({"in", "between", "like", "regexp"})
_QUANTIFIERS = {"any": "any", "some": "any", "all": "all"}
_NUMBERS = frozenset({"integer", "float"})
MAX_OPERATORS = 200
"""How many operators of one level may occur in a row (``or`` and ``and`` excepted): each makes the tree one level deeper."""

Step = tuple[int, Any]


class Operators(Element):
    """``a or not b + 1 in (…)`` …: an expression of operators over operands, or a case expression, which takes no operators outside
    parentheses.

    ``not`` occurs once, before comparisons; unary minus before numbers, names and calls; comparisons of one level do not chain.
    """

    def __init__(
        self, source: SourceText, operand: ParserElement, chain: ParserElement, case: ParserElement, subquery: ParserElement,
        tail: ParserElement
    ) -> None:
        super().__init__(source)
        self.operand = operand
        self.chain = chain
        self.case = case
        self.subquery = subquery
        self.tail = tail

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        loc, parts = self.expression(loc)
        return loc, [parts]

    def expression(self, loc: int) -> Step:
        if self.source.at[loc].key == "case":
            return self._element(self.case, loc)
        return self._climb(loc, OR)

    def _element(self, element: ParserElement, loc: int) -> Step:
        loc, tokens = element._parse(self.source.tokens.text, loc, True)
        return loc, tokens[0]

    def _climb(self, loc: int, minimum: int) -> Step:
        """Operands and the operators of level ``minimum`` and tighter."""
        at = self.source.at
        token = at[loc]
        start = token.start
        if token.key == "not" and minimum <= NOT:
            loc, left = self._climb(token.end, EQUALITY)
            left = S.Unary("not", left, span=Span(start, loc))
            ceiling = BITWISE
        else:
            loc, left = self._operand(loc, token)
            ceiling = PRODUCT
        count = 0
        while True:
            token = at[loc]
            level = _LEVELS.get(token.key, 0)
            if level < minimum or level > ceiling or not level:
                return loc, left
            if level <= AND:
                if at[token.end].key == "when":  # ``output when … and when terminated``
                    return loc, left
                loc, left = self._logical(loc, token.key, level, left, start)
                ceiling = level
                continue
            if token.key == "not" and at[token.end].key not in _PREDICATES:
                return loc, left
            if token.key == "not" or token.key in _PREDICATES:
                if ceiling == RELATION:
                    return loc, left
                loc, left = self._predicate(loc, token, left, start)
                ceiling = EQUALITY
                continue
            if ceiling == level and level in (BITWISE, EQUALITY, RELATION) and count:
                self._refuse_chain(left, level)
            count = count + 1 if ceiling == level else 1
            if count > MAX_OPERATORS:
                raise self._too_long(token)
            loc, left = self._binary(loc, token, level, left, start)
            ceiling = level

    def _too_long(self, token: Token) -> EplValidationError:
        message = f"More than {MAX_OPERATORS} operators in a row are not supported"
        return EplValidationError(message, span=token.span, text=self.source.tokens.text, hint="split the expression by parentheses")

    def _refuse_chain(self, left: S.Expression, level: int) -> None:
        """Esper reads ``a = b = c`` as one node of three operands, and refuses it."""
        assert left.span is not None
        if level == EQUALITY:
            self.source.refuse(
                "Invalid use of equals, expecting left-hand side and right-hand side but received 3 expressions",
                left.span,
                "use parentheses",
            )
        elif level == RELATION:
            self.source.refuse("Relational op node does not have exactly 2 parameters", left.span, "use parentheses, or 'between'")
        else:
            self.source.refuse("BitWise node must have 2 parameters", left.span, "use parentheses")

    def _logical(self, loc: int, key: str, level: int, left: S.Expression, start: int) -> Step:
        at = self.source.at
        operands = [left]
        while at[loc].key == key and at[at[loc].end].key != "when":
            loc, operand = self._climb(at[loc].end, level + 1)
            operands.append(operand)
        return loc, S.Logical(key, tuple(operands), span=Span(start, loc))  # type: ignore[arg-type]

    def _binary(self, loc: int, token: Token, level: int, left: S.Expression, start: int) -> Step:
        if level in (EQUALITY, RELATION):
            return self._comparison(token, level, left, start)
        loc, right = self._climb(token.end, level + 1 if level != BITWISE else NOT)
        return loc, S.Binary(token.key, left, right, span=Span(start, loc))  # type: ignore[arg-type]

    def _comparison(self, token: Token, level: int, left: S.Expression, start: int) -> Step:
        at = self.source.at
        operator, loc = token.key, token.end
        if operator == "<>":
            operator = "!="
        elif operator == "is" and at[loc].key == "not":
            operator, loc = "is not", at[loc].end
        quantifier = _QUANTIFIERS.get(at[loc].key)
        if quantifier is None:
            loc, right = self._climb(loc, level + 1)
            return loc, S.Comparison(operator, left, right, span=Span(start, loc))  # type: ignore[arg-type]
        loc, operands = self._list(at[loc].end, least=0)
        return loc, S.QuantifiedComparison(operator, quantifier, left, operands, span=Span(start, loc))  # type: ignore[arg-type]

    def _predicate(self, loc: int, token: Token, left: S.Expression, start: int) -> Step:
        at = self.source.at
        negated = token.key == "not"
        if negated:
            token = at[token.end]
        if token.key == "in":
            return self._in(token.end, left, negated, start)
        loc, second = self._climb(token.end, CONCATENATION)
        if token.key == "between":
            loc, high = self._climb(self._expect(loc, "and"), CONCATENATION)
            return loc, S.Between(left, second, high, negated, span=Span(start, loc))
        if token.key == "regexp":
            return loc, S.Regexp(left, second, negated, span=Span(start, loc))
        escape = None
        if at[loc].key == "escape":
            escaped = at[at[loc].end]
            if escaped.kind != "string":
                self.source.fail(at[loc].end, escaped, "a string literal", self)
            loc, escape = self._operand(at[loc].end, escaped)
        return loc, S.Like(left, second, escape, negated, span=Span(start, loc))

    def _in(self, loc: int, left: S.Expression, negated: bool, start: int) -> Step:
        at = self.source.at
        opening = at[loc]
        if opening.key not in ("(", "["):
            self.source.fail(loc, opening, "(", self)
        if opening.key == "(" and at[opening.end].key == "select":
            loc, items = self._list(loc, least=1)
            return loc, S.In(left, items, negated, span=Span(start, loc))
        loc, first = self.expression(opening.end)
        if at[loc].key == ":":
            loc, high = self.expression(at[loc].end)
            closing = at[loc]
            if closing.key not in (")", "]"):
                self.source.fail(loc, closing, ")", self)
            span = Span(start, closing.end)
            return closing.end, S.InRange(left, first, high, opening.key == "[", closing.key == "]", negated, span=span)
        listed = [first]
        while at[loc].key == ",":
            loc, item = self.expression(at[loc].end)
            listed.append(item)
        loc = self._expect(loc, ")" if opening.key == "(" else "]")
        return loc, S.In(left, tuple(listed), negated, span=Span(start, loc))

    def _list(self, loc: int, least: int) -> tuple[int, tuple[S.Expression, ...]]:
        """``(a, b)`` or the one subquery ``(select …)``."""
        at = self.source.at
        inner = self._expect(loc, "(")
        if at[inner].key == "select":
            loc, subquery = self._element(self.subquery, loc)
            return loc, (subquery,)
        items: list[S.Expression] = []
        if at[inner].key != ")" or least:
            inner, item = self.expression(inner)
            items.append(item)
            while at[inner].key == ",":
                inner, item = self.expression(at[inner].end)
                items.append(item)
        return self._expect(inner, ")"), tuple(items)

    def _expect(self, loc: int, key: str) -> int:
        token = self.source.at[loc]
        if token.key != key:
            self.source.fail(loc, token, key, self)
        return token.end

    def parse_operand(self, loc: int) -> Step:
        """Parse one operand, without operators."""
        return self._operand(loc, self.source.at[loc])

    def _operand(self, loc: int, token: Token) -> Step:
        if token.key == "(":
            return self._parentheses(loc, token)
        if token.key in ("-", "+"):
            return self._sign(token)
        return self._element(self.operand, loc)

    def _sign(self, sign: Token) -> Step:
        token = self.source.at[sign.end]
        if token.kind in _NUMBERS:
            return token.end, number(token, sign.key, sign.start)
        if sign.key == "+" or not _may_be_negated(token):
            self.source.fail(sign.end, token, "a number", self)
        loc, operand = self._element(self.chain, sign.end)
        return loc, S.Unary("-", _by_name(operand), span=Span(sign.start, loc))

    def _parentheses(self, loc: int, token: Token) -> Step:
        """Return the expression inside keeps its own span; what follows the bracket makes a chain rooted in it."""
        at = self.source.at
        if at[token.end].key == "select":
            loc, inner = self._element(self.subquery, loc)
        else:
            loc, inner = self.expression(token.end)
            loc = self._expect(loc, ")")
        if at[loc].key not in (".", "["):
            return loc, inner
        loc, links = self.tail._parse(self.source.tokens.text, loc, True)
        return loc, S.Chain(tuple(links), inner, span=Span(token.start, loc))


def _by_name(chain: S.Chain) -> S.Chain:
    """Return what follows a minus begins with a name, never with a word of the language: ``-sum(x)`` calls a function of that name."""
    first = chain.links[0]
    return attrs.evolve(chain, links=(attrs.evolve(first, named=True), *chain.links[1:])) if isinstance(first, S.Call) else chain


def _may_be_negated(token: Token) -> bool:
    return token.kind == "quoted" or (token.kind == "word" and token.key not in _NEVER_NEGATED)


_NEVER_NEGATED = frozenset(
    {"null", "true", "false", "case", "new", "current_timestamp", "istream", "exists", "prevcount", "prevwindow", "grouping", "grouping_id"}
)
