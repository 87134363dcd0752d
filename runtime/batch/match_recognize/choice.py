"""Which match_recognize statements have a kernel, and which machine it is."""
from __future__ import annotations

from epl.plan.statements import SelectPlan
from epl.plan.streams import only_stream, stream_filter
from runtime.batch import contracts
from runtime.batch.match_recognize.layers import LayerPrinter, ways_in_tree
from runtime.batch.match_recognize.layout import MOST_LINKS, MOST_STEPS, MatchKernel
from runtime.batch.match_recognize.partial_matches import PartialMatchPrinter
from runtime.batch.refusals import not_in_columns


def pattern_kernel(plan: SelectPlan) -> MatchKernel:
    """Return the kernel of a statement with match_recognize; raise NotCompilable saying why there is none."""
    check(plan)
    assert plan.row_recognition is not None
    program, conditions = plan.row_recognition.program, plan.row_recognition.conditions
    alone = all(c is None or c.reads_row_only for c in conditions) or ways_in_tree(program) is not None
    alone = alone and not plan.row_recognition.or_terminated  # which asks for each partial match by itself
    return (LayerPrinter(plan) if alone else PartialMatchPrinter(plan)).kernel()


def check(plan: SelectPlan) -> None:
    """Refuse what no part of the kernel handles."""
    rows, stream, pattern = plan.result_set, only_stream(plan.streams, not_in_columns), plan.row_recognition
    assert pattern is not None
    if stream_filter(stream, not_in_columns).event_type.kind == "variant":
        raise not_in_columns("a variant stream")
    contracts.ROW_PATTERN.require(plan, not_in_columns)
    reasons: list[tuple[bool, str]] = [
        (len(stream.windows) > 1, "match_recognize after several windows"),
        (len(pattern.program.steps) > MOST_STEPS, "match_recognize with so long a pattern"),
        (sum(len(s.then) for s in pattern.program.steps) > MOST_LINKS, "match_recognize with so many ways through its pattern"),
        (rows.shape != "un-aggregated", f"match_recognize under the shape {rows.shape}"),
    ]
    for refused, reason in reasons:
        if refused:
            raise not_in_columns(reason)


__all__ = ["pattern_kernel"]
