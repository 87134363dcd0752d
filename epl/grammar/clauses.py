"""The clauses of select statements, from the select list to ``for``."""

from __future__ import annotations

from typing import Any

from pyparsing import Opt, ParserElement, ZeroOrMore

from epl import syntax as S
from epl.grammar.chains import is_row, row
from epl.grammar.dialect_clauses import alias_before_clause, recognition_source, window_before_clause
from epl.grammar.elements import ConstantElement, Element, FieldValue, Kit, Nothing, Parsed, SourceText
from epl.grammar.expressions import Expressions
from epl.grammar.lexis import RESERVED_FOR_NAMES, Token, read_name
from epl.spans import Span

STREAMS = {word: word for word in ("istream", "rstream", "irstream")}


class Clauses:
    """The grammar of clauses; ``select`` is a whole select without insert into, ``subselect`` that of subqueries."""

    def __init__(self, kit: Kit, expressions: Expressions) -> None:
        self.kit = kit
        self.expressions = expressions
        self.expression = expressions.expression
        self.pattern_source = kit.reference()
        """Given by the pattern grammar: ``pattern @a [ … ]``."""
        self.match_recognize = kit.reference()
        """Given by the row pattern grammar."""
        self.annotation = annotation(kit)
        condition = _Condition(expressions)
        self.where = kit.key("where") + kit.field("where", condition)
        self.items = kit.fields("items", kit.item_list(self._select_item(bare_alias=True)))
        self.view, self.views = self._views()
        self.type_filter = self._type_filter()
        self.assignments = kit.item_list(self._assignment())
        self.insert_into = self._insert_clause()
        self.stream = self._stream()
        self.from_ = kit.key("from") + kit.field("from_", self._from())
        self.group_by = kit.key("group by") + kit.fields("group_by", kit.item_list(self._group_element()))
        self.having = kit.key("having") + kit.field("having", condition)
        self.order_by = kit.key("order by") + kit.fields("order_by", kit.item_list(self._order_item()))
        self.limit = kit.field("limit", self._limit())
        self.output = kit.field("output", self._output())
        self.delivery = kit.field("delivery", self._delivery())
        self.select_list = kit.key("select") + Opt(self._stream_selector()) + Opt(kit.value("distinct", True, "distinct")) + self.items
        self.body = self._select_body()
        self.subselect = self._subselect()
        expressions.select.define(self.subselect)

    def _stream_selector(self) -> ParserElement:
        """``istream`` and so on; ``istream()`` is a function."""
        kit = self.kit
        selector = kit.field("stream", kit.choice(STREAMS))
        return _Unless(kit.source, "istream", ("(", ")"), selector)

    def _select_item(self, bare_alias: bool) -> ParserElement:
        """Return an element of a select list; ``bare_alias``: its alias needs no ``as``, and it may be marked ``@eventbean``."""
        kit = self.kit
        bare = kit.ahead(_is_alias, kit.field("alias", kit.property_name), "an alias")
        alias = kit.key("as") + kit.field("alias", kit.property_name)
        marked = kit.key("@") + kit.field("annotation", kit.class_name)
        plain = kit.field("expression", self.expression) + (Opt(marked) + Opt(alias | bare) if bare_alias else Opt(alias))
        wildcard = kit.field("expression", kit.convert(lambda parts, span: S.Wildcard(span=span), kit.key("*")))
        stream = kit.field(
            "expression", kit.convert(lambda parts, span: S.StreamWildcard(parts[0], span=span), kit.property_name + kit.key(". *"))
        )
        stream = stream + Opt(kit.key("as") + kit.field("alias", kit.property_name))
        return kit.node(S.SelectItem, _SelectItem(kit.source, wildcard, stream, plain))

    def _views(self) -> tuple[ParserElement, ParserElement]:
        kit = self.kit
        arguments = kit.fields("arguments", Opt(self.expressions.parameters))
        qualified = kit.field("namespace", kit.name) + kit.key(":") + kit.field("name", kit.view_name)
        view = kit.node(
            S.View,
            (kit.ahead(lambda _, after: after.key == ":", qualified, "a data window") | kit.field("name", kit.view_name)) + arguments,
        )
        old = kit.node(S.View, qualified + arguments)
        hashed = kit.key("#") + view + ZeroOrMore(kit.key("#") + view)
        dotted = kit.key(".") + old + ZeroOrMore(kit.key(".") + old)
        return view, kit.fields("views", Opt(kit.dispatch({"#": hashed, ".": dotted})))

    def _contained(self) -> ParserElement:
        kit = self.kit
        items = kit.fields("items", kit.item_list(self._select_item(bare_alias=False)))
        select = Opt(kit.key("select") + items + kit.key("from"))
        typed = kit.word("type", "Invalid annotation for property selection, expected 'type' but found '{0}' in text '@{0}'")
        mark = Opt(kit.key("@") + typed + kit.key("(") + kit.field("type_name", kit.type_name) + kit.key(")"))
        alias = Opt(kit.key("as") + kit.field("alias", kit.name))
        inside = select + kit.field("expression", self.expression) + _Discard(kit.source, mark) + alias + Opt(self.where)
        return kit.node(S.Contained, kit.key("[") + inside + kit.key("]"))

    def _type_filter(self) -> ParserElement:
        kit = self.kit
        filters = Opt(kit.key("(") + kit.fields("filters", Opt(self.expressions.item_list)) + kit.key(")"))
        self.contained = self._contained()
        contained = kit.fields("contained", ZeroOrMore(self.contained))
        self.filtered = kit.field("type_name", kit.type_name) + filters
        tagged = _Discard(kit.source, kit.property_name + kit.key("=")) + self.filtered  # as in patterns; it names nothing here
        named = kit.ahead(lambda tag, after: after.key == "=" and tag.text[0] != "`", tagged, "an event type") | self.filtered
        return kit.node(S.TypeFilter, named + contained)

    def _assignment(self) -> ParserElement:
        kit = self.kit
        return _Assignment(kit.source, self.expressions)

    def _insert_clause(self) -> ParserElement:
        kit = self.kit
        precedence = kit.key("event-precedence (") + kit.field("precedence", self.expression) + kit.key(")")
        columns = kit.key("(") + kit.fields("columns", Opt(kit.item_list(kit.name))) + kit.key(")")
        self.precedence = precedence
        self.insert_columns = columns
        stream = Opt(kit.field("stream", kit.choice(STREAMS)))
        return kit.node(
            S.InsertInto, kit.key("insert") + stream + kit.key("into") + kit.field("target", kit.type_name) + Opt(columns) + Opt(precedence)
        )

    def _stream(self) -> ParserElement:
        kit = self.kit
        annotations = kit.fields("annotations", ZeroOrMore(self.annotation))
        method_arguments = Opt(kit.key("(") + kit.fields("arguments", Opt(self.expressions.item_list)) + kit.key(")"))
        method = kit.node(S.MethodSource, kit.key("method :") + kit.field("name", kit.type_name) + method_arguments + annotations)
        metadata = Opt(kit.key("metadatasql") + kit.field("metadata_query", kit.string))
        sql = kit.node(
            S.SqlSource,
            kit.key("sql :") + kit.field("database", kit.name) + kit.key("[") + kit.field("query", kit.string) + metadata + kit.key("]")
            + annotations,
        )
        by_word = kit.dispatch({"pattern": self.pattern_source, "sql": sql}, self.type_filter)
        source = kit.ahead(lambda token, after: token.key == "method" and after.key == ":", method, "method") | by_word
        source = recognition_source(kit, source)
        self.alias = kit.key("as") + kit.field("alias", kit.name) | kit.field("alias", kit.name)
        unidirectional = kit.value("unidirectional", True, "unidirectional")
        retain = kit.field("retain", kit.choice({"retain-union": "union", "retain-intersection": "intersection"}))
        self.retain = retain
        views = self.views + Opt(window_before_clause(kit))
        self.source_alias = self.alias + Opt(alias_before_clause(kit))
        return kit.node(S.Stream, kit.field("source", source) + views + Opt(self.source_alias) + Opt(unidirectional) + Opt(retain))

    def _from(self) -> ParserElement:
        kit = self.kit
        equal = kit.convert(lambda parts, span: tuple(parts), self.expressions.chain + kit.key("=") + self.expressions.chain)
        on = kit.key("on") + kit.fields("on", kit.item_list(equal, "and"))
        outer = kit.field("kind", kit.choice("left right full")) + kit.key("outer join")
        inner = Opt(kit.key("inner")) + kit.value("kind", "inner", "join")
        join = kit.dispatch({"left": outer, "right": outer, "full": outer, "inner": inner, "join": inner})
        joined = kit.convert(lambda parts, span: FieldValue("join", (parts, span)), join + kit.field("stream", self.stream) + Opt(on))
        comma = kit.convert(
            lambda parts, span: FieldValue("join", (parts, span)), kit.value("kind", "comma", ",") + kit.field("stream", self.stream)
        )
        return kit.convert(_from, self.stream + ZeroOrMore(kit.dispatch({",": comma}, joined)))

    def _group_element(self) -> ParserElement:
        kit = self.kit
        single = kit.convert(lambda parts, span: S.GroupElement("expression", tuple(parts), span=span), self.expression)
        combination = kit.convert(
            lambda parts, span: S.GroupElement("combination", parts[0].items, span=span), _RowOnly(kit.source, self.expression)
        )
        plain = kit.ahead(lambda token, _: token.key == "(" and is_row(kit.source, token.start), combination, "(") | single
        combined = kit.key("(") + kit.fields("items", kit.item_list(plain)) + kit.key(")")
        rollup = kit.node(S.GroupElement, kit.field("kind", kit.choice("rollup cube")) + combined)
        nested = kit.dispatch({"rollup": rollup, "cube": rollup}, plain)
        sets = kit.node(
            S.GroupElement,
            kit.key("grouping")
            + kit.value("kind", "grouping sets", "sets")
            + kit.key("(")
            + kit.fields("items", kit.item_list(nested))
            + kit.key(")"),
        )
        grouping_sets = kit.ahead(lambda _, after: after.key == "sets", sets, "grouping sets") | single
        return kit.dispatch({"rollup": rollup, "cube": rollup, "grouping": grouping_sets}, single)

    def _order_item(self) -> ParserElement:
        kit = self.kit
        return kit.node(
            S.OrderItem, kit.field("expression", self.expression) + Opt(kit.field("descending", kit.choice({"asc": False, "desc": True})))
        )

    def _limit(self) -> ParserElement:
        kit = self.kit
        amount = _LimitNumber(kit.source)

        def build(rows: S.Expression, span: Span, offset: S.Expression | None = None, second: S.Expression | None = None) -> S.Limit:
            if second is not None:
                return S.Limit(second, rows, True, span=span)
            return S.Limit(rows, offset, span=span)

        second = kit.key(",") + kit.field("second", amount) | kit.key("offset") + kit.field("offset", amount)
        return kit.node(build, kit.key("limit") + kit.field("rows", amount) + Opt(second))

    def _output(self) -> ParserElement:
        kit = self.kit
        timed = kit.field("rate", self.expressions.time_period) + kit.value("unit", "time", Nothing(kit.source))
        count = _LimitNumber(kit.source)
        events = kit.field("rate", count) + kit.value("unit", "events", "events")
        amount = kit.ahead(lambda token, after: _counts_events(kit.source, token, after), events, "events") | timed
        after_timed = kit.field("after", self.expressions.time_period) + kit.value("after_unit", "time", Nothing(kit.source))
        after_events = kit.field("after", count) + kit.value("after_unit", "events", "events")
        numbered = kit.ahead(
            lambda token, following: token.kind != "word" and _counts_events(kit.source, token, following), after_events, "events"
        )
        after = kit.key("after") + (numbered | after_timed)
        then = kit.key("then set")
        terminated = Opt(kit.key("and") + kit.field("condition", self.expression)) + Opt(then + kit.fields("assignments", self.assignments))
        when = (
            kit.value("kind", "when", kit.key("when"))
            + kit.field("condition", self.expression)
            + Opt(then + kit.fields("assignments", self.assignments))
        )
        kinds = kit.dispatch(
            {
                "every": kit.value("kind", "every", "every") + amount,
                "at": kit.value("kind", "at", "at") + kit.fields("crontab", self.expressions.crontab),
                "when": kit.ahead(
                    lambda _, following: following.key == "terminated",
                    kit.value("kind", "terminated", "when terminated") + terminated,
                    "when terminated",
                )
                | when,
            }
        )
        selector = Opt(kit.field("selector", kit.choice("all first last snapshot")))
        and_terminated = (
            kit.value("and_terminated", True, "and when terminated")
            + Opt(kit.key("and") + kit.field("terminated_condition", self.expression))
            + Opt(then + kit.fields("terminated_assignments", self.assignments))
        )

        def build(span: Span, **fields: Any) -> S.Output:
            return S.Output(**{"kind": "after", **fields}, span=span)

        return kit.node(build, kit.key("output") + Opt(after) + selector + Opt(kinds) + Opt(and_terminated))

    def _delivery(self) -> ParserElement:
        kit = self.kit
        keys = kit.key("(") + kit.fields("keys", Opt(self.expressions.item_list)) + kit.key(")")
        return kit.node(S.ForDelivery, kit.key("for") + kit.field("kind", kit.name) + Opt(keys))

    def _select_body(self) -> ParserElement:
        kit = self.kit
        match = Opt(kit.field("match_recognize", self.match_recognize))
        tail = Opt(self.where) + Opt(self.group_by) + Opt(self.having) + Opt(self.output) + Opt(self.order_by) + Opt(self.limit)
        return self.select_list + Opt(self.from_) + match + tail + Opt(self.delivery)

    def _subselect(self) -> ParserElement:
        """``select [distinct] … from one stream [where] [group by] [having]``."""
        kit = self.kit
        read = recognition_source(kit, self.type_filter)
        source = kit.node(S.Stream, kit.field("source", read) + self.views + Opt(self.source_alias) + Opt(self.retain))
        from_ = kit.key("from") + kit.field("from_", kit.convert(lambda parts, span: S.From(tuple(parts), span=span), source))
        head = kit.key("select") + Opt(kit.value("distinct", True, "distinct")) + self.items
        return kit.node(S.Select, head + from_ + Opt(self.where) + Opt(self.group_by) + Opt(self.having))


