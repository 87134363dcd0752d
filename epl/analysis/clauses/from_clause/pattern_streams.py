"""``from pattern [ … ]`` and ``on pattern [ … ]`` → the plan of a stream of matches."""
from __future__ import annotations

from collections.abc import Callable, Sequence

from epl.analysis.clauses.from_clause.contained import analyse_contained
from epl.analysis.expressions.scope import ScopeStream
from epl.analysis.filters.partitions import filter_levels, partition_conditions
from epl.analysis.pattern.nodes import Atoms, analyse_nodes
from epl.analysis.pattern.tags import Around
from epl.catalog import Catalog
from epl.errors import EplValidationError
from epl.event_types import EventType
from epl.plan.contained import ContainedPlan
from epl.plan.patterns.pattern import PatternPlan
from epl.syntax import Annotation, Declaration, PatternSource
from epl.syntax.clauses import Contained
from epl.syntax.patterns import FilterAtom

ANNOTATIONS = {"discardpartialsonmatch": "discard", "suppressoverlappingmatches": "suppress"}


def analyse_pattern(
    source: PatternSource, catalog: Catalog, declarations: tuple[Declaration, ...], type_of: Callable[[FilterAtom], EventType],
    around: Around | None = None,
) -> PatternPlan:
    """Return the plan. ``type_of``: the event type that an atom names. ``around``: what is known before it, of a statement what its
    context adds."""
    marks = _marks(source.annotations)

    def plan_contained(items: Sequence[Contained], stream: ScopeStream) -> ContainedPlan:
        return analyse_contained(tuple(items), stream, catalog, declarations, f"{stream.event_type.name}_contained")

    if around is None:
        around = Around(added=lambda event_type: partition_conditions(event_type, filter_levels(event_type, catalog)))
    root, tags = analyse_nodes(source.pattern, catalog, declarations, Atoms(type_of, plan_contained), around)
    row_type, row = tags.row("pattern")
    return PatternPlan(
        row_type=row_type, tags=tuple(tags.tags), row=row, root=root, suppress="suppress" in marks, discard="discard" in marks)


def _marks(annotations: Sequence[Annotation]) -> set[str]:
    marks = set()
    for annotation in annotations:
        mark = ANNOTATIONS.get(annotation.name.lower())
        if mark is None:
            raise EplValidationError(f"Unrecognized pattern-level annotation '{annotation.name}'", span=annotation.span)
        marks.add(mark)
    return marks


__all__ = ["analyse_pattern"]
