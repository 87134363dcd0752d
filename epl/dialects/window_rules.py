"""Windows with a row pattern: everything that Trino refuses is refused so; the rest is not supported."""
from __future__ import annotations

from epl.dialects import scopes
from epl.dialects.aggregates import is_aggregate
from epl.dialects.errors import DialectError, DialectUnsupported
from epl.dialects.expression_types import PlanQuery
from epl.dialects.hints import OF_WINDOWS
from epl.dialects.pattern_types import PatternTyping
from epl.dialects.recognition import ClauseRules
from epl.dialects.syntax import tree as t
from epl.dialects.syntax.written import write_expression

NESTED = "Cannot nest window functions or row pattern measures inside window specification"
FROM = "write the pattern in the FROM clause: FROM t MATCH_RECOGNIZE (…)"
NO_SCALAR = "{} clause cannot contain aggregations, window functions or grouping operations: [{}]"


def window_calls(node: t.SqlNode) -> list[t.Call | t.OverMeasure]:
    """Return the window functions and measures over windows, not those in queries inside."""
    listed: list[t.Call | t.OverMeasure] = []
    if isinstance(node, t.OverMeasure) or (isinstance(node, t.Call) and node.over is not None):
        listed.append(node)
    for child in t.children(node):
        if not isinstance(child, t.SqlQuery):
            listed.extend(window_calls(child))
    return listed


def refuse_in_clause(node: t.SqlExpression | None, clause: str, dialect: str) -> None:
    """Refuse aggregates and window functions where only scalar expressions may be."""
    if node is None:
        return
    for each in _not_scalar(node, dialect):
        raise DialectError("EXPRESSION_NOT_SCALAR", NO_SCALAR.format(clause, write_expression(each)), node.at)


def _not_scalar(node: t.SqlNode, dialect: str) -> list[t.SqlNode]:
    is_call = isinstance(node, t.Call) and (node.over is not None or is_aggregate(node.name, dialect))
    if is_call or isinstance(node, t.OverMeasure):
        return [node]
    return [each for child in t.children(node) if not isinstance(child, t.SqlQuery) for each in _not_scalar(child, dialect)]