def _from(parts: list[Any], span: Span) -> S.From:
    streams, joins = [parts[0]], []
    for bound in parts[1:]:
        fields, join_span = bound.value
        values = dict(fields)
        streams.append(values.pop("stream"))
        joins.append(S.Join(**values, span=join_span))
    return S.From(tuple(streams), tuple(joins), span=span)


def annotation(kit: Kit) -> ParserElement:
    """Return the element of ``@Name``, ``@Name(value)``, ``@Name(a = 1, b = {…})``."""
    value = kit.reference()
    result = kit.reference()
    array = kit.convert(lambda parts, span: FieldValue("array", tuple(parts)), kit.key("{") + Opt(kit.item_list(value)) + kit.key("}"))
    value.define(_AnnotationValue(kit.source, array, result))
    pair = kit.convert(lambda parts, span: (parts[0], _plain(parts[1])), kit.property_name + kit.key("=") + value)
    single = kit.convert(lambda parts, span: ("value", _plain(parts[0])), value)
    inside = kit.ahead(lambda _, after: after.key == "=", kit.item_list(pair), "an attribute") | single
    values = kit.key("(") + kit.fields("values", Opt(inside)) + kit.key(")")
    result.define(kit.node(S.Annotation, kit.key("@") + kit.field("name", kit.type_name) + Opt(values)))
    return result


