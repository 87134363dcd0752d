"""Whether sources and statements fit together, decided before anything runs: no source that no statement reads, no type that no source
fills."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from epl.analysis.names.suggestions import did_you_mean
from epl.analysis.partitioning.chain import Streams, statement_chain
from epl.errors import EplRuntimeError, EplUnsupportedError
from epl.event_types import EventType
from epl.plan.expressions import Invoke
from epl.plan.statements import SelectPlan, StatementPlan
from epl.value_types import OBJECT


def check_read(plans: Collection[StatementPlan], undeclared: Mapping[str, EventType]) -> None:
    """Raise EplRuntimeError for a source of an ``undeclared`` type that no statement reads: its name is misspelt.

    A type that is declared may have a source that no statement reads: its rows only move time, or a statement that is deployed later
    reads them. The same holds where there are no statements yet.
    """
    reads = {read.name: read for plan in plans for read in Streams.of(plan).reads}
    if not reads:
        return
    for name, event_type in undeclared.items():
        if not any(event_type.is_a(read) for read in reads.values()):
            raise EplRuntimeError(
                f"Source '{name}': no statement reads an event type of that name{did_you_mean(name, reads)}",
                hint=f"statements read {', '.join(reads)}; a source of rows that only move time, or that a statement to be deployed later "
                "reads, needs a type that is declared (create schema)",
            )


def check_filled(plans: Iterable[StatementPlan], targets: Iterable[StatementPlan], sources: Collection[EventType]) -> None:
    """Raise EplRuntimeError for an event type that ``targets``, or a statement whose rows they read, reads, and that has no source."""
    for plan, read in find_unfilled(plans, targets, sources):
        names = [each.name for each in sources]
        raise EplRuntimeError(
            f"statement '{plan.name}' reads the event type '{read.name}', which has no source{did_you_mean(read.name, names)}",
            hint=f"sources are {{event type name: DataFrame}}; there are some for {', '.join(names)}. "
            "Where listeners send its events, deploy the module in a Runtime and start that",
        )


def find_unfilled(
    plans: Iterable[StatementPlan], targets: Iterable[StatementPlan], sources: Collection[EventType]
) -> Iterator[tuple[StatementPlan, EventType]]:
    """Yield the types that ``targets``, or statements whose rows they read, read and no source fills, with the statement.

    A type is filled by a source of it or of one of its sub-types, and by statements that insert into one of these.
    """
    plans = tuple(plans)
    filled = [*sources, *(target for plan in plans for target in Streams.of(plan).fills)]
    for plan in statement_chain(plans, targets):
        for read in Streams.of(plan).reads:
            if not any(each.is_a(read) for each in filled):
                yield plan, read


def check_columns_known(plans: Iterable[StatementPlan], statement: StatementPlan, functions: Collection[str]) -> None:
    """Raise EplUnsupportedError where a column of the statement is what a function of the user's returns, and nothing says of which type
    that is: as a column of Spark's it would be text."""
    output = statement.body.output_type
    if output is None or all(prop.type != OBJECT for prop in output.properties.values()):
        return
    for plan in statement_chain(plans, [statement]):
        body = plan.body
        if isinstance(body, SelectPlan) and body.output_type is not None:
            for column, value in zip(body.output_type.properties, body.result_set.columns):
                name = value.function.removeprefix("user.") if isinstance(value, Invoke) else None
                if name in functions and value.type == OBJECT:
                    raise EplUnsupportedError(
                        f"statement '{plan.name}': column '{column}' is what the function '{name}' returns, and nothing says which type "
                        "that is",
                        hint=f"annotate it, def {name}(…) -> bool, or write cast({name}(…), boolean)",
                    )


__all__ = ["check_columns_known", "check_filled", "check_read", "find_unfilled"]
