"""Queries in a SQL dialect over tables: ``sql.run_query`` is the entrance."""