_CLAUSE_WORDS = frozenset({"where", "for"})
"""Words that begin a clause, and yet may be aliases."""


def _is_alias(token: Token, after: Token) -> bool:
    return token.key not in _CLAUSE_WORDS or after.key in (",", "from", "where") or after.kind == "end"


def _counts_events(source: SourceText, token: Token, after: Token) -> bool:
    """Return whether a number or name is next, then ``events``."""
    return after.key == "events" or (token.key in ("-", "+") and source.at[after.end].key == "events")


def _plain(value: object) -> object:
    if isinstance(value, FieldValue):
        assert isinstance(value.value, tuple)
        return tuple(_plain(item) for item in value.value)
    return value.value if isinstance(value, S.Literal) else value


class _AnnotationValue(Element):
    """A literal, an array, an annotation or a constant's name."""

    def __init__(self, source: SourceText, array: ParserElement, inner: ParserElement) -> None:
        super().__init__(source)
        self.array = array
        self.inner = inner
        self.constant = ConstantElement(source)
        self.kit = Kit(source)

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        if token.key == "{":
            return self.array._parse(instring, loc, do_actions)
        if token.key == "@":
            return self.inner._parse(instring, loc, do_actions)
        if token.kind in ("string", "integer", "float") or token.key in ("-", "+", "null", "true", "false"):
            return self.constant._parse(instring, loc, do_actions)
        end, tokens = self.kit.type_name._parse(instring, loc, do_actions)
        return end, [S.EnumConstant(tokens[0], span=Span(token.start, end))]


