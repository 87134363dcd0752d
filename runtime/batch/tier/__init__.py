"""Which statements run in the batch tier, and their input."""
