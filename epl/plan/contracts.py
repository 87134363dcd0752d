"""Which fields of plans an engine handles, declared: a plan that holds more is refused by name.

An engine lists, for each class of plan that it takes, the fields that it handles. A field that it does not list must be at its default;
so a field that is added to a plan is refused by every engine until the engine handles it and says so.
"""
from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import attrs

from epl.event_types import EventType
from epl.plan.aggregations import AggregationPlan
from epl.plan.expressions import TypedExpression
from epl.plan.patterns.match_recognize import RowPattern, RowRecognitionPlan
from epl.plan.result_set import OutputPlan, ResultSetPlan
from epl.plan.statements import BodyPlan, SelectPlan, class_words
from epl.plan.streams import FilterPlan, Refusal, SourcePlan, StreamPlan
from epl.plan.walk import PLAIN
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
    _of_class: dict[type, tuple[tuple[str, ...], tuple[tuple[str, Any], ...]]] = attrs.field(init=False, factory=dict, eq=False, repr=False)

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
            kind = type(part)
            if kind not in self.fields:
                if self.open:
                    continue
                return title_of_class(part)
            handled, others = self._of_class.get(kind) or self._split_fields(kind)
            for name, default in others:
                value = getattr(part, name)
                if value is not default and not equals_default(value, default):
                    return title_of_field(part, name)
            for name in handled:
                value = getattr(part, name)
                if value.__class__ not in PLAIN:
                    pending += plans_in(value)
        return None

    def _split_fields(self, kind: type) -> tuple[tuple[str, ...], tuple[tuple[str, Any], ...]]:
        """Return the fields of a class that are handled and may hold plans, and the others with their defaults: statements are checked by
        the thousand."""
        listed, fields = self.fields[kind], attrs.fields(kind)
        handled = tuple(f.name for f in fields if f.name in listed and "reference" not in f.metadata)
        self._of_class[kind] = handled, tuple((f.name, field_default(f)) for f in fields if f.name not in listed)
        return self._of_class[kind]


def field_default(field: attrs.Attribute[Any]) -> Any:
    """Return what a field holds where nobody says anything; ``attrs.NOTHING`` for one that has to be given."""
    default: Any = field.default
    return default.factory() if isinstance(default, attrs.Factory) else default  # type: ignore[arg-type]


def equals_default(value: Any, default: Any) -> bool:
    return default is not attrs.NOTHING and type(default) is type(value) and bool(default == value)


def plans_in(value: Any) -> list[Any]:
    """Return the plans in a field's value: not types and expressions."""
    return [item for item in (value if isinstance(value, tuple) else (value,)) if _is_plan(item.__class__)]


@lru_cache(maxsize=1024)
def _is_plan(kind: type) -> bool:
    return attrs.has(kind) and not issubclass(kind, (TypedExpression, EventType, ValueType, RowPattern))


def title_of_class(part: Any) -> str:
    if isinstance(part, SourcePlan):
        return part.title
    if isinstance(part, WindowConfig):
        return f"the window {part.names[0] if part.names else type(part).__name__}"
    return f"the {class_words(type(part).__name__)} plan"


def title_of_field(part: Any, name: str) -> str:
    known = (TITLES.get((kind, name)) for kind in type(part).__mro__)
    return next((title for title in known if title is not None), f"{title_of_class(part)} with {name}")


__all__ = ["TITLES", "Contract", "equals_default", "field_default", "plans_in"]
