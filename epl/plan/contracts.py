"""Which fields of plans an engine handles, declared: a plan that holds more is refused by name.

An engine lists, for each class of plan that it takes, the fields that it handles. A field that it does not list must be at its default;
so a field that is added to a plan is refused by every engine until the engine handles it and says so.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import TypedExpression
from epl.plan.patterns.match_recognize import RowPattern, RowRecognitionPlan
from epl.plan.result_set import OutputPlan, ResultSetPlan
from epl.plan.statements import BodyPlan, SelectPlan, class_words
from epl.plan.streams import FilterPlan, Refusal, SourcePlan, StreamPlan
from epl.plan.windows import WindowConfig
from epl.value_types import ValueType

TITLES: Mapping[tuple[type, str], str] = {
    (BodyPlan, "subqueries"): "a sub-query",
    (SelectPlan, "join"): "a join",
    (SelectPlan, "where"): "a where clause",
    (SelectPlan, "row_recognition"): "match_recognize",
    (SelectPlan, "insert"): "insert into",
    (SelectPlan, "delivery"): "grouped delivery",
    (StreamPlan, "contained"): "contained events",
    (StreamPlan, "windows"): "a window",
    (StreamPlan, "retain"): "several windows",
    (FilterPlan, "repeats"): "a filter that lists the same constant several times",
    (FilterPlan, "partitioned"): "a statement of a context",
    (ResultSetPlan, "selector"): "the remove stream",
    (ResultSetPlan, "raw"): "the remove stream",
    (ResultSetPlan, "group_by"): "group by",
    (ResultSetPlan, "levels"): "a rollup",
    (ResultSetPlan, "having"): "having",
    (ResultSetPlan, "distinct"): "select distinct",
    (ResultSetPlan, "order_by"): "order by",
    (ResultSetPlan, "limit"): "limit",
    (ResultSetPlan, "aggregations"): "an aggregation",
    (ResultSetPlan, "unidirectional"): "a unidirectional join",
    (ResultSetPlan, "reclaim"): "reclaimed groups",
    (ResultSetPlan, "iterable_unbound"): "@IterableUnbound",
    (ResultSetPlan, "output"): "an output clause",
    (ResultSetPlan, "into"): "into table",
    (OutputPlan, "crontab"): "output at",
    (OutputPlan, "terminated"): "output when terminated",
    (WindowConfig, "flags"): "a batch window that releases empty batches",
    (AggregationPlan, "distinct"): "an aggregation with distinct",
    (AggregationPlan, "descending"): "an aggregation with sort criteria",
    (AggregationPlan, "group_by"): "an aggregation with group_by",
    (AggregationPlan, "constants"): "an aggregation with parameters",
    (RowRecognitionPlan, "iterate_only"): "match_recognize for the iterator alone",
}
"""What a field is called in a refusal; others are called by their class and name."""


@attrs.frozen
class Contract:
    """The fields that an engine handles, by class of plan. Fields without a default must be listed. ``open``: parts of other classes are
    handled as wholes, by what the engine hands them to; else they are refused."""

    fields: Mapping[type, frozenset[str]]
    open: bool = False

    @classmethod
    def of(cls, *parts: Mapping[type, str], open: bool = False) -> Contract:
        """Return the contract that lists the fields of each class as words.

        Raises:
            ValueError: A class does not have such a field.

        Examples:
            >>> Contract.of({OutputPlan: "selector every"}).beyond(OutputPlan(selector="first"))
            >>> Contract.of({OutputPlan: "selector every"}).beyond(OutputPlan(optimized=False))
            'the output plan with optimized'
        """
        fields: dict[type, frozenset[str]] = {}
        for kind, words in (item for part in parts for item in part.items()):
            names = frozenset(words.split())
            unknown = names - {field.name for field in attrs.fields(kind)}
            if unknown:
                raise ValueError(f"{kind.__name__} has no field {', '.join(sorted(unknown))}")
            fields[kind] = names
        return cls(fields, open)

    def require(self, plan: Any, refusal: Refusal) -> None:
        """Raise ``refusal(title)`` for the first part of the plan that the engine does not handle."""
        title = self.beyond(plan)
        if title is not None:
            raise refusal(title)

    def beyond(self, plan: Any) -> str | None:
        """Return the first part of the plan that the engine does not handle, None where there is none."""
        pending = [plan]
        while pending:
            part = pending.pop()
            listed = self.fields.get(type(part))
            if listed is None:
                if self.open:
                    continue
                return title_of_class(part)
            for field in attrs.fields(type(part)):
                value = getattr(part, field.name)
                if field.name in listed:
                    pending += parts_of(field, value)
                elif not is_default(field, value):
                    return title_of_field(part, field.name)
        return None


def is_default(field: attrs.Attribute[Any], value: Any) -> bool:
    """Return whether a field is as it is where nobody says anything."""
    default: Any = field.default
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = default.factory()
    return default is not attrs.NOTHING and type(default) is type(value) and bool(default == value)


def parts_of(field: attrs.Attribute[Any], value: Any) -> Iterator[Any]:
    """Yield the plans in a field, not what it refers to, nor types and expressions."""
    if "reference" in field.metadata:
        return
    for item in value if isinstance(value, tuple) else (value,):
        if attrs.has(type(item)) and not isinstance(item, (TypedExpression, EventType, ValueType, RowPattern)):
            yield item


def title_of_class(part: Any) -> str:
    if isinstance(part, SourcePlan):
        return part.title
    if isinstance(part, WindowConfig):
        return f"the window {part.names[0] if part.names else type(part).__name__}"
    return f"the {class_words(type(part).__name__)} plan"


def title_of_field(part: Any, name: str) -> str:
    known = (TITLES.get((kind, name)) for kind in type(part).__mro__)
    return next((title for title in known if title is not None), f"{title_of_class(part)} with {name}")


__all__ = ["TITLES", "Contract", "is_default", "parts_of"]
