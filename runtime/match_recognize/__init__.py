"""match_recognize: a program that a machine runs over the rows of each partition.

``build`` makes the operator of a plan; ``machine`` runs the program (``strands`` writes its step out), ``ranking`` chooses among matches,
``interval`` holds them back, ``on_demand`` serves the iterator.
"""
from __future__ import annotations

from typing import Any

from epl.plan.match_recognize import RowRecognitionPlan
from runtime.match_recognize.compiled import (
    compile_machine,
    compile_measure_values,
    compile_measures,
    compile_measures_of_rows,
    compile_partition_key,
)
from runtime.match_recognize.generated import can_be_written, write_steps
from runtime.match_recognize.interval import Interval
from runtime.match_recognize.row_recognition import RowRecognition
from runtime.match_recognize.shared import SharedRowRecognition
from runtime.match_recognize.strands import write_move
from windows.protocol import State


def build(plan: RowRecognitionPlan, context: Any, state: State = None) -> RowRecognition:
    """The operator of a match_recognize clause; ``context`` is a windows.protocol.BuildContext with ``environment`` and
    ``match_states``.
    """
    environment, states = context.environment, context.match_states
    machine, key = compile_machine(plan, environment), compile_partition_key(plan, context)
    values = compile_measure_values(plan, environment)
    of_rows = compile_measures_of_rows(plan, values)
    measures = compile_measures(plan, of_rows)

    def shared() -> SharedRowRecognition:
        return SharedRowRecognition(plan, machine, key, measures, states, write_steps(plan, environment), of_rows, values)

    layered = not plan.or_terminated and can_be_written(plan)
    if layered and states.limit is None:
        made: RowRecognition = shared()
    else:
        made = RowRecognition(plan, machine, key, measures, states)
        machine.move = write_move(plan, machine, environment) or machine.move
        if layered:  # the limit is on matches in progress: the iterator's need none, as in Esper, where layers bound them
            made.iterating = shared().matches_over
    if plan.interval is not None:
        made.interval = Interval(plan, context, made.emit_due)
    if state is not None:
        made.restore(state)
    return made


__all__ = ["RowRecognition", "build"]
