"""Partial matches that share everything, as lines: see runtime.match_recognize.lattice.

A node is a layer: a row of a partition with the steps that took it (``p_mark``). A partition's layers are side by side, from ``g_off``
on, ``g_count`` of them, in space for ``g_cap``, the power ``g_size`` of two; ``g_bits``: the steps that took the last of them and go on. A
row that no partial match goes on with begins again. Each delivery is one row here, so that all matches found end with it.

Where rows may leave, or the skip clause discards some partial matches, it matters when these began: ``lat{s}`` is the latest first
row of a match whose last row step s took; in a tree it is known from the step. A tree is a program in which one way only leads to each
step, and none back: then also conditions that look at rows of the match are here, for the step says how many rows ago these came.
"""
from __future__ import annotations

import numpy as np

from epl.plan.expressions import StreamProperty, TypedExpression
from epl.plan.patterns.match_recognize import Condition, Program
from epl.plan.statements import SelectPlan
from runtime.batch.match_recognize.groups import group_row
from runtime.batch.match_recognize.interval import release_block
from runtime.batch.match_recognize.kernel import MatchKernelPrinter
from runtime.batch.match_recognize.layout import FEW_LAYERS, NODES_FULL, SCRATCH
from runtime.batch.match_recognize.measures import MatchWriter
from runtime.batch.printing.expressions import ScalarText
from runtime.batch.printing.source_code import Code
from runtime.batch.storage.arrays import GROUP, ArrayField
from runtime.match_recognize.lattice import LARGEST_CHOICE, bits, preferment


def ways_in_tree(program: Program) -> dict[int, tuple[int, ...]] | None:
    """Return for each step the steps before it in order, and itself, if the program is a tree; else None."""
    ways: dict[int, tuple[int, ...]] = {}
    waiting: list[tuple[int, tuple[int, ...]]] = [(number, (number,)) for number in program.start]
    while waiting:
        number, way = waiting.pop()
        if number in ways or len(way) > len(program.steps):
            return None
        ways[number] = way
        waiting += [(target, (*way, target)) for target in program.steps[number].then]
    return ways


