"""on T delete, select, update … of a named window or a table. What is found is evaluated as a whole before the window or table changes:
where an expression raises, it stays as it was."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from epl.plan.stores.on_statements import MatchPlan, OnDeletePlan, OnSelectPlan, OnUpdatePlan, OnWindowPlan
from epl.plan.stores.tables import Table
from runtime import result_set
from runtime.expressions import compile_predicate
from runtime.operators.changes import compile_changes
from runtime.operators.insert_into import Inserter
from runtime.operators.operator_context import OperatorContext
from runtime.operators.store_entry import store_of_window
from runtime.statements.on_event import OnEvent
from runtime.stores.indexes import LentRows
from runtime.stores.lookup import compile_lookup
from runtime.stores.named_window import NamedWindowStore
from runtime.stores.table import TableStore, events_of, table_store
from windows.event import NO_EVENTS, Event
from windows.protocol import RowReceiver


class Matches:
    """The rows of a window or table that an event concerns; its indexes are kept until ``close``."""

    def __init__(self, plan: MatchPlan, context: OperatorContext) -> None:
        environment = context.environment
        self._routed = context.core.routed
        self.store: NamedWindowStore | TableStore = (
            table_store(plan.store, environment) if isinstance(plan.store, Table) else store_of_window(context, plan.store))
        lookup, window = plan.lookup, self.store if isinstance(self.store, NamedWindowStore) else None
        self.scans = lookup.in_order and window is not None and not window.in_order
        """Whether all rows are read in spite of an index: it would give them in another order, and others of a batch window."""
        if window is not None and lookup.in_order and lookup.of_one_key:  # the index has them in order of arrival
            lookup = attrs.evolve(lookup, in_order=False)
        self.lookup = lookup
        self.rows = None if lookup.index is None or self.scans else LentRows(self.store.rows)
        """Where the look-up has its indexes; None without one."""
        self._offered = plan.offered
        if self._offered is not None:
            self.store.rows.offer(self._offered)
        self._look_up = None if self.rows is None else compile_lookup(lookup, self.rows, environment, 2)
        tests = lookup.applied if self._look_up is None else ()
        self._tests = [compile_predicate(each, environment, 2) for each in tests]
        if plan.where is not None:
            self._tests.append(compile_predicate(plan.where, environment, 2))

    def of(self, event: Event) -> list[Event]:
        """Return the rows; without an index in the order in which the window or table is iterated."""
        rows = list(self.store if self._look_up is None else self._look_up((None, event)))
        if self._routed.working:
            self._routed.read(len(rows))
        for test in self._tests:
            rows = [row for row in rows if test(row, event)]
        return rows

    def close(self) -> None:
        if self.rows is not None:
            self.rows.close()
        if self._offered is not None:
            self.store.rows.withdraw(self._offered)


class RunningOnWindow(OnEvent):
    """Base of the statements: ``update`` takes the triggering events."""

    def __init__(self, plan: OnWindowPlan, context: OperatorContext) -> None:
        self.matches = Matches(plan.match, context)
        super().__init__(plan.trigger, context, self)
        self._store = self.matches.store

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        for event in new:
            self.trigger(event)

    def trigger(self, event: Event) -> None:
        raise NotImplementedError

    def close(self) -> None:
        super().close()
        self.matches.close()


class RunningOnDelete(RunningOnWindow):
    """Listeners get the deleted rows as insert stream."""

    def __init__(self, plan: OnDeletePlan, context: OperatorContext) -> None:
        super().__init__(plan, context)
        self._silent = plan.silent

    def trigger(self, event: Event) -> None:
        rows = self.matches.of(event)
        if rows:
            self._store.change(NO_EVENTS, rows, silent=self._silent)
            self.context.output.update(events_of(rows), NO_EVENTS)


class RunningOnUpdate(RunningOnWindow):
    """Changed copies take the rows' places; listeners get both."""

    def __init__(self, plan: OnUpdatePlan, context: OperatorContext) -> None:
        super().__init__(plan, context)
        self._changed = compile_changes(plan.assignments, plan.match.store.event_type, context.environment, 3, in_turn=True)

    def trigger(self, event: Event) -> None:
        rows = self.matches.of(event)
        if not rows:
            return
        changed = [self._changed(row, event, row) for row in rows]
        before = events_of(rows)
        self._store.change(changed, rows)
        self.context.output.update(events_of(changed), before)


class _Rows:
    """Passes on what has rows: a row of aggregations that having excludes is not output."""

    def __init__(self, sink: RowReceiver) -> None:
        self._sink = sink

    def update(self, new: Sequence[Any], old: Sequence[Any]) -> None:
        if new or old:
            self._sink.update(new, old)


class RunningOnSelect(RunningOnWindow):
    """Rows with the triggering event → result set → insert into → listeners; then the rows leave, if they are to be deleted."""

    def __init__(self, plan: OnSelectPlan, context: OperatorContext) -> None:
        super().__init__(plan, context)
        self._result_set = result_set.build(plan.result_set, context.environment)
        self._inserter = None if plan.insert is None else Inserter(plan.insert, plan.result_set, context, context.output)
        sink: RowReceiver = context.output if self._inserter is None else self._inserter
        self._result_set.child = _Rows(sink)
        self._emits_always = plan.result_set.shape == "fully aggregated"
        self._deletes = plan.delete

    def trigger(self, event: Event) -> None:
        rows = self.matches.of(event)
        if rows or self._emits_always:
            self._result_set.update([(row, event) for row in rows], NO_EVENTS)
        if self._deletes:
            self._store.change(NO_EVENTS, rows)


__all__ = ["Matches", "RunningOnDelete", "RunningOnSelect", "RunningOnUpdate", "RunningOnWindow"]
