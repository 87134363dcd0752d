"""The clause → its plan, with Trino's refusals in Trino's order. Other dialects refine the steps."""
from __future__ import annotations

import datetime

from epl.dialects import plans, scopes
from epl.dialects import typed as y
from epl.dialects import types as k
from epl.dialects.errors import DialectError, DialectUnsupported
from epl.dialects.expression_types import PlanQuery
from epl.dialects.hints import NO_OUTPUT
from epl.dialects.pattern_types import PatternTyping
from epl.dialects.scopes import SqlColumn
from epl.dialects.syntax import tree as t
from epl.dialects.syntax.lexis import Dialect
from epl.dialects.syntax.written import write_expression

NESTED = "nested row pattern recognition in row pattern recognition"


def variables(pattern: t.SqlPattern) -> list[t.Name]:
    """Return the variables of a pattern in the order of the text."""
    return [node.name for node in t.descendants(pattern) if isinstance(node, t.PatternVariable)]


def quote_variable(name: t.Name) -> str:
    """Return a variable as messages have it: as it is written, in its quotes."""
    return f'"{name.written}"' if name.quoted else name.written


def pattern_start(pattern: t.SqlPattern) -> int:
    """Return the offset of a pattern's first sign; that of a quantified one is its quantifier's."""
    return min(node.at for node in t.descendants(pattern))


class ClauseRules:
    """What a clause, or a window's frame, has to satisfy before its expressions are typed."""

    def __init__(
        self, pattern: t.SqlPattern, subsets: tuple[t.Subset, ...], defines: tuple[t.Define, ...], measures: tuple[t.MeasureItem, ...],
        skip: t.Skip | None,
    ) -> None:  # fmt: skip
        self.pattern = pattern
        self.subsets = subsets
        self.defines = defines
        self.measures = measures
        self.skip = skip
        self.primary = {name.canonical for name in variables(pattern)}
        self.labels = {label: frozenset((label,)) for label in self.primary}

    def check(self) -> None:
        """Refuse what Trino refuses, in its order."""
        self.check_subsets()
        self.check_defines()
        self.check_skip()

    def check_subsets(self) -> None:
        """Subsets have names of their own and consist of variables."""
        seen: set[str] = set()
        for subset in self.subsets:
            label = subset.name.canonical
            if label in self.primary:
                message = f"union pattern variable name: {quote_variable(subset.name)} is a duplicate of primary pattern variable name"
                raise DialectError("INVALID_LABEL", message, subset.name.at)
            if label in seen:
                raise DialectError("INVALID_LABEL", f"union pattern variable name: {quote_variable(subset.name)} is declared twice",
                    subset.name.at)
            seen.add(label)
            for member in subset.members:
                if member.canonical not in self.primary:
                    message = f"subset element: {quote_variable(member)} is not a primary pattern variable"
                    raise DialectError("INVALID_LABEL", message, member.at)
            self.labels[label] = frozenset(member.canonical for member in subset.members)

    def check_defines(self) -> None:
        """Check that variables are defined once, and are in the pattern."""
        seen: set[str] = set()
        for define in self.defines:
            label = define.name.canonical
            if label not in self.primary:
                message = f"defined variable: {quote_variable(define.name)} is not a primary pattern variable"
                raise DialectError("INVALID_LABEL", message, define.at)
            if label in seen:
                raise DialectError("INVALID_LABEL", f"pattern variable with name: {quote_variable(define.name)} is defined twice",
                    define.at)
            seen.add(label)

    def check_skip(self) -> None:
        """Check that the target of a skip is a variable or a subset."""
        target = None if self.skip is None else self.skip.target
        if target is not None and target.canonical not in self.labels:
            raise DialectError("INVALID_LABEL", f"{quote_variable(target)} is not a primary or union pattern variable", target.at)

    def check_nesting(self) -> None:
        """Refuse a clause inside a measure or condition."""
        expressions = [*(measure.expression for measure in self.measures), *(define.condition for define in self.defines)]
        for expression in expressions:
            for node in t.descendants(expression):
                if isinstance(node, t.RecognitionClause):
                    raise DialectError("NESTED_ROW_PATTERN_RECOGNITION", NESTED, node.at)
                if isinstance(node, t.WindowFrame) and node.pattern is not None:
                    raise DialectError("NESTED_ROW_PATTERN_RECOGNITION", NESTED, pattern_start(node.pattern))


