"""Tokens → expressions."""
from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from epl.dialects.errors import DialectError
from epl.dialects.syntax import tree as t
from epl.dialects.syntax.reader import Reader

if TYPE_CHECKING:
    QueryReader = Callable[[], t.SqlQuery]

COMPARISONS = ("=", "==", "<>", "!=", "<=", ">=", "<", ">")
MODES = ("RUNNING", "FINAL")
TYPED = ("DATE", "TIMESTAMP", "TIME", "DECIMAL", "REAL", "DOUBLE", "BIGINT", "INTEGER", "SMALLINT", "TINYINT", "BOOLEAN", "VARCHAR", "CHAR")
"""Types whose literals are written ``type '…'``."""
QUERIES = ("SELECT", "WITH", "VALUES", "TABLE")
"""Words that begin a query."""
UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "WEEK", "QUARTER")
CALLED = ("LISTAGG", "TRIM", "NORMALIZE")
"""Reserved words that are names of functions."""
EXTRACTED = (
    "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAY_OF_MONTH", "DAY_OF_WEEK", "DOW", "DAY_OF_YEAR", "DOY", "YEAR_OF_WEEK", "YOW", "HOUR",
    "MINUTE", "SECOND", "TIMEZONE_MINUTE", "TIMEZONE_HOUR",
)  # fmt: skip
"""Fields of EXTRACT, in the order in which Trino lists them."""
SPECIAL = ("CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "LOCALTIME", "LOCALTIMESTAMP")


class ExpressionReader:
    """Reads expressions; queries inside them with ``query``."""

    def __init__(self, reader: Reader, query: QueryReader) -> None:
        self.reader = reader
        self.query = query

    def expression(self) -> t.SqlExpression:
        """Read an expression."""
        self.reader.deeper()
        taken = self._chain("OR", lambda: self._chain("AND", self._negation))
        self.reader.depth -= 1
        return taken

    def expressions(self) -> tuple[t.SqlExpression, ...]:
        """Read ``a, b``."""
        listed = [self.expression()]
        while self.reader.take(","):
            listed.append(self.expression())
        return tuple(listed)

    def _chain(self, word: str, operand: Callable[[], t.SqlExpression]) -> t.SqlExpression:
        at = self.reader.at
        operands = [operand()]
        while self.reader.take(word):
            operands.append(operand())
        return operands[0] if len(operands) == 1 else t.Logical(at, word, tuple(operands))

    def _negation(self) -> t.SqlExpression:
        at = self.reader.at
        if self.reader.take("NOT"):
            return t.Unary(at, "NOT", self._negation())
        return self._predicate()

    def _predicate(self) -> t.SqlExpression:
        reader, left = self.reader, self._concatenation()
        while True:
            at = reader.at
            sign = reader.take_any(*COMPARISONS)
            if sign is not None:
                left = self._comparison(at, {"!=": "<>", "==": "="}.get(sign, sign), left)
                continue
            negated = reader.sees("NOT") and reader.peek().word in ("BETWEEN", "IN", "LIKE")
            if negated:
                reader.take("NOT")
            if reader.take("BETWEEN"):
                low = self._concatenation()
                reader.expect("AND")
                left = t.Between(at, left, low, self._concatenation(), negated)
            elif reader.take("IN"):
                left = self._in(at, left, negated)
            elif reader.take("LIKE"):
                pattern = self._concatenation()
                left = t.Like(at, left, pattern, self._concatenation() if reader.take("ESCAPE") else None, negated)
            elif reader.take("IS"):
                left = self._is(at, left)
            else:
                return left

    def _comparison(self, at: int, sign: str, left: t.SqlExpression) -> t.SqlExpression:
        reader = self.reader
        word = reader.token.word
        if word in ("ALL", "ANY", "SOME") and reader.peek().word == "(" and reader.peek(2).word in QUERIES:
            reader.place += 2
            query = self.query()
            reader.expect(")")
            return t.ComparedAll(at, sign, left, query, word == "ALL")
        return t.Binary(at, sign, left, self._concatenation())

    def _in(self, at: int, value: t.SqlExpression, negated: bool) -> t.SqlExpression:
        self.reader.expect("(")
        if self.reader.token.word in QUERIES:
            listed = t.InList(at, value, (), self.query(), negated)
        else:
            listed = t.InList(at, value, self.expressions(), None, negated)
        self.reader.expect(")")
        return listed

    def _is(self, at: int, value: t.SqlExpression) -> t.SqlExpression:
        reader = self.reader
        negated = reader.take("NOT")
        if reader.take("NULL"):
            return t.IsNull(at, value, negated)
        if reader.take("DISTINCT"):
            reader.expect("FROM")
            return t.IsDistinct(at, value, self._concatenation(), negated)
        word = reader.take_any("TRUE", "FALSE")
        if word is None or reader.dialect.name == "sql":
            raise reader.wrong("'DISTINCT', 'NULL'")
        return t.IsDistinct(at, value, t.Literal(at, "boolean", word == "TRUE", word), not negated)

    def _concatenation(self) -> t.SqlExpression:
        left = self._sum()
        while self.reader.sees("||"):
            at = self.reader.expect("||")
            left = t.Binary(at, "||", left, self._sum())
        return left

    def _sum(self) -> t.SqlExpression:
        left = self._product()
        while self.reader.sees("+") or self.reader.sees("-"):
            at = self.reader.at
            left = t.Binary(at, self.reader.next().text, left, self._product())
        return left

    def _product(self) -> t.SqlExpression:
        left = self._sign()
        while self.reader.sees("*") or self.reader.sees("/") or self.reader.sees("%"):
            at = self.reader.at
            left = t.Binary(at, self.reader.next().text, left, self._sign())
        return left

    def _sign(self) -> t.SqlExpression:
        at = self.reader.at
        sign = self.reader.take_any("-", "+", "~") if self.reader.dialect.name == "ydb" else self.reader.take_any("-", "+")
        if sign is not None:
            self.reader.deeper()
            operand = self._sign()
            self.reader.depth -= 1
            return t.Unary(at, sign, operand)
        return self._postfix(self._primary())

    def _postfix(self, base: t.SqlExpression) -> t.SqlExpression:
        reader = self.reader
        while True:
            if reader.take("["):
                base = t.Subscript(base.at, base, self.expression())
                reader.expect("]")
            elif reader.sees(".") and reader.is_name(1):
                reader.expect(".")
                base = t.Path(base.at, base, reader.name())
            else:
                return base

    def _primary(self) -> t.SqlExpression:
        reader, token = self.reader, self.reader.token
        if token.kind in ("integer", "decimal", "double", "text"):
            reader.next()
            return t.Literal(token.at, token.kind, self._value(token.kind, token.text), token.text)
        if token.kind == "sign":
            return self._brackets() if token.word == "(" else self._wrong()
        if token.kind == "name":
            special = self._keyword(token.word, token.at)
            if special is not None:
                return special
        if reader.is_name() or (token.word in CALLED and reader.peek().word == "("):
            return self._name_expression()
        return self._wrong()

    def _wrong(self) -> t.SqlExpression:
        raise self.reader.wrong("<expression>")

    @staticmethod
    def _value(kind: str, text: str) -> object:
        if kind == "integer":
            return int(text)
        if kind == "double":
            return float(text)
        return Decimal(text) if kind == "decimal" else text

    def _brackets(self) -> t.SqlExpression:
        reader = self.reader
        if reader.is_name(1) and reader.peek(2).word in (",", ")") and self._is_lambda():
            start, names = reader.at, reader.names_in_brackets()
            reader.expect("->")
            return t.Lambda(start, tuple(name.written for name in names), self.expression())
        at = reader.expect("(")
        if reader.token.word in QUERIES:
            query = self.query()
            reader.expect(")")
            return t.Subquery(at, query)
        items = self.expressions()
        reader.expect(")")
        return items[0] if len(items) == 1 else t.Tuple(at, items)

    def _keyword(self, word: str, at: int) -> t.SqlExpression | None:
        """Read what begins with a word of its own; None where the word is a name here."""
        reader = self.reader
        following = reader.peek()
        if word in ("TRUE", "FALSE", "NULL"):
            reader.next()
            kind = "null" if word == "NULL" else "boolean"
            return t.Literal(at, kind, {"TRUE": True, "FALSE": False}.get(word), word.lower())
        if word in TYPED and following.kind == "text":
            reader.next()
            return t.Literal(at, word.lower(), reader.next().text, following.text)
        if word == "INTERVAL" and (following.kind == "text" or following.word in ("-", "+")):
            return self._interval(at)
        if word == "CASE":
            return self._case(at)
        if word in ("CAST", "TRY_CAST") and following.word == "(":
            return self._cast(at, word == "TRY_CAST")
        if word == "EXISTS" and following.word == "(":
            reader.next()
            reader.expect("(")
            query = self.query()
            reader.expect(")")
            return t.Exists(at, query)
        if word == "ARRAY" and following.word == "[":
            reader.next()
            reader.expect("[")
            items = () if reader.sees("]") else self.expressions()
            reader.expect("]")
            return t.ArrayOf(at, items)
        if word == "EXTRACT" and following.word == "(":
            return self._extract(at)
        if following.word == "(" and (word == "TRIM" or (word in ("SUBSTRING", "POSITION") and self.reader.dialect.name != "ydb")):
            return self._text_call(at, word)
        if word == "X" and following.kind == "text" and following.at == reader.token.end:
            return self._bytes(at)
        if word == "ROW" and following.word == "(":
            reader.place += 2
            items = () if reader.sees(")") else self.expressions()
            reader.expect(")")
            return t.Tuple(at, items)
        if word == "GROUPING" and following.word == "(":
            reader.place += 2
            columns = self.expressions()
            reader.expect(")")
            return t.Call(at, (t.Name(at, "grouping", False, word),), columns)
        if word in SPECIAL and following.word != "(":
            reader.next()
            return t.Call(at, (t.Name(at, word.lower(), False, word),), ())
        if word in MODES and following.kind == "name" and reader.peek(2).word == "(":
            reader.next()
            return self._call(self._names(), at, word)
        return None

    def _interval(self, at: int) -> t.SqlExpression:
        reader = self.reader
        reader.next()
        sign = reader.take_any("-", "+")
        if reader.token.kind != "text":
            raise reader.wrong("<string>")
        text = reader.next().text
        unit = self._unit()
        until = self._unit() if reader.take("TO") else None
        written = f"{text} {unit}" + (f" TO {until}" if until else "")
        return t.Literal(at, "interval", (sign == "-", text, unit, until), written)

    def _unit(self) -> str:
        reader = self.reader
        word = reader.token.word.removesuffix("S") if reader.dialect.name != "sql" else reader.token.word
        if word not in UNITS:
            raise reader.wrong("'DAY', 'HOUR', 'MINUTE', 'MONTH', 'SECOND', 'YEAR'")
        reader.next()
        if reader.take("("):
            reader.whole_number()
            if reader.take(","):
                reader.whole_number()
            reader.expect(")")
        return word

    def _case(self, at: int) -> t.SqlExpression:
        reader = self.reader
        reader.expect("CASE")
        operand = None if reader.sees("WHEN") else self.expression()
        whens = []
        while reader.take("WHEN"):
            condition = self.expression()
            reader.expect("THEN")
            whens.append((condition, self.expression()))
        if not whens:
            raise reader.wrong("'WHEN'")
        otherwise = self.expression() if reader.take("ELSE") else None
        reader.expect("END")
        return t.Case(at, operand, tuple(whens), otherwise)

    def _cast(self, at: int, safe: bool) -> t.SqlExpression:
        reader = self.reader
        reader.next()
        reader.expect("(")
        value = self.expression()
        reader.expect("AS")
        type_name = self.type_name()
        reader.expect(")")
        return t.Cast(at, value, type_name, safe)

    def _text_call(self, at: int, word: str) -> t.SqlExpression:
        """Read a call that may be written with words: ``trim(leading 'x' from s)``, ``substring(s from 2 for 3)``, ``position(p in s)``."""
        reader = self.reader
        reader.place += 2
        called = word.lower()
        arguments: list[t.SqlExpression] = []
        side = reader.take_any("BOTH", "LEADING", "TRAILING") if word == "TRIM" else None
        if not reader.sees("FROM") and not reader.sees(")"):
            arguments.append(self._concatenation())
        if side is not None or (word == "TRIM" and reader.sees("FROM")):
            called = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(side or "", "trim")
            if reader.take("FROM"):
                arguments.insert(0, self.expression())
        elif (word == "POSITION" and reader.take("IN")) or (word == "SUBSTRING" and reader.take("FROM")):
            arguments.append(self._concatenation())
            if word == "SUBSTRING" and reader.take("FOR"):
                arguments.append(self._concatenation())
        while arguments and reader.take(","):
            arguments.append(self.expression())
        reader.expect(")")
        return t.Call(at, (t.Name(at, called, False, called.upper()),), tuple(arguments))

    def _bytes(self, at: int) -> t.SqlExpression:
        reader = self.reader
        reader.next()
        written = reader.next().text
        try:
            return t.Literal(at, "bytes", bytes.fromhex(written), written)
        except ValueError:
            raise DialectError("INVALID_LITERAL", f"Invalid hexadecimal literal: {written}", at) from None

    def type_name(self) -> t.SqlTypeName:
        """Read the name of a type."""
        reader, at = self.reader, self.reader.at
        name = reader.name().written.lower()
        if name == "row" and reader.take("("):
            return self._row_type(at)
        if name == "double" and reader.take("PRECISION"):
            name = "double"
        arguments: list[t.SqlTypeName | int] = []
        if reader.take("(") or reader.take("<"):
            arguments.append(self._type_argument())
            while reader.take(","):
                arguments.append(self._type_argument())
            if not reader.take(")"):
                reader.expect(">")
        if reader.take("WITH", "TIME", "ZONE"):
            name += " with time zone"
        elif reader.take("WITHOUT", "TIME", "ZONE"):
            pass
        if reader.dialect.name == "ydb":
            reader.take("?")
        taken = t.SqlTypeName(at, name, tuple(arguments))
        while reader.sees("ARRAY") and reader.dialect.name != "ydb":
            reader.next()
            taken = t.SqlTypeName(at, "array", (taken,))
        return taken

    def _row_type(self, at: int) -> t.SqlTypeName:
        reader = self.reader
        kinds: list[t.SqlTypeName | int] = []
        names: list[str | None] = []
        while True:
            has_name = reader.is_name() and reader.peek().kind in ("name", "quoted") and reader.peek().word not in ("PRECISION", "WITH")
            names.append(reader.name().written if has_name else None)
            kinds.append(self.type_name())
            if not reader.take(","):
                break
        reader.expect(")")
        return t.SqlTypeName(at, "row", tuple(kinds), tuple(names))

    def _type_argument(self) -> t.SqlTypeName | int:
        return self.reader.whole_number() if self.reader.token.kind == "integer" else self.type_name()

    def _extract(self, at: int) -> t.SqlExpression:
        reader = self.reader
        reader.next()
        reader.expect("(")
        unit = reader.next()
        reader.expect("FROM")
        value = self.expression()
        reader.expect(")")
        if reader.dialect.name == "sql" and unit.word not in EXTRACTED:
            message = f"Invalid EXTRACT field {unit.word}, valid fields are: {', '.join(EXTRACTED)}"
            raise DialectError("INVALID_ARGUMENTS", message, at)
        return t.Call(at, (t.Name(at, unit.text, False, unit.word),), (value,))

    def _name_expression(self) -> t.SqlExpression:
        """Read what begins with a name: a column, a call, a lambda, a measure over a window."""
        reader, at = self.reader, self.reader.at
        if reader.peek().word == "->":
            parameter = reader.name()
            reader.expect("->")
            return t.Lambda(at, (parameter.written,), self.expression())
        ahead = 0
        while reader.peek(ahead + 1).word == "." and reader.is_name(ahead + 2):
            ahead += 2
        if reader.peek(ahead + 1).word == "(" or (reader.peek(ahead + 1).word == "::" and reader.dialect.name == "ydb"):
            return self._call(self._names(), at, None)
        name = reader.name()
        if reader.sees("OVER") and (reader.peek().word == "(" or reader.is_name(1)):
            reader.next()
            return t.OverMeasure(at, name, self.window())
        return name

    def _names(self) -> tuple[t.Name, ...]:
        reader = self.reader
        if reader.token.word in CALLED:
            token = reader.next()
            return (t.Name(token.at, token.text, False, token.word),)
        names = [reader.name()]
        while reader.take("."):
            names.append(reader.name())
        return tuple(names)

    def _call(self, names: tuple[t.Name, ...], at: int, mode: str | None) -> t.SqlExpression:
        reader = self.reader
        reader.expect("(")
        star = reader.take("*")
        if star:
            reader.expect(")")
            reader.place -= 1
        distinct = reader.take("DISTINCT")
        arguments: list[t.SqlExpression] = []
        if not distinct:
            reader.take("ALL")
        if not reader.sees(")") and not reader.sees("ORDER"):
            arguments.append(self._argument())
            while reader.take(","):
                arguments.append(self._argument())
        order_by = self.sort_items() if reader.take("ORDER", "BY") else ()
        if len(arguments) == 1 and isinstance(arguments[0], t.LabelStar) and not reader.sees(")"):
            raise reader.wrong("')'")
        reader.expect(")")
        if names[-1].canonical == "LISTAGG" and reader.dialect.name == "sql" and not reader.sees("WITHIN"):
            raise reader.wrong("'WITHIN'")
        if reader.take("WITHIN", "GROUP"):
            reader.expect("(")
            reader.expect("ORDER", "BY")
            order_by = self.sort_items()
            reader.expect(")")
        condition = None
        if reader.take("FILTER"):
            reader.expect("(")
            reader.expect("WHERE")
            condition = self.expression()
            reader.expect(")")
        over = None
        if reader.sees("OVER"):
            reader.next()
            over = self.window()
        return t.Call(at, names, tuple(arguments), star, distinct, mode, at, order_by, condition, over)

    def _argument(self) -> t.SqlExpression:
        reader = self.reader
        if reader.is_name() and reader.peek().word == "." and reader.peek(2).word == "*":
            at, label = reader.at, reader.name()
            reader.place += 2
            return t.LabelStar(at, label)
        return self.expression()

    def _is_lambda(self) -> bool:
        ahead = 1
        while self.reader.peek(ahead).word != ")" and self.reader.peek(ahead).kind != "end":
            ahead += 1
        return self.reader.peek(ahead + 1).word == "->"

    def sort_items(self) -> tuple[t.SortItem, ...]:
        """Read the keys of an order by."""
        items = [self._sort_item()]
        while self.reader.take(","):
            items.append(self._sort_item())
        return tuple(items)

    def _sort_item(self) -> t.SortItem:
        reader, at = self.reader, self.reader.at
        key = self.expression()
        descending = reader.take_any("ASC", "DESC") == "DESC"
        nulls_first = None
        if reader.take("NULLS"):
            nulls_first = reader.take("FIRST")
            if not nulls_first:
                reader.expect("LAST")
        return t.SortItem(at, key, descending, nulls_first)

    def window(self) -> t.WindowSpec:
        """Read what follows ``over``. Set by the reader of queries, which knows the clause."""
        raise NotImplementedError


__all__ = ["ExpressionReader"]
