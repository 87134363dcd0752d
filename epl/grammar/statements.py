"""Statements: what is between two semicolons of a module."""

from __future__ import annotations

from typing import Any

from pyparsing import Opt, ParserElement, ZeroOrMore

from epl import syntax as S
from epl.grammar.chains import is_row
from epl.grammar.clauses import Clauses
from epl.grammar.contexts import ContextGrammar
from epl.grammar.declarations import Declarations
from epl.grammar.elements import ClassText, ConstantElement, Kit, Nothing
from epl.grammar.event_patterns import event_pattern, pattern_source
from epl.grammar.expressions import Expressions
from epl.grammar.lexis import Token
from epl.grammar.row_patterns import match_recognize
from epl.grammar.triggers import Triggers
from epl.spans import Span

CONSTANTS = ("null", "true", "false", "-", "+")
"""How constants begin that are not strings or numbers without sign."""
NOT_UNIQUE = "Invalid keyword '{}' in create-index encountered, expected 'unique'"
NOT_CONSTANT = "Expected 'constant' or 'const' keyword after create for create-variable syntax but encountered '{}'"


class Statements:
    """The grammar of statements: ``statement``, continuous or fire-and-forget, and ``expression`` alone."""

    def __init__(self, kit: Kit) -> None:
        self.kit = kit
        expressions = Expressions(kit)
        self.expression: ParserElement = expressions.expression
        self.clauses = clauses = Clauses(kit, expressions)
        pattern = event_pattern(kit, clauses)
        clauses.pattern_source.define(pattern_source(kit, clauses, pattern))
        clauses.match_recognize.define(match_recognize(kit, clauses))
        self.declarations = Declarations(kit, clauses)
        triggers = Triggers(kit, clauses, pattern)
        self.create = self._create(pattern)
        self.select = self._select()
        update = kit.node(
            S.UpdateIstream, kit.key("update istream") + kit.field("type_name", kit.type_name) + Opt(clauses.alias) + self._set_where()
        )
        changes = self._faf_changes()
        changing = kit.ahead(lambda _, after: after.key == "istream", update, "update istream") | changes["update"]
        bodies = {
            "select": self.select,
            "insert": self._insert_values(),
            "into": self.select,
            "create": self.create,
            "on": triggers.statement,
            "update": changing,
            "delete": changes["delete"],
        }
        self.statement = self._statement(kit.dispatch(bodies))

    def _set_where(self) -> ParserElement:
        return self.kit.key("set") + self.kit.fields("assignments", self.clauses.assignments) + Opt(self.clauses.where)

    def _statement(self, body: ParserElement) -> ParserElement:
        """Annotations and declarations in any order, then the context, in front of a body."""
        kit, declarations = self.kit, self.declarations
        class_text = kit.fields("classes", kit.key("inlined_class") + ClassText(kit.source))
        declared = kit.fields("declarations", declarations.expression)
        context = kit.field("context", kit.key("context") + kit.name)
        annotated = kit.fields("annotations", self.clauses.annotation)
        head = kit.dispatch({"@": annotated, "expression": declared, "inlined_class": class_text})

        def build(parts: list[Any], span: Span) -> S.Statement:
            merged: dict[str, Any] = {}
            for field, value in parts:
                merged[field] = (*merged.get(field, ()), *value) if isinstance(value, tuple) else value
            return S.Statement(**merged, text=kit.source.tokens.text[span.start : span.end], span=span)

        return kit.convert(build, ZeroOrMore(head) + Opt(context) + kit.field("body", body))

    def _select(self) -> ParserElement:
        kit, clauses = self.kit, self.clauses
        into_table = kit.key("into table") + kit.field("into_table", kit.name)
        return kit.node(S.Select, Opt(into_table) + Opt(kit.field("insert_into", clauses.insert_into)) + clauses.body)

    # -------------------------------------------------------------- create

    def _create(self, pattern: ParserElement) -> ParserElement:
        kit = self.kit
        declarations = self.declarations
        create_expression = kit.node(S.CreateExpression, kit.field("declaration", declarations.expression))
        create_class = kit.node(S.CreateClass, kit.key("inlined_class") + kit.field("source", ClassText(kit.source)))
        schema = self._schema()
        declarations.schema.define(schema)
        index = self._index()
        variable = self._variable()
        choices = {
            "window": self._window(),
            "table": self._table(),
            "index": index,
            "unique": index,
            "variable": variable,
            "constant": variable,
            "const": variable,
            "context": ContextGrammar(kit, self.clauses, pattern).statement,
            "expression": create_expression,
            "inlined_class": create_class,
            "dataflow": declarations.dataflow,
        }
        misnamed = kit.ahead(lambda _, after: after.key == "index", self._index(kit.word("unique", NOT_UNIQUE)), "index") | kit.ahead(
            lambda _, after: after.key == "variable", self._variable(kit.word("constant", NOT_CONSTANT)), "variable")
        return kit.key("create") + kit.dispatch(choices, misnamed | schema)

    def _columns(self) -> ParserElement:
        kit = self.kit
        null = kit.convert(lambda parts, span: S.TypeName("null", span=span), kit.key("null"))
        column = kit.node(
            S.Column,
            kit.field("name", kit.type_name) + kit.field("type_name", kit.dispatch({"null": null}, self.clauses.expressions.type_name)),
        )
        return kit.key("(") + kit.fields("columns", Opt(kit.item_list(column))) + kit.key(")")

    def _schema(self) -> ParserElement:
        kit = self.kit
        representation = kit.field("representation", kit.convert(self._representation, kit.name))
        variant = kit.value("variant", True, "variant")
        star = kit.convert(lambda parts, span: S.TypeName("*", span=span), kit.key("*"))
        names = kit.item_list(kit.dispatch({"*": star}, self.clauses.expressions.type_name), onward=self._names_type)
        classes = kit.fields("types", names)
        columns = self._columns()
        body = Opt(kit.key("as")) + kit.dispatch({"(": columns}, classes)
        qualifier = kit.convert(
            lambda parts, span: (parts[0].lower(), tuple(parts[1:]), span), kit.name + kit.item_list(kit.name, onward=self._names_type)
        )

        def build(span: Span, qualifiers: tuple[Any, ...] = (), **fields: Any) -> S.CreateSchema:
            for name, values, at in qualifiers:
                self._qualify(name, values, at, fields)
            return S.CreateSchema(**fields, span=span)

        head = (
            kit.dispatch({"schema": Nothing(kit.source), "variant": variant}, representation)
            + kit.key("schema")
            + kit.field("name", kit.name)
        )
        return kit.node(build, head + body + kit.fields("qualifiers", ZeroOrMore(qualifier)))

    def _names_type(self, token: Token, after: Token) -> bool:
        """Return whether a comma in a schema is followed by one more name, and not by the first operator of a dataflow."""
        at = self.kit.source.at
        if token.key in ("create", "@", "select"):
            return False
        while after.key == "." and at[after.end].kind != "end":
            after = at[at[after.end].end]
        return after.key not in ("(", "->", "{")

    def _representation(self, parts: list[str], span: Span) -> str:
        name = parts[0].lower()
        if name not in ("map", "objectarray", "json", "xml", "avro"):
            message = "Expected 'variant', 'map', 'json', 'xml', 'avro' or 'objectarray' keyword after create-schema clause"
            self.kit.source.refuse(f"{message} but encountered '{parts[0]}'", span)
        return name

    def _qualify(self, name: str, values: tuple[str, ...], span: Span, fields: dict[str, Any]) -> None:
        field = {"inherits": "inherits", "copyfrom": "copy_from", "starttimestamp": "start_timestamp", "endtimestamp": "end_timestamp"}.get(
            name
        )
        if field is None:
            message = "Expected 'inherits', 'starttimestamp', 'endtimestamp' or 'copyfrom' keyword after create-schema clause"
            self.kit.source.refuse(f"{message} but encountered '{name}'", span)
            return
        fields[field] = values if field in ("inherits", "copy_from") else values[0]

    def _window(self) -> ParserElement:
        kit, clauses = self.kit, self.clauses
        wildcard = kit.convert(lambda parts, span: S.Wildcard(span=span), kit.key("*"))
        alias = kit.key("as") + kit.field("alias", kit.name)
        constant = kit.field("expression", ConstantElement(kit.source)) + alias
        column = kit.ahead(
            lambda token, _: token.kind in ("string", "integer", "float") or token.text.lower() in CONSTANTS,
            constant, "a constant"
        ) | kit.field("expression", clauses.expressions.chain) + Opt(alias)
        item = kit.node(S.SelectItem, kit.dispatch({"*": kit.field("expression", wildcard)}, column))
        selected = kit.key("select") + kit.fields("items", kit.item_list(item)) + kit.key("from")
        modelled = Opt(selected) + kit.field("from_type", kit.type_name)
        insert = kit.value("insert", True, "insert") + Opt(kit.key("where") + kit.field("insert_where", clauses.expression))
        body = Opt(kit.key("as")) + kit.dispatch({"(": self._columns()}, modelled)
        name = kit.field("name", kit.name)
        return kit.node(S.CreateWindow, kit.key("window") + name + clauses.views + Opt(clauses.retain) + body + Opt(insert))

    def _table(self) -> ParserElement:
        kit, clauses = self.kit, self.clauses
        call = kit.ahead(lambda token, _: _is_call(kit, token), kit.field("expression", clauses.expressions.chain), "an aggregation")
        typed = kit.field("type_name", clauses.expressions.type_name)
        key = Opt(kit.value("primary_key", True, kit.convert(self._primary_key, kit.name + Opt(kit.name))))
        marks = Opt(kit.fields("annotations", clauses.annotation + ZeroOrMore(clauses.annotation)))
        column = kit.node(S.Column, kit.field("name", kit.name) + (call | typed) + key + marks)
        columns = kit.key("(") + kit.fields("columns", kit.item_list(column)) + kit.key(")")
        return kit.node(S.CreateTable, kit.key("table") + kit.field("name", kit.name) + Opt(kit.key("as")) + columns)

    def _primary_key(self, parts: list[str], span: Span) -> bool:
        for word, expected in zip([*parts, ""], ("primary", "key"), strict=False):
            if word.lower() != expected:
                self.kit.source.refuse(f"Invalid keyword '{word or parts[0]}' encountered, expected 'primary key'", span)
                break
        return True

    def _index(self, word: ParserElement | str = "unique") -> ParserElement:
        """``[unique] index …``; ``word`` reads what is in front of ``index``."""
        kit, clauses = self.kit, self.clauses
        plain = kit.fields("expressions", clauses.expression)
        several = kit.key("(") + kit.fields("expressions", Opt(clauses.expressions.item_list)) + kit.key(")")
        kind = Opt(
            kit.field("kind", kit.name) + Opt(kit.key("(") + kit.fields("arguments", Opt(clauses.expressions.item_list)) + kit.key(")"))
        )
        unique = Opt(kit.value("unique", True, word))
        column = kit.node(
            S.IndexColumn, (kit.ahead(lambda token, _: token.key == "(" and is_row(kit.source, token.start), several, "(") | plain) + kind
        )
        head = unique + kit.key("index") + kit.field("name", kit.name) + kit.key("on") + kit.field("target", kit.name)
        return kit.node(S.CreateIndex, head + kit.key("(") + kit.fields("columns", kit.item_list(column)) + kit.key(")"))

    def _variable(self, word: ParserElement | None = None) -> ParserElement:
        """``[constant] variable …``; ``word`` reads what is in front of ``variable``."""
        kit = self.kit
        value = Opt(kit.key("=") + kit.field("value", self.expression))
        constant = Opt(kit.value("constant", True, word or kit.choice("constant const")))
        typed = kit.field("type_name", self.clauses.expressions.type_name)
        return kit.node(S.CreateVariable, constant + kit.key("variable") + typed + kit.field("name", kit.name) + value)

    # -------------------------------------------------------------- fire-and-forget

    def _insert_values(self) -> ParserElement:
        kit, clauses = self.kit, self.clauses
        row = kit.convert(lambda parts, span: tuple(parts), kit.key("(") + clauses.expressions.item_list + kit.key(")"))
        values = kit.key("values") + kit.fields("rows", kit.item_list(row))

        def build(span: Span, rows: tuple[Any, ...] | None = None, **fields: Any) -> S.Body:
            return S.Select(**fields, span=span) if rows is None else S.InsertValues(fields["insert_into"], rows, span=span)

        return kit.node(build, kit.field("insert_into", clauses.insert_into) + kit.dispatch({"values": values}, clauses.body))

    def _faf_changes(self) -> dict[str, ParserElement]:
        kit, clauses = self.kit, self.clauses
        target = kit.field("target", kit.type_name) + Opt(clauses.alias)
        update = kit.node(S.FafUpdate, kit.key("update") + target + self._set_where())
        delete = kit.node(S.FafDelete, kit.key("delete from") + target + Opt(clauses.where))
        return {"update": update, "delete": delete}


def _is_call(kit: Kit, token: Token) -> bool:
    """Return whether a dotted name with an opening bracket after it is next."""
    at = kit.source.at
    while token.kind in ("word", "quoted") and at[token.end].key == ".":
        token = at[at[token.end].end]
    return token.kind in ("word", "quoted") and at[token.end].key == "("
