"""Which statements run in the batch tier, and what they are fed."""
