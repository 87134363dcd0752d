"""The statements that read one event type, run together: what they can share they share.

Statements without windows that differ in constants are one kernel (runtime.batch.rule_sets.run). Others whose filters look a key up get
only the rows with their keys, and are skipped while they read no row and no timer of theirs is due. The rest gets every row.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from epl.plan.statements import BodyPlan
from runtime.batch.rule_sets.kernel import SharedRule, key_rule
from runtime.batch.rule_sets.run import RuleMatches, RuleSetRun, rule_sets
from runtime.batch.runs.run import NOTHING, BatchOutput, BatchRun, Causes, RunContext
from runtime.batch.storage.arrays import Array
from runtime.batch.storage.intake import BatchIntake
from runtime.batch.storage.parted import Parted

NEVER = np.iinfo(np.int64).max


@attrs.frozen
class RuleSetMember:
    """One statement: its plan, its run, and what the run was made in."""

    plan: BodyPlan
    run: BatchRun
    surroundings: RunContext


class SharedRuns:
    """Runs of statements that read one event type, in order. The state stays that of each run; which statements share is not visible."""

    def __init__(self, members: Sequence[RuleSetMember]) -> None:
        self.members = tuple(members)
        sets = rule_sets([(m.plan, m.surroundings) for m in members])
        self._sets = [(s.numbers, s.run([members[n].run for n in s.numbers])) for s in sets]
        left = sorted(set(range(len(members))) - {n for numbers, _ in self._sets for n in numbers})
        self._keyed, self._each = _by_key(members, left)

    def prepare(self, intake: BatchIntake) -> None:
        """Prepare as in Run, for all of them."""
        for _, rules in self._sets:
            rules.prepare(intake)
        for keyed in self._keyed:
            keyed.prepare(intake)
        for number in self._each:
            self.members[number].run.prepare(intake)

    def feed(self, intake: BatchIntake, times: Array, until: int, *, jump: bool = False, causes: bool = False) -> list[BatchOutput]:
        """Return, as in Run, the outputs of all, in order of the statements."""
        outputs = [NOTHING] * len(self.members)
        if intake.rows:
            for numbers, rules in self._sets:
                for number, output in zip(numbers, rules.feed(intake, times, until, causes=causes)):
                    outputs[number] = output
        for keyed in self._keyed:
            keyed.feed(outputs, intake, times, until, jump=jump, causes=causes)
        for number in self._each:
            outputs[number] = self.members[number].run.feed(intake, times, until, jump=jump, causes=causes)
        return outputs

    def next_due(self) -> int | None:
        """Return the earliest timer of all."""
        dues = [due for number in self._each if (due := self.members[number].run.next_due()) is not None]
        dues += [due for keyed in self._keyed if (due := keyed.next_due()) is not None]
        return min(dues, default=None)


class KeyedRuns:
    """Runs after filters that look up keys of one property."""

    def __init__(self, numbers: Sequence[int], runs: Sequence[BatchRun], rules: Sequence[SharedRule]) -> None:
        self.numbers, self.runs = tuple(numbers), tuple(runs)
        self._keys = RuleSetRun(rules)
        self._due = np.full(len(runs), NEVER, np.int64)
        self._begun = False
        self._held: list[Parted] = []

    def prepare(self, intake: BatchIntake) -> None:
        """Convert the columns once for all of them."""
        self._keys.prepare(intake)
        for run in self.runs:
            run.prepare(intake)

    def next_due(self) -> int | None:
        if not self._begun:
            self._look_at_all()
        due = int(self._due.min())
        return None if due == NEVER else due

    def _look_at_all(self) -> None:
        for place in range(len(self.runs)):
            self._look(place)

    def _look(self, place: int) -> None:
        due = self.runs[place].next_due()
        self._due[place] = NEVER if due is None else due

    def feed(
        self, outputs: list[BatchOutput], intake: BatchIntake, times: Array, until: int, *, jump: bool, causes: bool,
    ) -> None:
        """Put their outputs to their numbers. ``jump``: rows that a statement does not read move its timers too, so all get all rows."""
        if not self._begun:  # until now they may have been restored
            self._look_at_all()
            self._begun = True
        if jump and intake.rows:
            for place, run in enumerate(self.runs):
                outputs[self.numbers[place]] = run.feed(intake, times, until, jump=True, causes=causes)
                self._look(place)
            return
        matches = self._keys.rows(intake, times) if intake.rows else None
        waiting = self._due <= until
        if matches is not None:
            self._feed_rows(matches, outputs, intake, times, until, causes)
            waiting &= np.diff(matches.begins) == 0
        late = np.flatnonzero(waiting).tolist()
        nothing = intake.take_rows(np.zeros(0, np.int64)) if late else intake
        for place in late:
            output = self.runs[place].feed(nothing, times[:0], until, jump=jump, causes=causes)
            outputs[self.numbers[place]] = _with_causes(output, times, times[:0])
            self._look(place)

    def _feed_rows(self, matches: RuleMatches, outputs: list[BatchOutput], intake: BatchIntake, times: Array, until: int,
        causes: bool) -> None:
        parted = Parted(intake, matches.rows)
        moments = times[matches.rows]
        for place, low, high in matches.spans():
            output = self.runs[place].feed(parted.part(low, high), moments[low:high], until, causes=causes)
            outputs[self.numbers[place]] = _with_causes(output, times, matches.rows[low:high]) if causes else output
            self._look(place)
        self._held = [each for each in (*self._held, parted) if each.is_held()]


def _by_key(members: Sequence[RuleSetMember], numbers: Sequence[int]) -> tuple[list[KeyedRuns], list[int]]:
    """Return the rules that share a key's property with others, and the rest."""
    by_key: dict[Any, list[tuple[int, SharedRule]]] = {}
    rest = []
    for number in numbers:
        member = members[number]
        rule = key_rule(member.plan, member.surroundings)
        if rule is None:
            rest.append(number)
        else:
            key = (rule.shape, id(member.surroundings.pool), member.surroundings.compile)
            by_key.setdefault(key, []).append((number, rule))
    groups = [g for g in by_key.values() if len(g) > 1]
    rest += [n for g in by_key.values() if len(g) == 1 for n, _ in g]
    keyed = [KeyedRuns([n for n, _ in g], [members[n].run for n, _ in g], [r for _, r in g]) for g in groups]
    return keyed, sorted(rest)


def _with_causes(output: BatchOutput, times: Array, rows: Array) -> BatchOutput:
    """Causes as rows of the whole batch. ``rows``: those that the run was given."""
    causes = (output.new_causes, output.old_causes, output.nothing)
    new, old, nothing = (None if c is None else _causes(c, times, rows) for c in causes)
    return attrs.evolve(output, new_causes=new, old_causes=old, nothing=nothing)


def _causes(causes: Causes, times: Array, rows: Array) -> Causes:
    """Return the causes; a timer comes after all rows before its time."""
    by_timer = np.searchsorted(times, causes.time, side="left") - 1
    by_row = rows[causes.row].astype(np.int64) if len(rows) else by_timer
    return attrs.evolve(causes, row=np.where(causes.timer, by_timer, by_row))


__all__ = ["KeyedRuns", "RuleSetMember", "SharedRuns"]
