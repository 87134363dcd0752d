"""Queries → plans."""
from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import NoReturn

from epl.dialects import plans, scopes
from epl.dialects import typed as y
from epl.dialects import types as k
from epl.dialects.aggregates import is_aggregate
from epl.dialects.errors import DialectError, DialectUnsupported
from epl.dialects.expression_types import Typing
from epl.dialects.flink import VALIDATION, FlinkClause
from epl.dialects.functions.rows import bind_index
from epl.dialects.grouping import GroupTyping, shape
from epl.dialects.plans import Plan, SqlOrderKey
from epl.dialects.recognition import ClauseAnalysis, pattern_start
from epl.dialects.scopes import Boundary, SqlColumn, SqlScope
from epl.dialects.syntax import tree as t
from epl.dialects.syntax.lexis import Dialect
from epl.dialects.syntax.read_patterns import CALCITE
from epl.dialects.syntax.read_queries import read_query
from epl.dialects.window_rules import WindowRules, refuse_in_clause
from epl.dialects.ydb import YdbClause

Catalog = Mapping[str, tuple[SqlColumn, ...]]
"""Table name → its columns."""
CLAUSES: dict[str, type[ClauseAnalysis]] = {"sql": ClauseAnalysis, "flink": FlinkClause, "alibaba": FlinkClause, "ydb": YdbClause}
"""Dialect → the rules of its clause."""


def compile_query(text: str, dialect: Dialect, catalog: Catalog, *, open_tables: bool = False) -> Plan:
    """Return the plan of a query; raises with the text's positions. ``open_tables``: tables that are not known have every column; what
    comes out can be looked at, not run."""
    try:
        return _compile_query(text, dialect, catalog, open_tables)
    except (DialectError, DialectUnsupported) as error:
        error.within(text)
        raise
    except RecursionError:
        raise DialectError("STACK_OVERFLOW", "statement is too large: it is nested too deeply", 0).within(text) from None


def _compile_query(text: str, dialect: Dialect, catalog: Catalog, open_tables: bool) -> Plan:
    analysis = QueryAnalysis(dialect, catalog)
    query = read_query(text, dialect)
    try:
        plan = analysis.query(query, {})
    except DialectUnsupported:
        if analysis.unknown is not None and not open_tables:
            raise analysis.unknown from None
        raise
    if analysis.unknown is not None and not open_tables:
        raise analysis.unknown
    return plan


