"""Tokens → queries, relations and the clause."""
from __future__ import annotations

from itertools import combinations

from epl.dialects.errors import DialectError
from epl.dialects.syntax import tree as t
from epl.dialects.syntax.lexis import Dialect
from epl.dialects.syntax.read_expressions import QUERIES, ExpressionReader
from epl.dialects.syntax.read_patterns import CALCITE, PRIMARIES, PatternReader
from epl.dialects.syntax.reader import RESERVED, Reader

MOST_SETS = 2048
NO_ALIAS = frozenset(["MATCH_RECOGNIZE", "TABLESAMPLE", "LIMIT", "OFFSET", "FETCH", "WINDOW", "QUALIFY"])
"""Words that are not an alias where they follow a relation."""
AFTER_BODY = ("UNION", "EXCEPT", "INTERSECT", "ORDER", "LIMIT", "OFFSET", "FETCH")
"""Words that go on with a query after the first part of its body."""


PARTS = (("PARTITION",), ("ORDER",), ("MEASURES",), ("ALL", "ONE"), ("AFTER",))
"""The words that the parts of a clause before its pattern begin with."""
AFTER_NAME = "'%', '*', '+', '-', '.', '/', 'AND', 'AS', 'AT', 'OR', '[', '||', <predicate>"


def _following_parts(read: tuple[bool, ...]) -> str:
    """Return what may follow the last part that was read, as messages list it."""
    last = max((place for place, is_read in enumerate(read) if is_read), default=-1)
    words = [word for part in PARTS[last + 1 :] for word in part] if read else []
    if read:
        words += ["INITIAL", "SEEK"]
    signs = [","] if last in (0, 2) else []
    return ", ".join(f"'{word}'" for word in sorted([*signs, *words, "PATTERN"]))


def read_query(text: str, dialect: Dialect) -> t.SqlQuery:
    """Return the query of a text; a semicolon may end it."""
    reader = QueryReader(Reader(text, dialect))
    query = reader.query()
    reader.reader.take(";")
    if reader.reader.token.kind != "end":
        raise reader.reader.wrong("<EOF>")
    return query


