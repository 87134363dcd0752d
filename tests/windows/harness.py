"""A statement without the rest of the engine: a clock set by hand, windows from their text, and a sink that notes deltas.

Expressions are properties, constants, time periods and, for the expr windows, Python text.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from typing import Any

import attrs

from epl.errors import EplValidationError
from epl.event_types import EventType, Property
from epl.plan.expressions import Constant, StreamProperty, TimeSpan, TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig, check_chain, merge_groups
from epl.syntax import Wildcard
from epl.value_types import BOOLEAN, BOXED_BOOLEAN, BOXED_DOUBLE, BOXED_INT, DOUBLE, INT, LONG, NULL, STRING
from windows.chain import build_chain
from windows.event import Event, event_class
from windows.protocol import Accumulator, RandomAccess, View
from windows.registry import WINDOWS

PROPERTIES = {
    "id": STRING, "k": STRING, "v": BOXED_INT, "w": BOXED_INT, "ts": LONG.boxed, "d": BOXED_DOUBLE, "e": BOXED_DOUBLE, "b": BOXED_BOOLEAN,
}


def make_type(name: str = "T") -> EventType:
    return EventType(name, "map", {n: Property(n, t) for n, t in PROPERTIES.items()})


def make_event(event_type: EventType, **values: Any) -> Event:
    return event_class(event_type)(*[values.get(n) for n in event_type.names])


@attrs.frozen(kw_only=True)
class PythonText(TypedExpression):
    """An expression of the harness: Python text over the properties and built-in names."""

    text: str
    reads_event: bool = True


UNIT_SECONDS = {"day": 86400, "hour": 3600, "minute": 60, "min": 60, "second": 1, "sec": 1, "millisecond": 0.001, "msec": 0.001}


@attrs.define(eq=False)
class ManualTimer:
    clock: ManualClock
    callback: Callable[[], None]
    due: int | None = None
    order: int = 0

    def set(self, due: int) -> None:
        self.clock.counter += 1
        self.due, self.order = due, self.clock.counter

    def cancel(self) -> None:
        self.due = None


class ManualClock:
    """Engine time in ms; ``jump`` runs each due timer once at the new time, ``span`` stops at every due time."""

    def __init__(self, now: int = 0) -> None:
        self.now = now
        self.counter = 0
        self.steps = 0
        self.timers: list[ManualTimer] = []

    def jump(self, now: int) -> None:
        self.now = now
        self.steps += 1
        due = sorted((t.due, i, t.order) for i, t in enumerate(self.timers) if t.due is not None and t.due <= now)
        for when, i, order in due:
            timer = self.timers[i]
            if timer.due == when and timer.order == order:
                timer.due = None
                timer.callback()

    def span(self, now: int) -> None:
        while True:
            due = [t.due for t in self.timers if t.due is not None and self.now < t.due <= now]
            if not due:
                break
            self.jump(min(due))
        self.jump(now)


class Context:
    """A BuildContext."""

    restoring = False
    text_key = None

    def __init__(self, clock: ManualClock, variables: dict[str, Any] | None = None) -> None:
        self.clock = clock
        self.variables = variables or {}
        self.access: RandomAccess | None = None
        self.watchers: list[Callable[[], None]] = []

    def now(self) -> int:
        return self.clock.now

    def timer(self, callback: Callable[[], None], *, of_group: bool = False) -> ManualTimer:
        made = ManualTimer(self.clock, callback)
        self.clock.timers.append(made)
        return made

    def evaluator(self, expression: TypedExpression) -> Callable[..., Any]:
        if isinstance(expression, StreamProperty):
            name = expression.name
            return lambda event: event.get(name)
        if isinstance(expression, Constant):
            return lambda event: expression.value
        assert isinstance(expression, PythonText)
        code = compile(expression.text, "<harness>", "eval")
        return lambda event: eval(code, {}, {n: event.get(n) for n in PROPERTIES})

    def constant(self, expression: TypedExpression) -> Any:
        if isinstance(expression, Constant):
            return expression.value
        assert isinstance(expression, PythonText)
        return eval(expression.text, {}, self.variables)

    def add_time(self, start: int, period: TypedExpression, times: int = 1) -> int:
        if not isinstance(period, TimeSpan):
            return start + times * round(self.constant(period) * 1000)
        for name, part in period.parts:
            amount = self.constant(part)
            if name in ("month", "year"):
                start = add_months(start, times * amount * (12 if name == "year" else 1))
            else:
                start += times * round(amount * UNIT_SECONDS[name] * 1000)
        return start

    def accumulators(self, expression: TypedExpression, names: Sequence[str] = ()) -> tuple[Sequence[Accumulator], Callable[..., Any]]:
        assert isinstance(expression, PythonText)
        total = SumAccumulator()
        code = compile(expression.text, "<harness>", "eval")

        def evaluate(event: Event, *values: Any) -> Any:
            own = {n: Reader(v) if isinstance(v, Event) else v for n, v in zip(names, values)}
            known = {n: event.get(n) for n in PROPERTIES} | self.variables | own
            try:
                return eval(code, {"sum": lambda _: total.value()}, known)
            except TypeError:
                return None

        return (total,), evaluate

    def on_variable_change(self, expression: TypedExpression, callback: Callable[[], None]) -> None:
        self.watchers.append(callback)

    def withhold(self, sink: Any, new: Sequence[Event], old: Sequence[Event]) -> None:
        sink.update(new, old)

    def publish_random_access(self, access: RandomAccess) -> None:
        self.access = access


class Reader:
    """``newest_event.v`` in Python text."""

    def __init__(self, event: Event) -> None:
        self.event = event

    def __getattr__(self, name: str) -> Any:
        return self.event.get(name)


class SumAccumulator:
    """sum(v), the one aggregation of the harness."""

    def __init__(self) -> None:
        self.values = 0
        self.count = 0

    def enter(self, event: Event) -> None:
        if event.get("v") is not None:
            self.values += event.get("v")
            self.count += 1

    def leave(self, event: Event) -> None:
        if event.get("v") is not None:
            self.values -= event.get("v")
            self.count -= 1

    def value(self) -> Any:
        return self.values if self.count else None

    def clear(self) -> None:
        self.values = self.count = 0

    def state(self) -> Any:
        return [self.values, self.count]

    def restore(self, state: Any) -> None:
        self.values, self.count = state


def add_months(ms: int, months: int) -> int:
    moment = datetime.fromtimestamp(ms / 1000, timezone.utc)
    index = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(index, 12)
    for day in (moment.day, 30, 29, 28):
        if day <= moment.day:
            try:
                return round(moment.replace(year=year, month=month + 1, day=day).timestamp() * 1000)
            except ValueError:
                continue
    raise AssertionError(ms)


# ------------------------------------------------------------------ windows from text


def split(text: str, separator: str) -> Iterator[str]:
    """Parts outside brackets and quotes."""
    depth, quoted, part = 0, False, ""
    for char in text:
        quoted ^= char == "'"
        depth += 0 if quoted else (char in "([") - (char in ")]")
        if char == separator and depth == 0 and not quoted:
            yield part
            part = ""
        else:
            part += char
    yield part


def python_text(text: str) -> str:
    """EPL's comparison as Python's."""
    return re.sub(r"(?<![<>=!])=(?!=)", "==", text)


def argument(text: str, event_type: EventType, expiry: bool) -> WindowArgument:
    text = text.strip()
    if text == "*":
        return WindowArgument(Wildcard(), None)
    period = re.fullmatch(r"(-?[\d.]+) (day|hour|minute|min|second|sec|millisecond|msec|month|year)s?", text)
    if period:
        amount = Constant(type=INT, value=float(period[1]) if "." in period[1] else int(period[1]))
        return WindowArgument(Wildcard(), TimeSpan(type=DOUBLE, parts=((period[2], amount),)), is_period=True)
    key = re.fullmatch(r"(\w+)(?: (asc|desc))?", text)
    if key and key[1] in event_type.properties:
        read = StreamProperty(type=event_type.properties[key[1]].type, stream=0, name=key[1])
        return WindowArgument(Wildcard(), read, key[2] == "desc", text=key[1])
    for pattern, value_type, convert in LITERALS:
        found = re.fullmatch(pattern, text)
        if found:
            return WindowArgument(Wildcard(), Constant(type=value_type, value=convert(found[1])))
    if expiry:
        return WindowArgument(Wildcard(), PythonText(type=BOOLEAN, text=python_text(text)))
    return WindowArgument(Wildcard(), PythonText(type=INT, text=text))


LITERALS: tuple[tuple[str, Any, Callable[[str], Any]], ...] = (
    (r"(-?\d+)", INT, int), (r"(-?\d+)L", LONG, int), (r"(-?\d*\.\d+)", DOUBLE, float), (r"'(.*)'", STRING, str),
    ("(true|false)", BOOLEAN, lambda t: t == "true"), ("(null)", NULL, lambda t: None),
)


def declare(text: str, event_type: EventType) -> tuple[tuple[WindowConfig, ...], str | None, EventType]:
    """``length(2)#unique(k) retain-union`` → configs, retain, the type of what comes out. Refusals as Esper's whole message."""
    found = re.fullmatch(r"(.*?)(?: retain-(\w+))?", text)
    assert found
    configs: list[WindowConfig] = []
    first = event_type
    for view in filter(None, split(found[1], "#")):
        name, _, rest = view.partition("(")
        config = WINDOWS[name]
        seen = first if config.merges else event_type
        arguments = [argument(a, seen, "expr" in name) for a in split(rest[:-1], ",")] if rest.strip(")") else []
        try:
            configs.append(config.from_arguments(arguments, event_type))
        except EplValidationError as error:
            raise AssertionError(getattr(error, "whole_message", None) or f"Error in view '{name}', {error.message}") from error
        event_type = configs[-1].output_type(event_type)
    check_chain(configs, found[2])
    merged, event_type = merge_groups(configs, event_type)
    return merged, found[2], event_type


class Statement:
    """``select irstream * from T#…``: notes what the last view emits; what it emits in one step of the clock or for one event is one
    delta.
    """

    def __init__(self, text: str, clock: ManualClock, event_type: EventType, variables: dict[str, Any] | None = None) -> None:
        self.context = Context(clock, variables)
        configs, retain, self.output_type = declare(text, event_type)
        self.configs = configs
        self.view: View = build_chain(configs, retain, self.context)
        self.view.child = self
        self.deltas: list[tuple[list[Event], list[Event]]] = []
        self.step = -1

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        if self.deltas and self.step == self.context.clock.steps:
            self.deltas[-1][0].extend(new)
            self.deltas[-1][1].extend(old)
        else:
            self.deltas.append((list(new), list(old)))
        self.step = self.context.clock.steps

    def take(self) -> list[tuple[list[Event], list[Event]]]:
        deltas, self.deltas, self.step = self.deltas, [], -1
        return deltas

    def access(self) -> RandomAccess:
        assert self.context.access is not None
        return self.context.access


__all__ = ["Context", "ManualClock", "Statement", "add_months", "declare", "make_event", "make_type"]
