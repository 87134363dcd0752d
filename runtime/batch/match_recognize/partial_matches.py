"""Partial matches one by one, as lines: see runtime.match_recognize.machine.

A partial match is a place of the ``s_`` arrays: the step it waits at, the number of its first row, the node of its last row, and the
nodes that conditions look back at. A partition's partial matches are a list, oldest first; places that are free are a list too. A node is
a row that a partial match took, with the step (``p_mark``), the node before it, and how many nodes, partial matches and matches of this
row refer to it (``p_refs``).
"""
from __future__ import annotations

import numpy as np

from epl.plan.expressions import StreamProperty, TypedExpression
from epl.plan.patterns.match_recognize import Condition
from epl.plan.statements import SelectPlan
from runtime.batch.match_recognize.groups import group_row
from runtime.batch.match_recognize.kernel import MatchKernelPrinter
from runtime.batch.match_recognize.layout import NODE, NODES_FULL, PARTIAL_MATCH, PARTIAL_MATCHES_FULL, SCRATCH, WORK, WORK_FULL
from runtime.batch.match_recognize.measures import MatchWriter
from runtime.batch.printing.expressions import ScalarText
from runtime.batch.printing.source_code import Code
from runtime.batch.storage.arrays import GROUP, ArrayField
from runtime.match_recognize.lattice import bits


