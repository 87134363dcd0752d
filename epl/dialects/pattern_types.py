"""Expressions of measures and conditions → typed expressions over the rows of a match, with Trino's refusals."""
from __future__ import annotations

from epl.dialects import scopes
from epl.dialects import typed as y
from epl.dialects import types as k
from epl.dialects.aggregates import distinct, find_aggregate, is_aggregate
from epl.dialects.errors import DialectError
from epl.dialects.expression_types import PlanQuery, Typing
from epl.dialects.functions import rows
from epl.dialects.functions.signatures import describe_signatures
from epl.dialects.hints import near
from epl.dialects.syntax import tree as t

NAVIGATIONS = ("first", "last", "prev", "next")
FUNCTIONS = (*NAVIGATIONS, "classifier", "match_number")
MOST = 2147483647
ANY_ROW = y.Navigation(None)
MISPLACED_STAR = "label.* syntax is only supported as the only argument of row pattern count function"
NODES = {
    "integer": "LongLiteral", "text": "StringLiteral", "decimal": "DecimalLiteral", "double": "DoubleLiteral", "null": "NullLiteral",
    "boolean": "BooleanLiteral", "interval": "IntervalLiteral", "Path": "DereferenceExpression", "Call": "FunctionCall",
    "Binary": "ArithmeticBinaryExpression", "Unary": "ArithmeticUnaryExpression", "Case": "SearchedCaseExpression",
    "Subquery": "SubqueryExpression", "Logical": "LogicalExpression", "Tuple": "Row", "ArrayOf": "Array",
}  # fmt: skip
"""Expressions → what Trino calls them."""
NESTED_WINDOW = "Cannot nest window functions or row pattern measures inside pattern recognition expressions"


