"""``on …``: select, delete, update, set, merge and split statements that an event or pattern triggers."""

from __future__ import annotations

from typing import Any

from pyparsing import FollowedBy, Opt, ParserElement, ZeroOrMore

from epl import syntax as S
from epl.grammar.clauses import Clauses
from epl.grammar.dialect_clauses import recognition_source
from epl.grammar.elements import FieldValue, Kit
from epl.spans import Span


class Triggers:
    """``statement`` is a whole on-statement."""

    def __init__(self, kit: Kit, clauses: Clauses, pattern: ParserElement) -> None:
        self.kit = kit
        self.clauses = clauses
        self.target = kit.field("target", kit.name) + Opt(clauses.alias)
        self.set = kit.key("set") + kit.fields("assignments", clauses.assignments)
        actions = kit.dispatch(
            {
                "select": self._selecting(),
                "insert": self._selecting(),
                "delete": kit.value("make", S.OnDelete, "delete from") + self.target + Opt(clauses.where),
                "update": kit.value("make", S.OnUpdate, "update") + self.target + self.set + Opt(clauses.where),
                "set": kit.value("make", S.OnSet, FollowedBy(kit.key("set"))) + self.set,
                "merge": self._merge(),
            }
        )
        trigger = kit.field("trigger", self._trigger())

        def build(make: Any, span: Span, **fields: Any) -> S.Body:
            body: S.Body = make(**fields, span=span)
            return body

        self.statement = kit.node(build, kit.key("on") + trigger + actions)

    def _trigger(self) -> ParserElement:
        kit, clauses = self.kit, self.clauses
        source = kit.dispatch({"pattern": clauses.pattern_source}, clauses.type_filter)
        stream = kit.node(S.Stream, kit.field("source", recognition_source(kit, source)) + Opt(clauses.source_alias))
        return kit.node(S.OnTrigger, kit.field("source", stream))

    # -------------------------------------------------------------- select, insert, split

    def _selecting(self) -> ParserElement:
        """Parse an on-select where its only select has a from clause, else a split."""
        kit, clauses = self.kit, self.clauses
        delete = Opt(Opt(kit.key("and")) + kit.value("delete", True, "delete"))
        head = kit.key("select") + delete + Opt(kit.value("distinct", True, "distinct")) + clauses.items
        window = self._from(kit.node(S.TypeFilter, kit.field("type_name", kit.name)))
        unfolded = self._from(kit.node(_branch_filter, kit.fields("contained", clauses.contained + ZeroOrMore(clauses.contained))))
        tail = Opt(clauses.where) + Opt(clauses.group_by) + Opt(clauses.having) + Opt(clauses.order_by) + Opt(clauses.limit)
        insert = kit.field("insert_into", clauses.insert_into)
        first = self._branch(Opt(insert) + head + Opt(window) + tail)
        more = self._branch(insert + kit.key("select") + clauses.items + Opt(unfolded) + Opt(clauses.where))
        output = Opt(kit.key("output") + kit.field("output", kit.choice("first all")))

        def build(parts: list[FieldValue], span: Span) -> FieldValue:
            return FieldValue("make", _select_maker(parts))

        return kit.convert(build, first + Opt(more + ZeroOrMore(more) + output))

    def _from(self, source: ParserElement) -> ParserElement:
        kit = self.kit
        stream = kit.node(S.Stream, kit.field("source", source) + Opt(self.clauses.alias))
        return kit.key("from") + kit.field("from_", kit.convert(lambda parts, span: S.From(tuple(parts), span=span), stream))

    def _branch(self, element: ParserElement) -> ParserElement:
        return self.kit.convert(lambda parts, span: FieldValue("branch", (dict(parts), span)), element)

    # -------------------------------------------------------------- merge

    def _merge(self) -> ParserElement:
        kit, clauses = self.kit, self.clauses
        where = Opt(clauses.where)
        columns = Opt(clauses.insert_columns)
        into = Opt(kit.key("into") + kit.field("target", kit.type_name))
        precedence = Opt(clauses.precedence)
        insert = kit.node(
            S.MergeAction, kit.value("kind", "insert", "insert") + into + columns + precedence + kit.key("select") + clauses.items + where
        )
        direct_insert = kit.node(S.MergeAction, kit.value("kind", "insert", "insert") + columns + kit.key("select") + clauses.items)
        update = kit.node(S.MergeAction, kit.value("kind", "update", "update") + self.set + where)
        delete = kit.node(S.MergeAction, kit.value("kind", "delete", "delete") + where)
        condition = Opt(kit.key("and") + kit.field("condition", clauses.expression))
        then_matched = kit.key("then") + kit.dispatch({"insert": insert, "update": update, "delete": delete})
        then_not = kit.key("then") + kit.dispatch({"insert": insert})
        matched = kit.value("matched", True, "when matched") + condition + kit.fields("actions", then_matched + ZeroOrMore(then_matched))
        unmatched = kit.value("matched", False, "when not matched") + condition + kit.fields("actions", then_not + ZeroOrMore(then_not))
        branch = kit.node(S.MergeBranch, kit.ahead(lambda _, after: after.key == "not", unmatched, "when not matched") | matched)
        direct = kit.node(S.MergeBranch, kit.value("matched", None, FollowedBy(kit.key("insert"))) + kit.fields("actions", direct_insert))
        branches = kit.dispatch(
            {"insert": kit.fields("branches", direct)}, Opt(clauses.where) + kit.fields("branches", branch + ZeroOrMore(branch))
        )
        return kit.value("make", S.OnMerge, "merge") + Opt(kit.key("into")) + self.target + branches


def _branch_filter(contained: tuple[S.Contained, ...], span: Span) -> S.TypeFilter:
    """Return the from clause of a split's branch names no type: it unfolds the triggering event."""
    return S.TypeFilter("", (), contained, span=span)


def _select_maker(parts: list[FieldValue]) -> Any:
    """Return what makes the statement of its trigger: one select from a window is an on-select, everything else a split."""
    output: Any = next((bound.value for bound in parts if bound.field == "output"), None)
    read: list[Any] = [bound.value for bound in parts if bound.field == "branch"]
    delete = any(fields.pop("delete", False) for fields, _ in read)
    selects = [S.Select(**fields, span=span) for fields, span in read]
    first = selects[0]
    if len(selects) == 1 and first.from_ is not None:
        return lambda trigger, span: S.OnSelect(trigger, first, delete, span=span)
    branches = tuple(S.SplitBranch(select, span=select.span) for select in selects)
    return lambda trigger, span: S.OnSplit(trigger, branches, output, span=span)
