"""What expressions of one statement may touch beside their events."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

import attrs

from epl.functions.registry import FunctionRegistry
from epl.plan.expressions import Aggregated, ContextValue, Previous, Prior, SubqueryValue, TypedExpression, VariableValue
from epl.plan.kept import once_per_plan
from epl.plan.stores.tables import TableKeys, TableValue
from epl.plan.walk import plan_expressions
from epl.settings import Settings
from windows.protocol import RandomAccess


class EngineClock(Protocol):
    now: int


class Cell(Protocol):
    """A variable: generated code reads ``value`` each time."""

    value: Any


class PriorAccess(Protocol):
    def prior(self, event: Any, index: int, insert_stream: bool) -> Any: ...

    def before_newest(self, index: int) -> Any: ...


@attrs.frozen
class HistoricalSources:
    """What historical streams ask, by name (runtime.historical): a runtime's own, as they are at any time."""

    methods: dict[str, Any] = attrs.field(factory=dict)
    databases: dict[str, Any] = attrs.field(factory=dict)
    tables: dict[str, Any] = attrs.field(factory=dict)


class SubqueryAccess(Protocol):
    answer: Callable[..., Any]
    """answer(what is compared with its rows, if anything, the events of the statement that it reads) → what it gives."""


class TableAccess(Protocol):
    """A table, as expressions ask it (runtime.stores.table)."""

    def value(self, column: int, *key: Any) -> Any: ...

    def call(self, column: int, method: str, key: Any, arguments: Any) -> Any: ...

    def whole(self, *key: Any) -> Any: ...

    def row(self, *key: Any) -> Any: ...

    def keys(self) -> list[Any]: ...


T = TypeVar("T")
MAY_BE_OWN = (VariableValue, TableValue, TableKeys, Previous, Prior, ContextValue, SubqueryValue)
"""Nodes that read what each instance of a statement has of its own: of the first three, those that are partitioned."""


@attrs.define
class Environment:
    """``functions``: what calls mean; ``variables``: cells by name; ``tables``: by what declares them; ``clock.now``: engine time;
    ``parameters``: values of ``?``; ``parameter_cells``: of those whose values change, as those of a prepared query;
    ``random_access`` / ``prior``: by stream number, may be filled after expressions are compiled; ``subqueries``: plan and operator of
    each; ``context``: properties of the context partition. ``row_pattern_observer``: called with each step that a row pattern takes
    (runtime.match_recognize.observed); ``pattern_observer``: with each outcome of a pattern's operators (runtime.pattern.observed). None:
    not called.

    Instances of one statement share it where their expressions read nothing of the last four; else each has one of its own, for the same
    compiled functions (``of_instance``).
    """

    functions: FunctionRegistry = attrs.field(factory=FunctionRegistry)
    variables: Mapping[str, Cell] = attrs.field(factory=dict)
    tables: Mapping[Any, TableAccess] = attrs.field(factory=dict)
    clock: EngineClock | None = None
    parameters: Mapping[str | int, Any] = attrs.field(factory=dict)
    parameter_cells: Mapping[str | int, Cell] = attrs.field(factory=dict)
    random_access: dict[int, RandomAccess] = attrs.field(factory=dict)
    prior: dict[int, PriorAccess] = attrs.field(factory=dict)
    subqueries: list[tuple[Any, SubqueryAccess]] = attrs.field(factory=list)
    context: Mapping[str, Any] = attrs.field(factory=dict)
    settings: Settings = attrs.field(factory=Settings)
    historical: HistoricalSources = attrs.field(factory=HistoricalSources)
    row_pattern_observer: Callable[[Any, int | None, int], None] | None = None
    pattern_observer: Callable[[Any, int, bool], None] | None = None
    whole: Environment | None = attrs.field(default=None, repr=False, eq=False)
    """The statement's, where this one is an instance's own."""
    _printed: dict[Any, tuple[object, Any]] = attrs.field(factory=dict, repr=False, eq=False)
    _shared: dict[Any, tuple[object, Any]] = attrs.field(factory=dict, init=False, repr=False, eq=False)

    def of_instance(self, context: Mapping[str, Any] | None = None) -> Environment:
        """Return the same with no windows and sub-queries, and the properties of another context partition."""
        return attrs.evolve(self, random_access={}, prior={}, subqueries=[], context=self.context if context is None else context,
                            whole=self if self.whole is None else self.whole)

    def restrict(self, *parts: object) -> Environment:
        """Return the environment that these parts of the plan need: the statement's where they read nothing that is the instance's own, so
        that what is built of them is there once."""
        whole = self.whole
        if whole is None or self.printed("has own", parts, lambda: whole.has_own(*parts)):
            return self
        return whole

    def has_own(self, *parts: object) -> bool:
        """Return whether parts of the plan read what each instance has of its own."""
        return any(self._is_own(node) for node in _may_be_own(parts))

    def has_own_variables(self, body: object) -> bool:
        """Return whether a statement does, whose plan is ``body``."""
        return any(self._is_own(node) for node in _may_be_own_in(body))

    def _is_own(self, node: TypedExpression) -> bool:
        """Return whether each instance has its own of what one of ``MAY_BE_OWN`` reads."""
        if isinstance(node, VariableValue):
            return getattr(self.variables.get(node.name), "is_partitioned", False)
        if isinstance(node, (TableValue, TableKeys)):
            return node.table.context is not None
        return True

    def shared(self, kind: str, parts: tuple[object, ...], make: Callable[[], T]) -> T:
        """Return what ``make`` gives for these parts of the plan, the same object each time: for what depends on nothing else and keeps
        no state of an instance."""
        return _once(self._shared, (kind, *map(id, parts)), parts, make)

    def printed(self, kind: object, parts: tuple[object, ...], make: Callable[[], T]) -> T:
        """Do as ``shared``, for what depends on the environment's types alone: all instances have it in common, whatever they read."""
        return _once(self._printed, (kind, *map(id, parts)), parts, make)


def _may_be_own(*parts: Any) -> list[TypedExpression]:
    """Return the nodes in parts of a plan that may read what each instance has of its own."""
    return [node for node in expression_nodes(*parts) if isinstance(node, MAY_BE_OWN)]


_may_be_own_in = once_per_plan(_may_be_own)


def expression_nodes(*plans: Any) -> Iterator[TypedExpression]:
    """Yield every node of the expressions in plans, those of aggregations among them."""
    for expression in plan_expressions(*plans):
        for node in expression.walk():
            yield node
            if isinstance(node, Aggregated):
                yield from expression_nodes(node.plan)


def _once(known: dict[Any, tuple[object, Any]], key: object, parts: tuple[object, ...], make: Callable[[], T]) -> T:
    entry = known.get(key)
    if entry is None:
        entry = known[key] = parts, make()  # the parts stay, and so do their numbers
    compiled: T = entry[1]
    return compiled
