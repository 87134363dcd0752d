"""Row patterns of SQL over whole columns: conditions for all rows at once, matches by a compiled loop."""
