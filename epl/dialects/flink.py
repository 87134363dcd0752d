"""The clause as Flink 2.2 and Alibaba's Realtime Compute have it: what they add, and what they refuse, in their words."""
from __future__ import annotations

import datetime
from itertools import pairwise

import attrs

from epl.dialects import plans, scopes
from epl.dialects import typed as y
from epl.dialects import types as k
from epl.dialects.aggregates import is_aggregate
from epl.dialects.calcite import ADVICE, calcite, pattern_text, type_name
from epl.dialects.errors import DialectError, DialectUnsupported
from epl.dialects.pattern_types import PatternTyping, find_calls, split_path
from epl.dialects.recognition import ClauseAnalysis, ClauseRules, variables
from epl.dialects.scopes import SqlColumn
from epl.dialects.syntax import tree as t

VALIDATION = "ValidationException: SQL validation failed. SqlValidatorException: "


def flink_error(words: str, at: int) -> DialectError:
    """Return an error of Flink's validator."""
    return DialectError("VALIDATION", VALIDATION + words, at)


def not_yet(words: str, at: int) -> DialectError:
    """Return an error of Flink's planner: what its grammar has and it does not run."""
    return DialectError("TABLE_EXCEPTION", "TableException: " + words, at, hint="the dialect 'sql' runs it: dialect='sql', @Dialect('sql')")


