"""Timers: order, replacement, jump semantics."""
import weakref

from hypothesis import given, settings
from hypothesis import strategies as st

from runtime import Runtime
from runtime.clock.schedule import FEW, Schedule, ScheduledTimer


def make(schedule, log, order):
    return ScheduledTimer(schedule, order, f"s{order}", lambda: log.append(order))


def run(schedule, now):
    for timer in schedule.take_due(now):
        timer.callback()


def test_equal_due_times_run_in_order_of_statement_and_making():
    schedule, log = Schedule(), []
    for order in ((2, 0), (1, 1), (1, 0)):
        make(schedule, log, order).set(100)
    run(schedule, 100)
    assert log == [(1, 0), (1, 1), (2, 0)]


def test_earlier_due_time_runs_first_whatever_the_order():
    schedule, log = Schedule(), []
    make(schedule, log, (1, 0)).set(200)
    make(schedule, log, (2, 0)).set(100)
    assert schedule.nearest() == 100
    run(schedule, 300)
    assert log == [(2, 0), (1, 0)]


def test_set_replaces_and_cancel_forgets():
    schedule, log = Schedule(), []
    timer = make(schedule, log, (1, 0))
    timer.set(100)
    timer.set(500)
    run(schedule, 100)
    assert log == [] and schedule.nearest() == 500
    timer.cancel()
    run(schedule, 1000)
    assert log == [] and schedule.nearest() is None and len(schedule) == 0


def test_a_timer_set_while_due_ones_are_taken_waits_for_the_next_step():
    schedule, log = Schedule(), []
    timer = ScheduledTimer(schedule, (1, 0), "s", lambda: (log.append("ran"), timer.set(150)))
    timer.set(100)
    run(schedule, 1000)
    assert log == ["ran"] and timer.due == 150
    run(schedule, 1000)
    assert log == ["ran", "ran"]


def test_a_cancelled_timer_keeps_nothing_alive():
    """Its entry stays until the due time, perhaps a year away; the operators do not."""
    schedule, timers = Schedule(), []

    class Operator:
        def run(self):
            """Never called."""

    for number in range(10):
        operator = Operator()
        timer = ScheduledTimer(schedule, (number, 0), "s", operator.run)
        timer.set(10**12)
        timer.set(10**12 + number)
        timers.append(weakref.ref(operator))
        timer.cancel()
    del operator, timer
    assert [each() for each in timers] == [None] * 10 and len(schedule) == 0


def test_stale_entries_are_at_most_as_many_as_the_others():
    schedule, log = Schedule(), []
    timers = [make(schedule, log, (number, 0)) for number in range(100)]
    for step in range(10_000):
        timers[step % 100].set(10**9 + step)
        assert len(schedule.heap) <= 2 * 100 + FEW
    assert len(schedule) == 100
    for timer in timers[1:]:
        timer.cancel()
    assert len(schedule.heap) <= 1 + FEW + 1 and len(schedule) == 1
    run(schedule, 2 * 10**9)
    assert log == [(0, 0)] and len(schedule) == 0 and schedule.heap == []


def test_setting_the_same_time_again_adds_no_entry():
    schedule, log = Schedule(), []
    timer = make(schedule, log, (0, 0))
    for _ in range(1_000):
        timer.set(5)
    assert len(schedule.heap) == 1
    run(schedule, 5)
    assert log == [(0, 0)]
    timer.set(5)
    assert timer.due == 5 and len(schedule) == 1


@given(st.lists(st.tuples(st.sampled_from(["set", "cancel", "run", "nearest"]), st.integers(0, 5), st.integers(0, 40)), max_size=300))
@settings(max_examples=60, deadline=None)
def test_as_a_list_of_due_times(steps):
    """Whatever is set, replaced and cancelled: what runs, when and in which order is what a plain list of due times says."""
    schedule, log, dues, now = Schedule(), [], {}, 0
    timers = [make(schedule, log, (number, 0)) for number in range(6)]
    for kind, number, value in steps:
        if kind == "set":
            timers[number].set(now + value)
            dues[number] = now + value
        elif kind == "cancel":
            timers[number].cancel()
            dues.pop(number, None)
        elif kind == "nearest":
            assert schedule.nearest() == min(dues.values(), default=None)
        else:
            now += value
            due = sorted((at, n) for n, at in dues.items() if at <= now)
            log.clear()
            run(schedule, now)
            assert log == [(n, 0) for _, n in due]
            dues = {n: at for n, at in dues.items() if at > now}
        assert len(schedule) == len(dues) and [t.due for t in timers] == [dues.get(n) for n in range(6)]


def test_a_batch_of_no_time_does_not_keep_time_from_going_on() -> None:
    runtime = Runtime(start_time=0)
    runtime.deploy("create schema E(v int); select * from E#time_length_batch(0 sec, 3, 'START_EAGER')")
    runtime.advance_time_span(50)
    assert runtime.now == 50