class PartialMatchPrinter(MatchKernelPrinter):
    """See the module. ``slots``: the variables that conditions look back at."""

    has_partial_matches = True

    def __init__(self, plan: SelectPlan) -> None:
        super().__init__(plan)
        conditions = self.pattern.conditions
        self.slots = tuple(sorted({o.number for c in conditions if c is not None for o in c.operands if o.kind == "variable"}))
        self.width = len(self.steps) + 1
        self._group_rows = 0

    def fields(self) -> list[ArrayField]:
        return [
            ArrayField("p_prev", np.int64, NODE, -1), ArrayField("p_refs", np.int64, NODE), ArrayField("q_node", np.int64, SCRATCH),
            ArrayField("g_first", np.int64, GROUP, -1), ArrayField("g_count", np.int64, GROUP),
            ArrayField("s_next", np.int64, PARTIAL_MATCH, -1), ArrayField("s_step", np.int64, PARTIAL_MATCH),
            ArrayField("s_begin", np.int64, PARTIAL_MATCH), ArrayField("s_node", np.int64, PARTIAL_MATCH),
            *(ArrayField(f"s_look{v}", np.int64, PARTIAL_MATCH, -1) for v in self.slots),
            ArrayField("f_node", np.int64, WORK), ArrayField("f_begin", np.int64, WORK),
        ]

    def reserve(self, code: Code) -> None:
        most = max((len(s.then) for s in self.steps), default=0)
        begins = self.pattern.program.start
        code.add("held = g_count[gu]")
        self.full(code, f"vacancies + len(p_prev) - nodes < held + {len(begins)}", NODES_FULL)
        more = sum(len(self.steps[s].then) for s in begins)
        self.full(code, f"spare + len(s_next) - made < held * {most} + {more}", PARTIAL_MATCHES_FULL)
        self.full(code, f"held + {len(begins)} > len(f_node)", WORK_FULL)

    # ------------------------------------------------------------------ a row

    def advance(self, code: Code) -> None:
        code.add("number = row + 1", "found = 0", "began = 0")
        for v, condition in enumerate(self.pattern.conditions):
            if condition is not None and condition.reads_row_only:
                code.add(f"t{v} = {self._row_test(condition, code)}")
        code.add("s = g_first[gu]", "chain = -1", "last = -1", "held = 0")
        with code.block("while s >= 0"):
            code.add("after = s_next[s]", "step = s_step[s]", "holds = False")
            with code.block("if s_begin[s] > gone" if self.window is not None else "if True"):
                for number in range(len(self.steps)):
                    with code.block(f"{'elif' if number else 'if'} step == {number}"):
                        self._holds(code, number, "s")
            with code.block("if holds"):
                self._new_node(code, "s_node[s]", "step")
                code.add("begin = s_begin[s]", f"of = step * {self.width}", "count = then[of]", "p_refs[node] = count")
                self._print_match(code)
                with code.block("if count == 0"):
                    self._free(code, "s")
                with code.block("else"):
                    self._look(code, "s", range(len(self.steps)))
                    code.add("s_step[s] = then[of + 1]", "s_node[s] = node")
                    self._link(code, "s")
                    with code.block("for place in range(1, count)"):
                        self._allocate(code)
                        code.add("s_step[t] = then[of + 1 + place]", "s_begin[t] = begin", "s_node[t] = node")
                        code.add(*(f"s_look{v}[t] = s_look{v}[s]" for v in self.slots))
                        self._link(code, "t")
            with code.block("else"):
                self._end(code)
            code.add("s = after")
        self._begin(code)
        if self.interval is not None:
            with code.block("if began"):
                self.interval.begins(code)
        with code.block("if last >= 0"):
            code.add("s_next[last] = -1")
        code.add("g_first[gu] = chain", "g_count[gu] = held")
        self.remember(code)
        with code.block(f"if found == 0{' and dead == 0' if self._terminates else ''}"):
            code.add("continue")

    @property
    def _terminates(self) -> bool:
        return self.interval is not None and self.pattern.or_terminated

    @property
    def _accepting(self) -> str:
        """Whether a match may end with ``step``."""
        return f"({bits(n for n, s in enumerate(self.steps) if s.accepts)} >> step) & 1"

    def _end(self, code: Code) -> None:
        """End the partial match ``s``: it does not take the row at ``step``, or its first row has left the window."""
        if self.interval is not None and self._terminates:
            with code.block(f"if {'s_begin[s] > gone and ' if self.window is not None else ''}{self._accepting}"):
                self.interval.died(code, "s")
            with code.block("else"):
                self.release(code, "s_node[s]")
        else:
            self.release(code, "s_node[s]")
        self._free(code, "s")

    def _begin(self, code: Code) -> None:
        """Matches that begin with the row."""
        code.add("s = -1")
        for number in self.pattern.program.start:
            step = self.steps[number]
            code.add("holds = False")
            self._holds(code, number, None)
            with code.block("if holds"):
                self._new_node(code, "-1", str(number))
                code.add(f"step = {number}", "begin = number", f"p_refs[node] = {len(step.then)}", "began = 1")
                if step.accepts:
                    self._print_match(code)
                for target in step.then:
                    self._allocate(code)
                    code.add(f"s_step[t] = {target}", "s_begin[t] = number", "s_node[t] = node")
                    code.add(*(f"s_look{v}[t] = {'node' if v == step.variable else '-1'}" for v in self.slots))
                    self._link(code, "t")

    def _print_match(self, code: Code) -> None:
        with code.block(f"if {self._accepting}"):
            code.add("f_node[found] = node", "f_begin[found] = begin", "found += 1", "p_refs[node] += 1")

    def _new_node(self, code: Code, before: str, mark: str) -> None:
        """``node`` takes the row; there is space."""
        with code.block("if vacant >= 0"):
            code.add("node = vacant", "vacant = p_prev[node]", "vacancies -= 1")
        with code.block("else"):
            code.add("node = nodes", "nodes += 1")
        code.add(f"p_prev[node] = {before}", f"p_mark[node] = {mark}", "p_row[node] = row", "RETAIN")

    def release(self, code: Code, node: str) -> None:
        """Release one reference; free nodes without any."""
        code.add(f"vacant, freed = release_path(N, {node}, vacant)", "vacancies += freed")

    def _look(self, code: Code, partial_match: str, numbers: range) -> None:
        for v in self.slots:
            of = [n for n in numbers if self.steps[n].variable == v]
            if of:
                with code.block(f"if {' or '.join(f'step == {n}' for n in of)}"):
                    code.add(f"s_look{v}[{partial_match}] = node")

    def _free(self, code: Code, partial_match: str) -> None:
        code.add(f"s_next[{partial_match}] = free", f"s_begin[{partial_match}] = -1", f"free = {partial_match}", "spare += 1")

    def _allocate(self, code: Code) -> None:
        """``t``: a free place."""
        with code.block("if free >= 0"):
            code.add("t = free", "free = s_next[t]", "spare -= 1")
        with code.block("else"):
            code.add("t = made", "made += 1")

    def _link(self, code: Code, partial_match: str) -> None:
        with code.block("if last < 0"):
            code.add(f"chain = {partial_match}")
        with code.block("else"):
            code.add(f"s_next[last] = {partial_match}")
        code.add(f"last = {partial_match}", "held += 1")

    # ------------------------------------------------------------------ conditions

    def _row_test(self, condition: Condition, code: Code) -> str:
        return self.printer(lambda node: self.condition_leaf(condition, node), code).test(condition.expression)

    def _holds(self, code: Code, number: int, partial_match: str | None) -> None:
        """``holds``: whether the step takes the row for ``partial_match``, or as its first row."""
        variable = self.steps[number].variable
        condition = self.pattern.conditions[variable]
        if condition is None:
            code.add("holds = True")
        elif condition.reads_row_only:
            code.add(f"holds = t{variable}")
        else:
            test = self.printer(lambda node: self._path_leaf(condition, node, partial_match, code), code).test(condition.expression)
            code.add(f"holds = {test}")

    def _path_leaf(self, condition: Condition, node: TypedExpression, partial_match: str | None, code: Code) -> ScalarText | None:
        if isinstance(node, StreamProperty):
            operand = condition.operands[node.stream]
            if operand.kind == "variable":
                if partial_match is None:
                    return ScalarText(self._nothing(node), "False")
                place = f"s_look{operand.number}[{partial_match}]"
                return self.of_node(node, place, f"({place} >= 0)")
            if operand.kind == "groups":
                return None
            return self.condition_leaf(condition, node)
        row = group_row(condition, self.pattern.variables, node)
        if row is None:
            return None
        variable, place_in_group, name = row
        property_ = StreamProperty(stream=0, name=name, type=node.type)
        if partial_match is None:
            return ScalarText(self._nothing(property_), "False")
        at = self._find_group_row(code, variable, place_in_group, partial_match)
        return self.of_node(property_, at, f"({at} >= 0)")

    def _nothing(self, node: StreamProperty) -> str:
        """Return a value of the property's type, where there is no row."""
        return self.of_row(node).value

    def _find_group_row(self, code: Code, variable: int, place: int, partial_match: str) -> str:
        """Prints the way back to a group variable's row; the name of its node, -1 where there is none."""
        self._group_rows += 1
        name = f"y{self._group_rows}"
        taken = " or ".join(f"p_mark[at] == {n}" for n, s in enumerate(self.steps) if s.variable == variable)
        code.add(f"{name} = -1", f"at = s_node[{partial_match}]", "seen = 0")
        with code.block("while at >= 0"):
            with code.block(f"if {taken}"):
                code.add("seen += 1")
                if place < 0:
                    code.add(f"{name} = at", "break")
            code.add("at = p_prev[at]")
        if place >= 0:
            code.add(f"seen -= {place + 1}", f"at = s_node[{partial_match}]")
            with code.block("while seen >= 0 and at >= 0"):
                with code.block(f"if {taken}"):
                    with code.block("if seen == 0"):
                        code.add(f"{name} = at")
                    code.add("seen -= 1")
                code.add("at = p_prev[at]")
        return name

    # ------------------------------------------------------------------ matches

    def emit(self, code: Code, matches: MatchWriter) -> None:
        counted = [n for n, s in enumerate(self.steps) if s.counted]
        every = self.pattern.all_matches
        code.add("start = out", "emitted = 0", "j = 0")
        with code.block("while j < found"):
            code.add("best = j", "emitted = f_begin[j]", "j += 1")
            if not every:
                if counted:
                    self._count(code, counted, "best", "lead")
                with code.block("while j < found and f_begin[j] == emitted"):
                    if counted:
                        self._count(code, counted, "j", "took")
                        with code.block(f"if {' or '.join(f'took{n} > lead{n}' for n in counted)}"):
                            code.add("best = j", *(f"lead{n} = took{n}" for n in counted))
                    code.add("j += 1")
            code.add("m = 0", "at = f_node[best]")
            with code.block("while at >= 0"):
                code.add("m += 1", "at = p_prev[at]")
            if self.interval is None:
                code.add("at = f_node[best]")
                with code.block("for q in range(m)"):
                    code.add("q_node[m - 1 - q] = at", "q_step[m - 1 - q] = p_mark[at]", "at = p_prev[at]")
            matches.write(code)
            if not every and self.pattern.skip == "past last row":
                code.add("break")

    def _count(self, code: Code, counted: list[int], which: str, name: str) -> None:
        code.add(*(f"{name}{n} = 0" for n in counted), f"at = f_node[{which}]")
        with code.block("while at >= 0"):
            for n in counted:
                with code.block(f"if p_mark[at] == {n}"):
                    code.add(f"{name}{n} += 1")
            code.add("at = p_prev[at]")

    def discard_begun(self, code: Code) -> None:
        with code.block("for place in range(found)"):
            self.release(code, "f_node[place]")
        if self.pattern.skip == "to current row" or self.interval is not None:
            return
        horizon = "first + i" if self.pattern.skip == "past last row" else "emitted"
        code.add(f"horizon = {horizon}", "s = g_first[gu]", "chain = -1", "last = -1", "held = 0")
        with code.block("while s >= 0"):
            code.add("after = s_next[s]")
            with code.block("if s_begin[s] > horizon"):
                self._link(code, "s")
            with code.block("else"):
                self._free(code, "s")
                self.release(code, "s_node[s]")
            code.add("s = after")
        with code.block("if last >= 0"):
            code.add("s_next[last] = -1")
        code.add("g_first[gu] = chain", "g_count[gu] = held")


__all__ = ["PartialMatchPrinter"]
