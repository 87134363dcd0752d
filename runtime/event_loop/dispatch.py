"""Which statements get an event: one generated function an event type, generated again when statements come or go.

``dispatcher`` takes events; ``intake`` takes the dicts that users send: values are read and checked, the filters' tests are part of the
function and read the values, and an event is made only where a receiver needs it. Where a condition raises, all are evaluated again entry
by entry (``EventLoop.match_and_deliver``), so that nothing has to be guarded before.

Where one statement alone receives events of the type, and offers its steps as text (``Receiver.write``), the intake contains these too
(``runtime.event_loop.lone_receiver``).

``names``: what the generated code may use of the core, by name (``EventLoop._names``).
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import attrs

from epl.attribute_text import name_class_attributes
from epl.event_types import EventType
from epl.generated_code import define_names, field_name
from epl.plan.expressions import Logic, StreamProperty, TypedExpression
from epl.value_types import BOXED_BOOLEAN
from runtime.conversion.from_python import checking_scope, checks, construction_lines, read_mapping
from runtime.event_loop.filter_index import FilterEntry, TypeIndex, receiver_places
from runtime.event_loop.filter_tables import HashTable
from runtime.event_loop.handle_order import HandleOrder
from runtime.event_loop.lone_receiver import core_text, lone_entry, lone_lines, note_change_line
from runtime.event_loop.prepared_filters import ActiveFilter, LoneTarget, PreparedFilter
from runtime.expressions import Environment
from runtime.expressions.compiled import OPERATIONS
from runtime.expressions.printer import Printer
from runtime.expressions.source_lines import indent_lines, under
from windows.event import Event, event_class

Names = Mapping[str, Any]

MOST_INLINE = 16
"""How many conditions are printed into one function; more are called."""
MOST_ACTIVE = 4
"""With how many tables of filters that come and go it is looked for a lone entry."""


@attrs.frozen
class _Source:
    """What a function is given, as text: ``place`` of a field, ``event`` an expression for the event, ``assignments`` lines that put it
    in e."""

    place: Callable[[str], str]
    event: str
    assignments: tuple[str, ...]


class _TestPrinter(Printer):
    """Prints conditions over values that are not in an event."""

    def __init__(self, environment: Environment, bindings: dict[str, Any], place: Callable[[str], str]) -> None:
        super().__init__(environment, 1, bindings)
        self._place = place

    def property(self, stream: int, name: str) -> str:
        return self._place(field_name(name))


class _Tests:
    """The lines that test which entries match an event, for one function."""

    def __init__(self, indexes: Sequence[TypeIndex], source: _Source, scope: dict[str, Any]) -> None:
        entries = sorted((e for index in indexes for e in index.always), key=lambda entry: receiver_places(entry.receiver))
        self.inline = list(islice((e for e in entries if e.test is None or _reads_properties_only(e.conditions)), MOST_INLINE))
        chosen = {id(e) for e in self.inline}
        self._called = [e for e in entries if id(e) not in chosen]
        self._tables = [(field, table) for index in indexes for field, table in index.tables.items()]
        self._active = [table for index in indexes for table in index.active_tables()]
        gathered = self._called or self._tables or self._active
        handles: HandleOrder = scope["core"].filters.handles
        self._by_handle = handles.matters(statement for index in indexes for statement in index.late)
        self.direct = not gathered and not self._by_handle and not any(e.receiver.drop for e in entries)
        self.alone = lone_entry(self.inline) if self.direct else None
        """The one entry there is, where its statement offers its steps as text."""
        self._source = source
        self._scope = scope
        self.matched: list[str] = []

    def lines(self) -> list[str]:
        """Lines that set w0, w1, … and b0, b1, …; ``matched`` is then the list of tests."""
        lines = []
        for n, entry in enumerate(self.inline):
            if entry.test is not None:
                test = _text(entry, self._scope, self._source.place)
                lines += [f"w{n} = True if {test} else False"]  # comparing is fastest before a jump
                self.matched.append(f"w{n}")
        for n, (field, table) in enumerate(self._tables):
            self._scope[f"table{n}"] = table
            lines += [f"b{n} = table{n}.get({self._source.place(field)})"]
            self.matched.append(f"b{n} is not None")
        printer = _TestPrinter(Environment(), self._scope, self._source.place)
        for n, active in enumerate(self._active):
            lines += [f"a{n} = {active.text(printer)}"]
            self.matched.append(f"a{n} is not None")
        if self._called or any(e.test is None for e in self.inline):
            self.matched = ["True"]
        return lines

    def gathering(self) -> list[str]:
        """Lines that put the receivers that match ``e`` into ``receivers``, in order."""
        lines = ["receivers = []"]
        for n, entry in enumerate(self.inline):
            self._scope[f"receiver{n}"] = entry.receiver
            lines += [f"{'' if entry.test is None else f'if w{n}: '}receivers.append(receiver{n})"]
        entry_text, active_text = name_class_attributes("entry", FilterEntry), name_class_attributes("active", ActiveFilter)
        ask = [f"    if {entry_text.test} is None or {entry_text.test}(e):", f"        receivers.append({entry_text.receiver})"]
        if self._called:
            self._scope["called"] = self._called
            lines += ["for entry in called:", *ask]
        for n in range(len(self._tables)):
            lines += [f"if b{n} is not None:", f"    for entry in b{n}:", *(f"    {line}" for line in ask)]
        for n in range(len(self._active)):
            lines += [f"if a{n} is not None:", f"    for active in a{n}:"]
            lines += [f"        test = {name_class_attributes(f'{active_text.prepared}', PreparedFilter).test}"]
            lines += [f"        if test is None or test(e, *{active_text.values}): receivers.append(active)"]
        lines += ["if len(receivers) > 1:", "    receivers.sort(key=order_of)"]
        if self._by_handle:
            self._scope["by_handle"] = self._scope["core"].filters.handles.receivers
            lines += ["    receivers = by_handle(receivers)"]
        hashed = self._lone_lookups()
        if not hashed:
            return lines
        alone: list[str] = []
        for n in hashed:
            others = "".join(f" and a{other} is None" for other in range(len(self._active)) if other != n)
            alone += [f"{'elif' if alone else 'if'} a{n}.__class__ is tuple{others}:", f"    lone = a{n}[0]"]
        lone_text = name_class_attributes("lone", ActiveFilter)
        test = [f"test = {name_class_attributes(f'{lone_text.prepared}', PreparedFilter).test}"]
        test += [f"if test is not None and not test(e, *{lone_text.values}): lone = None"]
        return [*alone, "if lone is not None:", *indent_lines(test), "else:", *indent_lines(lines)]

    def _lone_lookups(self) -> list[int]:
        """Return the places of the tables in which a key's only entry is looked up, where nothing else receives events; none where there
        are many."""
        if self.inline or self._called or self._tables or len(self._active) > MOST_ACTIVE:
            return []
        return [n for n, table in enumerate(self._active) if isinstance(table, HashTable)]

    def lone_lines(self) -> list[str]:
        """Return the lines that deliver ``e`` to ``lone``, the only entry that has matched it, and flush; none where none is set so."""
        if not self._lone_lookups():
            return []
        lone = name_class_attributes("lone", ActiveFilter)
        core = core_text(self._scope)
        lines = [f"if {core.changed_statements} is not None: note_receivers((lone,))"]
        receive_alone = name_class_attributes(f"{lone.target}", LoneTarget).receive_alone
        lines += ["try:", f"    if {name_class_attributes(f'{lone.prepared}', PreparedFilter).calls_listeners}: {receive_alone}(e)"]
        lines += [f"    else: {lone.receive}(e)", "except Exception as error:"]
        return [*lines, f"    on_error(error, {name_class_attributes(f'{lone.prepared}', PreparedFilter).name}, e)", "if pending: flush()"]


def _reads_properties_only(conditions: Sequence[TypedExpression]) -> bool:
    """Return whether conditions read nothing of the event but declared properties, so that no event need be there."""
    return all(isinstance(n, StreamProperty) or 0 not in n.streams or list(n.children()) for c in conditions for n in c.walk())


def _text(entry: FilterEntry, scope: dict[str, Any], place: Callable[[str], str]) -> str:
    conditions = entry.conditions
    whole = conditions[0] if len(conditions) == 1 else Logic(operator="and", operands=conditions, type=BOXED_BOOLEAN)
    return _TestPrinter(entry.environment, scope, place).test(whole)


# ------------------------------------------------------------------ the two functions


def dispatcher(names: Names, indexes: Sequence[TypeIndex], stream_type: EventType) -> Callable[[Event], None]:
    """Return f(event), which delivers an event of the stream to all that match and flushes. Routed events wait for the caller."""
    source = _Source(lambda field: f"e.{field}", "e", ())
    scope = _scope(names, stream_type)
    return _function("def take(e):", _body(indexes, source, scope), scope)


def intake(
    names: Names, indexes: Sequence[TypeIndex], event_type: EventType, *, check: Callable[[EventType, Any], None] | None, updated: bool
) -> Callable[[dict[str, Any]], None]:
    """Return f(dict), which checks what a user sends and then does all that ``EventLoop.process`` does with the event.

    ``check``: is called with the type and the dict first. ``updated``: there are update istream statements, which see the event first.
    """
    places = {field_name(name): f"v{n}" for n, name in enumerate(event_type.properties)}
    source = _Source(places.__getitem__, f"with_extra(make({', '.join(places.values())}), extra)" if event_type.open else
                     f"make({', '.join(places.values())})", tuple(construction_lines(event_type)))
    scope = {**_scope(names, event_type), **checking_scope(event_type), "with_extra": _with_extra}
    lines = [*read_mapping(event_type), *checks(event_type)]
    if check is not None:
        scope["check"] = check
        lines = ["check(stream_type, d)", *lines]
    if updated:
        return _function("def take(d):", [*lines, f"{core_text(scope).process}({source.event})"], scope)
    body = [*lines, *_body(indexes, source, scope, whole=True)]
    return _function("def take(d):", body, scope)


def _scope(names: Names, event_type: EventType) -> dict[str, Any]:
    return {**names, "order_of": receiver_places, "tuple": tuple, "stream_type": event_type, "make": event_class(event_type)}


def _with_extra(event: Event, extra: dict[str, Any] | None) -> Event:
    event.extra = extra
    return event


def _body(indexes: Sequence[TypeIndex], source: _Source, scope: dict[str, Any], *, whole: bool = False) -> list[str]:
    """Return the lines that test, deliver and flush; ``whole``: mark the core as busy meanwhile, and process in the end what was routed."""
    tests = _Tests(indexes, source, scope)
    asked = tests.lines()
    if not tests.matched:
        return ["pass"]
    if whole and tests.alone is not None:
        lines = lone_lines(tests.alone, source.place, source.event, source.assignments, scope)
        return [*_guard_lines(asked, source, whole), *(lines if tests.matched == ["True"] else under(f"if {tests.matched[0]}:", lines))]
    delivering = _direct(tests, scope) if tests.direct else ["deliver(receivers, e)"]
    lone = tests.lone_lines()
    if lone:
        delivering = ["if lone is not None:", *indent_lines(lone), "else:", *indent_lines(delivering)]
    if whole:
        core = core_text(scope)
        delivering = ["try:", *indent_lines([*delivering, "if queue: work()"]), "finally:", f"    {core.busy} = outer"]
        delivering = [f"outer = {core.busy}", f"{core.busy} = True", *delivering]
    matched = f"if {' or '.join(tests.matched)}:"
    if tests.direct:
        rest = [*source.assignments, *delivering]
        return [*_guard_lines(asked, source, whole), *(rest if tests.matched == ["True"] else [matched, *indent_lines(rest)])]
    gathered = ["receivers = lone = None", *asked, matched, *indent_lines([*source.assignments, *tests.gathering()])]
    return [*_guard_lines(gathered, source, whole), "if receivers or lone is not None:", *indent_lines(delivering)]


def _guard_lines(lines: list[str], source: _Source, whole: bool) -> list[str]:
    """Return the lines; where one raises, all is asked again entry by entry."""
    if not lines:
        return []
    again = f"return process_again({source.event})" if whole else f"return match_and_deliver({source.event}, stream_type)"
    return ["try:", *indent_lines(lines), "except Exception:", f"    {again}"]


def _direct(tests: _Tests, scope: dict[str, Any]) -> list[str]:
    """Return the calls of each receiver, without a list."""
    lines = []
    for n, entry in enumerate(tests.inline):
        receiver = entry.receiver
        scope |= {f"receive{n}": receiver.receive, f"name{n}": receiver.name, f"statement{n}": receiver.order[2]}
        call = [note_change_line(core_text(scope), f"statement{n}")]
        call += ["try:", f"    receive{n}(e)", "except Exception as error:", f"    on_error(error, name{n}, e)"]
        lone = entry.test is None or len(tests.inline) == 1
        lines += call if lone else [f"if w{n}:", *indent_lines(call)]
    return [*lines, "if pending: flush()"]


def _function(head: str, body: list[str], scope: dict[str, Any]) -> Callable[[Any], None]:
    text = "\n".join([head, *indent_lines(body), ""])
    function: Callable[[Any], None] = define_names(text, {**OPERATIONS, **scope})["take"]
    function.source = text  # type: ignore[attr-defined]
    return function


__all__ = ["dispatcher", "intake"]
