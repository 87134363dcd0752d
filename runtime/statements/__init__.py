"""One file per kind of statement: what runs."""
