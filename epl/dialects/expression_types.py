"""Expressions → typed expressions, with the words of Trino where types do not fit."""
from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

import attrs

from epl.dialects import hints, scopes
from epl.dialects import typed as y
from epl.dialects import types as k
from epl.dialects import values as v
from epl.dialects.aggregates import AGGREGATES, is_aggregate
from epl.dialects.calcite import calcite, family
from epl.dialects.errors import DialectError, DialectUnsupported
from epl.dialects.functions import lambdas, rows
from epl.dialects.functions.arrays import subscript
from epl.dialects.functions.registry import SCALARS, find_scalar
from epl.dialects.functions.signatures import ELSEWHERE, describe_signatures
from epl.dialects.syntax import tree as t
from epl.dialects.types import SqlType
from epl.functions.like import like_pattern

SpanOfUnit = {"SECOND": 1.0, "MINUTE": 60.0, "HOUR": 3600.0, "DAY": 86400.0, "WEEK": 604800.0}
IN_PATTERNS = ("match_rowtime", "match_proctime", "first", "last", "prev", "next")
"""Flink's functions of the clause."""
PlanQuery = Callable[[t.SqlQuery, scopes.Boundary], Any]
"""Query and what it sees outside → plan with ``columns``."""


class Typing:
    """Types expressions over the columns of a scope."""

    clause = "expression"

    def __init__(self, scope: scopes.SqlScope, plan_query: PlanQuery) -> None:
        self.scope = scope
        self.dialect = scope.dialect.name
        self.plan_query = plan_query
        self.parameters: dict[str, y.LambdaParameter] = {}

    def typed(self, node: t.SqlExpression) -> y.Typed:
        """Return the typed expression."""
        method = getattr(self, "_" + type(node).__name__.lower())
        result = method(node)
        assert isinstance(result, y.Typed)
        return attrs.evolve(result, at=node.at) if isinstance(result, (y.Apply, y.QueryValue)) and result.at is None else result

    def condition(self, node: t.SqlExpression, message: str) -> y.Typed:
        """Return a typed condition; ``message`` has a place for the type that is not a boolean."""
        typed = self.typed(node)
        if typed.type.name not in ("boolean", "unknown", "any"):
            raise DialectError("TYPE_MISMATCH", message % typed.type, node.at)
        return typed

    def convert_to_type(self, typed: y.Typed, target: SqlType) -> y.Typed:
        """Return the value as one of another type, which it can be brought to."""
        if typed.type == target or target.name == "any" or typed.type.name in ("any", "unknown"):
            return typed
        if typed.type.name == target.name and target.name in ("varchar", "timestamp"):
            return typed
        if isinstance(typed, y.ConstantValue) and typed.value is None:
            return y.ConstantValue(target, None)
        convert = v.cast(typed.type, target)
        return typed if convert is None else y.Apply(target, convert, (typed,), operation="cast")

    # names

    def boundary(self) -> scopes.Boundary:
        """Return what a query inside an expression sees outside."""
        return scopes.Boundary(self.scope)

    def _name(self, node: t.Name) -> y.Typed:
        parameter = self.parameters.get(self.scope.fold(node.written))
        return self._column(node) if parameter is None else parameter

    def _column(self, node: t.Name | t.Path) -> y.Typed:
        if self.scope.outer is not None and not self.scope.has(node):
            outside = self.scope.outside(node)
            if outside is not None:
                return y.Outer(outside[2], outside[0], outside[1])
        place = self.scope.place(node)
        return y.ConstantValue(k.ANY, None) if place is None else y.ColumnValue(self.scope.column_type(place), place)

    def _path(self, node: t.Path) -> y.Typed:
        if scopes.is_path(node) and not self._is_field(node):
            return self._column(node)
        return rows.bind_field(self.typed(node.base), node, self.dialect)

    def _is_field(self, node: t.Path) -> bool:
        """Return whether a path means a field of a row: it means no column, and what stands before its last dot does."""
        base = node.base
        assert isinstance(base, t.Name | t.Path)
        if self.scope.is_open or self.scope.has(node):
            return False
        return self.scope.has(base) or (isinstance(base, t.Name) and self.scope.fold(base.written) in self.parameters)

    # literals

    def _literal(self, node: t.Literal) -> y.Typed:
        value = node.value
        if node.kind == "integer" and abs(value) >= 1 << 63:
            raise DialectError("INVALID_LITERAL", f"Invalid numeric literal: {node.written}", node.at)
        if node.kind == "integer":
            fits = abs(value) < 1 << 31
            return y.ConstantValue(k.INTEGER if fits else k.BIGINT, value)
        if node.kind == "decimal":
            if isinstance(value, str):
                return self._decimal(node)
            digits = value.as_tuple()
            scale = -int(digits.exponent)
            return y.ConstantValue(k.decimal(max(len(digits.digits), scale), scale), value)
        if node.kind == "text":
            return y.ConstantValue(SqlType("varchar", (len(value),)), value)
        if node.kind in ("double", "boolean", "null") and not (isinstance(value, str)):
            return y.ConstantValue({"double": k.DOUBLE, "boolean": k.BOOLEAN, "null": k.UNKNOWN}[node.kind], value)
        if node.kind == "interval":
            return self._interval(node)
        if node.kind == "bytes":
            return y.ConstantValue(SqlType("varbinary"), value)
        target = k.of_name(node.kind)
        if target is None:
            raise DialectUnsupported(f"literals of type {node.kind} are not supported", node.at)
        if target.name == "timestamp" and isinstance(value, str):
            target = SqlType("timestamp", (min(6, len(value.partition(".")[2])),))
        convert = v.cast(k.VARCHAR, target)
        if convert is None:
            raise DialectUnsupported(f"literals of type {node.kind} are not supported", node.at)
        return y.ConstantValue(target, convert(value))

    def _decimal(self, node: t.Literal) -> y.Typed:
        try:
            return self._literal(t.Literal(node.at, "decimal", Decimal(node.value), node.value))
        except InvalidOperation:
            raise DialectError("INVALID_LITERAL", f"'{node.value}' is not a valid DECIMAL literal", node.at) from None

    def _interval(self, node: t.Literal) -> y.ConstantValue:
        negative, text, unit, until = node.value
        parts = [part for part in re.split(r"[:\s-]+", text.strip().lstrip("-+")) if part]
        if not parts or not all(re.fullmatch(r"\d+(\.\d*)?|\.\d+", part) for part in parts):
            raise DialectError("INVALID_LITERAL", f"'{text[:100]}' is not a valid INTERVAL literal", node.at)
        numbers = [float(part) for part in parts]
        sign = -1 if negative != text.strip().startswith("-") else 1
        if unit in ("YEAR", "MONTH"):
            months = int(numbers[0]) * (12 if unit == "YEAR" else 1) + (int(numbers[1]) if len(numbers) > 1 else 0)
            return y.ConstantValue(k.YEAR_MONTH, v.Months(sign * months))
        units = ["DAY", "HOUR", "MINUTE", "SECOND"]
        if unit not in SpanOfUnit:
            raise DialectUnsupported(f"intervals of {unit.lower()}s are not supported", node.at)
        named = units[units.index(unit) :] if unit in units else [unit]
        if len(numbers) > len(named) or (until is None and len(numbers) != 1):
            raise DialectError("INVALID_LITERAL", f"'{text}' is not a valid INTERVAL literal", node.at)
        seconds = sum(number * SpanOfUnit[each] for number, each in zip(numbers, named))
        try:
            return y.ConstantValue(k.DAY_TIME, datetime.timedelta(seconds=sign * seconds))
        except OverflowError:
            raise DialectError("INVALID_LITERAL", f"'{text[:100]}' is not a valid INTERVAL literal", node.at) from None

    # operators

    def _unary(self, node: t.Unary) -> y.Typed:
        operand = self.typed(node.operand)
        if node.sign == "NOT":
            self._must_be_boolean(operand, node.operand, "Value of logical NOT expression must evaluate to a boolean (actual: %s)")
            return self._negate(operand, True)
        if node.sign == "~":
            return y.Apply(operand.type, lambda value: ~value, (operand,))
        if not (k.is_number(operand.type) or operand.type.name.startswith(("interval", "unknown"))):
            words = f"Unary '+' operator cannot by applied to {operand.type} type" if node.sign == "+" else f"Cannot negate {operand.type}"
            raise DialectError("TYPE_MISMATCH", words, node.at)
        return operand if node.sign == "+" else y.Apply(operand.type, v.negate, (operand,))

    def _must_be_boolean(self, typed: y.Typed, node: t.SqlExpression, message: str) -> None:
        if typed.type.name not in ("boolean", "unknown", "any"):
            raise DialectError("TYPE_MISMATCH", message % typed.type, node.at)

    def _logical(self, node: t.Logical) -> y.Typed:
        operands = []
        for each in node.operands:
            operand = self.typed(each)
            self._must_be_boolean(operand, each, "Logical expression term must evaluate to a boolean (actual: %s)")
            operands.append(operand)
        return y.Junction(k.BOOLEAN, tuple(operands), node.sign == "AND")

    def _binary(self, node: t.Binary) -> y.Typed:
        left, right = self.typed(node.left), self.typed(node.right)
        if node.sign in ("=", "<>", "<", "<=", ">", ">="):
            return self.type_comparison(node.sign, left, right, node.at)
        if node.sign == "||":
            kinds = (left.type, right.type)
            scalar = SCALARS["concat"]
            result = scalar.rule([k.VARCHAR if kind.name in ("any", "unknown") else kind for kind in kinds])
            if result is None:
                raise self._no_operator(node.sign, left, right, node.at)
            return y.Apply(result, scalar.compute, (left, right))
        result = v.arithmetic_type(node.sign, left.type, right.type, self.dialect)
        if self.dialect in ("flink", "alibaba") and node.sign == "-" and left.type.name == right.type.name == "timestamp":
            written = " - ".join(f"<{str(each.type).upper()}>" for each in (left, right))
            raise DialectError("VALIDATION", f"SqlValidatorException: Cannot apply '-' to arguments of type '{written}'", node.at)
        if result is None:
            raise self._no_operator(node.sign, left, right, node.at)
        operation = node.sign if self.dialect == "sql" else None
        return y.Apply(result, v.arithmetic(node.sign, result, self.dialect), (left, right), operation=operation)

    def _no_operator(self, sign: str, left: y.Typed, right: y.Typed, at: int) -> DialectError:
        if sign == "||":
            message = f"Unexpected parameters ({left.type}, {right.type}) for function concat{describe_signatures('concat', self.dialect)}"
            return DialectError("FUNCTION_NOT_FOUND", message, at)
        hint = hints.of_comparison((str(left.type), str(right.type)))
        return DialectError("TYPE_MISMATCH", f"Cannot apply operator: {left.type} {sign} {right.type}", at, hint=hint)

    def type_comparison(self, sign: str, left: y.Typed, right: y.Typed, at: int) -> y.Typed:
        """Return the comparison of two values of a common type."""
        shared = k.common(left.type, right.type)
        moment = {left.type.name, right.type.name}
        if shared is None and self.dialect != "sql" and "varchar" in moment and moment & {"timestamp", "date"}:
            shared = k.TIMESTAMP
        if shared is None or not k.is_comparable(shared) or (sign not in ("=", "<>") and not k.is_orderable(shared)):
            raise self._no_operator(sign, left, right, at)
        operands = (self._align_types(left, shared), self._align_types(right, shared))
        compare = COMPARE[sign] if shared.name not in ("array", "row") else rows.comparison(sign, COMPARE[sign])
        return y.Apply(k.BOOLEAN, compare, operands, operation=sign)

    def _align_types(self, typed: y.Typed, shared: SqlType) -> y.Typed:
        """Numbers of other types compare as they are; decimals with doubles, dates with timestamps have to be cast."""
        if shared.name in ("double", "timestamp", "real"):
            return self.convert_to_type(typed, shared)
        return typed

    def _between(self, node: t.Between) -> y.Typed:
        value, low, high = (self.typed(each) for each in (node.value, node.low, node.high))
        self._must_agree(f"Cannot check if {value.type} is BETWEEN {low.type} and {high.type}", node.at, value, low, high)
        both = (self.type_comparison(">=", value, low, node.at), self.type_comparison("<=", value, high, node.at))
        return self._negate(y.Junction(k.BOOLEAN, both, True), node.negated)

    @staticmethod
    def _negate(typed: y.Typed, negated: bool) -> y.Typed:
        return y.Apply(k.BOOLEAN, lambda value: not value, (typed,), operation="not") if negated else typed

    def _inlist(self, node: t.InList) -> y.Typed:
        value = self.typed(node.value)
        if node.query is not None:
            plan, is_correlated = self._plan_query(node.query)
            self._comparable(value, plan, node.at)
            return self._negate(y.QueryValue(k.BOOLEAN, "member", plan, value, is_correlated=is_correlated), node.negated)
        items = [self.typed(each) for each in node.items]
        if self.dialect == "sql":
            places = [node.value.at, *(each.at for each in node.items)]
            self.common_type([value, *items], places, "IN value and list items")
        for each, item in zip(node.items, items):
            self.type_comparison("=", value, item, each.at)
        return self._negate(y.MembershipTest(k.BOOLEAN, value, tuple(items)), node.negated)

    def _plan_query(self, query: t.SqlQuery) -> tuple[Any, bool]:
        """Return the plan of a query inside the expression, and whether it refers to what is outside."""
        boundary = self.boundary()
        plan = self.plan_query(query, boundary)
        return plan, boundary.crossings > 0

    def _comparable(self, value: y.Typed, plan: Any, at: int) -> None:
        """Refuse a comparison with the rows of a query that has other columns."""
        mine = value.type.arguments if value.type.name == "row" else (value.type,)
        theirs = tuple(column.type for column in plan.columns)
        shared = [k.common(a, b) for a, b in zip(mine, theirs) if isinstance(a, SqlType)]
        if len(mine) != len(theirs) or None in shared:
            message = f"Value expression and result of subquery must be of the same type: {_as_row(mine)} vs {_as_row(theirs)}"
            raise DialectError("TYPE_MISMATCH", message, at)

    def _comparedall(self, node: t.ComparedAll) -> y.Typed:
        value = self.typed(node.value)
        plan, is_correlated = self._plan_query(node.query)
        self._comparable(value, plan, node.at)
        return y.QueryValue(k.BOOLEAN, "all" if node.is_all else "any", plan, value, COMPARE[node.sign], is_correlated)

    def _like(self, node: t.Like) -> y.Typed:
        operands = [self.typed(node.value), self.typed(node.pattern)]
        if node.escape is not None:
            operands.append(self.typed(node.escape))
        for operand, part, side in zip(operands, (node.value, node.pattern, node.escape), ("Left side of", "Pattern for", "Escape for")):
            if not (k.is_text(operand.type) or operand.type.name == "unknown"):
                message = f"{side} LIKE expression must evaluate to a varchar (actual: {operand.type})"
                raise DialectError("TYPE_MISMATCH", message, node.at if part is None else part.at)
        return self._negate(y.Apply(k.BOOLEAN, like, tuple(operands)), node.negated)

    def _isnull(self, node: t.IsNull) -> y.Typed:
        negated = node.negated
        operation = "is not null" if negated else "is null"
        return y.Apply(
            k.BOOLEAN, lambda value: (value is None) != negated, (self.typed(node.value),), takes_null=True, operation=operation
        )

    def _isdistinct(self, node: t.IsDistinct) -> y.Typed:
        left, right = self.typed(node.left), self.typed(node.right)
        self._must_agree(f"Cannot check if {left.type} is identical to {right.type}", node.at, left, right)
        self.type_comparison("=", left, right, node.at)
        same = node.negated
        operation = "is not distinct" if same else "is distinct"
        return y.Apply(k.BOOLEAN, lambda a, b: (a == b) == same, (left, right), takes_null=True, operation=operation)

    def _must_agree(self, message: str, at: int, *listed: y.Typed) -> None:
        """Refuse operands that have no common type."""
        shared: SqlType | None = k.UNKNOWN
        for each in listed:
            shared = None if shared is None else k.common(shared, each.type)
        if shared is None and self.dialect == "sql":
            raise DialectError("TYPE_MISMATCH", message, at)

    def _case(self, node: t.Case, what: str = "CASE WHEN clause") -> y.Typed:
        operand = None if node.operand is None else self.typed(node.operand)
        whens = []
        for condition, value in node.whens:
            if operand is None:
                test = self.condition(condition, f"{what} must evaluate to a boolean (actual: %s)")
            else:
                other = self.typed(condition)
                words = f"CASE operand type does not match WHEN clause operand type: {operand.type} vs {other.type}"
                self._must_agree(words, condition.at, operand, other)
                test = self.type_comparison("=", operand, other, condition.at)
            whens.append((test, self.typed(value)))
        otherwise = y.ConstantValue(k.UNKNOWN, None) if node.otherwise is None else self.typed(node.otherwise)
        places = [*(value.at for _, value in node.whens), node.at if node.otherwise is None else node.otherwise.at]
        shared = self.common_type([*(value for _, value in whens), otherwise], places, "All CASE results")
        return y.Choice(shared, tuple((test, self.convert_to_type(value, shared)) for test, value in whens),
            self.convert_to_type(otherwise, shared))

    def common_type(self, listed: list[y.Typed], places: list[int], what: str) -> SqlType:
        """Return the common type of the expressions."""
        shared: SqlType = k.UNKNOWN
        for each, at in zip(listed, places):
            narrower = k.common(shared, each.type)
            if narrower is None:
                kinds = list(dict.fromkeys(str(each.type) for each in listed))
                if what != "All CASE results":
                    kinds = [kind for kind in kinds if kind != "unknown" or what == "All COALESCE operands"]
                message = (
                    f"{what} must be the same type or coercible to a common type. Cannot find common type between {shared} and "
                    f"{each.type}, all types (without duplicates): [{', '.join(kinds)}]"
                )
                raise DialectError("TYPE_MISMATCH", message, at)
            shared = narrower
        return shared

    def find_type(self, node: t.SqlTypeName) -> SqlType:
        """Return the type that a text names."""
        arguments = tuple(self.find_type(each) if isinstance(each, t.SqlTypeName) else each for each in node.arguments)
        if node.name == "row":
            return SqlType("row", arguments, node.fields)
        kind = k.of_name(node.name, arguments)
        if kind is None:
            raise DialectError("TYPE_NOT_FOUND", f"Unknown type: {node.name}", node.at)
        return kind

    def _target(self, node: t.Cast) -> SqlType:
        try:
            return self.find_type(node.type_name)
        except DialectError as error:
            raise DialectError(error.sql_code, error.message, node.at) from None

    def _cast(self, node: t.Cast) -> y.Typed:
        value, target = self.typed(node.value), self._target(node)
        convert = v.cast(value.type, target, self.dialect)
        nested = [name if name in ("array", "row", "map") else "" for name in (value.type.name, target.name)]
        refused = self.dialect == "sql" and not v.has_cast(value.type, target)
        if convert is None or refused or nested[0] != nested[1]:
            if value.type.name not in ("any", "unknown"):
                raise DialectError("TYPE_MISMATCH", f"Cannot cast {value.type} to {target}", node.at)
            return y.ConstantValue(target, None)
        if self.dialect == "ydb" and target.name == "timestamp" and value.type.name in k.INTEGERS:
            convert = _microseconds
        if self.dialect == "sql" and value.type.name in ("double", "real") and target.name == "varchar":
            convert = v.scientific
        if self.dialect in ("flink", "alibaba") and value.type.name in ("double", "real", "decimal") and target.name in k.INTEGERS:
            convert = math.trunc
        typed = y.Apply(target, convert, (value,))
        return y.Tried(target, typed) if node.safe else typed

    # others

    def _lambda(self, node: t.Lambda) -> y.Typed:
        raise DialectError("TYPE_MISMATCH", "Lambda expression should always be used inside a function", node.at)

    def type_lambda(self, node: t.SqlExpression, kinds: list[SqlType]) -> y.LambdaOf | None:
        """Return the typed lambda over parameters of these types; None where it is none, or has another number of them."""
        if not isinstance(node, t.Lambda) or len(node.names) != len(kinds):
            return None
        parameters = tuple(y.LambdaParameter(kind, name, [None]) for name, kind in zip(node.names, kinds))
        before = self.parameters
        self.parameters = {**before, **{self.scope.fold(each.name): each for each in parameters}}
        try:
            body = self.typed(node.body)
        finally:
            self.parameters = before
        return y.LambdaOf(body.type, parameters, body)

    def _arrayof(self, node: t.ArrayOf) -> y.Typed:
        items = [self.typed(each) for each in node.items]
        element = self.common_type(items, [item.at for item in node.items], "All ARRAY elements")
        return y.ListOf(k.array(element), tuple(self.convert_to_type(item, element) for item in items))

    def _subscript(self, node: t.Subscript) -> y.Typed:
        base, index = self.typed(node.base), self.typed(node.index)
        if base.type.name == "row":
            return rows.bind_index(base, index, node.at)
        scalar = SCALARS["element_at"]
        result = scalar.rule((base.type, index.type))
        if result is None:
            raise DialectError("TYPE_MISMATCH", f"Cannot use {index.type} for subscript of {base.type}", node.at)
        return y.Apply(result, subscript if self.dialect == "sql" else scalar.compute, (base, index))

    def _subquery(self, node: t.Subquery) -> y.Typed:
        plan, is_correlated = self._plan_query(node.query)
        kinds = tuple(column.type for column in plan.columns)
        kind = kinds[0] if len(kinds) == 1 else k.row(kinds, tuple(column.name for column in plan.columns))
        return y.QueryValue(kind, "scalar", plan, is_correlated=is_correlated)

    def _exists(self, node: t.Exists) -> y.Typed:
        plan, is_correlated = self._plan_query(node.query)
        return y.QueryValue(k.BOOLEAN, "exists", plan, is_correlated=is_correlated)

    def _tuple(self, node: t.Tuple) -> y.Typed:
        items = tuple(self.typed(each) for each in node.items)
        return y.Apply(k.row(tuple(item.type for item in items)), lambda *values: values, items, takes_null=True)

    def _labelstar(self, node: t.LabelStar) -> y.Typed:
        message = "label.* syntax is only supported as the only argument of row pattern count function"
        raise DialectError("INVALID_FUNCTION_ARGUMENT", message, node.at)

    def _overmeasure(self, node: t.OverMeasure) -> y.Typed:
        raise DialectUnsupported("row pattern measures over windows are not supported", node.at)

    # calls

    def _call(self, node: t.Call) -> y.Typed:
        if node.mode is not None and self.dialect == "sql":
            message = f"{node.mode} semantics is not supported out of pattern recognition context"
            raise DialectError("INVALID_PROCESSING_MODE", message, node.mode_at)
        if node.over is not None:
            raise DialectUnsupported("window functions are not supported", node.at, hint=hints.OF_WINDOWS)
        if is_aggregate(node.name, self.dialect):
            return self.aggregate_call(node)
        return self.scalar_call(node)

    def aggregate_call(self, node: t.Call) -> y.Typed:
        """Return the typed call of an aggregate, which has no place here."""
        message = f"{self.clause} cannot contain aggregations, window functions or grouping operations: [{node.name}]"
        raise DialectError("EXPRESSION_NOT_SCALAR", message, node.at)

    def scalar_call(self, node: t.Call) -> y.Typed:
        """Return the typed call of a scalar function."""
        special = getattr(self, "_call_" + node.name, None) if node.name.isidentifier() else None
        if special is not None:
            result = special(node)
            assert isinstance(result, y.Typed)
            return result
        with_lambda = lambdas.call(self, node) if any(isinstance(each, t.Lambda) for each in node.arguments) else None
        if with_lambda is not None:
            return with_lambda
        if self.dialect in ("flink", "alibaba") and node.name in IN_PATTERNS:
            raise self.no_function(node)
        arguments = tuple(self.typed(each) for each in self._unit_first(node))
        scalar = find_scalar(node.name, self.dialect)
        if scalar is None or (self.dialect == "sql" and node.name in ELSEWHERE):
            raise self.no_function(node)
        kinds = [argument.type for argument in arguments]
        result = scalar.rule(kinds)
        if result is None:
            listed = ", ".join(str(kind) for kind in kinds)
            message = f"Unexpected parameters ({listed}) for function {node.name}{describe_signatures(node.name, self.dialect)}"
            raise DialectError("FUNCTION_NOT_FOUND", message, node.at)
        if node.name in ("greatest", "least"):
            arguments = tuple(self.convert_to_type(argument, result) for argument in arguments)
        return y.Apply(result, scalar.compute, arguments, scalar.takes_null, node.name)

    def _unit_first(self, node: t.Call) -> tuple[t.SqlExpression, ...]:
        """``timestampdiff(minute, a, b)``: the unit is a word, not a column."""
        first = node.arguments[0] if node.arguments else None
        if node.name == "timestampdiff" and isinstance(first, t.Name):
            return (t.Literal(first.at, "text", first.written.lower(), first.written), *node.arguments[1:])
        return node.arguments

    def no_function(self, node: t.Call) -> DialectError:
        """Return the error of a function that is not known."""
        if self.dialect in ("flink", "alibaba"):
            return DialectError("FUNCTION_NOT_FOUND", self._no_function_of_calcite(node), node.at)
        hint = hints.of_function(node.name, (*SCALARS, *AGGREGATES), self.dialect)
        return DialectError("FUNCTION_NOT_FOUND", f"Function '{node.name}' not registered", node.at, hint=hint)

    def _no_function_of_calcite(self, node: t.Call) -> str:
        prefix = "ValidationException: SQL validation failed. SqlValidatorException:"
        if node.name in IN_PATTERNS:
            return f"{prefix} Function '{calcite(node)}' can only be used in MATCH_RECOGNIZE"
        kinds = ", ".join(family(self.typed(each).type) for each in node.arguments)
        return f"{prefix} No match found for function signature {node.names[-1].written}({kinds})"

    def _call_coalesce(self, node: t.Call) -> y.Typed:
        operands = [self.typed(each) for each in node.arguments]
        if len(operands) < 2:
            raise DialectError("INVALID_FUNCTION_ARGUMENT", "The 'coalesce' function must have at least two arguments", node.at)
        shared = self.common_type(operands, [each.at for each in node.arguments], "All COALESCE operands")
        return y.Coalesced(shared, tuple(self.convert_to_type(operand, shared) for operand in operands))

    def _call_if(self, node: t.Call) -> y.Typed:
        if len(node.arguments) not in (2, 3):
            raise DialectError("INVALID_FUNCTION_ARGUMENT", "Invalid number of arguments for 'if' function", node.at)
        otherwise = node.arguments[2] if len(node.arguments) == 3 else None
        return self._case(t.Case(node.at, None, ((node.arguments[0], node.arguments[1]),), otherwise), "IF condition")

    def _call_nullif(self, node: t.Call) -> y.Typed:
        if len(node.arguments) != 2:
            raise DialectError("INVALID_FUNCTION_ARGUMENT", "Invalid number of arguments for 'nullif' function", node.at)
        first, second = (self.typed(each) for each in node.arguments)
        self.type_comparison("=", first, second, node.at)
        return y.Apply(first.type, lambda a, b: None if a == b else a, (first, second), takes_null=True)

    def _call_try(self, node: t.Call) -> y.Typed:
        if len(node.arguments) != 1:
            raise DialectError("INVALID_FUNCTION_ARGUMENT", "The 'try' function must have exactly one argument", node.at)
        operand = self.typed(node.arguments[0])
        return y.Tried(operand.type, operand)

    def _call_typeof(self, node: t.Call) -> y.Typed:
        if len(node.arguments) != 1:
            raise DialectError("FUNCTION_NOT_FOUND", "Unexpected parameters for function typeof. Expected: typeof(t) T", node.at)
        return y.ConstantValue(k.VARCHAR, str(self.typed(node.arguments[0]).type))

    def _call_now(self, node: t.Call) -> y.Typed:
        return self._moment(k.TIMESTAMP)

    _call_current_timestamp = _call_localtimestamp = _call_now

    def _call_current_date(self, node: t.Call) -> y.Typed:
        return self._moment(k.DATE)

    @staticmethod
    def _moment(kind: SqlType) -> y.Typed:
        """Return the time of the query, in UTC: one instant for all its rows."""
        now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        return y.ConstantValue(kind, now.date() if kind == k.DATE else now.replace(microsecond=now.microsecond // 1000 * 1000))


def _as_row(kinds: tuple[Any, ...]) -> str:
    return f"row({', '.join(str(kind) for kind in kinds)})"


def _microseconds(value: int) -> datetime.datetime:
    return v.EPOCH + datetime.timedelta(microseconds=value)


def like(text: str, pattern: str, escape: str | None = None) -> bool:
    """Return whether a text is like the pattern, in which ``%`` is any text and ``_`` any sign."""
    return like_pattern(pattern, escape)(text)


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b, "<>": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}  # fmt: skip

__all__ = ["PlanQuery", "Typing"]
