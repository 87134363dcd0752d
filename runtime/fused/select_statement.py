"""The text of a fused select: for no window, a length window and a time window; one row an event, a delta or a group."""
from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from epl.attribute_text import name_attributes, name_class_attributes
from epl.generated_code import field_name
from epl.plan.context.contexts import constant_paths
from epl.plan.result_set import ResultSetPlan
from runtime.conversion.computed_rows import print_row_lines
from runtime.conversion.rows import row_lines
from runtime.event_loop import lone_receiver
from runtime.event_loop.prepared_filters import LoneTarget
from runtime.expressions.function_factory import FunctionFactory, ObjectFactory
from runtime.expressions.generated_steps import GeneratedSteps, Place
from runtime.expressions.source_lines import indent_lines, under
from runtime.fused import contracts
from runtime.fused.aggregation import Aggregations, SelectPrinter
from runtime.fused.recognition import fuse_recognition
from runtime.operators.partition_entry import PartitionEntry
from runtime.operators.stream_entry import StreamReceiver
from runtime.result_set.output_rate.conditions import OutputCondition
from runtime.result_set.output_rate.group_rows import OneLevel
from runtime.result_set.output_rate.stage import OutputStage
from runtime.result_set.projection import OutputRows
from runtime.result_set.shapes import Aggregating, Forward, FullyAggregated, ResultSet, RowPerEvent, RowPerGroup, Unaggregated
from runtime.statements.select_statement import RunningSelect
from runtime.statements.statement_output import StatementOutput
from runtime.stores.table import TableAggregator
from windows.chain import PassThrough
from windows.event import NO_EVENTS, event_class
from windows.generated_steps import Expire, WindowSteps

RARE = ("careful", "careful_expire")
"""What the operators do themselves."""

SHAPES: tuple[type[ResultSet], ...] = (Forward, Unaggregated, FullyAggregated, RowPerEvent, RowPerGroup)


def fuse(running: RunningSelect) -> None:
    """Let a generated function stand for the operators, if the plan is one of those it is made for."""
    if running.recognizer is not None:
        if contracts.ROW_PATTERN.beyond(running.plan) is None:
            fuse_recognition(running)
    else:
        fused = running.context.environment.printed("fused", (running.plan,), lambda: _fuse(running))
        if fused is not None:
            fused.attach(running)


def _fuse(running: RunningSelect) -> _Fused | None:
    """Return what all instances have in common with this one; None where the operators are not fused."""
    if contracts.SELECT.beyond(running.plan) is not None or not _is_simple(running):
        return None
    select = _Select(running)
    return select.printed() if select.possible else None


def _is_simple(running: RunningSelect) -> bool:
    """Return whether there is no window but one that is printed, one stream of rows out, and rows that are neither ordered nor cut."""
    plan = running.plan.result_set
    assert plan is not None
    rows = running.result_set
    if isinstance(rows, OutputStage):
        return isinstance(running.chain, PassThrough) and running.chain.child is rows and rows.last_rows() is not None
    if plan.raw or plan.selector != "istream" or plan.order_by or plan.limit is not None or plan.distinct:
        return False
    return running.chain.steps() is not None and running.chain.child is rows and type(rows) in SHAPES


@attrs.frozen
class _Way:
    """How a text leaves what is rare to the operators, and whether it calls the listeners itself (``Statement.delivery_lines``)."""

    leave: str
    delivers: bool = False


