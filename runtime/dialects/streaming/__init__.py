"""The clause over rows that come one after the other: one machine a partition, which emits a match at the first row that decides it.

``partition`` says what a machine is; ``sql_partition``, ``flink_partition`` and ``ydb_partition`` are those of the dialects.
"""