class _LimitNumber(Element):
    """A number or a variable's name."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source)
        self.constant = ConstantElement(source)

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        if token.kind in ("integer", "float") or token.key in ("-", "+"):
            return self.constant._parse(instring, loc, do_actions)
        if token.kind != "quoted" and (token.kind != "word" or token.key in RESERVED_FOR_NAMES):
            self.source.fail(loc, token, "a number", self)
        return token.end, [S.Chain((S.Name(read_name(token), span=token.span),), span=token.span)]


class _Condition(Element):
    """An expression as ``where`` and ``having`` take it: ``case`` is in parentheses there, as in Esper."""

    def __init__(self, expressions: Expressions) -> None:
        super().__init__(expressions.operators.source)
        self.operators = expressions.operators

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        token = self.source.at[loc]
        if token.key == "case":
            self.source.fail(loc, token, "a condition", self)
        return self.operators.parseImpl(instring, loc, do_actions)


class _Assignment(Element):
    """``target = value``, where the target is a chain, perhaps in parentheses; or an expression alone."""

    def __init__(self, source: SourceText, expressions: Expressions) -> None:
        super().__init__(source)
        self.operators = expressions.operators

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        start = at[loc].start
        if at[loc].key not in ("case", "not", "-", "+"):
            end, target = self.operators.parse_operand(loc)
            if at[end].key == "=" and isinstance(target, S.Chain):
                end, value = self.operators.expression(at[end].end)
                return end, [S.Assignment(target, value, span=Span(start, end))]
        end, bare = self.operators.expression(loc)
        if isinstance(bare, S.Comparison) and bare.operator == "=" and isinstance(bare.left, S.Chain):  # in parentheses
            return end, [S.Assignment(bare.left, bare.right, span=Span(start, end))]
        return end, [S.Assignment(bare, None, span=Span(start, end))]


class _RowOnly(Element):
    """``(a, b)`` or ``()`` as a Row."""

    def __init__(self, source: SourceText, expression: ParserElement) -> None:
        super().__init__(source)
        self.expression = expression

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        loc, parts = row(self.source, self.expression, loc)
        return loc, [parts]


class _Discard(Element):
    """Keeps only the bound fields of what the element yields."""

    def __init__(self, source: SourceText, element: ParserElement) -> None:
        super().__init__(source)
        self.element = element

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        loc, tokens = self.element._parse(instring, loc, do_actions)
        return loc, [token for token in tokens if isinstance(token, FieldValue)]


class _Unless(Element):
    """The element, unless the word is next, with these two tokens after it."""

    def __init__(self, source: SourceText, word: str, following: tuple[str, str], element: ParserElement) -> None:
        super().__init__(source)
        self.word, self.following, self.element = word, following, element

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        token = at[loc]
        if token.key == self.word and at[token.end].key == self.following[0] and at[at[token.end].end].key == self.following[1]:
            self.source.fail(loc, token, "an expression", self)
        return self.element._parse(instring, loc, do_actions)


class _SelectItem(Element):
    """``*``, ``s.*`` or an expression, distinguished by the next tokens."""

    def __init__(self, source: SourceText, wildcard: ParserElement, stream: ParserElement, plain: ParserElement) -> None:
        super().__init__(source)
        self.wildcard, self.stream, self.plain = wildcard, stream, plain

    def parseImpl(self, instring: str, loc: int, do_actions: bool = True) -> Parsed:
        at = self.source.at
        token = at[loc]
        if token.key == "*":
            return self.wildcard._parse(instring, loc, do_actions)
        if token.kind != "end" and at[token.end].key == "." and at[at[token.end].end].key == "*":
            return self.stream._parse(instring, loc, do_actions)
        return self.plain._parse(instring, loc, do_actions)
