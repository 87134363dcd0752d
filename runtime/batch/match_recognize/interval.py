"""``interval t [or terminated]`` as lines: see runtime.match_recognize.interval.

A match that is found is held: a place of the ``m_`` arrays, with its path. Where partial matches are layers the path is a copy, a block
of nodes as layers are in; where each has its own path it is the node of the last row, referred to once more. ``b_`` records are the times
at which matches began, ascending, from ``b_head`` to ``b_tail``: ``b_row`` is the first row that came then, and what waits for the end of
the interval is a list of each, in the order in which it was found. ``f_emitted``: what is emitted together; the ranking chooses again.

A row works in steps that can be stopped for want of space and run again: ``pending`` is 2 while its matches are being held (``kept`` of
them are) and 1 while they are emitted.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from epl.plan.patterns.match_recognize import RowRecognitionPlan
from epl.plan.statements import SelectPlan
from runtime.batch.match_recognize.held_matches import BEGUN, HELD, NEVER, PatternInterval
from runtime.batch.match_recognize.layout import BEGUN_FULL, FEW_LAYERS, HELD_FULL, NO_ROW, NODES_FULL, OUTPUT_FULL, WORK, WORK_FULL
from runtime.batch.match_recognize.measures import MatchPrinter, print_step
from runtime.batch.printing.source_code import Code
from runtime.batch.storage.arrays import ONE, ArrayField
from runtime.match_recognize.lattice import bits


class MatchSource(Protocol):
    """The printer whose matches are held."""

    plan: SelectPlan
    pattern: RowRecognitionPlan
    has_partial_matches: bool

    def full(self, code: Code, test: str, status: int) -> None: ...


class HoldPrinter:
    """Takes the place of printing a match's row, and holds the match instead: from row ``emitted`` on, ``m`` rows, to the current one.
    ``end``: the text of its last node, where nodes are linked."""

    end = "f_node[best]"
    node = ""

    def __init__(self, owner: IntervalPrinter) -> None:
        self.owner = owner

    def write(self, code: Code, next_step: Callable[[], None] | None = None) -> None:
        owner = self.owner
        with code.block("if seen == kept and stuck == 0"):
            with code.block("if (m_free < 0 and m_made >= len(m_next))"):
                code.add(f"stuck = {HELD_FULL}")
            with code.block("elif holding + emitting >= len(f_emitted)"):
                code.add(f"stuck = {WORK_FULL}")
            if not owner.machine.has_partial_matches:
                code.add(f"level = {FEW_LAYERS}")
                with code.block("while (1 << level) < m"):
                    code.add("level += 1")
                code.add("block = b_free[level]")
                with code.block("if block < 0 and nodes + (1 << level) > len(p_row)"):
                    code.add(f"stuck = {NODES_FULL}")
            with code.block("if stuck == 0"):
                self._take(code, next_step)
        code.add("seen += 1")

    def _take(self, code: Code, next_step: Callable[[], None] | None) -> None:
        owner = self.owner
        code.add("kept += 1")
        with code.block("if m_free >= 0"):
            code.add("e = m_free", "m_free = m_next[e]")
        with code.block("else"):
            code.add("e = m_made", "m_made += 1")
        if owner.machine.has_partial_matches:
            code.add(f"block = {self.end}", "p_refs[block] += 1", "mark = p_mark[block]")
        else:
            self._copy(code, next_step)
        code.add("m_begin[e] = emitted", "m_end[e] = first + i", "m_node[e] = block", "m_len[e] = m", "m_group[e] = g")
        owner.insert_match(code)

    def _copy(self, code: Code, next_step: Callable[[], None] | None) -> None:
        with code.block("if block >= 0"):
            code.add("b_free[level] = p_row[block]")
        with code.block("else"):
            code.add("block = nodes", "nodes += 1 << level")
        with code.block("for q in range(m)"):
            print_step(code, next_step)
            code.add(f"at = {self.node}", "to = block + q", "p_row[to] = p_row[at]", "p_mark[to] = step", "KEEP")
        code.add("mark = step")


class IntervalPrinter:
    """Prints what happens to matches between being found and being emitted."""

    def __init__(self, interval: PatternInterval, machine: MatchSource) -> None:
        self.interval, self.machine = interval, machine
        self.plan, self.pattern = machine.plan, machine.pattern
        self._steps = self.pattern.program.steps
        self._final = bits(n for n, step in enumerate(self._steps) if not step.then)

    def fields(self) -> list[ArrayField]:
        return [
            *(ArrayField(name, np.int64, BEGUN) for name in ("b_row", "b_time", "b_count", "b_first", "b_last")),
            *(ArrayField(name, np.int64, HELD) for name in ("m_next", "m_begin", "m_end", "m_node", "m_len", "m_group")),
            ArrayField("f_emitted", np.int64, WORK), ArrayField("period", np.int64, ONE),
            ArrayField("i_registers", np.int64, "registers"),
            *([ArrayField("d_node", np.int64, WORK), ArrayField("d_begin", np.int64, WORK)] if self.interval.or_terminated else []),
        ]

    @staticmethod
    def begin(code: Code) -> None:
        """Print what comes in front of the first row."""
        code.add("span = period[0]", "seen = 0", "stuck = 0")

    # ------------------------------------------------------------------ time

    def fire(self, code: Code, otherwise: Callable[[Code], None]) -> None:
        """Print, for where the timer is due before the next row comes: what waits no longer is to be emitted; else ``otherwise``."""
        code.add("reach = times[np.uint64(i)] if i < n else until")
        with code.block(f"if timer < {NEVER} and timer <= reach"):
            if self.interval.or_terminated:
                with code.block("if out >= out_capacity"):
                    code.add("wanted = out + 1", f"status = {OUTPUT_FULL}", "break")
            code.add("now = reach if jump else timer", "timing = 1", "at = b_next")
            with code.block("while at < b_tail and b_time[at] + span <= now"):
                code.add("e = b_first[at] if b_count[at] > 0 else -1")
                with code.block("while e >= 0"):
                    code.add("f_emitted[emitting] = e", "emitting += 1", "e = m_next[e]")
                code.add("holding -= b_count[at]", "b_count[at] = 0", "at += 1", "b_head = at")
            with code.block("if holding == 0"):
                code.add("at = b_tail")
            with code.block("while at < b_tail and b_count[at] == 0"):
                code.add("at += 1")
            code.add("b_next = at", f"timer = b_time[at] + span if at < b_tail else {NEVER}")
            with code.block("if emitting == 0"):
                if self.interval.or_terminated:
                    self._emit_nothing(code)
                code.add("continue")
            code.add("pending = 1")
        with code.block("else"):
            otherwise(code)
            code.add("pending = 2", "timing = 0")

    @staticmethod
    def _emit_nothing(code: Code) -> None:
        """Print a timer of what was released meanwhile: row listeners are called without a row, as a row whose delta is below 0."""
        with code.block("if causes and holding > 0"):
            code.add("o_cause[out] = i - 1", "o_time[out] = now", "o_delta[out] = -delta", "o_timer[out] = True", "out += 1", "delta += 1")

    def reserve(self, code: Code) -> None:
        self.machine.full(code, "b_tail >= len(b_row)", BEGUN_FULL)

    def begins(self, code: Code) -> None:
        """Note that a match begins with the row."""
        with code.block("while b_head < b_tail and b_count[b_head] == 0 and b_time[b_head] + span <= now"):
            code.add("b_head += 1")
        with code.block("if b_tail == b_head or b_time[b_tail - 1] != now"):
            code.add("b_row[b_tail] = row + 1", "b_time[b_tail] = now", "b_count[b_tail] = 0", "b_tail += 1")

    def _find(self, code: Code, begin: str) -> None:
        """``b``: the record of the time of a first row; before ``b_head`` where its interval is over."""
        code.add(f"b = last_not_above(b_row, b_head, b_tail, {begin})")

    def insert_match(self, code: Code) -> None:
        """Decide whether the match ``e``, whose last step is ``mark``, waits or is emitted now."""
        self._find(code, "emitted")
        waits = "b >= b_head and (b_count[b] > 0 or b_time[b] + span - now > now - b_time[b])"
        with code.block(f"if {f'({self._final} >> mark) & 1 == 0 and ' if self.interval.or_terminated else ''}{waits}"):
            with code.block("if holding == 0"):
                code.add("timer = b_time[b] + span")
            with code.block("if holding == 0 or b < b_next"):
                code.add("b_next = b")
            code.add("m_next[e] = -1")
            with code.block("if b_count[b] > 0"):
                code.add("m_next[b_last[b]] = e")
            with code.block("else"):
                code.add("b_first[b] = e")
            code.add("b_last[b] = e", "b_count[b] += 1", "holding += 1")
        with code.block("else"):
            code.add("f_emitted[emitting] = e", "emitting += 1")

    # ------------------------------------------------------------------ or terminated

    def died(self, code: Code, partial_match: str) -> None:
        """Note that a partial match did not take the row; its path is kept for now."""
        code.add(f"d_node[dead] = s_node[{partial_match}]", f"d_begin[dead] = s_begin[{partial_match}]", "dead += 1")

    def print_release(self, code: Code, release: Callable[[Code, str], None]) -> None:
        """Release what waits and is about the rows of a partial match that has come to an end."""
        if not self.interval.or_terminated:
            return
        groups, variables = self.pattern.groups, sorted({step.variable for step in self._steps})
        with code.block("for place in range(dead)"):
            self._find(code, "d_begin[place]")
            with code.block("if b >= b_head and b_count[b] > 0"):
                self._first_rows(code, "d_node[place]", "y", variables)
                code.add("e = b_first[b]", "last = -1", "b_first[b] = -1")
                with code.block("while e >= 0"):
                    code.add("after = m_next[e]", "same = m_begin[e] == d_begin[place]")
                    with code.block("if same"):
                        self._first_rows(code, "m_node[e]", "z", variables)
                        alike = [f"(z{v} == {NO_ROW} or z{v} == y{v})" if groups[v] else f"z{v} == y{v}" for v in variables]
                        code.add(f"same = {' and '.join(alike)}")
                    with code.block("if same"):
                        code.add("f_emitted[emitting] = e", "emitting += 1", "holding -= 1", "b_count[b] -= 1")
                    with code.block("else"):
                        code.add("m_next[e] = -1")
                        with code.block("if last < 0"):
                            code.add("b_first[b] = e")
                        with code.block("else"):
                            code.add("m_next[last] = e")
                        code.add("last = e")
                    code.add("e = after")
                code.add("b_last[b] = last")
            release(code, "d_node[place]")
        code.add("dead = 0")

    def _first_rows(self, code: Code, node: str, name: str, variables: list[int]) -> None:
        """Print the first row of a path by variable."""
        code.add(*(f"{name}{v} = {NO_ROW}" for v in variables), f"at = {node}")
        with code.block("while at >= 0"):
            for place, v in enumerate(variables):
                of = " or ".join(f"p_mark[at] == {n}" for n, s in enumerate(self._steps) if s.variable == v)
                with code.block(f"{'elif' if place else 'if'} {of}"):
                    code.add(f"{name}{v} = p_row[at]")
            code.add("at = p_prev[at]")

    # ------------------------------------------------------------------ emitting

    def emit(self, code: Code, matches: MatchPrinter) -> None:
        """Emit what is chosen of ``f_emitted``, from ``out`` on; changes nothing else that matters, so that it may run again."""
        every = self.pattern.all_matches
        counted = [] if every else [n for n, s in enumerate(self._steps) if s.counted]
        code.add("start = out")
        if not every:
            with code.block("if emitting > 1"):
                code.add("rank_matches(f_emitted, emitting, m_group, m_begin, m_end)")
            code.add("ended = -1", "group = -1")
        code.add("j = 0")
        with code.block("while j < emitting"):
            code.add("e = f_emitted[j]", "j += 1")
            if not every:
                with code.block("if m_group[e] != group"):
                    code.add("group = m_group[e]", "ended = -1")
                if counted:
                    self._count(code, counted, "e", "lead")
                code.add("begin = m_begin[e]")
                with code.block("while j < emitting and m_group[f_emitted[j]] == group and m_begin[f_emitted[j]] == begin"):
                    if counted:
                        self._count(code, counted, "f_emitted[j]", "took")
                        with code.block(f"if {' or '.join(f'took{n} > lead{n}' for n in counted)}"):
                            code.add("e = f_emitted[j]", *(f"lead{n} = took{n}" for n in counted))
                    code.add("j += 1")
                with code.block("if begin <= ended"):
                    code.add("continue")
                if self.pattern.skip == "past last row":
                    code.add("ended = m_end[e]")
            code.add("m = m_len[e]", "at = m_node[e]")
            self._path(code)
            matches.write(code)

    def _path(self, code: Code) -> None:
        if self.machine.has_partial_matches:
            with code.block("for q in range(m)"):
                code.add("q_node[m - 1 - q] = at", "q_step[m - 1 - q] = p_mark[at]", "at = p_prev[at]")
        else:
            code.add("block = at")
            with code.block("for q in range(m)"):
                code.add("q_step[q] = p_mark[block + q]")

    @property
    def node(self) -> str:
        """The text of row q's node of the match that is emitted."""
        return "q_node[q]" if self.machine.has_partial_matches else "block + q"

    def _count(self, code: Code, counted: list[int], which: str, name: str) -> None:
        code.add(*(f"{name}{n} = 0" for n in counted), f"at = m_node[{which}]")
        with code.block(f"for q in range(m_len[{which}])"):
            for n in counted:
                with code.block(f"if p_mark[at] == {n}"):
                    code.add(f"{name}{n} += 1")
            code.add("at = p_prev[at]" if self.machine.has_partial_matches else "at += 1")

    def release_emitted(self, code: Code, release: Callable[[Code, str], None]) -> None:
        """Release all that was emitted."""
        with code.block("for j in range(emitting)"):
            code.add("e = f_emitted[j]")
            release(code, "m_node[e]")
            code.add("m_len[e] = 0", "m_next[e] = m_free", "m_free = e")
        code.add("emitting = 0")


def release_block(code: Code, block: str) -> None:
    """Free the copy of a path."""
    code.add(f"block = {block}", f"level = {FEW_LAYERS}")
    with code.block("while (1 << level) < m_len[e]"):
        code.add("level += 1")
    code.add("p_row[block] = b_free[level]", "b_free[level] = block")


__all__ = ["HoldPrinter", "IntervalPrinter", "release_block"]
