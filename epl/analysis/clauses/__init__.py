"""The clauses of statements."""