class PatternTyping(Typing):
    """Types the expressions of one clause. ``labels``: variables and subsets → the variables that they are."""

    def __init__(
        self, scope: scopes.SqlScope, plan_query: PlanQuery, labels: dict[str, frozenset[str]], *, in_define: bool, in_window: bool = False
    ) -> None:
        super().__init__(scope, plan_query)
        self.labels = labels
        self.in_define = in_define
        self.in_window = in_window
        self.navigation = ANY_ROW
        self.in_aggregate = False

    # leaves

    def boundary(self) -> scopes.Boundary:
        """Return what a query inside an expression sees outside: nothing that it may refer to."""
        return scopes.Boundary(self.scope, is_closed=True)

    def _name(self, node: t.Name) -> y.Typed:
        return self.column(node, None)

    def _path(self, node: t.Path) -> y.Typed:
        if not scopes.is_path(node):
            return super()._path(node)
        label, rest = split_path(node)
        if label.canonical not in self.labels and isinstance(node.base, t.Name) and self._is_field(node):
            return rows.bind_field(self.typed(node.base), node, self.dialect)
        if label.canonical not in self.labels:
            raise self.no_label(node)
        if isinstance(node.base, t.Path) and isinstance(node.base.base, t.Name) and self._is_row(node.base.field.written):
            return rows.bind_field(self.typed(node.base), node, self.dialect)
        places = self.scope.places(rest) if isinstance(node.base, t.Name) else []
        if len(places) != 1 and not self.scope.is_open:
            raise self.no_column(node, label, rest)
        return self.column(t.Name(node.at, rest, True, rest), label)

    def _is_row(self, name: str) -> bool:
        places = self.scope.places(name)
        return len(places) == 1 and self.scope.column_type(places[0]).name == "row"

    def no_label(self, node: t.Path) -> DialectError:
        """Return the error of a path that begins with no variable."""
        relation, name = scopes.split_column(node)
        message = f"Column '{relation}.{name}' cannot be resolved".lower().replace("column", "Column", 1)
        hint = near(str(relation), self.labels) or f"variables of the pattern: {', '.join(sorted(self.labels))}"
        return DialectError("COLUMN_NOT_FOUND", message, node.at, hint=hint)

    def no_column(self, node: t.Path, label: t.Name, rest: str) -> DialectError:
        """Return the error of a variable's column that is not there."""
        message = f"Column {rest.lower()} prefixed with label {label.canonical} cannot be resolved"
        return DialectError("COLUMN_NOT_FOUND", message, node.at, hint=near(rest, [column.name for column in self.scope.columns]))

    def column(self, node: t.Name, label: t.Name | None) -> y.Typed:
        """Return a column of the row that is meant here; one of a query around the clause is refused."""
        if self.scope.outer is not None and not self.scope.has(node):
            self.scope.outside(node)
        place = self.scope.place(node)
        if place is None:
            return y.ConstantValue(k.ANY, None)
        kind = self.scope.column_type(place)
        if self.in_aggregate:
            return y.ColumnValue(kind, place)
        return y.Navigated(kind, self.leaf_navigation(label), place)

    def leaf_navigation(self, label: t.Name | None) -> y.Navigation:
        """Return the navigation that applies to a leaf with this label."""
        labels = None if label is None else self.labels[label.canonical]
        n = self.navigation
        return y.Navigation(labels, n.first, n.offset, n.final, n.shift)

    # calls

    def _call(self, node: t.Call) -> y.Typed:
        if node.is_plain and node.name in FUNCTIONS:
            return self.pattern_call(node)
        if node.over is not None:
            raise DialectError("NESTED_WINDOW", NESTED_WINDOW, node.at)
        if is_aggregate(node.name, self.dialect):
            return self.aggregate_call(node)
        self.check_mode(node)
        if node.mode is not None:
            message = f"{node.mode} semantics is supported only for FIRST(), LAST() and aggregation functions. Actual: {node.name}"
            raise DialectError("INVALID_PROCESSING_MODE", message, node.mode_at)
        for each in node.arguments:
            if isinstance(each, t.LabelStar):
                raise DialectError("INVALID_FUNCTION_ARGUMENT", MISPLACED_STAR, each.at)
        return self.scalar_call(node)

    def _call_try(self, node: t.Call) -> y.Typed:
        raise DialectError("NOT_SUPPORTED", "TRY expression in pattern recognition context is not yet supported", node.at)

    def _overmeasure(self, node: t.OverMeasure) -> y.Typed:
        raise DialectError("NESTED_WINDOW", NESTED_WINDOW, node.at)

    def condition(self, node: t.SqlExpression, message: str) -> y.Typed:
        """Return a typed condition, which is not a bare null."""
        typed = super().condition(node, message)
        if typed.type.name == "unknown" and self.in_define and self.dialect == "sql":
            raise DialectError("TYPE_MISMATCH", message % typed.type, node.at)
        return typed

    def _lambda(self, node: t.Lambda) -> y.Typed:
        raise DialectError("NOT_SUPPORTED", "Lambda expression in pattern recognition context is not yet supported", node.at)

    def no_function(self, node: t.Call) -> DialectError:
        """Return the error of a function that is not known; a lambda in its arguments is the error that comes first."""
        for each in node.arguments:
            if isinstance(each, t.Lambda):
                self._lambda(each)
        return super().no_function(node)

    def scalar_call(self, node: t.Call) -> y.Typed:
        """Return the typed call of a scalar function; lambdas have no place in patterns."""
        for each in node.arguments:
            if isinstance(each, t.Lambda):
                return self._lambda(each)
        return super().scalar_call(node)

    def pattern_call(self, node: t.Call) -> y.Typed:
        """Return the typed call of FIRST, LAST, PREV, NEXT, CLASSIFIER or MATCH_NUMBER."""
        name = node.name
        code = "INVALID_PATTERN_RECOGNITION_FUNCTION"
        if node.over is not None:
            raise DialectError("NESTED_WINDOW", NESTED_WINDOW, node.at)
        if node.filter is not None:
            raise DialectError(code, f"Cannot use FILTER with {name} pattern recognition function", node.at)
        if node.order_by:
            raise DialectError(code, f"Cannot use ORDER BY with {name} pattern recognition function", node.at)
        if node.distinct:
            raise DialectError(code, f"Cannot use DISTINCT with {name} pattern recognition function", node.at)
        if node.mode is not None and name not in ("first", "last"):
            message = f"{node.mode} semantics is not supported with {name} pattern recognition function"
            raise DialectError("INVALID_PROCESSING_MODE", message, node.mode_at)
        self.check_mode(node)
        if name == "classifier":
            return self._classifier(node)
        if name == "match_number":
            if node.arguments:
                raise DialectError("INVALID_FUNCTION_ARGUMENT", "MATCH_NUMBER pattern recognition function takes no arguments", node.at)
            if self.in_window:
                raise DialectError(code, "MATCH_NUMBER function is not supported in window", node.at)
            return y.MatchNumber(k.BIGINT)
        return self._navigation(node)

    def check_mode(self, node: t.Call) -> None:
        """Refuse FINAL in conditions."""
        if node.mode == "FINAL" and self.in_define:
            raise DialectError("INVALID_PROCESSING_MODE", "FINAL semantics is not supported in DEFINE clause", node.mode_at)

    def _classifier(self, node: t.Call) -> y.Typed:
        if len(node.arguments) > 1:
            message = "CLASSIFIER pattern recognition function takes no arguments or 1 argument"
            raise DialectError("INVALID_FUNCTION_ARGUMENT", message, node.at)
        label = None
        if node.arguments:
            argument = node.arguments[0]
            if not isinstance(argument, t.Name):
                kind = NODES.get(getattr(argument, "kind", "")) or NODES.get(type(argument).__name__, type(argument).__name__)
                message = f"CLASSIFIER function argument should be primary pattern variable or subset name. Actual: {kind}"
                raise DialectError("TYPE_MISMATCH", message, argument.at)
            self.check_label(argument)
            label = argument
        if self.in_aggregate:
            return y.RowLabel(k.VARCHAR)
        return y.Navigated(k.VARCHAR, self.leaf_navigation(label), None)

    def check_label(self, name: t.Name) -> None:
        """Refuse a name that is neither a variable nor a subset."""
        if name.canonical not in self.labels:
            raise DialectError("INVALID_FUNCTION_ARGUMENT", f"{name.written} is not a primary pattern variable or subset name", name.at)

    def _navigation(self, node: t.Call) -> y.Typed:
        offset = self.offset(node)
        self._check_nesting(node)
        before = self.navigation
        try:
            if node.name in ("first", "last"):
                self.navigation = y.Navigation(None, node.name == "first", offset, node.mode == "FINAL", before.shift)
            else:
                self.navigation = y.Navigation(None, shift=-offset if node.name == "prev" else offset)
            typed = self.typed(node.arguments[0])
        finally:
            self.navigation = before
        self.one_label(node)
        return typed

    def offset(self, node: t.Call) -> int:
        """Return the offset of a navigation function, after checking the number of its arguments."""
        name = node.name
        if len(node.arguments) not in (1, 2):
            raise DialectError("INVALID_FUNCTION_ARGUMENT", f"{name} pattern recognition function requires 1 or 2 arguments", node.at)
        default = 1 if name in ("prev", "next") else 0
        if len(node.arguments) == 1:
            return default
        second = node.arguments[1]
        negative = isinstance(second, t.Unary) and second.sign == "-"
        literal = second.operand if isinstance(second, t.Unary) and second.sign in "+-" else second
        if not (isinstance(literal, t.Literal) and literal.kind == "integer"):
            message = f"{name} pattern recognition navigation function requires a number as the second argument"
            raise DialectError("INVALID_FUNCTION_ARGUMENT", message, node.at)
        offset = int(literal.value) * (-1 if negative else 1)
        if offset < 0:
            requires = "requires a non-negative number as the second argument"
            message = f"{name} pattern recognition navigation function {requires} (actual: {offset})"
            raise DialectError("NUMERIC_VALUE_OUT_OF_RANGE", message, node.at)
        if offset > MOST:
            message = f"The second argument of {name} pattern recognition navigation function must not exceed {MOST} (actual: {offset})"
            raise DialectError("NUMERIC_VALUE_OUT_OF_RANGE", message, node.at)
        return offset

    def _check_nesting(self, node: t.Call) -> None:
        """PREV and NEXT may have one FIRST or LAST as their argument; nothing else is nested."""
        code, name = "INVALID_NAVIGATION_NESTING", node.name
        inside = [each for argument in node.arguments for each in find_calls(argument)]
        for each in inside:
            if is_aggregate(each.name, self.dialect) and not (each.is_plain and each.name in FUNCTIONS):
                raise DialectError("NESTED_AGGREGATION", f"Cannot nest {each.name} aggregate function inside {name} function", each.at)
        nested = [each for each in inside if each.is_plain and each.name in NAVIGATIONS]
        if not nested:
            return
        first = nested[0]
        if name in ("first", "last") or first.name in ("prev", "next"):
            message = f"Cannot nest {first.name} pattern navigation function inside {name} pattern navigation function"
            raise DialectError(code, message, first.at)
        own = [each for argument in first.arguments for each in find_calls(argument)]
        others = [each for each in nested[1:] if each not in own]
        if others:
            message = f"Cannot nest multiple pattern navigation functions inside {name} pattern navigation function"
            raise DialectError(code, message, others[0].at)
        if node.arguments[0] is not first:
            raise DialectError(code, "Immediate nesting is required for pattern navigation functions", first.at)

    def one_label(self, node: t.Call) -> frozenset[str] | None:
        """Return the label that all columns and classifiers in a call have; refuse several."""
        labels = self._column_labels(node)
        if len(labels) > 1:
            raise DialectError("INVALID_ARGUMENTS", f"All labels and classifiers inside the call to '{node.name}' must match", node.at)
        is_navigation = node.is_plain and node.name in NAVIGATIONS
        if not labels and is_navigation:
            message = f"Pattern navigation function '{node.name.upper()}' must contain at least one column reference or CLASSIFIER()"
            raise DialectError("INVALID_ARGUMENTS", message, node.at)
        label = next(iter(labels), None)
        return None if label is None else self.labels[label]

    def _column_labels(self, node: t.SqlNode) -> set[str | None]:
        """Labels of the columns and classifiers; None: of those without one."""
        labels: set[str | None] = set()
        for child in t.children(node) if not isinstance(node, t.Call) else node.arguments:
            if isinstance(child, t.Call) and child.is_plain and child.name == "classifier":
                argument = child.arguments[0] if child.arguments else None
                labels.add(argument.canonical if isinstance(argument, t.Name) else None)
            elif isinstance(child, t.LabelStar):
                labels.add(child.label.canonical if child.label else None)
            elif isinstance(child, t.Path) and scopes.is_path(child):
                label = split_path(child)[0].canonical
                labels.add(label if label in self.labels else None)
            elif isinstance(child, t.Name):
                labels.add(None)
            elif not isinstance(child, t.SqlQuery):
                labels |= self._column_labels(child)
        return labels

    # aggregates

    def aggregate_call(self, node: t.Call) -> y.Typed:
        """Return the typed call of an aggregate over the rows of one label."""
        name = node.name
        context = "aggregate function in pattern recognition context"
        if node.filter is not None:
            raise DialectError("NOT_SUPPORTED", f"Cannot use FILTER with {name} {context}", node.at)
        if node.order_by:
            raise DialectError("NOT_SUPPORTED", f"Cannot use ORDER BY with {name} {context}", node.at)
        if node.distinct and not self.takes_distinct():
            raise DialectError("NOT_SUPPORTED", f"Cannot use DISTINCT with {name} {context}", node.at)
        self.check_mode(node)
        self.check_aggregate_nesting(node)
        star = node.arguments[0] if len(node.arguments) == 1 and isinstance(node.arguments[0], t.LabelStar) else None
        if star is not None and name != "count":
            raise DialectError("INVALID_FUNCTION_ARGUMENT", MISPLACED_STAR, star.at)
        if star is not None and star.label is not None:
            if star.label.canonical not in self.labels:
                message = f"{star.label.canonical} is not a primary pattern variable or subset name"
                raise DialectError("INVALID_FUNCTION_ARGUMENT", message, star.at)
            arguments: tuple[y.Typed, ...] = ()
        else:
            arguments = self._arguments(node)
        aggregate = find_aggregate(name, [argument.type for argument in arguments], self.dialect)
        if aggregate is None:
            kinds = ", ".join(str(argument.type) for argument in arguments)
            message = f"Unexpected parameters ({kinds}) for function {name}{describe_signatures(name, self.dialect)}"
            raise DialectError("FUNCTION_NOT_FOUND", message, node.at)
        labels = self.one_label(node)
        used = distinct(aggregate) if node.distinct else aggregate
        return y.AggregateValue(aggregate.result_type, used, arguments, labels, self.is_final(node))

    def takes_distinct(self) -> bool:
        """Return whether aggregates may have DISTINCT."""
        return False

    def is_final(self, node: t.Call) -> bool:
        """Return whether an aggregate is of the whole match."""
        return node.mode == "FINAL"

    def check_aggregate_nesting(self, node: t.Call) -> None:
        """Refuse aggregates and navigation inside an aggregate."""
        for argument in node.arguments:
            for each in find_calls(argument):
                if each.is_plain and each.name in NAVIGATIONS:
                    message = f"Cannot nest {each.name} pattern navigation function inside {node.name} function"
                    raise DialectError("INVALID_NAVIGATION_NESTING", message, each.at)
                if is_aggregate(each.name, self.dialect):
                    message = f"Cannot nest {each.name} aggregate function inside {node.name} function"
                    raise DialectError("NESTED_AGGREGATION", message, each.at)

    def _arguments(self, node: t.Call) -> tuple[y.Typed, ...]:
        before, self.in_aggregate = self.in_aggregate, True
        try:
            return tuple(self.typed(each) for each in node.arguments)
        finally:
            self.in_aggregate = before

    # queries

    def _inlist(self, node: t.InList) -> y.Typed:
        if node.query is not None:
            for each in t.descendants(node.value):
                if isinstance(each, t.Path) and scopes.is_path(each):
                    raise DialectError("NOT_SUPPORTED", "IN-PREDICATE with labeled column reference is not yet supported", each.at)
                if isinstance(each, t.Call) and each.is_plain and each.name in FUNCTIONS:
                    raise DialectError("NOT_SUPPORTED", f"IN-PREDICATE with {each.name} function is not yet supported", each.at)
        return super()._inlist(node)


def split_path(path: t.Path) -> tuple[t.Name, str]:
    """Return the first name of a path and the others."""
    rest = path.field.written
    base = path.base
    while isinstance(base, t.Path):
        rest = f"{base.field.written}.{rest}"
        base = base.base
    assert isinstance(base, t.Name)
    return base, rest


def find_calls(node: t.SqlNode) -> list[t.Call]:
    """Return the calls in an expression, outermost first; those of queries inside it are not."""
    listed = [node] if isinstance(node, t.Call) else []
    for child in t.children(node):
        if not isinstance(child, (t.SqlQuery, t.WindowSpec)):
            listed.extend(find_calls(child))
    return listed


__all__ = ["FUNCTIONS", "PatternTyping", "find_calls", "split_path"]