class QueryAnalysis:
    """Analyses the queries of one text. A table that is not known is refused last, since what else is wrong says more."""

    def __init__(self, dialect: Dialect, catalog: Catalog) -> None:
        self.dialect = dialect
        self.catalog = {self._fold(name): (name, columns) for name, columns in catalog.items()}
        self.unknown: DialectError | DialectUnsupported | None = None
        self.named: dict[str, Plan] = {}
        self.outer: Boundary | None = None
        self.query_at = 0

    def _fold(self, name: str) -> str:
        return name.upper() if self.dialect.folds_case else name

    def plan_query(self, query: t.SqlQuery, boundary: Boundary) -> Plan:
        """Return the plan of a query that sees what is outside of the boundary."""
        before, self.outer = self.outer, boundary
        try:
            return self.query(query, self.named)
        finally:
            self.outer = before

    def scope(self, columns: tuple[SqlColumn, ...] = (), is_open: bool = False) -> SqlScope:
        """Return the scope of these columns, with what is around the query."""
        return SqlScope(columns, self.dialect, is_open, self.outer)

    def query(self, query: t.SqlQuery, named: dict[str, Plan]) -> Plan:
        """Return the plan of a query. ``named``: common table expressions around it."""
        before, at_before = self.named, self.query_at
        self.named, self.query_at = dict(named), query.at
        try:
            for each in query.withs:
                self._with(each, query.recursive)
            return self._plan_order(query)
        finally:
            self.named, self.query_at = before, at_before

    def _with(self, each: t.WithQuery, recursive: bool) -> None:
        name = self._fold(each.name.written)
        tables = [node.names[-1].written for node in t.descendants(each.query) if isinstance(node, t.TableName)]
        if recursive and name in map(self._fold, tables):
            for node in t.descendants(each.query):
                if isinstance(node, t.RecognitionClause) or (isinstance(node, t.WindowFrame) and node.pattern is not None):
                    message = "nested row pattern recognition in recursive query"
                    raise DialectError("NESTED_ROW_PATTERN_RECOGNITION", message, self._node_start(node))
            raise DialectUnsupported("recursive queries are not supported", each.at)
        plan = self.query(each.query, self.named)
        if each.columns:
            plan = self._rename_columns(plan, each.name, each.columns, each.at)
        self.named[name] = plan

    @staticmethod
    def _node_start(node: t.SqlNode) -> int:
        return pattern_start(node.pattern) if isinstance(node, t.WindowFrame) and node.pattern is not None else node.at

    def _plan_order(self, query: t.SqlQuery) -> Plan:
        body = query.body
        if isinstance(body, t.SqlSelect):
            return self._select(body, query)
        plan = self._body(body)
        order = tuple(self._output_key(item, plan) for item in query.order_by)
        if not order and query.limit is None and query.offset is None:
            return plan
        return plans.SetPlan(plan.columns, "all", True, plan, plan, order, query.offset, query.limit, query.ties, is_open=plan.is_open)

    def _output_key(self, item: t.SortItem, plan: Plan) -> SqlOrderKey:
        scope = self.scope(plan.columns, plan.is_open)
        if isinstance(item.key, t.Literal) and item.key.kind == "integer":
            return self._ordinal(item, len(plan.columns))
        typed = Typing(scope, self.plan_query).typed(item.key)
        return self._key(item, None, typed)

    def _ordinal(self, item: t.SortItem, count: int) -> SqlOrderKey:
        assert isinstance(item.key, t.Literal)
        place = int(item.key.value) - 1
        if not 0 <= place < count:
            raise DialectError("INVALID_COLUMN_REFERENCE", f"ORDER BY position {place + 1} is not in select list", item.key.at)
        return self._key(item, place, None)

    @staticmethod
    def _key(item: t.SortItem, place: int | None, typed: y.Typed | None) -> SqlOrderKey:
        return SqlOrderKey(place, typed, item.descending, bool(item.nulls_first))

    # bodies

    def _body(self, body: t.QueryBody) -> Plan:
        if isinstance(body, t.SqlSelect):
            return self._select(body, None)
        if isinstance(body, t.Nested):
            return self.query(body.query, self.named)
        if isinstance(body, t.Values):
            return self._values(body)
        assert isinstance(body, t.SetOperation)
        left, right = self._body(body.left), self._body(body.right)
        if len(left.columns) != len(right.columns):
            message = f"{body.kind.upper()} query has different number of fields: {len(left.columns)}, {len(right.columns)}"
            raise DialectError("TYPE_MISMATCH", message, body.at)
        columns = []
        for place, (mine, other) in enumerate(zip(left.columns, right.columns)):
            shared = k.common(mine.type, other.type)
            if shared is None:
                message = f"column {place + 1} in {body.kind.upper()} query has incompatible types: {mine.type}, {other.type}"
                raise DialectError("TYPE_MISMATCH", message, body.at)
            columns.append(SqlColumn(mine.name, shared))
        return plans.SetPlan(tuple(columns), body.kind, body.keeps_all, left, right)

    def _values(self, body: t.Values) -> Plan:
        typing = Typing(self.scope(), self.plan_query)
        if isinstance(body.rows[0], t.Call) and is_aggregate(body.rows[0].name, self.dialect.name):
            return self._plan_aggregate_values(body)
        rows = []
        for row in body.rows:
            items = row.items if isinstance(row, t.Tuple) else (row,)
            rows.append([typing.typed(item) for item in items])
            if len(rows[0]) != len(items):
                raise DialectError("TYPE_MISMATCH", f"Values rows have mismatched sizes: {len(rows[0])} vs {len(items)}", body.at)
        columns: list[SqlColumn] = []
        for place in range(len(rows[0])):
            listed = [row[place] for row in rows]
            columns.append(SqlColumn(None, self._common_type(listed, rows, body.at)))
        cast = [tuple(typing.convert_to_type(item, column.type) for item, column in zip(row, columns)) for row in rows]
        return plans.ValuesPlan(tuple(columns), tuple(cast))

    @staticmethod
    def _common_type(listed: list[y.Typed], rows: list[list[y.Typed]], at: int) -> k.SqlType:
        shared = k.UNKNOWN
        for each, row in zip(listed, rows):
            narrower = k.common(shared, each.type)
            if narrower is None:
                first, other = (f"row({', '.join(str(item.type) for item in items)})" for items in (rows[0], row))
                raise DialectError("TYPE_MISMATCH", f"Values rows have mismatched types: {first} vs {other}", at)
            shared = narrower
        return shared

    def _plan_aggregate_values(self, body: t.Values) -> Plan:
        """``values approx_set(1)``: an aggregate over no rows, which is of use for its type alone."""
        typing = GroupTyping(self.scope(), self.plan_query, [])
        typed = typing.typed(body.rows[0])
        return plans.SqlSelectPlan(
            (SqlColumn(None, typed.type),), None, None, (), tuple(typing.aggregates), None, (typed,), False
        )

    # select

    def _select(self, select: t.SqlSelect, query: t.SqlQuery | None) -> Plan:
        source = None if select.relation is None else self.relation(select.relation)
        scope = self.scope(() if source is None else source.columns, source is not None and source.is_open)
        name = self.dialect.name
        refuse_in_clause(select.where, "WHERE", name)
        for key in select.group_by:
            refuse_in_clause(key, "GROUP BY", name)
        order_by = () if query is None else query.order_by
        WindowRules(select, scope, self.plan_query).refuse(order_by)
        rows = Typing(scope, self.plan_query)
        words = "WHERE clause must evaluate to a boolean: actual type %s"
        if name in CALCITE:
            words = f"{VALIDATION}WHERE clause must be a condition%.0s"
        where = None if select.where is None else rows.condition(select.where, words)
        typing, keys = self._grouping(select, rows, order_by)
        typed, columns = self._projections(select, typing, scope)
        having = None
        if select.having is not None:
            having = typing.condition(select.having, "HAVING clause must evaluate to a boolean: actual type %s")
        order = tuple(self._select_key(item, select, typing, columns) for item in order_by)
        if order_by and self.dialect.streaming and self.dialect.name in CALCITE and query is not None and query.limit is None:
            self._check_sorted_by_time(order_by[0], columns)
        grouped = isinstance(typing, GroupTyping)
        aggregates = tuple(typing.aggregates) if isinstance(typing, GroupTyping) else ()
        return plans.SqlSelectPlan(
            tuple(columns), source, where, tuple(keys) if grouped else None, aggregates, having, tuple(typed), select.distinct, order,
            None if query is None else query.offset, None if query is None else query.limit, query is not None and query.ties,
            typing.sets if isinstance(typing, GroupTyping) and typing.marker is not None else None,
        )  # fmt: skip

    def _check_sorted_by_time(self, item: t.SortItem, columns: list[SqlColumn]) -> None:
        """Refuse to sort a stream by anything but its time, as Flink does."""
        name = scopes.split_column(item.key)[1] if isinstance(item.key, t.Name | t.Path) else None
        if not any(column.name == name and column.is_time for column in columns):
            raise DialectError("TABLE_EXCEPTION", "TableException: Sort on a non-time-attribute field is not supported.", item.at)

    def _grouping(self, select: t.SqlSelect, rows: Typing, order_by: tuple[t.SortItem, ...]) -> tuple[Typing, list[y.Typed]]:
        """Return how the projections are typed, and the keys."""
        expressions = [item.expression for item in select.items if item.expression is not None]
        used = [*expressions, *([select.having] if select.having is not None else []), *(item.key for item in order_by)]
        aggregated = any(self._has_aggregate(each) for each in used)
        if not select.grouped and not aggregated and select.having is None:
            return rows, []
        keys = []
        for key in select.group_by:
            if isinstance(key, t.Tuple) and not key.items:
                continue
            if isinstance(key, t.Literal) and key.kind == "integer":
                key = self._select_item(key, select)
            keys.append((key, self._group_key(key, rows)))
        if select.sets is None:
            return GroupTyping(rows.scope, self.plan_query, keys), [typed for _, typed in keys]
        numbers = {shape(key): place for place, key in enumerate(select.group_by)}
        marker = t.Name(select.at, "$set", True, "$set")
        typing = GroupTyping(rows.scope, self.plan_query, [*keys, (marker, y.ConstantValue(k.INTEGER, 0))])
        typing.marker = len(keys)
        typing.sets = tuple(tuple(numbers[shape(key)] for key in each) for each in select.sets)
        return typing, [typed for _, typed in typing.keys]

    def _select_item(self, key: t.Literal, select: t.SqlSelect) -> t.SqlExpression:
        place = int(key.value) - 1
        expression = select.items[place].expression if 0 <= place < len(select.items) else None
        if expression is None:
            raise DialectError("INVALID_COLUMN_REFERENCE", f"GROUP BY position {key.value} is not in select list", key.at)
        return expression

    def _group_key(self, key: t.SqlExpression, rows: Typing) -> y.Typed:
        if isinstance(key, t.Call) and key.name == "tumble" and self.dialect.name in ("flink", "alibaba"):
            return tumble(key, rows)
        typed = rows.typed(key)
        if not k.is_comparable(typed.type):
            raise DialectError("TYPE_MISMATCH", f"{typed.type} is not comparable, and therefore cannot be used in GROUP BY", key.at)
        return typed

    def _has_aggregate(self, node: t.SqlNode) -> bool:
        if isinstance(node, t.SqlQuery):
            return False
        if isinstance(node, t.Call) and node.over is None and is_aggregate(node.name, self.dialect.name):
            return True
        return any(self._has_aggregate(child) for child in t.children(node))

    def _projections(self, select: t.SqlSelect, typing: Typing, scope: SqlScope) -> tuple[list[y.Typed], list[SqlColumn]]:
        typed: list[y.Typed] = []
        columns: list[SqlColumn] = []
        for item in select.items:
            if item.expression is None and select.relation is None and item.of is None:
                raise DialectError("COLUMN_NOT_FOUND", "SELECT * not allowed in queries without FROM clause", item.at)
            if item.expression is None and isinstance(item.of, t.Name | None):
                self._star(item, typing, scope, typed, columns)
                continue
            if item.expression is None:
                assert item.of is not None
                self._fields(typing.typed(item.of), item, typed, columns)
                continue
            value = typing.typed(item.expression)
            typed.append(value)
            columns.append(SqlColumn(self._item_name(item, len(columns)), value.type, None, self._is_time(item, value, scope)))
        return typed, columns

    def _is_time(self, item: t.SelectOutput, value: y.Typed, scope: SqlScope) -> bool:
        if isinstance(item.expression, t.Call) and item.expression.name == "tumble_rowtime":
            return True
        return isinstance(value, y.ColumnValue) and value.index < len(scope.columns) and scope.columns[value.index].is_time

    @staticmethod
    def _fields(row: y.Typed, item: t.SelectOutput, typed: list[y.Typed], columns: list[SqlColumn]) -> None:
        """``row.*``: its fields."""
        if row.type.name != "row":
            raise DialectError("TYPE_MISMATCH", "expected expression of type Row", item.at)
        names = row.type.fields or (None,) * len(row.type.arguments)
        for place, name in enumerate(names):
            field = bind_index(row, y.ConstantValue(k.INTEGER, place + 1), item.at)
            typed.append(field)
            columns.append(SqlColumn(name, field.type))

    def _star(self, item: t.SelectOutput, typing: Typing, scope: SqlScope, typed: list[y.Typed], columns: list[SqlColumn]) -> None:
        relation = item.of.written if isinstance(item.of, t.Name) else None
        places = [
            place for place, column in enumerate(scope.columns)
            if relation is None or (column.relation is not None and self._fold(column.relation) == self._fold(relation))
        ]  # fmt: skip
        if relation is not None and not places and not scope.is_open:
            raise DialectError("TABLE_NOT_FOUND", f"Unable to resolve reference {relation}", item.at)
        for place in places:
            column = scope.columns[place]
            if isinstance(typing, GroupTyping):
                value = typing.star_column(column, item.at)
            else:
                value = y.ColumnValue(column.type, place)
            typed.append(value)
            columns.append(SqlColumn(column.name, column.type, None, column.is_time))

    def _item_name(self, item: t.SelectOutput, place: int) -> str | None:
        if item.alias is not None:
            return item.alias.written
        if isinstance(item.expression, t.Name):
            return item.expression.written
        return item.expression.field.written if isinstance(item.expression, t.Path) else None

    def _select_key(self, item: t.SortItem, select: t.SqlSelect, typing: Typing, columns: list[SqlColumn]) -> SqlOrderKey:
        key = item.key
        if isinstance(key, t.Literal) and key.kind == "integer":
            return self._ordinal(item, len(columns))
        if isinstance(key, t.Name):
            places = [place for place, column in enumerate(columns) if column.name and self._fold(column.name) == self._fold(key.written)]
            if places:
                return self._key(item, places[0], None)
        typed = typing.typed(key)
        if not k.is_orderable(typed.type):
            message = f"Type {typed.type} is not orderable, and therefore cannot be used in ORDER BY: {key}"
            raise DialectError("TYPE_MISMATCH", message, key.at)
        if select.distinct:
            message = "For SELECT DISTINCT, ORDER BY expressions must appear in select list"
            raise DialectError("EXPRESSION_NOT_IN_DISTINCT", message, select.at)
        return self._key(item, None, typed)

    # relations

    def relation(self, relation: t.Relation) -> Plan:
        """Return the plan of what stands in a from clause."""
        match relation:
            case t.TableName():
                return self._table(relation)
            case t.DerivedTable():
                return self.query(relation.query, self.named)
            case t.Unnest():
                return self._unnest(relation)
            case t.Aliased():
                if relation.columns and self.dialect.name in CALCITE and isinstance(relation.relation, t.RecognitionClause):
                    message = f"{VALIDATION}Duplicate relation name '{relation.alias.written}' in FROM clause"
                    raise DialectError("VALIDATION", message, relation.at)
                inner = self.relation(relation.relation)
                return self._rename_columns(inner, relation.alias, relation.columns, relation.at)
            case t.JoinedRelation():
                return self._join(relation)
            case t.RecognitionClause():
                return self._recognition(relation)
            case t.TableFunction():
                if self.unknown is None:
                    self.unknown = DialectUnsupported("table functions are not supported", relation.at)
                return plans.UnknownPlan((), relation.call.name, is_open=True)
            case _:
                return self._refuse_sample(relation)

    def _unnest(self, relation: t.Unnest) -> Plan:
        typing = Typing(self.scope(), self.plan_query)
        arrays = tuple(typing.typed(each) for each in relation.arrays)
        columns: list[SqlColumn] = []
        for each, node in zip(arrays, relation.arrays):
            if each.type.name not in ("array", "map"):
                raise DialectError("TYPE_MISMATCH", f"Cannot unnest type: {each.type}", node.at)
            for kind in each.type.arguments:
                assert isinstance(kind, k.SqlType)
                is_row = each.type.name == "array" and kind.name == "row"
                names = kind.fields or (None,) * len(kind.arguments)
                parts = [(n, a) for n, a in zip(names, kind.arguments) if isinstance(a, k.SqlType)] if is_row else [(None, kind)]
                columns.extend(SqlColumn(name, part) for name, part in parts)
        if relation.is_numbered:
            columns.append(SqlColumn(None, k.BIGINT))
        return plans.UnnestPlan(tuple(columns), arrays, relation.is_numbered)

    def _refuse_sample(self, relation: t.Relation) -> NoReturn:
        assert isinstance(relation, t.Sampled)
        self.relation(relation.relation)
        raise DialectUnsupported("TABLESAMPLE is not supported", relation.at)

    def _table(self, relation: t.TableName) -> Plan:
        name = relation.names[-1]
        if len(relation.names) == 1 and self._fold(name.written) in self.named:
            plan = self.named[self._fold(name.written)]
            return plans.RenamedPlan(self._of(plan.columns, name.written), plan, is_open=plan.is_open)
        known = self.catalog.get(self._fold(name.written))
        if known is not None:
            return plans.SqlTablePlan(self._of(known[1], name.written), known[0])
        if self.unknown is None:
            written = ".".join(each.written for each in relation.names)
            self.unknown = self._no_table(written, relation.at)
        return plans.UnknownPlan((), name.written, is_open=True)

    def _no_table(self, written: str, at: int) -> DialectError:
        hint = f"known tables: {', '.join(sorted(name for name, _ in self.catalog.values())) or 'none'}"
        if self.dialect.name in ("flink", "alibaba"):
            return DialectError("TABLE_NOT_FOUND", f"SqlValidatorException: Object '{written}' not found", at, hint=hint)
        return DialectError("TABLE_NOT_FOUND", f"Table '{written.lower()}' does not exist", at, hint=hint)

    @staticmethod
    def _of(columns: tuple[SqlColumn, ...], relation: str) -> tuple[SqlColumn, ...]:
        return tuple(SqlColumn(column.name, column.type, relation, column.is_time) for column in columns)

    def _rename_columns(self, inner: Plan, alias: t.Name, names: tuple[t.Name, ...], at: int) -> Plan:
        columns = inner.columns
        if names and inner.is_open:
            return plans.RenamedPlan(tuple(SqlColumn(name.written, k.ANY, alias.written) for name in names), inner)
        if names:
            if len(names) != len(columns):
                message = (
                    f"Column alias list has {len(names)} entries but '{alias.written}' has {len(columns)} columns available"
                )
                raise DialectError("MISMATCHED_COLUMN_ALIASES", message, at)
            columns = tuple(SqlColumn(name.written, column.type, None, column.is_time) for name, column in zip(names, columns))
        return plans.RenamedPlan(self._of(columns, alias.written), inner, is_open=inner.is_open)

    def _join(self, join: t.JoinedRelation) -> Plan:
        left = self.relation(join.left)
        right, is_lateral = self._right_side(join, left)
        columns = (*left.columns, *right.columns)
        is_open = left.is_open or right.is_open
        if join.using:
            return self._using(join, left, right)
        condition = None
        if join.on is not None:
            refuse_in_clause(join.on, "JOIN", self.dialect.name)
            typing = Typing(self.scope(columns, is_open), self.plan_query)
            condition = typing.condition(join.on, "JOIN ON clause must evaluate to a boolean: actual type %s")
        return plans.SqlJoinPlan(columns, join.kind, left, right, condition, is_lateral, is_open=is_open)

    def _right_side(self, join: t.JoinedRelation, left: Plan) -> tuple[Plan, bool]:
        """Return the plan of the right side, and whether it refers to the rows of the left one."""
        inner = join.right.relation if isinstance(join.right, t.Aliased) else join.right
        if not isinstance(inner, t.Unnest) and not (isinstance(inner, t.DerivedTable) and inner.lateral):
            return self.relation(join.right), False
        boundary = Boundary(self.scope(left.columns, left.is_open))
        before, self.outer = self.outer, boundary
        try:
            right = self.relation(join.right)
        finally:
            self.outer = before
        if boundary.crossings and join.kind in ("right", "full"):
            raise DialectError("INVALID_COLUMN_REFERENCE", "LATERAL reference not allowed in " + join.kind.upper() + " JOIN", inner.at)
        return right, boundary.crossings > 0

    def _using(self, join: t.JoinedRelation, left: Plan, right: Plan) -> Plan:
        """``using (a)``: the shared columns once, then the others of both sides."""
        shift = len(left.columns)
        columns = (*left.columns, *right.columns)
        scopes = (self.scope(left.columns, left.is_open), self.scope(right.columns, right.is_open))
        typing = Typing(self.scope(columns), self.plan_query)
        equal: list[y.Typed] = []
        shared: list[tuple[SqlColumn, y.Typed]] = []
        used: set[int] = set()
        for name in join.using:
            places = []
            for side, scope in zip(("left", "right"), scopes):
                if not scope.has(name):
                    message = f"Column '{name.written}' is missing from {side} side of join"
                    raise DialectError("COLUMN_NOT_FOUND", message, name.at)
                place = scope.place(name)
                assert place is not None
                places.append(place)
            mine, other = y.ColumnValue(columns[places[0]].type, places[0]), y.ColumnValue(columns[places[1] + shift].type,
                places[1] + shift)
            equal.append(typing.type_comparison("=", mine, other, name.at))
            kind = k.common(mine.type, other.type) or mine.type
            used |= {mine.index, other.index}
            shared.append((SqlColumn(name.written, kind), y.Coalesced(kind, (mine, other))))
        condition = equal[0] if len(equal) == 1 else y.Junction(k.BOOLEAN, tuple(equal), True)
        join_plan = plans.SqlJoinPlan(columns, join.kind, left, right, condition)
        rest = [(column, y.ColumnValue(column.type, place)) for place, column in enumerate(columns) if place not in used]
        shown: list[tuple[SqlColumn, y.Typed]] = [*shared, *rest]
        return plans.SqlSelectPlan(
            tuple(column for column, _ in shown), join_plan, None, None, (), None, tuple(typed for _, typed in shown), False
        )

    def _recognition(self, clause: t.RecognitionClause) -> Plan:
        boundary, before = self.outer, 0 if self.outer is None else self.outer.crossings
        source = self.relation(clause.input)
        if boundary is not None and boundary.crossings > before:
            raise DialectError("NOT_SUPPORTED", "Given correlated subquery is not supported", self.query_at)
        outer = None if boundary is None else Boundary(boundary.scope, is_closed=True)
        return CLAUSES[self.dialect.name](clause, source, self.dialect, self.plan_query, outer).plan()


def tumble(key: t.Call, rows: Typing) -> y.Typed:
    """Return the window of time that a row is in: its start, its end, its last millisecond."""
    if len(key.arguments) != 2:
        raise DialectError("INVALID_FUNCTION_ARGUMENT", "TUMBLE needs a time and an interval", key.at)
    time, size = rows.typed(key.arguments[0]), rows.typed(key.arguments[1])
    if time.type.name not in ("timestamp", "any") or not isinstance(size, y.ConstantValue) or not isinstance(size.value,
        datetime.timedelta):
        raise DialectError("INVALID_FUNCTION_ARGUMENT", "TUMBLE needs a time and an interval", key.at)
    width = size.value
    epoch = datetime.datetime(1970, 1, 1)
    millisecond = datetime.timedelta(milliseconds=1)

    def window(moment: datetime.datetime) -> tuple[datetime.datetime, ...]:
        start = epoch + (moment - epoch) // width * width
        return start, start + width, start + width - millisecond

    return y.Apply(k.ANY, window, (time,))


__all__ = ["CLAUSES", "Catalog", "QueryAnalysis", "compile_query", "tumble"]
