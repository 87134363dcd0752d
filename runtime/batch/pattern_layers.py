"""Matches in progress that share everything, as lines: see runtime.match_recognize.lattice.

A node is a layer: a row of a partition with the steps that took it (``p_mark``) and the layer before it. ``lat{s}[g]``: the latest first
row of a match whose last row step s took. Each delivery is one row here, so that all matches found end with it.
"""
from __future__ import annotations

import numpy as np

from epl.plan.row_recognition import Program
from runtime.batch.arrays import GROUP, Field
from runtime.batch.code import Code
from runtime.batch.pattern_measures import MatchPrinter
from runtime.batch.row_patterns import NODE, PatternPrinter
from runtime.match_recognize.lattice import LARGEST_CHOICE, bits, preferment

FEW_LAYERS = 16


class LayerPrinter(PatternPrinter):
    """See the module."""

    @property
    def program(self) -> Program:
        return self.pattern.program

    @property
    def preferment(self) -> str:
        return "all" if self.pattern.all_matches else preferment(self.program)

    @property
    def waiting(self) -> list[int]:
        """Steps that a match can go on from."""
        return [n for n, s in enumerate(self.steps) if s.then]

    @property
    def accepts(self) -> int:
        return bits(n for n, s in enumerate(self.steps) if s.accepts)

    def fields(self) -> list[Field]:
        fields = [
            Field("g_last", np.int64, GROUP, -1), Field("g_low", np.int64, GROUP), Field("g_count", np.int64, GROUP),
            Field("g_most", np.int64, GROUP, FEW_LAYERS), *(Field(f"lat{s}", np.int64, GROUP) for s in self.waiting),
            Field("k_node", np.int64, NODE), Field("k_mask", np.int64, NODE),
        ]
        if self.preferment == "count":
            fields += [Field(f"k_best{s}", np.int64, NODE) for s in range(len(self.steps))]
        if self.preferment in ("all", "scan"):
            fields += [Field("q_pick", np.int64, NODE), Field("b_step", np.int64, NODE)]
        return fields

    def reserve(self, code: Code) -> None:
        """One node a row is enough."""

    # ------------------------------------------------------------------ a row

    def advance(self, code: Code) -> None:
        steps, waiting = self.steps, self.waiting
        code.add("number = row + 1", "low = max(g_low[g], gone)" if self.window is not None else "low = g_low[g]")
        code.add(*(f"w{s} = lat{s}[g]" for s in waiting))
        code.add(f"live = {' or '.join(f'w{s} > low' for s in waiting) or 'False'}")
        with code.block("if live and g_count[g] > g_most[g]"):
            self._trim(code)
        begins = {steps[s].variable for s in self.program.start}
        later = {s.variable for s in steps} - begins
        code.add(*(f"t{v} = {self._test(v, code)}" for v in sorted(begins)), *(f"t{v} = False" for v in sorted(later)))
        code.add(*(f"now{s} = 0" for s in range(len(steps))))
        with code.block("if live"):
            for v in sorted(later):
                code.add(f"t{v} = {self._test(v, code)}")
            for number in range(len(steps)):
                self._move(code, number)
        for number in self.program.start:
            with code.block(f"if t{steps[number].variable}"):
                code.add(f"now{number} = number")
        self.remember(code)
        code.add("taken = " + " | ".join(f"({1 << s} if now{s} > 0 else 0)" for s in range(len(steps))))
        with code.block("if taken == 0"):
            with code.block("if live"):
                code.add(*(f"lat{s}[g] = 0" for s in waiting))
            code.add("continue")
        self.new_node(code, "(g_last[g] if live else -1)", "taken")
        code.add("g_count[g] = g_count[g] + 1 if live else 1", "g_last[g] = node", *(f"lat{s}[g] = now{s}" for s in waiting))
        if self.window is not None:
            code.add("w_taken[(tail - 1) & mask] = True")
        with code.block(f"if taken & {self.accepts} == 0"):
            code.add("continue")

    def _test(self, variable: int, code: Code) -> str:
        condition = self.pattern.conditions[variable]
        if condition is None:
            return "True"
        return self.printer(lambda node: self.condition_leaf(condition, node), code).test(condition.expression)

    def _move(self, code: Code, number: int) -> None:
        """A step that matches in progress may come to."""
        sources = [n for n, step in enumerate(self.steps) if number in step.then]
        if not sources:
            return
        latest = f"w{sources[0]}"
        for source in sources[1:]:
            latest = f"max({latest}, w{source})"
        code.add(f"latest = {latest}")
        with code.block(f"if latest > low and t{self.steps[number].variable}"):
            code.add(f"now{number} = latest")

    def _before(self, mask: str) -> str:
        """The steps that lead to any of a mask of steps."""
        found = []
        for number in range(len(self.steps)):
            sources = bits(n for n, step in enumerate(self.steps) if number in step.then)
            if sources:
                found.append(f"({sources} if {mask} & {1 << number} else 0)")
        return f"({' | '.join(found)})" if found else "0"

    def _trim(self, code: Code) -> None:
        """Let go of layers that no match in progress needs."""
        code.add("reached = " + (" | ".join(f"({1 << s} if w{s} > low else 0)" for s in self.waiting) or "0"))
        code.add("at = g_last[g]", "seen = 0", "needed = 0", "oldest = -1")
        with code.block("while at >= 0 and p_row[at] >= low"):
            with code.block("if seen > 0"):
                code.add(f"reached = {self._before('reached')} & p_mark[at]")
                with code.block("if reached == 0"):
                    code.add("break")
            code.add("seen += 1")
            with code.block(f"if reached & {bits(self.program.start)}"):
                code.add("needed = seen", "oldest = at")
            code.add("at = p_prev[at]")
        with code.block("if oldest >= 0"):
            code.add("p_prev[oldest] = -1")
        code.add("g_count[g] = needed", f"g_most[g] = 2 * needed + {FEW_LAYERS}")

    # ------------------------------------------------------------------ matches

    def emit(self, code: Code, matches: MatchPrinter) -> None:
        self._leading(code)
        several = self.pattern.all_matches or self.pattern.skip != "past last row"
        code.add("start = out", "told = 0", "j = k - 1")
        with code.block("while j >= 0"):
            with code.block(f"if k_mask[j] & {bits(self.program.start)}"):
                code.add("told = p_row[k_node[j]] + 1")
                if self.preferment in ("all", "scan"):
                    self._ways(code, matches)
                else:
                    self._walk(code)
                    matches.write(code)
                if not several:
                    code.add("break")
            code.add("j -= 1")

    def _leading(self, code: Code) -> None:
        """``k_node`` and ``k_mask``: layer by layer from the last, the steps from which a match ends with the last row."""
        code.add("k = 0", "at = g_last[g]", f"reached = p_mark[at] & {self.accepts}")
        code.add("low = max(g_low[g], gone)" if self.window is not None else "low = g_low[g]")
        with code.block("while at >= 0 and p_row[at] >= low"):
            with code.block("if k > 0"):
                code.add(f"reached = {self._before('reached')} & p_mark[at]")
                with code.block("if reached == 0"):
                    code.add("break")
            code.add("k_node[k] = at", "k_mask[k] = reached")
            if self.preferment == "count":
                self._count(code)
            code.add("k += 1", "at = p_prev[at]")

    def _count(self, code: Code) -> None:
        """Rows taken by the counted step from a layer on, by the step that took the layer."""
        for number, step in enumerate(self.steps):
            with code.block(f"if reached & {1 << number}"):
                code.add("best = 0")
                with code.block("if k > 0"):
                    for target in step.then:
                        with code.block(f"if k_mask[k - 1] & {1 << target} and k_best{target}[k - 1] > best"):
                            code.add(f"best = k_best{target}[k - 1]")
                code.add(f"k_best{number}[k] = best{' + 1' if step.counted else ''}")

    def _walk(self, code: Code) -> None:
        """The preferred match that begins at layer ``j`` into ``q_node`` and ``q_step``."""
        order = (lambda targets: tuple(reversed(targets))) if self.preferment == "last" else tuple
        counting = self.preferment == "count"
        code.add("m = j + 1", "step = -1", "best = -1")
        for number in order(self.program.start):
            self._choose(code, number, "j", "best" if counting else None)
        code.add("q_node[0] = k_node[j]", "q_step[0] = step")
        with code.block("for q in range(1, m)"):
            code.add("at = j - q", "was = step", "step = -1")
            if counting:
                code.add("best = -1")
            for number in self.waiting:
                with code.block(f"{'if' if number == self.waiting[0] else 'elif'} was == {number}"):
                    for target in order(self.steps[number].then):
                        self._choose(code, target, "at", "best" if counting else None)
            code.add("q_node[q] = k_node[at]", "q_step[q] = step")

    def _choose(self, code: Code, number: int, layer: str, best: str | None) -> None:
        """Take the step if it is the first that leads to the end, or leads by more counted rows than those before it."""
        if best is None:
            with code.block(f"if step < 0 and k_mask[{layer}] & {1 << number}"):
                code.add(f"step = {number}")
        else:
            with code.block(f"if k_mask[{layer}] & {1 << number} and k_best{number}[{layer}] > best"):
                code.add(f"step = {number}", f"best = k_best{number}[{layer}]")

    def _ways(self, code: Code, matches: MatchPrinter) -> None:
        """All matches that begin at layer ``j`` in the order of the program's links; ``scan``: the preferred of them."""
        scan, width = self.preferment == "scan", len(self.steps) + 1
        counted = [n for n, s in enumerate(self.steps) if s.counted]
        code.add("m = j + 1", "d = 0", "q_pick[0] = -1")
        if scan:
            code.add("ways = 0", *(f"lead{n} = 0" for n in counted))
        with code.block(f"while d >= 0{f' and ways < {LARGEST_CHOICE}' if scan else ''}"):
            code.add("pick = q_pick[d] + 1", "step = -1", "q_node[d] = k_node[j - d]")
            with code.block("if d == 0"):
                for place, number in enumerate(self.program.start):
                    with code.block(f"if step < 0 and pick <= {place} and k_mask[j] & {1 << number}"):
                        code.add(f"step = {number}", f"pick = {place}")
            with code.block("else"):
                code.add(f"of = q_step[d - 1] * {width}")
                with code.block("while step < 0 and pick < then[of]"):
                    with code.block("if (k_mask[j - d] >> then[of + 1 + pick]) & 1"):
                        code.add("step = then[of + 1 + pick]")
                    with code.block("else"):
                        code.add("pick += 1")
            with code.block("if step < 0"):
                code.add("d -= 1", "continue")
            code.add("q_pick[d] = pick", "q_step[d] = step")
            with code.block("if d < j"):
                code.add("d += 1", "q_pick[d] = -1", "continue")
            if scan:
                self._compare(code, counted)
            else:
                matches.write(code)
        if scan:
            with code.block("for q in range(m)"):
                code.add("q_node[q] = k_node[j - q]", "q_step[q] = b_step[q]")
            matches.write(code)

    def _compare(self, code: Code, counted: list[int]) -> None:
        """The way takes the lead if any counted step took more rows than in the one leading so far."""
        code.add("ways += 1", *(f"took{n} = 0" for n in counted))
        with code.block("for q in range(m)"):
            for n in counted:
                with code.block(f"if q_step[q] == {n}"):
                    code.add(f"took{n} += 1")
        with code.block(f"if ways == 1 or {' or '.join(f'took{n} > lead{n}' for n in counted)}"):
            code.add(*(f"lead{n} = took{n}" for n in counted))
            with code.block("for q in range(m)"):
                code.add("b_step[q] = q_step[q]")

    def give_up(self, code: Code) -> None:
        if self.pattern.skip == "to current row":
            return
        horizon = "first + i" if self.pattern.skip == "past last row" else "told"
        with code.block("if told > 0"):
            code.add(f"g_low[g] = max(g_low[g], {horizon})")


__all__ = ["LayerPrinter"]
