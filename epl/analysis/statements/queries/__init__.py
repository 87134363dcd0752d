"""Fire-and-forget queries: their plans and refusals."""
