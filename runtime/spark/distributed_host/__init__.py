"""``transform``: DataFrames in, DataFrames out, one runtime a shard in Spark's workers."""
