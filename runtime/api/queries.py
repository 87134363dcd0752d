"""Fire-and-forget queries as users hold them."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from epl.analysis.statements.queries.query import analyse_query
from epl.catalog import Catalog
from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.plan.explain import explain_query
from epl.plan.stores.queries import QueryPlan
from epl.plan.stores.tables import Table
from epl.plan.streams import NamedWindow
from epl.value_types import ValueType
from runtime.api.error_reports import without_engine_frames
from runtime.api.plan_cache import parse_query_text
from runtime.api.queried_partitions import QueriedPartitions, Selectors
from runtime.conversion.from_python import WrongValue, coercion
from runtime.conversion.rows import Row, Rows, pandas_frame, to_rows
from runtime.event_loop.loop import EventLoop
from runtime.expressions import Environment
from runtime.historical.static_table import to_arrow
from runtime.statements.queries.changes import insertion
from runtime.statements.queries.query import ParameterCell, Query
from runtime.statements.queries.rows import Stores
from runtime.statements.running import EVERY_PARTITION
from windows.event import Event

if TYPE_CHECKING:
    import threading

Parameters = Mapping["str | int", Any] | Sequence[Any]
"""Values of ``?``: by name or by position (from 1); or in order."""


class QueryRows(Rows):
    """The rows of a fire-and-forget query: ``Rows`` whose columns are known even if there are none.

    Attributes:
        event_type: The type of the rows.

    Examples:
        >>> from runtime import Runtime
        >>> rows = Runtime().query("select 1 + 1 as two")
        >>> rows, rows.to_arrow().to_pydict(), list(rows.to_pandas().columns)
        ([{'two': 2}], {'two': [2]}, ['two'])
    """

    __slots__ = ("event_type",)

    def __init__(self, rows: Iterable[Row], event_type: EventType) -> None:
        super().__init__(rows)
        self.event_type = event_type

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame. Integers and booleans with nulls become ``Int64`` and ``boolean``."""
        return pandas_frame(self, list(self.event_type.names))

    def to_arrow(self) -> Any:
        """Return a pyarrow Table."""
        import pyarrow

        from runtime.conversion.arrow import to_batch

        return pyarrow.Table.from_batches([to_batch([row.event for row in self], self.event_type)])

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The rows for whatever reads Arrow, such as Polars."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows, (list(self),)


class PreparedQuery:
    """A fire-and-forget query that was analysed and compiled once, by ``Runtime.prepare_query``.

    It refers to the named windows that exist when it is prepared; one that is undeployed and deployed again is another one.

    Examples:
        >>> from runtime import Runtime
        >>> query = Runtime().prepare_query("select ?:x:int + 1 as y")
        >>> query.execute({"x": 1}), query.properties, list(query.parameters)
        ([{'y': 2}], {'y': 'Integer'}, ['x'])
        >>> query.plan.text, query.explain().splitlines()[0]
        ('select ?:x:int + 1 as y', 'select query → y Integer')
    """

    def __init__(self, query: Query, lock: threading.RLock, check_open: Callable[[], object], settle: Callable[[], object]) -> None:
        # settle: called after a query that changes something
        self._query = query
        self._lock = lock
        self._check_open = check_open
        self._settle = settle
        self._columns = {key: coercion(value_type) for key, value_type in query.plan.parameters}

    @property
    def plan(self) -> QueryPlan:
        """The frozen plan."""
        return self._query.plan

    @property
    def parameters(self) -> dict[str | int, ValueType]:
        """The substitution parameters: their types by name, or by position from 1."""
        return dict(self.plan.parameters)

    @property
    def properties(self) -> dict[str, str]:
        """The columns of the result: type by name, in order."""
        return {p.name: str(p.type) for p in _output_type(self.plan).properties.values()}

    @without_engine_frames
    def execute(self, parameters: Parameters = (), *, partitions: Selectors = EVERY_PARTITION) -> QueryRows:
        """Run the query.

        Args:
            parameters: Values of ``?`` by name or position (from 1), or in order.
            partitions: As for ``Runtime.query``.

        Raises:
            EplRuntimeError: A value is missing or does not fit.
        """
        values = self._values(parameters)
        with self._lock:
            self._check_open()
            events: Sequence[Event] = self._query.run(values, partitions)
            if self.plan.changes:
                self._settle()
        return QueryRows(to_rows(events), _output_type(self.plan))

    def _values(self, parameters: Parameters) -> dict[str | int, Any]:
        columns = self._columns
        if not columns and not parameters:
            return {}
        values: Mapping[Any, Any] = parameters if isinstance(parameters, Mapping) else dict(enumerate(parameters, 1))
        missing = [key for key in columns if key not in values]
        if missing:
            raise EplRuntimeError(
                f"Missing value for substitution parameter {missing[0]!r}" if values
                else "Missing values for substitution parameters, use prepare-parameterized instead",
                hint="execute({name or position: value})")
        unknown = [key for key in values if key not in columns]
        if unknown:
            raise EplRuntimeError(f"There is no substitution parameter {unknown[0]!r} in the query")
        return {key: self._coerce(key, values[key]) for key in columns}

    def _coerce(self, key: str | int, value: Any) -> Any:
        try:
            return None if value is None else self._columns[key](value)
        except WrongValue:
            raise EplRuntimeError(
                f"Substitution parameter {key!r} is declared {self.parameters[key]} and cannot hold {value!r}") from None

    def explain(self) -> str:
        """Return the plan as text: how rows are found, and what happens to them."""
        return explain_query(self.plan)

    def __repr__(self) -> str:
        return f"PreparedQuery({self.plan.text!r})"


def _output_type(plan: QueryPlan) -> EventType:
    output = plan.body.output_type
    assert output is not None
    return output


def plan_query(text: str, catalog: Catalog) -> QueryPlan:
    """Return the plan of a query; raise EplError with position and hint."""
    return analyse_query(parse_query_text(text), text, catalog)


def fill(core: EventLoop, stores: Stores, declared: NamedWindow | Table, frame: Any) -> int:
    """Insert the rows of a frame, every value checked; return how many. See Runtime.fill."""
    from runtime.conversion.batch_order import BatchOptions, read_part  # brings Arrow
    from runtime.conversion.from_columns import read_events

    if declared.context is not None:
        raise EplRuntimeError(
            f"'{declared.name}' is of a context: no rows can be filled in, since they do not say which partition they are for",
            hint="send events that 'insert into' brings there, or insert by queries with partitions=…")
    units = core.settings.units_per_second
    event_type = declared.plain_type if isinstance(declared, Table) else declared.event_type
    table = to_arrow(frame, declared.name) if type(frame).__module__.startswith("pyspark.") else frame
    part = read_part(event_type, table, BatchOptions(), core.clock.now, units, frozenset(event_type.properties))
    rows = read_events(event_type, part.columns, units)
    insertion(stores[declared], rows).make(core)
    return len(rows)


def compile_query(
    plan: QueryPlan, core: EventLoop, environment: Callable[[Mapping[str | int, ParameterCell]], Environment], *, prepared: bool
) -> Query:
    """Return the query, compiled. ``environment(cells)``: what its expressions may touch."""
    cells: dict[str | int, ParameterCell] = {key: ParameterCell() for key, _ in plan.parameters}
    of_query = environment(cells)
    stores = Stores(core.stores, of_query.tables)
    return Query(plan, core, of_query, cells, QueriedPartitions(plan, core, stores), stores, prepared=prepared)


__all__ = ["Parameters", "PreparedQuery", "QueryRows", "compile_query", "fill", "plan_query"]
