"""Fire-and-forget queries at run time."""
