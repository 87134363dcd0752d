"""Output as Delta tables, written from the driver: by deltalake, which needs no build of Delta for the Spark in use."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.types as kinds

from epl.errors import EplRuntimeError, EplUnsupportedError
from runtime.arguments import check_arguments
from runtime.extras import UnsupportedWithout, install
from runtime.spark.driver_host.sinks import STREAMS, KeptSink

STEP = "epl_step"
"""The column after the statement's own: the number of the step that emitted the row."""
WRITER = "epl-spark"


class DeltaSink(KeptSink):
    """Write a statement's output as two Delta tables, exactly once: ``<folder>/new`` and ``<folder>/old``, with the column ``epl_step``.

    A step is one commit, which records its number as the version of the application ``epl-spark``. A step that is repeated with the same
    rows commits nothing; one with other rows (a function was fixed) or with NaN replaces its own.

    Args:
        folder: A path or URI.
        options: Of deltalake, for the object store.

    Raises:
        EplUnsupportedError: The package deltalake is not installed, or a column has a type that Delta does not have.

    Examples:
        ```python
        import tempfile

        from runtime.spark import DeltaSink, session, start

        spark, folder = session(), tempfile.mkdtemp()
        spark.sql("select 'a' as k, 1 as x").write.parquet(f"{folder}/in")
        job = start("@name('all') select k, x from N", {"N": spark.readStream.schema("k string, x int").parquet(f"{folder}/in")},
                    checkpoint=f"{folder}/job", sinks={"all": DeltaSink(f"{folder}/lake")})
        job.process_all_available()
        job.stop()
        ```
    """

    @check_arguments
    def __init__(self, folder: str, options: Mapping[str, str] | None = None) -> None:
        try:
            import deltalake
        except ImportError as error:
            raise UnsupportedWithout("Delta tables need the package deltalake", hint=install("delta")) from error
        self.folder = folder
        self._delta = deltalake
        self._options = None if options is None else dict(options)
        self._tables: dict[str, Any] = {stream: self._open(stream) for stream in STREAMS}

    def begin(self, schema: pa.Schema) -> None:
        for field in schema:
            name, kind = field.name, field.type
            if kinds.is_time(kind) or kinds.is_null(kind):
                raise EplUnsupportedError(f"Delta tables hold no column of the type {kind}: '{name}'", hint="cast it in the select")
            if name.lower() == STEP:
                raise EplUnsupportedError(f"'{name}' is the column of step numbers in Delta tables", hint="give the column another name")
        columns = self._delta.Schema.from_arrow(schema.append(pa.field(STEP, pa.int64())))
        for stream, table in self._tables.items():
            if table is not None and table.schema() != columns:
                there = ", ".join(f"{field.name} {getattr(field.type, 'type', 'nested')}" for field in table.schema().fields)
                raise EplRuntimeError(
                    f"the Delta table '{self.folder}/{stream}' has other columns: {there}", hint="give the sink a folder of its own"
                )

    def check_new(self) -> None:
        if any(self._last(stream) for stream in STREAMS):
            raise EplRuntimeError(
                f"the Delta tables in '{self.folder}' hold the output of another job, and its steps have the same numbers",
                hint="give the sink a folder of its own, or the job the checkpoint that it had",
            )

    def write(self, step: int, new: pa.RecordBatch | None, old: pa.RecordBatch | None) -> None:
        for stream, batch in zip(STREAMS, (new, old)):
            if step > self._last(stream):
                if batch is not None:
                    self._append(stream, step, batch)
            else:
                self._replace(stream, step, batch)

    def files(self, stream: str = "new") -> list[str]:
        table = self._tables[stream]
        if table is None:
            return []
        table.update_incremental()  # others may have put its files together since
        return list(table.file_uris())

    def _open(self, stream: str) -> Any:
        path = f"{self.folder}/{stream}"
        if not self._delta.DeltaTable.is_deltatable(path, self._options):
            return None
        return self._delta.DeltaTable(path, storage_options=self._options)

    def _last(self, stream: str) -> int:
        """Return the newest step that has rows in the table, 0 where none has."""
        table = self._tables[stream]
        return 0 if table is None else table.transaction_version(WRITER) or 0

    def _append(self, stream: str, step: int, batch: pa.RecordBatch) -> None:
        noted = self._delta.CommitProperties(app_transactions=[self._delta.Transaction(WRITER, step)])
        target = self._tables[stream] or f"{self.folder}/{stream}"
        self._delta.write_deltalake(target, _number_rows(batch, step), mode="append", commit_properties=noted,
            storage_options=self._options)
        if self._tables[stream] is None:
            self._tables[stream] = self._open(stream)

    def _replace(self, stream: str, step: int, batch: pa.RecordBatch | None) -> None:
        table = self._tables[stream]
        there = table.to_pyarrow_table(filters=[(STEP, "=", step)])
        if batch is None:
            if there.num_rows:
                table.delete(f"{STEP} = {step}")
            return
        rows = _number_rows(batch, step)
        if not there.equals(rows.cast(there.schema)):
            self._delta.write_deltalake(
                table, rows, mode="overwrite", predicate=f"{STEP} = {step}", storage_options=self._options
            )


def _number_rows(batch: pa.RecordBatch, step: int) -> pa.Table:
    """Return the rows without dictionaries, with the number of their step."""
    table = pa.Table.from_batches([batch])
    for place, field in enumerate(table.schema):
        if kinds.is_dictionary(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(field.type.value_type))
    return table.append_column(STEP, pa.array([step] * len(table), pa.int64()))


__all__ = ["STEP", "DeltaSink"]