class _Select:
    """Prints one statement's functions: ``take(e)`` for an event, ``expire()`` for the timer of a time window.

    ``running``: any instance; what is printed names the objects of one only by names, which ``_objects`` resolves.
    """

    def __init__(self, running: RunningSelect) -> None:
        self._running = running
        self._is_partition = isinstance(running.entry, PartitionEntry)
        self._own = "own." if self._is_partition else ""
        """Before the names of functions that are methods of an instance's object."""
        context, steps, statement = running.context, running.chain.steps(), running.context.output
        assert steps is not None and isinstance(statement, StatementOutput)
        self._statement = statement
        self._plan: ResultSetPlan = running.plan.result_set
        self._window: WindowSteps = steps
        self._rows = running.result_set
        self._stage: OutputStage | None = None
        if isinstance(self._rows, OutputStage):
            self._stage, self._rows = self._rows, self._rows.inner
        partitions = context.statement.plan.context
        self._printer = SelectPrinter(context.environment, frozenset() if partitions is None else constant_paths(partitions))
        self._aggregations: Aggregations | None = None
        self.possible = True
        if isinstance(self._rows, Aggregating):
            self._aggregations = Aggregations.of(self._plan, self._rows.aggregator, self._printer)
            self.possible = self._aggregations is not None and not (self._stage is not None and isinstance(
                self._rows.aggregator, TableAggregator))
        self._delivers = running.inserter is None and self._stage is None and self._emits_rows()
        self._shared: dict[str, Any] = context.environment.printed("fused scope", (running.plan,), self._common_scope)

    def _common_scope(self) -> dict[str, Any]:
        core = self._running.context.core
        scope = {
            "NO_EVENTS": NO_EVENTS, "clock": core.clock, "out": self._statement, "pending": core.pending, "new": object.__new__,
            "made": event_class(self._plan.output_type),
        }
        if self._delivers:
            scope |= self._statement.delivery_scope(None if self._plan.forward is not None else self._plan.output_type)
        return scope

    def _emits_rows(self) -> bool:
        """Return whether listeners get the rows that come out as they are, and in one call."""
        plan, output = self._plan, self._plan.output_type
        return self._running.plan.delivery is None and (plan.forward is not None or (not output.open and output.kind != "variant"))

    def printed(self) -> _Fused:
        """Return the functions as text: ``take`` for an event, ``expire`` and ``alone`` for the timer, ``add_rows`` for limited output."""
        before, then = self._take(_Way(f"return {self._own}careful((e,), NO_EVENTS)"))
        functions = {"take": ("def take(e):", [*before, *then])}
        if self._stage is not None and not self._plan.order_by and self._aggregations is not None and self._aggregations.keyed:
            functions["add_rows"] = "def add_rows(touched, insert_stream, batch):", self._rows_of_groups(self._aggregations)
        expire = self._window.expire
        if expire is not None:
            functions["expire"] = "def expire():", self._expire(expire, _Way(f"return {self._own}careful_expire()"))
            if self._delivers:
                functions["alone"] = "def alone():", self._expire(expire, _Way(f"return {self._own}expire()", delivers=True))
        own = list(_objects(self._running, self._aggregations))
        if self._is_partition:
            del functions["take"]
            functions["receive"] = "def receive(e):", [*before, *then]
            if self._delivers and lone_receiver.ENABLED:
                before, then = self._take(_Way(f"return {name_class_attributes('own', LoneTarget).receive}(e)", delivers=True))
                functions["receive_alone"] = "def receive_alone(e):", [*before, *then]
            return _Fused(ObjectFactory(functions, self._shared, own, RARE, self._printer), self._aggregations)
        lines = [line for head, body in functions.values() for line in (head, *indent_lines(body))]
        return _Fused(FunctionFactory(list(functions), lines, self._shared, own, self._printer), self._aggregations)

    def written(self, place: Place, scope: dict[str, Any], leave: str) -> GeneratedSteps:
        """``take`` for a function of which it is the only receiver, over values that are not in an event."""
        self._printer.place, self._printer.bindings = place, scope
        try:
            before, then = self._take(_Way(leave, self._delivers))
        finally:
            self._printer.place, self._printer.bindings = None, {}
        return GeneratedSteps(before, then, {**self._shared, **_objects(self._running, self._aggregations)})

    # ------------------------------------------------------------------ an event

    def _take(self, way: _Way) -> tuple[list[str], list[str]]:
        """Lines that change nothing and may end the function, then those that take the event."""
        aggregations, window = self._aggregations, self._window
        guards = ["pending", self._statement.delivery_guard()] if way.delivers else []
        guards += [] if aggregations is None else [aggregations.guard()]
        asked: list[str] = [] if aggregations is None else aggregations.evaluation_lines("e", "k", "new")
        asked += window.oldest
        uncounted: list[str] = []
        leaves = bool(window.oldest)
        if leaves and aggregations is not None:
            asked += under("if o is not None:", aggregations.evaluation_lines("o", "kl", "old"))
            uncounted += [f"o is not None and ({test})" for test in aggregations.uncounted("gl")]
        guards += window.guards
        changes = [*window.enter(self._time)]
        if aggregations is not None:
            uncounted += aggregations.uncounted("g")
            changes += aggregations.enter()
            if leaves:
                changes += under("if o is not None:", aggregations.leave())
        lines = [f"if {' or '.join(guards)}: {way.leave}"] if guards else []
        lines += ["try:", *indent_lines(asked), f"except Exception: {way.leave}"] if asked else []
        lines += [f"if {' or '.join(uncounted)}: {way.leave}"] if uncounted else []
        if self._stage is not None:
            return lines, [*self._note_lines(self._level), *changes, *self._note_lines(self._stage.condition)]
        return lines, [*changes, *self._put_event(leaves, way)]

    @property
    def _time(self) -> str:
        """Engine time, as text."""
        return f"{name_attributes('clock', self._running.context.core.clock).now}"

    @property
    def _level(self) -> OneLevel:
        """Limited output: what keeps the last event of each group."""
        assert self._stage is not None
        level = self._stage.last_rows()
        assert level is not None
        return level

    def _note_lines(self, part: OneLevel | OutputCondition) -> list[str]:
        """Limited output: what keeps the groups' events, or the condition, takes note of the event."""
        return part.steps().then

    def _rows_of_groups(self, aggregations: Aggregations) -> list[str]:
        """Limited output: ``RowPerGroup.rows``."""
        lines = [*aggregations.lookup_lines(), *self._row("r", "e", _Way(""), leaving=False)]
        lines += [f"{'' if self._plan.having is None else 'if r is not None: '}add(r)"]
        return [f"add = {name_class_attributes('batch', OutputRows).events}.append", "for k, e in touched:", *indent_lines(lines)]

    def _put_event(self, leaves: bool, way: _Way) -> list[str]:
        """Return the rows of an event that came in, with the group of the one that it has pushed out."""
        lines = self._row("r", "e", way, leaving=False)
        if not (leaves and isinstance(self._rows, RowPerGroup)):
            return [*lines, *self._put(way, "r")]
        other = self._row("s", "o", way, leaving=True)
        puts = ["if s is None:", *indent_lines(self._put(way, "r")), "elif r is None:", *indent_lines(self._put(way, "s"))]
        puts += ["else:", *indent_lines(self._put(way, "r", "s"))]
        return [*lines, "s = None", "if o is not None and k is not kl and k != kl:", *indent_lines(other), *puts]

    # ------------------------------------------------------------------ time

    def _expire(self, expire: Expire, way: _Way) -> list[str]:
        """Return lines that evict the event that is due; where several are due the operators take them together."""
        aggregations, leave = self._aggregations, way.leave
        guards = [self._statement.delivery_guard()] if way.delivers else []
        guards += [*self._window.guards, *([] if aggregations is None else [aggregations.guard()])]
        due, expired = expire(guards, self._time, leave)
        lines = [*due]
        if aggregations is not None:
            lines += ["try:", *indent_lines(aggregations.evaluation_lines("o", "kl", "old") or ["pass"]), f"except Exception: {leave}"]
            lines += [f"if {test}: {leave}" for test in aggregations.uncounted("gl")]
        lines += expired
        if aggregations is not None:
            lines += aggregations.leave()
        if isinstance(self._rows, (FullyAggregated, RowPerGroup)):
            lines += [*self._row("r", "o", way, leaving=True), *self._put(way, "r")]
        return lines

    # ------------------------------------------------------------------ rows

    def _row(self, name: str, event: str, way: _Way, *, leaving: bool) -> list[str]:
        """Lines that put a row, or None where having keeps it back, into a variable: as an event, or as listeners get it."""
        plan = self._plan
        readers = {} if self._aggregations is None else self._aggregations.readers(leaving)
        printer = self._printer.over("None" if isinstance(self._rows, FullyAggregated) else event, readers)
        if plan.forward is not None:
            lines = [*row_lines(name, event)] if way.delivers else [f"{name} = {event}"]
        elif way.delivers:
            values = "".join(f"{printer.value(column)}, " for column in plan.columns)
            lines = print_row_lines(name, f"({values})")
        else:
            fields = [field_name(n) for n in plan.output_type.names]
            lines = [*(f"c{n} = {printer.value(column)}" for n, column in enumerate(plan.columns)), f"{name} = new(made)"]
            lines += [f"{name}.{field} = c{n}" for n, field in enumerate(fields)]
        if plan.having is None:
            return lines
        return [f"{name} = None", f"if {printer.test(plan.having)}:", *indent_lines(lines)]

    def _put(self, way: _Way, *names: str) -> list[str]:
        """Lines that hand rows on: to the statement's listeners, or to insert into."""
        rows = f"({', '.join(names)},)"
        if way.delivers:
            lines = [*self._statement.delivery_lines(*names)]
        elif self._running.inserter is not None:
            lines = [f"insert({rows}, NO_EVENTS)"]
        else:
            lines = [*self._statement.update_lines(*names)]
        return lines if self._plan.having is None or len(names) > 1 else [f"if {names[0]} is not None:", *indent_lines(lines)]