class WindowRules:
    """Checks the windows of one select."""

    def __init__(self, select: t.SqlSelect, scope: scopes.SqlScope, plan_query: PlanQuery) -> None:
        self.select = select
        self.scope = scope
        self.plan_query = plan_query
        self.named = {name.canonical: window for name, window in select.windows}

    def refuse(self, order_by: tuple[t.SortItem, ...]) -> None:
        """Refuse the select where it uses windows."""
        select = self.select
        if select.having is not None:
            for each in window_calls(select.having):
                raise DialectError("NESTED_WINDOW", "HAVING clause cannot contain window functions or row pattern measures", each.at)
        for _, window in select.windows:
            self._check(window)
        uses = [each for item in select.items if item.expression is not None for each in window_calls(item.expression)]
        uses += [each for item in order_by for each in window_calls(item.key)]
        outer = [each for each in uses if not any(each is not other and each in window_calls(other)[1:] for other in uses)]
        for item in select.items:
            self._check_nesting(item.expression)
        for use in outer:
            self._check_use(use)
        if uses or select.windows:
            at = uses[0].at if uses else select.windows[0][1].at
            if self._has_pattern(uses):
                raise DialectUnsupported("row pattern recognition in windows is not supported", at, hint=FROM)
            raise DialectUnsupported("window functions are not supported", at, hint=OF_WINDOWS)

    def _has_pattern(self, uses: list[t.Call | t.OverMeasure]) -> bool:
        windows = [*(window for _, window in self.select.windows), *(each.over for each in uses if each.over is not None)]
        return any(window.frame is not None and window.frame.pattern is not None for window in windows)

    def _check_nesting(self, node: t.SqlExpression | None) -> None:
        """Refuse window functions in the arguments of an aggregate."""
        if node is None:
            return
        for each in t.descendants(node):
            if isinstance(each, t.Call) and is_aggregate(each.name, self.scope.dialect.name):
                for argument in each.arguments:
                    for nested in window_calls(argument):
                        message = f"Cannot nest window functions or row pattern measures inside aggregation '{each.name}'"
                        raise DialectError("NESTED_WINDOW", message, nested.at)

    def _check_use(self, use: t.Call | t.OverMeasure) -> None:
        assert use.over is not None
        self._check(use.over)
        if isinstance(use, t.OverMeasure):
            frame = self._frame(use.over)
            if frame is None or use.name.canonical not in {measure.name.canonical for measure in frame.measures}:
                message = f"Measure {use.name.written} is not defined in the corresponding window"
                raise DialectError("INVALID_WINDOW_MEASURE", message, use.at)

    def _frame(self, window: t.WindowSpec) -> t.WindowFrame | None:
        if window.frame is None and window.name is not None and window.name.canonical in self.named:
            return self._frame(self.named[window.name.canonical])
        return window.frame

    def _check(self, window: t.WindowSpec) -> None:
        if window.name is not None and window.name.canonical not in self.named:
            raise DialectError("INVALID_WINDOW_REFERENCE", f"Cannot resolve WINDOW name {window.name.written}", window.name.at)
        for child in t.children(window):
            for nested in window_calls(child):
                raise DialectError("NESTED_WINDOW", NESTED, nested.at)
        frame = window.frame
        if frame is None or frame.pattern is None:
            return
        self._check_frame(frame, frame.pattern)
        self._check_groups(frame)

    def _check_frame(self, frame: t.WindowFrame, pattern: t.SqlPattern) -> None:
        if frame.kind != "ROWS":
            raise DialectError("INVALID_WINDOW_FRAME", "Pattern recognition requires ROWS frame type", frame.at)
        if frame.start[0] != "CURRENT ROW" or frame.end is None:
            message = "Pattern recognition requires frame specified as BETWEEN CURRENT ROW AND ..."
            raise DialectError("INVALID_WINDOW_FRAME", message, frame.at)
        rules = ClauseRules(pattern, frame.subsets, frame.defines, frame.measures, frame.skip)
        rules.check()
        for node in t.descendants(pattern):
            if isinstance(node, t.Anchor):
                raise DialectError("INVALID_ROW_PATTERN", "Anchor pattern syntax is not allowed in window", node.at)
        rules.check_nesting()
        for measure in frame.measures:
            self._typing(rules, False).typed(measure.expression)
        for define in frame.defines:
            message = "Expression defining a label must be boolean (actual type: %s)"
            self._typing(rules, True).condition(define.condition, message)

    def _typing(self, rules: ClauseRules, in_define: bool) -> PatternTyping:
        return PatternTyping(self.scope, self.plan_query, rules.labels, in_define=in_define, in_window=True)

    def _check_groups(self, frame: t.WindowFrame) -> None:
        """Check that the columns of a grouped select are among the keys."""
        select = self.select
        if not select.grouped:
            return
        keys = {self.scope.fold(key.written) for key in select.group_by if isinstance(key, t.Name)}
        listed: list[tuple[t.SqlExpression, str, int]] = []
        if frame.end is not None and frame.end[1] is not None:
            listed.append((frame.end[1], "Window frame end", frame.end[1].at))
        listed += [(measure.expression, "Row pattern measure", measure.expression.at) for measure in frame.measures]
        listed += [(define.condition, "Row pattern variable definition", define.at) for define in frame.defines]
        for node, what, at in listed:
            if any(self.scope.fold(name) not in keys for name in self._columns(node)):
                message = f"{what} must be an aggregate expression or appear in GROUP BY clause"
                raise DialectError("EXPRESSION_NOT_AGGREGATE", message, at)

    def _columns(self, node: t.SqlNode) -> list[str]:
        if isinstance(node, t.Path):
            return [node.field.written]
        if isinstance(node, t.Name):
            return [node.written]
        inside = node.arguments if isinstance(node, t.Call) else t.children(node)
        return [name for child in inside if not isinstance(child, t.SqlQuery) for name in self._columns(child)]


__all__ = ["WindowRules", "refuse_in_clause", "window_calls"]
