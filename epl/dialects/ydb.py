"""The clause as YDB has it: its references, its refusals, partition and order by expressions."""
from __future__ import annotations

from epl.dialects import scopes
from epl.dialects import typed as y
from epl.dialects import types as k
from epl.dialects.errors import DialectError, DialectUnsupported
from epl.dialects.expression_types import Typing
from epl.dialects.pattern_types import PatternTyping, split_path
from epl.dialects.plans import RecognitionPlan
from epl.dialects.recognition import ClauseAnalysis, ClauseRules
from epl.dialects.scopes import SqlColumn
from epl.dialects.syntax import tree as t

MOST_PERMUTED, DEEPEST = 6, 20


def ydb_error(words: str, at: int) -> DialectError:
    """Return an error of YDB."""
    return DialectError("GENERIC_ERROR", words, at)


class YdbTyping(PatternTyping):
    """Types measures and conditions. ``own``: the variable whose condition it is."""

    own: t.Name | None = None
    in_navigation = False

    def _name(self, node: t.Name) -> y.Typed:
        place = self.scope.place(node)
        if place is None:
            return y.ConstantValue(k.ANY, None)
        raise ydb_error(f"Row pattern variable is required before column {node.written}", node.at)

    def _path(self, node: t.Path) -> y.Typed:
        if not scopes.is_path(node):
            return super()._path(node)
        label, _ = split_path(node)
        own = self.own is not None and label.canonical == self.own.canonical
        if not (self.in_navigation or self.in_aggregate or (own and label.canonical in self.labels)):
            if self.scope.is_open:
                return y.ConstantValue(k.ANY, None)
            raise ydb_error("Row pattern navigation function is required", node.at)
        if own and not self.in_navigation:
            typed = super()._path(node)
            assert isinstance(typed, y.Navigated | y.ConstantValue)
            return typed if isinstance(typed, y.ConstantValue) else y.Navigated(typed.type, y.Navigation(None), typed.column)
        return super()._path(node)

    def no_label(self, node: t.Path) -> DialectError:
        """Return the error of a path that begins with no variable."""
        return ydb_error(f"Unknown row pattern variable: {split_path(node)[0].written}", node.at)

    def pattern_call(self, node: t.Call) -> y.Typed:
        """Return the typed call of FIRST or LAST, which take one argument."""
        if node.name not in ("first", "last"):
            raise ydb_error(f"Unknown builtin: {node.name.upper()}", node.at)
        if len(node.arguments) != 1:
            raise ydb_error(f"{node.name.upper()} takes one argument", node.at)
        before, self.in_navigation = self.in_navigation, True
        try:
            return super().pattern_call(node)
        finally:
            self.in_navigation = before

    def one_label(self, node: t.Call) -> frozenset[str] | None:
        """Return the variable of a call; refuse none and several."""
        labels = self._column_labels(node)
        if len(labels) != 1 or None in labels:
            if self.scope.is_open or (not labels and node.name == "count"):
                return None
            raise ydb_error("Row pattern navigation function and aggregates take the columns of exactly one row pattern variable", node.at)
        return super().one_label(node)

    def takes_distinct(self) -> bool:
        """Return that aggregates may have DISTINCT."""
        return True

    def aggregate_call(self, node: t.Call) -> y.Typed:
        """Return the typed call of an aggregate, which conditions do not have."""
        if self.in_define:
            raise ydb_error(f"Aggregate function {node.name} is not allowed in DEFINE", node.at)
        return super().aggregate_call(node)

    def condition(self, node: t.SqlExpression, message: str) -> y.Typed:
        """Return a typed condition."""
        typed = self.typed(node)
        if typed.type.name not in ("boolean", "unknown", "any"):
            raise ydb_error("DEFINE expression must be a predicate", node.at)
        return typed


