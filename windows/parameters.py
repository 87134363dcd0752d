"""What windows ask of their parameters: sizes, durations, keys; refusals in Esper's words."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from epl.errors import EplDeploymentError
from epl.functions.java_values import java_text
from epl.plan.expressions import Constant, StreamProperty, TimeSpan, TypedExpression
from epl.plan.windows import WindowArgument, WindowRefused
from epl.value_types import Scalar, ValueType, is_numeric
from windows.protocol import BuildContext, Damaged
from windows.shape import INTEGER, takes

__all__ = [
    "Duration", "constant_refused", "duration_argument", "integer_argument", "is_literal", "is_scalar", "key_arguments", "no_arguments",
    "only_duration", "refuse_event_properties", "size_value",
]


def is_scalar(value_type: ValueType, *kinds: str) -> bool:
    """Return whether a type is one of these kinds, primitive or boxed."""
    return isinstance(value_type, Scalar) and value_type.kind in kinds


def no_arguments(arguments: Sequence[WindowArgument], title: str) -> None:
    if arguments:
        raise WindowRefused(f"{title} view requires an empty parameter list")


def refuse_event_properties(argument: WindowArgument, index: int, title: str, *, whole: bool = False) -> None:
    """Refuse properties where Esper looks names up in no stream at all: a property is unknown there."""
    if argument.typed is None or argument.is_constant:
        return
    name = next((n.name for n in argument.typed.walk() if isinstance(n, StreamProperty)), "")
    message = (
        f"Invalid parameter expression {index} for {title} view: Failed to validate view parameter expression "
        f"'{argument.text or name}': Property named '{name}' is not valid in any stream"
    )
    raise WindowRefused(message, whole=whole)


def integer_argument(argument: WindowArgument, index: int, title: str, message: str, *, whole: bool = False) -> TypedExpression:
    """Return a size: an int, constant or by variable, positive if it is known already."""
    refuse_event_properties(argument, index, title, whole=whole)
    typed = argument.typed
    if typed is None or argument.is_period or not is_scalar(typed.type, "int", "short", "byte"):
        raise WindowRefused(message, whole=whole)
    if isinstance(typed, Constant):
        _check_positive(typed.value, title, whole)
    return typed


def _check_positive(value: object, title: str, whole: bool) -> int:
    if not isinstance(value, int) or value <= 0:
        raise WindowRefused(f"{title} view requires a positive integer for size but received {value}", whole=whole)
    return value


def size_value(context: BuildContext, size: TypedExpression, name: str) -> int:
    """Return the size of the window ``name``, now that variables have values; refuse what is not positive."""
    value = context.constant(size)
    if isinstance(value, int) and value > 0:
        return value
    if context.restoring:
        return 1
    raise EplDeploymentError(f"Failed to deploy: {name} view requires a positive integer for size but received {java_text(value)}")


def _is_length(seconds: float) -> bool:
    """Return whether it is a millisecond at least, as Java rounds."""
    return seconds * 1000 >= 0.5


def _length(context: BuildContext, period: TypedExpression) -> int:
    """Return a window's length in engine time units, now that variables have values. Numbers of seconds are at least a millisecond; a time
    period may be zero or less. """
    if isinstance(period, TimeSpan):
        if all(context.constant(value) is not None for _, value in period.parts):
            return context.add_time(0, period)
        refusal = "Failed to evaluate time period, received a null value for 'Received null value evaluating time period'"
    else:
        seconds = context.constant(period)
        if seconds is not None and _is_length(seconds):
            return context.add_time(0, period)
        shown = java_text(seconds)
        refusal = f"Invalid time computation result {shown} requires a size of at least 1 msec but received {shown}"
    if context.restoring:
        return 1
    raise EplDeploymentError(f"Failed to deploy: {refusal}")


def duration_argument(argument: WindowArgument, index: int, title: str, message: str, *, whole: bool = False) -> TypedExpression:
    """Return a time period or a number of seconds; at least one millisecond if it is a constant number (as in Esper, a period may be
    zero)."""
    refuse_event_properties(argument, index, title, whole=whole)
    typed = argument.typed
    if typed is None or not (argument.is_period or is_numeric(typed.type)):
        text = typed.value if isinstance(typed, Constant) else None
        raise WindowRefused(message, whole=whole, hint=f"a period has no quotes: {text}" if isinstance(text, str) else None)
    if not argument.is_period and isinstance(typed, Constant) and not _is_length(typed.value):
        raise WindowRefused(f"{title} view requires a size of at least 1 msec but received {java_text(typed.value)}", whole=whole)
    return typed


def only_duration(arguments: Sequence[WindowArgument], title: str, message: str) -> TypedExpression:
    """Return the one parameter of a window that takes nothing but a time period or a number of seconds."""
    if len(arguments) != 1:
        raise WindowRefused(message)
    return duration_argument(arguments[0], 0, title, message)


def constant_refused(index: int, title: str) -> WindowRefused:
    return WindowRefused(
        f"Invalid view parameter expression {index} for {title} view, the expression returns a constant result value, are you sure?",
        whole=True,
    )


def is_literal(argument: WindowArgument) -> bool:
    """Return whether the parameter holds neither a property nor a variable: a key of that kind makes no sense."""
    return argument.typed is not None and not any(not isinstance(n, Constant) for n in argument.typed.walk() if not list(n.children()))


def key_arguments(arguments: Sequence[WindowArgument], title: str, message: str) -> tuple[TypedExpression, ...]:
    """Return one or more expressions over the event."""
    if not arguments:
        raise WindowRefused(message, whole=True)
    for index, argument in enumerate(arguments):
        if is_literal(argument):
            raise constant_refused(index, title)
    return tuple(a.typed for a in arguments if a.typed is not None)


class Duration:
    """A window's length of time, fixed at build: by the calendar if it has months or years, else a plain number of time units."""

    __slots__ = ("_context", "_period", "calendar", "length")

    def __init__(self, context: BuildContext, period: TypedExpression) -> None:
        self._context = context
        self._period = period
        self.calendar = isinstance(period, TimeSpan) and any(name.startswith(("month", "year")) for name, _ in period.parts)
        self.length = 0 if self.calendar else _length(context, period)

    def state(self) -> Any:
        """Return the length, which a variable may have given once (a period of months is read again)."""
        return self.length

    @takes(INTEGER)
    def restore(self, state: Any) -> None:
        if state != self.length and all(isinstance(each, Constant) for each in self._period.walk() if not list(each.children())):
            raise Damaged(f"{state} where the length of a window, {self.length}, is expected")
        self.length = state

    def after(self, start: int) -> int:
        return self._context.add_time(start, self._period) if self.calendar else start + self.length

    def before(self, end: int) -> int:
        return self._context.add_time(end, self._period, -1) if self.calendar else end - self.length

    def next_boundary(self, reference: int, now: int) -> int:
        """Return the first of … reference - d, reference, reference + d … that is later than ``now``."""
        if not self.calendar:
            step = max(1, self.length)
            return reference + ((now - reference) // step + 1) * step
        while reference > now:
            reference = self.before(reference)
        while reference <= now:
            reference = self.after(reference)
        return reference