class FlinkTyping(PatternTyping):
    """Types measures and conditions: everything is of the whole match so far, PREV and NEXT are refused."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.time: int | None = None
        self.depth = 0

    def no_label(self, node: t.Path) -> DialectError:
        """Return the error of a path that begins with no variable."""
        return flink_error(f"Table '{split_path(node)[0].written}' not found", node.at)

    def _path(self, node: t.Path) -> y.Typed:
        """Return a column of the input, named with its table, is null."""
        label = node.base.canonical if isinstance(node.base, t.Name) else None
        if self.in_define and label in self.labels and not self.labels[label]:
            raise self.no_label(node)
        if label is not None and label not in self.labels and self.scope.has(node):
            place = self.scope.place(node)
            return y.ConstantValue(self.scope.column_type(place), None)
        return super()._path(node)

    def _literal(self, node: t.Literal) -> y.Typed:
        if node.kind == "null" and not self.depth:
            raise flink_error("Illegal use of 'NULL'", node.at)
        return super()._literal(node)

    def typed(self, node: t.SqlExpression) -> y.Typed:
        """Return the typed expression; queries have no place in it."""
        if isinstance(node, t.Subquery | t.Exists) and self.in_define and self.depth:
            words = "ValidationException: SQL validation failed. NullPointerException: no SELECT scope for "
            raise DialectError("VALIDATION", words + _first_words(node.query), node.at)
        if isinstance(node, t.Subquery | t.Exists):
            message = "SqlParserException: SQL parse failed. Query expression encountered in illegal context"
            raise DialectError("SYNTAX_ERROR", message, node.at)
        if isinstance(node, t.InList) and node.query is not None:
            raise DialectError("VALIDATION", "ValidationException: SQL validation failed. no SELECT scope for the query", node.at)
        is_outermost = not isinstance(node, t.Literal)
        self.depth += is_outermost
        try:
            return super().typed(node)
        finally:
            self.depth -= is_outermost

    def _check_nesting(self, node: t.Call) -> None:
        inside = [each for argument in node.arguments[:1] for each in find_calls(argument)]
        for each in inside:
            if each.is_plain and each.name in ("first", "last"):
                raise flink_error(f"Cannot nest PREV/NEXT under LAST/FIRST '{calcite(each)}'", each.at)
            if is_aggregate(each.name, self.dialect):
                raise flink_error(f"Cannot use aggregation in navigation '{calcite(each)}'", each.at)

    def no_column(self, node: t.Path, label: t.Name, rest: str) -> DialectError:
        """Return the error of a variable's column that is not there."""
        return flink_error(f"Column '{rest}' not found in table '{label.written}'", node.at)

    def column(self, node: t.Name, label: t.Name | None) -> y.Typed:
        """Return a column; a subset is never filled, so its columns are null."""
        typed = super().column(node, label)
        is_subset = label is not None and not self.labels[label.canonical]
        return y.ConstantValue(typed.type, None) if is_subset and not self.in_aggregate else typed

    def _call(self, node: t.Call) -> y.Typed:
        name = node.name
        if node.is_plain and name in ("match_rowtime", "match_proctime"):
            return self._match_time(node)
        if node.is_plain and name in ("prev", "next") and not self.in_define and node.arguments:
            raise flink_error(f"Cannot use PREV/NEXT in MEASURE '{calcite(node)}'", node.at)
        if node.is_plain and name == "match_number":
            words = "No match found for function signature MATCH_NUMBER().\nSupported signatures are:\n'MATCH_NUMBER()'"
            raise flink_error(words, node.at)
        if node.is_plain and name in ("prev", "next"):
            raise not_yet("Flink does not support physical offsets within partition.", node.at)
        if node.mode is not None and self.in_define:
            raise flink_error(f"Cannot use RUNNING/FINAL in DEFINE '{calcite(node)}'", node.mode_at)
        if node.mode == "RUNNING" or (node.is_plain and name == "classifier"):
            what = f"{name.upper()}()"
            if node.mode == "RUNNING":
                what = f"RUNNING({type_name(self.typed(attrs.evolve(node, mode=None)).type)})"
            raise DialectError("CODE_GENERATION", f"CodeGenException: Unsupported call: {what}{ADVICE}", node.at)
        for each in node.arguments:
            if isinstance(each, t.LabelStar):
                raise flink_error("Unknown field '*'", each.at)
        if node.distinct and is_aggregate(name, self.dialect):
            arguments = ", ".join(calcite(each) for each in node.arguments)
            raise flink_error(f"DISTINCT/ALL not allowed with {name.upper()}(DISTINCT {arguments}) function", node.at)
        if self.in_aggregate and node.is_plain and name in ("first", "last") and node.arguments:
            return self.typed(node.arguments[0])
        return super()._call(node)

    def check_aggregate_nesting(self, node: t.Call) -> None:
        """Refuse aggregates inside an aggregate; FIRST and LAST have no effect there."""
        for each in (each for argument in node.arguments for each in find_calls(argument)):
            if is_aggregate(each.name, self.dialect):
                super().check_aggregate_nesting(node)

    def check_mode(self, node: t.Call) -> None:
        """FINAL changes nothing."""

    def _match_time(self, node: t.Call) -> y.Typed:
        if node.name == "match_proctime":
            return y.Apply(k.TIMESTAMP, _now, (), takes_null=True)
        argument = node.arguments[0] if node.arguments else None
        if len(node.arguments) > 1:
            raise flink_error("Invalid number of arguments to function 'MATCH_ROWTIME'. Was expecting 0 arguments", node.at)
        if argument is not None and not isinstance(argument, t.Name | t.Path):
            message = "The function MATCH_ROWTIME requires a column as its argument"
            raise DialectError("VALIDATION", f"ValidationException: {message}", node.at)
        place = self.time if argument is None else self.scope.place(argument)
        if place is None:
            raise DialectError("VALIDATION", "ValidationException: MATCH_ROWTIME needs ORDER BY a time", node.at)
        kind = self.scope.column_type(place)
        if kind.name not in ("timestamp", "any") and argument is not None and self.scope.dialect.streaming:
            words = f"The function MATCH_ROWTIME requires argument to be a row time attribute type, but is '{str(kind).upper()}'."
            raise DialectError("VALIDATION", f"ValidationException: {words}", node.at)
        return y.MatchTime(kind, place)

    def one_label(self, node: t.Call) -> frozenset[str] | None:
        """Return the variable of a call; refuse several."""
        labels = self._column_labels(node)
        if len(labels) > 1:
            raise flink_error(f"Multiple pattern variables in '{calcite(node)}'", node.at)
        label = next(iter(labels), None)
        return None if label is None else self.labels[label]

    def condition(self, node: t.SqlExpression, message: str) -> y.Typed:
        """Return a typed condition."""
        typed = self.typed(node)
        if typed.type.name not in ("boolean", "unknown", "any"):
            raise flink_error("DEFINE clause must be a condition", node.at)
        return typed


def _first_words(query: t.SqlQuery) -> str:
    """Return how a query begins."""
    items = query.body.items if isinstance(query.body, t.SqlSelect) else ()
    return "SELECT " + ", ".join("*" if item.expression is None else calcite(item.expression) for item in items)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)