class LayerPrinter(MatchKernelPrinter):
    """See the module."""

    def __init__(self, plan: SelectPlan) -> None:
        super().__init__(plan)
        self.program = self.pattern.program
        self.ways = ways_in_tree(self.program)
        self.preferment = "all" if self.pattern.all_matches else preferment(self.program)
        self.waiting = [n for n, s in enumerate(self.steps) if s.then]
        self.accepts = bits(n for n, s in enumerate(self.steps) if s.accepts)
        self.goes_on = bits(self.waiting)
        self.lowers = self.pattern.skip == "to next row" and self.interval is None
        lows = (["g_low[gu]"] if self.lowers else []) + (["gone"] if self.window is not None else [])
        self.low = f"max({', '.join(lows)})" if len(lows) > 1 else lows[0] if lows else None
        self.dated = self.low is not None and self.ways is None

    def fields(self) -> list[ArrayField]:
        fields = [ArrayField(name, np.int64, GROUP, -1 if name == "g_off" else 0) for name in ("g_off", "g_cap", "g_size", "g_count",
            "g_bits")]
        fields.append(ArrayField("b_free", np.int64, "sizes", -1))
        fields += [ArrayField("g_low", np.int64, GROUP)] if self.lowers else []
        fields += [ArrayField(f"lat{s}", np.int64, GROUP) for s in self.waiting] if self.dated else []
        fields.append(ArrayField("k_mask", np.int64, SCRATCH))
        if self.preferment == "count":
            fields += [ArrayField(f"k_best{s}", np.int64, SCRATCH) for s in range(len(self.steps))]
        if self.preferment in ("all", "scan"):
            fields += [ArrayField("q_pick", np.int64, SCRATCH), ArrayField("b_step", np.int64, SCRATCH)]
        return fields

    # ------------------------------------------------------------------ space

    def reserve(self, code: Code) -> None:
        code.add("off = g_off[gu]", "count = g_count[gu]", "w = g_bits[gu]")
        with code.block("if off < 0"):
            code.add(f"level = {FEW_LAYERS}")
            self._block(code)
            code.add("off = place", "g_off[gu] = off", "g_size[gu] = level", "g_cap[gu] = 1 << level")
        with code.block(f"elif (count >= g_cap[gu]) if w != 0 else (g_size[gu] > {FEW_LAYERS})"):
            self._trim(code)

    def _trim(self, code: Code) -> None:
        """Discard layers that no partial match needs; those that are left go to the smallest block in which as many more have space."""
        code.add("needed = 0", "k = 0")
        with code.block("if w != 0"):
            code.add("reached = w", "needed = 1")
            with code.block("while k < count"):
                with code.block("if k > 0"):
                    code.add(f"reached = {self._before('reached')} & p_mark[off + count - 1 - k]")
                    with code.block("if reached == 0"):
                        code.add("break")
                code.add("k += 1")
                with code.block(f"if reached & {bits(self.program.start)}"):
                    code.add("needed = k")
        code.add("place = off", f"level = {FEW_LAYERS}")
        with code.block("while (1 << level) < 2 * needed"):
            code.add("level += 1")
        with code.block("if level != g_size[gu]"):
            self._block(code)
        with code.block("for k in range(needed)"):
            code.add("at = place + k", "step = off + count - needed + k", "p_row[at] = p_row[step]", "p_mark[at] = p_mark[step]", "MOVE")
        with code.block("if place != off"):
            code.add("p_row[off] = b_free[g_size[gu]]", "b_free[g_size[gu]] = off", "g_size[gu] = level", "g_cap[gu] = 1 << level")
        code.add("off = place", "count = needed", "g_off[gu] = off", "g_count[gu] = needed")

    def _block(self, code: Code) -> None:
        """``place``: a free block of 2 ** ``level`` nodes, or stop in front of the row. ``b_free``: by level the first of those released,
        of which each holds the next in ``p_row``."""
        code.add("place = b_free[level]")
        with code.block("if place >= 0"):
            code.add("b_free[level] = p_row[place]")
        with code.block("else"):
            self.full(code, "nodes + (1 << level) > len(p_row)", NODES_FULL)
            code.add("place = nodes", "nodes += 1 << level")

    def retain(self, code: Code) -> None:
        super().retain(code)
        names = [f"p{list(self.inputs).index(name)}{v}" for name in self.retained for v in ("", "v")]
        self.replace(code, "MOVE", [f"{name}[at] = {name}[step]" for name in names])

    # ------------------------------------------------------------------ a row

    def advance(self, code: Code) -> None:
        begins = {self.steps[s].variable for s in self.program.start}
        later = {s.variable for s in self.steps} - begins
        self._alive(code)
        for v in sorted(begins):
            self._truth(v, code)
        code.add("moved = 0", *(f"now{s} = 0" for s in self.waiting if self.dated))
        with code.block("if w != 0"):
            code.add("last = off + count - 1", *(f"w{s} = lat{s}[gu]" for s in self.waiting if self.dated))
            for v in sorted(later):
                self._truth(v, code)
            for number in range(len(self.steps)):
                self._move(code, number)
        code.add("taken = moved")
        for number in self.program.start:
            with code.block(f"if {self._test(number, code, begins=True)}"):
                code.add(f"taken |= {1 << number}")
                if self.dated and self.steps[number].then:
                    code.add(f"now{number} = row + 1")
        self.remember(code)
        with code.block("if taken == 0"):
            with code.block("if w != 0"):
                code.add("g_bits[gu] = 0")
            code.add("continue")
        with code.block("if moved == 0"):
            code.add("count = 0")
        code.add("node = off + count", "p_mark[node] = taken", "p_row[node] = row", "RETAIN")
        code.add("g_count[gu] = count + 1", f"g_bits[gu] = taken & {self.goes_on}")
        code.add(*(f"lat{s}[gu] = now{s}" for s in self.waiting if self.dated))
        if self.interval is not None:
            with code.block(f"if taken & {bits(self.program.start)}"):
                self.interval.begins(code)
        with code.block(f"if taken & {self.accepts} == 0"):
            code.add("continue")

    def _alive(self, code: Code) -> None:
        """``w``: the steps of partial matches that are not discarded meanwhile."""
        if self.low is None:
            return
        code.add(f"low = {self.low}")
        with code.block("if w != 0 and p_row[off] < low"):
            for s in self.waiting:
                began = f"lat{s}[gu] <= low" if self.dated else f"p_row[off + count - {len(self._way(s))}] < low"
                with code.block(f"if w & {1 << s} and {began}"):
                    code.add(f"w &= {~(1 << s)}")

    def _way(self, number: int) -> tuple[int, ...]:
        assert self.ways is not None
        return self.ways[number]

    def _condition(self, variable: int) -> tuple[Condition | None, bool]:
        condition = self.pattern.conditions[variable]
        return condition, condition is None or condition.reads_row_only

    def _truth(self, variable: int, code: Code) -> None:
        """``t{variable}``: whether the row satisfies a condition that reads rows alone."""
        condition, alone = self._condition(variable)
        if condition is not None and alone:
            test = self.printer(lambda node: self.condition_leaf(condition, node), code).test(condition.expression)
            code.add(f"t{variable} = {test}")

    def _test(self, number: int, code: Code, *, begins: bool = False) -> str:
        """Return whether a step takes the row, for the partial matches whose last row is at ``last``."""
        variable = self.steps[number].variable
        condition, alone = self._condition(variable)
        if condition is None:
            return "True"
        if alone:
            return f"t{variable}"
        way = () if begins else self._way(number)[:-1]
        return self.printer(lambda node: self._path_leaf(condition, way, node), code).test(condition.expression)

    def _path_leaf(self, condition: Condition, way: tuple[int, ...], node: TypedExpression) -> ScalarText | None:
        """Return a property of a row that the match took on its way."""
        if isinstance(node, StreamProperty):
            operand = condition.operands[node.stream]
            if operand.kind == "groups":
                return None
            if operand.kind != "variable":
                return self.condition_leaf(condition, node)
            return self._of_way(node, operand.number, -1, way)
        row = group_row(condition, self.pattern.variables, node)
        return None if row is None else self._of_way(StreamProperty(stream=0, name=row[2], type=node.type), row[0], row[1], way)

    def _of_way(self, node: StreamProperty, variable: int, place: int, way: tuple[int, ...]) -> ScalarText:
        """Return the text of the variable's row at a position (-1: the last) on the way."""
        rows = [n for n, step in enumerate(way) if self.steps[step].variable == variable]
        if not rows or place >= len(rows):
            return ScalarText(self.of_row(node).value, "False")
        return self.of_node(node, f"last - {len(way) - 1 - rows[place]}", None)

    def _move(self, code: Code, number: int) -> None:
        """Print a step that partial matches may come to."""
        sources = [n for n, step in enumerate(self.steps) if number in step.then]
        if not sources:
            return
        with code.block(f"if w & {bits(sources)} and {self._test(number, code)}"):
            code.add(f"moved |= {1 << number}")
            if self.dated and self.steps[number].then:
                newest = f"(w{sources[0]} if w & {1 << sources[0]} else 0)"
                for source in sources[1:]:
                    newest = f"max({newest}, w{source} if w & {1 << source} else 0)"
                code.add(f"now{number} = {newest}")

    def _before(self, mask: str) -> str:
        """Return the steps that lead to any of a mask of steps."""
        masks = []
        for number in range(len(self.steps)):
            sources = bits(n for n, step in enumerate(self.steps) if number in step.then)
            if sources:
                masks.append(f"({sources} if {mask} & {1 << number} else 0)")
        return f"({' | '.join(masks)})" if masks else "0"

    # ------------------------------------------------------------------ matches

    def emit(self, code: Code, matches: MatchWriter) -> None:
        matches.node = "first_node + q"
        self._leading(code)
        several = self.pattern.all_matches or self.pattern.skip != "past last row"
        code.add("start = out", "emitted = 0", "j = k - 1")
        with code.block("while j >= 0"):
            with code.block(f"if k_mask[j] & {bits(self.program.start)}"):
                code.add("first_node = last - j", "emitted = p_row[first_node] + 1", "m = j + 1")
                if self.preferment in ("all", "scan"):
                    self._ways(code, matches)
                else:
                    self._walk(code, matches)
                if not several:
                    code.add("break")
            code.add("j -= 1")

    def _leading(self, code: Code) -> None:
        """``k_mask``: layer by layer from the last, the steps from which a match ends with the last row."""
        code.add("k = 0", "count = g_count[gu]", "last = g_off[gu] + count - 1", f"reached = p_mark[last] & {self.accepts}")
        if self.low is not None:
            code.add(f"low = {self.low}")
        with code.block(f"while k < count{' and p_row[last - k] >= low' if self.low is not None else ''}"):
            with code.block("if k > 0"):
                code.add(f"reached = {self._before('reached')} & p_mark[last - k]")
                with code.block("if reached == 0"):
                    code.add("break")
            code.add("k_mask[k] = reached")
            if self.preferment == "count":
                self._count(code)
            code.add("k += 1")

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

    def _walk(self, code: Code, matches: MatchWriter) -> None:
        """Emit the preferred match that begins at layer ``j``."""
        backwards = self.preferment == "last"
        counting = self.preferment == "count"
        code.add("step = -1", "best = -1")
        for number in self.program.start[::-1] if backwards else self.program.start:
            self._choose(code, number, "j", counting)

        def next_step() -> None:
            code.add("at = j - q", "was = step", "step = -1")
            if counting:
                code.add("best = -1")
            for number in self.waiting:
                with code.block(f"{'if' if number == self.waiting[0] else 'elif'} was == {number}"):
                    then = self.steps[number].then
                    for target in then[::-1] if backwards else then:
                        self._choose(code, target, "at", counting)

        matches.write(code, next_step)

    def _choose(self, code: Code, number: int, layer: str, counting: bool) -> None:
        """Take the step if it is the first that leads to the end, or leads by more counted rows than those before it."""
        if not counting:
            with code.block(f"if step < 0 and k_mask[{layer}] & {1 << number}"):
                code.add(f"step = {number}")
        else:
            with code.block(f"if k_mask[{layer}] & {1 << number} and k_best{number}[{layer}] > best"):
                code.add(f"step = {number}", f"best = k_best{number}[{layer}]")

    def _ways(self, code: Code, matches: MatchWriter) -> None:
        """Print all matches that begin at layer ``j`` in the order of the program's links; ``scan``: the preferred of them."""
        scan, width = self.preferment == "scan", len(self.steps) + 1
        counted = [n for n, s in enumerate(self.steps) if s.counted]
        code.add("d = 0", "q_pick[0] = -1")
        if scan:
            code.add("ways = 0", *(f"lead{n} = 0" for n in counted))
        with code.block(f"while d >= 0{f' and ways < {LARGEST_CHOICE}' if scan else ''}"):
            code.add("pick = q_pick[d] + 1", "step = -1")
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
                code.add("q_step[q] = b_step[q]")
            matches.write(code)

    def _compare(self, code: Code, counted: list[int]) -> None:
        """Let the way take the lead if any counted step took more rows than in the one leading so far."""
        code.add("ways += 1", *(f"took{n} = 0" for n in counted))
        with code.block("for q in range(m)"):
            for n in counted:
                with code.block(f"if q_step[q] == {n}"):
                    code.add(f"took{n} += 1")
        with code.block(f"if ways == 1 or {' or '.join(f'took{n} > lead{n}' for n in counted)}"):
            code.add(*(f"lead{n} = took{n}" for n in counted))
            with code.block("for q in range(m)"):
                code.add("b_step[q] = q_step[q]")

    def release(self, code: Code, node: str) -> None:
        release_block(code, node)

    def discard_begun(self, code: Code) -> None:
        if self.pattern.skip == "past last row" and self.interval is None:
            with code.block("if emitted > 0"):
                code.add("g_bits[gu] = 0")
        elif self.lowers:
            with code.block("if emitted > 0"):
                code.add("g_low[gu] = max(g_low[gu], emitted)")


__all__ = ["LayerPrinter", "ways_in_tree"]
