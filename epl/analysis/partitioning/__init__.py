"""By which key the statements of a module may be split over several engines, each of which gets a share of the rows and all of the time.

``analyse_partitioning`` is the pass. A split is right where the engines' outputs together are those of one engine, time by time; the order
of rows of different keys at one time is not kept.
"""
from __future__ import annotations

from collections.abc import Iterable

from epl.analysis.partitioning.chain import statement_chain
from epl.analysis.partitioning.facts import Demand, Facts, NotPartitionable
from epl.analysis.partitioning.solve import StreamGraph, dimensions, solution_keys
from epl.analysis.partitioning.statements import OtherStatements, statement_facts
from epl.analysis.partitioning.verdicts import AnySplit, HashedKey, Key, Path, SplitBy, Whole, key_paths, key_text
from epl.plan.statements import StatementPlan
from epl.settings import Settings

Partitioning = SplitBy | AnySplit | Whole


def analyse_partitioning(plans: Iterable[StatementPlan], *statements: StatementPlan | str,
    settings: Settings | None = None) -> Partitioning:
    """Return how the rows of all event types may be split so that each of ``statements``, by plan or name, gives what it gives in one
    engine.

    ``plans``: all statements that are deployed; those that fill what the others read are taken in. Several statements are split the same
    way, so that one set of engines serves them all. ``settings``: those of the runtime. Raises KeyError for a name that no plan has.
    """
    plans = tuple(plans)
    chosen = [_find_statement(plans, s) if isinstance(s, str) else s for s in statements]
    chain = statement_chain(plans, chosen)
    names = tuple(plan.name for plan in chain)
    surroundings = OtherStatements(plans, settings or Settings())
    facts: list[Facts] = []
    for plan in chain:
        try:
            facts += statement_facts(plan, surroundings)
        except NotPartitionable as stays:
            return Whole(names, plan.name, stays.operator, stays.reason)
    return _solve(names, facts)


def _find_statement(plans: tuple[StatementPlan, ...], name: str) -> StatementPlan:
    for plan in reversed(plans):
        if plan.name == name:
            return plan
    raise KeyError(f"no statement named {name!r}; there are {', '.join(p.name for p in plans)}")


def _solve(names: tuple[str, ...], facts: list[Facts]) -> Partitioning:
    graph = StreamGraph(facts)
    demands = graph.demands()
    if not demands:
        return AnySplit(names, stateless=not any(f.stateful for f in facts))
    solutions = dimensions(graph, demands)
    if all(solutions):
        return SplitBy(names, solution_keys(graph, solutions))
    for count in range(1, len(demands) + 1):
        if not all(dimensions(graph, demands[:count])):
            break
    culprit = demands[count - 1][1]
    return Whole(names, culprit.statement, culprit.operator, _why_not(graph, [d for _, d in demands[: count - 1]], demands[count - 1]))


def _why_not(graph: StreamGraph, before: list[Demand], culprit: tuple[int, Demand]) -> str:
    """Return why the last demand does not go with those before it."""
    stream, demand = culprit
    requirement = f"it needs a split by {' or '.join(map(key_text, demand.paths))} of {graph.streams[stream].name}"
    if all(dimensions(graph, [culprit])):
        return f"{requirement}, but {' and '.join(dict.fromkeys(d.requirement() for d in before))}"
    for meeting in graph.meetings:
        keys = dict.fromkeys(way[n] for way in meeting.ways for n, number in enumerate(graph.numbers(meeting)) if number == stream)
        if keys and not any(path in keys for path in demand.paths):
            return f"{requirement}, but {meeting.requirement(keys)}"
    if all(path[0] in graph.changed[stream] for p in demand.paths for path in key_paths(p)):
        return f"{requirement}, which update istream changes"
    return f"{requirement}, which is not a property, as it came in, of every row that comes in there"


__all__ = ["AnySplit", "HashedKey", "Key", "Partitioning", "Path", "SplitBy", "Whole", "analyse_partitioning"]