class FlinkRules(ClauseRules):
    """Conditions of variables that are not in the pattern have no effect; subsets are never filled."""

    def check(self) -> None:
        """Check names as Flink does; its pattern's form is checked later."""
        self.primary |= {define.name.canonical for define in self.defines}
        self.labels = {label: frozenset((label,)) for label in self.primary}
        self.labels |= {subset.name.canonical: frozenset() for subset in self.subsets}
        for node in t.descendants(self.pattern):
            named = node.name if isinstance(node, t.NotNext) else node.until if isinstance(node, t.QuantifiedPattern) else None
            if named is not None:
                self.primary.add(named.canonical)
                self.labels[named.canonical] = frozenset((named.canonical,))
        for member in (member for subset in self.subsets for member in subset.members):
            if member.canonical not in self.primary:
                raise flink_error(f"Unknown pattern '{member.written}'", member.at)
        names = [define.name.canonical for define in self.defines]
        for define in self.defines:
            if names.count(define.name.canonical) > 1:
                raise flink_error(f"Pattern variable '{define.name.written}' has already been defined", define.at)
        target = None if self.skip is None else self.skip.target
        if target is not None and target.canonical not in self.labels:
            raise flink_error(f"Unknown pattern '{target.written}'", target.at)


class FlinkClause(ClauseAnalysis):
    """The clause of Flink."""

    typing = FlinkTyping
    rules = FlinkRules
    default_skip = "next"

    def _typing(self, *, in_define: bool) -> PatternTyping:
        typing = self.typing(self.scope, self.plan_query, self.labels, in_define=in_define)
        assert isinstance(typing, FlinkTyping)
        typing.time = self._time()
        return typing

    def _time(self) -> int | None:
        first = self.clause.order_by[0].key if self.clause.order_by else None
        return self.scope.place(first) if isinstance(first, t.Name | t.Path) else None

    def check_input(self) -> None:
        """Accept any input."""

    def partition(self) -> list[int]:
        """Return the places of PARTITION BY: columns."""
        for key, _ in self.clause.partition_by:
            if not (isinstance(key, t.Name | t.Path) and scopes.is_path(key)):
                message = "ClassCastException: PARTITION BY takes columns, not expressions"
                raise DialectError("VALIDATION", message, key.at)
        places = [self._place(key) for key, _ in self.clause.partition_by]
        for (key, _), place in zip(self.clause.partition_by, places):
            if places.count(place) > 1:
                raise flink_error(f"Column '{scopes.split_column(key)[1]}' is ambiguous", key.at)  # type: ignore[arg-type]
        return places

    def _place(self, key: t.SqlExpression) -> int:
        assert isinstance(key, t.Name | t.Path)
        place = self.scope.place(key)
        if place is None:
            raise DialectUnsupported("the type of the column is not known", key.at)
        return place

    def order(self) -> list[tuple[int, bool, bool]]:
        """Return the keys; what they have to be is checked after the expressions."""
        keys = []
        for item in self.clause.order_by:
            if not (isinstance(item.key, t.Name | t.Path) and scopes.is_path(item.key)):
                raise DialectUnsupported("ORDER BY takes columns, not expressions", item.at)
            first = not item.descending if item.nulls_first is None else item.nulls_first
            keys.append((self._place(item.key), item.descending, first))
        return keys

    def check_form(self) -> None:
        """Everything of the form is checked after names and types, in ``output``."""

    def output(self, partition: list[int], order: list[int], measures: tuple[y.Typed, ...]) -> tuple[tuple[SqlColumn, ...],
        tuple[int, ...]]:
        """Return the output columns, after the checks that Flink's planner does last."""
        names = [measure.name.written for measure in self.clause.measures]
        taken = [self.source.columns[place].name for place in partition]
        for place, name in enumerate(names):
            if name in names[:place]:
                other = names.index(name)
                first, second = (self.clause.measures[each].expression for each in (other, place))
                entries = f"{name}={self._final(second)} and {name}={self._final(first)}"
                message = (
                    f"IllegalArgumentException: Multiple entries with same key: {entries}. "
                    f"SQL validation failed. Duplicate name '{name}' in MATCH_RECOGNIZE MEASURE alias list"
                )
                raise DialectError("VALIDATION", message, self.clause.measures[place].name.at)
        both = [name for name in names if name in taken]
        if both or not names:
            raise DialectError("VALIDATION", f"ValidationException: Columns ambiguously defined: {{{', '.join(both)}}}", self.clause.at)
        self._check_planned()
        return super().output(partition, order, measures)

    def _final(self, expression: t.SqlExpression) -> str:
        if isinstance(expression, t.Path) and scopes.is_path(expression):
            label, rest = split_path(expression)
            places = self.scope.places(rest)
            return f"FINAL({label.written}.${places[0] if places else rest})"
        return f"FINAL({calcite(expression)})"

    def _check_planned(self) -> None:
        """Refuse what the planner refuses."""
        clause = self.clause
        if clause.rows == "all":
            raise not_yet("All rows per match mode is not supported yet.", clause.at)
        node = updating(clause.input) if self.dialect.streaming else None
        if node is not None:
            raise not_yet(f"Match Recognize doesn't support consuming update changes which is produced by node {node}", clause.input.at)
        self._check_order()
        check_pattern(clause.pattern, self.dialect.name)
        target = None if clause.skip is None else clause.skip.target
        if target is not None and target.canonical not in {name.canonical for name in variables(clause.pattern)}:
            words = "The pattern name specified in AfterMatchSkipStrategy can not be found in the given Pattern"
            raise DialectError("MALFORMED_PATTERN", f"MalformedPatternException: {words}", target.at)

    def _check_order(self) -> None:
        streaming = self.dialect.streaming
        if not self.clause.order_by:
            words = "You must specify either rowtime or proctime for order by." if streaming else "You must specify non-empty order by."
            raise not_yet(words, self.clause.at)
        first = self.clause.order_by[0]
        column = self.source.columns[self._place(first.key)]
        if streaming and not column.is_time:
            raise not_yet("You must specify either rowtime or proctime for order by as the first one.", first.at)
        if not streaming and column.type.name not in ("timestamp", "any"):
            raise not_yet("You must specify time point for order by as the first one.", first.at)
        if first.descending:
            kind = "streaming table" if streaming else "table"
            raise not_yet(f"Primary sort order of a {kind} must be ascending on time.", first.at)

    def within(self) -> int | None:
        """Return the milliseconds of WITHIN: a constant of days to seconds. One of zero, or less as in ``'-1' SECOND``, sets no limit."""
        node = self.clause.within
        if node is None:
            return None
        typed = self._typing(in_define=True).typed(node)
        if not isinstance(typed, y.ConstantValue) or not isinstance(typed.value, datetime.timedelta):
            words = "Only constant intervals with millisecond resolution are supported as time constraints of patterns."
            raise not_yet(words, node.at)
        if isinstance(node, t.Literal) and node.value[0]:
            raise flink_error(f"Interval must be non-negative '{node.value[1]}'", node.at)
        return max(0, int(typed.value.total_seconds() * 1000)) or None

    def skip(self) -> plans.SkipTo:
        """Return where matching goes on."""
        skip = self.clause.skip
        if skip is not None and skip.target is not None:
            return plans.SkipTo(skip.kind, frozenset((skip.target.canonical,)), skip.target.written)
        return super().skip()