@attrs.frozen
class _Fused:
    """The functions of a fused select, to be bound to any of its instances."""

    factory: FunctionFactory | ObjectFactory
    aggregations: Aggregations | None

    def attach(self, running: RunningSelect) -> None:
        """Put the functions, bound to the instance's operators, in the place of what they stand for."""
        objects, receiver = _objects(running, self.aggregations), running.receiver
        environment, factory = running.context.environment, self.factory
        if isinstance(factory, FunctionFactory):
            assert isinstance(receiver, StreamReceiver)
            functions = factory(objects, environment)
            receiver.receive = functions["take"]
            receiver.write = partial(_write_steps, running)
        else:
            assert isinstance(receiver, PartitionEntry)
            own = factory(objects, environment)
            receiver.replace(own)
            functions = {name: getattr(own, name) for name in ("add_rows", "expire", "alone") if hasattr(own, name)}
        if "add_rows" in functions:
            objects["level"].add_rows = functions["add_rows"]
        if "expire" in functions:
            timer = objects["timer"]
            timer.callback, timer.alone = functions["expire"], functions.get("alone") if lone_receiver.ENABLED else None


def _objects(running: RunningSelect, aggregations: Aggregations | None) -> dict[str, Any]:
    """Return the objects of an instance that the lines name; those that all instances share are in ``_Select._shared``."""
    chain, rows = running.chain, running.result_set
    objects = {"careful": chain.update, **chain.objects()}
    timer = objects.get("timer")
    if timer is not None:
        objects["careful_expire"] = timer.callback
    if isinstance(rows, OutputStage):
        level = rows.last_rows()
        assert level is not None
        objects |= level.objects()
        objects |= rows.condition.objects()
        rows = rows.inner
    if aggregations is not None:
        assert isinstance(rows, Aggregating)
        objects |= aggregations.objects(rows.aggregator)
    if running.inserter is not None:
        objects["insert"] = running.inserter.update
    return objects


def _write_steps(running: RunningSelect, place: Place, scope: dict[str, Any], leave: str) -> GeneratedSteps:
    """See runtime.expressions.generated_steps.EmitSteps."""
    return _Select(running).written(place, scope, leave)


__all__ = ["fuse"]
