"""A data window of an application's own: registered, run in either tier's runtime, kept in snapshots, refused where it must be."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import pyarrow as pa
import pytest

from epl.event_types import EventType
from epl.plan.expressions import TypedExpression
from epl.plan.windows import WindowArgument, WindowConfig, WindowRefused
from runtime import EplDeploymentError, EplValidationError, Runtime
from windows.event import Event
from windows.parameters import integer_argument, size_value
from windows.protocol import BuildContext, View


@attrs.frozen
class EveryNth(WindowConfig):
    """Every n-th event, until the next one takes its place."""

    names = ("every_nth",)
    namespace = "acme"
    title = "Every-nth"

    count: TypedExpression

    @classmethod
    def from_arguments(cls, arguments: Sequence[WindowArgument], event_type: EventType) -> EveryNth:
        message = "Every-nth view requires a single integer-type parameter"
        if len(arguments) != 1:
            raise WindowRefused(message)
        return cls(integer_argument(arguments[0], 0, cls.title, message))

    def build(self, context: BuildContext) -> EveryNthView:
        return EveryNthView(size_value(context, self.count, self.title))


class EveryNthView(View):
    def __init__(self, count: int) -> None:
        self.count = count
        self.seen = 0
        self.held: list[Event] = []

    def update(self, new: Sequence[Event], old: Sequence[Event]) -> None:
        taken: list[Event] = []
        gone: list[Event] = []
        for event in new:
            self.seen += 1
            if self.seen % self.count == 0:
                gone += self.held
                self.held = [event]
                taken.append(event)
        if taken or gone:
            self.child.update(taken, gone)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.held)

    def state(self) -> Any:
        return [self.seen, list(self.held)]

    def restore(self, state: Any) -> None:
        self.seen, self.held = state[0], list(state[1])


EPL = "create schema A(x int); @name('s') select irstream x from A#every_nth(2)"


def runtime(**options: Any) -> Runtime:
    made = Runtime(**options)
    made.register_window(EveryNth)
    return made


@pytest.mark.parametrize("name", ["A#every_nth(2)", "A.acme:every_nth(2)"])
def test_an_own_window_runs(name: str) -> None:
    rows: list[Any] = []
    with runtime() as rt:
        rt.deploy(EPL.replace("A#every_nth(2)", name))["s"].add_listener(lambda new, old, *_: rows.append((list(new), list(old))))
        for x in range(4):
            rt.send("A", {"x": x})
        rt.send_batch("A", pa.table({"x": pa.array([4, 5], pa.int32())}))
        assert list(rt.statement("s")) == [{"x": 5}]
    assert rows == [([{"x": 1}], []), ([{"x": 3}], [{"x": 1}]), ([{"x": 5}], [{"x": 3}])]


def test_what_an_own_window_refuses_is_told_as_of_any_window() -> None:
    with runtime() as rt, pytest.raises(EplValidationError) as caught:
        rt.deploy(EPL.replace("(2)", "('a')"))
    assert caught.value.message == (
        "Failed to validate data window declaration: Error in view 'every_nth', Every-nth view requires a single integer-type parameter"
    )


def test_names_of_windows_that_epl_has_are_refused() -> None:
    class Length(EveryNth):
        names = ("length",)

    class Nameless(EveryNth):
        names = ()

    with Runtime() as rt:
        with pytest.raises(EplDeploymentError, match="EPL has a data window named 'length'"):
            rt.register_window(Length)
        for wrong in (Nameless, int, "every_nth"):
            with pytest.raises(TypeError, match=r"register_window takes a class on epl\.plan\.windows\.WindowConfig with names"):
                rt.register_window(wrong)  # type: ignore[arg-type]
        with pytest.raises(EplValidationError, match="View name 'every_nth' is not a known view name"):
            rt.deploy(EPL)


def test_an_own_window_goes_on_after_a_restart() -> None:
    with runtime() as rt:
        rt.deploy(EPL)
        store = rt.pages().apply_to({})
        mark = rt.pages().mark
        for x in range(3):
            rt.send("A", {"x": x})
        for kept in (rt.snapshot(), rt.pages(since=mark).apply_to(store)):
            with pytest.raises(EplDeploymentError, match="the snapshot uses windows that are not given: acme:every_nth, every_nth"):
                Runtime.restore(kept)
            rows: list[Any] = []
            again = Runtime.restore(kept, windows=[EveryNth])
            again.statement("s").add_listener(lambda new, old, *_, rows=rows: rows.append((list(new), list(old))))
            again.send("A", {"x": 3})
            assert rows == [([{"x": 3}], [{"x": 1}])]


def test_plans_of_a_text_know_which_window_its_name_means() -> None:
    class Others(EveryNth):
        def build(self, context: BuildContext) -> EveryNthView:
            return EveryNthView(1)

    with runtime() as rt:
        rt.deploy(EPL)
        rt.send("A", {"x": 1})
        blob = rt.snapshot()
    for config, expected in ((EveryNth, []), (Others, [{"x": 2}]), (EveryNth, [])):
        again = Runtime.restore(blob, windows=[config])
        again.undeploy_all()
        again.deploy(EPL)
        again.send("A", {"x": 2})
        assert list(again.statement("s")) == expected