def updating(relation: t.Relation) -> str | None:
    """Return the node of Flink's plan by which rows of a relation are updated: groups without a window of time; None where none are."""
    while isinstance(relation, t.Aliased):
        relation = relation.relation
    body = relation.query.body if isinstance(relation, t.DerivedTable) else None
    if not isinstance(body, t.SqlSelect):
        return None
    if any(isinstance(each, t.Call) and each.name == "tumble" for key in body.group_by for each in (key, *find_calls(key))):
        return None
    shown = [_item_text(item, place) for place, item in enumerate(body.items)]
    keys = [scopes.split_column(key)[1] for key in body.group_by if isinstance(key, t.Name | t.Path)]
    if body.distinct and not body.grouped:
        keys = shown
    elif not body.grouped:
        return updating(body.relation) if body.relation is not None else None
    grouped = f"groupBy=[{', '.join(keys)}], " if keys else ""
    return f"GroupAggregate({grouped}select=[{', '.join(shown)}])"


def _item_text(item: t.SelectOutput, place: int) -> str:
    if item.expression is None:
        return "*"
    if isinstance(item.expression, t.Name | t.Path):
        return scopes.split_column(item.expression)[1]
    name = f"EXPR${place}" if item.alias is None else item.alias.written
    return f"{calcite(item.expression).replace('`', '')} AS {name}"


def check_pattern(pattern: t.SqlPattern, dialect: str) -> None:
    """Refuse patterns that Flink (or Alibaba) does not run."""
    extended = dialect == "alibaba"
    for node in t.descendants(pattern):
        if isinstance(node, t.PatternAlternation):
            raise not_yet(f"Expression not supported: {pattern_text(node)}. Currently, CEP doesn't support branching patterns.", node.at)
        if isinstance(node, t.Permutation):
            raise not_yet(f"Expression not supported: {pattern_text(node)}. Currently, CEP doesn't support PERMUTE patterns.", node.at)
        if isinstance(node, t.Exclusion) and not extended:
            raise not_yet(f"Expression not supported: {pattern_text(node)}. Currently, CEP doesn't support '{{-' '-}}' patterns.", node.at)
        if isinstance(node, t.QuantifiedPattern):
            _check_quantifier(node, extended)
        if extended and isinstance(node, t.PatternGroup):
            _check_first_of_group(node)
        if isinstance(node, t.Sequence) and not node.parts:
            raise _can_be_empty(node.at)
    fillers = {name.canonical for node in t.descendants(pattern) if isinstance(node, t.Exclusion) for name in variables(node)}
    seen: set[str] = set()
    for name in variables(pattern):
        if name.canonical in seen and name.canonical not in fillers:
            raise not_yet("Pattern variables must be unique. That might change in the future.", name.at)
        seen.add(name.canonical)
    _check_last(pattern, extended)


