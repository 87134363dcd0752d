"""Parts of a plan with a picture of their own: row patterns as automata, patterns as trees, joins as the order of their look-ups."""
from __future__ import annotations

from collections.abc import Sequence

from epl.plan.explain import condition_text
from epl.plan.expression_text import PropertyText, expression_text
from epl.plan.expressions import TypedExpression
from epl.plan.join.joins import JoinPlan, JoinStep
from epl.plan.patterns.match_recognize import Program, RowRecognitionPlan
from epl.plan.patterns.pattern import CrontabNode, FilterNode, FollowedByNode, IntervalNode, PatternNode, PatternPlan, ScheduleNode
from runtime.explain.graph import Drawing, NodeKind

Streams = Sequence[PropertyText]


def join_conditions(conditions: Sequence[TypedExpression], streams: Streams, word: str = " and ") -> str:
    return word.join(expression_text(condition, streams) for condition in conditions)


# ------------------------------------------------------------------ row patterns


def draw_row_pattern(drawing: Drawing, plan: RowRecognitionPlan) -> str:
    """Draw the program of a row pattern as an automaton; return the group. A state is what has been matched so far; a transition takes a
    row for a variable. Matches end at accepting states; transitions are numbered where their order says which match is preferred."""
    group = drawing.group(f"row pattern {plan.pattern}")
    program = plan.program
    start = drawing.node("start", "start", group=group)
    states = [
        drawing.node("accept" if step.accepts else "state", step.label, group=group, step=number, accepts=step.accepts,
                     variable=plan.variables[step.variable])
        for number, step in enumerate(program.steps)
    ]
    _transitions(drawing, program, plan.variables, start, states)
    drawing.node("note", *_defines(plan), group=group)
    return group


def _transitions(drawing: Drawing, program: Program, variables: Sequence[str], start: str, states: Sequence[str]) -> None:
    for source, targets in [(start, program.start), *((states[n], step.then) for n, step in enumerate(program.steps))]:
        for order, target in enumerate(targets, 1):
            name = variables[program.steps[target].variable]
            drawing.edge(source, states[target], label=f"{name} ({order})" if len(targets) > 1 else name)


def _defines(plan: RowRecognitionPlan) -> list[str]:
    lines = [
        f"{name}: {'any row' if condition is None else condition_text(condition, plan)}"
        for name, condition in zip(plan.variables, plan.conditions)
    ]
    lines.append(f"after a match: skip {plan.skip}" + (", all matches" if plan.all_matches else ""))
    if plan.interval is not None:
        lines.append(f"interval {expression_text(plan.interval)}" + (" or terminated" if plan.or_terminated else ""))
    return lines


# ------------------------------------------------------------------ EPL patterns


def draw_pattern(drawing: Drawing, plan: PatternPlan, title: str = "pattern") -> tuple[str, str]:
    """Draw the tree of a pattern, from its atoms to its root; return the group and the root's node."""
    marks = {"suppresses overlapping matches": plan.suppress, "discards partial matches": plan.discard}
    group = drawing.group(", ".join([title, *(mark for mark, is_set in marks.items() if is_set)]))
    return group, _operator(drawing, plan, plan.root, group)


def _operator(drawing: Drawing, plan: PatternPlan, node: PatternNode, group: str) -> str:
    kind: NodeKind = "operator"
    if isinstance(node, FilterNode):
        kind = "filter"
    elif isinstance(node, (IntervalNode, CrontabNode, ScheduleNode)):
        kind = "observer"
    here = drawing.node(kind, plan.node_title(node), group=group, tag=node.tag if isinstance(node, FilterNode) else None)
    inner = [_operator(drawing, plan, each, group) for each in node.inner()]
    ordered = isinstance(node, FollowedByNode) or len(inner) > 1
    for number, child in enumerate(inner, 1):
        drawing.edge(child, here, label=str(number) if ordered else "")
    return here


# ------------------------------------------------------------------ joins


def draw_join(drawing: Drawing, plan: JoinPlan, names: Sequence[str], streams: Streams, begins: str) -> str:
    """Draw, for each stream whose events drive a join, the order in which the others are looked up and the indexes that answer; return
    the group. ``begins``: what happens to an event for which others are looked up."""
    group = drawing.group("join plan")
    for drive in plan.drives:
        conditions = join_conditions(drive.conditions, streams)
        begin = drawing.node("start", f"{names[drive.stream]} {begins}", f"where {conditions}" if conditions else "", group=group)
        ends = _steps(drawing, begin, drive.steps, names, streams, group)
        across = join_conditions(drive.across, streams)
        rows = drawing.node("accept", "rows", f"where {across}" if across else "", group=group)
        for end in ends:
            drawing.edge(end, rows)
    return group


def _steps(
    drawing: Drawing, before: str, steps: Sequence[JoinStep], names: Sequence[str], streams: Streams, group: str
) -> list[str]:
    """Draw steps that follow one; return the last nodes of each branch."""
    ends = []
    for step in steps:
        lookup = step.lookup
        indexes = tuple(index.title for index in lookup.indexes)
        here = drawing.node("lookup", f"{names[lookup.sought]}{' or none' if step.optional else ''}", lookup.text(streams), group=group,
                            stream=names[lookup.sought], indexes=indexes, optional=step.optional)
        drawing.edge(before, here)
        ends += _steps(drawing, here, step.then, names, streams, group)
    return ends or [before]


__all__ = ["Streams", "draw_join", "draw_pattern", "draw_row_pattern", "join_conditions"]