class ClauseAnalysis:
    """Analyses one clause over the plan of its input. Subclasses are the rules of other dialects."""

    typing: type[PatternTyping] = PatternTyping
    rules: type[ClauseRules] = ClauseRules
    default_skip = "past last"
    final_by_default = False

    def __init__(
        self, clause: t.RecognitionClause, source: plans.Plan, dialect: Dialect, plan_query: PlanQuery, outer: scopes.Boundary | None = None
    ) -> None:
        self.clause = clause
        self.source = source
        self.dialect = dialect
        self.plan_query = plan_query
        self.scope = scopes.SqlScope(source.columns, dialect, source.is_open, outer)
        self.computed: list[y.Typed] = []

    def plan(self) -> plans.RecognitionPlan:
        """Return the plan of the clause."""
        clause = self.clause
        self.check_input()
        partition = self.partition()
        order = self.order()
        rules = self.rules(clause.pattern, clause.subsets, clause.defines, clause.measures, clause.skip)
        rules.check()
        self.check_form()
        rules.check_nesting()
        self.labels = rules.labels
        defines = self.defines()
        measures = tuple(self._typing(in_define=False).typed(measure.expression) for measure in clause.measures)
        columns, shown = self.output(partition, [key for key, _, _ in order], measures)
        self.check_output(columns)
        return plans.RecognitionPlan(
            columns=columns, is_open=self.source.is_open and clause.rows == "all", dialect=self.dialect.name, input=self.source,
            computed=tuple(self.computed), partition=tuple(partition), order=tuple(order), measures=measures,
            all_rows=clause.rows == "all", empties=clause.empties or "show", shows_order=self.shows_order(), shown=shown,
            pattern=clause.pattern, labels=tuple(sorted(rules.primary)), defines=defines, skip=self.skip(), within=self.within(),
            timeouts=clause.timeouts, time=order[0][0] if order else None,
        )  # fmt: skip

    def _typing(self, *, in_define: bool) -> PatternTyping:
        return self.typing(self.scope, self.plan_query, self.labels, in_define=in_define)

    def check_output(self, columns: tuple[SqlColumn, ...]) -> None:
        """Refuse a clause that has no output."""
        if not columns:
            raise DialectError("TABLE_HAS_NO_COLUMNS", "pattern recognition output table has no columns", self.clause.at, hint=NO_OUTPUT)

    def shows_order(self) -> bool:
        """Return whether ALL ROWS shows the columns of ORDER BY before the measures."""
        return True

    def check_input(self) -> None:
        """Check that the input's columns have names of their own."""
        if isinstance(self.clause.input, t.Aliased) and isinstance(self.clause.input.relation, t.TableFunction):
            function: t.Relation = self.clause.input.relation
        else:
            function = self.clause.input
        if isinstance(function, t.TableFunction):
            message = "Cannot apply row pattern matching to polymorphic table function invocation"
            raise DialectError("INVALID_TABLE_FUNCTION_INVOCATION", message, function.at)
        seen: set[str] = set()
        for column in self.source.columns:
            if column.name is None:
                continue
            folded = self.scope.fold(column.name)
            if folded in seen:
                raise DialectError("AMBIGUOUS_NAME", f"ambiguous column: {column.name} in row pattern input relation", self.clause.input.at)
            seen.add(folded)

    def partition(self) -> list[int]:
        """Return the places of the columns of PARTITION BY."""
        places = []
        for key, _ in self.clause.partition_by:
            place = self._input_column(key)
            if not k.is_comparable(self.scope.column_type(place)):
                message = f"{self.scope.column_type(place)} is not comparable, and therefore cannot be used in PARTITION BY"
                raise DialectError("TYPE_MISMATCH", message, key.at)
            if not k.is_orderable(self.scope.column_type(place)):
                raise DialectError("NOT_SUPPORTED", f"{self.scope.column_type(place)} is not orderable", key.at)
            places.append(place)
        return places

    def order(self) -> list[tuple[int, bool, bool]]:
        """Return the places of the columns of ORDER BY, whether they descend, and whether nulls come first."""
        keys = []
        for item in self.clause.order_by:
            place = self._input_column(item.key)
            if not k.is_orderable(self.scope.column_type(place)):
                message = f"{self.scope.column_type(place)} is not orderable, and therefore cannot be used in ORDER BY"
                raise DialectError("TYPE_MISMATCH", message, item.at)
            keys.append((place, item.descending, bool(item.nulls_first)))
        return keys

    def _input_column(self, key: t.SqlExpression) -> int:
        if not isinstance(key, t.Name | t.Path) or not scopes.is_path(key):
            raise DialectError("INVALID_COLUMN_REFERENCE", f"Expected column reference. Actual: {write_expression(key)}", key.at)
        relation, name = scopes.split_column(key)
        places = self.scope.places(name, relation)
        if len(places) == 1:
            return places[0]
        if self.scope.is_open:
            raise DialectUnsupported(f"the type of column {write_expression(key)} is not known", key.at)
        raise DialectError("COLUMN_NOT_FOUND", f"Column {write_expression(key)} is not present in the input relation", key.at)

    def check_form(self) -> None:
        """Refuse parts of the clause that do not go together."""
        clause = self.clause
        if clause.search is not None:
            message = f"Pattern search modifier: {clause.search} is not allowed in MATCH_RECOGNIZE clause"
            raise DialectError("INVALID_PATTERN_RECOGNITION_FUNCTION", message, clause.search_at)
        if clause.empties == "unmatched":
            for node in t.descendants(clause.pattern):
                if isinstance(node, t.Exclusion):
                    message = "Pattern exclusion syntax is not allowed when ALL ROWS PER MATCH WITH UNMATCHED ROWS is specified"
                    raise DialectError("INVALID_ROW_PATTERN", message, node.at)

    def defines(self) -> dict[str, y.Typed]:
        """Return the typed conditions by variable."""
        typed = {}
        for define in self.clause.defines:
            typing = self._typing(in_define=True)
            message = "Expression defining a label must be boolean (actual type: %s)"
            typed[define.name.canonical] = typing.condition(define.condition, message)
        return typed

    def output(self, partition: list[int], order: list[int], measures: tuple[y.Typed, ...]) -> tuple[tuple[SqlColumn, ...],
        tuple[int, ...]]:
        """Return the output columns, and the input's columns that ALL ROWS shows after the measures."""
        names = [measure.name.written for measure in self.clause.measures]
        own = [SqlColumn(name, typed.type) for name, typed in zip(names, measures)]
        source = [SqlColumn(column.name, column.type, None, column.is_time) for column in self.source.columns]
        first = [source[place] for place in partition]
        if self.clause.rows != "all":
            return (*first, *own), ()
        used = {*partition, *order} if self.shows_order() else set(partition)
        shown = tuple(place for place in range(len(source)) if place not in used)
        before = [source[place] for place in order] if self.shows_order() else []
        return (*first, *before, *own, *(source[place] for place in shown)), shown

    def skip(self) -> plans.SkipTo:
        """Return where matching goes on."""
        skip = self.clause.skip
        if skip is None:
            return plans.SkipTo(self.default_skip)
        if skip.target is None:
            return plans.SkipTo(skip.kind)
        return plans.SkipTo(skip.kind, self.labels[skip.target.canonical], skip.target.canonical)

    def within(self) -> int | None:
        """Return the milliseconds of WITHIN, an extension here."""
        node = self.clause.within
        if node is None:
            return None
        typed = self._typing(in_define=True).typed(node)
        if not isinstance(typed, y.ConstantValue) or not isinstance(typed.value, datetime.timedelta):
            raise DialectError("TYPE_MISMATCH", "WITHIN needs an interval of days, hours, minutes or seconds", node.at)
        if not self.clause.order_by:
            raise DialectError("MISSING_ORDER_BY", "WITHIN needs ORDER BY with a time as its first key", node.at)
        first = self.scope.column_type(self._input_column(self.clause.order_by[0].key))
        if first.name not in ("timestamp", "date", "any", *(k.INTEGERS if self.dialect.streaming else ())):
            message = f"WITHIN needs ORDER BY with a time as its first key (actual type: {first})"
            raise DialectError("TYPE_MISMATCH", message, node.at)
        if typed.value <= datetime.timedelta(0):
            raise DialectError("INVALID_ARGUMENTS", "WITHIN needs an interval of more than zero", node.at)
        return int(typed.value.total_seconds() * 1000)


__all__ = ["ClauseAnalysis", "ClauseRules", "pattern_start", "variables"]
