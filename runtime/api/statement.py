"""A deployed statement as users see it: listeners and the on-demand iterator."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from html import escape
from typing import TYPE_CHECKING, Any

from epl.errors import EplRuntimeError
from epl.event_types import EventType
from epl.plan.statements import CreateSchemaPlan
from epl.syntax import Annotation
from runtime.arguments import check_methods
from runtime.conversion.rows import Row, Rows, pandas_frame, table_html, to_rows
from runtime.statements.callables import check_callable
from runtime.statements.historical_select import RunningHistoricalSelect
from runtime.statements.running import EVERY_PARTITION, OfPartitions, Selector
from runtime.statements.statement_output import BatchListener, Listener, StatementOutput

if TYPE_CHECKING:
    from epl.analysis.partitioning import Partitioning
    from runtime.explain.formats import Format
    from runtime.explain.graph import Graph
    from runtime.live.row_stream import RowStream
    from runtime.live.view import LiveView


@check_methods()
class Statement:
    """A running statement of a ``Deployment``.

    Iterating gives the current rows: the contents of its data window through its select clause. ``add_listener`` delivers changes.

    Attributes:
        name: Of ``@name('…')``, or stmt-0, stmt-1, ….
        deployment_id: The deployment that it belongs to.
        plan: Frozen data that describes it; ``plan.text`` is its EPL.

    Examples:
        >>> from runtime import Runtime
        >>> runtime = Runtime()
        >>> module = runtime.deploy("create schema A(x int); @name('last') select x from A#length(2)")
        >>> last = module["last"]
        >>> listener = last.add_listener(lambda new, old, statement, runtime: print(statement.name, new, old))
        >>> runtime.send("A", {"x": 1})
        last [{'x': 1}] []
        >>> last.remove_listener(listener)
        >>> runtime.send("A", {"x": 2})
        >>> last.rows(), last.properties, last.event_type.name, last.annotations[0].name, last.tier
        ([{'x': 1}, {'x': 2}], {'x': 'Integer'}, 'last_out', 'name', 'row')
        >>> last.to_arrow().to_pydict(), last.to_pandas().shape
        ({'x': [1, 2]}, (2, 1))
        >>> print(last.partitioning.describe())
        not at all: the window #length of statement 'last': an event leaves when enough others have come, whatever their keys
        >>> batches = last.add_batch_listener(lambda new, old, statement, runtime: print(new.to_pydict(), old))
        >>> runtime.send("A", {"x": 3})
        {'x': [3]} None
        >>> last.remove_all_listeners()
        >>> last.listeners
        ()
        >>> last.explain().splitlines()[0]
        'last: select → x Integer'
    """

    def __init__(self, output: StatementOutput) -> None:
        self._output, self._host = output, output.host
        self.name, self.deployment_id, self.plan = output.name, output.deployment_id, output.plan
        output.statement = self

    @property
    def event_type(self) -> EventType:
        """The type of the rows.

        Raises:
            LookupError: The statement has no output.
        """
        return self._output.event_type

    @property
    def listeners(self) -> tuple[Listener, ...]:
        """The row listeners as they were added, in the order in which they are called."""
        return tuple(self._output.added)

    @property
    def annotations(self) -> tuple[Annotation, ...]:
        """The annotations as written, Esper's and the application's own: each has ``name``, ``attributes`` and ``get``."""
        return self.plan.annotations

    @property
    def properties(self) -> dict[str, str]:
        """The columns of the rows: type by name, in order."""
        output = self.plan.body.output_type
        return {} if output is None else {p.name: str(p.type) for p in output.properties.values()}

    def add_listener(self, listener: Listener) -> Listener:
        """Call a listener at every change from now on.

        Args:
            listener: Called as ``(new, old, statement, runtime)``, with the insert and the remove stream as ``Rows``. Both are empty only
                where a window or the output clause forces an update. What it raises goes to the error handler.

        Returns:
            The listener, so that the method can be used as a decorator.

        Raises:
            TypeError: It cannot be called so.
        """
        check_callable(listener)
        self._output.listen(listener)
        return listener

    def remove_listener(self, listener: Listener) -> None:
        """Remove a row listener; listeners are compared by identity.

        Args:
            listener: As it was added.

        Raises:
            ValueError: It was not added.
        """
        with self._host.lock:
            self._output.detach(listener)

    def remove_all_listeners(self) -> None:
        """Remove all row listeners and batch listeners."""
        with self._host.lock:
            self._output.detach_all()

    def add_batch_listener(self, listener: BatchListener, *, causes: bool = False) -> BatchListener:
        """Call a listener with Arrow record batches, once per send, send_batch or advance.

        Args:
            listener: Called as ``(new, old, statement, runtime)`` with a pyarrow RecordBatch of the insert and one of the remove stream,
                None where there are no rows.
            causes: Add the columns ``cause.call``, ``cause.time``, ``cause.type`` and ``cause.row``: the number of the call that a row
                listener would get, engine time, and the type and row (from 0) of the input that caused it.

        Returns:
            The listener.

        Raises:
            TypeError: It cannot be called so.
        """
        check_callable(listener)
        with self._host.lock:
            self._output.attach_batch(listener, causes=causes)
        return listener

    def remove_batch_listener(self, listener: BatchListener) -> None:
        """Remove a batch listener.

        Args:
            listener: As it was added.

        Raises:
            ValueError: It was not added.

        Examples:
            >>> from runtime import Runtime
            >>> statement = Runtime().deploy("create schema T(a int); @name('s') select a from T")["s"]
            >>> listener = statement.add_batch_listener(print)
            >>> statement.remove_batch_listener(listener)
        """
        with self._host.lock:
            self._output.detach_batch(listener)

    def __iter__(self) -> Iterator[Row]:
        """The current rows: a snapshot taken at the call."""
        return iter(self.rows())

    def rows(self, partitions: Selector | None = EVERY_PARTITION) -> Rows:
        """Return the current rows.

        Args:
            partitions: A ``PartitionSelector``: only those partitions of its context.

        Raises:
            EplRuntimeError: The selector is for another kind of context, or the statement has no context.
        """
        with self._iterating():
            if partitions is EVERY_PARTITION:
                return to_rows(self._output.running.iterate())
            if not isinstance(self._output.running, OfPartitions):
                raise EplRuntimeError("Iterator with context selector is only supported for statements under context")
            return to_rows(self._output.running.select(partitions))

    def _iterating(self) -> AbstractContextManager[object]:
        """Return what is held during an iteration: the runtime's lock, but not while rows are only looked up: others go on meanwhile."""
        return nullcontext() if isinstance(self._output.running, RunningHistoricalSelect) else self._host.lock

    def stream(self, limit: int = 10_000) -> RowStream:
        """Return the listener calls from now on for ``async for``, each ``(new, old)``; see RowStream.

        Args:
            limit: How many calls may wait to be read. Beyond that the stream ends with an error; what sends events never waits.

        Raises:
            RuntimeError: No event loop is running.
            ValueError: The limit is less than 1.

        Examples:
            >>> import asyncio
            >>> from runtime import Runtime
            >>> async def first(runtime, statement):
            ...     async with statement.stream() as stream:
            ...         runtime.send("A", {"x": 1})
            ...         async for new, old in stream:
            ...             return new
            >>> runtime = Runtime()
            >>> asyncio.run(first(runtime, runtime.deploy("create schema A(x int); @name('s') select x from A")["s"]))
            [{'x': 1}]
        """
        from runtime.live.row_stream import RowStream

        return RowStream(self, self._output.at_end, limit)

    def to_pandas(self) -> Any:
        """Return the current rows as a pandas DataFrame. Integers and booleans with nulls become ``Int64`` and ``boolean``.

        A stream without a data window retains no events: then there are no rows, unless the statement has ``@IterableUnbound``, or the
        runtime ``Settings(iterable_unbound=True)``.

        Examples:
            >>> from runtime import Runtime
            >>> runtime = Runtime()
            >>> deployment = runtime.deploy('''create schema A(x int);
            ...     @name('none') select sum(x) as total from A group by x;
            ...     @name('kept') @IterableUnbound select sum(x) as total from A group by x''')
            >>> for x in (1, 2, 2):
            ...     runtime.send("A", {"x": x})
            >>> [deployment[name].to_pandas()["total"].tolist() for name in ("none", "kept")]
            [[], [1, 4]]
        """
        return pandas_frame(self.rows(), list(self.properties))

    def to_arrow(self) -> Any:
        """Return the current rows as a pyarrow Table."""
        import pyarrow

        from runtime.conversion.arrow import to_batch

        with self._iterating():
            return pyarrow.Table.from_batches([to_batch(list(self._output.running.iterate()), self.event_type)])

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The current rows for whatever reads Arrow: ``polars.DataFrame(statement)``, ``duckdb.from_arrow(pa.table(statement))``."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def explain(self, format: Format = "text") -> str:
        """Return the plan, readable; by which key its rows may be split over engines, or what prevents it; in which tier the statement runs
        now, and why.

        Args:
            format: ``text``, or a graph as ``json``, ``mermaid`` or ``dot`` (docs/pictures.md).

        Raises:
            ValueError: for another format.

        Examples:
            >>> from runtime import Runtime
            >>> statement = Runtime().deploy("create schema T(a int); @name('s') select a from T(a > 1)")["s"]
            >>> print(statement.explain("mermaid").partition("classDef")[0].rstrip())
            flowchart LR
                n0(["T"]):::type_node
                n1[/"a #62; 1"/]:::filter_node
                n2["select a"]:::rows_node
                n3(["s<br>a Integer"]):::output_node
                n0 --> n1
                n1 --> n2
                n2 --> n3
        """
        from epl.plan.explain import explain
        from runtime.explain.formats import WRITERS, check_format

        check_format(format)
        if format != "text":
            return WRITERS[format](self.graph())
        with self._host.lock:
            return explain(self.plan, *self._host.statement_tier(self._output), self._partitioning_text())

    def graph(self) -> Graph:
        """Return the plan as nodes, edges and groups, frozen data (``runtime.explain.Graph``).

        Examples:
            >>> from runtime import Runtime
            >>> statement = Runtime().deploy("create schema T(a int); @name('s') select a from T(a > 1)")["s"]
            >>> [node.kind for node in statement.graph().nodes]
            ['type', 'filter', 'rows', 'output']
        """
        from runtime.explain.statements import statement_graph

        with self._host.lock:
            return statement_graph(self.plan, self._host.statement_tier(self._output)[0], self._partitioning_text())

    def _partitioning_text(self) -> str:
        emits = self.plan.body.output_type is not None and not isinstance(self.plan.body, CreateSchemaPlan)
        return self.partitioning.describe() if emits else ""

    def live(self, rows: int = 20) -> LiveView:
        """Return a widget for notebooks that shows the latest rows while they come, until ``close()`` (docs/pictures.md).

        Args:
            rows: How many rows it shows.

        Raises:
            ImportError: without anywidget, which the extra ``live`` brings.

        Examples:
            >>> from runtime import Runtime
            >>> runtime = Runtime()
            >>> view = runtime.deploy("create schema T(a int); @name('s') select a from T")["s"].live()
            >>> runtime.send("T", {"a": 5})
            >>> view.close()
            >>> view.widget.rows
            [['0', '+', '5']]
        """
        from runtime.live.view import LiveView

        return LiveView(self, lambda: f"{self._host.now:,}", shown=rows)

    @property
    def partitioning(self) -> Partitioning:
        """By which key the rows that the statement reads, itself or through other statements, may be split over several engines, or what
        prevents it."""
        from epl.analysis.partitioning import analyse_partitioning

        with self._host.lock:
            plans = self._host.plans()
            return analyse_partitioning(plans if any(p is self.plan for p in plans) else [*plans, self.plan], self.plan,
                                   settings=self._host.settings)

    @property
    def tier(self) -> str:
        """``"row"`` or ``"batch"``: where the statement runs now."""
        with self._host.lock:
            return self._output.tier

    def __repr__(self) -> str:
        return f"Statement({self.name!r})"

    def _repr_html_(self) -> str:
        from runtime.explain.notebook_html import count_text, facts_html, fold_html, picture_html, text_html

        with self._host.lock:
            tier, context = self.tier, self.plan.context
            facts = [f"deployment {self.deployment_id}", f"{tier} tier", count_text(self._output.listener_count, "listener")]
            if context is not None:
                facts.insert(1, f"context {context.name}")
            head = f"<b>{escape(self.name)}</b>{facts_html(facts)}{text_html(self.plan.text)}"
            picture = fold_html("plan", picture_html(self.graph()))
            try:
                rows = table_html(self.rows())
            except EplRuntimeError as error:
                rows = f"<i>{escape(error.message)}</i>"
            return f"{head}{picture}{rows}"


def internal_output(statement: Statement) -> StatementOutput:
    """Return what is behind a statement, for the packages of epl-spark: applications have no use for it."""
    return statement._output

