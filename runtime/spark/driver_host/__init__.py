"""``start``: streaming DataFrames feed one runtime in the driver's process."""