def _check_first_of_group(node: t.PatternGroup) -> None:
    first = node.pattern.parts[0] if isinstance(node.pattern, t.Sequence) and node.pattern.parts else node.pattern
    if isinstance(first, t.QuantifiedPattern) and first.least == 0:
        raise not_yet("The first pattern of a group must not be optional.", first.at)


def _check_quantifier(node: t.QuantifiedPattern, extended: bool) -> None:
    inner = node.pattern.pattern if isinstance(node.pattern, t.PatternGroup) else node.pattern
    if isinstance(node.pattern, t.PatternGroup) and not isinstance(inner, t.PatternVariable):
        if not extended:
            raise not_yet(f"Expression not supported: {pattern_text(inner)} Group patterns are not supported yet.", node.at)
        if node.greedy and (node.least, node.most) != (0, 1) and node.least != node.most:
            raise not_yet("Greedy quantifiers are not supported for group patterns.", node.at)
    if node.written.startswith("{,") and not extended:
        raise DialectError("VALIDATION", "IllegalArgumentException: The from should be a positive number greater than 0.", node.at)
    if node.most is not None and node.most < node.least:
        message = f"IllegalArgumentException: The to should be a number greater than or equal to from: {node.least}."
        raise DialectError("VALIDATION", message, node.at)
    if node.most == 0:
        message = "IllegalArgumentException: The to should be a number greater than or equal to from: 1."
        raise DialectError("VALIDATION", message, node.at)
    if (node.least, node.most) == (0, 1) and node.marks:
        raise not_yet("Reluctant optional variables are not supported yet.", node.at)


def _can_be_empty(at: int) -> DialectError:
    words = "Patterns that can produce empty matches are not supported. There must be at least one non-optional state."
    return not_yet(words, at)


OPTIONAL_BEFORE_NOT = (
    "UnsupportedOperationException: Specifying a pattern with an optional path to NOT condition is not supported yet. You can simulate "
    "such pattern with two independent patterns, one with and the other without the optional part."
)


def _check_last(pattern: t.SqlPattern, extended: bool) -> None:
    """Alibaba has the elements of flink-cep's interface, which runs a greedy last element."""
    parts = flat(pattern)
    takes = [part for part in parts if not isinstance(part, t.Anchor | t.Exclusion | t.NotNext)]
    if not takes or all(isinstance(part, t.QuantifiedPattern) and part.least == 0 for part in takes):
        raise _can_be_empty(pattern.at)
    named = [part for part in parts if not isinstance(part, t.Anchor | t.Exclusion)]
    if isinstance(named[0], t.NotNext):
        raise DialectUnsupported("a pattern does not begin with [^ ]", named[0].at)
    for before, after in pairwise(named):
        if isinstance(after, t.NotNext) and isinstance(before, t.QuantifiedPattern) and before.least == 0:
            raise DialectError("NOT_SUPPORTED", OPTIONAL_BEFORE_NOT, after.at)
        if _is_greedy(before) and isinstance(after, t.QuantifiedPattern) and after.least == 0 and after.most in (1, None):
            message = "MalformedPatternException: Optional pattern cannot be preceded by greedy pattern"
            raise DialectError("MALFORMED_PATTERN", message, after.at)
    last = parts[-1]
    if not extended and _is_greedy(last):
        words = (
            "Greedy quantifiers are not allowed as the last element of a Pattern yet. "
            "Finish your pattern with either a simple variable or reluctant quantifier."
        )
        raise not_yet(words, last.at)


def _is_greedy(part: t.SqlPattern) -> bool:
    """Return whether a quantifier is greedy: an optional variable and a fixed number of rows are not."""
    if not isinstance(part, t.QuantifiedPattern) or part.least == part.most or (part.least, part.most) == (0, 1):
        return False
    return part.marks in (0, 2)


def flat(pattern: t.SqlPattern) -> list[t.SqlPattern]:
    """Return the elements of a pattern, those of groups without a quantifier too."""
    if isinstance(pattern, t.PatternGroup):
        return flat(pattern.pattern)
    if isinstance(pattern, t.Sequence):
        return [each for part in pattern.parts for each in flat(part)]
    return [pattern]


__all__ = ["FlinkClause", "FlinkRules", "FlinkTyping", "check_pattern"]
