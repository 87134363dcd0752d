"""One file per kind of statement, and modules of statements."""
