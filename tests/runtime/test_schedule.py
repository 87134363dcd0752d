"""Timers: order, replacement, jump semantics."""
from runtime.schedule import Schedule, ScheduledTimer


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