class QueryReader(ExpressionReader):
    """Reads queries, and the expressions in them."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader, self.query)

    @property
    def is_calcite(self) -> bool:
        """Whether the dialect is read by Flink's parser."""
        return self.reader.dialect.name in CALCITE

    # queries

    def query(self, first: t.Nested | None = None) -> t.SqlQuery:
        """Read a query with its common table expressions and its order. ``first``: what has been read of its body."""
        reader = self.reader
        reader.deeper()
        at = reader.at if first is None else first.at
        withs: list[t.WithQuery] = []
        recursive = False
        if reader.take("WITH"):
            recursive = reader.take("RECURSIVE")
            withs.append(self._with_query())
            while reader.take(","):
                withs.append(self._with_query())
        body = self._body(first)
        order_by = self.sort_items() if reader.take("ORDER", "BY") else ()
        offset, limit, ties = self._limits()
        reader.depth -= 1
        return t.SqlQuery(at, tuple(withs), recursive, body, order_by, offset, limit, ties)

    def _limits(self) -> tuple[int | None, int | None, bool]:
        reader = self.reader
        offset = limit = None
        if reader.take("OFFSET"):
            offset = reader.whole_number()
            reader.take_any("ROWS", "ROW")
        if reader.take("LIMIT"):
            limit = None if reader.take("ALL") else reader.whole_number("'?', 'ALL', <integer>")
        elif reader.take("FETCH"):
            reader.take_any("FIRST", "NEXT")
            limit = reader.whole_number() if reader.token.kind == "integer" else 1
            reader.take_any("ROWS", "ROW")
            if not reader.take("ONLY"):
                reader.expect("WITH", "TIES")
                return offset, limit, True
        return offset, limit, False

    def _with_query(self) -> t.WithQuery:
        reader, at = self.reader, self.reader.at
        name = reader.name()
        columns = reader.names_in_brackets() if reader.sees("(") else ()
        reader.expect("AS")
        reader.expect("(")
        query = self.query()
        reader.expect(")")
        return t.WithQuery(at, name, columns, query)

    def _body(self, first: t.Nested | None = None) -> t.QueryBody:
        left = self._intersection(first)
        while True:
            at = self.reader.at
            word = self.reader.take_any("UNION", "EXCEPT")
            if word is None:
                return left
            keeps_all = self.reader.take("ALL")
            self.reader.take("DISTINCT")
            left = t.SetOperation(at, word.lower(), keeps_all, left, self._intersection())

    def _intersection(self, first: t.Nested | None = None) -> t.QueryBody:
        left = self._simple_body() if first is None else first
        while self.reader.sees("INTERSECT"):
            at = self.reader.expect("INTERSECT")
            keeps_all = self.reader.take("ALL")
            left = t.SetOperation(at, "intersect", keeps_all, left, self._simple_body())
        return left

    def _simple_body(self) -> t.QueryBody:
        reader, at = self.reader, self.reader.at
        if reader.take("VALUES"):
            return t.Values(at, self.expressions())
        if reader.take("("):
            query = self.query()
            reader.expect(")")
            return t.Nested(at, query)
        if reader.take("TABLE"):
            star = t.SelectOutput(at, None, None)
            return t.SqlSelect(at, (star,), False, self._table_name(), None, (), False, None, None, ())
        return self._select()

    def _table_name(self) -> t.TableName:
        reader, at = self.reader, self.reader.at
        names = [reader.name()]
        while reader.take("."):
            names.append(reader.name())
        return t.TableName(at, tuple(names))

    def _select(self) -> t.SqlSelect:
        reader = self.reader
        at = reader.expect("SELECT")
        distinct = reader.take("DISTINCT")
        reader.take("ALL")
        items = [self._select_item()]
        while reader.take(","):
            items.append(self._select_item())
        relation = self._relations() if reader.take("FROM") else None
        where = self.expression() if reader.take("WHERE") else None
        group_by: tuple[t.SqlExpression, ...] = ()
        grouped = reader.take("GROUP", "BY")
        sets = None
        if grouped:
            group_by, sets = self._grouping()
        having = self.expression() if reader.take("HAVING") else None
        windows = []
        if reader.take("WINDOW"):
            windows.append(self._window_definition())
            while reader.take(","):
                windows.append(self._window_definition())
        return t.SqlSelect(at, tuple(items), distinct, relation, where, group_by, grouped, sets, having, tuple(windows))

    def _grouping(self) -> tuple[tuple[t.SqlExpression, ...], tuple[tuple[t.SqlExpression, ...], ...] | None]:
        """Read the keys of a group by, and its sets of keys where it has several: each element multiplies the sets."""
        reader = self.reader
        sets: list[tuple[t.SqlExpression, ...]] = [()]
        while True:
            element = self._grouping_element()
            self._check_sets(len(sets) * len(element))
            sets = [(*before, *keys) for before in sets for keys in element]
            if not reader.take(","):
                break
        keys = dict.fromkeys(key for one in sets for key in one)
        return tuple(keys), tuple(sets) if len(sets) > 1 else None

    def _check_sets(self, count: int) -> None:
        if count > MOST_SETS:
            message = f"GROUP BY has {count} grouping sets but can contain at most {MOST_SETS}"
            raise DialectError("TOO_MANY_GROUPING_SETS", message, self.reader.at)

    def _grouping_element(self) -> list[tuple[t.SqlExpression, ...]]:
        reader = self.reader
        if reader.take("GROUPING", "SETS"):
            reader.expect("(")
            listed = self._grouping_element()
            while reader.take(","):
                listed += self._grouping_element()
            reader.expect(")")
            return listed
        word = reader.take_any("ROLLUP", "CUBE")
        if word is None:
            return [self._key_set()]
        reader.expect("(")
        parts = [self._key_set()]
        while reader.take(","):
            parts.append(self._key_set())
        reader.expect(")")
        chosen = [parts[:count] for count in range(len(parts), -1, -1)]
        if word == "CUBE":
            self._check_sets(1 << len(parts))
            chosen = [list(each) for count in range(len(parts), -1, -1) for each in combinations(parts, count)]
        return [tuple(key for part in each for key in part) for each in chosen]

    def _key_set(self) -> tuple[t.SqlExpression, ...]:
        reader = self.reader
        if reader.take("(", ")"):
            return ()
        key = self.expression()
        return key.items if isinstance(key, t.Tuple) else (key,)

    def _select_item(self) -> t.SelectOutput:
        reader, at = self.reader, self.reader.at
        if reader.take("*"):
            return t.SelectOutput(at, None, None)
        if reader.is_name() and reader.peek().word == "." and reader.peek(2).word == "*":
            of = reader.name()
            reader.place += 2
            return t.SelectOutput(at, None, None, of)
        expression = self.expression()
        if reader.take(".", "*"):
            return t.SelectOutput(at, None, None, expression)
        alias = None
        if reader.take("AS") or (reader.is_name() and reader.token.word not in NO_ALIAS):
            alias = reader.name()
        return t.SelectOutput(at, expression, alias)

    # relations

    def _relations(self, first: t.Relation | None = None) -> t.Relation:
        """Read relations and their joins. ``first``: what has been read of them."""
        left = self._join(first)
        while self.reader.sees(","):
            at = self.reader.expect(",")
            left = t.JoinedRelation(at, "cross", left, self._join(), None, ())
        return left

    def _join(self, first: t.Relation | None = None) -> t.Relation:
        reader, relation_at = self.reader, self.reader.at
        left = self._sample(first)
        while True:
            at = reader.at
            if reader.take("CROSS", "JOIN"):
                left = t.JoinedRelation(at, "cross", left, self._sample(), None, ())
                continue
            if reader.sees("NATURAL") and reader.dialect.name == "sql":
                raise DialectError("NOT_SUPPORTED", "Natural join not supported", relation_at)
            kind = reader.take_any("INNER", "LEFT", "RIGHT", "FULL")
            if kind is not None:
                reader.take("OUTER")
                reader.expect("JOIN")
            elif not reader.take("JOIN"):
                return left
            right = self._sample()
            if reader.take("USING"):
                left = t.JoinedRelation(at, (kind or "INNER").lower(), left, right, None, reader.names_in_brackets())
            else:
                if not reader.sees("ON"):
                    raise reader.wrong("'ON', 'USING'")
                reader.expect("ON")
                left = t.JoinedRelation(at, (kind or "INNER").lower(), left, right, self.expression(), ())

    def _sample(self, first: t.Relation | None = None) -> t.Relation:
        reader, at = self.reader, self.reader.at
        relation = self._relation_with_clause(first)
        if reader.take("TABLESAMPLE"):
            if not reader.take_any("BERNOULLI", "SYSTEM"):
                raise reader.wrong("'BERNOULLI', 'SYSTEM'")
            reader.expect("(")
            self.expression()
            reader.expect(")")
            return t.Sampled(at, relation)
        return relation

    def _relation_with_clause(self, first: t.Relation | None = None) -> t.Relation:
        """Read a relation with its alias and perhaps the clause, which may have an alias again."""
        reader, at = self.reader, self.reader.at if first is None else first.at
        relation = self._alias(self._primary_relation() if first is None else first, at)
        if reader.sees("MATCH_RECOGNIZE", "("):
            if self.is_calcite and isinstance(relation, t.Aliased):
                raise reader.wrong("<EOF>")
            relation = self._alias(self._recognition(relation, at), at)
        return relation

    def _alias(self, relation: t.Relation, at: int) -> t.Relation:
        reader = self.reader
        is_alias = reader.take("AS") or (reader.is_name() and reader.token.word not in NO_ALIAS)
        if not is_alias:
            return relation
        alias = reader.name()
        return t.Aliased(at, relation, alias, reader.names_in_brackets() if reader.sees("(") else ())

    def _primary_relation(self) -> t.Relation:
        reader, at = self.reader, self.reader.at
        if reader.take("LATERAL"):
            reader.expect("(")
            query = self.query()
            reader.expect(")")
            return t.DerivedTable(at, query, lateral=True)
        if reader.sees("TABLE", "("):
            reader.place += 2
            call_at = reader.at
            call = self._call(self._names(), call_at, None)
            reader.expect(")")
            assert isinstance(call, t.Call)
            return t.TableFunction(at, call)
        if reader.take("("):
            return self._relation_in_brackets(at)
        if reader.take("UNNEST", "("):
            arrays = self.expressions()
            reader.expect(")")
            return t.Unnest(at, arrays, reader.take("WITH", "ORDINALITY"))
        if reader.token.word in RESERVED and reader.token.kind == "name":
            raise reader.wrong("'(', 'LATERAL', 'TABLE', 'UNNEST', <identifier>")
        return self._table_name()

    def _relation_in_brackets(self, at: int) -> t.Relation:
        reader = self.reader
        if any(reader.sees(word) for word in QUERIES[:3]) or (reader.sees("TABLE") and reader.peek().word != "("):
            query = self.query()
            reader.expect(")")
            return t.DerivedTable(at, query)
        reader.deeper()
        first = self._primary_relation() if reader.sees("(") else None
        reader.depth -= 1
        if isinstance(first, t.DerivedTable) and any(reader.sees(word) for word in AFTER_BODY):
            query = self.query(t.Nested(first.at, first.query))
            reader.expect(")")
            return t.DerivedTable(at, query)
        relation = self._relations(first)
        reader.expect(")")
        return relation

    # the clause

    def clause(self, relation: t.Relation) -> t.RecognitionClause:
        """Read the clause alone, over a relation."""
        return self._recognition(relation, self.reader.at)

    def _recognition(self, relation: t.Relation, at: int) -> t.RecognitionClause:
        reader = self.reader
        reader.expect("MATCH_RECOGNIZE", "(")
        partition_by = self._partition_keys() if reader.take("PARTITION", "BY") else ()
        order_by = self.sort_items() if reader.take("ORDER", "BY") else ()
        measures = self._measures() if reader.take("MEASURES") else ()
        rows, empties, timeouts = self._rows_per_match()
        skip = self._after_match()
        read = (bool(partition_by), bool(order_by), bool(measures), rows is not None, skip is not None)
        search_at = reader.at
        search = reader.take_any("INITIAL", "SEEK")
        if reader.dialect.name != "sql" and search is not None:
            reader.place -= 1
            raise reader.wrong("'PATTERN'")
        pattern = self._pattern(read)
        within = None
        if reader.take("WITHIN"):
            if self.is_calcite and not reader.sees("INTERVAL"):
                raise reader.wrong("'INTERVAL'")
            within = self.expression()
        subsets = self._subsets() if reader.take("SUBSET") else ()
        defines = self._defines("'DEFINE'" if subsets else "'DEFINE', 'SUBSET'")
        reader.expect(")", expected="')', ','")
        return t.RecognitionClause(
            at, relation, partition_by, order_by, measures, rows, empties, timeouts, skip, search, search_at, pattern, within, subsets,
            defines,
        )  # fmt: skip

    def _partition_keys(self) -> tuple[tuple[t.SqlExpression, t.Name | None], ...]:
        reader, listed = self.reader, []
        while True:
            key = self.expression()
            alias = reader.name() if reader.dialect.name == "ydb" and reader.take("AS") else None
            listed.append((key, alias))
            if not reader.take(","):
                return tuple(listed)

    def _measures(self) -> tuple[t.MeasureItem, ...]:
        reader, listed = self.reader, []
        while True:
            at = reader.at
            expression = self.expression()
            if self.is_calcite and reader.sees(".", "*"):
                words = "ValidationException: SQL validation failed. SqlValidatorException: Unknown field '*'"
                raise DialectError("VALIDATION", words, reader.peek().at)
            plain = isinstance(expression, t.Name | t.Path) and not reader.sees(".")
            reader.expect("AS", expected=AFTER_NAME if plain else None)
            listed.append(t.MeasureItem(at, expression, reader.name()))
            if not reader.take(","):
                return tuple(listed)

    def _rows_per_match(self) -> tuple[str | None, str | None, bool]:
        reader = self.reader
        if reader.take("ONE"):
            reader.expect("ROW", "PER", "MATCH")
            timeouts = reader.dialect.name == "alibaba" and reader.take("SHOW", "TIMEOUT", "MATCHES")
            return "one", None, timeouts
        if not reader.take("ALL"):
            return None, None, False
        reader.expect("ROWS", "PER", "MATCH")
        if self.is_calcite:
            return "all", None, False
        word = reader.take_any("SHOW", "OMIT")
        if word is not None:
            reader.expect("EMPTY", "MATCHES")
            return "all", word.lower(), False
        if reader.take("WITH"):
            reader.expect("UNMATCHED", "ROWS")
            return "all", "unmatched", False
        return "all", None, False

    def _after_match(self) -> t.Skip | None:
        if not self.reader.take("AFTER"):
            return None
        self.reader.expect("MATCH")
        return self._skip()

    def _skip(self) -> t.Skip:
        reader, at = self.reader, self.reader.at
        if reader.dialect.name == "alibaba" and reader.take("NO", "SKIP"):
            return t.Skip(at, "none")
        reader.expect("SKIP")
        if reader.take("PAST"):
            reader.expect("LAST", "ROW")
            return t.Skip(at, "past last")
        if not reader.sees("TO"):
            raise reader.wrong("'PAST', 'TO'")
        reader.expect("TO")
        if reader.sees("NEXT", "ROW"):
            reader.place += 2
            return t.Skip(at, "next")
        for word in ("FIRST", "LAST"):
            if reader.sees(word) and reader.is_name(1) and reader.peek().word not in ("PATTERN", "INITIAL", "SEEK"):
                reader.next()
                return t.Skip(at, word.lower(), reader.name(), f"TO {word}")
        return t.Skip(at, "last", reader.name(), "TO")

    def _pattern(self, read: tuple[bool, ...] = ()) -> t.SqlPattern:
        """Read the pattern. ``read``: which parts of the clause were before it."""
        reader = self.reader
        reader.expect("PATTERN", expected=_following_parts(read))
        reader.expect("(")
        if reader.sees(")"):
            raise reader.wrong(PRIMARIES)
        pattern = PatternReader(reader).pattern()
        reader.expect(")")
        return pattern

    def _subsets(self) -> tuple[t.Subset, ...]:
        reader, listed = self.reader, []
        while True:
            at = reader.at
            name = reader.name()
            reader.expect("=")
            listed.append(t.Subset(at, name, reader.names_in_brackets()))
            if not reader.take(","):
                return tuple(listed)

    def _defines(self, expected: str = "'DEFINE'") -> tuple[t.Define, ...]:
        reader, listed = self.reader, []
        reader.expect("DEFINE", expected=expected)
        while True:
            at = reader.at
            name = reader.name()
            reader.expect("AS")
            listed.append(t.Define(at, name, self.expression()))
            if not reader.take(","):
                return tuple(listed)

    # windows

    def _window_definition(self) -> tuple[t.Name, t.WindowSpec]:
        name = self.reader.name()
        self.reader.expect("AS")
        return name, self.window()

    def window(self) -> t.WindowSpec:
        """Read a window: its name, or what stands between its brackets."""
        reader, at = self.reader, self.reader.at
        if not reader.take("("):
            return t.WindowSpec(at, reader.name())
        name = None
        if reader.is_name() and reader.token.word not in ("PARTITION", "MEASURES", "ROWS", "RANGE", "GROUPS", "PATTERN"):
            name = reader.name()
        partition_by: tuple[t.SqlExpression, ...] = self.expressions() if reader.take("PARTITION", "BY") else ()
        order_by = self.sort_items() if reader.take("ORDER", "BY") else ()
        frame = None if reader.sees(")") else self._frame()
        reader.expect(")")
        return t.WindowSpec(at, name, partition_by, order_by, frame)

    def _frame(self) -> t.WindowFrame:
        reader, at = self.reader, self.reader.at
        measures = self._measures() if reader.take("MEASURES") else ()
        kind = reader.take_any("ROWS", "RANGE", "GROUPS")
        if kind is None:
            raise reader.wrong("'GROUPS', 'RANGE', 'ROWS'")
        end = None
        if reader.take("BETWEEN"):
            start = self._frame_limit()
            reader.expect("AND")
            end = self._frame_limit()
        else:
            start = self._frame_limit()
        skip = self._after_match()
        search_at = reader.at
        search = reader.take_any("INITIAL", "SEEK")
        pattern = self._pattern() if reader.sees("PATTERN") else None
        subsets = self._subsets() if reader.take("SUBSET") else ()
        defines = self._defines() if reader.sees("DEFINE") else ()
        return t.WindowFrame(at, kind, start, end, measures, skip, search, search_at, pattern, subsets, defines)

    def _frame_limit(self) -> tuple[str, t.SqlExpression | None]:
        reader = self.reader
        if reader.take("CURRENT", "ROW"):
            return "CURRENT ROW", None
        if reader.take("UNBOUNDED"):
            return "UNBOUNDED " + (reader.take_any("PRECEDING", "FOLLOWING") or ""), None
        value = self.expression()
        return reader.take_any("PRECEDING", "FOLLOWING") or "", value


__all__ = ["read_query"]