class YdbRules(ClauseRules):
    """What YDB asks of names and of the pattern's form."""

    def check(self) -> None:
        """Refuse in YDB's words."""
        for subset in self.subsets:
            raise ydb_error("SUBSET is not implemented yet", subset.at)
        for node in t.descendants(self.pattern):
            if isinstance(node, t.Anchor):
                self.primary.add(node.sign)
            if isinstance(node, t.Permutation) and len(node.parts) > MOST_PERMUTED:
                raise ydb_error(f"Too many items in permute: at most {MOST_PERMUTED}", node.at)
        if _depth(self.pattern) > DEEPEST:
            raise ydb_error(f"To big nesting level in the pattern: at most {DEEPEST}", self.pattern.at)
        self.labels = {label: frozenset((label,)) for label in self.primary}
        seen: set[str] = set()
        for define in self.defines:
            label = define.name.canonical
            if label not in self.primary:
                raise ydb_error(f"ROW PATTERN VARIABLE {label} is defined, but not mentioned in the PATTERN", define.at)
            if label in seen:
                raise ydb_error(f"ROW PATTERN VARIABLE {label} is defined twice", define.at)
            seen.add(label)
        skip = self.skip
        if skip is not None and skip.target is not None and skip.target.canonical not in self.primary:
            raise ydb_error(f"Unknown pattern variable in AFTER MATCH SKIP {skip.written}", skip.target.at)


def _depth(pattern: t.SqlPattern) -> int:
    if isinstance(pattern, t.PatternGroup):
        return 1 + _depth(pattern.pattern)
    return max((_depth(child) for child in t.children(pattern) if isinstance(child, t.SqlPattern)), default=0)


class YdbClause(ClauseAnalysis):
    """The clause of YDB."""

    typing = YdbTyping
    rules = YdbRules

    def check_input(self) -> None:
        """Accept any input."""

    def partition(self) -> list[int]:
        """Return the places of the keys; those that are expressions are computed."""
        return [self._key(key) for key, _ in self.clause.partition_by]

    def order(self) -> list[tuple[int, bool, bool]]:
        """Return the keys of ORDER BY."""
        return [(self._key(item.key), item.descending, not item.descending) for item in self.clause.order_by]

    def _key(self, key: t.SqlExpression) -> int:
        typed = Typing(self.scope, self.plan_query).typed(key)
        if isinstance(typed, y.ColumnValue):
            return typed.index
        self.computed.append(typed)
        return len(self.source.columns) + len(self.computed) - 1

    def shows_order(self) -> bool:
        """Return that ALL ROWS shows the measures, then all columns of the input."""
        return False

    def check_output(self, columns: tuple[SqlColumn, ...]) -> None:
        """Rows without columns are rows."""

    def plan(self) -> RecognitionPlan:
        """Return the plan of the clause."""
        skip = self.clause.skip
        plan = super().plan()
        if skip is not None and skip.target is not None and not self.scope.is_open:
            raise DialectUnsupported(f"AFTER MATCH SKIP {skip.written} is not implemented yet", skip.at)
        return plan

    def defines(self) -> dict[str, y.Typed]:
        """Return the typed conditions by variable."""
        typed = {}
        for define in self.clause.defines:
            typing = self._typing(in_define=True)
            assert isinstance(typing, YdbTyping)
            typing.own = define.name
            typed[define.name.canonical] = typing.condition(define.condition, "")
        return typed

    def output(self, partition: list[int], order: list[int], measures: tuple[y.Typed, ...]) -> tuple[tuple[SqlColumn, ...],
        tuple[int, ...]]:
        """Return the output columns: ONE ROW: keys and measures; ALL ROWS: measures and the input's columns."""
        names = [measure.name.written for measure in self.clause.measures]
        own = [SqlColumn(name, typed.type) for name, typed in zip(names, measures)]
        source = [SqlColumn(column.name, column.type) for column in self.source.columns]
        if self.clause.rows == "all":
            return (*own, *source), tuple(range(len(source)))
        keys = []
        for place, (key, alias) in zip(partition, self.clause.partition_by):
            name = alias.written if alias is not None else key.written if isinstance(key, t.Name) else None
            kind = source[place].type if place < len(source) else self.computed[place - len(source)].type
            keys.append(SqlColumn(name, kind))
        return (*keys, *own), ()


__all__ = ["YdbClause"]
