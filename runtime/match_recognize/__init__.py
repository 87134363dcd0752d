"""match_recognize: a program that a machine runs over the rows of each partition.

``build`` makes the operator of a plan; ``machine`` runs the program (``partial_matches`` writes its step out), ``ranking`` chooses among
matches, ``interval`` holds them back, ``on_demand`` serves the iterator.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from epl.plan.patterns.match_recognize import RowRecognitionPlan
from runtime.match_recognize.compiled import (
    compile_machine,
    compile_measure_values,
    compile_measures,
    compile_measures_of_rows,
    compile_partition_key,
)
from runtime.match_recognize.generated import can_be_written, write_steps
from runtime.match_recognize.interval import MatchInterval
from runtime.match_recognize.lattice import Lattice
from runtime.match_recognize.machine import Machine
from runtime.match_recognize.partial_matches import write_move
from runtime.match_recognize.ranking import Match, Ranking
from runtime.match_recognize.row_recognition import RowRecognition
from runtime.match_recognize.shared import SharedRowRecognition
from windows.event import Event
from windows.protocol import State


@attrs.frozen
class _Parts:
    """What all instances of a plan share: none of it keeps anything of an instance. ``layered``: partial matches may share their rows."""

    machine: Machine
    key: Callable[[Event], Any] | None
    values: Callable[[list[list[Event]]], tuple[Any, ...]]
    of_rows: Callable[[list[list[Event]]], Event]
    measures: Callable[[Match], Event]
    lattice: Lattice
    layered: bool

    @classmethod
    def of(cls, plan: RowRecognitionPlan, context: Any) -> _Parts:
        environment = context.environment
        machine, values = compile_machine(plan, environment), compile_measure_values(plan, environment)
        of_rows = compile_measures_of_rows(plan, values)
        observed = environment.row_pattern_observer is not None
        layered = not observed and not plan.or_terminated and can_be_written(plan)
        if not observed and (not layered or context.match_states.limit is not None):
            machine.move = write_move(plan, machine, environment) or machine.move
        ranking = Ranking(plan.program, all_matches=plan.all_matches, skip=plan.skip)
        lattice = Lattice(plan.program, ranking, past_last=plan.skip == "past last row")
        return cls(machine, compile_partition_key(plan, context), values, of_rows, compile_measures(plan, of_rows), lattice, layered)


def build(plan: RowRecognitionPlan, context: Any, state: State = None) -> RowRecognition:
    """Return the operator of a match_recognize clause; ``context`` is a windows.protocol.BuildContext with ``environment`` and
    ``match_states``.
    """
    environment, states = context.environment, context.match_states
    parts = environment.shared("match_recognize", (plan,), lambda: _Parts.of(plan, context))
    machine, key, measures = parts.machine, parts.key, parts.measures

    def share() -> SharedRowRecognition:
        source = write_steps(plan, environment)
        return SharedRowRecognition(plan, machine, key, measures, states, source, parts.of_rows, parts.values, parts.lattice)

    if parts.layered and states.limit is None:
        recognition: RowRecognition = share()
    else:
        recognition = RowRecognition(plan, machine, key, measures, states)
        if parts.layered:  # the limit is on partial matches: the iterator's need none, as in Esper, where layers bound them
            recognition.iterating = share().contents_matches
    if plan.interval is not None:
        recognition.interval = MatchInterval(plan, context, recognition.emit_due)
    if state is not None:
        recognition.restore(state)
    return recognition


__all__ = ["RowRecognition", "build"]
