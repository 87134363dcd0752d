"""on T merge W …: rows are inserted, updated and deleted in one delta. All is evaluated before anything changes."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from epl.plan.statements import InsertPlan
from epl.plan.stores.on_statements import MergeActionPlan, MergeBranchPlan, OnMergePlan
from runtime.expressions import Environment, compile_predicate
from runtime.expressions.compiled import compile_row
from runtime.operators.changes import compile_changes
from runtime.operators.insert_into import converter, insert_route
from runtime.operators.operator_context import OperatorContext
from runtime.statements.on_window import RunningOnWindow
from runtime.stores.table import TableStore, events_of, table_store
from windows.event import Event, event_class


class Outcome:
    """What the branches have decided for one event. ``new``, ``old``: of the window or table; ``insert_route``: events for other
    streams."""

    def __init__(self) -> None:
        self.new: list[Event] = []
        self.old: list[Event] = []
        self.routed: list[tuple[Callable[[Event], None], Event]] = []

    def withdraw(self, row: Event) -> None:
        """Take back a new row, which was one of the last."""
        for place in range(len(self.new) - 1, -1, -1):
            if self.new[place] is row:
                del self.new[place]
                return


class Subject:
    """What a branch acts on: the events that its expressions read. ``events``: the row as it is by then, the event, and the row as it
    was; or the event alone. The actions on a table's row follow one another.
    """

    def __init__(self, *events: Event) -> None:
        self.events = events
        self.deleted = False

    @property
    def to_change(self) -> tuple[Event, ...] | None:
        """What an update reads; None where the row is gone."""
        return None if self.deleted else self.events

    def update(self, row: Event, outcome: Outcome) -> None:
        before, event, initial = self.events
        if before is initial:
            outcome.old.append(initial)
        else:
            outcome.withdraw(before)
        outcome.new.append(row)
        self.events = row, event, initial

    def delete(self, outcome: Outcome) -> None:
        before, _, initial = self.events
        if before is not initial:
            outcome.withdraw(before)
        elif not self.deleted:
            outcome.old.append(initial)
        self.deleted = True


class WindowSubject(Subject):
    """A row of a named window: each update and deletion is one of the row as it was. Two updates give two rows, and one that is updated and
    deleted leaves a changed copy; what is inserted reads the last copy. So Esper."""

    def update(self, row: Event, outcome: Outcome) -> None:
        outcome.old.append(self.events[2])
        outcome.new.append(row)
        self.events = (row, *self.events[1:])

    def delete(self, outcome: Outcome) -> None:
        outcome.old.append(self.events[2])

    @property
    def to_change(self) -> tuple[Event, ...] | None:
        return (self.events[2], *self.events[1:])


Act = Callable[[Subject, Outcome], None]


class RunningOnMerge(RunningOnWindow):
    """Listeners get the rows that enter and leave by it."""

    def __init__(self, plan: OnMergePlan, context: OperatorContext) -> None:
        super().__init__(plan, context)
        self._always = plan.always
        self._updated = {each.property for branch in plan.branches for action in branch.actions for each in action.assignments}
        self._subject: type[Subject] = WindowSubject
        if isinstance(self._store, TableStore):
            self._subject = Subject
            self._store.merged.update(self._updated)
        changes = [sum(action.kind != "insert" for action in branch.actions) for branch in plan.branches]
        self._repeats = any(count > 1 for count in changes)
        """Whether listeners may get a row that leaves more than once; it leaves the window once."""
        self._matched = [_Branch(branch, plan, context) for branch in plan.branches if branch.matched]
        self._unmatched = [_Branch(branch, plan, context) for branch in plan.branches if not branch.matched]

    def close(self) -> None:
        super().close()
        if isinstance(self._store, TableStore):
            self._store.merged -= Counter(self._updated)

    def trigger(self, event: Event) -> None:
        outcome = Outcome()
        rows = [] if self._always else self.matches.of(event)
        branches = self._matched if rows else self._unmatched
        subject_of = self._subject
        for subject in [subject_of(row, event, row) for row in rows] or [Subject(event)]:
            for branch in branches:
                if branch.take(subject, outcome):
                    break
        if outcome.new or outcome.old:
            before = events_of(outcome.old)
            self._store.change(outcome.new, list(dict.fromkeys(outcome.old)) if self._repeats else outcome.old)
            self.context.output.update(events_of(outcome.new), before)
        for route, inserted in outcome.routed:
            route(inserted)


class _Branch:
    def __init__(self, plan: MergeBranchPlan, merge: OnMergePlan, context: OperatorContext) -> None:
        arity = 3 if plan.matched else 1
        environment = context.environment
        self._condition = None if plan.condition is None else compile_predicate(plan.condition, environment, arity)
        self._actions = [_action(action, merge, arity, context) for action in plan.actions]

    def take(self, subject: Subject, outcome: Outcome) -> bool:
        """Act, if the condition holds; return whether it does."""
        if self._condition is not None and not self._condition(*subject.events):
            return False
        for act in self._actions:
            act(subject, outcome)
        return True


def _action(plan: MergeActionPlan, merge: OnMergePlan, arity: int, context: OperatorContext) -> Act:
    if plan.of_event and arity > 1:
        return _on_event_alone(_action(plan, merge, 1, context))
    act = _act(plan, merge, arity, context)
    if plan.where is None:
        return act
    test = compile_predicate(plan.where, context.environment, arity)

    def act_where(subject: Subject, outcome: Outcome) -> None:
        if test(*subject.events):
            act(subject, outcome)

    return act_where


def _on_event_alone(act: Act) -> Act:
    """Call the action with the event alone, of row, event and the row as it was."""
    return lambda subject, outcome: act(Subject(subject.events[1]), outcome)


def _act(plan: MergeActionPlan, merge: OnMergePlan, arity: int, context: OperatorContext) -> Act:
    if plan.kind == "delete":
        return lambda subject, outcome: subject.delete(outcome)
    if plan.kind == "update":
        changed = compile_changes(plan.assignments, merge.match.store.event_type, context.environment, 3, in_turn=True)

        def update(subject: Subject, outcome: Outcome) -> None:
            events = subject.to_change
            if events is not None:
                subject.update(changed(*events), outcome)

        return update
    assert plan.insert is not None
    return _insertion(plan, plan.insert, merge, arity, context)


def _insertion(plan: MergeActionPlan, insert: InsertPlan, merge: OnMergePlan, arity: int, context: OperatorContext) -> Act:
    row = row_builder(plan, insert, merge, arity, context)
    if is_own(insert, merge):
        return lambda subject, outcome: outcome.new.append(row(*subject.events))
    route = insert_route(insert, context)
    return lambda subject, outcome: outcome.routed.append((route, row(*subject.events)))


def is_own(insert: InsertPlan, merge: OnMergePlan) -> bool:
    """Return whether a merge inserts into the window or table that it is about."""
    store = merge.match.store
    return insert.table is store if insert.table is not None else insert.target is store.event_type


def row_builder(
    plan: MergeActionPlan, insert: InsertPlan, merge: OnMergePlan, arity: int, context: OperatorContext
) -> Callable[..., Event]:
    """Return f(events) → the row that is inserted."""
    row, convert = _row(plan, arity, context.environment), converter(insert)
    if insert.table is not None and is_own(insert, merge):
        row_of = table_store(insert.table, context.environment).build_row
        return lambda *events: row_of(convert(row(*events)))
    return lambda *events: convert(row(*events))


def _row(plan: MergeActionPlan, arity: int, environment: Environment) -> Callable[..., Any]:
    """events → the row that is inserted."""
    if plan.forward is not None:
        place = plan.forward
        return lambda *events: events[place]
    assert plan.row_type is not None
    new, values = event_class(plan.row_type), compile_row(plan.columns, environment, arity)
    return lambda *events: new(*values(*events, True, None))


__all__ = ["RunningOnMerge", "is_own", "row_builder"]
